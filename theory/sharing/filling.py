"""One turn of a server, as water-filling: what the inner loop of Algorithm I ends with, found at once.

The inner loop at one server moves tasks there until each of its users has a bottleneck there; the tasks on the other
servers stay. Where it ends does not depend on its steps. Suppose two allocations of the server both give every user a
bottleneck, and let n be the user of least level, in either, among those that differ; say in the first, which gives n
less. The holders of its bottleneck in the first have at most that level, so those that differ have more in the second,
and so has n: then the second uses more of that resource than the first, which uses it up. Hence the levels may simply
rise together from zero: a user joins when the level reaches what its tasks elsewhere give it, and stops when a resource
saturates that it demands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel

WIDER = 1.03
"""A turn first looks at the users below this multiple of the levels at which the previous turn ended."""

TINY = 1e-15
"""Less than this part of a user's tasks counts as none."""


@kernel
def fill(
    shares: NDArray[Any],  # float64[N, R]: share of each resource of this server that one task takes
    per_task: NDArray[Any],  # float64[N]: 1 / (phi_n gamma_{n,i}), the level that one task adds; 0 if not eligible
    needs: NDArray[np.bool_],  # [M, R]: what the users of each kind demand
    kind: NDArray[Any],  # int64[N]
    tasks: NDArray[Any],  # float64[N]: x_{n,i}, changed
    totals: NDArray[Any],  # float64[N]: x_n over all servers, changed
    bound: NDArray[Any],  # float64[M]
    level: NDArray[Any],  # float64[R]
    part: float,
    among: NDArray[Any],  # int64[L]
) -> None:
    """Let one server have its turn, in place, among the listed users, which are all that have tasks here and others.

    Tasks move `part` of their way towards the filling; `level` is written: the level at which each resource saturated,
    infinity for the others. Users of a kind whose level by their tasks elsewhere is above their kind's bound are not
    looked at; the bound is widened where that was wrong, and set for the next turn.

    O(L) for the look at L users, and O(m (log m + R) + R^2 m) for the m below their bound, which are few: without
    bounds most of the time would go to sorting users who get nothing.
    """
    chosen = np.empty(among.size, np.int64)
    start = np.empty(among.size)
    leaving = np.empty(among.size, np.int64)
    while True:
        count = leavers = 0
        for n in among:
            elsewhere = (totals[n] - tasks[n]) * per_task[n]
            if elsewhere < bound[kind[n]] and per_task[n] > 0:
                chosen[count] = n
                start[count] = max(elsewhere, 0.0)
                count += 1
            elif tasks[n] > 0:  # it is above the bound without its tasks here
                leaving[leavers] = n
                leavers += 1
        filled = _rise(shares, per_task, needs, kind, chosen[:count], start[:count], level)
        if _covers(needs, level, bound):
            break
    for place in range(count):
        _move(tasks, totals, chosen[place], filled[place], part)
    for n in leaving[:leavers]:
        _move(tasks, totals, n, 0.0, part)


@kernel
def _move(tasks: NDArray[Any], totals: NDArray[Any], n: int, goal: float, part: float) -> None:
    """Move the tasks of a user towards a goal."""
    new = tasks[n] + part * (goal - tasks[n])
    if new <= TINY * totals[n]:
        new = 0.0
    totals[n] += new - tasks[n]
    tasks[n] = new


@kernel
def _rise(
    shares: NDArray[Any],
    per_task: NDArray[Any],
    needs: NDArray[np.bool_],
    kind: NDArray[Any],
    chosen: NDArray[Any],
    start: NDArray[Any],
    level: NDArray[Any],
) -> NDArray[Any]:
    """Raise the chosen users together from their starting levels; return their tasks, and write the levels."""
    # Invariant: at the present height, ``free`` is what is left of each resource, ``rate`` what the rising users take
    # of it for each unit of height (0 once it is saturated), and ``rising[:count]`` are the users who have joined and
    # not stopped. A user who rises from its start to the height has (height - start) / per_task tasks.
    width = shares.shape[1]
    order = np.argsort(start)
    tasks = np.zeros(chosen.size)
    rising = np.empty(chosen.size, np.int64)
    free = np.ones(width)
    rate = np.zeros(width)
    for r in range(width):
        level[r] = np.inf
    height, count, coming = 0.0, 0, 0
    while True:
        first, when = 0, np.inf  # the resource that saturates first if no user joins, and the height
        for r in range(width):
            if rate[r] > 0 and level[r] == np.inf and height + free[r] / rate[r] < when:
                first, when = r, height + free[r] / rate[r]
        while coming < chosen.size and _has_stopped(needs, level, kind[chosen[order[coming]]]):
            coming += 1
        if coming < chosen.size and start[order[coming]] <= when:  # a user joins before
            place = order[coming]
            step = max(start[place] - height, 0.0)
            rising[count] = place
            count += 1
            coming += 1
            for r in range(width):
                free[r] -= step * rate[r]
                rate[r] += shares[chosen[place], r] / per_task[chosen[place]]
            height += step
            continue
        if when == np.inf:
            return tasks
        for r in range(width):
            free[r] -= (when - height) * rate[r]
            rate[r] = 0.0
        height = level[first] = when
        still_rising = 0
        for place in rising[:count]:
            n = chosen[place]
            if needs[kind[n], first]:  # it demands the saturated resource, so it stops
                tasks[place] = (height - start[place]) / per_task[n]
            else:
                rising[still_rising] = place
                still_rising += 1
                for r in range(width):
                    rate[r] += shares[n, r] / per_task[n]
        count = still_rising


@kernel
def _has_stopped(needs: NDArray[np.bool_], level: NDArray[Any], kind: int) -> bool:
    """Whether a resource is saturated that users of this kind demand."""
    return _stop_of(needs, level, kind) < np.inf


@kernel
def _stop_of(needs: NDArray[np.bool_], level: NDArray[Any], kind: int) -> float:
    """Return the level at which users of a kind stop: where the first resource saturates that they demand."""
    stop = np.inf
    for r in range(level.size):
        if needs[kind, r]:
            stop = min(stop, level[r])
    return stop


@kernel
def _covers(needs: NDArray[np.bool_], level: NDArray[Any], bound: NDArray[Any]) -> bool:
    """Whether every kind stopped below its bound; set the bounds for the next turn, or those of a second look."""
    good = True
    for k in range(bound.size):
        if _stop_of(needs, level, k) > bound[k]:  # users above the bound would have joined
            bound[k] = np.inf
            good = False
    if good:
        for k in range(bound.size):
            bound[k] = _stop_of(needs, level, k) * WIDER
    return good


@kernel
def rounds(
    shares: NDArray[Any],
    per_task: NDArray[Any],
    needs: NDArray[np.bool_],
    kind: NDArray[Any],
    tasks: NDArray[Any],
    bound: NDArray[Any],
    level: NDArray[Any],
    count: int,
    part: float,
    first: NDArray[Any],
    users: NDArray[Any],
) -> None:
    """Run rounds in which every server has one turn, in order; the arrays are those of `fill`, of all K servers.

    Server i looks at ``users[first[i, 0] : first[i, 1]]``.
    """
    totals = np.zeros(tasks.shape[1])
    for _ in range(count):
        totals[:] = 0.0  # no rounding error survives a round
        for i in range(tasks.shape[0]):
            for n in users[first[i, 0] : first[i, 1]]:
                totals[n] += tasks[i, n]
        for i in range(tasks.shape[0]):
            among = users[first[i, 0] : first[i, 1]]
            fill(shares[i], per_task[i], needs, kind, tasks[i], totals, bound[i], level[i], part, among)


@kernel
def list_near_users(
    per_task: NDArray[Any],
    kind: NDArray[Any],
    tasks: NDArray[Any],
    bound: NDArray[Any],
    wide: float,
    first: NDArray[Any],
    users: NDArray[Any],
) -> int:
    """List for each server the users with tasks there, and those below `wide` times their bound by tasks elsewhere.

    Writes `first` as in `rounds`, and `users` as far as it is long enough; returns the length that it should have. O(N
    K).
    """
    totals = np.zeros(tasks.shape[1])
    for i in range(tasks.shape[0]):
        totals += tasks[i]
    length = 0
    for i in range(tasks.shape[0]):
        first[i, 0] = length
        for n in range(tasks.shape[1]):
            elsewhere = (totals[n] - tasks[i, n]) * per_task[i, n]
            if tasks[i, n] > 0 or (per_task[i, n] > 0 and elsewhere < wide * bound[i, kind[n]]):
                if length < users.size:
                    users[length] = n
                length += 1
        first[i, 1] = length
    return length
