"""Results of packproof on greedy reservation: exact worst cases, server pools, the worst instances of each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

from bounds.adversary.by_size import on_record, proven_from_below
from bounds.adversary.chains import even_chains, proven_bound
from bounds.adversary.realisation import realise
from bounds.adversary.search import TOLERANCE, worst_instance
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Outcome, claim
from bounds.results.autoscaling.guarantees import cloud, power_grows
from bounds.results.instances.drawn import additive_space, random_instance
from bounds.results.instances.families import one_resource_family
from bounds.results.instances.papers import PRINTED_TYPES, SERVER, price
from bounds.results.packproof.constant import recursion_holds
from bounds.results.reproduction import drawing
from bounds.views.panels import Panel
from theory.errors import expect_number
from theory.greedy.assignment import global_greedy, sequential_greedy
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive, pooled
from theory.numbers import text, total


@claim(
    "worst-workload",
    "Worst workload in the paper's order: exactly 449/515",
    "The exactly worst workload of the paper's four VM types: for each order in which types are listed, every order of "
    "exhaustion is one exact linear program. The order of the list matters, because ties go to types listed first: in "
    "the paper's order the least ratio is 449/515, attained at (48/13, 18/13, 3, 2) jobs per server of (1, 1), "
    "(4, 16), (2, 32), (32, 256). It is 11047/12679, attained at (39/10, 27/20, 3, 2) of the same, in just the orders "
    "that list (4, 16) before both (1, 1) and (2, 32), and no order has less.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    tiny={"every": 8},
    controls={
        "servers have 512 GB": {"memory": 512, "every": 4},
        "ties go to types listed last": {"listed_first": False, "every": 4},
    },
)
def exactly_worst(every: int = 1, memory: int = SERVER[1], *, listed_first: bool = True) -> Outcome:
    """Decide it in every order of the list, then solve the instances found."""
    expect_number(every, "every", 1)
    paper = ("48/13", "18/13", "3", "2")
    expected = {True: (Fraction(11047, 12679), ("39/10", "27/20", "3", "2")), False: (Fraction(449, 515), paper)}
    orders = list(permutations(range(4)))
    good, worst_of = True, []
    for order in orders[::every]:
        types = [PRINTED_TYPES[j] for j in order]
        instance = additive((SERVER[0], memory), types, [price(*t) for t in types])
        worst = worst_workload(instance)
        attained = solve(instance.with_workload(worst.workload)).ratio
        where = tuple(text(worst.workload[order.index(j)]) for j in range(4))
        place = order.index if listed_first else order[::-1].index
        early = place(1) < min(place(0), place(2))
        good &= worst.complete and attained == worst.ratio and (worst.ratio, where) == expected[early]
        worst_of.append((worst.ratio, where))
    shown = (f"{text(r)} at ({', '.join(w)}) in {worst_of.count((r, w))}" for r, w in sorted(set(worst_of)))
    computed = f"{len(worst_of)} orders: {'; '.join(shown)}; {'as' if good else 'not as'} the order of the list says"
    return Outcome(computed, good)


@claim(
    "worst-rewards",
    "Worst rewards and workloads give 3/4 and 101/136",
    "Workload and rewards together reach 3/4 for demands 5, 7 on 12 and 101/136 for 3, 1, 7 on 12, as infima "
    "attained to within 1e-6 off the ties, whatever the order of the types.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    tiny={"orders": 1},
    full={"orders": 6},
    controls={"the capacity is another": {"capacity": 14, "orders": 1}},
)
def rewards_too(orders: int = 2, *, capacity: int = 12) -> Outcome:
    expect_number(orders, "orders", 1, 6)
    every: list[tuple[int, ...]] = [(3, 1, 7), (7, 3, 1), (3, 7, 1), (1, 3, 7), (1, 7, 3), (7, 1, 3)]
    good, shown = True, []
    for demands in [(5, 7), (7, 5), *every[:orders]]:
        infimum = Fraction(3, 4) if len(demands) == 2 else Fraction(101, 136)
        instance = additive([capacity], [[d] for d in demands], demands)
        worst = worst_instance(instance, "all", starts=6)
        good &= worst.infimum == infimum and 0 <= worst.ratio - infimum <= TOLERANCE
        good &= solve(worst.instance).ratio == worst.ratio
        shown.append(f"{demands}: {text(worst.infimum)}")
    return Outcome("; ".join(shown), good)


@claim(
    "pools",
    "Joint greedy over pools attains 1-(1-1/m)^m",
    "Ascending in all pools at once, greedy attains 1 - prod(1 - x_i) of every assignment over any number of pools, "
    "x_i the fractions of its stages, and 1 - (1 - 1/m)^m for every m that is at least the number of stages or of "
    "types. Beside the theorem, guarantee and ratio are compared exactly on random instances of two and three pools.",
    source="packproof",
    printed="the paper postpones several server pools",
    evidence=Evidence.formal,
    tiny={"count": 60},
    full={"count": 5000},
    controls={"the pools are filled one after another": {"at_once": False}},
    theorems=("Greedy.greedy_keeps_product", "Greedy.greedy_keeps", "Existence.greedy_run_exists"),
)
def pools(count: int = 300, seed: int = 9, *, at_once: bool = True) -> Outcome:
    expect_number(count, "count", 1)
    generator = np.random.default_rng(seed)
    violations, least = 0, Fraction(1)
    for _ in range(count):
        instance = random_instance(generator, pools=int(generator.integers(2, 4)))
        solution = solve(instance)
        greedy, best = solution.greedy, solution.optimal.reward
        reward = greedy.reward if at_once else sequential_greedy(instance)
        bound = max(greedy.guarantee, greedy.guarantee_stagewise)
        violations += reward < bound * best
        least = min(least, reward / best if best else Fraction(1))
    computed = f"{count} instances, {violations} below the guarantee, least ratio {float(least):.4f}"
    return Outcome(computed, violations == 0)


@drawing("Three pools of servers, filled at once", "pools", height=2.9)
def three_pools() -> Sequence[Panel]:
    return [cloud(pools=3)]


@claim(
    "sequential-pools",
    "Filling pools one after another attains exactly half",
    "Filling pools one after another, each by greedy on what is left, attains at least half of every assignment, and "
    "no more on two pools with demands 2, 3 and capacities 3, 2. Beside the theorem, the worst over a family of two "
    "equal pools on one resource is searched exhaustively.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.formal,
    full={"top": 4},
    controls={"all pools are filled at once": {"at_once": True}},
    theorems=("Sequential.sequential_half", "Sequential.sequential_half_attained"),
)
def sequential(top: int = 3, *, at_once: bool = False) -> Outcome:
    expect_number(top, "top", 3)  # the family has the instance that keeps a half
    least: tuple[Fraction, str] = (Fraction(1), "")
    loads = (Fraction(0), Fraction(1, 2), Fraction(1))
    for demands in product(range(1, top + 1), repeat=2):
        for capacities in product(range(1, top + 1), repeat=2):
            if max(demands) > max(capacities):
                continue
            base = pooled([(1, [c]) for c in capacities], [[d] for d in demands])
            for workload in product(loads, repeat=2):
                instance = base.with_workload(workload)
                solution = solve(instance)
                if not solution.optimal.reward:
                    continue
                reward = global_greedy(instance).reward if at_once else sequential_greedy(instance)
                where = f"demands {demands}, capacities {capacities}, workload {'/'.join(map(text, workload))}"
                least = min(least, (reward / solution.optimal.reward, where))
    ratio, where = least
    return Outcome(f"worst ratio {text(ratio)} at {where}", ratio == Fraction(1, 2))


def _as_it_is(instance: Instance) -> Instance:
    return instance


def _of_many_units(instance: Instance) -> Instance:
    """Return the member of the family with 2^n units for each unit that a job takes, which is wrong."""
    n = len(instance.types) - 1
    demands = [[2**n], *([2 ** (j + n)] for j in range(n))]
    return additive(additive_space(instance).capacity, demands, instance.rewards, instance.workload)


def _one_unit_more(instance: Instance) -> Instance:
    """Return an instance with one unit more of each resource on the server."""
    space = additive_space(instance)
    return additive([c + 1 for c in space.capacity], space.demands, instance.rewards, instance.workload)


@claim(
    "one-resource-family",
    "A one-resource family's ratios fall to 0.69665",
    "One resource, J >= 2 types, n = J - 1: greedy attains exactly 1 - (2^-n + sum of 1/(2^k - 1), k = 2..n) / 2 of "
    "the optimum of the family of `one_resource_family`, where ties go to more jobs of the first type (Definition "
    "2.2). Beside the theorem: the code solves J = 2..8; and the share falls with J, to a limit that exact sums "
    "enclose in (0.696652, 0.696653): (3 - E)/2, E the sum of all 1/(2^k - 1). So no constant above 0.696653 is "
    "attained on one resource for all J.",
    source="packproof",
    printed="not in the paper: its family of Proposition 3.10 has arbitrary sets of configurations",
    evidence=Evidence.formal,
    full={"most": 12},
    controls={
        "every job takes 2^n of its units": {"change": _of_many_units},
        "one unit more on the server": {"change": _one_unit_more},
    },
    theorems=("OneResource.one_resource_keeps",),
)
def one_resource_share(most: int = 8, *, change: Callable[[Instance], Instance] = _as_it_is) -> Outcome:
    """Solve members, and enclose the limit: the terms after the n-th sum to less than 2 / (2^n - 1)."""
    expect_number(most, "most", 2)

    def lost(n: int) -> Fraction:
        return Fraction(1, 2**n) + total(Fraction(1, 2**k - 1) for k in range(2, n + 1))

    agreeing, shown = 0, []
    for types in range(2, most + 1):
        ratio = solve(change(one_resource_family(types))).ratio
        agreeing += ratio == 1 - lost(types - 1) / 2
        shown.append(text(ratio) if types < 6 else f"{float(ratio):.6f}")
    shares = [1 - lost(n) / 2 for n in range(1, 41)]
    falls = all(a > b for a, b in pairwise(shares))
    limit = (shares[-1] - Fraction(1, 2**40 - 1), shares[-1])
    enclosed = Fraction("0.696652") < limit[0] < limit[1] < Fraction("0.696653")
    computed = f"ratios from J = 2 on: {', '.join(shown)}, {agreeing} as proved; the limit is {float(limit[1]):.9f}"
    return Outcome(computed, agreeing == len(shown) and falls and enclosed)


@claim(
    "one-resource-not-attained",
    "One resource: 1-(1-1/J)^J is not tight for J>2",
    "With one additive resource, servers all alike and J >= 3 job types, greedy attains more than 1 - (1 - 1/J)^J of "
    "the optimum on every instance with a positive optimum: the bound is not attained. It is not the infimum "
    "either (`one-resource-three-types`, `one-resource-five-types`; more types: `one-resource-all-types`). Every "
    "inequality of the proof is an identity in symbols whose sign is read off.",
    source="packproof",
    printed="not in the paper: its family of Proposition 3.10 has arbitrary sets of configurations",
    evidence=Evidence.proved,
    controls={
        "two types": {"least_types": 2},
        "any number of jobs alone": {"least_alone": 1},
        "jobs of half the size": {"smaller": 2},
    },
    proof="greedy.md#one-resource",
)
def one_resource(*, least_types: int = 3, least_alone: int | None = None, smaller: int = 1) -> Outcome:
    """Decide the identities and the signs of the proof in symbols."""
    import sympy as sp

    best, before = sp.symbols("U_star F_before", positive=True)
    t, s, r = sp.symbols("t s r", nonnegative=True)
    y = sp.symbols("y", positive=True)
    concave = sp.simplify(sp.diff(sp.log(1 - y), y, 2) + 1 / (1 - y) ** 2) == 0
    j = s + least_types
    geometric = sp.simplify((best - (before + (best - before) / j)) - (1 - 1 / j) * (best - before)) == 0
    steps = all((recursion_holds(), concave, power_grows(), geometric))

    alone = t + (j if least_alone is None else least_alone)  # n_i
    each = alone / j / (smaller * (alone + 1))
    last = (1 + r) / (smaller * (2 + r))
    signs = {
        "one of the first types takes 1/(J+1) at least": each - 1 / (j + 1),
        "the last type takes 1/2 at least": last - sp.Rational(1, 2),
        "together they take 1 at least": (j - 1) / (j + 1) + sp.Rational(1, 2) - 1,
    }
    failed = [name for name, difference in signs.items() if not _never_negative(difference)]
    computed = f"identities {'hold' if steps else 'fail'}; " + (
        f"not shown: {failed}" if failed else "all signs as said"
    )
    return Outcome(computed, bool(steps) and not failed)


def _never_negative(expression: Any) -> bool:
    """Decide that numerator and denominator have no negative coefficient: enough where all symbols are at least 0."""
    import sympy as sp

    above, below = sp.fraction(sp.cancel(sp.together(expression)))
    if above == 0:
        return True
    symbols = sorted(expression.free_symbols, key=str)
    if not symbols:
        return bool(expression >= 0)
    signs = [{bool(c > 0) for c in sp.Poly(part, *symbols).coeffs()} for part in (above, below)]
    return signs in ([{True}, {True}], [{False}, {False}])


def _reversed(instance: Instance) -> Instance:
    """Return an instance with its types in reverse order, so that ties go to the last type."""
    return instance.reordered(range(len(instance.types))[::-1])


ATTAINED = {2: 1, 3: 2, 4: 3, 5: 4}
"""The fewest resources on which the bound is attained by an instance on record, by number of types."""


@claim(
    "worst-by-size",
    "Recorded worst instances by size have exact ratios",
    "For J = 2..6 job types and at most R = 1..4 resources, the least share of the optimum found is that of an "
    "instance on record; its ratio, greedy against optimum, is decided exactly. It is the bound 1 - (1 - 1/J)^J for "
    "(J, R) = (2, 1), (3, 2), (4, 3), (5, 4) and more resources, and larger elsewhere. Chains that would attain the "
    "bound with at most 2 J jobs of a type alone, and 2 of the last, are realised by no demands for (3, 1) and (4, "
    "2), and, at the full level, for (5, 3). Beside each value the computed answer has the share that is proved from "
    "below, which is that bound, and 17/24, 235/336, 571/819 and 106531/152915 for (3, 1), (4, 1), (5, 1) and (6, 1), "
    "where it is attained too, and 106/155 for (4, 2). The least value found is not shown to be the infimum where the "
    "two differ.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    full={"refuted": (3, 1, 4, 2, 5, 3)},
    controls={
        "types in reverse order": {"change": _reversed},
        "capacity one larger": {"change": _one_unit_more},
        "one more resource": {"more": 1},
    },
)
def by_size(
    *, refuted: tuple[int, ...] = (3, 1, 4, 2), change: Callable[[Instance], Instance] = _as_it_is, more: int = 0
) -> Outcome:
    record = on_record()
    wrong = []
    for (types, resources), (recorded, instance) in record.items():
        ratio = solve(change(instance)).ratio
        space = instance.pools[0].space
        fits = isinstance(space, Additive) and len(space.capacity) <= resources and len(instance.types) == types
        attained = resources >= ATTAINED.get(types, 9)  # never for types that are not in the table
        bound = proven_bound(types)
        below = proven_from_below(types, resources)
        if not fits or ratio != recorded or not bound <= below <= ratio or (ratio == bound) != attained:
            wrong.append((types, resources, text(ratio)))
    complete = set(record) == {(types, resources) for types in range(2, 7) for resources in range(1, 5)}
    sizes = list(zip(refuted[::2], refuted[1::2], strict=True))
    realised = [
        (types, resources, chain.alone)
        for types, resources in sizes
        for chain in even_chains(types)
        if realise(chain, resources + more).instance is not None
    ]
    listed = ", ".join(
        f"{J},{R}: {text(ratio)} ({text(proven_from_below(J, R))})" for (J, R), (ratio, _) in record.items()
    )
    computed = (
        f"least ratios (proved from below) by types and resources: {listed}"
        if not wrong
        else f"other ratios at {wrong[:3]}"
    )
    computed += f"; refuted for {sizes}" if not realised else f"; realised: {realised[:2]}"
    return Outcome(computed, complete and not wrong and not realised)
