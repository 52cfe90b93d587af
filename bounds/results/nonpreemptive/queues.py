"""Claims of the non-preemptive scheduling paper about its policies at work: Section 7."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import FRESH_SEED, SECOND_FRESH_SEED, THIRD_FRESH_SEED, Decisions
from bounds.results.nonpreemptive.settings import NAMES, example_1, example_2, table_1
from bounds.results.reproduction import mean_queues_chart, reproduction
from bounds.results.simulated_queues import SEED, mean_queues, shown, simulated, spent
from bounds.views.panels import Chart, Curve, Panel
from bounds.views.simulation import curve_of
from fluid.chains.steps import ContinuousSteps
from fluid.simulation.arrivals import ArrivalLaw, Law
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.results import QueueResult
from fluid.simulation.state import Setting
from theory.errors import expect_number
from theory.instance import Instance, pooled

INTERVALS = Law("log-normal", 4.0)  # interarrival times of the log-normal runs; the paper prints no variance


@claim(
    "example-1-queues",
    "M14's queue grows where Algorithm 1's stays short",
    "One server of 6, jobs of 4 and 1, workload 0.89 (1/2, 4): the queue grows under max-weight at local refresh "
    "times, in both readings (choosing anew while the server is empty, or once when it becomes empty), by 3.56 - 2 = "
    "1.56 per unit time once it is caught in (1, 2), and is settled under Algorithm 1: growth below a twentieth of "
    "that.",
    source="Example 1, Figure 3, Remark 2",
    printed="the queue sizes under M14 go to infinity while Algorithm 1 keeps the queues stable",
    evidence=Evidence.statistical,
    tiny={"until": 2000.0, "replications": 8},
    full={"until": 40_000.0},
    controls={
        "intensity 0.3, where small jobs come more slowly than (1, 2) serves them": {"intensity": Fraction(30, 100)},
        "Algorithm 1 never stalls, beta = 0": {"beta": Fraction(0)},
        "the server has 7 units": {"capacity": 7},
    },
)
def example_1_queues(
    intensity: Fraction = Fraction(89, 100),
    beta: Fraction = Fraction(9, 10),
    capacity: int = 6,
    until: float = 4000.0,
    replications: int = 16,
) -> Outcome:
    """Simulate; the printed rates give a growth of 4 intensity - 2 where the server is caught in (1, 2)."""
    expect_number(replications, "replications", 2)
    instance = pooled([(1, [capacity])], [[4], [1]], workload=example_1(intensity).workload)
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        (NAMES[0], {"beta": beta}),
        (NAMES[1], {}),
        (NAMES[1], {"renewal": "on-emptying"}),
    )
    decisions, results = Decisions(len(cases)), {}
    for name, options in cases:
        scenario = QueueScenario(instance, 1, until, until / 10, options=options)
        results[f"{name} {options.get('renewal', '')}".rstrip()] = simulated(name, scenario, replications)
    rates = {name: decisions.growth(result) for name, result in results.items()}
    caught = float(4 * intensity - 2)
    ours, *local = rates.values()
    computed = ", ".join(f"{name} grows by {shown(rate, 3)}" for name, rate in rates.items())
    holds = all(rate.low > 0 and rate.holds(caught) for rate in local) and ours.high < caught / 20
    return Outcome(f"{computed}; {spent(decisions, *results.values())}", holds)


@claim(
    "example-2-queues",
    "G16 queues more than five times Algorithm 1's",
    "Servers of 1, 2, 4, 8 and jobs of 1, 2, 4, 8, equal rates, intensity 0.89: the mean queue of randomized sampling "
    "is more than five times that of Algorithm 1.",
    source="Example 2, Figure 4",
    printed="G16 performs poorly although it theoretically converges; Algorithm 1 performs much better",
    evidence=Evidence.statistical,
    tiny={"replications": 7},
    full={"until": 20_000.0},
    controls={
        "Algorithm 1 stands for randomized sampling": {"rival": NAMES[0]},
        "all jobs and servers are of one unit": {"sizes": (1, 1, 1, 1)},
    },
)
def example_2_queues(
    intensity: Fraction = Fraction(89, 100),
    sizes: tuple[int, ...] = (1, 2, 4, 8),
    times: int = 5,
    until: float = 3000.0,
    replications: int = 10,
    *,
    rival: str = NAMES[2],
) -> Outcome:
    """Simulate, and decide whether the rival's queue is more than `times` as long."""
    expect_number(replications, "replications", 2)
    expect_number(times, "times", 1)
    scenario = QueueScenario(example_2(intensity, sizes), len(sizes), until, until / 4)
    decisions = Decisions(2)
    sampling, ours = (simulated(name, scenario, replications) for name in (rival, NAMES[0]))
    more = decisions.queue_order(sampling, ours)
    far = more.low > (times - 1) * ours.queue(decisions.level()).high
    computed = f"{mean_queues({rival: sampling, 'Algorithm 1': ours})}, more by {shown(more, 3)}"
    return Outcome(f"{computed}; {spent(decisions, sampling, ours)}", far)


TAKEN: tuple[tuple[int, ...], ...] = ((1, 2), (0, 6))
"""The configurations of Example 1 that Algorithm 1 takes in turn."""


@claim(
    "figure-3",
    "Algorithm 1 draws a sawtooth in Example 1",
    "The sawtooth of Algorithm 1 in Figure 3, whose curve is lost: Example 1 at intensity 0.89 with the options of "
    "Section 7, from 60 large and 40 small jobs that wait. While the server is active with (1, 2) the total queue "
    "grows, and with (0, 6) it falls, so it turns where the configuration is reset. That the queue of M14 goes to "
    "infinity is example-1-queues.",
    source="Figure 3",
    printed="the sawtooth behavior under our algorithm indicates the configuration reset times (curve lost)",
    evidence=Evidence.statistical,
    tiny={"paths": 18, "events": 400},
    full={"paths": 40, "events": 5000},
    controls={
        "intensity 0.4, where (1, 2) serves more than arrives": {"intensity": Fraction(4, 10)},
        "Algorithm 1 never stalls, beta = 0": {"beta": Fraction(0)},
    },
)
def figure_3(
    intensity: Fraction = Fraction(89, 100), beta: Fraction = Fraction(9, 10), paths: int = 24, events: int = 800
) -> Outcome:
    """Follow paths of the policy's own functions, and add up changes of the queue and times by configuration."""
    expect_number(paths, "paths", 2)
    expect_number(events, "events", 1)
    walked = [_changes(intensity, beta, events, path) for path in range(paths)]
    decisions = Decisions(2)
    mean_times = [sum(times[k] for _, times, _ in walked) / paths or 1.0 for k in TAKEN]
    up, down = (
        decisions.mean([changes[k] / mean for changes, _, _ in walked])
        for k, mean in zip(TAKEN, mean_times, strict=True)
    )
    computed = (
        f"the queue changes by {shown(up, 3)} per unit time with (1, 2) and by {shown(down, 3)} with (0, 6); "
        f"{sum(resets for *_, resets in walked)} resets on {paths} paths of {events:,} events; {decisions}, seeds of "
        f"({THIRD_FRESH_SEED}, path)"
    )
    return Outcome(computed, up.low > 0 and down.high < 0)


def _changes(
    intensity: Fraction, beta: Fraction, events: int, path: int
) -> tuple[dict[tuple[int, ...], int], dict[tuple[int, ...], float], int]:
    """Return how much the queue changes by configuration on a path, for how long, and the number of resets."""
    setting = Setting(example_1(intensity), 1, {"beta": beta})
    moves, before = ContinuousSteps(rule := policy("nonpreemptive"), setting), rule.prepare(setting)
    before.waiting[:] = [60, 40]
    times, changes, resets = dict.fromkeys(TAKEN, 0.0), dict.fromkeys(TAKEN, 0), 0
    walk = moves.walk(before, np.random.default_rng((THIRD_FRESH_SEED, path)))
    for state, lasted, _ in islice(walk, events):
        configuration = tuple(before.configuration[0].tolist())
        renewed = bool((state.configuration != before.configuration).any())
        resets += renewed
        if before.active[0] and configuration in times:
            times[configuration] += lasted
            changes[configuration] += 0 if renewed else int(state.waiting.sum() - before.waiting.sum())
        before = state
    return changes, times, resets


INTENSITY = Fraction(89, 100)
TITLES = {name: f"{title} ({name})" for name, title in zip(NAMES, ("Algorithm 1", "M14", "G16"), strict=True)}


SIZES: dict[str, Any] = {
    "tiny": {"until": 60.0, "runs": 2},
    "quick": {"until": 1000.0, "runs": 5},
    "full": {"until": 4000.0, "runs": 16},
}


@reproduction(
    "example-1",
    "queue over time, a server of 6 with jobs of 4 and 1 at intensity 0.89 (Figure 3)",
    printed="the queues of M14 go to infinity, Algorithm 1 keeps them stable",
    lost="the curves, the time",
    chosen="the time; the slope of 3.56 - 2 = 1.56 follows from the printed rates",
    seed=SEED,
    claims=("example-1", "example-1-queues"),
    columns=1,
    **SIZES,
)
def example_one(until: float, runs: int) -> Sequence[Panel]:
    scenario = QueueScenario(example_1(INTENSITY), 1, until, until / 10, bins=100)
    curves = [curve_of(simulated(name, scenario, runs), TITLES[name]) for name in NAMES[:2]]
    curves.append(Curve("growth of 1.56 per service time", [0.0, until], [0.0, 1.56 * until], look="plain"))
    return (Chart("time (mean service times)", "queue (jobs)", curves, ylim=(0.0, None)),)


@reproduction(
    "example-2",
    "queue over time, servers and jobs of 1, 2, 4 and 8 at intensity 0.89 (Figure 4)",
    printed="G16 performs poorly although it converges; Algorithm 1 performs much better",
    lost="the curves, the time",
    chosen="the time, and how often G16 samples (option intervals)",
    seed=SEED,
    claims=("example-2", "example-2-queues"),
    columns=1,
    **SIZES,
)
def example_two(until: float, runs: int) -> Sequence[Panel]:
    scenario = QueueScenario(example_2(INTENSITY), 4, until, until / 10, bins=100)
    curves = [curve_of(simulated(name, scenario, runs), TITLES[name]) for name in (NAMES[0], NAMES[2])]
    return (Chart("time (mean service times)", "queue (jobs)", curves, ylim=(0.0, None)),)


def runs_of(
    instance: Instance,
    servers: int,
    law: Law,
    events: float,
    options: dict[str, Any],
    names: tuple[str, ...] = NAMES,
    replications: int = 16,
    seed: int = SEED,
    queue: tuple[int, ...] = (),
) -> dict[str, QueueResult[Any]]:
    """Run policies for a number of arrivals and departures; the first quarter is dropped, as printed.

    Jobs in `queue` of each type wait at the beginning.
    """
    rate = 2 * servers * float(sum(t.workload for t in instance.types))
    results = {}
    for name in names:
        own = options if name == "nonpreemptive" else {}
        scenario = QueueScenario(
            instance, servers, events / rate, events / rate / 4, ArrivalLaw(law), options=own, bins=50, queue=queue
        )
        results[name] = simulated(name, scenario, replications, seed)
    return results


@lru_cache(maxsize=10)  # the claim and its controls look at the same runs
def _runs_of_figure_5(intensity: Fraction, servers: int, law: Law, events: float) -> dict[str, QueueResult[Any]]:
    return runs_of(table_1(intensity), servers, law, events, {}, replications=20, seed=SECOND_FRESH_SEED)


@claim(
    "figure-5",
    "More servers help Algorithm 1 and hurt G16",
    "Types of Table 1, intensity 0.89, Poisson arrivals (full: and log-normal): from 20 to 200 servers the queue of "
    "Algorithm 1 falls and that of randomized sampling grows; at 200 servers sampling's is larger than both others' "
    "together. Whether the queue of max-weight at local refresh times (M14) falls is not decided: on 20 servers it "
    "varies too much from run to run.",
    source="Figure 5",
    printed="Algorithm 1 and M14 perform better as servers increase, unlike G16 (curves lost)",
    evidence=Evidence.statistical,
    tiny={"events": 45_000},
    full={"servers": (20, 50, 100, 150, 200), "events": 1_000_000, "log_normal": True},
    controls={
        "Algorithm 1 and randomized sampling change places": {"falling": NAMES[2], "growing": NAMES[0]},
        "200 servers stand for 20 and 20 for 200": {"servers": (200, 20)},
    },
)
def figure_5(
    servers: tuple[int, ...] = (20, 200),
    intensity: Fraction = Fraction(89, 100),
    events: int = 60_000,
    log_normal: bool = False,
    *,
    falling: str = NAMES[0],
    growing: str = NAMES[2],
) -> Outcome:
    """Compare the first and the last number of servers."""
    expect_number(len(servers), "number of servers to compare", 2)
    laws = (Law(), INTERVALS) if log_normal else (Law(),)
    decisions, good, parts = Decisions(4 * len(laws)), True, []
    for law in laws:
        every = {n: _runs_of_figure_5(intensity, n, law, events) for n in servers}
        first, *_, last = every.values()
        ours, local, sampling = last[falling], last[NAMES[1]], last[growing]
        falls, grows = decisions.queue_order(first[falling], ours), decisions.queue_order(sampling, first[growing])
        more = decisions.queue_order(sampling, ours)
        good &= min(falls.low, grows.low) > 0 and more.low > local.queue(decisions.level()).high
        parts += [f"{law.name}, {n} servers: {mean_queues(results)}" for n, results in every.items()]
        parts.append(f"falls by {shown(falls, 3)}, grows by {shown(grows, 3)}, at the end more by {shown(more, 3)}")
    return Outcome(f"{'; '.join(parts)}; {spent(decisions, *last.values(), seed=SECOND_FRESH_SEED)} each", bool(good))


@claim(
    "figure-6",
    "G16 suffers at 0.8, M14 at 0.95",
    "Types of Table 1 on 20 servers, beta 0.98, Poisson arrivals (full: and log-normal), intensities 0.8 and 0.95: "
    "randomized sampling has the largest queue at 0.8 (log-normal: larger than Algorithm 1's); at 0.95, where 200 jobs "
    "of each type wait at the beginning (full: and from empty queues), the queue grows under max-weight at local "
    "refresh times, and under Algorithm 1 it is smaller and grows more slowly, if at all.",
    source="Figure 6",
    printed="M14 deteriorates at higher traffic and G16 deteriorates at lower traffic (curves lost)",
    evidence=Evidence.statistical,
    tiny={"events": 30_000, "begun": 60_000},
    full={"events": 500_000, "begun": 400_000, "log_normal": True, "from_empty": True},
    controls={
        "intensity 0.8 stands for 0.95": {"high": Fraction(80, 100)},
        "Algorithm 1 never stalls, beta = 0": {"beta": Fraction(0)},
    },
)
def figure_6(
    low: Fraction = Fraction(80, 100),
    high: Fraction = Fraction(95, 100),
    beta: Fraction = Fraction(98, 100),
    servers: int = 20,
    events: int = 60_000,
    begun: int = 100_000,
    log_normal: bool = False,
    from_empty: bool = False,
) -> Outcome:
    """Run `events` at the low intensity, and `begun` from long queues at the high one."""
    options = {"beta": beta}
    laws = (Law(), INTERVALS) if log_normal else (Law(),)
    starts = [((200,) * 3, begun, 16), *([((), 2_000_000, 64)] if from_empty else [])]
    rivals = {law.name: NAMES[:2] if law == Law() else NAMES[:1] for law in laws}
    decisions = Decisions(sum(len(names) + 3 * len(starts) for names in rivals.values()))
    good, parts = True, []
    for law in laws:
        light = runs_of(table_1(low), servers, law, events, options, seed=FRESH_SEED)
        good &= all(decisions.queue_order(light[NAMES[2]], light[name]).low > 0 for name in rivals[law.name])
        parts.append(f"{law.name}, {float(low):g}: {mean_queues(light)}")
        for queue, length, runs in starts:
            watched = runs_of(table_1(high), servers, law, length, options, NAMES[:2], runs, FRESH_SEED, queue)
            ours, local = (decisions.growth(watched[name]) for name in NAMES[:2])
            good &= local.low > max(0, ours.high)
            good &= decisions.queue_order(watched[NAMES[1]], watched[NAMES[0]]).low > 0
            parts.append(f"{float(high):g} from {sum(queue)} jobs: {mean_queues(watched)}")
            parts.append(f"growth {shown(local, 3)} and {shown(ours, 3)}, {runs} replications of {length:,} events")
    return Outcome(f"{'; '.join(parts)}; {decisions}, seed {FRESH_SEED}", bool(good))


LOG_NORMAL: dict[str, Any] = {
    "lost": "the curves, the variance of the log-normal law",
    "chosen": "a squared coefficient of variation of 4; runs of equal length for all policies",
    "seed": SEED,
    "height": 2.9,
}
LAWS = {"Poisson arrivals": Law(), "log-normal interarrival times": INTERVALS}


def _panels(
    points: Sequence[tuple[float, Any, int]], xlabel: str, events: float, runs: int, options: dict[str, Any]
) -> list[Panel]:
    """Return a panel a law; a point is its place on the axis, its instance and its servers."""
    panels: list[Panel] = []
    for title, law in LAWS.items():
        every = [runs_of(instance, servers, law, events, options, replications=runs) for _, instance, servers in points]
        results = {TITLES[name]: [at[name] for at in every] for name in NAMES}
        panels.append(mean_queues_chart(results, [x for x, *_ in points], xlabel, title))
    return panels


@reproduction(
    "figure-5",
    "mean queue against the number of servers, types of Table 1 at intensity 0.89",
    printed="Algorithm 1 and M14 perform better as servers increase, unlike G16",
    tiny={"servers": (4, 8), "events": 2e3, "runs": 2},
    quick={"servers": (20, 50, 100, 200), "events": 2e5, "runs": 6},
    full={"servers": (20, 40, 60, 80, 100, 125, 150, 175, 200), "events": 1e6, "runs": 12},
    **LOG_NORMAL,
)
def figure_5_panels(servers: Sequence[int], events: float, runs: int) -> Sequence[Panel]:
    """Return mean queues; a quarter of each run is dropped, as printed."""
    points = [(float(number), table_1(Fraction(89, 100)), number) for number in servers]
    return _panels(points, "servers (number)", events, runs, {})


@reproduction(
    "figure-6",
    "mean queue against traffic intensity, types of Table 1 on 20 servers",
    printed="M14 deteriorates at higher traffic and G16 at lower traffic",
    tiny={"intensities": ("0.8", "0.95"), "events": 2e3, "runs": 2},
    quick={"intensities": ("0.8", "0.85", "0.9", "0.95"), "events": 2e5, "runs": 6},
    full={"intensities": ("0.8", "0.83", "0.86", "0.89", "0.92", "0.95"), "events": 1e6, "runs": 16},
    **LOG_NORMAL,
)
def figure_6_panels(intensities: Sequence[str], events: float, runs: int) -> Sequence[Panel]:
    points = [(float(z), table_1(Fraction(z)), 20) for z in intensities]
    return _panels(points, "traffic intensity (share)", events, runs, {"beta": Fraction(98, 100)})
