"""The state that all slotted policies share: servers with residual capacities, and jobs waiting in lines by size.

A job is known by its class, its place among the sizes in increasing order; jobs of one class are served in the order of
their arrival. Sizes and capacity are whole numbers of one unit: whether jobs fit is never a matter of rounding.

::

      slot t:  jobs end     free[l] += size, depart(state, l, class, draws)
               jobs arrive  join(state, class)
               schedule     while refresh(state, draws): ...        each call starts some jobs
               newcomers    l = place(state, class, draws) for each class that came and still waits; l >= 0: begin(...)

A policy starts waiting jobs by `begin`, at most as many a call as ``moves`` has rows: the simplest returns True after
each, and is called again; others go on until `moves_are_many`. What waits is asked by `waiting`, `largest_that_fits`,
`smallest_waiting` and `class_size`, so that no policy has to know the lists below. It sets ``done[SOON]`` if it
could start another job in the next slot although nothing comes or ends there; otherwise idle slots are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import MOVES, PolicyError, over_servers, state_type
from fluid.simulation.structures.bitset import discard, empty_sets, greatest_upto, insert, least
from fluid.simulation.structures.searches import NOTHING, close_up, first_at_least, leaf_value, new_tree, set_leaf
from theory.compiled import step
from theory.errors import InputError

SOON = 3
"""Place in ``done``: whether the policy asks to be called in the next slot."""

FREE, NEXT, WAITING, USED = 0, 1, 2, 3
"""Places in ``counters``: the first free place, the next job's number, jobs that wait, used leaves of ``arrived``."""

FIRST, LAST, COUNT = 0, 1, 2
"""Columns of ``lines``, side by side because they are looked up together; ``fronts`` has the first two."""

BEHIND, CLASS = 0, 1
"""Columns of ``order``."""

MANY = 64
"""Moves from which on the loop is to carry them out; until then there are rows for all that one server takes."""

NO_TREE = 2
"""Entries of the smallest tree, that of one leaf."""

PLACES = 64
"""Places for waiting jobs that a run begins with; it makes more where it needs them."""

MOST_ROWS = 1 << 16
"""Most rows of ``moves``."""

COMMON = (
    "sizes", "capacity", "free", "jobs", "lines", "after", "number", "counters", "words", "levels", "consecutive",
    "arrived", "queue_of", "queues", "order", "fronts", "moves", "done",
)  # fmt: skip
"""Fields of every slotted state.

Those from ``arrived`` to ``fronts`` are kept up to date for policies that ask for them (`shared`). For others they have
no entries, or as few as may be: that is how steps know (`has_arrivals`, `has_lengths`, `has_fronts`).

sizes : int64[n]
    Sizes of the classes, not decreasing.
capacity : int64[1]
    Of every server.
free, jobs : int64[L]
    Residual capacity of each server, and its jobs in service.
lines : int32[n, 3]
    Of each class the places of the first and the last job in its line (-1 if it is empty), and how many wait.
after, number : int64[M]
    Of each place the one behind it (or the next free one), and the number of its job in the order of arrival.
counters : int64[4]
    See `FREE`, `NEXT`, `WAITING`, `USED`.
words, levels
    The set of classes that wait (`fluid.simulation.structures.bitset`).
consecutive : bool[1]
    Whether the sizes are consecutive whole numbers, so that sizes and classes are computed from each other.
arrived : int64[2P]
    The waiting jobs in the order of arrival, as the leaves of a tree of maxima (`fluid.simulation.structures.searches`)
    with twice as many leaves as there are places: the value of a job is minus its class. `join` uses the next leaf, and
    lets the jobs close up where all have been used. The policy takes each job out that it starts (`take_out`).
queue_of : int8[n], or wider
    The virtual queue of each class.
queues : int64[V]
    Lengths of the virtual queues.
order : int64[M, 2]
    Of each place the one behind it in the order of arrival to its virtual queue, and the class of its job: jobs begin
    in that order.
fronts : int64[V, 2]
    The first and the last place of each virtual queue, -1 if it is empty; of all jobs if there are no virtual queues.
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
            raise InputError("servers", f"expected at least 1, got {self.servers}")
        if (
            len(self.sizes) == 0
            or self.sizes[0] < 1
            or self.sizes[-1] > self.capacity
            or (self.sizes[1:] < self.sizes[:-1]).any()
        ):
            raise InputError("sizes", f"expected whole numbers from 1 to the capacity {self.capacity}, in order")


def shared(
    setting: SlottedSetting,
    *,
    ordered: bool = False,
    queue_of: NDArray[np.signedinteger[Any]] | None = None,
    queues: int = 0,
    fifo: bool = False,
) -> dict[str, NDArray[Any]]:
    """Make the common fields for an empty system.

    Parameters
    ----------
    setting : SlottedSetting
    ordered : bool
        Keep ``arrived``, for policies that ask which of the jobs up to a size came first (`first_come`).
    queue_of : int8[n], or wider, optional
        The virtual queue of each class, for policies that ask for the lengths of virtual queues.
    queues : int
        How many there are.
    fifo : bool
        Keep ``order`` and ``fronts``, for policies that take the first job of a virtual queue, or of all jobs if there
        are none, and no other.
    """
    n, places = len(setting.sizes), PLACES
    words, levels = empty_sets(1, n)
    lines = queues
    if fifo and queue_of is None:  # one line of all jobs, whose length nobody asks for
        queue_of, queues, lines = np.zeros(n, np.int8), 0, 1
    return {
        "sizes": setting.sizes.astype(np.int64),
        "capacity": np.full(1, setting.capacity),
        "free": np.full(setting.servers, setting.capacity),
        "jobs": np.zeros(setting.servers, np.int64),
        "lines": empty_lines(n),
        "after": np.append(np.arange(1, places), -1),
        "number": np.zeros(places, np.int64),
        "counters": np.zeros(4, np.int64),
        "words": words,
        "levels": levels,
        "consecutive": np.full(1, (setting.sizes[1:] == setting.sizes[:-1] + 1).all()),
        "arrived": new_tree(2 * places if ordered else 1),
        "queue_of": np.zeros(0, np.int8) if queue_of is None else queue_of,
        "queues": np.zeros(queues, np.int64),
        "order": np.full((places if fifo else 0, 2), -1),
        "fronts": np.full((lines if fifo else 0, 2), -1),
        "moves": np.zeros((min(MOST_ROWS, MANY + setting.capacity // int(setting.sizes[0])), 3), np.int64),
        "done": np.zeros(4, np.int64),
    }


def empty_lines(classes: int) -> NDArray[np.int32]:
    """Make ``lines`` of a number of classes in which no job waits."""
    # narrow: most laws have hundreds of thousands of classes, and the cache holds few of their rows
    lines = np.full((classes, 3), -1, np.int32)
    lines[:, COUNT] = 0
    return lines


def with_places(state: Any, places: int) -> Any:
    """Copy a state with more places for waiting jobs."""
    before = len(state.after)
    after = np.concatenate([state.after, np.arange(before + 1, places + 1)])
    after[-1] = state.counters[FREE]
    state.counters[FREE] = before
    number = np.concatenate([state.number, np.zeros(places - before, np.int64)])
    state = state._replace(after=after, number=number)
    if has_arrivals(state):
        state.counters[USED] = over_servers(close_up, before)(state.arrived)
        leaves = state.arrived[len(state.arrived) >> 1 :]
        # a tree has a power of two of leaves, which may be enough already
        longer = np.pad(leaves, (0, max(0, 2 * places - len(leaves))), constant_values=NOTHING)
        state = state._replace(arrived=new_tree(len(longer), value=longer))
    if has_fronts(state):
        state = state._replace(order=np.concatenate([state.order, np.full((places - before, 2), -1)]))
    return state


@step
def has_arrivals(state: Any) -> bool:
    """Return whether ``arrived`` is kept up to date."""
    return len(state.arrived) > NO_TREE


@step
def has_lengths(state: Any) -> bool:
    """Return whether ``queues`` is kept up to date."""
    return len(state.queues) > 0


@step
def has_fronts(state: Any) -> bool:
    """Return whether ``order`` and ``fronts`` are kept up to date."""
    return len(state.fronts) > 0


@step
def place_nowhere(state: Any, job_class: int, draws: Any) -> int:
    """Leave newcomers to ``refresh``."""
    return -1


@step
def class_size(state: Any, job_class: int) -> int:
    """Return the size of a class."""
    # most laws have consecutive sizes, hundreds of thousands of them: computing is quicker than waiting for memory
    return int(state.sizes[0] + job_class if state.consecutive[0] else state.sizes[job_class])


@step
def classes_upto(state: Any, size: int) -> int:
    """Return how many classes have at most a size; the last of them is the largest that fits so much free capacity."""
    if state.consecutive[0]:
        return int(min(max(size - state.sizes[0] + 1, 0), len(state.sizes)))
    low, high = 0, len(state.sizes)
    while low < high:
        middle = (low + high) >> 1
        if state.sizes[middle] <= size:
            low = middle + 1
        else:
            high = middle
    return low


@step
def largest_fitting(state: Any, free: int) -> int:
    """Return the largest class that waits and fits so much free capacity, -1 if there is none."""
    if state.counters[WAITING] == 0:
        return -1
    return greatest_upto(state.words, state.levels, 0, classes_upto(state, free) - 1)


@step
def waiting(state: Any, job_class: int) -> int:
    """Return the number of jobs of a class that wait."""
    return int(state.lines[job_class, COUNT])


@step
def largest_that_fits(state: Any, server: int) -> int:
    """Return the largest class that waits and fits the free capacity of a server, -1 if there is none.

    >>> setting = SlottedSetting(np.array([2, 5, 7]), capacity=10, servers=2)
    >>> state = SlottedCommon(**shared(setting))
    >>> places = [join(state, job_class) for job_class in (0, 2, 0)]  # as the loop lets jobs come
    >>> begin(state, largest_that_fits(state, 0), 0)
    >>> state.free.tolist(), largest_that_fits(state, 0), [waiting(state, c) for c in range(3)]
    ([3, 10], 0, [2, 0, 0])
    """
    return largest_fitting(state, state.free[server])


@step
def waits(state: Any, job_class: int) -> bool:
    """Return whether a class waits."""
    # the set is small and stays in the processor's cache, which the lines of hundreds of thousands of classes do not
    return bool(state.words[0, job_class >> 5] >> (job_class & 31) & 1)


@step
def smallest_waiting(state: Any) -> int:
    """Return the smallest class that waits, -1 if none does."""
    return least(state.words, state.levels, 0)


@step
def first_come(state: Any, bound: int) -> int:
    """Return the leaf of ``arrived`` with the job that came first among those of classes below a bound, -1 if none."""
    return first_at_least(state.arrived, 0, 1 - bound)


@step
def take_out(state: Any, leaf: int) -> int:
    """Take the job of a leaf out of ``arrived``; return its class."""
    job_class = -leaf_value(state.arrived, leaf)
    set_leaf(state.arrived, leaf, NOTHING)
    return job_class


@step
def front(state: Any, queue: int) -> int:
    """Return the class of the job that came first to a virtual queue, -1 if it is empty."""
    at = state.fronts[queue, FIRST]
    return int(state.order[at, CLASS]) if at >= 0 else -1


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
    if waits(state, job_class):
        state.after[line[job_class, LAST]] = at
        line[job_class, COUNT] += 1
    else:
        line[job_class, FIRST] = at
        line[job_class, COUNT] = 1
        insert(state.words, state.levels, 0, job_class)
    line[job_class, LAST] = at
    if has_arrivals(state):
        _arrive(state.arrived, state.counters, job_class)
    if has_lengths(state):
        state.queues[state.queue_of[job_class]] += 1
    if has_fronts(state):
        _queue_up(state.order, state.fronts, state.queue_of[job_class], job_class, at)
    return int(at)


@step
def _arrive(arrived: NDArray[np.int64], counters: NDArray[np.int64], job_class: int) -> None:
    """Put a job of a class behind all others in the order of arrival."""
    if counters[USED] == len(arrived) >> 1:
        # fewer jobs wait than there are places, so at least half of the leaves become free
        counters[USED] = close_up(arrived)
    set_leaf(arrived, counters[USED], -job_class)
    counters[USED] += 1


@step
def _queue_up(order: NDArray[np.int64], fronts: NDArray[np.int64], queue: int, job_class: int, at: int) -> None:
    """Put a place at the end of a virtual queue."""
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
    if fronts[queue, FIRST] != at:
        raise PolicyError("begin", "expected the job that came first to its virtual queue")
    fronts[queue, FIRST] = order[at, BEHIND]
    if order[at, BEHIND] < 0:
        fronts[queue, LAST] = -1


@step
def begin(state: Any, job_class: int, server: int) -> None:
    """Start the first waiting job of a class on a server."""
    if job_class < 0 or server < 0:  # numbers beyond the last one are refused as indices
        raise PolicyError("begin", "expected a class and a server")
    line = state.lines
    at, size, free = line[job_class, FIRST], class_size(state, job_class), state.free[server]
    row = state.done[MOVES]
    if at < 0:
        raise PolicyError("begin", "expected a job that waits")
    if size > free:
        raise PolicyError("begin", "expected a server with room for the job")
    if row == len(state.moves):
        raise PolicyError("begin", "expected room for the move: refresh returns True where it needs another call")
    line[job_class, COUNT] -= 1
    behind = state.after[at] if line[job_class, COUNT] > 0 else -1  # most lines of many classes are one job long
    line[job_class, FIRST] = behind
    if behind < 0:
        line[job_class, LAST] = -1
        discard(state.words, state.levels, 0, job_class)
    if has_lengths(state):
        state.queues[state.queue_of[job_class]] -= 1
    if has_fronts(state):
        _step_out(state.order, state.fronts, state.queue_of[job_class], at)
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
    state.free[server] += class_size(state, job_class)
    state.jobs[server] -= 1
