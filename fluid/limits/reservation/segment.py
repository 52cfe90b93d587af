"""The fluid path of dynamic reservation in one regime: closed in form, or integrated with control of the error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import is_exact
from fluid.limits.reservation.model import TOLERANCE, Reservation, Vector
from fluid.limits.reservation.regimes import DrainRates, Masses, Regime, decide, occupancy, targets, velocities
from theory.errors import ArgumentError
from theory.instance import Configuration

ABSOLUTE = 1e-2
"""Absolute tolerance of an integrated mass, as part of the relative one."""

MOVED = 1e-3
"""Change of the state, as part of the tolerance, within which a switch is located."""

ROUNDED = 1e-8
"""Servers or slots that may lack, as the integrator has an error; a regime ends where more lack."""

PARTS = 3
"""Parts of a step of the integrator in which switches are looked for."""

Values = Callable[[float], NDArray[np.float64]]

State = tuple[Vector, Masses]
"""Jobs per server, float64[J], and the fraction of servers in each configuration."""


class Segment:
    """The path in one regime: closed in form, but for the configurations that drain at a rate of their own."""

    def __init__(
        self,
        model: Reservation,
        start: float,
        state: State,
        regime: Regime,
        arrivals: Vector,
        rates: DrainRates,
        tolerance: float,
    ) -> None:
        self.start, self.stop, self.regime, self.held = start, start, regime, False
        self._model, self.arrivals, self._rates = model, arrivals, rates
        self._jobs, self._masses = state
        self._target = arrivals / model.service
        self.tolerance, self.steps = tolerance, 0
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

    @cached_property
    def fastest(self) -> float:
        """How much jobs and servers change at the start, per unit of time, at most."""
        return max(float(np.abs(self._free(self._jobs)).max()), self._model.pace)

    @property
    def end(self) -> State:
        """Jobs and masses at the end, without configurations of which nothing is left, and jobs without slots."""
        jobs, masses = self.state(self.stop)
        masses = {k: mass for k, mass in masses.items() if mass > TOLERANCE}
        return np.minimum(jobs, self._model.slots_of(masses.items())), masses

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
        return velocities(self._model, self.regime, jobs, masses, self._free(jobs), self._rates)

    def _free(self, jobs: Vector) -> Vector:
        """Return how fast jobs would grow if all were admitted, lambda - mu y."""
        return self.arrivals - self._model.service * jobs

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
            and regime.level < 0
            and is_exact(regime.asked)
            and not regime.diverts
            and self._full_drains(time)
        )

    def _full_drains(self, time: float) -> bool:
        """Return whether every server that drains is known to be full as its turn comes, where that matters."""
        regime = self.regime
        if regime.kind == "tracking" and not regime.drains:
            return True
        jobs, masses = self.state(time)
        chance = occupancy(self._model, regime, jobs, masses)
        surely = [blocked or share == 1 for blocked, share in zip(regime.blocked, chance.tolist(), strict=True)]
        spare = {f.configuration for f in regime.followed}
        return all(
            (regime.blocked[j] if k in spare else surely[j]) for k in regime.asked for j, slots in enumerate(k) if slots
        )

    def advance(self, horizon: float, hold: float, most: int) -> None:
        """Go on to the next switch, to the horizon or for a number of steps; for a time to hold, whatever switches."""
        self.held = hold > 0
        free = min(horizon, self.start + hold)
        for before, after in self._integrated(horizon) if self.regime.drains else self._grid(horizon):
            if self._switches(before, after, free):
                return
            self.stop = after
            if self.steps >= most:
                return
        if self.stop <= self.start:
            raise ArgumentError(
                "until",
                f"expected a time up to {self.start:.6g}, from which the integrator of the fluid path cannot "
                f"go on, got {horizon:g}",
            )

    def _grid(self, horizon: float) -> Iterator[tuple[float, float]]:
        """Yield the stretches of time that are looked at where the path is closed in form; they grow."""
        before, width = self.start, 0.02 / self._model.pace
        while before < horizon:
            after = min(horizon, before + width)
            yield before, after
            before, width = after, width * 1.2

    def _switches(self, before: float, after: float, free: float) -> bool:
        """Move `stop` to the end of the regime, if a stretch has it, and return whether it does."""
        middle = min(max(before, free), after)  # what ends a regime changes at `free`
        for first, last in ((before, middle), (middle, after)):
            if first < last and self._is_over(last, free):
                self.stop = self._first_end(first, last, free)
                return True
        return False

    def _is_over(self, time: float, free: float) -> bool:
        """Return whether the regime has ended by a time; one that is held up to `free`, only where it cannot go on."""
        jobs, masses = self.state(time)
        slots = self._model.slots_of(masses.items())
        if min(masses.values()) < -ROUNDED or (jobs > slots + ROUNDED).any():
            return True
        return time >= free and decide(self._model, jobs, masses, self.arrivals, self._rates) != self.regime

    def _first_end(self, before: float, after: float, free: float) -> float:
        """Return a time just behind the end of the regime: by so little that the state hardly changes."""
        # invariant: the regime goes on at `before`, and is over at `after`
        while after - before > max(self.tolerance * MOVED / self.fastest, 2 * np.spacing(after)):
            middle = 0.5 * (before + after)
            if self._is_over(middle, free):
                after = middle
            else:
                before = middle
        return after

    def _slope(self, time: float, draining: NDArray[np.float64]) -> NDArray[np.float64]:
        moving = self.velocity(self.state(time, draining))
        return np.array([moving[k] for k in self.regime.drains])

    def _integrated(self, horizon: float) -> Iterator[tuple[float, float]]:
        """Follow the draining configurations, and yield the parts of every step, in which switches are looked for."""
        from scipy.integrate import DOP853

        solver = DOP853(
            self._slope, self.start, self._initial(), horizon, rtol=self.tolerance, atol=self.tolerance * ABSOLUTE
        )
        while solver.status == "running":
            solver.step()
            self.steps += 1
            start, stop = float(solver.t_old), float(solver.t)
            self._dense.append((stop, solver.dense_output()))
            yield from pairwise(np.linspace(start, stop, PARTS + 1).tolist())
