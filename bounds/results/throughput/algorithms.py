"""The high-throughput paper's algorithms: packproof's policies take the very path that the text prescribes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.throughput.literal import (
    FIRST_FIT,
    LIGHTEST,
    LIMITED,
    NO_LIMIT,
    NO_REST,
    OVERTAKING,
    RESERVED,
    SMALLEST,
    Job,
    Literal,
)
from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import run_once
from fluid.simulation.measures import START
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.policies.vqs import depth
from fluid.simulation.slotted.sizes import SizeLaw, discrete, drawn_slots

SEED = 41


def _replayed(name: str, level: Level, broken: str, *, most_sizes: int = 8, coarse: bool = False) -> Outcome:
    """Compare every start of a job, its slot, class and server, on random systems that are loaded up to 1.4 times.

    With `coarse` every other system has J = 2, so that sizes below a quarter of a server are rounded up.
    """
    generator, systems, starts, other = np.random.default_rng(SEED), 40 if level is Level.quick else 600, 0, 0
    for number in range(systems):
        capacity, options = int(generator.integers(4, 61)), {}
        if coarse and number % 2:
            capacity, options = 4 * (capacity // 4), {"partition": 2}
        every = np.arange(max(1, capacity // 8), capacity + 1)
        kinds = min(len(every), int(generator.integers(1, most_sizes + 1)))
        sizes = np.sort(generator.choice(every, kinds, replace=False))
        servers, load = int(generator.integers(1, 5)), generator.uniform(0.5, 1.4)
        law = discrete({Fraction(int(size), capacity): 1 for size in sizes})
        chunk = next(drawn_slots(load * servers * 0.1 * capacity / sizes.mean(), law, 0.1, generator))
        count = int(np.searchsorted(chunk.times, chunk.times[min(120, len(chunk.times) - 1)]))
        jobs = JobList(*(array[:count] for array in chunk))
        until = int(jobs.times[-1]) + 30 if count else 30
        law = SizeLaw(sizes, capacity, np.zeros(0))
        scenario = SlottedScenario(law, servers, until, 0, jobs=jobs, log=10_000, options=options)
        run = run_once(policy(name), scenario, 1)
        rows = run.measures.log[: run.measures.logged[0]].astype(int).tolist()
        parts = [Fraction(int(size), capacity) for size in sizes]
        literal = Literal(name, servers, parts, options.get("partition", depth(sizes, capacity)), broken)
        listed = zip(*(array.tolist() for array in jobs), strict=True)
        literal.run([Job(t, i, c, parts[c], w) for i, (t, c, w) in enumerate(listed)], until)
        starts += len(literal.starts)
        other += [(t, c, s) for t, kind, c, s, _ in rows if kind == START] != literal.starts
    computed = f"{starts:,} starts of jobs in {systems} systems of one to four servers; another path in {other} of them"
    return Outcome(computed, other == 0)


@claim(
    "bf-j-as-printed",
    "The simulator's BF-J is the paper's, replayed as in bf-js-as-printed.",
    source="Section IV-A",
    printed="the jobs in the queue, one by one: each to the server with the least residual capacity among those that "
    "can accommodate it",
    evidence=Evidence.certified,
    breaks=(FIRST_FIT,),
)
def bf_j(level: Level, broken: str) -> Outcome:
    return _replayed("bf-j", level, broken)


@claim(
    "bf-s-as-printed",
    "The simulator's BF-S is the paper's, replayed as in bf-js-as-printed.",
    source="Section IV-A",
    printed="the servers, one by one: each takes the largest job that fits, until no job fits",
    evidence=Evidence.certified,
    breaks=(SMALLEST,),
)
def bf_s(level: Level, broken: str) -> Outcome:
    return _replayed("bf-s", level, broken)


@claim(
    "bf-js-as-printed",
    "The simulator's BF-J/S is the paper's: on random systems it starts the same jobs in the same slots on the same "
    "servers as a version of the text in lists and fractions (equal servers and jobs: the first).",
    source="Section IV-A",
    printed="1. BF-S over the servers that had departures; 2. BF-J over the new jobs that step 1 did not schedule",
    evidence=Evidence.certified,
    breaks=(FIRST_FIT, SMALLEST),
)
def bf_js(level: Level, broken: str) -> Outcome:
    return _replayed("bf-js", level, broken)


@claim(
    "vqs-as-printed",
    "The simulator's VQS is the paper's, replayed as in bf-js-as-printed, with the least J that the sizes need or with "
    "J = 2 and smaller sizes rounded up; of configurations of equal weight the first of (19).",
    source="Section V, equations (19)-(21)",
    printed="1. an empty server takes the configuration (20), another keeps its own (21); 2. (i), (ii) schedule by it",
    evidence=Evidence.certified,
    breaks=(RESERVED, LIMITED),
)
def vqs(level: Level, broken: str) -> Outcome:
    return _replayed("vqs", level, broken, coarse=True)


@claim(
    "vqs-bf-as-printed",
    "The simulator's VQS-BF is the paper's, replayed as in vqs-as-printed.",
    source="Section VI",
    printed="as VQS with the largest jobs that fit, at most k_j of queue j, and BF-S for what is left of a server",
    evidence=Evidence.certified,
    breaks=(NO_LIMIT, NO_REST),
)
def vqs_bf(level: Level, broken: str) -> Outcome:
    return _replayed("vqs-bf", level, broken, coarse=True)


@claim(
    "max-weight-as-printed",
    "The simulator's MaxWeight is the paper's, replayed as in bf-js-as-printed on up to four sizes; an empty server "
    "chooses, and of configurations of equal weight takes the one with more jobs of the smallest size that differs.",
    source="Section III-A",
    printed="(5): each server takes a feasible configuration that maximises <k, Q>",
    evidence=Evidence.certified,
    breaks=(LIGHTEST,),
)
def max_weight(level: Level, broken: str) -> Outcome:
    return _replayed("max-weight", level, broken, most_sizes=4)


@claim(
    "fifo-ff-as-printed",
    "The simulator's FIFO-FF, which the paper compares itself with, is that of its text, replayed as in "
    "bf-js-as-printed.",
    source="Section VII-B",
    printed="the jobs in the order of arrival, each to the first server with sufficient capacity; none overtakes",
    evidence=Evidence.certified,
    breaks=(OVERTAKING,),
)
def fifo_ff(level: Level, broken: str) -> Outcome:
    return _replayed("fifo-ff", level, broken)
