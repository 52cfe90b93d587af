"""What the knapsacks answer, in plain Python: every configuration is tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from theory.instance import Additive, Configuration


def configurations(space: Additive) -> Iterator[Configuration]:
    """Yield the feasible configurations in increasing lexicographic order."""
    for k in product(*(range(space.most(j) + 1) for j in range(len(space.demands)))):
        if space.holds(k):
            yield k


def maximal_configurations(space: Additive) -> list[Configuration]:
    """Return the configurations to which no job can be added."""
    every = set(configurations(space))
    return [k for k in sorted(every) if not any((*k[:j], k[j] + 1, *k[j + 1 :]) in every for j in range(len(k)))]


def value(weights: Sequence[int], k: Configuration) -> int:
    """Return the weight of a configuration."""
    return sum(w * slots for w, slots in zip(weights, k, strict=True))


def heaviest(space: Additive, weights: Sequence[int]) -> Configuration:
    """Return MaxReward of Definition 2.2: the greatest by weight, ties by more slots of the first type that differs."""
    return max(configurations(space), key=lambda k: (value(weights, k), k))


def heavier_than(space: Additive, weights: Sequence[int], bound: int, most: Sequence[int]) -> list[Configuration]:
    """Return all configurations worth more than a bound that have at most so many jobs of each type."""
    return [
        k
        for k in configurations(space)
        if value(weights, k) > bound and all(slots <= limit for slots, limit in zip(k, most, strict=True))
    ]
