"""What a policy sees and changes: its setting, the common part of every state, and the tools that change it.

`fluid.simulation.policy_interface` says how the tools are used.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from theory.compiled import bound, step
from theory.errors import ContractError, InputError
from theory.greedy.pools import apportion
from theory.instance import Additive, Instance
from theory.numbers import many
from theory.rows import unique_rows

State = Any
"""A NamedTuple of numpy arrays with the fields of the common part."""

OUTSIDE = -1
"""In a row of ``moves``: not on a server."""

MOVES, REASSIGNED, ASKS = 0, 1, 2
"""Places in ``done``: rows in ``moves``, servers reassigned since the last clearing, and whether the policy asks."""

UNLIMITED = 2**62
"""Free units on a server whose pool lists its configurations instead of resources."""

MOST_REQUESTS = 1000
"""Times that a policy may ask at one event for another call of ``refresh``, or for an answer; see `most_calls`."""


class PolicyError(ContractError):
    """A function of a policy does what it must not; the words say what was expected."""


class Common(NamedTuple):
    """A state with the common part alone, enough for a policy without memory.

    Attributes
    ----------
    counts : int32[L, J]
        Jobs of each type in service on each server.
    totals : int64[J]
        Jobs of each type in service.
    slots : int64[J]
        Slots that a reserving policy holds ready, used or not; of no meaning elsewhere.
    free : int64[L, R]
        Free units of each resource; R = 0 where the policy does not want them kept.
    demands : int64[J, R]
        Units that a job takes; constant.
    generators : int32[G, J]
        Maximal configurations of the pools that list them.
    spans : int64[P, 2]
        First and last-but-one row of ``generators`` of each pool; empty for additive pools.
    pool : int32[L]
        The pool of each server; pools stand one after another.
    moves : int32[M, 3]
        Rows (type, from, to) written since the loop last cleared them.
    done : int64[4]
        See `MOVES`, `REASSIGNED`, `ASKS`.
    """

    counts: NDArray[np.int32]
    totals: NDArray[np.int64]
    slots: NDArray[np.int64]
    free: NDArray[np.int64]
    demands: NDArray[np.int64]
    generators: NDArray[np.int32]
    spans: NDArray[np.int64]
    pool: NDArray[np.int32]
    moves: NDArray[np.int32]
    done: NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """What a policy is prepared for.

    Attributes
    ----------
    instance : Instance
    servers : int
        L >= 1 servers, split over pools by `theory.greedy.pools.apportion`.
    options : mapping
        Options of the policy, by the names of the table ``[simulation]``.
    initial : int32[L, J], optional
        Jobs in service at time 0; none where left out.
    """

    instance: Instance
    servers: int
    options: Mapping[str, Any] = field(default_factory=dict)
    initial: NDArray[np.int32] | None = None

    @cached_property
    def pool_sizes(self) -> tuple[int, ...]:
        """Servers of each pool, in the order in which they are numbered."""
        return apportion(self.servers, [pool.share for pool in self.instance.pools])

    @cached_property
    def pool(self) -> NDArray[np.int32]:
        """The pool of each server, int32[L]."""
        return np.repeat(np.arange(len(self.pool_sizes), dtype=np.int32), self.pool_sizes)


def common(setting: Setting, *, resources: bool = True, most_moves: int = 4096) -> dict[str, NDArray[Any]]:
    """Make the common part of a state, to be spread into the policy's own: ``MyState(**common(setting), ...)``.

    Parameters
    ----------
    setting : Setting
    resources : bool
        Whether ``free``, ``demands`` and ``generators`` are kept, so that `fits` can be asked. A policy whose slots see
        to it that jobs fit leaves them out and saves the memory.
    most_moves : int
        M, rows of ``moves``.

    Raises
    ------
    InputError
        Initial contents that no server can hold.

    Examples
    --------
    >>> from theory.instance import additive
    >>> state = Common(**common(Setting(additive([12], [[5], [7]]), servers=3)))
    >>> put(state, 1, 0)
    >>> state.free.tolist(), [bool(fits(state, l, 1)) for l in range(3)]
    ([[12], [7], [12]], [True, True, True])
    """
    types = len(setting.instance.types)
    shape = (setting.servers, types)
    initial = np.zeros(shape, np.int32) if setting.initial is None else setting.initial.astype(np.int32)
    if initial.shape != shape:
        raise InputError(
            "simulation.initial",
            f"expected {many(shape[0], 'row')} of {many(types, 'number')}, got an array of shape {initial.shape}",
        )
    _refuse_overfull(setting, initial)
    spaces = [pool.space for pool in setting.instance.pools]
    # all pools with capacities have the same resources, so the demands of one are those of all
    demands = next((space.demands for space in spaces if isinstance(space, Additive)), ((),) * types)
    width = len(demands[0]) if resources else 0
    needs = np.array(demands, np.int64).reshape(types, -1)[:, :width]
    capacities = [space.capacity if isinstance(space, Additive) else (UNLIMITED,) * width for space in spaces]
    free = np.zeros((setting.servers, width), np.int64)
    if width:
        free[:] = np.array(capacities, np.int64)[setting.pool] - initial.astype(np.int64) @ needs
    generators: list[tuple[int, ...]] = []
    spans = np.zeros((len(spaces), 2), np.int64)
    for p, space in enumerate(spaces):
        spans[p] = len(generators)
        if resources and not isinstance(space, Additive):
            generators += space.generators
            spans[p, 1] = len(generators)
    return {
        "counts": initial.copy(),
        "totals": initial.sum(axis=0, dtype=np.int64),
        "slots": np.zeros(types, np.int64),
        "free": free,
        "demands": needs.copy(),
        "generators": np.array(generators, np.int32).reshape(-1, types),
        "spans": spans,
        "pool": setting.pool.copy(),
        "moves": np.zeros((most_moves, 3), np.int32),
        "done": np.zeros(4, np.int64),
    }


def _refuse_overfull(setting: Setting, initial: NDArray[np.int32]) -> None:
    rows, first, _ = unique_rows(np.column_stack([setting.pool, initial]))
    for row, server in zip(rows.tolist(), first.tolist(), strict=True):
        if not setting.instance.pools[row[0]].space.holds(row[1:]):
            raise InputError("simulation.initial", f"server {server + 1} cannot hold {named_jobs(setting, row[1:])}")


def named_jobs(setting: Setting, jobs: Sequence[int] | NDArray[Any]) -> str:
    """Return the jobs of a server by name, as messages show them."""
    parts = [f"{number} {name}" for name, number in zip(setting.instance.names, jobs, strict=True) if number]
    return (", ".join(parts[:8]) or "nothing") + (", ..." if len(parts) > 8 else "")


FEW_SERVERS = 20_000
"""Servers up to which a state is prepared as Python, in about a second; to compile what prepares it takes several."""


def over_servers(function: Callable[..., Any], servers: int) -> Callable[..., Any]:
    """Return a step that looks at all servers, or at each of them, as it is; compiled where the servers are many."""
    return function if servers <= FEW_SERVERS else _as_kernel(function)


@cache
def _as_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    return bound(function)


@step
def wide(number: int) -> int:
    """Return a whole number of an array as one of 64 bits: numba compiles a function for each width of an argument."""
    return int(np.int64(number))


@step
def fits(state: State, server: int, job_type: int) -> bool:
    """Return whether a server has room for one more job of a type, by the resources or configurations that are kept."""
    free, demand = state.free[server], state.demands[job_type]
    for r in range(len(free)):
        if demand[r] > free[r]:
            return False
    if len(state.generators) == 0:
        return True
    # some maximal configuration of the pool must hold the jobs with this one; a pool that lists none has resources
    pool = state.pool[server]
    first, end = state.spans[pool, 0], state.spans[pool, 1]
    for g in range(first, end):
        below = True
        for j in range(state.generators.shape[1]):
            if state.counts[server, j] + (1 if j == job_type else 0) > state.generators[g, j]:
                below = False
                break
        if below:
            return True
    return bool(first == end)


@step
def put(state: State, server: int, job_type: int) -> None:
    """Add a job to a server in the common part."""
    state.counts[server, job_type] += 1
    state.totals[job_type] += 1
    for r in range(state.free.shape[1]):
        state.free[server, r] -= state.demands[job_type, r]


@step
def take(state: State, server: int, job_type: int) -> None:
    """Remove a job from a server in the common part."""
    state.counts[server, job_type] -= 1
    state.totals[job_type] -= 1
    for r in range(state.free.shape[1]):
        state.free[server, r] += state.demands[job_type, r]


@step
def one_of(draws: Any, number: int) -> int:
    """Draw one of 0, ..., number - 1, each with the same probability (up to 2^-53 number)."""
    return int(draws.random() * number)


@step
def move(state: State, job_type: int, source: int, target: int) -> None:
    """Migrate a job of a type from one server to another.

    Raises
    ------
    PolicyError
        No such job on the source, no room on the target, or no row of ``moves`` left; `stop` and `start` likewise.
    """
    _expect_job(state, source, job_type)
    if not _has_room(state, target, job_type):
        raise PolicyError("move", "expected a target with room for the job")
    _write_move(state, job_type, source, target)
    take(state, source, job_type)
    put(state, target, job_type)


@step
def stop(state: State, job_type: int, server: int) -> None:
    """Preempt a job of a type on a server: it leaves the system."""
    _expect_job(state, server, job_type)
    _write_move(state, job_type, server, OUTSIDE)
    take(state, server, job_type)


@step
def start(state: State, job_type: int, server: int) -> None:
    """Begin the service of a waiting job of a type on a server (``waiting`` is the caller's to lower)."""
    if not _has_room(state, server, job_type):
        raise PolicyError("start", "expected a server with room for the job")
    _write_move(state, job_type, OUTSIDE, server)
    put(state, server, job_type)


@step
def serve(state: State, job_type: int, server: int) -> None:
    """Begin the service of a waiting job of a type in a queue, which has one job less: `start` with ``waiting``."""
    if state.waiting[job_type] < 1:
        raise PolicyError("serve", "expected a job of the type that waits")
    state.waiting[job_type] -= 1
    start(state, job_type, server)


@step
def longest_that_fits(state: State, server: int) -> int:
    """Return the type with the most jobs waiting of those that fit a server of a queue, the first of equals, else -1.

    >>> from theory.instance import additive
    >>> state = QueueCommon(**queue_fields(Setting(additive([12], [[5], [7], [13 - 1]]), servers=1)))
    >>> state.waiting[:] = 2, 3, 9
    >>> serve(state, longest_that_fits(state, 0), 0)
    >>> state.counts.tolist(), state.waiting.tolist(), longest_that_fits(state, 0)
    ([[0, 0, 1]], [2, 3, 8], -1)
    """
    best = -1
    for j in range(len(state.waiting)):
        longer = state.waiting[j] > (0 if best < 0 else state.waiting[best])
        if longer and fits(state, server, j):
            best = j
    return best


@step
def _expect_job(state: State, server: int, job_type: int) -> None:
    if server < 0 or server >= len(state.counts) or state.counts[server, job_type] < 1:
        raise PolicyError("move, stop", "expected a server that holds a job of the type")


@step
def _has_room(state: State, server: int, job_type: int) -> bool:
    return 0 <= server < len(state.counts) and fits(state, server, job_type)


@step
def _write_move(state: State, job_type: int, source: int, target: int) -> None:
    row = state.done[MOVES]
    if job_type < 0:  # a type beyond the last one has been refused as an index
        raise PolicyError("move, stop, start", "expected a type")
    if row == len(state.moves):
        raise PolicyError(
            "more moves in one call than the state has rows for: refresh returns True where it needs another call"
        )
    state.moves[row, 0] = job_type
    state.moves[row, 1] = source
    state.moves[row, 2] = target
    state.done[MOVES] = row + 1


@step
def most_calls(state: State) -> int:
    """Return how often ``refresh`` may return True at an event beyond `MOST_REQUESTS`: ten times a server and a job."""
    jobs = len(state.counts)
    for j in range(len(state.totals)):
        jobs += state.totals[j]
    return 10 * jobs


def state_type(module: str, name: str, fields: Sequence[str], *own: str) -> Any:
    """Make the type of a state: the fields of another and a policy's own.

    It is to stand under its name in its module (``X = state_type(__name__, "X", ...)``), where the cache of compiled
    loops finds it again.

    Examples
    --------
    >>> state_type(__name__, "Counting", Common._fields, "seen")._fields[-2:]
    ('done', 'seen')
    """
    return namedtuple(name, (*fields, *own), module=module)


QUEUE = (*Common._fields, "waiting", "clocks")
"""Fields of every state of a queue in continuous time: the common part, ``waiting`` int64[J], the jobs of each type
that wait, and ``clocks`` float64[K], the rates of the policy's own clocks."""

QueueCommon = state_type(__name__, "QueueCommon", QUEUE)
"""A state with these fields alone, enough for a policy of queues without memory."""


def queue_fields(
    setting: Setting,
    name: str = "a policy of queues",
    *,
    resources: bool = True,
    most_moves: int = 4096,
    clocks: int = 0,
) -> dict[str, NDArray[Any]]:
    """Make those fields for empty servers (see `common`), to be spread into the policy's state.

    Raises
    ------
    InputError
        Jobs on servers at time 0.
    """
    if setting.initial is not None and setting.initial.any():
        raise InputError("simulation.initial", f"expected empty servers for {name}")
    fields = common(setting, resources=resources, most_moves=most_moves)
    return {**fields, "waiting": np.zeros(len(setting.instance.types), np.int64), "clocks": np.zeros(clocks)}


@cache
def type_of(fields: tuple[str, ...]) -> Any:
    """Return the type of states with these fields that every process can make from its name.

    Numba stores compiled code by the types of its arguments, and reads all that it has stored of a function at once: a
    type of an author's file, or of a notebook, would be looked for by processes that have never seen it. The states of
    authors' policies are therefore of types of this module, which `__getattr__` makes from their names.

    >>> import pickle
    >>> state = type_of(("counts", "own_"))([1], [2])
    >>> pickle.loads(pickle.dumps(state)) == state, state.own_
    (True, [2])
    """
    kind = namedtuple("State", fields, module=__name__)  # type: ignore[misc]
    kind.__qualname__ = ",".join(("State", *fields))
    return kind


def __getattr__(name: str) -> Any:
    head, *fields = name.split(",")
    if head != "State" or not fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type_of(tuple(fields))


def copied(state: State) -> State:
    """Copy a state, arrays and all."""
    return type(state)(*(array.copy() for array in state))


def key(state: State) -> bytes:
    """Return what distinguishes two states of one policy, as bytes.

    Left out are ``moves`` and ``done``, which are empty between events, and fields whose name ends in ``_``: memory of
    computed values, which never changes what the policy does.
    """
    fields = cast(tuple[str, ...], state._fields)
    law = (name for name in fields if name not in ("moves", "done") and not name.endswith("_"))
    return b"".join(getattr(state, name).tobytes() for name in law)
