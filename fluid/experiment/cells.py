"""What one cell computes: the scenario of its document, one run, and its numbers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from fluid.experiment.grid import Cell, scenario_of
from fluid.simulation.driver import run_once
from fluid.simulation.measures import quantile
from fluid.simulation.policy_names import policy
from fluid.simulation.results import Run
from theory.errors import InputError


def run_cell(cell: Cell) -> tuple[dict[str, float | None], float]:
    """Run a cell; return its numbers, which depend on its content alone, and the seconds that it took."""
    begin = time.perf_counter()
    found = policy(cell.document["policy"])
    scenario = scenario_of(cell.document, found)
    try:
        run = run_once(found, scenario, cell.seed())
    except InputError as error:  # here a policy is a field of the grid, and its run a cell
        place = ", ".join(f"{name} = {value}" for name, value in cell.varied.items() if name != "policy")
        where = f" [{place}{', ' if place else ''}replication {cell.replication}]"
        raise type(error)(str(error).removeprefix("--") + where) from None
    numbers = loss_numbers(run) if found.model == "loss" else queue_numbers(run)
    return numbers, time.perf_counter() - begin


def loss_numbers(run: Run) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null for the acceptance of a type that never came."""
    scenario, measures, first = run.scenario, run.measures, run.first
    spans = run.spans[first:]
    jobs = np.average(run.jobs[first:], axis=0, weights=spans)
    slots = np.average(run.slots[first:], axis=0, weights=spans)
    numbers: dict[str, float | None] = {"reward": run.mean_reward}
    numbers |= {f"jobs.{name}": float(jobs[j]) for j, name in enumerate(scenario.names)}
    arrivals, starts = measures.arrivals[first:].sum(axis=0), measures.starts[first:].sum(axis=0)
    for j, name in enumerate(scenario.names):
        numbers[f"acceptance.{name}"] = float(starts[j] / arrivals[j]) if arrivals[j] else None
    numbers |= _utilisation(run)
    for name in ("migrations", "reassigned", "preempted"):
        total = float(getattr(measures, name)[first:].sum()) / float(spans.sum())
        numbers[{"reassigned": "reassignments", "preempted": "preemptions"}.get(name, name)] = total
    if measures.slots.any():  # the policy holds slots ready
        numbers |= {f"reserved_idle.{name}": float(slots[j] - jobs[j]) for j, name in enumerate(scenario.names)}
    return numbers | _drift(run.reward[first:]) | {"events": float(run.events)}


def queue_numbers(run: Run) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null where nothing came."""
    measures, first = run.measures, run.first
    spans, queue = run.spans[first:], run.queue[first:]
    starts = measures.starts[first:].sum()
    found: dict[str, float | None] = {"queue": run.mean_queue}
    for j, name in enumerate(run.scenario.names):
        found[f"queue.{name}"] = float(np.average(run.waiting[first:, j], weights=spans))
        found[f"jobs.{name}"] = float(np.average(run.jobs[first:, j], weights=spans))
    found["delay"] = float(measures.delay[first:].sum() / starts) if starts else None
    for name, q in (("delay.p95", 0.95), ("delay.p99", 0.99)):
        found[name] = quantile(measures.sketch, q) if starts else None
    edges = measures.edges[first:]
    middle = (edges[1:] + edges[:-1]) / 2
    centred = middle - middle.mean()
    found["growth"] = float(centred @ queue / (centred @ centred)) if len(queue) > 1 else 0.0
    return found | _utilisation(run) | _drift(queue) | {"events": float(run.events)}


def _utilisation(run: Run) -> dict[str, float | None]:
    shares = run.scenario.utilisation(run)
    return {f"utilisation.{name}": run.average(share) for name, share in shares.items()}


def _drift(values: Any) -> dict[str, float | None]:
    """How far the second half of the measured time is from the first."""
    half = len(values) // 2
    return {"drift": float(values[half:].mean() - values[:half].mean()) if half else 0.0}
