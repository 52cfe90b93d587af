"""Short lists of items of several resources: packings by diving fit, and close what bounds of before left open."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest

from theory.greedy import servers
from theory.greedy.diving import dived
from theory.greedy.servers import fewest_bins
from theory.instance import additive

Item = tuple[int, ...]


def drawn(seed: int) -> tuple[list[Item], int]:
    rng = random.Random(seed)
    resources, number = rng.choice([2, 3, 4]), rng.randint(20, 60)
    low, high = rng.choice([(10, 50), (1, 70), (20, 45), (5, 30), (15, 60)])
    return [tuple(rng.randint(low, high) for _ in range(resources)) for _ in range(number)], resources


def optimum(items: list[Item], capacity: Item) -> int:
    """Return the fewest bins, by all sets of items that fit one."""
    full = (1 << len(items)) - 1

    def fits(chosen: int) -> bool:
        inside = [item for i, item in enumerate(items) if chosen >> i & 1]
        return all(sum(column) <= limit for column, limit in zip(zip(*inside, strict=True), capacity, strict=True))

    good = [chosen for chosen in range(1, full + 1) if fits(chosen)]

    @cache
    def least(left: int) -> int:
        first = left & -left
        return 1 + min(least(left & ~one) for one in good if one & first and one & left == one) if left else 0

    return least(full)


@pytest.mark.parametrize("seed", range(12))
def test_packings_fit_and_are_at_least_the_optimum(seed: int) -> None:
    rng = random.Random(seed)
    resources = rng.choice([2, 3])
    capacity = tuple(rng.randint(10, 15) for _ in range(resources))
    items = [tuple(rng.randint(1, 8) for _ in range(resources)) for _ in range(rng.randint(3, 7))]
    counts = Counter(items)
    sizes, numbers = [list(size) for size in counts], list(counts.values())
    bins = dived(capacity, sizes, numbers)
    assert [sum(k[j] * times for k, times in bins) for j in range(len(sizes))] == numbers
    for k, _ in bins:
        for r, limit in enumerate(capacity):
            assert sum(number * size[r] for number, size in zip(k, sizes, strict=True)) <= limit
    best = optimum(items, capacity)
    bounds = fewest_bins(additive(list(capacity), sizes), numbers)
    assert bounds.lower <= best <= bounds.upper <= sum(times for _, times in bins)


def bounds_of(seed: int) -> tuple[int, int]:
    items, resources = drawn(seed)
    counts = Counter(items)
    bounds = fewest_bins(additive([100] * resources, [list(size) for size in counts]), list(counts.values()))
    held = [sum(k[j] * times for k, times in bounds.columns) for j in range(len(counts))]
    assert held == list(counts.values())
    assert sum(times for _, times in bounds.columns) == bounds.upper
    return bounds.lower, bounds.upper


def test_a_list_of_fifty_items_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four resources: 17 bins are needed and enough, where rounding and the search among columns leave it open."""
    assert bounds_of(27) == (17, 17)
    monkeypatch.setattr(servers, "MOST_ITEMS", 0)
    lower, upper = bounds_of(27)
    assert lower == 17 < upper


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    # what diving decides (27, 31), what stays open (38, 39), and others that take little time; the rest in `make soak`
    [
        pytest.param(seed, marks=[] if seed >= 20 and seed not in {22, 24, 37} else pytest.mark.soak)
        for seed in range(40)
    ],
)
def test_lists_of_twenty_to_sixty_items(seed: int) -> None:
    """All but some of many small items are decided; those are within a bin of it."""
    lower, upper = bounds_of(seed)
    assert upper - lower <= (seed in {7, 8, 11, 16, 38, 39})
