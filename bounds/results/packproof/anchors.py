"""Results of packproof on any number of job types and one resource: 0.69662, by contents that repeat several types."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor, isqrt, sqrt

import numpy as np

from bounds.adversary.by_size import EVERY_ON_ONE
from bounds.claims import Evidence, Outcome, claim
from bounds.results.packproof.all_types import chain_of
from bounds.results.packproof.five_types import best_rewards, lost_by
from bounds.results.packproof.potential import UNIT, Potential, log_below, potential, units, up
from theory.errors import InputError
from theory.numbers import total

THIN = 24
"""In a room g of a node, jobs of which at least `THIN`/g fit a server are treated together."""

SHARES = tuple(Fraction(part) for part in ("1", "0.9997", "0.999", "0.997", "0.99", "0.97", "0.9", "0.7", "0"))
"""Ends of the ranges of n a that are treated apart where [0, 1] cannot be treated at once."""

MOST_NODES = 150


@dataclass(frozen=True)
class Anchor:
    """Some type l that has been met: `copies` of it and of all types after it, up to the next one, fit a server.

    Attributes
    ----------
    copies : int
        M, at most 1/g for the room g that types up to l have.
    earlier : int
        rho, a bound of the part of the reward so far that was there before type l, in units of 1/UNIT.
    """

    copies: int
    earlier: int


@dataclass(frozen=True)
class Node:
    """The statement that all types in a room of at most `room` add at most `budget` - `slope` (`room` - their room).

    All numbers are in units of 1/UNIT; `anchors` are what is known of the types that were met before.
    """

    room: int
    budget: int
    slope: int
    anchors: tuple[Anchor, ...]


def greatest(gain: int, pole: int, zero: int, low: int, high: int) -> int | None:
    """Return a bound of c a - ln((1 - z a)/(1 - p a)) for a from `low` to `high`, or None where p a is at least 1.

    c = `gain`, p = `pole` and z = `zero` in units, |z| <= p. The function is concave: its derivative is
    c - (p - z)/((1 - p a)(1 - z a)). Inside it is bounded by the tangent at a place near the maximum.
    """
    unit_squared, rises = UNIT * UNIT, (pole - zero) * UNIT**4

    def value(a: int) -> int:
        return up(gain * a, UNIT) - log_below(unit_squared - zero * a, unit_squared - pole * a)

    def grows(a: int) -> bool:
        return gain * (unit_squared - pole * a) * (unit_squared - zero * a) >= rises

    if pole * low >= unit_squared:
        return None
    if gain <= 0 or not grows(low):
        return value(low)
    if pole * high < unit_squared and grows(high):
        return value(high)
    # the zero of (1 - p a)(1 - z a) - (p - z)/c, in floats; whatever it is, the tangent there is a bound
    p, z, rest = pole / UNIT, zero / UNIT, 1 - (pole - zero) / gain
    place = int(2 * rest / (p + z + sqrt(max(0.0, (p + z) ** 2 - 4 * p * z * rest))) * UNIT)
    place = min(max(place, low), high)
    if pole * place >= unit_squared:
        place = low
    steep = abs(gain - rises // ((unit_squared - pole * place) * (unit_squared - zero * place))) + 1
    return value(place) + up(steep * (high - low), UNIT)


class Search:
    """Decide that no chain of types adds more than ln(lost/S) + 1, so that no more than `lost` is lost.

    Parameters
    ----------
    potential : Potential
    lost : Fraction
    anchored : bool
        False leaves out all anchors but the one that every type has.
    most : int
        Nodes after which the search gives up.
    """

    def __init__(self, potential: Potential, lost: Fraction, *, anchored: bool = True, most: int = MOST_NODES) -> None:
        self.potential, self.anchored, self.most, self.nodes, self.cases = potential, anchored, most, 0, 0
        ratio = potential.tangent / lost
        self.budget = UNIT - log_below(ratio.numerator, ratio.denominator) - 1
        self.inverse = units(1 / potential.tangent)
        self._slopes: dict[tuple[int, int, int], int] = {}

    def decided(self) -> bool:
        """Go through all chains of types that share less than half of a server."""
        return self._holds(Node(UNIT // 2, self.budget, 0, (Anchor(1, 0),)))

    def _is_closed(self, node: Node) -> bool:
        """Decide a node by the potential, or by all types left together."""
        slope = self.potential.slopes[bisect_left(self.potential.ends, node.room)]
        steeper = up(max(0, node.slope - slope) * node.room, UNIT)
        return self.potential.at(node.room) + steeper <= node.budget or any(
            self._rest_is_small(node, anchor) for anchor in node.anchors if anchor.earlier < UNIT
        )

    def _rest_is_small(self, node: Node, anchor: Anchor) -> bool:
        """Decide a node by the lemma on the rest: the sum A of the shares is at most (1 + 1/n) times the room."""
        n, m = UNIT // node.room, anchor.copies
        pole, theta = m * m * UNIT // (m + 1), m * (UNIT - anchor.earlier)
        gain = self.inverse - node.slope * n // (n + 1)
        most = greatest(gain, pole, pole - theta, 0, up(node.room * (n + 1), n))
        return most is not None and most <= node.budget - up(node.slope * node.room, UNIT)

    def _gain(self, anchors: Sequence[Anchor], r: int, low: int, high: int) -> int | None:
        """Return a bound of what a type adds of which r fit the room, with a from `low` to `high`; None if none can."""
        bounds = []
        for anchor in anchors:
            if anchor.earlier < UNIT:
                m = anchor.copies
                most = greatest(self.inverse, m * r * UNIT, m * ((r - 1) * UNIT + anchor.earlier), low, high)
                if most is None:
                    return None
                bounds.append(most)
        return min(bounds)

    def _holds(self, node: Node) -> bool:
        """Decide a node, and all nodes that it needs."""
        if self._is_closed(node):
            return True
        self.nodes += 1
        if self.nodes > self.most or node.budget < 0:
            return False
        if self.anchored:
            node = Node(node.room, node.budget, node.slope, (*node.anchors, Anchor(UNIT // node.room, UNIT)))
        thin = up(THIN * UNIT, node.room)
        closed = self._closed_room(node, thin)
        if closed is None:
            return False
        return all(self._type_holds(node, thin, closed, n, r) for n, r in cases(node, thin, closed))

    def _closed_room(self, node: Node, thin: int) -> int | None:
        """Return the largest end of a cell up to which the potential decides a node, also after thin types."""
        first = bisect_left(self.potential.ends, node.room) - 1
        for room in self.potential.ends[first::-1] if first >= 0 else ():
            slope = max(node.slope, self._thin_slope(room, thin, 1))
            last = max(0, self._thin_slope(room, thin, 2) - slope) // thin + 1  # the thin type that crosses this room
            below = self.potential.slopes[bisect_left(self.potential.ends, room)]
            needed = up(slope * (node.room - room), UNIT) + last + up(max(0, slope - below) * room, UNIT)
            if self.potential.at(room) + needed <= node.budget:
                return room
        return None

    def _thin_slope(self, room: int, thin: int, jobs: int) -> int:
        """Return what thin types add for a unit of room, if their room less 2 jobs is at least `room` less `jobs`."""
        key = (room, thin, jobs)
        if key not in self._slopes:
            self._slopes[key] = self._slope(*key)
        return self._slopes[key]

    def _slope(self, room: int, thin: int, jobs: int) -> int:
        s, ratio = self.potential.tangent, Fraction(thin, thin - 1)
        after = max(Fraction(0), Fraction(room, UNIT) - Fraction(jobs, thin))
        root = Fraction(isqrt(int(s * 10**36)), 10**18)
        if ratio * after < 1 - root - Fraction(1, 10**18):
            return units(ratio * (1 / s - 1 / (1 - ratio * after)))
        return units((1 - root) ** 2 / (after * s))

    def _type_holds(self, node: Node, thin: int, closed: int, n: int, r: int) -> bool:
        """Decide the chains that go on, after thin types, with a type of which n fit alone and r the room."""
        top = min(node.room, up((r + 1) * UNIT, n))
        if top <= closed or top < UNIT // (n + 1):
            return True
        slope = max(node.slope, self._thin_slope(max(closed, r * UNIT // (n + 1)), thin, 1))
        later = after(node, slope, n, r)
        gain = self._gain(node.anchors, r, 0, up(UNIT, n))
        if gain is None or any(self._is_closed(_less(one, gain, node.anchors)) for one in later):
            return True
        return all(self._share_holds(later, r, *ends) for ends in ranges(n))

    def _share_holds(self, later: tuple[Node, Node], r: int, low: int, high: int) -> bool:
        """Decide the chains that go on with a share a from `low` to `high`."""
        self.cases += 1
        gain, anchors = self._gain(later[0].anchors, r, low, high), moved(later[0].anchors, r, low)
        if gain is None or anchors is None:
            return True
        even, steep = (_less(one, gain, anchors) for one in later)
        return self._is_closed(steep) or self._holds(even)


def after(node: Node, slope: int, n: int, r: int) -> tuple[Node, Node]:
    """Return two nodes, each of which is enough after thin types and a type of which n fit alone and r the room.

    Thin types add `slope` for each unit of room. What the type itself adds is still to be taken from the budgets, and
    the anchors are those before it. A smaller room before the type leaves less room after it: by as much at least, if
    the first budget is less by what the largest room leaves less; or by r/(r + 1) of it, in the second node.
    """
    top = min(node.room, up((r + 1) * UNIT, n))
    room = max(1, min(top - UNIT // (n + 1), up(top * r, r + 1)))
    budget = node.budget - up(slope * (node.room - top), UNIT)
    even = budget - up(slope * max(0, top - room - UNIT // (n + 1)), UNIT)
    return Node(room, even, slope, node.anchors), Node(room, budget, up(slope * (r + 1), r), node.anchors)


def moved(anchors: Sequence[Anchor], r: int, share: int) -> tuple[Anchor, ...] | None:
    """Return the anchors after a type of which r fit the room, with a share of at least `share`; None if none can."""
    informative = [anchor for anchor in anchors if anchor.earlier < UNIT]
    if any(anchor.copies * r * share >= UNIT for anchor in informative):
        return None
    grown = UNIT + max(x.copies * share * (UNIT - x.earlier) // (UNIT - x.copies * r * share) for x in informative)
    return tuple(Anchor(anchor.copies, up(anchor.earlier * UNIT, grown)) for anchor in anchors)


def _less(node: Node, gain: int, anchors: tuple[Anchor, ...]) -> Node:
    """Return a node with a smaller budget and other anchors."""
    return Node(node.room, node.budget - gain, node.slope, anchors)


def cases(node: Node, thin: int, closed: int) -> Iterator[tuple[int, int]]:
    """Yield all (n, r) of a type that is not thin in a room above `closed`."""
    for n in range(max(2, UNIT // node.room), thin):
        for r in range(max(1, closed * n // UNIT), min(n // 2, up(node.room * (n + 1), UNIT) - 1) + 1):
            yield n, r


def ranges(n: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a."""
    for high, low in pairwise(SHARES):
        yield floor(low * UNIT / n), units(high / n)


@cache
def identities_hold() -> bool:
    """Decide the identities of the proof in symbols."""
    import sympy as sp

    a, c, m, p, r, rho, z, room, v = sp.symbols("a c m p r rho z gamma v", positive=True)
    share = a * m * (1 - rho) / (1 - m * r * a)  # x_i / V_{i+1}
    ratio = 1 + m * (1 - rho) * a / (1 - p * a)  # V_1 / V for the rest, p = M^2/(M + 1)
    adds = c * a - sp.log((1 - z * a) / (1 - p * a))
    differences = [
        1 + share - (1 - m * (r - 1 + rho) * a) / (1 - m * r * a),
        ratio - (1 - (p - m * (1 - rho)) * a) / (1 - p * a),
        sp.diff(adds, a) - (c - (p - z) / ((1 - p * a) * (1 - z * a))),
        sp.diff(adds, a, 2) - ((z / (1 - z * a)) ** 2 - (p / (1 - p * a)) ** 2),
        (m * room - v).subs(v, m * room / (m + 1)) - m**2 * room / (m + 1),
        sp.diff(v / (1 - p * v), v, 2) - 2 * p / (1 - p * v) ** 3,
    ]
    return all(sp.simplify(difference) == 0 for difference in differences)


def anchors_hold(capacity: int, sizes: Sequence[int], values: Sequence[int], more: int = 0) -> bool:
    """Decide both lemmas for a server with one job of each type, the last large; `more` copies more are too many.

    For i < l: U_i >= M (V_{i+1} - V_{l+1}) + M r_i x_i. For the types 1, .., j < l together, with A the sum of their
    shares: V_1 >= V (1 + M (1 - rho) A/(1 - M^2 A/(M + 1))), where V = V_{j+1} and rho = V_{l+1}/V.
    """
    best = best_rewards(capacity, sizes, values)
    rooms = [capacity - sum(sizes[i + 1 :]) for i in range(len(sizes))]
    rewards = [sum(values[i:]) for i in range(len(sizes) + 1)]  # V_i at place i, counted from 0
    for last in range(1, len(sizes)):
        m = capacity // rooms[last] + more
        for i in range(last):
            r = rooms[i] // sizes[i]
            if best[i] < m * (rewards[i + 1] - rewards[last + 1]) + m * r * values[i]:
                return False
            together = total(Fraction(values[k], best[k]) for k in range(i + 1))
            theta = m * (1 - Fraction(rewards[last + 1], rewards[i + 1]))
            rest = 1 - Fraction(m * m, m + 1) * together
            if rest <= 0 or rewards[0] * rest < rewards[i + 1] * (rest + theta * together):
                return False
    return True


@cache
def _searched(
    share: Fraction, cells: int, thick: int, octaves: int, most_nodes: int, *, anchored: bool
) -> tuple[bool, int, int]:
    """Return whether a search decides all chains, the nodes and the ranges of shares that it went through."""
    search = Search(potential(cells, thick, octaves), 1 - share, anchored=anchored, most=most_nodes)
    return search.decided(), search.nodes, search.cases


@claim(
    "one-resource-anchors",
    "Greedy on one resource attains at least 0.696620",
    "With one additive resource, equal servers and job types each of which fits a server, greedy attains at least "
    "0.696620 of the optimum, whatever the number of types. In the proof the identities are decided in symbols, and "
    "all chains of types by a search in integers, rounded to the safe side, that ends at the table of "
    "`one-resource-all-types`. Beside it, both lemmas hold exactly for random contents of a server.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    tiny={"share": Fraction("0.6966"), "cells": 128, "thick": 8, "octaves": 7, "most_nodes": 25, "contents": 15},
    full={"cells": 512, "contents": 5_000},
    controls={
        "no contents repeat several types": {"anchored": False},
        "one copy more": {"more_copies": 1},
        "0.00002 more is kept": {"share": EVERY_ON_ONE + Fraction("0.00002")},
    },
    proof="greedy.md#one-resource-anchors",
)
def anchors(
    share: Fraction = EVERY_ON_ONE,
    cells: int = 256,
    thick: int = 16,
    octaves: int = 8,
    most_nodes: int = MOST_NODES,
    contents: int = 150,
    seed: int = 37,
    *,
    anchored: bool = True,
    more_copies: int = 0,
) -> Outcome:
    """Decide the identities and the search, and try the lemmas on contents of servers."""
    if not 0 < share < 1:
        raise InputError("share", f"expected a number between 0 and 1, got {share}")
    decided, nodes, ranges = _searched(share, cells, thick, octaves, most_nodes, anchored=anchored)
    identities, generator, failing = identities_hold(), np.random.default_rng(seed), 0
    for _ in range(contents):
        chain = chain_of(generator, int(generator.integers(3, 9)))
        failing += not anchors_hold(*chain, more=more_copies) or lost_by(*chain) > 1 - share
    computed = (
        f"identities {'hold' if identities else 'fail'}; every chain is decided: {decided} ({nodes} nodes, "
        f"{ranges} ranges of shares); {failing} contents fail"
    )
    return Outcome(computed, identities and decided and not failing)
