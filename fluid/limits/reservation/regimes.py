"""In which way the fluid moves at a moment: who is admitted, which configurations follow the greedy map, which drain.

Freed servers go to the stages of the greedy map in order, to each what it needs to keep up with its type; the first
stage that does not get what it needs takes the rest, and all configurations of a worse rank drain. Source: packproof,
the exact fluid limit of dynamic reservation; auto-scaling paper, Algorithm 2 and equations (25)-(28), (35)-(38).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation.draining import emptying_rates
from fluid.limits.reservation.model import TOLERANCE, PlannedStage, Reservation, Vector, plan
from theory.instance import Configuration

NEARLY = 1 - 1e-12
"""Largest chance that a slot is full of a type that is admitted: the rates are those of servers which may have room."""

Masses = dict[Configuration, float]
"""Fraction of the servers in each configuration; the empty one is what is idle."""

DrainRates = Callable[[Sequence[Configuration], Vector, Vector], list[float]]
"""Configurations in the order in which they are asked, mu_j y_j, occupancy: how fast each frees servers."""


Supplies = dict[tuple[object, ...], dict[Configuration, float]]
"""How fast configurations free servers in a state, by who is asked, who is followed, and which types are refused."""


@dataclass(frozen=True)
class Followed:
    """A stage of the greedy map that has, or gets, the servers it needs."""

    configuration: Configuration
    driver: int  # the type that ends the stage; all its arrivals are admitted
    moves: bool  # whether its servers are just what its type asks for; otherwise there are some to spare


@dataclass(frozen=True)
class Regime:
    """A way of moving, valid until something switches."""

    # idle: servers are idle; tracking: all are in use and the greedy map is followed; draining limits how far it is;
    # mixed: it does, and the last followed stage gets what it needs only as more servers drain while it lacks some
    kind: str
    followed: tuple[Followed, ...]
    rest: Configuration  # takes what the others leave: the empty one, or the first stage that lacks servers
    asked: tuple[Configuration, ...]  # those with a server in the reject group, in the order of asking it for jobs
    between: tuple[Configuration, ...]  # mixed: those asked while no followed stage lacks servers
    drains: tuple[Configuration, ...]  # those whose decrease is set by draining rather than by a driving type
    blocked: tuple[bool, ...]  # types with blocking: admission is limited to free slots
    # a type whose slots shrink just as its jobs do: as full servers they would drain too slowly, as others too fast
    level: int = -1

    @property
    def diverts(self) -> bool:
        """Whether a followed stage takes departures from draining servers as it fluctuates about what it needs.

        For a moment it has a server to spare, which is drained before all others of its types. That slows those behind
        by a fraction that does not vanish as servers grow: seen in simulations, not in these rates.
        """
        if self.kind == "idle":
            return False
        moving = [f.configuration for f in self.followed if f.moves]
        draining = [k for k in self.asked if k not in moving]
        return any(min(a, b) > 0 for f in moving for k in draining for a, b in zip(f, k, strict=True))


def decide(
    model: Reservation, jobs: Vector, masses: Masses, arrivals: Vector, rates: DrainRates = emptying_rates
) -> Regime:
    """Decide how the fluid moves from jobs per server, float64[J], and masses of configurations that sum to one.

    Slots of each type are at least the jobs; `arrivals` are lambda, float64[J], per server and unit of time.

    >>> from theory.instance import additive
    >>> model = Reservation(additive([1], [[1], [1]], rewards=[2, 1], workload=[5, 5]))
    >>> full = decide(model, np.array([0.25, 0.75]), {(1, 0): 0.25, (0, 1): 0.75}, model.workload)
    >>> full.kind, full.rest, full.drains, full.blocked
    ('draining', (1, 0), ((0, 1),), (True, True))
    """
    velocity = arrivals - model.service * jobs
    stages = plan(model, jobs, velocity)
    spare = {s.configuration: masses.get(s.configuration, 0.0) - s.mass for s in stages}
    empty = (0,) * model.types
    slack = TOLERANCE * model.pace  # rates that differ by less are equal
    # Case 1, idle servers: every stage gets what it needs, and follows its type where it has no server to spare.
    if masses.get(empty, 0.0) > TOLERANCE:
        followed = [
            Followed(s.configuration, s.driver, spare[s.configuration] <= TOLERANCE and s.slope >= -slack)
            for s in stages
        ]
        return Regime("idle", tuple(followed), empty, (), (), (), (False,) * model.types)

    # Case 2, all servers in use: look for the first stage that lacks servers. Candidates come best first, and each one
    # lets fewer stages follow than the one before. The loop ends at the first whose followed stages need, per unit of
    # time, no more servers than the configurations that are asked set free. `above` is the candidate before it.
    tight = jobs >= model.slots_of(masses.items()) - TOLERANCE
    above: Regime | None = None
    supplies: Supplies = {}
    for lacking in _candidates(stages, spare):
        regime = _with_lacking(stages, spare, masses, lacking, tight, slack)
        moving = _slopes(regime, velocity)
        supply = _supply(model, regime, regime.asked, jobs, masses, velocity, rates, supplies)
        need, most = _need(moving), sum(min(supply[k], -moving.get(k, -np.inf)) for k in regime.asked)
        if need <= most + slack:
            break
        above = regime
    # Case 3, mixed: the stage that lacks servers may still get all it needs in the mean, since more servers drain while
    # it lacks some. The fluid then switches between the last two candidates infinitely fast.
    if above is not None:
        both = _slopes(above, velocity)
        between = above.asked if above.kind == "draining" else ()  # no server drains while no stage lacks servers
        up_to = replace(above, followed=above.followed[: _covered(above, both, supply, len(regime.followed) + 1)])
        mixed = replace(up_to, kind="mixed", asked=regime.asked, between=between, drains=regime.asked)
        if regime.rest in both and _need(_slopes(mixed, velocity)) < most - slack:
            mixed = replace(mixed, blocked=_unadmitted(mixed.followed, tight))
            sources = _supply(model, mixed, mixed.asked, jobs, masses, velocity, rates, supplies)
            if _need(_slopes(mixed, velocity)) <= sum(sources.values()) + slack:
                regime, supply, moving = mixed, sources, _slopes(mixed, velocity)
    between_supply = _supply(model, regime, regime.between, jobs, masses, velocity, rates, supplies)
    regime = _settled(regime, moving, supply, between_supply, slack)
    if any(regime.blocked):
        regime = _admitting(model, regime, jobs, masses, velocity, rates, supplies, slack)
    return regime


def _admitting(
    model: Reservation,
    regime: Regime,
    jobs: Vector,
    masses: Masses,
    velocity: Vector,
    rates: DrainRates,
    known: Supplies,
    slack: float,
) -> Regime:
    """Decide which of the types without free slots are refused: those whose jobs could grow faster than their slots."""
    slots = model.slots_of(velocities(model, regime, jobs, masses, velocity, rates, known).items())
    refused = tuple(b and bool(velocity[j] >= slots[j] - slack) for j, b in enumerate(regime.blocked))
    admitting = replace(regime, blocked=refused)
    opened = [j for j, (b, r) in enumerate(zip(regime.blocked, refused, strict=True)) if b and not r]
    if opened and regime.drains:
        # The rates change as a type is admitted. Where its slots then shrink faster than its jobs, it is neither.
        slots = model.slots_of(velocities(model, admitting, jobs, masses, velocity, rates, known).items())
        level = [j for j in opened if slots[j] < velocity[j] - slack]
        if level:
            blocked = (b or j == level[0] for j, b in enumerate(refused))
            return replace(regime, blocked=tuple(blocked), level=level[0])
    return admitting


def _need(moving: dict[Configuration, float]) -> float:
    return sum(max(slope, 0.0) for slope in moving.values())


def _covered(
    regime: Regime, moving: dict[Configuration, float], supply: dict[Configuration, float], number: int
) -> int:
    """Return how many stages get what they need part of the time: a number, and those that shrink behind them.

    These lose servers while a stage ahead lacks some, maybe more than they should, and get them back as long as the
    configurations behind free as many as all stages ahead need together.
    """
    for stage in regime.followed[number:]:
        ahead = [f.configuration for f in regime.followed[: number + 1]]
        need = sum(moving.get(k, 0.0) for k in ahead)
        behind = sum(rate for k, rate in supply.items() if k not in ahead)
        if moving.get(stage.configuration, 1.0) > 0 or need > behind:
            break
        number += 1
    return number


def _unadmitted(followed: Sequence[Followed], tight: NDArray[np.bool_]) -> tuple[bool, ...]:
    admitted = {f.driver for f in followed}
    return tuple(full and j not in admitted for j, full in enumerate(tight.tolist()))


def _candidates(stages: list[PlannedStage], spare: Masses) -> list[int]:
    """Return which stage may be the first that does not get what it needs, best first (beyond the last: none is)."""
    lacks = next((i for i, s in enumerate(stages) if spare[s.configuration] < -TOLERANCE), len(stages))
    needy = [i for i, s in enumerate(stages[:lacks]) if spare[s.configuration] <= TOLERANCE and s.slope > 0]
    cut = [len(stages) - 1] if stages[-1].driver < 0 <= lacks - len(stages) else []
    return [lacks, *(i for i in cut if i not in needy), *reversed(needy)]


def _with_lacking(
    stages: list[PlannedStage], spare: Masses, masses: Masses, lacking: int, tight: NDArray[np.bool_], slack: float
) -> Regime:
    """Return the regime for a given first stage that does not get what it needs."""
    followed = tuple(
        Followed(s.configuration, s.driver, bool(spare[s.configuration] <= TOLERANCE)) for s in stages[:lacking]
    )
    sliding = {s.configuration for s in stages[:lacking] if s.slope < -slack}
    # Servers are asked from the worst rank on: those that no stage needs, or needs less and less, and then those of
    # stages behind the one that lacks, the last stage first.
    occupied = [k for k, mass in masses.items() if mass > TOLERANCE and any(k)]
    over = sorted((k for k in occupied if spare.get(k, 1.0) > TOLERANCE or k in sliding), reverse=True)
    later = [
        s.configuration for s in stages[lacking + 1 :] if s.configuration in occupied and s.configuration not in over
    ]
    asked = (*over, *reversed(later))
    rest = stages[min(lacking, len(stages) - 1)].configuration
    kind = "draining" if lacking < len(stages) else "tracking"
    return Regime(kind, followed, rest, asked, (), asked, _unadmitted(followed, tight))


def _slopes(regime: Regime, velocity: Vector) -> dict[Configuration, float]:
    """Return how fast the stages that move with their types do."""
    moving = velocity.tolist()
    result, total = {}, 0.0
    for stage in regime.followed:
        k, j = stage.configuration, stage.driver
        slope = moving[j] / k[j] if j >= 0 else -total
        total += slope
        for i, slots in enumerate(k):
            moving[i] -= slope * slots
        if stage.moves:
            result[k] = slope
    return result


def targets(regime: Regime, jobs: Vector) -> Masses:
    """Return the servers that the followed stages ask for, by the types that drive them."""
    remaining = jobs.tolist()
    result: Masses = {}
    for stage in regime.followed:
        k, j = stage.configuration, stage.driver
        mass = remaining[j] / k[j] if j >= 0 else 1.0 - sum(result.values())
        result[k] = mass
        for i, slots in enumerate(k):
            remaining[i] -= mass * slots
    return result


def occupancy(model: Reservation, regime: Regime, jobs: Vector, masses: Masses) -> Vector:
    """Return the chance that a slot of a draining server is full, by type.

    It is 1 for types whose arrivals are refused. Jobs of the others fill the followed stages first, as arrivals take
    the best-ranked configuration, and what is left is spread evenly over the slots behind them: a mean, not exact.
    Where no slots are behind them, jobs are spread evenly over all: servers that a followed stage has to spare are as
    full as the others.
    """
    result = [1.0] * model.types
    if not all(regime.blocked):
        ahead = model.listed_slots((f.configuration, masses.get(f.configuration, 0.0)) for f in regime.followed)
        slots = model.listed_slots(masses.items())
        for j, (blocked, held) in enumerate(zip(regime.blocked, jobs.tolist(), strict=True)):
            # jobs fill the slots of followed stages first; the rest is spread over the slots behind them
            behind = slots[j] - ahead[j]
            if not blocked and behind > TOLERANCE:
                result[j] = min(NEARLY, max(0.0, (held - ahead[j]) / behind))
            elif not blocked and slots[j] > TOLERANCE:
                result[j] = min(1.0, max(0.0, held / slots[j]))
    return np.array(result)


def _supply(
    model: Reservation,
    regime: Regime,
    asked: tuple[Configuration, ...],
    jobs: Vector,
    masses: Masses,
    velocity: Vector,
    rates: DrainRates,
    known: Supplies,
) -> dict[Configuration, float]:
    """Return how fast configurations free servers; `known` holds answers already computed for this state."""
    if not asked:
        return {}
    moving = _slopes(regime, velocity) if regime.kind == "draining" else {}
    key = (asked, tuple(f.configuration for f in regime.followed), regime.blocked, tuple(moving))
    if key not in known:
        # in units of the shortest mean service time, so that a unit of time of the instance changes nothing
        chance, departing = occupancy(model, regime, jobs, masses), model.service / model.pace * jobs
        known[key] = _freed(model, asked, departing, chance, rates, moving)
    return known[key]


def _freed(
    model: Reservation,
    asked: tuple[Configuration, ...],
    departing: Vector,
    chance: Vector,
    rates: DrainRates,
    moving: dict[Configuration, float],
) -> dict[Configuration, float]:
    """Return how fast configurations free servers, where those that move with their types drain part of the time."""
    values = rates(asked, departing, chance)
    supply = {k: model.pace * rate for k, rate in zip(asked, values, strict=True)}
    for i, k in enumerate(asked[:-1]):
        shrinks = -moving.get(k, -np.inf)
        shared = any(min(a, b) for other in asked[i + 1 :] for a, b in zip(k, other, strict=True))
        if shared and shrinks < supply[k]:
            # those behind see all departures while it does not drain
            others = _freed(model, (*asked[:i], *asked[i + 1 :]), departing, chance, rates, moving)
            part = max(0.0, shrinks) / supply[k]
            mean = {o: part * supply[o] + (1 - part) * others[o] for o in asked[i + 1 :]}
            return supply | mean
    return supply


def _part(regime: Regime, moving: dict[Configuration, float], supply: dict[Configuration, float]) -> float:
    """Return the part of the time for which a followed stage lacks servers, and those asked drain."""
    if regime.kind == "draining":
        return 1.0
    return part_of_the_time(_need(moving), [(supply[k], -moving.get(k, -np.inf)) for k in regime.asked])


def _drained(
    part: float, supply: dict[Configuration, float], between: dict[Configuration, float]
) -> dict[Configuration, float]:
    """Return how fast each configuration frees servers, averaged over the time with and without a lack."""
    return {k: part * rate + (1 - part) * between[k] if k in between else part * rate for k, rate in supply.items()}


def part_of_the_time(need: float, sources: Sequence[tuple[float, float]]) -> float:
    """Return the least part p of the time, at most 1, for which ``sum min(p rate, most)`` of sources covers a need.

    >>> part_of_the_time(2.0, [(2.0, np.inf), (4.0, 1.0)])
    0.5
    """
    rate, fixed = sum(r for r, _ in sources), 0.0
    for share, source, most in sorted((most / r, r, most) for r, most in sources if r > 0 and most < np.inf):
        if fixed + share * rate >= need:
            break
        fixed += most
        rate -= source
    return min(1.0, max(0.0, need - fixed) / rate) if rate > 0 else 1.0


def _settled(
    regime: Regime,
    moving: dict[Configuration, float],
    supply: dict[Configuration, float],
    between: dict[Configuration, float],
    slack: float,
) -> Regime:
    """Decide which shrinking stages keep to their types, and who takes the rest."""
    drained = _drained(_part(regime, moving, supply), supply, between)
    late = {k for k, rate in drained.items() if rate < -moving.get(k, 0.0) - slack}
    followed = regime.followed
    if late:
        followed = tuple(replace(f, moves=False) if f.moves and f.configuration in late else f for f in followed)
    keeping = {f.configuration for f in followed if f.moves}
    drains = [k for k in regime.asked if k not in keeping]
    rest = regime.rest
    if rest in keeping and followed[-1].driver >= 0 and drains:
        rest = drains[-1]
    return replace(regime, followed=followed, rest=rest, drains=tuple(k for k in drains if k != rest))


def velocities(
    model: Reservation,
    regime: Regime,
    jobs: Vector,
    masses: Masses,
    velocity: Vector,
    rates: DrainRates = emptying_rates,
    known: Supplies | None = None,
) -> dict[Configuration, float]:
    """Return how fast the configurations that change do, in a given regime; `velocity` is lambda - mu y, float64[J].

    `known` has the drain rates that were asked before in the same state.
    """
    if regime.level >= 0:
        return _level_velocities(model, regime, jobs, masses, velocity, rates, known)
    moving = _slopes(regime, velocity)
    result = {k: slope for k, slope in moving.items() if k != regime.rest}
    if regime.drains:
        supplies = {} if known is None else known
        supply = _supply(model, regime, regime.asked, jobs, masses, velocity, rates, supplies)
        between = _supply(model, regime, regime.between, jobs, masses, velocity, rates, supplies)
        drained = _drained(_part(regime, moving, supply), supply, between)
        result.update((k, -drained[k]) for k in regime.drains)
    result[regime.rest] = -sum(result.values())
    return result


def _level_velocities(
    model: Reservation,
    regime: Regime,
    jobs: Vector,
    masses: Masses,
    velocity: Vector,
    rates: DrainRates,
    known: Supplies | None,
) -> dict[Configuration, float]:
    """Return the mean of the velocities with a type refused and admitted at which its slots move as its jobs do."""
    j = regime.level
    refused = replace(regime, level=-1)
    admitted = replace(refused, blocked=tuple(b and i != j for i, b in enumerate(regime.blocked)))
    first, second = (velocities(model, one, jobs, masses, velocity, rates, known) for one in (refused, admitted))
    slower, faster = (model.slots_of(one.items())[j] for one in (first, second))
    part = min(1.0, max(0.0, (velocity[j] - faster) / (slower - faster))) if slower > faster else 0.0
    return {k: part * first.get(k, 0.0) + (1 - part) * second.get(k, 0.0) for k in {**first, **second}}
