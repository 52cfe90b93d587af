"""The integrator of fluid paths: its order, its error, any instance and start, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.stepping import stepped
from bounds.results.instances.drawn import with_rates
from fluid.limits.reservation import FluidPath, Reservation, emptying_rates, fluid_path, path, state_of
from fluid.limits.reservation.draining import RARE
from fluid.limits.reservation.segment import State
from theory.errors import InputError
from theory.exact.knapsack import maximal
from theory.instance import Instance, additive

SWAP = additive([2], [[1], [1]], rewards=[2, 1], workload=[5, 5])
"""Two types of one unit each: servers with one of both drain for servers with two of the first."""


def swapping(tolerance: float) -> float:
    """Return how far the path of `SWAP` from servers with one job of each is off, in time.

    The servers x that still hold both have x' = -1 / E max(T_1, T_2), of exponential times with the rates 2 - x and x:
    x' = -1 / (1 / (2 - x) + 1 / x - 1 / 2), so t = F(1) - F(x) with F(x) = log x - log(2 - x) - x / 2.
    """
    model = Reservation(SWAP)
    found = fluid_path(model, 3.0, state_of(model, {(1, 1): 1.0}), tolerance=tolerance)
    worst = 0.0
    for time in np.linspace(0.3, 3.0, 40):
        x = found.jobs([float(time)])[0, 1]
        worst = max(worst, abs(-0.5 - (np.log(x) - np.log(2 - x) - x / 2) - time))
    return worst


def test_the_error_is_in_proportion_to_the_tolerance() -> None:
    tolerances = 10.0 ** -np.arange(3, 11)
    errors = [swapping(float(tolerance)) for tolerance in tolerances]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.75 < slope < 1.25
    assert errors[-1] < 1e-9


def test_the_error_that_is_printed_is_not_less_than_the_error() -> None:
    model = Reservation(SWAP)
    for tolerance in (1e-5, 1e-7, 1e-9):
        found = fluid_path(model, 3.0, state_of(model, {(1, 1): 1.0}), tolerance=tolerance)
        assert swapping(tolerance) < 3 * found.error < 1e4 * tolerance


PARTLY = additive([6], [[1], [2], [1], [4]], rewards=[7, 7, 3, 7], workload=[8, 8, "3/4", "9/2"])
HALF = {(1, 2, 1, 0): 0.075, (2, 1, 2, 0): 0.915, (3, 1, 1, 0): 0.01}


def test_servers_that_drain_partly_full_against_plain_steps() -> None:
    """Plain steps of first order, extrapolated once; a method of fixed steps of 0.05 was 0.0036 off here."""
    model = Reservation(PARTLY)
    start, times = state_of(model, HALF, [1.15, 0.896, 1.3446, 0.0]), [0.0, 0.5]
    first, second = (stepped(model, times, steps, start) for steps in (150, 300))
    found = fluid_path(model, 0.5, start)
    assert np.abs(found.jobs(times) - (2 * second - first)).max() < 5e-4
    assert found.error < 1e-4


def drawn(generator: np.random.Generator) -> tuple[Instance, State | None]:
    """Draw one to four types on one or two resources, service rates far apart, and a state or none."""
    width, resources = int(generator.integers(1, 5)), int(generator.integers(1, 3))
    capacity = generator.integers(1, 7, resources)
    demands = generator.integers(0, capacity + 1, (width, resources))
    for row in demands:
        if not row.any():
            row[0] = 1
    workload = [Fraction(int(generator.integers(0, 17)), 16) * int(generator.choice([1, 8, 800])) for _ in range(width)]
    rewards = [int(generator.choice([1, 3, 7, 10**6])) for _ in range(width)]
    rates = [Fraction(str(generator.choice(["1/2", "1", "5", "100"]))) for _ in range(width)]
    instance = with_rates(additive(capacity.tolist(), demands.tolist(), rewards, workload), rates)
    if generator.random() < 0.5:
        return instance, None
    rows = maximal(instance.pools[0].space)
    chosen = generator.permutation(len(rows))[:3]
    shares = generator.dirichlet(np.ones(len(chosen)))
    model = Reservation(instance)
    jobs, masses = state_of(model, {tuple(rows[i].tolist()): float(x) for i, x in zip(chosen, shares, strict=True)})
    return instance, (jobs * generator.random(width), masses)


def assert_conserved(found: FluidPath) -> None:
    """Servers sum to one, jobs have slots, and y' is what is admitted less what departs."""
    model = found.model
    for segment in found.segments[:: 1 + len(found.segments) // 12]:
        width = segment.stop - segment.start
        for time in (segment.start + 0.3 * width, segment.start + 0.7 * width):
            jobs, masses = found.state(time)
            assert sum(masses.values()) == pytest.approx(1.0, abs=1e-9)
            assert min(masses.values()) > -1e-8
            assert (jobs >= 0).all()
            assert (jobs <= model.slots_of(masses.items()) + 1e-7).all()
            step = min(1e-6, 0.2 * width)
            if step * model.pace < 1e-7 or segment.held:
                continue
            before, after = found.jobs([time - step, time + step])
            flow = found.admitted([time])[0] - model.service * jobs
            assert np.abs((after - before) / (2 * step) - flow).max() < 1e-3 * max(1.0, np.abs(flow).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [pytest.param(block, marks=pytest.mark.soak if block > 4 else []) for block in range(10)]
)
def test_any_path_is_conserved_and_ends_in_the_greedy_assignment(block: int) -> None:
    generator = np.random.default_rng((89, block))
    for _ in range(4):
        instance, start = drawn(generator)
        model = Reservation(instance)
        until = 60.0 / float(model.service.min())
        found = fluid_path(model, until, start)
        assert_conserved(found)
        greedy = float(model.equilibrium.reward)
        assert float(found.rewards([until])[0]) == pytest.approx(greedy, rel=1e-6, abs=1e-9)
        assert len(found.segments) < 300
        assert sum(segment.steps for segment in found.segments) < 1000


def test_a_type_that_hardly_departs_leaves_the_departures_to_the_others() -> None:
    """Both servers with the rare type wait for it, and let pass what the third waits for: max of two exponentials.

    Without that, the law of the chain is nothing but rounding below 1e-15: 4 and -0.0002 servers a unit of time.
    """
    configurations, full = [(0, 2, 1), (1, 1, 0), (1, 0, 1)], np.ones(3)
    for rare in (0.0, 1e-300, 1e-20, 1e-17, 1e-12, 0.5 * RARE, 2 * RARE, 1e-6):
        found = emptying_rates(configurations, np.array([1.0, rare, 2.0]), full)
        assert all(0 <= rate <= rare * (1 + 1e-5) for rate in found[:2])
        assert found[2] == pytest.approx(1 / (1 + 1 / 2 - 1 / 3), rel=10 * rare + 1e-7)


@pytest.mark.parametrize("factor", [Fraction(1, 3600), Fraction(1000)])
def test_another_unit_of_time_changes_nothing(factor: Fraction) -> None:
    for instance in (PARTLY, SWAP, with_rates(PARTLY, [1, 2, Fraction(1, 2), 1])):
        first = Reservation(instance)
        rates = [t.service_rate * factor for t in instance.types]
        second = Reservation(with_rates(instance, rates))
        times = np.linspace(0.0, 4.0, 9)
        one, other = fluid_path(first, 4.0), fluid_path(second, 4.0 / float(factor))
        assert np.abs(one.jobs(times) - other.jobs(times / float(factor))).max() < 1e-7


def without_its_limits(limits: Mapping[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(path, name, value)


@pytest.mark.parametrize("limits", [{"MOST_REGIMES": 2}, {"MOST_STEPS": 3}])
def test_a_path_of_too_many_regimes_or_steps_is_refused(
    limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Reservation(PARTLY)
    without_its_limits(limits, monkeypatch)
    with pytest.raises(InputError, match=r"^until: expected a time up to [0-9.e-]+, .* followed, got 5$"):
        fluid_path(model, 5.0, state_of(model, HALF))


def test_a_stage_that_shrinks_leaves_departures_to_those_behind() -> None:
    """Servers with 13 jobs of the first type shrink as a whole: their slots are as many as their jobs (simulated too).

    The stage ahead needs few of the departures as it shrinks, and the one behind, which holds the same type, the rest.
    """
    types = additive([27, 44], [[2, 0], [5, 10], [0, 20]], rewards=[1, 2, 10**6], workload=["9/16", "13/2", "1/4"])
    model = Reservation(with_rates(types, [Fraction(1, 2), 2, 5]))
    found = fluid_path(model, 1.3, state_of(model, {(13, 0, 2): 0.1572, (13, 0, 0): 0.0497, (0, 4, 0): 0.7931}))
    jobs, masses = found.state(1.2)
    assert jobs[0] <= model.slots_of(masses.items())[0] < 1.02 * jobs[0]
    assert jobs[1] == pytest.approx(4 * (1 - jobs[0] / 13), rel=0.01)


def test_slots_that_shrink_as_jobs_do() -> None:
    """As refused, the third type's servers would drain too slowly to lose its slots, as admitted too fast: neither."""
    instance = additive(
        [4, 3, 5], [[0, 3, 2], [1, 0, 0], [1, 1, 2]], rewards=[7, 1, 1], workload=["3/8", "125/4", "7/16"]
    )
    model = Reservation(instance)
    start = state_of(model, {(0, 3, 1): 0.2585, (1, 4, 0): 0.1314, (0, 2, 2): 0.6101})
    found = fluid_path(model, 200.0, start)
    (segment,) = (one for one in found.segments if one.regime.level == 2)
    assert segment.stop - segment.start > 0.01
    for time in np.linspace(segment.start, segment.stop, 6)[1:-1]:
        jobs, masses = found.state(float(time))
        assert jobs[2] == pytest.approx(model.slots_of(masses.items())[2], abs=1e-12)
        # all are admitted: y' = lambda - mu y
        decay = np.exp(-(time - segment.start))
        before = found.jobs([segment.start])[0, 2]
        assert jobs[2] == pytest.approx(7 / 16 + (before - 7 / 16) * decay, abs=1e-8)
    assert len(found.segments) < 20
    assert found.rewards([200.0])[0] == pytest.approx(float(model.equilibrium.reward), abs=1e-9)
