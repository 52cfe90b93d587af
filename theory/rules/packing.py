"""The classical rules for packing items into bins, on one resource and, by dot products, on several.

A rule takes the items in their order, and the capacity of a bin: a number, or a number for each resource. It returns
the bin of each item, from 0 in the order in which bins are opened. Numbers are taken exactly; sizes are compared in
parts of the capacity of their resource. Ties go to the first bin, or the first item.

Sources: Johnson (1974) for First-, Best-, Next- and Worst-Fit and the decreasing rules; Lee and Lee (1985) for
Harmonic; Panigrahy, Talwar, Uyeda and Wieder, "Heuristics for vector bin packing" (2011) for dot products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from theory.errors import InputError
from theory.numbers import rational, texts, to_integers

Vector = tuple[int, ...]
Number = int | float | str | Fraction
Items = Sequence[Number] | Sequence[Sequence[Number]]
Capacity = Number | Sequence[Number]

CLASSES = 12
"""Classes of Harmonic, unless told otherwise: it then needs at most 1.7 bins for one, about 1.69 with many classes."""


def first_fit(items: Items, capacity: Capacity) -> list[int]:
    """Put each item into the first bin that has room for it.

    Examples
    --------
    >>> first_fit([5, 7, 5, 3], 10), first_fit([(1, 8), (8, 1), (1, 1)], (9, 9))
    ([0, 1, 0, 1], [0, 0, 1])
    """
    return _one_by_one(*_in_units(items, capacity), lambda _, fitting: fitting[0][0])


def next_fit(items: Items, capacity: Capacity) -> list[int]:
    """Put each item into the bin that was opened last, and where it has no room into a new one.

    Examples
    --------
    >>> next_fit([5, 7, 5, 3], 10)
    [0, 1, 2, 2]
    """
    sizes, unit = _in_units(items, capacity)
    bins: list[int] = []
    free: Vector = ()
    for size in sizes:
        opened = not bins or not _fits(size, free)
        bins.append(bins[-1] + opened if bins else 0)
        free = _less((unit,) * len(size) if opened else free, size)
    return bins


def best_fit(items: Items, capacity: Capacity) -> list[int]:
    """Put each item into the bin with room for it that has least free; by the dot product of the item and what is free.

    Examples
    --------
    >>> best_fit([4, 7, 3, 6], 10), best_fit([(6, 1), (1, 6), (4, 1)], (10, 10))
    ([0, 1, 1, 0], [0, 0, 1])
    """
    return _one_by_one(
        *_in_units(items, capacity), lambda size, fitting: min(fitting, key=lambda one: _dot(size, one[1]))[0]
    )


def worst_fit(items: Items, capacity: Capacity) -> list[int]:
    """Put each item into the bin with room for it that has most free; by the dot product of the item and what is free.

    On several resources that is the alignment score of Tetris (Grandl et al. 2014).

    Examples
    --------
    >>> worst_fit([4, 7, 3, 6], 10)
    [0, 1, 0, 2]
    """
    return _one_by_one(
        *_in_units(items, capacity), lambda size, fitting: max(fitting, key=lambda one: _dot(size, one[1]))[0]
    )


def ffd(items: Items, capacity: Capacity) -> list[int]:
    """First-Fit Decreasing: open a bin and put in the largest item that fits, until none does.

    On several resources the item of the greatest dot product with what is free (the dot-product rule of Panigrahy et
    al.). On one resource that is First-Fit of the items by decreasing size.

    Examples
    --------
    >>> ffd([3, 4, 6, 7], 10), ffd([(4, 1), (1, 4), (4, 4), (1, 1)], (5, 5))
    ([0, 1, 1, 0], [1, 1, 0, 0])
    """
    sizes, unit = _in_units(items, capacity)
    bins, waiting, opened = [0] * len(sizes), list(range(len(sizes))), -1
    while waiting:
        opened += 1
        free: Vector = (unit,) * len(sizes[0])
        while fitting := [i for i in waiting if _fits(sizes[i], free)]:
            chosen = max(fitting, key=lambda i: (_dot(sizes[i], free), -i))
            bins[chosen], free = opened, _less(free, sizes[chosen])
            waiting.remove(chosen)
    return bins


def bfd(items: Items, capacity: Capacity) -> list[int]:
    """Best-Fit Decreasing: Best-Fit of the items by decreasing size; by the dot product with the sum of all items.

    Examples
    --------
    >>> bfd([3, 4, 6, 7], 10)
    [0, 1, 1, 0]
    """
    sizes, unit = _in_units(items, capacity)
    sums = tuple(map(sum, zip(*sizes, strict=True)))
    order = sorted(range(len(sizes)), key=lambda i: -_dot(sizes[i], sums))
    placed = best_fit([sizes[i] for i in order], (unit,) * len(sums)) if sizes else []
    bins = [0] * len(sizes)
    for i, chosen in zip(order, placed, strict=True):
        bins[i] = chosen
    return bins


def harmonic(items: Items, capacity: Capacity, classes: int = CLASSES) -> list[int]:
    """Pack items of more than 1/(k + 1) and at most 1/k of a bin by themselves, k to a bin; the smallest by Next-Fit.

    Of one resource alone: no rule of this kind compares items of several by dot products.

    Parameters
    ----------
    items, capacity
    classes : int
        At least 1; the last class has all items of at most 1/classes.

    Examples
    --------
    >>> harmonic([6, 4, 6, 4, 2, 4], 10)
    [0, 1, 2, 1, 3, 4]
    """
    sizes, unit = _in_units(items, capacity)
    if classes < 1:
        raise InputError("classes", f"expected at least 1, got {classes}")
    if sizes and len(sizes[0]) > 1:
        raise InputError("harmonic", f"expected items of one resource, got {len(sizes[0])}")
    bins: list[int] = []
    current: dict[int, tuple[int, int]] = {}  # of each class its last bin, and what is free there
    count = 0
    for (size,) in sizes:
        kind = min(classes, unit // size) if size else classes
        place, free = current.get(kind, (0, -1))
        # an item of the class k counts as 1/k of a bin, so that k of them fill it
        takes = size if kind == classes else unit // kind
        if free < takes:
            place, free, count = count, unit, count + 1
        bins.append(place)
        current[kind] = (place, free - takes)
    return bins


RULES: dict[str, Callable[..., list[int]]] = {
    "first-fit": first_fit,
    "best-fit": best_fit,
    "next-fit": next_fit,
    "worst-fit": worst_fit,
    "ffd": ffd,
    "bfd": bfd,
    "harmonic": harmonic,
}
"""The rules by the names of the command line."""

Fitting = list[tuple[int, Vector]]
"""Bins with room for an item, and what is free there."""


def _one_by_one(sizes: Sequence[Vector], unit: int, choose: Callable[[Vector, Fitting], int]) -> list[int]:
    """Put each item where `choose` says, of the bins that have room; into a new one where none has."""
    free: list[Vector] = []
    bins: list[int] = []
    for size in sizes:
        fitting = [(place, left) for place, left in enumerate(free) if _fits(size, left)]
        place = choose(size, fitting) if fitting else len(free)
        if not fitting:
            free.append((unit,) * len(size))
        free[place] = _less(free[place], size)
        bins.append(place)
    return bins


def _fits(size: Vector, free: Vector) -> bool:
    return all(amount <= left for amount, left in zip(size, free, strict=True))


def _less(free: Vector, size: Vector) -> Vector:
    return tuple(left - amount for left, amount in zip(free, size, strict=True))


def _dot(one: Vector, other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _in_units(items: Items, capacity: Capacity) -> tuple[list[Vector], int]:
    """Return the items in whole units, of which a bin has one number in every resource.

    Raises
    ------
    InputError
        An item that is no size of these resources, is below 0, or does not fit a bin.
    """
    limits = tuple(_read("capacity", _row(capacity)))
    if not limits or min(limits) <= 0:
        raise InputError("capacity", f"expected a positive number for each resource, got {texts(limits) or 'none'}")
    rows = [tuple(_read(f"items[{i}]", _row(item))) for i, item in enumerate(items)]
    for i, row in enumerate(rows):
        if len(row) != len(limits):
            raise InputError(f"items[{i}]", f"expected a size for each of {len(limits)} resources, got {len(row)}")
        if any(not 0 <= size <= limit for size, limit in zip(row, limits, strict=True)):
            raise InputError(f"items[{i}]", f"expected sizes from 0 to the capacity {texts(limits)}, got {texts(row)}")
    columns = [to_integers(column)[0] for column in zip(limits, *rows, strict=True)]
    unit = lcm(*(column[0] for column in columns))
    scaled = [[amount * (unit // column[0]) for amount in column[1:]] for column in columns]
    return [tuple(row) for row in zip(*scaled, strict=True)], unit


def _row(given: Any) -> Sequence[Any]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)


def _read(place: str, row: Sequence[Any]) -> Iterator[Fraction]:
    for value in row:
        try:
            yield rational(int(value) if _is_whole(value) else value)
        except ValueError as error:
            raise InputError(place, f"expected an exact number, got {value!r:.40} ({error})") from error


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, perhaps of numpy's."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
