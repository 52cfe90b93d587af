"""The fluid limit of dynamic reservation: drain rates against closed forms and runs, paths against plain stepping."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from benchmarks.stepping import extrapolated, reflected, settled, stepped
from bounds.results.instances.drawn import dynamic_instance
from fluid.limits.reservation import (
    Reservation,
    emptying_rate,
    emptying_rates,
    fluid_path,
    minimum_rates,
    state_of,
)
from fluid.limits.reservation.draining import _thinned, is_exact
from theory.errors import InputError
from theory.instance import additive, pooled

LIMITING = additive([3, 3], [[1, 0], [0, 1], [3, 3]], rewards=[1, 1, 7], workload=[6, 6, "3/2"])
ONE_SLOT = additive([1], [[1], [1]], rewards=[2, 1], workload=[5, 5])


def test_drain_rates_in_closed_form() -> None:
    ones = np.ones(2)
    assert emptying_rate((3, 0), np.array([2.0, 1.0]), ones) == pytest.approx(2 / 3)  # Erlang(3) at rate 2
    assert emptying_rate((1, 1), np.array([2.0, 3.0]), ones) == pytest.approx(1 / (1 / 2 + 1 / 3 - 1 / 5))
    half = emptying_rate((1, 1), ones, np.array([1.0, 0.5]))
    assert half == pytest.approx(1 / (0.5 * 1 + 0.5 * 1.5))
    assert minimum_rates([(1, 1)], np.array([2.0, 3.0]), ones) == [2.0]
    # two slots, each full with chance 1/4, of which the law of the content is binomial: 6/16 once, 1/16 twice
    assert emptying_rate((2,), np.ones(1), np.array([0.25])) == pytest.approx(1 / (6 / 16 + 2 / 16))


@pytest.mark.parametrize("configuration", [(1, 1), (2, 1), (3, 2)])
def test_a_server_that_holds_a_type_that_never_departs_is_never_free(configuration: tuple[int, ...]) -> None:
    assert emptying_rate(configuration, np.array([0.0, 1.0]), np.ones(2)) == 0.0
    assert emptying_rate(configuration, np.array([0.0, 1.0]), np.array([0.5, 0.5])) == 0.0
    only_second = emptying_rate(configuration, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert only_second == pytest.approx(1 / configuration[1])


def test_joint_drain_rates_against_a_run() -> None:
    """A run of the chain over 300,000 departures: a miss of five standard errors has a chance below 1e-6."""
    configurations, rates = [(2, 1), (1, 2)], np.array([1.0, 2.0])
    generator, held, freed = np.random.default_rng(1), [[2, 1], [1, 2]], np.zeros(2)
    steps = 300_000
    for j in generator.choice(2, steps, p=rates / rates.sum()):
        giver = next((c for c, n in enumerate(held) if n[j]), None)
        if giver is not None:
            held[giver][j] -= 1
            if not any(held[giver]):
                freed[giver] += 1
                held[giver] = list(configurations[giver])
    time = steps / rates.sum()
    expected = emptying_rates(configurations, rates, np.ones(2))
    for seen, rate in zip(freed / time, expected, strict=True):
        assert abs(seen - rate) < 5 * np.sqrt(rate / time)  # emptying is more regular than a Poisson process


def test_many_joint_contents_are_thinned_and_that_is_said() -> None:
    assert not is_exact([(20, 20), (30, 30)])
    assert is_exact([(20, 0), (0, 30)])
    assert is_exact([(2, 1), (1, 2)])
    rates = np.array([1.0, 2.0])
    solved = emptying_rates([(2, 1), (1, 2)], rates, np.ones(2))
    thinned = _thinned([(2, 1), (1, 2)], rates, np.ones(2))
    assert thinned[0] == pytest.approx(solved[0])  # the first sees all departures
    assert thinned[1] > 0


def test_idle_phase_in_closed_form() -> None:
    model = Reservation(ONE_SLOT)
    path = fluid_path(model, 1.0)
    assert path.switches[0] == pytest.approx(-np.log(1 - 1 / 10), abs=1e-9)  # 10 (1 - exp(-t)) = 1
    assert path.jobs([0.05])[0].tolist() == pytest.approx([5 * (1 - exp(-0.05))] * 2)
    # then the better type's servers come from departures of the other: y_1' = mu y_2 = 1 - y_1
    later = path.switches[0] + 0.5
    assert path.jobs([later])[0].tolist() == pytest.approx([1 - 0.5 * exp(-0.5), 0.5 * exp(-0.5)], abs=1e-8)
    assert path.draining_limits
    assert path.exact


@pytest.mark.parametrize("seed", range(6))
def test_paths_are_what_stepping_tends_to(seed: int) -> None:
    model = Reservation(dynamic_instance(seed))
    path = fluid_path(model, 3.0)
    times = sorted({*np.linspace(0.0, 3.0, 5).tolist(), *path.switches})
    assert np.abs(path.jobs(times) - extrapolated(model, times, 30)).max() < 2e-5


@pytest.mark.soak
def test_two_hundred_paths_are_what_stepping_tends_to() -> None:
    """Where the reference settles; it does so slowly where contents of draining servers are means."""
    misses, unsettled = [], []
    for seed in range(200):
        model = Reservation(dynamic_instance(seed))
        path = fluid_path(model, 5.0)
        times = sorted({*np.linspace(0.0, 5.0, 6).tolist(), *path.switches})
        reference, apart = settled(model, times)
        if apart > 1e-6 and not path.exact:
            unsettled.append(seed)
        elif np.abs(path.jobs(times) - reference).max() > 1e-6:
            misses.append(seed)
    assert not misses
    assert len(unsettled) <= 2


@pytest.mark.parametrize("seed", [96, 122])
def test_no_path_flickers(seed: int) -> None:
    """Shrinking stages behind a growing one: followed, where they were once held now in one regime, now in another."""
    path = fluid_path(Reservation(dynamic_instance(seed)), 50.0)
    assert len(path.segments) < 16
    assert not any(segment.held for segment in path.segments)


@pytest.mark.slow
def test_a_shrinking_stage_is_followed_only_if_those_behind_free_enough() -> None:
    """Instance 166 at 0.2185: simulations agree with stepping here, and did not with a path that followed it."""
    model = Reservation(dynamic_instance(166))
    path = fluid_path(model, 0.5)
    times = sorted({*np.linspace(0.0, 0.5, 4).tolist(), *path.switches})
    assert np.abs(path.jobs(times) - extrapolated(model, times, 60)).max() < 1e-6


def test_churn_is_not_called_exact() -> None:
    """Instance 143: a followed and a draining configuration share a type, and simulations drain more slowly."""
    path = fluid_path(Reservation(dynamic_instance(143)), 1.5)
    assert any(segment.regime.diverts for segment in path.segments)
    assert not path.exact


@pytest.mark.parametrize("seed", range(20))
def test_invariants_and_the_end(seed: int) -> None:
    model = Reservation(dynamic_instance(seed))
    path = fluid_path(model, 120.0)
    for time in np.linspace(0.0, 20.0, 41):
        jobs, masses = path.state(float(time))
        assert sum(masses.values()) == pytest.approx(1.0, abs=1e-9)
        assert min(masses.values()) > -1e-9
        assert (jobs >= -1e-12).all()
        assert (jobs <= model.slots_of(masses.items()) + 1e-8).all()
        assert (jobs <= model.workload * (1 - np.exp(-model.service * time)) + 1e-8).all()
    greedy = model.equilibrium
    jobs, masses = path.state(120.0)
    assert jobs.tolist() == pytest.approx([float(y) for y in greedy.served], abs=1e-6)
    for stage in greedy.stages:
        assert masses[stage.configurations[0]] == pytest.approx(float(stage.fraction), abs=1e-6)
    assert float(path.rewards([120.0])[0]) == pytest.approx(float(greedy.reward), abs=1e-5)


@pytest.mark.slow
def test_simplifications_fail_where_draining_limits() -> None:
    times = np.linspace(0.0, 4.0, 9)
    for instance in (LIMITING, ONE_SLOT):
        model = Reservation(instance)
        exact = fluid_path(model, 4.0).jobs(times)
        assert np.abs(exact - reflected(model, times, 200, anyway=True)).max() > 0.2
        with pytest.raises(InputError, match=r"draining limits the path there"):
            reflected(model, times, 200)
    model = Reservation(LIMITING)
    exact = fluid_path(model, 4.0)
    too_fast = fluid_path(model, 4.0, rates=minimum_rates)
    assert np.abs(exact.jobs(times) - too_fast.jobs(times)).max() > 0.04
    assert np.abs(too_fast.jobs(times) - stepped(model, times, 400, rates=minimum_rates)).max() < 5e-3


def test_where_draining_does_not_limit_the_reflected_path_is_right() -> None:
    instance = additive([4], [[1], [2]], rewards=[3, 2], workload=[1, 3])
    model, times = Reservation(instance), np.linspace(0.0, 4.0, 9)
    path = fluid_path(model, 4.0)
    assert not path.draining_limits
    assert path.gross_margin(times).min() >= -1e-12
    assert np.abs(path.jobs(times) - reflected(model, times, 800)).max() < 5e-3


def test_the_reflected_path_is_refused_or_right() -> None:
    """Random instances: under the gross-drain condition both constructions agree; it is broken on some."""
    times, refused = np.linspace(0.0, 4.0, 5), 0
    for seed in range(14):
        model = Reservation(dynamic_instance(seed))
        try:
            jobs = reflected(model, times, 200)
        except InputError:
            refused += 1
        else:
            assert np.abs(jobs - fluid_path(model, 4.0).jobs(times)).max() < 1e-3
    assert 0 < refused < 14


def test_from_a_full_system_in_a_bad_configuration() -> None:
    model = Reservation(LIMITING)
    path = fluid_path(model, 60.0, state_of(model, {(3, 0, 0): 0.5, (0, 3, 0): 0.5}))
    assert path.jobs([60.0])[0].tolist() == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)
    assert path.time_within(0.01) == pytest.approx(path.time_within(0.01), abs=1e-6)
    assert 0 < path.time_within(0.1) < path.time_within(0.01)  # type: ignore[operator]


def test_arrivals_that_change() -> None:
    model = Reservation(additive([1], [[1]], workload=["1/2"]))
    path = fluid_path(model, 20.0, arrivals=[(0.0, [0.5]), (10.0, [3.0])])
    assert path.jobs([10.0])[0, 0] == pytest.approx(0.5 * (1 - exp(-10.0)))
    assert path.jobs([20.0])[0, 0] == pytest.approx(1.0)
    full = -np.log((3 - 1) / (3 - 0.5 * (1 - exp(-10.0))))
    assert path.switches[1] == pytest.approx(10.0 + full, abs=1e-8)
    assert path.admitted([5.0, 19.0])[:, 0].tolist() == pytest.approx([0.5, 1.0], abs=1e-9)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="one pool"):
        Reservation(pooled([(1, [2]), (1, [3])], [[1]]))
    model = Reservation(ONE_SLOT)
    with pytest.raises(InputError, match="fits a server"):
        state_of(model, {(1, 1): 1.0})
    with pytest.raises(InputError, match="sum to at most 1"):
        state_of(model, {(1, 0): 0.7, (0, 1): 0.7})
    with pytest.raises(InputError, match="slots of its type"):
        state_of(model, {(1, 0): 0.5}, [0.6, 0.0])
    with pytest.raises(InputError, match="increasing times"):
        fluid_path(model, 1.0, arrivals=[(0.5, [1, 1])])


def test_the_end_is_that_of_the_last_arrivals() -> None:
    model = Reservation(additive([1], [[1], [1]], rewards=[2, 1], workload=["1/2", "1/4"]))
    path = fluid_path(model, 30.0, arrivals=[(0.0, [0.5, 0.25]), (5.0, [0.25, 0.25])])
    assert float(path.goal.reward) == pytest.approx(0.75)
    within = path.time_within(0.01)
    assert within is not None
    assert 5.0 < within < 12.0


@pytest.mark.parametrize("time", [-1e-3, 1.001, 50.0, float("nan")])
def test_a_path_answers_within_its_time_only(time: float) -> None:
    path = fluid_path(Reservation(ONE_SLOT), 1.0)
    for asked in (path.jobs, path.rewards, path.masses, path.admitted, path.gross_margin):
        with pytest.raises(InputError, match="time: expected from 0 to 1, where the path ends"):
            asked([0.5, time])
    assert path.jobs([0.0, 1.0 + 1e-12]).shape == (2, 2)
