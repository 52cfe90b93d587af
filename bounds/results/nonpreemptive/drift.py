"""Claims of the non-preemptive scheduling paper about drift: Section 4, with exact generators and constants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.results.decisions import Decisions
from bounds.results.instances import additive_space, loaded_instances, scaled
from bounds.results.nonpreemptive.settings import table_1
from bounds.results.simulated_queues import shown
from fluid.limits.decay import decay_rate, escape_velocity, guaranteed_rate, norm
from fluid.limits.drift import Algorithm1
from fluid.limits.max_weight import MaxWeight, queue_path
from fluid.simulation.driver import run_once
from theory.exact.configurations import feasible, maximal
from theory.instance import Additive, Instance, additive
from theory.numbers import text, total
from theory.region import oracles
from theory.region.facets import region_facets
from theory.region.membership import CapacityProgram, Support, traffic_intensity
from theory.region.oracles import RULES, lemma_6_1
from theory.region.worst_case import worst_weights

BETA = Fraction(7, 8)
ORACLES = ("exact", "single", "greedy")


@claim(
    "lemma-4.3",
    "In every state A V <= sum_j Q_j (rho_j - sum over active servers of k_j) + B_2. One server of 6, jobs of 4 and 1, "
    "beta = 7/8: after a large job and n + 2 small ones, before any departure, it is active with (1, 2) and too light "
    "for (5), so its next departure stalls it and starts nobody: without B_2 the right side is too small by 2 n + 9/8, "
    "so no B_2 is enough.",
    source="Lemma 4.3",
    printed=(
        "A V <= sum_j Q_j (rho_j - sum_l I_l k_j^l) + B_2 at any time, B_2 = sum_j (rho_j + L K^3 mu_max / mu_j + L K)"
    ),
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.statement,
    breaks=("beta = 1/4, with which (1, 2) is not too light", "servers that are too light do not count"),
)
def lemma_4_3(level: Level, broken: str) -> Outcome:
    """Compute the generator along these arrivals."""
    most = 400 if level is Level.quick else 4000
    system = Algorithm1(
        additive([6], [[4], [1]], workload=["1/4", 2]), 1, Fraction(1, 4) if broken.startswith("beta") else BETA
    )
    state, excess = system.start(), []
    for arrivals in range(most):
        state = list(system.steps(state))[int(arrivals > 0)][1]
        bound = system.bound(state)
        excess.append(bound.drift - (bound.serving if broken.startswith("servers") else bound.active))
    waiting = int(state.waiting[1])
    grows = excess[-waiting:] == [2 * n + Fraction(9, 8) for n in range(1, waiting + 1)]
    holds = not grows and max(excess) <= system.printed_constant
    by = f"2 n + 9/8 for n = 1 to {waiting}" if grows else f"{text(max(excess))} at most"
    computed = f"A V exceeds the sum by {by}, with n jobs waiting; B_2 as printed is {text(system.printed_constant)}"
    return Outcome(computed, holds)


def ratio_of(space: Additive, oracle: str) -> Fraction:
    """Return the r of an oracle of Algorithm 1 on a server: proven, of the printed lemma for a single type."""
    if oracle == "exact":
        return Fraction(1)
    return lemma_6_1(space) if oracle == "single" else worst_weights(space, "refined").ratio


def _interval_drift(instance: Instance, beta: Fraction, oracle: str, queues: list[int], runs: int) -> list[float]:
    """Return (V(NT) - V(0)) / (NT sum Q) from a burst, on three servers, NT = 100 mean service times, float[runs]."""
    system, ends = Algorithm1(instance, 3, beta, oracle), []
    span = 100.0 / min(float(t.service_rate) for t in instance.types)
    for run in range(runs):
        values = []
        for until in (1e-12, span):
            final = run_once(system.policy, system.scenario(queues, until), np.random.SeedSequence((45, run))).state
            values.append(float(system.value(final)))
        ends.append((values[1] - values[0]) / (span * sum(queues)))
    return ends


@claim(
    "prop-4.5",
    "Inside r beta of the region V falls over an interval from large queues, tried where every type fits every "
    "server, which Lemma 4.1 needs, and in one pool: EC2 types on three servers, 97% of r beta of the boundary, beta "
    "= 7/8 r; exact, single-type and greedy oracles, the last two with the r that is proven for them (1/3 of Lemma "
    "6.1 for a single type, so that it is tried at a tenth of the region; corollary-6.2-queues goes to 0.606 of it). "
    "Queues along the normal of the workload's facet and others, from servers that begin with what suited the first "
    "jobs. And in states whose servers all serve, which most of those tried are, A V <= B_2 - (r beta - z) L max k . "
    "Q, negative for max k . Q > B_2 / (L (r beta - z)).",
    source="Proposition 4.5",
    printed="E[V(t_0 + N T) - V(t_0)] < -delta for N and ||Q(t_0)|| large, inside r beta of C",
    evidence=Evidence.statistical,
    breaks=(
        "110% of the region, where V rises for any policy",
        "servers lose r beta of the greatest weight, whatever arrives",
    ),
)
def proposition_4_5(level: Level, broken: str) -> Outcome:
    """Simulate intervals, and bound generators exactly."""
    runs, others, size = (14, 1, 3000) if level is Level.quick else (60, 3, 20_000)
    instance = table_1(1)
    space = additive_space(instance)
    normal = CapacityProgram(instance).intensity().prices
    generator, good, parts, serving = np.random.default_rng(45), True, [], []
    overload = broken.startswith("110%")
    decisions = Decisions(len(ORACLES) * (1 + others))
    for oracle in ORACLES:
        r = ratio_of(space, oracle)
        beta = Fraction(int(r * 56), 64)  # 7/8 r, dyadic: the policy compares what is meant
        share = r * beta
        z = Fraction(110, 100) if overload else Fraction(97, 100) * share
        loaded = table_1(z)
        drifts = []
        for direction in (np.array(normal, float), *generator.dirichlet(np.ones(3), others)):
            queues = [int(size * x) for x in direction / direction.sum()]
            drifts.append(decisions.mean(_interval_drift(loaded, beta, oracle, queues, runs)))
        good &= max(d.high for d in drifts) < 0
        system = Algorithm1(loaded, 3, beta, oracle)
        margin = share if broken.startswith("servers") else share - z
        tried = [_falls(system, margin, queues) for queues in generator.integers(0, 3000, (20, 3)).tolist()]
        falls = [fall for fall in tried if fall is not None]
        good &= 2 * len(falls) > len(tried) and all(falls)
        serving.append(f"{sum(falls)} of {len(falls)}")
        parts.append(f"{oracle}: " + ", ".join(shown(drift, 3) for drift in drifts))
    computed = (
        f"(V(NT) - V(0)) / (NT sum Q), z = {'1.1' if overload else '0.97 r beta'}: {'; '.join(parts)}; {decisions}, "
        f"{runs} runs each, seed 45; A V is below the bound in {', '.join(serving)} states whose servers all serve"
    )
    return Outcome(computed, bool(good))


def _falls(system: Algorithm1, margin: Fraction, queues: list[int]) -> bool | None:
    """Decide A V <= B_2 - margin L max k . Q exactly in a state whose servers all serve; None if they do not."""
    state = system.full(queues)
    if not system.serving(state).all():
        return None
    heaviest = max(int(w) for w in maximal(system.instance.pools[0].space) @ state.waiting)
    return system.bound(state).drift <= system.constant - margin * system.setting.servers * heaviest


SCALE = 1e6


@claim(
    "supportable",
    "The fluid queues of max-weight drain from any start just if the workload is strictly inside the region: random "
    "instances at exact traffic intensity 0.98 and 1.02, where they run away at the exact distance to the region in "
    "sqrt(sum mu_j x_j^2), from empty along a straight line and from anywhere within |q(0)| of it.",
    source="Section 2",
    printed="the set of supportable workloads is the interior of C",
    evidence=Evidence.numeric,
    breaks=("the distance is taken in sqrt(sum x_j^2)", "the workload inside is at 1.01 of the boundary"),
)
def supportable(level: Level, broken: str) -> Outcome:
    """Follow paths on both sides."""
    count, starts = (25, 2) if level is Level.quick else (400, 5)
    generator, good, latest = np.random.default_rng(31), 0, 0.0
    for instance in loaded_instances(count, 31):
        first = 101 if broken.startswith("the workload") else 98
        inside, outside = (scaled(instance, Fraction(n, 100)) for n in (first, 102))
        region = region_facets(inside)
        rate = decay_rate(inside, region)
        plain = replace(outside, types=tuple(replace(t, service_rate=Fraction(1)) for t in outside.types))
        away = np.array([float(v) for v in escape_velocity(plain if broken.startswith("the distance") else outside)])
        away *= MaxWeight(outside).service if broken.startswith("the distance") else 1.0
        fine, span = rate is not None and region.intensity(outside.workload) == Fraction(51, 50), 100.0
        straight = queue_path(MaxWeight(outside), np.zeros(len(away)), span).queues[-1]
        fine &= bool(away.any()) and bool(np.abs(straight - span * away).max() < 1e-6 * span)
        for queues in generator.uniform(0, 3, (starts, len(away))):
            longest = norm(inside, queues) / float(rate or 1)
            drained = queue_path(MaxWeight(inside), queues, 2 * longest).drained
            fine &= drained is not None and drained <= longest * (1 + 1e-7)
            latest = max(latest, (drained or 0.0) / longest)
            end = queue_path(MaxWeight(outside), queues, span)
            fine &= end.drained is None and norm(outside, end.queues[-1] - straight) <= norm(outside, queues) + 1e-6
        good += fine
    computed = f"{good} of {count} instances, {starts} starts each; latest at {latest:.3f} of |q| / distance"
    return Outcome(computed, good == count)


@claim(
    "theorem-3.1",
    "The fluid model behind the theorem, on random servers of one pool that every type fits, which Lemma 4.1 needs: "
    "inside r beta of the region, for every oracle with its proven r and beta = 7/8 r, any configurations that (5) "
    "lets stay make V fall, exactly at random queues, by (r beta - z) of the greatest weight at least, so |q| by (r "
    "beta - z) c. That follows from (4) and (5), so the oracles' ratios are what is tested. Between r beta and 1 it "
    "says nothing: along the normal of the workload's facet the guaranteed drift is positive, by duality (which tests "
    "the prices alone). Algorithm 1 itself does not run here; it does in theorem-3.1-queues.",
    source="Theorem 3.1",
    printed="the algorithm can support any workload in the interior of r beta C, 0 < beta < r",
    evidence=Evidence.numeric,
    breaks=("servers keep 3/4 of beta", "the fluid is that of r = 1 for every oracle"),
)
def theorem_3_1(level: Level, broken: str) -> Outcome:
    """Bound drifts exactly, follow paths that stay as long as they may."""
    count, draws, paths = (4, 20, 1) if level is Level.quick else (60, 200, 20)
    generator, good, number, uncovered = np.random.default_rng(33), 0, 0, 0
    for instance in loaded_instances(count, 33, fitting=True):
        space = additive_space(instance)
        rows, support = feasible(space), Support(instance)
        for name in RULES:
            rule = oracles.oracle(space, name)
            beta = rule.ratio * BETA
            share = rule.ratio * beta
            kept = beta * Fraction(3, 4) if broken.startswith("servers") else beta
            if broken.startswith("the fluid"):
                share = BETA
            loaded = scaled(instance, share * Fraction(95, 100))
            z = traffic_intensity(loaded)
            normal = CapacityProgram(loaded).intensity().prices
            fine = True
            for queues in [list(normal), *generator.integers(0, 10**6, (draws, len(rows[0]))).tolist()]:
                weights, asked = rows @ np.array(queues), int(rule(queues) @ np.array(queues))
                lightest = min(int(w) for w in weights if w >= kept * asked)
                arriving = total(q * rho for q, rho in zip(queues, loaded.workload, strict=True))
                fine &= arriving - lightest <= -(share - z) * int(weights.max())
            between = scaled(instance, (share + 1) / 2)
            offered = total(q * rho for q, rho in zip(normal, between.workload, strict=True))
            uncovered += offered > share * support.value(normal)
            if number // len(RULES) >= count - paths:
                fine &= _halves(instance, name)
            good += fine
            number += 1
    computed = f"{good} of {number} pairs of server and oracle; guaranteed drift positive between for {uncovered}"
    return Outcome(computed, good == number == uncovered)


def _halves(instance: Instance, name: str) -> bool:
    """Decide whether ``|q|`` halves in time, in explicit steps of a server that changes only when (5) makes it.

    With ``|q|' <= -rate`` and ``|lambda - mu k| <= G``, a step of ``rate |q| / G^2`` takes a share ``(rate / G)^2``
    of ``|q|^2`` at least; the workload is half of r beta of the boundary.
    """
    rule = oracles.oracle(instance.pools[0].space, name)
    beta = rule.ratio * BETA
    share = rule.ratio * beta
    half = scaled(instance, share / 2)
    model, rate = MaxWeight(half), guaranteed_rate(half, share)
    fastest = max(norm(half, model.arrivals - model.service * k) for k in model.configurations[0])
    queues = np.ones(len(half.types))
    kept = rule((queues * SCALE).astype(np.int64))
    for _ in range(int(log(4) * (fastest / rate) ** 2) + 1):
        best = rule((queues * SCALE).astype(np.int64))
        if float(kept @ queues) < float(beta) * float(best @ queues):
            kept = best
        width = rate * norm(half, queues) / fastest**2
        queues = np.maximum(queues + width * (model.arrivals - model.service * kept), 0.0)
    return norm(half, queues) <= norm(half, np.ones(len(queues))) * (1 + 1e-3) / 2
