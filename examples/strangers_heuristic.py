"""The property-test kit on a stranger's heuristic: every type alone on servers of its own, the dearest first.

Hypothesis looks for an instance on which the rule keeps less than half of the optimum, and finds one.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import find, settings

from packproof import Configuration, Instance
from packproof.testing import check_heuristic, instances
from packproof.views import arguments


def dearest_first(instance: Instance) -> list[tuple[int, Configuration, Fraction]]:
    """Give servers to one type after the other, by reward, until they or the jobs end."""
    room, assignment = Fraction(1), []
    space = instance.pools[0].space
    for j in sorted(range(len(instance.types)), key=lambda j: -instance.rewards[j]):
        alone = tuple(space.most(j) if i == j else 0 for i in range(len(instance.types)))
        share = min(room, instance.workload[j] / space.most(j))
        assignment.append((0, alone, share))
        room -= share
    return assignment


def main() -> Fraction:
    """Print a smallest instance on which the rule is bad, and return its ratio there."""
    bad = find(
        instances(max_types=3, max_resources=2),
        lambda instance: check_heuristic(instance, dearest_first) < Fraction(1, 2),
        settings=settings(max_examples=5000, derandomize=True, deadline=None, database=None),
    )
    ratio = check_heuristic(bad, dearest_first)
    print(f"ratio {ratio} with rewards {[str(u) for u in bad.rewards]}, workload {[str(w) for w in bad.workload]}")
    print(f"capacity and demands: {bad.pools[0].space}")
    return ratio


if __name__ == "__main__":
    arguments(__doc__)
    main()
