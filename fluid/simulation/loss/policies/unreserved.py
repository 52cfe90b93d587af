"""Policies that reserve nothing and move no jobs: first-fit, best-fit, and power of d choices.

A job is refused where no server has room for it; under power of d choices, where the server that it is sent to has
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.options import options_of
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.state import Common, Setting, common, fits, one_of, over_servers, state_type
from fluid.simulation.structures.bitset import discard, empty_sets, insert, least
from theory.compiled import step
from theory.files.record import Range
from theory.instance import Additive, Space
from theory.numbers import to_integers, total

FirstFitState = state_type(__name__, "FirstFitState", Common._fields, "roomy", "levels", "touched_")
"""The common part, and for each type the set of servers with room for it (`fluid.simulation.structures.bitset`);
``touched_``: the server whose contents have changed, -1 for none."""


def prepare_first_fit(setting: Setting) -> Any:
    """Make the state of first-fit; any number of pools."""
    roomy, levels = empty_sets(len(setting.instance.types), setting.servers)
    state = FirstFitState(**common(setting), roomy=roomy, levels=levels, touched_=np.full(1, -1))
    over_servers(_find_room, setting.servers)(state)
    return state


@step
def _find_room(state: Common) -> None:
    for server in range(len(state.counts)):
        _update_room(state, server)


@step
def _update_room(state: Any, server: int) -> None:
    """Bring the sets up to date for one server."""
    for j in range(len(state.totals)):
        if fits(state, server, j):
            insert(state.roomy, state.levels, j, server)
        else:
            discard(state.roomy, state.levels, j, server)


@step
def place_first(state: Any, job_type: int, draws: Any) -> int:
    """Return the first server with room, by number."""
    server = least(state.roomy, state.levels, job_type)
    state.touched_[0] = server
    return server


@step
def depart_first(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Remember which server has more room."""
    state.touched_[0] = server


@step
def refresh_first(state: Any, draws: Any) -> bool:
    """Bring the sets of servers with room up to date, once the job has been put on its server or has left it."""
    # `place` cannot do it: the loop puts the job on the server after it
    if state.touched_[0] >= 0:
        _update_room(state, state.touched_[0])
        state.touched_[0] = -1
    return False


FIRST_FIT = Policy(
    "first-fit",
    "loss",
    prepare_first_fit,
    place_first,
    depart_first,
    refresh_first,
    about="the first server, by number, with room",
)


def loads(space: Space, types: int) -> list[Fraction]:
    """Return the share of a server that one job of each type takes: its demand over capacity, averaged over resources.

    Where configurations are listed, a job takes one over the most jobs of its type alone. Types that do not fit take 1.

    >>> from theory.instance import additive
    >>> loads(additive([10, 20], [[5, 5], [1, 10]]).pools[0].space, 2)
    [Fraction(3, 8), Fraction(3, 10)]
    """
    if isinstance(space, Additive):
        # resources without capacity do not count: no type can ask for them and fit
        present = [r for r, capacity in enumerate(space.capacity) if capacity]
        shares = [total(Fraction(row[r], space.capacity[r]) for r in present) / len(present) for row in space.demands]
        return [share if space.most(j) else Fraction(1) for j, share in enumerate(shares)]
    return [Fraction(1, space.most(j) or 1) for j in range(types)]


BestFitState = state_type(
    __name__,
    "BestFitState",
    Common._fields,
    *("load", "most_load", "after", "before"),
    *("kind_", "head_", "weight_", "contents_", "order_", "classes_", "touched_"),
)
"""The common part, and the servers by contents: a class is the contents of at least one server of a pool.

``load`` int64[P, J] is what a job adds to the load of a server of each pool, and a server with a load of more than
``most_load`` int64[J] has no room for a type. ``after`` and ``before`` int32[L] are linked lists of the
servers of each class, the last to come first. What follows from them and the jobs of the servers is remembered:
``kind_`` int32[L], the class of each server, ``head_`` int32[C], the first server of a class, ``weight_`` int64[C], its
load, and ``contents_`` int32[C, 1 + J], its pool and jobs; ``order_`` int32[C], the numbers of all classes, first those
with a server, as many as ``classes_`` int64[1] says, from the fullest to the emptiest (equal loads by pool and jobs),
then those that are free; ``touched_``, the server whose contents have changed, -1 for none.
"""

EVERY_LOAD = 2**62
"""More than the load of any server."""


def prepare_best_fit(setting: Setting) -> Any:
    """Make the state of best-fit; any number of pools.

    Notes
    -----
    A job is placed in O(J log C + C) for C classes in use, which are no more than the servers: usually the first class
    that may have room has it, and a class moves past those of a load between its old one and its new one. Nothing
    depends on the number of feasible configurations.
    """
    types, pools = len(setting.instance.types), setting.instance.pools
    load, whole = whole_loads(setting)
    # the load is a mean over resources, each at most full: a server with room for a job has room for its load
    is_bounded = whole > 0 and all(isinstance(pool.space, Additive) for pool in pools)
    room = whole - load.min(axis=0) if is_bounded else np.full(types, EVERY_LOAD)
    most = min(setting.servers, sum(_most_contents(pool.space, types) for pool in pools)) + 1
    state = BestFitState(
        **common(setting),
        load=load,
        most_load=room,
        kind_=np.full(setting.servers, -1, np.int32),
        after=np.full(setting.servers, -1, np.int32),
        before=np.full(setting.servers, -1, np.int32),
        head_=np.full(most, -1, np.int32),
        weight_=np.zeros(most, np.int64),
        contents_=np.zeros((most, 1 + types), np.int32),
        order_=np.arange(most, dtype=np.int32),
        classes_=np.zeros(1, np.int64),
        touched_=np.full(1, -1),
    )
    over_servers(_enter_all, setting.servers)(state)
    return state


def whole_loads(setting: Setting) -> tuple[NDArray[np.int64], int]:
    """Return the load of one job by pool and type as a multiple of a common unit, int64[P, J], and that of a server.

    Where loads are so fine that a full server exceeds 64 bits, they are rounded to 2^-40, and 0 stands for the load of
    a server.
    """
    types = len(setting.instance.types)
    shares = [share for pool in setting.instance.pools for share in loads(pool.space, types)]
    multiples, unit = to_integers(shares)
    whole = int(1 / unit) if unit else 1
    if whole * types >= EVERY_LOAD:
        multiples, whole = [round(share * 2**40) for share in shares], 0
    return np.array(multiples, np.int64).reshape(-1, types), whole


def _most_contents(space: Space, types: int) -> int:
    """Return a number that the feasible configurations do not exceed."""
    return prod(space.most(j) + 1 for j in range(types))


@step
def _enter_all(state: Any) -> None:
    for server in range(len(state.counts) - 1, -1, -1):  # the first server is at the head of its list
        _enter(state, server)


@step
def _load_of(state: Any, server: int) -> int:
    load = 0
    for j in range(len(state.totals)):
        load += state.counts[server, j] * state.load[state.pool[server], j]
    return load


@step
def _after_class(state: Any, server: int, load: int, other: int) -> int:
    """Compare a server with a class in the order: -1 before it, 0 of it, 1 behind it."""
    if load != state.weight_[other]:
        return -1 if load > state.weight_[other] else 1
    if state.pool[server] != state.contents_[other, 0]:
        return -1 if state.pool[server] < state.contents_[other, 0] else 1
    for j in range(len(state.totals)):
        if state.counts[server, j] != state.contents_[other, 1 + j]:
            return -1 if state.counts[server, j] < state.contents_[other, 1 + j] else 1
    return 0


@step
def _place_of_contents(state: Any, server: int, load: int) -> int:
    """Return the place of a server's contents in the order, or ~place of where they belong if no class has them."""
    low, high = 0, state.classes_[0]
    while low < high:
        middle = (low + high) >> 1
        side = _after_class(state, server, load, state.order_[middle])
        if side == 0:
            return int(middle)
        if side < 0:
            high = middle
        else:
            low = middle + 1
    return int(~low)


@step
def _fill_class(state: Any, kind: int, server: int, load: int) -> None:
    state.weight_[kind] = load
    state.contents_[kind, 0] = state.pool[server]
    for j in range(len(state.totals)):
        state.contents_[kind, 1 + j] = state.counts[server, j]


@step
def _enter(state: Any, server: int) -> None:
    """Put a server at the head of the list of its contents, a new class if no other server has them."""
    load = _load_of(state, server)
    place = _place_of_contents(state, server, load)
    if place < 0:
        place = ~place
        number = state.classes_[0]
        kind = state.order_[number]  # the first free one
        for at in range(number, place, -1):
            state.order_[at] = state.order_[at - 1]
        state.order_[place] = kind
        state.classes_[0] = number + 1
        state.head_[kind] = -1
        _fill_class(state, kind, server, load)
    kind = state.order_[place]
    first = state.head_[kind]
    state.kind_[server] = kind
    state.before[server] = -1
    state.after[server] = first
    state.head_[kind] = server
    if first >= 0:
        state.before[first] = server


@step
def _leave(state: Any, server: int) -> None:
    """Take a server out of the list of its class, and the class out of the order where it was the last one."""
    kind, before, after = state.kind_[server], state.before[server], state.after[server]
    if after >= 0:
        state.before[after] = before
    if before >= 0:
        state.after[before] = after
        return
    state.head_[kind] = after
    if after >= 0:
        return
    last = state.classes_[0] - 1
    for behind in range(_place_of_class(state, kind), last):
        state.order_[behind] = state.order_[behind + 1]
    state.order_[last] = kind
    state.classes_[0] = last


@step
def _first_not_above(state: Any, load: int) -> int:
    """Return the place of the first class in the order with at most a load."""
    low, high = 0, state.classes_[0]
    while low < high:
        middle = (low + high) >> 1
        if state.weight_[state.order_[middle]] > load:
            low = middle + 1
        else:
            high = middle
    return low


@step
def _place_of_class(state: Any, kind: int) -> int:
    """Return the place of a class in the order."""
    place = _first_not_above(state, state.weight_[kind])
    while state.order_[place] != kind:
        place += 1
    return place


@step
def _alter(state: Any, server: int) -> bool:
    """Give the class of a server its new contents, if no other server has the old ones and no class the new ones.

    The class moves past those between its old place and its new one alone, which are few of many.
    """
    kind = state.kind_[server]
    if state.before[server] >= 0 or state.after[server] >= 0:
        return False
    load = _load_of(state, server)
    place = ~_place_of_contents(state, server, load)
    if place < 0:
        return False
    at = _place_of_class(state, kind)
    while at < place - 1:
        state.order_[at] = state.order_[at + 1]
        at += 1
    while at > place:
        state.order_[at] = state.order_[at - 1]
        at -= 1
    state.order_[at] = kind
    _fill_class(state, kind, server, load)
    return True


@step
def place_best(state: Any, job_type: int, draws: Any) -> int:
    """Return the server with the least room that has enough, of equals the one that came to its contents last."""
    for at in range(_first_not_above(state, state.most_load[job_type]), state.classes_[0]):
        server = state.head_[state.order_[at]]
        if fits(state, server, job_type):
            state.touched_[0] = server
            return int(server)
    return -1


@step
def depart_best(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Remember which server has other contents."""
    state.touched_[0] = server


@step
def refresh_best(state: Any, draws: Any) -> bool:
    """Put the server whose contents have changed among those with the same."""
    # `place` cannot do it: the loop puts the job on the server after it
    server = state.touched_[0]
    if server >= 0:
        if not _alter(state, server):
            _leave(state, server)
            _enter(state, server)
        state.touched_[0] = -1
    return False


BEST_FIT = Policy(
    "best-fit",
    "loss",
    prepare_best_fit,
    place_best,
    depart_best,
    refresh_best,
    about="the fullest server with room, by mean load",
)


@dataclass(frozen=True)
class ChoicesOptions:
    """The options of power of d choices."""

    d: Annotated[int, Range(1, 1000), "servers that power-of-d draws for each job"] = 2


SamplingState = state_type(__name__, "SamplingState", Common._fields, "choices", "load")
"""The common part, how many servers are drawn, and what each type adds to the load of a server of each pool."""


def prepare_power_of_d(setting: Setting) -> Any:
    """Make the state of power of d choices; any number of pools."""
    load, _ = whole_loads(setting)
    d = options_of(ChoicesOptions, setting.options).d
    return SamplingState(**common(setting), choices=np.full(1, d, np.int64), load=load)


@step
def place_by_choices(state: Any, job_type: int, draws: Any) -> int:
    """Return the least loaded of d random servers (with replacement, the first of equals) if the job fits there."""
    best, smallest = -1, 0
    for _ in range(state.choices[0]):
        server = one_of(draws, len(state.counts))
        # sum_j k_j (mean over r of d_jr / c_r), as a multiple of the common unit
        load = 0
        pool = state.pool[server]
        for j in range(len(state.totals)):
            load += state.counts[server, j] * state.load[pool, j]
        if best < 0 or load < smallest:
            best, smallest = server, load
    return best if fits(state, best, job_type) else -1


POWER_OF_D = Policy(
    "power-of-d",
    "loss",
    prepare_power_of_d,
    place_by_choices,
    nothing_to_depart,
    nothing_to_refresh,
    about="the least loaded of d random servers, if the job fits there (option d, 2 unless given)",
    record=ChoicesOptions,
)
