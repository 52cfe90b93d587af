"""Greedy's guarantee 1 - (1 - 1/J)^J is attained for every number of types J, with additive resources.

Theory: `beyond the auto-scaling paper`, which proves 1/2, or 1 - 1/e under its monotone property (Theorem 3.9), and
gives the family (Proposition 3.10). Run ``python -m examples.tight_family [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction
from math import e

from packproof import solve, tight_family_additive
from packproof.views import Chart, Curve, Line, arguments, picture_of_panels

TITLE = "Families of instances on which greedy keeps its guarantee and no more"


def main(picture: str | None = None, most: int = 8) -> tuple[list[Fraction], list[Fraction]]:
    """Return (computed, theory) for J = 2, ..., `most` types."""
    computed, theory = [], []
    for types in range(2, most + 1):
        computed.append(solve(tight_family_additive(types)).ratio)
        theory.append(1 - (1 - Fraction(1, types)) ** types)
        print(f"J = {types:2}: ratio {computed[-1]} = {float(computed[-1]):.6f}, guarantee {float(theory[-1]):.6f}")
    if picture is not None:
        picture_of_panels([panel(computed)], picture, TITLE, columns=1)
    return computed, theory


def panel(computed: list[Fraction]) -> Chart:
    """Return the ratios, for J from 2 on, beside the guarantee."""
    types = range(2, 2 + len(computed))
    curves = [
        Curve("1 − (1 − 1/J)ᴶ", types, [1 - (1 - 1 / J) ** J for J in types], look="plain"),
        Curve("additive resources", types, [float(one) for one in computed], look="dots"),
    ]
    ticks, least = [(J, str(J)) for J in types], Line("1 − 1/e", 1 - 1 / e)
    return Chart("job types J (number)", "greedy reward / optimum (ratio)", curves, [least], xticks=ticks)


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
