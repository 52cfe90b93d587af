"""The constant of Lemma 4.1: attained, not beaten, kept by Algorithm 1; the printed angle is none."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.testing import instances
from fluid.limits.drift import Algorithm1, angle_constant, least_move
from theory.errors import InputError
from theory.exact.knapsack.configurations import maximal
from theory.greedy.servers import max_jobs
from theory.instance import Instance, additive, pooled

few = instances(max_types=3, max_resources=2, max_capacity=8).filter(
    lambda i: len(maximal(i.pools[0].space)) <= 8 and bool(maximal(i.pools[0].space).any(axis=0).all())
)


@pytest.mark.soak
@given(few, st.sampled_from([Fraction(1, 2), Fraction(7, 8)]), st.integers(0, 2**32 - 1))
def test_attained_and_never_beaten(instance: Instance, beta: Fraction, seed: int) -> None:
    space = instance.pools[0].space
    found = least_move(space, beta)
    if found is None:
        return
    q, a, d = found.queues, found.arrivals, found.departures
    after = [x + y - z for x, y, z in zip(q, a, d, strict=True)]
    assert max(a) + max(d) == found.constant * max(q)
    assert found.constant >= (1 - beta) / max_jobs(instance)
    weights = [sum(n * x for n, x in zip(k, after, strict=True)) for k in (found.configuration, found.rival)]
    assert weights[0] == beta * weights[1]
    assert min(after) >= 0
    generator, rows = np.random.default_rng(seed), maximal(space)
    for _ in range(40):
        queues = generator.integers(0, 1000, len(q))
        taken = rows[np.argmax(rows @ queues)]
        room = found.constant * int(queues.max())
        split = Fraction(int(generator.integers(0, 11)), 10)
        most = [int(room * split), int(room * (1 - split))]
        moved = queues + generator.integers(0, most[0] + 1, len(q)) - generator.integers(0, most[1] + 1, len(q))
        moved = np.maximum(moved, 0)
        assert int(taken @ moved) >= beta * int((rows @ moved).max())


def test_algorithm_1_stays_in_the_cone() -> None:
    instance = additive([6], [[4], [1]], workload=["1/3", "3"])
    beta = Fraction(3, 4)
    found = least_move(instance.pools[0].space, beta)
    assert found is not None
    system = Algorithm1(instance, 2, beta)
    light = 0
    for state, taken in (pair for seed in range(4) for pair in islice(system.periods([40, 30 * seed], seed), 400)):
        for server in np.flatnonzero(state.active == 1):
            change = state.waiting - taken[server]
            size = max(0, int(change.max())) + max(0, int(-change.min()))
            if not system.serving(state)[server]:
                light += 1
                assert size >= found.constant * int(taken[server].max())
    assert light > 0


def test_one_type_is_never_too_light() -> None:
    assert least_move(additive([4], [[1]]).pools[0].space, Fraction(1, 2)) is None


def test_the_angle_is_no_distance_with_three_types() -> None:
    """Inequality (11): one job of any of three types; queues (1, 1, 1) and a move of 0.45 < sin x |Q| = 0.55."""
    beta, queues = Fraction(1, 2), [1, 1, 1]
    sine = angle_constant((1, 0, 0), (0, 1, 0), beta)
    move = [Fraction(-41, 100), Fraction(19, 100), Fraction(0)]
    assert sum(x * x for x in move) < sine * sum(q * q for q in queues)
    after = [q + x for q, x in zip(queues, move, strict=True)]
    assert after[0] < beta * after[1]


def test_a_space_that_a_type_does_not_fit_is_refused() -> None:
    for sizes in ([[1], [1], [2]], [[2]]):
        with pytest.raises(InputError, match="every type fits"):
            least_move(pooled([(1, [1]), (1, [2])], sizes).pools[0].space, Fraction(1, 2))


@pytest.mark.parametrize("long", [10, 10**6])
def test_no_constant_where_a_type_does_not_fit(long: int) -> None:
    """The third type fits the other server alone; however long its queue, a move of 2 makes the first too light."""
    instance = pooled([(1, [1]), (1, [2])], [[1], [1], [2]], workload=[1, 1, 1])
    system = Algorithm1(instance, 2, Fraction(1, 2))
    state = system.start([0, 0, long])
    for j in (0, 2, 1):  # the third type's arrival makes the other server begin
        state = list(system.steps(state))[j][1]
    assert state.configuration.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert state.waiting.tolist() == [0, 1, long]
    assert system.serving(state).tolist() == [False, True]
    state = list(system.steps(state))[3][1]  # the job of type 1 ends: stalled, empty, renewed at once
    assert state.configuration.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert state.waiting.tolist() == [0, 0, long]


def test_bad_beta() -> None:
    with pytest.raises(InputError, match="ratio 1/2"):
        least_move(additive([1], [[1]]).pools[0].space, Fraction(3, 4), Fraction(1, 2))
