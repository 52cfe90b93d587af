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
from fluid.simulation.slotted.sorted_keys import add_key, greatest_key, least_key_from, remove_key, sorted_keys
from fluid.simulation.slotted.state import (
    COMMON,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    classes_upto,
    first_come,
    largest_fitting,
    moves_are_many,
    place_nowhere,
    shared,
    smallest_waiting,
)
from fluid.simulation.slotted.trees import first_at_least, new_tree, set_leaf
from fluid.simulation.state import MOVES, state_type
from theory.bits import highest_bit
from theory.errors import TooLargeError
from theory.jit import step

JobState = state_type(__name__, "JobState", COMMON, "ranked_", "blocks_")
"""``ranked_``, ``blocks_``: the servers that some job may fit, by residual and then by number, as sorted keys
(`fluid.simulation.slotted.sorted_keys`)."""

ServerState = state_type(__name__, "ServerState", COMMON, "residuals")
"""``residuals`` int64[2P]: a tree of maxima of the servers' residuals (`fluid.simulation.slotted.trees`)."""

BothState = state_type(__name__, "BothState", COMMON, "ranked_", "blocks_", "vacated", "spread")
"""``ranked_``, ``blocks_``: as above, without the servers in ``vacated``. ``vacated``, ``spread``: the set of servers
that jobs have left in this slot (`fluid.simulation.bitset`)."""


def _ranked(setting: SlottedSetting) -> dict[str, NDArray[np.int64]]:
    """Rank all servers, which are empty."""
    bits = setting.servers.bit_length()
    if setting.capacity.bit_length() + bits > 63:
        raise TooLargeError(
            f"servers: expected {setting.servers:,} servers of fewer than {2 ** (63 - bits):,} units, "
            f"got {setting.capacity:,}"
        )
    table, blocks = sorted_keys((setting.capacity << bits) + np.arange(setting.servers))
    return {"ranked_": table, "blocks_": blocks}


def prepare_job(setting: SlottedSetting) -> Any:
    """Make the state of BF-J."""
    return JobState(**shared(setting, ordered=True), **_ranked(setting))


def prepare_server(setting: SlottedSetting) -> Any:
    """Make the state of BF-S."""
    common = shared(setting)
    return ServerState(**common, residuals=new_tree(setting.servers, value=common["free"]))


def prepare_both(setting: SlottedSetting) -> Any:
    """Make the state of BF-J/S."""
    vacated, spread = empty_sets(1, setting.servers)
    return BothState(**shared(setting), **_ranked(setting), vacated=vacated, spread=spread)


@step
def _number_bits(state: SlottedCommon) -> int:
    """Return how many low bits of a key are the number of the server; those above are its residual."""
    return highest_bit(len(state.free)) + 1


@step
def _rank(state: SlottedCommon, server: int, residual: int) -> None:
    """Rank a server by its residual, unless no job fits it."""
    if residual >= state.sizes[0]:
        add_key(state.ranked_, state.blocks_, (residual << _number_bits(state)) + server)


@step
def _unrank(state: SlottedCommon, server: int, residual: int) -> None:
    """Take a server out that was ranked by a residual, unless no job fitted it."""
    if residual >= state.sizes[0]:
        remove_key(state.ranked_, state.blocks_, (residual << _number_bits(state)) + server)


@step
def _tightest(state: SlottedCommon, size: int) -> int:
    """Return the first of the servers with the least residual that a job of a size fits, -1 if it fits none."""
    bits = _number_bits(state)
    key = least_key_from(state.ranked_, state.blocks_, size << bits)
    return int(key & ((1 << bits) - 1)) if key >= 0 else -1


@step
def job_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Rank the server anew."""
    _unrank(state, server, state.free[server] - class_size(state, job_class))
    _rank(state, server, state.free[server])


@step
def job_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the jobs that fit any server, in the order of arrival, each where it leaves the least room (BF-J)."""
    while True:
        # a job fits some server if it fits the one with the most room; that room only shrinks while jobs start, so
        # jobs that have been passed over fit no server any more
        most_room = greatest_key(state.ranked_, state.blocks_) >> _number_bits(state)
        job_class = first_come(state, classes_upto(state, most_room))
        if job_class < 0:
            return False
        server = _tightest(state, class_size(state, job_class))
        _unrank(state, server, state.free[server])
        begin(state, job_class, server)
        _rank(state, server, state.free[server])
        if moves_are_many(state):
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
    set_leaf(state.residuals, server, state.free[server])


@step
def next_with_room(state: SlottedCommon) -> int:
    """Return the first server that some waiting job fits, -1 if there is none."""
    smallest = smallest_waiting(state)
    return int(first_at_least(state.residuals, 0, class_size(state, smallest))) if smallest >= 0 else -1


@step
def server_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the servers that some waiting job fits, by number (BF-S)."""
    while True:
        # servers that have been filled have no room for any job that waits, so the next one has a higher number
        server = next_with_room(state)
        if server < 0:
            return False
        fill(state, server)
        set_leaf(state.residuals, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def both_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Note that the server has been left, and take it out of the ranking until it has been filled."""
    if not _is_vacated(state, server):
        _unrank(state, server, state.free[server] - class_size(state, job_class))
        insert(state.vacated, state.spread, 0, server)


@step
def _is_vacated(state: SlottedCommon, server: int) -> bool:
    return bool(state.vacated[0, server >> 5] >> (server & 31) & 1)


@step
def both_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the servers that jobs have left, by number (BF-J/S, step 1)."""
    while True:
        server = least(state.vacated, state.spread, 0)
        if server < 0:
            return False
        if fill(state, server):
            discard(state.vacated, state.spread, 0, server)
            _rank(state, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def both_place(state: SlottedCommon, job_class: int, draws: Any) -> int:
    """Return the server with the least room that the newcomer fits (BF-J/S, step 2)."""
    size = class_size(state, job_class)
    server = _tightest(state, size)
    if server >= 0:
        _unrank(state, server, state.free[server])
        _rank(state, server, state.free[server] - size)
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
