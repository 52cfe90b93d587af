"""The answer of ``packproof log``."""

from __future__ import annotations

from typing import Annotated

from bounds.answers.record import HIDDEN, LINES, Answer, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class LogAnswer(CommandAnswer):
    """What a log was taken for and what is in it; times are in seconds.

    `rows` are those of the file, without its header and comments; `tasks` are those that are left, where a row may
    stand for several. `begins` is the first arrival in seconds from 1970 (null: the log has no dates). `left_out` has
    the rows that are no tasks by reason; `unused` names the columns that are not read; `doubts` say what looks wrong.
    """

    file: Annotated[str, HIDDEN]
    format: Annotated[str, Head("read as", prose=True)]
    rows: Annotated[int, Head("rows")]
    tasks: int
    begins: Annotated[float | None, HIDDEN]
    span: Annotated[float, HIDDEN]
    times: Annotated[str, HIDDEN]
    stays: Annotated[LogStays, HIDDEN]
    ties: Annotated[LogTies, HIDDEN]
    distinct: Annotated[int, Head("distinct demands")]
    columns: Annotated[list[LogColumn], Head("columns")]
    unused: Annotated[list[str], Head("columns not used", by=LINES)]
    left_out: Annotated[dict[str, int], HIDDEN]
    peaks: Annotated[list[LogPeak], Head("in service, if none is refused")]
    common: Annotated[list[LogDemand], HIDDEN]
    doubts: Annotated[list[str], Head("what looks wrong", by=LINES)]
    notes: Annotated[list[str], Head("notes", by=LINES)]


class LogColumn(Answer):
    """A column, what it became, and in which unit it was taken (empty: it has none)."""

    header: Annotated[str, Head("column")]
    became: Annotated[str, Head("became", prose=True)]
    unit: Annotated[str, Head("unit", prose=True)]


class LogStays(Answer):
    """Stays; `at_once` counts those of 0 seconds, `unended` those that the end of the log cut off."""

    shortest: float
    longest: float
    mean: float
    median: float
    at_once: int
    unended: int


class LogTies(Answer):
    """Tasks that come with another, the most at one instant, and tasks that come as another leaves.

    All times are whole in units of `step` seconds (0: all are one instant).
    """

    arrivals: int
    most: int
    with_departure: int
    step: Exact


class LogPeak(Answer):
    """The most in service, and when, after the first arrival; the mean; and the largest of one task."""

    resource: Annotated[str, Head("resource")]
    most: Annotated[float, Head("most")]
    at: Annotated[float, Head("after seconds")]
    mean: Annotated[float, Head("mean", digits=4)]
    largest: Annotated[float, Head("largest task")]


class LogDemand(Answer):
    """A demand by resource, or the name of a type, and the tasks that have it."""

    type: str
    demand: dict[str, Exact]
    demand_float: Annotated[dict[str, float], Of("demand")]
    tasks: int
