"""The greedy placement of the jobs at hand, inside a policy: its stages, and a memory of MaxReward by set of types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loss.policies.slot_lists import STAGE, set_effective
from fluid.simulation.state import ASKS
from theory.compiled import routine, step


def empty_memory(bits: int, pools: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Make an empty memory of 2^bits places: sets of types (a bit a type; 0 is none), a configuration for each pool."""
    return np.zeros(2**bits, np.int64), np.zeros((2**bits, pools), np.int32)


@step
def _place_of(sets: NDArray[np.int64], types: int) -> int:
    """Return where a set of types stands in the memory, or the free place where it would."""
    # open addressing: as the table is never full, a set is found before a free place, or is not there
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


LAST_TICK, STAGES, CHANGED, PERIOD, MIGRATES = 0, 1, 2, 3, 4
"""Places in ``numbers``: the last tick of the time in which servers come up, the rows of the plan, the admissions and
departures since CRA ran last, how many make it run, and whether departures pull jobs in."""

PLACED, LEFT, OFFERED, AT_ONCE = 0, 1, 2, 3
"""Rows of ``need_``: of each type the jobs that the plan places, those that its stages so far have left, and the slots
that the present stage offers (`_offer_slots`)."""

FAR = 1 << 60
"""More jobs than there can be."""


@step
def _wanted_jobs(state: Any, j: int) -> int:
    """Return how many jobs of a type are placed: those in service, or their estimate, and g (19)."""
    jobs = state.totals[j] if state.estimate[j] < 0 else state.estimate[j]
    return int(jobs + state.reserve[0])


@step
def plan_stands(state: Any) -> bool:
    """Return whether the last plan is surely that of the jobs at hand: their numbers are within ``stands_``."""
    for j in range(len(state.totals)):
        wanted = _wanted_jobs(state, j)
        if wanted < state.stands_[j, 0] or wanted > state.stands_[j, 1]:
            return False
    return True


@routine
def plan_greedily(state: Any) -> int:
    """Run the Greedy Placement Algorithm on the jobs in service (or their estimate) and g; return the rows of its plan.

    Algorithm 1 of the auto-scaling paper: stage i gives min_j ceil(residual_j / k_j) servers to k = MaxReward of the
    types left, as far as there are servers, and drops the first type of that minimum. Row i P + p of ``plan_`` is the
    configuration of stage i in pool p, of P, and how many servers it gets; stages after the servers have ended are left
    out. The numbers of jobs for which the plan is surely the same go to ``stands_``. If MaxReward of a set of types is
    not known, -1 is returned and ``done[ASKS]`` holds the set.

    With several pools, which the paper does not have, servers come up in proportion, each with MaxReward of its pool
    and the types left, as in `theory.greedy.servers.greedy_placement`: ``tick n // last`` servers of a pool of n are up
    at a tick, of ``last`` ticks. With one pool a tick is a server. O(J (J + log P) P) where few servers share a tick.
    """
    types, pools, last = len(state.totals), len(state.pool_sizes), state.numbers[LAST_TICK]
    types_left, now = (1 << types) - 1, 0  # S = J, and N = L servers are left
    for j in range(types):
        state.need_[PLACED, j] = state.need_[LEFT, j] = _wanted_jobs(state, j)
        state.stands_[j, 0] = -FAR
        state.stands_[j, 1] = FAR
    _bring_up(state, 0, 0)
    for i in range(types):
        place = _place_of(state.sets_, types_left)
        if state.sets_[place] == 0:
            state.done[ASKS] = types_left
            state.stands_[0, 1] = -FAR  # a plan that is not whole never stands
            return -1
        # the residuals are those that the stages so far have left, and `now` is when the last of them ended
        _offer_slots(state, place)
        finish = _end_of_stage(state, place, now)
        first = _bound_stage(state, place, now, finish)
        for p in range(pools):
            _give_servers(state, place, i * pools + p, state.up_[1, p] - state.up_[0, p])
            state.up_[0, p] = state.up_[1, p]
        if finish == last:
            return (i + 1) * pools
        types_left &= ~(1 << first)  # S without j(i), the first type of the minimum
        now = finish
    return types * pools


@step
def _bring_up(state: Any, row: int, tick: int) -> None:
    """Write to a row of ``up_`` how many servers of each pool are up at a tick."""
    for p in range(len(state.pool_sizes)):
        state.up_[row, p] = tick * state.pool_sizes[p] // state.numbers[LAST_TICK]


@step
def _slots_of_stage(state: Any, place: int, j: int) -> int:
    """Return the type-j slots of the servers that came up in this stage: those of the second row of ``up_``."""
    slots = 0
    for p in range(len(state.pool_sizes)):
        slots += (state.up_[1, p] - state.up_[0, p]) * state.configurations[state.known_[place, p], j]
    return int(slots)


@step
def _offer_slots(state: Any, place: int) -> None:
    """Write the slots that the stage offers of each type.

    These are ``OFFERED``, R, those of all servers, and ``AT_ONCE``, K, of one server of each pool whose servers do not
    come up tick by tick.
    """
    last = state.numbers[LAST_TICK]
    for j in range(len(state.totals)):
        everywhere, once = 0, 0
        for p in range(len(state.pool_sizes)):
            servers = state.pool_sizes[p]
            slots = state.configurations[state.known_[place, p], j]
            everywhere += servers * slots
            once += slots if 0 < servers < last else 0
        state.need_[OFFERED, j] = everywhere
        state.need_[AT_ONCE, j] = once


@step
def _end_of_stage(state: Any, place: int, now: int) -> int:
    """Return the first tick from now on at which a type has its slots, or the last tick.

    By tick t, R (t - now) / last slots of a type have come up, or K less or more, both excluded unless K is 0 (as it is
    with one pool). So ticks up to ``before`` are too early, and ``finish`` is not.
    """
    last = state.numbers[LAST_TICK]
    before, finish = last - 1, last
    for j in range(len(state.totals)):
        everywhere, once, need = state.need_[OFFERED, j], state.need_[AT_ONCE, j], state.need_[LEFT, j]
        if everywhere > 0 and need < everywhere + once:
            before = min(before, now - (once - need) * last // everywhere - 1)
            finish = min(finish, now - (-(need + once) * last // everywhere))
    before, finish = max(before, now - 1), max(finish, now)
    while finish - before > 1:  # no type has its slots at `before`, some type at `finish` unless it is the last tick
        tick = (before + finish) // 2
        _bring_up(state, 1, tick)
        if _first_covered(state, place) >= 0:
            finish = tick
        else:
            before = tick
    return int(finish)


@step
def _first_covered(state: Any, place: int) -> int:
    """Return the first type that has its slots, -1 if none has; types of which no server has slots do not count."""
    for j in range(len(state.totals)):
        if state.need_[OFFERED, j] > 0 and _slots_of_stage(state, place, j) >= state.need_[LEFT, j]:
            return j
    return -1


@step
def _bound_stage(state: Any, place: int, now: int, finish: int) -> int:
    """Bring the servers of a stage up, and bound ``stands_`` by what makes it as it is; return the type that it drops.

    The stage ends at this tick as long as no type has its slots a tick before. Where the servers end with the stage it
    does not matter which type has its slots then; otherwise types before the one that is dropped must not have theirs,
    and that one must. The other stages make the residuals, so as long as all bounds hold no stage changes: by induction
    on the stages.
    """
    _bring_up(state, 1, finish)
    first, later = _first_covered(state, place), 0
    if finish < state.numbers[LAST_TICK]:
        for j in range(first):
            _need_more(state, place, j)
        placed = state.need_[PLACED, first] - state.need_[LEFT, first]
        state.stands_[first, 1] = min(state.stands_[first, 1], placed + _slots_of_stage(state, place, first))
        later = first  # the types before it lack slots at this tick, and so a tick before
    if finish > now:
        _bring_up(state, 1, finish - 1)
        for j in range(later, len(state.totals)):
            _need_more(state, place, j)
        _bring_up(state, 1, finish)
    return first


@step
def _need_more(state: Any, place: int, j: int) -> None:
    """Bound ``stands_`` so that a type, if it is offered, needs more slots than those of the servers that are up."""
    if state.need_[OFFERED, j] > 0:
        placed = state.need_[PLACED, j] - state.need_[LEFT, j]
        state.stands_[j, 0] = max(state.stands_[j, 0], placed + _slots_of_stage(state, place, j) + 1)


@step
def _give_servers(state: Any, place: int, row: int, servers: int) -> None:
    """Write a row of ``plan_``, and take what its servers hold from the residuals.

    A pool whose MaxReward is that of an earlier stage has one row for both: the earlier, so that its servers have that
    rank; this row then has the configuration -1.
    """
    pools = len(state.pool_sizes)
    c = state.known_[place, row % pools]
    for j in range(len(state.totals)):
        state.need_[LEFT, j] -= servers * state.configurations[c, j]
    state.plan_[row, 0] = c
    state.plan_[row, 1] = servers
    for earlier in range(row % pools, row, pools):
        if state.plan_[earlier, 0] == c:
            state.plan_[earlier, 1] += servers
            state.plan_[row, 0] = -1
            state.plan_[row, 1] = 0


@routine
def take_plan(state: Any, stages: int) -> None:
    """Rank the configurations by the new plan; those that it does not name any more are surplus."""
    # cleared for the old plan and set for the new one: what is left without a stage is not in the new one
    for i in range(state.numbers[STAGES]):
        if state.plan[i, 0] >= 0:
            state.ends[state.plan[i, 0], STAGE] = 0
    for i in range(stages):
        if state.plan_[i, 0] >= 0:
            state.ends[state.plan_[i, 0], STAGE] = i + 1
    for i in range(state.numbers[STAGES]):
        if state.plan[i, 0] >= 0 and state.ends[state.plan[i, 0], STAGE] == 0:
            set_effective(state, state.plan[i, 0], 0)
    for i in range(len(state.plan)):
        state.plan[i, 0] = state.plan_[i, 0] if i < stages else 0
        state.plan[i, 1] = state.plan_[i, 1] if i < stages else 0
    state.numbers[STAGES] = stages
