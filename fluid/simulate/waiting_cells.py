"""Cells of experiments for queues: the same flat table of numbers for both models (see `fluid.experiment.cells`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.experiment.grid import Cell
from fluid.policies import policy
from fluid.simulate.options import parse_simulation
from fluid.simulate.queue.driver import Run
from fluid.simulate.queue.scene import QueueScene
from fluid.simulate.sketch import quantile
from fluid.simulate.slotted.scene import SlottedScene, slotted_scene
from theory.errors import InputError
from theory.files import parse_instance


def queue(cell: Cell) -> dict[str, float | None]:
    """Run a cell of a queue in continuous time."""
    document = cell.document
    instance = parse_instance({name: document[name] for name in ("server", "type")})
    given = parse_simulation(document["simulation"], instance)
    scene = QueueScene(
        instance,
        document["servers"],
        document["until"],
        document["warmup"],
        given.arrivals,
        given.service,
        None,
        given.options,
        bins=100,
    )
    return numbers(scene, scene.run(policy(document["policy"]), cell.seed()))


def slotted(cell: Cell) -> dict[str, float | None]:
    """Run a cell of a slotted queue; a unit of time is a slot."""
    document = cell.document
    instance = parse_instance({name: document[name] for name in ("server", "type")})
    options: dict[str, Any] = dict(document["simulation"])
    laws = {"service": options.pop("service", "geometric"), "arrivals": options.pop("arrivals", "poisson")}
    for name, known in (("service", ("geometric", "deterministic")), ("arrivals", ("poisson", "bernoulli"))):
        if laws[name] not in known:
            raise InputError(f"simulation.{name}: expected one of {', '.join(known)}, got {laws[name]!r}")
    scene = slotted_scene(
        instance,
        document["servers"],
        int(document["until"]),
        int(document["warmup"]),
        fixed=laws["service"] == "deterministic",
        bernoulli=laws["arrivals"] == "bernoulli",
        options=options,
        bins=100,
    )
    return numbers(scene, scene.run(policy(document["policy"]), cell.seed()))


def numbers(scene: QueueScene | SlottedScene, run: Run) -> dict[str, float | None]:
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
