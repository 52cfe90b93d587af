"""The point of least norm in a polytope that is known by its linear oracle: Wolfe's active-set method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

PRECISION = 1e-11
MOST_ROUNDS = 10_000


def minimum_norm(oracle: Callable[[Vector], Vector], start: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the point of least Euclidean norm in the convex hull of what an oracle gives.

    Parameters
    ----------
    oracle : callable
        For a direction d, float64[n], a point p of the polytope with least d . p.
    start : float64[n]
        A point of the polytope that the oracle could give.

    Returns
    -------
    point : float64[n]
    corral : float64[m, n]
        Affinely independent points of the polytope whose hull holds it.
    weights : float64[m]
        Positive, summing to one.

    Notes
    -----
    Exact but for rounding after finitely many rounds. Source: P. Wolfe, Finding the nearest point in a polytope,
    Mathematical Programming 11 (1976).

    Examples
    --------
    >>> square = np.array([[1.0, -1.0], [1.0, 1.0], [3.0, -1.0], [3.0, 1.0]])
    >>> point, _, _ = minimum_norm(lambda d: square[np.argmin(square @ d)], square[0])
    >>> point.round(12).tolist()
    [1.0, 0.0]
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
