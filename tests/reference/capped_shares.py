"""Fair shares of users with caps, from the definition: in floats, by programs and by steps, without exact arithmetic.

An allocation is max-min fair if no user's level can rise, within capacities and caps, without that of a user who is no
higher falling. `levels_by_programs` looks for these levels as the definition says: who can rise at all, one program a
user. `drf_in_steps` is progressive filling on one server, as DRF's authors tell it: a small step for every user that
still rises.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from theory.sharing.model import Cluster

FREE = 1e-7


def loads(cluster: Cluster) -> tuple[list[tuple[int, int]], NDArray[np.float64], NDArray[np.float64]]:
    """Return the pairs of user and class where tasks may run, the rows of capacities and caps over them, and bounds."""
    pairs = [(n, i) for n, row in enumerate(cluster.monopoly) for i, most in enumerate(row) if most]
    rows, bounds = [], []
    for i, capacity in enumerate(cluster.capacity):
        for r, amount in enumerate(capacity):
            if amount:
                rows.append([float(cluster.use(n, i)[r] / amount) if j == i else 0.0 for n, j in pairs])
                bounds.append(1.0)
    for m, user in enumerate(cluster.users):
        if user.most_tasks is not None:
            rows.append([float(n == m) for n, _ in pairs])
            bounds.append(float(user.most_tasks))
    return pairs, np.array(rows), np.array(bounds)


def levels_by_programs(cluster: Cluster, unit: Sequence[float]) -> list[float]:
    """Return the max-min fair totals x_n, levels being x_n / unit_n."""
    pairs, rows, bounds = loads(cluster)
    users = len(cluster.users)
    of_user = np.array([[(n == m) / unit[m] for n, _ in pairs] for m in range(users)])
    fixed: dict[int, float] = {}

    def most(goal: NDArray[np.float64], least: NDArray[np.float64], *, common: bool) -> float:
        """Return the greatest level of `goal` with levels of at least `least`, or the greatest common level."""
        rising = np.array([[float(common and m not in fixed)] for m in range(users)])
        above = np.hstack([-of_user, rising])
        left = np.vstack([np.hstack([rows, np.zeros((len(rows), 1))]), above])
        right = np.concatenate([bounds, -least])
        cost = np.concatenate([-goal, [-1.0 if common else 0.0]])
        solution = linprog(cost, A_ub=left, b_ub=right, method="highs")
        assert solution.status == 0, solution.message
        return float(-solution.fun)

    while len(fixed) < users:
        least = np.array([fixed.get(m, 0.0) * (1 - 1e-10) for m in range(users)])
        level = most(np.zeros(len(pairs)), least, common=True)
        least = np.array([fixed.get(m, level) * (1 - 1e-10) for m in range(users)])
        stuck = [
            m for m in range(users) if m not in fixed and most(of_user[m], least, common=False) < level * (1 + FREE)
        ]
        assert stuck, "a user must be stuck at the greatest common level"
        fixed |= dict.fromkeys(stuck, level)
    return [fixed[m] * unit[m] for m in range(users)]


def drf_in_steps(cluster: Cluster, steps: int) -> list[float]:
    """Return the totals of DRF on one server, filled in steps of 1/`steps` of a weighted dominant share."""
    (capacity,) = cluster.capacity
    share = np.array(
        [[float(d / c) if d else 0.0 for d, c in zip(u.demand, capacity, strict=True)] for u in cluster.users]
    )
    speed = np.array([float(user.weight) for user in cluster.users]) / share.max(axis=1) / steps
    tasks, rising = np.zeros(len(speed)), set(range(len(speed)))
    while rising:
        for n in sorted(rising):
            cap = cluster.users[n].most_tasks
            more = tasks + speed[n] * (np.arange(len(speed)) == n)
            if (more @ share).max() > 1 or (cap is not None and more[n] > cap):
                rising.discard(n)
            else:
                tasks = more
    return [float(x) for x in tasks]
