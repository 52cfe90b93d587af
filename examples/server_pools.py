"""Two pools of servers: ascending in both at once keeps 1 - 1/e, filling one after the other only 1/2.

Run ``python -m examples.server_pools [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof import Instance, pooled, sequential_greedy, solve
from packproof.views import Bars, arguments, picture_of_panels

HALF = Fraction(1, 2)
POOLS = pooled([(HALF, [3]), (HALF, [2])], [[2], [3]], rewards=[1, 1], workload=[HALF, HALF])
TITLE = "Two pools, of capacities 3 and 2; two job types, of demands 2 and 3"


def main(picture: str | None = None) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return (computed, theory): the ratios of the sequential and of the simultaneous greedy assignment."""
    solution = solve(POOLS)
    computed = sequential_greedy(POOLS) / solution.optimal.reward, solution.ratio
    print(f"one pool after the other keeps {computed[0]} of the optimum, both at once {computed[1]}")
    if picture is not None:
        picture_of_panels([panel()], picture, TITLE, columns=1, height=1.2)
    return computed, (HALF, Fraction(3, 4))


def panel(instance: Instance = POOLS) -> Bars:
    """Return the rewards of both ways to fill the pools beside the optimum."""
    solution = solve(instance)
    rewards = (sequential_greedy(instance), solution.greedy.reward, solution.optimal.reward)
    names = ("greedy, one pool after the other", "greedy, both at once", "optimal assignment")
    return Bars("reward (per server)", names, [("reward", [float(reward) for reward in rewards])])


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
