"""What an author's policy of a loss system may do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Rules
from fluid.simulation.guard import Guard
from fluid.simulation.loop import carry_out
from fluid.simulation.loss.jobs import Calendar
from fluid.simulation.measures import ARRIVAL, DEPARTURE, PREEMPTION, Measures
from fluid.simulation.measures import note as write_note
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import (
    MOVES,
    OUTSIDE,
    Common,
    PolicyError,
    Setting,
    State,
    common,
    fits,
    put,
    take,
    write_move,
    write_row,
)
from fluid.simulation.typed import SERVED, TypedBooks, refusal_of_common
from theory.jit import plain, step

_fits, _put, _take = plain(fits), plain(put), plain(take)


class LossGuard(Guard):
    """The functions of an author's policy of a loss system, each call checked."""

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(_fits(state, server, job_type))

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Move or stop a job."""
        if not self.policy.moves_jobs:
            raise PolicyError("expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")
        servers, types = state.counts.shape
        if not (0 <= job_type < types and 0 <= source < servers and OUTSIDE <= target < servers):
            raise PolicyError("expected a type, a server, and a server or -1")
        if state.counts[source, job_type] < 1 or (target >= 0 and not _fits(state, target, job_type)):
            raise PolicyError("expected a server that holds a job of the type, and one with room for it")
        _take(state, source, job_type)
        if target >= 0:
            _put(state, target, job_type)


@step
def write_known_move(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves``, checked; stands for `fluid.simulation.state.write_move`."""
    if job_type < 0 or job_type >= len(state.totals):
        raise PolicyError("move, stop, start: expected a type")
    if source < 0:
        raise PolicyError("start: expected a policy of model queue, in a loss system nobody waits")
    if source >= len(state.counts) or state.counts[source, job_type] < 1:
        raise PolicyError("move, stop: expected a server that holds a job of the type")
    if target >= len(state.counts) or target < OUTSIDE or (target >= 0 and not fits(state, target, job_type)):
        raise PolicyError("move: expected a target with room for the job")
    write_row(state, job_type, source, target)


@step
def write_no_move(state: State, job_type: int, source: int, target: int) -> None:
    """Refuse a row of ``moves``."""
    raise PolicyError("move, stop: expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")


def tools(policy: Policy) -> dict[Any, Any]:
    """Return what stands for tools in the author's functions."""
    return {write_move: write_known_move if policy.moves_jobs else write_no_move}


@step
def carry_out_moves(state: State, jobs: Any, measures: Measures) -> None:
    """Look at the rows of ``moves`` before the model's own function, which has the name, carries them out."""
    if state.done[MOVES] > len(state.moves):
        raise PolicyError("refresh: has left more rows of moves than there is room for")
    for row in range(state.done[MOVES]):
        job_type, source, target = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        if job_type < 0 or job_type >= len(state.totals) or source < 0 or source >= len(state.counts):
            raise PolicyError("refresh: has left a row of moves without a type and a server")
        if target < OUTSIDE or target >= len(state.counts):
            raise PolicyError("refresh: has left a row of moves to a server that is none")
    carry_out(state, jobs, measures)


@step
def note_and_count(measures: Measures, kind: int, what: int, server: int, other: int) -> None:
    """Count the jobs in service beside what `fluid.simulation.measures.note` does, for which it stands."""
    if kind == ARRIVAL:
        measures.inside[SERVED, what] += 1
    elif kind in (DEPARTURE, PREEMPTION):
        measures.inside[SERVED, what] -= 1
    write_note(measures, kind, what, server, other)


@step
def check_totals(state: State, jobs: Any, measures: Measures) -> None:
    """Check the jobs in service after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.totals)):
        if state.totals[j] != measures.inside[SERVED, j] or state.slots[j] < 0:
            raise PolicyError("refresh: has left totals other than the jobs in service, or slots below 0")


class LossBooks(TypedBooks):
    """What the loop knows of a loss system."""

    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        if isinstance(jobs, Calendar):
            numbers = jobs.ends.what[: jobs.ends.size[0]]
            numbers = numbers[jobs.server[numbers] >= 0]
            places = jobs.server[numbers].astype(np.int64) * types + jobs.kind[numbers]
            return np.bincount(places, minlength=servers * types).reshape(servers, types)
        counts = np.zeros((servers, types), np.int64)
        for j in range(types):
            first = jobs.first[j]
            counts[:, j] = np.bincount(jobs.servers[first : first + jobs.length[j]], minlength=servers)
        return counts - jobs.stale if len(jobs.stale) else counts


def refusal(setting: Setting, state: State) -> str | None:
    """Return what is wrong with a state as it was prepared."""
    return refusal_of_common(state, common(setting, room=1))


RULES = Rules(
    Common._fields,
    "common",
    refusal,
    LossGuard,
    LossBooks,
    {"carry_out": carry_out_moves, "note": note_and_count, "observe": check_totals},
    tools=tools,
)
