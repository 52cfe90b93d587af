"""What runs and their replications say, whatever the model: averages by bins of time, intervals, curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.statistics import Interval, WarmUp, band, batch_means, mean_interval, ratio_interval, warm_up
from theory.greedy.servers import apportion
from theory.instance import Additive, Instance

BATCHES = 20
"""Batches of a single run."""

Array = NDArray[np.float64]


class Measured:
    """What one run has measured, by bins of time; the base of runs, which hold ``measures`` and ``first``."""

    measures: Any
    first: Any

    @property
    def events(self) -> int:
        """Arrivals and departures, and rings of a policy's clocks."""
        return int(self.measures.events[0])

    @cached_property
    def spans(self) -> Array:
        """Length of each bin, float64[B]."""
        return np.diff(self.measures.edges)

    @cached_property
    def jobs(self) -> Array:
        """Mean jobs of each type in service, by bin, float64[B, J]."""
        return np.asarray(self.measures.jobs / self.spans[:, None])

    def average(self, values: Array) -> float:
        """Time average over [W, T] of a quantity by bins."""
        return float(np.average(values[self.first :], weights=self.spans[self.first :]))


class Replicated(ABC):
    """Replications; the base of results, which hold ``runs`` and ``interrupted``.

    Intervals are over replications; over batch means where there is only one, or all are identical: copies of one run
    (listed jobs under a policy that draws nothing) say nothing of how far another would be.
    """

    runs: Sequence[Any]
    interrupted: bool

    @cached_property
    def identical(self) -> bool:
        """Whether there are several runs and they do not differ in anything: nothing was drawn."""
        first, *others = self.runs
        pairs = (zip(first.measures, one.measures, strict=True) for one in others)
        return bool(others) and all(np.array_equal(a, b, equal_nan=True) for pair in pairs for a, b in pair)

    @property
    def apart(self) -> Sequence[Any]:
        """The runs that say something of their own: the first alone where all are identical."""
        return self.runs[:1] if self.identical else self.runs

    def interval(self, values: Callable[[Any], Array], level: float = 0.95) -> Interval:
        """Time average over [W, T] of a quantity given by bins."""
        kept = [values(run)[run.first :] for run in self.apart]
        if len(kept) == 1:
            return batch_means(kept[0], level, BATCHES)
        spans = [run.spans[run.first :] for run in self.apart]
        return mean_interval([np.average(v, weights=w) for v, w in zip(kept, spans, strict=True)], level)

    def ratio(self, above: Callable[[Any], Any], below: Callable[[Any], Any], level: float = 0.95) -> Interval:
        """Ratio of two counts, or sums, given by bins, over [W, T]."""
        a, b = ([part(run)[run.first :] for run in self.apart] for part in (above, below))
        if len(a) == 1:
            length = max(1, len(a[0]) // BATCHES)
            a, b = ([row[i : i + length] for i in range(len(row) % length, len(row), length)] for row in (a[0], b[0]))
        return ratio_interval([part.sum() for part in a], [part.sum() for part in b], level)

    def curve_of(self, values: Callable[[Any], Array]) -> tuple[Array, ...]:
        """Return the middle of each bin, and the mean of a quantity there with its pointwise 95 % band."""
        edges = self.runs[0].measures.edges[: self.bins + 1]
        return (edges[1:] + edges[:-1]) / 2, *band([values(run)[: self.bins] for run in self.apart])

    @abstractmethod
    def curve(self) -> tuple[Array, ...]:
        """Return the curve by which the warm-up is judged."""

    @property
    def bins(self) -> int:
        """Bins that every run has reached."""
        return min(len(run.spans) for run in self.runs)

    @cached_property
    def warm_up(self) -> WarmUp:
        """Whether the warm-up is long enough, by the mean curve."""
        return warm_up(self.curve()[1], self.runs[0].first)

    def effort(self) -> dict[str, Any]:
        """Return what both documents of ``packproof simulate --json`` say of the runs."""
        seconds = sum(run.seconds for run in self.apart)
        events = sum(run.events for run in self.apart)
        return {
            "replications": len(self.apart),
            "interrupted": self.interrupted,
            "events": events,
            "events_per_second": events / seconds if seconds > 0 else None,
        }

    def warm_up_answer(self) -> dict[str, Any]:
        """Return what they say of the warm-up."""
        suggested = self.runs[0].measures.edges[min(self.warm_up.suggested, self.bins)]
        return {"enough": self.warm_up.enough, "suggested": float(suggested)}


def with_capacities(instance: Instance, servers: int) -> list[tuple[int, Additive]]:
    """Return how many servers each pool has, with its capacities; nothing where one lists configurations instead."""
    counts = apportion(servers, [pool.share for pool in instance.pools])
    spaces = [pool.space for pool in instance.pools]
    listed = [(n, space) for n, space in zip(counts, spaces, strict=True) if isinstance(space, Additive)]
    return listed if len(listed) == len(spaces) else []


def shares_of_jobs(instance: Instance, servers: int) -> dict[str, Array]:
    """Return by resource the share of all servers that one job of each type takes, float64[J]."""
    pools = with_capacities(instance, servers)
    if not pools:
        return {}
    shares = {}
    for r, name in enumerate(pools[0][1].resources):
        total = sum(n * space.capacity[r] for n, space in pools)
        shares[name] = np.array([row[r] for row in pools[0][1].demands], float) / total
    return shares


def as_json(number: Interval) -> dict[str, Any]:
    """Return an interval as ``{"mean", "ci95"}``; null where there is no number."""
    low, high = (None if not np.isfinite(x) else x for x in (number.low, number.high))
    return {"mean": number.mean if np.isfinite(number.mean) else None, "ci95": [low, high]}
