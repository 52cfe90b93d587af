"""Greedy's guarantee 1 - (1 - 1/J)^J is attained for every number of types J, with additive resources.

Theory: `beyond the auto-scaling paper`, which proves 1/2, or 1 - 1/e under its monotone property (Theorem 3.9), and
gives the family (Proposition 3.10). Run ``python -m examples.tight_family``.
"""

from __future__ import annotations

from fractions import Fraction

from bounds.views import arguments
from packproof import solve, tight_family_additive


def main(most: int = 8) -> tuple[list[Fraction], list[Fraction]]:
    """Return (computed, theory) for J = 2, ..., `most` types."""
    computed, theory = [], []
    for types in range(2, most + 1):
        computed.append(solve(tight_family_additive(types)).ratio)
        theory.append(1 - (1 - Fraction(1, types)) ** types)
        print(f"J = {types:2}: ratio {computed[-1]} = {float(computed[-1]):.6f}, guarantee {float(theory[-1]):.6f}")
    return computed, theory


if __name__ == "__main__":
    arguments(__doc__)
    main()
