"""The cross-check: other limits beside the same runs, processes, stationary gaps, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from bounds.results.instances.drawn import dynamic_instance
from bounds.results.instances.families import limited_by_draining, not_limited_by_draining
from fluid.limits.convergence import LIMITS, crosscheck, static_limit
from fluid.limits.reservation import Reservation, fluid_path, minimum_rates
from fluid.simulation.options import Expression
from theory.errors import InputError
from theory.greedy.assignment import global_greedy
from theory.instance import Instance, additive

SQUARE = {"reservation": Expression("(log L)^2")}
TWO = not_limited_by_draining()["two types"]


def simplified(instance: Instance, times: np.ndarray) -> np.ndarray:
    return fluid_path(Reservation(instance), float(times[-1]), rates=minimum_rates).jobs(times)


@pytest.mark.slow
def test_a_wrong_limit_beside_the_same_runs() -> None:
    check = crosscheck(limited_by_draining()["drains three types"], [500, 8000], 6.0, 3, options=SQUARE, bins=200)
    wrong = check.beside(simplified)
    assert (wrong.simulated == check.simulated).all()
    assert check.rate.mean < -0.3
    assert wrong.distances[-1].min() > 2 * check.distances[-1].max()  # 0.17 off, whatever the size


def test_processes_give_the_same_runs() -> None:
    one = crosscheck(TWO, [100, 400], 3.0, 2, bins=50)
    two = crosscheck(TWO, [100, 400], 3.0, 2, bins=50, workers=2)
    assert (one.simulated == two.simulated).all()


def test_static_reservation_meets_its_limit() -> None:
    """Each type is an Erlang loss system of its own: the slope is near -1/2, off by what 5 sizes by 3 runs allow."""
    instance = additive([4], [[1], [2]], rewards=[3, 2], workload=[1, 3])
    check = crosscheck(instance, [500, 2000, 8000, 32000], 6.0, 3, policy="static", bins=200)
    assert -0.75 < check.rate.mean < -0.3
    assert static_limit(instance, np.array([50.0])).round(9).tolist() == [[1.0, 1.5]]


@pytest.mark.slow
def test_the_gap_of_the_stationary_reward_falls() -> None:
    """Every server is worth 7 in the limit; at L servers of the order of g lack a large job."""
    check = crosscheck(limited_by_draining()["drains one type"], [200, 1600, 12800], 16.0, 3, options=SQUARE, bins=200)
    gap = check.gap(8.0)
    assert gap is not None
    assert -1.2 < gap.low < gap.high < -0.7
    assert check.gap(0.0) is not None
    assert check.gap(0.0).mean > gap.mean  # type: ignore[union-attr]  # the way there lacks the same at every size


def test_unknown_limits_are_refused() -> None:
    with pytest.raises(InputError, match="expected one with a known fluid limit"):
        crosscheck(TWO, [10], 1.0, 1, policy="first-fit")
    assert sorted(LIMITS) == ["dra", "static"]


def is_critical(instance: Instance) -> bool:
    """Whether the servers end just where a type does: paths then end where two regimes meet."""
    return any(sum(global_greedy(instance).lengths[: i + 1]) == 1 for i in range(len(instance.types)))


@pytest.mark.soak
def test_random_instances_meet_their_limits() -> None:
    """200 instances with unequal service rates, from 4,000 to 100,000 servers; where the path is exact, each of them.

    The mean slope of n instances with one run of each size has a standard error of 0.13 / sqrt(n) as measured.
    """
    slopes: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(200):
        instance = dynamic_instance(seed)
        if is_critical(instance):
            continue  # slower: near the end draining hardly limits, and hardly goes on
        check = crosscheck(instance, [4000, 100_000], 15.0, 1, options=SQUARE, bins=750, workers=2)
        near, far = check.distances[1, 0], check.distances[0, 0]
        exact = fluid_path(Reservation(instance), 15.0).exact
        assert near < (0.04 if exact else 0.06), seed
        slopes[exact].append(float(np.log(near / far) / np.log(25)))
    assert all(-0.65 < np.mean(values) < -0.45 for values in slopes.values())
