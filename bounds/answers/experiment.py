"""Answers of ``packproof experiment``."""

from __future__ import annotations

from typing import Any

from bounds.answers.record import Answer
from bounds.answers.shared import CommandAnswer, Number


class Summarised(CommandAnswer):
    """The summary of an experiment."""

    cells: int
    finished: int
    parameters: list[str]
    groups: list[Point]
    comparisons: list[Pair]


class Point(Answer):
    """One point of the grid: its replications, and means with intervals."""

    parameters: dict[str, Any]
    replications: int
    numbers: dict[str, Number]
    settled: bool
    traffic_intensity: float | None


class Pair(Answer):
    """One policy minus another at a point, over replications that saw the same jobs."""

    parameters: dict[str, Any]
    first: str
    second: str
    number: str
    difference: Number


class ExperimentStatus(CommandAnswer):
    """How far an experiment is; seconds are of one processor, without compilation.

    `unknown` counts cells whose policy is code of the grid's own, which --status does not run: `finished` and what
    is left do not count them. `measured` says whether the pace is that of finished cells of every policy; else it
    may be off by a factor of ten.
    """

    cells: int
    finished: int
    unknown: int
    points: list[PointStatus]
    events_left: float
    seconds_left: float
    measured: bool


class PointStatus(Answer):
    """How many replications of a point are finished, of how many; null where its policy is code of the grid's own."""

    parameters: dict[str, Any]
    finished: int | None
    replications: int
