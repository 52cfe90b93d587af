"""What column generation answers, in plain Python: the same program with every configuration as a column."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from theory.exact.programs.linear import LinearProgram
from theory.instance import Additive


def least_servers(
    spaces: Sequence[Additive],
    shares: Sequence[Fraction],
    demand: Sequence[Fraction | int],
    most: Sequence[int] | None = None,
) -> Fraction:
    """Return the least z with ``sum over pools p of sum_k k_j x_{p,k} >= demand_j``, ``sum_k x_{p,k} <= share_p z``.

    With one pool of share 1 these are the least servers, in fractions, that hold the demand; with the workload as the
    demand, z is the traffic intensity. `most` limits the jobs of each type in a configuration.
    """
    types = len(demand)
    program = LinearProgram([*((d, None) for d in demand), *((0, None) for _ in spaces)])
    program.add_columns([-1], [{types + p: share for p, share in enumerate(shares)}])
    for p, space in enumerate(spaces):
        limits = [space.most(j) if most is None else min(space.most(j), most[j]) for j in range(types)]
        for k in product(*(range(limit + 1) for limit in limits)):
            if any(k) and space.holds(k):
                slots = {j: number for j, number in enumerate(k) if number}
                program.add_columns([0], [{**slots, types + p: -1}])
    return -program.solve().objective
