"""Two pools of servers: ascending in both at once keeps 1 - 1/e, filling one after the other only 1/2.

Run ``python -m examples.server_pools``.
"""

from __future__ import annotations

from fractions import Fraction

from bounds.views import arguments
from packproof import pooled, sequential_greedy, solve


def main() -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return (computed, theory): the ratios of the sequential and of the simultaneous greedy assignment."""
    half = Fraction(1, 2)
    instance = pooled([(half, [3]), (half, [2])], [[2], [3]], rewards=[1, 1], workload=[half, half])
    solution = solve(instance)
    computed = sequential_greedy(instance) / solution.optimal.reward, solution.ratio
    print(f"one pool after the other keeps {computed[0]} of the optimum, both at once {computed[1]}")
    return computed, (half, Fraction(3, 4))


if __name__ == "__main__":
    arguments(__doc__)
    main()
