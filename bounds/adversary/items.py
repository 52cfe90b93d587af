"""Rules that put a list of items into bins, judged by the fewest bins that hold them.

An instance carries a packing, so that the optimum is at most its number of bins and every ratio is certified by it. The
search changes sizes within the bins of that packing, and the order in which the rule sees the items.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bounds.adversary.answers import answer_of, most_of, shown
from bounds.adversary.engine import Found, Judged, Space, in_order, on_grid, with_entry
from theory.errors import InputError
from theory.greedy.counted import Bins
from theory.greedy.servers import fewest_bins
from theory.instance import additive
from theory.numbers import many, texts

Vector = tuple[int, ...]
ItemRule = Callable[[Sequence[Vector], Vector], Sequence[int]]
"""From the items and the capacity of a bin, one whole number a resource, to the bin of each item."""

WORST_KNOWN: dict[str, Callable[[int], int]] = {
    "next-fit": lambda n: 2 * n - 1,
    "first-fit": lambda n: 17 * n // 10,
    "best-fit": lambda n: 17 * n // 10,
    "first-fit-decreasing": lambda n: (11 * n + 6) // 9,
}
"""Most bins that the classical rules take for any list of one resource that needs n bins, by theorems.

Next-Fit: two consecutive bins hold more than one bin, and n - 1 halves, ones and a rest attain it. First-Fit and
Best-Fit: Dósa and Sgall, "First Fit bin packing: a tight analysis" (2013), "Optimal analysis of Best Fit bin packing"
(2014). First-Fit Decreasing: Dósa, "The tight bound of First Fit Decreasing" (2007).
"""

NODES = 200_000  # places that the exact search for fewer bins tries before it gives up
GLANCE = 256  # places between two looks at the clock


@dataclass(frozen=True)
class Items:
    """Items in the order in which a rule sees them, and a packing: the bin of each, from 0 without gaps."""

    sizes: tuple[Vector, ...]
    capacity: Vector
    packing: tuple[int, ...]

    def __str__(self) -> str:
        """Return the items on one line, as messages show them."""
        return f"items {', '.join(map(texts, self.sizes))}; capacity {texts(self.capacity)}"

    @property
    def bins(self) -> int:
        """Bins of the packing."""
        return max(self.packing, default=-1) + 1


def contents(sizes: Sequence[Vector], packing: Sequence[int]) -> dict[int, list[int]]:
    """Return what each bin holds, by resource."""
    amounts: dict[int, list[int]] = {}
    for size, place in zip(sizes, packing, strict=True):
        in_bin = amounts.setdefault(place, [0] * len(size))
        for r, amount in enumerate(size):
            in_bin[r] += amount
    return amounts


def numbered(packing: Sequence[int]) -> tuple[int, ...]:
    """Return a packing with the bins numbered from 0, in the order of their first item."""
    order = {place: number for number, place in enumerate(dict.fromkeys(packing))}
    return tuple(order[place] for place in packing)


def packed_by(rule: ItemRule, items: Items, name: str = "the rule") -> tuple[int, ...]:
    """Return the bins that a rule chooses, numbered from 0 in the order of their first item."""
    most = len(items.sizes)
    places = answer_of(lambda: most_of(rule(items.sizes, items.capacity), most), name, str(items))
    if len(places) != most or any(not isinstance(place, int | np.integer) for place in places):
        answer = "more" if len(places) > most else shown(places)
        raise InputError(
            name, f"expected one whole number, its bin, for each of {many(most, 'item')}, got {answer} ({items})"
        )
    packing = numbered(list(map(int, places)))
    for place, amounts in contents(items.sizes, packing).items():
        if any(amount > limit for amount, limit in zip(amounts, items.capacity, strict=True)):
            raise InputError(
                name,
                f"bin {place + 1}, in the order in which the rule opens them, holds {texts(amounts)} and has"
                f" room for {texts(items.capacity)} ({items})",
            )
    return packing


def bounds_of(items: Items) -> Bins:
    """Return bounds of the fewest bins, as `packproof throughput` has them of the same list."""
    kinds = Counter(items.sizes)
    used = [r for r, limit in enumerate(items.capacity) if limit]
    rows = [[size[r] for r in used] for size in kinds]
    return fewest_bins(additive([items.capacity[r] for r in used], rows), list(kinds.values()))


def fewest_packing(items: Items, until: float = float("inf")) -> tuple[tuple[int, ...], bool]:
    """Return the bins of a packing with the fewest bins known, and whether no packing has fewer.

    The packing that the items carry is an upper bound, the sums of sizes are a lower one. Between them a search puts
    the largest item first into each bin where it fits, and into at most one empty bin, and gives up after `NODES`
    places, or at the time `until` of `time.time`. Where it gives up before that time, `bounds_of` may decide.
    """

    def largest_share(i: int) -> float:
        return max(s / c for s, c in zip(items.sizes[i], items.capacity, strict=True) if c)

    order = sorted(range(len(items.sizes)), key=lambda i: -largest_share(i))
    sizes = [items.sizes[i] for i in order]
    packing, nodes, least = items.packing, NODES, _sum_of_sizes(items)
    while (best := max(packing, default=-1) + 1) > least:
        places, nodes = _fits(sizes, items.capacity, best - 1, nodes, until)
        if places is None and time.time() < until:
            return _bounded(items, packing)
        if not places:
            return numbered(packing), places is not None
        by_item = dict(zip(order, places, strict=True))
        packing = tuple(by_item[i] for i in range(len(order)))
    return numbered(packing), True


def _sum_of_sizes(items: Items) -> int:
    """Return a lower bound of the bins: in every resource they must hold the sum of the sizes."""
    sums = [sum(size[r] for size in items.sizes) for r in range(len(items.capacity))]
    return max((-(-amount // limit) for amount, limit in zip(sums, items.capacity, strict=True) if limit), default=0)


def _bounded(items: Items, packing: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Return the better of a packing and that of `bounds_of`, and whether the bound from below proves it."""
    bounds = bounds_of(items)
    if bounds.upper <= max(packing):
        waiting: dict[Vector, list[int]] = {size: [] for size in items.sizes}
        for i, size in enumerate(items.sizes):
            waiting[size].append(i)
        bins = [k for k, number in bounds.columns for _ in range(number)]
        places = [0] * len(items.sizes)
        for place, slots in enumerate(bins):
            for size, number in zip(waiting, slots, strict=True):
                for _ in range(number):
                    places[waiting[size].pop()] = place
        packing = places
    return numbered(packing), max(packing) + 1 == bounds.lower


def _fits(
    sizes: Sequence[Vector], capacity: Vector, bins: int, nodes: int, until: float
) -> tuple[list[int] | None, int]:
    """Return a number of bins that hold items, as the bin of each; none if there is no way, None beyond the limits."""
    free: list[Vector] = []
    places = [0] * len(sizes)

    def put(i: int) -> bool | None:
        """Place the items from the i-th on; None where the nodes are used up."""
        nonlocal nodes
        if i == len(sizes):
            return True
        tried = set()
        for place, before in enumerate(free):
            after = tuple(c - s for c, s in zip(before, sizes[i], strict=True))
            if before in tried or min(after) < 0:
                continue
            tried.add(before)
            nodes -= 1
            if nodes < 0 or (nodes % GLANCE == 0 and time.time() > until):
                return None
            free[place], places[i] = after, place
            fits = put(i + 1)
            free[place] = before
            if fits is not False:
                return fits
        if len(free) == bins:
            return False
        places[i] = len(free)
        free.append(tuple(c - s for c, s in zip(capacity, sizes[i], strict=True)))
        fits = put(i + 1)  # empty bins are alike: one of them is tried
        free.pop()
        return fits

    fits = put(0)
    return None if fits is None else places if fits else [], nodes


def worst_known(items: Items, judged: Judged) -> dict[str, int]:
    """Return the most bins of each classical rule for lists that need as many as this; none where that is not known."""
    used = max((judged.evidence or {}).get("bins", ()), default=-1) + 1
    if not judged.exact or len(items.capacity) > 1 or not used:
        return {}
    return {name: most(int(judged.value * used)) for name, most in WORST_KNOWN.items()}


def judge_items(
    rule: ItemRule, name: str = "the rule", optimum: int = 0, until: float = float("inf")
) -> Callable[[Items], Judged]:
    """Return the judge of a rule: the optimum over the bins that it uses, exact where `fewest_packing` decides it.

    Parameters
    ----------
    rule, name
    optimum : int
        Lists whose optimum is less than this count as 1, as if the rule did well. So what a rule keeps on long lists
        is not hidden by what it does with a few items.
    until : float
        Time, of `time.time`, from which on the optimum is left undecided.

    Notes
    -----
    The evidence has the ``bins`` of the rule, and the best ``packing`` known.
    """

    def judge(items: Items) -> Judged:
        used = packed_by(rule, items, name)
        # the rule has a packing as well, which may have fewer bins than the one that the items carry
        carried = min(items.packing, used, key=lambda packing: max(packing, default=-1))
        packing, exact = fewest_packing(replace(items, packing=carried), until)
        fewest = max(packing, default=-1) + 1
        if not used or fewest < optimum:
            return Judged(Fraction(1), True, {"bins": used})
        return Judged(Fraction(fewest, max(used) + 1), exact, {"bins": used, "packing": packing})

    return judge


def with_best_packing(worst: Found[Items]) -> Found[Items]:
    """Let an instance carry the best packing that its judge knows, in place of the evidence.

    An optimum for which the judge had no time is bounded once more, as `packproof throughput` bounds it.
    """
    judged, evidence = worst.judged, dict(worst.judged.evidence or {})
    packing = evidence.pop("packing", worst.case.packing)
    if not judged.exact and "bins" in evidence:
        packing, exact = _bounded(worst.case, packing)
        judged = replace(judged, value=Fraction(max(packing) + 1, max(evidence["bins"]) + 1), exact=exact)
    return replace(worst, case=replace(worst.case, packing=packing), judged=replace(judged, evidence=evidence))


def estimate_items(rule: ItemRule, name: str = "the rule", optimum: int = 0) -> Callable[[Items], Fraction]:
    """Return a value for the climb: the bins of the packing over those that the rule uses (see `judge_items`)."""

    def value(items: Items) -> Fraction:
        if not items.sizes or items.bins < optimum:
            return Fraction(1)
        used = packed_by(rule, items, name)
        slack = sum(  # of equal ratios, prefer the packing with less idle capacity: it is nearer to the next bin
            limit * items.bins - sum(size[r] for size in items.sizes) for r, limit in enumerate(items.capacity)
        )
        return Fraction(items.bins, max(used) + 1) + Fraction(slack, 10**9 * sum(items.capacity) * items.bins)

    return value


class ItemSpace(Space[Items]):
    """Items that fill a given number of bins.

    Parameters
    ----------
    bins : int
        Of the packing that is planted.
    most : int
        Items at most.
    resources : int
    grid : int
        Capacity of a bin in each resource; sizes are whole numbers.
    """

    def __init__(self, bins: int = 3, most: int = 12, resources: int = 1, grid: int = 120) -> None:
        self.bins, self.most, self.resources, self.grid = bins, most, resources, grid

    def corners(self) -> Iterator[Items]:
        """Yield bins of items a little above 1/2, 1/3 and the rest, or above 1/(k + 1), small and large items first."""
        c, gap = self.grid, max(1, self.grid // 60)
        yield from self._classical()
        patterns = [[c // 2 + gap, c // 3 + gap, c - c // 2 - c // 3 - 2 * gap]]
        patterns += [[c // (k + 1) + 1] * k + [c - k * (c // (k + 1) + 1)] for k in (1, 2, 3)]
        for pattern in patterns:
            if len(pattern) * self.bins <= self.most and min(pattern) > 0:
                sizes = [(size,) * self.resources for _ in range(self.bins) for size in pattern]
                packing = [b for b in range(self.bins) for _ in pattern]
                for sign in (1, -1):
                    order = np.argsort([sign * size[0] for size in sizes], kind="stable").tolist()
                    yield self._made([sizes[i] for i in order], [packing[i] for i in order])

    def _classical(self) -> Iterator[Items]:
        """Yield the lists on which the classical rules are known to be bad, as far as there is room for them.

        A list has `many` bins of one pattern, the others of a second one. First-Fit and Best-Fit on increasing sizes:
        Johnson, Demers, Ullman, Garey and Graham (1974), 17 bins for 10. First-Fit Decreasing: Johnson (1973), 11 bins
        for 9. Next-Fit: halves that are parted by ones, and then what is left of the bin of the ones.
        """
        n, q = self.bins, self.grid // 4
        most = min(n, self.most - 3 * n)  # a bin has three items or four
        if self.grid >= 101:
            for many in sorted({max(0, most), max(0, min(most, 7 * n // 10))}):
                yield from self._listed(101, [(6, 10, 34, 51)] * many + [(16, 34, 51)] * (n - many))
        for many in {2 * n // 3, -(-2 * n // 3)} if q > 3 else ():
            small = q - 2
            bins = [(2 * q + 1, q + 1, small)] * many + [(q + 2, q + 2, small, small)] * (n - many)
            yield from self._listed(4 * q, bins, sign=-1)
        ones, half = 2 * (n - 1), self.grid // 2
        if n > 1 and half > ones and 2 * ones < self.most:
            sizes = [*[half, 1] * ones, 2 * half - ones]
            packing = [place for i in range(ones) for place in (i // 2, n - 1)] + [n - 1]
            yield Items(
                tuple((size,) * self.resources for size in sizes), (2 * half,) * self.resources, numbered(packing)
            )

    def _listed(self, capacity: int, bins: Sequence[Vector], sign: int = 1) -> Iterator[Items]:
        """Yield the items of some bins in the order of their sizes, increasing or decreasing, if there is room."""
        order = sorted(((size, b) for b, sizes in enumerate(bins) for size in sizes), key=lambda item: sign * item[0])
        if 0 < len(order) <= self.most:
            sizes = [(size,) * self.resources for size, _ in order]
            yield self._made(sizes, [b for _, b in order], (capacity,) * self.resources)

    def draw(self, rng: np.random.Generator) -> Items:
        """Cut each bin into items at random places, and shuffle them."""
        sizes: list[Vector] = []
        packing: list[int] = []
        each = max(1, self.most // self.bins)
        for b in range(self.bins):
            number = int(rng.integers(1, each + 1))
            columns = []
            for _ in range(self.resources):
                full = self.grid - int(rng.integers(0, 3)) * int(rng.integers(0, self.grid // 8 + 1))
                cuts = np.sort(rng.integers(0, full + 1, number - 1))
                columns.append(np.diff(np.concatenate([[0], cuts, [full]])))
            sizes += [tuple(int(column[i]) for column in columns) for i in range(number)]
            packing += [b] * number
        order = rng.permutation(len(sizes))
        return self._made([sizes[i] for i in order], [packing[i] for i in order])

    def _made(self, sizes: Sequence[Vector], packing: Sequence[int], capacity: Vector | None = None) -> Items:
        """Return items without those of size 0, with the bins numbered anew."""
        positive = [(size, place) for size, place in zip(sizes, packing, strict=True) if any(size)]
        room = (self.grid,) * self.resources if capacity is None else capacity
        return Items(tuple(size for size, _ in positive), room, numbered([place for _, place in positive]))

    def move(self, case: Items, rng: np.random.Generator) -> Items:
        """Move size between items of a bin, or the free capacity of a bin; change the order; exchange, cut or join."""
        n = len(case.sizes)
        what = int(rng.integers(0, 9))
        if n == 0:
            return self.draw(rng)
        if what < 4:
            return self._resized(case, rng)
        if what == 4:
            i, j = (int(x) for x in rng.integers(0, n, 2))
            order = list(range(n))
            order[i], order[j] = order[j], order[i]
            return self._ordered(case, order)
        if what == 5:
            order = list(range(n))
            order.insert(int(rng.integers(0, n)), order.pop(int(rng.integers(0, n))))
            return self._ordered(case, order)
        if what == 6:
            return self._like_another_bin(case, rng)
        if what == 7:
            by_size = sorted(range(n), key=lambda i: case.sizes[i], reverse=bool(rng.integers(2)))
            return self._ordered(case, by_size)
        return self._cut_or_joined(case, rng)

    def _ordered(self, case: Items, order: Sequence[int]) -> Items:
        return self._made([case.sizes[i] for i in order], [case.packing[i] for i in order], case.capacity)

    def _resized(self, case: Items, rng: np.random.Generator) -> Items:
        """Give size to an item from another one of its bin, or from the free capacity, or take some away."""
        sizes = [list(size) for size in case.sizes]
        i, r = int(rng.integers(len(sizes))), int(rng.integers(self.resources))
        mates = [j for j in range(len(sizes)) if case.packing[j] == case.packing[i]]
        free = case.capacity[r] - sum(sizes[j][r] for j in mates)
        step = int(rng.choice([1, 1, 1, 2, 5, max(1, self.grid // 12)]))
        j = int(rng.choice(mates))
        if j != i and rng.random() < 0.7:
            step = min(step, sizes[j][r])
            sizes[j][r] -= step
            sizes[i][r] += step
        elif rng.random() < 0.5:
            sizes[i][r] += min(step, free)
        else:
            sizes[i][r] -= min(step, sizes[i][r])
        return self._made([tuple(size) for size in sizes], case.packing, case.capacity)

    def _like_another_bin(self, case: Items, rng: np.random.Generator) -> Items:
        """Fill a bin with the items of another one."""
        i, j = (int(x) for x in rng.integers(0, case.bins, 2))
        kept = [(size, place) for size, place in zip(case.sizes, case.packing, strict=True) if place != i]
        if i == j or len(kept) + case.packing.count(j) > self.most:
            return case
        sizes, packing = [], []
        for size, place in zip(case.sizes, case.packing, strict=True):
            if place != i:
                sizes.append(size)
                packing.append(place)
            if place == j:
                sizes.append(size)
                packing.append(i)
        return self._made(sizes, packing, case.capacity)

    def _cut_or_joined(self, case: Items, rng: np.random.Generator) -> Items:
        """Cut an item in two, or join two of a bin."""
        sizes, packing = list(case.sizes), list(case.packing)
        i = int(rng.integers(len(sizes)))
        mates = [j for j in range(len(sizes)) if j != i and packing[j] == packing[i]]
        if len(sizes) < self.most and (not mates or rng.random() < 0.5):
            part = tuple(int(rng.integers(0, amount + 1)) for amount in sizes[i])
            sizes[i] = tuple(a - b for a, b in zip(sizes[i], part, strict=True))
            at = int(rng.integers(0, len(sizes) + 1))
            sizes.insert(at, part)
            packing.insert(at, packing[i])
        elif mates:
            j = int(rng.choice(mates))
            sizes[j] = tuple(a + b for a, b in zip(sizes[i], sizes[j], strict=True))
            del sizes[i], packing[i]
        return self._made(sizes, packing, case.capacity)

    def shrinks(self, case: Items) -> Iterator[Items]:
        """Drop a bin, an item; take a coarser grid; take 1 off a size. No item gets size 0: drawn ones have none."""
        return (simpler for simpler in self._smaller(case) if all(map(any, simpler.sizes)))

    def _smaller(self, case: Items) -> Iterator[Items]:
        for b in range(case.bins):
            yield self._without(case, [i for i, place in enumerate(case.packing) if place == b])
        for i in range(len(case.sizes)):
            yield self._without(case, [i])
        for grid in range(2, case.capacity[0]):
            # sizes are rounded down, so that the packing still holds them
            yield Items(on_grid(case.sizes, case.capacity, grid), (grid,) * len(case.capacity), case.packing)
        for i, size in enumerate(case.sizes):
            for r in range(len(size)):
                if size[r] > 0:
                    less = with_entry(size, r, size[r] - 1)
                    yield replace(case, sizes=with_entry(case.sizes, i, less))

    @staticmethod
    def _without(case: Items, gone: Sequence[int]) -> Items:
        stay = [i for i in range(len(case.sizes)) if i not in gone]
        return Items(in_order(case.sizes, stay), case.capacity, numbered(in_order(case.packing, stay)))
