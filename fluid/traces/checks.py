"""What a person should know before jobs of a trace are simulated: whether it reaches the end, and what is random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.traces.file import TraceFile
from theory.errors import InputError

SECONDS = "s"


def arrival_times(scene: Any) -> NDArray[Any]:
    """Return when the jobs of a scene of listed jobs come, in its unit of time: seconds, or slots."""
    return np.asarray(scene.jobs.times if isinstance(scene.jobs, JobList) else scene.jobs.slot)


def unit_of(scene: Any) -> str:
    """Return the unit of time of a scene of listed jobs: ``s``, or ``slots``."""
    return SECONDS if isinstance(scene.jobs, JobList) else "slots"


def last_arrival(scene: Any) -> float:
    """Return when the last of them comes."""
    return float(arrival_times(scene)[-1])


def ends_early(scene: Any) -> bool:
    """Return whether nobody comes in the last part of the time that is simulated."""
    return bool(last_arrival(scene) < scene.until)


def trace_warnings(
    file: TraceFile, scene: Any, *, initial: bool, until: str = "--until", warmup: str = "--warmup"
) -> list[str]:
    """Return what there is to say of a trace before it is simulated, a line each.

    Parameters
    ----------
    file : TraceFile
    scene : Scenario, QueueScene or SlottedScene
        That its jobs make.
    initial : bool
        Whether the tasks that run when it opens are to be there at time 0.
    until, warmup : str
        What the person calls the horizon and the warm-up.

    Raises
    ------
    InputError
        If its last job comes before the warm-up is over: nothing would be measured.
    """
    last = last_arrival(scene)
    unit = f" {unit_of(scene)}"
    if last < scene.warmup:
        raise InputError(
            f"{file.path}: the last arrival is at {last:,.6g}{unit}, before the warm-up is over at {scene.warmup:,.6g} "
            f"({warmup}, a fifth of {until} unless given): nothing would be measured"
        )
    found = []
    if unit_of(scene) != SECONDS:
        found.append(f"{file.path}: {until} and {warmup} count slots for a slotted policy, seconds for others")
    if last < scene.until:
        found.append(
            f"{file.path}: the last arrival is at {last:,.6g}{unit}, before {until} {scene.until:,.6g}: nobody comes "
            f"in the {scene.until - last:,.6g}{unit} after it, and averages count them too"
        )
    if initial and not file.trace.present.any():
        found.append(
            f'{file.path}: initial = "trace", but no task of the trace runs at time 0: the system starts empty'
        )
    return found


def same_jobs(file: TraceFile) -> str:
    """Return what there is to say of several replications of a trace."""
    return (
        f"{file.path}: jobs and their service are those of the trace in every replication: intervals over replications "
        "are about what is drawn besides, by the policy"
    )
