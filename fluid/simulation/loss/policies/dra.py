"""Dynamic reservation (DRA), Algorithm 2 of the auto-scaling paper, with and without preemption.

After every admission and departure the Greedy Placement Algorithm runs on the jobs in service plus a reservation g(L)
of each type; empty servers are reassigned towards its output, servers are ranked, and the newest server of each
configuration whose rank is beyond the first unmatched stage is drained: no job is placed there, and each departure
elsewhere pulls one of its jobs out.

Several pools, which the paper does not have: the greedy placement ascends in all of them at once
(`fluid.simulation.loss.policies.greedy_stages`), configurations belong to a pool, empty servers are reassigned within
their pool, and each pool has a first unmatched stage of its own beyond which its servers are drained. Among servers of
one stage the earlier pool is taken first.

Where the text leaves a choice: an arriving job goes to the accept-group server of best rank with a free slot (option
``placement = "worst-ranked"``: of worst rank), among equals to the one whose slot was freed last; surplus servers
have the last rank, and of those the lowest numbered configuration is taken; empty servers without a configuration are
reassigned before configured ones, surplus ones before those of later stages. The reservation is g rounded up: GPA's
ceilings of whole jobs plus g do not notice.

Variants that the paper mentions (end of its Sections 4 and 8), as options: with ``period = n`` CRA runs at every n-th
admission or departure, and what it decided stands until then; with ``estimate`` it runs on L times a given workload
plus g instead of the jobs in service plus g; with ``migration = false`` drained servers only empty by departures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lcm
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loss.policies.greedy_stages import (
    CHANGED,
    MIGRATES,
    PERIOD,
    STAGES,
    empty_memory,
    plan_greedily,
    plan_stands,
    remember,
    take_plan,
)
from fluid.simulation.loss.policies.slot_lists import (
    CONFIGURATION,
    EFFECTIVE,
    JOBS,
    LINKS,
    STAGE,
    add_server,
    assign,
    follow_filled_slot,
    follow_freed_slot,
    mark_all,
    set_effective,
    words_of,
)
from fluid.simulation.options import Expression, OfServers, at_servers, options_of
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import (
    ASKS,
    REASSIGNED,
    Common,
    Setting,
    common,
    move,
    over_servers,
    state_type,
)
from fluid.simulation.structures.bitset import empty_sets, least
from theory.compiled import routine, step
from theory.errors import ArgumentTooLargeError, InputError
from theory.exact.knapsack import max_reward
from theory.files.record import Expected, Range
from theory.instance import Configuration, Instance
from theory.rows import unique_rows

TYPES_AT_ONCE = 7
"""Up to so many types MaxReward of all sets of types is computed beforehand; beyond, as sets come up."""

FEW_SETS = 16
"""Up to so many of them MaxReward is computed in Python, where it takes a second at most; to compile takes more."""

TYPES = 62
"""Most types: a set of types is a word."""


@dataclass(frozen=True)
class ReservationOptions:
    """The options of dynamic reservation, with and without preemption."""

    reservation: Annotated[OfServers, "g(L) of dynamic reservation: a number or a function of L"] = Expression(
        "(log L)^1.5"
    )
    placement: Annotated[
        Literal["best-ranked", "worst-ranked"],
        "the slot that dynamic reservation fills first: best-ranked or worst-ranked",
    ] = "best-ranked"
    period: Annotated[
        OfServers, "admissions and departures from one run of CRA to the next: a number or a function of L"
    ] = Expression("1")
    estimate: Annotated[
        Mapping[str, Fraction] | None,
        Range(0),
        Expected("a workload in jobs per server"),
        "jobs per server of each type on which CRA runs in place of the jobs in service",
    ] = None
    migration: Annotated[bool, "whether a departure pulls a job out of a drained server"] = True


NO_ENDS = (-1, -1, 0, 0)
"""The row of ``ends`` of a configuration that is not in use."""

BY_CONFIGURATION: dict[str, tuple[type[np.generic], int | tuple[int, ...]]] = {
    "configurations": (np.int32, 0),
    "owner": (np.int32, -1),
    "number": (np.int64, 0),
    "newest": (np.int32, -1),
    "ends": (np.int64, NO_ENDS),
    "lists": (np.int32, -1),
}
"""Fields with an entry for each configuration: their types, and the value of one that is not in use."""

ReservationState = state_type(
    __name__, "ReservationState", Common._fields, "rows", *BY_CONFIGURATION, "pool_sizes", "words", "levels",
    "plan", "unmatched", "numbers", "reserve", "estimate", "worst_first",
    "plan_", "need_", "up_", "stands_", "sets_", "known_", "touched_",
)  # fmt: skip
"""The common part, the servers by configuration (see `slot_lists`), the greedy plan, and the options.

What would be one array each for a number is a column or a place of one: numba passes every array of a state to every
function. ``owner`` int32[C] is the pool of each configuration, -1 for none yet, ``ends`` int64[C, 4] see `OLDEST`;
``pool_sizes`` int64[P] are the servers of each pool, and ``numbers`` int64[5] see `LAST_TICK`. ``plan`` int64[J P, 2]
has a row for each stage and pool, the configuration and the servers it is to have; ``unmatched`` int64[P] is the first
row, counted from 1, that lacks servers of a pool: I* of the paper, and J P + 1 for none.

``estimate`` int64[J] is L times the estimated workload, rounded up, -1 where CRA takes the jobs in service. ``need_``
int64[4, J] see `PLACED`. ``stands_`` int64[J, 2]: the fewest and the most jobs of each type, g among them, for which
the plan is the same (`greedy_stages.plan_stands`). ``touched_``: the server and type of the job that was placed last,
until `refresh` has followed it."""


@step
def is_rejecting(state: Any, server: int) -> bool:
    """Return whether a server is in the reject group: rank beyond the first unmatched stage, newest of its kind."""
    c = state.rows[server, CONFIGURATION]
    if server != state.newest[c]:
        return False
    # reject group: rank > I* and index 1; a surplus server has rank J + 1, beyond every I* but that of no stage at all
    unmatched = state.unmatched[state.owner[c]]
    if state.rows[server, EFFECTIVE] == 0:
        return bool(unmatched <= len(state.plan))
    return bool(state.ends[c, STAGE] > unmatched)


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Return the accept-group server of best rank with a free slot of the type."""
    worst_first = state.worst_first[0]
    server = _surplus_with_slot(state, job_type) if worst_first else -1
    if server < 0:
        # effective servers have the ranks 1 to J of their stages, surplus ones J + 1
        for i in range(state.numbers[STAGES]):
            row = state.numbers[STAGES] - 1 - i if worst_first else i
            if server < 0 and state.plan[row, 0] >= 0:
                server = state.lists[state.plan[row, 0], 1, job_type]
                if server >= 0 and is_rejecting(
                    state, server
                ):  # one server of a configuration at most: the next is not
                    server = state.rows[server, LINKS + 2 * job_type]
    if server < 0 and not worst_first:
        server = _surplus_with_slot(state, job_type)
    state.touched_[0] = server
    state.touched_[1] = job_type
    return server


@routine
def _surplus_with_slot(state: Any, j: int) -> int:
    """Return a surplus server of the accept group with a free type-j slot, -1 if there is none."""
    types = len(state.totals)
    for p in range(len(state.pool_sizes)):
        first = words_of(types, p)
        c = least(state.words, state.levels, first + types + j)
        if c >= 0:
            server = state.lists[c, 0, j]
            return int(state.rows[server, LINKS + 2 * j]) if server == state.newest[c] else int(server)
        if state.unmatched[p] > len(state.plan):  # the reject group is empty: the newest surplus servers are open too
            c = least(state.words, state.levels, first + 2 * types + j)
            if c >= 0:
                return int(state.newest[c])
    return -1


@step
def drained_server(state: Any, j: int) -> int:
    """Return the reject-group server of highest rank that holds a type-j job, -1 if there is none."""
    pools = len(state.pool_sizes)
    from_row = len(state.plan) + 1
    # rank J + 1: the newest of surplus servers, where some stage lacks servers
    for p in range(pools):
        if state.unmatched[p] <= len(state.plan):
            from_row = min(from_row, state.unmatched[p])
            c = least(state.words, state.levels, words_of(len(state.totals), p) + j)
            if c >= 0:
                return int(state.newest[c])
    # then the newest server of each stage behind I*, from the last one on (row i is stage i + 1)
    for i in range(state.numbers[STAGES] - 1, from_row - 1, -1):
        if i >= state.unmatched[i % pools] and state.plan[i, 0] >= 0:
            server = state.newest[state.plan[i, 0]]
            if server >= 0 and state.counts[server, j] > 0:
                return int(server)
    return -1


@step
def depart(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Free the slot; if the server accepts, pull a job of the type out of a drained server into it."""
    follow_freed_slot(state, server, job_type)
    state.numbers[CHANGED] += 1
    # Algorithm 2 at a departure: one job of the type migrates from the reject group into the slot, and then CRA runs
    if state.numbers[MIGRATES] and not is_rejecting(state, server):
        source = drained_server(state, job_type)
        if source >= 0:
            move(state, job_type, source, server)
            follow_freed_slot(state, source, job_type)
            follow_filled_slot(state, server, job_type)


@step
def refresh(state: Any, draws: Any) -> bool:
    """Classify and reassign (CRA) after an admission or a departure, or after as many as make a period."""
    if state.touched_[0] >= 0:
        follow_filled_slot(state, state.touched_[0], state.touched_[1])
        state.touched_[0] = -1
        state.numbers[CHANGED] += 1
    if state.numbers[CHANGED] >= state.numbers[PERIOD]:
        if plan_stands(state) and _all_matched(state):  # most often: CRA would change nothing
            state.numbers[CHANGED] = 0
        else:
            _classify(state)
    return False


@routine
def _classify(state: Any) -> None:
    """Run CRA: plan, rank, and reassign empty servers to the stages that lack servers."""
    # GPA on Y + g (19)
    if not plan_stands(state):
        stages = plan_greedily(state)
        if stages < 0:
            return
        take_plan(state, stages)
    state.numbers[CHANGED] = 0
    pools = len(state.pool_sizes)
    for p in range(pools):
        state.unmatched[p] = len(state.plan) + 1
    for i in range(state.numbers[STAGES]):
        c, wanted = state.plan[i, 0], state.plan[i, 1]
        if c >= 0:
            # X~(i) servers of the configuration get rank i: the oldest, if there are more of them
            set_effective(state, c, min(wanted, state.number[c]))
            if not _match_stage(state, i) and state.unmatched[i % pools] > len(state.plan):
                state.unmatched[i % pools] = i + 1  # I*: the first stage that is not matched


@step
def _all_matched(state: Any) -> bool:
    """Return whether each stage had its servers when CRA ran last; it takes none away, so it has them still."""
    matched = True
    for p in range(len(state.pool_sizes)):
        matched = matched and state.unmatched[p] > len(state.plan)
    return matched


@step
def _match_stage(state: Any, stage: int) -> bool:
    """Reassign empty servers to a stage until it has as many as it wants; return whether it has."""
    c = state.plan[stage, 0]
    while state.number[c] < state.plan[stage, 1]:
        server = _empty_server(state, stage)
        if server < 0:
            return False
        assign(state, server, c)
        state.done[REASSIGNED] += 1
    return True


@step
def match_first_unmatched(state: Any) -> None:
    """Reassign empty servers to the first unmatched stage of the last plan, as the next run of CRA would begin."""
    for p in range(len(state.pool_sizes)):
        if state.unmatched[p] <= state.numbers[STAGES]:
            _match_stage(state, state.unmatched[p] - 1)


@step
def _empty_server(state: Any, stage: int) -> int:
    """Return an empty server of the pool that no stage up to this one has ranked, -1 if there is none."""
    types, pools = len(state.totals), len(state.pool_sizes)
    c = least(state.words, state.levels, words_of(types, stage % pools) + 3 * types)
    if c >= 0:
        return int(state.lists[c, 0, types])
    # servers of later stages of the pool still have rank J + 1 while this stage is matched
    for i in range(state.numbers[STAGES] - pools + stage % pools, stage, -pools):
        if state.plan[i, 0] >= 0:
            server = state.lists[state.plan[i, 0], 1, types]
            if server >= 0:
                return int(server)
    return -1


@step
def _configure_all(state: Any, ids: NDArray[np.int32]) -> None:
    """Give every server the configuration of its number, all surplus."""
    for server in range(len(ids)):
        jobs = 0
        for j in range(len(state.totals)):
            jobs += state.counts[server, j]
        state.rows[server, JOBS] = jobs
        add_server(state, server, ids[server], 0)


def reservation_arrays(setting: Setting) -> dict[str, NDArray[Any]]:
    """Make the arrays of a reservation state before CRA has run, and the configuration of each server: its jobs."""
    types, pools = len(setting.instance.types), len(setting.pool_sizes)
    if types > TYPES:
        raise ArgumentTooLargeError(
            "policy", f"dynamic reservation takes at most {TYPES} types, got {types:,}: join types"
        )
    options = options_of(ReservationOptions, setting.options, setting.instance.names)
    period = floor(at_servers(options.period, "period", setting.servers, least=1))
    base = common(setting, resources=False)
    base["slots"] = base["totals"].copy()
    every_set = range(1, 2**types if types <= TYPES_AT_ONCE else 1)
    best = greedy_configurations_of(setting.instance, every_set, compiled=len(every_set) * pools > FEW_SETS)
    # number the configurations, each of a pool: the empty ones, those of MaxReward, those of the initial jobs
    numbers: dict[tuple[int, ...], int] = {(p,) + (0,) * types: p for p in range(pools)}
    for every in best.values():
        for p, k in enumerate(every):
            numbers.setdefault((p, *k), len(numbers))
    initial, _, inverse = unique_rows(np.column_stack([setting.pool, base["counts"]]))
    ids = np.array([numbers.setdefault(tuple(row), len(numbers)) for row in initial.tolist()], np.int32)[inverse]
    length = len(numbers) if best else len(numbers) + 64 * pools
    wider = {"configurations": (types,), "ends": (len(NO_ENDS),), "lists": (2, types + 1)}
    by_configuration = {
        name: np.full((length, *wider.get(name, ())), value, kind) for name, (kind, value) in BY_CONFIGURATION.items()
    }
    table = np.array(list(numbers), np.int32)
    by_configuration["owner"][: len(table)] = table[:, 0]
    by_configuration["configurations"][: len(table)] = table[:, 1:]
    sets, known = empty_memory(max(types, 4) if best else 10, pools)
    for types_left, every in best.items():
        for p, k in enumerate(every):
            remember(sets, known, types_left, p, numbers[p, *k])
    words, levels = empty_sets((3 * types + 1) * pools, length)
    return base | by_configuration | {
        "rows": np.full((setting.servers, LINKS + 2 * (types + 1)), -1, np.int32),
        "pool_sizes": np.array(setting.pool_sizes, np.int64),
        "words": words,
        "levels": levels,
        "plan": np.zeros((types * pools, 2), np.int64),
        "unmatched": np.full(pools, types * pools + 1),
        "numbers": np.array([_last_tick(setting.pool_sizes), 0, period, period, options.migration], np.int64),
        "reserve": np.full(1, ceil(reservation(setting)), np.int64),
        "estimate": _estimated_jobs(setting, options.estimate),
        "worst_first": np.full(1, options.placement == "worst-ranked", np.int64),
        "plan_": np.zeros((types * pools, 2), np.int64),
        "need_": np.zeros((4, types), np.int64),
        "up_": np.zeros((2, pools), np.int64),
        "stands_": np.tile(np.array([1, 0], np.int64), (types, 1)),
        "sets_": sets,
        "known_": known,
        "touched_": np.full(2, -1),
        "ids": ids,
    }  # fmt: skip


def _last_tick(pool_sizes: Sequence[int]) -> int:
    """Return the last tick of a clock on which servers come up in proportion: exactly, where that takes few ticks."""
    exact = lcm(*(size for size in pool_sizes if size))
    return exact if exact < 2**31 else sum(pool_sizes)


@lru_cache(maxsize=64)  # replications ask the same
def greedy_configurations_of(
    instance: Instance, sets: range | tuple[int, ...], *, compiled: bool = True
) -> Mapping[int, tuple[Configuration, ...]]:
    """Return MaxReward of every pool by set of types, each set a word with a bit a type."""
    rewards = instance.rewards
    return {
        word: tuple(
            max_reward(pool.space, rewards, [j for j in range(len(rewards)) if word >> j & 1], compiled=compiled)
            for pool in instance.pools
        )
        for word in sets
    }


def reservation(setting: Setting) -> float:
    """Return g(L) of a setting: a number, a function of L, or the default."""
    options = options_of(ReservationOptions, setting.options, setting.instance.names)
    return at_servers(options.reservation, "reservation", setting.servers, least=0)


def _estimated_jobs(setting: Setting, estimate: Mapping[str, Fraction] | None) -> NDArray[np.int64]:
    """Return L times the estimated workload of each type, rounded up, int64[J]; -1 where there is no estimate."""
    names = setting.instance.names
    if estimate is None:
        return np.full(len(names), -1, np.int64)
    jobs = [setting.servers * estimate[name] for name in names]
    if not all(number < 2**31 for number in jobs):
        raise InputError("simulation.estimate", "expected jobs per server that are less than 2^31 in all")
    return np.array([ceil(number) for number in jobs], np.int64)


def prepare(setting: Setting) -> Any:
    """Make the state of dynamic reservation and run CRA once."""
    fields = reservation_arrays(setting)
    ids = fields.pop("ids")
    return settled_state(setting, ReservationState(**fields), ids)


def settled_state(setting: Setting, state: Any, ids: NDArray[np.int32]) -> Any:
    """Configure the servers and run CRA, extending the state as it asks."""
    servers = setting.servers
    over_servers(_configure_all, servers)(state, ids)
    draws = np.random.default_rng(0)
    while True:
        over_servers(refresh, servers)(state, draws)
        if not state.done[ASKS]:
            state.done[:] = 0
            return state
        state = answer(setting, state)


def answer(setting: Setting, state: Any) -> Any:
    """Add MaxReward of the set of types that the policy asks for."""
    types_left = int(state.done[ASKS])
    (every,) = greedy_configurations_of(setting.instance, (types_left,)).values()
    used = int(np.count_nonzero(state.sets_)) + 1
    if 2 * used > len(state.sets_):  # the memory is at most half full, so that places are found at once
        sets, known = empty_memory(len(state.sets_).bit_length(), len(every))
        for word, row in zip(state.sets_, state.known_, strict=True):
            for p, c in enumerate(row):
                if word:
                    remember(sets, known, word, p, c)
        state = state._replace(sets_=sets, known_=known)
    for p, k in enumerate(every):
        same = (state.owner == p) & (state.configurations == np.array(k, np.int32)).all(axis=1)
        c = int(np.argmax(same)) if same.any() else int(np.count_nonzero(state.owner >= 0))
        if c == len(state.configurations):
            state = _with_configurations(state, 2 * c)
        state.configurations[c] = k
        state.owner[c] = p
        remember(state.sets_, state.known_, types_left, p, c)
    state.done[ASKS] = 0
    return state


def _with_configurations(state: Any, length: int) -> Any:
    """Copy a state with memory for more configurations."""
    changes: dict[str, NDArray[Any]] = {}
    for name, (kind, value) in BY_CONFIGURATION.items():
        array = getattr(state, name)
        changes[name] = np.full((length, *array.shape[1:]), value, kind)
        changes[name][: len(array)] = array
    words, levels = empty_sets(len(state.words), length)
    state = state._replace(**changes, words=words, levels=levels)
    _mark_everything(state)
    return state


@step
def _mark_everything(state: Any) -> None:
    for c in range(len(state.number)):
        if state.number[c] > 0:
            mark_all(state, c)


DRA = Policy(
    "dra",
    "loss",
    prepare,
    place,
    depart,
    refresh,
    moves_jobs=True,
    reserves=True,
    answer=answer,
    about="dynamic reservation: greedy placement of the jobs at hand plus g(L), draining and migration",
    record=ReservationOptions,
)
