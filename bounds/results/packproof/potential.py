"""A table of how much the job types in a free part of one server can add to the loss of greedy, in integers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import isqrt

from theory.errors import InputError, expect_number

BITS = 60
UNIT = 1 << BITS
"""Rooms, slopes and values of a table are whole multiples of 1/UNIT, rounded to the safe side."""

ROOMS = ("less one job", "part of the room")
"""The two bounds of the room that a type leaves: g - 1/(n + 1), and g r/(r + 1)."""


def up(above: int, below: int) -> int:
    """Return above/below, rounded up."""
    return -(-above // below)


def units(value: Fraction) -> int:
    """Return a number in units of 1/UNIT, rounded up."""
    return up(value.numerator * UNIT, value.denominator)


def log_below(above: int, below: int) -> int:
    """Return ln(above/below), at least 0, in units of 1/UNIT and at most one of them too small.

    Examples
    --------
    >>> log_below(2, 1) / UNIT
    0.6931471805599453
    """
    fine = 1 << (BITS + 30)
    # ln(a/b) = 2 (z + z^3/3 + z^5/5 + ..) with z = (a - b)/(a + b); each term is rounded down
    z = (above - below) * fine // (above + below)
    square, power, result, k = z * z // fine, z, 0, 1
    while power:
        result += power // k
        power, k = power * square // fine, k + 2
    return 2 * result >> 30


def added(r: int, a: Fraction, tangent: Fraction) -> int:
    """Return G_r(a) = ln((1 - r a)/(1 - (r - 1) a)) + a/S, rounded up, for the tangent at S."""
    ratio = (1 - (r - 1) * a) / (1 - r * a)
    return units(a / tangent) - log_below(ratio.numerator, ratio.denominator)


def most_added(r: int, tangent: Fraction) -> int:
    """Return a bound of G_r(a) for all a in [0, 1/2] with r a <= 1/2.

    G_r is concave, so it is at most its tangent at any place. We take one near its maximum, where
    (1 - r a)(1 - (r - 1) a) = S; the slope there is then nearly 0.
    """
    if r == 1:
        place = 1 - tangent
    else:
        root = Fraction(isqrt(int((1 + 4 * r * (r - 1) * tangent) * 10**36)), 10**18)
        place = (2 * r - 1 - root) / (2 * r * (r - 1))
    slope = abs(1 / tangent - 1 / ((1 - r * place) * (1 - (r - 1) * place)))
    return added(r, place, tangent) + units(slope / 2)


class Potential:
    """B, such that G_r(a) + B(room - v) <= B(room) for every job size v that fits the room.

    The proof on the page ``greedy.md`` says what r, a and G are, and why the largest loss of greedy is at most
    S exp(B(1/2) - 1).

    Parameters
    ----------
    cells : int
        Equal cells between 2^-k-1 and 2^-k, for each k; a power of two, so that all ends are exact, and at least
        `thick`, so that a thick job ends in another cell.
    thick : int
        A job is thick where fewer than this number of its size fit the room, which it has alone.
    octaves : int
        Rooms up to 2^-octaves are treated in words, by the slope at 0.
    tangent : Fraction
        S, where the logarithm of the sum of the shares is replaced by its tangent.
    rooms : tuple of str
        The bounds of the room that is left which are used; `ROOMS` are all.
    skipped : int
        First octaves whose thick jobs are not examined; 0 is right.
    later : Potential, optional
        The potential of what a thick job leaves, with the same cells and tangent; this one itself where it is not
        given. With it B holds for chains that have one thick job more than `later` allows.

    Attributes
    ----------
    ends : list of int
        Upper ends of the cells; the first cell begins at 0.
    slopes : list of int
        What thin jobs add at most for each unit of room, by cell; it does not grow.
    values : list of int
        B at the ends. B jumps at the beginning of a cell, and has the slope of the cell in it.
    steps : int
        Thick cases that were examined.

    Raises
    ------
    InputError
        A number of cells that is no power of two or less than `thick`, or a table without rooms.
    """

    def __init__(
        self,
        cells: int = 128,
        thick: int = 16,
        octaves: int = 8,
        tangent: Fraction = Fraction(6067, 10000),
        rooms: tuple[str, ...] = ROOMS,
        skipped: int = 0,
        later: Potential | None = None,
    ) -> None:
        expect_number(thick, "thick", 4)
        expect_number(octaves, "octaves", 2, 20)
        expect_number(cells, "cells", thick, 2**20)
        if cells & (cells - 1):
            raise InputError("cells", f"expected a power of two, got {cells}")
        self.thick, self.tangent, self.rooms, self.steps, self.later = thick, tangent, rooms, 0, later or self
        powers = [UNIT >> e for e in range(octaves, 1, -1)]
        self.ends = [power + power * j // cells for power in powers for j in range(cells)] + [UNIT // 2]
        self.slopes = self._thin_slopes()
        self._most = [0, *(most_added(r, tangent) for r in range(1, thick))]
        self._logs = [0, *(log_below(j + 1, j) for j in range(1, thick << octaves))]
        self.values = [up(self.slopes[0] * self.ends[0], UNIT)]
        for cell in range(1, len(self.ends)):
            self.values.append(self._value_of(cell, examined=cell > skipped * cells))

    def _thin_slopes(self) -> list[int]:
        """Return the slopes: the greatest l (1/S - 1/(1 - l c)) for the ratios l = a/v that thin jobs may have."""
        inverse, thick = 1 / self.tangent, self.thick
        root = Fraction(isqrt(int(self.tangent * 10**36)), 10**18)  # of S, rounded down
        least = Fraction(self.ends[0], UNIT)
        slopes = [units((inverse - 1) / (1 - least))]
        for low, high in zip(self.ends, self.ends[1:], strict=False):
            after = Fraction(low, UNIT) * Fraction(thick - 3, thick - 1)  # at most room - 2 v
            longest = 1 / (1 - Fraction(high, UNIT) / (thick - 1))  # l is at most 1/(1 - v)
            if longest * after < 1 - root - Fraction(1, 10**18):  # it grows with l up to there
                slopes.append(units(longest * (inverse - 1 / (1 - longest * after))))
            else:
                slopes.append(units((1 - root) ** 2 / (after * self.tangent)))
        for cell in range(len(slopes) - 2, -1, -1):
            slopes[cell] = max(slopes[cell], slopes[cell + 1])
        return slopes

    def at(self, room: int) -> int:
        """Return B of a room, in units of 1/UNIT, rounded up."""
        cell = bisect_left(self.ends, room)
        return self.values[cell] - self.slopes[cell] * (self.ends[cell] - room) // UNIT

    def gain(self, n: int, r: int) -> int:
        """Return a bound of G_r(a) for 0 < a <= 1/n: its value at 1/n, or its maximum where that is before 1/n."""
        s = self.tangent
        if (n - r) * (n - r + 1) * s.denominator < n * n * s.numerator:
            return self._most[r]
        return up(s.denominator * UNIT, n * s.numerator) - self._logs[n - r]

    def cases(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Yield all (n, r) that a thick job can have in a room above `low` and up to `high`."""
        for n in range(max(2, UNIT // high), up(self.thick * UNIT, low)):
            last = min(n // 2, up(high * (n + 1), UNIT) - 1, self.thick - 1)
            for r in range(max(1, low * n // UNIT), last + 1):
                yield n, r

    def room_after(self, n: int, r: int, room: int) -> int:
        """Return a bound of what a job of which n fit the server and r the room leaves of the room."""
        bounds = []
        if ROOMS[0] in self.rooms:
            bounds.append(room - UNIT // (n + 1))
        if ROOMS[1] in self.rooms:
            bounds.append(up(room * r, r + 1))
        return min(bounds)

    def _value_of(self, cell: int, examined: bool) -> int:
        """Return B at the end of a cell, from its values at smaller rooms."""
        low, high, slope = self.ends[cell - 1], self.ends[cell], self.slopes[cell]
        value = self.values[-1] + up(slope * (high - low), UNIT)
        for n, r in self.cases(low, high) if examined else ():
            self.steps += 1
            top = min(high, up((r + 1) * UNIT, n))  # the largest room of the cell with these n and r
            room = self.room_after(n, r, top)  # it ends in an earlier cell, as cells are short
            if room < 0:
                continue
            # up to (r + 1)/(n + 1) the slope makes up for what a smaller room leaves less
            worst = min(top, max(low, (r + 1) * UNIT // (n + 1)))
            value = max(value, self.gain(n, r) + self.later.at(room) + up(slope * (high - worst), UNIT))
        return value

    def lost(self) -> Fraction:
        """Return a bound of S exp(B(1/2) - 1): of the share of the optimum that greedy loses."""
        exponent = Fraction(UNIT - self.values[-1], UNIT)
        if exponent < 0:
            return Fraction(1)
        term, bound = Fraction(1), Fraction(1)
        for k in range(1, 21):  # the series of exp(-x) up to a positive term
            term *= -exponent / k
            bound += term
        return self.tangent * bound


@cache
def potential(
    cells: int = 128, thick: int = 16, octaves: int = 8, *, rooms: tuple[str, ...] = ROOMS, skipped: int = 0
) -> Potential:
    """Return a `Potential` with its own tangent, made once for the same arguments."""
    return Potential(cells, thick, octaves, rooms=rooms, skipped=skipped)
