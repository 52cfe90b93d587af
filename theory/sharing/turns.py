"""Rounds of Algorithm I in floats: each turn of a server is one water-filling, over contiguous arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from theory.sharing import filling
from theory.sharing.reduction import Reduced

AT_ONCE = 20_000_000
"""Pairs of user and server that a call of compiled code looks at, about a second's work at most."""

NEAR_PAIRS = 500_000
"""Pairs of user and server beyond which servers look at all users in some rounds only.

At ten million pairs a round then takes 0.36 of the time, at 900,000 pairs 0.7 of it.
"""

OFTEN = 32
"""They look at all users in one round of this number."""

WIDE = 1.25
"""In the others at users with tasks there, and at those below this multiple of the bound of `filling.fill`."""

Lists = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where each server's users begin and end, int64[K, 2], in an array of users."""


@dataclass
class Turns:
    """The state of a run in floats."""

    reduced: Reduced
    division: str
    weights: NDArray[np.float64] = field(init=False)
    shares: NDArray[np.float64] = field(init=False)  # [K, N, R]: of what a task takes; R = 1 under time division
    per_task: NDArray[np.float64] = field(init=False)  # [K, N]: 1 / (phi_n gamma_{n,i}), 0 where not eligible
    tasks: NDArray[np.float64] = field(init=False)  # [K, N]: zero at the start
    # [K, R]: at which each resource saturated in the server's last turn, infinity where it did not
    level: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.weights = np.array([float(weight) for weight in self.reduced.weights])
        shares = self.reduced.shares
        largest = shares.max(axis=2)
        self.shares = largest[:, :, None].copy() if self.division == "time" else shares
        self.per_task = largest / self.weights
        self.tasks = np.zeros_like(largest)
        self.level = np.full((len(largest), self.shares.shape[2]), np.inf)
        demand = np.array([[d > 0 for d in row] for row in self.reduced.demand])
        needs = np.ones((len(demand), 1), np.bool_) if self.division == "time" else demand
        self._needs, kind = np.unique(needs, axis=0, return_inverse=True)
        self._kind = kind.ravel().astype(np.int64)
        self._bound = np.full((len(largest), len(self._needs)), np.inf)  # none in the first turn
        servers, users = largest.shape
        self._all_users = np.tile(np.array([0, users]), (servers, 1)), np.arange(users)
        self.share = cache(self._share)
        self.tasks_at_level_1 = cache(self._tasks_at_level_1)

    def _share(self, n: int, i: int) -> tuple[Fraction, ...]:
        """Return the exact shares that a task of user `n` takes at server `i`."""
        row = self.reduced.share(n, i)
        return (max(row),) if self.division == "time" else row

    def _tasks_at_level_1(self, n: int, i: int) -> Fraction:
        """Return phi_n gamma_{n,i}, exactly: the tasks x_n of a user whose level at server `i` is 1."""
        return self.reduced.weights[n] / max(self.share(n, i))

    def serve_alone(self) -> None:
        """Give every server a turn as if its users had no tasks elsewhere: weighted DRF on each server alone."""
        users = self._all_users[1]
        for i in range(len(self.tasks)):
            totals = np.zeros(len(users))
            arrays = self.shares[i], self.per_task[i], self._needs, self._kind, self.tasks[i], totals
            filling.fill(*arrays, self._bound[i], self.level[i], 1.0, users)

    def run(self, count: int, part: float = 1.0) -> float:
        """Run rounds in which every server goes `part` of its way; return the largest relative change in the last."""
        if count > 1:
            self._rounds(count - 1, part)
        before = self.tasks.sum(axis=0)
        self._rounds(1, part)
        return self.change_from(before)

    def _rounds(self, count: int, part: float) -> None:
        """Run rounds; in the largest clusters most of them among near users, since the others are too high."""
        if self.tasks.size <= NEAR_PAIRS:
            self._rounds_among(self._all_users, count, part)
            return
        for done in range(0, count, OFTEN):
            self._rounds_among(self._all_users, 1, part)
            if (among_near := min(OFTEN, count - done) - 1) > 0:
                self._rounds_among(self._near(), among_near, part)

    def _rounds_among(self, lists: Lists, count: int, part: float) -> None:
        """Run rounds in which servers look at listed users, few at once: Ctrl-C is noticed between the calls only."""
        few = max(1, AT_ONCE // int((lists[0][:, 1] - lists[0][:, 0]).sum()))
        arrays = self.shares, self.per_task, self._needs, self._kind, self.tasks, self._bound, self.level
        for done in range(0, count, few):
            filling.rounds(*arrays, min(few, count - done), part, *lists)

    def _near(self) -> Lists:
        """Return the users that each server looks at until all users are looked at again."""
        first, users = np.empty((len(self.tasks), 2), np.int64), np.empty(0, np.int64)
        arrays = self.per_task, self._kind, self.tasks, self._bound
        while (length := filling.list_near_users(*arrays, WIDE, first, users)) > users.size:
            users = np.empty(length, np.int64)
        return first, users

    def change_from(self, totals: NDArray[np.float64]) -> float:
        """Return the largest relative change of a user's tasks in all, from the given ones, float64[N]."""
        present = self.tasks.sum(axis=0)
        return float(np.max(np.abs(present - totals) / np.maximum(present, np.finfo(float).tiny)))

    def loads(self, tasks: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the load of each resource of each server, float64[K, R], by these tasks or the present ones."""
        return np.asarray(np.einsum("kn,knr->kr", self.tasks if tasks is None else tasks, self.shares), np.float64)

    def distance(self, tasks: NDArray[np.float64]) -> float:
        """Return how far tasks are from the condition of Theorem 1: the least eps for which both lines hold. O(N K R).

        No load is above 1 + eps; and every user has, at every eligible server, a resource that it demands, of load at
        least 1 - eps, whose holders are at most at 1 + eps times its own level.
        """
        load = self.loads(tasks)
        levels = tasks.sum(axis=0) * self.per_task  # s_{n,i} / phi_n
        worst = max(0.0, float(load.max()) - 1)
        for i, level in enumerate(levels):
            demanded = self.shares[i] > 0
            holds = (tasks[i] > 0)[:, None] & demanded
            top = np.where(holds, level[:, None], 0.0).max(axis=0)  # the highest level of each resource's holders
            with np.errstate(divide="ignore", invalid="ignore"):
                above = top / level[:, None] - 1
            # each demanded resource is a bottleneck up to the greater of the two faults; the best of them counts
            short = np.where(demanded, np.maximum(above, 1 - load[i]), np.inf).min(axis=1)
            eligible = self.per_task[i] > 0
            if eligible.any():
                worst = max(worst, float(short[eligible].max()))
        return worst
