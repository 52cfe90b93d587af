"""From what a file says (`fluid.files.simulation_table`) to a scene: a loss system, or a queue in continuous time."""

from __future__ import annotations

from typing import Any

from fluid.files.simulation_table import Simulation
from fluid.simulation.loss.model import Scenario
from fluid.simulation.queue.model import QueueScene
from fluid.traces.jobs import typed_jobs
from theory.errors import InputError
from theory.instance import Instance


def loss_scenario(
    instance: Instance, given: Simulation, servers: int, until: float, warmup: float, **how: Any
) -> Scenario:
    """Make the scenario of a loss system; ``how`` has other fields of it.

    Tasks that run when a trace opens come at time 0, before all others, each for what was left of its service.

    Raises
    ------
    InputError
        Jobs that wait at time 0, tasks of a trace that is not there.
    """
    if given.initial.queue:
        raise InputError("simulation.initial: queue: expected a policy of queues; in a loss system nobody waits")
    given = given.with_trace(None)
    jobs = (
        None
        if given.trace is None
        else typed_jobs(given.trace, instance, present=given.initial.trace).all(given.initial.trace)
    )
    return Scenario(
        instance,
        servers,
        until,
        warmup,
        given.arrivals,
        given.service,
        given.initial.counts(servers, len(instance.types)),
        jobs,
        given.options,
        **how,
    )


def queue_scene(
    instance: Instance, given: Simulation, servers: int, until: float, warmup: float, **how: Any
) -> QueueScene:
    """Make the scene of a queue in continuous time; ``how`` has other fields of it.

    Raises
    ------
    InputError
        Jobs on servers at time 0, tasks of a trace that is not there.
    """
    if given.initial.runs:
        raise InputError(
            'simulation.initial: expected empty, { queue = { TYPE = jobs } } or "trace"; servers start empty'
        )
    given = given.with_trace(None)
    jobs = None if given.trace is None else typed_jobs(given.trace, instance, present=given.initial.trace)
    return QueueScene(
        instance,
        servers,
        until,
        warmup,
        given.arrivals,
        given.service,
        None if jobs is None else jobs.arriving,
        given.options,
        present=jobs.present if jobs is not None and given.initial.trace else None,
        queue=given.initial.queue,
        **how,
    )
