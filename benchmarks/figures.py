"""The figures that are kept from one version to the next, each beside a peer on the same work where there is one.

Seconds are CPU seconds. Compilation is excluded, except from the figures whose names say "first".
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
FOUR_TYPES = EXAMPLES / "four_types.toml"
Measure = Callable[[], float]


@dataclass(frozen=True)
class Figure:
    """A figure that is kept.

    Attributes
    ----------
    name : str
    unit : str
        ``s``: CPU seconds, less is better; ``/s``: per CPU second, more is better.
    measure : callable
    peer : tuple of (str, callable), optional
        Who else does it, in the same unit.
    """

    name: str
    unit: str
    measure: Measure
    peer: tuple[str, Measure] | None = None


def cpu(action: Callable[[], object], runs: int = 5) -> float:
    """Return the median CPU seconds of an action, after one call that is not counted."""
    action()
    taken = []
    for _ in range(runs):
        begin = time.process_time()
        action()
        taken.append(time.process_time() - begin)
    return median(taken)


def command(words: list[str], runs: int = 3, **environment: str) -> float:
    """Return the median CPU seconds of a Python process, its children included."""
    taken = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True, env={**os.environ, **environment})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(taken)


def packproof(*words: str) -> Measure:
    """Return the measure of a command that has run before."""
    return lambda: command(["-m", "packproof", *words])


def first_simulation(until: int) -> float:
    """Measure a simulation on a machine that has compiled nothing; short ones need no compilation."""
    with tempfile.TemporaryDirectory() as empty:
        words = ["simulate", str(FOUR_TYPES), "--policy", "dra", "--servers", "1000", "--until", str(until)]
        return command(["-m", "packproof", *words], 1, NUMBA_CACHE_DIR=empty)


def verify() -> float:
    """Measure a check of all claims after another one, which compiles what is not compiled."""
    words = ["-m", "packproof", "verify"]
    command(words, 1)
    return command(words, 1)


def first_verify() -> float:
    """Measure a check of all claims on a machine that has compiled nothing."""
    with tempfile.TemporaryDirectory() as empty:
        return command(["-m", "packproof", "verify"], 1, NUMBA_CACHE_DIR=empty)


def greedy_and_optimum(*, by_cvxpy: bool) -> float:
    """Measure greedy and optimal reward of the four VM types, or the optimum in floats from all configurations."""
    import numpy as np

    from benchmarks.greedy import cvxpy_value
    from bounds.results.instances.papers import four_types
    from theory.exact.knapsack import feasible
    from theory.greedy.optimal import solve

    instance = four_types()
    if not by_cvxpy:
        return cpu(lambda: solve(instance))
    rows = np.array(list(feasible(instance.pools[0].space)), dtype=float)
    return cpu(lambda: cvxpy_value(instance, rows), 3)


def worst() -> float:
    """Measure the exactly worst workload of the four VM types."""
    from bounds.adversary.workload import worst_workload
    from bounds.results.instances.papers import four_types

    instance = four_types()
    return cpu(lambda: worst_workload(instance))


def facets(*, by_qhull: bool) -> float:
    """Measure the facets of five types of prime sizes on 40."""
    from benchmarks.hulls import PRIMES, qhull
    from theory.exact.knapsack import feasible
    from theory.instance import additive
    from theory.region.facets import region_facets

    instance = additive([40], [[p] for p in PRIMES])
    points = feasible(instance.pools[0].space)
    return cpu(lambda: qhull(points)) if by_qhull else cpu(lambda: region_facets(instance))


def configuration_program(sizes: int) -> float:
    """Measure the exact configuration program of random sizes on 1000."""
    from benchmarks.throughput import instance
    from theory.partition.rounded import supportable

    drawn, demands = instance(sizes)
    law = [Fraction(s, 1000) for s in drawn], [Fraction(d, sum(demands)) for d in demands]
    return cpu(lambda: supportable(*law), 3)


def cutting_stock() -> float:
    """Measure the exact configuration program of 1,000 jobs with 10 to 70 % of 10,000."""
    from benchmarks.throughput import drawn_jobs
    from theory.exact.columns import stock

    sizes, numbers = drawn_jobs("uniform", 1000, 10_000)
    return cpu(lambda: stock(sizes, numbers, 10_000), 1)


def intensity_on_pools() -> float:
    """Measure the exact traffic intensity of 400 types with two resources on 20 pools."""
    from benchmarks.region import two_resources
    from theory.region.membership import CapacityProgram

    instance = two_resources(400, 1, 20)
    return cpu(lambda: CapacityProgram(instance).intensity(), 3)


def sharing(mechanism: str, users: int = 200, servers: int = 40) -> float:
    """Measure a fair share of users on server classes; ``clarabel``: time division as a convex program."""
    from benchmarks.sharing import MECHANISMS, drawn
    from bounds.results.packproof.sharing import totals_of_the_program

    instance, runs = drawn(users, servers), 3 if users * servers < 10**5 else 1
    if mechanism == "clarabel":
        return cpu(lambda: totals_of_the_program(instance), runs)
    return cpu(lambda: MECHANISMS[mechanism](instance), runs)


def loss(policy: str, servers: int, **options: Any) -> Callable[[], Any]:
    """Return a run of a loss system of the four VM types, under options of the policy."""
    from fluid.simulation.driver import run_once
    from fluid.simulation.loss.model import LossScenario
    from fluid.simulation.policy_names import policy as named
    from theory.files.instances import read_instance

    instance = read_instance(FOUR_TYPES)
    scenario = LossScenario(instance, servers, 2e5 / servers, 1e4 / servers, options=options)
    return lambda: run_once(named(policy), scenario, 1)


def queue(policy: str) -> Callable[[], Any]:
    """Return a run of a queue before 200 servers, Table 1 of the non-preemptive paper at intensity 0.89."""
    from bounds.results.nonpreemptive.settings import table_1
    from fluid.simulation.driver import run_once
    from fluid.simulation.policy_names import policy as named
    from fluid.simulation.queue.model import QueueScenario

    scenario = QueueScenario(table_1(Fraction(89, 100)), 200, 2e3, 2e2)
    return lambda: run_once(named(policy), scenario, 1)


def slotted(policy: str, sizes: Mapping[Fraction, int] | None = None) -> Callable[[], Any]:
    """Return a run of a queue in slots: 100 servers, sizes with given weights or uniform on [0.1, 0.9], at load 0.9."""
    from fluid.simulation.driver import run_once
    from fluid.simulation.policy_names import policy as named
    from fluid.simulation.slotted.model import SlottedScenario
    from fluid.simulation.slotted.sizes import discrete, uniform

    law = discrete(sizes) if sizes else uniform(Fraction(1, 10), Fraction(9, 10))
    scenario = SlottedScenario(law, 100, 100_000, 10_000, rate=0.9 * 100 * 0.01 / law.mean, service=0.01)
    return lambda: run_once(named(policy), scenario, 1)


def rate(action: Callable[[], Any]) -> float:
    """Measure events of a run."""
    events = action().events
    return float(events / cpu(action, 3))


def event_list_in_python() -> float:
    """Measure arrivals and departures of M/M/200 with a heap in plain Python."""
    from benchmarks.queue_peers import ARRIVALS, with_heapq

    return 2 * ARRIVALS / cpu(with_heapq, 1)


def fluid() -> float:
    """Measure the fluid path of the four VM types to time 10."""
    from bounds.results.instances.papers import four_types
    from fluid.limits.reservation import Reservation, fluid_path

    model = Reservation(four_types())
    return cpu(lambda: fluid_path(model, 10.0), 3)


def checker() -> float:
    """Measure the checker on its own, on all recorded certificates."""
    from bounds import checker as alone
    from tests.checker.corpus import CERTIFICATES

    return cpu(lambda: [alone.check(document) for document in CERTIFICATES.values()], 3)


FIGURES = (
    Figure("import packproof", "s", lambda: command(["-c", "import packproof"])),
    Figure("packproof solve, as a process", "s", packproof("solve", str(FOUR_TYPES))),
    Figure("first simulation, 30,000 events", "s", lambda: first_simulation(2)),
    Figure("first simulation, 800,000 events", "s", lambda: first_simulation(50)),
    Figure(
        "greedy and optimum, four VM types",
        "s",
        partial(greedy_and_optimum, by_cvxpy=False),
        ("cvxpy with HiGHS, floats", partial(greedy_and_optimum, by_cvxpy=True)),
    ),
    Figure("worst workload, four VM types", "s", worst),
    Figure(
        "facets, five types", "s", partial(facets, by_qhull=False), ("qhull, floats", partial(facets, by_qhull=True))
    ),
    Figure("intensity, 400 types on 20 pools", "s", intensity_on_pools),
    Figure("configuration program, 200 sizes", "s", lambda: configuration_program(200)),
    Figure("cutting stock, 1,000 jobs on 10,000", "s", cutting_stock),
    Figure("PS-DSF, 200 x 40", "s", lambda: sharing("ps-dsf")),
    Figure(
        "PS-DSF in time, 200 x 40",
        "s",
        lambda: sharing("ps-dsf-tdm"),
        ("cvxpy with Clarabel, floats", lambda: sharing("clarabel")),
    ),
    Figure("TSF, 200 x 40", "s", lambda: sharing("tsf")),
    Figure("PS-DSF, 1,000 x 100", "s", lambda: sharing("ps-dsf", 1000, 100)),
    Figure(
        "PS-DSF in time, 1,000 x 100",
        "s",
        lambda: sharing("ps-dsf-tdm", 1000, 100),
        ("cvxpy with Clarabel, floats", lambda: sharing("clarabel", 1000, 100)),
    ),
    Figure(
        "first-fit, 100 servers", "/s", lambda: rate(loss("first-fit", 100)), ("a heap in Python", event_list_in_python)
    ),
    Figure("dra, 1,000 servers", "/s", lambda: rate(loss("dra", 1000))),
    Figure("dra, 100,000 servers", "/s", lambda: rate(loss("dra", 100_000))),
    Figure("nonpreemptive, 200 servers", "/s", lambda: rate(queue("nonpreemptive"))),
    Figure("max-weight-local, 200 servers", "/s", lambda: rate(queue("max-weight-local"))),
    Figure("bf-js in slots, 100 servers", "/s", lambda: rate(slotted("bf-js"))),
    Figure("vqs-bf in slots, 100 servers", "/s", lambda: rate(slotted("vqs-bf"))),
    Figure("fluid path, four VM types", "s", fluid),
    Figure("checker, all recorded certificates", "s", checker),
    Figure("verify, all claims", "s", verify),
    Figure("first verify, nothing compiled", "s", first_verify),
)
