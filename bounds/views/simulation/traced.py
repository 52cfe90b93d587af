"""What is told of a trace that stands for arrivals: before, after, and in the answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.views.simulation import Request
from fluid.traces.checks import arrival_times, ends_early, last_arrival, same_jobs, trace_warnings, unit_of
from fluid.traces.file import TraceFile
from fluid.traces.jobs import TraceJobs, sized_jobs, typed_jobs

if TYPE_CHECKING:
    from fluid.files.simulation_table import Simulation
    from fluid.files.slotted_table import SlottedSimulation
    from fluid.simulation.results import Replicated
    from theory.instance import Instance


@dataclass(frozen=True)
class Traced:
    """A trace and what is made of it.

    Attributes
    ----------
    file : TraceFile
    jobs : TraceJobs
    initial : bool
        Whether the tasks that run when it opens are there at time 0.
    """

    file: TraceFile
    jobs: TraceJobs
    initial: bool

    @classmethod
    def of(cls, given: Simulation | SlottedSimulation, instance: Instance | None) -> Traced | None:
        """Return the trace that a table ``[simulation]`` names, as jobs with types or (no instance) sizes."""
        if given.trace is None:
            return None
        there = given.initial.trace
        if instance is None:
            return cls(given.trace, sized_jobs(given.trace, present=there)[1], there)
        return cls(given.trace, typed_jobs(given.trace, instance, present=there), there)


def told_before(traced: Traced | None, scene: Any) -> None:
    """Say on stderr what a person should know of a trace before it is simulated (see `trace_warnings`)."""
    if traced is not None:
        for line in trace_warnings(traced.file, scene, initial=traced.initial):
            print(line, file=sys.stderr)


def told_after(traced: Traced | None, result: Replicated, request: Request) -> None:
    """Say on stderr what replications of a trace are worth: those that are copies of one another count as one."""
    if result.identical:
        why = f"{request.policy} draws nothing" + (", and the jobs are those of the trace" if traced else "")
        print(f"all {len(result.runs)} replications are identical ({why}): they count as 1", file=sys.stderr)
    elif traced is not None and len(result.runs) > 1:
        print(same_jobs(traced.file), file=sys.stderr)


def trace_answer(traced: Traced, scene: Any) -> dict[str, Any]:
    """Return what the answer says of a trace."""
    jobs = traced.jobs
    times = arrival_times(scene)
    before = len(jobs.present.times) if len(times) > len(jobs.arriving.times) else 0
    return {
        "arrivals": len(jobs.arriving.times),
        "used": int(np.searchsorted(times, scene.until, side="left")) - before,
        "last": last_arrival(scene),
        "unit": unit_of(scene),
        "ends_early": ends_early(scene),
        "cut_off": jobs.unfinished,
        "notes": list(jobs.notes),
    }


def trace_lines(trace: dict[str, Any]) -> list[str]:
    """Say the same in lines."""
    cut = f"; {trace['cut_off']:,} were there to its end, and count as ended then" if trace["cut_off"] else ""
    used = "" if trace["used"] == trace["arrivals"] else f", of which {trace['used']:,} come by the end"
    head = f"{trace['arrivals']:,} arrivals in the trace, the last at {trace['last']:,.6g} {trace['unit']}{used}{cut}"
    return [head, *(f"  {note}" for note in trace["notes"])]
