"""Algorithm I: servers take turns to raise their least served users until nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from theory.jit import kernel
from theory.sharing.model import Matrix
from theory.sharing.occupation import Occupation

TOLERANCE = 1e-12
"""Relative tolerance of levels and of saturation in floats; exact runs use 0."""


@kernel
def server_procedure(
    shares: NDArray[Any], per_task: NDArray[Any], tasks: NDArray[Any], totals: NDArray[Any], tolerance: Any, limit: int
) -> int:
    """Run the inner loop of Algorithm I at one server, in place.

    Parameters
    ----------
    shares : [N, R]
        Share of each resource of this server that one task takes; rows of users that may not use it are ignored.
    per_task : [N]
        1 / (phi_n gamma_{n,i}): the weighted virtual dominant share that one task adds; 0 for users that may not use
        the server or are away.
    tasks : [N]
        x_{n,i} at this server; changed.
    totals : [N]
        x_n over all servers; changed.
    tolerance : 0 in exact arithmetic
    limit : int
        Updates after which it gives up.

    Returns
    -------
    int
        Number of updates of the allocation; -1 if `limit` was reached.

    Notes
    -----
    The same source runs compiled on float64 arrays and, as plain Python, on arrays of `Fraction`. An update costs
    O(N R). Source: PS-DSF paper, Algorithm I with (14), (16)-(18); the step beta in closed form.
    """
    count, resources = shares.shape
    one = tolerance + 1
    waiting = per_task > 0
    free = shares[0] * 0
    lead = np.empty(resources, np.int64)
    released = np.zeros(count, np.bool_)
    least = np.zeros(count, np.bool_)
    updates = 0
    while True:
        lowest = -one
        for n in range(count):
            if waiting[n]:
                level = totals[n] * per_task[n]
                if lowest < 0 or level < lowest:
                    lowest = level
        if lowest < 0:
            return updates
        near = lowest * one
        for r in range(resources):
            free[r] = one - tolerance
            lead[r] = -1
        for n in range(count):
            released[n] = False
            least[n] = waiting[n] and totals[n] * per_task[n] <= near
            if tasks[n] > 0:
                for r in range(resources):
                    free[r] -= tasks[n] * shares[n, r]
        # A saturated resource that a least user demands: its bottleneck, or the reason to release somebody (18).
        settled = -1
        for r in range(resources):
            if free[r] > tolerance:
                continue
            wanted = False
            for n in range(count):
                if least[n] and shares[n, r] > 0:
                    wanted = True
                    break
            if not wanted:
                continue
            for n in range(count):
                if tasks[n] * shares[n, r] > tolerance and (
                    lead[r] < 0 or totals[n] * per_task[n] > totals[lead[r]] * per_task[lead[r]]
                ):
                    lead[r] = n
            if lead[r] < 0 or totals[lead[r]] * per_task[lead[r]] <= near:
                settled = r
                break
        if settled >= 0:
            for n in range(count):
                if shares[n, settled] > 0:
                    waiting[n] = False
            continue
        if updates >= limit:
            return -1
        updates += 1
        for r in range(resources):
            if lead[r] >= 0 and not released[lead[r]]:
                released[lead[r]] = True
                for q in range(resources):
                    free[q] += tasks[lead[r]] * shares[lead[r], q]
        rise = -one  # of the least level, if the released users leave entirely
        for r in range(resources):
            rate = free[r] * 0
            for n in range(count):
                if least[n]:
                    rate += shares[n, r] / per_task[n]
            if rate > 0 and (rise < 0 or free[r] / rate < rise):
                rise = free[r] / rate
        step = one - tolerance
        for n in range(count):
            gap = totals[n] * per_task[n] - lowest
            if released[n]:
                step = min(step, gap / (rise + tasks[n] * per_task[n]))
            elif waiting[n] and not least[n] and rise * step > gap:
                step = gap / rise
        for n in range(count):
            change = totals[n] * 0
            if least[n]:
                change = step * rise / per_task[n]
            elif released[n]:
                change = -tasks[n] if step >= 1 - tolerance else -step * tasks[n]
            tasks[n] += change
            totals[n] += change


exact_procedure = getattr(server_procedure, "py_func", server_procedure)
"""`server_procedure` as plain Python, for arrays of `Fraction`."""


def fill_server(shares: NDArray[Any], per_task: NDArray[Any], tolerance: Any) -> NDArray[Any]:
    """Return weighted DRF on one server alone (the start of Algorithm I).

    All users rise at one level; who demands a resource that saturates stops.

    Parameters
    ----------
    shares : [N, R]
    per_task : [N]
        As in `server_procedure`.

    Returns
    -------
    [N]
        Tasks of each user. At most R steps of O(N R).
    """
    tasks = shares[:, 0] * 0
    rising = per_task > 0
    speed = tasks.copy()
    speed[rising] = 1 / per_task[rising]
    free = shares[0] * 0 + 1
    while rising.any():
        rate = (speed[rising, None] * shares[rising]).sum(axis=0)
        used = rate > 0
        height = min(free[used] / rate[used])
        tasks[rising] += height * speed[rising]
        free = free - height * rate
        full = used & (free <= tolerance)
        rising &= ~(shares[:, full] > 0).any(axis=1)
    return tasks


@dataclass
class State:
    """Arrays of a run: floats, or objects that hold `Fraction`.

    Attributes
    ----------
    shares : [N, K, R]
    per_task : [N, K]
        1 / (phi_n gamma_{n,i}), 0 where not eligible.
    tasks : [N, K]
    totals : [N]
    tolerance : 0 or `TOLERANCE`
    """

    shares: NDArray[Any]
    per_task: NDArray[Any]
    tasks: NDArray[Any]
    totals: NDArray[Any]
    tolerance: Any

    def serve(self, i: int, present: NDArray[np.bool_] | None = None, limit: int = 10**6) -> int:
        """Run the server procedure at server `i`, for the present users only; return the number of updates."""
        per_task = self.per_task[:, i].copy()
        if present is not None:
            per_task[~present] = per_task[~present] * 0
        run = server_procedure if self.tolerance else exact_procedure
        tasks = self.tasks[:, i].copy()
        updates = run(self.shares[:, i], per_task, tasks, self.totals, self.tolerance, limit)
        self.tasks[:, i] = tasks
        if updates < 0:
            raise ArithmeticError(f"the server procedure made {limit} updates without an end")
        return cast(int, updates)

    def round(self, part: float | Fraction = 1) -> int:
        """Let every server have its turn and go `part` of the way it would go; return the number of updates."""
        updates = 0
        for i in range(self.tasks.shape[1]):
            before = self.tasks[:, i].copy()
            updates += self.serve(i)
            if part != 1:
                self.tasks[:, i] = before + part * (self.tasks[:, i] - before)
                self.totals = self.tasks.sum(axis=1)
        self.totals = self.tasks.sum(axis=1)
        return updates

    def exact_tasks(self) -> Matrix:
        """Return the tasks of an exact run."""
        return tuple(tuple(Fraction(x) for x in row) for row in self.tasks)


def start(table: Occupation, *, exact: bool, tasks: Sequence[Sequence[Any]] | None = None) -> State:
    """Return the state in which Algorithm I begins: weighted DRF on each server, or the given tasks, shape (N, K).

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> from theory.sharing.occupation import occupation
    >>> state = start(occupation(cluster([[4], [8]], [[1], [2]])), exact=True)
    >>> state.exact_tasks()[0], state.round()
    ((Fraction(2, 1), Fraction(4, 1)), 0)
    """
    n, k = len(table.weights), len(table.shares[0])
    width = next(len(row) for rows in table.shares for row in rows if row is not None)
    kind: Any = object if exact else np.float64
    zero = Fraction(0)
    shares = np.full((n, k, width), zero, dtype=kind)
    per_task = np.full((n, k), zero, dtype=kind)
    for u, rows in enumerate(table.shares):
        for i, row in enumerate(rows):
            if row is not None:
                shares[u, i] = row
                per_task[u, i] = max(row) / table.weights[u]
    tolerance: Any = zero if exact else TOLERANCE
    if tasks is None:
        x = np.stack([fill_server(shares[:, i], per_task[:, i], tolerance) for i in range(k)], axis=1)
    else:
        x = np.array(tasks, dtype=kind)
    return State(shares, per_task, x, x.sum(axis=1), tolerance)
