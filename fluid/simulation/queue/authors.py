"""What an author's policy of a queue in continuous time may do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Guard, Rules
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.loop import Jobs, Lines, carry_out
from fluid.simulation.queue.state import QUEUE
from fluid.simulation.state import MOVES, OUTSIDE, PolicyError, State, fits, write_row
from theory.jit import bound, plain, step

_fits = plain(fits)


class QueueGuard(Guard):
    """The functions of an author's policy of a queue, each call checked."""

    starts = "start"

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(_fits(state, server, job_type))

    def before(self, state: State) -> NDArray[np.int64]:
        """Return how many jobs wait."""
        return np.array(state.waiting)

    def after(self, name: str, state: State, rows: int, before: NDArray[np.int64]) -> None:
        """Check that as many jobs less wait as were started, and that the clocks have rates."""
        for job_type in state.moves[rows : state.done[MOVES], 0].tolist():
            before[job_type] -= 1
        for j, (number, expected) in enumerate(zip(state.waiting.tolist(), before.tolist(), strict=True)):
            if expected < 0:
                self._fail(name, state, f"started a job of {self.kind(state, j)}, of which none waits")
            if number != expected:
                what = f"left waiting[{j}] = {number}, expected {expected}: one less for each job that it starts"
                self._fail(name, state, what)
        if not (np.isfinite(state.clocks) & (state.clocks >= 0)).all():
            self._fail(name, state, f"left clocks = {state.clocks.tolist()}, expected rates of at least 0")


@step
def write_start(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves``, checked; stands for `fluid.simulation.state.write_move`."""
    if source != OUTSIDE:
        raise PolicyError("move, stop: expected a policy of model loss, jobs of a queue stay where they start")
    if target < 0 or target >= len(state.counts) or not fits(state, target, job_type):
        raise PolicyError("start: expected a server with room for the job")
    write_row(state, job_type, source, target)


@step
def take_first(lines: Lines, job_type: int) -> tuple[float, float]:
    """Take the first job of a line, if there is one; stands for `fluid.simulation.queue.loop.leave`."""
    if lines.first[job_type] < 0:
        raise PolicyError("refresh: has started a job of a type of which none waits")
    at = lines.first[job_type]
    lines.first[job_type] = lines.after[at]
    lines.after[at] = lines.free[0]
    lines.free[0] = at
    return lines.arrival[at], lines.work[at]


@step
def check_queue(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check that queues and clocks are possible; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.waiting)):
        if state.waiting[j] < 0:
            raise PolicyError("refresh: has left waiting below 0")
    for k in range(len(state.clocks)):
        if not 0.0 <= state.clocks[k] < np.inf:
            raise PolicyError("refresh: has left a clock without a rate of at least 0")


def tools(policy: Policy) -> dict[str, Any]:
    """Return what stands for tools in the author's functions."""
    del policy
    return {"write_move": write_start}


def shapes(setting: Any, state: State) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the fields that are checked."""
    types = len(setting.instance.types)
    return {
        "counts": (setting.servers, types),
        "totals": (types,),
        "slots": (types,),
        "waiting": (types,),
        "clocks": (state.clocks.size,),
    }


RULES = Rules(
    QUEUE,
    "queue_fields",
    shapes,
    QueueGuard,
    functions=("place", "depart", "refresh", "ring"),
    tools=tools,
    checks={"carry_out": bound(carry_out, leave=take_first), "observe": check_queue},
)
