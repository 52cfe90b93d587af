"""``packproof simulate`` of several policies on the same jobs, or of one policy beside its fluid limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.answers.comparison import Compared, ComparedLoss, ComparedQueues
from bounds.answers.fluid import Converged
from bounds.answers.record import Fields, encode
from bounds.answers.shared import Number as MeasuredNumber
from bounds.answers.simulation import Simulated, SimulatedQueue
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Chart, Curve, above_zero
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table, number
from bounds.views.simulation import (
    bars_of,
    chart_over_time,
    curve_of,
    doubts,
    notes_of_start,
    quantiles_of,
    references,
    simulation_answer,
    title_of,
)
from bounds.views.text import INTERVALS, Number, many, unit_of_time, with_interval
from fluid.experiment.run import run_numbers
from fluid.files.scenarios import Given
from fluid.files.tables import Place, parse_table
from fluid.simulation.continuous import ContinuousTable
from fluid.simulation.documents import InitialJobs, Times
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import LossResult, QueueResult, Result, Run, replications
from fluid.statistics import Interval, band, paired
from theory.errors import InputError, quoted
from theory.files.instances import parse_instance

if TYPE_CHECKING:
    from fluid.limits.convergence import CrossCheck

FEWEST = 8  # replications unless given: enough for bands
NOT_MEASURES = ("drift", "events")  # numbers of a run that say nothing of how good a policy is

SHARES = {"least": 0.0, "most": 1.0}


def refuse_unlike(names: Sequence[str], models: Sequence[str]) -> None:
    """Refuse policies that cannot be compared: one that is named twice, and policies of different models."""
    if len(set(names)) < len(names):
        raise InputError("--policy", "expected different policies, got one of them twice")
    if len(set(models)) > 1:
        shown = ", ".join(f"{name} ({model})" for name, model in zip(names, models, strict=True))
        raise InputError("--policy", f"expected policies of one model, which can see the same jobs, got {shown}")


def numbers_of(run: Run, *, queue: bool) -> dict[str, float | None]:
    """Return the numbers of a run by which policies are compared; None where nothing came, or started."""
    measures, first = run.measures, run.first
    numbers = run_numbers(run)
    if queue:
        arrivals, starts = (counted[first:].sum(axis=0) for counted in (measures.arrivals, measures.starts))
        shares = (float(a / b) if b else None for a, b in zip(starts, arrivals, strict=True))
        numbers |= {f"started.{name}": share for name, share in zip(run.scenario.names, shares, strict=True)}
    return {name: value for name, value in numbers.items() if name not in NOT_MEASURES}


def differences(results: Sequence[Result[Any]]) -> list[tuple[Result[Any], str, Interval]]:
    """Return how much more each policy but the first has of every number that both have, paired by replication.

    A difference is that of the numbers in the answers of the two policies. Shares, delays and their quantiles are there
    of the jobs of all replications together, so their differences are, too; the width of the interval is that of the
    differences of single replications. A pair in which one run has no such number is left out. The growth of one run is
    measured by increments (`fluid.statistics.growth`), and so has no difference of fitted slopes.
    """
    queue = isinstance(results[0], QueueResult)
    first, *others = ([numbers_of(run, queue=queue) for run in result.runs] for result in results)
    gains, base_pooled = [], _pooled(results[0])
    for result, numbers in zip(results[1:], others, strict=True):
        count, pooled = replications([result, results[0]]), _pooled(result)
        for name in numbers[0]:
            if name not in first[0] or (name == "growth" and count == 1):
                continue
            # replication n of both policies saw the same jobs
            both = [(row[name], base[name]) for row, base in zip(numbers[:count], first[:count], strict=True)]
            pairs = [(a, b) for a, b in both if a is not None and b is not None]
            if pairs:
                ours, theirs = zip(*pairs, strict=True)
                gain = paired(ours, theirs)
                if name in pooled:
                    gain = _around(pooled[name] - base_pooled[name], gain)
                gains.append((result, name, gain))
    return gains


def _pooled(result: Result[Any]) -> dict[str, float]:
    """Return the numbers that a policy's answer has of the jobs of all replications together, by name."""
    acceptance = {name: result.acceptance(j).mean for j, name in enumerate(result.scenario.names)}
    if isinstance(result, QueueResult):
        numbers = {f"started.{name}": share for name, share in acceptance.items()}
        quantiles = {"delay.p95": result.quantile(0.95), "delay.p99": result.quantile(0.99)}
        return numbers | quantiles | {"delay": result.delay().mean}
    assert isinstance(result, LossResult)
    numbers = {f"acceptance.{name}": share for name, share in acceptance.items()}
    return numbers | {"acceptance": result.accepted().mean}


def _around(middle: float, measured: Interval) -> Interval:
    """Return an interval of the width of another around a number."""
    half = measured.half_width
    return replace(measured, mean=middle, low=middle - half, high=middle + half)


def comparison_answer(results: Sequence[Result[Any]], given: Sequence[Given]) -> Compared:
    """Return the answers and the differences."""
    first = results[0].policy.name
    gains = [
        Fields(first=one.policy.name, second=first, number=name, difference=gain)
        for one, name, gain in differences(results)
    ]
    every = [simulation_answer(result, one) for result, one in zip(results, given, strict=True)]
    kind: type[Compared] = ComparedQueues if isinstance(results[0], QueueResult) else ComparedLoss
    return encode(kind, policies=every, differences=gains, replications=replications(results))


def measures_of(answer: Simulated) -> dict[str, tuple[str, str]]:
    """Return what is compared of a policy: by the name of the number, what it is called and how it is written."""
    measures = {}
    if isinstance(answer, SimulatedQueue):
        queue, delay, growth = answer.queue, answer.queue.delay, answer.queue.growth
        grows = "   (it grows, at 99.9 %)" * growth.grows
        measures["queue"] = "jobs waiting", with_interval(queue, 5, least=0.0) + grows
        tail = zip((".p95", ".p99"), quantiles_of(delay).items(), strict=True)
        for name, (label, value) in (("", ("mean", delay)), *tail):
            measures[f"delay{name}"] = f"delay, {label}", with_interval(value, 5, least=0.0)
        measures["growth"] = "growth of the queue per unit time", with_interval(Number(growth.per_time, growth.ci95), 5)
    else:
        measures["reward"] = "reward per server", with_interval(answer.reward, least=0.0)
        measures["acceptance"] = "jobs accepted (share)", with_interval(answer.accepted, 4, **SHARES)
        for name in ("migrations", "reassignments", "preemptions"):
            rate = getattr(answer, name)
            measures[name] = f"{name} per unit time", with_interval(rate, 5, least=0.0) if rate.mean else ""
    for name, share in answer.utilisation.items():
        measures[f"utilisation.{name}"] = f"{name} in use (share)", with_interval(share, 4, **SHARES)
    return measures


def sentence(answer: Compared) -> str:
    """Return the reward, or the jobs waiting, under each policy; then what is in doubt."""
    first = answer.policies[0]
    where = f"on {many(first.servers, 'server')} with the same jobs"
    if isinstance(answer, ComparedQueues):
        said = _each({one.policy: one.queue.mean for one in answer.policies}, ".4g")
        said = f"The mean number of jobs waiting {where} is {said}."
    elif all(one.reward.mean is None for one in answer.policies):
        said = f"No reward was measured {where}."
    else:
        said = _each({one.policy: one.reward.mean for one in answer.policies}, ".6g")
        said = f"The reward per server {where} is {said}."
    return " ".join([said, *(line for one in answer.policies for line in doubts(one, named=True))])


def _each(means: Mapping[str, float | None], form: str) -> str:
    """Return a number of each policy, as in "1 under a, 2 under b and 3 under c"."""
    parts = [f"{'unknown' if mean is None else format(mean, form)} under {name}" for name, mean in means.items()]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def tables(answer: Compared) -> list[Table]:
    """Return a table, a row a measure and policy, with the difference to the first; one of the types; notes."""
    first = answer.policies[0]
    gains = {(row.first, row.number): _gain(row.difference) for row in answer.differences}
    every = {policy.policy: measures_of(policy) for policy in answer.policies}
    rows = []
    for name, (label, _) in every[first.policy].items():
        if any(measures.get(name, ("", ""))[1] for measures in every.values()):  # none migrates jobs, say
            rows += [
                [label, who, row.get(name, ("", ""))[1] or "0", gains.get((who, name), "")]
                for who, row in every.items()
            ]
    head = ["measure", "policy", "value [95 %]", f"more than {first.policy} [95 %]"]
    compared = Table("policies on the same jobs", head, rows, [False] * 4)
    remarks = Table("notes", [""], [[line] for line in _notes(answer)], [False])
    return [compared, *_tables_by_type(answer), remarks]


def _notes(answer: Compared) -> list[str]:
    """Return what a reader should know beside the numbers, a line each."""
    first = answer.policies[0]
    lines = [
        INTERVALS,
        f"{many(first.servers, 'server')}, measured from time {first.warmup:g} to {first.until:g}, "
        f"{many(answer.replications, 'replication')}, the same jobs for all policies",
    ]
    alone = [policy.policy for policy in answer.policies if policy.replications == 1]
    if alone:
        none = "; differences have none" if answer.replications == 1 else ""
        lines.append(f"one replication of {', '.join(alone)}: intervals are by batches of time{none}")
    return [*lines, *notes_of_start(first)]


def _tables_by_type(answer: Compared) -> list[Table]:
    """Return a table, a row a type: the share of its jobs that each policy accepts, or how many of them wait."""
    names = list(answer.policies[0].jobs)
    if len(names) < 2:
        return []
    columns: list[Mapping[str, float | None]]
    if isinstance(answer, ComparedQueues):
        what, share, columns = "jobs waiting, by type", False, [{**one.queue.by_type} for one in answer.policies]
    else:
        what, share, columns = "jobs accepted, by type", True, [one.acceptance for one in answer.policies]
    rows = [[quoted(name), *(_written(column.get(name), share=share) for column in columns)] for name in names]
    head = ["type", *(one.policy for one in answer.policies)]
    return [Table(what, head, rows, [False] + [True] * len(columns))]


def _written(value: float | None, *, share: bool) -> str:
    return "-" if value is None else number(value, 4, share=share)


def pictures(answer: Compared) -> list[Picture]:
    """Return the jobs that wait, or the share that is accepted, by policy."""
    if isinstance(answer, ComparedQueues):
        waiting = {one.policy: one.queue.mean for one in answer.policies}
        return [Picture("Jobs that wait, by policy.", bars_of("jobs that wait (number)", waiting))]
    accepted = {one.policy: one.accepted.mean for one in answer.policies}
    return [Picture("Share of the jobs that is accepted, by policy.", bars_of("jobs accepted (share)", accepted))]


def evidence(answer: Compared) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("all numbers", "statistical")]


def assumptions(answer: Compared) -> list[str]:
    """Return what was assumed of the trace."""
    first = answer.policies[0]
    return list(first.trace.notes) if first.trace else []


def _gain(difference: MeasuredNumber) -> str:
    """Write a difference; where all replications are equal, it is a number and has no interval."""
    low, high = difference.ci95
    return f"{difference.mean:.5g}" if low == high and difference.mean is not None else with_interval(difference, 5)


def charts_of(results: Sequence[Result[Any]]) -> list[Chart]:
    """Return the measures over time, by policy, with bands where replications differ.

    Reward or queue comes first, then how much more of it each policy has than the first; the jobs that were refused so
    far, or the delays; and each resource in use.
    """
    scenario, count = results[0].scenario, replications(results)
    queue = isinstance(results[0], QueueResult)
    over_time = chart_over_time(results, references(results[0]), title_of(results))
    # every other chart has the same time axis and warm-up
    plain = replace(over_time, lines=(), title="")
    gains = replace(plain, title=f"difference{', 95 % bands' * (count > 1)}", ylim=(None, None))
    gains = replace(gains, ylabel=f"more {over_time.ylabel}", curves=_gains(results, queue=queue))
    if queue:
        third = _delays(results)
    else:
        third = replace(plain, ylabel="refused so far (jobs)", curves=[_refused(result) for result in results])
    resources = scenario.utilisation(results[0].runs[0])
    return [
        over_time,
        gains,
        third,
        *(replace(plain, ylabel=f"{drawn(r)} in use (share)", curves=_in_use(results, r)) for r in resources),
    ]


def _in_use(results: Sequence[Result[Any]], resource: str) -> list[Curve]:
    """Return the share of a resource that is in use over time."""
    curves = [curve_of(one, values=lambda run: run.scenario.utilisation(run)[resource]) for one in results]
    return [replace(one, high=[min(1.0, x) for x in one.high]) for one in curves]


def _gains(results: Sequence[Result[Any]], *, queue: bool) -> list[Curve]:
    """Return the differences to the first policy over time; it is the line at 0, so that each looks as elsewhere."""
    bins = min(result.bins for result in results)
    first, *others = ([(run.queue if queue else run.reward)[:bins] for run in result.runs] for result in results)
    at = results[0].curve()[0][:bins].tolist()
    curves = [Curve(drawn(results[0].policy.name), at, [0.0] * bins)]
    for result, values in zip(results[1:], others, strict=True):
        count = replications([result, results[0]])
        mean, *ends = (row.tolist() for row in band(np.array(values[:count]) - np.array(first[:count])))
        curves.append(Curve(drawn(result.policy.name), at, mean, *(ends if count > 1 else ())))
    return curves


def _refused(result: Result[Any]) -> Curve:
    """Return the jobs that were refused from time 0 on, at the ends of the bins."""
    curve = curve_of(
        result, values=lambda run: (run.measures.arrivals - run.measures.starts).sum(axis=1).cumsum() * 1.0
    )
    return replace(curve, x=result.runs[0].measures.edges[1 : result.bins + 1].tolist())


def _delays(results: Sequence[Result[Any]]) -> Chart:
    """Return the mean of the delays and their quantiles, with intervals over replications."""
    curves = []
    for place, result in enumerate(result for result in results if isinstance(result, QueueResult)):
        apart = 0.5 * (place + 0.5) / len(results) - 0.25  # policies stand side by side around each tick
        every = [result.delay(), result.quantile_interval(0.95), result.quantile_interval(0.99)]
        points = [(at + apart, x) for at, x in enumerate(every) if np.isfinite(x.mean)]
        low = [x.low if np.isfinite(x.low) else x.mean for _, x in points]
        high = [x.high if np.isfinite(x.high) else x.mean for _, x in points]
        places, means = [at for at, _ in points], [x.mean for _, x in points]
        curves.append(above_zero(Curve(drawn(result.policy.name), places, means, low, high, "marks")))
    ticks = [(0.0, "mean"), (1.0, "95 %"), (2.0, "99 %")]
    delay = f"delay ({unit_of_time(results[0].scenario)})"
    return Chart("quantile (of all jobs)", delay, curves, ylim=(0.0, None), xlim=(-0.5, 2.5), xticks=ticks)


def picture_of_comparison(results: Sequence[Result[Any]], path: str | Path) -> None:
    """Draw `charts_of` in rows of two."""
    picture_of_panels(charts_of(results), path, "", height=3.1)


FEWEST_OF_SIZE = 3  # replications of each size, at least, for an interval of the slope
LEAST_SERVERS = 160  # servers, at least: the smallest of the three sizes is a sixteenth


def compare(
    document: Mapping[str, Any], policy: Policy, source: str, times: Times, *, replications: int, seed: int
) -> CrossCheck:
    """Compare L/16, L/4 and L servers with the fluid path, from the empty system, where that limit is known."""
    from fluid.limits.convergence import crosscheck, limit_of

    limit_of(policy.name)
    if replications < FEWEST_OF_SIZE:
        raise InputError(
            "--replications",
            f"expected at least {FEWEST_OF_SIZE} of each size for an interval of the slope, got {replications}",
        )
    instance = parse_instance({name: value for name, value in document.items() if name != "simulation"}, source)
    table = parse_table(ContinuousTable, document.get("simulation", {}), instance, Place(source), (policy,))
    if table.trace is not None or not table.arrivals.is_poisson or table.service.name != "exponential":
        raise InputError("--against-fluid", "expected Poisson arrivals and exponential service")
    if table.initial != InitialJobs():
        raise InputError("--against-fluid", "expected a system that starts empty")
    if times.servers < LEAST_SERVERS:
        raise InputError("--against-fluid", f"expected at least {LEAST_SERVERS} servers, got {times.servers}")
    # three sizes, a factor of 4 apart, give the slope
    sizes = [times.servers // 16, times.servers // 4, times.servers]
    options = dict(table.options)
    return crosscheck(instance, sizes, times.until, replications, policy=policy.name, options=options, seed=seed)


def convergence_answer(check: CrossCheck, policy: str) -> Converged:
    """Return the answer of a comparison."""
    half = check.edges[-1] / 2
    return encode(
        Converged,
        check,
        policy=policy,
        slope=check.rate,
        time=check.times,
        fluid=dict(zip(check.instance.names, check.fluid.T, strict=True)),
        greedy_reward=check.greedy.reward,
        late_rewards=check.rewards(half),
        gap_slope=check.gap(half),
    )
