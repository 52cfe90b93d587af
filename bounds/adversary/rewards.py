"""The worst rewards for a given greedy run: a linear program over rewards, by its dual, with exact separation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.exact.knapsack import max_weight, weight
from theory.exact.linear import LinearProgram
from theory.exact.solver import Number
from theory.greedy.assignment import GreedyAssignment
from theory.instance import Configuration, Instance
from theory.numbers import to_integers, total


@dataclass(frozen=True)
class Run:
    """A greedy run as rewards see it: its stages of positive length.

    Attributes
    ----------
    configurations : tuple of tuple of Configuration, shape (I, P, J)
    fractions : tuple of Fraction, length I
    types_left : tuple of frozenset of int, length I
        Types whose workload is not exhausted when the stage begins: each configuration is greatest among theirs.
    """

    configurations: tuple[tuple[Configuration, ...], ...]
    fractions: tuple[Fraction, ...]
    types_left: tuple[frozenset[int], ...]


def run_of(instance: Instance, greedy: GreedyAssignment) -> Run:
    """Return the run of a greedy assignment."""
    remaining = list(instance.workload)
    types_left = []
    for stage in greedy.stages:
        types_left.append(frozenset(j for j, amount in enumerate(remaining) if amount))
        for j in range(len(remaining)):
            slots = total(pool.share * k[j] for pool, k in zip(instance.pools, stage.configurations, strict=True))
            remaining[j] -= stage.fraction * slots
    stages = greedy.stages
    return Run(tuple(s.configurations for s in stages), tuple(s.fraction for s in stages), tuple(types_left))


def worst_rewards(instance: Instance, run: Run, served: Sequence[Fraction]) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Find the rewards that make a greedy run worst against an assignment that serves given jobs.

    Minimises greedy's reward while the assignment earns 1 and every greedy configuration stays greatest (ties
    allowed) among the configurations of the types left at its stage.

    Parameters
    ----------
    instance : Instance
        Its pools; its rewards and workload are not used.
    run : Run
    served : sequence of Fraction, shape (J,)
        Jobs per server in service in the assignment; some are positive.

    Returns
    -------
    value : Fraction
        Greedy's reward: the infimum of the ratio over rewards that keep the run.
    rewards : tuple of Fraction, shape (J,)
        At least 0; on ties as a rule, which MaxReward may break the other way.

    Notes
    -----
    Solved by its dual, whose columns are configurations found by `max_weight` on demand, so no configuration is
    listed and every constraint is decided exactly. Source: packproof, "worst rewards".
    """
    width = len(served)
    shares = [pool.share for pool in instance.pools]
    earned = [
        total(
            fraction * share * k[j]
            for ks, fraction in zip(run.configurations, run.fractions, strict=True)
            for share, k in zip(shares, ks, strict=True)
            if k[j]
        )
        for j in range(width)
    ]
    # dual: a row for each type; the free column is the multiplier of the condition that the assignment earns 1
    program = LinearProgram([(None, amount) for amount in earned])
    program.add_columns([1], [dict(enumerate(served))], lower=[None])
    while True:
        vertex = program.solve()
        u = vertex.dual
        integers, _ = to_integers(u)
        columns: list[dict[int, Number]] = []
        for ks, left in zip(run.configurations, run.types_left, strict=True):
            for pool, k in zip(instance.pools, ks, strict=True):
                best = max_weight(pool.space, integers, left)
                # separation: greedy would prefer `best` at these rewards, so its constraint is violated
                if weight(best, u) > weight(k, u):
                    columns.append({j: k[j] - best[j] for j in range(width)})
        if not columns:
            return vertex.objective, u
        program.add_columns([0] * len(columns), columns)


def off_ties(
    served: Sequence[Fraction], target: Sequence[Fraction], strict: Sequence[Fraction], step: Fraction
) -> tuple[Fraction, ...]:
    """Go from rewards on ties a little towards rewards off ties: ``(1 - step) target + step strict``.

    Both are first scaled so that the served jobs, shape (J,), earn 1. A configuration that is greatest at both, and
    alone so at `strict`, is alone greatest in between; the ratio along the run cannot rise.
    """
    a, b = weight(served, target), weight(served, strict)
    return tuple((1 - step) * u / a + step * v / b for u, v in zip(target, strict, strict=True))
