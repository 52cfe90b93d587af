"""Tasks as columns, before they are a trace: put in order, on a common clock and in whole units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fluid.traces.model import Trace

Integers = NDArray[np.int64]

Amounts = tuple[Integers, Fraction]
"""Whole numbers, and what a unit of them stands for."""


def in_largest_units(amounts: Amounts) -> Amounts:
    """Return amounts as whole numbers of their largest common unit.

    Examples
    --------
    >>> numbers, unit = in_largest_units((np.array([500, 1500]), Fraction(1, 1000)))
    >>> numbers.tolist(), unit
    ([1, 3], Fraction(1, 2))
    """
    numbers, unit = amounts
    divisor = int(np.gcd.reduce(numbers)) if len(numbers) else 0
    return (numbers // divisor, unit * divisor) if divisor else (numbers, Fraction(1))


@dataclass
class Tasks:
    """Columns of tasks, each of length n, in the order of their rows.

    Attributes
    ----------
    arrival, duration : int64[n]
        Microseconds.
    outcome, attempt, label, line : int64[n]
        As in `fluid.traces.model.Trace`.
    demand : dict of str to Amounts
        Amounts of each resource, and what a unit of them stands for.
    copies : int64[n], optional
        How many tasks each row is, unless all are one.
    """

    arrival: Integers
    duration: Integers
    outcome: Integers
    attempt: Integers
    label: Integers
    line: Integers
    demand: dict[str, Amounts] = field(default_factory=dict)
    copies: Integers | None = None

    def begin_at_first_arrival(self) -> int:
        """Make the first arrival time 0, and return when it was, in microseconds."""
        first = int(self.arrival.min(initial=2**62)) if len(self.arrival) else 0
        self.arrival = self.arrival - first
        return first

    def trace(
        self,
        source: str,
        labels: Sequence[str] = (),
        notes: Sequence[str] = (),
        *,
        lines: bool = True,
        unordered: bool = False,
    ) -> Trace:
        """Sort by arrival.

        Tasks of one instant stay in the order of the file. Of an `unordered` table, whose rows may stand in any order,
        they come in that of their types' names and then of what else is known of them, and labels in that of names.
        """
        demand = np.zeros((len(self.arrival), len(self.demand)), np.int64)
        for r, (amounts, _) in enumerate(self.demand.values()):
            demand[:, r] = amounts
        label, order = self.label, np.argsort(self.arrival, kind="stable")
        if unordered:
            if labels:
                places = np.argsort(np.array(labels, object))
                label = np.argsort(places)[label]
                labels = [labels[i] for i in places]
            # only tasks of one instant are compared by what else is known of them
            is_new = np.diff(self.arrival[order], prepend=-1) > 0
            is_tied = ~(is_new & np.roll(is_new, -1))
            tied = order[is_tied]
            keys = (*demand.T, self.attempt, self.outcome, self.duration, label, self.arrival)
            order[is_tied] = tied[np.lexsort([key[tied] for key in keys])]
        if self.copies is not None:  # equal tasks stand together
            order = np.repeat(order, self.copies[order])
        return Trace(
            resources=tuple(self.demand),
            unit=tuple(unit for _, unit in self.demand.values()),
            arrival=self.arrival[order],
            duration=self.duration[order],
            outcome=self.outcome[order],
            attempt=self.attempt[order],
            demand=np.ascontiguousarray(demand[order]),
            label=label[order],
            labels=tuple(labels),
            notes=tuple(notes),
            line=self.line[order] if lines else None,
            source=source,
        )
