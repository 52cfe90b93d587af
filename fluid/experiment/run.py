"""Running an experiment: the cells that the store does not hold, here or on a cluster, written as they finish."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fluid.experiment.grid import Grid, GridCell, scenario_of
from fluid.experiment.replications import put_run, read_run
from fluid.experiment.store import Store
from fluid.files.given_by_trace import has_trace
from fluid.parallel import run_all
from fluid.simulation.driver import run_once
from fluid.simulation.measures import quantile
from fluid.simulation.policy_names import policy, refuse_other_code
from fluid.simulation.results import Run
from theory.errors import InputError
from theory.files.code import telling_what_is_loaded
from theory.numbers import many


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes
    ----------
    done, total : int
        Cells.
    rate : float
        Cells a second since it was taken up.
    remaining : float
        Seconds at that rate.
    """

    done: int
    total: int
    rate: float
    remaining: float

    def __str__(self) -> str:
        """Return it as a line."""
        if self.rate <= 0:
            return f"{self.done:,} of {many(self.total, 'cell')}"
        seconds = int(self.remaining)
        clock = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{self.done:,} of {many(self.total, 'cell')}, {self.rate:.3g} a second, {clock} to go"


def run_experiment(
    grid: Grid,
    store: Store,
    *,
    engine: str = "local",
    workers: int = -1,
    say: Callable[[Progress], None] | None = None,
) -> int:
    """Run what the store does not hold yet.

    Parameters
    ----------
    grid : Grid
    store : Store
    engine : str
        ``local`` or ``dask://HOST:PORT``.
    workers : int
        Processes here; -1: one a core.
    say : callable, optional
        Told after every cell.

    Returns
    -------
    int
        Cells run.

    Notes
    -----
    Interrupted in any way, everything finished is in the store; another run takes up the rest. A cell's result depends
    on its content alone, so the table is the same whoever ran it.
    """
    stored = store.known(cell.key for cell in grid.cells)
    times = Counter(cell.key for cell in grid.cells)  # a value that a policy does not read makes no other cell
    waiting = list({cell.key: cell for cell in grid.cells if cell.key not in stored}.values())
    begin = time.monotonic()
    done = 0
    total = len(grid.cells)
    there = total - sum(times[cell.key] for cell in waiting)
    if say is not None:
        say(Progress(there, total, 0.0, 0.0))
    # of the runs of a trace one is first, and the others are copies of it if it has drawn no number
    points: dict[str, list[GridCell]] = {}
    for cell in waiting:
        points.setdefault(cell.runs if has_trace(cell.document["simulation"]) else cell.key, []).append(cell)
    ahead = [cells[0] for cells in points.values()]
    copies = {cells[0].key: cells[1:] for cells in points.values()}
    while True:  # once where nothing waits, too: a wrong engine is refused
        later: list[GridCell] = []
        for number, run in run_all(run_cell, [(cell,) for cell in ahead], workers=workers, engine=engine):
            rest = copies.pop(ahead[number].key, [])
            later += rest if run.drew else []
            for cell in (ahead[number], *(() if run.drew else rest)):
                put_run(store, cell.key, run if cell is ahead[number] else replace(run, seconds=0.0))
                done += 1
                there += times[cell.key]
            if say is not None:
                rate = done / max(time.monotonic() - begin, 1e-9)
                say(Progress(there, total, rate, (len(waiting) - done) / rate))
        if not later:
            store.refuse_missing(times)
            return done
        ahead = later


def run_cell(cell: GridCell) -> Run:
    """Run a cell; return its run without scenario and state, which depends on its content alone."""
    chosen_policy = policy(cell.document["policy"])
    refuse_other_code(chosen_policy, cell.document["policy"], cell.document["own"])
    scenario = scenario_of(cell.document, chosen_policy)
    try:
        with telling_what_is_loaded(chosen_policy.source, is_own=bool(chosen_policy.code)):
            run = run_once(chosen_policy, scenario, cell.seed())
    except InputError as error:  # here a policy is a field of the grid, and its run a cell
        place = ", ".join(f"{name} = {value}" for name, value in cell.varied.items() if name != "policy")
        where = f" [{place}{', ' if place else ''}replication {cell.replication}]"
        raise error.ending(where) from error
    return replace(run, scenario=None, state=None)


def cell_numbers(grid: Grid, store: Store) -> dict[str, dict[str, float | None]]:
    """Return the numbers of the finished cells by key, computed from their runs, each once while the store is open."""
    numbers: dict[str, dict[str, float | None]] = {}
    point, scenario = "", None
    for cell in grid.cells:
        if cell.key not in store.computed:
            stored = read_run(store, cell.key, None)
            if stored is None:
                continue
            if cell.runs != point:
                point, scenario = cell.runs, scenario_of(cell.document, policy(cell.document["policy"]))
            run = replace(stored, scenario=scenario)
            store.computed[cell.key] = run_numbers(run)
        numbers[cell.key] = store.computed[cell.key]
    return numbers


def run_numbers(run: Run) -> dict[str, float | None]:
    """Return the numbers of a run of any model, averages over [W, T]."""
    return loss_numbers(run) if run.scenario.model == "loss" else queue_numbers(run)


def loss_numbers(run: Run) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null for the acceptance of what never came."""
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
    accepted = float(starts.sum() / arrivals.sum()) if arrivals.sum() else None
    return numbers | _drift(run.reward[first:]) | {"events": float(run.events), "acceptance": accepted}


def queue_numbers(run: Run) -> dict[str, float | None]:
    """Return the numbers of a run: averages over [W, T]; null where nothing came."""
    measures, first = run.measures, run.first
    spans, queue = run.spans[first:], run.queue[first:]
    starts = measures.starts[first:].sum()
    numbers: dict[str, float | None] = {"queue": run.mean_queue}
    for j, name in enumerate(run.scenario.names):
        numbers[f"queue.{name}"] = float(np.average(run.waiting[first:, j], weights=spans))
        numbers[f"jobs.{name}"] = float(np.average(run.jobs[first:, j], weights=spans))
    numbers["delay"] = float(measures.delay[first:].sum() / starts) if starts else None
    for name, q in (("delay.p95", 0.95), ("delay.p99", 0.99)):
        numbers[name] = quantile(measures.sketch, q) if starts else None
    edges = measures.edges[first:]
    middle = (edges[1:] + edges[:-1]) / 2
    centred = middle - middle.mean()
    numbers["growth"] = float(centred @ queue / (centred @ centred)) if len(queue) > 1 else 0.0
    return numbers | _utilisation(run) | _drift(queue) | {"events": float(run.events)}


def _utilisation(run: Run) -> dict[str, float | None]:
    shares = run.scenario.utilisation(run)
    return {f"utilisation.{name}": run.average(share) for name, share in shares.items()}


def _drift(values: Any) -> dict[str, float | None]:
    """How far the second half of the measured time is from the first."""
    half = len(values) // 2
    return {"drift": float(values[half:].mean() - values[:half].mean()) if half else 0.0}
