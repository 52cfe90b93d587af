"""The fluid greedy map: stages that jobs fill, and how the stages move as the jobs do."""

from __future__ import annotations

from dataclasses import dataclass

from fluid.limits.reservation.model import TOLERANCE, Reservation, Vector
from theory.instance import Configuration


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage of the greedy map.

    Attributes
    ----------
    configuration : Configuration
    driver : int
        The type whose jobs end the stage; -1 where the servers end it.
    mass : float
        Its fraction of the servers.
    slope : float
        How fast that grows.
    """

    configuration: Configuration
    driver: int
    mass: float
    slope: float


def plan(model: Reservation, jobs: Vector, velocity: Vector) -> list[PlannedStage]:
    """Return the greedy map at given jobs and its derivative along their velocity.

    The construction of Proposition 3.1 on pairs (value, slope) in lexicographic order, so that ties of values are
    broken the way they break a moment later: equations (35)-(37) of the auto-scaling paper.

    Parameters
    ----------
    model : Reservation
    jobs, velocity : float64[J]
        Jobs per server, and how fast each would grow if all its arrivals were admitted.

    Returns
    -------
    list of PlannedStage
        Distinct configurations in decreasing order, empty stages that do not grow included; the masses sum to 1 at
        most, and the last stage has no driver where the servers end it.

    Examples
    --------
    >>> import numpy as np
    >>> from theory.instance import additive
    >>> model = Reservation(additive([2], [[1], [2]], rewards=[1, 3]))
    >>> [(s.configuration, s.driver, s.mass) for s in plan(model, np.array([1.0, 0.75]), np.zeros(2))]
    [((0, 1), 1, 0.75), ((2, 0), -1, 0.25)]

    Notes
    -----
    O(J^2).
    """
    left, moving = jobs.tolist(), velocity.tolist()
    types, room, shrinking = (1 << len(left)) - 1, 1.0, 0.0
    stages = []
    while types:
        k = model.greedy(types)
        held = [j for j in range(len(left)) if k[j] and types >> j & 1]
        shortest = min(left[j] / k[j] for j in held)
        tied = [j for j in held if left[j] / k[j] <= shortest + TOLERANCE]
        slowest = min(moving[j] / k[j] for j in tied)
        driver = next(j for j in tied if moving[j] / k[j] <= slowest + TOLERANCE)
        mass, slope = max(left[driver] / k[driver], 0.0), moving[driver] / k[driver]
        over = mass - room
        if over > TOLERANCE or (over > -TOLERANCE and slope + shrinking >= 0):
            stages.append(PlannedStage(k, -1, max(room, 0.0), -shrinking))
            return stages
        stages.append(PlannedStage(k, driver, mass, slope))
        room -= mass
        shrinking += slope
        for j in held:
            left[j] -= mass * k[j]
            moving[j] -= slope * k[j]
        types &= ~(1 << driver)
    return stages
