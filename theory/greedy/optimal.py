"""The optimal assignment of servers to configurations, and its prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.exact.columns import ConfigurationColumns, trimmed
from theory.exact.knapsack import weight
from theory.exact.programs import Bound, LinearProgram
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.instance import Configuration, Instance
from theory.numbers import total
from theory.shown import Shown


@dataclass(frozen=True)
class Column:
    """A share of all servers, from one pool, in one configuration whose slots are all used."""

    pool: int
    configuration: Configuration
    fraction: Fraction


@dataclass(frozen=True)
class OptimalAssignment:
    """An optimal assignment with its dual: U* is both the reward of the columns and the value of the prices.

    Attributes
    ----------
    reward : Fraction
        U*, reward per server.
    columns : tuple of Column
        Sorted by pool and decreasing configuration; the slots they make never exceed the workload, and servers they
        leave out are empty.
    served : tuple of Fraction, shape (J,)
        Jobs in service per server.
    slot_prices : tuple of Fraction, shape (J,)
        beta: what a slot of each type is worth.
    server_prices : tuple of Fraction, length P
        gamma: what one more server of each pool is worth; the greatest slot value of its configurations.
    job_prices : tuple of Fraction, shape (J,)
        alpha = max(0, u - beta): what one more job of each type is worth.
    """

    reward: Fraction
    columns: tuple[Column, ...]
    served: tuple[Fraction, ...]
    slot_prices: tuple[Fraction, ...]
    server_prices: tuple[Fraction, ...]
    job_prices: tuple[Fraction, ...]


class AssignmentProgram:
    """The linear program of the optimal assignment, whose solver starts from the last basis when the workload changes.

    ``max sum u_j y_j`` with ``y_j <= rho_j``, ``y_j <= sum k_j x_k``, ``sum x_k <= share`` in each pool.

    Parameters
    ----------
    instance : Instance
        Rewards and pools are fixed; its workload is the default of `solve`.

    Notes
    -----
    All maximal configurations are columns where there are few; beyond, column generation with exact pricing, so the
    optimum is over all configurations either way. Source: auto-scaling paper, the normalised program of Section 3.

    Examples
    --------
    >>> from theory.instance import additive
    >>> program = AssignmentProgram(additive([12], [[5], [7]]))
    >>> program.solve().reward, program.solve([Fraction(1, 2), Fraction(1, 2)]).reward
    (Fraction(2, 1), Fraction(1, 1))
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        width = len(instance.types)
        # rows: y_j - sum k_j x_k <= 0 of each type, then sum x_k <= share of each pool; y_j <= rho_j are bounds
        rows: list[tuple[Bound, Bound]] = [(None, 0)] * width
        rows += [(None, pool.share) for pool in instance.pools]
        self._program = LinearProgram(rows)
        self._program.add_columns(instance.rewards, [{j: 1} for j in range(width)], upper=list(instance.workload))
        pool_rows = range(width, width + len(instance.pools))
        spaces = [pool.space for pool in instance.pools]
        self._columns = ConfigurationColumns(self._program, spaces, range(width), pool_rows)

    def suggest(self, greedy: GreedyAssignment) -> None:
        """Offer the greedy configurations as first columns."""
        for stage in greedy.stages:
            for p, k in enumerate(stage.configurations):
                self._columns.add(p, [k])

    def solve(self, workload: Sequence[Fraction] | None = None) -> OptimalAssignment:
        """Return the optimal assignment for a workload, shape (J,), exactly."""
        u = self._instance.rewards
        rho = self._offer(workload)
        vertex = self._columns.solve()
        width = len(u)
        beta = [
            # a slot's price is free above its reward, and anywhere without workload: one choice makes it canonical
            min(vertex.dual[j], u[j]) if rho[j] else Fraction(0)
            for j in range(width)
        ]
        gamma = vertex.dual[width:]
        served = vertex.primal[:width]
        columns = trimmed(self._columns.amounts(vertex.primal), served)
        alpha = tuple(max(Fraction(0), reward - price) for reward, price in zip(u, beta, strict=True))
        # strong duality: sum u_j y_j = sum alpha_j rho_j + sum gamma_p share_p
        value = weight(served, u)
        assert value == total(a * r for a, r in zip(alpha, rho, strict=True)) + total(
            g * pool.share for g, pool in zip(gamma, self._instance.pools, strict=True)
        ), "the dual does not meet the primal"
        return OptimalAssignment(
            value, tuple(Column(*column) for column in columns), served, tuple(beta), tuple(gamma), alpha
        )

    def approximate(self, workload: Sequence[Fraction] | None = None) -> float:
        """Return the optimal reward for a workload in floats only: numeric, a few times faster than `solve`."""
        self._offer(workload)
        return self._columns.solve_float()

    def _offer(self, workload: Sequence[Fraction] | None) -> tuple[Fraction, ...]:
        rho = self._instance.workload if workload is None else tuple(map(Fraction, workload))
        for j, bound in enumerate(rho):
            self._program.set_bounds(j, 0, bound)
        return rho


def optimal_assignment(instance: Instance, greedy: GreedyAssignment | None = None) -> OptimalAssignment:
    """Return the optimal assignment of an instance, exactly.

    Parameters
    ----------
    instance : Instance
    greedy : GreedyAssignment, optional
        Of the same instance, to start from.

    Examples
    --------
    >>> from theory.instance import additive
    >>> best = optimal_assignment(additive([12], [[5], [7]]))
    >>> best.reward, best.columns
    (Fraction(2, 1), (Column(pool=0, configuration=(1, 1), fraction=Fraction(1, 1)),))
    """
    program = AssignmentProgram(instance)
    if greedy is not None:
        program.suggest(greedy)
    return program.solve()


@dataclass(frozen=True, repr=False)
class Solution(Shown):
    """Greedy beside the optimum.

    Attributes
    ----------
    instance : Instance
    greedy : GreedyAssignment
    optimal : OptimalAssignment
    """

    instance: Instance
    greedy: GreedyAssignment
    optimal: OptimalAssignment

    @property
    def ratio(self) -> Fraction:
        """U^(g) / U*, or 1 if the optimum is 0."""
        return self.greedy.reward / self.optimal.reward if self.optimal.reward else Fraction(1)

    def __repr__(self) -> str:
        """Return the ratio and both rewards on one line.

        >>> from theory.instance import additive
        >>> solve(additive([12], [[5], [7]]))
        Solution(ratio=3/4, greedy.reward=3/2, optimal.reward=2, types=2)
        """
        rewards = f"greedy.reward={self.greedy.reward}, optimal.reward={self.optimal.reward}"
        return f"Solution(ratio={self.ratio}, {rewards}, types={len(self.instance.types)})"


def solve(instance: Instance) -> Solution:
    """Return the greedy and the optimal assignment of an instance, both exact.

    Examples
    --------
    >>> from theory.instance import additive
    >>> solve(additive([12], [[5], [7]])).ratio
    Fraction(3, 4)
    """
    Instance.expected(instance)
    greedy = global_greedy(instance)
    return Solution(instance, greedy, optimal_assignment(instance, greedy))
