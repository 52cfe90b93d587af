"""What an author's policy of a queue in continuous time may do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Rules
from fluid.simulation.guard import Guard
from fluid.simulation.loop import carry_out
from fluid.simulation.measures import ARRIVAL, DEPARTURE, START, Measures
from fluid.simulation.measures import note as write_note
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.loop import Jobs
from fluid.simulation.queue.state import QUEUE, queue_fields
from fluid.simulation.state import MOVES, OUTSIDE, PolicyError, Setting, State, fits, put, write_move, write_row
from fluid.simulation.typed import SERVED, WAITING, TypedBooks, refusal_of_common
from theory.jit import plain, step

_fits, _put = plain(fits), plain(put)


class QueueGuard(Guard):
    """The functions of an author's policy of a queue, each call checked."""

    starts = "start"
    policys_own = ("moves", "done", "slots", "clocks")

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(_fits(state, server, job_type))

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Start a waiting job."""
        servers, types = state.counts.shape
        if source != OUTSIDE or not (0 <= job_type < types and 0 <= target < servers):
            raise PolicyError("expected a type, -1, and a server")
        if state.waiting[job_type] < 1:
            raise PolicyError(f"started a job of {self.kind(state, job_type)}, of which none waits")
        if not _fits(state, target, job_type):
            raise PolicyError("expected a server with room for the job")
        state.waiting[job_type] -= 1
        _put(state, target, job_type)

    def difference(self, state: State, name: str, words: str) -> str:
        """Return what is said of a field that differs from what the moves say."""
        if name == "waiting":
            return f"left waiting{words}: one less for each job that it starts"
        return super().difference(state, name, words)

    def impossible(self, state: State) -> str | None:
        """Return what is wrong with the clocks."""
        if not (np.isfinite(state.clocks) & (state.clocks >= 0)).all():
            return f"left clocks = {state.clocks.tolist()}, expected rates of at least 0"
        return super().impossible(state)


@step
def write_start(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves``, checked; stands for `fluid.simulation.state.write_move`."""
    if source != OUTSIDE:
        raise PolicyError("move, stop: expected a policy of model loss, jobs of a queue stay where they start")
    if job_type < 0 or job_type >= len(state.totals):
        raise PolicyError("start: expected a type")
    if target < 0 or target >= len(state.counts) or not fits(state, target, job_type):
        raise PolicyError("start: expected a server with room for the job")
    write_row(state, job_type, source, target)


@step
def carry_out_starts(state: State, jobs: Jobs, measures: Measures) -> None:
    """Look at the rows of ``moves`` before the model's own function, which has the name, carries them out."""
    if state.done[MOVES] > len(state.moves):
        raise PolicyError("refresh: has left more rows of moves than there is room for")
    for row in range(state.done[MOVES]):
        job_type, target = state.moves[row, 0], state.moves[row, 2]
        if job_type < 0 or job_type >= len(state.totals) or target < 0 or target >= len(state.counts):
            raise PolicyError("refresh: has left a row of moves without a type and a server")
        if measures.inside[WAITING, job_type] <= row:  # seldom: is one of them among those that the rows start?
            waiting = measures.inside[WAITING, job_type]
            for other in range(row + 1):
                waiting -= 1 if state.moves[other, 0] == job_type else 0
            if waiting < 0:
                raise PolicyError("refresh: has started a job of a type of which none waits")
    carry_out(state, jobs, measures)


@step
def note_and_count(measures: Measures, kind: int, what: int, server: int, other: int) -> None:
    """Count the jobs beside what `fluid.simulation.measures.note` does, for which it stands."""
    if kind == ARRIVAL:
        measures.inside[WAITING, what] += 1
    elif kind == START:
        measures.inside[WAITING, what] -= 1
        measures.inside[SERVED, what] += 1
    elif kind == DEPARTURE:
        measures.inside[SERVED, what] -= 1
    write_note(measures, kind, what, server, other)


@step
def check_queue(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check the jobs and the clocks after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.waiting)):
        if state.waiting[j] != measures.inside[WAITING, j]:
            raise PolicyError("refresh: has left waiting other than the jobs that wait")
        if state.totals[j] != measures.inside[SERVED, j]:
            raise PolicyError("refresh: has left totals other than the jobs in service")
    for k in range(len(state.clocks)):
        if not 0.0 <= state.clocks[k] < np.inf:
            raise PolicyError("refresh: has left a clock without a rate of at least 0")


class QueueBooks(TypedBooks):
    """What the loop knows of a queue."""

    def open(self, state: State, measures: Measures) -> None:
        """Count the jobs that wait too."""
        super().open(state, measures)
        measures.inside[WAITING] = state.waiting

    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        places = jobs.ends.what[: jobs.ends.size[0]]
        return np.bincount(places, minlength=servers * types).reshape(servers, types)

    def expected(self, state: State, jobs: Any, measures: Measures) -> dict[str, Any]:
        """Return what waits too: what has come and not begun."""
        waiting = measures.arrivals.sum(axis=0) - measures.starts.sum(axis=0)
        return {**super().expected(state, jobs, measures), "waiting": waiting}


def tools(policy: Policy) -> dict[Any, Any]:
    """Return what stands for tools in the author's functions."""
    del policy
    return {write_move: write_start}


def refusal(setting: Setting, state: State) -> str | None:
    """Return what is wrong with a state as it was prepared."""
    return refusal_of_common(state, queue_fields(setting, room=1))


RULES = Rules(
    QUEUE,
    "queue_fields",
    refusal,
    QueueGuard,
    QueueBooks,
    {"carry_out": carry_out_starts, "note": note_and_count, "observe": check_queue},
    functions=("place", "depart", "refresh", "ring"),
    tools=tools,
)
