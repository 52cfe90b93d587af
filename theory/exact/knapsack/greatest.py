"""The configuration of greatest weight, exactly, without listing configurations.

Three algorithms share the work. A *table* over all levels of the resources (`tables`) serves every server whose levels
are few. Where they are too many, a *list* of undominated states (`lists`) serves one resource, and *branch and bound*
(`search`) several. Weights are integers of any length; those beyond 64 bits take the slow path in Python integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from theory.compiled import plain
from theory.errors import TooLargeError
from theory.exact.knapsack.configurations import Reduced, reduced
from theory.exact.knapsack.tables import best_by_levels
from theory.instance import Configuration, Explicit, Space
from theory.numbers import to_integers

CELLS = 20_000_000
"""Limit of the memory of a list, and of a table of one resource, unless another is given."""

FINEST = 2**50
"""Largest capacity of a list, so that a capacity times its levels stays within 64 bits."""

TABLE_LIMIT = 200_000_000
"""Largest table (cells times types)."""

PLAIN_TABLE = 2_000_000
"""Largest table that is filled in Python, with integers of any length: a second."""

SHORT_TABLE = 300_000
"""Largest table (cells times types) that is filled in Python where the caller asks for it: a tenth of a second."""

SMALL_TABLE = 500_000
"""Cells up to which nothing but the table is tried: a type takes it less than a millisecond, and branch and bound about
as long for the linear program of each type."""

FEW_NODES = 200_000
"""Nodes after which branch and bound gives way to a table that is not too large."""

WORD = 62
"""Bits of the greatest weight that a table holds in 64-bit integers."""

LISTED, MANY = 20, 100
"""Without a table, one resource with more than `LISTED` types is searched by a list, where branch and bound may not
end. Up to `MANY` types, branch and bound follows where the list is too long."""


def max_reward(
    space: Space, rewards: Sequence[Fraction | int], types: Iterable[int] | None = None, *, compiled: bool = True
) -> Configuration:
    """Return MaxReward: the configuration of the given types with the greatest reward.

    Parameters
    ----------
    space : Space
        The configurations K of one server.
    rewards : sequence of rational, shape (J,)
        u_j >= 0, compared exactly.
    types : iterable of int, optional
        The set S; all types where left out.
    compiled : bool
        Whether a short table may be filled by compiled code, see `max_weight`.

    Returns
    -------
    Configuration, shape (J,)
        The greatest of K_S in the order of Definition 2.2: by reward, ties by more slots of the first type that
        differs.

    Notes
    -----
    See `max_weight`. Source: auto-scaling paper, Definitions 2.2 and 2.3.

    Examples
    --------
    >>> from theory.instance import additive
    >>> max_reward(additive([12], [[5], [7]]).pools[0].space, [1, 1])
    (2, 0)
    """
    weights, _ = to_integers([Fraction(u) for u in rewards])
    return max_weight(space, weights, types, compiled=compiled)


def max_weight(
    space: Space, weights: Sequence[int], types: Iterable[int] | None = None, *, compiled: bool = True
) -> Configuration:
    """Return the configuration of greatest integer weight, ties by more slots of the first type that differs.

    Parameters
    ----------
    space : Space
    weights : sequence of int, shape (J,)
        At least 0, of any length.
    types : iterable of int, optional
        Types that may be used; all of them where left out.
    compiled : bool
        Whether a table of at most `SHORT_TABLE` may be filled by compiled code. The caller of a few of them leaves it
        to Python, since to compile takes some seconds.

    Raises
    ------
    TooLargeError
        If the table would be larger than `TABLE_LIMIT`, and branch and bound takes more nodes than allowed
        (`theory.exact.knapsack.search.allowing`).

    Notes
    -----
    Additive spaces: a table over resource levels, O(n prod_r (C_r + 1)) for n types, on the space without the resources
    that never bind. Branch and bound is tried before a table that takes long (`SMALL_TABLE`, or long weights), and
    takes the place of one that would be too large. Explicit spaces: a scan of the generators.

    Examples
    --------
    >>> from theory.instance import additive
    >>> max_weight(additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]).pools[0].space, [9, 48, 48, 512])
    (16, 3, 10, 1)
    """
    wanted = set(range(len(weights)) if types is None else types)
    if isinstance(space, Explicit):
        return _scan(space, weights, wanted)
    small = reduced(space, wanted)
    if not small.types:
        return (0,) * len(weights)
    chosen = [weights[j] for j in small.types]
    if not compiled and small.cells * len(chosen) <= SHORT_TABLE:
        return widened(small, _by_table(small, chosen, compiled=False), len(weights))
    return widened(small, _best(small, chosen), len(weights))


def weight(slots: Sequence[Fraction | int], weights: Sequence[Fraction]) -> Fraction:
    """Return U(k), the sum of weight times slots of each type (Definition 2.1); slots may be fractional."""
    return sum((u * k for u, k in zip(weights, slots, strict=True) if k), Fraction(0))


def widened(small: Reduced, slots: Sequence[int], width: int) -> Configuration:
    """Return a configuration of all types from the slots of those that fit."""
    by_type = dict(zip(small.types, slots, strict=True))
    return tuple(by_type.get(j, 0) for j in range(width))


def too_fine(small: Reduced, limit: int | None = None) -> bool:
    """Return whether a table of the resource levels would be larger than a limit, or than `TABLE_LIMIT`."""
    return small.cells * len(small.types) > (TABLE_LIMIT if limit is None else limit)


def is_listed(small: Reduced) -> bool:
    """Return whether a list serves a server without a table, rather than branch and bound."""
    return len(small.capacity) == 1 and len(small.types) > LISTED and small.capacity[0] <= FINEST


def _scan(space: Explicit, weights: Sequence[int], wanted: set[int]) -> Configuration:
    usable = [j for j in range(len(weights)) if j in wanted]
    _, best = max((sum(weights[j] * k[j] for j in usable), tuple(k[j] for j in usable)) for k in space.generators)
    slots = dict(zip(usable, best, strict=True))
    return tuple(slots.get(j, 0) for j in range(len(weights)))


def _best(small: Reduced, weights: Sequence[int]) -> Sequence[int]:
    limit = min(PLAIN_TABLE, TABLE_LIMIT) if is_long(small, weights) else TABLE_LIMIT
    if small.cells <= SMALL_TABLE and not too_fine(small, limit) and not is_long(small, weights):
        return _by_table(small, weights)
    from theory.exact.knapsack import search  # few commands need it

    if too_fine(small, limit):
        return search.greatest(small, weights)
    try:
        return search.greatest(small, weights, search.Nodes(FEW_NODES))
    except TooLargeError:
        return _by_table(small, weights)


def _by_table(small: Reduced, weights: Sequence[int], *, compiled: bool = True) -> list[int]:
    capacity = np.array(small.capacity, np.int64)
    demands = np.array(small.demands, np.int64).reshape(len(weights), len(capacity))
    if is_long(small, weights):  # the same functions as plain Python, on integers of any length
        best = plain(best_by_levels)(capacity, demands, np.array(weights, object))
    else:
        best = (best_by_levels if compiled else plain(best_by_levels))(capacity, demands, np.array(weights, np.int64))
    return list(map(int, best))


def is_long(small: Reduced, weights: Sequence[int]) -> bool:
    """Return whether the weight of a configuration may be beyond the integers of a compiled table."""
    return (max(weights) * small.jobs).bit_length() > WORD
