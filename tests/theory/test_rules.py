"""Rules that pack items: their definitions written anew, their worst lists, several resources, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

import packproof
from theory.errors import InputError
from theory.rules import RULES

ANY_FIT = ("first-fit", "best-fit", "worst-fit", "ffd")
DRAWS = range(60)


def drawn(seed: int, resources: int) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    rng = random.Random(seed)
    capacity = tuple(rng.randint(5, 20) for _ in range(resources))
    return [tuple(rng.randint(0, c) for c in capacity) for _ in range(rng.randint(0, 14))], capacity


def loads(items: Sequence[tuple[int, ...]], bins: Sequence[int], resources: int) -> list[list[int]]:
    found = [[0] * resources for _ in range(max(bins, default=-1) + 1)]
    for item, place in zip(items, bins, strict=True):
        found[place] = [have + more for have, more in zip(found[place], item, strict=True)]
    return found


@pytest.mark.parametrize("resources", [1, 2, 3])
@pytest.mark.parametrize("name", RULES)
def test_packings_fit_and_leave_no_bin_out(name: str, resources: int) -> None:
    for seed in DRAWS:
        items, capacity = drawn(seed, resources)
        if name == "harmonic" and resources > 1 and items:
            continue
        bins = RULES[name](items, capacity)
        assert len(bins) == len(items)
        assert set(bins) == set(range(max(bins, default=-1) + 1))
        assert all(
            have <= most for row in loads(items, bins, resources) for have, most in zip(row, capacity, strict=True)
        )


@pytest.mark.parametrize("resources", [1, 2, 3])
@pytest.mark.parametrize("name", ANY_FIT)
def test_no_bin_is_opened_without_need(name: str, resources: int) -> None:
    """The first item of a bin had no room in any earlier one; of the decreasing rule no item of a later bin has."""
    for seed in DRAWS:
        items, capacity = drawn(seed, resources)
        bins = RULES[name](items, capacity)
        if name == "ffd":
            for later, place in enumerate(bins):
                for other in range(place):
                    row = loads(items, bins, resources)[other]
                    room = all(h + s <= c for h, s, c in zip(row, items[later], capacity, strict=True))
                    assert not room or not any(items[later])
            continue
        for i, place in enumerate(bins):
            if place not in bins[:i]:
                before = loads(items[:i], bins[:i], resources)
                assert not any(
                    all(h + s <= c for h, s, c in zip(row, items[i], capacity, strict=True)) for row in before
                )


@pytest.mark.parametrize("seed", DRAWS)
def test_one_resource_by_the_definitions(seed: int) -> None:
    """Each rule written anew, with lists of what is free."""
    rows, (capacity,) = drawn(seed, 1)
    sizes = [size for (size,) in rows]

    def packed(order: Sequence[int], choose: str) -> list[int]:
        free: list[int] = []
        bins = [0] * len(sizes)
        for i in order:
            room = [b for b, left in enumerate(free) if left >= sizes[i]]
            if choose == "next":
                room = [b for b in room if b == len(free) - 1]
            if room and choose in ("best", "worst"):
                wanted = (min if choose == "best" else max)(free[b] for b in room)
                room = [b for b in room if free[b] == wanted]
            if sizes[i] == 0 and choose in ("best", "worst"):  # all dot products are 0: the first bin
                room = [b for b, left in enumerate(free) if left >= 0]
            free += [] if room else [capacity]
            bins[i] = room[0] if room else len(free) - 1
            free[bins[i]] -= sizes[i]
        return bins

    given = range(len(sizes))
    falling = sorted(given, key=lambda i: -sizes[i])
    assert packproof.rules.first_fit(sizes, capacity) == packed(given, "first")
    assert packproof.rules.next_fit(sizes, capacity) == packed(given, "next")
    assert packproof.rules.best_fit(sizes, capacity) == packed(given, "best")
    assert packproof.rules.worst_fit(sizes, capacity) == packed(given, "worst")
    assert packproof.rules.bfd(sizes, capacity) == packed(falling, "best")
    assert packproof.rules.ffd(sizes, capacity) == packed(falling, "first")


def test_bad_lists_of_the_books() -> None:
    """Sixths, thirds and halves, a little more of each, small first: 10 bins for 6. Johnson (1973): 11 for 9."""
    items = [size for size in (16, 34, 51) for _ in range(6)]
    assert max(packproof.rules.first_fit(items, 101)) + 1 == 10
    assert max(packproof.rules.best_fit(items, 101)) + 1 == 10
    assert max(packproof.rules.ffd(items, 101)) + 1 == 6
    e = Fraction(1, 100)
    listed = [Fraction(1, 2) + e] * 6 + [Fraction(1, 4) + 2 * e] * 6 + [Fraction(1, 4) + e] * 6
    listed += [Fraction(1, 4) - 2 * e] * 12
    assert max(packproof.rules.ffd(listed, 1)) + 1 == 11
    assert sum(listed) == 9


def test_harmonic_puts_each_class_by_itself() -> None:
    """Halves in pairs, thirds in threes, and what is at most a twelfth one after another."""
    items = [Fraction(1, 2), Fraction(1, 3)] * 6 + [Fraction(1, 13)] * 13
    bins = packproof.rules.harmonic(items, 1)
    of = [{bins[i] for i, size in enumerate(items) if size == one} for one in sorted(set(items))]
    assert [len(places) for places in of] == [1, 2, 3]
    assert packproof.rules.harmonic([6, 6, 6], 12, classes=1) == [0, 0, 1]


def test_dot_products_on_several_resources() -> None:
    """Bins are left with (1, 8) and (8, 1) of 10: a tall item is aligned with the first, and dear in the second."""
    items = [(7, 1), (1, 7), (7, 1), (1, 7)]
    assert packproof.rules.ffd(items, (8, 8)) == [0, 0, 1, 1]
    opened = [(9, 2), (2, 9)]
    assert packproof.rules.first_fit([*opened, (1, 1)], (10, 10)) == [0, 1, 0]
    for wide in (False, True):
        first, second = opened[::-1] if wide else opened
        assert packproof.rules.worst_fit([first, second, (1, 0)], (10, 10))[2] == (0 if wide else 1)
        assert packproof.rules.best_fit([first, second, (1, 0)], (10, 10))[2] == (1 if wide else 0)
    # sizes are parts of a capacity: in other units the same bins
    assert packproof.rules.worst_fit([(9, 20), (2, 90), (1, 0)], (10, 100)) == [0, 1, 1]


def test_numbers_of_any_kind() -> None:
    same = [[1, 2, 3], ["1", "2", "3"], [Fraction(1), 2, 3.0], np.array([1, 2, 3]).tolist(), list(np.array([1, 2, 3]))]
    assert {tuple(packproof.rules.best_fit(items, 4)) for items in same} == {(0, 0, 1)}
    assert packproof.rules.first_fit([0.1] * 10, 1) == [0] * 10  # as exact tenths
    assert packproof.rules.first_fit([], 3) == []


@pytest.mark.parametrize(
    ("items", "capacity", "said"),
    [
        ([5], 4, r"items\[0\]: expected sizes from 0 to the capacity 4, got 5"),
        ([1, -1], 4, r"items\[1\]: expected sizes from 0 to the capacity 4, got -1"),
        ([(1, 2)], 4, r"items\[0\]: expected a size for each of 1 resources, got 2"),
        (["x"], 4, r"items\[0\]: expected an exact number, got 'x'"),
        ([True], 4, r"items\[0\]: expected an exact number, got True"),
        ([1], 0, "capacity: expected a positive number for each resource, got 0"),
        ([], (), "capacity: expected a positive number for each resource, got none"),
    ],
)
def test_what_is_refused(items: list[object], capacity: object, said: str) -> None:
    for name in RULES:
        with pytest.raises(InputError, match=said):
            RULES[name](items, capacity)


def test_harmonic_packs_one_resource() -> None:
    with pytest.raises(InputError, match="harmonic: expected items of one resource, got 2"):
        packproof.rules.harmonic([(1, 2)], (4, 4))
    with pytest.raises(InputError, match="classes: expected at least 1, got 0"):
        packproof.rules.harmonic([1], 4, classes=0)
