"""``packproof simulate`` for queues, in continuous time and in slots: scene from files, report, queue over time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.views.simulation import Report, Request, replicated, told_unread
from bounds.views.simulation.initial import initial_lines, with_initial
from bounds.views.simulation.lines import aligned, heading, many, shown
from bounds.views.simulation.traced import Traced, told_after, told_before
from fluid.experiment.replications import kept_waiting
from fluid.files.scenarios import queue_scene
from fluid.files.slotted_table import is_sized, parse_slotted, sized_scene, typed_scene
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.measures import KINDS
from fluid.simulation.queue.model import QueueScene
from fluid.simulation.slotted.model import SlottedScene
from fluid.simulation.waiting import QueueResult, simulate_waiting
from theory.errors import InputError
from theory.files import read_document, read_instance
from theory.files.sizes import read_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from theory.instance import Instance


def run_queue(request: Request) -> Report:
    """Simulate a queue in continuous time."""
    from fluid.files.simulation_table import read_simulation

    instance, options = read_instance(request.instance), policy(request.policy).options
    given = read_simulation(request.instance, instance, options).with_trace(request.trace)
    times = request.servers, request.until, request.warmup
    scene = queue_scene(instance, given, *times, log=request.log)
    traced = Traced.of(given, instance)
    told_unread(request, given.options)
    return _report(request, scene, instance, traced, sum(given.initial.queue))


def run_slotted(request: Request) -> Report:
    """Simulate a slotted queue; a unit of time is a slot."""
    until = int(request.until)
    warmup = int(request.warmup)
    if request.until != until or request.warmup not in (warmup, request.until / 5):
        raise InputError(f"--until, --warmup: expected whole slots, got {request.until:g} and {request.warmup:g}")
    times = request.servers, until, warmup
    document, source = read_document(request.instance), str(request.instance)
    table, folder = document.get("simulation", {}), request.instance.parent
    options = policy(request.policy).options
    if is_sized(document):
        given = parse_slotted(table, source, None, folder, options).with_trace(request.trace)
        sized = sized_scene(read_sizes(source), given, *times, request.policy, log=request.log)
        traced = Traced.of(given, None)
        told_unread(request, given.options)
        return _report(request, sized, None, traced, given.queue)
    from theory.region import traffic_intensity

    instance = read_instance(source)
    given = parse_slotted(table, source, instance, folder, options).with_trace(request.trace)
    intensity = None if given.trace is not None else float(traffic_intensity(instance))
    scene = typed_scene(instance, given, *times, intensity=intensity, log=request.log)
    traced = Traced.of(given, instance)
    told_unread(request, given.options)
    return _report(request, scene, instance, traced, sum(given.initial.queue))


def _report(
    request: Request,
    scene: QueueScene | SlottedScene,
    instance: Instance | None,
    traced: Traced | None,
    queue: int,
) -> Report:
    if scene.intensity is not None and scene.intensity >= 1:
        print(
            f"{request.instance}: unstable under every policy: the traffic intensity is {scene.intensity:.6g}, "
            "at least 1; the queue grows without bound",
            file=sys.stderr,
        )
    told_before(traced, scene)
    result = replicated(request, scene, simulate_waiting, kept_waiting)
    told_after(traced, result, request)
    answer = with_initial({**result.answer(), "reward": _reward(result, instance)}, traced, scene, queue)
    if request.log:
        answer["log"] = _log(result, scene)
    return Report(
        answer,
        lambda: lines(answer, by_mean=instance is None),
        lambda path: picture([result], path, by_mean=instance is None),
    )


def _reward(result: QueueResult, instance: Instance | None) -> dict[str, Any]:
    """Time average of sum u_j Y_j / L with its interval; none for a law of sizes, whose jobs have no rewards."""
    if instance is None:
        return {"mean": None, "ci95": [None, None]}
    import numpy as np

    from fluid.simulation.results import as_json

    u = np.array([float(x) for x in instance.rewards]) / result.scene.servers
    return as_json(result.interval(lambda run: run.jobs @ u))


def _log(result: QueueResult, scene: QueueScene | SlottedScene) -> list[dict[str, Any]]:
    """Return the event log of the first run: time, what happened, to which type, on which server (from 1)."""
    measures = result.runs[0].measures
    rows = []
    for at, kind, what, server in measures.log[: int(measures.logged[0])].tolist():
        name = KINDS[int(kind)]
        row: dict[str, Any] = {"time": at, "event": name}
        if name == "ring":
            row["clock"] = int(what)
        else:
            row["type"] = scene.names[scene.measured(int(what)) if isinstance(scene, SlottedScene) else int(what)]
        if server >= 0:
            row["server"] = int(server) + 1
        rows.append(row)
    return rows


def lines(answer: dict[str, Any], *, by_mean: bool = False) -> list[str]:
    """Return a report as lines of text; `by_mean`: the traffic intensity is a lower bound, by the mean size."""

    queue, intensity = answer["queue"], answer["traffic_intensity"]
    delay, growth = queue["delay"], queue["growth"]
    tail = "" if delay["p95"] is None else f"   95 %: {delay['p95']:.5g}   99 %: {delay['p99']:.5g}"
    made = [
        *heading(answer),
        *([] if intensity is None else [f"traffic intensity {intensity:.6g}{' at least (mean size)' * by_mean}"]),
        *initial_lines(answer),
        f"jobs waiting {shown(queue, 5, least=0.0)}",
        f"growth per unit time {shown(growth, 5, key='per_time')}{'   (it grows)' * growth['grows']}",
        f"delay {shown(delay, 5, least=0.0)}{tail}",
        "",
    ]
    table = [["type", "in service", "waiting", "started/came"]]
    for name, jobs in answer["jobs"].items():
        share = answer["started"][name]["mean"]
        started = "-" if share is None else f"{share:.4f}"
        table.append([name, f"{jobs:,.2f}", f"{queue['by_type'][name]:,.2f}", started])
    made += aligned(table, right=3)
    made.append("")
    made += [f"{name} in use {shown(share, 4, least=0.0, most=1.0)}" for name, share in answer["utilisation"].items()]
    if not answer["warmup_check"]["enough"]:
        made.append("the queue still drifts after the warm-up: it is short, or the system is unstable")
    for row in answer.get("log", []):
        where = f" server {row['server']}" if "server" in row else ""
        made.append(f"{row['time']:12.6f}  {row['event']:10} {row.get('type', row.get('clock', ''))}{where}")
    return made


def draw_queues(axes: Axes, results: Sequence[QueueResult]) -> None:
    """Draw the queue over time, with 95 % bands over replications."""
    from bounds.views.simulation.curves import draw_curves

    draw_curves(axes, results, [result.policy for result in results], "jobs waiting", least=0.0)
    axes.locator_params(axis="x", nbins=6)
    axes.legend(loc="upper left", frameon=False)


def picture(results: Sequence[QueueResult], path: Path, *, by_mean: bool = False) -> None:
    """Draw the queue over time (see `lines`)."""
    from bounds.views.pictures import figure, save

    made, axes = figure(9, 4.5)
    draw_queues(axes, results)
    scene = results[0].scene
    known = "" if scene.intensity is None else f", traffic intensity {scene.intensity:.4g}{' at least' * by_mean}"
    axes.set_title(f"{many(scene.servers, 'server')}, {many(len(results[0].apart), 'replication')}{known}")
    save(made, path)
