"""Results of packproof on fair sharing: Algorithm I, uniqueness, the Fisher market, unfair and idle extremes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from bounds.adversary.sharing import (
    everybody_gains,
    exact_cycle,
    exact_rounds,
    greatest_sum_of_parts,
    greatest_utilisation,
    mean_utilisation,
    sum_of_parts,
)
from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import (
    cycling_cluster,
    endless_cluster,
    idle_family,
    price_family,
    two_allocations,
    unfair_family,
)
from bounds.results.reproduction import drawing
from bounds.views.panels import Bars, Chart, Curve, Line, Panel
from theory import models
from theory.errors import expect_number
from theory.numbers import text, total
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import Cluster, cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm, ps_dsf_tdm_rounds
from theory.sharing.properties import pareto_optimality


@claim(
    "algorithm-1-cycles",
    "Algorithm I can enter a cycle",
    "Algorithm I (its step beta as rebuilt) need not converge: on three equal users, two servers and three resources "
    "it enters a cycle of two rounds from its own start, in exact arithmetic, though a PS-DSF allocation exists.",
    source="packproof",
    printed="convergence will be studied in future work",
    evidence=Evidence.certified,
    controls={"a cluster on which the algorithm ends": {"example": lambda: cluster([[9, 18]], [[1, 4], [3, 1]])}},
)
def algorithm_1_cycles(*, example: Callable[[], Cluster] = cycling_cluster) -> Outcome:
    instance = example()
    cycle = exact_cycle(instance, 12)
    allocation = ps_dsf(instance)
    exists = allocation.exact and is_ps_dsf(instance, allocation.tasks)
    good = cycle is not None and cycle[1] == 2 and exists
    if cycle is None:
        return Outcome("no cycle", good)
    states = exact_rounds(instance, 12)
    shown = " and ".join(
        "(" + ", ".join(text(total(row)) for row in states[cycle[0] + k]) + ")" for k in range(cycle[1])
    )
    return Outcome(f"from round {cycle[0]} totals alternate between {shown}", good)


def _tied() -> Cluster:
    """Return the cluster of the claim below where the third user may use one server only."""
    return cluster([[1], [1]], [[1], [1], [1]], eligible=[[True, False], [False, True], [False, True]])


@claim(
    "algorithm-1-endless",
    "Algorithm I can converge without ending",
    "Where Algorithm I converges it need not end: two unit servers, one resource, three users. Serving both servers "
    "maps the third user's part b of the second to (1 + b)/4; from 1/2 it is 1/3 + 4^-k / 6 after k rounds.",
    source="packproof",
    printed="convergence will be studied in future work",
    evidence=Evidence.proved,
    full={"rounds": 400},
    controls={"the third user may use one server only": {"example": _tied}},
    proof="proofs.md#endless",
)
def algorithm_1_endless(rounds: int = 40, *, example: Callable[[], Cluster] = endless_cluster) -> Outcome:
    expect_number(rounds, "rounds", 1)
    history = exact_rounds(example(), rounds)
    parts = [tasks[2][1] for tasks in history]
    expected = [Fraction(1, 3) + Fraction(1, 6 * 4**k) for k in range(rounds + 1)]
    moving = all(4 * b == 1 + a for a, b in pairwise(parts))
    computed = f"{len(history) - 1} rounds; the part is 1/3 + {text(parts[-1] - Fraction(1, 3))} then"
    return Outcome(computed, parts == expected and moving)


@drawing(
    "Algorithm I in exact arithmetic: it enters a cycle (left), or converges and never ends (right)",
    "algorithm-1-cycles",
    "algorithm-1-endless",
    columns=2,
)
def rounds() -> Sequence[Panel]:
    cycle, endless = exact_rounds(cycling_cluster(), 12), exact_rounds(endless_cluster(), 12)
    users = range(len(cycle[0]))
    totals = [Curve(f"user {n + 1}", range(len(cycle)), [float(total(state[n])) for state in cycle]) for n in users]
    parts = [float(state[2][1]) - 1 / 3 for state in endless]
    right = [Curve("part of user 3 on server 2, less 1/3", range(len(parts)), parts)]
    right.append(Curve("4⁻ᵏ/6", range(len(parts)), [4.0**-k / 6 for k in range(len(parts))], look="plain"))
    return [
        Chart("round (number)", "tasks (number)", totals),
        Chart("round k (number)", "difference (tasks)", right, yscale="log"),
    ]


@claim(
    "resource-division-not-unique",
    "Under resource division PS-DSF is not unique",
    "PS-DSF allocations under resource division are not unique, not even in the totals: one cluster, two allocations "
    "that both satisfy Theorem 1 (that totals are unique under time division is proved at fisher-market).",
    source="packproof",
    printed="not in the paper, which speaks of the allocation",
    evidence=Evidence.certified,
    controls={"time division stands for resource division": {"check": is_ps_dsf_tdm}},
)
def not_unique(*, check: Callable[[Cluster, Sequence[Sequence[Fraction]]], bool] = is_ps_dsf) -> Outcome:
    instance, first, second = two_allocations()
    totals = [[total(row) for row in tasks] for tasks in (first, second)]
    passed = check(instance, first) + check(instance, second)
    shown = " and ".join("(" + ", ".join(map(text, row)) + ")" for row in totals)
    return Outcome(f"totals {shown}; {passed} of 2 satisfy the theorem", passed == 2 and totals[0] != totals[1])


@drawing(
    "Two PS-DSF allocations of one cluster under resource division",
    "resource-division-not-unique",
    columns=2,
    height=1.5,
)
def both() -> Sequence[Panel]:
    shared, *allocations = two_allocations()
    users = [f"user {n + 1}" for n in range(len(shared.users))]
    panels = []
    for title, tasks in zip(("one allocation", "another"), allocations, strict=True):
        parts = [(f"server {i + 1}", [float(row[i]) for row in tasks]) for i in range(len(shared.servers))]
        panels.append(Bars("tasks (number)", users, parts, title, (0.0, 0.95)))
    return panels


def totals_of_the_program(instance: Cluster) -> NDArray[np.float64]:
    """Return the tasks of users, float64[N], by the convex program over the time of servers, in floats."""
    problem = models.ps_dsf_tdm(instance)
    problem.solve(solver="CLARABEL")
    return np.asarray(problem.var_dict["tasks"].value, np.float64)


def _is_near(totals: NDArray[np.float64], allocation: Allocation) -> bool:
    return np.allclose(totals, [float(x) for x in allocation.totals], rtol=1e-3)


@claim(
    "fisher-market",
    "PS-DSF under time division is a Fisher equilibrium",
    "Where everybody can run somewhere, PS-DSF under time division is the equilibrium of a linear Fisher market: with "
    "server prices p_i = 1 / level, phi_n gamma_{n,i} / x_n <= p_i with equality where served, all time of usable "
    "servers is sold, and all money is spent. Beside the theorem, exactly for what the simplified algorithm finds on "
    "random clusters (full: and a convex solver finds the same totals, up to a thousandth, for the program of "
    "Eisenberg and Gale).",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.formal,
    tiny={"count": 12},
    full={"count": 500, "solved": True},
    controls={"resource division stands for time division": {"mechanism": ps_dsf}},
    theorems=("Fairness.fisher_market",),
)
def fisher_market(
    count: int = 40, solved: bool = False, *, mechanism: Callable[[Cluster], Allocation] = ps_dsf_tdm_rounds
) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(5)
    good = 0
    for _ in range(count):
        instance = random_cluster(generator, generator.randint(2, 6), generator.randint(1, 4), generator.randint(1, 3))
        allocation = mechanism(instance)
        gamma, weights = instance.monopoly, instance.weights
        ratio = [w / x for w, x in zip(weights, allocation.totals, strict=True)]
        # p_i = max_n phi_n gamma_{n,i} / x_n; every user that server i serves must attain it
        prices = [max(q * row[i] for q, row in zip(ratio, gamma, strict=True)) for i in range(len(instance.servers))]
        spent = [
            total(p * x / g for p, x, g in zip(prices, xs, gs, strict=True) if x)
            for xs, gs in zip(allocation.tasks, gamma, strict=True)
        ]
        served = [(n, i) for n, row in enumerate(allocation.tasks) for i, x in enumerate(row) if x]
        is_equilibrium = all(ratio[n] * gamma[n][i] == prices[i] for n, i in served)
        is_equilibrium &= spent == list(weights) and total(prices) == total(weights)
        good += is_equilibrium and (not solved or _is_near(totals_of_the_program(instance), allocation))
    return Outcome(f"{good} of {count} clusters", good == count)


@claim(
    "resource-division-not-pareto",
    "Under resource division PS-DSF is not Pareto optimal",
    "PS-DSF under resource division is not Pareto optimal: smallest witness found, two servers, two resources, three "
    "users; and everybody can be short at once: on another cluster all could have 112/73 of their tasks.",
    source="packproof",
    printed="does not satisfy Pareto optimality in case of RDM (no example)",
    evidence=Evidence.certified,
    controls={"time division stands for resource division": {"mechanism": ps_dsf_tdm}},
)
def not_pareto(*, mechanism: Callable[[Cluster], Allocation] = ps_dsf) -> Outcome:
    small = mechanism(
        cluster([[1, 2], [1, 4]], [[2, 1], [1, 2], [1, 3]], eligible=[[True, True], [True, True], [True, False]])
    )
    verdict = pareto_optimality(small)
    everybody = mechanism(cluster([[4, 5], [4, 5], [6, 9]], [[1, 8], [9, 1]]))
    factor = everybody_gains(everybody) if mechanism is ps_dsf else Fraction(1)
    gains = "none" if verdict.witness is None else verdict.witness["gains"]
    good = verdict.holds is False and factor == Fraction(112, 73)
    return Outcome(f"gains {gains}; everybody times {text(factor)}", good)


@claim(
    "unfairness-without-bound",
    "No constant bounds unfairness of TSF and C-DRFH",
    "No constant bounds how far below the bottleneck-fair share TSF and C-DRFH can leave a user: 2 / (2 + m) of it on "
    "two servers and two users, m the size of a server that neither can use.",
    source="packproof",
    printed="not in the paper: far from the fair allocation",
    evidence=Evidence.formal,
    full={"sizes": tuple(2**k for k in range(13))},
    controls={"PS-DSF stands for TSF and C-DRFH": {"mechanisms": (ps_dsf,)}},
    theorems=("FairnessCosts.unfairness_without_bound",),
)
def unfairness(
    sizes: tuple[int, ...] = (1, 8, 64, 512),
    *,
    mechanisms: tuple[Callable[[Cluster], Allocation], ...] = (tsf, c_drfh),
) -> Outcome:
    expect_number(min(sizes, default=0), "sizes", 1)
    pairs = [(m, mechanism) for m in sizes for mechanism in mechanisms]
    shares = [mechanism(unfair_family(m)).totals[0] / Fraction(1, 2) for m, mechanism in pairs]
    exact = sum(share == Fraction(2, 2 + m) for share, (m, _) in zip(shares, pairs, strict=True))
    good = exact == len(pairs) and all(ps_dsf(unfair_family(m)).totals[0] == Fraction(1, 2) for m in sizes)
    computed = f"{exact} of {len(pairs)} shares are 2 / (2 + m), m to {sizes[-1]}; the least is {text(min(shares))}"
    return Outcome(computed, good)


@drawing("How far below the bottleneck-fair share a user can be", "unfairness-without-bound")
def unfair() -> Sequence[Panel]:
    sizes = [4**n for n in range(6)]
    curves = [
        Curve(name, sizes, [float(2 * mechanism(unfair_family(m)).totals[0]) for m in sizes])
        for name, mechanism in (("PS-DSF", ps_dsf), ("TSF", tsf), ("C-DRFH", c_drfh))
    ]
    curves.append(Curve("2 / (2 + m)", sizes, [2 / (2 + m) for m in sizes], look="plain"))
    x, y = "size m of the other server (servers)", "tasks (share of the fair ones)"
    return [Chart(x, y, curves, xscale="log", yscale="log")]


@claim(
    "idle-resources",
    "PS-DSF attains 1/R of the greatest mean utilisation",
    "Where every server has each of R resources, PS-DSF under resource division attains at least 1/R of the greatest "
    "mean utilisation over the usable servers, since Theorem 1 saturates a resource on each of them, and no more in "
    "general: 1/R + (1 - 1/R)/N on a family of N users where 1 is possible. Beside the theorems: the family, and "
    "random clusters.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.formal,
    tiny={"count": 10},
    full={"count": 500},
    controls={"a bound of 1/(R - 1)": {"fewer": 1}},
    theorems=("FairnessCosts.idle_resources", "FairnessCosts.idle_resources_family"),
)
def idle_resources(count: int = 30, *, fewer: int = 0) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(6)
    family = all(
        mean_utilisation(ps_dsf(idle_family(r, n))) == Fraction(1, r) + (1 - Fraction(1, r)) / n
        for r, n in product((1, 2, 3, 4), (1, 2, 10, 100))
    )
    least = Fraction(1)
    kept = 0
    for _ in range(count):
        resources = generator.randint(2, 4)
        instance = idle_family(resources, 50) if fewer else random_cluster(generator, 4, 3, resources, zeros=0)
        part = mean_utilisation(ps_dsf(instance)) / greatest_utilisation(instance)
        kept += part >= Fraction(1, resources - fewer)
        least = min(least, part)
    computed = f"family exact; bound kept on {kept} of {count} clusters, least part {float(least):.3f}"
    return Outcome(computed, family and kept == count)


@drawing("PS-DSF can leave resources idle: a family where 1 is possible", "idle-resources")
def idle() -> Sequence[Panel]:
    numbers, curves, lines = (1, 2, 4, 8, 16, 32), [], []
    for R in (2, 3, 4):
        used = [float(mean_utilisation(ps_dsf(idle_family(R, n)))) for n in numbers]
        curves.append(Curve(f"R = {R} resources", numbers, used))
        lines.append(Line(f"1/{R}", 1 / R))
    return [Chart("users N (number)", "mean utilisation (1 is possible)", curves, lines, xscale="log", ylim=(0, None))]


def _keeps(parts: Fraction, best: Fraction, users: int, less: int = 1) -> bool:
    """Decide that parts are at least (2 sqrt(N) - `less`)/N of the best, in rationals."""
    scaled = users * parts / best + less
    return scaled * scaled >= 4 * users


def tangent_holds() -> bool:
    """Decide in symbols that N lambda a^2 - (1 + lambda) a + lambda is a square for lambda = 1/(2 sqrt(N) - 1)."""
    import sympy as sp

    root, a = sp.symbols("root a", positive=True)  # root = sqrt(N)
    factor = 1 / (2 * root - 1)
    square = root**2 * factor * (a - 1 / root) ** 2
    return bool(sp.simplify(root**2 * factor * a**2 - (1 + factor) * a + factor - square) == 0)


@claim(
    "price-of-fairness",
    "Price of fairness: time division attains (2sqrt(N)-1)/N",
    "With N users of equal weights PS-DSF under time division attains at least (2 sqrt(N) - 1)/N of the greatest sum "
    "of parts, the part of a user being its tasks over what it could run alone on all servers. That is attained for "
    "every square N = k^2: k unit servers, one user tied to each, k^2 - k users who may use all. The bound is that of "
    "Bertsimas, Farias and Trichakis for proportional fairness. Beside the theorems: the family for k to 5 (full: 8), "
    "and random clusters. Nothing is said of resource division.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.formal,
    tiny={"largest": 4, "count": 12},
    full={"largest": 8, "count": 500},
    controls={"a bound of 2/sqrt(N)": {"less": 0}, "users of weight 2 who may use all servers": {"weight": 2}},
    theorems=("FairnessCosts.price_of_fairness", "FairnessCosts.price_of_fairness_attained"),
)
def price_of_fairness(largest: int = 5, count: int = 40, *, less: int = 1, weight: int = 1) -> Outcome:
    expect_number(largest, "largest", 1)
    expect_number(count, "count", 1)
    generator = random.Random(7)
    family = {k: price_family(k, weight) for k in range(1, largest + 1)}
    shares = {k: sum_of_parts(ps_dsf_tdm(one)) / greatest_sum_of_parts(one) for k, one in family.items()}
    attained = all(share == Fraction(2 * k - 1, k * k) for k, share in shares.items())
    bounded = all(_keeps(share, Fraction(1), k * k, less) for k, share in shares.items())
    good, least = 0, Fraction(1)
    for _ in range(count):
        users = generator.randint(2, 9)
        instance = random_cluster(generator, users, generator.randint(1, 4), generator.randint(1, 3), weights=1)
        parts, best = sum_of_parts(ps_dsf_tdm(instance)), greatest_sum_of_parts(instance)
        good += _keeps(parts, best, users, less)
        least = min(least, parts / best)
    computed = (
        f"family {', '.join(map(text, shares.values()))}; bound kept {'' if bounded else 'not '}there and on "
        f"{good} of {count} clusters, least part {float(least):.3f}"
    )
    return Outcome(computed, attained and bounded and good == count and tangent_holds())


@drawing("What time division attains of the greatest sum of parts", "price-of-fairness")
def price() -> Sequence[Panel]:
    sizes = range(1, 6)
    shares = [float(sum_of_parts(ps_dsf_tdm(price_family(k))) / greatest_sum_of_parts(price_family(k))) for k in sizes]
    users = [n / 2 for n in range(2, 51)]
    bound = Curve("(2√N − 1)/N", users, [(2 * n**0.5 - 1) / n for n in users], look="plain")
    return [Chart("users N (number)", "attained (share)", [bound, Curve("the family", [k * k for k in sizes], shares)])]
