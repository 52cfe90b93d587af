"""More workload can mean less greedy reward with three types (Definition 3.8 of the auto-scaling paper fails).

The guarantee 1 - 1/e holds all the same: the bound read off each greedy run stays below the ratio.
Run ``python -m examples.monotone_property [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof import explicit, solve
from packproof.views import Chart, Curve, arguments, picture_of_panels

TYPES = explicit([[0, 1, 1], [0, 4, 0], [1, 2, 0]], rewards=[8, 3, 10])
TITLE = "More workload, less greedy reward: three job types"


def main(picture: str | None = None) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return (computed, theory): greedy rewards before and after workload of the first type is added."""
    computed = []
    for workload in ([0, Fraction(1, 2), 2], [Fraction(1, 2), Fraction(1, 2), 2]):
        solution = solve(TYPES.with_workload(workload))
        greedy, optimum = solution.greedy.reward, solution.optimal.reward
        guaranteed = float(solution.greedy.guarantee_stagewise)
        computed.append(greedy)
        print(f"workload {', '.join(map(str, workload))}: greedy {greedy}, optimum {optimum},", end=" ")
        print(f"ratio {float(solution.ratio):.4f}, guaranteed {guaranteed:.4f}")
    if picture is not None:
        picture_of_panels([panel()], picture, TITLE, columns=1)
    return tuple(computed), (Fraction(23, 2), Fraction(11))


def panel() -> Chart:
    """Return both rewards as workload of the first type is added to (0, 1/2, 2)."""
    added = [Fraction(n, 40) for n in range(41)]
    found = [solve(TYPES.with_workload([x, Fraction(1, 2), 2])) for x in added]
    x = [float(one) for one in added]
    curves = [
        Curve("optimal", x, [float(one.optimal.reward) for one in found], look="plain"),
        Curve("greedy", x, [float(one.greedy.reward) for one in found], look="plain"),
    ]
    return Chart("workload of the first type (jobs per server)", "reward (per server)", curves)


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
