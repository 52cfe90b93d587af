"""What a run says in an experiment: a flat table of numbers, averages over [W, T]."""

from __future__ import annotations

import numpy as np

from fluid.simulation.loss.model import LossRun
from fluid.simulation.queue.driver import Run
from fluid.simulation.results import with_capacities
from fluid.simulation.sketch import quantile
from fluid.simulation.waiting import Scene


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
    pools = with_capacities(instance, scenario.servers)
    for r, resource in enumerate(pools[0][1].resources if pools else ()):
        capacity = sum(n * space.capacity[r] for n, space in pools)
        used = sum(float(jobs[j]) * row[r] for j, row in enumerate(pools[0][1].demands))
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


def queue_numbers(scene: Scene, run: Run) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null where nothing came."""
    first, measures = run.first, run.measures
    spans = run.spans[first:]
    kept = run.queue[first:]
    half = len(kept) // 2
    starts = measures.starts[first:].sum(axis=0)
    found: dict[str, float | None] = {"queue": run.mean_queue}
    for j, name in enumerate(scene.names):
        found[f"queue.{name}"] = float(np.average(run.waiting[first:, j], weights=spans))
        found[f"jobs.{name}"] = float(np.average(run.jobs[first:, j], weights=spans))
    found["delay"] = float(measures.delay[first:].sum() / starts.sum()) if starts.sum() else None
    for name, q in (("delay.p95", 0.95), ("delay.p99", 0.99)):
        found[name] = quantile(measures.sketch, q) if starts.sum() else None
    edges = measures.edges[first:]
    middle = (edges[1:] + edges[:-1]) / 2
    centred = middle - middle.mean()
    found["growth"] = float(centred @ kept / (centred @ centred)) if len(kept) > 1 else 0.0
    for name, share in scene.utilisation(run).items():
        found[f"utilisation.{name}"] = float(np.average(share[first:], weights=spans))
    found["drift"] = float(kept[half:].mean() - kept[:half].mean()) if half else 0.0
    found["events"] = float(run.events)
    return found
