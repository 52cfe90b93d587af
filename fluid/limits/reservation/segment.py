"""A stretch of the fluid path in one mode, up to the next switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import is_exact
from fluid.limits.reservation.model import Reservation, Vector
from fluid.limits.reservation.regimes import DrainRates, Masses, Mode, decide, occupancy, targets, velocities
from theory.instance import Configuration

PRECISION = 1e-11
"""Switching times are found to this relative precision."""

Values = Callable[[float], NDArray[np.float64]]

State = tuple[Vector, Masses]
"""Jobs per server, float64[J], and the fraction of servers in each configuration."""


class Segment:
    """The path in one mode: closed in form, but for the configurations that drain at a rate of their own.

    Attributes
    ----------
    start, stop : float
    mode : Mode
    arrivals : float64[J]
        lambda, per server and unit of time.
    """

    def __init__(
        self, model: Reservation, start: float, state: State, mode: Mode, arrivals: Vector, rates: DrainRates
    ) -> None:
        self.start, self.stop, self.mode, self.held = start, start, mode, False
        self._model, self.arrivals, self._rates = model, arrivals, rates
        self._jobs, self._masses = state
        self._target = arrivals / model.service
        self._dense: list[tuple[float, Values]] = []

    def state(self, time: float, draining: NDArray[np.float64] | None = None) -> State:
        """Return jobs and masses at a time of the segment."""
        model, mode = self._model, self.mode
        jobs = self._target + (self._jobs - self._target) * np.exp(-model.service * (time - self.start))
        masses = dict(self._masses)
        asked = targets(mode, jobs)
        masses.update((f.configuration, asked[f.configuration]) for f in mode.followed if f.moves)
        masses.update(zip(mode.drains, self._draining(time) if draining is None else draining, strict=True))
        masses[mode.rest] = 0.0
        masses[mode.rest] = 1.0 - sum(masses.values())
        slots = model.slots_of(masses.items())
        return np.where(mode.blocked, slots, jobs), masses

    def _draining(self, time: float) -> NDArray[np.float64]:
        if not self.mode.drains:
            return np.empty(0)
        for until, values in self._dense:
            if time <= until:
                return values(time)
        return self._dense[-1][1](time) if self._dense else self._initial()

    def _initial(self) -> NDArray[np.float64]:
        return np.array([self._masses.get(k, 0.0) for k in self.mode.drains])

    def velocity(self, state: State) -> dict[Configuration, float]:
        """Return how fast the configurations that change do."""
        jobs, masses = state
        free = self.arrivals - self._model.service * jobs
        return velocities(self._model, self.mode, jobs, masses, free, self._rates)

    def admitted(self, time: float) -> Vector:
        """Return the rate at which jobs of each type are admitted, per server."""
        state = self.state(time)
        slots = self._model.slots_of(self.velocity(state).items())
        return np.where(self.mode.blocked, slots + self._model.service * state[0], self.arrivals)

    def gross_margin(self, time: float) -> float:
        """Return the least over types of departures less slots that vanish."""
        state = self.state(time)
        vanishing = self._model.slots_of((k, max(0.0, -rate)) for k, rate in self.velocity(state).items() if any(k))
        return float((self._model.service * state[0] - vanishing).min())

    def exact(self, time: float) -> bool:
        """Return whether nothing here is a mean but what is one in the limit."""
        mode = self.mode
        return (
            not self.held
            and mode.kind != "mixed"
            and is_exact(mode.asked)
            and not mode.diverts
            and self._full_drains(time)
        )

    def _full_drains(self, time: float) -> bool:
        """Return whether every server that drains is known to be full as its turn comes, where that matters."""
        mode = self.mode
        if mode.kind == "tracking" and not mode.drains:
            return True
        chance = occupancy(self._model, mode, *self.state(time))
        surely = [blocked or share == 1 for blocked, share in zip(mode.blocked, chance.tolist(), strict=True)]
        spare = {f.configuration for f in mode.followed}
        return all(
            (mode.blocked[j] if k in spare else surely[j]) for k in mode.asked for j, slots in enumerate(k) if slots
        )

    def advance(self, horizon: float, hold: float = 0.0) -> None:
        """Go on to the next switch, or to the horizon; for a time to hold, whatever switches."""
        self.held = hold > 0
        free = min(horizon, self.start + hold)
        if self.mode.drains:
            self._integrate(horizon, free)
        else:
            self._scan(horizon, free)

    def _decide(self, time: float) -> Mode:
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
        if before < free <= after and self._decide(free) != self.mode:
            self.stop = free
        elif after > free and self._decide(after) != self.mode:
            self.stop = self._first_switch(max(before, free), after)
        else:
            return False
        return True

    def _first_switch(self, before: float, after: float) -> float:
        while after - before > PRECISION * max(1.0, after):
            middle = 0.5 * (before + after)
            if self._decide(middle) == self.mode:
                before = middle
            else:
                after = middle
        return after

    def _integrate(self, horizon: float, free: float) -> None:
        """Follow the draining configurations to the first switch, or to the horizon."""
        for start, stop, values in self._steps(horizon):
            self._dense.append((stop, values))
            for before, after in pairwise(np.linspace(start, stop, 4)):
                if self._switches(float(before), float(after), free):
                    return
        self.stop = horizon

    def _slope(self, time: float, draining: NDArray[np.float64]) -> NDArray[np.float64]:
        moving = self.velocity(self.state(time, draining))
        return np.array([moving[k] for k in self.mode.drains])

    def _steps(self, horizon: float) -> Iterator[tuple[float, float, Values]]:
        """Yield (from, to, values between): of high order where draining servers are full, else plain steps.

        Where contents are means the right-hand side has corners at which a solver with error control creeps.
        """
        if self._full_drains(self.start):
            from scipy.integrate import DOP853

            solver = DOP853(self._slope, self.start, self._initial(), horizon, rtol=1e-9, atol=1e-11)
            while solver.status == "running":
                solver.step()
                yield float(solver.t_old), float(solver.t), solver.dense_output()
            return
        rate = float(self._model.service.max())
        time, width, at = self.start, 0.002 / rate, self._initial()
        while time < horizon:
            step = min(width, horizon - time)
            first = self._slope(time, at)
            second = self._slope(time + step / 2, np.maximum(at + step / 2 * first, 0.0))
            third = self._slope(time + step / 2, np.maximum(at + step / 2 * second, 0.0))
            fourth = self._slope(time + step, np.maximum(at + step * third, 0.0))
            after = np.maximum(at + step / 6 * (first + 2 * second + 2 * third + fourth), 0.0)
            end = time + step if step < horizon - time else horizon
            yield time, end, _straight(time, at, end, after)
            time, at, width = end, after, min(1.05 * width, 0.05 / rate)


def _straight(start: float, first: Vector, stop: float, last: Vector) -> Values:
    return lambda time: first + (last - first) * ((time - start) / (stop - start))
