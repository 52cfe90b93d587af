"""The state that all slotted policies share: servers with residual capacities, and jobs waiting in lines by size.

A job is known by its class, its place among the sizes in increasing order; jobs of one class are served in the order of
their arrival. Sizes and capacity are whole numbers of one unit: whether jobs fit is never a matter of rounding.

::

      slot t:  jobs end     free[l] += size, depart(state, l, class, draws)
               jobs arrive  join(state, class)
               schedule     while refresh(state, draws): ...        each call starts some jobs
               newcomers    l = place(state, class, draws) for each class that came and still waits; l >= 0: begin(...)

A policy starts waiting jobs by `begin`, at most as many a call as ``moves`` has rows. It sets ``done[SOON]`` if it
could start another job in the next slot although nothing comes or ends there; otherwise idle slots are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.bitset import discard, empty_sets, greatest_upto, insert, least
from fluid.simulation.slotted.by_arrival import append, new_arrivals, with_more
from fluid.simulation.state import MOVES, PolicyError, state_type
from theory.errors import InputError
from theory.jit import step

SOON = 3
"""Place in ``done``: whether the policy asks to be called in the next slot."""

FREE, NEXT, WAITING = 0, 1, 2
"""Places in ``counters``: the first free place, the number of the next job, how many wait."""

FIRST, LAST, SIZE, COUNT = 0, 1, 2, 3
"""Columns of ``lines``, side by side because they are looked up together; ``fronts`` has the first two."""

BEHIND, CLASS = 0, 1
"""Columns of ``order``."""

DIRECT = 1 << 22
"""Largest capacity for which the class of every residual is tabled; beyond it is searched for."""

MANY = 64
"""Moves from which on the loop is to carry them out; until then there is room for all that one server takes."""

COMMON = (
    "sizes",
    "capacity",
    "lowest",
    "below",
    "free",
    "jobs",
    "lines",
    "after",
    "number",
    "counters",
    "words",
    "levels",
    "arrived",
    "reach",
    "queue_of",
    "queues",
    "order",
    "fronts",
    "moves",
    "done",
)
"""Fields of every slotted state.

sizes : int64[n]
    Sizes of the classes, not decreasing.
capacity : int64[1]
    Of every server.
lowest : int64[1]
    The least size, where the sizes are consecutive whole numbers: then sizes and classes are computed from each other,
    and no table is read. Otherwise 0.
below : int32[capacity + 1]
    Number of classes of at most each size; empty where sizes are consecutive or the capacity is more than `DIRECT`.
free, jobs : int64[L]
    Residual capacity of each server, and its jobs in service.
lines : int64[n, 4]
    Of each class the places of the first and the last job in its line (-1 if it is empty), its size, and how many wait.
after, number : int64[M]
    Of each place the one behind it (or the next free one), and the number of its job in the order of arrival.
counters : int64[3]
    See `FREE`, `NEXT`, `WAITING`.
words, levels
    The set of classes that wait (`fluid.simulation.bitset`).
arrived, reach
    The waiting jobs in the order of arrival (`fluid.simulation.slotted.by_arrival`): the policy takes each job out that
    it starts. Where the classes are few, ``arrived`` has two dimensions, none of them any length, so that nothing is
    compiled for it; unless this is asked for, ``reach`` holds zeros, too.
queue_of : int32[n]
    The virtual queue of each class; of two dimensions, and empty, unless there are some.
queues : int64[V]
    Lengths of the virtual queues.
order : int64[M, 2]
    Of each place the one behind it in the order of arrival to its virtual queue, and the class of its job. Of one
    dimension, and empty, unless asked for: then jobs begin in that order, and ``words`` is not kept.
fronts : int64[V, 2]
    The first and the last place of each virtual queue, -1 if it is empty; as ``order``, of one dimension unless asked
    for. Where there is one for all classes, ``queue_of`` is not needed.
moves : int64[K, 3]
    Rows (class, place, server) of the jobs started since the loop last cleared them.
done : int64[4]
    See `fluid.simulation.state.MOVES` and `SOON`.
"""

SlottedCommon = state_type(__name__, "SlottedCommon", COMMON)
"""A state with these fields alone, enough for a policy without memory."""


@dataclass(frozen=True)
class SlottedSetting:
    """What a slotted policy is prepared for.

    Attributes
    ----------
    sizes : int64[n]
        Not decreasing, from 1 to the capacity.
    capacity : int
        Of every server, in the same unit.
    servers : int
    options : mapping
    """

    sizes: NDArray[np.int64]
    capacity: int
    servers: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse sizes that are not in order or do not fit."""
        if self.servers < 1:
            raise InputError(f"servers: expected at least 1, got {self.servers}")
        if (
            len(self.sizes) == 0
            or self.sizes[0] < 1
            or self.sizes[-1] > self.capacity
            or (np.diff(self.sizes) < 0).any()
        ):
            raise InputError(f"sizes: expected whole numbers from 1 to the capacity {self.capacity}, in order")


def shared(
    setting: SlottedSetting,
    *,
    ordered: bool = False,
    queue_of: NDArray[np.int32] | None = None,
    queues: int = 0,
    fifo: bool = False,
) -> dict[str, NDArray[Any]]:
    """Make the common fields for an empty system.

    ``ordered`` asks for ``arrived``; ``fifo`` for ``order``, for policies that take the first job of a virtual queue,
    or of all jobs if there are none, and no other.
    """
    n, capacity, room = len(setting.sizes), setting.capacity, 1024
    after = np.arange(1, room + 1)
    after[-1] = -1
    below = np.zeros(0, np.int32)
    consecutive = bool((np.diff(setting.sizes) == 1).all())
    if capacity <= DIRECT and not consecutive:
        below = np.cumsum(np.bincount(setting.sizes, minlength=capacity + 1), dtype=np.int32)
    lines = np.empty((n, 4), np.int64)
    lines[:, :SIZE], lines[:, SIZE], lines[:, COUNT] = -1, setting.sizes, 0
    words, levels = empty_sets(1, n)
    arrived, reach = new_arrivals(room, n) if ordered else (np.zeros((0, 0), np.int64), np.zeros(2, np.int64))
    return {
        "sizes": setting.sizes.astype(np.int64),
        "capacity": np.full(1, capacity),
        "lowest": np.full(1, setting.sizes[0] if consecutive else 0),
        "below": below,
        "free": np.full(setting.servers, capacity),
        "jobs": np.zeros(setting.servers, np.int64),
        "lines": lines,
        "after": after,
        "number": np.zeros(room, np.int64),
        "counters": np.zeros(3, np.int64),
        "words": words,
        "levels": levels,
        "arrived": arrived,
        "reach": reach,
        "queue_of": np.zeros((0, 0), np.int32) if queue_of is None else queue_of,
        "queues": np.zeros(queues, np.int64),
        "order": np.full((room, 2), -1) if fifo else np.zeros(0, np.int64),
        "fronts": np.full((max(1, queues), 2), -1) if fifo else np.zeros(0, np.int64),
        "moves": np.zeros((min(1 << 16, MANY + capacity // int(setting.sizes[0])), 3), np.int64),
        "done": np.zeros(4, np.int64),
    }


def with_places(state: Any, room: int) -> Any:
    """Copy a state with more places for waiting jobs."""
    before = len(state.after)
    after = np.concatenate([state.after, np.arange(before + 1, room + 1)])
    after[-1] = state.counters[FREE]
    state.counters[FREE] = before
    order = np.concatenate([state.order, np.full((room - before, 2), -1)]) if len(state.order) else state.order
    number = np.concatenate([state.number, np.zeros(room - before, np.int64)])
    arrived = with_more(state.arrived, room) if len(state.arrived) else state.arrived
    return state._replace(after=after, number=number, order=order, arrived=arrived)


@step
def place_nowhere(state: Any, job_class: int, draws: Any) -> int:
    """Leave newcomers to ``refresh``."""
    return -1


@step
def class_size(state: Any, job_class: int) -> int:
    """Return the size of a class."""
    lowest = state.lowest[0]
    return int(lowest + job_class if lowest > 0 else state.lines[job_class, SIZE])


@step
def classes_upto(state: Any, room: int) -> int:
    """Return how many classes have at most a size; the last of them is the largest that fits so much room."""
    if state.lowest[0] > 0:
        upto = room - state.lowest[0] + 1
        return int(0 if upto < 0 else upto if upto < len(state.sizes) else len(state.sizes))
    if len(state.below) > 0:
        return int(state.below[room])
    low, high = 0, len(state.sizes)
    while low < high:
        middle = (low + high) >> 1
        if state.sizes[middle] <= room:
            low = middle + 1
        else:
            high = middle
    return low


@step
def largest_fitting(state: Any, room: int) -> int:
    """Return the largest class that waits and fits so much room, -1 if there is none."""
    return greatest_upto(state.words, state.levels, 0, classes_upto(state, room) - 1)


@step
def smallest_waiting(state: Any) -> int:
    """Return the smallest class that waits, -1 if none does."""
    return least(state.words, state.levels, 0)


@step
def join(state: Any, job_class: int) -> int:
    """Put a job at the end of its line; return its place. There must be a free one."""
    at = state.counters[FREE]
    state.counters[FREE] = state.after[at]
    state.after[at] = -1
    state.number[at] = state.counters[NEXT]
    state.counters[NEXT] += 1
    state.counters[WAITING] += 1
    line = state.lines
    line[job_class, COUNT] += 1
    if line[job_class, FIRST] < 0:
        line[job_class, FIRST] = at
        _show(state.fronts, state.words, state.levels, job_class)
    else:
        state.after[line[job_class, LAST]] = at
    line[job_class, LAST] = at
    _arrive(state.arrived, state.reach, job_class, state.counters[WAITING] - 1)
    _lengthen(state.queue_of, state.queues, job_class, 1)
    _queue_up(state.order, state.fronts, _queue(state.queue_of, job_class), job_class, at)
    return int(at)


# What not all policies keep: the dimensions of an array say whether it is there, and are known when a loop is compiled.


@step
def _arrive(arrived: NDArray[np.int64], reach: NDArray[np.int64], job_class: int, waiting: int) -> None:
    """Put a job behind all others, which are so many."""
    if arrived.ndim == 1:
        append(arrived, reach, job_class, waiting)


@step
def _show(fronts: NDArray[np.int64], words: NDArray[np.int64], levels: NDArray[np.int64], job_class: int) -> None:
    """Add a class to the set of those that wait."""
    if fronts.ndim == 1:
        insert(words, levels, 0, job_class)


@step
def _hide(fronts: NDArray[np.int64], words: NDArray[np.int64], levels: NDArray[np.int64], job_class: int) -> None:
    """Remove a class from the set of those that wait."""
    if fronts.ndim == 1:
        discard(words, levels, 0, job_class)


@step
def _queue(queue_of: NDArray[np.int32], job_class: int) -> int:
    """Return the virtual queue of a class, 0 where there is one for all."""
    if queue_of.ndim == 1:
        return int(queue_of[job_class])
    return 0


@step
def _lengthen(queue_of: NDArray[np.int32], queues: NDArray[np.int64], job_class: int, jobs: int) -> None:
    """Count jobs of a class in its virtual queue."""
    if queue_of.ndim == 1:
        queues[queue_of[job_class]] += jobs


@step
def _queue_up(order: NDArray[np.int64], fronts: NDArray[np.int64], queue: int, job_class: int, at: int) -> None:
    """Put a place at the end of a virtual queue."""
    if fronts.ndim == 2:
        order[at, BEHIND] = -1
        order[at, CLASS] = job_class
        if fronts[queue, FIRST] < 0:
            fronts[queue, FIRST] = at
        else:
            order[fronts[queue, LAST], BEHIND] = at
        fronts[queue, LAST] = at


@step
def _step_out(order: NDArray[np.int64], fronts: NDArray[np.int64], queue: int, at: int) -> None:
    """Remove the first place of a virtual queue, which must be that of the job."""
    if fronts.ndim == 2:
        if fronts[queue, FIRST] != at:
            raise PolicyError("begin: expected the job that came first to its virtual queue")
        fronts[queue, FIRST] = order[at, BEHIND]
        if order[at, BEHIND] < 0:
            fronts[queue, LAST] = -1


@step
def front(state: Any, queue: int) -> int:
    """Return the class of the job that came first to a virtual queue, -1 if it is empty."""
    at = state.fronts[queue, FIRST]
    return int(state.order[at, CLASS]) if at >= 0 else -1


@step
def begin(state: Any, job_class: int, server: int) -> None:
    """Start the first waiting job of a class on a server."""
    if job_class < 0 or server < 0:  # numbers beyond the last one are refused as indices
        raise PolicyError("begin: expected a class and a server")
    line = state.lines
    at, size = line[job_class, FIRST], line[job_class, SIZE]
    row = state.done[MOVES]
    if at < 0 or size > state.free[server] or row == len(state.moves):
        raise PolicyError("begin: expected a job that waits, a server with room for it, and room for the move")
    line[job_class, COUNT] -= 1
    behind = state.after[at] if line[job_class, COUNT] > 0 else -1  # most lines of many are one job long
    line[job_class, FIRST] = behind
    if behind < 0:
        line[job_class, LAST] = -1
        _hide(state.fronts, state.words, state.levels, job_class)
    _lengthen(state.queue_of, state.queues, job_class, -1)
    _step_out(state.order, state.fronts, _queue(state.queue_of, job_class), at)
    state.after[at] = state.counters[FREE]
    state.counters[FREE] = at
    state.counters[WAITING] -= 1
    state.free[server] -= size
    state.jobs[server] += 1
    state.moves[row, 0] = job_class
    state.moves[row, 1] = at
    state.moves[row, 2] = server
    state.done[MOVES] = row + 1


@step
def moves_are_many(state: Any) -> bool:
    """Return whether ``refresh`` shall return, to be called again once its moves have been carried out."""
    return bool(state.done[MOVES] >= MANY)


@step
def end(state: Any, job_class: int, server: int) -> None:
    """Let a job of a class leave its server."""
    leave(state, server, class_size(state, job_class))


@step
def leave(state: Any, server: int, size: int) -> None:
    """Let a job of a size leave its server."""
    state.free[server] += size
    state.jobs[server] -= 1
