"""More workload can mean less greedy reward with three types (Definition 3.8 of the auto-scaling paper fails).

The guarantee 1 - 1/e holds all the same: the bound read off each greedy run stays below the ratio.
Run ``python -m examples.monotone_property``.
"""

from __future__ import annotations

from fractions import Fraction

from bounds.views import arguments
from packproof import explicit, solve


def main() -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return (computed, theory): greedy rewards before and after workload of the first type is added."""
    types = explicit([[0, 1, 1], [0, 4, 0], [1, 2, 0]], rewards=[8, 3, 10])
    computed = []
    for workload in ([0, Fraction(1, 2), 2], [Fraction(1, 2), Fraction(1, 2), 2]):
        solution = solve(types.with_workload(workload))
        greedy, optimum = solution.greedy.reward, solution.optimal.reward
        guaranteed = float(solution.greedy.guarantee_stagewise)
        computed.append(greedy)
        print(f"workload {', '.join(map(str, workload))}: greedy {greedy}, optimum {optimum},", end=" ")
        print(f"ratio {float(solution.ratio):.4f}, guaranteed {guaranteed:.4f}")
    return tuple(computed), (Fraction(23, 2), Fraction(11))


if __name__ == "__main__":
    arguments(__doc__)
    main()
