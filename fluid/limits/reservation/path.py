"""The exact fluid path of dynamic reservation, from switch to switch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import emptying_rates
from fluid.limits.reservation.model import TOLERANCE, Reservation, Vector, plan
from fluid.limits.reservation.regimes import DrainRates, Masses, Regime, decide
from fluid.limits.reservation.segment import Segment, State
from theory.errors import ArgumentError, InputError
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.instance import Configuration

MOST_REGIMES, MOST_STEPS = 2_000, 20_000
"""Most regimes of a path, and steps of its integrator, between two changes of arrivals."""

RECENT, RECURRENCES = 32, 3
"""Where a regime is this often among so many before it, the fluid slides between regimes of which none is the mean."""

SHORT, GROWTH, LONG, SLOWER, MOST_AGAIN = 1e-9, 1.5, 1e-3, 1.05, 500
"""Each is then held, unless it runs out of servers or slots before: for the first time, in shortest mean service times,
times the second for each time that one came back; beyond the third, times the fourth only. The path is not exact."""

ROUNDING = 1e-9
"""Part of the last time by which a time may lie beyond it: times are computed in floats."""


@dataclass(frozen=True)
class FluidPath:
    """The fluid limit of dynamic reservation over [0, until].

    Attributes
    ----------
    model : Reservation
    segments : tuple of Segment
        One a regime; they meet at the switching times.
    until : float
    coarser : callable
        Returns the same path with less accuracy, by which the error is estimated.

    Notes
    -----
    Times outside ``[0, until]`` are refused with `InputError`: the path was not followed there, and its last regime may
    end soon after.
    """

    model: Reservation
    segments: tuple[Segment, ...]
    until: float
    coarser: Callable[[], FluidPath] = field(repr=False, compare=False)

    @cached_property
    def error(self) -> float:
        """An estimate of the largest error of jobs and of servers in each configuration, per server.

        The largest difference to the path with a tolerance `COARSER` times as large, at 200 times and all switches: an
        estimate of that path's error, which is the larger one. The approximations that `exact` tells are no part of it.
        """
        coarse = self.coarser()
        times = np.unique(np.concatenate((np.linspace(0.0, self.until, 200), self.switches)))
        ours, theirs = self.masses(times), coarse.masses(times)
        nothing = np.zeros(len(times))
        apart = [ours.get(k, nothing) - theirs.get(k, nothing) for k in {**ours, **theirs}]
        return max(float(np.abs(self.jobs(times) - coarse.jobs(times)).max()), float(np.abs(apart).max()))

    @property
    def switches(self) -> list[float]:
        """The times at which the regime changes, first and last time left out."""
        return [segment.start for segment in self.segments[1:]]

    @cached_property
    def goal(self) -> GreedyAssignment:
        """The global greedy assignment of the last arrival rates, where the path ends."""
        workload = self.segments[-1].arrivals / self.model.service
        if np.array_equal(workload * self.model.service, self.model.workload * self.model.service):
            return self.model.equilibrium
        exact = [Fraction(rho).limit_denominator(10**9) for rho in workload.tolist()]
        return global_greedy(self.model.instance.with_workload(exact))

    def _segment(self, time: float) -> Segment:
        """Return the segment at a time; InputError for a time before 0 or beyond the end of the path."""
        if not 0 <= time <= self.until * (1 + ROUNDING):
            raise InputError("time", f"expected from 0 to {self.until:g}, where the path ends, got {float(time):g}")
        return next((s for s in self.segments if time < s.stop), self.segments[-1])

    def state(self, time: float) -> State:
        """Return jobs per server, float64[J], and the fraction of servers in each configuration."""
        jobs, masses = self._segment(time).state(time)
        return np.maximum(jobs, 0.0), masses

    def jobs(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y, jobs per server, float64[n, J]."""
        return np.array([self.state(t)[0] for t in times]).reshape(len(times), self.model.types)

    def rewards(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the reward per server, float64[n]."""
        return np.asarray(self.jobs(times) @ self.model.rewards)

    def masses(self, times: Sequence[float] | NDArray[np.float64]) -> dict[Configuration, NDArray[np.float64]]:
        """Return the fraction of servers in each configuration ever used, float64[n] each; the empty one is idle."""
        states = [self.state(t)[1] for t in times]
        used = sorted({k for masses in states for k, mass in masses.items() if mass > TOLERANCE}, reverse=True)
        return {k: np.array([masses.get(k, 0.0) for masses in states]) for k in used}

    def admitted(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate at which jobs of each type are admitted, per server, float64[n, J]."""
        return np.array([self._segment(t).admitted(t) for t in times]).reshape(len(times), self.model.types)

    def gross_margin(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much the gross-drain condition holds, float64[n]: negative where it is broken.

        The least over types of ``mu_j y_j - sum_k k_j max(0, -x_k')``: more slots of type j cannot vanish than jobs of
        that type depart.
        """
        return np.array([self._segment(t).gross_margin(t) for t in times])

    @property
    def draining_limits(self) -> bool:
        """Whether draining is limiting at some time."""
        return any(s.regime.kind == "draining" for s in self.segments)

    @property
    def exact(self) -> bool:
        """Whether every rate used is the exact limit, not an approximation by a mean.

        All draining servers are full as their turn comes, no regime is mixed, and no followed stage diverts departures.

        Where types with free slots have jobs on draining servers, their spread over these is taken as a mean; in a
        mixed regime the time for which more servers drain is, too, and where the joint contents of many draining
        servers are too many what each sees of the departures. The churn of `Regime.diverts` is left out.
        """
        return all(s.exact(t) for s in self.segments for t in (s.start, 0.5 * (s.start + s.stop), s.stop))

    def time_within(self, share: float) -> float | None:
        """Return the time after which the reward stays within a share of the greedy reward, or None if not by `until`.

        Found to the width of a grid of 2,000 points, then by bisection.
        """
        goal = float(self.goal.reward)

        def away(time: float) -> bool:
            return abs(float(self.rewards([time])[0]) - goal) > share * goal

        grid = np.linspace(0.0, self.until, 2001)
        outside = np.flatnonzero(np.abs(self.rewards(grid) - goal) > share * goal)
        if not outside.size:
            return 0.0
        if outside[-1] == grid.size - 1:
            return None
        before, after = float(grid[outside[-1]]), float(grid[outside[-1] + 1])
        while after - before > 1e-9 * self.until:
            middle = 0.5 * (before + after)
            before, after = (middle, after) if away(middle) else (before, middle)
        return after


def fluid_path(
    model: Reservation,
    until: float,
    start: State | None = None,
    arrivals: Sequence[tuple[float, Sequence[float] | Vector]] = (),
    rates: DrainRates = emptying_rates,
    tolerance: float = 1e-9,
) -> FluidPath:
    """Return the fluid limit of dynamic reservation, switch by switch.

    Parameters
    ----------
    model : Reservation
    until : float
    start : (float64[J], dict of Configuration to float), optional
        Jobs and masses at time 0, from `state_of`; the empty system where left out. Idle servers are assigned at once
        to what the greedy map asks for.
    arrivals : sequence of (time, float64[J]), optional
        lambda per server from each time on; ``workload x service rate`` throughout where left out.
    rates : callable
        How fast draining configurations free servers: `emptying_rates` (exact) or
        `fluid.limits.reservation.draining.minimum_rates` (the paper-like simplification, wrong where draining limits).
    tolerance : float
        Relative error of a step of the integrator; `FluidPath.error` estimates what it comes to.

    Returns
    -------
    FluidPath

    Raises
    ------
    InputError
        Times of arrivals that do not increase, or a path that takes more than `MOST_REGIMES` regimes, or `MOST_STEPS`
        steps of the integrator.

    Notes
    -----
    Jobs and followed configurations are closed forms in a regime; only configurations that drain by themselves are
    integrated, by DOP853, an embedded Runge-Kutta pair of order 8 with dense output, whose global error is in
    proportion to the tolerance. A switch is located in the dense output, until the state moves by a thousandth of the
    tolerance. Source: packproof, the exact fluid limit of dynamic reservation
    (beyond Theorem 6.1 of the auto-scaling paper, which proves the limit point).

    Examples
    --------
    One slot a server, both types wanted by more jobs than there are servers: the better type ends with all of them.

    >>> from theory.instance import additive
    >>> model = Reservation(additive([1], [[1], [1]], rewards=[2, 1], workload=[5, 5]))
    >>> path = fluid_path(model, 20.0)
    >>> path.draining_limits, path.jobs([20.0]).round(6).tolist()
    (True, [[1.0, 0.0]])
    """
    pieces = [(float(t), np.asarray(rate, dtype=float)) for t, rate in arrivals]
    pieces = pieces or [(0.0, model.workload * model.service)]
    if pieces[0][0] > 0 or any(later <= earlier for (earlier, _), (later, _) in pairwise(pieces)):
        raise InputError("arrivals", "expected increasing times, the first 0")
    empty: Masses = {(0,) * model.types: 1.0}
    state = start if start is not None else (np.zeros(model.types), empty)
    return _path(model, until, state, pieces, rates, tolerance, 1.0)


COARSER, LONGER = 100.0, 2.0
"""How much larger the tolerance is, and how much longer regimes are held, where a path is followed for its error."""


def _path(
    model: Reservation,
    until: float,
    start: State,
    pieces: Sequence[tuple[float, Vector]],
    rates: DrainRates,
    tolerance: float,
    longer: float,
) -> FluidPath:
    """Follow a path through the pieces of its arrivals."""
    segments: list[Segment] = []
    jobs, masses = start
    ends = [t for t, _ in pieces[1:]] + [until]
    for (begin, rate), end in zip(pieces, ends, strict=True):
        state = jobs, _assigned(model, jobs, masses, rate)
        for segment in _followed(model, begin, min(end, until), state, rate, rates, tolerance, longer):
            segments.append(segment)
            jobs, masses = segment.end

    def coarser() -> FluidPath:
        return _path(model, until, start, pieces, rates, COARSER * tolerance, LONGER * longer)

    return FluidPath(model, tuple(segments), until, coarser)


def _followed(
    model: Reservation,
    begin: float,
    end: float,
    state: State,
    arrivals: Vector,
    rates: DrainRates,
    tolerance: float,
    longer: float,
) -> Iterator[Segment]:
    """Yield the regimes from a state and a time on; InputError where there are too many, or too many steps."""
    time, again, regimes, steps = begin, 0, 0, 0
    recent: deque[Regime] = deque(maxlen=RECENT)
    while time < end:
        regime = decide(model, *state, arrivals, rates)
        segment = Segment(model, time, state, regime, arrivals, rates, tolerance)
        # Where a regime comes back again and again, it is held for a time that grows: such a path switches infinitely
        # often in the limit, and held stretches are reported as not exact.
        again = min(again + 1, MOST_AGAIN) if recent.count(regime) >= RECURRENCES else max(0, again - 1)
        recent.append(regime)
        hold = min(SHORT * GROWTH**again, LONG * SLOWER**again) / model.pace if again else 0.0
        segment.advance(end, longer * hold, MOST_STEPS - steps)
        time, state = segment.stop, segment.end
        regimes, steps = regimes + 1, steps + segment.steps
        if time < end and (regimes >= MOST_REGIMES or steps >= MOST_STEPS):
            most = f"{MOST_REGIMES:,} regimes" if regimes >= MOST_REGIMES else f"{MOST_STEPS:,} steps of the integrator"
            raise ArgumentError(
                "until",
                f"expected a time up to {time:.6g}, to which the fluid path takes {most}, the most that are "
                f"followed, got {end:g}",
            )
        yield segment


def _assigned(model: Reservation, jobs: Vector, masses: Masses, arrivals: Vector) -> Masses:
    """Assign idle servers to what the greedy map asks for, in greedy order."""
    empty = (0,) * model.types
    result = dict(masses)
    for stage in plan(model, jobs, arrivals - model.service * jobs):
        wanted = stage.mass - result.get(stage.configuration, 0.0)
        taken = min(max(wanted, 0.0), result.get(empty, 0.0))
        if taken > 0:
            result[stage.configuration] = result.get(stage.configuration, 0.0) + taken
            result[empty] -= taken
    return result


def state_of(
    model: Reservation,
    assignment: Mapping[Configuration, float],
    jobs: Sequence[float] | None = None,
) -> State:
    """Return a state: servers in given configurations, with given jobs, or with all slots full.

    Raises
    ------
    InputError
        Fractions that are negative or sum to more than 1, a configuration that does not fit, more jobs than slots.

    Examples
    --------
    >>> from theory.instance import additive
    >>> model = Reservation(additive([2], [[1], [2]]))
    >>> jobs, masses = state_of(model, {(2, 0): 0.25})
    >>> jobs.tolist(), masses
    ([0.5, 0.0], {(2, 0): 0.25, (0, 0): 0.75})
    """
    masses = {model.checked(k): float(fraction) for k, fraction in assignment.items()}
    total = sum(masses.values())
    if any(fraction < 0 for fraction in masses.values()) or total > 1 + TOLERANCE:
        raise InputError("assignment", "expected fractions of at least 0 that sum to at most 1")
    empty = (0,) * model.types
    masses[empty] = masses.get(empty, 0.0) + max(0.0, 1.0 - total)
    slots = model.slots_of(masses.items())
    if jobs is None:
        return slots, masses
    present = np.asarray(jobs, dtype=float)
    if present.shape != slots.shape or (present < 0).any() or (present > slots + TOLERANCE).any():
        raise InputError("jobs", f"expected {model.types} numbers, each at least 0 and at most the slots of its type")
    return np.minimum(present, slots), masses
