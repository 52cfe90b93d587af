"""What the papers do to a trace before they simulate it, each step a function that notes what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fluid.traces.model import MICROSECONDS, Outcome, Trace
from theory.errors import InputError, TooLargeError
from theory.numbers import to_integers

FINEST = Fraction(1, 2**40)
"""Least unit of sizes: sums of the sizes of millions of jobs still fit a machine word."""

PRIORITY_BANDS = ("free", "middle", "production")
"""Google priorities 0-1, 2-8 and 9-11."""


def completed(trace: Trace) -> Trace:
    """Keep the tasks that finished at their first attempt, as papers 001 and 004 do.

    Notes
    -----
    In a short window this favours short tasks: long ones are still there at its end. `exposure_mean` says by how much.
    """
    return trace.only((trace.outcome == Outcome.finish) & (trace.attempt == 0), "finished at the first attempt")


def window(trace: Trace, begin: float, end: float) -> Trace:
    """Keep what arrives in [begin, end) seconds, time counted from `begin`; the tasks present at time 0 go.

    Examples
    --------
    >>> from fluid.traces.model import Trace
    >>> import numpy as np
    >>> zeros = np.zeros(3, np.int64)
    >>> three = Trace(("cpu",), (Fraction(1),), np.array([0, 10**6, 2 * 10**6]), zeros, zeros, zeros,
    ...               np.ones((3, 1), np.int64), zeros, (), ())
    >>> window(three, 1, 2).arrival.tolist()
    [0]
    """
    first, last = round(begin * MICROSECONDS), round(end * MICROSECONDS)
    chosen = (trace.arrival >= first) & (trace.arrival < last)
    kept = trace.only(chosen, f"arrivals in [{begin:g}, {end:g}) s")
    return replace(kept, arrival=kept.arrival - first)


def stretched(trace: Trace, beta: Fraction | float) -> Trace:
    """Multiply arrival times by beta, so that traffic is scaled by 1/beta (throughput paper, VII-B).

    Raises
    ------
    InputError
        If beta is not positive.
    """
    if beta <= 0:
        raise InputError("beta", f"expected a number greater than 0, got {beta}")
    factor = Fraction(beta).limit_denominator(10**9)
    rounded_down = trace.arrival.astype(object) * factor.numerator // factor.denominator  # integers of any size
    scaled = np.where(trace.arrival < 0, trace.arrival, rounded_down).astype(np.int64)
    return replace(trace, arrival=scaled, notes=(*trace.notes, f"arrival times multiplied by {float(beta):g}"))


def single_resource(trace: Trace, capacity: Sequence[Fraction | int] | None = None) -> Trace:
    """Take the largest share of a server that a task asks of any resource as its one size (papers 001 and 004).

    Parameters
    ----------
    trace : Trace
    capacity : sequence of rational, shape (R,), optional
        Of one server, in the units of the trace; 1 each where left out, as in the Google trace.

    Returns
    -------
    Trace
        One resource, `size`, of which a server has 1; exact. Tasks of size 0 or larger than a server are dropped and
        counted.

    Raises
    ------
    InputError
        Capacities that do not suit, a trace without resources.
    TooLargeError
        Shares whose common unit is less than 2^-40 of a server.
    """
    if not trace.resources:
        raise InputError("expected at least one resource to take a size from, found none")
    have = [Fraction(1)] * len(trace.unit) if capacity is None else [Fraction(c) for c in capacity]
    if len(have) != len(trace.unit) or min(have) <= 0:
        raise InputError("capacity", f"expected {len(trace.unit)} positive numbers, got {have}")
    # a unit of each resource is a whole multiple of the largest share that all of them have in common
    factors, unit = to_integers([u / c for u, c in zip(trace.unit, have, strict=True)])
    if unit < FINEST:
        raise TooLargeError(f"shares of a server: expected a common unit of at least {FINEST}, got {unit}: round them")
    most = int(1 / unit)
    multiples = np.array(factors, np.int64)
    fits = np.less_equal(trace.demand, most // multiples).min(axis=1)  # checked first, so that no product overflows
    size = (np.where(fits[:, None], trace.demand, 0) * multiples).max(axis=1)
    reduced = replace(trace, resources=("size",), unit=(unit,), demand=size[:, None])
    return reduced.only(size > 0, "largest share of any resource, more than 0 and at most a server")


def powers_of_half(trace: Trace, most: int = 7) -> NDArray[np.int64]:
    """Round each size up to a power of 1/2 and return the exponent, at most `most` (non-preemptive paper, 7.3).

    Parameters
    ----------
    trace : Trace
        Of one resource of which a server has 1 (`single_resource`).
    most : int
        Smaller sizes are rounded up to 2^-most.

    Returns
    -------
    int64[n]
        m with 2^-(m+1) < size <= 2^-m, or `most`.

    Examples
    --------
    >>> import numpy as np
    >>> zeros = np.zeros(4, np.int64)
    >>> sizes = Trace(("size",), (Fraction(1, 1000),), zeros, zeros, zeros, zeros,
    ...               np.array([[1000], [500], [501], [3]]), zeros, (), ())
    >>> powers_of_half(sizes).tolist()
    [0, 1, 0, 7]
    """
    size = trace.demand[:, 0]
    exponent = np.zeros(len(size), np.int64)
    for m in range(1, most + 1):
        exponent[size <= int(1 / (trace.unit[0] * 2**m))] = m
    return exponent


def priority_classes(trace: Trace) -> NDArray[np.int64]:
    """Return the band of each Google priority: 0 free, 1 middle, 2 production (and monitoring)."""
    return (trace.label > 1).astype(np.int64) + (trace.label > 8)


def of_classes(trace: Trace, classes: Sequence[int]) -> Trace:
    """Keep the tasks of some priority bands (see `priority_classes`)."""
    names = ", ".join(PRIORITY_BANDS[c] for c in classes)
    return trace.only(np.isin(priority_classes(trace), list(classes)), f"priority {names}")


def mean_duration(trace: Trace) -> float:
    """Return the plain mean of the durations in seconds, censored ones as far as they were seen."""
    return float(trace.duration.mean() / MICROSECONDS) if len(trace) else float("nan")


def exposure_mean(trace: Trace) -> float:
    """Return total time seen over stays that ended, in seconds: the mean if durations were exponential.

    Notes
    -----
    It uses the censored tasks too, so it is not biased as the mean of the completed is; infinite if none ended.
    """
    ended = int((~trace.censored).sum())
    return float(trace.duration.sum() / MICROSECONDS / ended) if ended else float("inf")
