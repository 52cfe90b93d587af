"""Power of d choices: d servers drawn at random, the job goes to the least loaded of them if it fits there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fluid.simulation.options import D
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.state import Common, Setting, common, fits, one_of, state_type
from theory.instance import Additive, Space
from theory.jit import step
from theory.numbers import to_integers, total

SamplingState = state_type(
    __name__,
    "SamplingState",
    Common._fields,
    "choices",
    "load",
)
"""The common part, how many servers are drawn, and what each type adds to the load of a server of each pool."""


def loads(space: Space, types: int) -> list[Fraction]:
    """Return the share of a server that one job of each type takes: its demand over capacity, averaged over resources.

    Where configurations are listed, a job takes one over the most jobs of its type alone. Types that do not fit take 1.

    Examples
    --------
    >>> from theory.instance import additive
    >>> loads(additive([10, 20], [[5, 5], [1, 10]]).pools[0].space, 2)
    [Fraction(3, 8), Fraction(3, 10)]
    """
    if isinstance(space, Additive):
        present = [r for r, capacity in enumerate(space.capacity) if capacity]
        shares = [total(Fraction(row[r], space.capacity[r]) for r in present) / len(present) for row in space.demands]
        return [share if space.most(j) else Fraction(1) for j, share in enumerate(shares)]
    return [Fraction(1, space.most(j) or 1) for j in range(types)]


def prepare(setting: Setting) -> Any:
    """Make the state of power of d choices; any number of pools."""
    types = len(setting.instance.types)
    shares = [share for pool in setting.instance.pools for share in loads(pool.space, types)]
    whole, _ = to_integers(shares)
    if max(whole) > 2**40:
        whole = [round(share * 2**40) for share in shares]
    load = np.array(whole, np.int64).reshape(-1, types)
    return SamplingState(**common(setting), choices=np.full(1, D(setting.options), np.int64), load=load)


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Return the least loaded of d random servers (with replacement, the first of equals) if the job fits there."""
    best, least = -1, 0
    for _ in range(state.choices[0]):
        server = one_of(draws, len(state.counts))
        load = 0
        pool = state.pool[server]
        for j in range(len(state.totals)):
            load += state.counts[server, j] * state.load[pool, j]
        if best < 0 or load < least:
            best, least = server, load
    return best if fits(state, best, job_type) else -1


POWER_OF_D = Policy(
    "power-of-d",
    "loss",
    prepare,
    place,
    nothing_to_depart,
    nothing_to_refresh,
    about="the least loaded of d random servers, if the job fits there (option d, 2 unless given)",
    options=(D.name,),
)
