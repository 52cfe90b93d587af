"""First-Fit Decreasing and BF-J/S: by bins instead of by jobs, by hand, and by the literal transcription."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest

from bounds.results.packproof.best_fit_exact import (
    LAWS,
    attained,
    broken_steps,
    first_fit_decreasing,
    laws,
    left_over,
    strays,
)
from tests.reference.throughput_best_fit import BestFitForBoth
from theory.region.membership import CapacityProgram


@pytest.mark.parametrize(("capacity", "sizes"), LAWS)
def test_bin_by_bin_is_the_same(capacity: int, sizes: tuple[int, ...]) -> None:
    """One bin after another, each filled by the largest job that fits, until no job is left."""
    for counts in product(range(4), repeat=len(sizes)):
        rest, bins = list(counts), []
        while any(rest):
            content, room = [0] * len(sizes), capacity
            for j, size in enumerate(sizes):
                content[j] = min(rest[j], room // size)
                room -= content[j] * size
            rest = [n - k for n, k in zip(rest, content, strict=True)]
            bins.append(tuple(content))
        assert first_fit_decreasing(capacity, sizes, counts) == bins


def test_by_hand() -> None:
    """Ten units: 6 and 4, 5 and 5, and a job of 4 is left for a third bin."""
    assert left_over(10, (6, 5, 4), (1, 2, 2), 2) == (0, 0, 1)
    assert left_over(10, (6, 5, 4), (1, 2, 2), 3) == (0, 0, 0)


def test_the_transcription_starts_the_same_jobs() -> None:
    """BF-J/S word by word on one server after a slot in which jobs waited."""
    capacity, sizes = LAWS[1]
    generator = np.random.default_rng(2)
    for _ in range(40):
        first, second = (generator.integers(0, 4, len(sizes)).tolist() for _ in range(2))
        first[0] += 3  # three jobs of 11 on 20: two of them wait at least
        coming = [
            (slot, j, 1) for slot, counts in enumerate((first, second)) for j, n in enumerate(counts) for _ in range(n)
        ]
        starts = BestFitForBoth(1, [Fraction(size, capacity) for size in sizes]).run(coming, 2)
        begun = [[kind for at, kind, _ in starts if at == slot] for slot in range(2)]
        waiting = [n - begun[0].count(j) + m for j, (n, m) in enumerate(zip(first, second, strict=True))]
        assert tuple(begun[1].count(j) for j in range(len(sizes))) == first_fit_decreasing(capacity, sizes, waiting)[0]


def test_a_slot_before_which_none_waits_goes_by_arrival() -> None:
    """On one empty server of 10 a job of 5 comes before one of 6: the 6 waits, which is alone of the two in a bin."""
    starts = BestFitForBoth(1, [Fraction(6, 10), Fraction(5, 10)]).run([(0, 1, 1), (0, 0, 1)], 1)
    assert starts == [(0, 1, 0)]
    assert first_fit_decreasing(10, (6, 5), (1, 1))[0] == (1, 0)


def test_wrong_steps_are_noticed() -> None:
    assert broken_steps(2, 1) == ""
    assert broken_steps(2, 2)
    assert attained(2)
    assert strays("bf-js", 50) == ""
    assert strays("bf-j", 50).startswith("start")
    assert strays("fifo-ff", 50)


def test_new_work_needs_at_most_its_intensity_and_a_bin_a_type() -> None:
    """OPT <= z L + J: the contents of a basic solution, rounded up to whole bins, hold the mean number of jobs."""
    servers = 30
    for instance in laws(6, Fraction(4, 5)):
        answer = CapacityProgram(instance).intensity()
        assert answer.value == Fraction(4, 5)
        bins = [(content, ceil(servers * amount)) for _, content, amount in answer.columns]
        assert len(bins) <= len(instance.types)
        assert sum(number for _, number in bins) <= Fraction(4, 5) * servers + len(instance.types)
        for j, rho in enumerate(instance.workload):
            assert sum(content[j] * number for content, number in bins) >= servers * rho
