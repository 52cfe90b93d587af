"""Tasks of a trace as jobs of a loss system: types by priority class and rounded size (auto-scaling paper, 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.traces.model import MICROSECONDS, Trace
from fluid.traces.preprocess import completed, powers_of_half, priority_classes, single_resource
from theory.greedy.optimal import AssignmentProgram
from theory.instance import Additive, Instance, JobType, Pool

FACTORS = (1, 2, 4)
"""Reward of a unit of size by priority class. The paper's factors are not known; ours only put the classes in order."""


@dataclass(frozen=True)
class TaskSystem:
    """Jobs of a trace and the instance of their types.

    Attributes
    ----------
    instance : Instance
        One resource, capacity 1; type ``pC/N`` has priority class C and size 1/N. Workloads are those of one server.
    jobs : JobList
        In seconds.
    priority : dict of int
        By type: 0 for class 0, and so on.
    until : float
        When the trace ends.
    """

    instance: Instance
    jobs: JobList
    priority: dict[str, int]
    until: float


def tasks_of(trace: Trace, factors: Sequence[Fraction | int] = FACTORS, finest: int = 7) -> TaskSystem:
    """Turn the completed tasks of a Google trace into jobs of a loss system.

    Parameters
    ----------
    trace : Trace
        With resources as shares of a server.
    factors : sequence of rational, shape (3,)
        Reward of a unit of size, by priority class.
    finest : int
        Sizes are rounded up to a power of 1/2, at least 2^-finest.

    Notes
    -----
    Size is the largest requested share; only tasks that finished inside the trace are kept, as in the paper, so
    durations are biased down.
    """
    kept = single_resource(completed(trace).arrivals)
    exponent, level = powers_of_half(kept, finest), priority_classes(kept)
    pairs, types = np.unique(np.column_stack([level, exponent]), axis=0, return_inverse=True)
    seconds, durations = kept.arrival / MICROSECONDS, kept.duration / MICROSECONDS
    until = float((kept.arrival + kept.duration).max()) / MICROSECONDS
    kinds, demands, priority = [], [], {}
    for number, (c, m) in enumerate(pairs.tolist()):
        mine = types.reshape(-1) == number
        busy = Fraction(float(durations[mine].sum()) / until).limit_denominator(10**6)
        name = f"p{c}/{2**m}"
        mean = max(float(durations[mine].mean()), 1e-6)
        rate = max(Fraction(1 / mean).limit_denominator(10**9), Fraction(1, 10**9))
        kinds.append(JobType(name, Fraction(factors[c]) / 2**m, busy, rate))
        demands.append((2 ** (finest - m),))
        priority[name] = c
    space = Additive(("size",), (2**finest,), tuple(demands), (Fraction(1, 2**finest),))
    instance = Instance(tuple(kinds), (Pool("pool1", Fraction(1), space),))
    return TaskSystem(instance, JobList(seconds, types.reshape(-1).astype(np.int32), durations), priority, until)


def upper_bound(system: TaskSystem, servers: int, warmup: float, until: float, spans: int = 100) -> float:
    """Bound the time-average reward per server of any policy over [warmup, until].

    The jobs in service never exceed those of a system that loses none, so at each moment the reward is at most the
    optimum of the assignment program for the latter's jobs; that optimum is concave in the jobs, so its average over a
    span of time is at most its value at their average. More spans, a sharper bound. Source: auto-scaling paper,
    Section 7.2 (the program), and Jensen's inequality.
    """
    program = AssignmentProgram(system.instance)
    edges = np.linspace(warmup, until, spans + 1)
    rewards = []
    for begin, end in pairwise(edges.tolist()):
        means = lossless_jobs(system, begin, end) / servers
        rewards.append(program.approximate([Fraction(float(x)).limit_denominator(10**6) for x in means]))
    return float(np.mean(rewards))


def lossless_jobs(system: TaskSystem, begin: float, end: float) -> NDArray[np.float64]:
    """Return the mean jobs of each type over a span of time where none is lost, float64[J]."""
    times, types, durations = system.jobs
    inside = np.clip(times + durations, begin, end) - np.clip(times, begin, end)
    return np.bincount(types, weights=inside, minlength=len(system.instance.types)) / (end - begin)
