"""Results of packproof on greedy reservation: 1 - 1/e always, tightness, exact worst cases, server pools."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np

from bounds.adversary.search import TOLERANCE, worst_instance
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.instances import PRINTED_TYPES, four_types, random_instance, tight_family, tight_family_additive
from theory.exact.configurations import feasible
from theory.exact.knapsack import max_weight
from theory.greedy.assignment import GreedyAssignment, global_greedy, sequential_greedy
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive, pooled
from theory.numbers import text, total


@claim(
    "always-1-1/e",
    "For every finite down-closed set of configurations greedy keeps 1 - prod(1 - x_i) >= 1 - (1 - 1/I)^I > 1 - "
    "1/e of the optimum; no monotone greedy property is needed. Recursion and mean inequality are identities in "
    "symbols; the stage bounds are dual solutions in closed form, checked over all configurations of random "
    "instances.",
    source="packproof",
    printed="not in the paper: it leaves 1 - 1/e open without the monotone greedy property",
    evidence=Evidence.proved,
    breaks=("sets that are not down-closed",),
)
def always(level: Level, broken: str) -> Outcome:
    """Prove the inequalities and check the dual solutions."""
    import sympy as sp

    best, before, x, reward, n = sp.symbols("U_star F_before x U_i n", positive=True)
    # after stage i: the gap shrinks by 1 - x, and by more where U_i exceeds the gap
    recursion = sp.expand((best - before - x * reward) - ((1 - x) * (best - before) - x * (reward - (best - before))))
    # mean inequality: log(1 - x) lies below its tangent at a = 1/I, and the tangents sum to I log(1 - 1/I)
    a, y = sp.symbols("a y", real=True)
    gap = sp.log(1 - a) - (y - a) / (1 - a) - sp.log(1 - y)
    tangent = sp.simplify(gap.subs(y, a)) == 0 and sp.simplify(sp.diff(gap, y).subs(y, a)) == 0
    convex = sp.simplify(sp.diff(gap, y, 2) - 1 / (1 - y) ** 2) == 0
    limit = sp.limit(1 - (1 - 1 / n) ** n, n, sp.oo) == 1 - sp.exp(-1)
    # (1 - 1/n)^n grows: d/dn n log(1 - 1/n) = log(1 - 1/n) + 1/(n - 1), and log(1 + t) <= t at t = 1/(n - 1)
    derivative = sp.diff(n * sp.log(1 - 1 / n), n) - (sp.log(1 - 1 / n) + 1 / (n - 1))
    grows = sp.simplify(derivative) == 0
    symbols = recursion == 0 and tangent and convex and bool(limit) and grows

    generator = np.random.default_rng(1)
    count = 100 if level is Level.quick else 2000
    bounds = good = 0
    for i in range(count):
        instance = random_instance(generator, pools=1 + i % 3)
        greedy = global_greedy(instance)
        for stage in range(len(greedy.stages)):
            bounds += 1
            good += _stage_bound_is_dual(instance, greedy, stage, down_closed=not broken)
    computed = f"identities {'hold' if symbols else 'fail'}; {good} of {bounds} stage bounds are dual feasible"
    return Outcome(computed, bool(symbols) and good == bounds)


def _stage_bound_is_dual(instance: Instance, greedy: GreedyAssignment, stage: int, *, down_closed: bool) -> bool:
    """Decide that alpha = u on exhausted types, beta = u off them, gamma_p = U(k_p) is dual feasible and at most F + U.

    If not `down_closed`, configurations that hold an exhausted type may not drop it: then the bound must fail.
    """
    u, rho = instance.rewards, instance.workload
    left = list(rho)
    earned = Fraction(0)
    for s in greedy.stages[:stage]:
        for j in range(len(u)):
            left[j] -= s.fraction * total(p.share * k[j] for p, k in zip(instance.pools, s.configurations, strict=True))
        earned += s.fraction * s.reward
    exhausted = {j for j, amount in enumerate(left) if amount == 0}
    beta = [Fraction(0) if j in exhausted and down_closed else u[j] for j in range(len(u))]
    value = total(u[j] * rho[j] for j in exhausted)
    for pool, k in zip(instance.pools, greedy.stages[stage].configurations, strict=True):
        gamma = total(a * b for a, b in zip(u, k, strict=True))
        scale = lcm(*(b.denominator for b in beta))
        prices = np.array([int(b * scale) for b in beta], object)
        if max(feasible(pool.space).astype(object) @ prices) > gamma * scale:
            return False
        value += pool.share * gamma
    return value <= earned + greedy.stages[stage].reward


@claim(
    "tight",
    "The constant 1 - (1 - 1/J)^J is attained with additive resources for J = 2..12 (each greedy configuration "
    "proved greatest by resource prices in closed form), on one resource for J = 2 by demands 5, 7 on 12.",
    source="packproof",
    printed="not in the paper: printed as a limit, exact numbers of Appendix C lost",
    evidence=Evidence.proved,
    breaks=("one shared resource only",),
)
def tight(level: Level, broken: str) -> Outcome:
    """Check the closed-form prices exactly, and solve small members outright."""
    shown = []
    good = True
    for types in range(2, 13):
        instance = tight_family_additive(types)
        if broken:
            space = instance.pools[0].space
            assert isinstance(space, Additive)
            whole = [d[types - 2] for d in space.demands]  # the interval of all types but the last
            instance = additive([space.capacity[0]], [[max(1, d)] for d in whole], instance.rewards, instance.workload)
            good &= _greatest_alone(instance, types)
            continue
        good &= _prices_prove_alone(instance, types)
        ratio = 1 - (1 - Fraction(1, types)) ** types
        # J e_i in the share 1/J of servers each, against (1,..,1,J) everywhere, which serves the whole workload
        greedy = total(Fraction(1, types) * types * instance.rewards[i] for i in range(types))
        best = total(u * rho for u, rho in zip(instance.rewards, instance.workload, strict=True))
        good &= instance.pools[0].space.holds([1] * (types - 1) + [types]) and greedy / best == ratio
        if types <= (4 if level is Level.quick else 5):
            good &= solve(instance).ratio == ratio == solve(tight_family(types)).ratio
            shown.append(f"J={types}: {text(ratio)}")
    two = solve(additive([12], [[5], [7]])).ratio
    good &= two == Fraction(3, 4)
    return Outcome(f"{', '.join(shown)} solved, J <= 12 by prices; 5, 7 on 12: {text(two)}", good)


def _prices_prove_alone(instance: Instance, types: int) -> bool:
    """Decide for every i that no configuration of types i..J earns more than J e_i, by prices of the resources [i, p].

    Prices per unit of capacity 1: c_p = J (u_p - u_{p+1}) for p < J-1, c_{J-1} = J u_{J-1}. The tie with (..,1,..,1,J)
    goes to J e_i by Definition 2.2, because it holds more of type i.
    """
    space, u = instance.pools[0].space, instance.rewards
    assert isinstance(space, Additive)
    intervals = [(a, p) for a in range(1, types) for p in range(a, types)]
    unit = space.capacity[0]
    for i in range(1, types):
        prices = {p: types * (u[p - 1] - u[p]) if p < types - 1 else types * u[types - 2] for p in range(i, types)}
        cost = [
            total(prices[p] * Fraction(space.demands[j][r], unit) for r, (a, p) in enumerate(intervals) if a == i)
            for j in range(types)
        ]
        alone = [types if j == i - 1 else 0 for j in range(types)]
        feasible_dual = all(price >= 0 for price in prices.values()) and all(
            cost[j] >= u[j] for j in range(i - 1, types)
        )
        if not (feasible_dual and total(prices.values()) == types * u[i - 1] and space.holds(alone)):
            return False
    last = [0] * (types - 1) + [types]  # type J alone: its own resource holds J of it and no more
    return space.holds(last) and space.most(types - 1) == types


def _greatest_alone(instance: Instance, types: int) -> bool:
    """Decide that MaxReward of all types is J e_1."""
    scale = lcm(*(u.denominator for u in instance.rewards))
    best = max_weight(instance.pools[0].space, [int(u * scale) for u in instance.rewards])
    return best == (types, *(0,) * (types - 1))


@claim(
    "worst-workload",
    "The exactly worst workload of the paper's four VM types: every order of exhaustion is one exact linear "
    "program; the ratio 449/515 is attained at (48/13, 18/13, 3, 2) per server.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    breaks=("servers have 512 GB",),
)
def exactly_worst(level: Level, broken: str) -> Outcome:
    """Decide it, then solve the instance found."""
    del level
    instance = four_types()
    if broken:
        instance = additive([80, 512], PRINTED_TYPES, instance.rewards)
    worst = worst_workload(instance)
    attained = solve(instance.with_workload(worst.workload)).ratio
    good = worst.complete and attained == worst.ratio == Fraction(449, 515)
    computed = f"{text(worst.ratio)} at ({', '.join(map(text, worst.workload))}), {worst.programs} linear programs"
    return Outcome(computed, good)


@claim(
    "worst-rewards",
    "Workload and rewards together reach 3/4 for demands 5, 7 on 12 and 101/136 for 3, 1, 7 on 12, as infima "
    "attained to within 1e-6 off the ties, whatever the order of the types.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    breaks=("the capacity is another",),
)
def rewards_too(level: Level, broken: str) -> Outcome:
    """Search in several orders of the types."""
    orders = (
        [(3, 1, 7), (7, 3, 1)]
        if level is Level.quick
        else [(3, 1, 7), (3, 7, 1), (1, 3, 7), (1, 7, 3), (7, 1, 3), (7, 3, 1)]
    )
    good, shown = True, []
    for capacity, demands, infimum in [(12, (5, 7), Fraction(3, 4)), (12, (7, 5), Fraction(3, 4))] + [
        (12, order, Fraction(101, 136)) for order in orders
    ]:
        instance = additive([capacity + 2 if broken else capacity], [[d] for d in demands], demands)
        worst = worst_instance(instance, "all", starts=6)
        good &= worst.infimum == infimum and 0 <= worst.ratio - infimum <= TOLERANCE
        good &= solve(worst.instance).ratio == worst.ratio
        shown.append(f"{demands}: {text(worst.infimum)}")
    return Outcome("; ".join(shown), good)


@claim(
    "pools",
    "Ascending in all pools at once, greedy keeps its guarantee over several pools, by the same stage bounds with"
    " one price a pool: exact on random instances.",
    source="packproof",
    printed="the paper postpones several server pools",
    evidence=Evidence.certified,
    breaks=("the pools are filled one after another",),
)
def pools(level: Level, broken: str) -> Outcome:
    """Compare guarantee and ratio."""
    generator = np.random.default_rng(9)
    count = 300 if level is Level.quick else 5000
    violations, least = 0, Fraction(1)
    for _ in range(count):
        instance = random_instance(generator, pools=int(generator.integers(2, 4)))
        solution = solve(instance)
        greedy, best = solution.greedy, solution.optimal.reward
        reward = sequential_greedy(instance) if broken else greedy.reward
        bound = max(greedy.guarantee, greedy.guarantee_stagewise)
        violations += reward < bound * best
        least = min(least, reward / best if best else Fraction(1))
    computed = f"{count} instances, {violations} below the guarantee, least ratio {float(least):.4f}"
    return Outcome(computed, violations == 0)


@claim(
    "sequential-pools",
    "Filling pools one after another keeps exactly half at worst: the worst over a family of two equal pools on "
    "one resource is 1/2 (demands 2, 3, capacities 3, 2), and the optimum never exceeds twice it.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    breaks=("all pools are filled at once",),
)
def sequential(level: Level, broken: str) -> Outcome:
    """Search the family exhaustively."""
    top = 3 if level is Level.quick else 4
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
                reward = global_greedy(instance).reward if broken else sequential_greedy(instance)
                where = f"demands {demands}, capacities {capacities}, workload {'/'.join(map(text, workload))}"
                least = min(least, (reward / solution.optimal.reward, where))
    ratio, where = least
    return Outcome(f"worst ratio {text(ratio)} at {where}", ratio == Fraction(1, 2))
