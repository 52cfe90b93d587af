"""A scene for slotted queues: a law of sizes or the types of an instance, servers, arrivals, service, a horizon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import refuse_endless
from fluid.simulation.authors import prepared
from fluid.simulation.policy import Policy
from fluid.simulation.queue.driver import Run
from fluid.simulation.slotted.driver import simulate_slots
from fluid.simulation.slotted.state import SlottedSetting
from fluid.simulation.slotted.streams import (
    SizeLaw,
    SlotChunk,
    SlotStream,
    bernoulli_slots,
    listed_slots,
    poisson_slots,
    service_slots,
    whole_slots,
)
from theory.errors import InputError, TooLargeError
from theory.instance import Additive, Instance
from theory.numbers import text

CROWD = 10**7
"""Most jobs that may come in a slot, on average: those of a slot are drawn together."""


@dataclass(frozen=True)
class SlottedScene:
    """What is simulated, whatever the policy.

    Attributes
    ----------
    law : SizeLaw
    servers : int
    until, warmup : int
        Slots.
    rate : float
        Mean number of jobs that come in a slot, to the whole cluster.
    service : float or tuple of float
        Probability that a job in service ends in a slot: of all classes, or of each size of the law.
    fixed : bool
        Service of exactly the mean number of slots.
    bernoulli : bool
        At most one job comes in a slot, with probability `rate`; otherwise a Poisson number.
    jobs : SlotChunk, optional
        The jobs themselves, instead of laws.
    intensity : float, optional
        Traffic intensity, where the caller knows it, or a lower bound of it.
    names : tuple of str
    group : tuple of int
        Of each size the name it is measured under; empty for all under one.
    options : mapping
        For the policy.
    bins, log : int
    present : SlotChunk, optional
        Jobs of a trace that wait in slot 0, before all others; their work is what is left of it.
    queue : tuple of int, or int
        Jobs of each class that wait in slot 0, behind those, or how many drawn from the law; with service drawn too.
    """

    law: SizeLaw
    servers: int
    until: int
    warmup: int
    rate: float = 0.0
    service: float | tuple[float, ...] = 1.0
    fixed: bool = False
    bernoulli: bool = False
    jobs: SlotChunk | None = None
    intensity: float | None = None
    names: tuple[str, ...] = ("jobs",)
    group: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    bins: int = 200
    log: int = 0
    present: SlotChunk | None = None
    queue: tuple[int, ...] | int = ()

    def __post_init__(self) -> None:
        """Refuse what is no horizon, rate or probability."""
        if not 0 <= self.warmup < self.until:
            raise InputError(f"--warmup: expected 0 or more and less than --until {self.until}, got {self.warmup!r}")
        services = self.service if isinstance(self.service, tuple) else (self.service,)
        if not all(0 < mu <= 1 for mu in services):
            raise InputError(f"service_rate: expected more than 0 and at most 1 a slot, got {min(services)}")
        if self.rate < 0 or (self.bernoulli and self.rate > 1):
            raise InputError(
                "simulation.arrivals: expected a rate of at least 0 jobs a slot (bernoulli: at most 1), got "
                f"{self.rate:.6g}"
            )
        if self.jobs is None:
            if self.rate > CROWD:
                raise TooLargeError(
                    f"type: {self.rate:.3g} jobs come in a slot, expected at most {CROWD:,}: see workload"
                )
            refuse_endless(self.rate * self.until)

    def measured(self, job_class: int) -> int:
        """Return the place in `names` under which a class is measured."""
        return self.group[job_class] if self.group else 0

    def stream(self, generator: np.random.Generator) -> SlotStream:
        """Return the stream of jobs."""
        if self.jobs is not None:
            return listed_slots(self.jobs.slot, self.jobs.job_class, self.jobs.work)
        draw = bernoulli_slots if self.bernoulli else poisson_slots
        return draw(self.rate, self.law, self.service, generator, fixed=self.fixed)

    def run(
        self, policy: Policy, seed: np.random.SeedSequence, say: Callable[[float], None] | None = None, **how: Any
    ) -> Run:
        """Run once; jobs, what the policy draws, and jobs of slot 0 come from streams spawned from the seed.

        Raises
        ------
        InputError
            If the policy is none for slotted queues.
        """
        if policy.model != "slotted":
            raise InputError(f"--policy: {policy.name} is no policy of slotted queues")
        world, choices, past = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(3)
        state = prepared(policy, SlottedSetting(self.law.sizes, self.law.capacity, self.servers, self.options))
        group = np.array(self.group, np.int32) if self.group else None
        stream = self.stream(np.random.default_rng(world))
        waiting = self._waiting(np.random.default_rng(past))
        if waiting:
            stream = whole_slots(chain(waiting, stream))
        return simulate_slots(
            policy, state, stream, self.until, self.warmup, choices,
            group=group, bins=self.bins, log=self.log, say=say, **how,
        )  # fmt: skip

    def _waiting(self, generator: np.random.Generator) -> list[SlotChunk]:
        """Return the jobs that wait in slot 0; drawn apart, so that those that come do not depend on them."""
        if isinstance(self.queue, int):
            kinds = self.law.draw(generator, self.queue)
        else:
            kinds = np.repeat(np.arange(len(self.queue), dtype=np.int32), np.array(self.queue, np.int64))
        rates = np.broadcast_to(np.asarray(self.service, float), len(self.law.sizes))[kinds]
        work = service_slots(rates, fixed=self.fixed, generator=generator, draws=len(kinds))
        drawn = SlotChunk(np.zeros(len(kinds), np.int64), kinds, work)
        return [chunk for chunk in (self.present, drawn) if chunk is not None and len(chunk.slot)]

    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of the servers in use by bin."""
        busy = run.measures.busy.sum(axis=1) / run.spans
        return {"size": busy / (self.servers * self.law.capacity)}


def whole_service(rate: Fraction) -> str:
    """Return what is wrong with a service rate whose inverse is no whole number of slots."""
    return f"expected 1 over a whole number of slots for deterministic service, got {text(rate)}"


def slotted_scene(
    instance: Instance, servers: int, until: int, warmup: int, *, intensity: float | None = None, **how: Any
) -> SlottedScene:
    """Make a scene of the types of an instance: sizes, rates and service are theirs, a unit of time is a slot.

    Parameters
    ----------
    instance : Instance
        One pool with one resource; ``servers * workload_j * service_rate_j`` jobs of type j come in a slot on average,
        and ``service_rate_j`` is the probability that one in service ends.
    servers, until, warmup
    intensity : float, optional
    how
        Other fields of `SlottedScene`; classes of jobs are the types of the instance.

    Raises
    ------
    InputError
        Several pools or resources, configurations instead of capacities.
    """
    spaces = [pool.space for pool in instance.pools]
    if len(spaces) > 1 or not isinstance(spaces[0], Additive) or len(spaces[0].capacity) > 1:
        raise InputError("server: expected one kind of server with one resource for a slotted policy")
    for t in instance.types:
        if t.service_rate > 1:
            raise InputError(
                f"type {t.name}: service_rate: expected the probability that a job ends in a slot, at most 1, got "
                f"{text(t.service_rate)}"
            )
        if how.get("fixed") and (1 / t.service_rate).denominator > 1:
            raise InputError(f"type {t.name}: service_rate: {whole_service(t.service_rate)}")
    size = [row[0] for row in spaces[0].demands]
    order = sorted(range(len(size)), key=lambda j: size[j])
    types = [instance.types[j] for j in order]
    rates = np.array([float(servers * t.workload * t.service_rate) for t in types])
    total = float(rates.sum())
    weights = rates / total if total else np.full(len(rates), 1 / len(rates))
    law = SizeLaw(np.array([size[j] for j in order], np.int64), spaces[0].capacity[0], weights)
    place = np.argsort(np.array(order)).astype(np.int32)
    for name in ("jobs", "present"):
        if how.get(name) is not None:
            how[name] = replace(how[name], job_class=place[how[name].job_class])
    if how.get("queue"):
        how["queue"] = tuple(how["queue"][j] for j in order)
    return SlottedScene(
        law,
        servers,
        until,
        warmup,
        rate=total,
        service=tuple(float(t.service_rate) for t in types),
        intensity=intensity,
        names=instance.names,
        group=tuple(order),
        **how,
    )
