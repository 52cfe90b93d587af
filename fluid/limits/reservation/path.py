"""The exact fluid path of dynamic reservation, from switch to switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import emptying_rates, is_exact
from fluid.limits.reservation.model import TOLERANCE, Reservation, Vector, plan
from fluid.limits.reservation.regimes import DrainRates, Masses, Regime, decide, occupancy, targets, velocities
from theory.errors import InputError
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.instance import Configuration
from theory.numbers import many

MOST_SWITCHES = 100_000

FLICKER, HOLD, LONGEST_HOLD = 1e-5, 1e-3, 2e-2
"""Times: where eight regimes in a row last less than the first, the fluid slides between regimes of which none
is the mean. Each is then held for at least the second, which grows slowly to the third, and the path is not exact."""


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

    Notes
    -----
    Times outside ``[0, until]`` are refused with `InputError`: the path was not followed there, and its last regime may
    end soon after.
    """

    model: Reservation
    segments: tuple[Segment, ...]
    until: float

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
            raise InputError(f"time: expected from 0 to {self.until:g}, where the path ends, got {float(time):g}")
        return next((s for s in self.segments if time < s.stop), self.segments[-1])

    def state(self, time: float) -> State:
        """Return jobs per server, float64[J], and the fraction of servers in each configuration."""
        return self._segment(time).state(time)

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

    Returns
    -------
    FluidPath

    Notes
    -----
    Jobs and followed configurations are closed forms in a regime; only configurations that drain by themselves are
    integrated (DOP853). A switch is located to 1e-12. Source: packproof, the exact fluid limit of dynamic reservation
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
        raise InputError("arrivals: expected increasing times, the first 0")
    empty: Masses = {(0,) * model.types: 1.0}
    jobs, masses = start if start is not None else (np.zeros(model.types), empty)
    segments: list[Segment] = []
    short = 0
    ends = [t for t, _ in pieces[1:]] + [until]
    for (begin, rate), end in zip(pieces, ends, strict=True):
        time = begin
        masses = _assigned(model, jobs, masses, rate)
        while time < min(end, until):
            regime = decide(model, jobs, masses, rate, rates)
            segment = Segment(model, time, (jobs, masses), regime, rate, rates)
            # Where eight switches in a row come at once, the regime is held for a time that grows: such a path switches
            # infinitely often in the limit, and held stretches are reported as not exact.
            hold = min(LONGEST_HOLD, HOLD * 1.05 ** (short - 8)) if short >= 8 else 0.0
            segment.advance(min(end, until), hold)
            short = short + 1 if segment.stop - segment.start < max(FLICKER, 4 * hold) else 0
            jobs, masses = segment.state(segment.stop)
            time = segment.stop
            segments.append(segment)
            if len(segments) > MOST_SWITCHES:
                raise RuntimeError(f"the fluid path switches more than {MOST_SWITCHES} times by time {time}")
    return FluidPath(model, tuple(segments), until)


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
        raise InputError("assignment: expected fractions of at least 0 that sum to at most 1")
    empty = (0,) * model.types
    masses[empty] = masses.get(empty, 0.0) + max(0.0, 1.0 - total)
    slots = model.slots_of(masses.items())
    if jobs is None:
        return slots, masses
    present = np.asarray(jobs, dtype=float)
    if present.shape != slots.shape or (present < 0).any() or (present > slots + TOLERANCE).any():
        numbers = many(model.types, "number")
        raise InputError(f"jobs: expected {numbers}, each at least 0 and at most the slots of its type")
    return np.minimum(present, slots), masses


PRECISION = 1e-11
"""Switching times are found to this relative precision."""

Values = Callable[[float], NDArray[np.float64]]

State = tuple[Vector, Masses]
"""Jobs per server, float64[J], and the fraction of servers in each configuration."""


class Segment:
    """The path in one regime: closed in form, but for the configurations that drain at a rate of their own."""

    def __init__(
        self, model: Reservation, start: float, state: State, regime: Regime, arrivals: Vector, rates: DrainRates
    ) -> None:
        self.start, self.stop, self.regime, self.held = start, start, regime, False
        self._model, self.arrivals, self._rates = model, arrivals, rates
        self._jobs, self._masses = state
        self._target = arrivals / model.service
        self._dense: list[tuple[float, Values]] = []

    def state(self, time: float, draining: NDArray[np.float64] | None = None) -> State:
        """Return jobs and masses at a time of the segment."""
        model, regime = self._model, self.regime
        # y' = lambda - mu y for admitted types: y(t) = rho + (y(0) - rho) exp(-mu t)
        jobs = self._target + (self._jobs - self._target) * np.exp(-model.service * (time - self.start))
        masses = dict(self._masses)
        asked = targets(regime, jobs)
        masses.update((f.configuration, asked[f.configuration]) for f in regime.followed if f.moves)
        masses.update(zip(regime.drains, self._draining(time) if draining is None else draining, strict=True))
        # all servers are in some configuration: the rest takes what the others leave
        masses[regime.rest] = 0.0
        masses[regime.rest] = 1.0 - sum(masses.values())
        # a type whose arrivals are refused fills every slot that it has
        if any(regime.blocked):
            jobs = np.where(regime.blocked, model.slots_of(masses.items()), jobs)
        return jobs, masses

    def _draining(self, time: float) -> NDArray[np.float64]:
        if not self.regime.drains:
            return np.empty(0)
        for until, values in self._dense:
            if time <= until:
                return values(time)
        return self._dense[-1][1](time) if self._dense else self._initial()

    def _initial(self) -> NDArray[np.float64]:
        return np.array([self._masses.get(k, 0.0) for k in self.regime.drains])

    def velocity(self, state: State) -> dict[Configuration, float]:
        """Return how fast the configurations that change do."""
        jobs, masses = state
        free = self.arrivals - self._model.service * jobs
        return velocities(self._model, self.regime, jobs, masses, free, self._rates)

    def admitted(self, time: float) -> Vector:
        """Return the rate at which jobs of each type are admitted, per server."""
        state = self.state(time)
        # blocked types: y' is the velocity of their slots, so y' + mu y of the arrivals are admitted
        slots = self._model.slots_of(self.velocity(state).items())
        return np.where(self.regime.blocked, slots + self._model.service * state[0], self.arrivals)

    def gross_margin(self, time: float) -> float:
        """Return the least over types of departures less slots that vanish."""
        state = self.state(time)
        vanishing = self._model.slots_of((k, max(0.0, -rate)) for k, rate in self.velocity(state).items() if any(k))
        return float((self._model.service * state[0] - vanishing).min())

    def exact(self, time: float) -> bool:
        """Return whether every rate at a time is the exact limit, not an approximation by a mean."""
        regime = self.regime
        return (
            not self.held
            and regime.kind != "mixed"
            and is_exact(regime.asked)
            and not regime.diverts
            and self._full_drains(time)
        )

    def _full_drains(self, time: float) -> bool:
        """Return whether every server that drains is known to be full as its turn comes, where that matters."""
        regime = self.regime
        if regime.kind == "tracking" and not regime.drains:
            return True
        chance = occupancy(self._model, regime, *self.state(time))
        surely = [blocked or share == 1 for blocked, share in zip(regime.blocked, chance.tolist(), strict=True)]
        spare = {f.configuration for f in regime.followed}
        return all(
            (regime.blocked[j] if k in spare else surely[j]) for k in regime.asked for j, slots in enumerate(k) if slots
        )

    def advance(self, horizon: float, hold: float = 0.0) -> None:
        """Go on to the next switch, or to the horizon; for a time to hold, whatever switches."""
        self.held = hold > 0
        free = min(horizon, self.start + hold)
        if self.regime.drains:
            self._integrate(horizon, free)
        else:
            self._scan(horizon, free)

    def _decide(self, time: float) -> Regime:
        jobs, masses = self.state(time)
        return decide(self._model, jobs, masses, self.arrivals, self._rates)

    def _scan(self, horizon: float, free: float) -> None:
        """Move `stop` to the first switch up to the horizon, found on a grid and then by bisection."""
        rate = float(self._model.service.max())
        before, width = self.start, 0.02 / rate
        while before < horizon:
            after = min(horizon, before + width)
            if self._switches(before, after, free):
                return
            before, width = after, width * 1.2
        self.stop = horizon

    def _switches(self, before: float, after: float, free: float) -> bool:
        """Move `stop` to the first switch of a stretch and return whether there is one; none before `free` counts."""
        if before < free <= after and self._decide(free) != self.regime:
            self.stop = free
        elif after > free and self._decide(after) != self.regime:
            self.stop = self._first_switch(max(before, free), after)
        else:
            return False
        return True

    def _first_switch(self, before: float, after: float) -> float:
        # invariant: the regime holds at `before` and another one holds at `after`
        while after - before > PRECISION * max(1.0, after):
            middle = 0.5 * (before + after)
            if self._decide(middle) == self.regime:
                before = middle
            else:
                after = middle
        return after

    def _integrate(self, horizon: float, free: float) -> None:
        """Follow the draining configurations to the first switch, or to the horizon."""
        for start, stop, values, parts in self._steps(horizon):
            self._dense.append((stop, values))
            for before, after in pairwise(np.linspace(start, stop, parts + 1)):
                if self._switches(float(before), float(after), free):
                    return
        self.stop = horizon

    def _slope(self, time: float, draining: NDArray[np.float64]) -> NDArray[np.float64]:
        moving = self.velocity(self.state(time, draining))
        return np.array([moving[k] for k in self.regime.drains])

    def _steps(self, horizon: float) -> Iterator[tuple[float, float, Values, int]]:
        """Yield (from, to, values between, parts to look at): of high order where draining servers are full.

        Where contents are means the right-hand side has corners at which a solver with error control creeps, so
        plain steps are taken, as short as a grid on which switches are looked for; long steps are looked at in parts.
        """
        if self._full_drains(self.start):
            from scipy.integrate import DOP853

            solver = DOP853(self._slope, self.start, self._initial(), horizon, rtol=1e-9, atol=1e-11)
            while solver.status == "running":
                solver.step()
                yield float(solver.t_old), float(solver.t), solver.dense_output(), 3
            return
        rate = float(self._model.service.max())
        time, width, at = self.start, 0.002 / rate, self._initial()
        while time < horizon:
            step = min(width, horizon - time)
            # the classical Runge-Kutta step of order 4; masses stay at least 0
            first = self._slope(time, at)
            second = self._slope(time + step / 2, np.maximum(at + step / 2 * first, 0.0))
            third = self._slope(time + step / 2, np.maximum(at + step / 2 * second, 0.0))
            fourth = self._slope(time + step, np.maximum(at + step * third, 0.0))
            after = np.maximum(at + step / 6 * (first + 2 * second + 2 * third + fourth), 0.0)
            end = time + step if step < horizon - time else horizon
            yield time, end, _straight(time, at, end, after), 1
            time, at, width = end, after, min(1.05 * width, 0.05 / rate)


def _straight(start: float, first: Vector, stop: float, last: Vector) -> Values:
    return lambda time: first + (last - first) * ((time - start) / (stop - start))
