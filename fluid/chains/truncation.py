"""What a truncated chain says of the whole: bounds on the mean of a quantity, given that the state is in a set.

Let A be the set, R the states of A that can be entered from outside, f the quantity, and q the rates, e(s) the rate
from s to the outside. The chain watched on A alone goes from s, at rate e(s), to states of R with probabilities that
are not known. For any numbers h on A, the mean of f over its stationary law is therefore at most

    max over s in A of  f(s) + sum_t q(s, t) (h(t) - h(s)) + e(s) (max_R h - h(s)),

as the mean of the terms after f(s) is at most 0: with the true probabilities in place of the maximum over R it is the
mean drift of h, which is 0. The best h belongs to a chain that always enters in the worst state of R, and the bound is
then the mean of that chain, as by Courtois and Semal ("Bounds for the positive eigenvectors of nonnegative matrices and
for their approximations by decomposition", Journal of the ACM 31, 1984). Floats give such an h approximately, which
makes the bound a little wider and never wrong: the maximum is taken with the errors of rounding in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.chains.elimination import expected_totals

STEPS = 50
"""Most steps of policy iteration, which takes two or three; any number of them gives bounds that hold."""


def mean_bounds(
    rates: Any, exits: NDArray[np.float64], entries: NDArray[np.bool_], likely: int, quantity: NDArray[np.float64]
) -> tuple[float, float]:
    """Return bounds on the mean of a quantity, float64[n], given A.

    `rates` is sparse, between different states of A; `exits`, float64[n], are the rates to the outside, and `entries`,
    bool[n], is R. Potentials are relative to a likely state, which is reached from every state unless the outside is.

    An M/M/1 queue of load 1/2 with at most one job inside A, entered from outside in state 1 alone.

    >>> from scipy.sparse import csr_array
    >>> rates = csr_array([[0.0, 1.0], [2.0, 0.0]])
    >>> low, high = mean_bounds(rates, np.array([0.0, 1.0]), np.array([False, True]), 0, np.array([0.0, 1.0]))
    >>> low <= 1 / 3 <= high, round(high - low, 12)
    (True, 0.0)
    """
    n = len(exits)
    others = np.delete(np.arange(n), likely)
    rates = rates.tocsr()
    to_likely = rates[others][:, [likely]].toarray().reshape(-1)
    from_likely = rates[[likely]].toarray().reshape(-1)
    # columns: quantity, time, exits and visits of the likely state, until that state or the outside is reached
    totals = np.zeros((n, 4))
    base = quantity.min()
    values = np.column_stack([quantity - base, np.ones(n), exits])
    totals[others] = expected_totals(
        rates[others][:, others],
        exits[others] + to_likely,
        np.column_stack([values[others], to_likely]),
    )
    totals[likely, 3] = 1.0
    cycle = values[likely] + from_likely @ totals[:, :3]  # the same, from the likely state and per time in it
    gathered, time, outside, back = totals.T
    candidates = np.flatnonzero(entries) if exits.any() else np.array([likely])
    # the mean of the chain that always enters in a candidate: quantity over time between visits of the likely state
    means = np.full(n, np.nan)
    means[candidates] = (cycle[0] * back + cycle[2] * gathered)[candidates] / (cycle[1] * back + cycle[2] * time)[
        candidates
    ]

    def potential(sign: int) -> NDArray[np.float64]:
        """Return h for the quantity or its negative, by policy iteration over the state that is always entered."""
        entered = int(candidates[(sign * means[candidates]).argmax()])
        for _ in range(STEPS):
            mean = means[entered]
            # two equations determine the potential outside: the one with the larger coefficient has the smaller error
            if back[entered] * cycle[1] >= cycle[2] * time[entered]:
                value = (gathered[entered] - mean * time[entered]) / back[entered]
            else:
                value = (mean * cycle[1] - cycle[0]) / cycle[2]
            h = sign * (gathered - mean * time + value * outside)
            best = int(candidates[h[candidates].argmax()])
            if h[best] <= h[entered]:
                break
            entered = best
        return np.asarray(h)

    low, high = (_greatest(rates, exits, entries, sign * quantity, potential(sign)) for sign in (-1, 1))
    return -low, high


def _greatest(
    rates: Any,
    exits: NDArray[np.float64],
    entries: NDArray[np.bool_],
    quantity: NDArray[np.float64],
    potential: NDArray[np.float64],
) -> float:
    """Return the bound of the head of this file, rounded upwards."""
    top = potential[entries].max(initial=-np.inf)
    if not exits.any():
        top = 0.0  # nothing enters
    total = np.asarray(rates.sum(axis=1)).reshape(-1)
    size = np.abs(potential)
    values = quantity + (rates @ potential - total * potential) + exits * (top - potential)
    sizes = np.abs(quantity) + (rates @ size + total * size) + exits * (abs(top) + size)
    # a sum of m products has an error of at most about (m + 1) u sum |terms|, u half of eps; the other half is slack
    terms = np.diff(rates.indptr) + 6
    return float(np.nextafter((values + terms * np.finfo(float).eps * sizes).max(), np.inf))
