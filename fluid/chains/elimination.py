"""Stationary laws and expected totals of finite chains, by an elimination that never subtracts.

Gaussian elimination of a generator loses digits in its diagonal alone, where rates that nearly cancel are subtracted.
Grassmann, Taksar and Heyman ("Regenerative analysis and steady state distributions for Markov chains", Operations
Research 33, 1985) watch the chain on the states that are not eliminated yet: the rate at which a state is left is then
the *sum* of its rates to those states and to the outside. Every number is made of positive ones by sums, products and
quotients, so each probability and each expected time has a small relative error of its own, however small it is and
however nearly the chain falls apart.

States are eliminated in the order of Cuthill and McKee, in blocks of `BLOCK`. Only the states up to the furthest
neighbour of those eliminated have rates that change (the window), so n states with windows of w states take O(n w^2)
operations, nearly all of them in products of matrices, and O(n w) numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError

BLOCK = 16
"""States of a block: enough for products of matrices to be quick, few enough for their own elimination to be little."""

TINY = 1e-250
"""Part of the largest rate below which a state counts as not left: quotients by smaller rates might overflow."""

LOWEST = np.iinfo(np.int32).min // 2
"""The exponent of a probability of 0."""


class Block(NamedTuple):
    """States that are eliminated together, in the order of elimination: ``start:stop``, with the window ``start:end``.

    Below the diagonal, `lower` has the rate from a state of the window to one of the block, when that one is
    eliminated, over the rate at which that one is then left: the number of visits to the second that follow one to the
    first.
    """

    start: int
    stop: int
    end: int
    lower: NDArray[np.float64]  # [end - start, stop - start]
    upper: NDArray[np.float64]  # [stop - start, end - start], above the diagonal: rates from the block to later states
    leaving: NDArray[np.float64]  # [stop - start]: rate at which a state is left for later states and the outside


def _order(rates: Any) -> NDArray[np.int64]:
    """Return the states in an order in which neighbours are near each other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    return np.asarray(reverse_cuthill_mckee(csr_array(rates + rates.T), symmetric_mode=True), np.int64)


def _blocks(rates: Any, totals: NDArray[np.float64]) -> Iterator[Block]:
    """Eliminate the states of a chain in their order, block by block.

    Column 0 of `totals`, float64[n, m], has the rates to the outside. Each column is changed in place to what is
    gathered by the chain watched on the later states: to the values at a state, those of the earlier ones that it
    visits are added.
    """
    n = rates.shape[0]
    rates = rates.tocsr()
    rates.sum_duplicates()
    entries = rates.tocoo()
    reach = np.arange(n)
    np.maximum.at(reach, np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col))
    reach = np.maximum.accumulate(reach) + 1
    window, end = np.zeros((0, 0)), 0
    tiny = TINY * max(rates.max(), totals[:, 0].max())
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        before, end = end, int(reach[stop - 1])
        old = before - start
        wider = np.zeros((end - start, end - start))
        wider[:old, :old] = window
        wider[old:] = rates[before:end, start:end].toarray()
        wider[:old, old:] = rates[start:before, before:end].toarray()
        window, size = wider, stop - start
        gathered = totals[start:end]
        leaving = np.zeros(size)
        # Grassmann, Taksar and Heyman: state k is left at the sum of its rates to later states and to the outside; a
        # visit of a later state to k is then followed by each of these in proportion.
        for k in range(size):
            leaving[k] = window[k, k + 1 :].sum() + gathered[k, 0]
            leaving[k] *= leaving[k] > tiny
            if leaving[k] > 0:  # 0 where no later state is reached, or where rates underflow
                window[k + 1 :, k] /= leaving[k]
            visits = window[k + 1 :, k]
            window[k + 1 : size, k + 1 :] += visits[: size - k - 1, None] * window[k, k + 1 :]
            window[size:, k + 1 : size] += visits[size - k - 1 :, None] * window[k, k + 1 : size]
            gathered[k + 1 :] += visits[:, None] * gathered[k]
        yield Block(start, stop, end, window[:, :size], window[:size], leaving)
        # what paths through the block add to the rates between the states behind it
        window = window[size:, size:] + window[size:, :size] @ window[:size, size:]


def stationary(
    n: int, rows: NDArray[np.int64], columns: NDArray[np.int64], rates: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the stationary law of n states and its residual; states that the chain leaves for good have probability 0.

    A rate leads from a row to a different column. InputError if the chain has several recurrent classes, or falls into
    several among floats.
    """
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    jumps = csr_array(coo_array((rates, (rows, columns)), shape=(n, n)))
    number, label = connected_components(jumps, directed=True, connection="strong")
    leaving = np.unique(label[rows[label[rows] != label[columns]]])
    closed = np.setdiff1d(np.arange(number), leaving)
    if len(closed) > 1:
        raise InputError(f"the chain has {len(closed)} recurrent classes: its stationary law is not unique")
    recurrent = np.flatnonzero(label == closed[0])
    probability = np.zeros(n)
    if len(recurrent) == 1:
        probability[recurrent] = 1.0
        return probability, 0.0
    inside = jumps[recurrent][:, recurrent]
    law = probability[recurrent] = irreducible_law(inside)
    out = np.asarray(inside.sum(axis=1)).reshape(-1)
    return probability, float(np.abs(inside.T @ law - out * law).max()) / float(out.max())


def irreducible_law(rates: Any) -> NDArray[np.float64]:
    """Return the stationary law of a chain whose states reach each other, float64[n].

    `rates` is sparse: rates, or probabilities of steps, between different states. InputError if two sets of states are
    left at rates that are 0 among floats, compared with those between their own states.

    >>> from scipy.sparse import csr_array
    >>> irreducible_law(csr_array([[0.0, 1e-200], [1e-199, 0.0]])).round(12).tolist()
    [0.909090909091, 0.090909090909]
    """
    n = rates.shape[0]
    order = _order(rates)
    blocks = [
        block._replace(lower=block.lower.copy(), upper=np.zeros((0, 0)))
        for block in _blocks(rates.tocsr()[order][:, order], np.zeros((n, 1)))
    ]
    ends = [block.start + k for block in blocks for k in np.flatnonzero(block.leaving == 0).tolist()]
    if len(ends) > 1:
        raise InputError(
            "the chain falls into sets of states between which the rates are too small for floats: "
            "expected loads of less different sizes"
        )
    # what is eliminated after the state that is not left has no probability among floats; the others have a fraction
    # and an exponent each, as probabilities may fall below all floats and rise again
    fractions, exponents = np.zeros(n), np.zeros(n, np.int64)
    fractions[ends[0]] = 0.5
    # back substitution: pi_k = sum over later states s of pi_s x (visits to k that follow one to s)
    for block in reversed(blocks):
        for k in range(min(block.stop, ends[0]) - 1, block.start - 1, -1):
            terms = fractions[k + 1 : block.end] * block.lower[k + 1 - block.start :, k - block.start]
            powers = np.where(terms > 0, exponents[k + 1 : block.end], LOWEST)
            top = int(powers.max())
            fraction, power = frexp(float(np.ldexp(terms, powers - top).sum()))
            fractions[k], exponents[k] = fraction, top + power
    law = np.ldexp(fractions, exponents - exponents[fractions > 0].max())
    law /= law.sum()
    result = np.zeros(n)
    result[order] = law
    return result


def expected_totals(rates: Any, outside: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is gathered from each state until the chain goes outside, where a state yields its value per time.

    The solution x, float64[n, m], of ``outside x - rates (x' - x) = values`` for rates between different states and
    rates to the outside; infinite where the outside is not reached. The columns of values have no negative numbers, so
    that relative errors are small.
    """
    order = _order(rates)
    totals = np.column_stack([outside, values])[order]
    blocks = [
        block._replace(upper=block.upper.copy(), lower=np.zeros((0, 0)))
        for block in _blocks(rates.tocsr()[order][:, order], totals)
    ]
    # x_k = (gathered at k + sum over later states of rate x) / leaving_k, the last states first
    for block in reversed(blocks):
        size = block.stop - block.start
        inner, later = totals[block.start : block.stop], totals[block.stop : block.end]
        inner += block.upper[:, size:] @ later
        for k in range(size - 1, -1, -1):
            inner[k] += block.upper[k, k + 1 : size] @ inner[k + 1 :]
            inner[k] /= block.leaving[k]
    result = np.empty_like(totals)
    result[order] = totals
    return result[:, 1:]
