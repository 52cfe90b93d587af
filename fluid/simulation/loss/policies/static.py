"""Static reservation: the optimal assignment of the workload, in whole servers, held for ever.

Each type has a fixed number of slots and nothing is shared, so type j is an Erlang loss system of its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.policy_interface import Policy, nothing_to_refresh
from fluid.simulation.state import Common, Setting, common, named_jobs, state_type
from theory.compiled import step
from theory.errors import InputError
from theory.exact.knapsack import weight
from theory.greedy.optimal import optimal_assignment
from theory.greedy.pools import apportion
from theory.numbers import total

StaticState = state_type(__name__, "StaticState", Common._fields, "stack", "first", "height")
"""The common part, and a stack of free slots of each type; ``stack[first[j] + i]`` is the server of slot i."""


def configurations(setting: Setting) -> NDArray[np.int32]:
    """Return the configuration of every server, int32[L, J]: optimal fractions, rounded by largest remainder."""
    instance = setting.instance
    columns = optimal_assignment(instance).columns
    rows = []
    for p, servers in enumerate(setting.pool_sizes):
        share = instance.pools[p].share
        # of the pool, by increasing reward, so that the slots of the best configurations lie on top of the stacks
        used = [(c.configuration, c.fraction / share) for c in columns if c.pool == p]
        used.sort(key=lambda item: (weight(item[0], instance.rewards), item[0]))
        idle = Fraction(1) - total(fraction for _, fraction in used)
        used.insert(0, ((0,) * len(instance.types), idle))
        # whole servers: the fractions of the optimum x*, rounded so that they add up to the pool
        numbers = apportion(servers, [fraction for _, fraction in used])
        rows.append(np.repeat(np.array([k for k, _ in used], np.int32), numbers, axis=0))
    return np.concatenate(rows)


def prepare(setting: Setting) -> Any:
    """Make the state of static reservation; initial jobs that are in no slot of the assignment are refused."""
    base = common(setting, resources=False)
    reserved = configurations(setting)
    vacant = reserved - base["counts"]
    if (vacant < 0).any():
        server = int(np.flatnonzero((vacant < 0).any(axis=1))[0])
        raise InputError(
            "simulation.initial",
            f"server {server + 1} holds {named_jobs(setting, base['counts'][server])}, expected "
            f"at most its reserved slots under static reservation, {named_jobs(setting, reserved[server])}",
        )
    # type j is an Erlang loss system of its own, with sum_l k_j(l) circuits
    base["slots"] = reserved.sum(axis=0, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(base["slots"])])
    # slots that initial jobs fill are not on the stack: they come onto it when these depart
    stack = np.zeros(first[-1], np.int32)
    height = vacant.sum(axis=0, dtype=np.int64)
    for j, n in enumerate(height):
        stack[first[j] : first[j] + n] = np.repeat(np.arange(setting.servers, dtype=np.int32), vacant[:, j])
    return StaticState(**base, stack=stack, first=first, height=height)


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Return the server of the slot that was freed last; at first, of the best configuration."""
    height = state.height[job_type]
    if height == 0:
        return -1
    state.height[job_type] = height - 1
    return int(state.stack[state.first[job_type] + height - 1])


@step
def depart(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Give the slot back."""
    state.stack[state.first[job_type] + state.height[job_type]] = server
    state.height[job_type] += 1


STATIC = Policy(
    "static",
    "loss",
    prepare,
    place,
    depart,
    nothing_to_refresh,
    reserves=True,
    about="slots of the optimal assignment of the stated workload, held for ever",
)
