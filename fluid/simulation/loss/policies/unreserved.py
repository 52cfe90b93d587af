"""Policies that reserve nothing and move no jobs: first-fit, best-fit, and power of d choices.

A job is refused where no server has room for it; under power of d choices, where the server that it is sent to has
none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fluid.simulation.options import D
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.state import Common, Setting, common, fits, one_of, state_type
from fluid.simulation.structures.bitset import discard, empty_sets, insert, least
from theory.compiled import step
from theory.errors import TooLargeError
from theory.exact.knapsack import feasible
from theory.instance import Additive, Space
from theory.numbers import to_integers, total

CLASSES = 4_000_000
"""Most feasible configurations times types, over all pools, that best-fit tells apart."""

FirstFitState = state_type(__name__, "FirstFitState", Common._fields, "roomy", "levels", "touched_")
"""The common part, and for each type the set of servers with room for it (`fluid.simulation.structures.bitset`);
``touched_``: the server whose contents have changed, -1 for none."""


def prepare_first_fit(setting: Setting) -> Any:
    """Make the state of first-fit; any number of pools."""
    roomy, levels = empty_sets(len(setting.instance.types), setting.servers)
    state = FirstFitState(**common(setting), roomy=roomy, levels=levels, touched_=np.full(1, -1))
    _find_room(state)
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
    __name__, "BestFitState", Common._fields, "kind", "after", "before", "head", "up", "down", "words", "levels"
)
"""The common part, and the servers by contents.

A class is a pool and a feasible configuration, numbered from the fullest to the emptiest. ``up`` and ``down`` are
the classes that one more or one less job of a type leads to (-1: none); ``head``, ``after`` and ``before`` are the
linked lists of the servers of a class; ``words`` holds, by type, the classes that have a server and have room.
"""


def prepare_best_fit(setting: Setting) -> Any:
    """Make the state of best-fit; more than `CLASSES` feasible configurations (times types) are refused."""
    instance, types = setting.instance, len(setting.instance.types)
    rows = []
    try:
        for p, pool in enumerate(instance.pools):
            load = loads(pool.space, types)
            contents = feasible(pool.space, limit=CLASSES).tolist()
            rows += [(-sum(k[j] * load[j] for j in range(types)), p, tuple(k)) for k in contents]
    except TooLargeError as error:
        raise TooLargeError(f"--policy best-fit: {error.args[0].partition(':')[0]}: take first-fit") from None
    if len(rows) * types > CLASSES:
        raise TooLargeError(
            f"--policy best-fit: {len(rows):,} contents of servers, expected {CLASSES // types:,} at most"
        )
    rows.sort()  # by load from the fullest on; equal loads by pool and contents
    number = {(p, k): c for c, (_, p, k) in enumerate(rows)}
    up = np.full((len(rows), types), -1, np.int32)
    down = np.full((len(rows), types), -1, np.int32)
    for (p, k), c in number.items():
        for j in range(types):
            more = number.get((p, (*k[:j], k[j] + 1, *k[j + 1 :])), -1)
            up[c, j] = more
            if more >= 0:
                down[more, j] = c
    base = common(setting)
    servers = zip(setting.pool.tolist(), map(tuple, base["counts"].tolist()), strict=True)
    words, levels = empty_sets(types, len(rows))
    state = BestFitState(
        **base,
        kind=np.array([number[contents] for contents in servers], np.int32),
        after=np.full(setting.servers, -1, np.int32),
        before=np.full(setting.servers, -1, np.int32),
        head=np.full(len(rows), -1, np.int32),
        up=up,
        down=down,
        words=words,
        levels=levels,
    )
    for server in range(setting.servers - 1, -1, -1):  # the first server is at the head of its list
        _enter(state, server, int(state.kind[server]))
    return state


@step
def _enter(state: Any, server: int, kind: int) -> None:
    """Put a server at the head of the list of a class."""
    first = state.head[kind]
    state.kind[server] = kind
    state.before[server] = -1
    state.after[server] = first
    state.head[kind] = server
    if first >= 0:
        state.before[first] = server
    else:  # the class had no server: now it is one to choose for the types for which it has room
        for j in range(len(state.totals)):
            if state.up[kind, j] >= 0:
                insert(state.words, state.levels, j, kind)


@step
def _leave(state: Any, server: int) -> int:
    """Take a server out of the list of its class; return the class."""
    kind, before, after = state.kind[server], state.before[server], state.after[server]
    if after >= 0:
        state.before[after] = before
    if before >= 0:
        state.after[before] = after
    else:
        state.head[kind] = after
        if after < 0:
            for j in range(len(state.totals)):
                discard(state.words, state.levels, j, kind)
    return int(kind)


@step
def place_best(state: Any, job_type: int, draws: Any) -> int:
    """Return the server with the least room that has enough, of equals the one that came to its contents last."""
    kind = least(state.words, state.levels, job_type)  # the fullest class with room, as classes are numbered
    if kind < 0:
        return -1
    server = int(state.head[kind])
    _leave(state, server)
    _enter(state, server, state.up[kind, job_type])
    return server


@step
def depart_best(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Follow the contents of the server."""
    kind = _leave(state, server)
    _enter(state, server, state.down[kind, job_type])


BEST_FIT = Policy(
    "best-fit",
    "loss",
    prepare_best_fit,
    place_best,
    depart_best,
    nothing_to_refresh,
    about="the fullest server with room, by mean load",
)

SamplingState = state_type(__name__, "SamplingState", Common._fields, "choices", "load")
"""The common part, how many servers are drawn, and what each type adds to the load of a server of each pool."""


def prepare_power_of_d(setting: Setting) -> Any:
    """Make the state of power of d choices; any number of pools."""
    types = len(setting.instance.types)
    shares = [share for pool in setting.instance.pools for share in loads(pool.space, types)]
    multiples, _ = to_integers(shares)
    if max(multiples) > 2**40:  # so that the load of a server cannot exceed 64 bits
        multiples = [round(share * 2**40) for share in shares]
    load = np.array(multiples, np.int64).reshape(-1, types)
    return SamplingState(**common(setting), choices=np.full(1, D(setting.options), np.int64), load=load)


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
    options=(D.name,),
)
