"""Claims of the non-preemptive scheduling paper on steps of its proofs: where a step fails, and by how much."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise
from math import factorial

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.results.decisions import FRESH_SEED, Decisions
from bounds.results.nonpreemptive.settings import BETA, arrived, example_1
from fluid.limits.drift import Algorithm1
from fluid.simulation.state import State
from theory.instance import additive
from theory.numbers import text, total


@claim(
    "proposition-4.2",
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
    breaks=("the coins are independent and there is one server",),
)
def proposition_4_2(level: Level, broken: str) -> Outcome:
    outcomes = [(0, 0), (0, 1), (1, 0), (1, 1)] if broken else [(0, 1), (1, 0)]
    law = dict.fromkeys(outcomes, Fraction(1, len(outcomes)))
    joint = sum(p for (x, y), p in law.items() if x + y < 1)
    apart = sum(p for (x, _), p in law.items() if 2 * x < 1) * sum(p for (_, y), p in law.items() if 2 * y < 1)
    servers, span, level_d = 1 if broken else 2, 10, 15
    system = Algorithm1(additive([1], [[1]], workload=["1/2"]), servers, Fraction(1, 2))
    state = system.full([1000])  # as long as jobs wait, each that ends starts one: a Poisson process
    rate = sum(Fraction(r) for r, after, _ in system.steps(state) if after.waiting[0] < state.waiting[0])
    mean = rate * span
    # e^mean is more than each partial sum of its series: an upper bound of P(D < 15)
    terms = [mean**k / factorial(k) for k in range(200)]
    below = sum(terms[:level_d]) / sum(terms)
    markov = 1 - Fraction(span, level_d)  # K_max = mu = 1
    computed = (
        f"(a) {text(joint)} against {text(apart)}; (c) jobs leave the queue at rate {text(rate)}, P(D < {level_d}) = "
        f"{float(below):.4f} against {text(markov)}"
    )
    return Outcome(computed, joint >= apart or below >= markov)  # both steps fail


@claim(
    "proposition-4.2-event",
    "What the proposition says, P(E) > 1 - eps for eps = 1/2, where every type fits every server: two servers with "
    "Example 1's types, which hold a configuration that is too light when the queue is 20,000 jobs of the small type "
    "long. In N T = 8 mean service times each server stalls at most once, for at most M T = 4 of them, with a "
    "probability above 1/2, by the sign test; M T = 2 would not do.",
    source="Proposition 4.2",
    printed="P(E) > 1 - eps if M > -log(eps) + C_1 and ||Q(t_0)|| > N C_2 / eps",
    evidence=Evidence.statistical,
    breaks=(
        "the queue is 2 jobs long",
        "beta = 1, so that a server stalls as soon as it is not the heaviest",
        "M T is 2",
    ),
)
def proposition_4_2_event(level: Level, broken: str) -> Outcome:
    """Follow paths of the policy's own functions, and count."""
    paths, most_stalled = 60 if level is Level.quick else 400, 2 if broken == "M T is 2" else 4
    beta = Fraction(1) if broken.startswith("beta") else BETA
    system = Algorithm1(example_1(Fraction(89, 100)), 2, beta)
    generator, decisions, once, most, longest = np.random.default_rng(FRESH_SEED), Decisions(1), [], 0, 0.0
    for _ in range(paths):
        first = arrived(system, (0, 1, 1, 0, 1, 1))
        first.waiting[:] = [0, 2 if broken.startswith("the queue") else 20_000]
        if broken.startswith("beta"):
            first.waiting[0] = 80_000
        times, spans = _stalls(system, first, generator, 8.0)
        once.append(1 if max(times) <= 1 and max(spans) <= most_stalled else -1)
        most, longest = max(most, *times), max(longest, *spans)
    computed = (
        f"on {once.count(1)} of {paths} paths every server stalls at most once and for at most {most_stalled}; a "
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
    "The step p_0 <= 1 - C_f, with C_f from a rate of departures of at least min mu: it overlooks an active server "
    "that is empty. A server of one job of either type, mu = 1, rates 1/1000 and 1/2, beta = 1/2: it begins for a job "
    "of the first type, which ends while nobody waits; then 80 jobs of the second type come before one of the first, "
    "and the weight is 40 below beta times the greatest. Along the policy's own steps that has a probability above "
    "1/2; the bound (1 - C_f)^(N-1) / C_f of the proof, B_1 = 40, is below a millionth.",
    source="Lemma 4.4",
    printed="an active server has departures at rate r_2 = min mu_j at least, so B_1 > -C_3 log(eps) + C_4 is enough",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    breaks=("the first type comes as often as the second",),
)
def lemma_4_4(level: Level, broken: str) -> Outcome:
    """Multiply the probabilities of the steps of that path."""
    b_1, beta = 40, Fraction(1, 2)
    rare, often = Fraction(1, 2) if broken else Fraction(1, 1000), Fraction(1, 2)
    system = Algorithm1(additive([1], [[1], [1]], workload=[rare, often]), 1, beta)
    state = arrived(system, (0,))
    assert state.configuration.tolist() == state.counts.tolist() == [[1, 0]]
    chance = Fraction(1)
    for step in (2, *[1] * (2 * b_1)):  # the job ends; jobs of type 2 come
        steps = list(system.steps(state))
        chance *= Fraction(steps[step][0]) / sum(Fraction(rate) for rate, *_ in steps)
        state = steps[step][1]
    assert state.active[0] == 1
    assert state.configuration.tolist() == [[1, 0]]
    short = beta * int(state.waiting.max()) - int(state.configuration[0] @ state.waiting)
    c_f = 1 / (1 + 2 * max(rare, often) + 1)  # r_2 / (r_1 + r_2), r_1 = J lambda_max + L K_max mu_max, r_2 = 1
    bound = (1 - c_f) ** (b_1 - 1) / c_f
    computed = (
        f"{text(short)} below beta times the greatest, with probability {float(chance):.3g}; bound {float(bound):.3g}"
    )
    return Outcome(computed, short < b_1 or chance <= bound)


@claim(
    "equations-19-22",
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
    breaks=("1 - rho_j / v_j, V(t_f) - V(t_0), and -v_j in C_g",),
)
def equations_19_22(level: Level, broken: str) -> Outcome:
    """Solve C_j < 0 in symbols, take the least whole N that is asked for, and compute a generator."""
    import sympy as sp

    n, servers, m, t, rho, k, mu = sp.symbols("N L M T rho K mu", positive=True)
    v = -sp.Symbol("w", positive=True)
    coefficient = (n - servers * m) * t * v + servers * m * t * rho  # C_j of (21)
    exact = servers * m * (1 - rho / v)
    identity = sp.simplify(coefficient.subs(n, exact)) == 0 and sp.simplify(sp.diff(coefficient, n) - t * v) == 0
    asked = exact if broken else servers * m * (-1 - rho / v)
    values = {servers: 1, m: 1, t: 1, rho: 1, v.args[1]: sp.Rational(1, 2)}
    least = int(sp.floor(asked.subs(values))) + 1
    c_j = coefficient.subs(values).subs(n, least)
    system = Algorithm1(additive([1], [[1]], workload=["1/2"]), 1, Fraction(1, 2))
    falls = system.bound(system.full([1000])).drift
    sided = falls if broken else -falls  # of V(t_f) - V(t_0), or of V(t_0) - V(t_f)
    # (N - LM) T (Q - L K N T mu) v: what its second part adds, for the jobs that may leave in N T
    part = sp.expand((n - servers * m) * t * (-servers * k * n * t * mu) * v)
    printed = (n - servers * m) * n * t**2 * servers * k * mu * (-v if broken else v)
    sign = sp.simplify(part / printed)
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
    servers, most, fastest = system.setting.servers, max(system.room), max(rate for _, rate in CLASSES)
    widest = max(abs(1 / rate - 1) for _, rate in CLASSES)
    slots = servers * most
    parts = [
        rho + slots + slots * most**2 * fastest + (slots * widest) * (slots * widest + 1) * (rho + slots * fastest)
        for rho in system.workload
    ]
    return most * widest * fastest, total(parts)


@claim(
    "lemma-5.1",
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
    breaks=("beta = 1/4, with which (1, 2) is not too light",),
)
def lemma_5_1(level: Level, broken: str) -> Outcome:
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 1, Fraction(1, 4) if broken else BETA)
    state = arrived(system, (1,) * 4, system.start([10, 0]))
    classes = np.array([[[1, 0], [2, 0]]])
    excess = []
    for _ in range(40 if level is Level.quick else 1000):
        state = list(system.steps(state))[1][1]
        excess.append(_class_drift(system, state, classes) - system.bound(state).active)
    slopes = {b - a for a, b in pairwise(excess)}
    _, b_h = _constants(system)
    computed = (
        f"A V exceeds the sum by {text(excess[0])} with three small jobs waiting, and by "
        f"{', '.join(map(text, sorted(slopes)))} more for each other; B_h as printed is {text(b_h)}"
    )
    return Outcome(computed, slopes != {4} and max(excess) <= b_h)


@claim(
    "lemma-5.1-serving",
    "Lemma 5.1 with I_l = 1 only for servers that are active and not too light for (5), with C_h and B_h as in its "
    "proof, term by term: the factor of every queue that is not empty in the exact generator of (24), and what is left "
    "against B_h, in simulated states of two servers with Example 1's types, queues to 100,000, random classes of the "
    "jobs in service, every kind of server among them (serving, too light, stalled).",
    source="Lemma 5.1",
    printed="(26), with I_l = 1 for all active servers",
    evidence=Evidence.certified,
    breaks=(
        "C_h = 0",
        "C_h is a quarter of it",
        "B_h is a fiftieth of it",
        "too light servers count as serving",
        "a server serves a job less",
    ),
)
def lemma_5_1_serving(level: Level, broken: str) -> Outcome:
    """Compute generators along paths that begin with unsuitable configurations, or the heaviest, and long queues."""
    paths, generator = 12 if level is Level.quick else 200, np.random.default_rng(51)
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 2, BETA)
    c_h, b_h = _constants(system)
    c_h = {"C_h = 0": Fraction(0), "C_h is a quarter of it": c_h / 4}.get(broken, c_h)
    b_h /= 50 if broken.startswith("B_h") else 1
    kept = number = light = stalled = 0
    slacks, remainders = list[Fraction](), list[Fraction]()
    for path in range(paths):
        first = arrived(system, (0, 1, 1, 0, 1, 1))
        first.waiting[:] = [0, int(10 ** generator.uniform(0, 5))]
        if path % 3 == 2:  # every third begins with configurations of greatest weight
            first = system.full([int(10 ** generator.uniform(0, 5)) for _ in range(2)])
        for state, *_ in islice(system.steps.walk(first, generator), 12):
            serving = system.serving(state)
            light += int(((state.active == 1) & ~serving).sum())
            stalled += int((state.active == 0).sum())
            classes = np.zeros((2, 2, len(CLASSES)), np.int64)
            classes[..., 0] = generator.binomial(state.counts, float(CLASSES[0][0]))
            classes[..., 1] = state.counts - classes[..., 0]
            counted = state.active == 1 if broken.startswith("too light") else serving
            factors, rest = _class_terms(system, state, classes)
            served = state.configuration[counted].sum(axis=0) + broken.startswith("a server serves")
            # the right side of (26), every mu_j being 1: its factor of each queue
            sides = [
                rho - int(slots) + int((~counted).sum()) * c_h
                for rho, slots in zip(system.workload, served, strict=True)
            ]
            slack = [s - f for s, f, q in zip(sides, factors, state.waiting, strict=True) if q > 0]
            slacks, remainders = slacks + slack, [*remainders, rest]
            kept, number = kept + (min(slack, default=Fraction(0)) >= 0 and rest <= b_h), number + 1
    computed = (
        f"{kept} of {number} states, {light} servers too light, {stalled} stalled; least slack of a factor "
        f"{text(min(slacks))}; what is left is at most {text(max(remainders))}, B_h = {text(b_h)}"
    )
    return Outcome(computed, kept == number and light > 0 and stalled > 0)
