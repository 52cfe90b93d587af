"""Greedy with an approximation scheme in place of the best configuration, on one resource, in exact integers.

The best configuration of a server with one resource is an unbounded knapsack. Its table has a cell for each level of
the resource, so that it is too large where levels are fine. The scheme has a table over levels of the reward instead,
whose number depends on the wanted precision alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.errors import ArgumentError, ArgumentTooLargeError, InputError, TooLargeError
from theory.exact.knapsack.configurations import reduced
from theory.exact.knapsack.greatest import widened
from theory.greedy.assignment import GreedyAssignment, MaxRewards, global_greedy
from theory.instance import Additive, Configuration, Instance, Space

FINEST = 2**61
"""Capacity up to which the size of a configuration and a job more stays within 64 bits."""

TABLE_LIMIT = 200_000_000
"""Most levels of the reward times types."""


@dataclass(frozen=True)
class ApproximateSolution:
    """The greedy assignment of an approximate oracle, and the shares of the optimum that are proved for it.

    Attributes
    ----------
    instance : Instance
    epsilon : Fraction
    greedy : GreedyAssignment
        Its `guarantee` and `upper_bounds` are those of exact greedy, and do not hold here.
    """

    instance: Instance
    epsilon: Fraction
    greedy: GreedyAssignment

    @property
    def alpha(self) -> Fraction:
        """The share of the greatest reward that each configuration earns at least: 1/(1 + epsilon)."""
        return 1 / (1 + self.epsilon)

    @property
    def guarantee(self) -> Fraction:
        """Proven share of the optimum by the fractions of the stages, 1 - prod(1 - alpha x_i); 1 if all is served."""
        if self.greedy.serves_all:
            return Fraction(1)
        return 1 - prod((1 - self.alpha * stage.fraction for stage in self.greedy.stages), start=Fraction(1))

    @property
    def guarantee_of_size(self) -> Fraction:
        """Proven share of the optimum for every workload and J types: 1 - (1 - alpha/J)^J."""
        types = len(self.instance.types)
        return 1 - (1 - self.alpha / types) ** types

    @property
    def upper_bound(self) -> Fraction:
        """Upper bound of the optimum: the least F_{i-1} + U_i/alpha, or greedy's reward if all is served."""
        bounds, earned = [], Fraction(0)
        for stage in self.greedy.stages:
            bounds.append(earned + stage.reward / self.alpha)
            earned += stage.fraction * stage.reward
        return earned if self.greedy.serves_all else min(bounds)

    @property
    def guarantee_stagewise(self) -> Fraction:
        """Proven share of the optimum by the best stage."""
        return self.greedy.reward / self.upper_bound if self.upper_bound else Fraction(1)


def solve_approximately(instance: Instance, epsilon: Fraction) -> ApproximateSolution:
    """Run greedy with `near_max_reward` in place of the best configuration.

    Parameters
    ----------
    instance : Instance
        One resource binds on each pool.
    epsilon : Fraction
        Above 0, at most 1: every stage earns at least 1/(1 + epsilon) of the greatest reward.

    Raises
    ------
    InputError
        Another epsilon, several resources, or configurations that are listed.
    TooLargeError
        A table with more than `TABLE_LIMIT` cells times types.

    Notes
    -----
    Greedy keeps 1 - (1 - alpha/J)^J of the optimum with alpha = 1/(1 + epsilon) (the claim
    ``packproof/approximate-greedy``). The larger shares that are proved for one resource are those of exact greedy.

    Examples
    --------
    >>> from theory.instance import additive
    >>> solution = solve_approximately(additive([10**12], [[10**12 // 3], [10**12 // 2 + 1]]), Fraction(1, 100))
    >>> str(solution.greedy.reward), str(solution.guarantee_of_size)
    ('5/3', '7600/10201')
    """
    if not 0 < epsilon <= 1:
        raise ArgumentError("epsilon", f"expected a number above 0 and at most 1, got {epsilon}")
    for pool in instance.pools:
        _on_one_resource(pool.space, pool.name)

    def oracle(space: Space, rewards: Sequence[Fraction | int], types: Iterable[int] | None = None) -> Configuration:
        return near_max_reward(space, rewards, types, epsilon=epsilon)

    return ApproximateSolution(instance, epsilon, global_greedy(instance, MaxRewards(instance, oracle)))


def near_max_reward(
    space: Space, rewards: Sequence[Fraction | int], types: Iterable[int] | None = None, *, epsilon: Fraction
) -> Configuration:
    """Return a configuration that earns at least 1/(1 + epsilon) of the greatest reward of the given types.

    Parameters
    ----------
    space : Additive
        One resource binds.
    rewards : sequence of rational, shape (J,)
    types : iterable of int, optional
        All types where left out.
    epsilon : Fraction
        Above 0.

    Notes
    -----
    Let P be the most that jobs of a single type earn. The greatest reward is at most 2 P: the densest type, of which n
    jobs fit, bounds it by n + 1 of its jobs. With delta = epsilon/(2 (1 + epsilon)) a job is large if it earns at least
    delta P. Rewards of large jobs are rounded down to multiples of the unit delta^2 P, by which they lose a share of
    delta at most; a table has the least size for each multiple. What it leaves of the server is filled with the
    densest type of small jobs, by which less than one small job is lost, delta P. The best level of the table thus
    earns at least 1 - 2 delta = 1/(1 + epsilon) of the greatest reward. O(J/epsilon^2) operations.

    Examples
    --------
    >>> from theory.instance import additive
    >>> near_max_reward(additive([12], [[5], [7]]).pools[0].space, [1, 1], epsilon=Fraction(1, 10))
    (2, 0)
    """
    small = reduced(_on_one_resource(space, "server"), types)
    if not small.types:
        return (0,) * len(rewards)
    (capacity,), sizes = small.capacity, [size for (size,) in small.demands]
    if capacity > FINEST:
        raise TooLargeError(f"a server of {capacity:,} units: the scheme takes at most {FINEST:,}: use coarser units")
    slots = _best(capacity, sizes, [Fraction(rewards[j]) for j in small.types], epsilon / (2 * (1 + epsilon)))
    return widened(small, slots, len(rewards))


def _best(capacity: int, sizes: Sequence[int], worth: Sequence[Fraction], delta: Fraction) -> list[int]:
    """Return the slots of types that fit, with 1 - 2 delta of the greatest reward."""
    alone = max(u * (capacity // size) for u, size in zip(worth, sizes, strict=True))
    large = [i for i, u in enumerate(worth) if u >= delta * alone]
    filler = max((i for i in range(len(worth)) if i not in large), key=lambda i: worth[i] / sizes[i], default=None)
    unit = rounding_unit(delta, alone)
    # no configuration earns more than the densest type would without gaps
    most = max(u / size for u, size in zip(worth, sizes, strict=True)) * capacity
    levels = int(most / unit) + 1
    if levels * len(worth) > TABLE_LIMIT:
        cells = f"{levels:,} levels of the reward for {len(worth)} types"
        raise ArgumentTooLargeError("epsilon", f"{cells} are more than {TABLE_LIMIT:,} cells: use a larger epsilon")
    rounded = np.array([int(worth[i] / unit) for i in large], np.int64)
    size_of, last = least_sizes(levels, capacity, rounded, np.array([sizes[i] for i in large], np.int64))
    slots = [0] * len(worth)
    if filler is None:
        level = int(np.nonzero(size_of <= capacity)[0][-1])
    else:
        level = _best_level(size_of, capacity, unit, sizes[filler], worth[filler])
        slots[filler] = (capacity - int(size_of[level])) // sizes[filler]
    while level:
        slots[large[last[level]]] += 1
        level -= int(rounded[last[level]])
    return slots


def rounding_unit(delta: Fraction, alone: Fraction) -> Fraction:
    """Return the unit to whose multiples rewards of large jobs, of delta P or more, are rounded down: delta^2 P."""
    return delta * delta * alone


@kernel
def least_sizes(
    levels: int, capacity: int, rewards: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least size of jobs that earn each level exactly, int64[levels], and a type of them; C + 1 for none.

    Rewards are at least 1. O(levels n).
    """
    size_of, last = np.full(levels, capacity + 1, np.int64), np.full(levels, -1, np.int64)
    size_of[0] = 0
    for level in range(1, levels):
        for i in range(rewards.size):
            if rewards[i] <= level:
                size = size_of[level - rewards[i]] + sizes[i]
                if size < size_of[level]:
                    size_of[level], last[level] = size, i
    return size_of, last


def _best_level(size_of: NDArray[np.int64], capacity: int, unit: Fraction, size: int, worth: Fraction) -> int:
    """Return the level that earns most where jobs of a size and a reward fill the rest of the server."""
    reached = np.nonzero(size_of <= capacity)[0]
    scale = unit.denominator * worth.denominator
    a_level, a_job = int(unit * scale), int(worth * scale)
    jobs = (capacity - size_of[reached]) // size
    pairs = zip(reached.tolist(), jobs.tolist(), strict=True)
    return max((a_level * level + a_job * n, level) for level, n in pairs)[1]


def _on_one_resource(space: Space, pool: str) -> Additive:
    """Return a space on which one resource binds, and refuse any other."""
    if not isinstance(space, Additive):
        raise InputError(pool, "expected a capacity in one resource for the scheme, got listed configurations")
    resources = len(reduced(space).capacity)
    if resources > 1:
        raise InputError(pool, f"expected one resource that binds for the scheme, got {resources}")
    return space
