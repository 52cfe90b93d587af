"""Workload and rewards at their worst together, for given demands: an infimum, approached off the ties.

Two types of 5 and 7 units on servers of 12 reach the bound 3/4 for two types. Three of 3, 1 and 7 units come to
101/136, in every order of the types. Run ``python -m examples.worst_rewards [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof import additive, worst_instance
from packproof.views import Chart, Curve, Line, arguments, picture_of_panels

TITLE = "Two types, of demands 5 and d on servers of 12: the least ratio over rewards and workload"


def main(picture: str | None = None) -> tuple[list[Fraction], list[Fraction]]:
    """Return (computed, theory): the infima of the ratio for both servers."""
    computed = []
    for demands in ([5, 7], [3, 1, 7]):
        worst = worst_instance(additive([12], [[demand] for demand in demands]), "all")
        computed.append(worst.infimum)
        rewards = ", ".join(f"{float(u):.6g}" for u in worst.instance.rewards)
        workload = ", ".join(f"{float(rho):.6g}" for rho in worst.instance.workload)
        print(f"demands {demands}: {worst.infimum} approached, {float(worst.ratio):.7f} attained")
        print(f"  with rewards {rewards} and workload {workload}")
    if picture is not None:
        picture_of_panels([panel()], picture, TITLE, columns=1)
    return computed, [Fraction(3, 4), Fraction(101, 136)]


def panel() -> Chart:
    """Return the infima for demands 5 and d on servers of 12, by d."""
    second = range(1, 13)
    infima = [float(worst_instance(additive([12], [[5], [d]]), "all").infimum) for d in second]
    curves = [Curve("worst rewards and workload", second, infima, look="marks")]
    bound = Line("3/4, bound for two types", 0.75)
    return Chart("demand d of the second type (units)", "greedy reward / optimum (ratio)", curves, [bound])


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
