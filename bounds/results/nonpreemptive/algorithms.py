"""The non-preemptive paper's algorithms: packproof's policies take the very path that the text prescribes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.nonpreemptive.literal import BUSY, STALE, STEADY, TAKES, Literal
from fluid.simulation.arrivals import JobList, Law, poisson
from fluid.simulation.driver import run_once, sequence
from fluid.simulation.measures import START
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.state import Setting
from theory.instance import Additive, Instance, pooled

SEED = 40


def _system(generator: np.random.Generator) -> tuple[Instance, int]:
    """Draw up to three types on one or two resources and one or two pools, and two to five servers."""
    resources, types, pools = (int(generator.integers(1, most)) for most in (3, 4, 3))
    capacities = generator.integers(3, 9, (pools, resources))
    most = capacities.min(axis=0)
    demands = [[int(generator.integers(0 if r else 1, most[r] + 1)) for r in range(resources)] for _ in range(types)]
    shares = [Fraction(int(n)) for n in generator.integers(1, 4, pools)]
    return pooled(list(zip(shares, capacities.tolist(), strict=True)), demands), int(generator.integers(2, 6))


def _replayed(name: str, options: tuple[dict[str, Any], ...], level: Level, broken: str) -> Outcome:
    """Compare every start of a job, its time, type and server, on random systems under each of some options."""
    generator, count = np.random.default_rng(SEED), 40 if level is Level.quick else 600
    starts = other = 0
    for number in range(count):
        instance, servers = _system(generator)
        chosen = options[number % len(options)]
        setting, types = Setting(instance, servers, chosen), len(instance.types)
        rates = [generator.uniform(0.3, 1.5) * servers] * types
        chunk = next(poisson(rates, [1.0] * types, Law(), generator))
        jobs = JobList(*(array[:150] for array in chunk))
        until = float(jobs.times[-1]) + 3.0
        run = run_once(
            policy(name), QueueScenario(instance, servers, until, 0.0, jobs=jobs, options=chosen, log=20_000), 1
        )
        rows = run.measures.log[: run.measures.logged[0]]
        taken = [(float(t), int(j), int(s)) for t, kind, j, s, _ in rows if kind == START]
        spaces = [pool.space for pool in instance.pools]
        clusters = [(s.capacity, s.demands) for s in (spaces[p] for p in setting.pool) if isinstance(s, Additive)]
        draws = np.random.default_rng(sequence(1).spawn(3)[1])  # what the policy draws in a run of seed 1
        literal = Literal(name, clusters, [1.0] * types, chosen, draws, broken)
        literal.run(list(zip(*(array.tolist() for array in jobs), strict=True)), until)
        starts += len(taken)
        other += taken != literal.starts
    computed = f"{starts:,} starts of jobs in {count} systems of two to five servers; another path in {other} of them"
    return Outcome(computed, other == 0)


PRINTED: dict[str, Any] = {"p": 1, "cut": 2, "fall": 0, "early": False}
"""Algorithm 1 without the customisations of Section 6."""


@claim(
    "algorithm-1-as-printed",
    "The simulator's Algorithm 1 is the paper's: on random systems it starts the same jobs at the same times on the "
    "same servers as a version of the text in lists, with all configurations (beta = 1/2, 7/8; exact, single-type and "
    "greedy oracles; and with the customisations of Section 6; where the text says any, the first).",
    source="Algorithm 1",
    printed="lines 1 to 15: a server stalls at a departure if (5) fails, and begins anew when it is empty",
    evidence=Evidence.certified,
    breaks=(STALE, TAKES),
)
def algorithm_1(level: Level, broken: str) -> Outcome:
    oracles = ("exact", "single", "greedy")
    options = [PRINTED | {"oracle": oracle, "beta": beta} for oracle in oracles for beta in (0.5, 0.875)]
    customised = {"beta": 0.9, "p": -0.05, "z": 0.2, "cut": 0.5, "fall": 1.0, "early": True, "oracle": "exact"}
    falling, cut = (
        {"beta": 0.9, "p": 1, "cut": most, "fall": fall, "early": False} for most, fall in ((2, 1), (0.5, 0))
    )
    return _replayed("nonpreemptive", (*options, customised, falling, cut), level, broken)


@claim(
    "max-weight-local-as-printed",
    "The simulator's max-weight at local refresh times, which the paper compares itself with, is that of its text, "
    "replayed as in algorithm-1-as-printed, in both readings of when an empty server renews its configuration.",
    source="Section 1.2",
    printed="a server renews its configuration by max-weight at times when it is empty",
    evidence=Evidence.certified,
    breaks=(BUSY,),
)
def max_weight_local(level: Level, broken: str) -> Outcome:
    oracles, renewals = ("exact", "single", "greedy"), ("while-empty", "on-emptying")
    options = tuple({"oracle": oracle, "renewal": renewal} for oracle in oracles for renewal in renewals)
    return _replayed("max-weight-local", options, level, broken)


@claim(
    "randomized-sampling-as-described",
    "The simulator's randomized sampling (G16), which the paper compares itself with, is that of its text, replayed as "
    "in algorithm-1-as-printed with the same random numbers; the rates of sampling and of the end of tokens are ours.",
    source="Section 1.2",
    printed="each queue samples servers at a rate that grows with its length; a token holds room for some time",
    evidence=Evidence.certified,
    breaks=(STEADY,),
)
def randomized_sampling(level: Level, broken: str) -> Outcome:
    options: tuple[dict[str, Any], ...] = ({}, {"sampling": 3.0, "expiry": 0.5})
    return _replayed("randomized-sampling", options, level, broken)
