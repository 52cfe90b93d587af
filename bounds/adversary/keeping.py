"""Whether greedy keeps a given share of the optimum at every workload, for many choices from the same job types."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bounds.adversary.budget import Budget
from bounds.adversary.workload import Orders
from theory.errors import TooLargeError
from theory.exact.knapsack import maximal
from theory.greedy.assignment import Step
from theory.instance import Instance
from theory.numbers import to_integers

GRID = 2**12
"""Prices are whole multiples of the unit of the rewards divided by this, which costs a ratio less than 0.001."""

REMEMBERED = 12
"""Prices that are remembered for each set of exhausted types, the one that served last first."""

Path = list[tuple[Sequence[int], int]]
"""The stages of a greedy run: jobs of each type on a server, and the reward in units of the prices."""


class Keeping:
    """Decide for choices from the types of one instance whether greedy keeps a ratio at every workload.

    Parameters
    ----------
    instance : Instance
        All the types; one pool, whose servers hold at least one job of each. Its workload is not used.
    ratio : Fraction

    Raises
    ------
    TooLargeError
        Rewards whose common multiples do not fit into 62 bits.

    Notes
    -----
    The inequality is that of `bounds.adversary.workload.refutation`: prices b of the exhausted types E with ``sum_E b_j
    s_ij + tau <= U_i`` in every stage i, tau the greatest value of a server at slot prices max(0, ratio u - b). It is
    decided in whole numbers for prices on a grid. They come from the prices that served another choice with the same
    exhausted types, or from a linear program in floats; only where neither shows anything, an exact program decides.

    A choice also answers for every choice of fewer types: where a type has no work, greedy exhausts it at once, and the
    stages of positive length, with their ties, are those without that type.

    Examples
    --------
    >>> from theory.instance import additive
    >>> instance = additive([12], [[5], [7], [3]])
    >>> Keeping(instance, Fraction(3, 4)).decide([0, 1]), Keeping(instance, Fraction(4, 5)).decide([0, 1])
    (True, False)
    """

    def __init__(self, instance: Instance, ratio: Fraction) -> None:
        (pool,) = instance.pools
        rewards, unit = to_integers(instance.rewards)
        self.instance, self.ratio = instance, ratio
        self.unit = unit / (GRID * ratio.denominator)
        self.wanted = [GRID * ratio.numerator * u for u in rewards]  # ratio u_j in units of the prices
        most = sum(u * pool.space.most(j) for j, u in enumerate(self.wanted))
        if max(most, GRID * ratio.denominator * max(rewards)).bit_length() > 62:
            raise TooLargeError("expected rewards whose common multiples fit into 62 bits")
        self.remembered: dict[frozenset[int], list[dict[int, int]]] = {}

    def decide(self, types: Sequence[int], budget: Budget | None = None) -> bool:
        """Return whether greedy keeps the ratio at every workload of these types, listed in this order."""
        return _Choice(self, types, budget or Budget()).run()


class _Choice(Orders):
    def __init__(self, family: Keeping, types: Sequence[int], budget: Budget) -> None:
        instance = family.instance.reordered(types)
        super().__init__(instance, budget)
        self._family, self._chosen = family, tuple(types)
        self._rows = maximal(instance.pools[0].space).astype(np.int64)
        self._wanted = np.array([family.wanted[j] for j in types], np.int64)

    def run(self) -> bool:
        """Decide every order."""
        return self._visit(self._types, (), [])

    def _visit(self, types: frozenset[int], exhausted: tuple[int, ...], before: Path) -> bool:
        """Decide every order that begins with the exhausted types."""
        self._budget.spend(f"{self.programs} linear programs")
        step = self._step_of(types)
        self._program.push(step)
        path: Path = [*before, self._stage(step)]
        # with nothing exhausted greedy uses the best configuration alone and is optimal
        kept = not exhausted or self._ends(exhausted, path)
        for j in self._next(types, step):
            if not kept:
                break
            self._program.exhaust(j)
            rest = types - {j}
            kept = self._goes_on(rest, (*exhausted, j), path) or self._visit(rest, (*exhausted, j), path)
            self._program.release(j)
        self._program.pop(step)
        return kept

    def _stage(self, step: Step) -> tuple[list[int], int]:
        return [int(slots) for slots in step.slots], int(step.reward / self._family.unit)

    def _ends(self, exhausted: tuple[int, ...], path: Path) -> bool:
        """Decide the order in which the servers run out in the last stage of the path."""
        if self._remembers(exhausted, path) or self._prices_show(exhausted, path):
            return True
        return self._program.better(self._family.ratio) is None

    def _goes_on(self, rest: frozenset[int], exhausted: tuple[int, ...], path: Path) -> bool:
        """Return whether one vector of prices decides all orders that go on after the path."""
        least = self._least_after(rest)
        # what follows, as one more stage without jobs of the exhausted types
        longer: Path = [*path, ([0] * len(self._chosen), int(least / self._family.unit))]
        if self._remembers(exhausted, longer):
            return True
        with self._program.relaxed(least):
            return self._prices_show(exhausted, longer)

    def _remembers(self, exhausted: tuple[int, ...], path: Path) -> bool:
        """Return whether prices that served another choice serve this path."""
        remembered = self._family.remembered.get(frozenset(self._chosen[j] for j in exhausted), [])
        for place, prices in enumerate(remembered):
            if self._suffice([prices[self._chosen[j]] for j in exhausted], exhausted, path):
                remembered.insert(0, remembered.pop(place))
                return True
        return False

    def _prices_show(self, exhausted: tuple[int, ...], path: Path) -> bool:
        """Return whether the prices of the linear program as it is, rounded, serve the path; if so, remember them."""
        self.programs += 1
        attained, multipliers = self._program.prices_in_floats()
        family = self._family
        if not attained >= family.ratio:  # also where there is no optimum
            return False
        # in proportion to the ratio that is asked for, all inequalities have slack
        shrink = float(family.ratio / family.unit) / attained
        prices = [max(0, round(multipliers[j] * shrink)) for j in exhausted]
        if not self._suffice(prices, exhausted, path):
            return False
        named = {self._chosen[j]: price for j, price in zip(exhausted, prices, strict=True)}
        remembered = family.remembered.setdefault(frozenset(named), [])
        remembered.insert(0, named)
        del remembered[REMEMBERED:]
        return True

    def _suffice(self, prices: Sequence[int], exhausted: tuple[int, ...], path: Path) -> bool:
        """Decide the inequality of every stage, in whole numbers."""
        slot_prices = self._wanted.copy()
        for j, price in zip(exhausted, prices, strict=True):
            slot_prices[j] = max(0, slot_prices[j] - price)
        tau = int((self._rows @ slot_prices).max())
        return all(
            sum(price * slots[j] for j, price in zip(exhausted, prices, strict=True)) + tau <= reward
            for slots, reward in path
        )
