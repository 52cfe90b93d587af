"""Plain time stepping of the fluid limit of dynamic reservation, without regimes: a reference for its exact path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation import Reservation, emptying_rates, plan
from fluid.limits.reservation.model import TOLERANCE, Vector
from fluid.limits.reservation.regimes import DrainRates, Masses, part_of_the_time
from fluid.limits.reservation.segment import State
from theory.errors import InputError
from theory.instance import Configuration


def stepped(
    model: Reservation,
    times: Sequence[float] | NDArray[np.float64],
    steps: int,
    start: State | None = None,
    rates: DrainRates = emptying_rates,
) -> NDArray[np.float64]:
    """Return jobs per server at given times by time stepping, float64[n, J].

    A step lets all types be admitted, moves servers towards the greedy map of what results as far as draining allows,
    and refuses what has no slot then.

    Parameters
    ----------
    model : Reservation
    times : increasing float64[n], the first 0
    steps : int
        Equal steps between two times.

    Notes
    -----
    The error is of the first order in the step; `extrapolated` removes two orders where the path is smooth between the
    given times, so switching times belong among them.
    """
    empty: Masses = {(0,) * model.types: 1.0}
    jobs, masses = start if start is not None else (np.zeros(model.types), empty)
    masses = dict(masses)
    result = [jobs]
    for begin, end in pairwise(times):
        for _ in range(steps):
            jobs = _step(model, jobs, masses, (end - begin) / steps, rates)
        result.append(jobs)
    return np.array(result)


def extrapolated(
    model: Reservation, times: Sequence[float] | NDArray[np.float64], steps: int, start: State | None = None
) -> NDArray[np.float64]:
    """Return what `stepped` tends to as the step vanishes (Richardson, from n, 2n and 4n steps), float64[n, J]."""
    # For a method of order 1, f(h) = f + a h + b h^2 + ...: (f(h) - 6 f(h/2) + 8 f(h/4)) / 3 has no terms in h and h^2.
    one, two, four = (stepped(model, times, factor * steps, start) for factor in (1, 2, 4))
    return np.asarray((one - 6 * two + 8 * four) / 3)


def settled(
    model: Reservation,
    times: Sequence[float] | NDArray[np.float64],
    tolerance: float = 1e-7,
    most: int = 480,
    start: State | None = None,
) -> tuple[NDArray[np.float64], float]:
    """Return `extrapolated` with steps halved until two in a row agree, float64[n, J], and by how much they differ.

    Parameters
    ----------
    tolerance : float
    most : int
        Steps between two times beyond which it stops as it is: where the path is not smooth it settles slowly.
    """
    steps, before = 30, extrapolated(model, times, 30, start)
    while True:
        steps *= 2
        after = extrapolated(model, times, steps, start)
        apart = float(np.abs(after - before).max())
        if apart < tolerance or 2 * steps > most:
            return after, apart
        before = after


def reflected(
    model: Reservation,
    times: Sequence[float] | NDArray[np.float64],
    steps: int,
    start: State | None = None,
    *,
    anyway: bool = False,
) -> NDArray[np.float64]:
    """Return the simple reflected path ``y <- min(y + h (lambda - mu y), s(x~))``, float64[n, J].

    It gives servers to the greedy map at once. That is the limit only under the gross-drain condition: slots of no
    type vanish, over all configurations that shrink, faster than jobs of that type depart. Elsewhere it silently
    preempts, and is wrong at every number of servers.

    Parameters
    ----------
    anyway : bool
        Do not check that: a control that should fail.

    Raises
    ------
    InputError
        The condition is broken on the way.
    """
    empty = (0,) * model.types
    jobs, masses = start if start is not None else (np.zeros(model.types), {empty: 1.0})
    masses = dict(masses)
    result = [jobs]
    for begin, end in pairwise(times):
        width = (end - begin) / steps
        for step in range(steps):
            before, depart = dict(masses), width * model.service * jobs
            jobs = _step(model, jobs, masses, width, _at_once)
            gone = ((k, max(0.0, mass - masses[k])) for k, mass in before.items() if any(k))
            excess = model.slots_of(gone) - depart * (1 + 2 * width * model.service)  # departures to the second order
            if not anyway and excess.max() > TOLERANCE * width:
                name = model.instance.names[int(excess.argmax())]
                raise InputError(
                    f"at t = {begin + step * width:.4g} slots of {name} would vanish faster than its jobs depart: "
                    "draining limits the path there, and the reflected path is not the limit; expected fluid_path"
                )
        result.append(jobs)
    return np.array(result)


def _at_once(configurations: Sequence[Configuration], rates: Vector, occupancy: Vector) -> list[float]:
    del rates, occupancy
    return [np.inf] * len(configurations)


def _step(model: Reservation, jobs: Vector, masses: Masses, width: float, rates: DrainRates) -> Vector:
    """Advance masses in place and return the jobs."""
    # jobs without losses at the end of the step; the greedy map says what servers they ask for
    decay = np.exp(-model.service * width)
    wanted = model.workload + (jobs - model.workload) * decay
    stages = plan(model, wanted, np.zeros(model.types))
    order = [s.configuration for s in stages]
    target = {s.configuration: s.mass for s in stages}
    need = [max(0.0, target[k] - masses.get(k, 0.0)) for k in order]
    empty = (0,) * model.types
    for i, k in enumerate(order):
        # idle servers first, in greedy order
        taken = min(need[i], masses.get(empty, 0.0))
        masses[empty] = masses.get(empty, 0.0) - taken
        masses[k] = masses.get(k, 0.0) + taken
        need[i] -= taken
    if sum(need) > 0:
        _drain(model, jobs, wanted, masses, order, target, need, width, rates, cut=stages[-1].driver < 0)
    return np.minimum(wanted, model.slots_of(masses.items()))


def _drain(
    model: Reservation,
    jobs: Vector,
    wanted: Vector,
    masses: Masses,
    order: list[Configuration],
    target: Masses,
    need: list[float],
    width: float,
    rates: DrainRates,
    *,
    cut: bool,
) -> None:
    """Free servers as far as departures allow, and give them to the stages in order."""
    slots = model.slots_of(masses.items())
    over = sorted((k for k, mass in masses.items() if any(k) and mass > target.get(k, 0.0) + TOLERANCE), reverse=True)

    def drained(lacking: int) -> tuple[dict[Configuration, float], dict[Configuration, float]]:
        """What configurations would free in this step, and the most that they may."""
        later = [k for k in order[lacking + 1 :] if masses.get(k, 0.0) > 0 and k not in over]
        asked = [*(k for k in over if order[lacking : lacking + 1] != [k]), *later[::-1]]
        ahead = model.slots_of((k, masses.get(k, 0.0)) for k in order[:lacking])
        spread = np.clip((np.minimum(wanted, slots) - ahead) / np.maximum(slots - ahead, 1e-300), 0.0, 1.0)
        chance = np.where((slots - ahead > 0) & (wanted < slots), spread, 1.0)
        supply = rates(asked, model.service * jobs, chance) if asked else []
        kept = {k: target[k] for k in order[: lacking + 1]}
        most = [masses[k] - kept.get(k, 0.0) for k in asked]
        return {k: width * rate for k, rate in zip(asked, supply, strict=True)}, dict(zip(asked, most, strict=True))

    needy = [i for i, amount in enumerate(need) if amount > 0]
    above: dict[Configuration, float] = {}
    last = [len(order) - 1] if cut and len(order) - 1 not in needy else []
    for lacking in [len(order), *last, *reversed(needy)]:
        supply, most = drained(lacking)
        enough = sum(min(supply[k], most[k]) for k in supply)
        if sum(need[:lacking]) <= enough + TOLERANCE * width:
            break
        above = supply if lacking < len(order) else {}
    up_to = sum(need[: lacking + 1])
    if up_to <= enough + TOLERANCE * width and np.isfinite(list(supply.values())).all():
        part = part_of_the_time(up_to, [(supply[k], most[k]) for k in supply])
        freed = {k: min(part * supply[k] + (1 - part) * above.get(k, 0.0), most[k]) for k in supply}
    elif up_to <= enough + TOLERANCE * width:
        freed = {k: most[k] * up_to / sum(most.values()) for k in supply}
    else:
        freed = {k: min(supply[k], most[k]) for k in supply}
    for k, amount in freed.items():
        masses[k] -= amount
    unspent = sum(freed.values())
    for i in needy:
        granted = min(need[i], unspent)
        masses[order[i]] = masses.get(order[i], 0.0) + granted
        unspent -= granted
    if unspent > 0:  # more than is needed now goes to where it is needed first
        masses[order[needy[-1]]] += unspent
