"""Claims of the auto-scaling paper (arXiv 2005.13744) that need no dynamics, in the order of its text."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from math import log, sqrt

import numpy as np

from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.claims.instances import (
    collection,
    four_types,
    random_instance,
    small_grid,
    tight_family,
)
from theory.exact.knapsack import max_reward, weight
from theory.greedy.assignment import (
    global_greedy,
    is_permutation_of_proposition_3_1,
    is_permutation_without_clause,
)
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, max_jobs
from theory.greedy.workload_scaling import scaling
from theory.instance import Instance, additive, explicit
from theory.numbers import text, total


@claim(
    "introduction",
    "Types (0.6, 0.6), (0.7, 0.1), (0.1, 0.7) with rewards 4, 3, 3 on a server (1, 1): the best configuration "
    "that holds the first type earns 4, the best of all earns 6.",
    source="Section 1",
    printed="one VM of reward 4, or two of 3 each: 4 against 6",
    evidence=Evidence.certified,
    breaks=("the third type is smaller, so that it fits beside the first",),
)
def introduction(level: Level, broken: str) -> Outcome:
    """Enumerate the rivals."""
    del level
    instance = additive([10, 10], [[6, 6], [7, 1], [1, 4 if broken else 7]], [4, 3, 3])
    space, u = instance.pools[0].space, instance.rewards
    rivals = [k for k in product(range(2), repeat=3) if k[0] and space.holds(k)]
    first = max(weight(k, u) for k in rivals)
    best = weight(max_reward(space, u), u)
    return Outcome(f"{text(first)} against {text(best)}", first == 4 and best == 6)


@claim(
    "prop-3.1",
    "Exactly one permutation satisfies conditions 1) and 2), the second with the clause that configuration i "
    "holds jobs of the later type: all permutations tried on every instance of a family (one resource).",
    source="Proposition 3.1",
    printed="for every workload there is a unique permutation with conditions 1) and 2)",
    evidence=Evidence.proved,
    breaks=("the clause on later types is left out",),
)
def proposition_3_1(level: Level, broken: str) -> Outcome:
    """Exhaust permutations on every small instance."""
    sizes = [(2, 4, 3), (3, 3, 2)] if level is Level.quick else [(2, 6, 4), (3, 4, 2)]
    decide = is_permutation_without_clause if broken else is_permutation_of_proposition_3_1
    instances = failures = 0
    for types, capacity, rewards in sizes:
        for instance in small_grid(types, capacity, rewards):
            instances += 1
            valid = [order for order in permutations(range(types)) if decide(instance, order)]
            failures += valid != [global_greedy(instance).permutation]
    computed = f"{instances:,} instances, {failures} without exactly one permutation, the constructed one"
    return Outcome(computed, failures == 0)


@claim(
    "prop-3.5",
    "The servers of each stage of integer greedy placement, divided by L, converge to the global greedy "
    "assignment, and differ from L times it by at most (K+1)^(i-1) in stage i (Lemma B.1), for L from 10^4 to "
    "10^8 on random instances.",
    source="Proposition 3.5",
    printed="the integer greedy assignment divided by L converges to the global greedy assignment",
    evidence=Evidence.certified,
    breaks=("the fluid fractions belong to a workload one percent larger",),
)
def proposition_3_5(level: Level, broken: str) -> Outcome:
    """Compare exact integers."""
    generator = np.random.default_rng(35)
    worst = Fraction(0)
    count = 60 if level is Level.quick else 600
    for _ in range(count):
        instance = random_instance(generator)
        rho = [w * Fraction(101, 100) for w in instance.workload] if broken else instance.workload
        greedy = global_greedy(instance.with_workload(rho))
        fluid = {stage.configurations: stage.fraction for stage in greedy.stages}
        most = max_jobs(instance)
        bound = _lemma_b1_bounds(instance, most)
        for servers in (10**4 + 3, 10**6 + 3, 10**8 + 3):
            found = {s.configurations: s.servers[0] for s in greedy_placement(instance, servers).stages}
            for ks in {*fluid, *found}:
                error = abs(found.get(ks, 0) - servers * fluid.get(ks, Fraction(0)))
                worst = max(worst, error / bound[ks[0]])
    computed = f"{count} instances, largest error {float(worst):.4f} of the bound"
    return Outcome(computed, worst <= 1)


def _lemma_b1_bounds(instance: Instance, most: int) -> dict[tuple[int, ...], int]:
    """Return (K+1)^(i-1) for the configuration of each stage i of Proposition 3.1."""
    order = global_greedy(instance).permutation
    space, u = instance.pools[0].space, instance.rewards
    bounds: dict[tuple[int, ...], int] = {}
    for i in range(len(order)):
        bounds.setdefault(max_reward(space, u, order[i:]), (most + 1) ** i)
    return bounds


@claim(
    "thm-3.7",
    "Greedy keeps at least half of the optimum: steps (12)-(14) of the proof hold exactly on random instances.",
    source="Theorem 3.7",
    printed="greedy keeps at least 1/2 of the optimal reward",
    evidence=Evidence.certified,
    breaks=("a set of configurations that is not down-closed",),
)
def theorem_3_7(level: Level, broken: str) -> Outcome:
    """Check the chain of the proof."""
    if broken:
        ratio = _not_down_closed()
        return Outcome(f"not down-closed: ratio {float(ratio):.4f}", ratio >= Fraction(1, 2))
    generator = np.random.default_rng(37)
    count = 300 if level is Level.quick else 5000
    least, good = Fraction(1), True
    for _ in range(count):
        solution = solve(random_instance(generator))
        greedy, best, u = solution.greedy, solution.optimal, solution.instance.rewards
        before = [stage.exhausts for stage in greedy.stages[:-1]] if not greedy.serves_all else range(len(u))
        done = {j for j in before if j is not None}
        done |= {j for j in range(len(u)) if greedy.served[j] == solution.instance.workload[j]}
        good &= all(greedy.served[j] >= best.served[j] for j in done)  # (12)
        good &= total(u[j] * best.served[j] for j in done) <= greedy.reward  # (13)
        rest = total(u[j] * best.served[j] for j in range(len(u)) if j not in done)
        last = greedy.stages[-1].reward if greedy.stages and not greedy.serves_all else Fraction(0)
        good &= rest <= last <= greedy.reward or greedy.serves_all  # (14)
        good &= 2 * greedy.reward >= best.reward
        least = min(least, solution.ratio)
    return Outcome(f"{count} instances, least ratio {float(least):.4f}", good)


def _not_down_closed() -> Fraction:
    """Return greedy / optimal for K = {0, (1,0), (0,1), (10,10)}, u = (1,1), rho = (1/1000, 10)."""
    rho = (Fraction(1, 1000), Fraction(10))
    first = rho[0] / 10  # (10,10) until type 1 ends, then (0,1)
    greedy = first * 20 + (1 - first) * 1
    optimum = rho[0] + min(rho[1], Fraction(10))  # (10,10) everywhere serves both
    return greedy / optimum


@claim(
    "def-3.8-two-types",
    "With two types greedy reward never falls when workload grows: its gradient is nonnegative on every linear "
    "piece (symbolically, U being the best configuration), and it is continuous across them.",
    source="Definition 3.8",
    printed="any system with two job types has the monotone greedy property",
    evidence=Evidence.proved,
    breaks=("the first configuration is not the best",),
)
def two_types_are_monotone(level: Level, broken: str) -> Outcome:
    """Differentiate the pieces of U^(g) for J = 2."""
    del level
    import sympy as sp

    a, b, m1, m2, u1, u2, r1, r2 = sp.symbols("a b m1 m2 u1 u2 rho1 rho2", positive=True)
    s1, s2 = sp.symbols("s1 s2", nonnegative=not broken, real=True)
    best = a * u1 + b * u2  # U of the first configuration (a, b)
    # s1, s2: what it earns more than either type alone, nonnegative because it is MaxReward
    alone = {m1 * u1: best - s1, m2 * u2: best - s2}
    after_1, after_2 = r1 / a, r2 / b  # length of the first stage if type 1 (2) is exhausted
    pieces = {
        "all servers in the first configuration": best,
        "type 1 exhausted, servers full": after_1 * best + (1 - after_1) * alone[m2 * u2],
        "type 2 exhausted, servers full": after_2 * best + (1 - after_2) * alone[m1 * u1],
        "everything served": u1 * r1 + u2 * r2,
    }
    gradients = {name: [sp.simplify(sp.diff(piece, r)) for r in (r1, r2)] for name, piece in pieces.items()}
    nonnegative = all(g.is_nonnegative for row in gradients.values() for g in row)
    full = pieces["all servers in the first configuration"]
    one, two, both = (pieces[name] for name in list(pieces)[1:])
    seams = [
        one.subs(r1, a) - full,
        two.subs(r2, b) - full,
        sp.expand((both - one).subs(r2, b * r1 / a + (1 - r1 / a) * m2).subs(s2, best - m2 * u2)),
        sp.expand((both - two).subs(r1, a * r2 / b + (1 - r2 / b) * m1).subs(s1, best - m1 * u1)),
    ]
    continuous = all(sp.simplify(seam) == 0 for seam in seams)
    computed = "gradients " + "; ".join(f"{name}: {row}" for name, row in gradients.items())
    return Outcome(computed, bool(nonnegative and continuous))


@claim(
    "def-3.8-three-types",
    "With three types the property can fail: configurations (0,1,1), (0,4,0), (1,2,0) and below, rewards "
    "(8,3,10); adding type-1 workload to (0, 1/2, 2) lowers greedy reward.",
    source="Definition 3.8",
    printed="in general the property might not hold",
    evidence=Evidence.certified,
    breaks=("the added workload is of type 2",),
)
def three_types_may_fail(level: Level, broken: str) -> Outcome:
    """Evaluate both workloads."""
    del level
    half = Fraction(1, 2)
    instance = explicit([[0, 1, 1], [0, 4, 0], [1, 2, 0]], [8, 3, 10], [0, half, 2])
    more = (0, 1, 2) if broken else (half, half, 2)
    less, greater = global_greedy(instance).reward, global_greedy(instance.with_workload(more)).reward
    return Outcome(f"{text(less)}, then {text(greater)}", greater < less)


@claim(
    "thm-3.9",
    "For workloads that fit the servers exactly: (15)-(16) hold and the ratio is at least 1 - (1 - 1/n)^n for n "
    "greedy stages, on random instances (the theorem reduces to these by the monotone property).",
    source="Theorem 3.9",
    printed="greedy keeps at least 1 - 1/e of the optimal reward under the monotone greedy property",
    evidence=Evidence.certified,
    breaks=("the bound counts one stage fewer",),
)
def theorem_3_9(level: Level, broken: str) -> Outcome:
    """Check the chain on exact fits."""
    generator = np.random.default_rng(39)
    count = 200 if level is Level.quick else 3000
    good, least = True, Fraction(1)
    instances = [random_instance(generator, exact_fit=True) for _ in range(count)] + [tight_family(3)]
    for instance in instances:
        solution = solve(instance)
        greedy, u = solution.greedy, instance.rewards
        space, order = instance.pools[0].space, greedy.permutation
        earn = [weight(max_reward(space, u, order[i:]), u) for i in range(len(order))]
        terms = [z * e for z, e in zip(greedy.lengths, earn, strict=True)]
        good &= total(terms) == solution.optimal.reward  # (15): all of the workload, in greedy configurations
        good &= all(total(terms[i:]) <= earn[i] for i in range(len(order)))  # (16)
        n = len(greedy.stages) - (1 if broken else 0)
        bound = 1 - (1 - Fraction(1, n)) ** n if n else Fraction(1)
        good &= solution.ratio >= bound
        least = min(least, solution.ratio)
    return Outcome(f"{len(instances)} instances, least ratio {float(least):.4f}", good)


@claim(
    "prop-3.10",
    "For J = 2..12 the family with generators J e_j and (1,..,1,J) has ratio exactly 1 - (1 - 1/J)^J, decreasing "
    "to 1 - 1/e.",
    source="Proposition 3.10",
    printed="the worst-case ratio is not greater than 1 - 1/e (an infimum over J)",
    evidence=Evidence.proved,
    breaks=("all rewards are equal",),
)
def proposition_3_10(level: Level, broken: str) -> Outcome:
    """Solve each member exactly."""
    del level
    ratios = []
    for types in range(2, 13):
        instance = tight_family(types)
        solution = solve(instance.with_rewards([1] * types) if broken else instance)
        ratios.append((types, solution.ratio, solution.optimal.reward))
    good = all(ratio == 1 - (1 - Fraction(1, n)) ** n for n, ratio, _ in ratios)
    good &= all(best == n**n for n, _, best in ratios)
    good &= all(after[1] < before[1] for before, after in pairwise(ratios))
    computed = ", ".join(f"J={n}: {text(r) if n < 6 else f'{float(r):.6f}'}" for n, r, _ in ratios)
    return Outcome(computed, good)


@claim(
    "table-1",
    "Over random collections of Table 1 (workload uniform in quarters on [0, 10]: its range is lost in our text) "
    "the mean ratio is at least 0.9, with an error of at most 1e-6.",
    source="Table 1",
    printed="greedy is often identical to the optimum, close to it on average (figures lost)",
    evidence=Evidence.statistical,
    breaks=("the guarantee is taken for the ratio",),
)
def table_1(level: Level, broken: str) -> Outcome:
    """Estimate mean, worst and the share of optima."""
    generator = np.random.default_rng(71)
    count = 500 if level is Level.quick else 4000
    solutions = [solve(collection(generator)) for _ in range(count)]
    ratios = [solution.greedy.guarantee if broken else solution.ratio for solution in solutions]
    values = np.array([float(r) for r in ratios])
    lower = _mean_lower_limit(values, 1e-6)
    equal = sum(r == 1 for r in ratios)
    a, b = _share_interval(equal, count, 0.05)
    spread = 1.96 * values.std(ddof=1) / sqrt(count)
    computed = (
        f"{count} collections (seed 71): mean {values.mean():.5f} +- {spread:.5f} (95%), "
        f"above {lower:.4f} (but for 1e-6), "
        f"worst {values.min():.4f}, equal to the optimum {equal / count:.1%} (95%: {a:.1%} to {b:.1%})"
    )
    return Outcome(computed, lower >= 0.9)


def _mean_lower_limit(values: np.ndarray, error: float) -> float:
    """Return a lower confidence limit of a mean of values in [1 - 1/e, 1] (Maurer and Pontil, empirical Bernstein)."""
    n, width = len(values), float(np.exp(-1))
    margin = sqrt(2 * float(values.var(ddof=1)) * log(2 / error) / n) + 7 * width * log(2 / error) / (3 * (n - 1))
    return float(values.mean()) - margin


def _share_interval(successes: int, count: int, error: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a share."""
    from scipy.stats import beta

    low = 0.0 if successes == 0 else float(beta.ppf(error / 2, successes, count - successes + 1))
    high = 1.0 if successes == count else float(beta.ppf(1 - error / 2, successes + 1, count - successes))
    return low, high


@claim(
    "figure-2",
    "Along the scale of a workload greedy is optimal up to 1 / sum(z) and from 1 / z_1 on, and only there for the"
    " four VM types at their worst workload: both curves exact at all breakpoints.",
    source="Figure 2",
    printed="two critical points; greedy is optimal before the first, after the second (places lost)",
    evidence=Evidence.certified,
    breaks=("the critical points are moved by one percent",),
)
def figure_2(level: Level, broken: str) -> Outcome:
    """Compute both piecewise linear curves."""
    del level
    instance = four_types()
    curve = scaling(instance)
    shift = Fraction(101, 100) if broken else Fraction(1)
    first, second = curve.full * shift, curve.saturated / shift
    ratios = {}
    for scale in (first / 2, first, second, 2 * second):
        ratios[scale] = solve(instance.with_workload([scale * rho for rho in instance.workload])).ratio
    inside = [
        g / o
        for s, g, o in zip(curve.scales, curve.greedy, curve.optimal, strict=True)
        if curve.full < s < curve.saturated
    ]
    good = all(r == 1 for r in ratios.values())
    # strictly inside: at most one interior breakpoint may touch
    touching = sum(r == 1 for r in inside)
    scale, worst = curve.worst
    computed = (
        f"critical points {text(curve.full)} and {text(curve.saturated)}, worst ratio {text(worst)} at scale "
        f"{text(scale)}, equal again at {touching} of {len(inside)} breakpoints in between"
    )
    return Outcome(computed, good)


@claim(
    "figure-2-86-percent",
    "The printed four VM types (1,1), (4,16), (2,32), (32,256) on (80, 640) with 8 GB priced like a vCPU reach a "
    "ratio that rounds to 86 % at some workload.",
    source="Figure 2",
    printed="86% of the optimal reward for the four VM types",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    breaks=("the first type is (64,64), for which 0.85 is reached",),
)
def printed_86_percent(level: Level, broken: str) -> Outcome:
    """Find the exactly worst workload."""
    del level
    instance = four_types()
    if broken:
        types = [(64, 64), (4, 16), (2, 32), (32, 256)]
        instance = additive([80, 640], types, [v + Fraction(m, 8) for v, m in types])
    worst = worst_workload(instance)
    reached = worst.ratio < Fraction(865, 1000)
    computed = f"least ratio over all workloads {text(worst.ratio)} = {float(worst.ratio):.6f}, exactly"
    return Outcome(computed, reached)


@claim(
    "no-bad-scenario",
    "For every random collection of Table 1 the exactly worst ratio over all workloads stays above 3/4.",
    source="Section 3",
    printed="no scenario of the simulations had a ratio below a bound (figure lost)",
    evidence=Evidence.certified,
    breaks=("the tight two-type instance joins them",),
)
def no_bad_scenario(level: Level, broken: str) -> Outcome:
    """Decide the worst workload of each collection exactly."""
    generator = np.random.default_rng(72)
    count = 25 if level is Level.quick else 400
    ratios = []
    for _ in range(count):
        worst = worst_workload(collection(generator))
        if not worst.complete:
            return Outcome("interrupted", False)
        ratios.append(worst.ratio)
    if broken:
        ratios.append(worst_workload(additive([12], [[5], [7]])).ratio)
    values = sorted(float(r) for r in ratios)
    quartiles = ", ".join(
        f"{q:.0%}: {values[min(int(q * len(values)), len(values) - 1)]:.4f}" for q in (0, 0.25, 0.5, 0.75)
    )
    computed = f"{count} collections (seed 72), quantiles of the worst ratio {quartiles}, largest {values[-1]:.4f}"
    return Outcome(computed, min(ratios) > Fraction(3, 4))
