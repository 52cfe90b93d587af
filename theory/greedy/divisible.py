"""Sizes of which each divides the next: the most reward of a server in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from theory.errors import InputError


def divisible_reward(capacity: int, sizes: Sequence[int], rewards: Sequence[Fraction | int]) -> Fraction:
    """Return the greatest reward of a server with one resource, where the sizes of the types divide each other.

    Parameters
    ----------
    capacity : int
        C, at least 0.
    sizes : sequence of int, shape (J,)
        In any order; of two sizes the smaller one divides the larger one.
    rewards : sequence of Fraction or int, shape (J,)
        At least 0.

    Returns
    -------
    Fraction
        U, the most reward of jobs that fit the server together.

    Raises
    ------
    InputError
        A size of 0 or less, or two sizes of which none divides the other.

    Notes
    -----
    Let the sizes increase, w_1 | w_2 | ..., and let C_i be the largest multiple of w_i up to C. Jobs of size w_i and
    more fill C_i at most, since they fill a multiple of w_i; and the multiples C_i - C_(i+1) of w_i can be filled with
    any of the first i types. So U is the sum of (C_i - C_(i+1)) times the greatest u_j / w_j of the first i types (the
    claim ``packproof/divisible-sizes``). O(J log J) operations; a knapsack of general sizes takes O(J C).

    Examples
    --------
    Four units: the job of 3 and one of 1 earn 7, more than four jobs of 1.

    >>> divisible_reward(4, [1, 3], [1, 6])
    Fraction(7, 1)
    """
    types = sorted(zip(sizes, rewards, strict=True))
    if any(size < 1 for size, _ in types):
        raise InputError("sizes", f"expected at least 1, got {types[0][0]}")
    for (small, _), (large, _) in pairwise(types):
        if large % small:
            raise InputError("sizes", f"expected sizes that divide each other, got {small} and {large}")
    filled = [capacity // size * size for size, _ in types] + [0]
    best_size, best, most = 1, Fraction(0), Fraction(0)
    for i, (size, u) in enumerate(types):
        if u * best_size > best * size:
            best_size, best = size, Fraction(u)
        most += (filled[i] - filled[i + 1]) // best_size * best
    return most
