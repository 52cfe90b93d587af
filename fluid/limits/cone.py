"""How far queues can move before a configuration of great weight is too light: the constant of Lemma 4.1, exact.

A server has taken a configuration c with ``c . Q >= r k . Q`` for every configuration k. It stalls only when ``c . Q' <
beta k . Q'`` for some k, where ``Q' = Q + A - D`` after A arrivals and D departures. The least ``max_j A_j + max_j
D_j`` for which that can be, per ``max_j Q_j``, is the minimum of one linear program for each c, k and greatest queue.
It is at least ``(r - beta) / K``, K the most jobs on the server, where every type fits: ``c . Q - beta k . Q >= (r -
beta) max k . Q``, whose last factor is at least ``max_j Q_j``, and A and D move the left side by K (max A + max D) at
most. Per Euclidean norm of Q, as the paper has it, that is to be divided by sqrt(J).

Where a type does not fit there is no C at all, for its queue says nothing about the others. Server of 1, jobs of 1, 1
and 2 (the last fits only elsewhere), Q = (0, 0, n), configuration (1, 0, 0), taken at weight 0: one job of type 1 comes
and starts, one of type 2 comes and waits, the first ends, and the server stalls. The move is 2 for every n.

The constant of the printed proof comes from the angle between the hyperplanes of c and k, (10), which is the distance
in a plane: with three types the queues can be nearer to the second hyperplane than (11) says, and C = C_a / sqrt(J) as
printed is too great as well: server of 7, jobs of 3, 1 and 7, beta = 19/20, configuration (2, 1, 0), rival (0, 7, 0),
queues in the ratio of (3, 1, 7), of which arrivals of 1/113 of the third queue are enough; C ||Q|| allows 0.0117 of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theory.errors import InputError
from theory.exact.configurations import maximal
from theory.exact.linear import InfeasibleError, LinearProgram
from theory.instance import Configuration, Space
from theory.numbers import total

Numbers = tuple[Fraction, ...]
Entries = dict[int, Fraction | int]


@dataclass(frozen=True)
class LeastMove:
    """The least move that makes a configuration too light.

    Attributes
    ----------
    constant : Fraction
        C: while max A + max D < C max Q, no server that has taken its configuration at Q is too light.
    configuration, rival : Configuration
        Where that is attained.
    queues, arrivals, departures : tuple of Fraction, shape (J,)
        Q, A, D with ``configuration . Q' = beta rival . Q'`` and ``max A + max D = C max Q``.
    """

    constant: Fraction
    configuration: Configuration
    rival: Configuration
    queues: Numbers
    arrivals: Numbers
    departures: Numbers


def least_move(
    space: Space, beta: Fraction, ratio: Fraction | int = 1, taken: Iterable[Sequence[int]] | None = None
) -> LeastMove | None:
    """Return the exact constant of Lemma 4.1 in the greatest norm, with a move that attains it.

    Parameters
    ----------
    space : Space
        Every type fits.
    beta : Fraction
        Below `ratio`.
    ratio : rational
        r of the oracle.
    taken : iterable of configurations, optional
        Those that the oracle may answer; all maximal ones where left out.

    Returns
    -------
    LeastMove or None
        None if no configuration ever becomes too light.

    Raises
    ------
    InputError
        beta not between 0 and the ratio; a type that does not fit.

    Notes
    -----
    One exact linear program with 3 J + 2 columns for each pair of configurations and each type.
    Source: non-preemptive VM scheduling paper, Lemma 4.1, in ``||A|| + ||D|| < C ||Q||`` with the greatest norm.

    Examples
    --------
    One job of either type on a server: half of a queue that is as long as the other must go, or the other must double.

    >>> from theory.instance import additive
    >>> found = least_move(additive([1], [[1], [1]]).pools[0].space, Fraction(1, 2))
    >>> str(found.constant), [str(q) for q in found.queues], [str(d) for d in found.departures]
    ('1/2', ['1', '1'], ['0', '1/2'])
    """
    if not 0 < beta < ratio:
        raise InputError(f"beta: expected a number between 0 and the oracle's ratio {ratio}, got {beta}")
    rows = [tuple(map(int, k)) for k in maximal(space)]
    if not np.max(rows, axis=0).all():
        raise InputError("space: expected one that every type fits; without that the lemma fails")
    best: LeastMove | None = None
    for c in rows if taken is None else [tuple(map(int, k)) for k in taken]:
        for k in rows:
            if all(a >= beta * b for a, b in zip(c, k, strict=True)):
                continue  # heavier than beta k whatever the queues
            for longest in range(len(c)):
                found = _lightening(c, k, rows, beta, Fraction(ratio), longest)
                if found is not None and (best is None or found.constant < best.constant):
                    best = found
    return best


def _lightening(
    c: Configuration, k: Configuration, rows: list[Configuration], beta: Fraction, ratio: Fraction, longest: int
) -> LeastMove | None:
    """Minimise a + b: A <= a, D <= b, Q' = Q + A - D >= 0 where c . Q' <= beta k . Q'."""
    width = len(c)
    gap = [a - beta * b for a, b in zip(c, k, strict=True)]
    # rows: great against each rival; lighter than beta k; a - A_j; b - D_j; Q'_j
    bounds: list[tuple[Fraction | int | None, Fraction | int | None]] = [(0, None)] * len(rows)
    meet, tops, bottoms, after = (len(rows) + n for n in (0, 1, 1 + width, 1 + 2 * width))
    bounds += [(None, 0)] + [(0, None)] * (3 * width)
    program = LinearProgram(bounds)
    great: list[Entries] = [{i: c[j] - ratio * row[j] for i, row in enumerate(rows)} for j in range(width)]
    queue: list[Entries] = [{**great[j], meet: gap[j], after + j: 1} for j in range(width)]
    arrive: list[Entries] = [{meet: gap[j], tops + j: -1, after + j: 1} for j in range(width)]
    leave: list[Entries] = [{meet: -gap[j], bottoms + j: -1, after + j: -1} for j in range(width)]
    most: list[Entries] = [{tops + j: 1 for j in range(width)}, {bottoms + j: 1 for j in range(width)}]
    program.add_columns(
        [0] * (3 * width) + [-1, -1],
        [*queue, *arrive, *leave, *most],
        lower=[1 if j == longest else 0 for j in range(width)] + [0] * (2 * width + 2),
        upper=[1] * width + [None] * (2 * width + 2),
    )
    try:
        vertex = program.solve()
    except InfeasibleError:
        return None
    x = vertex.primal
    return LeastMove(-vertex.objective, c, k, x[:width], x[width : 2 * width], x[2 * width : 3 * width])


def angle_constant(c: Configuration, k: Configuration, beta: Fraction, ratio: Fraction | int = 1) -> Fraction:
    """Return sin^2 of the angle (10) between the hyperplanes of a configuration and a rival; 0 where they are parallel.

    Examples
    --------
    >>> angle_constant((1, 0, 0), (0, 1, 0), Fraction(1, 2))
    Fraction(1, 10)
    """
    first = [a - ratio * b for a, b in zip(c, k, strict=True)]
    second = [a - beta * b for a, b in zip(c, k, strict=True)]
    inner, one, two = (
        total(Fraction(a) * b for a, b in zip(u, v, strict=True))
        for u, v in ((first, second), (first, first), (second, second))
    )
    return 1 - inner**2 / (one * two)
