"""The exactly worst workload of given types, and prices that prove that no workload is worse.

Both solve one linear program for every order in which greedy can exhaust types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from bounds.adversary.budget import INTERRUPTED, Budget, OutOfTimeError
from theory.exact.columns import ConfigurationColumns
from theory.exact.knapsack import weight
from theory.exact.programs import Bound, LinearProgram, Number, Vertex
from theory.greedy.assignment import MaxRewards, Step
from theory.instance import Configuration, Instance
from theory.shown import Shown

CLEARLY = 1e-6  # a bound in floats that is less by this much is not made exact; a mistake costs time, and nothing else


@dataclass(frozen=True, repr=False)
class WorstWorkload(Shown):
    """The workload with the least ratio of greedy to optimal reward.

    Attributes
    ----------
    ratio : Fraction
        Least U^(g) / U* over all workloads, attained; over those searched so far if not `complete`.
    workload : tuple of Fraction, shape (J,)
    exhausted : tuple of int
        The types that greedy exhausts, in order.
    steps : tuple of Step
        What greedy does in each stage, one more than there are exhausted types.
    programs : int
        Linear programs solved.
    complete : bool
        Whether every order was decided; the ratio is then exact.
    """

    ratio: Fraction
    workload: tuple[Fraction, ...]
    exhausted: tuple[int, ...]
    steps: tuple[Step, ...]
    programs: int
    complete: bool


class PathProgram:
    """The linear program of B3: the greedy run along one order of exhausted types, against the optimum.

    Greedy's reward is minimised while the optimum is at least 1; the number of servers t is free (Charnes and Cooper).
    Columns: workload rho, jobs served y, servers t, greedy stages z, optimal configurations x.
    """

    def __init__(self, instance: Instance, rewards: Sequence[Fraction] | None = None) -> None:
        u = instance.rewards if rewards is None else tuple(rewards)
        width, pools = len(u), len(instance.pools)
        self._balance = range(width)
        self._time = 3 * width + pools
        rows: list[tuple[Bound, Bound]] = [(0, None)] * width  # rho - sum of z slots
        rows += [(None, 0)] * width  # y - rho
        rows += [(None, 0)] * width  # y - slots
        rows += [(None, 0)] * pools  # x - share t
        rows += [(0, 0), (1, 1)]  # sum of z - t; u y
        self._program = LinearProgram(rows)
        # rho: offered to greedy, and a bound of y
        self._program.add_columns([0] * width, [{j: 1, width + j: -1} for j in range(width)])
        # y: at most rho, at most the slots of x, and worth 1 in all
        entries: list[dict[int, Number]] = [
            {width + j: 1, 2 * width + j: 1, self._time + 1: u[j]} for j in range(width)
        ]
        self._program.add_columns([0] * width, entries)
        # t, and the stages that follow in a relaxation, which stay 0 unless `relaxed` opens them
        shares: dict[int, Number] = {3 * width + p: -pool.share for p, pool in enumerate(instance.pools)}
        self._program.add_columns([0, 0], [{**shares, self._time: -1}, {self._time: 1}], upper=[None, 0])
        self.width = width
        self._servers, self._rest = 2 * width, 2 * width + 1
        self._columns = ConfigurationColumns(
            self._program,
            [pool.space for pool in instance.pools],
            range(2 * width, 3 * width),
            range(3 * width, 3 * width + pools),
        )
        self._stages: dict[tuple[Configuration, ...], int] = {}
        self._rewards = u

    def push(self, step: Step) -> None:
        """Let greedy use a step: a column of its own for every step, opened here and closed by `pop`."""
        column = self._stages.get(step.configurations)
        if column is None:
            column = self._stages[step.configurations] = self._program.width
            entries: dict[int, Number] = {j: -slots for j, slots in enumerate(step.slots) if slots}
            self._program.add_columns([-weight(step.slots, self._rewards)], [{**entries, self._time: 1}])
        self._program.set_bounds(column, 0, None)

    def pop(self, step: Step) -> None:
        """Close a step."""
        self._program.set_bounds(self._stages[step.configurations], 0, 0)

    def exhaust(self, j: int) -> None:
        """Require that the stages use up the workload of type `j`."""
        self._program.set_row(self._balance[j], 0, 0)

    def release(self, j: int) -> None:
        """Take `exhaust` back."""
        self._program.set_row(self._balance[j], 0, None)

    def forbid(self, j: int) -> None:
        """Keep the workload of type `j` at 0."""
        self._program.set_bounds(j, 0, 0)

    def solve(self) -> Vertex:
        """Return the exact vertex; the worst ratio along the path is minus its objective."""
        return self._columns.solve()

    def better(self, best: Fraction) -> Vertex | None:
        """Return the exact vertex if the worst ratio along the path is below `best`; decided exactly."""
        # a bound in floats may miss: exact multipliers alone let the order be left
        if -self._columns.solve_float() >= best - CLEARLY and self._columns.at_most(-best):
            return None
        vertex = self._columns.solve()
        return vertex if -vertex.objective < best else None

    def relaxation(self, least: Fraction) -> Vertex:
        """Return the vertex of a relaxation of every longer path: what follows earns at least `least` a server.

        Minus its objective is a lower bound on their ratios.
        """
        with self.relaxed(least):
            return self._columns.solve()

    def may_beat(self, best: Fraction, least: Fraction) -> bool:
        """Return False where the relaxation shows exactly that no longer path has a ratio below `best`.

        Floats are enough to go on, which is never wrong; to stop takes exact multipliers.
        """
        with self.relaxed(least):
            return -self._columns.solve_float() < best - CLEARLY or not self._columns.at_most(-best)

    def prices_in_floats(self) -> tuple[float, list[float]]:
        """Return in floats the worst ratio along the path, and what one more job of each type is worth, shape (J,)."""
        self._columns.solve_float()
        objective, _, dual = self._program.solve_float()
        return -objective, dual[self.width : 2 * self.width].tolist()

    @contextmanager
    def relaxed(self, least: Fraction) -> Iterator[None]:
        """Let what follows the stages earn at least `least` a server, until the context ends."""
        self._program.set_cost(self._rest, -least)
        self._program.set_bounds(self._rest, 0, None)
        try:
            yield
        finally:
            self._program.set_bounds(self._rest, 0, 0)

    def job_prices(self, vertex: Vertex) -> tuple[Fraction, ...]:
        """Return the multipliers of ``y <= rho``, shape (J,): what one more job of each type is worth."""
        return vertex.dual[self.width : 2 * self.width]

    def workload(self, vertex: Vertex) -> tuple[Fraction, ...]:
        """Return the workload per server of a vertex, shape (J,)."""
        servers = vertex.primal[self._servers]
        return tuple(rho / servers for rho in vertex.primal[: self.width])

    def fractions(self, vertex: Vertex, steps: Sequence[Step]) -> tuple[Fraction, ...]:
        """Return the fraction of servers in each step."""
        servers = vertex.primal[self._servers]
        return tuple(vertex.primal[self._stages[step.configurations]] / servers for step in steps)

    def served(self, vertex: Vertex) -> tuple[Fraction, ...]:
        """Return the jobs that the optimum serves, scaled to reward 1, shape (J,)."""
        return vertex.primal[self.width : 2 * self.width]


def worst_workload(instance: Instance, budget: Budget | None = None) -> WorstWorkload:
    """Find the workload at which greedy attains the least share of the optimum, exactly.

    Parameters
    ----------
    instance : Instance
        Types, rewards and pools; its workload is not used.
    budget : Budget, optional
        On its end, or on Ctrl-C, the best so far is returned with ``complete=False``.

    Notes
    -----
    Depth first over the orders in which types can be exhausted; each order is one exact linear program (warm), and a
    branch is left when the exact value of a relaxation shows that it cannot beat the best. At most sum_i J!/(J-i)!
    programs. Source: packproof, "the exactly worst workload".

    Examples
    --------
    >>> from theory.instance import additive
    >>> worst = worst_workload(additive([12], [[5], [7]]))
    >>> worst.ratio, worst.workload, worst.complete
    (Fraction(3, 4), (Fraction(1, 1), Fraction(1, 1)), True)
    """
    Instance.expected(instance)
    search = _Search(instance, budget or Budget())
    try:
        search.run()
        complete = True
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        complete = False
    ratio, workload, exhausted, steps = search.best
    return WorstWorkload(ratio, workload, exhausted, steps, search.programs, complete)


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
    return _Refuter(instance, ratio, budget or Budget()).run()


class Orders:
    """The orders in which greedy can exhaust the types, and the linear program of the one that is visited."""

    def __init__(self, instance: Instance, budget: Budget) -> None:
        self._types = frozenset(range(len(instance.types)))
        self._step_of = MaxRewards(instance)
        self._program = PathProgram(instance)
        self._budget = budget
        self._alone = [self._step_of(frozenset([j])).reward for j in range(len(instance.types))]
        self.programs = 0

    @staticmethod
    def _next(types: frozenset[int], step: Step) -> list[int]:
        """Return the types that greedy can exhaust next: those with slots, unless one type is left."""
        return [j for j in sorted(types) if step.slots[j]] if len(types) > 1 else []

    def _least_after(self, types: frozenset[int]) -> Fraction:
        """Return a lower bound of what a server earns in all later stages: the best of one type alone."""
        return min(self._alone[i] for i in types)


class _Search(Orders):
    def __init__(self, instance: Instance, budget: Budget) -> None:
        super().__init__(instance, budget)
        everything = self._step_of(self._types)
        self.best: tuple[Fraction, tuple[Fraction, ...], tuple[int, ...], tuple[Step, ...]]
        self.best = (Fraction(1), everything.slots, (), (everything,))

    def run(self) -> None:
        """Decide every order."""
        self._visit(self._types, (), ())

    def _visit(self, types: frozenset[int], exhausted: tuple[int, ...], steps: tuple[Step, ...]) -> None:
        """Decide every order that begins with the exhausted types."""
        self._budget.spend(f"{self.programs} linear programs, worst ratio {float(self.best[0]):.6f}")
        step = self._step_of(types)
        self._program.push(step)
        try:
            path = (*steps, step)
            if exhausted:  # with nothing exhausted greedy uses the best configuration alone and is optimal
                self._decide(exhausted, path)
            for j in self._next(types, step):
                self._program.exhaust(j)
                rest = types - {j}
                self.programs += 1
                # bound: whatever greedy does later earns at least what the best single type earns
                if self._program.may_beat(self.best[0], self._least_after(rest)):
                    self._visit(rest, (*exhausted, j), path)
                self._program.release(j)
        finally:
            self._program.pop(step)

    def _decide(self, exhausted: tuple[int, ...], path: tuple[Step, ...]) -> None:
        self.programs += 1
        vertex = self._program.better(self.best[0])
        if vertex is not None:
            self.best = (-vertex.objective, self._program.workload(vertex), exhausted, path)


class _Refuter(Orders):
    def __init__(self, instance: Instance, ratio: Fraction, budget: Budget) -> None:
        super().__init__(instance, budget)
        self._ratio = ratio

    def run(self) -> Refutation:
        """Refute every order."""
        return self._visit(self._types, ())

    def _visit(self, types: frozenset[int], exhausted: tuple[int, ...]) -> Refutation:
        """Refute every order that begins with the exhausted types, and leaves `types`."""
        self.programs += 1
        self._budget.spend(f"{self.programs} orders refuted")
        step = self._step_of(types)
        self._program.push(step)
        # with nothing exhausted greedy uses the best configuration alone and is optimal: prices of 0 show that
        prices = (Fraction(0),) * self._program.width
        if exhausted:
            vertex = self._program.solve()
            if -vertex.objective < self._ratio:
                raise ValueError(f"a workload keeps only {-vertex.objective} of the optimum")
            prices = self._program.job_prices(vertex)
        after: dict[int, Refutation] = {}
        for j in self._next(types, step):
            self._program.exhaust(j)
            rest = types - {j}
            longer = self._program.relaxation(self._least_after(rest))
            # one refutation for all orders that go on like this; else each of them is refuted by itself
            if -longer.objective >= self._ratio:
                after[j] = Refutation(self._program.job_prices(longer), None)
            else:
                after[j] = self._visit(rest, (*exhausted, j))
            self._program.release(j)
        self._program.pop(step)
        return Refutation(prices, after)
