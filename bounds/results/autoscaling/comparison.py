"""What dynamic reservation with preemption compares jobs by."""

from __future__ import annotations

from fractions import Fraction

from bounds.results.instances import additive_space
from theory.instance import Instance


def sizes_of(instance: Instance) -> list[Fraction]:
    """Return the largest share of a resource that a job of each type takes."""
    space = additive_space(instance)
    return [max(Fraction(d, c) for d, c in zip(row, space.capacity, strict=True) if c) for row in space.demands]
