"""The exact guarantee of a finite partition: the least share of rho* that its upper-rounded queues keep, over all laws.

Let sizes be larger than u > 0, let X be a partition into intervals with upper ends s_j and lower ends l_j, and let
1/rho_up(F) = max <P, y> over the prices Y = {y >= 0: <k, y> <= 1 for every rounded configuration k}, which is (4) by
duality. A schedule that supports rho* of a law F is a mixture of configurations c of real sizes, and rho* P_j is the
mean number n_j(c) of its jobs in interval j. So

    rho* / rho_up = max over y in Y of <rho* P, y> <= max over y in Y and c of <n(c), y>,

and the law that is uniform on the jobs of the best c attains it, for all of them fit one server together. A vector n
is that of a configuration of real sizes just if sum n_j l_j < 1, strictly unless n = 0, since no interval holds its
lower end. Therefore

    1 / guarantee = max {servers(n): sum n_j l_j < 1},      servers(n) = max {<n, y>: y in Y},

where servers(n) is the number of servers, in fractions, that the jobs of one server need once they are rounded up. It
grows with n, so the maximal n suffice: finitely many exact linear programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from math import comb, lcm

from theory.errors import TooLargeError
from theory.exact.knapsack import maximal
from theory.exact.programs import LinearProgram
from theory.instance import Additive, Configuration
from theory.numbers import total
from theory.partition.cuts import Partition
from theory.partition.laws import Law, Number, discrete

MOST_PARTITIONS = 200_000
"""Partitions that a search will try."""


@dataclass(frozen=True)
class Guarantee:
    """The least ratio of upper-rounded to maximum workload over all laws on (least, 1], with its proof.

    Attributes
    ----------
    cuts : tuple of Fraction
        Between `least` and 1, increasing.
    least : Fraction
        u: all sizes are larger.
    ratio : Fraction
        The guarantee; attained by `worst_law`.
    jobs : Configuration, shape (number of cuts + 1,)
        Jobs in each interval of the worst configuration, the smallest interval first.
    prices : tuple of Fraction
        y in Y with <jobs, y> = 1 / ratio.
    programs : int
        Linear programs that were solved.
    """

    cuts: tuple[Fraction, ...]
    least: Fraction
    ratio: Fraction
    jobs: Configuration
    prices: tuple[Fraction, ...]
    programs: int

    @cached_property
    def worst_law(self) -> Law:
        """A law that attains the ratio: uniform on the jobs of one full server."""
        ends = (self.least, *self.cuts, Fraction(1))
        number = sum(self.jobs)
        slack = (1 - total(n * low for n, low in zip(self.jobs, ends, strict=False))) / number
        sizes = [low + min(high - low, slack) for low, high in pairwise(ends)]
        return discrete({size: Fraction(n, number) for size, n in zip(sizes, self.jobs, strict=True) if n})


def guarantee(cuts: Sequence[Number], least: Number, enough: Fraction = Fraction(0)) -> Guarantee:
    """Return the exact guarantee of a partition into intervals for laws on (least, 1].

    Parameters
    ----------
    cuts : sequence of rational
        Those outside (least, 1) are left out.
    least : rational
        u, in (0, 1).
    enough : Fraction
        Stop at a law that shows that the guarantee is at most this; then `ratio` is an upper bound.

    Raises
    ------
    ValueError
        If `least` is not in (0, 1).
    TooLargeError
        If there are too many configurations.

    Notes
    -----
    Packing each type apart bounds servers(n); programs are solved in decreasing order of this bound until it falls to
    what was found.

    Examples
    --------
    >>> found = guarantee(["1/2"], "1/4")
    >>> str(found.ratio), found.jobs, [str(size) for size, _ in found.worst_law.atoms]
    ('2/3', (1, 1), ['3/8', '5/8'])
    >>> str(guarantee([], "1/4").ratio)
    '1/3'
    """
    u = Fraction(least)
    if not 0 < u < 1:
        raise ValueError(f"expected sizes above a number in (0, 1), got {u}")
    inner = tuple(sorted({Fraction(cut) for cut in cuts if u < Fraction(cut) < 1}))
    tops, lows = (*inner, Fraction(1)), (u, *inner)
    unit = lcm(*(end.denominator for end in (*tops, *lows)))
    # sum n_j l_j < 1 in whole units: at most unit - 1
    real = Additive(("size",), (unit - 1,), tuple((int(low * unit),) for low in lows), (Fraction(1, unit),))
    rounded = Additive(("size",), (unit,), tuple((int(top * unit),) for top in tops), (Fraction(1, unit),))
    most = [int(1 / top) for top in tops]
    vectors = [tuple(map(int, n)) for n in maximal(real)]
    apart = {n: total(Fraction(a, b) for a, b in zip(n, most, strict=True)) for n in vectors}
    # servers(n) = max {<n, y>: <k, y> <= 1 for every maximal rounded configuration k}
    program = LinearProgram([(None, 1)] * len(rows := maximal(rounded)))
    columns = [{i: int(k) for i, k in enumerate(rows[:, j]) if k} for j in range(len(tops))]
    program.add_columns([0] * len(tops), columns)
    best, witness, prices, programs = Fraction(0), vectors[0], (Fraction(0),) * len(tops), 0
    for n in sorted(vectors, key=lambda n: (-apart[n], n)):
        if apart[n] <= best:  # and so are all that follow
            break
        for j, number in enumerate(n):
            program.set_cost(j, number)
        vertex = program.solve()
        programs += 1
        if vertex.objective > best:
            best, witness, prices = vertex.objective, n, vertex.primal
        if best * enough >= 1:
            break
    return Guarantee(inner, u, 1 / best, witness, prices, programs)


def best_partitions(number: int, least: Number, grid: int) -> Iterator[Guarantee]:
    """Yield better and better partitions with cuts on a grid; the last is best of all.

    Parameters
    ----------
    number : int
        Cuts between `least` and 1.
    least : rational
    grid : int
        Cuts are multiples of 1/grid.

    Yields
    ------
    Guarantee
        Each better than those before. That the last is best is proved by a law for every other partition.

    Raises
    ------
    TooLargeError
        If there are more than `MOST_PARTITIONS` of them.

    Examples
    --------
    >>> [str(best.ratio) for best in best_partitions(1, "1/4", 12)]
    ['3/7', '1/2', '2/3']
    """
    u = Fraction(least)
    places = [Fraction(i, grid) for i in range(1, grid) if Fraction(i, grid) > u]
    tries = comb(len(places), number)
    if tries > MOST_PARTITIONS:
        raise TooLargeError(f"{tries:,} partitions, expected at most {MOST_PARTITIONS:,}: use a coarser grid")
    best = Fraction(0)
    for cuts in combinations(places, number):
        partition = guarantee(cuts, u, best)
        if partition.ratio > best:
            best = partition.ratio
            yield partition
        if best >= Fraction(2, 3) and u < Fraction(1, 2):  # no partition keeps more (Proposition 2)
            return


def adversarial_law(partition: Partition) -> Law:
    """Return a law of sizes 1/2 - eps and 1/2 + eps on which upper-rounded queues keep at most 2/3.

    Parameters
    ----------
    partition : Partition
        Any finite one.

    Notes
    -----
    A queue is larger than a job of it, once rounded, unless the job is as large as its queue's largest. There are
    finitely many such sizes, so some eps <= 1/6 avoids them for both jobs. Both together fill a server but do not fit
    once rounded, and of the small ones, larger than 1/3 once rounded, two fit at most: the maximum is 2, and rounded
    2 p_1 >= rho / 2, 1 - p_1 >= rho / 2 give 4/3. The paper prints eps < 1/3, which allows three small ones: 3/4.
    Source: high-throughput bin packing, Proposition 2.

    Examples
    --------
    >>> from theory.partition.cuts import by_cuts
    >>> [str(size) for size, _ in adversarial_law(by_cuts(["1/2"])).atoms]
    ['1/3', '2/3']
    >>> [str(size) for size, _ in adversarial_law(by_cuts(["1/3", "1/2", "2/3"])).atoms]
    ['5/12', '7/12']
    """
    half = Fraction(1, 2)
    ends = {abs(half - upper) for upper in partition.upper}
    epsilon = next(e for e in (Fraction(1, 6 * n) for n in range(1, len(ends) + 2)) if e not in ends)
    return discrete({half - epsilon: half, half + epsilon: half})
