"""Results of packproof on scheduling policies whose servers are trapped in configurations that carry too little."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import exp

import numpy as np

from bounds.adversary.engine import Found, Judged
from bounds.adversary.growth import ALARM, Growth, growth_of
from bounds.adversary.online import Broken, Offer, confirmed_trap, document_of
from bounds.adversary.traps import Trap, least_trap, work_of
from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import FRESH_SEED, SECOND_FRESH_SEED, Decisions
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import SEED, shown, simulated
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.chains.saturated import Saturated
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import slotted_scenario
from theory.errors import InputError, expect_number
from theory.instance import additive
from theory.numbers import text


@claim(
    "local-max-weight-no-share",
    "M14 supports no positive share of the region",
    "Max-weight at local refresh times (M14, with an exact oracle, in continuous time) supports no positive share of "
    "the region. Of configurations of equal weight the one with more jobs of the first type is taken, as in "
    "Definition 2.2 of the auto-scaling paper. On servers of capacity N >= 5, Poisson arrivals and exponential "
    "service, jobs of 1 with workload rho_1 > 2 per server and jobs of N - 2 with workload rho_2 > 0: no state of its "
    "chain is recurrent, for any number of servers and in both readings of M14 (option renewal), so the number of "
    "jobs tends to infinity; and for every z from 2/N, exclusive, to 1 there are such workloads of traffic intensity "
    "z. Nothing is said of slots, in which several jobs may leave at once, or of other rules for ties. The policy's "
    "own functions are followed for N = 5, 12, 40 on one server, and for N = 5 on two.",
    source="packproof, on Section 1.2, Remark 2 and Example 1 of the non-preemptive paper",
    printed="operation based on local refresh times can cause instability: Example 1 (N = 6) at intensity 0.89",
    evidence=Evidence.proved,
    controls={
        "one small job beside the large one": {"small": 1},
        "rho_1 = 2": {"rho_1": 2},
        "Algorithm 1 instead of M14": {"rule": "nonpreemptive"},
    },
    proof="proofs.md#local-refresh",
)
def no_share(
    capacities: tuple[int, ...] = (5, 12, 40),
    *,
    small: int = 2,
    rho_1: int | None = None,
    rule: str = "max-weight-local",
) -> Outcome:
    """Decide steps 1, 3 and 4 of the proof in symbols, and follow the policy.

    `small` jobs fit beside a large one, and the workload of small jobs is any number above it where `rho_1` is None.
    """
    for capacity in capacities:
        expect_number(capacity, "capacities", 5)
    failed = [name for name, holds in _steps_without_a_share(small, rho_1).items() if not holds]
    wrong = _followed(capacities, small, rule)
    computed = f"not shown: {', '.join(failed)}" if failed else "steps 1, 3 and 4 hold in symbols"
    return Outcome(f"{computed}; the policy's own functions {wrong or 'agree'}", not failed and not wrong)


def _steps_without_a_share(beside: int, rho_1: int | None) -> dict[str, bool]:
    """Decide the steps of the proof in symbols; `beside` small jobs fit beside a large one."""
    import sympy as sp

    capacity, e, queue = sp.symbols("N e q", positive=True)
    t = sp.symbols("t", nonnegative=True)
    small = sp.Integer(beside)
    size = capacity - small
    # 1: with N = 5 + t two large jobs do not fit, and (s, 1) outweighs (N, 0) at (0, q)
    single = sp.simplify((2 * size - capacity).subs(capacity, 5 + t)).is_positive
    preferred = ((small * 0 + 1 * queue) - (capacity * 0 + 0 * queue)).is_positive
    # 3: the last small job is not alone, and the solution of the first-step equations falls
    n = sp.symbols("n", integer=True, positive=True)
    rho = small + e if rho_1 is None else sp.Integer(rho_1)
    h = (small / rho) ** n
    harmonic = sp.simplify((rho * h.subs(n, n + 1) + small * h.subs(n, n - 1) - (rho + small) * h) / h) == 0
    falls = sp.simplify(rho - small).is_positive
    # 4: the decomposition, its intensity, and the limit of that
    y = (small - (small - 1) * e) / capacity
    carried = sp.simplify(y * capacity + small * e - (small + e)) == 0
    intensity = y + e
    worth = sp.simplify((small + e) / capacity + e * size / capacity - intensity) == 0
    limit = sp.limit(intensity, e, 0) == small / capacity and sp.limit(small / capacity, capacity, sp.oo) == 0
    return {
        "the configurations": single and preferred,
        "no server becomes empty": beside >= 2,
        "the first-step equations": harmonic and falls,
        "the intensity": carried and worth and limit,
    }


def _followed(capacities: Sequence[int], small: int, name: str) -> str:
    """Return where the policy's own functions do not show the trap of intensity 2/N."""
    for capacity in capacities:
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


@claim(
    "best-fit-traps",
    "Three policies are unstable below full intensity",
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
    tiny={"intensity": Fraction(8, 10), "slots": 5000, "capacities": (10,), "followed": ("vqs",)},
    full={"capacities": tuple(range(3, 21))},
    controls={
        "service is geometric": {"service": "geometric"},
        "intensity 0.64 instead of 0.68": {"intensity": Fraction(64, 100)},
        "jobs of 5 on 10 are 6": {"best_fit_sizes": (2, 6)},
    },
)
def best_fit_traps(
    best_fit_sizes: tuple[int, ...] = (2, 5),
    intensity: Fraction = Fraction(68, 100),
    slots: int = 200_000,
    capacities: tuple[int, ...] = tuple(range(3, 11)),
    followed: tuple[str, ...] = ("vqs-bf", "vqs"),
    *,
    service: str = "fixed",
) -> Outcome:
    """Find the traps, simulate workloads that two of them do not carry, and one under geometric service.

    Parameters
    ----------
    best_fit_sizes : tuple of int
        Sizes of the jobs on 10 on which BF-J/S is followed.
    intensity : Fraction
        Of the instance of part (b).
    slots : int
        Of its simulation.
    capacities : tuple of int
        On which traps of Best-Fit with two sizes are looked for.
    followed : tuple of str
        Policies of part (a) whose growth is simulated.
    service : str
        Of the simulations of part (a).
    """
    if not 0 < intensity <= 1:
        raise InputError("intensity", f"expected a number above 0 and up to 1, got {intensity}")
    good, parts = True, []
    for name, offer, expected in TRAPS:
        trap = _trap(policy(name), _offer(10, *best_fit_sizes) if name == "bf-js" else offer)
        good &= trap is not None and trap.fixed and trap.intensity == expected
        parts.append(f"{name} {text(trap.intensity) if trap else 'without a trap'}")
        if good and trap is not None and name in followed:
            growth = _simulated(policy(name), offer, service)
            good &= growth.confirmed
            parts[-1] += f", {_seen(growth)}"
    least = _least_of_two_sizes(policy("bf-js"), capacities)
    blocked = _blocked(policy("vqs-bf"), intensity, slots)
    good &= least == Fraction(9, 10) and blocked.confirmed
    computed = (
        f"(a) {'; '.join(parts)}; two sizes: {text(least)} at least; (b) vqs-bf "
        f"{_seen(blocked)}; false-alarm rate of all together {ALARM:g}, seed {SEED}"
    )
    return Outcome(computed, bool(good))


@cache
def _trap(rule: Policy, offer: Offer) -> Trap | None:
    return least_trap(rule, offer.types())


@cache
def _refuted(rule: Policy, offer: Offer) -> Broken:
    """Simulate a workload that the trap of a policy does not carry, with service of a fixed number of slots."""
    trap = _trap(rule, offer)
    assert trap is not None
    best = Found(offer, Judged(trap.intensity, True, trap), 1, (), True)
    return confirmed_trap(rule, best, trap, 1, seed=SEED, alarm=SHARED)


def _simulated(rule: Policy, offer: Offer, service: str) -> Growth:
    """Return how the work grows that the trap of a policy does not carry, with this service of the same mean."""
    refuted = _refuted(rule, offer)
    assert refuted.growth is not None
    if service == "fixed":
        return refuted.growth
    document = document_of(refuted.instance, {**refuted.simulation, "service": service})
    until = refuted.growth.run.until / 4
    return growth_of(rule, document, work_of(refuted.instance), 1, until, seed=SEED, alarm=SHARED)


@cache
def _blocked(rule: Policy, intensity: Fraction, slots: int) -> Growth:
    """Simulate the instance of part (b), whose service is geometric of mean one slot."""
    instance = BLOCKED.at(intensity)
    document = document_of(instance, {"service": "geometric"})
    return growth_of(rule, document, work_of(instance), 1, slots, seed=SEED, alarm=SHARED)


def _seen(grown: Growth) -> str:
    if grown.first is None or grown.second is None:
        return f"{grown.caught} of {grown.replications} replications caught"
    return f"work grows by {shown(grown.first)}, then {shown(grown.second)} servers a slot"


@cache
def _least_of_two_sizes(rule: Policy, capacities: tuple[int, ...]) -> Fraction:
    """Return the least intensity of a trap of a policy with two sizes of at most half a server, on these capacities."""
    least = Fraction(1)
    for capacity in capacities:
        for small, large in combinations(range(1, capacity // 2 + 1), 2):
            trap = least_trap(rule, additive([capacity], [[small], [large]]))
            if trap is not None:
                least = min(least, trap.intensity)
    return least


@claim(
    "vqs-bf-tight",
    "On one server VQS-BF supports at most 2/3",
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
    tiny={"slots": 250},
    full={"slots": 20_000},
    controls={
        "a + b = N - 1": {"units_left": 1},
        "no small jobs": {"small_jobs": False},
        "BF-S instead of VQS-BF": {"rule": "bf-s"},
    },
    proof="partitions.md#vqs-bf-tight",
)
def tight_guarantee(
    mu: float = 0.5, slots: int = 500, *, units_left: int = 0, small_jobs: bool = True, rule: str = "vqs-bf"
) -> Outcome:
    """Decide the drift and the limits of the proof in symbols, and follow the policy.

    Jobs of a and b leave `units_left` of the server: none in the proof.
    """
    if not 0 < mu < 1:
        raise InputError("mu", f"expected a probability between 0 and 1, got {mu:g}")
    failed = [name for name, holds in _steps_of_tightness(small_jobs=small_jobs).items() if not holds]
    wrong = _efficient_beside_small(rule, units_left) or _blocked_in_slots(rule, units_left, mu, slots)
    computed = f"not shown: {', '.join(failed)}" if failed else "drift, E mu^S and limit hold in symbols"
    return Outcome(f"{computed}; the policy's own functions {wrong or 'agree'}", not failed and not wrong)


def _steps_of_tightness(*, small_jobs: bool) -> dict[str, bool]:
    """Decide the steps of the proof in symbols; without small jobs they are absent with probability 1."""
    import sympy as sp

    m, rho, e, c, d = sp.symbols("m rho e c d", positive=True)  # mu = exp(-c) = 1 - d
    p, mu = sp.symbols("p mu", positive=True)
    least = (2 + p) / 3
    drift = sp.Rational(3, 2) * rho - 1 - p / 2
    positive = sp.simplify(drift.subs(rho, least + e) - sp.Rational(3, 2) * e) == 0
    k = sp.symbols("k", integer=True, nonnegative=True)
    power = sp.simplify(sp.summation((m * mu) ** k / sp.factorial(k), (k, 0, sp.oo)) - sp.exp(m * mu)) == 0
    absent = sp.exp(-m) if small_jobs else sp.Integer(1)
    # m large, N = m^2, a = 2/5 N: all terms of p, and m/N, vanish
    terms = (absent, absent * sp.exp(2 * c), sp.exp(-m * d), sp.exp(-c * m**2 / 5), 1 / m)
    vanish = all(sp.limit(term, m, sp.oo) == 0 for term in terms)
    return {"the drift": positive, "E mu^S": power, "the limit": vanish}


def _efficient_beside_small(rule: str, units_left: int) -> str:
    """Return where more than 1 is started although a small job waits, or more than 3/2 at all."""
    for capacity, a in ((20, 7), (9, 4)):
        sizes = [[1], [a], [capacity - a - units_left]]
        cluster = Saturated(policy(rule), additive([capacity], sizes), 1)
        for queue in product(range(7), repeat=3):
            started = cluster.contents(cluster.offered(cluster.begun(), queue))[0]
            if 2 * started[2] + started[1] > (2 if queue[0] else 3):
                return f"do not: on {capacity}, {started} starts for queues {queue}"
    return ""


def _blocked_in_slots(rule: str, units_left: int, mu: float, slots: int) -> str:
    """Return where a random path leaves the cases of the proof for mu < 1."""
    generator = np.random.default_rng(SEED)
    for capacity, a in ((20, 8), (30, 11)):
        sizes = [[1], [a], [capacity - a - units_left]]
        cluster = Saturated(policy(rule), additive([capacity], sizes), 1)
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
    "The one-server instance is stable on several servers",
    "The instance of vqs-bf-tight that VQS-BF does not support on one server is settled on 2, 5 and 20 servers: sizes "
    "1, 240 and 360 on 600, workloads 12, 0.72 and 0.72 for each server, service of one slot. On one server the "
    "waiting jobs of 240 and 360 grow, by 0.05 a slot at least; on several by less than a tenth of that for each "
    "server. For several servers vqs-bf-five-sixths has another instance.",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="not in the paper",
    evidence=Evidence.statistical,
    tiny={"servers": (1, 5), "slots": 1000, "replications": 30},
    full={"slots": 100_000, "replications": 20},
    controls={
        "0.84 for each server": {"share_on_several": Fraction(104, 100)},
        "one server is compared with one": {"servers": (1, 1)},
    },
)
def several_servers(
    small: Fraction = Fraction(12),
    share: Fraction = Fraction(72, 100),
    servers: tuple[int, ...] = (1, 2, 5, 20),
    slots: int = 10_000,
    replications: int = 10,
    *,
    share_on_several: Fraction | None = None,
) -> Outcome:
    """Simulate the first number of servers, on which the queue is to grow, and the others, on which it is settled.

    Workloads are `small` of the jobs of 1 and `share` of either other size; in the proof they are the same on several
    servers.
    """
    if len(servers) < 2:
        raise InputError("servers", f"expected two numbers at least, which are compared, got {len(servers)}")
    decisions, rates, good = Decisions(len(servers)), [], True
    for place, number in enumerate(servers):
        each = share if number == 1 or share_on_several is None else share_on_several
        instance = additive([600], [[1], [240], [360]], workload=[small, each, each])
        until, seed = (slots, FRESH_SEED) if number <= 2 else (2 * slots // number, SECOND_FRESH_SEED)
        scenario = slotted_scenario(instance, number, until, until // 10)
        rate = decisions.growth(simulated("vqs-bf", scenario, replications, seed))
        good &= bool(rate.low > 0.05 if place == 0 else rate.high < 0.005 * number)
        rates.append(f"{number}: {shown(rate)}")
    seeds = f"seeds {FRESH_SEED} and, on more than two servers, {SECOND_FRESH_SEED}"
    return Outcome(f"queue grows a slot, by servers, {'; '.join(rates)}; {decisions}, {seeds}", good)


@drawing("Above the curve the waiting work under VQS-BF tends to infinity", "vqs-bf-tight")
def lost() -> Sequence[Panel]:
    m = [n / 10 for n in range(61)]
    curve = Curve("(2 + e⁻ᵐ)/3", m, [(2 + exp(-x)) / 3 for x in m], look="plain")
    x, y = "workload m of the jobs of size 1 (jobs)", "workload ρ (jobs of either type)"
    return [Chart(x, y, [curve], [Line("2/3", 2 / 3)])]
