"""Claims of the non-preemptive scheduling paper on steps of its proofs: where a step fails, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise
from math import ceil, factorial, log

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Outcome, Refutes, Verdict, claim
from bounds.results.decisions import FRESH_SEED, Decisions
from bounds.results.nonpreemptive.settings import BETA, arrived, example_1
from fluid.limits.drift import Algorithm1
from fluid.simulation.state import State
from theory.errors import InputError, expect_number
from theory.instance import additive
from theory.numbers import text, total

OPPOSITE, INDEPENDENT = ((0, 1), (1, 0)), ((0, 0), (0, 1), (1, 0), (1, 1))
"""Equally likely values of two fair coins X and Y: where Y = 1 - X, and where they are independent."""


@claim(
    "proposition-4.2",
    "Two steps of (32) in the proof fail",
    "Two steps of (32) in the proof. (a) P(X + Y < C) >= P(X < C/2) P(Y < C/2): not for dependent numbers such as A "
    "and D; a fair coin X, Y = 1 - X and C = 1 give 0 and 1/4. (c) Markov's inequality with at most K_max mu_j N T "
    "jobs that leave the queue: all L servers start jobs; two servers of one slot start twice as many, 20 on average "
    "for N T = 10, and P(D < 15) is below 1/3. The proposition needs 1 - P(X >= C/2) - P(Y >= C/2) and L K_max^2 "
    "mu_max.",
    source="Proposition 4.2",
    printed="(32): p(X + Y < C) >= p(X < C/2) p(Y < C/2), and departure rates of at most K_max mu_j^-1",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    controls={"the coins are independent and there is one server": {"coins": INDEPENDENT, "servers": 1}},
)
def proposition_4_2(
    servers: int = 2, span: int = 10, jobs: int = 15, *, coins: tuple[tuple[int, int], ...] = OPPOSITE
) -> Outcome:
    law = dict.fromkeys(coins, Fraction(1, len(coins)))
    joint = sum(p for (x, y), p in law.items() if x + y < 1)
    apart = sum(p for (x, _), p in law.items() if 2 * x < 1) * sum(p for (_, y), p in law.items() if 2 * y < 1)
    expect_number(servers, "servers", 1)
    expect_number(span, "span", 1)
    expect_number(jobs, "jobs", 1)
    system = Algorithm1(additive([1], [[1]], workload=["1/2"]), servers, Fraction(1, 2))
    state = system.full([1000])  # as long as jobs wait, each that ends starts one: a Poisson process
    rate = sum(Fraction(r) for r, after, _ in system.steps(state) if after.waiting[0] < state.waiting[0])
    mean = rate * span
    # e^mean is more than each partial sum of its series: an upper bound of P(D < jobs)
    terms = [mean**k / factorial(k) for k in range(jobs + 4 * ceil(mean) + 100)]
    below = sum(terms[:jobs]) / sum(terms)
    markov = 1 - Fraction(span, jobs)  # K_max = mu = 1
    computed = (
        f"(a) {text(joint)} against {text(apart)}; (c) jobs leave the queue at rate {text(rate)}, P(D < {jobs}) = "
        f"{float(below):.4f} against {text(markov)}"
    )
    return Outcome(computed, joint >= apart or below >= markov)  # both steps fail


@claim(
    "proposition-4.2-event",
    "Stalls are few and short in one simulation",
    "What the proposition says, P(E) > 1 - eps for eps = 1/2, where every type fits every server: two servers with "
    "Example 1's types, which hold a configuration that is too light when the queue is 20,000 jobs of the small type "
    "long. In N T = 8 mean service times each server stalls at most once, for at most M T = 4 of them, with a "
    "probability above 1/2, by the sign test; M T = 2 would not do.",
    source="Proposition 4.2",
    printed="P(E) > 1 - eps if M > -log(eps) + C_1 and ||Q(t_0)|| > N C_2 / eps",
    evidence=Evidence.statistical,
    tiny={"paths": 30, "most_stalled": 6},
    full={"paths": 400},
    controls={
        "the queue is 2 jobs long": {"small_jobs": 2},
        "beta = 1, so that a server stalls as soon as it is not the heaviest": {"beta": 1, "large_jobs": 80_000},
        "M T is 2": {"most_stalled": 2},
    },
)
def proposition_4_2_event(
    paths: int = 60,
    beta: Fraction = BETA,
    small_jobs: int = 20_000,
    large_jobs: int = 0,
    span: float = 8.0,
    most_stalled: float = 4,
) -> Outcome:
    """Follow paths of the policy's own functions for N T = `span`, and count; `most_stalled` is M T."""
    expect_number(paths, "paths", 20)  # with fewer the sign test decides nothing
    system = Algorithm1(example_1(Fraction(89, 100)), 2, beta)
    generator, decisions, once, most, longest = np.random.default_rng(FRESH_SEED), Decisions(1), [], 0, 0.0
    for _ in range(paths):
        first = arrived(system, (0, 1, 1, 0, 1, 1))
        first.waiting[:] = [large_jobs, small_jobs]
        times, spans = _stalls(system, first, generator, span)
        once.append(1 if max(times) <= 1 and max(spans) <= most_stalled else -1)
        most, longest = max(most, *times), max(longest, *spans)
    computed = (
        f"on {once.count(1)} of {paths} paths every server stalls at most once and for at most {most_stalled:g}; a "
        f"server stalls up to {most} times and for up to {longest:.2f}; {decisions}, seed {FRESH_SEED}"
    )
    return Outcome(computed, decisions.mostly_positive(once))


def _stalls(
    system: Algorithm1, first: State, generator: np.random.Generator, until: float
) -> tuple[list[int], list[float]]:
    """Return how often each server stalls on a random path, and its longest stalled period."""
    servers, now, before = range(system.setting.servers), 0.0, first
    times, spans, since = [0 for _ in servers], [0.0 for _ in servers], [0.0 for _ in servers]
    for state, lasted, _ in system.steps.walk(first, generator):
        now += lasted
        for server in servers:
            was, is_now = bool(before.active[server]), bool(state.active[server])
            renewed = (state.configuration[server] != before.configuration[server]).any()
            if was and (not is_now or renewed):  # a server that is stalled and empty is renewed at once
                times[server], since[server] = times[server] + 1, now
            if not was:
                spans[server] = max(spans[server], min(now, until) - since[server])
        if now >= until:
            break
        before = state
    return times, spans


@claim(
    "lemma-4.4",
    "The proof's (41) overlooks empty active servers",
    "The bound (41) in the proof takes departures from an active server at a rate of at least min mu. It overlooks an "
    "active server that is empty. A server of one job of either type, mu = 1, arrival rates 1/1000 and 1/2, beta = "
    "1/2: it begins for a job of the first type, which ends while no job waits; then 80 jobs of the second type come "
    "before one of the first, and the weight is 40 below beta times the greatest. Along the policy's own steps that "
    "has a probability above 1/2, where the proof bounds it for B_1 = 40 by (1 - C_f)^(N - 1) / C_f, less than a "
    "millionth: the printed C_3 and C_4 are too small. The lemma says only that some constants exist, and it survives "
    "in this instance with a larger C_3, as the jobs of the second type that come before the next departure have a "
    "geometric tail of ratio 500/501.",
    source="Lemma 4.4",
    printed="(41), as an active server has departures at rate r_2 = min mu_j at least: P(E_B1) > 1 - eps if B_1 > "
    "-C_3 log(eps) + C_4, C_3 = -K_max^2 / log(1 - C_f)",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    controls={"the first type comes as often as the second": {"rare": Fraction(1, 2)}},
)
def lemma_4_4(
    rare: Fraction = Fraction(1, 1000), often: Fraction = Fraction(1, 2), beta: Fraction = Fraction(1, 2), b_1: int = 40
) -> Outcome:
    """Multiply the probabilities of the steps of that path.

    Why a larger C_3 is enough: let D = beta Q_2 - Q_1 for the configuration (1, 0). (5) is looked at when the job ends;
    a period that goes on then has D <= 1. Between two such times D grows with arrivals of type 2 alone, over an
    exponential time of mean 1, and one of mean 1 / rare before it if the server is empty: their number is at least m
    with a probability of at most c a^m, a = often / (rare + often). From D > 0 the period ends with the next departure
    unless a job of type 1 joins the queue before, which has a probability of at most q = rare / (rare + 1). So D
    reaches B_1 with a probability of at most c a^((B_1 - 1) / beta) / (1 - q). For the configuration (0, 1) the rates
    change places.
    """
    if not 0 < rare < 1:
        raise InputError("rare", f"expected a rate of arrivals above 0 and below the service rate 1, got {rare}")
    expect_number(b_1, "b_1", 1)
    system = Algorithm1(additive([1], [[1], [1]], workload=[rare, often]), 1, beta)
    state = arrived(system, (0,))
    assert state.configuration.tolist() == state.counts.tolist() == [[1, 0]]
    chance = Fraction(1)
    for step in (2, *[1] * ceil(b_1 / beta)):  # the job ends; jobs of type 2 come
        steps = list(system.steps(state))
        chance *= Fraction(steps[step][0]) / sum(Fraction(rate) for rate, *_ in steps)
        state = steps[step][1]
    assert state.active[0] == 1
    assert state.configuration.tolist() == [[1, 0]]
    short = beta * int(state.waiting.max()) - int(state.configuration[0] @ state.waiting)
    c_f = 1 / (1 + 2 * max(rare, often) + 1)  # r_2 / (r_1 + r_2), r_1 = J lambda_max + L K_max mu_max, r_2 = 1
    bound = (1 - c_f) ** (b_1 - 1) / c_f
    computed = (
        f"{text(short)} below beta times the greatest, with probability {float(chance):.3g}; bound {float(bound):.3g}; "
        f"the printed C_3 is {-1 / log(1 - c_f):.3g}, {beta / log(1 + rare / often):.4g} is enough"
    )
    return Outcome(computed, short < b_1 or chance <= bound)


@claim(
    "equations-19-22",
    "Equations (19)-(22) have wrong signs",
    "(22) makes every C_j of (21) negative, and by (20) V falls. C_j < 0 just if N > L M (1 - rho_j / v_j), an "
    "identity in symbols, where (22) prints -1 - rho_j / v_j: with L = M = T = 1, rho = 1, v = -1/2, N = 2 is enough "
    "for (22), and C_j = 1/2. (19) and (20) have V(t_0) - V(t_f) on the left, which would make V rise from long "
    "queues: the exact generator of one server at 1000 waiting jobs is negative. The first term of C_g in (21) has "
    "the wrong sign too: with v_j < 0 the jobs that leave make the bound larger.",
    source="Equations (19)-(22)",
    printed="N > L M max_j (-1 - rho_j / v_j); E[V(t_0) - V(t_f)] <= sum_j C_j Q_j + C_g",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    controls={"1 - rho_j / v_j, V(t_f) - V(t_0), and -v_j in C_g": {"first": 1, "side": 1, "lost": -1}},
)
def equations_19_22(
    servers: int = 1,
    m: int = 1,
    rho: Fraction = Fraction(1),
    v: Fraction = Fraction(-1, 2),
    *,
    first: int = -1,
    side: int = -1,
    lost: int = 1,
) -> Outcome:
    """Solve C_j < 0 in symbols, take the least whole N that is asked for, and compute a generator.

    Printed are the first term -1 in (22), V(t_f) - V(t_0) times -1 in (20), and v_j times 1 in C_g.
    """
    import sympy as sp

    expect_number(servers, "servers", 1)
    expect_number(m, "m", 1)
    if not v < 0 < rho:
        raise InputError("rho, v", f"expected rho above 0 and v below 0, got {rho} and {v}")
    n, size, big_m, t, load, k, mu = sp.symbols("N L M T rho K mu", positive=True)
    drift = -sp.Symbol("w", positive=True)  # v_j
    coefficient = (n - size * big_m) * t * drift + size * big_m * t * load  # C_j of (21)
    exact = size * big_m * (1 - load / drift)
    identity = sp.simplify(coefficient.subs(n, exact)) == 0 and sp.simplify(sp.diff(coefficient, n) - t * drift) == 0
    values = {size: servers, big_m: m, t: 1, load: sp.Rational(rho), drift.args[1]: -sp.Rational(v)}
    least = max(1, int(sp.floor((size * big_m * (first - load / drift)).subs(values))) + 1)
    c_j = coefficient.subs(values).subs(n, least)
    system = Algorithm1(additive([1], [[1]], workload=["1/2"]), 1, Fraction(1, 2))
    sided = side * system.bound(system.full([1000])).drift
    # (N - LM) T (Q - L K N T mu) v: what its second part adds, for the jobs that may leave in N T
    part = sp.expand((n - size * big_m) * t * (-size * k * n * t * mu) * drift)
    sign = sp.simplify(part / ((n - size * big_m) * n * t**2 * size * k * mu * lost * drift))
    computed = (
        f"C_j = 0 at N = L M (1 - rho/v): {'yes' if identity else 'no'}; the least N asked for is {least}, "
        f"C_j = {c_j}; "
        f"left side of (20) at 1000 jobs: {text(sided)} per unit time; first term of C_g times {sign} is right"
    )
    assert identity
    return Outcome(computed, bool(c_j < 0 or sided < 0 or sign == 1))  # all that is printed fails


CLASSES = ((Fraction(1, 2), Fraction(2)), (Fraction(1, 2), Fraction(2, 3)))
"""Probability and service rate of each class of jobs: mean service 1/4 + 3/4 = 1."""


def _class_terms(system: Algorithm1, state: State, classes: NDArray[np.int64]) -> tuple[list[Fraction], Fraction]:
    """Return the generator of (24) as a sum: the factor of each queue, and the rest.

    Every mu_j is 1, and a job that starts draws one of `CLASSES`; `classes`, int64[L, J, C], has the jobs of each class
    on each server.
    """
    weights = [1 / rate - 1 for _, rate in CLASSES]  # (25); their mean is 0
    variance = total(p * w**2 for (p, _), w in zip(CLASSES, weights, strict=True))
    weight_held = [total(int(n) * w for n, w in zip(row, weights, strict=True)) for row in classes.sum(axis=0)]
    factors = [Fraction(0)] * len(weight_held)
    rest = Fraction(0)

    def add(rate: Fraction, after: State, left: int, weight: Fraction) -> None:
        nonlocal rest
        for j, (q, then) in enumerate(zip(state.waiting.tolist(), after.waiting.tolist(), strict=True)):
            gone = int(j == left)
            started = int(after.counts[:, j].sum() - state.counts[:, j].sum()) + gone
            # (q + w + step)^2 / 2 - (q + w)^2 / 2, where w is the weight of the jobs in service
            step = then - q - gone * weight
            factors[j] += rate * step
            rest += rate * (weight_held[j] * step + (step**2 + started * variance) / 2)

    steps = list(system.steps(state))
    places = np.argwhere(state.counts > 0).tolist()  # departures follow the arrivals in this order
    arrivals = len(steps) - len(places)
    for arrival_rate, after, _ in steps[:arrivals]:
        add(Fraction(arrival_rate), after, -1, Fraction(0))
    for (_, after, _), (server, j) in zip(steps[arrivals:], places, strict=True):
        for number, (_, rate), weight in zip(classes[server, j].tolist(), CLASSES, weights, strict=True):
            add(number * rate, after, j, weight)
    return factors, rest


def _class_drift(system: Algorithm1, state: State, classes: NDArray[np.int64]) -> Fraction:
    """Return the exact generator of (24); see `_class_terms`."""
    factors, rest = _class_terms(system, state, classes)
    return total(int(q) * factor for q, factor in zip(state.waiting, factors, strict=True)) + rest


def _constants(system: Algorithm1) -> tuple[Fraction, Fraction]:
    """Return C_h and B_h of the proof, where every mu_j is 1."""
    servers, most, fastest = system.setting.servers, max(system.most_jobs), max(rate for _, rate in CLASSES)
    widest = max(abs(1 / rate - 1) for _, rate in CLASSES)
    slots = servers * most
    parts = [
        rho + slots + slots * most**2 * fastest + (slots * widest) * (slots * widest + 1) * (rho + slots * fastest)
        for rho in system.workload
    ]
    return most * widest * fastest, total(parts)


@claim(
    "lemma-5.1",
    "Drift with service classes fails for light servers",
    "The generator of (24), with classes of service, is at most sum_j Q_j (rho_j - sum over active servers of k_j) + "
    "B_h where no server is stalled. As for Lemma 4.3: one server of 6, jobs of 4 and 1, beta = 7/8, two classes of "
    "rates 2 and 2/3, equally likely. It begins for 10 large jobs and a small one, and holds (1, 2), all of the first "
    "class. With n >= 3 small jobs that wait it is active and too light for (5); without B_h the right side is too "
    "small by 4 n and a constant, so no B_h is enough.",
    source="Lemma 5.1",
    printed="(26): A V <= sum_j Q_j (rho_j - sum_l I_l k_j^l + sum_l (1 - I_l) C_h / mu_j) + B_h at any time",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.statement,
    full={"arrivals": 1000},
    controls={"beta = 1/4, with which (1, 2) is not too light": {"beta": Fraction(1, 4)}},
)
def lemma_5_1(arrivals: int = 40, beta: Fraction = BETA) -> Outcome:
    expect_number(arrivals, "arrivals", 2)
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 1, beta)
    state = arrived(system, (1,) * 4, system.start([10, 0]))
    classes = np.array([[[1, 0], [2, 0]]])
    excess = []
    for _ in range(arrivals):
        state = list(system.steps(state))[1][1]
        excess.append(_class_drift(system, state, classes) - system.bound(state).active)
    slopes = [b - a for a, b in pairwise(excess)]
    _, b_h = _constants(system)
    computed = (
        f"A V exceeds the sum by {text(excess[0])} with three small jobs waiting, and by "
        f"{', '.join(map(text, sorted(set(slopes))))} more for each other; B_h as printed is {text(b_h)}"
    )
    return Outcome(computed, slopes[-1] <= 0 and max(excess) <= b_h)


@claim(
    "lemma-5.1-serving",
    "Lemma 5.1 holds for servers heavy enough, sampled",
    "Lemma 5.1 with I_l = 1 only for servers that are active and not too light for (5), with C_h and B_h as in its "
    "proof, term by term: the factor of every queue that is not empty in the exact generator of (24), and what is left "
    "against B_h, in simulated states of two servers with Example 1's types, queues to 100,000, random classes of the "
    "jobs in service, every kind of server among them (serving, too light, stalled).",
    source="Lemma 5.1",
    printed="(26), with I_l = 1 for all active servers",
    evidence=Evidence.certified,
    tiny={"paths": 6},
    full={"paths": 200},
    controls={
        "C_h = 0": {"c_h": 0},
        "C_h is a quarter of it": {"c_h": Fraction(1, 4)},
        "B_h is a fiftieth of it": {"b_h": Fraction(1, 50)},
        "too light servers count as serving": {"light_serve": True},
        "a server serves a job less": {"unserved": 1},
    },
)
def lemma_5_1_serving(
    paths: int = 12,
    beta: Fraction = BETA,
    *,
    c_h: Fraction = Fraction(1),
    b_h: Fraction = Fraction(1),
    light_serve: bool = False,
    unserved: int = 0,
) -> Outcome:
    """Compute generators along paths; `c_h` and `b_h` are in units of what the proof gives."""
    expect_number(paths, "paths", 1)
    generator = np.random.default_rng(51)
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 2, beta)
    stalling, constant = (share * part for share, part in zip((c_h, b_h), _constants(system), strict=True))
    kept = number = light = stalled = 0
    slacks, remainders = list[Fraction](), list[Fraction]()
    for state in _states_of_paths(system, paths, generator):
        serving = system.serving(state)
        light += int(((state.active == 1) & ~serving).sum())
        stalled += int((state.active == 0).sum())
        classes = np.zeros((2, 2, len(CLASSES)), np.int64)
        classes[..., 0] = generator.binomial(state.counts, float(CLASSES[0][0]))
        classes[..., 1] = state.counts - classes[..., 0]
        factors, rest = _class_terms(system, state, classes)
        counted = state.active == 1 if light_serve else serving
        served = state.configuration[counted].sum(axis=0) + unserved
        # the right side of (26), every mu_j being 1: its factor of each queue
        others = int((~counted).sum())
        sides = [rho - int(slots) + others * stalling for rho, slots in zip(system.workload, served, strict=True)]
        slack = [s - f for s, f, q in zip(sides, factors, state.waiting, strict=True) if q > 0]
        slacks, remainders = slacks + slack, [*remainders, rest]
        kept, number = kept + (min(slack, default=Fraction(0)) >= 0 and rest <= constant), number + 1
    computed = (
        f"{kept} of {number} states, {light} servers too light, {stalled} stalled; least slack of a factor "
        f"{text(min(slacks))}; what is left is at most {text(max(remainders))}, B_h = {text(constant)}"
    )
    return Outcome(computed, kept == number and light > 0 and stalled > 0)


def _states_of_paths(system: Algorithm1, paths: int, generator: np.random.Generator) -> Iterator[State]:
    """Yield states of paths that begin with long queues and unsuitable configurations, or the heaviest."""
    for path in range(paths):
        first = arrived(system, (0, 1, 1, 0, 1, 1))
        first.waiting[:] = [0, int(10 ** generator.uniform(0, 5))]
        if path % 3 == 2:  # every third begins with configurations of greatest weight
            first = system.full([int(10 ** generator.uniform(0, 5)) for _ in range(2)])
        for state, *_ in islice(system.steps.walk(first, generator), 12):
            yield state
