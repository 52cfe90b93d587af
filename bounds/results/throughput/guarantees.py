"""Claims of the high-throughput paper about the workload that its policies carry: Theorems 2 to 4 and Lemma 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, log
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import ALARM, FRESH_SEED, Decisions
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import SEED, shown, simulated, spent
from bounds.results.throughput.queues import greatest_workload, slopes, vqs_contents
from bounds.views.panels import Chart, Panel
from bounds.views.simulation import curve_of
from fluid.simulation.arrivals import JobList
from fluid.simulation.measures import DEPARTURE, START
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Run
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.policies.vqs import VQS
from fluid.simulation.slotted.sizes import discrete as size_classes
from fluid.simulation.slotted.sizes import size_law
from fluid.simulation.slotted.state import SlottedSetting
from fluid.statistics import Interval
from theory.errors import InputError, expect_number
from theory.numbers import text, total
from theory.partition.bounding import bracket
from theory.partition.guarantees import adversarial_law
from theory.partition.laws import Law, discrete, uniform
from theory.partition.universal import least_J, universal_partition

GRID = Fraction(1, 1000)  # steps in which continuous laws are drawn

LOST = Fraction(1, 100)  # a queue counts as settled if it grows by less than this part of the rate at which jobs come


@dataclass(frozen=True)
class Load:
    """A law of sizes and the workload that it is offered at."""

    name: str
    law: Law
    workload: Fraction  # jobs per server, lambda / (mu L)
    servers: int = 1
    partition: int | None = None  # J of the universal partition, where it is not the least with all sizes above 1/2^J


def offered(load: Load, slots: int) -> SlottedScenario:
    """Return the scenario in which a load comes, service geometric with mean 10 slots; a quarter is the warm-up."""
    sizes, options = size_law(load.law, GRID), {} if load.partition is None else {"partition": load.partition}
    rate = float(load.workload * load.servers) / 10
    return SlottedScenario(sizes, load.servers, slots, slots // 4, rate=rate, service=0.1, bins=40, options=options)


def _settled(policy: Policy | str, loads: Sequence[Load], slots: int, replications: int, seed: int) -> Outcome:
    """Return whether the queue of a policy is settled on each load."""
    expect_number(replications, "replications", 2)
    if any(load.workload <= 0 for load in loads):
        raise InputError("share", "expected more than 0")
    decisions, rates, results = Decisions(len(loads)), [], []
    for load in loads:
        scenario = offered(load, slots)
        result = simulated(policy, scenario, replications, seed)
        growth, rate = decisions.growth(result), scenario.rate
        rates.append(Interval(growth.mean / rate, growth.low / rate, growth.high / rate, growth.level, growth.samples))
        results.append(result)
    rows = ", ".join(f"{load.name} {shown(rate)}" for load, rate in zip(loads, rates, strict=True))
    computed = f"growth by job that comes: {rows}; {spent(decisions, *results, seed=seed)}"
    return Outcome(computed, all(rate.high < LOST for rate in rates))


def chosen_laws(sizes: tuple[Fraction, ...], weights: tuple[Fraction, ...]) -> dict[str, Law]:
    """Return the law of sizes that a reader chose, equally likely without weights; none where there are no sizes."""
    if not sizes:
        return {}
    likely = weights or (Fraction(1),) * len(sizes)
    if len(likely) != len(sizes) or min(sizes) <= 0 or max(sizes) > 1 or min(likely) <= 0:
        raise InputError("sizes, weights", "expected sizes of at most 1 with as many weights, all more than 0")
    shares = (weight / total(likely) for weight in likely)
    return {" and ".join(map(text, sizes)): discrete(dict(zip(sizes, shares, strict=True)))}


def maximum(law: Law) -> Fraction:
    """Return a lower bound of rho* on one server, within a hundredth: exact for laws of few sizes."""
    return bracket(law).lower


def blocking(size: str) -> dict[str, tuple[Fraction, ...]]:
    """Return sizes and weights of many small jobs and some that fill a server.

    A large one at the head of a first-in-first-out queue blocks the small ones.
    """
    return {"sizes": (Fraction(size), Fraction(1)), "weights": (Fraction(5), Fraction(1))}


FIVE_LAWS = {
    "1/50 and 1": discrete({"1/50": "5/6", "1": "1/6"}),
    "2/5 and 3/5": discrete({"2/5": "1/2", "3/5": "1/2"}),
    "1/5 and 1/2": discrete({"1/5": "2/3", "1/2": "1/3"}),
    "51/100": discrete({"51/100": 1}),
    "uniform": uniform("1/10", "9/10"),
}


@claim(
    "theorem-2",
    "Simulated BF-J/S supports 0.49 of five maximum workloads",
    "BF-J/S at 0.49 of the maximum workload on five distributions of sizes, one server and three: the queue is "
    "settled, its growth below a hundredth of the rate at which jobs come. Sizes 1/50 and 1, 2/5 and 3/5, 1/5 and "
    "1/2, 51/100 alone, uniform on [1/10, 9/10].",
    source="Theorem 2",
    printed="BF-J/S can achieve at least 1/2 of the maximum supportable workload, for any least size u > 0",
    evidence=Evidence.statistical,
    tiny={"slots": 20_000},
    full={"slots": 400_000},
    controls={
        "first in, first out by First-Fit": {"policy": "fifo-ff", **blocking("1/50")},
        "1.03 of the maximum workload": {"share": Fraction(103, 100), "slots": 10_000},
    },
)
def theorem_2(
    share: Fraction = Fraction(49, 100),
    servers: tuple[int, ...] = (1, 3),
    sizes: tuple[Fraction, ...] = (),
    weights: tuple[Fraction, ...] = (),
    slots: int = 40_000,
    replications: int = 12,
    *,
    policy: str = "bf-js",
) -> Outcome:
    """Simulate at a share of the maximum on the five laws, or on the law of sizes that is given."""
    laws = chosen_laws(sizes, weights) or FIVE_LAWS
    return _settled(policy, loads_at(share, laws, servers), slots, replications, SEED)


def loads_at(
    share: Fraction, laws: Mapping[str, Law], servers: tuple[int, ...], partition: int | None = None
) -> list[Load]:
    """Return the loads at a share of the maximum workload of each law, on each number of servers."""
    return [
        Load(f"{name} on {L}", law, share * maximum(law), L, partition)
        for (name, law), L in product(laws.items(), servers)
    ]


THREE_SIZES = (Fraction(51, 100), Fraction(26, 100), Fraction(23, 100))


def adversarial_laws() -> dict[str, Law]:
    """Return a law on which upper-rounded virtual queues keep just 2/3 of the maximum, and two others."""
    return {
        "halves": adversarial_law(universal_partition(3)),
        "three sizes": discrete(dict.fromkeys(THREE_SIZES, Fraction(1, 3))),
        "13/100": discrete({"13/100": 1}),
    }


def _prepared_without_pairs(setting: SlottedSetting) -> Any:
    """Prepare VQS on K_RED without its pairs, but for the last, with which jobs of queue 1 are served alone."""
    state = VQS.prepare(setting)
    chosen = state.table[:, 0] == 0
    chosen[-1] = True
    return state._replace(table=state.table[chosen])


VQS_WITHOUT_PAIRS = replace(VQS, prepare=_prepared_without_pairs)

TWO_THIRDS = Fraction(2, 3)
NEAR = Fraction(97, 100)


@claim(
    "theorem-3",
    "Simulated VQS supports nearly 2/3 on three distributions",
    "VQS at 0.97 x 2/3 of the maximum workload: the queue is settled, its growth below a hundredth of the rate at "
    "which jobs come. Three distributions: sizes 1/2 - eps and 1/2 + eps that upper-rounded queues cannot combine, so "
    "that they support just 2/3; sizes 51/100, 26/100 and 23/100; 13/100 alone. One server and two.",
    source="Theorem 3",
    printed="VQS achieves at least 2/3 of the optimal workload rho*, if arriving jobs have sizes greater than 1/2^J",
    evidence=Evidence.statistical,
    tiny={"share": TWO_THIRDS * Fraction(9, 10), "slots": 60_000},
    full={"slots": 4_000_000},
    controls={
        "1.06 x 2/3 of the maximum workload": {"share": TWO_THIRDS * Fraction(106, 100)},
        "J = 2 for jobs of 13/100": {"partition": 2},
        "K_RED without its pairs": {
            "policy": VQS_WITHOUT_PAIRS,
            "sizes": THREE_SIZES,  # it carries 36/19 jobs a server of them, less than 0.97 x 2
            "share": TWO_THIRDS * NEAR,
        },
    },
)
def theorem_3(
    share: Fraction = TWO_THIRDS * NEAR,
    servers: tuple[int, ...] = (1, 2),
    sizes: tuple[Fraction, ...] = (),
    weights: tuple[Fraction, ...] = (),
    slots: int = 200_000,
    replications: int = 12,
    *,
    policy: Policy | str = "vqs",
    partition: int | None = None,
) -> Outcome:
    """Simulate at a share of the maximum on the three laws, or on the law of sizes that is given."""
    laws = chosen_laws(sizes, weights) or adversarial_laws()
    return _settled(policy, loads_at(share, laws, servers, partition), slots, replications, FRESH_SEED)


@claim(
    "theorem-3-no-more",
    "One distribution limits VQS to 2/3",
    "Theorem 3 from the other side: on the distribution 5/12, 7/12 of theorem-3, whatever configuration of K_RED(3) a "
    "server of VQS has, it holds two small jobs or one large one (rules (i) and (ii), exactly). With weights 1/2 and "
    "1 no server holds more than 1, and 3/4 comes with a job, so VQS supports no more than 2/3 of the maximum on any "
    "number of servers, and z times that makes the weight of all jobs grow by (z - 1) mu L a slot at least. Simulated "
    "at 1.06 of it on one server and two: the weight of the waiting jobs grows by more than half of this, and not "
    "clearly by less than all of it.",
    source="Theorem 3",
    printed="VQS achieves at least 2/3 of rho*; by Section VII-A.1 no more, for sizes 0.4 and 0.6",
    evidence=Evidence.statistical,
    tiny={"z": Fraction(12, 10), "slots": 40_000, "replications": 12},
    full={"slots": 2_000_000},
    controls={
        "VQS-BF, which fills up what is left of a server": {"policy": "vqs-bf"},
        "z = 0.97": {"z": Fraction(97, 100)},
        "weights 1/2 and 3/4": {"weights": (Fraction(1, 2), Fraction(3, 4))},
    },
)
def theorem_3_no_more(
    z: Fraction = Fraction(106, 100),
    servers: tuple[int, ...] = (1, 2),
    slots: int = 200_000,
    replications: int = 16,
    *,
    policy: str = "vqs",
    weights: tuple[Fraction, Fraction] = (Fraction(1, 2), Fraction(1)),
) -> Outcome:
    """Weigh what a server can hold, and simulate at z times what it carries by that."""
    expect_number(replications, "replications", 2)
    law = adversarial_laws()["halves"]
    small, large = (size for size, _ in law.atoms)
    contents = vqs_contents((small, large), 3)
    heaviest = max(a * weights[0] + b * weights[1] for a, b in contents)
    at_most = heaviest / (total(weights) / 2)  # jobs a server, by weight; half of the weights comes with a job
    good = at_most == greatest_workload(contents) == TWO_THIRDS * maximum(law)
    decisions, rates, results = Decisions(len(servers)), [], []
    for number in servers:
        scenario = offered(Load("halves", law, z * at_most, number), slots)
        results.append(
            simulated(policy, replace(scenario, group=(0, 1), names=("5/12", "7/12")), replications, FRESH_SEED)
        )
        rate = slopes(results[-1], decisions, lambda run: run.waiting @ np.array(weights, float))
        least = float((z - 1) * number / 10 * heaviest)  # (z - 1) mu L, mu = 1/10
        good &= bool(rate.low > max(0.0, least / 2) and rate.high > least)
        rates.append(f"{shown(rate)} on {number}, at least {least:.3g}")
    computed = (
        f"contents weigh {text(heaviest)} at most, which is {text(at_most)} jobs a server of {text(maximum(law))}; "
        f"growth of the weight a slot at {text(z)} of it: {', '.join(rates)}; "
        f"{spent(decisions, *results, seed=FRESH_SEED)}"
    )
    return Outcome(computed, good)


@claim(
    "theorem-4",
    "VQS-BF supports nearly 2/3 in the tried settings",
    "VQS-BF at 0.97 x 2/3 of the maximum workload, settled as in theorem-3: the same distributions, and sizes 1/10 "
    "and 1; and at 0.97 x (1 - eps) 2/3 of it for sizes uniform on (0, 1/4] with eps = 1/5 and J = 5, the least with "
    "F(1/2^J) < eps. One server and two.",
    source="Theorem 4",
    printed="VQS-BF achieves at least 2/3 rho*; (1 - eps) 2/3 rho* if J is chosen such that F(1/2^J) < eps",
    evidence=Evidence.statistical,
    tiny={"share": TWO_THIRDS * Fraction(9, 10), "slots": 40_000, "replications": 14},
    full={"slots": 2_000_000},
    controls={
        "first in, first out by First-Fit": {"policy": "fifo-ff", **blocking("1/10")},
        "1.03 of the maximum workload": {"share": Fraction(103, 100), "slots": 20_000},
    },
)
def theorem_4(
    share: Fraction = TWO_THIRDS * NEAR,
    epsilon: Fraction = Fraction(1, 5),
    servers: tuple[int, ...] = (1, 2),
    sizes: tuple[Fraction, ...] = (),
    weights: tuple[Fraction, ...] = (),
    slots: int = 100_000,
    replications: int = 12,
    *,
    policy: str = "vqs-bf",
) -> Outcome:
    """Simulate at a share of the maximum on the four laws, or on the one given, and at 1 - eps of it on (0, 1/4]."""
    if not Fraction(1, 10**6) <= epsilon < 1:
        raise InputError("epsilon", f"expected a number from 1e-6 to below 1, got {text(epsilon)}")
    small = uniform(0, "1/4")
    J = least_J(small, epsilon)
    laws = chosen_laws(sizes, weights) or {**adversarial_laws(), "1/10 and 1": discrete({"1/10": "5/6", "1": "1/6"})}
    loads = []
    for L in servers:
        loads += loads_at(share, laws, (L,))
        loads += loads_at(share * (1 - epsilon), {"uniform": small}, (L,), J)
    return _settled(policy, loads, slots, replications, FRESH_SEED)


@drawing(
    "One server at 0.49 of the maximum workload, and at 0.97 × 2/3 of it: queues with 95 % bands of 8 replications",
    "theorem-2",
    "theorem-3",
    "theorem-4",
    columns=2,
    height=3.2,
)
def settled() -> Sequence[Panel]:
    half, two_thirds = Fraction(49, 100), NEAR * TWO_THIRDS
    parts = {
        "BF-J/S, Theorem 2": ("bf-js", half, FIVE_LAWS),
        "first in, first out, same load": ("fifo-ff", half, FIVE_LAWS),
        "VQS, Theorem 3": ("vqs", two_thirds, adversarial_laws()),
        "VQS-BF, Theorem 4": ("vqs-bf", two_thirds, adversarial_laws()),
    }
    panels = []
    for title, (policy, share, laws) in parts.items():
        curves = []
        for name, law in laws.items():
            result = simulated(policy, offered(Load(name, law, share * maximum(law)), 20_000), 8)
            curves.append(curve_of(result, f"sizes {name}" if name[0].isdigit() else name))
        panels.append(Chart("time (slots)", "queue (jobs)", curves, title=title, yscale="symlog", ylim=(0.0, None)))
    return panels


CROWDS = (
    ((2, 2, 2, 2), (20,)),  # the jobs of 1/10 leave no room for any of the stock
    ((2, 2, 2, 2, 9), (2, 9, 13, 20)),
    ((6,), (15, 16, 17)),
    ((9,), (9, 13, 14)),  # First-Fit in the order of arrival lets 13/20 wait behind 9/20
)
"""Jobs that are there before the others and make servers start badly, and the sizes of the stock, in twentieths."""

UNIT = 20


def least_n_1(risk: float, servers: int, rate: float, most_jobs: int) -> int:
    """Return the least whole N_1 that (10) allows."""
    return int(log(risk / servers) / log(1 - rate**most_jobs)) + 1


def slots_below_half(log_of_events: Any, sizes: Any, servers: int, slots: int) -> list[int]:
    """Count for each server the slots, of 0, ..., slots - 1, in which less than half of it is in use.

    The log, float64[n, 5], has rows (time, kind, class, server, other) in order of time; a slot counts as it is once
    all has been started. The sizes of the classes, int64, are in units of 1 / `UNIT` of a server.
    """
    change = np.select([log_of_events[:, 1] == START, log_of_events[:, 1] == DEPARTURE], [1, -1])
    changed = np.flatnonzero(change)
    time, _, job_class, server, _ = log_of_events[changed].astype(int).T
    steps = np.bincount(
        server * (slots + 1) + np.minimum(time, slots), change[changed] * sizes[job_class], servers * (slots + 1)
    )
    used = steps.reshape(servers, slots + 1)[:, :slots].cumsum(axis=1)
    return [int(below) for below in (2 * used < UNIT).sum(axis=1)]


@dataclass(frozen=True)
class Watch:
    """The setting of Lemma 1: mu, L, N_2, the size of the stock in parts of L N_2, and the number of runs."""

    rate: float
    servers: int
    slots: int
    stock: float
    runs: int


@lru_cache(maxsize=32)
def _worst_slots(policy: str, place: int, watch: Watch) -> list[int]:
    """Return for each run from a crowd the most slots that a server is badly filled; cached for the controls."""
    first, stock = CROWDS[place]
    generator, worst = np.random.default_rng(place), []
    for _ in range(watch.runs):
        run = _watched(policy, first, stock, watch, generator)
        rows = run.measures.log[: int(run.measures.logged[0])]
        worst.append(max(slots_below_half(rows, run.scenario.law.sizes, watch.servers, watch.slots)))
    return worst


def _watched(
    policy: str, first: tuple[int, ...], stock: tuple[int, ...], watch: Watch, generator: np.random.Generator
) -> Run:
    """Run a policy from a stock of at least a total size, in equal numbers and shuffled, for N_2 slots.

    One more job of the stock comes a slot.
    """
    kinds = sorted({*first, *stock})
    each = ceil(watch.servers * watch.slots * watch.stock / sum(stock) * UNIT) + 1
    waiting = [*first, *generator.permutation(np.repeat(stock, each)).tolist()]
    later = generator.choice(stock, watch.slots).tolist()
    types = np.searchsorted(kinds, [*waiting, *later]).astype(np.int32)
    times = np.concatenate([np.zeros(len(waiting), np.int64), np.arange(1, watch.slots + 1)])
    law = size_classes({Fraction(kind, UNIT): 1 for kind in (*kinds, UNIT)})
    jobs = JobList(times, types, generator.geometric(watch.rate, len(types)))
    scenario = SlottedScenario(law, watch.servers, watch.slots, 0, jobs=jobs, bins=1, log=8 * len(types))
    return simulated(policy, scenario, 1).runs[0]


@claim(
    "lemma-1",
    "From four backlogs, servers are seldom half empty",
    "Two servers, mu = 9/10, N_2 = 100, epsilon_1 = 1/10, N_1 the least that (10) allows, a backlog of total size "
    "just above 2 L N_2: with probability above 1 - epsilon_1 every server is less than half full in at most N_1 "
    "slots of BF-J/S. Four backlogs (sizes 1; 1/10, 9/20, 13/20 and 1; 3/4, 4/5 and 17/20; 9/20, 13/20 and 7/10) "
    "whose first jobs leave a server badly filled; one more job comes a slot.",
    source="Lemma 1",
    printed="P(E) > 1 - epsilon_1 if the queue is larger than 2 L N_2 and N_1 > log(epsilon_1 / L) / log(1 - mu^K_max)",
    evidence=Evidence.statistical,
    tiny={"risk": 0.2, "runs": 72},
    full={"runs": 2000},
    controls={
        "first in, first out by First-Fit": {"policy": "fifo-ff"},
        "N_1 is half of it": {"part": 0.5},
        "the stock is L N_2 / 10": {"stock": 0.1},
    },
)
def lemma_1(
    risk: float = 0.1,
    rate: float = 0.9,
    servers: int = 2,
    slots: int = 100,
    runs: int = 180,
    *,
    policy: str = "bf-js",
    part: float = 1.0,
    stock: float = 2.0,
) -> Outcome:
    """Count the runs in which no server is badly filled too often, and test their share by the binomial law.

    `risk` is epsilon_1, `rate` mu, `servers` L and `slots` N_2; the stock is so many times L N_2.
    """
    from scipy.special import bdtrc

    if not (0 < risk < 1 and 0.5 <= rate < 1):
        raise InputError("risk, rate", f"expected 0 < risk < 1 and 0.5 <= rate < 1, got {risk:g} and {rate:g}")
    expect_number(servers, "servers", 1)
    expect_number(slots, "slots", 1)
    # with fewer runs the test cannot decide, even if all are within N_1
    expect_number(runs, "runs", ceil(log(ALARM / len(CROWDS)) / log(1 - risk)))
    decisions = Decisions(len(CROWDS))
    good, parts = True, []
    for place, (first, kinds) in enumerate(CROWDS):
        most_jobs = ceil(UNIT / min(*first, *kinds))
        allowed = int(part * least_n_1(risk, servers, rate, most_jobs))
        worst = _worst_slots(policy, place, Watch(rate, servers, slots, stock, runs))
        inside = sum(below <= allowed for below in worst)
        # so many runs or more would seldom be within N_1 were the chance just 1 - risk
        good &= bool(bdtrc(inside - 1, runs, 1 - risk) <= 1 - decisions.level())
        parts.append(f"{inside} of {runs} runs within N_1 = {allowed}, greatest {max(worst)} slots")
    return Outcome(f"{'; '.join(parts)}; {decisions}", bool(good))
