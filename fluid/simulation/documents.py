"""What a document says to every model: times, options, jobs at time 0 and jobs of a trace.

Each model has a file ``document.py``: it takes the fields of the table ``[simulation]`` that are the model's own into a
`Table`, and makes the scenario of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList, joined
from theory.errors import ArgumentError, InputError
from theory.files.document import Fields
from theory.numbers import many


class Times(NamedTuple):
    """How many servers, and the times of a run.

    Attributes
    ----------
    servers : int
    until, warmup : float
        In seconds, or slots. A warm-up of a fifth of the run, which is the default of commands and grids, is rounded
        down to whole slots.
    """

    servers: int
    until: float
    warmup: float

    def in_slots(self) -> tuple[int, int, int]:
        """Return them as whole numbers of slots.

        Raises
        ------
        ArgumentError
            A time that is not a whole number.
        """
        for name, time in (("until", self.until), ("warmup", self.warmup)):
            is_default = name == "warmup" and time == self.until / 5
            if not is_default and not (isfinite(time) and time == int(time)):
                raise ArgumentError(name, f"expected a whole number of slots, got {time:g}")
        return self.servers, int(self.until), int(self.warmup)


@dataclass(frozen=True)
class InitialJobs:
    """Jobs at time 0: on runs of equal servers, waiting by type, of the trace, and drawn from a law of sizes.

    A run is the number of its servers, or None for all, and the jobs of each type on one of them; runs follow each
    other in the order of the servers, and the servers behind the last are empty.
    """

    runs: tuple[tuple[int | None, tuple[int, ...]], ...] = ()
    queue: tuple[int, ...] = ()
    trace: bool = False
    drawn: int = 0

    @property
    def waiting(self) -> int:
        """Return the number of waiting jobs, without those of a trace."""
        return sum(self.queue) + self.drawn

    def refuse_in_service(self) -> None:
        """Refuse jobs on servers, for a model whose servers start empty.

        Raises
        ------
        InputError
        """
        if self.runs:
            empty = 'expected empty, { queue = { TYPE = jobs } } or "trace"; servers start empty'
            raise InputError("simulation.initial", empty)

    def counts(self, servers: int, types: int) -> NDArray[np.int32] | None:
        """Return the jobs of each type on each server, int32[L, J], or None where all are empty.

        Raises
        ------
        InputError
            More servers with jobs than there are.
        """
        if not self.runs:
            return None
        named = sum(number or 0 for number, _ in self.runs)
        if named > servers:
            raise InputError("simulation.initial", f"expected jobs on {many(servers, 'server')} at most, got {named:,}")
        jobs_by_server = np.zeros((servers, types), np.int32)
        at = 0
        for number, jobs in self.runs:
            end = servers if number is None else at + number
            jobs_by_server[at:end] = jobs
            at = end
        return jobs_by_server


@dataclass(frozen=True)
class ListedJobs:
    """Jobs of a trace.

    Attributes
    ----------
    arriving : JobList
        In whole ticks, so that what was simultaneous in the file stays so.
    present : JobList
        Tasks that run when the trace opens, all at time 0; their durations are what was left of them.
    initial : bool
        Whether the latter are there at time 0.
    tick : Fraction
        In seconds.
    """

    arriving: JobList
    present: JobList
    initial: bool
    tick: Fraction

    @property
    def all(self) -> JobList:
        """Return the jobs that arrive, and before them those that are there at time 0, if they are to be."""
        return joined(self.present, self.arriving) if self.initial else self.arriving


@dataclass(frozen=True)
class Table:
    """What the table ``[simulation]`` says; each model has a class of its own with more fields.

    Attributes
    ----------
    options : mapping
        Of every policy that reads the document.
    initial : InitialJobs
    trace : fluid.traces.file.TraceFile, optional
        Instead of all laws.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    initial: InitialJobs = InitialJobs()
    trace: Any = None

    @staticmethod
    def own_fields(fields: Fields, *, of_sizes: bool) -> dict[str, Any]:
        """Take the fields that are the model's own, of which there are none here; some go with a law of sizes alone."""
        del fields, of_sizes
        return {}
