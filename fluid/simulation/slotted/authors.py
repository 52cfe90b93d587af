"""What an author's policy of a slotted queue may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Guard
from fluid.simulation.measures import Measures
from fluid.simulation.slotted.loop import Jobs
from fluid.simulation.slotted.state import (
    BY_ARRIVAL,
    COMMON,
    CONSECUTIVE,
    COUNT,
    FIRST,
    FREE,
    HEADS,
    QUEUES,
    SIZE,
    WAITING,
    SlottedSetting,
    begin,
    shared,
)
from fluid.simulation.state import PolicyError, State
from fluid.simulation.structures.bitset import empty_sets, insert
from fluid.simulation.structures.slot_ends import BEHIND, CLASS, SERVER, UNUSED
from fluid.simulation.structures.trees import new_tree
from theory.compiled import plain, step


@step
def check_waiting(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check how many jobs wait after a slot; stands for `fluid.simulation.loop.observe`."""
    waiting = 0
    for g in range(measures.inside.shape[1]):
        waiting += measures.inside[0, g]
    if state.counters[WAITING] != waiting:
        raise PolicyError("refresh: has left counters[WAITING] other than the jobs that wait")


@step
def leave_out_unused(rows: NDArray[np.int64], row: int, in_service: NDArray[np.bool_]) -> None:
    """Take the unused rows of the list of ends, from the first one on, out of those in service."""
    while row >= 0:
        in_service[row] = False
        row = rows[row, BEHIND]


@step
def count_places(after: NDArray[np.int64], place: int, seen: NDArray[np.bool_]) -> int:
    """Return how many places follow from one on that have not been seen, and mark them."""
    count = 0
    while 0 <= place < len(after) and not seen[place]:
        seen[place] = True
        count += 1
        place = after[place]
    return count


@step
def count_lines(lines: NDArray[np.int64], after: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Count the jobs in each line anew, wherever its places lead."""
    for job_class in range(len(lines)):
        lines[job_class, COUNT] = count_places(after, lines[job_class, FIRST], seen)


class SlottedGuard(Guard):
    """What is checked of an author's policy of a slotted queue."""

    fields = COMMON
    maker = "shared"
    free_fields = ("moves", "done", "arrived")
    constants = ("sizes", "capacity", "keeps", "queue_of")
    lengths: ClassVar[dict[str, Callable[[State], bool]]] = {
        "after": lambda state: state.after.ndim == 1 and len(state.after) > 0,
        "number": lambda state: state.number.shape == state.after.shape,
        "keeps": lambda state: (
            state.keeps.shape == (4,) and state.keeps[CONSECUTIVE] == (np.diff(state.sizes) == 1).all()
        ),
        "arrived": lambda state: np.array_equal(
            state.arrived, new_tree(2 * len(state.after) if state.keeps[BY_ARRIVAL] else 1)
        ),
        "queue_of": lambda state: (
            state.queue_of.shape == (len(state.sizes) if state.keeps[QUEUES] or state.keeps[HEADS] else 0,)
        ),
        "queues": lambda state: state.queues.ndim == 1,
        "order": lambda state: state.order.shape == (len(state.after) if state.keeps[HEADS] else 0, 2),
        "fronts": lambda state: state.fronts.shape == (len(state.queues) if state.keeps[HEADS] else 0, 2),
        "moves": lambda state: state.moves.ndim == 2 and state.moves.shape[1] == 3 and len(state.moves) > 0,
    }
    checks: ClassVar[dict[str, Any]] = {"observe": check_waiting}
    clock = "slot"
    tools = "begin"
    _begin = staticmethod(plain(begin))

    @classmethod
    def empty(cls, setting: SlottedSetting, state: State) -> dict[str, NDArray[Any]]:
        """Return the common fields of an empty system."""
        del state
        return shared(setting)

    @classmethod
    def refusal(cls, setting: SlottedSetting, state: State) -> str | None:
        """Return what is wrong with the common fields of a state that was prepared, None if nothing."""
        if complaint := super().refusal(setting, state):
            return complaint
        if not np.array_equal(state.after, np.append(np.arange(1, len(state.after)), -1)):
            return "field after: expected each place followed by the next one, and -1"
        if len(state.queue_of) and not (state.queue_of.min() >= 0 and state.queue_of.max() < len(state.queues)):
            return f"field queue_of: expected numbers from 0 to {len(state.queues) - 1}"
        return None

    def refresh(self, state: State, draws: Any) -> bool:
        """Let the policy look at the system in a slot."""
        self._event = "jobs that wait"
        return super().refresh(state, draws)

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(state.lines[job_type, SIZE] <= state.free[server])

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Begin a waiting job; the second number is its place."""
        if not (0 <= job_type < len(state.sizes) and 0 <= target < len(state.free)):
            raise PolicyError("expected a class, a place and a server")
        if state.lines[job_type, FIRST] != source:
            raise PolicyError("expected the place of the first job of the class")
        self._begin(state, job_type, target)

    def kind(self, state: State, job_type: int) -> str:
        """Return what a size class is called in messages."""
        return f"class {job_type} (size {state.lines[job_type, SIZE]} of {state.capacity[0]})"

    def contents(self, state: State) -> str:
        """Return what a message says of the servers where there is no time."""
        return f"free {state.free.tolist()}"

    @classmethod
    def impossible(cls, state: State) -> None:
        """Return None: a policy changes nothing without a tool but what is its own."""
        del state

    def count(self, state: State, measures: Measures) -> None:
        """Do nothing: the loop over slots counts the jobs under every policy."""
        del state, measures

    def expected(self, state: State, jobs: Jobs, measures: Measures) -> dict[str, Any]:
        """Return what the servers hold, and the lines in which the jobs wait."""
        rows, servers = jobs.ends.rows, len(state.free)
        in_service = np.ones(len(rows), bool)
        leave_out_unused(rows, jobs.ends.counts[UNUSED], in_service)
        where, sizes = rows[in_service, SERVER], self._constants["sizes"][rows[in_service, CLASS]]
        busy = np.bincount(where, sizes, minlength=servers).astype(np.int64)
        return {
            "free": self._constants["capacity"][0] - busy,
            "jobs": np.bincount(where, minlength=servers),
            "lines": self._lines(state, measures),
            **self._sets(state),
        }

    def _lines(self, state: State, measures: Measures) -> NDArray[np.int64]:
        """Return the lines, each with as many jobs as it leads to; -1 where these, or the free places, are not all."""
        lines: NDArray[np.int64] = state.lines.copy()
        lines[:, SIZE] = self._constants["sizes"]
        seen = np.zeros(len(state.after), np.bool_)
        count_lines(lines, state.after, seen)
        if count_places(state.after, state.counters[FREE], seen) != len(seen) - lines[:, COUNT].sum():
            lines[:, COUNT] = -1
        group = measures.group if measures.inside.shape[1] > 1 else np.zeros(len(lines), np.int64)
        by_group = np.bincount(group, lines[:, COUNT], minlength=measures.inside.shape[1])
        if (by_group != measures.inside[0]).any():
            lines[:, COUNT] = -1
        return lines

    def _sets(self, state: State) -> dict[str, Any]:
        """Return what follows from the lines: the set of classes that wait, and the lengths of virtual queues."""
        sets: dict[str, Any] = {}
        counts = state.lines[:, COUNT]
        sets["words"], sets["levels"] = empty_sets(1, len(counts))
        for job_class in np.flatnonzero(counts > 0).tolist():
            insert(sets["words"], sets["levels"], 0, job_class)
        if state.keeps[QUEUES]:
            sets["queues"] = np.bincount(state.queue_of, counts, minlength=len(state.queues)).astype(np.int64)
        return sets

    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers have less than nothing left."""
        return np.asarray(state.free < 0)


GUARD = SlottedGuard
