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
from fluid.simulation.slotted.ranking import fullest, most_free, move, new_ranking
from fluid.simulation.slotted.rooms import FEW, first_room, least_room, new_rooms, set_room
from fluid.simulation.slotted.state import (
    COMMON,
    FIRST,
    NEXT,
    WAITING,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    classes_upto,
    largest_fitting,
    moves_are_many,
    place_nowhere,
    shared,
    smallest_waiting,
)
from fluid.simulation.state import MOVES, state_type
from theory.jit import step

JobState = state_type(__name__, "JobState", COMMON, "keys_", "table_", "cursor")
"""``keys_``, ``table_``: the servers that some job may fit, ranked by residual (`fluid.simulation.slotted.ranking`);
for at most `FEW` servers they are empty, and ``keys_`` has one dimension: nothing is compiled for them. ``cursor``
int64[1]: the place of the job whose turn it is in this slot. The largest residual only falls while jobs start, so the
jobs that have been passed over fit no server any more."""

ServerState = state_type(__name__, "ServerState", COMMON, "rooms", "cursor")
"""``rooms``: a tree of residuals (`fluid.simulation.slotted.rooms`). ``cursor`` int64[1]: whose turn it is."""

BothState = state_type(__name__, "BothState", COMMON, "keys_", "table_", "vacated", "spread")
"""``keys_``, ``table_``: as above, without the servers in ``vacated``. ``vacated``, ``spread``: the set of servers that
jobs have left in this slot (`fluid.simulation.bitset`)."""


def _ranked(setting: SlottedSetting) -> dict[str, NDArray[np.int64]]:
    """Rank all servers, empty ones, where there are many."""
    keys, table = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
    if setting.servers > FEW:
        keys, table = new_ranking(setting.servers, setting.capacity, int(setting.sizes[0]))
    return {"keys_": keys, "table_": table}


def prepare_job(setting: SlottedSetting) -> Any:
    """Make the state of BF-J."""
    return JobState(**shared(setting, ordered=True), **_ranked(setting), cursor=np.zeros(1, np.int64))


def prepare_server(setting: SlottedSetting) -> Any:
    """Make the state of BF-S."""
    common = shared(setting)
    return ServerState(**common, rooms=new_rooms(common["free"]), cursor=np.zeros(1, np.int64))


def prepare_both(setting: SlottedSetting) -> Any:
    """Make the state of BF-J/S."""
    vacated, spread = empty_sets(1, setting.servers)
    return BothState(**shared(setting), **_ranked(setting), vacated=vacated, spread=spread)


@step
def _rank(keys: NDArray[np.int64], table: NDArray[np.int64], server: int, before: int, after: int) -> None:
    """Rank a server by another residual, where servers are ranked; one below the least size stands for none."""
    if keys.ndim == 2:
        move(keys, table, server, before, after)


@step
def _fullest(keys: NDArray[np.int64], table: NDArray[np.int64], free: NDArray[np.int64], size: int) -> int:
    """Return the first of the servers with the least residual that a job of a size fits, -1 if it fits none."""
    if keys.ndim == 2:
        return fullest(keys, table, size)
    return least_room(free, size)


@step
def _most_free(keys: NDArray[np.int64], table: NDArray[np.int64], free: NDArray[np.int64]) -> int:
    """Return the largest residual, or any number below the least size where no server fits a job."""
    if keys.ndim == 2:
        return most_free(keys, table)
    most = free[0]
    for server in range(len(free)):
        most = max(most, free[server])
    return int(most)


@step
def job_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Rank the server anew."""
    _rank(state.keys_, state.table_, server, state.free[server] - class_size(state, job_class), state.free[server])


@step
def _first_come(state: SlottedCommon, arrived: NDArray[np.int64], bound: int) -> int:
    """Return the class below a bound whose first job came before those of all others, -1 if none waits."""
    if arrived.ndim == 1:
        leaf = first_below(arrived, state.reach, state.cursor[0], bound)
        state.cursor[0] = leaf + 1
        return take_out(arrived, state.reach, leaf) if leaf >= 0 else -1
    found, earliest = -1, state.counters[NEXT]
    for c in range(bound):
        head = state.lines[c, FIRST]
        if head >= 0 and state.number[head] < earliest:
            found, earliest = c, state.number[head]
    return found


@step
def job_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the jobs that fit any server, in the order of arrival, each where it leaves the least room (BF-J)."""
    most = -1
    while state.counters[WAITING] > 0:
        most = _most_free(state.keys_, state.table_, state.free) if most < 0 else most
        job_class = _first_come(state, state.arrived, classes_upto(state, most))
        if job_class < 0:
            break
        server = _fullest(state.keys_, state.table_, state.free, class_size(state, job_class))
        before = state.free[server]
        begin(state, job_class, server)
        _rank(state.keys_, state.table_, server, before, state.free[server])
        if moves_are_many(state):
            return True
        if before == most:  # no other server has become less free
            most = -1
    state.cursor[0] = 0
    return False


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
    set_room(state.rooms, server, state.free[server])


@step
def next_with_room(state: SlottedCommon, start: int) -> int:
    """Return the first server from a number on that some waiting job fits, -1 if there is none."""
    if start >= len(state.free):
        return -1
    smallest = smallest_waiting(state)
    return first_room(state.rooms, state.free, start, class_size(state, smallest)) if smallest >= 0 else -1


@step
def server_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the servers that some waiting job fits, by number (BF-S)."""
    server = next_with_room(state, state.cursor[0])
    state.cursor[0] = 0
    while server >= 0:
        following = server + 1 if fill(state, server) else server
        set_room(state.rooms, server, state.free[server])
        if moves_are_many(state):
            state.cursor[0] = following
            return True
        server = next_with_room(state, following)
    return False


@step
def both_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Note that the server has been left, and take it out of the ranking until it has been filled."""
    if not _is_vacated(state, server):
        _rank(state.keys_, state.table_, server, state.free[server] - class_size(state, job_class), -1)
        insert(state.vacated, state.spread, 0, server)


@step
def _is_vacated(state: SlottedCommon, server: int) -> bool:
    return bool(state.vacated[0, server >> 5] >> (server & 31) & 1)


@step
def both_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the servers that jobs have left, by number (BF-J/S, step 1)."""
    server = least(state.vacated, state.spread, 0)
    while server >= 0:
        if fill(state, server):
            discard(state.vacated, state.spread, 0, server)
            _rank(state.keys_, state.table_, server, -1, state.free[server])
        if moves_are_many(state):
            return True
        server = least(state.vacated, state.spread, 0)
    return False


@step
def both_place(state: SlottedCommon, job_class: int, draws: Any) -> int:
    """Return the server with the least room that the newcomer fits (BF-J/S, step 2)."""
    server = _fullest(state.keys_, state.table_, state.free, class_size(state, job_class))
    if server >= 0:
        _rank(state.keys_, state.table_, server, state.free[server], state.free[server] - class_size(state, job_class))
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
