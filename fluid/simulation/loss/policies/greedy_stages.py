"""The greedy placement of the jobs at hand, inside a policy: its stages, and a memory of MaxReward by set of types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import ASKS
from theory.jit import step


def memory(bits: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Make an empty memory of 2^bits places: sets of types (a bit a type; 0 is no set) and their configurations."""
    return np.zeros(2**bits, np.int64), np.zeros(2**bits, np.int32)


@step
def _place_of(sets: NDArray[np.int64], types: int) -> int:
    """Return where a set of types stands in the memory, or the free place where it would."""
    mask = len(sets) - 1
    place = (types ^ (types >> 17) ^ (types >> 31)) & mask
    while sets[place] != 0 and sets[place] != types:
        place = (place + 1) & mask
    return place


@step
def remember(sets: NDArray[np.int64], known: NDArray[np.int32], types: int, configuration: int) -> None:
    """Write down the configuration of a set of types."""
    place = _place_of(sets, types)
    sets[place] = types
    known[place] = configuration


@step
def plan_greedily(state: Any) -> int:
    """Run the Greedy Placement Algorithm on the jobs in service (or their estimate) and g; write ``plan_``.

    Row i of ``plan_`` is the configuration of stage i and how many servers it gets; stages after the servers have
    ended are left out.

    Returns
    -------
    int
        The number of stages; -1 if MaxReward of a set of types is not known (``done[ASKS]`` then holds the set).

    Notes
    -----
    Algorithm 1 of the auto-scaling paper: stage i gives ``min_j ceil(residual_j / k_j)`` servers to k = MaxReward of
    the types left, as far as there are servers, and drops the first type of that minimum. O(J^2).
    """
    types = len(state.totals)
    left = len(state.rows)
    mask = (1 << types) - 1
    for j in range(types):
        jobs = state.totals[j] if state.estimate[j] < 0 else state.estimate[j]
        state.need_[j] = jobs + state.reserve[0]  # (19)
    for i in range(types):
        place = _place_of(state.sets_, mask)
        if state.sets_[place] == 0:
            state.done[ASKS] = mask
            return -1
        c = state.known_[place]
        least, first = 0, -1
        for j in range(types):
            slots = state.configurations[c, j]
            if slots > 0:
                need = state.need_[j]
                servers = 0 if need <= 0 else (need + slots - 1) // slots
                if first < 0 or servers < least:
                    least, first = servers, j
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
