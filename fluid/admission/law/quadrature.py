"""The one quadrature over log mu, for simulated decisions, exact beliefs and likelihoods.

What is known of the rate mu of a deployment has, in s = log mu, a density proportional to

    exp(power s - rate e^s) (base + e^(kappa s) alive)^-shape,

whose logarithm is concave. It is summed over equally spaced nodes, from the peak to where it is below e^-depth of its
largest value. Such a sum is off by exp(-2 pi d / h) for nodes h apart, if the density is analytic where |Im s| < d:
exp(-rate e^s) decays for d < pi / 2, the other factor has its first singularities at |Im s| = pi / |kappa|, and near
the peak the density is normal with the curvature there. So the spacing follows the width of the belief; it is a power
of two times a fixed step, and nodes are multiples of it, so that functions of mu t at nodes can be tabled.
"""

from __future__ import annotations

from math import exp, log, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import routine, step

FINE = log(2) / 128
"""Step of log mu where functions of mu are tabled."""

FINEST = FINE / (1 << 20)
"""Step where nothing is tabled: the narrowest belief has some nodes."""

NODES = 4096
"""Most nodes of a belief."""

UPPER = 1024
"""Nodes that are left for what is above the peak."""


class Density(NamedTuple):
    """The density of s = log mu, up to a constant."""

    power: float
    rate: float
    shape: float
    base: float
    alive: float
    kappa: float


class Grid(NamedTuple):
    """How finely a density is resolved, and where its nodes are written."""

    depth: float  # nodes are where the density is above exp(-depth) of its largest value
    spacing: float  # at most so many standard deviations, as the curvature at the peak has them
    finest: float  # log mu of a node is a multiple of it
    places: NDArray[np.int64]  # [NODES]: that multiple
    nodes: NDArray[np.float64]  # [3, NODES]: mu, weight and mu^kappa


def new_grid(depth: float, spacing: float = 0.7, finest: float = FINEST) -> Grid:
    """Return a grid without nodes."""
    return Grid(float(depth), spacing, finest, np.zeros(NODES, np.int64), np.zeros((3, NODES)))


@step
def log_rate(of: Density, s: float) -> float:
    """Return log(base + mu^kappa alive), also where mu^kappa is beyond floats."""
    x = of.kappa * s
    if x > 600.0 and of.alive > 0.0:
        return x + log(of.alive)
    return log(of.base + of.alive * exp(min(x, 600.0)))


@step
def log_density(of: Density, s: float) -> float:
    """Return the logarithm of the density: the belief that all of packproof uses."""
    return of.power * s - of.rate * exp(s) - of.shape * log_rate(of, s)


@step
def slope_and_curvature(of: Density, s: float) -> tuple[float, float]:
    """Return the first derivative of `log_density`, and minus the second, which is greater than 0."""
    death, grow = of.rate * exp(min(s, 600.0)), of.alive * exp(min(of.kappa * s, 600.0))
    share = grow / (of.base + grow)
    slope = of.power - death - of.shape * of.kappa * share
    return slope, death + of.shape * of.kappa * of.kappa * share * (1.0 - share)


@step
def find_peak(of: Density, start: float) -> tuple[float, float]:
    """Return where the density is largest, and the curvature near there, by Newton's method on a concave function."""
    s = start
    curvature = 1.0
    for _ in range(400):  # with steps of at most 2
        slope, curvature = slope_and_curvature(of, s)
        move = slope / curvature if curvature > 1e-12 else (2.0 if slope > 0 else -2.0)
        move = min(2.0, max(-2.0, move))
        s += move
        if abs(move) < 1e-3:
            break
    return s, curvature


@routine
def find_nodes(of: Density, start: float, grid: Grid) -> tuple[int, float, float]:
    """Write nodes of a density and their weights, with sum 1; `start` is near its peak.

    Returns the number of nodes, the place of the peak, and the logarithm of the integral of the density relative to
    its value at the first node.
    """
    peak, curvature = find_peak(of, start)
    width = min(grid.spacing / curvature**0.5, pi * pi / grid.depth)
    if of.alive > 0.0 and of.kappa != 0.0:
        width = min(width, 2.0 * pi * pi / (abs(of.kappa) * grid.depth))
    stride = 1
    while 2 * stride * grid.finest <= width:
        stride *= 2
    middle = round(peak / grid.finest / stride) * stride
    top = log_density(of, middle * grid.finest)
    # Moments of mu^kappa with kappa < 0 reach further down: there the density falls by mu^power, its second moment by
    # mu^(power + 2 kappa), or where that is infinite, its first by mu^(power + kappa)
    deep = grid.depth
    if of.kappa < 0.0 and of.alive == 0.0 and of.power + of.kappa > 0.0:
        least = of.power + 2.0 * of.kappa if of.power + 2.0 * of.kappa > 0.0 else of.power + of.kappa
        deep *= min(50.0, of.power / least)
    count, total = _write(of, grid, top, middle, -stride, deep, 0, len(grid.places) - UPPER)
    if count == len(grid.places) - UPPER:
        total += _lump(of, grid, stride, count - 1)
    count, more = _write(of, grid, top, middle + stride, stride, grid.depth, count, len(grid.places))
    total += more
    for j in range(count):
        grid.nodes[1, j] /= total
    return count, peak, log(total * stride * grid.finest)


@step
def _write(
    of: Density, grid: Grid, top: float, place: int, stride: int, depth: float, count: int, most: int
) -> tuple[int, float]:
    """Write nodes on one side of the peak until the density falls below exp(-depth); return their number and sum."""
    first = count
    total = 0.0
    while count < most:
        s = place * grid.finest
        level = log_density(of, s) - top
        # beyond what the density asks for, squares of mu^(kappa - 1) stay within floats
        is_over = level < -depth or s * (1.0 - of.kappa) < -340.0
        if level < -grid.depth and is_over and (stride > 0 or count > first):
            break
        weight = exp(level)
        grid.places[count] = place
        grid.nodes[0, count], grid.nodes[1, count], grid.nodes[2, count] = exp(s), weight, exp(min(of.kappa * s, 600.0))
        total += weight
        count += 1
        place += stride
    return count, total


@step
def _lump(of: Density, grid: Grid, stride: int, last: int) -> float:
    """Move the last node below the peak to the mean of what is below it as well; return the weight that is added.

    So far down the density is exponential, and a geometric series gives weight and mean of the rest.
    """
    s = grid.places[last] * grid.finest
    slope, _ = slope_and_curvature(of, s)
    ratio = exp(-max(slope, 1e-12) * stride * grid.finest)
    rest = float(grid.nodes[1, last]) * ratio / (1.0 - ratio)
    grid.nodes[1, last] += rest
    grid.places[last] -= round(ratio / (1.0 - ratio)) * stride
    s = grid.places[last] * grid.finest
    grid.nodes[0, last], grid.nodes[2, last] = exp(s), exp(min(of.kappa * s, 600.0))
    return rest
