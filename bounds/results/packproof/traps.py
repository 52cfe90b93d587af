"""Results of packproof on scheduling policies whose servers are trapped in configurations that carry too little."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import exp
from typing import Any

import numpy as np

from bounds.adversary.engine import Found, Judged
from bounds.adversary.growth import ALARM, Growth, growth_of
from bounds.adversary.online import Broken, Offer, confirmed_trap, document_of
from bounds.adversary.traps import Trap, least_trap, work_of
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.decisions import FRESH_SEED, SECOND_FRESH_SEED, Decisions
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import SEED, shown, simulated
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.chains.saturated import Saturated
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import slotted_scenario
from theory.instance import additive
from theory.numbers import text

ONE_SMALL, AT_TWO, STALLING = "one small job beside the large one", "rho_1 = 2", "Algorithm 1 instead of M14"


@claim(
    "local-max-weight-no-share",
    "Max-weight at local refresh times (M14, with an exact oracle, in continuous time) keeps no positive share of the "
    "region. Of configurations of equal weight the one with more jobs of the first type is taken, as in Definition 2.2 "
    "of the auto-scaling paper. On servers of capacity N >= 5, Poisson arrivals and exponential service, jobs of 1 "
    "with workload rho_1 > 2 per server and jobs of N - 2 with workload rho_2 > 0: no state of its chain is recurrent, "
    "for any number of servers and in both readings of M14 (option renewal), so the number of jobs tends to infinity; "
    "and for every z from 2/N, exclusive, to 1 there are such workloads of traffic intensity z. Nothing is said of "
    "slots, in which several jobs may leave at once, or of other rules for ties. The policy's own functions are "
    "followed for N = 5, 12, 40 on one server, and for N = 5 on two.",
    source="packproof, on Section 1.2, Remark 2 and Example 1 of the non-preemptive paper",
    printed="operation based on local refresh times can cause instability: Example 1 (N = 6) at intensity 0.89",
    evidence=Evidence.proved,
    breaks=(ONE_SMALL, AT_TWO, STALLING),
    proof="proofs.md#local-refresh",
)
def no_share(level: Level, broken: str) -> Outcome:
    """Decide steps 1, 3 and 4 of the proof in symbols, and follow the policy."""
    import sympy as sp

    capacity, e, queue = sp.symbols("N e q", positive=True)
    t = sp.symbols("t", nonnegative=True)
    small = sp.Integer(1 if broken == ONE_SMALL else 2)
    size = capacity - small
    # 1: with N = 5 + t two large jobs do not fit, and (s, 1) outweighs (N, 0) at (0, q)
    single = sp.simplify((2 * size - capacity).subs(capacity, 5 + t)).is_positive
    preferred = ((small * 0 + 1 * queue) - (capacity * 0 + 0 * queue)).is_positive
    # 3: the last small job is not alone, and the solution of the first-step equations falls
    n = sp.symbols("n", integer=True, positive=True)
    rho = sp.Integer(2) if broken == AT_TWO else small + e
    h = (small / rho) ** n
    harmonic = sp.simplify((rho * h.subs(n, n + 1) + small * h.subs(n, n - 1) - (rho + small) * h) / h) == 0
    falls = sp.simplify(rho - small).is_positive
    accompanied = bool(small >= 2)
    # 4: the decomposition, its intensity, and the limit of that
    y = (small - (small - 1) * e) / capacity
    carried = sp.simplify(y * capacity + small * e - (small + e)) == 0
    intensity = y + e
    worth = sp.simplify((small + e) / capacity + e * size / capacity - intensity) == 0
    limit = sp.limit(intensity, e, 0) == small / capacity and sp.limit(small / capacity, capacity, sp.oo) == 0
    steps = {
        "the configurations": single and preferred,
        "no server becomes empty": accompanied,
        "the first-step equations": harmonic and falls,
        "the intensity": carried and worth and limit,
    }
    failed = [name for name, holds in steps.items() if not holds]
    wrong = _followed(int(small), "nonpreemptive" if broken == STALLING else "max-weight-local")
    computed = "steps 1, 3 and 4 hold in symbols" if not failed else ""
    computed = computed or f"not shown: {', '.join(failed)}"
    return Outcome(f"{computed}; the policy's own functions {wrong or 'agree'}", not failed and not wrong)


def _followed(small: int, name: str) -> str:
    """Return where the policy's own functions do not show the trap of intensity 2/N."""
    for capacity in (5, 12, 40):
        instance = additive([capacity], [[1], [capacity - small]])
        for renewal in ("while-empty", "on-emptying") if name == "max-weight-local" else ("",):
            for servers in (1, 2) if capacity == 5 else (1,):
                options = {"renewal": renewal} if renewal else {}
                trap = least_trap(policy(name), instance, servers, options)
                if trap is None or trap.intensity != Fraction(2, capacity) or list(trap.service) != [2 * servers, 0]:
                    return f"do not: capacity {capacity}, {name} {renewal}"
    return ""


def _offer(capacity: int, *sizes: int) -> Offer:
    return Offer((capacity,), tuple((size,) for size in sizes), (1,) * len(sizes), (1,) * len(sizes))


TRAPS = (
    ("bf-js", _offer(10, 2, 5), Fraction(9, 10)),
    ("vqs-bf", _offer(6, 2, 3, 4), Fraction(5, 6)),
    ("vqs", _offer(8, 1, 5), Fraction(1, 4)),
)
"""Policy, types, and the intensity from which the trap loses work."""

SHARED = ALARM / 3  # part of the false-alarm rate of each of the three simulations

BLOCKED = Offer((600,), ((1,), (210,), (390,)), (7, 4, 4), (1,) * 3)  # sizes of `tight_guarantee`

GEOMETRIC, LIGHT, DIVISORS = "service is geometric", "intensity 0.64 instead of 0.68", "jobs of 5 on 10 are 6"


@claim(
    "best-fit-traps",
    "The least traffic intensities found at which policies of the high-throughput paper lose work. (a) Service of a "
    "fixed number of slots (outside Theorems 2 to 4, which need jobs to end with a positive probability in every "
    "slot), one server, departures one at a time: BF-J/S holds two jobs of 2 and one of 5 on 10 for ever while both "
    "wait, and loses workloads of every intensity above 9/10; VQS-BF one job of 2 and one of 3 on 6, beside few of 4, "
    "from 5/6 on; VQS two jobs of 1 on 8, beside few of 5, from 1/4 on (exactly). Two sizes of at most half a server "
    "trap Best-Fit below 9/10 on no capacity up to 10 (full: 20). In simulation the waiting work grows at 11/12 under "
    "VQS-BF and at 0.28 under VQS. (b) Geometric service of mean 1 slot, in simulation: on one server, sizes 1, 210 "
    "and 390 on 600, that of VQS-BF grows at 0.68; for BF-J/S see bf-js-both-sides. Growth: in two windows, in the "
    "second at more than half of the rate in the first. No lower value is excluded where a theorem does not.",
    source="packproof",
    printed="it remains to tighten the lower bounds (1/2, 2/3, 2/3) or construct upper bounds that approach them",
    evidence=Evidence.statistical,
    breaks=(GEOMETRIC, LIGHT, DIVISORS),
)
def best_fit_traps(level: Level, broken: str) -> Outcome:
    good, parts = True, []
    for name, offer, expected in TRAPS:
        case = _offer(10, 2, 6) if broken == DIVISORS and name == "bf-js" else offer
        trap = least_trap(policy(name), case.types())
        good &= trap is not None and trap.fixed and trap.intensity == expected
        parts.append(f"{name} {text(trap.intensity) if trap else 'without a trap'}")
        if good and trap is not None and name != "bf-js":
            growth = _simulated(policy(name), offer, trap, geometric=broken == GEOMETRIC)
            good &= growth.confirmed
            parts[-1] += f", {_seen(growth)}"
    least = _least_of_two_sizes(10 if level is Level.quick else 20)
    instance = BLOCKED.at(Fraction(64 if broken == LIGHT else 68, 100))
    document = document_of(instance, {"service": "geometric"})  # of mean one slot
    blocked = growth_of(policy("vqs-bf"), document, work_of(instance), 1, 200_000, seed=SEED, alarm=SHARED)
    good &= least == Fraction(9, 10) and blocked.confirmed
    computed = (
        f"(a) {'; '.join(parts)}; two sizes: {text(least)} at least; (b) vqs-bf "
        f"{_seen(blocked)}; false-alarm rate of all together {ALARM:g}, seed {SEED}"
    )
    return Outcome(computed, bool(good))


def _simulated(rule: Policy, offer: Offer, trap: Trap, *, geometric: bool) -> Growth:
    """Simulate a workload that a trap does not carry."""
    best = Found(offer, Judged(trap.intensity, True, trap), 1, (), True)
    refuted: Broken = confirmed_trap(rule, best, trap, 1, seed=SEED, alarm=SHARED)
    assert refuted.growth is not None
    if not geometric:
        return refuted.growth
    simulation: dict[str, Any] = {**refuted.simulation, "service": "geometric"}
    document, run = document_of(refuted.instance, simulation), refuted.growth.run
    return growth_of(rule, document, work_of(refuted.instance), 1, run.until / 4, seed=SEED, alarm=SHARED)


def _seen(grown: Growth) -> str:
    if grown.first is None or grown.second is None:
        return f"{grown.caught} of {grown.replications} replications caught"
    return f"work grows by {shown(grown.first)}, then {shown(grown.second)} servers a slot"


def _least_of_two_sizes(most: int) -> Fraction:
    """Return the least intensity of a trap of Best-Fit with two sizes, on all capacities up to `most`."""
    least = Fraction(1)
    for capacity in range(3, most + 1):
        for small, large in combinations(range(1, capacity // 2 + 1), 2):
            trap = least_trap(policy("bf-js"), additive([capacity], [[small], [large]]))
            if trap is not None:
                least = min(least, trap.intensity)
    return least


ROOMY, NO_SMALL, PLAIN = "a + b = N - 1", "no small jobs", "BF-S instead of VQS-BF"


@claim(
    "vqs-bf-tight",
    "On one server VQS-BF supports no more than 2/3 of the maximum workload, whatever the mean of geometric service: "
    "for one server Theorem 4 cannot be improved. In a slot jobs end, come, and start, in this order, so that "
    "configurations are chosen for the queues that jobs start from, as in (20). Any J >= 2, Poisson arrivals, sizes 1, "
    "a and b = N - a on N > 3, N/3 < a < N/2, workloads m, rho and rho, jobs end with probability mu in a slot: if rho "
    "> (2 + p)/3, the work of the types a and b tends to infinity with probability 1, where p = exp(-m) for mu = 1, "
    "and p = exp(-m) + (exp(-m) + exp(-m (1 - mu)) + mu^(N - 2a)) / mu^2 for mu < 1. The traffic intensity is at most "
    "rho + m/N, so for every mu and z > 2/3 there are such systems of intensity less than z. Beside the proof, the "
    "policy's own functions are followed from an empty server, for queues up to 6, and along random slots with mu = "
    "1/2.",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="VQS-BF achieves at least 2/3 rho*; to tighten the lower bounds is left open",
    evidence=Evidence.proved,
    breaks=(ROOMY, NO_SMALL, PLAIN),
    proof="partitions.md#vqs-bf-tight",
)
def tight_guarantee(level: Level, broken: str) -> Outcome:
    """Decide the drift and the limits of the proof in symbols, and follow the policy."""
    import sympy as sp

    m, rho, e, c, d = sp.symbols("m rho e c d", positive=True)  # mu = exp(-c) = 1 - d
    p, mu = sp.symbols("p mu", positive=True)
    least = (2 + p) / 3
    drift = sp.Rational(3, 2) * rho - 1 - p / 2
    positive = sp.simplify(drift.subs(rho, least + e) - sp.Rational(3, 2) * e) == 0
    k = sp.symbols("k", integer=True, nonnegative=True)
    power = sp.simplify(sp.summation((m * mu) ** k / sp.factorial(k), (k, 0, sp.oo)) - sp.exp(m * mu)) == 0
    absent = sp.Integer(1) if broken == NO_SMALL else sp.exp(-m)
    # m large, N = m^2, a = 2/5 N: all terms of p, and m/N, vanish
    terms = (absent, absent * sp.exp(2 * c), sp.exp(-m * d), sp.exp(-c * m**2 / 5), 1 / m)
    vanish = all(sp.limit(term, m, sp.oo) == 0 for term in terms)
    steps = {"the drift": positive, "E mu^S": power, "the limit": vanish}
    failed = [name for name, holds in steps.items() if not holds]
    wrong = _efficient_beside_small(broken) or _blocked_in_slots(broken, 500 if level is Level.quick else 20_000)
    computed = f"not shown: {', '.join(failed)}" if failed else "drift, E mu^S and limit hold in symbols"
    return Outcome(f"{computed}; the policy's own functions {wrong or 'agree'}", not failed and not wrong)


def _efficient_beside_small(broken: str) -> str:
    """Return where more than 1 is started although a small job waits, or more than 3/2 at all."""
    rule = policy("bf-s" if broken == PLAIN else "vqs-bf")
    for capacity, a in ((20, 7), (9, 4)):
        b = capacity - a - (1 if broken == ROOMY else 0)
        cluster = Saturated(rule, additive([capacity], [[1], [a], [b]]), 1)
        for queue in product(range(7), repeat=3):
            started = cluster.contents(cluster.offered(cluster.begun(), queue))[0]
            if 2 * started[2] + started[1] > (2 if queue[0] else 3):
                return f"do not: on {capacity}, {started} starts for queues {queue}"
    return ""


def _blocked_in_slots(broken: str, slots: int) -> str:
    """Return where a random path leaves the cases of the proof for mu < 1."""
    rule = policy("bf-s" if broken == PLAIN else "vqs-bf")
    generator, mu = np.random.default_rng(SEED), 0.5
    for capacity, a in ((20, 8), (30, 11)):
        b = capacity - a - (1 if broken == ROOMY else 0)
        cluster = Saturated(rule, additive([capacity], [[1], [a], [b]]), 1)
        node = cluster.begun()
        for _ in range(slots):
            before = cluster.contents(node)[0]
            ended = [(0, j) for j, n in enumerate(before) for _ in range(int(generator.binomial(n, mu)))]
            node = cluster.offered(node, generator.poisson([3 * mu, 0.7 * mu, 0.7 * mu]).tolist(), ended)
            small, first, second = contents = cluster.contents(node)[0]
            present = small + cluster.waiting(node)[0]
            efficient = (first, second) == (1, 1)
            if efficient and small == 0:
                if present and len(ended) == sum(before):  # chosen anew beside small jobs
                    return f"do not: on {capacity}, an empty server starts {contents} with {present} small jobs"
            elif 2 * second + first > 2 or small < min(present, capacity - 2 * a):
                return f"do not: on {capacity}, {contents} with {present} small jobs"
    return ""


@claim(
    "vqs-bf-several-servers",
    "The instance of vqs-bf-tight that VQS-BF does not carry on one server is settled on 2, 5 and 20 servers: sizes 1, "
    "240 and 360 on 600, workloads 12, 0.72 and 0.72 for each server, service of one slot. On one server the waiting "
    "jobs of 240 and 360 grow, by 0.05 a slot at least; on several by less than a tenth of that for each server. "
    "For several servers vqs-bf-five-sixths has another instance.",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="not in the paper",
    evidence=Evidence.statistical,
    breaks=("0.84 for each server", "one server is compared with one"),
)
def several_servers(level: Level, broken: str) -> Outcome:
    until, replications = (10_000, 10) if level is Level.quick else (100_000, 20)
    numbers = (1, 1) if broken.startswith("one") else (1, 2, 5, 20)
    decisions, shown_rates, good = Decisions(len(numbers)), [], True
    for place, servers in enumerate(numbers):
        share = Fraction(104 if broken.startswith("0.84") and servers > 1 else 72, 100)
        instance = additive([600], [[1], [240], [360]], workload=[12, share, share])
        slots, seed = (until, FRESH_SEED) if servers <= 2 else (2 * until // servers, SECOND_FRESH_SEED)
        scenario = slotted_scenario(instance, servers, slots, slots // 10)
        rate = decisions.growth(simulated("vqs-bf", scenario, replications, seed))
        good &= rate.low > 0.05 if place == 0 else rate.high < 0.005 * servers
        shown_rates.append(f"{servers}: {shown(rate)}")
    seeds = f"seeds {FRESH_SEED} and, on more than two servers, {SECOND_FRESH_SEED}"
    computed = f"queue grows a slot, by servers, {'; '.join(shown_rates)}; {decisions}, {seeds}"
    return Outcome(computed, bool(good))


@drawing("Above the curve the waiting work under VQS-BF tends to infinity", "vqs-bf-tight")
def lost() -> Sequence[Panel]:
    m = [n / 10 for n in range(61)]
    curve = Curve("(2 + exp(-m)) / 3", m, [(2 + exp(-x)) / 3 for x in m], look="plain")
    x, y = "workload m of the jobs of size 1 (jobs)", "workload rho (jobs of either type)"
    return [Chart(x, y, [curve], [Line("2/3", 2 / 3)])]
