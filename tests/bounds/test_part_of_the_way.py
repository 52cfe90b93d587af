"""Algorithm I with parts of the way: the multiplier by plain rounds, and the library's fall back to smaller parts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bounds.adversary.sharing import exact_rounds
from bounds.results.instances.families import overshooting_family
from bounds.results.packproof.part_of_the_way import allocation, excess, settles, three_servers
from theory.sharing import per_server
from theory.sharing.checks import is_ps_dsf
from theory.sharing.model import cluster
from theory.sharing.per_server import ps_dsf


@pytest.mark.parametrize("m", [3, 5, 12])
def test_the_allocation_is_fair_and_the_only_one_that_is_found(m: int) -> None:
    assert is_ps_dsf(overshooting_family(m), allocation(m))
    assert ps_dsf(overshooting_family(m)).tasks == allocation(m)


def test_the_largest_part_is_where_the_formula_says() -> None:
    """For m = 4, l = 217/108 and 2/(1 + sqrt(l)) = 0.8273."""
    assert excess(4) == Fraction(217, 108)
    assert settles(overshooting_family(4), 0.82, 3_000)
    assert not settles(overshooting_family(4), 0.84, 3_000)


def test_plain_rounds_do_not_come_back_to_the_allocation() -> None:
    history = exact_rounds(overshooting_family(5), 40)
    assert len(history) == 41
    assert allocation(5) not in history


def test_smaller_parts_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """On this cluster 3/4 of the way cycles, and no allocation is found on the way."""
    hard = cluster([[1, 1, 1], [1, 1, 2], [2, 1, 2]], [[0, 2, 11], [1, 24, 0], [16, 0, 1]])
    allocation = ps_dsf(hard)
    assert allocation.exact
    assert allocation.damped
    assert is_ps_dsf(hard, allocation.tasks)
    for ways, exact in (((1.0, 0.75), False), ((1.0, 0.125), True)):
        monkeypatch.setattr(per_server, "WAYS", ways)
        assert ps_dsf(hard).exact == exact


def test_seventeen_twentieths_is_too_much_on_three_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settles(three_servers(), 0.75, 500)
    assert not settles(three_servers(), 0.85, 2_000)
    monkeypatch.setattr(per_server, "WAYS", (1.0, 0.85, 0.5))
    assert ps_dsf(three_servers()).exact
