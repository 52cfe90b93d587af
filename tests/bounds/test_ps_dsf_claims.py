"""The parts of the PS-DSF paper's claims that have a mathematics of their own."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import two_allocations
from bounds.results.instances.papers import table_4
from bounds.results.ps_dsf.characterisations import _exchanged, _is_bottleneck, satisfies_definition_5
from bounds.results.ps_dsf.motion import is_nearly_ps_dsf, one_by_one
from theory.numbers import total
from theory.sharing.checks import has_bottleneck, is_feasible_allocation, is_ps_dsf
from theory.sharing.model import cluster
from theory.sharing.per_server import ps_dsf


def _floats(tasks: tuple[tuple[Fraction, ...], ...]) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in tasks])


def test_nearly_ps_dsf_follows_the_exact_check() -> None:
    generator = random.Random(1)
    for _ in range(40):
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 3))
        tasks = _floats(ps_dsf(instance).tasks)
        here = np.ones(len(tasks), bool)
        assert is_nearly_ps_dsf(instance, tasks, here)
        assert not is_nearly_ps_dsf(instance, tasks * 0.99, here)  # nothing is saturated
        assert not is_nearly_ps_dsf(instance, tasks * 1.01, here)  # nothing fits
    instance, first, second = two_allocations()
    here = np.ones(len(first), bool)
    for part in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(11, 10)):
        mixed = tuple(
            tuple(part * x + (1 - part) * y for x, y in zip(*rows, strict=True))
            for rows in zip(first, second, strict=True)
        )
        assert is_nearly_ps_dsf(instance, _floats(mixed), here) == is_ps_dsf(instance, mixed)


def test_bottleneck_of_a_resource_is_one_of_definition_6() -> None:
    generator = random.Random(2)
    for _ in range(40):
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 3))
        tasks = ps_dsf(instance).tasks
        for n, row in enumerate(instance.monopoly):
            for i in (i for i, gamma in enumerate(row) if gamma):
                found = [r for r in range(len(instance.resources)) if _is_bottleneck(instance, tasks, n, i, r)]
                assert has_bottleneck(instance, tasks, n, i) == min(found)


def test_servers_one_by_one_are_the_same_cluster() -> None:
    whole = table_4()
    apart = one_by_one(whole, list(range(120)))
    assert len(apart.servers) == 120
    for column in range(2):
        assert total(row[column] for row in apart.capacity) == total(row[column] for row in whole.capacity)
    assert [total(row) for row in apart.monopoly] == [total(row) for row in whole.monopoly]


def test_an_exchange_of_time_keeps_servers_full() -> None:
    instance = cluster([[1], [1]], [["1/2"], ["1/3"]])
    tasks = ((Fraction(1), Fraction(0)), (Fraction(3, 2), Fraction(3)))  # half and half, and all of the second
    assert is_feasible_allocation(instance, tasks, division="time")
    assert _exchanged(instance, tasks, (0, 1), (0, 1)) == [0, 0]  # both have the same speed on both servers
    faster = cluster([[1], [2]], [["1/2"], ["1/3"]])
    assert _exchanged(faster, ((Fraction(1), Fraction(0)), (Fraction(3, 2), Fraction(6))), (0, 1), (0, 1)) == [
        Fraction(1),
        Fraction(-3, 2),
    ]


@pytest.mark.parametrize("share", ["1/3", "1/2"])
def test_definition_5_on_one_server(share: str) -> None:
    instance, x = cluster([[1]], [[1], [1]]), Fraction(share)
    assert satisfies_definition_5(instance, [[x], [1 - x]], "resource") == (x == Fraction(1, 2))
