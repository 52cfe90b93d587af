"""The worst instance for greedy among all with a given number of job types and of resources: everything varies."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.resources import files

import numpy as np

from bounds.adversary.budget import COMPILES, INTERRUPTED, Budget, OutOfTimeError
from bounds.adversary.chains import Chain, chains, even_chains, proven_bound
from bounds.adversary.engine import Judged, Space, attack
from bounds.adversary.realisation import Realised, realise
from bounds.adversary.search import worst_instance
from bounds.adversary.workload import worst_workload
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive

LEAST_ON_ONE = {3: Fraction(17, 24), 4: Fraction(235, 336), 5: Fraction(571, 819), 6: Fraction(106531, 152915)}
"""What greedy keeps on one resource, servers alike, by number of types.

These are the claims ``packproof/one-resource-three-types``, ``packproof/one-resource-five-types`` and
``packproof/one-resource-six-types``.
"""

EVERY_ON_ONE = Fraction("0.69662")
"""What greedy keeps at least on one resource, servers alike, whatever the number of types.

This is the claim ``packproof/one-resource-anchors``.
"""

LEAST_ON_TWO = {4: Fraction(106, 155)}
"""Less than what greedy keeps on two resources, servers alike: the claim ``packproof/four-types-two-resources``."""

_EVEN_NODES = 1000  # branches after which a chain that would attain the bound is left undecided
_NODES = 400  # the same for other chains: most are decided sooner, and there are many
_CHAINS = 1500  # chains of a stream that are tried
_EXCHANGES = 3000  # changes of a chain in a row that find nothing, after which no more are tried
_NEAR = 0.6  # part of these changes that are small
_CLIMB = 60  # instances that the local search judges
_GRID = 240  # the local search changes demands in units of about this part of a server


@dataclass(frozen=True)
class WorstBySize:
    """The worst instance found with a number of types and at most a number of resources.

    Attributes
    ----------
    types, resources : int
    instance : Instance
        One pool of additive resources.
    ratio : Fraction
        U^(g) / U* of the instance, exact and attained.
    bound : Fraction
        `proven_from_below`: no instance with these numbers of types and resources has a smaller ratio.
    chain : Chain or None
        The chain that the instance realises; None where the local search left it.
    refuted, undecided : int
        Chains tried before that no demands realise, and that were given up; counted for the number of resources asked
        for.
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
        """Whether the ratio is the bound, so that no instance of this size is worse."""
        return self.ratio == self.bound


def worst_by_size(types: int, resources: int, *, seed: int = 0, budget: Budget | None = None) -> WorstBySize:
    """Search all additive instances with these numbers of job types and resources for the worst one for greedy.

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
    (`chains`), for one resource, two, and so on: each is realised or refuted (`realise`); then chains near the best
    one. Where the bound is not attained, a local search changes demands, with rewards and workload at their worst by
    exact linear programs (`worst_instance`). Each of these parts has its share of the time. So the answer is the least
    value found; it is the least of all where `attained`. Source: packproof, "worst by size".

    Examples
    --------
    >>> found = worst_by_size(3, 2)
    >>> found.ratio, found.attained
    (Fraction(19, 27), True)
    """
    search = _Search(types, resources, budget or Budget())
    try:
        search.run(seed)
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        search.complete = False
    return search.answer()


class _Search:
    def __init__(self, types: int, resources: int, budget: Budget) -> None:
        self.types, self.resources, self.budget = types, resources, budget
        self.bound = proven_from_below(types, resources)
        self.refuted = self.undecided = 0
        self.decided, self.complete = False, True
        self.chain: Chain | None
        self.instance, self.chain = _doubling(types)
        if budget.report is not None:
            budget.report(f"starting{COMPILES}")
        self.ratio = solve(self.instance).ratio
        recorded = on_record().get((types, 1))
        if resources == 1 and recorded is not None and recorded[0] < self.ratio:
            self.ratio, self.instance, self.chain = *recorded, None
        self._began = time.monotonic()  # the first instance is solved, and what that needs is compiled

    def run(self, seed: int) -> None:
        """Go through the chains, then search near the best, then decide the workload; each part ends at its time."""
        if self.resources > 1 or self.types <= 2:  # else the bound is not attained (`one-resource-not-attained`)
            self._part(0.3, partial(self._try, even_chains(self.types), self.resources, _EVEN_NODES))
        for r in range(1, self.resources + 1):
            self._part(0.3 + 0.3 * r / self.resources, partial(self._try, chains(self.types, r), r, _NODES))
        self._part(0.85, partial(self._exchange, seed))
        self._part(0.95, partial(self._climb, seed))
        # at the proven bound no workload can be worse
        self.decided = self.ratio == self.bound
        self._part(1.0, self._decide_workload)

    def _part(self, until: float, search: Callable[[Budget], None]) -> None:
        """Search until a part of the time is over, unless the bound is attained already."""
        if self.ratio == self.bound:
            return
        seconds = until * self.budget.seconds - (time.monotonic() - self._began)
        try:
            search(Budget(seconds, self.budget.report, self.budget.stage).begin())
        except OutOfTimeError:
            self.complete = False

    def _decide_workload(self, budget: Budget) -> None:
        worst = worst_workload(self.instance, budget)
        if worst.ratio < self.ratio:
            self.instance, self.ratio, self.chain = self.instance.with_workload(worst.workload), worst.ratio, None
        self.decided = worst.complete
        self.complete &= worst.complete

    def _try(self, stream: Iterator[Chain], resources: int, nodes: int, budget: Budget) -> None:
        """Realise the first chain of a stream that can be, as long as it would be worse than the best so far."""
        for number, chain in enumerate(stream):
            if chain.ratio >= self.ratio or number == _CHAINS:
                return
            realised = self._realised(chain, resources, nodes, budget)
            if realised.instance is not None:
                return
            if resources == self.resources:
                self.refuted += realised.decided
                self.undecided += not realised.decided

    def _exchange(self, seed: int, budget: Budget) -> None:
        """From the best chain go to others with a smaller ratio that can be realised: one or two types change."""
        rng, failures = np.random.default_rng(seed), 0
        tried: set[Chain] = set()
        while self.chain is not None and failures < _EXCHANGES:
            failures += 1
            pairs = list(zip(self.chain.best[:-1], self.chain.alone[:-1], strict=True))
            for i in rng.integers(len(pairs), size=int(rng.integers(1, 3))):
                near = pairs[i][1] + int(rng.integers(-3, 4))
                n = max(2, near) if rng.random() < _NEAR else int(rng.integers(2, 3 * self.types + 1))
                pairs[i] = (1 + int(n % 2 and n > 2 and rng.random() < 0.3), n)
            # as `chains` lists them: n_1 >= n_2 >= ..; the last type has n_J = m_J = 1
            pairs.sort(key=lambda pair: -pair[1])
            chain = Chain((*(n for _, n in pairs), 1), (*(m for m, _ in pairs), 1))
            if chain in tried or sum(chain.fractions[:-1]) >= 1 or chain.ratio >= self.ratio:
                continue
            tried.add(chain)
            if self._realised(chain, self.resources, _NODES, budget).instance is not None:
                failures = 0

    def _realised(self, chain: Chain, resources: int, nodes: int, budget: Budget) -> Realised:
        """Realise a chain, if it can be, and take its instance as the worst so far."""
        budget.stage = f"{resources} resource{'s' * (resources > 1)}, worst ratio {float(self.ratio):.6f}: "
        realised = realise(chain, resources, budget, nodes=nodes)
        if realised.instance is not None:
            self.instance, self.chain, self.ratio = realised.instance, chain, solve(realised.instance).ratio
        return realised

    def _climb(self, seed: int, budget: Budget) -> None:
        start, ratio = self.instance, self.ratio
        space = _Demands(start)

        def judge(case: Instance) -> Judged:
            if case == space.start:
                return Judged(ratio, evidence=start)
            worst = worst_instance(case, "all", starts=1, budget=budget)
            if not worst.complete:
                raise OutOfTimeError
            return Judged(worst.ratio, evidence=worst.instance)

        worst = attack(judge, space, seed=seed, budget=budget, evaluations=_CLIMB, shrink=False)
        if worst.judged.value < self.ratio:
            self.instance, self.ratio, self.chain = worst.judged.evidence, Fraction(worst.judged.value), None
        if not worst.complete:
            budget.spend("local search")  # raises where the time is over
            raise KeyboardInterrupt  # else the search was interrupted

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
            self.complete,
        )


def _doubling(types: int) -> tuple[Instance, Chain]:
    """Return an instance on one resource to begin with: demands N, N + 1, 2 (N + 1), 4 (N + 1), .. for N = 2^(J-1)."""
    n = 2 ** (types - 1)
    demands = [n, *((n + 1) * 2**i for i in range(types - 1))]
    best = (1,) * types
    chain = Chain((n, *(n // 2**i - 1 for i in range(types - 1))), best)
    return additive([sum(demands)], [[d] for d in demands], chain.rewards, best), chain


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


def proven_from_below(types: int, resources: int) -> Fraction:
    """Return the largest share that greedy is proved to keep with these numbers of job types and additive resources.

    Examples
    --------
    >>> proven_from_below(3, 1), proven_from_below(3, 2)
    (Fraction(17, 24), Fraction(19, 27))
    >>> proven_from_below(7, 1)
    Fraction(34831, 50000)
    """
    proven = {1: LEAST_ON_ONE, 2: LEAST_ON_TWO}.get(resources, {})
    least = max(proven_bound(types), EVERY_ON_ONE) if resources == 1 else proven_bound(types)
    return proven.get(types, least)


def on_record() -> dict[tuple[int, int], tuple[Fraction, Instance]]:
    """Return the least ratio on record, and the instance that attains it, by number of types and of resources.

    The claim ``packproof/worst-by-size`` decides each of them again.
    """
    rows = json.loads(files(__package__).joinpath("by_size.json").read_text())
    return {
        (row["types"], row["resources"]): (
            Fraction(row["ratio"]),
            additive(row["capacity"], row["demands"], row["rewards"], row["workload"]),
        )
        for row in rows
    }
