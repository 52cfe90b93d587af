"""Rounds of Algorithm I for large clusters: each turn of a server is one water-filling, over contiguous arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.sharing.reduction import Reduced

AT_ONCE = 20_000_000
"""Pairs of user and server that a call of compiled code looks at, about a second's work at most."""

NEAR_PAIRS = 500_000
"""Pairs of user and server beyond which servers look at all users in some rounds only."""

OFTEN = 32
"""In one of so many."""

WIDE = 1.25
"""In the others at users below this multiple of the bound of `theory.sharing.filling.fill`, and at those with tasks."""

Lists = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where each server's users begin and end, int64[K, 2], in an array of users."""


@dataclass
class Turns:
    """The state of a run in floats.

    Attributes
    ----------
    reduced : Reduced
    division : {"resource", "time"}
    shares : float64[K, N, R]
        Share of each resource of server i that a task of user n takes; R = 1 under time division.
    per_task : float64[K, N]
        1 / (phi_n gamma_{n,i}), 0 where not eligible.
    tasks : float64[K, N]
        Zero at the start.
    level : float64[K, R]
        At which each resource saturated in the server's last turn, infinity where it did not.
    """

    reduced: Reduced
    division: str
    shares: NDArray[np.float64] = field(init=False)
    per_task: NDArray[np.float64] = field(init=False)
    tasks: NDArray[np.float64] = field(init=False)
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
        self._bound = np.full((len(largest), len(self._needs)), -1.0)
        for k in range(len(self._needs)):  # no bound in the first turn; below zero where nobody of the kind is eligible
            self._bound[(largest[:, self._kind == k] > 0).any(axis=1), k] = np.inf
        self.share = cache(self._share)

    def _share(self, n: int, i: int) -> tuple[Fraction, ...]:
        """Return the exact shares that a task of user `n` takes at server `i`."""
        row = self.reduced.share(n, i)
        return (max(row),) if self.division == "time" else row

    def run(self, count: int, part: float = 1.0) -> float:
        """Run rounds in which every server goes `part` of its way; return the largest relative change in the last."""
        from theory.sharing.filling import rounds

        if count > 1:
            self._rounds(rounds, count - 1, part)
        before = self.tasks.sum(axis=0)
        self._rounds(rounds, 1, part)
        after = self.tasks.sum(axis=0)
        return float(np.max(np.abs(after - before) / np.maximum(after, np.finfo(float).tiny)))

    def _rounds(self, rounds: Any, count: int, part: float) -> None:
        """Run rounds, not many at once: Ctrl-C is noticed between calls of compiled code only.

        In the largest clusters most of the time would go to looking at users who stand too high to be given anything.
        There all users are looked at once in `OFTEN` rounds, and in between those who are near.
        """
        servers, pairs = len(self.per_task), self.per_task.size
        everybody = np.tile(np.array([0, pairs // servers]), (servers, 1)), np.arange(pairs // servers)
        done = 0
        while done < count:
            if pairs <= NEAR_PAIRS:
                done += self._looking_at(rounds, everybody, count - done, part)
                continue
            done += self._looking_at(rounds, everybody, 1, part)
            listed = self._near()
            end = min(done + OFTEN - 1, count)
            while done < end:
                done += self._looking_at(rounds, listed, end - done, part)

    def _looking_at(self, rounds: Any, lists: Lists, most: int, part: float) -> int:
        """Run rounds in which servers look at listed users, for about a second; return how many."""
        count = min(most, max(1, AT_ONCE // int((lists[0][:, 1] - lists[0][:, 0]).sum())))
        arrays = (self.shares, self.per_task, self._needs, self._kind, self.tasks, self._bound, self.level)
        rounds(*arrays, count, part, *lists)
        return count

    def _near(self) -> Lists:
        """Return the users that each server looks at until everybody is looked at again."""
        from theory.sharing.filling import near

        first = np.empty((len(self.per_task), 2), np.int64)
        users = np.empty(0, np.int64)
        while (length := near(self.per_task, self._kind, self.tasks, self._bound, WIDE, first, users)) > users.size:
            users = np.empty(length, np.int64)
        return first, users

    def loads(self, tasks: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the load of each resource of each server, float64[K, R], by these tasks or the present ones."""
        made: NDArray[np.float64] = np.einsum("kn,knr->kr", self.tasks if tasks is None else tasks, self.shares)
        return made

    def distance(self, tasks: NDArray[np.float64]) -> float:
        """Return how far tasks are from the condition of Theorem 1: the least eps for which both lines hold.

        Notes
        -----
        No load is above 1 + eps; and every user has, at every eligible server, a resource that it demands, of load at
        least 1 - eps, whose holders stand at most at 1 + eps times its own level. O(N K R).
        """
        load = self.loads(tasks)
        levels = tasks.sum(axis=0) * self.per_task
        worst = max(0.0, float(load.max()) - 1)
        for i, row in enumerate(levels):
            demanded = self.shares[i] > 0
            held = (tasks[i] > 0)[:, None] & demanded
            top = np.where(held, row[:, None], 0.0).max(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                above = top / row[:, None] - 1
            short = np.where(demanded, np.maximum(above, 1 - load[i]), np.inf).min(axis=1)
            eligible = self.per_task[i] > 0
            if eligible.any():
                worst = max(worst, float(short[eligible].max()))
        return worst
