"""The fluid limit of max-weight scheduling: queues fall along the least of the velocities that max-weight allows.

``q' = lambda - mu x`` with x a point of the capacity region of the greatest weight q . x. In the variables
r = q / sqrt(mu) it is the steepest descent of a convex function with finitely many pieces, so the path is unique, turns
finitely often between any two times, and its velocity is the one of least norm (sum v_j^2 / mu_j). It is followed
from breakpoint to breakpoint; the implicit step is a small convex program, exact on straight stretches.

Algorithm 1 of the non-preemptive paper keeps, for large queues, configurations of at least r beta of the greatest
weight: `MaxWeight.drift` with that fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.exact.knapsack import feasible
from theory.instance import Instance
from theory.numbers import many

Vector = NDArray[np.float64]

TOLERANCE = 1e-9
"""Weights and queues that differ by less are equal."""

MOST_BENDS = 100_000


class MaxWeight:
    """An instance as max-weight scheduling sees it, in floats.

    Parameters
    ----------
    instance : Instance
        All its feasible configurations are listed, so it must have few enough (`theory.exact.knapsack.feasible`).

    Attributes
    ----------
    arrivals : float64[J]
        lambda, per server and unit of time.
    service : float64[J]
        mu.
    configurations : list of float64[n, J]
        Feasible configurations of each pool.
    shares : float64[P]

    Examples
    --------
    >>> from theory.instance import additive
    >>> model = MaxWeight(additive([6], [[4], [1]], workload=["1/4", 2]))
    >>> velocity, served = model.velocity(np.array([1.0, 1.0]))       # (0, 6) weighs most
    >>> velocity.tolist(), served.tolist(), model.drift(np.array([1.0, 1.0]))
    ([0.25, -4.0], [0.0, 6.0], -3.75)
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.service: Vector = np.array([float(t.service_rate) for t in instance.types])
        self.arrivals: Vector = np.array([float(rho) for rho in instance.workload]) * self.service
        self.configurations = [feasible(pool.space).astype(np.float64) for pool in instance.pools]
        self.shares: Vector = np.array([float(pool.share) for pool in instance.pools])

    def weight(self, queues: Vector) -> float:
        """Return the greatest weight q . x over the region."""
        return float(sum(w * (ks @ queues).max() for w, ks in zip(self.shares, self.configurations, strict=True)))

    def drift(self, queues: Vector, fraction: float = 1.0) -> float:
        """Return d/dt sum q_j^2 / (2 mu_j) if a fraction of the greatest weight is served: q . rho - f max q . x."""
        return float(queues @ (self.arrivals / self.service)) - fraction * self.weight(queues)

    def velocity(self, queues: Vector) -> tuple[Vector, Vector]:
        """Return q' and the service point x, both float64[J]: the least velocity among max-weight points.

        Types without a queue may be served less than they could be.
        """
        # q' = lambda - mu x over the face of max-weight points; in v_j / sqrt(mu_j) its least norm is the velocity
        faces = [ks[_heaviest(ks, queues)] for ks in self.configurations]
        scale = np.sqrt(self.service)

        def oracle(direction: Vector) -> Vector:
            total = sum(w * ks[np.argmax(ks @ (scale * direction))] for w, ks in zip(self.shares, faces, strict=True))
            return np.asarray(self.arrivals / scale - scale * total)

        point, _, _ = minimum_norm(oracle, oracle(queues / scale))
        moving = point * scale
        moving[np.abs(moving) < TOLERANCE] = 0.0
        return moving, (self.arrivals - moving) / self.service


@dataclass(frozen=True)
class QueuePath:
    """A path of queues, straight between its breakpoints.

    Attributes
    ----------
    times : float64[n]
        0, the breakpoints, and the end.
    queues : float64[n, J]
        Per server.
    served : float64[n - 1, J]
        The service point x on each stretch.
    """

    times: Vector
    queues: Vector
    served: Vector

    def at(self, times: Vector | list[float]) -> Vector:
        """Return the queues at given times, float64[m, J]; queues that are empty at the end stay empty.

        Raises
        ------
        InputError
            A time before 0, or beyond the end of a path on which queues are left there.
        """
        wanted, end = np.asarray(times, float), float(self.times[-1])
        outside = wanted[~((wanted >= 0) & ((wanted <= end * (1 + TOLERANCE)) | (not self.queues[-1].any())))]
        if outside.size:
            raise InputError("times", f"expected from 0 to {end:g}, where the path ends, got {float(outside[0]):g}")
        return np.column_stack([np.interp(times, self.times, column) for column in self.queues.T])

    @property
    def drained(self) -> float | None:
        """The time from which all queues are empty, or None if that is not reached."""
        return float(self.times[np.argmax(~self.queues.any(axis=1))]) if not self.queues[-1].any() else None


def queue_path(model: MaxWeight, start: Vector | list[float], until: float) -> QueuePath:
    """Return the fluid path of the queues under max-weight, breakpoint by breakpoint.

    Parameters
    ----------
    model : MaxWeight
    start : float64[J]
        Queues per server, at least 0.
    until : float

    Raises
    ------
    InputError
        Negative queues, or not one for each type.

    Examples
    --------
    One server for two types, half a job each a unit of time: the longer queue falls, then both together.

    >>> from theory.instance import additive
    >>> model = MaxWeight(additive([1], [[1], [1]], workload=["1/4", "1/4"]))
    >>> path = queue_path(model, [1.0, 0.5], 10.0)
    >>> path.times.round(6).tolist(), path.queues.round(6).tolist()
    ([0.0, 0.5, 3.0, 10.0], [[1.0, 0.5], [0.625, 0.625], [0.0, 0.0], [0.0, 0.0]])

    Notes
    -----
    Source: non-preemptive VM scheduling paper, Section 4; the path between breakpoints is the slow solution of the
    differential inclusion (H. Brezis, Operateurs maximaux monotones, 1973).
    """
    queues = np.asarray(start, dtype=float).copy()
    if queues.shape != model.arrivals.shape or (queues < 0).any():
        raise InputError("queues", f"expected {many(len(model.arrivals), 'number')} of at least 0")
    times, path, served = [0.0], [queues], []
    while times[-1] < until and len(times) < MOST_BENDS:
        velocity, x = model.velocity(queues)
        step = min(_next_bend(model, queues, velocity), until - times[-1])
        queues = queues + step * velocity
        queues[queues < TOLERANCE * 10] = 0.0
        times.append(times[-1] + step if step < until - times[-1] else until)
        path.append(queues)
        served.append(x)
    return QueuePath(np.array(times), np.array(path), np.array(served))


def _next_bend(model: MaxWeight, queues: Vector, velocity: Vector) -> float:
    """Return how long the velocity stays: until a queue is empty, or another configuration weighs as much."""
    # a queue that falls is empty after q_j / -q'_j
    falling = (velocity < 0) & (queues > 0)
    breaks = [float(t) for t in queues[falling] / -velocity[falling]]
    for ks in model.configurations:
        # the weight k . q of a lighter configuration meets the greatest one where the difference is used up
        weights, rates = ks @ queues, ks @ velocity
        top = _heaviest(ks, queues)
        best, rate = float(weights.max()), float(rates[top].max())
        rising = ~top & (rates > rate + TOLERANCE)
        breaks += [float(t) for t in (best - weights[rising]) / (rates[rising] - rate)]
    return min(breaks, default=np.inf)


def _heaviest(configurations: Vector, queues: Vector) -> NDArray[np.bool_]:
    weights = configurations @ queues
    return np.asarray(weights >= weights.max() - TOLERANCE * max(1.0, float(queues.max())))


PRECISION = 1e-11
MOST_ROUNDS = 10_000


def minimum_norm(oracle: Callable[[Vector], Vector], start: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the point of least norm of a polytope, points of it whose hull holds that, and their weights.

    The oracle returns for a direction d, float64[n], a point p of the polytope with least d . p. The points, float64[m,
    n], are affinely independent, and the weights positive with sum one. Wolfe's active-set method (P. Wolfe, Finding
    the nearest point in a polytope, Mathematical Programming 11, 1976): finite, and exact but for rounding.
    """
    corral, weights = start[None, :].copy(), np.ones(1)
    for _ in range(MOST_ROUNDS):
        point = weights @ corral
        # optimal if no point of the polytope lies nearer to the origin in the direction of the present one
        new = oracle(point)
        if point @ new >= point @ point - PRECISION * max(1.0, float((corral**2).sum(axis=1).max())):
            return point, corral, weights
        if (np.abs(corral - new).max(axis=1) <= PRECISION).any():
            return point, corral, weights
        corral, weights = np.vstack([corral, new]), np.append(weights, 0.0)
        # minor cycle: move towards the affine minimum until a weight reaches 0, and drop that point
        while True:
            affine = _affine_minimum(corral)
            if (affine > PRECISION).all():
                weights = affine
                break
            falling = affine <= PRECISION
            steps = weights[falling] / np.maximum(weights[falling] - affine[falling], 1e-300)
            step = min(1.0, float(steps.min()))
            weights = step * affine + (1 - step) * weights
            keep = weights > PRECISION
            corral, weights = corral[keep], weights[keep] / weights[keep].sum()
    raise RuntimeError("the point of least norm was not found")  # pragma: no cover - the method is finite


def _affine_minimum(points: Vector) -> Vector:
    """Return the weights, summing to one, of the point of least norm in the affine hull."""
    gram = points @ points.T
    system = np.block([[gram, np.ones((len(points), 1))], [np.ones((1, len(points))), np.zeros((1, 1))]])
    right = np.zeros(len(points) + 1)
    right[-1] = 1.0
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][:-1])
