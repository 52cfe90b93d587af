"""Answers of ``packproof worst``."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import CommandAnswer


class Worst(CommandAnswer):
    """The answer of ``worst``: ratio, exact and instance are attained, the infimum is approached."""

    ratio: float
    exact: Exact
    infimum: float
    infimum_exact: Annotated[Exact, Of("infimum")]
    is_worst: bool
    complete: bool
    starts: int
    workload: dict[str, Exact]
    rewards: dict[str, Exact]
    instance: dict[str, Any]


class BySize(CommandAnswer):
    """The answer of ``worst --types``: the least value found, beside the bound that no instance goes below."""

    ratio: float
    exact: Exact
    infimum: float
    infimum_exact: Annotated[Exact, Of("infimum")]
    is_worst: bool
    complete: bool
    types: int
    resources: int
    bound: float
    bound_exact: Annotated[Exact, Of("bound")]
    attained: bool
    chain: Skeleton | None
    refuted: int
    undecided: int
    workload_decided: bool
    workload: dict[str, Exact]
    rewards: dict[str, Exact]
    instance: dict[str, Any]
    certificate: str | UnsetType = UNSET


class Skeleton(Answer):
    """Jobs of each type that fill a server alone, and that the optimal configuration holds."""

    alone: list[int]
    best: list[int]
