"""Claims of the auto-scaling paper on the limit of many servers: Theorem 4.1, and 1 - 1/e without Definition 3.8."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import e, log

import numpy as np

from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.autoscaling import PAPER
from bounds.claims.families import tight_family
from fluid.policies import policy
from fluid.reservation import Reservation, fluid_path, state_of
from fluid.simulate.loss import Scenario, run_loss
from fluid.statistics import mean_interval, slope
from theory.assignment import solve
from theory.configurations import maximal
from theory.greedy import global_greedy
from theory.instance import Instance, explicit
from theory.numbers import text

LEVEL = 1 - 1e-6
SEED = 41
WITHOUT_38 = ((0, 1, 1), (0, 4, 0), (1, 2, 0))
"""Configurations of three types that have no monotone greedy property for rewards near (8, 3, 10)."""


def _at_worst(instance: Instance) -> Instance:
    """Return the instance at its worst workload, with unequal service rates."""
    worst = worst_workload(instance).workload
    rates = (Fraction(1), Fraction(2), Fraction(1, 2))
    kinds = [replace(t, service_rate=r) for t, r in zip(instance.types, rates, strict=True)]
    return replace(instance, types=tuple(kinds)).with_workload(worst)


@claim(
    PAPER,
    "theorem-4.1",
    "The stationary reward of dynamic reservation, g(L) = (log L)^1.5, tends to the greedy reward from empty and "
    "from full servers: three types without the monotone greedy property (full: and the tight family of three types) "
    "at the worst workload, unequal service rates: the gap falls like a power of L below L^-0.35, and at the largest L "
    "the reward keeps more than 1 - 1/e of the optimum.",
    Evidence.statistical,
)
def theorem_4_1(level: Level, broken: bool) -> Outcome:
    """Fit log gap on log L; broken: the policy is power of two choices."""
    quick = level is Level.quick
    sizes, runs = ((100, 400, 1600), 8) if quick else ((250, 1000, 4000, 16_000), 16)
    until, good, shown = 24.0 if quick else 80.0, True, []
    every = {"no Def. 3.8": explicit(WITHOUT_38, [8, 3, 10]), "tight": tight_family(3)}
    for name, instance in list(every.items())[: 1 if quick else 2]:
        loaded = _at_worst(instance)
        limit, best = float(global_greedy(loaded).reward), float(solve(loaded).optimal.reward)
        points, last = [], []
        for servers in sizes:
            full = np.tile(maximal(loaded.pools[0].space)[0].astype(np.int32), (servers, 1))
            rewards = []
            for run in range(runs):
                scenario = Scenario(loaded, servers, until, until / 2, initial=full if run % 2 else None, bins=4)
                seed = np.random.SeedSequence((SEED, servers, run))
                rewards.append(run_loss(policy("power-of-d" if broken else "dra"), scenario, seed).mean_reward)
            if max(rewards) >= limit:
                computed = f"{name}: a reward of {max(rewards) / limit:.4f} of greedy at L = {servers:,}, no gap to fit"
                return Outcome(computed, Evidence.statistical, False)
            points += [(log(servers), log(limit - reward)) for reward in rewards]
            last = rewards
        fitted = slope([x for x, _ in points], [y for _, y in points], LEVEL)
        final = mean_interval(last, LEVEL)
        good &= fitted.high < -0.35 and final.mean > 0.98 * limit and final.low > (1 - 1 / e) * best
        shown.append(
            f"{name}: {final.mean / limit:.4f} of greedy, {final.mean / best:.4f} of the optimum at L = {sizes[-1]:,}, "
            f"gap ~ L^{fitted.mean:.2f} [{fitted.low:.2f}, {fitted.high:.2f}]"
        )
    return Outcome(f"{'; '.join(shown)}; {runs} runs a size, seed {SEED}", Evidence.statistical, bool(good))


@claim(
    "packproof",
    "limit-1-1/e",
    "Without the monotone greedy property, too, the limit of dynamic reservation keeps over 1 - 1/e, by always-1-1/e. "
    "Here: variations of an instance of three types, in each of which more workload means less greedy reward, at their "
    "exactly worst workloads, all at least 19/27; the fluid path from full servers ends at that share of the optimum.",
    Evidence.certified,
)
def limit_without_38(level: Level, broken: bool) -> Outcome:
    """Find pairs of workloads, solve for the worst; broken: a constant above what some of them keep."""
    wanted, paths = (12, 2) if level is Level.quick else (300, 20)
    generator, found, good, least, ends = np.random.default_rng(SEED), 0, True, Fraction(1), 0.0
    constant = Fraction(19, 20) if broken else Fraction(19, 27)
    while found < wanted:
        rows = [*WITHOUT_38, tuple(generator.integers(0, 3, 3).tolist()), (1, 1, 0)]
        rewards = [Fraction(int(generator.integers(*bounds)), 4) for bounds in ((26, 40), (10, 15), (34, 46))]
        instance = explicit(rows, rewards)
        some = [Fraction(int(generator.integers(*bounds)), 2) for bounds in ((0, 3), (1, 4), (2, 9))]
        pair = [instance.with_workload(rho) for rho in (some, [some[0] + Fraction(1, 2), *some[1:]])]
        if global_greedy(pair[1]).reward >= global_greedy(pair[0]).reward:
            continue
        worst = worst_workload(instance)
        good &= worst.complete and worst.ratio >= constant and min(solve(one).ratio for one in pair) >= constant
        least = min(least, worst.ratio)
        if found < paths:
            ends = max(ends, _end(_at_worst(instance), worst.ratio))
        found += 1
    computed = f"{wanted} instances, least of the worst ratios {text(least)}; ends {ends:.1e} off"
    return Outcome(computed, Evidence.certified, bool(good and ends < 1e-6))


def _end(instance: Instance, ratio: Fraction) -> float:
    """Return how far the end of the fluid path from full servers is off a share of the optimum."""
    model, until = Reservation(instance), 80.0
    first = tuple(maximal(instance.pools[0].space)[0].tolist())
    path = fluid_path(model, until, state_of(model, {first: 1.0}))
    return abs(float(path.rewards([until])[0]) / float(solve(instance).optimal.reward) - float(ratio))
