"""Results of packproof on limits: reservation without Definition 3.8, max-weight's rate, the drift of Algorithm 1."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, islice

import numpy as np

from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import at_worst, loaded_instances, random_instance, scaled, with_rates
from bounds.results.instances.families import WITHOUT_38
from bounds.results.nonpreemptive.settings import BETA, ORACLES
from fluid.limits.decay import decay_rate, least_time, linear_bound, norm
from fluid.limits.drift import Algorithm1
from fluid.limits.max_weight import MaxWeight, queue_path
from fluid.limits.reservation.model import Reservation
from fluid.limits.reservation.path import fluid_path, state_of
from theory.errors import expect_number
from theory.exact.knapsack import maximal
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import Instance, explicit
from theory.numbers import text
from theory.region.facets import region_facets

SEED = 41


@claim(
    "limit-1-1/e",
    "On non-monotone instances dynamic reservation attains over 1-1/e",
    "Without the monotone greedy property, too, the limit of dynamic reservation attains over 1 - 1/e. Variations of "
    "an instance of three types, in each of which more workload means less greedy reward: the exactly worst ratios "
    "over all workloads are at least 19/27, in rationals; the fluid path from full servers, in floats, ends at that "
    "share of the optimum, to within 1e-6.",
    source="packproof",
    printed="not in the paper: 1/2 without Def. 3.8",
    evidence=Evidence.numeric,
    tiny={"wanted": 6, "paths": 1},
    full={"wanted": 300, "paths": 20},
    controls={
        "a constant above what some of them keep": {"constant": Fraction(19, 20)},
        "the path is cut at time 1": {"until": 1.0},
    },
)
def limit_without_38(
    wanted: int = 12, paths: int = 2, constant: Fraction = Fraction(19, 27), until: float = 80.0
) -> Outcome:
    expect_number(wanted, "wanted", 1)
    expect_number(paths, "paths", 1, wanted)
    generator, found, kept, least, ends = np.random.default_rng(SEED), 0, 0, Fraction(1), 0.0
    while found < wanted:
        rows = [*WITHOUT_38, tuple(generator.integers(0, 3, 3).tolist()), (1, 1, 0)]
        rewards = [Fraction(int(generator.integers(*bounds)), 4) for bounds in ((26, 40), (10, 15), (34, 46))]
        instance = explicit(rows, rewards)
        some = [Fraction(int(generator.integers(*bounds)), 2) for bounds in ((0, 3), (1, 4), (2, 9))]
        pair = [instance.with_workload(rho) for rho in (some, [some[0] + Fraction(1, 2), *some[1:]])]
        if global_greedy(pair[1]).reward >= global_greedy(pair[0]).reward:
            continue  # more workload earns more: the property is not seen to fail
        worst = worst_workload(instance)
        kept += worst.complete and worst.ratio >= constant and min(solve(one).ratio for one in pair) >= constant
        least = min(least, worst.ratio)
        if found < paths:
            ends = max(ends, _end(at_worst(instance), worst.ratio, until))
        found += 1
    computed = (
        f"{kept} of {wanted} instances keep {text(constant)}, least of the worst ratios {text(least)}; "
        f"{paths} paths end at most {ends:.1e} off"
    )
    return Outcome(computed, bool(kept == wanted and ends < 1e-6))


def _end(instance: Instance, ratio: Fraction, until: float) -> float:
    """Return how far the end of the fluid path from full servers is off a share of the optimum."""
    model = Reservation(instance)
    first = tuple(maximal(instance.pools[0].space)[0].tolist())
    path = fluid_path(model, until, state_of(model, {first: 1.0}))
    return abs(float(path.rewards([until])[0]) / float(solve(instance).optimal.reward) - float(ratio))


@claim(
    "max-weight-rate",
    "Max-weight drains at the distance to facets",
    "The largest delta with |q|' <= -delta under max-weight, |q|^2 = sum q_j^2 / mu_j, is the distance of the workload "
    "to the outer facets in sqrt(sum mu_j x_j^2), an exact root: queues drain by |q| / delta, at that time along the "
    "normal of the nearest facet, where no policy is faster. Where a linear function falls everywhere, decided by an "
    "exact linear program, it bounds the time too.",
    source="packproof",
    printed="not in the paper, which shows that V falls for large queues",
    evidence=Evidence.numeric,
    tiny={"count": 5},
    full={"count": 400},
    controls={"a rate larger by a hundredth": {"factor": 1.01}},
)
def max_weight_rate(count: int = 25, *, factor: float = 1.0) -> Outcome:
    expect_number(count, "count", 1)
    generator, good, linear, ratios = np.random.default_rng(32), 0, 0, []
    for instance in loaded_instances(count, 32):
        inside = scaled(instance, Fraction(int(generator.integers(30, 100)), 100))
        region, model = region_facets(inside), MaxWeight(inside)
        rate = decay_rate(inside, region)
        assert rate is not None
        delta = float(rate) * factor
        normal = [Fraction(a) for a in rate.facet.normal]
        some = [Fraction(int(q), 10) for q in generator.integers(1, 40, len(normal))]
        fine = True
        for queues in (normal, some):
            longest, least = norm(inside, [float(q) for q in queues]) / delta, least_time(inside, queues, region)
            drained = queue_path(model, [float(q) for q in queues], 3 * longest).drained
            fine &= drained is not None and float(least or 0) * (1 - 1e-7) <= drained <= longest * (1 + 1e-7)
            if queues is normal:  # along the normal of the nearest facet no policy is faster
                fine &= least is not None and abs(float(least) / longest - 1) < 1e-9
            bound = linear_bound(inside, queues)
            if bound is not None and drained is not None:
                linear += 1
                fine &= drained <= float(bound[0]) * (1 + 1e-7)
                ratios.append(drained / float(bound[0]))
        good += fine
    computed = (
        f"{good} of {count} instances; a linear function for {linear} of {2 * count} queues, which drain at "
        f"{min(ratios):.3f} of its bound at least, {np.mean(ratios):.3f} on average"
    )
    return Outcome(computed, good == count)


@claim(
    "generator-bound",
    "Lemma 4.3 holds for servers heavy enough",
    "Lemma 4.3 with servers that are active and not too light for (5), and B_2 = (sum_j rho_j + most jobs on all "
    "servers) / 2, in every state, and no smaller B_2 does for all instances. Beside the proof, the exact generator is "
    "computed in simulated states of Algorithm 1 with unequal service rates, and the bound is attained.",
    source="packproof",
    printed="not in the paper, which counts all active servers and has a larger B_2",
    evidence=Evidence.proved,
    tiny={"instances": 10, "states": 8},
    full={"instances": 200, "states": 200},
    controls={
        "B_2 less by one in a thousand": {"factor": Fraction(999, 1000)},
        "all active servers count": {"all_active": True},
    },
    proof="drift.md#drift",
)
def generator_bound(
    instances: int = 30, states: int = 16, *, factor: Fraction = Fraction(1), all_active: bool = False
) -> Outcome:
    expect_number(instances, "instances", 1)
    expect_number(states, "states", 0)
    generator, kept, number, least = np.random.default_rng(43), 0, 0, Fraction(10**9)
    for seed, oracle in zip(range(instances), cycle(ORACLES), strict=False):
        instance = random_instance(generator, pools=1 + seed % 2)
        rates = [Fraction(int(n), 2) for n in generator.integers(1, 6, len(instance.types))]
        system = Algorithm1(with_rates(instance, rates), 3, BETA, oracle)
        b_2 = system.constant * factor
        queues = generator.integers(0, 40, len(instance.types)).tolist()
        chosen = list(islice(system.states(queues, seed), states))
        chosen.append(system.full([max(system.most_jobs) * 10] * len(queues)))
        for state in chosen:
            bound = system.bound(state)
            # the right side of Lemma 4.3 less the generator A V
            slack = (bound.active if all_active else bound.serving) + b_2 - bound.drift
            kept += slack >= 0
            number += 1
            least = min(least, slack)
    return Outcome(f"{kept} of {number} states, least slack {text(least)}", kept == number and least == 0)
