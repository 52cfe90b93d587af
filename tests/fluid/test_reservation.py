"""Dynamic reservation against the text, run by run: every choice is one that Algorithm 2 allows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.results.autoscaling.referee import Referee
from bounds.results.instances.drawn import random_instance
from bounds.testing import instances
from fluid.simulation.arrivals import JobList, Law
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import DRA, prepare
from fluid.simulation.measures import PREEMPTION, REFUSAL
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.errors import InputError
from theory.exact.knapsack.configurations import feasible
from theory.greedy.assignment import global_greedy
from theory.greedy.servers import greedy_placement
from theory.instance import Instance, additive, explicit, pooled


def refereed(instance: Instance, servers: int, until: float, seed: int, **more: object) -> Referee:
    initial = more.pop("initial", None)
    g = more.pop("reservation", 1.5)
    scenario = LossScenario(
        instance, servers, until, 0.0, initial=initial, options={"reservation": g}, log=10**5, bins=1, **more
    )
    setting = Setting(instance, servers, scenario.options, initial)
    referee = Referee(setting, float(g))
    referee.begin(prepare(setting))
    run_once(DRA, scenario, seed, python=True, watch=referee)
    return referee


@pytest.mark.slow
@pytest.mark.parametrize("service", [Law(), Law("hyper-exponential", 4.0)])
def test_every_choice_is_allowed(service: Law) -> None:
    two = additive([12], [[5], [7]], [1, 1], [1, 1])
    for servers, seed in ((1, 1), (3, 2), (12, 3), (30, 4)):
        assert refereed(two, servers, 300.0 / servers, seed, service=service).row > 800
    four = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
    referee = refereed(four, 12, 6.5, 5, reservation=3, service=service)
    assert referee.migrations > 100


def test_the_highest_rank_is_drained_first() -> None:
    """Behind an unmatched first stage two stages hold jobs of the third type; six servers have none of the plan."""
    three = explicit([[2, 0, 0], [0, 1, 1], [0, 0, 2]], [5, 3, 2], ["1/2", "3/10", "4/5"])
    initial = np.array([[1, 0, 0]] * 6 + [[0, 1, 1]] * 4 + [[0, 0, 2]] * 4, np.int32)
    assert sum(refereed(three, 14, 0.6, seed, reservation=2, initial=initial).migrations for seed in range(20)) > 20


@pytest.mark.slow
def test_from_a_bad_start() -> None:
    three = explicit([[1, 0, 0], [0, 1, 0], [3, 3, 3]], [1, 1, 7], [3, 3, "3/2"])
    initial = np.tile(np.array([[3, 3, 0]], np.int32), (10, 1))
    assert refereed(three, 10, 5.0, 1, initial=initial).migrations > 10
    mixed = np.random.default_rng(1).permutation(feasible(three.pools[0].space))[:25].astype(np.int32)
    assert refereed(three, 25, 3.0, 2, initial=mixed, reservation=4).row > 500


@pytest.mark.slow
@settings(max_examples=40)
@given(instances(max_types=4, max_resources=2), st.integers(1, 7), st.integers(0, 5), st.integers(0, 2**32))
def test_on_any_instance(instance: Instance, servers: int, g: int, seed: int) -> None:
    events = 150
    rates = sum(float(t.workload * t.service_rate) for t in instance.types) * servers
    most = max(sum(pool.space.most(j) for j in range(len(instance.types))) for pool in instance.pools)
    if rates == 0 or most > 60:
        return
    refereed(instance, servers, events / rates, seed, reservation=g)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    instances(max_types=3, max_resources=2, max_pools=3, max_capacity=8),
    st.integers(1, 9),
    st.integers(0, 3),
    st.integers(0, 2**32),
)
def test_on_any_pools(instance: Instance, servers: int, g: int, seed: int) -> None:
    rates = sum(float(t.workload * t.service_rate) for t in instance.types) * servers
    if rates:
        refereed(instance, servers, 100 / rates, seed, reservation=g)


def two_pools() -> Instance:
    shares = (Fraction(2, 3), Fraction(1, 3))
    pools = [(share, capacity) for share, capacity in zip(shares, ([12, 8], [6, 24]), strict=True)]
    return pooled(pools, [[2, 1], [3, 4], [5, 2]], rewards=[2, 5, 4], workload=[2, "1/2", 1])


@pytest.mark.slow
def test_pools_are_drained_apart() -> None:
    referee = refereed(two_pools(), 10, 18.0, 2, reservation=2)
    assert referee.migrations > 100
    assert refereed(two_pools(), 11, 8.0, 3, reservation=1).row > 500


def test_pools_compiled_and_as_python() -> None:
    scenario = LossScenario(two_pools(), 30, 10.0, 2.0, options={"reservation": 2}, log=10**4)
    run, again = run_once(DRA, scenario, 1), run_once(DRA, scenario, 1, python=True)
    assert (run.measures.log == again.measures.log).all()
    assert run.measures.migrations.sum() > 0


def test_the_plan_of_pools_is_greedy_placement() -> None:
    """At the start CRA plans for g jobs of each type: GPA of the theory, stage by stage, merged by configuration."""
    for servers in (1, 2, 5, 12, 31):
        for g in (0, 3, 17, 200):
            instance = two_pools()
            state = prepare(Setting(instance, servers, {"reservation": g}))
            wanted = instance.with_workload([Fraction(g, servers)] * 3)
            expected: dict[tuple[int, tuple[int, ...]], int] = {}
            for stage in greedy_placement(wanted, servers).stages:
                for p, (k, used) in enumerate(zip(stage.configurations, stage.servers, strict=True)):
                    expected[p, k] = expected.get((p, k), 0) + used
            found = {
                (int(state.owner[c]), tuple(state.configurations[c].tolist())): int(number)
                for c, number in state.plan.tolist()
                if c >= 0 and number
            }
            assert found == {key: used for key, used in expected.items() if used}


@pytest.mark.slow
def test_many_servers_of_pools_earn_the_greedy_reward() -> None:
    """The reward of many servers is that of the greedy assignment in all pools at once, less what g reserves."""
    instance = pooled([(1, [3]), (1, [2])], [[2], [3]], rewards=[1, 1], workload=["1/2", "1/2"])
    greedy = global_greedy(instance).reward
    assert greedy == Fraction(3, 4)
    runs = [run_once(DRA, LossScenario(instance, 4000, 12.0, 6.0), seed) for seed in range(4)]
    means = [run.mean_reward for run in runs]
    # jobs fluctuate by about 1 / sqrt(L) of themselves, 0.016, and g = (log L)^1.5 reserves 0.6 % of the servers
    assert all(abs(mean - float(greedy)) < 0.03 for mean in means), means


@pytest.mark.slow
def test_sets_of_types_on_demand() -> None:
    """More types than are computed beforehand: MaxReward is asked for as sets come up, and the referee agrees."""
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    many = additive([24], [[d] for d in sizes], [10, 21, 29, 41, 52, 58, 75, 79, 91], ["1/2"] * 9)
    assert refereed(many, 8, 20.0, 3).row > 500
    run = run_once(DRA, LossScenario(many, 40, 10.0, 2.0), 1)
    again = run_once(DRA, LossScenario(many, 40, 10.0, 2.0), 1, python=True)
    assert (run.measures.jobs == again.measures.jobs).all()


def unlike(options: dict[str, object], reservation: float) -> None:
    """A run under some options, watched by a referee of best-ranked placement with another reservation."""
    two = additive([12], [[5], [7]], [1, 1], [1, 1])
    setting = Setting(two, 12, options)
    referee = Referee(setting, reservation)
    referee.begin(prepare(setting))
    run_once(DRA, LossScenario(two, 12, 100.0, 0.0, options=options, log=10**5), 1, python=True, watch=referee)


@pytest.mark.slow
def test_a_wrong_policy_is_caught() -> None:
    """The referee can say no: to placement from the wrong end, and to a reservation that is off by one."""
    unlike({"reservation": 1}, 1.0)
    with pytest.raises(AssertionError):
        unlike({"reservation": 1, "placement": "worst-ranked"}, 1.0)
    with pytest.raises(AssertionError):
        unlike({"reservation": 2}, 1.0)


def test_refusals_to_prepare() -> None:
    with pytest.raises(InputError, match="one pool"):
        policy("dra-preemption").prepare(Setting(pooled([(1, [3]), (1, [2])], [[2], [3]]), 4))
    with pytest.raises(InputError, match="best-ranked"):
        prepare(Setting(additive([2], [[1]]), 4, {"placement": "any"}))
    with pytest.raises(InputError, match="priority"):
        policy("dra-preemption").prepare(Setting(additive([2], [[1]]), 4))
    with pytest.raises(InputError, match="cannot hold"):
        prepare(Setting(additive([2], [[1]]), 1, {}, np.array([[3]], np.int32)))


@pytest.mark.soak
def test_many_instances_and_starts() -> None:
    """Random instances of up to five types from random contents, both loops, refereed event by event."""
    generator = np.random.default_rng(7)
    for number in range(400):
        instance = random_instance(generator)
        space = instance.pools[0].space
        servers = int(generator.integers(1, 25))
        contents = feasible(space)
        initial = contents[generator.integers(0, len(contents), servers)].astype(np.int32)
        rates = sum(float(t.workload * t.service_rate) for t in instance.types) * servers
        held = float(initial.sum())
        until = 400 / max(rates + held, 1.0)
        service = Law() if number % 2 else Law("log-normal", 3.0)
        refereed(
            instance,
            servers,
            until,
            number,
            initial=initial,
            reservation=int(generator.integers(0, 5)),
            service=service,
        )


def test_preemption_by_hand() -> None:
    """A refused job of size 2 stops jobs of priority 0, smallest first, of total size 2 g, from the drained server."""
    types = [(1, 0, 2), (1, 0, 3), (2, 1, 40)]  # size, priority, reward
    instance = additive([4], [[size] for size, _, _ in types], [reward for *_, reward in types], [1, 1, 1])
    slow = replace(instance, types=tuple(replace(t, service_rate=Fraction(1, 1000)) for t in instance.types))
    initial = np.array([[2, 2, 0]] * 3, np.int32)
    jobs = JobList(np.array([1.0]), np.array([2], np.int32), np.array([5.0]))
    for g in (1, 2):
        options = {"reservation": g, "priority": {f"t{j + 1}": p for j, (_, p, _) in enumerate(types)}}
        scenario = LossScenario(
            slow, 3, 2.0, 0.0, service=Law("deterministic"), initial=initial, jobs=jobs, options=options, log=20
        )
        run = run_once(policy("dra-preemption"), scenario, 1)
        rows = run.measures.log[: run.measures.logged[0], 1:4].astype(int).tolist()
        assert rows[-1] == [REFUSAL, 2, -1]
        stopped = [(j, server) for kind, j, server in rows if kind == PREEMPTION]
        assert len(stopped) == 2 * g
        assert [j for j, _ in stopped] == sorted(j for j, _ in stopped)
        assert stopped[0] == stopped[1]
        assert run.measures.preempted.sum(axis=0).tolist() == [2 * g, 0, 0]
        assert run.measures.jobs[-1].tolist() == [(6 - 2 * g) * run.spans[-1], 6 * run.spans[-1], 0.0]


@pytest.mark.parametrize(("priority", "expected"), [(1, [0] * 4), (0, [])])
def test_the_smallest_jobs_are_stopped_for_a_job_of_priority(priority: int, expected: list[int]) -> None:
    """Full servers of 4 hold jobs of 1, 1 and 2; a refused job of 4 stops four of size 1, one of priority 0 none."""
    instance = additive([4], [[1], [2], [4]], [2, 5, 100], [1, 1, 1])
    slow = replace(instance, types=tuple(replace(t, service_rate=Fraction(1, 1000)) for t in instance.types))
    jobs = JobList(np.array([1.0]), np.array([2], np.int32), np.array([5.0]))
    options = {"reservation": 1, "priority": {"t1": 0, "t2": 0, "t3": priority}}
    initial = np.array([[2, 1, 0]] * 3, np.int32)
    scenario = LossScenario(
        slow, 3, 2.0, 0.0, service=Law("deterministic"), initial=initial, jobs=jobs, options=options, log=20
    )
    run = run_once(policy("dra-preemption"), scenario, 1)
    rows = run.measures.log[: run.measures.logged[0], 1:3].astype(int).tolist()
    assert rows[-1] == [REFUSAL, 2]
    assert [j for kind, j in rows if kind == PREEMPTION] == expected
