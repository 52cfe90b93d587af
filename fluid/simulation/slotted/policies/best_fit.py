"""Best-Fit as a scheduler (throughput paper, IV-A): from the job's perspective, from the server's, both; and FIFO-FF.

FIFO-FF is First-Fit in the order of arrival (VII-B): no job overtakes the first one.

What the paper leaves open: jobs are listed in the order of arrival, servers by number. Among servers of the same
residual capacity the one with the lowest number is the tightest; among jobs of the same size the one that came first is
the largest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.state import (
    COMMON,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    classes_upto,
    first_come,
    front,
    largest_fitting,
    moves_are_many,
    place_nowhere,
    shared,
    smallest_waiting,
    take_out,
)
from fluid.simulation.state import MOVES, state_type
from fluid.simulation.structures.bitset import contains, discard, empty_sets, insert, least
from fluid.simulation.structures.searches import (
    close_server,
    first_at_least,
    most_room,
    new_open_servers,
    new_tree,
    open_server,
    set_leaf,
    tightest,
)
from theory.compiled import step

OPEN = ("keys_", "places_", "count_")

JobState = state_type(__name__, "JobState", COMMON, *OPEN)
"""``keys_``, ``places_``, ``count_``: the open servers, those with a residual of at least the least size
(`fluid.simulation.structures.searches`)."""

ServerState = state_type(__name__, "ServerState", COMMON, "residuals")
"""``residuals`` int64[2P]: a tree of maxima of the servers' residuals (`fluid.simulation.structures.searches`)."""

BothState = state_type(__name__, "BothState", COMMON, *OPEN, "vacated", "spread")
"""As for BF-J, and ``vacated``, ``spread``: the set of servers that jobs have left in this slot
(`fluid.simulation.structures.bitset`). These are not open until they have been filled."""


def _open_servers(setting: SlottedSetting) -> dict[str, NDArray[np.int64]]:
    """Make the list of the open servers of an empty cluster: all of them."""
    return dict(zip(OPEN, new_open_servers(setting.servers, setting.capacity), strict=True))


def prepare_job(setting: SlottedSetting) -> Any:
    """Make the state of BF-J."""
    return JobState(**shared(setting, ordered=True), **_open_servers(setting))


def prepare_server(setting: SlottedSetting) -> Any:
    """Make the state of BF-S."""
    common = shared(setting)
    return ServerState(**common, residuals=new_tree(setting.servers, value=common["free"]))


def prepare_fifo(setting: SlottedSetting) -> Any:
    """Make the state of FIFO-FF."""
    common = shared(setting, fifo=True)
    return ServerState(**common, residuals=new_tree(setting.servers, value=common["free"]))


def prepare_both(setting: SlottedSetting) -> Any:
    """Make the state of BF-J/S."""
    vacated, spread = empty_sets(1, setting.servers)
    return BothState(**shared(setting), **_open_servers(setting), vacated=vacated, spread=spread)


@step
def _open(state: SlottedCommon, server: int, residual: int) -> None:
    """Enter a server with a residual among the open ones, if some job may fit it."""
    if residual >= state.sizes[0]:
        open_server(state.keys_, state.places_, state.count_, server, residual)


@step
def _close(state: SlottedCommon, server: int, residual: int) -> None:
    """Take a server out of the open ones, if it had been entered with a residual."""
    if residual >= state.sizes[0]:
        close_server(state.keys_, state.places_, state.count_, server)


@step
def _tightest(state: SlottedCommon, job_class: int) -> int:
    """Return the server with the least residual capacity that a job of a class fits, -1 if it fits none."""
    return tightest(state.keys_, state.count_, class_size(state, job_class))


@step
def job_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Enter the server with its new residual."""
    _close(state, server, state.free[server] - class_size(state, job_class))
    _open(state, server, state.free[server])


@step
def job_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Place the jobs in the order of arrival, each in the tightest server (BF-J)."""
    while True:
        # The next job in the list that can be placed fits the server with the most room. That room only shrinks while
        # jobs are placed, so jobs that have been passed over once fit no server until the next slot.
        fitting = classes_upto(state, most_room(state.keys_, state.count_))
        leaf = first_come(state, fitting)
        if leaf < 0:
            # all other jobs remain in the queue
            return False
        job_class = take_out(state, leaf)
        # BF-J: the server with the least residual capacity among those that can accommodate the job
        server = _tightest(state, job_class)
        _close(state, server, state.free[server])
        begin(state, job_class, server)
        _open(state, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def fill(state: SlottedCommon, server: int) -> bool:
    """Fill a server (BF-S), as far as there are rows for moves; return whether it is full."""
    while True:
        # BF-S: the largest job in the queue that fits, again and again, until no job fits
        job_class = largest_fitting(state, state.free[server])
        if job_class < 0:
            return True
        if state.done[MOVES] == len(state.moves):
            return False
        begin(state, job_class, server)


@step
def server_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Keep the tree up to date."""
    set_leaf(state.residuals, server, state.free[server])


@step
def first_with_room(state: SlottedCommon) -> int:
    """Return the first server that some waiting job fits, -1 if there is none."""
    smallest = smallest_waiting(state)
    return first_at_least(state.residuals, 0, class_size(state, smallest)) if smallest >= 0 else -1


@step
def server_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Fill the servers, by number (BF-S)."""
    while True:
        # No waiting job fits the servers that have been filled, so the first server with room is the next in the list;
        # servers that no job fits are passed over.
        server = first_with_room(state)
        if server < 0:
            return False
        fill(state, server)
        set_leaf(state.residuals, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def fifo_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the jobs in the order of arrival, as long as a server has room for the first (FIFO-FF)."""
    while True:
        # without virtual queues all jobs are in queue 0, in the order of arrival
        job_class = front(state, 0)
        if job_class < 0:
            return False
        # First-Fit: the first server that has sufficient capacity
        server = first_at_least(state.residuals, 0, class_size(state, job_class))
        if server < 0:
            # FIFO: no job overtakes the first one
            return False
        begin(state, job_class, server)
        set_leaf(state.residuals, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def both_depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """List the server for step 1 of BF-J/S."""
    # it is listed once, whatever the number of jobs that leave it in a slot
    if not contains(state.vacated, 0, server):
        _close(state, server, state.free[server] - class_size(state, job_class))
        insert(state.vacated, state.spread, 0, server)


@step
def both_refresh(state: SlottedCommon, draws: Any) -> bool:
    """Take step 1 of BF-J/S: BF-S over the servers that had departures, by number."""
    while True:
        server = least(state.vacated, state.spread, 0)
        if server < 0:
            return False
        if fill(state, server):
            discard(state.vacated, state.spread, 0, server)
            _open(state, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def both_place(state: SlottedCommon, job_class: int, draws: Any) -> int:
    """Take step 2 of BF-J/S: BF-J for a new job that step 1 has not scheduled; the loop asks in the order of arrival.

    Older jobs need not be tried: when they came, and whenever a job left a server since then, they fitted none.
    """
    server = _tightest(state, job_class)
    if server >= 0:
        _close(state, server, state.free[server])
        # the loop begins the job, and then so much is left
        _open(state, server, state.free[server] - class_size(state, job_class))
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
FIFO_FF = Policy(
    "fifo-ff",
    "slotted",
    prepare_fifo,
    place_nowhere,
    server_depart,
    fifo_refresh,
    about="first in, first out, on the first server with room",
)
