"""Best-Fit as a scheduler (throughput paper, IV): from the job's perspective, from the server's, and both.

Ties, which the paper leaves open: the server with the lowest number among equal residuals; the job that came first
among equal sizes. Queues are listed in the order of arrival, servers by number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.bitset import discard, empty_sets, insert, least
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.by_arrival import first_below, take_out
from fluid.simulation.slotted.state import (
    COMMON,
    FIRST,
    NEXT,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    classes_upto,
    largest_fitting,
    shared,
    smallest_waiting,
)
from fluid.simulation.slotted.trees import (
    add_node,
    first_at_least,
    least_at_least,
    least_node,
    new_treap,
    new_tree,
    remove_node,
    set_leaf,
)
from fluid.simulation.state import MOVES, state_type
from theory.jit import step

FEW = 256
"""Servers up to which all residuals are looked at, side by side in memory, instead of kept in a treap."""

JobState = state_type(__name__, "JobState", COMMON, "treap", "root", "cursor")
"""``treap``, ``root``: servers by residual, where there are more than `FEW`; else the treap has no rows. ``cursor``
int64[1]: the job whose turn it is in this slot. The largest residual only falls while jobs start, so the jobs that have
been passed over fit no server any more."""

ServerState = state_type(__name__, "ServerState", COMMON, "rooms", "cursor")
"""``rooms``: tree over servers of residuals. ``cursor`` int64[1]: the server whose turn it is in this slot."""

BothState = state_type(__name__, "BothState", COMMON, "treap", "root", "vacated", "spread")
"""``vacated``, ``spread``: the set of servers that jobs have left in this slot (`fluid.simulation.bitset`)."""


def _by_residual(setting: SlottedSetting) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make the treap of all servers, empty ones; one without rows for few servers."""
    treap, root = new_treap(setting.servers if setting.servers > FEW else 0)
    for server in range(len(treap)):
        add_node(treap, root, server, setting.capacity)
    return treap, root


def prepare_job(setting: SlottedSetting) -> Any:
    """Make the state of BF-J."""
    treap, root = _by_residual(setting)
    return JobState(**shared(setting, ordered=True), treap=treap, root=root, cursor=np.zeros(1, np.int64))


def prepare_server(setting: SlottedSetting) -> Any:
    """Make the state of BF-S."""
    return ServerState(
        **shared(setting), rooms=new_tree(setting.servers, value=setting.capacity), cursor=np.zeros(1, np.int64)
    )


def prepare_both(setting: SlottedSetting) -> Any:
    """Make the state of BF-J/S."""
    treap, root = _by_residual(setting)
    vacated, spread = empty_sets(1, setting.servers)
    return BothState(**shared(setting), treap=treap, root=root, vacated=vacated, spread=spread)


@step
def place_nowhere(state: SlottedCommon, job_class: int, draws: Any) -> int:
    """Leave newcomers to ``refresh``."""
    return -1


@step
def _rekey(state: SlottedCommon, server: int, residual: int) -> None:
    """Bring the treap up to date with the residual of a server."""
    if len(state.treap) > 0:
        remove_node(state.treap, state.root, server)
        add_node(state.treap, state.root, server, residual)


@step
def _fullest(state: SlottedCommon, job_class: int) -> int:
    """Return the first of the servers with the least residual that a job of a class fits, -1 if it fits none."""
    size = class_size(state, job_class)
    if len(state.treap) > 0:
        return least_node(state.treap, state.root, size)
    return least_at_least(state.free, size)


@step
def _most_free(state: SlottedCommon) -> int:
    """Return the largest residual."""
    if len(state.treap) == 0:
        most = state.free[0]
        for server in range(len(state.free)):
            most = max(most, state.free[server])
        return int(most)
    at = state.root[0]
    while state.treap[at, 2] >= 0:
        at = state.treap[at, 2]
    return int(state.treap[at, 0])


@step
def job_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Keep the treap."""
    _rekey(state, server, state.free[server])


@step
def _first_come(state: SlottedCommon, bound: int) -> int:
    """Return the class below a bound whose first job came before those of all others, -1 if none waits."""
    if len(state.arrived) > 0:
        leaf = first_below(state.arrived, state.reach, state.cursor[0], bound)
        state.cursor[0] = leaf + 1
        return take_out(state.arrived, state.reach, leaf) if leaf >= 0 else -1
    found, earliest = -1, state.counters[NEXT]
    for c in range(bound):
        head = state.lines[c, FIRST]
        if head >= 0 and state.number[head] < earliest:
            found, earliest = c, state.number[head]
    return found


@step
def job_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the first job in the order of arrival that fits any server, where it leaves the least room (BF-J)."""
    job_class = _first_come(state, classes_upto(state, _most_free(state)))
    if job_class < 0:
        return False
    server = _fullest(state, job_class)
    begin(state, job_class, server)
    _rekey(state, server, state.free[server])
    return True


@step
def fill(state: SlottedCommon, server: int) -> bool:
    """Fill a server with the largest jobs that fit, as far as there is room for moves; return whether it is done."""
    while True:
        job_class = largest_fitting(state, state.free[server])
        if job_class < 0:
            return True
        if state.done[MOVES] == len(state.moves):
            return False
        begin(state, job_class, server)


@step
def server_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Keep the tree."""
    set_leaf(state.rooms, server, state.free[server])


@step
def next_with_room(state: SlottedCommon) -> int:
    """Return the next server, by number, that some waiting job fits; -1 after the last, and the turn begins anew."""
    smallest = smallest_waiting(state)
    server = -1
    if smallest >= 0:
        server = first_at_least(state.rooms, state.cursor[0], class_size(state, smallest))
    if server < 0:
        state.cursor[0] = 0
    return server


@step
def server_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the next server, by number, that some waiting job fits (BF-S)."""
    server = next_with_room(state)
    if server < 0:
        return False
    state.cursor[0] = server + 1 if fill(state, server) else server
    set_leaf(state.rooms, server, state.free[server])
    return True


@step
def both_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Note that the server has been left, and take it out of the treap until it has been filled."""
    if not _is_vacated(state, server):
        if len(state.treap) > 0:
            remove_node(state.treap, state.root, server)
        insert(state.vacated, state.spread, 0, server)


@step
def _is_vacated(state: SlottedCommon, server: int) -> bool:
    return bool(state.vacated[0, server >> 5] >> (server & 31) & 1)


@step
def both_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the next server, by number, that jobs have left (BF-J/S, step 1)."""
    server = least(state.vacated, state.spread, 0)
    if server < 0:
        return False
    if fill(state, server):
        discard(state.vacated, state.spread, 0, server)
        if len(state.treap) > 0:
            add_node(state.treap, state.root, server, state.free[server])
    return True


@step
def both_place(state: SlottedCommon, job_class: int, draws: Any) -> int:
    """Return the server with the least room that the newcomer fits (BF-J/S, step 2)."""
    server = _fullest(state, job_class)
    if server >= 0:
        _rekey(state, server, state.free[server] - class_size(state, job_class))
    return server


BF_J = Policy(
    "bf-j",
    "slotted",
    prepare_job,
    place_nowhere,
    job_depart,
    job_refresh,
    about="Best-Fit from the job's perspective: each job, by arrival, on the fullest server that it fits",
)
BF_S = Policy(
    "bf-s",
    "slotted",
    prepare_server,
    place_nowhere,
    server_depart,
    server_refresh,
    about="Best-Fit from the server's perspective: each server takes the largest job that fits, again and again",
)
BF_JS = Policy(
    "bf-js",
    "slotted",
    prepare_both,
    both_place,
    both_depart,
    both_refresh,
    about="BF-J/S: servers that jobs have left fill up, newcomers take the fullest server that they fit",
)
