"""What a person should know before jobs of a trace are simulated: whether it reaches the end, and what is random."""

from __future__ import annotations

from fluid.simulation.scenario import Scenario
from fluid.traces.file import TraceFile
from theory.errors import InputError


def last_arrival(scenario: Scenario) -> float:
    """Return when the last job of a scenario of listed jobs comes, in its unit of time."""
    assert scenario.jobs is not None
    return float(scenario.jobs.times[-1])


def trace_warnings(
    file: TraceFile, scenario: Scenario, *, initial: bool, until: str = "--until", warmup: str = "--warmup"
) -> list[str]:
    """Return the warnings about a trace before it is simulated, a line each.

    Parameters
    ----------
    file : TraceFile
    scenario : Scenario
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
    last = last_arrival(scenario)
    unit = f" {scenario.unit}"
    if last < scenario.warmup:
        raise InputError(
            f"{file.path}: the last arrival is at {last:,.6g}{unit}, before the warm-up is over at "
            f"{scenario.warmup:,.6g} ({warmup}, a fifth of {until} unless given): nothing would be measured"
        )
    found = []
    if scenario.unit == "slots":
        found.append(f"{file.path}: {until} and {warmup} count slots for a slotted policy, seconds for others")
    if last < scenario.until:
        found.append(
            f"{file.path}: the last arrival is at {last:,.6g}{unit}, before {until} {scenario.until:,.6g}: "
            f"nobody comes in the {scenario.until - last:,.6g}{unit} after it, and averages count them too"
        )
    if initial and not file.trace.present.any():
        found.append(
            f'{file.path}: initial = "trace", but no task of the trace runs at time 0: the system starts empty'
        )
    return found


def same_jobs(file: TraceFile) -> str:
    """Return the warning about several replications of a trace."""
    return (
        f"{file.path}: jobs and their service are those of the trace in every replication: intervals over replications "
        "are about what is drawn besides, by the policy"
    )
