"""The instance on which greedy attains least, of all with so many job types and resources: everything varies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bounds.adversary.budget import INTERRUPTED, Budget, OutOfTimeError
from bounds.adversary.chains import Chain, chains, even_chains, proven_bound
from bounds.adversary.engine import Judged, Space, attack
from bounds.adversary.realise import realise
from bounds.adversary.search import worst_instance
from bounds.adversary.workload import worst_workload
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive

_EVEN_NODES = 4000
"""Branches after which a chain that would attain the bound is left undecided."""

_NODES = 150
"""The same for other chains: most are decided sooner, and there are many."""

_CHAINS = 1500
"""Chains of a stream that are tried."""

_CLIMB = 60
"""Instances that the local search judges."""

_GRID = 240
"""The local search changes demands in units of about this part of a server."""


@dataclass(frozen=True)
class WorstBySize:
    """The worst instance found with so many types and at most so many resources.

    Attributes
    ----------
    types, resources : int
    instance : Instance
        One pool of additive resources.
    ratio : Fraction
        U^(g) / U* of the instance, exact and attained.
    bound : Fraction
        `proven_bound`: no instance with so many types has a smaller ratio.
    chain : Chain or None
        The chain that the instance realises; None where the local search left it.
    refuted, undecided : int
        Chains tried before that no demands realise in so many resources, and that were given up. Counted for the
        number of resources asked for.
    workload_decided : bool
        Whether no workload of the types found is worse.
    complete : bool
        Whether the search ended by itself.
    """

    types: int
    resources: int
    instance: Instance
    ratio: Fraction
    bound: Fraction
    chain: Chain | None
    refuted: int
    undecided: int
    workload_decided: bool
    complete: bool

    @property
    def attained(self) -> bool:
        """Whether the ratio is the bound, so that no instance with so many types is worse."""
        return self.ratio == self.bound


def worst_by_size(types: int, resources: int, *, seed: int = 0, budget: Budget | None = None) -> WorstBySize:
    """Search all additive instances with so many job types and resources for the one on which greedy attains least.

    Parameters
    ----------
    types, resources : int
        At least 1.
    seed : int
        Of the local search. Equal seeds give equal answers, up to the clock.
    budget : Budget, optional
        On its end, or on Ctrl-C, the worst so far is returned with ``complete=False``.

    Notes
    -----
    First the chains that attain the bound (`even_chains`), then all others in order of the ratio they would attain
    (`chains`), for one resource, two, and so on: each is realised or refuted (`realise`). Where the bound is not
    attained, a local search changes demands, with rewards and workload at their worst by exact linear programs
    (`worst_instance`). So the answer is the least value found; it is the least of all where `attained`. Source:
    packproof, "worst by size".

    Examples
    --------
    >>> found = worst_by_size(3, 2)
    >>> found.ratio, found.attained
    (Fraction(19, 27), True)
    """
    search = _Search(types, resources, budget or Budget())
    try:
        search.run(seed)
        complete = True
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        complete = False
    return replace(search.answer(), complete=complete)


class _Search:
    def __init__(self, types: int, resources: int, budget: Budget) -> None:
        self.types, self.resources, self.budget = types, resources, budget
        self.bound = proven_bound(types)
        self.refuted = self.undecided = 0
        self.decided = False
        self.chain: Chain | None = None
        equal = additive([1], [[1]] * types)  # one job a server, all alike: greedy is optimal
        self.instance, self.ratio = equal.with_workload([1] * types), Fraction(1)

    def run(self, seed: int) -> None:
        """Go through the chains, then search near the best, then decide the workload."""
        if (
            self.resources > 1 or self.types <= 2
        ):  # else the bound is not attained, as `one-resource-not-attained` proves
            self._try(even_chains(self.types), self.resources, _EVEN_NODES)
        for resources in range(1, self.resources + 1):
            if self.ratio > self.bound:
                self._try(chains(self.types, resources), resources, _NODES)
        if self.ratio > self.bound:
            self._climb(seed)
        worst = worst_workload(self.instance, self.budget)
        if not worst.complete:
            raise OutOfTimeError
        if worst.ratio < self.ratio:
            self.instance, self.ratio = self.instance.with_workload(worst.workload), worst.ratio
            self.chain = None
        self.decided = True

    def _try(self, stream: Iterator[Chain], resources: int, nodes: int) -> None:
        """Realise the first chain of a stream that can be, as long as it would be worse than the best so far."""
        for number, chain in enumerate(stream):
            if chain.ratio >= self.ratio or number == _CHAINS:
                return
            self.budget.stage = f"{resources} resources, worst ratio {float(self.ratio):.6f}: "
            found = realise(chain, resources, self.budget, nodes=nodes)
            if found.instance is not None:
                self.instance, self.chain = found.instance, chain
                self.ratio = solve(found.instance).ratio
                return
            if resources == self.resources:
                self.refuted += found.decided
                self.undecided += not found.decided

    def _climb(self, seed: int) -> None:
        start, ratio = self.instance, self.ratio
        space = _Demands(start)

        def judge(case: Instance) -> Judged:
            if case == space.start:
                return Judged(ratio, evidence=start)
            worst = worst_instance(case, "all", starts=1, budget=self.budget)
            if not worst.complete:
                raise OutOfTimeError
            return Judged(worst.ratio, evidence=worst.instance)

        found = attack(judge, space, seed=seed, budget=self.budget, evaluations=_CLIMB, shrink=False)
        if found.judged.value < self.ratio:
            self.instance, self.ratio, self.chain = found.judged.evidence, Fraction(found.judged.value), None
        if not found.complete:
            raise OutOfTimeError

    def answer(self) -> WorstBySize:
        """Return what was found so far."""
        return WorstBySize(
            self.types,
            self.resources,
            self.instance,
            self.ratio,
            self.bound,
            self.chain,
            self.refuted,
            self.undecided,
            self.decided,
            complete=False,
        )


class _Demands(Space[Instance]):
    """Instances with other demands: rewards and workload are the judge's."""

    def __init__(self, instance: Instance) -> None:
        space = instance.pools[0].space
        if not isinstance(space, Additive):
            raise TypeError("expected additive resources")
        factors = [-(-_GRID // capacity) for capacity in space.capacity]
        self._capacity = [capacity * f for capacity, f in zip(space.capacity, factors, strict=True)]
        self.start = self._made(instance, [[d * f for d, f in zip(row, factors, strict=True)] for row in space.demands])

    def _made(self, like: Instance, demands: list[list[int]]) -> Instance:
        return additive(self._capacity, demands, like.rewards, like.workload)

    def corners(self) -> Iterator[Instance]:
        """Yield the start."""
        yield self.start

    def draw(self, rng: np.random.Generator) -> Instance:
        """Return an instance several moves from the start."""
        case = self.start
        for _ in range(2 * len(case.types)):
            case = self.move(case, rng)
        return case

    def move(self, case: Instance, rng: np.random.Generator) -> Instance:
        """Change one demand by a few units."""
        space = case.pools[0].space
        demands = [list(row) for row in space.demands] if isinstance(space, Additive) else []
        j, r = int(rng.integers(len(demands))), int(rng.integers(len(self._capacity)))
        step = int(rng.choice([-1, 1])) * int(rng.choice([1, 1, 2, 3, 8, 20]))
        demands[j][r] = min(self._capacity[r], max(0, demands[j][r] + step))
        return self._made(case, demands) if any(demands[j]) else case

    def shrinks(self, case: Instance) -> Iterator[Instance]:
        """Yield nothing simpler than the instance."""
        del case
        return iter(())
