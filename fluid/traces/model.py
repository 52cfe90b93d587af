"""A trace: who came when, wanted what, and stayed how long, in whole microseconds and whole units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.shown import Shown

MICROSECONDS = 1_000_000
"""Ticks a second: all times of a trace are whole microseconds after it opens."""

GOOGLE, ALIBABA, PLAIN = "google-2011", "alibaba-2023", "plain"
GOOGLE_2019, ALIBABA_2018 = "google-2019", "alibaba-2018"
"""Where a trace comes from (`Trace.source`)."""


class Outcome(IntEnum):
    """How a stay in service ended; `censored` means that the trace ended first."""

    finish = 0
    kill = 1
    evict = 2
    fail = 3
    censored = 4


class Oddity(str):
    """A note on what looks wrong in a trace."""

    __slots__ = ()


class Doubt(Oddity):
    """An oddity that puts the reading of a trace in doubt: answers begin with it."""

    __slots__ = ()


@dataclass(frozen=True)
class ReadColumn:
    """A column of a file: its header, what it became, and in which unit it was taken (empty: it has none)."""

    header: str
    became: str
    unit: str = ""


@dataclass(frozen=True)
class Reading:
    """How a file was read.

    Attributes
    ----------
    format : str
        What it was taken for.
    columns : tuple of ReadColumn
        Those that were read.
    unused : tuple of str
        Headers of the others.
    rows : int
        Of the file, without header, comments and blank lines.
    left_out : tuple of (str, int)
        Why rows were left out, and how many.
    written : str
        How times are written, where they are no plain seconds.
    parts : int
        Rows left out that are parts of others, such as the steps of a job: none of them is missing.
    """

    format: str
    columns: tuple[ReadColumn, ...]
    unused: tuple[str, ...]
    rows: int
    left_out: tuple[tuple[str, int], ...] = ()
    written: str = ""
    parts: int = 0

    def in_words(self) -> str:
        """Return which column is what."""
        return ", ".join(f'{one.became} = "{one.header}"' for one in self.columns)


@dataclass(frozen=True, repr=False)
class Trace(Shown):
    """Tasks in the order of their arrival.

    Attributes
    ----------
    resources : tuple of str, length R
    unit : tuple of Fraction, length R
        What one unit of `demand` stands for.
    arrival : int64[n]
        Microseconds after the trace opens, nondecreasing; -1 for a task that runs when it opens (warm start).
    duration : int64[n]
        Microseconds in service, of a task that runs at time 0 those that are left; at least 0. Of a censored task the
        time seen, a lower bound.
    outcome : int64[n]
        An `Outcome` each.
    attempt : int64[n]
        0 for a task's first run.
    demand : int64[n, R]
        Exact, in units.
    label : int64[n]
        The priority (Google), the place of the quality of service in `labels` (Alibaba) or of the type (plain CSV).
    labels : tuple of str
        Names of the labels where they are names; empty where a label is a number.
    notes : tuple of str
        What was dropped, assumed and done, one sentence each; those that are a `Doubt` come first.
    line : int64[n], optional
        Where each task stands in its file; None for a trace of no file, or of several.
    source : str
        `GOOGLE`, `ALIBABA`, `GOOGLE_2019`, `ALIBABA_2018` or `PLAIN`; empty for a trace of no file.
    priorities : bool
        Whether labels are priorities of Google's trace of 2011, 0 to 11.
    header : str
        Of the column of the types, in a plain table or a log.
    begins : int, optional
        Microseconds from 1970 to time 0, where the trace has dates or times so large that they are such.
    reading : Reading, optional
        How its file was read; None for a trace of no file.
    """

    resources: tuple[str, ...]
    unit: tuple[Fraction, ...]
    arrival: NDArray[np.int64]
    duration: NDArray[np.int64]
    outcome: NDArray[np.int64]
    attempt: NDArray[np.int64]
    demand: NDArray[np.int64]
    label: NDArray[np.int64]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    line: NDArray[np.int64] | None = None
    source: str = ""
    priorities: bool = False
    begins: int | None = None
    header: str = "type"
    reading: Reading | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.arrival)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which tasks run when the trace opens."""
        return self.arrival < 0

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Which tasks are still there when it ends."""
        return np.equal(self.outcome, Outcome.censored)

    def only(self, chosen: NDArray[np.bool_], note: str) -> Trace:
        """Keep the chosen tasks, and say why."""
        return replace(
            self,
            arrival=self.arrival[chosen],
            duration=self.duration[chosen],
            outcome=self.outcome[chosen],
            attempt=self.attempt[chosen],
            demand=self.demand[chosen],
            label=self.label[chosen],
            line=None if self.line is None else self.line[chosen],
            notes=(*self.notes, f"{note}: {int(chosen.sum()):,} of {len(self):,} tasks kept"),
        )

    @property
    def arrivals(self) -> Trace:
        """The tasks that arrive after it opens."""
        return self.only(~self.present, "arrivals after time 0")
