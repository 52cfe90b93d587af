"""BF-J/S of the high-throughput paper supports less than the maximum workload for longer service, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import sqrt

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import Decisions
from bounds.results.instances.drawn import with_rates
from bounds.results.packproof.best_fit import CAPACITY, NINE_ELEVENTHS, SIZES, WEIGHTS, at
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import SEED, shown, simulated
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.chains.saturated import Saturated
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import slotted_scenario
from theory.errors import InputError, expect_number
from theory.numbers import text, total

MOST_JOBS = 4
"""On one server: five jobs of 13 do not fit."""

COST = Fraction(2, 3)
"""What a server that is not emptied in a slot adds, at most, to a weight of 1."""

Content = tuple[int, ...]


def threshold(ends: Fraction) -> Fraction:
    """Return z(mu): the intensity above which the number of jobs tends to infinity on many servers."""
    return NINE_ELEVENTHS * (1 + COST * (1 - ends**MOST_JOBS))


def most_in_service(servers: int, emptied: int, surplus: Fraction | int, cost: Fraction = COST) -> Fraction:
    """Return the most weight in service after a slot before which jobs waited; the surplus is (Q_31 - Q_17)^+."""
    return servers + cost * (servers - emptied) + Fraction(surplus) / 4 + Fraction(1, 6)


def growth_at_least(intensity: Fraction, ends: Fraction, servers: int) -> float:
    """Return a lower bound of the growth of the weight in the system in a slot, on average: that of the proof."""
    jobs, emptied = float(Fraction(2, 3) * intensity * ends), float(ends**MOST_JOBS)
    # E (A_31 - A_17)^+, and Kingman's bound of E W, for jobs of 31 come and S servers at least are emptied
    surplus = sqrt(2 * jobs * servers) / 2 + (jobs + emptied * (1 - emptied)) / (2 * (emptied - jobs))
    weight = servers * (1 + float(COST) * (1 - emptied)) + surplus / 4 + 1 / 6
    return float(ends) * (float(Fraction(11, 9) * intensity) * servers - weight)


def weight(content: Sequence[int]) -> Fraction:
    """Return the weight of a server's jobs of 31, 17, 16 and 13."""
    return total(n * w for n, w in zip(content, WEIGHTS, strict=True))


def size(content: Sequence[int]) -> int:
    """Return the size of a server's jobs."""
    return sum(n * s for n, s in zip(content, SIZES, strict=True))


def contents() -> Iterator[Content]:
    """Yield the contents of a server."""
    for content in product(*(range(CAPACITY // s + 1) for s in SIZES)):
        if size(content) <= CAPACITY:
            yield content


def filled(queue: Sequence[int]) -> Content:
    """Return what an empty server takes in step 1 of BF-J/S: the largest job that fits, again and again."""
    taken = [0] * len(SIZES)
    for j, s in enumerate(SIZES):
        taken[j] = min(queue[j], (CAPACITY - size(taken)) // s)
    return tuple(taken)


@cache
def costs() -> tuple[Fraction, Fraction]:
    """Return the most that a server costs over a weight of 1: with one that is emptied, and with another.

    An emptied server that holds a job of 31 without one of 17 is not counted here, nor one that takes the last one or
    two jobs of 17 and 16 while no job of 31 waits; the others cost nothing. A server that is not emptied keeps a job
    of 13 at least; each job of 17 that it starts leaves one more server of the first kind, which costs 1/4.
    """
    emptied, not_emptied = Fraction(-1), Fraction(-1)
    for queue in product(range(3), range(5), range(5), range(6)):
        content = filled(queue)
        is_alone = content[0] > 0 and queue[1] == 0
        is_last = queue[0] == 0 and 0 < queue[1] + queue[2] < 3
        if any(queue) and not is_alone and not is_last:
            emptied = max(emptied, weight(content) - 1)
    for content in contents():
        for started in range(content[1] + 1):
            # what is kept is at least one job besides those of 17 that are started
            if sum(content) > started and size(content) - SIZES[1] * started >= min(SIZES):
                not_emptied = max(not_emptied, weight(content) - 1 + Fraction(started, 4))
    return emptied, not_emptied


def bounds_of_contents() -> bool:
    """Decide the numbers of the proof that speak of one server."""
    every = list(contents())
    most_jobs = max(map(sum, every)) == MOST_JOBS
    largest = max(map(weight, every)) == Fraction(5, 4)
    last = max(weight(filled((0, a, b, 4))) for a, b in product(range(3), repeat=2) if 0 < a + b < 3)
    return most_jobs and largest and last == Fraction(7, 6)


def beyond(rule: str, cost: Fraction, slots: int, seed: int = SEED) -> str:
    """Return where the policy's own functions hold more than the bound, or leave more jobs of 31 than W.

    Arrivals are drawn at rates that change from slot to slot, as the bounds hold whatever comes.
    """
    generator, servers, ends = np.random.default_rng(seed), 3, 0.8
    cluster = Saturated(policy(rule), at(Fraction(9, 10)), servers)
    node, walk = cluster.offered(cluster.begun(), (0, 0, 0, 20)), 0
    for _ in range(slots):
        marks = generator.random((servers, MOST_JOBS)) < ends
        ended, emptied = [], 0
        for server, content in enumerate(cluster.contents(node)):
            jobs = [j for j, n in enumerate(content) for _ in range(n)]
            gone = [j for j, mark in zip(jobs, marks[server], strict=False) if mark]
            ended += [(server, j) for j in gone]
            emptied += len(gone) == len(jobs)
        before = cluster.waiting(node)
        come = generator.poisson(generator.choice([0.2, 1.0, 2.5], 4)).tolist()
        node = cluster.offered(node, come, ended)
        if not any(before):
            walk = cluster.waiting(node)[0]
            continue
        surplus = max(0, before[0] + come[0] - before[1] - come[1])
        in_service = total(map(weight, cluster.contents(node)))
        if in_service > most_in_service(servers, emptied, surplus, cost):
            return f"hold {cluster.contents(node)} with a surplus of {surplus} and {emptied} emptied servers"
        walk = max(0, walk + come[0] - int(marks.all(axis=1).sum()))
        if cluster.waiting(node)[0] > walk:
            return f"leave {cluster.waiting(node)[0]} jobs of 31, and W is {walk}"
    return ""


@claim(
    "bf-js-longer-service",
    "BF-J/S is not throughput-optimal for mu above 0.9036",
    "Where service takes more than one slot on average BF-J/S supports less than the maximum workload: jobs of 31, 17, "
    "16 and 13 on servers of 60 in the ratio 1 : 1 : 1 : 2, Poisson arrivals, jobs end with probability mu in a "
    "slot, in which jobs end, come and start, mu^4 > 2/3 (mu > 0.9036). For every traffic intensity z > z(mu) = 9/11 "
    "(1 + 2/3 (1 - mu^4)), which is less than 1, there is an L_0 such that on L >= L_0 servers the number of jobs "
    "tends to infinity with probability 1; L_0 = 40 will do for mu = 0.95 and z = 0.95. The numbers of the proof are "
    "decided for every content of a server. Beside the proof, the policy's own functions are followed on three servers "
    "through 2,000 (full: 50,000) slots.",
    source="packproof, on Theorem 2 of the throughput paper",
    printed="BF-J/S achieves at least 1/2 rho*; to tighten the lower bounds is left open",
    evidence=Evidence.proved,
    tiny={"slots": 500},
    full={"slots": 50_000},
    controls={
        "VQS-BF instead of BF-J/S": {"rule": "vqs-bf"},
        "a server that is not emptied costs 1/2": {"cost": Fraction(1, 2)},
        "mu = 0.9": {"mu": Fraction(90, 100)},
    },
    proof="proofs.md#longer-service",
)
def longer_service(
    mu: Fraction = Fraction(95, 100),
    z: Fraction = Fraction(95, 100),
    servers: int = 40,
    slots: int = 2_000,
    *,
    rule: str = "bf-js",
    cost: Fraction = COST,
) -> Outcome:
    """Decide the numbers of the proof for single servers, and follow the policy."""
    if not (0 < mu <= 1 and 0 < z < 1 and mu**3 > Fraction(2, 3) * z):  # else Kingman's bound says nothing
        raise InputError("mu and z", f"expected mu up to 1, z below 1 and mu^3 > 2/3 z, got {mu} and {z}")
    expect_number(servers, "servers", 1)
    emptied, not_emptied = costs()
    numbers = bounds_of_contents() and emptied == 0 and not_emptied == cost
    # jobs of 31 are fewer than the servers that are emptied, and the bound is less than 1, where mu^4 > 2/3
    limit = threshold(mu) < 1 and mu**MOST_JOBS > Fraction(2, 3) * mu
    limit &= NINE_ELEVENTHS * (1 + COST * (1 - Fraction(2, 3))) == 1 and threshold(Fraction(1)) == NINE_ELEVENTHS
    grows = growth_at_least(z, mu, servers)
    wrong = beyond(rule, cost, slots)
    computed = (
        f"an emptied server costs {text(emptied)}, another one {text(not_emptied)} over 1, of {text(cost)}; "
        f"z({text(mu)}) = {float(threshold(mu)):.4f}; at {float(z):g} the weight grows by {grows:.4g} a slot at least "
        f"on {servers} servers; the policy's own functions {wrong or 'agree'}"
    )
    return Outcome(computed, bool(numbers and limit and grows > 0 and not wrong))


SIMULATED_SEED = 20261129
"""Of the simulation; with a quarter of these slots, under another seed, it decided nothing at mu = 1/2, z = 0.8."""


@claim(
    "bf-js-longer-service-simulated",
    "BF-J/S queues grow at longer service times, simulated",
    "The instance of bf-js-longer-service in simulation, beyond the service times of the proof: from a backlog of 400 "
    "jobs of 13 for each server the number of waiting jobs grows at mu = 1/2, z = 0.9 on 60 servers and at mu = 1/5, z "
    "= 0.95 on 100 servers; at z = 0.8 it falls.",
    source="packproof, on Theorem 2 of the throughput paper",
    printed="not in the paper",
    evidence=Evidence.statistical,
    tiny={"backlog": 100, "slots": 150, "replications": 14},
    full={"replications": 40},
    controls={
        "0.8 instead of 0.9 and 0.95": {"above": (Fraction(8, 10), Fraction(8, 10))},
        "VQS-BF instead of BF-J/S": {"rule": "vqs-bf"},
    },
)
def longer_service_simulated(
    servers: tuple[int, ...] = (60, 100),
    mu: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1, 5)),
    above: tuple[Fraction, ...] = (Fraction(9, 10), Fraction(95, 100)),
    below: Fraction = Fraction(8, 10),
    backlog: int = 400,
    slots: int = 8_000,
    replications: int = 12,
    *,
    rule: str = "bf-js",
) -> Outcome:
    """Simulate an intensity at which the queue grows and one at which it falls, for each mean of service."""
    if not servers or not len(servers) == len(mu) == len(above):
        raise InputError("servers, mu and above", "expected a number each for every mean of service")
    decisions, seen, good = Decisions(2 * len(servers)), list[str](), True
    for number, ends, high in zip(servers, mu, above, strict=True):
        # jobs of 13; none of the backlogs is used up in these slots
        queue = (0, 0, 0, backlog * number)
        grown, fallen = (
            decisions.growth(simulated(rule, scenario, replications, SIMULATED_SEED))
            for scenario in (
                slotted_scenario(with_rates(at(z), [ends] * len(SIZES)), number, slots, slots // 5, queue=queue)
                for z in (high, below)
            )
        )
        good &= bool(grown.low > 0 and fallen.high < 0)
        seen.append(f"mu = {text(ends)}, z = {text(high)}: {shown(grown)}")
        seen.append(f"mu = {text(ends)}, z = {text(below)}: {shown(fallen)}")
    return Outcome(f"jobs a slot, {'; '.join(seen)}; {decisions}, seed {SIMULATED_SEED}", good)


@drawing(
    "Above the curve the jobs under BF-J/S tend to infinity on many servers, by the proof",
    "bf-js-longer-service",
    "bf-js-longer-service-simulated",
)
def region_of_growth() -> Sequence[Panel]:
    mean = [1 + n / 100 for n in range(11)]
    bound = [float(threshold(Fraction(100, 100 + n))) for n in range(11)]
    lines = [Line("9/11", float(NINE_ELEVENTHS)), Line("1", 1.0)]
    return [Chart("mean service (slots)", "intensity (share)", [Curve("z(μ)", mean, bound, look="plain")], lines)]
