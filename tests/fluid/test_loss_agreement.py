"""Loss systems against mathematics: Erlang, Poisson, Kaufman-Roberts, exact chains, Little; conservation.

Every statistical test has its seed fixed and a false-alarm rate of at most 1e-6, shared among its parameter sets.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fluid.chains.loss import stationary_law
from fluid.simulation.arrivals import ArrivalLaw, JobList, Law
from fluid.simulation.driver import run_once
from fluid.simulation.loss.jobs import Urn
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy
from fluid.simulation.results import Run
from fluid.simulation.state import MOVES
from fluid.statistics import mean_interval
from theory.instance import Instance, additive, explicit, pooled

ALARM = 1e-6
LAWS = [Law(), Law("hyper-exponential", 4.0), Law("deterministic"), Law("log-normal", 2.0)]


def erlang_b(load: float, slots: int) -> float:
    """Blocking of M/G/c/c."""
    b = 1.0
    for k in range(1, slots + 1):
        b = load * b / (k + load * b)
    return b


def kaufman_roberts(loads: list[float], sizes: list[int], capacity: int) -> list[float]:
    """Blocking of each type where all share one capacity."""
    q = [1.0] + [0.0] * capacity
    for c in range(1, capacity + 1):
        q[c] = sum(d * a * q[c - d] for d, a in zip(sizes, loads, strict=True) if d <= c) / c
    return [sum(q[capacity - d + 1 :]) / sum(q) for d in sizes]


def replicate(name: str, scenario: LossScenario, count: int, seed: int) -> list[Run]:
    return [run_once(policy(name), scenario, np.random.SeedSequence(seed, spawn_key=(r,))) for r in range(count)]


def blocking(run: Run, j: int) -> float:
    arrived = run.measures.arrivals[run.first :, j].sum()
    return 1.0 - float(run.measures.starts[run.first :, j].sum()) / max(1, arrived)


SETS = [(servers, slots, rho) for servers in (1, 2, 5, 20) for slots in (1, 2, 3, 6, 10) for rho in [slots * 0.9]]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_erlang_b(law: Law) -> None:
    """20 parameter sets, each with two laws; blocking does not depend on the law, so both loops are tested."""
    for i, (servers, slots, rho) in list(enumerate(SETS))[LAWS.index(law) % 2 :: 2]:
        instance = additive([slots], [[1]], [1], [Fraction(rho).limit_denominator(1000)])
        load = float(servers * instance.workload[0])
        runs = replicate(
            "first-fit", LossScenario(instance, servers, 4000 / load, 800 / load, service=law, bins=4), 40, i
        )
        found = mean_interval([blocking(run, 0) for run in runs], 1 - ALARM / len(SETS))
        assert found.holds(erlang_b(load, servers * slots)), (servers, slots, found)


@pytest.mark.slow
def test_infinite_server() -> None:
    """M/M/infinity: room for all; the number in service is Poisson in the long run."""
    for i in range(20):
        servers, rho = 1 + i, Fraction(1 + i % 4, 2)
        instance = additive([40], [[1]], [1], [rho])
        load = float(servers * rho)
        runs = replicate("best-fit", LossScenario(instance, servers, 200.0, 20.0, bins=180), 30, 100 + i)
        means = mean_interval([float(run.jobs[run.first :, 0].mean()) for run in runs], 1 - ALARM / 40)
        assert means.holds(load), (servers, rho, means)
        assert all(blocking(run, 0) == 0 for run in runs)
        # averages over spans of length 1 have variance 2 load / e; their sample variance is lower by that of the whole
        n = 180
        of_all = 2 * load * (n - 1 + np.exp(-n)) / n**2
        expected = n / (n - 1) * (2 * load * np.exp(-1.0) - of_all)
        spread = mean_interval([float(run.jobs[run.first :, 0].var(ddof=1)) for run in runs], 1 - ALARM / 40)
        assert spread.holds(expected), (spread, expected)


@pytest.mark.slow
def test_kaufman_roberts() -> None:
    """One server on which types of several sizes share the capacity."""
    cases = [
        (10, [1, 2], ["3", "2"]),
        (16, [1, 4], ["6", "2"]),
        (12, [2, 3, 5], ["1", "1", "1"]),
        (30, [1, 5, 10], ["10", "2", "1/2"]),
    ]
    for i, (capacity, sizes, workload) in enumerate(cases):
        instance = additive([capacity], [[d] for d in sizes], None, workload)
        exact = kaufman_roberts([float(Fraction(w)) for w in workload], sizes, capacity)
        for name, service in (("first-fit", Law()), ("power-of-d", LAWS[1])):
            runs = replicate(name, LossScenario(instance, 1, 3000.0, 100.0, service=service, bins=4), 30, 200 + i)
            for j, value in enumerate(exact):
                found = mean_interval([blocking(run, j) for run in runs], 1 - ALARM / 30)
                assert found.holds(value), (capacity, sizes, j, found, value)


def test_static_reservation_is_erlang_by_type() -> None:
    instance = additive([12], [[5], [7]], [1, 1], [1, "3/4"])
    for law in (Law(), LAWS[3]):
        runs = replicate("static", LossScenario(instance, 20, 400.0, 20.0, service=law, bins=4), 40, 300)
        for j, rho in enumerate([1.0, 0.75]):
            slots = round(float(runs[0].slots[-1, j]))
            found = mean_interval([blocking(run, j) for run in runs], 1 - ALARM / 4)
            assert found.holds(erlang_b(20 * rho, slots)), (j, slots, found)


TWO = additive([3], [[1], [2]], [1, 2], [1, "1/2"])
SYSTEMS: list[tuple[str, Instance, int, dict[str, Any]]] = [
    ("first-fit", TWO, 3, {}),
    ("best-fit", TWO, 3, {}),
    ("power-of-d", additive([2], [[1]], [1], ["3/2"]), 3, {}),
    ("power-of-d", TWO, 2, {"d": 3}),
    ("dra", additive([2], [[1], [2]], [1, 3], [1, "1/2"]), 2, {"reservation": 1}),
    ("dra", additive([12], [[5], [7]], [1, 1], [1, 1]), 3, {"reservation": 1}),
    ("dra", explicit([[1, 0, 0], [0, 1, 0], [1, 1, 1]], [2, 1, 2], ["1/2", 1, "1/2"]), 2, {"reservation": 0}),
    ("dra", additive([3], [[1], [2]], [1, 3], [2, 1]), 2, {"reservation": 0, "placement": "worst-ranked"}),
    (
        "dra-preemption",
        additive([2], [[1], [2]], [1, 3], [1, "1/2"]),
        3,
        {"reservation": 1, "priority": {"t1": 0, "t2": 1}},
    ),
    ("first-fit", pooled([(1, [3]), (1, [2])], [[2], [1]], [2, 1], ["1/2", 1]), 4, {}),
    ("dra", additive([2], [[1], [2]], [1, 3], [1, "1/2"]), 2, {"reservation": 1, "period": 3, "migration": False}),
    (
        "dra-preemption",
        additive([2], [[1], [2]], [1, 3], [2, 1]),
        2,
        {"reservation": 1, "priority": {"t1": 0, "t2": 1}, "trigger": "served"},
    ),
    ("dra", pooled([(1, [3]), (1, [2])], [[2], [1]], [2, 1], ["1/2", 1]), 2, {"reservation": 1}),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(SYSTEMS)))
def test_exact_chain(case: int) -> None:
    """Reward, blocking of each type and the rate of moves against the exact law.

    Preemption runs on an event list, whose loop claims have compiled.
    """
    agrees_with_the_exact_chain(case, synchronised=SYSTEMS[case][0] == "dra-preemption")


@pytest.mark.soak
@pytest.mark.parametrize("case", [number for number, (name, *_) in enumerate(SYSTEMS) if name == "dra-preemption"])
def test_exact_chain_of_preemption_by_jumps(case: int) -> None:
    """To compile its jump chain takes half a minute."""
    agrees_with_the_exact_chain(case, synchronised=False)


def agrees_with_the_exact_chain(case: int, *, synchronised: bool) -> None:
    name, instance, servers, options = SYSTEMS[case]
    law = stationary_law(policy(name), instance, servers, options)
    assert law.residual < 1e-12
    assert law.probability.sum() == pytest.approx(1)
    scenario = LossScenario(instance, servers, 2500.0, 50.0, options=options, bins=4, synchronised=synchronised)
    runs = replicate(name, scenario, 40, 400 + case)
    level = 1 - ALARM / (len(SYSTEMS) * (2 + len(instance.types)))
    reward = mean_interval([run.mean_reward for run in runs], level)
    assert reward.holds(law.reward), (reward, law.reward)
    for j, value in enumerate(law.blocking):
        found = mean_interval([blocking(run, j) for run in runs], level)
        assert found.holds(value), (j, found, value)
    moves = [
        (run.measures.migrations[run.first :].sum() + run.measures.preempted[run.first :].sum()) / 2450 for run in runs
    ]
    assert mean_interval(moves, level).holds(law.move_rate) or max(moves) == law.move_rate == 0


@pytest.mark.parametrize("synchronised", [False, True], ids=["jump chain", "event list"])
def test_exact_chain_of_types_that_stay_unlike_long(synchronised: bool) -> None:
    """Service rates 1/2 and 3: three types, so that the type of a departure is searched for beyond the first."""
    made = additive([4], [[1], [2], [3]], [1, 2, 4], [1, "1/2", "1/4"])
    rates = (Fraction(1, 2), Fraction(3), Fraction(1))
    instance = Instance(tuple(replace(t, service_rate=mu) for t, mu in zip(made.types, rates, strict=True)), made.pools)
    law = stationary_law(policy("first-fit"), instance, 2)
    runs = replicate("first-fit", LossScenario(instance, 2, 2500.0, 50.0, synchronised=synchronised, bins=4), 40, 900)
    for j in range(3):
        jobs = mean_interval([np.average(run.jobs[run.first :, j]) for run in runs], 1 - ALARM / 6)
        assert jobs.holds(law.jobs[j]), (j, jobs, law.jobs)
        assert jobs.half_width < 0.2 * law.jobs[j]
        refused = mean_interval([blocking(run, j) for run in runs], 1 - ALARM / 6)
        assert refused.holds(law.blocking[j]), (j, refused, law.blocking)


def test_exact_chain_can_fail() -> None:
    """The power of the tests above: the law of another policy is told apart by the same sample."""
    name, instance, servers, options = SYSTEMS[0]
    runs = replicate(name, LossScenario(instance, servers, 2500.0, 50.0, options=options, bins=4), 40, 400)
    level = 1 - ALARM / 40
    other = stationary_law(policy("best-fit"), instance, servers, options)
    found = mean_interval([blocking(run, 1) for run in runs], level)
    assert not found.holds(other.blocking[1])


@pytest.mark.slow
def test_little() -> None:
    """Jobs in service = accepted per unit time x mean service, for each type and law, within its interval."""
    instance = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
    for i, law in enumerate(LAWS):
        runs = replicate("dra", LossScenario(instance, 20, 130.0, 30.0, service=law, bins=10), 30, 500 + i)
        for j in range(4):
            gaps = [run.jobs[run.first :, j].mean() - run.measures.starts[run.first :, j].sum() / 100 for run in runs]
            assert mean_interval(gaps, 1 - ALARM / 16).holds(0.0), (law, j)


def conserved(scenario: LossScenario) -> Any:
    """Return what asserts, after every event, that nothing is lost, doubled or overfilled."""
    pools = [pool.space for pool in scenario.instance.pools]

    def watch(state: Any, jobs: Any, measures: Any) -> None:
        stopped, gone = measures.preempted.sum(axis=0), measures.events[0] - measures.arrivals.sum()
        in_system = measures.starts.sum() - gone - stopped.sum() + start
        assert in_system == state.totals.sum() == state.counts.sum()
        assert (state.counts.sum(axis=0) == state.totals).all()
        assert state.done[MOVES] == 0
        for server in range(len(state.counts)):
            assert pools[state.pool[server]].holds(state.counts[server].tolist())
        if isinstance(jobs, Urn):
            stale = jobs.stale.sum(axis=0) if len(jobs.stale) else 0
            assert (jobs.length - stale == state.totals).all()
            for j in range(len(state.totals)):
                entries = jobs.servers[jobs.first[j] : jobs.first[j] + jobs.length[j]]
                held = np.bincount(entries, minlength=len(state.counts))
                assert (held - (jobs.stale[:, j] if len(jobs.stale) else 0) == state.counts[:, j]).all()
        else:
            ends = jobs.ends.time[: jobs.ends.size[0]]
            live = jobs.ends.what[: jobs.ends.size[0]]
            ends, live = ends[jobs.server[live] >= 0], live[jobs.server[live] >= 0]
            seen = np.zeros_like(state.counts)
            np.add.at(seen, (jobs.server[live], jobs.kind[live]), 1)
            assert (seen == state.counts).all()
            assert (ends >= measures.now[0]).all()

    start = 0 if scenario.initial is None else int(scenario.initial.sum())
    return watch


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dra", "dra-preemption", "power-of-d", "static", "first-fit", "best-fit"])
@pytest.mark.parametrize("law", [Law(), Law("log-normal", 2.0)], ids=lambda law: law.name)
def test_conservation_and_two_speeds(name: str, law: Law) -> None:
    """Counters add up after every event, and the compiled loop takes the same path as the Python one."""
    instance = additive([12, 30], [[5, 2], [7, 3], [1, 9]], [3, 4, 1], [1, 1, 2])
    start = np.zeros((9, 3), np.int32)
    if name != "static":
        start[:4, 0] = 2
    options = {"priority": {"t1": 0, "t2": 1, "t3": 0}, "reservation": 2}
    scenario = LossScenario(
        instance, 9, 14.0, 5.0, ArrivalLaw(Law(), 3.0, True), law, initial=start, options=options, log=50, bins=7
    )
    slow = run_once(policy(name), scenario, 7, python=True, watch=conserved(scenario))
    fast = run_once(policy(name), scenario, 7)
    assert slow.events > 500
    assert all((a == b).all() for a, b in zip(slow.measures, fast.measures, strict=True))
    single = LossScenario(instance, 9, 14.0, 5.0, ArrivalLaw(), law, initial=start, options=options, log=50, bins=7)
    slow = run_once(policy(name), single, 7, python=True, watch=conserved(single))
    fast = run_once(policy(name), single, 7)
    assert all((a == b).all() for a, b in zip(slow.measures, fast.measures, strict=True))


def test_parts_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run cut into parts, with lists that grow on the way, takes the same path."""
    instance = additive([40], [[1]], [1], [30])
    for law in (Law(), Law("deterministic")):
        whole = run_once(policy("first-fit"), LossScenario(instance, 200, 3.0, 1.0, service=law), 1)
        monkeypatch.setattr("fluid.simulation.loss.model._LossEngine.part", 1100)
        parts = run_once(policy("first-fit"), LossScenario(instance, 200, 3.0, 1.0, service=law), 1)
        monkeypatch.undo()
        assert all((a == b).all() for a, b in zip(whole.measures, parts.measures, strict=True))


def test_a_list_of_jobs() -> None:
    """A trace by hand: two servers of one slot; the third job finds both taken, the fourth a slot freed just then."""
    jobs = JobList(np.array([1.0, 2.0, 3.0, 5.0]), np.zeros(4, np.int32), np.array([4.0, 5.0, 1.0, 1.0]))
    run = run_once(policy("first-fit"), LossScenario(additive([1], [[1]]), 2, 10.0, 0.0, jobs=jobs, log=20), 1)
    rows = run.measures.log[: run.measures.logged[0], [0, 1, 3]].tolist()
    assert rows == [[1, 0, 0], [2, 0, 1], [3, 1, -1], [5, 2, 0], [5, 0, 0], [6, 2, 0], [7, 2, 1]]
    assert run.events == 7
    assert run.measures.jobs.sum() == pytest.approx(10.0)


def test_synchronised_policies_see_the_same_jobs() -> None:
    scenario = LossScenario(TWO, 5, 200.0, 20.0, synchronised=True)
    runs = [run_once(policy(name), scenario, 3) for name in ("first-fit", "best-fit", "power-of-d")]
    assert all((run.measures.arrivals == runs[0].measures.arrivals).all() for run in runs)


@pytest.mark.parametrize("python", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_policy_that_overfills_is_refused(python: bool) -> None:
    from fluid.simulation.policy_interface import nothing_to_depart, nothing_to_refresh
    from fluid.simulation.state import Common, common

    def place(state: Any, job_type: int, draws: Any) -> int:
        return 0

    greedy = Policy("all-on-one", "loss", lambda s: Common(**common(s)), place, nothing_to_depart, nothing_to_refresh)
    with pytest.raises(ValueError, match="place"):
        run_once(greedy, LossScenario(TWO, 5, 200.0, 20.0), 3, python=python)
