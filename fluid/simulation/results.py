"""What runs and their replications say: averages by bins of time, intervals, curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.measures import Measures, quantile
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import State
from fluid.statistics import Interval, WarmUp, band, batch_means, growth, mean_interval, ratio_interval, warm_up
from theory.shown import Shown

BATCHES = 20
"""Batches of a single run."""

Array = NDArray[np.float64]

AnyScenario = TypeVar("AnyScenario", bound=Any)


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """What one run has measured, by bins of time.

    Attributes
    ----------
    scenario : Scenario
    measures : Measures
    state : NamedTuple or None
        Of the policy at the end; None for a run that was read from a store.
    seconds : float
        Time in the loop and in drawing jobs, compilation excluded.
    interpreted : int
        Events that ran as Python, while the loop was being compiled or since it could not be.
    interrupted : bool
        Whether Ctrl-C ended it early: the measures then end with the time that was reached.
    drew : bool
        Whether a number was drawn; if not, every seed gives this run.
    """

    scenario: Any
    measures: Measures
    state: State | None
    seconds: float
    interpreted: int = 0
    interrupted: bool = False
    drew: bool = True

    @property
    def first(self) -> int:
        """First bin after the warm-up."""
        return int(self.measures.first[0])

    @property
    def until(self) -> float:
        """The time that was reached."""
        return float(self.measures.edges[-1])

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

    @cached_property
    def slots(self) -> Array:
        """Mean slots held ready, by bin, float64[B, J]."""
        return np.asarray(self.measures.slots / self.spans[:, None])

    @cached_property
    def waiting(self) -> Array:
        """Mean jobs of each type that wait, by bin, float64[B, J]."""
        return np.asarray(self.measures.waiting / self.spans[:, None])

    @cached_property
    def queue(self) -> Array:
        """Mean jobs that wait, by bin, float64[B]."""
        return np.asarray(self.waiting.sum(axis=1))

    @cached_property
    def reward(self) -> Array:
        """Mean reward per server, by bin, float64[B]."""
        return np.asarray(self.jobs @ self.scenario.rewards / self.scenario.servers)

    def average(self, values: Array) -> float:
        """Time average over [W, T] of a quantity by bins."""
        return float(np.average(values[self.first :], weights=self.spans[self.first :]))

    @property
    def mean_reward(self) -> float:
        """Time average of the reward per server over [W, T]."""
        return self.average(self.reward)

    @property
    def mean_queue(self) -> float:
        """Mean jobs that wait over [W, T]."""
        return self.average(self.queue)


@dataclass(frozen=True, repr=False)
class Result(Shown, Generic[AnyScenario]):
    """Replications of one policy in one scenario.

    Intervals are over replications. Where there is only one, or all are identical, they are by batch means: copies of
    one run (listed jobs under a policy that draws nothing) say nothing of how far another run would be.

    Attributes
    ----------
    policy : Policy
    scenario : Scenario
    runs : tuple of Run
    interrupted : bool
        Whether Ctrl-C came before all of them were finished.
    """

    policy: Policy
    scenario: AnyScenario
    runs: tuple[Run, ...]
    interrupted: bool = False

    @cached_property
    def identical(self) -> bool:
        """Whether there are several runs and they do not differ in anything: nothing was drawn."""
        first, *others = self.runs
        fields = type(first.measures)._fields
        pairs = ((getattr(first.measures, name), getattr(one.measures, name)) for one in others for name in fields)
        return bool(others) and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    @property
    def distinct(self) -> Sequence[Run]:
        """The runs that count: the first alone where all are identical."""
        return self.runs[:1] if self.identical else self.runs

    def interval(self, values: Callable[[Run], Array], level: float = 0.95) -> Interval:
        """Time average over [W, T] of a quantity given by bins."""
        measured = [values(run)[run.first :] for run in self.distinct]
        if len(measured) == 1:
            return batch_means(measured[0], level, BATCHES)
        spans = [run.spans[run.first :] for run in self.distinct]
        return mean_interval([np.average(v, weights=w) for v, w in zip(measured, spans, strict=True)], level)

    def ratio(self, above: Callable[[Run], Any], below: Callable[[Run], Any], level: float = 0.95) -> Interval:
        """Ratio of two counts, or sums, given by bins, over [W, T]."""
        a, b = ([part(run)[run.first :] for run in self.distinct] for part in (above, below))
        if len(a) == 1:  # one run: batches of consecutive bins stand for replications
            length = max(1, len(a[0]) // BATCHES)
            a, b = ([row[i : i + length] for i in range(len(row) % length, len(row), length)] for row in (a[0], b[0]))
        return ratio_interval([part.sum() for part in a], [part.sum() for part in b], level)

    def curve_of(self, values: Callable[[Run], Array]) -> tuple[Array, ...]:
        """Return the middle of each bin, and the mean of a quantity there with its pointwise 95 % band."""
        edges = self.runs[0].measures.edges[: self.bins + 1]
        return (edges[1:] + edges[:-1]) / 2, *band([values(run)[: self.bins] for run in self.distinct])

    def curve(self) -> tuple[Array, ...]:
        """Return the curve by which the warm-up is judged: reward over time."""
        return self.curve_of(lambda run: run.reward)

    @property
    def bins(self) -> int:
        """Bins that every run has reached."""
        return min(len(run.spans) for run in self.runs)

    @cached_property
    def warm_up(self) -> WarmUp:
        """Whether the warm-up is long enough, by the mean curve."""
        return warm_up(self.curve()[1], self.runs[0].first)

    def reward(self, level: float = 0.95) -> Interval:
        """Time-average reward per server over [W, T]."""
        return self.interval(lambda run: run.reward, level)

    def jobs(self, j: int, level: float = 0.95) -> Interval:
        """Mean jobs of a type in service."""
        return self.interval(lambda run: run.jobs[:, j], level)

    def acceptance(self, j: int, level: float = 0.95) -> Interval:
        """Jobs of a type that began their service over those that came, in [W, T]."""
        return self.ratio(lambda run: run.measures.starts[:, j], lambda run: run.measures.arrivals[:, j], level)

    def utilisation(self, level: float = 0.95) -> dict[str, Interval]:
        """Share of each resource in use."""
        shares: Callable[[Run], dict[str, Array]] = self.scenario.utilisation
        return {
            name: self.interval(lambda run, name=name: shares(run)[name], level)  # type: ignore[misc]
            for name in shares(self.runs[0])
        }


def replications(results: Iterable[Result[Any]]) -> int:
    """Return how many replications of several results count: the most of any one, copies of one run being one."""
    return max(len(one.distinct) for one in results)


class LossResult(Result[AnyScenario]):
    """Replications of a loss system."""

    def accepted(self, level: float = 0.95) -> Interval:
        """Jobs of all types that began their service over those that came, in [W, T]."""
        return self.ratio(
            lambda run: run.measures.starts.sum(axis=1), lambda run: run.measures.arrivals.sum(axis=1), level
        )

    def rate(self, name: str, level: float = 0.95) -> Interval:
        """Events of a kind per unit time: migrations, reassigned (servers) or preempted (jobs)."""

        def per_time(run: Run) -> Array:
            counted = getattr(run.measures, name)  # by bin, or by bin and type
            return np.asarray(counted.reshape(len(run.spans), -1).sum(axis=1) / run.spans)

        return self.interval(per_time, level)

    def idle_reserve(self, j: int, level: float = 0.95) -> Interval:
        """Mean slots of a type held ready without a job."""
        return self.interval(lambda run: run.slots[:, j] - run.jobs[:, j], level)


class QueueResult(Result[AnyScenario]):
    """Replications of a queue, in continuous time or in slots."""

    def queue(self, level: float = 0.95) -> Interval:
        """Mean number of jobs that wait, in the whole cluster, over [W, T]."""
        return self.interval(lambda run: run.queue, level)

    def waiting(self, j: int, level: float = 0.95) -> Interval:
        """Mean number of jobs of a type that wait."""
        return self.interval(lambda run: run.waiting[:, j], level)

    def growth(self, level: float = 0.95) -> Interval:
        """Growth of the queue per unit time over [W, T]: the slopes of lines, one a replication."""
        bins, first = self.bins, self.runs[0].first
        edges = self.runs[0].measures.edges
        times = (edges[first + 1 : bins + 1] + edges[first:bins]) / 2
        return growth([run.queue[first:bins] for run in self.distinct], times, level)

    def delay(self, level: float = 0.95) -> Interval:
        """Mean waiting time of the jobs that start in [W, T]."""
        return self.ratio(
            lambda run: run.measures.delay.sum(axis=1), lambda run: run.measures.starts.sum(axis=1), level
        )

    def quantile(self, q: float) -> float:
        """Quantile of the waiting times of all jobs that start in [W, T] of any run, within `RELATIVE_ERROR`."""
        return quantile(np.sum([run.measures.sketch for run in self.runs], axis=0), q)

    def quantile_interval(self, q: float, level: float = 0.95) -> Interval:
        """Interval of a quantile of the waiting times: Student's, from the quantiles of the single replications.

        Delays within a run depend on each other, so that a single run gives no interval (its ends are infinite).
        """
        middle = self.quantile(q)
        width = mean_interval([quantile(run.measures.sketch, q) for run in self.distinct], level).half_width
        return Interval(middle, middle - width, middle + width, level, len(self.distinct))

    def curve(self) -> tuple[Array, ...]:
        """Return the curve by which the warm-up is judged: the queue over time."""
        return self.curve_of(lambda run: run.queue)
