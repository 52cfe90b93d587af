"""The policies without reservation that Section 7.2 of the auto-scaling paper compares: counts in lists, fractions.

Power of two choices is that of the text: it picks two servers and attempts to schedule the job in the least loaded one.
First-Fit takes the first server with room, Best-Fit the fullest by mean load over the resources. Static reservation has
the slots of the optimal assignment in whole servers by largest remainders, of equals those of the least reward first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from fluid.simulation.driver import sequence
from fluid.simulation.measures import ARRIVAL, REFUSAL
from fluid.simulation.state import Setting
from theory.greedy.optimal import optimal_assignment
from theory.instance import Additive, Configuration
from theory.numbers import total

SEED = 1
"""The seed of the runs that are followed: power of two choices draws what the policy draws."""


class Unreserved(ABC):
    """Follows a run, and counts the events that the rule of a policy does not allow; `allowed` is the rule."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.wrong, self.row = setting, 0, 0
        self.spaces = [setting.instance.pools[p].space for p in setting.pool]
        self.jobs = [[0] * len(setting.instance.types) for _ in self.spaces]

    def __call__(self, _state: Any, _jobs: Any, measures: Any) -> None:
        """Check the event that has just happened."""
        row, self.row = self.row, int(measures.logged[0])
        ((kind, j, server),) = measures.log[row : self.row, 1:4].astype(int).tolist()
        if kind not in (ARRIVAL, REFUSAL):
            self.jobs[server][j] -= 1
            return
        allowed = self.allowed(j)
        self.wrong += server not in allowed if kind == ARRIVAL else bool(allowed)
        if kind == ARRIVAL:
            self.jobs[server][j] += 1

    @abstractmethod
    def allowed(self, j: int) -> list[int]:
        """Return the servers on which the rule may place a job of type j; it is refused if there is none."""

    def fitting(self, j: int) -> list[int]:
        """Return the servers that can hold one more job of type j."""
        return [
            s for s, space in enumerate(self.spaces) if space.holds([n + (i == j) for i, n in enumerate(self.jobs[s])])
        ]

    def load(self, s: int) -> Fraction:
        """Return the share of a server that is in use, averaged over its resources."""
        space = self.spaces[s]
        assert isinstance(space, Additive)
        uses = zip(*space.demands, strict=True)
        shares = [
            Fraction(sum(n * d for n, d in zip(self.jobs[s], column, strict=True)), c)
            for column, c in zip(uses, space.capacity, strict=True)
            if c
        ]
        return total(shares) / len(shares)


class FirstFit(Unreserved):
    """The first server with room."""

    def allowed(self, j: int) -> list[int]:
        """Return the first server that fits."""
        return self.fitting(j)[:1]


class LastFit(Unreserved):
    """Wrong: the last server with room."""

    def allowed(self, j: int) -> list[int]:
        """Return the last server that fits."""
        return self.fitting(j)[-1:]


class BestFit(Unreserved):
    """The fullest servers with room."""

    def allowed(self, j: int) -> list[int]:
        """Return the servers of the greatest load among those that fit."""
        loads = {s: self.load(s) for s in self.fitting(j)}
        return [s for s, load in loads.items() if load == max(loads.values())]


class WorstFit(Unreserved):
    """Wrong: the emptiest servers with room."""

    def allowed(self, j: int) -> list[int]:
        """Return the servers of the least load among those that fit."""
        loads = {s: self.load(s) for s in self.fitting(j)}
        return [s for s, load in loads.items() if load == min(loads.values())]


class PowerOfTwo(Unreserved):
    """The least loaded of two servers, which are drawn as the policy draws them, if the job fits there."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.draws = np.random.default_rng(sequence(SEED).spawn(3)[1])

    def allowed(self, j: int) -> list[int]:
        """Return the server that is tried, if it fits."""
        tried = self.tried([int(self.draws.random() * len(self.jobs)) for _ in range(2)])
        return [tried] if tried in self.fitting(j) else []

    def tried(self, sampled: list[int]) -> int:
        """Return which of the sampled servers is tried."""
        return min(sampled, key=self.load)


class MostLoadedOfTwo(PowerOfTwo):
    """Wrong: the most loaded of two servers is tried."""

    def tried(self, sampled: list[int]) -> int:
        """Return the most loaded of the sampled servers."""
        return max(sampled, key=self.load)


class Static(Unreserved):
    """As many jobs of a type as the optimal assignment has slots for it."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.slots = optimal_slots(setting)

    def allowed(self, j: int) -> list[int]:
        """Return the servers that fit, as long as a slot of the type is free."""
        return self.fitting(j) if sum(on[j] for on in self.jobs) < self.slots[j] else []


class StaticWithASlotLess(Static):
    """Wrong: a slot less of each type."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.slots = [slots - 1 for slots in self.slots]


def optimal_slots(setting: Setting) -> list[int]:
    """Return the slots of each type in the optimal assignment, in whole servers by largest remainders."""
    instance, slots = setting.instance, [0] * len(setting.instance.types)
    for p, (pool, servers) in enumerate(zip(instance.pools, setting.pool_sizes, strict=True)):
        columns = [c for c in optimal_assignment(instance).columns if c.pool == p]
        exact: list[tuple[Configuration, Fraction]] = [
            (c.configuration, servers * c.fraction / pool.share) for c in columns
        ]
        exact.append(((0,) * len(slots), servers - total(x for _, x in exact)))  # those that the optimum leaves idle
        numbers = [int(x) for _, x in exact]
        rewards = [total(a * b for a, b in zip(k, instance.rewards, strict=True)) for k, _ in exact]
        order = sorted(range(len(exact)), key=lambda i: (numbers[i] - exact[i][1], rewards[i], exact[i][0]))
        for i in order[: servers - sum(numbers)]:
            numbers[i] += 1
        slots = [n + sum(k[j] * m for (k, _), m in zip(exact, numbers, strict=True)) for j, n in enumerate(slots)]
    return slots
