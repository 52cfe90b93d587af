"""VQS-BF on many servers: the rate of growth, the rows and the contents by other ways than the claims'."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bounds.results.packproof.five_sixths import (
    THREE,
    TWO,
    RowTrap,
    growth,
    heaviest_rows,
    queue_of,
    refilled,
    strays,
    trap_decided,
)
from fluid.simulation.slotted.policies.vqs import reduced_configurations
from theory.numbers import total

TRAPS = (TWO, THREE)


@pytest.mark.slow
@pytest.mark.parametrize("trap", TRAPS)
def test_the_rate_is_that_of_a_server_with_the_mean_arrivals(trap: RowTrap) -> None:
    """One server that chooses anew in each slot, and gets exactly the mean number of jobs: queues are g t + O(1)."""
    for z in (Fraction(9, 10), Fraction(1)):
        g, _ = growth(trap.rows, [z * rho for rho in trap.workload])
        queue, slots = [Fraction(0)] * len(g), 3_000
        for _ in range(slots):
            queue = [q + z * rho for q, rho in zip(queue, trap.workload, strict=True)]
            row = max(trap.rows, key=lambda r: total(n * q for n, q in zip(r, queue, strict=True)))
            queue = [q - n for q, n in zip(queue, row, strict=True)]
        assert all(abs(q - slots * rate) < 10 for q, rate in zip(queue, g, strict=True))


@pytest.mark.parametrize("trap", TRAPS)
def test_no_mixture_of_rows_is_nearer(trap: RowTrap) -> None:
    workload = [Fraction(19, 20) * rho for rho in trap.workload]
    g, shares = growth(trap.rows, workload)
    assert sum(shares) == 1
    assert min(shares) > 0
    parts = 40
    for counts in product(range(parts + 1), repeat=len(trap.rows) - 1):
        if sum(counts) <= parts:
            mixture = [Fraction(n, parts) for n in (*counts, parts - sum(counts))]
            carried = [total(p * r[j] for p, r in zip(mixture, trap.rows, strict=True)) for j in range(len(g))]
            assert total((a - b) ** 2 for a, b in zip(workload, carried, strict=True)) >= total(a * a for a in g)


def test_growth_begins_at_the_bounds_by_hand() -> None:
    """(3, 2) of (z, 2 z) is 7 z, and 6 of each row; (3, 2, 1) of 4/5 z each is 24/5 z, and 4 of each row."""
    assert growth(TWO.rows, [Fraction(6, 7), Fraction(12, 7)])[0] == [0, 0]
    assert growth(TWO.rows, [1, 2])[0] == [Fraction(3, 13), Fraction(2, 13)]
    assert growth(THREE.rows, [Fraction(2, 3)] * 3)[0] == [0, 0, 0]


@pytest.mark.parametrize("trap", TRAPS)
def test_the_policys_table_has_the_same_heaviest_rows(trap: RowTrap) -> None:
    generator = np.random.default_rng(5)
    for J in (trap.least_J, trap.least_J + 3):
        table = reduced_configurations(J).tolist()
        places = [queue_of(trap, size, J) for size in trap.sizes]
        for _ in range(200):
            queue = np.zeros(2 * J)
            queue[places] = generator.integers(1, 50, len(places))
            one, other, number = max(table, key=lambda row: row[0] * queue[1] + row[2] * queue[row[1]])
            row = tuple((one if place == 1 else 0) + (number if place == other else 0) for place in places)
            assert row in trap.rows
        assert heaviest_rows(trap, J) == set(trap.rows)


def test_other_sizes_leave_room_for_another_job() -> None:
    smaller = replace(THREE, sizes=(60, 40, 20))
    assert refilled(smaller, (0, 2, 0), (0, 1, 0)) == (0, 2, 1)
    assert refilled(THREE, (0, 2, 0), (0, 1, 0)) == (0, 2, 0)
    assert not trap_decided(smaller)["the contents"]
    assert "starts" in strays(smaller, 1, {"partition": 3})
    wider = replace(TWO, capacity=125)
    assert refilled(wider, (2, 0), (0, 0)) == (2, 1)
