"""Laws of job sizes on (0, 1]: atoms and uniform pieces, with exact probabilities and expectations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from theory.numbers import total

Number = Fraction | int | str


@dataclass(frozen=True)
class Piece:
    """A part of a law that is uniform on (lower, upper].

    Attributes
    ----------
    lower, upper : Fraction
        0 <= lower < upper <= 1.
    probability : Fraction
        Of the whole piece, positive.
    """

    lower: Fraction
    upper: Fraction
    probability: Fraction


@dataclass(frozen=True)
class Law:
    """A law of sizes: atoms and pieces, whose probabilities sum to 1.

    Attributes
    ----------
    atoms : tuple of (size, probability)
        In increasing order of size, 0 < size <= 1, each with positive probability.
    pieces : tuple of Piece
        In increasing order, without overlap.

    Raises
    ------
    ValueError
        If it is no law of sizes on (0, 1].

    Notes
    -----
    Every law of the size file is one of these: `discrete`, `uniform`, `piecewise`, `empirical`.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...] = ()
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        sizes = [size for size, _ in self.atoms]
        if any(not 0 < size <= 1 for size in sizes):
            raise ValueError("a size is outside (0, 1]")
        if any(a >= b for a, b in pairwise(sizes)):
            raise ValueError("sizes do not increase")
        if any(not 0 <= piece.lower < piece.upper <= 1 for piece in self.pieces):
            raise ValueError("a piece is not within (0, 1]")
        if any(a.upper > b.lower for a, b in pairwise(self.pieces)):
            raise ValueError("pieces overlap")
        parts = [p for _, p in self.atoms] + [piece.probability for piece in self.pieces]
        if any(p <= 0 for p in parts) or total(parts) != 1:
            raise ValueError(f"probabilities sum to {total(parts)}, not to 1")

    @cached_property
    def _cumulative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [size for size, _ in self.atoms], [Fraction(0), *accumulate(p for _, p in self.atoms)]

    def cumulative(self, x: Fraction) -> Fraction:
        """Return F(x), the probability of sizes up to x."""
        sizes, sums = self._cumulative
        # a piece has the part of its probability that is the part of its length up to x
        smooth = (
            piece.probability * min(Fraction(1), max(Fraction(0), (x - piece.lower) / (piece.upper - piece.lower)))
            for piece in self.pieces
        )
        return sums[bisect_right(sizes, x)] + total(smooth)

    def probability(self, lower: Fraction, upper: Fraction) -> Fraction:
        """Return the probability of sizes in (lower, upper]."""
        return self.cumulative(upper) - self.cumulative(lower)

    @cached_property
    def mean(self) -> Fraction:
        """Mean size."""
        smooth = total(piece.probability * (piece.lower + piece.upper) / 2 for piece in self.pieces)
        return total(size * p for size, p in self.atoms) + smooth

    @cached_property
    def least(self) -> Fraction:
        """Infimum of the support; 0 if sizes come arbitrarily close to 0."""
        return min([size for size, _ in self.atoms[:1]] + [piece.lower for piece in self.pieces[:1]])

    @cached_property
    def greatest(self) -> Fraction:
        """Largest size of the support."""
        return max([size for size, _ in self.atoms[-1:]] + [piece.upper for piece in self.pieces[-1:]])

    def hats(self, points: Sequence[Fraction]) -> list[Fraction]:
        """Return the law of the size when it is spread, in mean, to the neighbouring points, which increase.

        The support is between the first and the last. A size x between two points goes to one or the other with
        probabilities that keep its mean. They sum to 1, and their scalar product with values at the points is the
        expectation of the function that is linear between them. O(atoms + n x pieces).
        """
        weights = [Fraction(0)] * len(points)
        position = 0
        for size, p in self.atoms:
            while position + 2 < len(points) and points[position + 1] < size:
                position += 1
            if len(points) == 1:
                weights[0] += p
                continue
            # x = (1 - share) a + share b between the neighbouring points a and b
            share = (size - points[position]) / (points[position + 1] - points[position])
            weights[position] += p * (1 - share)
            weights[position + 1] += p * share
        for piece in self.pieces:
            density = piece.probability / (piece.upper - piece.lower)
            for i, (a, b) in enumerate(pairwise(points)):
                low, high = max(a, piece.lower), min(b, piece.upper)
                if low < high:
                    # a uniform part has the share of its middle, as the share is linear in the size
                    mass = density * (high - low)
                    share = ((low + high) / 2 - a) / (b - a)
                    weights[i] += mass * (1 - share)
                    weights[i + 1] += mass * share
        return weights


def discrete(probabilities: Mapping[Number, Number]) -> Law:
    """Return the law with the given probabilities of sizes.

    Examples
    --------
    >>> discrete({"2/5": "1/2", "3/5": "1/2"}).mean
    Fraction(1, 2)
    """
    exact: dict[Fraction, Fraction] = {}
    for size, p in probabilities.items():
        exact[Fraction(size)] = exact.get(Fraction(size), Fraction(0)) + Fraction(p)
    return Law(atoms=tuple(sorted((size, p) for size, p in exact.items() if p)))


def uniform(lower: Number, upper: Number) -> Law:
    """Return the uniform law on [lower, upper].

    Examples
    --------
    >>> uniform("1/100", "19/100").mean
    Fraction(1, 10)
    """
    return Law(pieces=(Piece(Fraction(lower), Fraction(upper), Fraction(1)),))


def piecewise(pieces: Iterable[tuple[Number, Number, Number]]) -> Law:
    """Return the law that is uniform on each (lower, upper] with the given probability; lower = upper is an atom.

    Examples
    --------
    >>> piecewise([("1/10", "1/5", "1/2"), ("1/2", "1/2", "1/2")]).mean
    Fraction(13, 40)
    """
    exact = sorted((Fraction(a), Fraction(b), Fraction(p)) for a, b, p in pieces)
    atoms = tuple((a, p) for a, b, p in exact if a == b and p)
    return Law(atoms, tuple(Piece(a, b, p) for a, b, p in exact if a != b and p))


def empirical(counts: Mapping[Fraction, int]) -> Law:
    """Return the law of a sample, given how often each size occurs.

    Examples
    --------
    >>> empirical({Fraction(1, 4): 3, Fraction(1, 2): 1}).atoms[0]
    (Fraction(1, 4), Fraction(3, 4))
    """
    number = sum(counts.values())
    return Law(atoms=tuple((size, Fraction(n, number)) for size, n in sorted(counts.items()) if n))
