"""Tasks of a trace as jobs of a simulation: by type or by size, those that are there at time 0 apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.simulation.documents import ListedJobs
from fluid.simulation.scenario import Scenario
from fluid.simulation.slotted.sizes import SizeLaw
from fluid.traces.file import TraceFile
from fluid.traces.model import MICROSECONDS, Trace
from fluid.traces.types import in_shares, with_types
from theory.errors import InputError
from theory.instance import Instance

TICK = Fraction(1, MICROSECONDS)
"""What the times of jobs of a trace count, in seconds."""


@dataclass(frozen=True)
class TraceJobs(ListedJobs):
    """Jobs of a trace, in whole microseconds.

    Attributes
    ----------
    cut : int
        How many of those that are present were still there when the trace ended: their durations are what was seen.
    unfinished : int
        How many of those that arrive were.
    notes : tuple of str
        What was dropped, assumed and done.
    file : TraceFile
        Where they come from.
    """

    cut: int
    unfinished: int
    notes: tuple[str, ...]
    file: TraceFile


def typed_jobs(file: TraceFile, instance: Instance, *, present: bool = True) -> TraceJobs:
    """Turn a trace into jobs of the types of an instance (see `fluid.traces.file` for how they are found).

    Without `present`, tasks that run when it opens are left out and need no type.

    Raises
    ------
    InputError
        A row whose type the instance does not have, or a trace without arrivals.
    """
    return _divided(file, present, *with_types(file, _used(file, present), instance))


def sized_jobs(file: TraceFile, *, present: bool = True) -> tuple[SizeLaw, TraceJobs]:
    """Turn a trace into jobs with sizes: the largest share of a server that a task asks of any resource.

    Without `present`, tasks that run when it opens are left out.

    Returns
    -------
    SizeLaw
        The sizes that occur, of a server of capacity 1.
    TraceJobs
        Their types are places among the sizes.

    Raises
    ------
    InputError
        A plain trace with a size of 0 or of more than a server, or without arrivals. From a real trace such tasks are
        dropped.
    """
    if file.types:
        raise InputError(
            "simulation.arrivals.types", "expected an instance with types; beside a law, tasks keep their sizes"
        )
    kept = in_shares(file, _used(file, present))
    sizes, place = np.unique(kept.demand[:, 0], return_inverse=True)
    law = SizeLaw(sizes * kept.unit[0].numerator, kept.unit[0].denominator, np.zeros(0))
    return law, _divided(file, present, kept, place.reshape(-1))


def jobs_of_types(file: TraceFile, types: NDArray[Any]) -> TraceJobs:
    """Turn a trace into jobs whose types are known, one for each of its tasks."""
    return _divided(file, True, file.trace, types)


def _used(file: TraceFile, present: bool) -> Trace:
    return file.trace if present or not file.trace.present.any() else file.trace.arrivals


def _divided(file: TraceFile, initial: bool, trace: Trace, types: NDArray[Any]) -> TraceJobs:
    there = trace.present
    if there.all():
        raise InputError(file.path, "", "expected at least one arrival")
    kinds = types.astype(np.int32)
    arriving = JobList(trace.arrival[~there], kinds[~there], trace.duration[~there])
    present = JobList(np.zeros(int(there.sum()), np.int64), kinds[there], trace.duration[there])
    unfinished = int((~there & trace.censored).sum())
    cut = int((there & trace.censored).sum())
    return TraceJobs(arriving, present, initial, TICK, cut, unfinished, trace.notes, file)


def trace_warnings(
    file: TraceFile, scenario: Scenario, *, initial: bool, until: str = "--until", warmup: str = "--warmup"
) -> list[str]:
    """Return the warnings about a trace before the scenario of its jobs is simulated, a line each.

    `until` and `warmup` are the user's words for the horizon and the warm-up. A trace whose last job comes before the
    warm-up is over is refused.
    """
    last = scenario.last_arrival
    unit = f" {scenario.unit}"
    if last < scenario.warmup:
        raise InputError(
            file.path,
            "",
            f"the last arrival is at {last:,.6g}{unit}, before the warm-up is over at "
            f"{scenario.warmup:,.6g} ({warmup}, a fifth of {until} unless given): nothing would be measured",
        )
    warnings = []
    if scenario.unit == "slots":
        warnings.append(f"{file.path}: {until} and {warmup} count slots for a slotted policy, seconds for others")
    if last < scenario.until:
        warnings.append(
            f"{file.path}: the last arrival is at {last:,.6g}{unit}, before {until} {scenario.until:,.6g}: "
            f"nobody comes in the {scenario.until - last:,.6g}{unit} after it, and averages count them too"
        )
    if initial and not file.trace.present.any():
        warnings.append(
            f'{file.path}: initial = "trace", but no task of the trace runs at time 0: the system starts empty'
        )
    return warnings


def same_jobs(file: TraceFile) -> str:
    """Return the warning about several replications of a trace."""
    return (
        f"{file.path}: jobs and their service are those of the trace in every replication: intervals over replications "
        "are about what is drawn besides, by the policy"
    )
