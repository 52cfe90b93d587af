"""The non-preemptive scheduling paper, Section 4: drift by exact generators, and how long a server stays active."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, islice
from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.results.decisions import Decisions
from bounds.results.instances import (
    additive_space,
    fits_everywhere,
    loaded_instances,
    random_instances,
    scaled,
    with_rates,
)
from bounds.results.nonpreemptive.settings import BETA, ORACLES, arrived, table_1
from bounds.results.simulated_queues import shown
from fluid.limits.decay import decay_rate, escape_velocity, guaranteed_rate, norm
from fluid.limits.drift import Algorithm1, LeastMove, angle_constant, least_move
from fluid.limits.max_weight import MaxWeight, queue_path
from fluid.simulation.driver import run_once
from theory.exact.knapsack import feasible, maximal
from theory.greedy.servers import max_jobs
from theory.instance import Additive, Instance, additive, pooled
from theory.numbers import text, total
from theory.region import oracles
from theory.region.facets import region_facets
from theory.region.membership import CapacityProgram, Support, traffic_intensity
from theory.region.oracles import RULES, lemma_6_1
from theory.region.worst_case import worst_weights


@claim(
    "lemma-4.3",
    "In every state A V <= sum_j Q_j (rho_j - sum over active servers of k_j) + B_2. One server of 6, jobs of 4 and 1, "
    "beta = 7/8: it begins for 10 large jobs and a small one with (1, 2), the only heaviest configuration. With n >= 3 "
    "small jobs that wait, before any departure, it is active and too light for (5), so its next departure stalls it "
    "and starts no job: without B_2 the right side is too small by 2 n + 81/8, so no B_2 is enough.",
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
    most = 400 if level is Level.quick else 4000
    system = Algorithm1(
        additive([6], [[4], [1]], workload=["1/4", 2]), 1, Fraction(1, 4) if broken.startswith("beta") else BETA
    )
    state, excess = system.start([10, 0]), []
    for _ in range(most):
        state = arrived(system, (1,), state)
        bound = system.bound(state)
        excess.append(bound.drift - (bound.serving if broken.startswith("servers") else bound.active))
    waiting = int(state.waiting[1])
    grows = excess[-waiting + 2 :] == [2 * n + Fraction(81, 8) for n in range(3, waiting + 1)]
    holds = not (grows and max(excess) > system.printed_constant)
    by = f"2 n + 81/8 for n = 3 to {waiting}" if grows else f"{text(max(excess))} at most"
    computed = f"A V exceeds the sum by {by}, with n jobs waiting; B_2 as printed is {text(system.printed_constant)}"
    return Outcome(computed, holds)


def ratio_of(space: Additive, oracle: str) -> Fraction:
    """Return the r of an oracle of Algorithm 1 on a server: proven, of the printed lemma for a single type."""
    if oracle == "exact":
        return Fraction(1)
    return lemma_6_1(space) if oracle == "single" else worst_weights(space, "refined").ratio


def _dyadic_beta(r: Fraction) -> Fraction:
    """Return 7/8 r, rounded down to be dyadic, so that the policy compares what is meant."""
    return Fraction(int(r * 56), 64)


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
    runs, others, size = (14, 1, 3000) if level is Level.quick else (60, 3, 20_000)
    instance = table_1(1)
    space = additive_space(instance)
    normal = CapacityProgram(instance).intensity().prices
    generator, good, parts, serving = np.random.default_rng(45), True, [], []
    overload = broken.startswith("110%")
    decisions = Decisions(len(ORACLES) * (1 + others))
    for oracle in ORACLES:
        r = ratio_of(space, oracle)
        beta = _dyadic_beta(r)
        share = r * beta  # r beta of the region is claimed
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
    count, starts = (25, 2) if level is Level.quick else (400, 5)
    generator, good, latest = np.random.default_rng(31), 0, 0.0
    for instance in loaded_instances(count, 31):
        first = 101 if broken.startswith("the workload") else 98
        inside, outside = (scaled(instance, Fraction(n, 100)) for n in (first, 102))
        region = region_facets(inside)
        rate = decay_rate(inside, region)
        plain = with_rates(outside, [1] * len(outside.types))
        away = np.array([float(v) for v in escape_velocity(plain if broken.startswith("the distance") else outside)])
        away *= MaxWeight(outside).service if broken.startswith("the distance") else 1.0
        fine, span = rate is not None and region.intensity(outside.workload) == Fraction(51, 50), 100.0
        straight = queue_path(MaxWeight(outside), np.zeros(len(away)), span).queues[-1]  # from empty queues
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
    count, draws, paths = (4, 20, 1) if level is Level.quick else (60, 200, 20)
    generator, good, number, uncovered = np.random.default_rng(33), 0, 0, 0
    for instance in loaded_instances(count, 33, fitting=True):
        space = additive_space(instance)
        rows, support = feasible(space), Support(instance)
        for name in RULES:
            rule = oracles.oracle(space, name)
            beta = rule.ratio * BETA
            share = rule.ratio * beta  # r beta, the part of the region that is claimed
            kept = beta * Fraction(3, 4) if broken.startswith("servers") else beta
            if broken.startswith("the fluid"):
                share = BETA
            loaded = scaled(instance, share * Fraction(95, 100))
            z = traffic_intensity(loaded)
            normal = CapacityProgram(loaded).intensity().prices
            fine = True
            for queues in [list(normal), *generator.integers(0, 10**6, (draws, len(rows[0]))).tolist()]:
                weights, asked = rows @ np.array(queues), int(rule(queues) @ np.array(queues))
                lightest = min(int(w) for w in weights if w >= kept * asked)  # that (5) lets a server keep
                arriving = total(q * rho for q, rho in zip(queues, loaded.workload, strict=True))
                fine &= arriving - lightest <= -(share - z) * int(weights.max())
            between = scaled(instance, (share + 1) / 2)  # beyond r beta, inside the region
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


def _is_small(instance: Instance) -> bool:
    """Return whether an instance has up to three types that all fit, with few enough maximal configurations."""
    few = len(instance.types) <= 3 and fits_everywhere(instance)
    return few and len(maximal(instance.pools[0].space)) <= 6


def _cone_of(space: Additive, oracle: str) -> tuple[Fraction, Fraction, LeastMove | None]:
    """Return an oracle's r, beta = 7/8 r, and the cone."""
    r = ratio_of(space, oracle)
    beta = _dyadic_beta(r)
    taken = np.diag([space.most(j) for j in range(len(space.demands))]).tolist() if oracle == "single" else None
    return r, beta, least_move(space, beta, r, taken)


@claim(
    "lemma-4.1",
    "There is a C > 0 such that a server stays active while the queues move by less than C ||Q||. Not where a type "
    "fits no server of a kind: servers of 1 and of 2, jobs of 1, 1 and 2, n of the last waiting. The server of 1 "
    "begins for one job of the first type; one job of each type more makes it too light for (5), and it stalls when "
    "its job ends, after a move of 2 whatever n is. The servers of Example 2 are of this kind. Repaired in "
    "lemma-4.1-every-type-fits.",
    source="Lemma 4.1",
    printed="there is a C > 0 such that the server stays active while ||A||_inf + ||D||_inf < C ||Q(t_a)||",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.statement,
    breaks=("the third type has one unit, so that it fits every server",),
)
def lemma_4_1(level: Level, broken: str) -> Outcome:
    sizes = [[1], [1], [1 if broken else 2]]
    instance = pooled([(1, [1]), (1, [2])], sizes, workload=[1, 1, 1])
    lengths = [10**e for e in (range(1, 7) if level is Level.quick else range(1, 13))]
    stalled = [n for n in lengths if _stalls_after_four(Algorithm1(instance, 2, Fraction(1, 2)), n)]
    computed = f"stalls after a move of 2 for {len(stalled)} of {len(lengths)} lengths of the queue, to {lengths[-1]:,}"
    return Outcome(computed, len(stalled) < len(lengths))


def _stalls_after_four(system: Algorithm1, long: int) -> bool:
    """Decide whether server 1 gives up its configuration after arrivals of types 1, 3 and 2 and the end of its job."""
    state = arrived(system, (0, 2, 1), system.start([0, 0, long]))  # the third type's makes the other server begin
    before = state.configuration[0].tolist()
    after = list(system.steps(state))[3][1]  # the job of server 1 ends; a server that is stalled and empty is renewed
    return bool(after.configuration[0].tolist() != before)


@claim(
    "lemma-4.1-every-type-fits",
    "Lemma 4.1 with a hypothesis that the paper does not have, servers that every type fits, and in max norms: there "
    "is a C > 0 such that the server stays active while max A + max D < C max Q. The exact greatest C of random "
    "servers by linear programs, for any configuration that meets (4), is attained, and at least (r - beta) / K; in "
    "simulated states of Algorithm 1 no server is too light for (5) within it.",
    source="Lemma 4.1",
    printed=(
        "there is a C > 0 such that the server stays active while ||A||_inf + ||D||_inf < C ||Q(t_a)||, the last "
        "norm Euclidean; C = C_a / sqrt(J)"
    ),
    evidence=Evidence.certified,
    breaks=("C larger by a hundredth", "C is at least 3 (r - beta) / K", "jobs that start do not count as a move"),
)
def lemma_4_1_every_type_fits(level: Level, broken: str) -> Outcome:
    count, events = (9, 60) if level is Level.quick else (60, 1000)
    generator, light, closest, least = np.random.default_rng(41), 0, Fraction(10**6), Fraction(10**6)
    tried = attained = within = 0
    for seed, (instance, oracle) in enumerate(
        zip(random_instances(generator, count, _is_small), cycle(ORACLES), strict=False)
    ):
        space = additive_space(instance)
        r, beta, found = _cone_of(space, oracle)
        if found is None:
            continue
        claimed = found.constant * (Fraction(101, 100) if broken.startswith("C larger") else 1)
        least_claimed = (r - beta) / max_jobs(instance) * (3 if broken.startswith("C is") else 1)
        attained += claimed >= least_claimed and _lightened(found, beta) > claimed
        tried += 1
        least = min(least, found.constant)
        system = Algorithm1(instance.with_workload([Fraction(3)] * len(instance.types)), 2, beta, oracle)
        start = generator.integers(0, 12, len(instance.types)).tolist()
        for state, taken in islice(system.periods(start, seed), events):
            for server in np.flatnonzero((state.active == 1) & ~system.serving(state)):
                change = state.waiting - taken[server]
                started = 0 if broken.startswith("jobs") else max(0, int(-change.min()))
                size = max(0, int(change.max())) + started
                closest = min(closest, Fraction(size, max(1, int(taken[server].max()))) / found.constant)
                within += size < claimed * int(taken[server].max())
                light += 1
    computed = (
        f"{attained} of {tried} servers attain C, the least {text(least)}; {light} times too light, {within} of them "
        f"within C, the first after {float(closest):.3g} C"
    )
    return Outcome(computed, attained == tried and not within and light > 0)


def _lightened(found: LeastMove, beta: Fraction) -> Fraction:
    """Return the size of a move a little beyond the least one, at which the configuration is strictly too light."""
    eps = found.constant / 1000
    gap = [a - beta * b for a, b in zip(found.configuration, found.rival, strict=True)]
    more = [a + (eps if g < 0 else 0) for a, g in zip(found.arrivals, gap, strict=True)]
    after = [q + a - d for q, a, d in zip(found.queues, more, found.departures, strict=True)]
    assert min(after) >= 0
    assert total(g * x for g, x in zip(gap, after, strict=True)) < 0
    return (max(more) + max(found.departures)) / max(found.queues)


@claim(
    "lemma-4.1-angle",
    "A configuration stays as heavy as (9) asks while ||A - D|| < sin(x) ||Q||, x the least angle (10) between its "
    "hyperplane and a rival's, (11): servers that hold one job of any of three types, beta = 1/2, Q = (n, n, n). The "
    "angle is the distance in a plane only. This does not refute C = C_a / sqrt(J); lemma-4.1-constant does.",
    source="Lemma 4.1",
    printed="active as long as ||A - D|| < sin(min over k != k~ of angle (10)) ||Q(t_a)||, (11)",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    breaks=("only two types",),
)
def lemma_4_1_angle(level: Level, broken: str) -> Outcome:
    """Compare squares of the distance to the hyperplane of (9) and of what (11) allows."""
    width, beta = (2 if broken else 3), Fraction(1, 2)
    first, second = ((1, *(0,) * (width - 1)), (0, 1, *(0,) * (width - 2)))
    gap = [a - beta * b for a, b in zip(first, second, strict=True)]
    distance = total(gap) ** 2 / total(g * g for g in gap)
    allowed = angle_constant(first, second, beta) * width
    holds = distance >= allowed
    computed = f"(distance / n)^2 = {text(distance)}, (sin(x) ||Q|| / n)^2 = {text(allowed)}"
    return Outcome(computed, holds)


@claim(
    "lemma-4.1-constant",
    "A server stays active while max A + max D < C ||Q||, C the sine of the least angle (10) to a rival that is not "
    "parallel, divided by sqrt(J): server of 7, jobs of 3, 1 and 7, beta = 19/20, configuration (2, 1, 0) of greatest "
    "weight at Q = (3/7, 1/7, 1), after arrivals of type 2 alone; and Algorithm 1 from Q = (6001, 2000, 14000), where "
    "125 such arrivals stall it.",
    source="Lemma 4.1",
    printed=(
        "C = C_a / sqrt(J), C_a > 0 the sine of the least angle (10) over k != k~, said never to be parallel (one "
        "that is not maximal can be: then C_a = 0)"
    ),
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    breaks=("the third type is left out",),
)
def lemma_4_1_constant(level: Level, broken: str) -> Outcome:
    """Compare squares of moves that make it too light and of C ||Q||."""
    beta, width = Fraction(19, 20), 2 if broken else 3
    instance, taken = additive([7], [[3], [1], [7]][:width], workload=[1] * width), (2, 1, 0)[:width]
    rows = [tuple(k) for k in feasible(instance.pools[0].space).tolist() if any(k)]
    rivals = [k for k in rows if np.linalg.matrix_rank([k, taken]) == 2]
    square = min(angle_constant(taken, k, beta) for k in rivals) / width  # of C as printed
    queues, move = [Fraction(3, 7), Fraction(1, 7), Fraction(1)][:width], Fraction(1, 113)
    after = [q + (move if j == 1 else 0) for j, q in enumerate(queues)]
    weights = [[total(n * q for n, q in zip(k, at, strict=True)) for k in (taken, *rivals)] for at in (queues, after)]
    assert weights[0][0] == max(weights[0])
    assert weights[1][0] == beta * max(weights[1])
    waiting = [6001, 2000, 14000][:width]
    walked = _walked(Algorithm1(instance, 1, beta), waiting, taken, 125)
    allowed, long = (square * total(Fraction(q) ** 2 for q in at) for at in (queues, waiting))  # squares of C ||Q||
    holds = allowed <= move**2 or long <= walked**2  # both moves are too short for what is printed
    computed = (
        f"any more than {text(move)} = {float(move):.6f} makes it too light, C ||Q|| = {float(allowed) ** 0.5:.6f}, "
        f"its square {text(allowed)}; Algorithm 1 stalls after a move of {walked}, C ||Q|| = {float(long) ** 0.5:.1f}"
    )
    return Outcome(computed, holds)


def _walked(system: Algorithm1, queues: list[int], taken: tuple[int, ...], arrivals: int) -> int:
    """Return max A + max D from when the server begins for the queues until it stalls, after arrivals of type 2."""
    state = arrived(system, (len(queues) - 1, *[1] * arrivals), system.start([*queues[:-1], queues[-1] - 1]))
    assert tuple(state.configuration[0].tolist()) == tuple(state.counts[0].tolist()) == taken
    ended = list(system.steps(state))[len(queues)][1]
    assert (state.active[0], ended.active[0]) == (1, 0)
    assert ended.waiting.tolist() == state.waiting.tolist()
    return arrivals + max(taken)  # those that start with the configuration leave the queue
