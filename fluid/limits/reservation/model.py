"""What the fluid limit of dynamic reservation is made from: rates, rewards, greedy configurations by set of types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.greedy.assignment import GreedyAssignment, MaxRewards, global_greedy
from theory.instance import Configuration, Instance

Vector = NDArray[np.float64]

MOST = 1e9
"""Largest workload and service rate; their least, but for 0, is the inverse."""

TOLERANCE = 1e-10
"""Masses and jobs that differ by less are equal."""


class Reservation:
    """One pool of servers under dynamic reservation, in floats.

    Parameters
    ----------
    instance : Instance
        One pool; the limit over several is not known.

    Attributes
    ----------
    service : float64[J]
        mu, departures a job and unit of time.
    rewards : float64[J]
    workload : float64[J]
        rho, jobs per server that arrive in a mean service time.
    pace : float
        The largest service rate: its inverse is the unit in which times count as short or long.

    Raises
    ------
    InputError
        Several pools.

    Examples
    --------
    >>> from theory.instance import additive
    >>> model = Reservation(additive([2], [[1], [2]], rewards=[1, 3], workload=[1, "1/2"]))
    >>> model.greedy(0b11), model.greedy(0b01)
    ((0, 1), (2, 0))
    """

    def __init__(self, instance: Instance) -> None:
        if len(instance.pools) > 1:
            raise InputError(
                "server",
                "expected one pool, as the fluid limit over several is not known; packproof solve gives "
                "greedy's reward and the optimum over pools, and packproof simulate --policy dra simulates them",
            )
        for t in instance.types:
            for name, value in (("workload", t.workload), ("service_rate", t.service_rate)):
                if value > MOST or (value and value < 1 / MOST):
                    raise InputError(
                        f"type {t.name}",
                        f"{name}: expected a number from {1 / MOST:g} to {MOST:g}, which floats hold "
                        f"beside the others, got {float(value):g}",
                    )
        self.instance = instance
        self.service: Vector = np.array([float(t.service_rate) for t in instance.types])
        self.rewards: Vector = np.array([float(u) for u in instance.rewards])
        self.workload: Vector = np.array([float(rho) for rho in instance.workload])
        self.pace = float(self.service.max())
        self._max_rewards = MaxRewards(instance)
        self._greedy: dict[int, Configuration] = {}

    @property
    def types(self) -> int:
        """J."""
        return len(self.rewards)

    @cached_property
    def equilibrium(self) -> GreedyAssignment:
        """The global greedy assignment, where every path ends."""
        return global_greedy(self.instance, self._max_rewards)

    def greedy(self, types: int) -> Configuration:
        """Return MaxReward of a set of types, given as a bit mask."""
        configuration = self._greedy.get(types)
        if configuration is None:
            members = frozenset(j for j in range(self.types) if types >> j & 1)
            configuration = self._greedy[types] = self._max_rewards(members).configurations[0]
        return configuration

    def slots_of(self, masses: Iterable[tuple[Configuration, float]]) -> Vector:
        """Return the slots per server that fractions of servers in given configurations make, float64[J]."""
        return np.array(self.listed_slots(masses))

    def listed_slots(self, masses: Iterable[tuple[Configuration, float]]) -> list[float]:
        """Return what `slots_of` returns as a list of length J."""
        slots = [0.0] * len(self.rewards)  # a few short tuples: faster than arrays
        for k, mass in masses:
            if mass:
                for j, number in _held(k):
                    slots[j] += mass * number
        return slots

    def checked(self, configuration: Sequence[int]) -> Configuration:
        """Return a configuration as a tuple; InputError if it does not fit a server."""
        k = tuple(int(slots) for slots in configuration)
        if len(k) != self.types or min(k) < 0 or not self.instance.pools[0].space.holds(k):
            raise InputError(f"configuration {k}: expected one that fits a server")
        return k


@lru_cache(maxsize=4096)
def _held(k: Configuration) -> tuple[tuple[int, int], ...]:
    """Return the types that a configuration has slots of, with their numbers."""
    return tuple((j, number) for j, number in enumerate(k) if number)


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage of the greedy map."""

    configuration: Configuration
    driver: int  # the type whose jobs end the stage; -1 where the servers end it
    mass: float  # its fraction of the servers
    slope: float  # how fast that grows


def plan(model: Reservation, jobs: Vector, velocity: Vector) -> list[PlannedStage]:
    """Return the greedy map at given jobs per server, float64[J], and its derivative along their velocity; O(J^2).

    The velocity is how fast jobs would grow if all arrivals were admitted. The stages have distinct configurations in
    decreasing order, empty ones that do not grow included; the masses sum to 1 at most, and the last stage has no
    driver where the servers end it.

    The construction of Proposition 3.1 on pairs (value, slope) in lexicographic order, so that ties of values are
    broken the way they break a moment later: equations (35)-(37) of the auto-scaling paper.

    >>> import numpy as np
    >>> from theory.instance import additive
    >>> model = Reservation(additive([2], [[1], [2]], rewards=[1, 3]))
    >>> [(s.configuration, s.driver, s.mass) for s in plan(model, np.array([1.0, 0.75]), np.zeros(2))]
    [((0, 1), 1, 0.75), ((2, 0), -1, 0.25)]
    """
    remaining, moving = jobs.tolist(), velocity.tolist()
    types, room, shrinking = (1 << len(remaining)) - 1, 1.0, 0.0
    stages = []
    while types:
        k = model.greedy(types)
        needing = [j for j in range(len(remaining)) if k[j] and types >> j & 1]
        # the stage lasts until its first type is served in full; if several end together, until the slowest to grow
        shortest = min(remaining[j] / k[j] for j in needing)
        tied = [j for j in needing if remaining[j] / k[j] <= shortest + TOLERANCE]
        slowest = min(moving[j] / k[j] for j in tied)
        driver = next(j for j in tied if moving[j] / k[j] <= slowest + TOLERANCE * model.pace)
        mass, slope = max(remaining[driver] / k[driver], 0.0), moving[driver] / k[driver]
        # the last stage takes the servers that are left, and shrinks as fast as the earlier ones grow
        over = mass - room
        if over > TOLERANCE or (over > -TOLERANCE and slope + shrinking >= 0):
            stages.append(PlannedStage(k, -1, max(room, 0.0), -shrinking))
            return stages
        stages.append(PlannedStage(k, driver, mass, slope))
        room -= mass
        shrinking += slope
        for j in needing:
            remaining[j] -= mass * k[j]
            moving[j] -= slope * k[j]
        types &= ~(1 << driver)
    return stages
