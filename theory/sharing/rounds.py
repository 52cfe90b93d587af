"""Algorithm I: servers take turns to raise their least served users until nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.jit import kernel, plain
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
    one = tolerance + 1
    waiting = per_task > 0
    free = shares[0] * 0
    lead = np.empty(shares.shape[1], np.int64)
    released = np.zeros(per_task.size, np.bool_)
    least = np.zeros(per_task.size, np.bool_)
    updates = 0
    while True:
        lowest = _lowest_level(per_task, totals, waiting, -one)
        if lowest < 0:
            return updates
        near = lowest * one
        for n in range(per_task.size):
            least[n] = waiting[n] and totals[n] * per_task[n] <= near
        _measure_free(shares, tasks, one - tolerance, free)
        bottleneck = _find_bottleneck(shares, per_task, tasks, totals, least, free, near, tolerance, lead)
        if bottleneck >= 0:
            for n in range(per_task.size):
                if shares[n, bottleneck] > 0:
                    waiting[n] = False
            continue
        if updates >= limit:
            return -1
        updates += 1
        _release_leaders(shares, tasks, lead, released, free)
        rise = _greatest_rise(shares, per_task, least, free, -one)
        step = _first_meeting(per_task, tasks, totals, waiting, least, released, lowest, rise, one - tolerance)
        for n in range(per_task.size):
            change = totals[n] * 0
            if least[n]:
                change = step * rise / per_task[n]
            elif released[n]:
                change = -tasks[n] if step >= 1 - tolerance else -step * tasks[n]
            tasks[n] += change
            totals[n] += change


@kernel
def _lowest_level(per_task: NDArray[Any], totals: NDArray[Any], waiting: NDArray[np.bool_], none: Any) -> Any:
    """Return the least weighted virtual dominant share of the waiting users; `none`, which is negative, without any."""
    lowest = none
    for n in range(per_task.size):
        if waiting[n]:
            level = totals[n] * per_task[n]
            if lowest < 0 or level < lowest:
                lowest = level
    return lowest


@kernel
def _measure_free(shares: NDArray[Any], tasks: NDArray[Any], whole: Any, free: NDArray[Any]) -> None:
    """Write the share of each resource that no task takes."""
    for r in range(free.size):
        free[r] = whole
    for n in range(tasks.size):
        if tasks[n] > 0:
            for r in range(free.size):
                free[r] -= tasks[n] * shares[n, r]


@kernel
def _find_bottleneck(
    shares: NDArray[Any],
    per_task: NDArray[Any],
    tasks: NDArray[Any],
    totals: NDArray[Any],
    least: NDArray[np.bool_],
    free: NDArray[Any],
    near: Any,
    tolerance: Any,
    lead: NDArray[np.int64],
) -> int:
    """Return the bottleneck of a least user, or -1.

    A saturated resource that a least user demands is its bottleneck if nobody who uses it stands above that level. If
    somebody does, the highest of them becomes the resource's leader, whose tasks (18) releases; `lead` holds it, and -1
    for the other resources. It is complete only where no bottleneck is found.
    """
    for r in range(free.size):
        lead[r] = -1
    for r in range(free.size):
        if free[r] > tolerance or not _demanded(shares, least, r):
            continue
        for n in range(tasks.size):
            if tasks[n] * shares[n, r] > tolerance and (
                lead[r] < 0 or totals[n] * per_task[n] > totals[lead[r]] * per_task[lead[r]]
            ):
                lead[r] = n
        if lead[r] < 0 or totals[lead[r]] * per_task[lead[r]] <= near:
            return r
    return -1


@kernel
def _demanded(shares: NDArray[Any], least: NDArray[np.bool_], r: int) -> bool:
    """Whether a least user demands resource `r`."""
    for n in range(least.size):  # noqa: SIM110 - compiled
        if least[n] and shares[n, r] > 0:
            return True
    return False


@kernel
def _release_leaders(
    shares: NDArray[Any], tasks: NDArray[Any], lead: NDArray[np.int64], released: NDArray[np.bool_], free: NDArray[Any]
) -> None:
    """Mark each leader once, and count what it holds at this server as free (18)."""
    for n in range(released.size):
        released[n] = False
    for r in range(lead.size):
        if lead[r] >= 0 and not released[lead[r]]:
            released[lead[r]] = True
            for q in range(free.size):
                free[q] += tasks[lead[r]] * shares[lead[r], q]


@kernel
def _greatest_rise(
    shares: NDArray[Any], per_task: NDArray[Any], least: NDArray[np.bool_], free: NDArray[Any], none: Any
) -> Any:
    """Return how far the least level can rise until a resource saturates, if the released users leave entirely (17)."""
    rise = none
    for r in range(free.size):
        rate = free[r] * 0
        for n in range(least.size):
            if least[n]:
                rate += shares[n, r] / per_task[n]
        if rate > 0 and (rise < 0 or free[r] / rate < rise):
            rise = free[r] / rate
    return rise


@kernel
def _first_meeting(
    per_task: NDArray[Any],
    tasks: NDArray[Any],
    totals: NDArray[Any],
    waiting: NDArray[np.bool_],
    least: NDArray[np.bool_],
    released: NDArray[np.bool_],
    lowest: Any,
    rise: Any,
    whole: Any,
) -> Any:
    """Return the part beta of the update after which a level that falls, or waits, is met by the least; at most 1."""
    step = whole
    for n in range(tasks.size):
        gap = totals[n] * per_task[n] - lowest
        if released[n]:
            step = min(step, gap / (rise + tasks[n] * per_task[n]))
        elif waiting[n] and not least[n] and rise * step > gap:
            step = gap / rise
    return step


exact_procedure = plain(server_procedure)
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
        return updates

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
