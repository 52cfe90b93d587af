"""``packproof simulate`` for loss systems: scenario from files, report, picture of reward over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.views.simulation import Report, Request, replicated, told_unread
from bounds.views.simulation.initial import initial_lines, with_initial
from bounds.views.simulation.lines import aligned, heading, many, shown
from bounds.views.simulation.traced import Traced, told_after, told_before
from fluid.experiment.replications import kept_loss
from fluid.files.scenarios import loss_scenario
from fluid.files.simulation_table import read_simulation
from fluid.simulation.loss.result import LossResult, simulate_loss
from fluid.simulation.policy_names import policy
from theory.files import read_instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def run(request: Request) -> Report:
    """Simulate a loss system."""
    instance, options = read_instance(request.instance), policy(request.policy).options
    given = read_simulation(request.instance, instance, options).with_trace(request.trace)
    times = request.servers, request.until, request.warmup
    scenario = loss_scenario(instance, given, *times, log=request.log)
    traced = Traced.of(given, instance)
    told_unread(request, given.options)
    told_before(traced, scenario)
    result = replicated(request, scenario, simulate_loss, kept_loss)
    told_after(traced, result, request)
    answer = with_initial(result.answer(), traced, scenario)
    return Report(answer, lambda: lines(answer), lambda path: picture([result], path))


def lines(answer: dict[str, Any]) -> list[str]:
    """Return a report as lines of text."""

    made = [
        *heading(answer),
        *initial_lines(answer),
        f"reward per server {shown(answer['reward'], least=0.0)}",
        "",
    ]
    reserved = answer.get("reserved_idle", {})
    table = [["type", "jobs", "accepted", *(["idle slots"] if reserved else [])]]
    for name, jobs in answer["jobs"].items():
        share = answer["acceptance"][name]
        idle = [shown(reserved[name], 4, least=0.0)] if reserved else []
        table.append([name, f"{jobs:,.2f}", "-" if share is None else f"{share:.4f}", *idle])
    made += aligned(table, right=len(table[0]) - 1)
    made.append("")
    made += [f"{name} in use {shown(share, 4, least=0.0, most=1.0)}" for name, share in answer["utilisation"].items()]
    rates = (("migrations", "migrations"), ("reassignments", "reassigned servers"), ("preemptions", "preempted jobs"))
    made += [f"{what} per unit time {shown(answer[key], 5, least=0.0)}" for key, what in rates if answer[key]["mean"]]
    check = answer["warmup_check"]
    if not check["enough"]:
        longer = max(check["suggested"], answer["until"] / 2)
        made.append(f"the warm-up looks short: reward still drifts (try --warmup {longer:g})")
    for row in answer.get("log", []):
        where = f" server {row['server']}" if "server" in row else ""
        to = f" -> {row['to']}" if "to" in row else ""
        made.append(f"{row['time']:12.6f}  {row['event']:10} {row['type']}{where}{to}")
    return made


def draw_rewards(axes: Axes, results: Sequence[LossResult], marks: Sequence[tuple[str, float]] = ()) -> None:
    """Draw reward per server over time, with 95 % bands over replications, and horizontal lines for comparison."""
    from bounds.views.pictures import MARK
    from bounds.views.simulation.curves import draw_curves

    draw_curves(axes, results, [result.policy.name for result in results], "reward per server")
    for style, (name, value) in zip(("--", ":", "-."), marks, strict=False):
        axes.axhline(value, color=MARK, linestyle=style, linewidth=1, label=name)
    axes.set_ylim(0, max([axes.get_ylim()[1], *(1.05 * value for _, value in marks)]))
    axes.legend(loc="lower right", frameon=False)


def picture(results: Sequence[LossResult], path: str | Path) -> None:
    """Draw reward over time beside the greedy and the optimal reward in the limit of many servers."""
    from bounds.views.pictures import figure, save
    from theory.greedy.optimal import solve

    scenario = results[0].scenario
    marks: list[tuple[str, float]] = []
    if scenario.jobs is None:
        solution = solve(scenario.instance)
        marks = [("greedy, many servers", float(solution.greedy.reward)), ("optimal", float(solution.optimal.reward))]
    made, axes = figure(9, 4.5)
    draw_rewards(axes, results, marks)
    axes.set_title(f"{many(scenario.servers, 'server')}, {many(len(results[0].apart), 'replication')}")
    save(made, path)
