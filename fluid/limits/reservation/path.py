"""The exact fluid path of dynamic reservation, from switch to switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import emptying_rates
from fluid.limits.reservation.model import TOLERANCE, Reservation, Vector, plan
from fluid.limits.reservation.regimes import DrainRates, Masses, decide
from fluid.limits.reservation.segment import Segment, State
from theory.errors import InputError
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.instance import Configuration

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
    ends = [t for t, _ in pieces[1:]] + [until]
    for (begin, rate), end in zip(pieces, ends, strict=True):
        state = jobs, _assigned(model, jobs, masses, rate)
        for segment in _followed(model, begin, min(end, until), state, rate, rates, tolerance):
            segments.append(segment)
            jobs, masses = segment.end
    return FluidPath(model, tuple(segments), until)


def _followed(
    model: Reservation, begin: float, end: float, state: State, arrivals: Vector, rates: DrainRates, tolerance: float
) -> Iterator[Segment]:
    """Yield the regimes from a state and a time on; InputError where they do not come to an end."""
    time, short, regimes, steps = begin, 0, 0, 0
    while time < end:
        regime = decide(model, *state, arrivals, rates)
        segment = Segment(model, time, state, regime, arrivals, rates, tolerance)
        # Where eight switches in a row come at once, the regime is held for a time that grows: such a path switches
        # infinitely often in the limit, and held stretches are reported as not exact.
        hold = min(LONGEST_HOLD, HOLD * 1.05 ** (short - 8)) if short >= 8 else 0.0
        segment.advance(end, hold / model.pace)
        short = short + 1 if (segment.stop - time) * model.pace < max(FLICKER, 4 * hold) else 0
        time, state = segment.stop, segment.end
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
        raise InputError("assignment: expected fractions of at least 0 that sum to at most 1")
    empty = (0,) * model.types
    masses[empty] = masses.get(empty, 0.0) + max(0.0, 1.0 - total)
    slots = model.slots_of(masses.items())
    if jobs is None:
        return slots, masses
    present = np.asarray(jobs, dtype=float)
    if present.shape != slots.shape or (present < 0).any() or (present > slots + TOLERANCE).any():
        raise InputError(f"jobs: expected {model.types} numbers, each at least 0 and at most the slots of its type")
    return np.minimum(present, slots), masses
