"""BF-J/S with service of more than one slot: what servers hold, and the queue of large jobs, by other ways."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import sqrt

import numpy as np
import pytest

from bounds.results.packproof.best_fit import SIZES, WEIGHTS, drift
from bounds.results.packproof.longer_service import (
    beyond,
    contents,
    costs,
    filled,
    growth_at_least,
    most_in_service,
    threshold,
    weight,
)
from theory.numbers import total


def test_contents_by_their_jobs() -> None:
    """Multisets of at most five jobs whose sizes fit, in another way than by boxes."""
    fitting = {
        jobs
        for count in range(6)
        for jobs in combinations_with_replacement(range(4), count)
        if sum(SIZES[j] for j in jobs) <= 60
    }
    assert {tuple(jobs.count(j) for j in range(4)) for jobs in fitting} == set(contents())
    assert max(total(WEIGHTS[j] for j in jobs) for jobs in fitting) == Fraction(5, 4)
    assert max(total(WEIGHTS[j] for j in jobs) for jobs in fitting if jobs.count(1) >= 2) == Fraction(7, 6)


def test_an_empty_server_by_hand() -> None:
    assert filled((1, 1, 1, 9)) == (1, 1, 0, 0)
    assert filled((1, 0, 1, 9)) == (1, 0, 1, 1)
    assert filled((0, 2, 0, 9)) == (0, 2, 0, 2)
    assert filled((0, 0, 0, 9)) == (0, 0, 0, 4)
    assert weight((1, 0, 1, 1)) == Fraction(5, 4)


def test_costs_by_hand() -> None:
    """A job of 13 is kept, 47 are free: two jobs of 17 and one of 13 come, 1/6 over 1 and two jobs of 17."""
    assert costs() == (0, Fraction(1, 6) + Fraction(2, 4))
    assert most_in_service(3, 3, 4) == 3 + 1 + Fraction(1, 6)
    assert most_in_service(3, 1, 0) == 3 + Fraction(4, 3) + Fraction(1, 6)


def test_service_of_one_slot_is_the_theorem_before() -> None:
    """At mu = 1 the growth is that of the theorem for service of one slot."""
    assert threshold(Fraction(1)) == Fraction(9, 11)
    assert growth_at_least(Fraction(84, 100), Fraction(1), 70) == pytest.approx(drift(Fraction(84, 100), 70))


@pytest.mark.parametrize("servers", [1, 5, 40])
def test_the_bounds_of_the_surplus(servers: int) -> None:
    """The stationary law of W by iteration, and E (A_31 - A_17)^+ by Poisson's law, against the proof's bounds."""
    ends, jobs = 0.95, 0.95 * 0.95 * 2 / 3
    generator = np.random.default_rng(1)
    come = generator.poisson(jobs * servers, (2, 200_000))
    surplus = float(np.maximum(come[0] - come[1], 0).mean())
    assert 0.6 * sqrt(2 * jobs * servers) / 2 < surplus < sqrt(2 * jobs * servers) / 2
    steps = come[0] - generator.binomial(servers, ends**4, 200_000)
    path = np.concatenate([[0], np.cumsum(steps)])
    mean = float((path - np.minimum.accumulate(path)).mean())
    emptied = ends**4
    bound = (jobs + emptied * (1 - emptied)) / (2 * (emptied - jobs))
    assert mean < bound
    assert servers > 1 or mean > bound / 2


def test_the_policy_stays_below_the_bound_and_another_does_not() -> None:
    assert beyond("bf-js", Fraction(2, 3), 300, seed=9) == ""
    assert "hold" in beyond("bf-js", Fraction(-2, 3), 300, seed=9)
