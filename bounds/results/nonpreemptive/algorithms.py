"""The non-preemptive paper's Algorithm 1: packproof's policy takes the very path that the text prescribes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.nonpreemptive.literal import Algorithm1, StaleConfiguration, StalledTakesJobs, Transcription
from fluid.simulation.arrivals import JobList, Law, poisson
from fluid.simulation.driver import run_once, sequence
from fluid.simulation.measures import START
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.results import Run
from fluid.simulation.state import Setting
from theory.errors import expect_number
from theory.instance import Additive, Instance, pooled

SEED = 40

Starts = list[tuple[float, int, int]]
"""Starts of jobs: time, type and server."""


def _system(generator: np.random.Generator) -> tuple[Instance, int]:
    """Draw up to three types on one or two resources and one or two pools, and two to five servers."""
    resources, types, pools = (int(generator.integers(1, most)) for most in (3, 4, 3))
    capacities = generator.integers(3, 9, (pools, resources))
    most = capacities.min(axis=0)
    demands = [[int(generator.integers(0 if r else 1, most[r] + 1)) for r in range(resources)] for _ in range(types)]
    shares = [Fraction(int(n)) for n in generator.integers(1, 4, pools)]
    return pooled(list(zip(shares, capacities.tolist(), strict=True)), demands), int(generator.integers(2, 6))


def starts_of(run: Run) -> Starts:
    """Return the starts of jobs in a run that has a log."""
    rows = run.measures.log[: run.measures.logged[0]]
    return [(float(t), int(j), int(s)) for t, kind, j, s, _ in rows if kind == START]


def transcribed(transcription: type[Transcription], setting: Setting, jobs: JobList, until: float, seed: int) -> Starts:
    """Return the starts by a transcription, with what the policy draws in a run of a seed."""
    spaces = [pool.space for pool in setting.instance.pools]
    servers = [(s.capacity, s.demands) for s in (spaces[p] for p in setting.pool) if isinstance(s, Additive)]
    rates = [float(t.service_rate) for t in setting.instance.types]
    draws = np.random.default_rng(sequence(seed).spawn(3)[1])
    model = transcription(servers, rates, setting.options, draws)
    model.run(list(zip(*(array.tolist() for array in jobs), strict=True)), until)
    return model.starts


def replayed(
    name: str, transcription: type[Transcription], options: tuple[dict[str, Any], ...], systems: int
) -> tuple[int, int]:
    """Compare every start of a job, its time, type and server, on random systems under each of some options in turn.

    Returns
    -------
    int, int
        Starts by the policy of that name, and systems in which the transcription takes another path.
    """
    generator, starts, other = np.random.default_rng(SEED), 0, 0
    for number in range(systems):
        instance, servers = _system(generator)
        chosen, types = options[number % len(options)], len(instance.types)
        rates = [generator.uniform(0.3, 1.5) * servers] * types
        chunk = next(poisson(rates, [1.0] * types, Law(), generator))
        jobs = JobList(*(array[:150] for array in chunk))
        until = float(jobs.times[-1]) + 3.0
        scenario = QueueScenario(instance, servers, until, 0.0, jobs=jobs, options=chosen, log=20_000)
        by_policy = starts_of(run_once(policy(name), scenario, 1))
        starts += len(by_policy)
        other += by_policy != transcribed(transcription, Setting(instance, servers, chosen), jobs, until, 1)
    return starts, other


ORACLES = ("exact", "single", "greedy")

PRINTED: dict[str, Any] = {"p": 1, "cut": 2, "fall": 0, "early": False}
"""Algorithm 1 without the customisations of Section 6."""

VARIANTS: tuple[dict[str, Any], ...] = (
    *(PRINTED | {"oracle": oracle, "beta": beta} for oracle in ORACLES for beta in (0.5, 0.875)),
    {"beta": 0.9, "p": -0.05, "z": 0.2, "cut": 0.5, "fall": 1.0, "early": True, "oracle": "exact"},
    {"beta": 0.9, "p": 1, "cut": 2, "fall": 1, "early": False},
    {"beta": 0.9, "p": 1, "cut": 0.5, "fall": 0, "early": False},
)
"""Options of Algorithm 1 under which it is replayed: as printed, customised, and with each part of q(s) alone."""


@claim(
    "algorithm-1-as-printed",
    "Our Algorithm 1 matches its transcription, where tried",
    "On 40 random systems of two to five servers packproof's Algorithm 1 starts the same jobs at the same times on the "
    "same servers as a direct transcription of Algorithm 1 in lists, with all configurations: beta = 1/2 and 7/8 with "
    "the exact, the single-type and the greedy oracle, and with the customisations of Section 6. Where the text says "
    "any server, it is the first.",
    source="Algorithm 1",
    printed="lines 1 to 15: a server stalls at a departure if (5) fails, and begins anew when it is empty",
    evidence=Evidence.certified,
    tiny={"systems": 20},
    full={"systems": 600},
    controls={
        "the configuration of the first server decides who stalls": {"transcription": StaleConfiguration},
        "a stalled server goes on taking jobs": {"transcription": StalledTakesJobs},
    },
)
def algorithm_1(systems: int = 40, *, transcription: type[Transcription] = Algorithm1) -> Outcome:
    expect_number(systems, "systems", 1)
    starts, other = replayed("nonpreemptive", transcription, VARIANTS, systems)
    computed = f"{starts:,} starts of jobs in {systems} systems of two to five servers; another path in {other} of them"
    return Outcome(computed, other == 0)
