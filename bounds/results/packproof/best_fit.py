"""BF-J/S of the high-throughput paper supports no more than 9/11 of the maximum workload on many servers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import sqrt
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import THIRD_FRESH_SEED, Decisions
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import shown, simulated
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.chains.saturated import Saturated
from fluid.simulation.policy_names import policy
from fluid.simulation.results import QueueResult
from fluid.simulation.slotted.model import slotted_scenario
from theory.errors import InputError, expect_number
from theory.instance import Instance, additive
from theory.numbers import text, total
from theory.region.membership import traffic_intensity

CAPACITY, SIZES, RATIO = 60, (31, 17, 16, 13), (1, 1, 1, 2)
WEIGHTS = (Fraction(2, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 4))
NINE_ELEVENTHS = Fraction(9, 11)


def at(intensity: Fraction) -> Instance:
    """Return the instance at a traffic intensity z: 2/3 z jobs of 31, 17 and 16 a server, and twice as many of 13."""
    jobs = Fraction(2, 3) * intensity
    return additive([CAPACITY], [[size] for size in SIZES], workload=[n * jobs for n in RATIO])


def coming(intensity: Fraction) -> Fraction:
    """Return the weight of the jobs that come in a slot, for each server on average."""
    return Fraction(2, 3) * intensity * total(n * w for n, w in zip(RATIO, WEIGHTS, strict=True))


def most_started(servers: int, surplus: Fraction | float) -> Fraction | float:
    """Return the most weight that a slot starts, the surplus being (Q_31 - Q_17)^+."""
    return servers + surplus / 4 + Fraction(1, 6)


def surplus_bounds(intensity: Fraction, servers: int) -> tuple[float, float]:
    """Return upper bounds of E (A_31 - A_17)^+ and of E W, for the surplus is at most W + (A_31 - A_17)^+."""
    jobs = float(Fraction(2, 3) * intensity)
    return sqrt(2 * jobs * servers) / 2, jobs / (2 * (1 - jobs))


def surplus_parts(intensity: Fraction, servers: int) -> tuple[float, float]:
    """Return E (A_31 - A_17)^+ and E W by the laws themselves, W being (W + A_31 - L)^+ of the slot before."""
    from scipy.special import pdtr

    mean, kept = float(Fraction(2, 3) * intensity * servers), 200
    new = np.diff(pdtr(np.arange(int(mean + 12 * sqrt(mean)) + 40), mean), prepend=0.0)  # Poisson's law
    ahead = np.convolve(new, new[::-1])[len(new) :]  # of A_31 - A_17 = 1, 2, ...
    waiting = np.eye(kept)[0]
    for _ in range(300):
        sums = np.convolve(waiting, new)
        waiting = np.append(sums[: servers + 1].sum(), sums[servers + 1 : servers + kept])
    return float(ahead @ np.arange(1, len(new))), float(waiting @ np.arange(kept))


def drift(intensity: Fraction, servers: int) -> float:
    """Return a lower bound of the growth of the waiting weight in a slot, on average: that of the proof."""
    return float(servers * coming(intensity) - most_started(servers, sum(surplus_bounds(intensity, servers))))


@claim(
    "bf-js-nine-elevenths",
    "With one-slot service BF-J/S supports at most 9/11",
    "With service of one slot BF-J/S supports no more than 9/11 of the maximum workload on many servers: jobs of 31, "
    "17, 16 and 13 on servers of 60 in the ratio 1 : 1 : 1 : 2, Poisson arrivals. For every traffic intensity z > 9/11 "
    "there is an L_0 such that on L >= L_0 servers the number of jobs tends to infinity with probability 1; L_0 = 430 "
    "will do for z = 0.825 and 70 for z = 0.84. Beside the proof, the policy's own functions are followed on three "
    "servers for all queues up to (4, 4, 4, 6). The paper proves 1/2 from below.",
    source="packproof, on Theorem 2 of the throughput paper",
    printed="BF-J/S achieves at least 1/2 rho*; to tighten the lower bounds is left open",
    evidence=Evidence.proved,
    controls={
        "VQS-BF instead of BF-J/S": {"rule": "vqs-bf"},
        "jobs of 13 weigh 1/3": {"weights": (*WEIGHTS[:3], Fraction(1, 3))},
        "z = 0.81": {"z": Fraction(81, 100)},
        "the mean surplus is bounded by half as much": {"part_of_bound": 0.5},
    },
    proof="proofs.md#nine-elevenths",
)
def at_most(
    z: Fraction = Fraction(825, 1000),
    servers: int = 430,
    *,
    rule: str = "bf-js",
    weights: tuple[Fraction, ...] = WEIGHTS,
    part_of_bound: float = 1.0,
) -> Outcome:
    """Decide the numbers of the proof, its bounds of the surplus, and the weight that a slot starts for many queues."""
    if not 0 < z < 1:
        raise InputError("z", f"expected an intensity between 0 and 1, got {z}")
    expect_number(servers, "servers", 1)
    numbers = traffic_intensity(at(z)) == z and drift(z, servers) > 0 and drift(Fraction(84, 100), 70) > 0
    numbers &= coming(NINE_ELEVENTHS) == 1
    several = (1, 5, 70, 430)
    bounded = sum(_surplus_is_bounded(z, number, part_of_bound) for number in several)
    over, tried = _starts_over_the_bound(rule, at(z), weights)
    computed = (
        f"z = {text(z)}: growth of the weight of {drift(z, servers):.3f} a slot at least on {servers} servers, "
        f"{drift(Fraction(84, 100), 70):.3f} at 0.84 on 70; {over} of {tried} queues start more than the bound; the "
        f"bounds of the surplus hold for {bounded} of {len(several)} numbers of servers"
    )
    return Outcome(computed, bool(numbers) and not over and bounded == len(several))


def _surplus_is_bounded(z: Fraction, servers: int, part: float) -> bool:
    """Decide that both parts of the surplus are near their bounds, and at most `part` of them: 1 in the proof."""
    bounds = part * np.array(surplus_bounds(z, servers))
    parts = np.array(surplus_parts(z, servers))
    # the first bound is near, and on one server the second is 1 / u times the mean
    near = parts[0] > 0.65 * bounds[0] and (servers > 1 or parts[1] > bounds[1] / 2)
    return bool((parts <= bounds).all() and near)


def _starts_over_the_bound(rule: str, instance: Instance, weights: Sequence[Fraction]) -> tuple[int, int]:
    """Return for how many queues three servers start more weight than the bound, and how many were tried."""
    servers, most = 3, (4, 4, 4, 6)
    cluster = Saturated(policy(rule), instance, servers)
    begun, over, tried = cluster.begun(), 0, 0
    for queue in product(*(range(n + 1) for n in most)):
        contents = cluster.contents(cluster.offered(begun, queue))
        started = total(n * w for row in contents for n, w in zip(row, weights, strict=True))
        over += started > most_started(servers, Fraction(max(0, queue[0] - queue[1])))
        tried += 1
    return over, tried


@claim(
    "bf-js-both-sides",
    "BF-J/S queues grow at 0.84, not at 0.79",
    "The instance of bf-js-nine-elevenths in simulation, 1,000 servers (full: 20,000): at z = 0.84 the queue grows, "
    "and by at least three quarters of the proof's bound for the waiting weight, if all that waits are jobs of 13; at "
    "z = 0.79 it is settled, which grows by less than a hundredth of that.",
    source="packproof, on Theorem 2 of the throughput paper",
    printed="not in the paper",
    evidence=Evidence.statistical,
    tiny={"servers": 300, "slots": 150, "replications": 20, "slots_below": 75},
    full={"servers": 20_000, "slots": 400, "slots_below": 200},
    controls={"VQS instead of BF-J/S": {"rule": "vqs"}, "z = 0.8 for 0.84": {"above": Fraction(80, 100)}},
)
def both_sides(
    above: Fraction = Fraction(84, 100),
    below: Fraction = Fraction(79, 100),
    servers: int = 1_000,
    slots: int = 300,
    slots_below: int = 150,
    replications: int = 12,
    *,
    rule: str = "bf-js",
) -> Outcome:
    """Simulate an intensity above the bound and one below it, where what is settled is seen sooner."""
    decisions, predicted = Decisions(2), drift(Fraction(84, 100), servers) / float(WEIGHTS[3])
    grown = decisions.growth(_waiting(rule, above, servers, slots, replications))
    settled = decisions.growth(_waiting(rule, below, servers, slots_below, replications))
    good = grown.low > 0.75 * predicted and settled.high < predicted / 100
    computed = (
        f"on {servers:,} servers the queue grows by {shown(grown)} a slot at {text(above)}, {shown(settled)} at "
        f"{text(below)}; the bound in jobs of 13 is {predicted:.4g}; {decisions}, seed {THIRD_FRESH_SEED}"
    )
    return Outcome(computed, bool(good))


@cache
def _waiting(rule: str, intensity: Fraction, servers: int, slots: int, replications: int) -> QueueResult[Any]:
    scenario = slotted_scenario(at(intensity), servers, slots, slots // 3)
    return simulated(rule, scenario, replications, THIRD_FRESH_SEED)


@drawing("Above the curve the jobs under BF-J/S tend to infinity, by the proof", "bf-js-nine-elevenths")
def region_of_growth() -> Sequence[Panel]:
    servers = [10 * 2**n for n in range(14)]
    curve = []
    for number in servers:
        low, high = NINE_ELEVENTHS, Fraction(1)
        for _ in range(40):  # the drift grows with the intensity
            middle = (low + high) / 2
            low, high = (low, middle) if drift(middle, number) > 0 else (middle, high)
        curve.append(float(high))
    lines = [Line("9/11", float(NINE_ELEVENTHS))]
    return [Chart("servers (number)", "intensity (share)", [Curve("bound", servers, curve)], lines, xscale="log")]
