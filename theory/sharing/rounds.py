"""Algorithm I of the PS-DSF paper: servers take turns to raise their least served users until nothing moves.

In rationals a turn is the inner loop as the paper prints it (`server_procedure`). In floats it is the water-filling of
`theory.sharing.filling`, which ends at the same tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.sharing import filling
from theory.sharing.model import Matrix, Occupation

STILL = 1e-12
"""Relative change of a user's tasks on a server, below which a turn in floats has moved nothing."""

MOST_UPDATES = 10**6
"""Updates of one turn after which the inner loop counts as endless."""


def server_procedure(shares: NDArray[Any], per_task: NDArray[Any], tasks: NDArray[Any], totals: NDArray[Any]) -> int:
    """Run the inner loop of Algorithm I at one server, in rationals and in place; return the number of updates.

    `shares`, [N, R], is what one task takes of each resource, and `per_task`, [N], 1 / (phi_n gamma_{n,i}): the
    weighted virtual dominant share that one task adds, 0 for users that may not use the server or are absent. `tasks`
    x_{n,i} and `totals` x_n, [N], are changed. An update costs O(N R). ArithmeticError beyond `MOST_UPDATES` updates.
    Source: PS-DSF paper, Algorithm I with (14), (16)-(18); the step beta in closed form.

    >>> half, none = np.array([[Fraction(1, 2)], [Fraction(1, 4)]]), Fraction(0)
    >>> tasks, totals = np.array([none, none]), np.array([none, Fraction(1)])
    >>> server_procedure(half, half[:, 0], tasks, totals), list(map(str, tasks))
    (2, ['5/4', '3/2'])
    """
    users, resources = range(len(per_task)), range(shares.shape[1])
    waiting = {n for n in users if per_task[n]}  # the set N_i: no bottleneck of these users is known yet
    updates = 0
    while waiting:
        level = totals * per_task  # s_{n,i} / phi_n
        lowest = min(level[n] for n in waiting)
        least = [n for n in sorted(waiting) if level[n] == lowest]
        free = 1 - tasks @ shares
        # (14): a saturated resource that a least user demands is its bottleneck if no holder is at a higher level;
        # otherwise its holder of the highest level, the leader, gives up tasks
        leaders = []
        bottleneck = None
        for r in resources:
            if free[r] == 0 and any(shares[n, r] for n in least):
                leader = max((n for n in users if tasks[n] and shares[n, r]), key=lambda n: level[n])
                if level[leader] <= lowest:
                    bottleneck = r
                    break
                leaders.append(leader)
        if bottleneck is not None:
            waiting -= {n for n in waiting if shares[n, bottleneck]}  # (15)
            continue
        if updates == MOST_UPDATES:
            raise ArithmeticError(f"the server procedure made {MOST_UPDATES} updates without an end")
        updates += 1
        # (16), (17): the least users rise at one level, up to where a resource saturates if the leaders leave entirely
        released = set(leaders)
        for n in released:
            free = free + tasks[n] * shares[n]
        rate = sum(shares[n] / per_task[n] for n in least)
        rise = min(free[r] / rate[r] for r in resources if rate[r])
        # (18): the part beta of that update after which the least level meets one that falls, or one that waits
        step = Fraction(1)
        for n in users:
            if n in released:
                step = min(step, (level[n] - lowest) / (rise + tasks[n] * per_task[n]))
            elif n in waiting and level[n] > lowest and rise * step > level[n] - lowest:
                step = (level[n] - lowest) / rise
        change = [Fraction(0)] * len(per_task)
        for n in least:
            change[n] = step * rise / per_task[n]
        for n in released:
            change[n] = -step * tasks[n]
        tasks += change
        totals += change
    return updates


@dataclass
class State:
    """A run of Algorithm I: arrays of floats, or of `Fraction` where it is exact."""

    exact: bool
    shares: NDArray[Any]  # [N, K, R]: what one task of user n takes of class i, 0 where it may not run
    per_task: NDArray[Any]  # [N, K]: 1 / (phi_n gamma_{n,i}), 0 where it may not run
    tasks: NDArray[Any]  # [N, K]
    totals: NDArray[Any]  # [N]

    def __post_init__(self) -> None:
        needs = (self.shares > 0).any(axis=1)
        self._needs, kind = np.unique(needs, axis=0, return_inverse=True)
        self._kind = kind.ravel().astype(np.int64)

    def serve(self, i: int, present: NDArray[np.bool_] | None = None) -> int:
        """Let server `i` have its turn, for the present users only; return 0 if that moved nothing."""
        per_task = self.per_task[:, i].copy()
        if present is not None:
            per_task[~present] = 0
        shares, tasks = self.shares[:, i], self.tasks[:, i].copy()
        if self.exact:
            updates = server_procedure(shares, per_task, tasks, self.totals)
        else:
            no_bound, level = np.full(len(self._needs), np.inf), np.empty(shares.shape[1])
            users = np.ascontiguousarray(shares), per_task, self._needs, self._kind
            filling.fill(*users, tasks, self.totals, no_bound, level, 1.0, np.arange(len(tasks)))
            moved = np.abs(tasks - self.tasks[:, i]) > STILL * np.maximum(tasks, self.totals)
            updates = int(moved.sum())
        self.tasks[:, i] = tasks
        return updates

    def round(self) -> int:
        """Let every server have its turn, in order; return 0 if that moved nothing."""
        updates = sum(self.serve(i) for i in range(self.tasks.shape[1]))
        self.totals = self.tasks.sum(axis=1)
        return updates

    def exact_tasks(self) -> Matrix:
        """Return the tasks of an exact run."""
        return tuple(tuple(Fraction(x) for x in row) for row in self.tasks)


def start(table: Occupation, *, exact: bool) -> State:
    """Return the state in which Algorithm I begins: weighted DRF on each server alone.

    That is one turn of each server as if its users had no tasks elsewhere, since PS-DSF is DRF on a single server.
    """
    users, servers = len(table.weights), len(table.shares[0])
    zero = Fraction(0) if exact else 0.0
    shares = np.full((users, servers, table.width), zero)
    per_task = np.full((users, servers), zero)
    for n, rows in enumerate(table.shares):
        for i, row in enumerate(rows):
            if row is not None:
                shares[n, i] = row
                per_task[n, i] = max(row) / table.weights[n]
    state = State(exact, shares, per_task, np.full((users, servers), zero), np.full(users, zero))
    for i in range(servers):
        state.totals[:] = zero
        state.serve(i)
    state.totals = state.tasks.sum(axis=1)
    return state
