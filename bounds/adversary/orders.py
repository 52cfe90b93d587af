"""Why no workload is worse: prices of jobs that refute every order in which greedy can exhaust the types."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bounds.adversary.budget import Budget
from bounds.adversary.workload import PathProgram
from theory.greedy.assignment import MaxRewards
from theory.instance import Instance


@dataclass(frozen=True)
class Refutation:
    """Prices for the orders that begin with some exhausted types.

    Attributes
    ----------
    prices : tuple of Fraction, shape (J,)
        They show that greedy keeps the ratio where the servers run out in this stage; or, if `after` is None, however
        greedy goes on.
    after : dict of int to Refutation, or None
        For each type that can be exhausted next, the orders that begin with it, too.
    """

    prices: tuple[Fraction, ...]
    after: dict[int, Refutation] | None


def refutation(instance: Instance, ratio: Fraction, budget: Budget | None = None) -> Refutation:
    """Return the prices that show that greedy keeps a ratio of the optimum at every workload.

    Parameters
    ----------
    instance : Instance
        Types, rewards and pools; its workload is not used.
    ratio : Fraction
        At most the least ratio over all workloads (`bounds.adversary.worst_workload`).
    budget : Budget, optional

    Raises
    ------
    ValueError
        A ratio above the least one.
    OutOfTimeError
        At the end of the budget.

    Notes
    -----
    The prices are multipliers of the linear program of one order (`bounds.adversary.workload.PathProgram`). Let E be
    the exhausted types, b_j >= 0 a price for each of them, c_j = max(0, ratio u_j - b_j), and tau the greatest value
    of an average server at slot prices c. If sum_{j in E} b_j s_ij + tau <= U_i for every stage i, with slots s_i and
    reward U_i a server, then ratio times the optimum, with t servers, is at most sum_E b_j rho_j + tau t, and so at
    most greedy's reward, since the stages use up the workload rho_j of E and all servers. At most sum_i J!/(J-i)!
    orders. Source: packproof, "the exactly worst workload".
    """
    return _Refuter(instance, ratio, budget or Budget()).visit(frozenset(range(len(instance.types))), ())


class _Refuter:
    def __init__(self, instance: Instance, ratio: Fraction, budget: Budget) -> None:
        self._step_of = MaxRewards(instance)
        self._program = PathProgram(instance)
        self._ratio = ratio
        self._budget = budget
        self._alone = [self._step_of(frozenset([j])).reward for j in range(len(instance.types))]
        self._nothing = (Fraction(0),) * len(instance.types)
        self._programs = 0

    def visit(self, types: frozenset[int], exhausted: tuple[int, ...]) -> Refutation:
        """Refute every order that begins with the exhausted types, and leaves `types`."""
        self._programs += 1
        self._budget.spend(f"{self._programs} orders refuted")
        step = self._step_of(types)
        self._program.push(step)
        prices = self._nothing  # with nothing exhausted, greedy uses the best configuration alone and is optimal
        if exhausted:
            vertex = self._program.solve()
            if -vertex.objective < self._ratio:
                raise ValueError(f"a workload keeps only {-vertex.objective} of the optimum")
            prices = self._program.job_prices(vertex)
        after: dict[int, Refutation] = {}
        for j in [j for j in sorted(types) if step.slots[j]] if len(types) > 1 else []:
            self._program.exhaust(j)
            rest = types - {j}
            longer = self._program.relaxation(min(self._alone[i] for i in rest))
            if -longer.objective >= self._ratio:
                after[j] = Refutation(self._program.job_prices(longer), None)
            else:
                after[j] = self.visit(rest, (*exhausted, j))
            self._program.release(j)
        self._program.pop(step)
        return Refutation(prices, after)
