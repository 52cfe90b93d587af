"""The synthetic examples of the high-throughput paper at work: Section VII-A, Figures 3 and 4.

A queue *grows* if the whole interval of its growth rate over replications lies above 0, and is *settled* if the whole
interval lies below a small bound that the claim states. All intervals are at the level that `Decisions` shares out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.claims import NOTHING, Evidence, Outcome, claim
from bounds.results.decisions import FRESH_SEED, THIRD_FRESH_SEED, Decisions
from bounds.results.reproduction import mean_queues_chart, reproduction
from bounds.results.simulated_queues import SEED, mean_queues, shown, simulated, spent
from bounds.views.panels import Chart, Curve, Panel
from bounds.views.simulation import curve_of
from fluid.simulation.results import QueueResult, Run
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import discrete, uniform
from fluid.statistics import Interval, growth
from theory.errors import InputError, expect_number
from theory.instance import explicit
from theory.numbers import text
from theory.partition.bounding import bracket
from theory.partition.laws import discrete as exact_law
from theory.partition.universal import reduced_configurations, universal_partition
from theory.region.membership import traffic_intensity

HALF = Fraction(1, 2)
SMALLER, LARGER = Fraction(2, 5), Fraction(3, 5)  # sizes of Section VII-A.1


def growth_of_vqs(rate: float) -> tuple[float, float]:
    """Return the growth of both queues under VQS in Section VII-A.1, in jobs a slot, above 1/75 jobs a slot.

    A part p of the time it serves two jobs of 2/5, else one of 3/5, so the queues grow by rate / 2 - 0.02 p and
    rate / 2 - 0.01 (1 - p). Weights stay equal, so the second grows twice as fast as the first: p = 10 rate + 0.2. At
    0.014 jobs a slot the queues grow by 0.0002 and 0.0004.
    """
    first = rate / 2 - 0.02 * (10 * rate + 0.2)
    return first, 2 * first


def growth_of_best_fit(rate: float) -> tuple[float, float]:
    """Return the growth of both queues of Section VII-A.2 where a server is caught in the configuration (2, 1).

    At 0.0306 jobs a slot they grow by 0.0204 - 0.02 = 0.0004 and 0.0102 - 0.01 = 0.0002.
    """
    return 2 * rate / 3 - 0.02, rate / 3 - 0.01


def slopes(
    result: QueueResult[Any], decisions: Decisions, values: Callable[[Run], Any], runs: Sequence[Run] | None = None
) -> Interval:
    """Return the interval of the growth per slot of a quantity given by bins, over the replications after the warm-up.

    `values` makes of a run the averages over its bins, float[B]; of all `runs`, at least two, or those of the result.
    """
    first, edges = result.runs[0].first, result.runs[0].measures.edges
    curves = [np.asarray(values(run))[first:] for run in runs or result.runs]
    return growth(curves, (edges[first + 1 :] + edges[first:-1]) / 2, decisions.level())


def waiting_size(run: Run) -> Any:
    """Return the mean size of all waiting jobs together, by bins, as a part of one server."""
    return run.measures.load.sum(axis=1) / run.spans / run.scenario.law.capacity


def first_example(rate: float, slots: int, sizes: tuple[Fraction, ...] = (SMALLER, LARGER)) -> SlottedScenario:
    """Return the scenario of Section VII-A.1: two sizes equally likely, geometric service of mean 100."""
    if len(set(sizes)) != 2:
        raise InputError("sizes", f"expected two sizes, got {', '.join(map(text, sizes))}")
    law = discrete({sizes[0]: 1, sizes[1]: 1})
    return SlottedScenario(law, 1, slots, slots // 10, rate=rate, service=0.01)


def vqs_contents(sizes: tuple[Fraction, ...], levels: int) -> list[tuple[int, int]]:
    """Return what a server can hold of two sizes in different virtual queues, for each configuration of VQS.

    Rules (i) and (ii): one job of queue 1 in its reserved part, and as many of the other queue as fit the rest.
    """
    partition = universal_partition(levels)
    queues = [partition.queue_of(size) for size in sizes]
    if queues[0] == queues[1]:
        raise InputError("sizes", f"expected sizes of two virtual queues, got {', '.join(map(text, sizes))}")
    contents = []
    for k in reduced_configurations(levels):
        free = Fraction(1, 3) if k[1] else Fraction(1)
        first, second = (
            (1 if k[1] else 0) if queue == 1 else (int(free / size) if k[queue] else 0)
            for size, queue in zip(sizes, queues, strict=True)
        )
        contents.append((first, second))
    return contents


def greatest_workload(contents: list[tuple[int, int]]) -> Fraction:
    """Return the greatest workload of two equally likely types that mixtures of contents carry, exactly."""
    return 1 / traffic_intensity(explicit(contents, workload=[HALF, HALF]))


@claim(
    "example-vqs",
    "VQS's queue grows at 0.014, not at 0.013",
    "Section VII-A.1, sizes 0.4 and 0.6 equally likely, mean service 100 slots: any rate below 0.02 is supportable; "
    "whatever configurations of (19) VQS takes, a server holds two small jobs or one large one, which supports less "
    "than 1/75 = 2/3 x 0.02 (both exactly). In simulation the queue of VQS grows at 0.014, by 0.0006 jobs a slot, and "
    "is settled at 0.013: growth below a twentieth of that.",
    source="Section VII-A.1",
    printed="below 0.02 supportable; VQS unstable above 2/3 x 0.02, about 0.013; run at 0.014",
    evidence=Evidence.statistical,
    tiny={"rate": 0.016, "carried": 0.012, "slots": 300_000, "replications": 12},
    full={"slots": 20_000_000},
    controls={
        "the sizes are 0.3 and 0.6": {"sizes": (Fraction(3, 10), LARGER)},
        "0.0125 jobs a slot for 0.014": {"rate": 0.0125},
    },
)
def example_vqs(
    rate: float = 0.014,
    carried: float = 0.013,
    sizes: tuple[Fraction, ...] = (SMALLER, LARGER),
    slots: int = 4_000_000,
    replications: int = 20,
) -> Outcome:
    """Compute both bounds, and simulate at a rate at which the queue is to grow and at one that VQS carries."""
    expect_number(replications, "replications", 2)
    scenarios = [first_example(jobs, slots, sizes) for jobs in (rate, carried)]
    most = bracket(exact_law(dict.fromkeys(sizes, HALF))).lower / 100
    bound = greatest_workload(vqs_contents(sizes, 2)) / 100
    decisions, excess = Decisions(2), sum(growth_of_vqs(rate))
    results = [simulated("vqs", scenario, replications) for scenario in scenarios]
    above, below = (decisions.growth(result) for result in results)
    grows = above.low > 0 and above.holds(excess) and below.high < excess / 20
    computed = (
        f"rates below {text(most)}, VQS below {text(bound)}; the queue of VQS grows by {shown(above)} a slot at "
        f"{rate}, {shown(below)} at {carried}; {spent(decisions, *results)}"
    )
    return Outcome(computed, most == Fraction(1, 50) and bound == most * 2 / 3 and bool(grows))


FIRST = ("vqs", "bf-js", "vqs-bf")  # policies of Figure 3, the one that fails in (a) first


@lru_cache(maxsize=8)
def _first_example(
    rate: float, sizes: tuple[Fraction, ...], slots: int, replications: int
) -> dict[str, QueueResult[Any]]:
    """Run the policies on the example of Section VII-A.1; cached for the controls."""
    expect_number(replications, "replications", 2)
    scenario = first_example(rate, slots, sizes)
    return {name: simulated(name, scenario, replications) for name in FIRST}


def _grow_and_settle(rates: dict[str, Interval], unstable: tuple[str, ...], excess: float) -> bool:
    """Return whether the unstable policies grow by the excess and the others by less than a twentieth of it."""
    return all(
        rate.low > 0 and rate.holds(excess) if name in unstable else rate.high < excess / 20
        for name, rate in rates.items()
    )


def _shown_rates(rates: dict[str, Interval]) -> str:
    return ", ".join(f"{name} grows by {shown(rate)} a slot" for name, rate in rates.items())


@claim(
    "vii-a-1",
    "At 0.014 only VQS has a growing queue",
    "One server, sizes 0.4 and 0.6, 0.014 jobs a slot, geometric service of mean 100: the queue grows under VQS, by "
    "0.0006 jobs a slot, and is settled under BF-J/S and VQS-BF: growth below a twentieth of that.",
    source="Section VII-A.1",
    printed="VQS is unstable for any arrival rate greater than 2/3 x 0.02; BF-J/S and VQS-BF circumvent this",
    evidence=Evidence.statistical,
    tiny={"rate": 0.016, "slots": 300_000, "replications": 12},
    full={"slots": 10_000_000},
    controls={
        "0.012 jobs a slot, which VQS carries": {"rate": 0.012},
        "the small jobs are 0.3": {"sizes": (Fraction(3, 10), LARGER)},
        "0.021 jobs a slot, which none carries": {"rate": 0.021},
    },
)
def instability_of_vqs(
    rate: float = 0.014,
    sizes: tuple[Fraction, ...] = (SMALLER, LARGER),
    slots: int = 1_000_000,
    replications: int = 20,
) -> Outcome:
    """Test growth rates, which follow from the rate at which jobs come."""
    decisions, results = Decisions(3), _first_example(rate, sizes, slots, replications)
    rates = {name: decisions.growth(result) for name, result in results.items()}
    good = _grow_and_settle(rates, ("vqs",), sum(growth_of_vqs(rate)))
    return Outcome(f"{_shown_rates(rates)}; {spent(decisions, *results.values())}", good)


CAUGHT = 400
"""Jobs of each size that wait at the beginning of the window where Best-Fit is caught in the configuration (2, 1).

From there the shorter queue, which grows by 0.0002 a slot with a variance of 0.0102 a slot, is emptied with a
probability of at most exp(-2 x 0.0002 x 400 / 0.0102) < 2e-7.
"""


BEST_FIT_FIRST = ("bf-js", "vqs-bf", "vqs")  # policies of Figure 3b
RUNS = (12, 16, 6)
"""Replications of each of them; VQS-BF is caught later than BF-J/S, and the queue of VQS varies little."""


def second_example(rate: float, until: int, warmup: int, *, fixed: bool = True) -> SlottedScenario:
    """Return the scenario of Section VII-A.2: sizes 2 and 5 (2 : 1) on a server of 10, service of exactly 100 slots."""
    law = discrete({Fraction(2): 2, Fraction(5): 1}, 10)
    return SlottedScenario(
        law, 1, until, warmup, rate=rate, service=0.01, fixed=fixed, bins=80, names=("2", "5"), group=(0, 1)
    )


@lru_cache(maxsize=4)
def _second_example(
    rate: float, until: int, warmup: int, replications: tuple[int, ...], seed: int, *, fixed: bool
) -> dict[str, QueueResult[Any]]:
    """Run the policies on the example of Section VII-A.2, over one window for all of them; two claims look at it."""
    if len(replications) != len(BEST_FIT_FIRST) or min(replications) < 2:
        raise InputError("replications", f"expected three numbers of at least 2, got {replications}")
    scenario = second_example(rate, until, warmup, fixed=fixed)
    counts = zip(BEST_FIT_FIRST, replications, strict=True)
    return {name: simulated(name, scenario, count, seed) for name, count in counts}


def _caught(result: QueueResult[Any]) -> list[Run]:
    """Return the replications in which many jobs of both sizes wait as the window begins."""
    return [run for run in result.runs if run.waiting[run.first].min() > CAUGHT]


def _second_growth(
    results: Mapping[str, QueueResult[Any]], seed: int, values: Callable[[Run], Any], excess: float, unit: str
) -> Outcome:
    """Test that Best-Fit's queues grow by the excess where they are caught, and that the queue of VQS is settled."""
    decisions = Decisions(3)
    good, parts = True, []
    for name, result in results.items():
        caught = _caught(result)
        chosen = result.runs if name == "vqs" else caught
        rate = slopes(result, decisions, values, chosen) if len(chosen) > 1 else None
        if name == "vqs":
            good &= not caught and rate is not None and rate.high < excess / 20
        else:
            good &= rate is not None and rate.low > 0 and rate.holds(excess)
        which = "all" if name == "vqs" else "those"
        grows = f", {which} grow by {shown(rate)} {unit} a slot" if rate is not None else ""
        parts.append(f"{name} is caught in {len(caught)} of {len(result.runs)} replications{grows}")
    return Outcome(f"{'; '.join(parts)}; {spent(decisions, *results.values(), seed=seed)}", bool(good))


FULL_WINDOW: dict[str, Any] = {"until": 40_000_000, "warmup": 20_000_000, "replications": (20, 20, 20), "seed": SEED}
TINY_WINDOW: dict[str, Any] = {"until": 3_600_000, "warmup": 2_200_000, "replications": (10, 28, 10)}
FEW = (4, 4, 4)
"""Replications of the controls, in which growth is not that of a server that is caught."""


@claim(
    "vii-a-2",
    "BF-J/S and VQS-BF get trapped, VQS does not",
    "One server of 10, sizes 2 and 5 (2 : 1), 0.0306 jobs a slot, service of exactly 100 slots, one window for all "
    "policies: replications of BF-J/S and VQS-BF are caught in the configuration (2, 1), with more than 400 jobs of "
    "each size waiting as the window begins, and those grow by 0.0006 jobs a slot in it. VQS is never caught and "
    "settled: growth below a twentieth of that. Not every replication of Best-Fit is caught by then.",
    source="Section VII-A.2",
    printed="VQS is stable, while both BF-J/S and VQS-BF are not",
    evidence=Evidence.statistical,
    tiny={"rate": 0.0325, **TINY_WINDOW},
    full=FULL_WINDOW,
    controls={
        "service times are geometric": {"fixed": False, "replications": FEW},
        "0.029 jobs a slot, which (2, 1) carries": {"rate": 0.029, "replications": FEW},
    },
)
def instability_of_best_fit(
    rate: float = 0.0306,
    until: int = 16_000_000,
    warmup: int = 10_000_000,
    replications: tuple[int, ...] = RUNS,
    seed: int = THIRD_FRESH_SEED,
    *,
    fixed: bool = True,
) -> Outcome:
    """Test growth rates in the window, given what waits as it begins."""
    results = _second_example(rate, until, warmup, replications, seed, fixed=fixed)
    return _second_growth(results, seed, lambda run: run.queue, sum(growth_of_best_fit(rate)), "jobs")


@claim(
    "figure-3",
    "Figure 3's queues grow or stabilise as printed",
    "Figure 3 in resource size, the size of all waiting jobs together, in the settings of vii-a-1 and vii-a-2. (a): "
    "under VQS it grows by 0.4 x 0.0002 + 0.6 x 0.0004 = 0.00032 servers a slot, and is settled under BF-J/S and "
    "VQS-BF. (b): where BF-J/S and VQS-BF are caught it grows by 0.2 x 0.0004 + 0.5 x 0.0002 = 0.00018 servers a slot, "
    "and is settled under VQS. Settled: growth below a twentieth of these.",
    source="Figure 3",
    printed="(a) VQS is unstable, but BF variants are stable; (b) VQS is stable but BF variants are unstable",
    evidence=Evidence.statistical,
    tiny={"rate": 0.016, "slots": 200_000, "second_rate": 0.0325, **TINY_WINDOW},
    full={"slots": 10_000_000, **FULL_WINDOW},
    controls={
        "(a) with 0.012 jobs a slot, which VQS carries": {"rate": 0.012},
        "(a) where the small jobs are 0.3": {"sizes": (Fraction(3, 10), LARGER)},
        "(b) with 0.029 jobs a slot, which (2, 1) carries": {"second_rate": 0.029, "replications": FEW},
        "(b) where service times are geometric": {"fixed": False, "replications": FEW},
    },
)
def figure_3(
    rate: float = 0.014,
    sizes: tuple[Fraction, ...] = (SMALLER, LARGER),
    slots: int = 500_000,
    second_rate: float = 0.0306,
    until: int = 16_000_000,
    warmup: int = 10_000_000,
    replications: tuple[int, ...] = RUNS,
    seed: int = THIRD_FRESH_SEED,
    *,
    fixed: bool = True,
) -> Outcome:
    """Test growth rates of the size that waits, in the setting of (a) and in that of (b)."""
    decisions, results = Decisions(3), _first_example(rate, sizes, slots, 20)
    rates = {name: slopes(result, decisions, waiting_size) for name, result in results.items()}
    first = _grow_and_settle(rates, ("vqs",), grown_size(growth_of_vqs(rate), sizes))
    window = _second_example(second_rate, until, warmup, replications, seed, fixed=fixed)
    excess = grown_size(growth_of_best_fit(second_rate), (Fraction(1, 5), HALF))
    second = _second_growth(window, seed, waiting_size, excess, "servers")
    computed = f"(a) {_shown_rates(rates)}; {spent(decisions, *results.values())}. (b) {second.computed}"
    return Outcome(computed, first and bool(second.holds))


def grown_size(growth_of_queues: tuple[float, float], sizes: tuple[Fraction, ...]) -> float:
    """Return by how much the size that waits grows, where jobs of two sizes wait."""
    return sum(jobs * float(size) for jobs, size in zip(growth_of_queues, sizes, strict=True))


@lru_cache(maxsize=32)
def uniform_queue(
    policy: str, sizes: tuple[Fraction, ...], intensity: float, slots: int, runs: int, seed: int = SEED
) -> QueueResult[Any]:
    """Run five servers on sizes uniform in steps of 1e-4, service geometric with mean 100; cached for the controls."""
    expect_number(runs, "replications", 2)
    if len(sizes) != 2:
        raise InputError("sizes", f"expected two ends, got {', '.join(map(text, sizes))}")
    law = uniform(*sizes, Fraction(1, 10_000))
    rate = intensity * 0.05 / law.mean
    scenario = SlottedScenario(law, 5, slots, slots // 4, rate=rate, service=0.01, bins=50)
    return simulated(policy, scenario, runs, seed)


def _is_settled(result: QueueResult[Any], rate: Interval) -> bool:
    """Return whether the queue grows by less than a hundredth of the rate at which jobs come."""
    return bool(rate.high < result.scenario.rate / 100)


NAMES = {"bf-js": "BF-J/S", "vqs-bf": "VQS-BF", "vqs": "VQS", "fifo-ff": "FIFO-FF"}


def with_stand_ins(policies: Sequence[str], stand_ins: Mapping[str, str]) -> dict[str, str]:
    """Return each policy with the one that runs in its place, which is itself unless another one stands in."""
    return {name: stand_ins.get(name, name) for name in policies}


SMALL_JOBS = (Fraction(1, 100), Fraction(19, 100))
LARGE_JOBS = (Fraction(1, 10), Fraction(9, 10))


@claim(
    "figure-4a",
    "For small sizes VQS has the longest queue",
    "Five servers, sizes uniform on [0.01, 0.19] (steps of 1e-4). At intensity 0.95 the queue of VQS grows over the "
    "run, and those of BF-J/S and VQS-BF are settled: growth below a hundredth of the rate at which jobs come. At 0.9 "
    "(full: 0.85, 0.9, 0.95) the mean queues of BF-J/S and VQS-BF differ by less than a third of the first, and that "
    "of VQS is larger. The advantage of BF-J/S beyond 0.95 is not tested: at 0.99 it was ahead on 31 of 40 paths, and "
    "that decides nothing at the level of a claim.",
    source="Figure 4a",
    printed="VQS is worse; the other two look comparable up to 0.95, then BF-J/S has an advantage (curves lost)",
    evidence=Evidence.statistical,
    tiny={"slots": 30_000, "replications": 24},
    full={"compared": (0.85, 0.9, 0.95), "slots": 1_000_000, "replications": 40},
    controls={
        "BF-J/S stands for VQS": {"stand_ins": {"vqs": "bf-js"}},
        "VQS stands for VQS-BF up to 0.95": {"stand_ins": {"vqs-bf": "vqs"}},
    },
)
def figure_4a(
    intensity: float = 0.95,
    compared: tuple[float, ...] = (0.9,),
    sizes: tuple[Fraction, ...] = SMALL_JOBS,
    slots: int = 150_000,
    replications: int = 16,
    *,
    stand_ins: Mapping[str, str] = NOTHING,
) -> Outcome:
    """Test growth rates at one intensity, and compare mean queues on the same jobs at others."""
    names = with_stand_ins(("vqs", "bf-js", "vqs-bf"), stand_ins)
    decisions = Decisions(3 + 3 * len(compared))

    def run_at(at: float) -> dict[str, QueueResult[Any]]:
        return {name: uniform_queue(run, sizes, at, slots, replications) for name, run in names.items()}

    results = run_at(intensity)
    rates = {name: decisions.growth(result) for name, result in results.items()}
    good = rates["vqs"].low > 0 and all(_is_settled(results[name], rates[name]) for name in ("bf-js", "vqs-bf"))
    parts = [f"{intensity}: {_shown_rates(rates)}"]
    for at in compared:
        results = run_at(at)
        worst, best, other = (np.array([run.mean_queue for run in result.runs]) for result in results.values())
        lower, upper = decisions.mean(other - 2 / 3 * best), decisions.mean(other - 4 / 3 * best)
        good &= lower.low > 0 > upper.high and decisions.mean(worst - 4 / 3 * best).low > 0
        parts.append(
            f"{at}: {mean_queues(results)}; VQS-BF above 2/3 of BF-J/S by {shown(lower)}, above 4/3 by {shown(upper)}"
        )
    return Outcome(f"{'; '.join(parts)}; {decisions}", bool(good))


@claim(
    "figure-4b",
    "For large sizes VQS and VQS-BF are worse",
    "Five servers, sizes uniform on [0.1, 0.9] (steps of 1e-4). At intensity 0.95 (full: and 0.97) the queues of VQS "
    "and VQS-BF grow over the run, that of VQS faster, and that of BF-J/S is settled: growth below a hundredth of the "
    "rate at which jobs come. At 0.85 that of VQS grows, VQS-BF and BF-J/S are settled, and VQS-BF has the larger mean "
    "queue.",
    source="Figure 4b",
    printed="VQS and VQS-BF have particularly worse delays when sizes are large (curves lost)",
    evidence=Evidence.statistical,
    tiny={"intensities": (0.85, 0.92), "slots": (250_000, 300_000), "replications": 20},
    full={"intensities": (0.85, 0.95, 0.97), "slots": (4_000_000,) * 3},
    controls={
        "BF-J/S stands for VQS": {"stand_ins": {"vqs": "bf-js"}},
        "BF-J/S stands for VQS-BF": {"stand_ins": {"vqs-bf": "bf-js"}},
        "VQS-BF stands for BF-J/S": {"stand_ins": {"bf-js": "vqs-bf"}},
    },
)
def figure_4b(
    intensities: tuple[float, ...] = (0.85, 0.95),
    slots: tuple[int, ...] = (500_000, 800_000),
    sizes: tuple[Fraction, ...] = LARGE_JOBS,
    replications: int = 16,
    *,
    stand_ins: Mapping[str, str] = NOTHING,
) -> Outcome:
    """Test growth rates at each intensity, up to 0.9 and beyond, in as many slots as are given for it."""
    if not intensities or len(slots) != len(intensities):
        raise InputError("slots", f"expected one number for each of {len(intensities)} intensities, got {len(slots)}")
    names = with_stand_ins(("vqs", "vqs-bf", "bf-js"), stand_ins)
    decisions = Decisions(4 * len(intensities))
    good, parts = True, []
    for intensity, until in zip(intensities, slots, strict=True):
        results = {
            name: uniform_queue(run, sizes, intensity, until, replications, FRESH_SEED) for name, run in names.items()
        }
        rates = {name: decisions.growth(result) for name, result in results.items()}
        order = decisions.queue_order(results["vqs-bf"], results["bf-js"])
        settled = ("bf-js",) if intensity > 0.9 else ("vqs-bf", "bf-js")
        good &= all(_is_settled(results[name], rates[name]) for name in settled) and order.low > 0
        good &= rates["vqs"].low > 0
        if intensity > 0.9:
            good &= rates["vqs-bf"].low > 0 and rates["vqs"].low > rates["vqs-bf"].high
        parts.append(f"{intensity}: {_shown_rates(rates)}, mean queues {mean_queues(results)}")
    return Outcome(f"{'; '.join(parts)}; {decisions}, seed {FRESH_SEED}", bool(good))


def _sizes_over_time(scenario: SlottedScenario, runs: int, slope: float) -> Panel:
    """Return the size of all waiting jobs over time, and the growth that follows from the printed rates."""
    curves = [curve_of(simulated(name, scenario, runs), NAMES[name], waiting_size) for name in FIRST]
    until = float(scenario.until)
    curves.append(Curve(f"growth of {slope:.5f} a slot", [0.0, until], [0.0, slope * until], look="plain"))
    return Chart("time (slots)", "size of waiting jobs (servers)", curves, ylim=(0.0, None))


@reproduction(
    "figure-3a",
    "queue over time, sizes 0.4 and 0.6 at 0.014 jobs a slot",
    printed="VQS is unstable above 2/3 of the supportable 0.02; BF-J/S and VQS-BF are stable",
    lost="the curves",
    chosen="the growth of 0.00032 servers a slot follows from the printed rates",
    seed=SEED,
    claims=("vii-a-1", "figure-3", "example-vqs"),
    tiny={"slots": 50_000, "runs": 2},
    quick={"slots": 1_000_000, "runs": 12},
    full={"slots": 4_000_000, "runs": 20},
    columns=1,
)
def figure_3a_panels(slots: int, runs: int) -> Sequence[Panel]:
    return (_sizes_over_time(first_example(0.014, slots), runs, 0.00032),)


@reproduction(
    "figure-3b",
    "queue over time, sizes 2 and 5 on 10 at 0.0306 jobs a slot",
    printed="VQS is stable; BF-J/S and VQS-BF are not: arrivals (0.0204, 0.0102) against departures (0.02, 0.01)",
    lost="the curves",
    chosen="the growth of 0.00018 servers a slot, once caught in (2, 1), follows from the printed rates",
    seed=SEED,
    claims=("vii-a-2", "figure-3", "example-best-fit"),
    tiny={"slots": 100_000, "runs": 2},
    quick={"slots": 4_000_000, "runs": 8},
    full={"slots": 16_000_000, "runs": 20},
    columns=1,
)
def figure_3b_panels(slots: int, runs: int) -> Sequence[Panel]:
    """Return the queues of Section VII-A.2; a mean over paths, of which not all are caught."""
    return (_sizes_over_time(second_example(0.0306, slots, slots // 10), runs, 0.00018),)


def _against_intensity(law: tuple[Fraction, ...], intensities: Sequence[float], slots: int, runs: int) -> Panel:
    results = {
        title: [uniform_queue(name, law, intensity, slots, runs) for intensity in intensities]
        for name, title in NAMES.items()
    }
    low, high = map(float, law)
    return mean_queues_chart(results, intensities, "traffic intensity (share)", f"sizes uniform on [{low:g}, {high:g}]")


FIGURE_4: dict[str, Any] = {
    "lost": "the curves, the length of the runs",
    "chosen": "lengths and replications; FIFO-FF beside the paper's three; sizes in steps of 1e-4",
    "seed": SEED,
    "tiny": {"intensities": (0.85, 0.95), "slots": 4000, "runs": 2},
    "columns": 1,
}


@reproduction(
    "figure-4a",
    "mean queue against traffic intensity, small jobs",
    printed="VQS is worse; BF-J/S and VQS-BF look comparable up to 0.95, then BF-J/S has an advantage",
    quick={"intensities": (0.85, 0.9, 0.95, 0.99), "slots": 200_000, "runs": 6},
    full={"intensities": (0.85, 0.88, 0.91, 0.93, 0.95, 0.97, 0.99), "slots": 1_000_000, "runs": 16},
    **FIGURE_4,
)
def figure_4a_panels(intensities: Sequence[float], slots: int, runs: int) -> Sequence[Panel]:
    return (_against_intensity(SMALL_JOBS, intensities, slots, runs),)


@reproduction(
    "figure-4b",
    "mean queue against traffic intensity, large jobs",
    printed="VQS and VQS-BF have particularly worse delays when sizes are large",
    quick={"intensities": (0.85, 0.9, 0.95, 0.99), "slots": 400_000, "runs": 6},
    full={"intensities": (0.85, 0.88, 0.91, 0.93, 0.95, 0.97, 0.99), "slots": 4_000_000, "runs": 16},
    **FIGURE_4,
)
def figure_4b_panels(intensities: Sequence[float], slots: int, runs: int) -> Sequence[Panel]:
    return (_against_intensity(LARGE_JOBS, intensities, slots, runs),)
