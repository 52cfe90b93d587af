"""Claims of the non-preemptive scheduling paper (004) about drift: Section 4, with exact generators and constants."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, islice

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.families import random_instance
from bounds.claims.nonpreemptive import PAPER
from fluid.quadratic import Algorithm1
from theory.instance import additive
from theory.numbers import text

BETA = Fraction(7, 8)
ORACLES = ("exact", "single", "greedy")


@claim(
    PAPER,
    "lemma-4.3",
    "In every state A V <= sum_j Q_j (rho_j - sum over active servers of k_j) + B_2. One server of 6, jobs of 4 and 1, "
    "beta = 7/8: after a large job and n + 2 small ones, before any departure, it is active with (1, 2) and too light "
    "for (5), so its next departure stalls it and starts nobody: the right side is too small by 2 n for every n.",
    Evidence.refuted,
)
def lemma_4_3(level: Level, broken: bool) -> Outcome:
    """Compute the generator along these arrivals; broken: beta = 1/4, with which (1, 2) is not too light."""
    most = 400 if level is Level.quick else 4000
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 1, Fraction(1, 4) if broken else BETA)
    state, excess = system.start(), []
    for arrivals in range(most):
        state = list(system.steps(state))[int(arrivals > 0)][1]
        bound = system.bound(state)
        excess.append(bound.drift - bound.active)
    waiting = int(state.waiting[1])
    holds = max(excess) <= system.printed_constant
    computed = (
        f"with {waiting} jobs waiting A V exceeds the sum by {text(excess[-1])}, of which 2 n = {2 * waiting}; B_2 as "
        f"printed is {text(system.printed_constant)}"
    )
    return Outcome(computed, Evidence.certified if holds else Evidence.refuted, holds)


@claim(
    "packproof",
    "generator-bound",
    "Lemma 4.3 with servers that are active and not too light for (5), and B_2 = (sum_j rho_j + most jobs on all "
    "servers) / 2: holds for the exact generator in simulated states of Algorithm 1, and no smaller B_2 does, for "
    "it is attained.",
    Evidence.certified,
)
def generator_bound(level: Level, broken: bool) -> Outcome:
    """Compute generators on random instances with all oracles; broken: B_2 less by one in a thousand."""
    instances, states = (30, 16) if level is Level.quick else (200, 200)
    generator, kept, number, least = np.random.default_rng(43), 0, 0, Fraction(10**9)
    for seed, oracle in zip(range(instances), cycle(ORACLES), strict=False):
        instance = random_instance(generator, pools=1 + seed % 2)
        system = Algorithm1(instance, 3, BETA, oracle)
        b_2 = system.constant * (Fraction(999, 1000) if broken else 1)
        queues = generator.integers(0, 40, len(instance.types)).tolist()
        chosen = list(islice(system.states(queues, seed), states))
        chosen.append(system.full([max(system.room) * 10] * len(queues)))
        for state in chosen:
            bound = system.bound(state)
            slack = bound.serving + b_2 - bound.drift
            kept += slack >= 0
            number += 1
            least = min(least, slack)
    return Outcome(f"{kept} of {number} states, least slack {text(least)}", Evidence.certified, kept == number)
