"""Laws of small chains against rationals and closed forms, from light loads to heavy ones; bounds that hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fluid.chains import elimination
from fluid.chains.elimination import expected_totals, irreducible_law, stationary
from fluid.chains.loss import stationary_law
from fluid.chains.queue import queue_law, slotted_law
from fluid.chains.truncation import _greatest
from fluid.simulation.policy_names import policy
from theory.errors import InputError
from theory.exact.programs import rational
from theory.instance import Instance, additive

LOADS = st.builds(Fraction, st.floats(1e-3, 1e3))
POWERS = st.floats(-12, 3).map(lambda power: 10.0**power)


def erlang_b(servers: int, load: Fraction) -> Fraction:
    blocking = Fraction(1)
    for n in range(1, servers + 1):
        blocking = load * blocking / (n + load * blocking)
    return blocking


@st.composite
def rates(draw: st.DrawFn) -> NDArray[np.float64]:
    """Irreducible chains: a ring, at rates of any size, and other steps."""
    n = draw(st.integers(2, 7))
    matrix = np.array([[draw(POWERS) if draw(st.booleans()) else 0.0 for _ in range(n)] for _ in range(n)])
    for i in range(n):
        matrix[i, (i + 1) % n] = draw(POWERS)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def exact_generator(matrix: NDArray[np.float64], outside: list[float]) -> list[list[Fraction]]:
    rows = [[-Fraction(rate) for rate in row] for row in matrix.tolist()]
    for i, row in enumerate(rows):
        row[i] = Fraction(outside[i]) - sum(row)
    return rows


@settings(max_examples=60)
@given(rates(), st.integers(1, 3))
def test_every_probability_has_a_small_relative_error(matrix: NDArray[np.float64], block: int) -> None:
    n = len(matrix)
    balance = [list(column) for column in zip(*exact_generator(matrix, [0.0] * n), strict=True)]
    exact = rational.solve_dense([[Fraction(1)] * n, *balance[1:]], [1] + [0] * (n - 1))
    assert exact is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "BLOCK", block)  # several blocks, as of large chains
        law = irreducible_law(csr_array(matrix))
    for found, value in zip(law.tolist(), exact, strict=True):
        assert abs(Fraction(found) - value) <= value * Fraction(1, 10**13)


@settings(max_examples=60)
@given(rates(), POWERS, st.integers(1, 3))
def test_every_expected_total_has_a_small_relative_error(matrix: NDArray[np.float64], rate: float, block: int) -> None:
    n = len(matrix)
    outside = [rate * 1e-12] + [0.0] * (n - 1)
    values = np.arange(1.0, n + 1)
    exact = rational.solve_dense(exact_generator(matrix, outside), [Fraction(value) for value in values.tolist()])
    assert exact is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "BLOCK", block)
        totals = expected_totals(csr_array(matrix), np.array(outside), values[:, None])[:, 0]
    for found, value in zip(totals.tolist(), exact, strict=True):
        assert abs(Fraction(found) - value) <= value * Fraction(1, 10**13)


def test_many_states_take_several_blocks() -> None:
    """A walk of product form on a grid: 400 states, a window wider than a block in no order of theirs."""
    side, up = 20, (3.0, 0.25)
    number = {pair: n for n, pair in enumerate(product(range(side), repeat=2))}
    steps = []
    for (x, y), n in number.items():
        for after, rate in (((x + 1, y), up[0]), ((x, y + 1), up[1]), ((x - 1, y), 1.0), ((x, y - 1), 1.0)):
            if after in number:
                steps.append((n, number[after], rate))
    rows, columns, values = (np.array(part) for part in zip(*steps, strict=True))
    law, residual = stationary(len(number), rows, columns, values.astype(float))
    weights = np.array([up[0] ** x * up[1] ** y for x, y in number])
    np.testing.assert_allclose(law, weights / weights.sum(), rtol=1e-12)
    assert residual < 1e-14


@settings(max_examples=40, deadline=None)
@given(LOADS, st.integers(1, 60))
def test_one_type_is_erlangs_loss_system(load: Fraction, capacity: int) -> None:
    law = stationary_law(policy("first-fit"), additive([capacity], [[1]], workload=[load]), 1)
    assert float(law.blocking[0]) == pytest.approx(float(erlang_b(capacity, load)), rel=1e-12, abs=0)


def test_a_likely_state_need_not_be_the_first() -> None:
    """The empty state has a probability of e^-70; with a thousand jobs one of e^-1000, which is no float."""
    for capacity, load in ((80, 70), (1000, 1000)):
        law = stationary_law(policy("first-fit"), additive([capacity], [[1]], workload=[load]), 1)
        exact = float(erlang_b(capacity, Fraction(load)))
        assert float(law.blocking[0]) == pytest.approx(exact, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 7), st.tuples(LOADS, LOADS), st.tuples(LOADS, LOADS))
def test_two_types_on_one_server_have_a_law_of_product_form(
    capacity: int, loads: tuple[Fraction, Fraction], speeds: tuple[Fraction, Fraction]
) -> None:
    system = additive([capacity], [[1], [2]], workload=list(loads))
    types = [replace(job, service_rate=speed) for job, speed in zip(system.types, speeds, strict=True)]
    system = replace(system, types=tuple(types))
    law = stationary_law(policy("first-fit"), system, 1)
    weight = {
        (a, b): loads[0] ** a / factorial(a) * loads[1] ** b / factorial(b)
        for a, b in product(range(capacity + 1), repeat=2)
        if a + 2 * b <= capacity
    }
    total = sum(weight.values())
    assert law.totals().keys() == weight.keys()
    for state, probability in law.totals().items():
        assert probability == pytest.approx(float(weight[state] / total), rel=1e-12, abs=0)


def two_valleys() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """A walk between two likely ends, by way of states that are, a hundred times in a row, 10^-6 as likely."""
    steps = [(i, i + 1, 1e-6 if i < 100 else 3.0) for i in range(200)]
    steps += [(i, i - 1, 1.0 if i <= 100 else 1e-6) for i in range(1, 201)]
    rows, columns, values = (np.array(part) for part in zip(*steps, strict=True))
    return rows, columns, values


def test_probabilities_between_likely_states_may_be_below_all_floats() -> None:
    law, _ = stationary(201, *two_valleys())
    ratio = 3.0**100  # of the ends, by detailed balance
    assert law[0] == pytest.approx(1 / ratio, rel=1e-9)
    assert law[100] == 0.0


def test_sets_of_states_that_floats_cannot_join_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The middle is eliminated first: the ends are then left at rates that no float holds."""
    order = np.argsort(np.abs(np.arange(201) - 100), kind="stable")
    monkeypatch.setattr(elimination, "_order", lambda _: order)
    with pytest.raises(InputError, match="too small for floats"):
        stationary(201, *two_valleys())


def test_a_queue_that_is_cut_too_early_is_refused_with_the_remedy() -> None:
    system = additive([3], [[1], [2]], workload=["1/4", "1/4"])
    with pytest.raises(InputError, match=r"2 recurrent classes.*most_waiting=3"):
        queue_law(policy("nonpreemptive"), system, 1, 3)


def mean_waiting(load: Fraction, most: int) -> Fraction:
    """Mean of the jobs that wait in M/M/1 given that at most `most` wait."""
    weights = [load**n for n in range(most + 2)]
    return sum(max(n - 1, 0) * w for n, w in enumerate(weights)) / sum(weights)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(LOADS, st.integers(1, 70))
def test_bounds_of_a_queue_hold_the_exact_mean_and_are_near_it(load: Fraction, most: int) -> None:
    """With one type and one server the set is entered in one state, and the bounds are the mean up to rounding."""
    law = queue_law(policy("nonpreemptive"), additive([1], [[1]], workload=[load]), 1, most)
    exact = mean_waiting(Fraction(float(load)), most)
    low, high = law.bounds(law.queue)
    assert Fraction(low) <= exact <= Fraction(high)
    assert high - low <= 1e-9 * max(1.0, float(load)) * most
    assert low <= law.mean(law.queue) <= high


TWO_TYPES = [(1, 3, (1, 2)), (1, 4, (2, 3)), (2, 2, (1, 2))]


@pytest.mark.soak
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(TWO_TYPES), st.tuples(*(st.floats(1e-3, 0.3),) * 2), st.integers(10, 24))
def test_bounds_hold_the_mean_of_the_truncated_chain(
    case: tuple[int, int, tuple[int, int]], loads: tuple[float, float], most: int
) -> None:
    """A step to the outside that is left out is one that enters where it left, which the bounds allow."""
    servers, capacity, sizes = case
    system: Instance = additive([capacity], [[size] for size in sizes], workload=[Fraction(load) for load in loads])
    for name in ("nonpreemptive", "max-weight-local"):
        law = queue_law(policy(name), system, servers, most if servers == 1 else 10)
        for quantity in (law.queue, law.waiting[:, 0], law.serving[:, 1], -law.queue):
            low, high = law.bounds(quantity)
            assert low <= law.mean(quantity) <= high


@pytest.mark.slow
def test_bounds_are_near_each_other_where_the_set_is_seldom_left() -> None:
    """The set is left once in 10^15 units of time, so that where it is entered again makes no difference."""
    system = additive([3], [[1], [2]], workload=["1/4", "1/5"])
    for most in (20, 30, 40):
        law = queue_law(policy("nonpreemptive"), system, 1, most)
        low, high = law.bounds(law.queue)
        assert low <= law.mean(law.queue) <= high
        assert high - low < 1e-9


@settings(max_examples=60)
@given(rates(), st.data())
def test_the_bound_of_any_potential_is_rounded_upwards(matrix: NDArray[np.float64], data: st.DataObject) -> None:
    """The bound in floats is at least the exact one, for potentials of any size: the proof rests on nothing else."""
    n = len(matrix)
    vector = st.lists(st.floats(-1e9, 1e9), min_size=n, max_size=n)
    potential, quantity = (np.array(data.draw(vector)) for _ in range(2))
    exits = np.abs(np.array(data.draw(vector)))
    entries = np.arange(n) < data.draw(st.integers(1, n))
    h = [Fraction(value) for value in potential.tolist()]
    top = max(value for value, enters in zip(h, entries.tolist(), strict=True) if enters)
    exact = max(
        Fraction(quantity[i])
        + sum(Fraction(matrix[i, j]) * (h[j] - h[i]) for j in range(n))
        + Fraction(exits[i]) * ((top if exits.any() else h[i]) - h[i])
        for i in range(n)
    )
    assert Fraction(_greatest(csr_array(matrix), exits, entries, quantity, potential)) >= exact


def test_bounds_of_slotted_queues_hold_the_exact_mean() -> None:
    """Geo/Geo/1: given at most N waiting, the law decreases by a factor from the first job on."""
    for a, s, most in ((0.001, 0.9, 5), (0.2, 0.4, 40), (0.5, 0.6, 120), (0.9, 0.2, 30)):
        law = slotted_law(policy("bf-js"), np.array([1]), 1, 1, np.array([a]), np.array([s]), most)
        up, down = Fraction(a) * (1 - Fraction(s)), Fraction(s) * (1 - Fraction(a))
        weights = [Fraction(1), Fraction(a) / down]
        while len(weights) < most + 2:
            weights.append(weights[-1] * up / down)
        exact = sum(max(n - 1, 0) * w for n, w in enumerate(weights)) / sum(weights)
        low, high = law.bounds(law.queue)
        # the probabilities of the steps are rounded: so is the mean that the bounds hold
        assert Fraction(low) * (1 - Fraction(1, 10**12)) <= exact <= Fraction(high) * (1 + Fraction(1, 10**12))
        assert high - low < 1e-9 * most
