"""Online policies attacked: job types and workloads of a small traffic intensity that a policy does not carry.

Queueing policies are attacked in two ways. Where servers can be trapped (`bounds.adversary.traps`), the search looks
for types whose least trap is low, an exact number, and one simulation confirms that the queues grow. Under geometric
service in slots every server becomes empty now and then, so that nothing is a trap for ever: there the search simulates
the policy at traffic intensity 1, looks for types and workloads at which much of the work piles up, and then for the
least intensity at which it still does. Policies of loss systems are judged by their reward over that of the optimal
assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from bounds.adversary.budget import COMPILES, INTERRUPTED, Budget
from bounds.adversary.contained import Wire, contained
from bounds.adversary.engine import Found, Judged, Space, attack, on_grid, with_entry, without_entry
from bounds.adversary.growth import ALARM, REPLICATIONS, Growth, Simulated, growth_of, lost_share, share_of_reward
from bounds.adversary.traps import Trap, least_trap, most_jobs, overload, work_of
from fluid.files.scenarios import read_scenario
from fluid.simulation.documents import Times
from fluid.simulation.driver import simulate
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy as policy_by_name
from fluid.statistics import Interval
from theory.errors import ArgumentError
from theory.files.instances import instance_document
from theory.instance import Instance, additive
from theory.region.membership import traffic_intensity

MARGIN = Fraction(1, 10)  # above the infimum of a trap, so that queues grow fast enough to be seen
SURE = 12  # standard deviations of the random walk of a growing queue, by which it grows in each window

SILENT = 60.0
"""Seconds after the time limit without a word from the search for a policy by its name, which is then ended.

The simulation at the end comes on top of the limit, and says how far it is.
"""

DOUBLINGS = 4  # horizons that are tried for a trap, each twice the one before
EVENTS = 30_000  # jobs that come in a short simulation
FRESH = 7_919  # added to the seed of the search for the simulation that confirms


@dataclass(frozen=True)
class Offer:
    """Job types in whole numbers, and the ratios of their workloads, which mean nothing to traps.

    `rewards` are those of loss systems and 1 elsewhere, `percent` is their traffic intensity; `slots` is the mean
    service under slotted policies, and 1 elsewhere.
    """

    capacity: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    rewards: tuple[int, ...]
    slots: int = 1
    percent: int = 100

    def types(self) -> Instance:
        """Return the instance without workload."""
        instance = additive(self.capacity, self.demands, self.rewards, [0] * len(self.demands))
        return replace(instance, types=tuple(replace(t, service_rate=Fraction(1, self.slots)) for t in instance.types))

    def at(self, intensity: Fraction) -> Instance:
        """Return the instance with workloads in these ratios, of a traffic intensity."""
        instance = self.types().with_workload(self.weights)
        scale = intensity / traffic_intensity(instance)
        return instance.with_workload([(scale * w).limit_denominator(10_000) for w in self.weights])


class OfferSpace(Space[Offer]):
    """Job types of one server.

    Parameters
    ----------
    types, resources : int
    loss : bool
        Whether rewards and the intensity vary.
    slots : sequence of int
        Mean services that are tried, the first at the corners.
    grid : int
        Capacity of each resource.
    """

    def __init__(
        self, types: int = 2, resources: int = 1, *, loss: bool = False, slots: tuple[int, ...] = (1,), grid: int = 60
    ) -> None:
        self.types, self.resources, self.grid, self.loss, self.slots = types, resources, grid, loss, slots

    def _of(self, sizes: tuple[int, ...], weights: tuple[int, ...] | None = None) -> Offer:
        """Return types of given sizes in every resource; more of them, where some are missing, are halves."""
        sizes = (*sizes, *[self.grid // 2] * self.types)[: self.types]
        demands = tuple((size,) * self.resources for size in sizes)
        return Offer((self.grid,) * self.resources, demands, weights or (1,) * self.types, self._rewards(sizes),
                     self.slots[0])  # fmt: skip

    def _rewards(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return sizes if self.loss else (1,) * len(sizes)

    def corners(self) -> Iterator[Offer]:
        """Yield sizes at which much fits or little: k small jobs beside one that leaves no more room, and parts 1/i.

        With four types, also the sizes on which First-Fit Decreasing needs 11/9 of the optimum (Johnson, 1973). Where
        the mean service varies, also many small jobs and some that fill a server.
        """
        unit = self.grid // 60
        if self.types == 2 and len(self.slots) > 1:
            yield replace(self._of((unit, self.grid), (10, 1)), slots=self.slots[-1])
        if self.types == 4 and unit and self.resources == 1:
            yield self._of((13 * unit, 16 * unit, 17 * unit, 31 * unit), (2, 1, 1, 1))
        for k, small in product((1, 2, 3), (1, 2, 3)):
            yield self._of((small, self.grid - k * small))
        parts = sorted({min(self.grid, self.grid // i + more) for i in range(1, 9) for more in (0, 1)}, reverse=True)
        above = self.grid // 2 + 1
        for b, a in product(parts, parts):
            if a < b:
                yield self._of((a, b, *(size for size in (above, self.grid // 3 + 1) if size not in (a, b))))

    def draw(self, rng: np.random.Generator) -> Offer:
        """Draw sizes near parts 1/k of a server, or of any size, and any ratios."""
        demands = []
        for _ in range(self.types):
            near = rng.random() < 0.6
            row = [
                int(self.grid // rng.integers(1, 9) + rng.integers(0, 3)) if near else int(rng.integers(1, self.grid))
                for _ in range(self.resources)
            ]
            demands.append(tuple(min(self.grid, size) for size in row))
        weights = tuple(int(w) for w in rng.integers(1, 13, self.types))
        rewards = self._rewards(tuple(max(row) for row in demands))
        return Offer((self.grid,) * self.resources, tuple(demands), weights, rewards, int(rng.choice(self.slots)))

    def move(self, case: Offer, rng: np.random.Generator) -> Offer:
        """Change a demand, a ratio, a reward, the intensity or the mean service."""
        j, what = int(rng.integers(len(case.demands))), rng.random()
        step = int(rng.choice([-1, 1])) * int(rng.choice([1, 1, 2, 4]))
        if what < 0.5:
            r = int(rng.integers(self.resources))
            row = list(case.demands[j])
            row[r] = min(self.grid, max(1, row[r] + step if rng.random() < 0.8 else int(rng.integers(1, self.grid))))
            return replace(case, demands=with_entry(case.demands, j, tuple(row)))
        if what < 0.6:
            return replace(case, slots=int(rng.choice(self.slots)))
        if what < 0.8 and self.loss:
            value = max(1, case.rewards[j] + step)
            return replace(case, rewards=with_entry(case.rewards, j, value))
        if what < 0.85 and self.loss:
            return replace(case, percent=int(rng.choice([80, 100, 120, 150, 200, 300])))
        return replace(case, weights=with_entry(case.weights, j, max(1, case.weights[j] + step)))

    def shrinks(self, case: Offer) -> Iterator[Offer]:
        """Drop a type; take coarser units; make ratios and mean service smaller."""
        width = len(case.demands)
        for j in range(width) if width > 1 else ():
            demands, weights, rewards = (without_entry(row, j) for row in (case.demands, case.weights, case.rewards))
            yield replace(case, demands=demands, weights=weights, rewards=rewards)
        for grid in (g for g in (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40) if g < max(case.capacity)):
            for up in (False, True):
                demands = on_grid(case.demands, case.capacity, grid, up=up)
                if all(min(row) > 0 for row in demands):
                    yield replace(case, capacity=(grid,) * len(case.capacity), demands=demands)


@dataclass(frozen=True)
class Broken:
    """The worst instance found for a policy, with the workload at which it was simulated.

    `simulation` is the table ``[simulation]``. `ratio` is the traffic intensity where the queues grow, 1 if no growth
    was confirmed; of a loss system it is the mean `share` of the reward. `run` is the simulation that measured it.
    """

    instance: Instance
    simulation: dict[str, Any]
    servers: int
    ratio: Fraction
    found: Found[Offer]
    trap: Trap | None = None
    growth: Growth | None = None
    share: Interval | None = None
    run: Simulated | None = None

    @property
    def confirmed(self) -> bool:
        """Whether a simulation with a fresh seed has confirmed it."""
        return self.growth.confirmed if self.growth else self.share is not None

    def document(self) -> dict[str, Any]:
        """Return the file that `packproof simulate` reads."""
        return document_of(self.instance, self.simulation)


def document_of(instance: Instance, simulation: dict[str, Any]) -> dict[str, Any]:
    """Return an instance file with the table ``[simulation]``."""
    return {**instance_document(instance), "simulation": simulation}


Say = Callable[[str], None] | None


def break_policy(
    policy: Policy,
    *,
    types: int = 2,
    resources: int = 1,
    servers: int | None = None,
    service: str = "geometric",
    seed: int = 0,
    time_limit: float = float("inf"),
    report: Say = None,
    evaluations: int | None = None,
    target: Fraction | None = None,
    space: OfferSpace | None = None,
) -> Broken:
    """Search for an instance that a policy serves badly, and simulate it with a fresh seed.

    Parameters
    ----------
    policy : Policy
    types, resources : int
        Slotted policies have one resource.
    servers : int, optional
        1 where left out and traps are looked for, 100 where work is to pile up, 20 for loss systems.
    service : str
        In slots: ``geometric``, or ``deterministic`` for a fixed number of slots, under which there are traps.
    time_limit : float
        Seconds for the search, which begin when the policy is compiled and a first instance has been judged. The
        simulation at the end comes on top.
    report : callable, optional
        Called with a short text from time to time.
    seed, evaluations, target
        As for `bounds.adversary.engine.attack`.
    space : OfferSpace, optional
        Instead of one of that many types and resources.
    """
    slotted = policy.model == "slotted"
    corner = next((space or OfferSpace(types, 1 if slotted else resources)).corners())
    if report is not None:
        report(f"{policy.name}: starting{COMPILES}")
    scenario = read_scenario(document_of(corner.at(Fraction(1)), {}), policy, Times(1, 2, 0), source="attack").scenario
    simulate(policy, scenario)
    end = Budget(time_limit, report)
    how: dict[str, Any] = {"seed": seed, "budget": end, "evaluations": evaluations, "target": target}
    loss, has_traps = policy.model == "loss", policy.model != "loss" and _has_traps(policy, service)
    slots = (1, 2, 10) if slotted and not has_traps else (1,)
    wide = space or OfferSpace(types, 1 if slotted else resources, loss=loss, slots=slots)
    if loss:
        return _least_reward(policy, wide, servers or 20, how, end.report)
    if has_traps:
        return _lowest_trap(policy, wide, servers or 1, how, end.report)
    return _pile(policy, wide, servers or 100, how, end)


def search_policy(
    name: str, *, time_limit: float, resources: int = 1, report: Say = None, warn: Say = None, **how: Any
) -> tuple[str, Broken]:
    """Search for an instance that a policy by its name serves badly, in a process of its own, as `break_policy` does.

    Returns the policy's model as well, since its code runs in that process alone. `warn` is called with one line if the
    process was ended. A slotted policy with several resources is refused.
    """

    def searched(wire: Wire) -> tuple[str, Broken]:
        # in the search the instances are what takes time, so that it compiles before the first of them
        policy = policy_by_name(name)
        if policy.model == "slotted" and resources > 1:
            raise ArgumentError("resources", f"expected 1, since {name} is a slotted policy, got {resources}")
        broken = break_policy(policy, resources=resources, time_limit=time_limit, report=wire.report, **how)
        return policy.model, broken

    answer: tuple[str, Broken] = contained(
        searched, name, seconds=time_limit, overtime=SILENT, patient=True, report=report, warn=warn
    )
    return answer


def _has_traps(policy: Policy, service: str) -> bool:
    """Return whether departures happen one at a time and the policy has no clocks."""
    if policy.model == "slotted":
        return service == "deterministic"
    from fluid.chains.saturated import Saturated

    return not Saturated(policy, additive([1], [[1]]), 1).has_clocks


def _lowest_trap(policy: Policy, space: OfferSpace, servers: int, how: dict[str, Any], say: Say) -> Broken:
    def judge(case: Offer) -> Judged:
        trap = least_trap(policy, case.types(), servers)
        return Judged(Fraction(1) if trap is None else min(Fraction(1), trap.intensity), True, trap)

    worst = attack(judge, space, **how)
    trap = worst.judged.evidence
    if trap is None or trap.intensity >= 1:
        instance, simulation = worst.case.types(), _table(policy, fixed=True)
        return Broken(instance, simulation, servers, Fraction(1), worst)
    return confirmed_trap(policy, worst, trap, servers, seed=how["seed"] + FRESH, say=say)


def _table(policy: Policy, *, fixed: bool) -> dict[str, Any]:
    return {"service": "deterministic" if fixed else "geometric"} if policy.model == "slotted" else {}


def confirmed_trap(
    policy: Policy, found: Found[Offer], trap: Trap, servers: int, *, seed: int, say: Say = None, alarm: float = ALARM
) -> Broken:
    """Simulate a workload that a trap does not carry; the horizon is doubled until enough replications are caught."""
    case = found.case
    if policy.model == "slotted":  # a mean service so long that jobs rarely end together
        case = replace(case, slots=10 * most_jobs(case.types(), servers))
    bare = case.types()
    # above the infimum by a margin, so that growth can be told from noise within a horizon
    rho = overload(trap, bare, servers, MARGIN)
    if rho is None:  # so near to 1 that the types which bring it about have no place below
        return Broken(bare, _table(policy, fixed=True), servers, Fraction(1), found, trap)
    instance, simulation = bare.with_workload(rho), _table(policy, fixed=True)
    long = 2 * most_jobs(bare, servers)
    waiting = {j: n * long for j, n in enumerate(trap.cause) if n and j not in trap.growing}
    if waiting:
        simulation["initial"] = {"queue": {bare.names[j]: n for j, n in waiting.items()}}
    rates = [t.service_rate for t in bare.types]
    gains = {j: float((servers * rho[j] - trap.service[j]) * rates[j]) for j in trap.growing}
    noise = {j: 2 * float(servers * rho[j] * rates[j]) for j in trap.growing}
    work = work_of(bare)
    expected = sum(float(work[j]) * gain for j, gain in gains.items())
    # drift g against noise s^2 per unit of time: after SURE^2 s^2 / g^2 the drift is SURE standard deviations; each
    # window is two fifths of the run
    until = 2.5 * max(SURE**2 * noise[j] / gains[j] ** 2 for j in trap.growing)
    until = max([until, *(10 * n / float(rates[j]) for j, n in waiting.items())])
    growth: Growth | None = None
    try:
        for _ in range(DOUBLINGS):
            growth = growth_of(
                policy, document_of(instance, simulation), work, servers, until, expected=expected, seed=seed,
                alarm=alarm, progress=say,
            )  # fmt: skip
            if growth.first is not None:
                break
            until *= 2
    except KeyboardInterrupt:
        INTERRUPTED.clear()
    ratio = traffic_intensity(instance) if growth is not None and growth.confirmed else Fraction(1)
    return Broken(instance, simulation, servers, ratio, found, trap, growth, run=growth.run if growth else None)


def _horizon(instance: Instance, servers: int, jobs: int) -> float:
    """Return the time in which a number of jobs come, rounded to hundreds."""
    rate = float(servers * sum(t.workload * t.service_rate for t in instance.types))
    return float(max(1, round(jobs / rate / 100))) * 100


def _pile(policy: Policy, space: OfferSpace, servers: int, how: dict[str, Any], budget: Budget) -> Broken:
    """Look for instances on which work piles up at intensity 1, then for the least intensity at which it does."""
    simulation = _table(policy, fixed=False)

    def lost(case: Offer, intensity: Fraction, jobs: int, seed: int) -> float:
        instance = case.at(intensity)
        document = document_of(instance, simulation)
        until = _horizon(instance, servers, jobs)
        return lost_share(policy, document, work_of(instance), servers, until, seed=seed)

    def judge(case: Offer) -> Judged:
        return Judged(Fraction(1 - lost(case, Fraction(1), EVENTS, 1)).limit_denominator(10**6), False)

    worst = attack(judge, space, **how, shrink=False)
    case, seed = worst.case, how["seed"] + FRESH
    low, high = Fraction(worst.judged.value).limit_denominator(1000), Fraction(1)
    growth: Growth | None = None
    instance = case.at(Fraction(1))
    try:
        # bisection, one run a step, between the part of the work that was carried at intensity 1 and that intensity
        while high - low > Fraction(1, 100):
            middle = ((low + high) / 2).limit_denominator(1000)
            if lost(case, middle, 10 * EVENTS, 2) > 0.002:
                high = middle
            else:
                low = middle
        for intensity in (high + n * Fraction(1, 100) for n in range(10)):
            if intensity >= 1:
                break
            instance = case.at(intensity)
            growth = growth_of(
                policy, document_of(instance, simulation), work_of(instance), servers,
                _horizon(instance, servers, 5 * EVENTS), seed=seed, progress=budget.report,
            )  # fmt: skip
            if growth.confirmed:
                ratio = traffic_intensity(instance)
                return Broken(instance, simulation, servers, ratio, worst, growth=growth, run=growth.run)
    except KeyboardInterrupt:
        INTERRUPTED.clear()
    run = growth.run if growth else None
    return Broken(instance, simulation, servers, Fraction(1), worst, growth=growth, run=run)


def _least_reward(policy: Policy, space: OfferSpace, servers: int, how: dict[str, Any], say: Say) -> Broken:
    """Look for instances of a loss system by short simulations, then measure the worst with a fresh seed."""

    def measured(case: Offer, jobs: int, seed: int, replications: int) -> tuple[Instance, Interval, Simulated]:
        instance = case.at(Fraction(case.percent, 100))
        run = Simulated(max(20.0, _horizon(instance, servers, jobs)), replications, seed)
        return instance, share_of_reward(policy, document_of(instance, {}), instance, servers, run), run

    def judge(case: Offer) -> Judged:
        return Judged(Fraction(measured(case, EVENTS, 1, 1)[1].mean).limit_denominator(10**6), False)

    worst = attack(judge, space, **how, shrink=False)
    if say is not None:
        say(f"{policy.name}: measuring the worst instance with a fresh seed")
    try:
        instance, share, run = measured(worst.case, 10 * EVENTS, how["seed"] + FRESH, REPLICATIONS)
    except KeyboardInterrupt:
        INTERRUPTED.clear()
        instance = worst.case.at(Fraction(worst.case.percent, 100))
        return Broken(instance, {}, servers, Fraction(worst.judged.value), worst)
    ratio = Fraction(share.mean).limit_denominator(10**6)
    return Broken(instance, {}, servers, ratio, worst, share=share, run=run)
