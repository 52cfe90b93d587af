"""Best-fit: the fullest server that has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.bitset import discard, empty_sets, insert, least
from fluid.simulation.loss.policies.power_of_d import loads
from fluid.simulation.policy_interface import Policy, nothing_to_refresh
from fluid.simulation.state import Common, Setting, common, state_type
from theory.errors import TooLargeError
from theory.exact.configurations import feasible
from theory.jit import step

CLASSES = 4_000_000
"""Most feasible configurations times types, over all pools, that best-fit tells apart."""


BestFitState = state_type(
    __name__,
    "BestFitState",
    Common._fields,
    "kind",
    "after",
    "before",
    "head",
    "up",
    "down",
    "words",
    "levels",
)
"""The common part, and the servers by contents.

A class is a pool and a feasible configuration, numbered from the fullest to the emptiest. ``up`` and ``down`` are
the classes that one more or one less job of a type leads to (-1: none); ``head``, ``after`` and ``before`` are the
linked lists of the servers of a class; ``words`` holds, by type, the classes that have a server and have room.
"""


def prepare(setting: Setting) -> Any:
    """Make the state of best-fit; any number of pools.

    Raises
    ------
    TooLargeError
        If there are too many feasible configurations to tell apart (`CLASSES`).
    """
    instance, types = setting.instance, len(setting.instance.types)
    rows = []
    try:
        for p, pool in enumerate(instance.pools):
            load = loads(pool.space, types)
            found = feasible(pool.space, limit=CLASSES).tolist()
            rows += [(-sum(k[j] * load[j] for j in range(types)), p, tuple(k)) for k in found]
    except TooLargeError as error:
        raise TooLargeError(f"--policy best-fit: {error.args[0].partition(':')[0]}: take first-fit") from None
    if len(rows) * types > CLASSES:
        raise TooLargeError(
            f"--policy best-fit: {len(rows):,} contents of servers, expected {CLASSES // types:,} at most"
        )
    rows.sort()
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
    contents = zip(setting.pool.tolist(), map(tuple, base["counts"].tolist()), strict=True)
    kind = np.array([number[content] for content in contents], np.int32)
    words, levels = empty_sets(types, len(rows))
    servers = setting.servers
    state = BestFitState(
        **base,
        kind=kind,
        after=np.full(servers, -1, np.int32),
        before=np.full(servers, -1, np.int32),
        head=np.full(len(rows), -1, np.int32),
        up=up,
        down=down,
        words=words,
        levels=levels,
    )
    for server in range(servers - 1, -1, -1):
        _enter(state, server, int(kind[server]))
    return state


@step
def _enter(state: Any, server: int, kind: int) -> None:
    first = state.head[kind]
    state.kind[server] = kind
    state.before[server] = -1
    state.after[server] = first
    state.head[kind] = server
    if first >= 0:
        state.before[first] = server
    else:
        for j in range(len(state.totals)):
            if state.up[kind, j] >= 0:
                insert(state.words, state.levels, j, kind)


@step
def _leave(state: Any, server: int) -> int:
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
def place(state: Any, job_type: int, draws: Any) -> int:
    """Return the server with the least room that has enough, of equals the one that came to its contents last."""
    kind = least(state.words, state.levels, job_type)
    if kind < 0:
        return -1
    server = int(state.head[kind])
    _leave(state, server)
    _enter(state, server, state.up[kind, job_type])
    return server


@step
def depart(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Follow the contents of the server."""
    kind = _leave(state, server)
    _enter(state, server, state.down[kind, job_type])


BEST_FIT = Policy(
    "best-fit", "loss", prepare, place, depart, nothing_to_refresh, about="the fullest server with room, by mean load"
)
