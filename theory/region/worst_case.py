"""The least share of the greatest weight that a rule attains on a given server, exactly, and at which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import max_weight
from theory.instance import Additive, Configuration
from theory.numbers import to_integers
from theory.region.oracles import relative_sizes

MOST_ORDERED = 8
"""Most types for which the refined rule is tried in every order: 8 have 109,600 beginnings of orders."""


@dataclass(frozen=True)
class Worst:
    """The least share of the greatest weight that a rule attains on one server."""

    ratio: Fraction  # the infimum of (weight of the answer) / (greatest weight) over all weights but 0
    at: tuple[int, ...]  # weights, shape (J,), at which the ratio is met if ties are broken in the given order
    order: tuple[int, ...]  # in which the rule then prefers the types of positive weight; empty if ties do not matter
    answer: Configuration  # of the rule
    best: Configuration  # one of the greatest weight

    def weights(self, scale: int = 10**6) -> tuple[int, ...]:
        """Return weights without ties whose ratio is as near to the infimum as 1 / `scale`, times J or so."""
        if not self.order:
            return self.at
        weights = [0] * len(self.at)
        for rank, j in enumerate(self.order):
            weights[j] = self.at[j] * (scale - rank)
        return tuple(weights)


def worst_weights(space: Additive, name: str) -> Worst:
    """Find the weights at which a rule attains the least share of the greatest weight, exactly.

    Parameters
    ----------
    space : Additive
    name : str
        ``single-type``, ``relative-value`` or ``refined`` (`theory.region.oracles.RULES`).

    Raises
    ------
    InputError
        Another name.
    TooLargeError
        For ``refined`` and more than `MOST_ORDERED` types.

    Notes
    -----
    The weights on which the rule gives one answer g form cones, and on a cone the ratio of ``w g`` to the greatest
    ``w k`` is least on one of its edges. ``single-type``: scaled so that the answer weighs 1, no weight is above
    1 / n_j, and the greatest weight grows with each of them: w_j = 1 / n_j is worst, one knapsack. ``relative-value``:
    the edge common to all its cones weighs every type by its size; one knapsack. ``refined``: the cone of an order
    of the types has an edge for every beginning S of it, on which the types of S weigh their sizes and the others
    nothing; every beginning of every order is tried, with a knapsack for every set S.

    Examples
    --------
    >>> space = Additive(("cpu",), (6,), ((4,), (3,), (2,)), (1,))
    >>> [str(worst_weights(space, name).ratio) for name in ("single-type", "relative-value", "refined")]
    ['3/4', '2/3', '2/3']
    """
    width = len(space.demands)
    most = [space.most(j) for j in range(width)]
    fitting = [j for j in range(width) if most[j]]
    if name == "single-type":  # w_j = 1 / n_j: every type alone weighs 1
        weights, _ = to_integers([Fraction(1, n) if n else Fraction(0) for n in most])
        return _worst(weights, (), _alone(width, fitting[0], most), max_weight(space, weights))
    sizes = relative_sizes(space)
    if name == "relative-value":  # w_j = size_j, and the tie goes to the type that fills the server worst
        first = min(fitting, key=lambda j: sizes[j] * most[j])
        order = (first, *(j for j in fitting if j != first))
        return _worst(sizes, order, _alone(width, first, most), max_weight(space, sizes))
    if name != "refined":
        raise InputError("worst weights", f"expected single-type, relative-value or refined, got {name!r}")
    if len(fitting) > MOST_ORDERED:
        raise TooLargeError(f"the refined rule's orders of {len(fitting)} types: expected at most {MOST_ORDERED} types")
    return _worst_of_orders(space, sizes, fitting)


def _alone(width: int, j: int, most: Sequence[int]) -> Configuration:
    return tuple(most[j] if i == j else 0 for i in range(width))


def _value(weights: Sequence[int], k: Configuration) -> int:
    return sum(w * slots for w, slots in zip(weights, k, strict=True))


def _worst(at: Sequence[int], order: tuple[int, ...], answer: Configuration, best: Configuration) -> Worst:
    return Worst(Fraction(_value(at, answer), _value(at, best)), tuple(at), order, answer, best)


def _worst_of_orders(space: Additive, sizes: Sequence[int], fitting: Sequence[int]) -> Worst:
    """Try every beginning of every order of the types for the rule that fills what is left."""
    width = len(sizes)
    best: dict[frozenset[int], Configuration] = {}
    worst: Worst | None = None

    def visit(order: tuple[int, ...], left: tuple[int, ...], answer: Configuration) -> None:
        nonlocal worst
        for j in fitting:
            if j in order:
                continue
            demand = space.demands[j]
            slots = min(c // d for c, d in zip(left, demand, strict=True) if d)
            longer, filled = (*order, j), tuple(slots if i == j else n for i, n in enumerate(answer))
            chosen = frozenset(longer)
            at = [size if i in chosen else 0 for i, size in enumerate(sizes)]
            if chosen not in best:  # the weights, and so the greatest weight, depend on the set of the types alone
                best[chosen] = max_weight(space, at)
            here = _worst(at, longer, filled, best[chosen])
            if worst is None or here.ratio < worst.ratio:
                worst = here
            visit(longer, tuple(c - slots * d for c, d in zip(left, demand, strict=True)), filled)

    visit((), space.capacity, (0,) * width)
    assert worst is not None
    return worst
