"""Claims about the fluid model of max-weight and of Algorithm 1 (004): stability, rates, what the oracle's r keeps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.instances import loaded_instances, scaled
from fluid.limits.decay import decay_rate, escape_velocity, guaranteed_rate, norm
from fluid.limits.max_weight import MaxWeight, queue_path
from theory.exact.configurations import feasible
from theory.instance import Additive, Instance
from theory.numbers import total
from theory.region.facets import region_facets
from theory.region.membership import CapacityProgram, traffic_intensity
from theory.region.oracles import RULES, oracle
from theory.region.support import Support

BETA = Fraction(7, 8)
SCALE = 1e6


@claim(
    "supportable",
    "The fluid queues of max-weight drain from any start just if the workload is strictly inside the region: random "
    "instances at exact traffic intensity 0.98 and 1.02, where they run away at the exact distance to the region in "
    "sqrt(sum mu_j x_j^2), from empty along a straight line and from anywhere within |q(0)| of it.",
    printed="the set of supportable workloads is the interior of C",
    evidence=Evidence.numeric,
)
def supportable(level: Level, broken: bool) -> Outcome:
    """Follow paths on both sides; broken: the distance is taken in sqrt(sum x_j^2)."""
    count, starts = (25, 2) if level is Level.quick else (400, 5)
    generator, good, latest = np.random.default_rng(31), 0, 0.0
    for instance in loaded_instances(count, 31):
        inside, outside = (scaled(instance, Fraction(n, 100)) for n in (98, 102))
        region = region_facets(inside)
        rate = decay_rate(inside, region)
        plain = replace(outside, types=tuple(replace(t, service_rate=Fraction(1)) for t in outside.types))
        away = np.array([float(v) for v in escape_velocity(plain if broken else outside)])
        away *= MaxWeight(outside).service if broken else 1.0
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
    return Outcome(computed, Evidence.numeric, good == count)


@claim(
    "theorem-3.1",
    "A workload inside r beta of the region is supported: in the fluid model of Algorithm 1, for every oracle with its "
    "proven r and beta = 7/8 r, any configurations that (5) lets stay make V fall, exactly at random queues, by "
    "(r beta - z) of the greatest weight at least, so |q| by (r beta - z) c. That follows from (4) and (5), so the "
    "oracles' ratios are what is tested. Between r beta and 1 it says nothing: along the normal of the workload's "
    "facet the guaranteed drift is positive, by duality (which tests the prices alone).",
    printed="the algorithm can support any workload in the interior of r beta C, 0 < beta < r",
    evidence=Evidence.numeric,
)
def theorem_3_1(level: Level, broken: bool) -> Outcome:
    """Bound drifts exactly, follow paths that stay as long as they may; broken: servers keep 3/4 of beta."""
    count, draws, paths = (4, 20, 1) if level is Level.quick else (60, 200, 20)
    generator, good, number, uncovered = np.random.default_rng(33), 0, 0, 0
    for instance in loaded_instances(count, 33, fitting=True):
        space = instance.pools[0].space
        assert isinstance(space, Additive)
        rows, support = feasible(space), Support(instance)
        for name in RULES:
            rule = oracle(space, name)
            beta = rule.ratio * BETA
            share = rule.ratio * beta
            kept = beta * Fraction(3, 4) if broken else beta
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
    return Outcome(computed, Evidence.numeric, good == number == uncovered)


def _halves(instance: Instance, name: str) -> bool:
    """Decide whether ``|q|`` halves in time, in explicit steps of a server that changes only when (5) makes it.

    With ``|q|' <= -rate`` and ``|lambda - mu k| <= G``, a step of ``rate |q| / G^2`` takes a share ``(rate / G)^2``
    of ``|q|^2`` at least; the workload is half of r beta of the boundary.
    """
    rule = oracle(instance.pools[0].space, name)
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
