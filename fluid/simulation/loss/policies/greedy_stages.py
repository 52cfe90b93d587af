"""The greedy placement of the jobs at hand, inside a policy: its stages, and a memory of MaxReward by set of types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loss.policies.slot_lists import set_effective
from fluid.simulation.state import ASKS
from theory.jit import routine, step


def memory(bits: int, pools: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Make an empty memory of 2^bits places: sets of types (a bit a type; 0 is none), a configuration for each pool."""
    return np.zeros(2**bits, np.int64), np.zeros((2**bits, pools), np.int32)


@step
def _place_of(sets: NDArray[np.int64], types: int) -> int:
    """Return where a set of types stands in the memory, or the free place where it would."""
    mask = len(sets) - 1
    place = (types ^ (types >> 17) ^ (types >> 31)) & mask
    while sets[place] != 0 and sets[place] != types:
        place = (place + 1) & mask
    return place


@step
def remember(sets: NDArray[np.int64], known: NDArray[np.int32], types: int, pool: int, configuration: int) -> None:
    """Write down the configuration of a set of types in a pool."""
    place = _place_of(sets, types)
    sets[place] = types
    known[place, pool] = configuration


FAR = 1 << 60
"""More jobs than there can be."""


@step
def _wanted(state: Any, j: int) -> int:
    """Return how many jobs of a type are placed: those in service, or their estimate, and g (19)."""
    jobs = state.totals[j] if state.estimate[j] < 0 else state.estimate[j]
    return int(jobs + state.reserve[0])


@step
def plan_stands(state: Any) -> bool:
    """Return whether the last plan is surely that of the jobs at hand: their numbers are within ``stands_``."""
    for j in range(len(state.totals)):
        wanted = _wanted(state, j)
        if wanted < state.stands_[j, 0] or wanted > state.stands_[j, 1]:
            return False
    return True


@step
def _narrow(state: Any, c: int, least: int, first: int, left: int) -> None:
    """Bound ``stands_`` by what makes a stage as it is: c on ``min(left, least)`` servers, then `first` is dropped.

    A type needs at least n servers just if its residual is more than (n - 1) k. Where the servers end with the stage,
    all types need at least those left, and it does not matter which needs the fewest. Otherwise the first type of the
    minimum needs just `least`, types before it more, types behind it as many or more. The other stages make the
    residuals, so as long as all bounds hold no stage changes: by induction on the stages.
    """
    for j in range(len(state.totals)):
        slots = state.configurations[c, j]
        if slots > 0:
            placed = _wanted(state, j) - state.need_[j]
            servers = left if least >= left else least + 1 if j < first else least
            if servers > 0:
                state.stands_[j, 0] = max(state.stands_[j, 0], placed + (servers - 1) * slots + 1)
            if least < left and j == first:
                state.stands_[j, 1] = min(state.stands_[j, 1], placed + least * slots)


@step
def plan_greedily(state: Any) -> int:
    """Run the Greedy Placement Algorithm on the jobs in service (or their estimate) and g; write ``plan_``.

    For which numbers of jobs the plan would be the same, at least, is written to ``stands_`` (one pool).

    Row i P + p of ``plan_`` is the configuration of stage i in pool p, of P, and how many servers it gets; stages after
    the servers have ended are left out.

    Returns
    -------
    int
        The number of rows; -1 if MaxReward of a set of types is not known (``done[ASKS]`` then holds the set).

    Notes
    -----
    Algorithm 1 of the auto-scaling paper: stage i gives ``min_j ceil(residual_j / k_j)`` servers to k = MaxReward of
    the types left, as far as there are servers, and drops the first type of that minimum. O(J^2). Several pools: see
    `_plan_in_pools`.
    """
    types = len(state.totals)
    for j in range(types):
        state.need_[j] = _wanted(state, j)
        state.stands_[j, 0] = FAR  # of several pools, and until the plan is whole: it never stands
        state.stands_[j, 1] = -FAR
    if len(state.pool_sizes) > 1:
        return _plan_in_pools(
            state.pool_sizes,
            state.clock[0],
            state.configurations,
            state.sets_,
            state.known_,
            state.need_,
            state.plan_,
            state.done,
        )
    left = len(state.rows)
    mask = (1 << types) - 1
    for j in range(types):
        state.stands_[j, 0] = -FAR
        state.stands_[j, 1] = FAR
    for i in range(types):
        place = _place_of(state.sets_, mask)
        if state.sets_[place] == 0:
            state.done[ASKS] = mask
            state.stands_[0, 1] = -FAR
            return -1
        c = state.known_[place, 0]
        least, first = 0, -1
        for j in range(types):
            slots = state.configurations[c, j]
            if slots > 0:
                need = state.need_[j]
                servers = 0 if need <= 0 else (need + slots - 1) // slots
                if first < 0 or servers < least:
                    least, first = servers, j
        _narrow(state, c, least, first, left)
        servers = min(left, least)
        state.plan_[i, 0] = c
        state.plan_[i, 1] = servers
        for j in range(types):
            state.need_[j] -= servers * state.configurations[c, j]
        left -= servers
        mask &= ~(1 << first)
        if left == 0:
            return i + 1
    return types


@step
def take_plan(state: Any, stages: int) -> None:
    """Rank the configurations by the new plan; those that it does not name any more are surplus."""
    for i in range(state.stages[0]):
        if state.plan[i, 0] >= 0:
            state.stage[state.plan[i, 0]] = 0
    for i in range(stages):
        if state.plan_[i, 0] >= 0:
            state.stage[state.plan_[i, 0]] = i + 1
    for i in range(state.stages[0]):
        if state.plan[i, 0] >= 0 and state.stage[state.plan[i, 0]] == 0:
            set_effective(state, state.plan[i, 0], 0)
    for i in range(stages):
        state.plan[i, 0] = state.plan_[i, 0]
        state.plan[i, 1] = state.plan_[i, 1]
    for i in range(stages, len(state.plan)):
        state.plan[i, 0] = 0
        state.plan[i, 1] = 0
    state.stages[0] = stages


@routine
def _plan_in_pools(
    sizes: NDArray[np.int64],
    last: int,
    configurations: NDArray[np.int32],
    sets: NDArray[np.int64],
    known: NDArray[np.int32],
    need: NDArray[np.int64],
    plan: NDArray[np.int64],
    done: NDArray[np.int64],
) -> int:
    """Ascend in all pools at once: servers come up in proportion, each with MaxReward of its pool and the types left.

    The m-th server of a pool of n comes up at time m / n, and a stage ends when a type has its slots, as in
    `theory.greedy.servers.greedy_placement`; the time is found by bisection on ticks, ``tick n // last`` of a pool's
    servers being up at a tick. A pool whose MaxReward is that of an earlier stage has one row for both: the earlier, so
    that its servers have that rank; the later row then has the configuration -1. O(J^2 P log L). It takes arrays in
    place of the state, of which the compiler is quicker.
    """
    types, pools = len(need), len(sizes)
    mask, now = (1 << types) - 1, 0
    for i in range(types):
        place = _place_of(sets, mask)
        if sets[place] == 0:
            done[ASKS] = mask
            return -1
        # `finish` is the first tick from now on at which a type is covered, or the last; `first` is that type
        before, finish, tick, first = now - 1, last, last, -1
        while True:
            covered = -1
            for j in range(types):
                slots, offered = 0, False
                for p in range(pools):
                    k = configurations[known[place, p], j]
                    slots += (tick * sizes[p] // last - now * sizes[p] // last) * k
                    offered = offered or (sizes[p] > 0 and k > 0)
                if covered < 0 and offered and mask >> j & 1 and slots >= need[j]:
                    covered = j
            if covered >= 0 or tick == last:
                finish, first = tick, covered
            else:
                before = tick
            if finish - before <= 1 or first < 0:
                break
            tick = (before + finish) // 2
        for p in range(pools):
            c, row = known[place, p], i * pools + p
            servers = finish * sizes[p] // last - now * sizes[p] // last
            for j in range(types):
                need[j] -= servers * configurations[c, j]
            plan[row, 0] = c
            plan[row, 1] = servers
            for earlier in range(p, row, pools):
                if plan[earlier, 0] == c:
                    plan[earlier, 1] += servers
                    plan[row, 0] = -1
                    plan[row, 1] = 0
        now = finish
        if now == last or first < 0:
            return (i + 1) * pools
        mask &= ~(1 << first)
    return types * pools
