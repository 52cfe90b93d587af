"""Simulated queues against mathematics: Erlang C, geometric queues, exact chains of small systems, Little's law.

Every interval has a level of 1 - 1e-7 over independent replications with fixed seeds, so a false alarm has probability
1e-7 a comparison (up to the approximation by Student's law), less than 1e-5 in this file, and seeds do not change.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import factorial, inf, log
from typing import Any

import numpy as np
import pytest

from fluid.chains.queue import QueueLaw, queue_law, slotted_law
from fluid.simulation.arrivals import ArrivalLaw, Law, batches
from fluid.simulation.driver import simulate
from fluid.simulation.measures import RELATIVE_ERROR
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.results import QueueResult
from fluid.simulation.slotted.model import SlottedScenario, slotted_scenario
from fluid.simulation.slotted.sizes import SizeLaw, discrete
from fluid.statistics import Interval, mean_interval, paired
from theory.errors import InputError
from theory.instance import Instance, additive, pooled

LEVEL = 1 - 1e-7
REPLICATIONS = 20


def erlang_c(servers: int, load: float) -> float:
    """Mean number waiting in M/M/c."""
    rest = load**servers / factorial(servers) * servers / (servers - load)
    return rest / (sum(load**n / factorial(n) for n in range(servers)) + rest) * load / (servers - load)


def agree(found: Interval, bounds: tuple[float, float], what: str) -> None:
    low, high = bounds
    assert found.low <= high + 1e-9, (what, found, bounds)
    assert low - 1e-9 <= found.high, (what, found, bounds)


CONSTANT = {"p": 1, "beta": Fraction(9, 10), "cut": 2, "fall": 0}

CONTINUOUS: list[tuple[str, Instance, int, int, dict[str, Any]]] = [
    ("nonpreemptive", additive([1], [[1]], workload=["1/2"]), 3, 40, {}),
    ("max-weight-local", additive([2], [[1]], workload=["6/5"]), 2, 60, {}),
    ("nonpreemptive", additive([3], [[2], [1]], workload=["3/10", "4/5"]), 1, 24, CONSTANT),
    ("nonpreemptive", additive([3], [[2], [1]], workload=["1/5", "2/5"]), 1, 22, {**CONSTANT, "early": False}),
    ("nonpreemptive", additive([2], [[1], [2]], workload=["1/10", "1/5"]), 2, 20, {**CONSTANT, "oracle": "single"}),
    ("nonpreemptive", pooled([(1, [2]), (1, [1])], [[2], [1]], workload=["1/20", "2/5"]), 2, 20, CONSTANT),
    ("max-weight-local", additive([3], [[2], [1]], workload=["3/10", "4/5"]), 1, 30, {}),
    ("max-weight-local", pooled([(1, [2]), (1, [1])], [[2], [1]], workload=["1/10", "1/2"]), 2, 20, {}),
    ("max-weight-local", additive([3], [[1], [3]], workload=["3/10", "1/10"]), 1, 16, {"renewal": "on-emptying"}),
    ("max-weight-local", additive([2], [[1], [2]], workload=["1/4", "1/8"]), 2, 16, {"renewal": "on-emptying"}),
    ("randomized-sampling", additive([2], [[1]], workload=["1"]), 1, 30, {}),
    ("randomized-sampling", additive([3], [[2], [1]], workload=["1/5", "3/5"]), 1, 14, {"sampling": 3, "expiry": 2}),
    ("randomized-sampling", additive([1], [[1]], workload=["2/5"]), 2, 22, {}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CONTINUOUS)))
def test_queues_agree_with_the_exact_chain(case: int) -> None:
    name, instance, servers, kept, options = CONTINUOUS[case]
    law = queue_law(policy(name), instance, servers, kept, options)
    assert law.closed
    assert law.beyond < 1e-4
    assert law.residual < 1e-12
    scenario = QueueScenario(instance, servers, 4000.0, 200.0, options=options)
    result = simulate(name, scenario, replications=REPLICATIONS, seed=case)
    _compare(law, result)


def _compare(law: QueueLaw, result: QueueResult) -> None:
    """Waiting and serving jobs of each type; what lies beyond N moves a mean by its share, N times or so."""
    slack = 50 * law.most_waiting * law.beyond
    for j in range(law.waiting.shape[1]):
        for what, quantity, found in (
            ("waiting", law.waiting[:, j], result.waiting(j, LEVEL)),
            ("serving", law.serving[:, j], result.jobs(j, LEVEL)),
        ):
            low, high = law.bounds(quantity)
            assert low - 1e-9 <= law.mean(quantity) <= high + 1e-9
            agree(found, (low - slack, high + slack), f"{what} {j}")


@pytest.mark.slow
def test_the_two_readings_of_max_weight_at_local_refresh_times_differ() -> None:
    """One server holds two jobs of type 1 or one of type 2; type 2 finds a server that keeps (2, 0) while it is empty.

    Chosen on emptying with no queue, the configuration is (2, 0): it ends only with jobs of type 1, so type 2 waits
    longer than where the empty server chooses anew. With one type there is one configuration, and no difference.
    """
    two, one = additive([2], [[1], [2]], workload=["1/4", "1/8"]), additive([2], [[1]], workload=["6/5"])
    readings = ({"renewal": "while-empty"}, {"renewal": "on-emptying"})
    laws = [queue_law(policy("max-weight-local"), two, 1, 30, options) for options in ({}, *readings)]
    waits = [law.bounds(law.waiting[:, 1]) for law in laws]
    assert waits[0] == waits[1]
    assert waits[1][1] < waits[2][0]
    same = [queue_law(policy("max-weight-local"), one, 1, 60, options) for options in readings]
    assert same[0].mean(same[0].queue) == pytest.approx(same[1].mean(same[1].queue), abs=1e-12)


HALVES = SizeLaw(np.array([2, 3]), 5, np.array([0.5, 0.5]))
SLOTTED: list[tuple[str, SizeLaw, int, float, float, int, dict[str, Any]]] = [
    ("bf-js", discrete({Fraction(1): 1}), 1, 0.2, 0.4, 40, {}),
    ("bf-js", HALVES, 1, 0.2, 0.3, 14, {}),
    ("bf-js", HALVES, 2, 0.25, 0.25, 6, {}),
    ("bf-s", SizeLaw(np.array([3, 4, 7]), 10, np.array([0.4, 0.4, 0.2])), 1, 0.15, 0.3, 6, {}),
    ("bf-j", HALVES, 1, 0.16, 0.4, 5, {}),
    ("fifo-ff", HALVES, 1, 0.12, 0.4, 5, {}),
    ("vqs", HALVES, 1, 0.12, 0.4, 5, {}),
    ("vqs-bf", HALVES, 1, 0.2, 0.3, 12, {}),
    ("vqs-bf", SizeLaw(np.array([2, 5]), 10, np.array([2 / 3, 1 / 3])), 1, 0.2, 0.15, 9, {}),
    ("max-weight", HALVES, 1, 0.15, 0.3, 14, {}),
    ("max-weight", HALVES, 2, 0.2, 0.3, 5, {}),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(SLOTTED)))
def test_slotted_queues_agree_with_the_exact_chain(case: int) -> None:
    name, sizes, servers, rate, service, kept, options = SLOTTED[case]
    n = len(sizes.sizes)
    law = slotted_law(
        policy(name),
        sizes.sizes,
        sizes.capacity,
        servers,
        rate * sizes.probabilities,
        np.full(n, service),
        kept,
        options,
    )
    assert law.closed
    assert law.beyond < 1e-4
    scenario = SlottedScenario(
        sizes, servers, 20_000, 1000, rate=rate, service=service, bernoulli=True, options=options,
        names=tuple(map(str, range(n))), group=tuple(range(n)),
    )  # fmt: skip
    _compare(law, simulate(name, scenario, replications=REPLICATIONS, seed=case))


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (1, 0.9), (2, 1.5), (5, 4.0), (20, 18.0)])
def test_one_type_is_the_queue_of_erlang(servers: int, load: float) -> None:
    instance = additive([1], [[1]], workload=[Fraction(load).limit_denominator(1000) / servers])
    scenario = QueueScenario(instance, servers, 30_000.0 / load, 2000.0 / load)
    exact = erlang_c(servers, load)
    found = [
        simulate(name, scenario, replications=REPLICATIONS, seed=5) for name in ("nonpreemptive", "max-weight-local")
    ]
    assert found[0].queue(LEVEL).holds(exact), (found[0].queue(LEVEL), exact)
    assert found[0].queue() == found[1].queue()  # there is one configuration: the policies are the same
    if servers <= 5:
        law = queue_law(policy("nonpreemptive"), instance, servers, 400)
        assert abs(law.mean(law.queue) - exact) < 1e-8


@pytest.mark.parametrize("law", [Law("hyper-exponential", 4.0), Law("deterministic"), Law("log-normal", 2.0)])
def test_any_service_is_the_formula_of_pollaczek_and_khinchine(law: Law) -> None:
    load = 0.7
    scv = 0.0 if law.name == "deterministic" else law.scv
    scenario = QueueScenario(additive([1], [[1]], workload=["7/10"]), 1, 40_000.0, 2000.0, service=law)
    found = simulate("nonpreemptive", scenario, replications=REPLICATIONS, seed=7)
    assert found.queue(LEVEL).holds(load**2 * (1 + scv) / (2 * (1 - load)))
    assert found.delay(LEVEL).holds(load * (1 + scv) / (2 * (1 - load)))


def test_batches_in_closed_form() -> None:
    load, size = 0.6, 3
    exact = load * (1 + size) / (2 * (1 - load)) - load  # M^X/M/1, batches of equal size
    instance = additive([1], [[1]], workload=["3/5"])
    scenario = QueueScenario(instance, 1, 40_000.0, 2000.0, ArrivalLaw(batch=size))
    vectors = partial(batches, load / size, [[size], [0]], [1.0, 0.0], [1.0], Law())
    for one in (scenario, replace(scenario, stream=vectors)):
        assert simulate("max-weight-local", one, replications=REPLICATIONS, seed=8).queue(LEVEL).holds(exact)


@pytest.mark.slow
def test_the_geometric_queue_in_closed_form() -> None:
    for a, s in ((0.1, 0.3), (0.3, 0.5), (0.5, 0.6)):
        law = slotted_law(policy("vqs"), np.array([1]), 1, 1, np.array([a]), np.array([s]), 80)
        assert abs(law.mean(law.queue + law.serving.sum(axis=1)) - a * (1 - a) / (s - a)) < 1e-9
        low, high = law.bounds(law.queue)
        assert high - low < 1e-9


@pytest.mark.slow
def test_bounds_hold_the_mean_of_a_chain_that_is_cut_less() -> None:
    instance = additive([3], [[2], [1]], workload=["3/10", "1"])
    for name in ("max-weight-local", "randomized-sampling"):
        wide = queue_law(policy(name), instance, 1, 24)
        for kept in (3, 6, 12):
            law = queue_law(policy(name), instance, 1, kept)
            inside = wide.queue <= kept
            given = float(wide.probability[inside] @ wide.queue[inside]) / float(wide.probability[inside].sum())
            low, high = law.bounds(law.queue)
            assert low - 1e-6 <= given <= high + 1e-6
            assert high - low > 1e-3 or kept == 12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nonpreemptive", "max-weight-local", "randomized-sampling"])
@pytest.mark.parametrize("service", [Law(), Law("hyper-exponential", 6.0)])
def test_littles_law(name: str, service: Law) -> None:
    instance = pooled([(1, (6, 4)), (1, (9, 9))], [[2, 1], [3, 3], [1, 0]], workload=["1/2", "1/3", "1"])
    scenario = QueueScenario(instance, 6, 3000.0, 500.0, ArrivalLaw(Law("log-normal", 2.0)), service)
    result = simulate(name, scenario, replications=REPLICATIONS, seed=3)
    rates = np.array([float(6 * t.workload * t.service_rate) for t in instance.types])
    for j, rate in enumerate(rates):
        length = [np.average(r.waiting[r.first :, j], weights=r.spans[r.first :]) for r in result.runs]
        delay = [r.measures.delay[r.first :, j].sum() / (scenario.until - scenario.warmup) for r in result.runs]
        assert paired(length, delay, LEVEL).holds(0.0)  # L = lambda W, edges of the window aside
        assert result.jobs(j, LEVEL).holds(rate)  # mean service is 1


def test_littles_law_in_slots() -> None:
    instance = additive([10], [[2], [3], [7]], workload=["1/2", "1/2", "1/3"])
    scenario = slotted_scenario(Instance(tuple(_slow(t) for t in instance.types), instance.pools), 4, 30_000, 3000)
    for name in ("bf-js", "vqs-bf", "fifo-ff"):
        result = simulate(name, scenario, replications=REPLICATIONS, seed=3)
        for j, job_type in enumerate(instance.types):
            length = [np.average(r.waiting[r.first :, j], weights=r.spans[r.first :]) for r in result.runs]
            delay = [r.measures.delay[r.first :, j].sum() / (scenario.until - scenario.warmup) for r in result.runs]
            assert paired(length, delay, LEVEL).holds(0.0)
            assert result.jobs(j, LEVEL).holds(4 * float(job_type.workload))
        busy = mean_interval(
            [float(np.average(scenario.utilisation(r)["size"][r.first :])) for r in result.runs], LEVEL
        )
        assert busy.holds(float(sum(t.workload * d for t, d in zip(instance.types, (2, 3, 7), strict=True))) / 10)


def _slow(job_type: Any) -> Any:
    return replace(job_type, service_rate=Fraction(1, 20))


def test_refusals() -> None:
    instance = additive([3], [[2], [1]], workload=["3/10", "1"])
    with pytest.raises(InputError, match="not a policy for queues"):
        queue_law(policy("bf-js"), instance, 1, 3)
    with pytest.raises(InputError, match="not a policy for slotted"):
        slotted_law(policy("dra"), np.array([1]), 1, 1, np.array([0.1]), np.array([0.2]), 3)


def test_what_is_cut_off_is_what_the_formula_leaves() -> None:
    """M/M/1 with load 1/2: more than N jobs wait with probability 2^-(N + 2)."""
    law = queue_law(policy("nonpreemptive"), additive([1], [[1]], workload=["1/2"]), servers=1, most_waiting=20)
    assert law.beyond == pytest.approx(0.5**22, rel=1e-6)


def test_quantiles_of_delays_and_their_intervals() -> None:
    """M/M/1: a job waits longer than t with probability rho e^(-(mu - lambda) t)."""
    scenario = QueueScenario(additive([1], [[1]], workload=["1/2"]), 1, 20_000.0, 500.0)
    result = simulate("max-weight-local", scenario, replications=REPLICATIONS, seed=1)
    assert isinstance(result, QueueResult)
    for q in (0.95, 0.99):
        exact = log(0.5 / (1 - q)) / 0.5
        found = result.quantile_interval(q, LEVEL)
        assert found.low * (1 - RELATIVE_ERROR) <= exact <= found.high * (1 + RELATIVE_ERROR)
        assert found.half_width < 0.2 * exact
        assert found.mean == result.quantile(q)
    alone = simulate("max-weight-local", scenario, replications=1, seed=1)
    assert isinstance(alone, QueueResult)
    assert alone.quantile_interval(0.95).half_width == inf
