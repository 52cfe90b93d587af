"""What one cell computes: a flat table of numbers, by the model of its policy."""

from __future__ import annotations

import time
from importlib import import_module

import numpy as np

from fluid.experiment.grid import Cell
from fluid.policies import policy
from fluid.simulate.loss import LossRun, Scenario, run_loss
from fluid.simulate.options import parse_simulation
from theory.files import parse_instance
from theory.instance import Additive
from theory.servers import apportion

RUNNERS = {
    "loss": "fluid.experiment.cells:loss",
    "queue": "fluid.simulate.waiting_cells:queue",
    "slotted": "fluid.simulate.waiting_cells:slotted",
}
"""By model, ``module:function`` of what runs a cell: ``run(cell) -> dict of numbers``."""


def run_cell(cell: Cell) -> tuple[dict[str, float | None], float]:
    """Run a cell; return its numbers, which depend on its content alone, and the seconds that it took."""
    begin = time.perf_counter()
    module, _, name = RUNNERS[policy(cell.document["policy"]).model].partition(":")
    numbers: dict[str, float | None] = getattr(import_module(module), name)(cell)
    return numbers, time.perf_counter() - begin


def loss(cell: Cell) -> dict[str, float | None]:
    """Run a cell of a loss system."""
    document = cell.document
    instance = parse_instance({name: document[name] for name in ("server", "type")})
    given = parse_simulation(document["simulation"], instance)
    scenario = Scenario(
        instance,
        document["servers"],
        document["until"],
        document["warmup"],
        given.arrivals,
        given.service,
        given.initial.counts(document["servers"], len(instance.types)),
        None,
        given.options,
        synchronised=True,
        bins=100,
    )
    return loss_numbers(run_loss(policy(document["policy"]), scenario, cell.seed()))


def loss_numbers(run: LossRun) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null for the acceptance of a type that never came."""
    scenario, first = run.scenario, run.first
    instance, measures = scenario.instance, run.measures
    spans = run.spans[first:]
    time_kept = float(spans.sum())
    jobs = np.average(run.jobs[first:], axis=0, weights=spans)
    slots = np.average(run.slots[first:], axis=0, weights=spans)
    reward = run.reward[first:]
    half = len(reward) // 2
    numbers: dict[str, float | None] = {"reward": run.mean_reward}
    for j, name in enumerate(instance.names):
        numbers[f"jobs.{name}"] = float(jobs[j])
    arrivals, accepted = measures.arrivals[first:].sum(axis=0), measures.accepted[first:].sum(axis=0)
    for j, name in enumerate(instance.names):
        numbers[f"acceptance.{name}"] = float(accepted[j] / arrivals[j]) if arrivals[j] else None
    spaces = [pool.space for pool in instance.pools]
    sizes = apportion(scenario.servers, [pool.share for pool in instance.pools])
    listed = [space for space in spaces if isinstance(space, Additive)]
    if len(listed) == len(spaces):
        for r, resource in enumerate(listed[0].resources):
            capacity = sum(n * space.capacity[r] for n, space in zip(sizes, listed, strict=True))
            used = sum(float(jobs[j]) * row[r] for j, row in enumerate(listed[0].demands))
            numbers[f"utilisation.{resource}"] = used / capacity
    numbers["migrations"] = float(measures.migrations[first:].sum()) / time_kept
    numbers["reassignments"] = float(measures.reassigned[first:].sum()) / time_kept
    numbers["preemptions"] = float(measures.preempted[first:].sum()) / time_kept
    if policy_reserves(run):
        for j, name in enumerate(instance.names):
            numbers[f"reserved_idle.{name}"] = float(slots[j] - jobs[j])
    numbers["drift"] = float(reward[half:].mean() - reward[:half].mean()) if half else 0.0
    numbers["events"] = float(run.events)
    return numbers


def policy_reserves(run: LossRun) -> bool:
    """Return whether the policy of a run held slots ready."""
    return bool(run.measures.slots.any())
