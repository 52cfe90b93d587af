"""What the states of policies of queues in continuous time share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.bitset import empty_sets, insert
from fluid.simulation.state import Common, Setting, common, state_type
from theory.errors import InputError

QUEUE = (*Common._fields, "waiting", "clocks")
"""Fields of every such state: the common part, ``waiting`` int64[J], the jobs of each type that wait, and ``clocks``
float64[K], the rates of the policy's own clocks."""

QueueCommon = state_type(__name__, "QueueCommon", QUEUE)
"""A state with these fields alone, enough for a policy without memory."""


def queue_fields(
    setting: Setting, name: str = "a policy of queues", *, resources: bool = True, room: int = 4096, clocks: int = 0
) -> dict[str, NDArray[Any]]:
    """Make those fields for empty servers (see `fluid.simulation.state.common`), to be spread into the policy's state.

    Raises
    ------
    InputError
        Jobs on servers at time 0.
    """
    if setting.initial is not None and setting.initial.any():
        raise InputError(f"simulation.initial: expected empty servers for {name}")
    fields = common(setting, resources=resources, room=room)
    return {**fields, "waiting": np.zeros(len(setting.instance.types), np.int64), "clocks": np.zeros(clocks)}


def vacancies(setting: Setting) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make J empty sets of servers, one a type, and behind them the servers of each pool (see `bitset`)."""
    types, pools = len(setting.instance.types), len(setting.instance.pools)
    vacant, levels = empty_sets(types + pools, setting.servers)
    for server in range(setting.servers):
        insert(vacant, levels, types + int(setting.pool[server]), server)
    return vacant, levels


def most_starts(setting: Setting) -> int:
    """Return room for the moves of one event: all slots of one server, and a margin."""
    types = range(len(setting.instance.types))
    return 16 + max(sum(pool.space.most(j) for j in types) for pool in setting.instance.pools)
