"""Results of packproof on up to five job types and one resource: the least share that greedy keeps, exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import floor

import numpy as np

from bounds.adversary.by_size import LEAST_ON_ONE
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import additive_space
from bounds.results.instances.families import one_resource_family, one_resource_inserted
from theory.errors import InputError, expect_number
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.numbers import text, total

ONE = 10**15
"""Products, sums and rooms count in units of 1/ONE, rounded up."""

THIN = {4: 44, 5: 177}
"""A type of which more jobs fit a server costs less than what one type more adds (lemma on thin types)."""

NEAR = Fraction(177, 200)
"""For y between this and sqrt(7/8), two types beside n_3 = 7 lose little at any sizes."""

BY_HAND = {4: frozenset({(3,)}), 5: frozenset({(3, 6), (3, 7)})}
"""Numbers n of the types m - 1, m - 2, .. in whose cases the proof goes on in words."""

_FINEST = 400  # a range of shares shorter than 1/400 of a server is not halved again

CellBounds = Callable[[int, int], tuple[int, int, int]]


def _up(above: int, below: int) -> int:
    return -(-above // below)


class Cases:
    """The search of the proof: x_m (a_1 + .. + a_{m-1}) is at most `lost` where type m takes more than half.

    Parameters
    ----------
    types : int
        m, 4 or 5.
    lost : Fraction
    smaller : int
        Let a job of which n fit alone take more than 1/(smaller (n + 1)); 1 is the truth.

    Notes
    -----
    A node has types i, .., 1 left, `room` for them, and bounds of the product of 1 - b_j and of the sum of a_j over
    the types before. `met` are the cases left to the words.
    """

    def __init__(self, types: int, lost: Fraction, smaller: int = 1) -> None:
        self.types, self.lost, self.smaller = types, lost, smaller
        self.met: set[tuple[int, ...]] = set()
        self.nodes = 0

    def decided(self) -> bool:
        """Go through all cases; the types but m share less than one half."""
        return self._closed(self.types - 1, ONE // 2, ONE, 0, ())

    def _most_of(self, left: int, room: int) -> int:
        """Return a bound of the sum of a_j: at most n jobs fit alone, so that a_j <= 1/n < (1 + 1/n) v_j."""
        if not left:
            return 0
        n = max(3, ONE // room)
        return _up(ONE, n) if left == 1 else _up(self.smaller * room * (n + 1), n)

    def _is_small(self, left: int, room: int, product: int, shares: int) -> bool:
        """Decide that product (1 - s/left)^left (shares + s) is at most `lost` for all s up to the bound."""
        most = self._most_of(left, room)
        if left:
            # by the inequality of the means, for every s
            mean = _up(left * ONE + shares, left + 1)
            value = product * mean ** (left + 1)
            if ONE - _up(most, left) >= shares + most:  # it grows up to there
                value = min(value, product * (ONE - most // left) ** left * (shares + most))
        else:
            value = product * shares
        return bool(value * self.lost.denominator <= self.lost.numerator * ONE ** (left + 2))

    def _closed(self, left: int, room: int, product: int, shares: int, path: tuple[int, ...]) -> bool:
        self.nodes += 1
        if self._is_small(left, room, product, shares):
            return True
        if not left:
            return False
        least = max(3, ONE // room)
        # a cell of several n never has the path of a case in words, in which n is exact
        named = {case[: len(path) + 1] for case in BY_HAND[self.types]}
        first = max((n + 1 for n in range(least, 9) if (*path, n) in named), default=least)
        by_hand = [n for n in range(least, first) if (*path, n) in BY_HAND[self.types]]
        self.met.update((*path, n) for n in by_hand)

        def alone(n: int, last: int) -> tuple[int, int, int]:
            """As many jobs fit beside the later types as the room for n says; what is left lacks one job's size."""
            beside = max(1, _up(room * (n + 1), ONE) - 1) if n >= first else 1
            return n, beside, room - ONE // (self.smaller * (last + 1))

        def fewer(r: int, last: int) -> tuple[int, int, int]:
            """Only r jobs fit beside the later types: each takes more than 1/(r + 1) of the room."""
            return max(first, _up((r + 1) * ONE, room) - 1), r, _up(room * last, last + 1)

        node = (left - 1, product, shares, path)
        singles = (n for n in range(least, first) if n not in by_hand)
        if not all(self._range(node, alone, n, n) for n in singles):
            return False
        ends = THIN[self.types]
        return self._ranges(node, alone, first, lambda n: n <= ends) and self._ranges(
            node, fewer, 1, lambda r: fewer(r, r)[0] <= ends
        )

    def _ranges(
        self,
        node: tuple[int, int, int, tuple[int, ...]],
        bounds_of: CellBounds,
        first: int,
        goes_on: Callable[[int], bool],
    ) -> bool:
        while goes_on(first):
            last = first * 9 // 8
            if not self._range(node, bounds_of, first, last):
                return False
            first = last + 1
        return True

    def _range(self, node: tuple[int, int, int, tuple[int, ...]], bounds_of: CellBounds, first: int, last: int) -> bool:
        """Decide all cells from `first` to `last` together, or else halves of the range."""
        left, product, shares, path = node
        n, beside, room = bounds_of(first, last)
        path = (*path, n)
        fits = beside
        most = shares + _up(ONE, n) + self._most_of(left, room)
        # the product grows with a up to 1/n if 1/s is at least 1/((1 - (r-1) a) (1 - r a)) there
        while fits > 1 and (n - fits + 1) * (n - fits) * ONE < most * n * n:
            fits -= 1
        if (n - fits + 1) * (n - fits) * ONE >= most * n * n and self._closed(
            left, room, _up(product * (n - fits), n - fits + 1), shares + _up(ONE, n), path
        ):
            return True
        if last > first:
            middle = (first + last) // 2
            return self._range(node, bounds_of, first, middle) and self._range(node, bounds_of, middle + 1, last)
        return beside > 1 and self._halves((left, product, shares, path), n, beside, room, (0, 1, 1))

    def _halves(
        self,
        node: tuple[int, int, int, tuple[int, ...]],
        n: int,
        beside: int,
        room: int,
        piece: tuple[int, int, int],
    ) -> bool:
        """Decide for a between low / (parts n) and high / (parts n): product at the low end, sum at the high one."""
        left, product, shares, path = node
        low, high, parts = piece
        below = n * parts - (beside - 1) * low
        if self._closed(left, room, _up(product * (below - low), below), shares + _up(high * ONE, n * parts), path):
            return True
        if _FINEST * (high - low) < n * parts:
            return False
        middle = low + high
        return all(
            self._halves(node, n, beside, room, part)
            for part in ((2 * low, middle, 2 * parts), (middle, 2 * high, 2 * parts))
        )


@cache
def identities_hold() -> bool:
    """Decide the identities of the proof in symbols, and the signs of its polynomials on their intervals."""
    import sympy as sp

    a, b, c, q, s, x, y, m = sp.symbols("a b c q s x y m", positive=True)
    gone = (q - x) / (1 - x)  # a_2 where type 1 earns x of q
    alone = 1 - (1 - q) / (1 - x)
    crossing = (1 - s) / (1 - (2 + s) * a)  # U_3 where both bounds of x_5 agree
    differences = [
        gone - alone,
        sp.diff(x / (m * q) + gone, x) - 1 / (m * q) + (1 - q) / (1 - x) ** 2,
        (1 - (1 - x) * (1 - b)) - (x + b * (1 - x)),
        # the best x of two types where U_1 is m q, with y^2 = (1 - q)/(m q)
        (1 / (m * q) + 1 - 2 * y - (1 - y) ** 2 - 1 / m).subs(q, 1 / (m * y**2 + 1)),
        crossing * (1 - 3 * a) - (1 - s) * (1 - a * crossing),
        (crossing * (1 - 3 * a)).subs(s, sp.Rational(1, 3)) - 2 * (1 - 3 * a) / (3 - 7 * a),
        sp.diff(sp.log((1 - 8 * a) / (1 - 8 * a * (1 - b))), a) + 8 * b / ((1 - 8 * a) * (1 - 8 * a * (1 - b))),
        sp.diff(sp.log((1 - b) / (1 - 8 * a * (1 - b))), b) + 1 / ((1 - b) * (1 - 8 * a * (1 - b))),
        sp.diff((1 - q) * (c + q / (2 - q)), q) - 2 * (1 - q) / (2 - q) ** 2 + c + q / (2 - q),
    ]
    # log K(y), K = m y^2/(m y^2 + 1) (c + (1 - y)^2), grows for m = 4; for m = 8 it is below the bound
    grows = sp.Poly(sp.Rational(7, 12) + (1 - y) ** 2 - y * (1 - y) * (4 * y**2 + 1), y)
    below = sp.Poly(
        sp.Rational(62, 117) * (8 * y**2 + 1) - 8 * y**2 * (sp.Rational(10, 21) + sp.Rational(1, 8) + (1 - y) ** 2), y
    )
    ends = (sp.Rational(NEAR), sp.Rational(15, 16))  # beyond sqrt(7/8)
    signs = grows.count_roots(0, 1) == 0 < grows.eval(0) and below.count_roots(*ends) == 0 < below.eval(ends[0])
    return bool(signs) and all(sp.simplify(difference) == 0 for difference in differences)


def failing(lost: dict[int, Fraction]) -> list[str]:
    """Return the names of the inequalities between numbers in the words of the proof that fail."""
    f = Fraction
    third, rest = f(43, 72), f(7, 36)  # (1 + s)/2 and s, the sum of the other shares, where n_i = 2
    sums = {4: f(8, 15), 5: f(27, 50)}  # below such a sum little is lost
    holds = {
        "type m takes at most half": all(f(2 * m - 5, 2 * m - 4) ** (m - 2) / 2 < least for m, least in lost.items()),
        "n_i = 2": all(third**2 * (1 - rest / (m - 2)) ** (m - 2) < least for m, least in lost.items()),
        "three types": f(2, 3) * f(3, 4) * f(7, 12) == lost[3],
        "thin types": all(
            (product := (1 - s / (m - 1)) ** (m - 1)) <= f(9, 16)
            and s * product <= lost[m]
            and lost[m - 1] + f(9, 16) * (1 - lost[m - 1]) / (THIN[m] + 1) <= lost[m]
            for m, s in sums.items()
        ),
        "two types in 1/4": two_types_hold(4, f(1, 3), lost[4] * f(3, 2)),
        "two types in 1/8": two_types_hold(8, f(10, 21), lost[5] * f(7, 4)),
    }
    y = f(6, 7)  # (1 + sqrt(1/2))/2 is less
    best = 4 * y**2 / (4 * y**2 + 1) * (f(7, 12) + (1 - y) ** 2)
    holds["n_3 = 3"] = (2 * y - 1) ** 2 > f(1, 2) and f(2, 3) * best < lost[4]
    both, factor = f(5, 42), f(15, 44)
    holds |= {
        "n_3 = 6, small": f(5, 9) * (1 - f(13, 288)) ** 2 * (f(1, 2) + f(13, 144)) < lost[5],
        "n_3 = 6, large": (7 * factor - 6 * both) ** 2 + 24 * (f(2, 3) + 2 * both - 3 * factor) <= 0
        and factor * (1 - both / 2) ** 2 < lost[5],
    }
    least = 1 / (8 * NEAR**2 + 1)  # x_1 + x_2 is more
    both = max(f(1, n) + f(1, floor(1 / (f(1, 8) - f(1, n + 1)))) for n in range(9, 16))
    a, b = f(1, 72), f(1, 8)
    s = f(10, 21) + a + b
    holds |= {
        "n_3 = 7, far": f(4, 7) * (1 - least) * (f(10, 21) + both) < lost[5],
        "n_3 = 7, n_2 = 8": f(4, 7) * (1 - b) * (1 - 8 * a) / (1 - 8 * a * (1 - b)) * s == lost[5]
        and s <= f(64, 81)
        and s <= f(7, 8) * f(8, 9),
    }
    return [name for name, true in holds.items() if not true]


def two_types_hold(m: int, c: Fraction, most: Fraction) -> bool:
    """Decide the inequalities of the lemma on two types that share less than 1/m."""
    small, other = Fraction(1, 2 * m), Fraction(1, 2 * m - 1)
    corner = c + small + other
    return (
        (1 - 2 * small) * corner <= most
        and c + 1 + small < (4 * m - 4) * other
        and (c + 2) / 3 < 1 - small
        and (m - 1) * other < corner
        and 2 * (1 - 2 * small) / (2 - 2 * small) ** 2 < corner
    )


def best_rewards(capacity: int, sizes: Sequence[int], values: Sequence[int]) -> list[int]:
    """Return U_i for each i: the most that a server earns with types i, .., m."""
    best: list[int] = []
    for i in range(len(sizes)):
        filled = [0] * (capacity + 1)
        for room in range(1, capacity + 1):
            jobs = zip(sizes[i:], values[i:], strict=True)
            filled[room] = max([filled[room - 1], *(filled[room - s] + x for s, x in jobs if s <= room)])
        best.append(filled[capacity])
    return best


def lost_by(capacity: int, sizes: Sequence[int], values: Sequence[int]) -> Fraction:
    """Return what a server with one job of each type loses, as a share of its reward: U_m (sum x_i/U_i - 1)."""
    best = best_rewards(capacity, sizes, values)
    shares = total(Fraction(x, most) for x, most in zip(values, best, strict=True))
    return best[-1] * (shares - 1) / sum(values)


def most_lost_at_random(types: int, count: int, generator: np.random.Generator) -> Fraction:
    """Return the most that servers with one job of each type lose, of random sizes and rewards near the worst."""
    worst = Fraction(0)
    powers = np.array([1, *(2**j for j in range(types - 1))])
    for _ in range(count):
        sizes = np.maximum(1, powers * generator.integers(5, 12) + generator.integers(-2, 3, types))
        values = np.maximum(1, powers * 12 + generator.integers(-3, 4, types))
        capacity = int(sizes.sum() + generator.integers(0, 2))
        worst = max(worst, lost_by(capacity, sizes.tolist(), values.tolist()))
    return worst


@claim(
    "one-resource-five-types",
    "One resource: four types attain 235/336, five 571/819",
    "With one additive resource, equal servers and job types each of which fits a server, greedy attains at least "
    "235/336 of the optimum for four types and 571/819 for five, and both are attained. In the proof the cases are "
    "decided by a search in integers, rounded to the safe side, the identities in symbols, and the other inequalities "
    "in rationals. Beside it, no random instance has a smaller ratio, and no random content of a server loses more.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    tiny={"types": (4,), "instances": (4,)},
    full={"instances": (300, 60)},
    controls={
        "1/10000 less is lost": {"less": Fraction(1, 10_000)},
        "jobs of half the size": {"smaller": 2},
        "the search alone is to show that less is lost": {
            "searched": {4: Fraction(59, 200), 5: Fraction(30_267, 100_000)},
        },
    },
    proof="greedy.md#one-resource-five",
)
def five_types(
    types: tuple[int, ...] = (4, 5),
    instances: tuple[int, ...] = (4, 1),
    less: Fraction = Fraction(0),
    seed: int = 29,
    *,
    smaller: int = 1,
    searched: Mapping[int, Fraction] | None = None,
) -> Outcome:
    """Decide the cases, the identities and the inequalities, and try instances.

    Parameters
    ----------
    types : tuple of int
        Numbers of types whose cases are searched: of 4 and 5.
    instances : tuple of int
        Random instances of each of them.
    less : Fraction
        By how much less is to be lost than what the instances lose that attain the bound.
    seed : int
    smaller : int
        See `Cases`.
    searched : mapping of int to Fraction
        What the search is to show for a number of types, where it is another number.
    """
    if not types or not set(types) <= set(BY_HAND) or len(types) != len(instances):
        raise InputError(
            "types", f"expected some of 4 and 5, each with a number of instances, got {types}, {instances}"
        )
    lost = {m: 1 - ratio - (less if m > 3 else 0) for m, ratio in LEAST_ON_ONE.items() if m <= 5}
    searches = [_searched(m, (searched or lost)[m], smaller) for m in types]
    decided = all(closed and words_met for closed, words_met, _ in searches)
    steps, wrong = identities_hold(), failing(lost)
    attained = [solve(one_resource_family(4)).ratio, solve(one_resource_inserted(5)).ratio]
    generator = np.random.default_rng(seed)
    below = sum(_below_the_bound(m, count, lost[m], generator) for m, count in zip(types, instances, strict=True))
    computed = (
        f"{'every case is decided' if decided else 'a case is left'} ({sum(nodes for *_, nodes in searches)} nodes); "
        f"identities {'hold' if steps else 'fail'}; {f'inequalities fail: {wrong}' if wrong else 'inequalities hold'}; "
        f"attained {', '.join(map(text, attained))}; {below} below the bounds at random"
    )
    sharp = attained == [1 - lost[4], 1 - lost[5]]
    return Outcome(computed, decided and steps and not wrong and sharp and not below)


@cache
def _searched(types: int, lost: Fraction, smaller: int) -> tuple[bool, bool, int]:
    """Return whether a search closes all cases, whether it leaves those to the words that it should, and its nodes."""
    search = Cases(types, lost, smaller)
    return search.decided(), search.met == BY_HAND[types], search.nodes


def _below_the_bound(types: int, instances: int, lost: Fraction, generator: np.random.Generator) -> int:
    """Return how many random instances, and contents of servers, lose more than is said."""
    below = int(most_lost_at_random(types, 15 * instances, generator) > lost)
    for _ in range(instances):
        capacity = int(generator.integers(20, 60))
        demands = [[int(generator.integers(2, capacity // part))] for part in (6, 5, 4, 3, 2)[-types:]]
        rewards = [Fraction(int(generator.integers(25, 36)), 30) * row[0] for row in demands]
        below += worst_workload(additive([capacity], demands, rewards)).ratio < 1 - lost
    return below


@claim(
    "one-resource-inserted",
    "A second one-resource family has smaller ratios",
    "One resource, J >= 3 types, N = 2^(J-2): greedy attains exactly 1 - N^2/(N^2 + 1) D/2 of the optimum of the "
    "family of `one_resource_inserted`, with D = 1/(N (N + 1)) + 1/N + sum of 1/(2^k - 1), k = 2..J-2, where ties go "
    "to more jobs of the first type (Definition 2.2). Beside the theorem: the code solves J = 3..7 (full: 9). From J "
    "= 5 to there that is less than on the first family; for J = 7 it is less than the limit of the first family, so "
    "that this limit, 0.69665, is not the least share on one resource for all J.",
    source="packproof",
    printed="not in the paper: its family of Proposition 3.10 has arbitrary sets of configurations",
    evidence=Evidence.formal,
    full={"most_types": 9},
    controls={
        "one unit more on the server": {"more_units": 1},
        "the small type earns nothing more than its size": {"rewards_as_sizes": True},
    },
    theorems=("OneResource.one_resource_inserted",),
)
def inserted(most_types: int = 7, *, more_units: int = 0, rewards_as_sizes: bool = False) -> Outcome:
    """Solve members, and compare them with the first family and with its limit from below."""
    expect_number(most_types, "most_types", 3)
    limit = 1 - total(Fraction(1, 2**k - 1) for k in range(2, 60)) / 2 - Fraction(1, 2**59 - 1)
    agreeing, ratios = 0, []
    for types in range(3, most_types + 1):
        instance, n = one_resource_inserted(types), 2 ** (types - 2)
        space = additive_space(instance)
        (units,), sizes = space.capacity, [Fraction(row[0], space.capacity[0]) for row in space.demands]
        rewards = sizes if rewards_as_sizes else instance.rewards
        ratio = solve(additive([units + more_units], space.demands, rewards, instance.workload)).ratio
        parts = [Fraction(1, n * (n + 1)), Fraction(1, n), *(Fraction(1, 2**k - 1) for k in range(2, types - 1))]
        worse = ratio < solve(one_resource_family(types)).ratio
        agreeing += ratio == 1 - Fraction(n * n, n * n + 1) * total(parts) / 2 and worse == (types > 4)
        ratios.append(ratio)
    words = [text(ratio) if types < 6 else f"{float(ratio):.6f}" for types, ratio in enumerate(ratios, 3)]
    computed = f"ratios from J = 3 on: {', '.join(words)}, {agreeing} as said; least {float(min(ratios)):.9f}"
    # the statement compares members from J = 7 on with the limit of the first family
    return Outcome(computed, agreeing == len(ratios) and (most_types < 7 or min(ratios) < limit))
