"""``packproof simulate`` with several policies: the same jobs under each, differences with intervals, the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.views.panels import Chart, Curve, draw
from bounds.views.pictures import PAGE, figure, save, styled
from bounds.views.simulation import SimulatedLoss, SimulatedQueue, chart_over_time, references, simulation_answer
from bounds.views.tables import aligned
from bounds.views.text import Answer, Number, many, number, with_interval
from fluid.files.scenarios import Given
from fluid.simulation.results import QueueResult, Result
from fluid.statistics import Interval, band, paired
from theory.errors import InputError

FEWEST = 8
"""Replications unless given: enough for bands."""


class Difference(Answer, frozen=True, kw_only=False):
    """Mean of the first policy minus that of the second, over replications that saw the same jobs."""

    first: str
    second: str
    number: str
    difference: Number


class ComparedLoss(Answer, frozen=True, kw_only=False):
    """Policies of loss systems on the same jobs: the answer of each, and what each has more than the first."""

    policies: list[SimulatedLoss]
    differences: list[Difference]


class ComparedQueues(Answer, frozen=True, kw_only=False):
    """Policies of queues on the same jobs: the answer of each, and how much longer its queue is than the first's."""

    policies: list[SimulatedQueue]
    differences: list[Difference]


Compared = ComparedLoss | ComparedQueues


def refuse_unlike(names: Sequence[str], models: Sequence[str]) -> None:
    """Refuse policies that cannot be compared.

    Raises
    ------
    InputError
        One that is named twice, and policies of different models.
    """
    if len(set(names)) < len(names):
        raise InputError("--policy: expected different policies, got one of them twice")
    if len(set(models)) > 1:
        shown = ", ".join(f"{name} ({model})" for name, model in zip(names, models, strict=True))
        raise InputError(f"--policy: expected policies of one model, which can see the same jobs, got {shown}")


def differences(results: Sequence[Result[Any]]) -> list[tuple[Result[Any], str, Interval]]:
    """Return what each policy but the first has more than it: reward, or mean queue, paired by replication."""
    queue = isinstance(results[0], QueueResult)
    means = [[run.mean_queue if queue else run.mean_reward for run in one.runs] for one in results]
    name = "queue" if queue else "reward"
    return [(one, name, paired(mean, means[0])) for one, mean in zip(results[1:], means[1:], strict=True)]


def comparison_answer(results: Sequence[Result[Any]], given: Sequence[Given]) -> Compared:
    """Return the answers and the differences."""
    first = results[0].policy.name
    more = [Difference(one.policy.name, first, name, number(gain)) for one, name, gain in differences(results)]
    every = [simulation_answer(result, one) for result, one in zip(results, given, strict=True)]
    queues = [one for one in every if isinstance(one, SimulatedQueue)]
    if queues:
        return ComparedQueues(queues, more)
    return ComparedLoss([one for one in every if isinstance(one, SimulatedLoss)], more)


def comparison_lines(answer: Compared) -> list[str]:
    """Return a table: a row a policy, with the difference to the first."""
    one = answer.policies[0]
    what = "jobs waiting" if isinstance(one, SimulatedQueue) else "reward per server"
    table = [["policy", f"{what} [95 %]", f"more than {one.policy} [95 %]"]]
    more = ["", *(_gain(row.difference) for row in answer.differences)]
    for policy, gain in zip(answer.policies, more, strict=True):
        if isinstance(policy, SimulatedQueue):
            shown = with_interval(Number(policy.queue.mean, policy.queue.ci95), 5, least=0.0)
            shown += "   (it grows)" * policy.queue.growth.grows
        else:
            shown = with_interval(policy.reward, least=0.0)
        table.append([policy.policy, shown, gain])
    span = f"time {one.warmup:g} to {one.until:g}"
    most = max(policy.replications for policy in answer.policies)
    size = f"{many(one.servers, 'server')}, {span}, {many(most, 'replication')}"
    alone = [policy.policy for policy in answer.policies if policy.replications == 1]
    notes = [f"one replication of {', '.join(alone)}: its interval is by batches of time, and a difference has none"]
    return [f"{size}, the same jobs for all policies", *(notes if alone else ()), "", *aligned(table)]


def _gain(difference: Number) -> str:
    """Write a difference; where all replications are equal, it is a number and has no interval."""
    low, high = difference.ci95
    return f"{difference.mean:.5g}" if low == high and difference.mean is not None else with_interval(difference, 5)


def charts_of(results: Sequence[Result[Any]]) -> list[Chart]:
    """Return reward or queue over time by policy, and what each policy has more than the first, both with bands."""
    queue = isinstance(results[0], QueueResult)
    runs = len(results[0].runs)
    title = f"{many(results[0].scenario.servers, 'server')}, {many(runs, 'replication')}"
    left = chart_over_time(results, references(results[0]), title)
    bins = min(one.bins for one in results)
    first, *others = ([(run.queue if queue else run.reward)[:bins] for run in one.runs] for one in results)
    at = results[0].curve()[0][:bins].tolist()
    curves = [Curve(results[0].policy.name, at, [0.0] * bins)]  # so that each policy looks as on the left
    for one, every in zip(results[1:], others, strict=True):
        ends = [values.tolist() for values in band(np.array(every) - np.array(first))]
        curves.append(Curve(one.policy.name, at, *(ends if runs > 1 else ends[:1])))
    what = "queue (jobs)" if queue else "reward (per server)"
    return [left, Chart(left.xlabel, f"more {what}", curves, title="difference, 95 % band", shaded=left.shaded)]


@styled
def picture_of_comparison(results: Sequence[Result[Any]], path: str | Path) -> None:
    """Draw `charts_of` side by side."""
    made, places = figure(PAGE, 3.1, 2)
    for axes, chart in zip(places, charts_of(results), strict=True):
        draw(axes, chart)
    save(made, path)
