"""``packproof simulate``: the answer for loss systems and for queues, its text, its warnings, its picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.answers.record import Fields, encode, named
from bounds.answers.simulation import (
    Delay,
    Growth,
    Queue,
    Simulated,
    SimulatedLoss,
    SimulatedQueue,
)
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Line, above_zero
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import INTERVALS, Number, many, unit_of_time, with_interval
from fluid.files.scenarios import Given
from fluid.simulation.measures import KINDS, RELATIVE_ERROR
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Array, LossResult, QueueResult, Result, Run, replications
from fluid.statistics import Interval
from theory.errors import quoted
from theory.greedy.pools import apportion

SURE = 0.999  # level of the interval that must lie above 0 before a queue is said to grow


def simulation_answer(result: Result[Any], given: Given) -> Simulated:
    """Return the answer for replications of the scenario that a file gives."""
    scenario, runs, edges = result.scenario, result.distinct, result.runs[0].measures.edges
    # copies of one run count once
    events, seconds = (sum(getattr(run, name) for run in runs) for name in ("events", "seconds"))
    suggested = edges[min(result.warm_up.suggested, result.bins)]
    common = {
        "policy": result.policy.name,
        "until": min(run.until for run in result.runs),
        "replications": replications([result]),
        "events": events,
        "events_as_python": sum(run.interpreted for run in runs),
        "events_per_second": events / seconds if seconds > 0 else None,
        "reward": Number(None) if scenario.rewards is None else result.reward(),
        "jobs": _by_type(result, result.jobs),
        "utilisation": result.utilisation(),
        "warmup_check": Fields(result.warm_up, suggested=suggested),
        "trace": _trace_use(given),
        "initial": _initial_jobs(given),
        "pools": _pools(given),
        "log": logged(result) if scenario.log else None,
    }
    if isinstance(result, QueueResult):
        return encode(SimulatedQueue, result, scenario, **common, **_queue_fields(result))
    assert isinstance(result, LossResult)
    return encode(SimulatedLoss, result, scenario, **common, **_loss_fields(result))


def _by_type(result: Result[Any], measure: Callable[[int], Interval]) -> dict[str, Interval]:
    """Return a measure of each type by its name."""
    return {name: measure(j) for j, name in enumerate(result.scenario.names)}


def _loss_fields(result: LossResult[Any]) -> dict[str, Any]:
    return {
        "path": "jump chain" if result.scenario.is_markovian else "list of jobs",
        "acceptance": _by_type(result, result.acceptance),
        "accepted": result.accepted(),
        "migrations": result.rate("migrations"),
        "reassignments": result.rate("reassigned"),
        "preemptions": result.rate("preempted"),
        "reserved_idle": _by_type(result, result.idle_reserve) if result.policy.reserves else None,
    }


def _queue_fields(result: QueueResult[Any]) -> dict[str, Any]:
    delay = Fields(
        result.delay(),
        p95=result.quantile_interval(0.95),
        p99=result.quantile_interval(0.99),
        relative_error=RELATIVE_ERROR,
    )
    waiting = _by_type(result, result.waiting)
    return {
        "acceptance": dict.fromkeys(result.scenario.names, 1.0),  # a queue refuses no job
        "traffic_intensity": result.scenario.intensity,
        "started": _by_type(result, result.acceptance),
        "queue": Fields(result.queue(), growth=growth_of(result), delay=delay, by_type=waiting),
    }


def growth_of(result: QueueResult[Any]) -> Growth:
    """Return the growth of the queue, and whether it grows beyond doubt."""
    rate = result.growth()
    return encode(Growth, rate, per_time=rate, grows=result.growth(SURE).low > 0)


def _pools(given: Given) -> dict[str, int] | None:
    """Return the servers of each pool, where there are several; servers are numbered pool after pool."""
    if given.instance is None or len(given.instance.pools) < 2:
        return None
    pools = given.instance.pools
    return named(pools, apportion(given.scenario.servers, [pool.share for pool in pools]))


def _trace_use(given: Given) -> Fields | None:
    if given.traced is None:
        return None
    scenario, traced = given.scenario, given.traced
    assert scenario.jobs is not None
    times = scenario.jobs.times
    # jobs at time 0 are no arrivals
    before = len(traced.present.times) if len(times) > len(traced.arriving.times) else 0
    last = scenario.last_arrival
    return Fields(
        traced,
        scenario,
        arrivals=len(traced.arriving.times),
        used=scenario.arrivals_until(scenario.until) - before,
        last=last,
        ends_early=last < scenario.until,
        cut_off=traced.unfinished,
    )


def _initial_jobs(given: Given) -> dict[str, Any] | None:
    """Jobs at time 0 of a trace have what was left of their service; those of a law have whole service."""
    if given.table.initial.waiting:
        return {"jobs": given.table.initial.waiting, "service": "whole", "cut_off": 0}
    if given.traced is not None and given.traced.initial:
        return {"jobs": len(given.traced.present.types), "service": "left", "cut_off": given.traced.cut}
    return None


def logged(result: Result[Any]) -> list[dict[str, Any]]:
    """Return the event log of the first run."""
    scenario, measures = result.scenario, result.runs[0].measures
    rows = []
    for at, kind, what, server, other in measures.log[: int(measures.logged[0])].tolist():
        name = KINDS[int(kind)]
        rings = name == "ring"
        rows.append(
            {
                "time": at,
                "event": name,
                "type": None if rings else scenario.names[scenario.group_of(int(what))],
                "clock": int(what) if rings else None,
                "server": int(server) + 1 if server >= 0 else None,  # people count from 1
                "to": int(other) + 1 if other >= 0 else None,
            }
        )
    return rows


def warnings_before(given: Given, policy: Policy, source: Path) -> list[str]:
    """Return what a person should know before the run, a line each."""
    lines = [f"{source}: {note}" for note in given.notes]
    unread = [name for name in given.table.options if name not in policy.options]
    if unread:
        reads = f"it reads {', '.join(policy.options)}" if policy.options else "it has no options"
        lines.append(f"{source}: simulation: {policy.name} does not read {', '.join(unread)}; {reads}")
    intensity = None if given.scenario.model == "loss" else given.scenario.intensity
    if intensity is not None and intensity >= 1:
        lines.append(
            f"{source}: unstable under every policy: the traffic intensity is {intensity:.6g}, at least 1; "
            "the queue grows without bound"
        )
    if given.traced is not None:
        from fluid.traces.jobs import trace_warnings
        from fluid.traces.model import Doubt

        lines += [f"{given.traced.file.path}: {note}" for note in given.traced.notes if isinstance(note, Doubt)]
        lines += trace_warnings(given.traced.file, given.scenario, initial=given.traced.initial)
    return lines


def warnings_after(result: Result[Any], given: Given) -> list[str]:
    """Return what replications of the same jobs are worth: those that are copies of one another count as one."""
    # replications of a policy that draws nothing, on listed jobs, are copies of one run
    if result.identical:
        why = f"{result.policy.source or result.policy.name} draws nothing"
        why += ", and the jobs are those of the trace" if given.traced else ""
        return [f"all {len(result.runs)} replications are identical ({why}): they count as 1"]
    if given.traced is None or len(result.runs) < 2:
        return []
    from fluid.traces.jobs import same_jobs

    return [same_jobs(given.traced.file)]


def sentence(answer: Simulated) -> str:
    """Return the reward and the jobs accepted, or the queue and the delay, in a sentence; then what is in doubt."""
    said = _queue_sentence(answer) if isinstance(answer, SimulatedQueue) else _loss_sentence(answer)
    return " ".join([said, *doubts(answer)])


def _loss_sentence(answer: SimulatedLoss) -> str:
    where = f"Under {answer.policy} on {many(answer.servers, 'server')}"
    reward, accepted = answer.reward.mean, answer.accepted.mean
    if accepted is None:
        return f"{where}, no job came while it was measured."
    earned = "" if reward is None else f", for a reward of {reward:,.6g} per server"
    return f"{where}, {100 * accepted:.3f} % of the jobs are accepted{earned}."


def _queue_sentence(answer: SimulatedQueue) -> str:
    waiting, delay = answer.queue.mean, answer.queue.delay.mean
    waited = "no job has started" if delay is None else f"jobs that start have waited {delay:,.4g} on average"
    count = "an unknown number of" if waiting is None else f"{waiting:,.4g}"
    return f"Under {answer.policy} on {many(answer.servers, 'server')}, {count} jobs wait on average, and {waited}."


def doubts(answer: Simulated, *, named: bool = False) -> list[str]:
    """Return what makes an answer doubtful, a sentence each; `named`: with the policy, beside others."""
    of = f" of {answer.policy}" * named
    lines = []
    if answer.interrupted:
        lines.append(f"The run{of} was interrupted at time {answer.until:g}.")
    if isinstance(answer, SimulatedQueue):
        intensity = answer.traffic_intensity
        if intensity is not None and intensity >= 1 and not named:
            lines.append(f"No policy is stable here: the traffic intensity is {intensity:.6g}, at least 1.")
        if answer.queue.growth.grows:
            lines.append(f"The queue{of} grows beyond doubt.")
    if not answer.warmup_check.enough:
        if isinstance(answer, SimulatedQueue):
            what, why = "queue", "it is too short, or the system is unstable"
        else:
            what, why = "reward", "it looks too short"
        lines.append(f"The {what}{of} still drifts after the warm-up: {why}.")
    return lines


def tables(answer: Simulated) -> list[Table]:
    """Return the numbers, those by type and by resource, what a reader should know beside them, and the event log."""
    parts = tables_of(answer)
    if isinstance(answer, SimulatedQueue):
        parts[0].rows.extend(_waiting(answer))
        parts = [_with_waiting(table, answer.queue) if table.title == "by type" else table for table in parts]
    parts.append(Table("notes", [""], [[line] for line in notes(answer)], [False]))
    return [*parts, _log(answer)] if answer.log else parts


def _waiting(answer: SimulatedQueue) -> list[list[str]]:
    """Return the rows of the queue, its growth and the delays."""
    queue, growth = answer.queue, answer.queue.growth
    rate = with_interval(Number(growth.per_time, growth.ci95), 5)
    rows = [
        ["jobs waiting", with_interval(queue, 5, least=0.0)],
        ["growth of the queue per unit time", f"{rate}{' (it grows, at 99.9 %)' * growth.grows}"],
        ["mean delay of the jobs that start", with_interval(queue.delay, 5, least=0.0)],
    ]
    for share, value in quantiles_of(queue.delay).items():
        rows.append([f"{share} of them wait at most", with_interval(value, 5, least=0.0)])
    return rows


def _with_waiting(table: Table, queue: Queue) -> Table:
    """Return the table by type with the jobs that wait."""
    by_type = {quoted(name): f"{waiting:,.6g}" for name, waiting in queue.by_type.items()}
    rows = [[*row[:2], by_type.get(row[0], "-"), *row[2:]] for row in table.rows]
    head = [*table.head[:2], "jobs waiting", *table.head[2:]]
    return table._replace(head=head, rows=rows, numeric=[*table.numeric[:2], True, *table.numeric[2:]])


def notes(answer: Simulated) -> list[str]:
    """Return what a reader should know beside the numbers, a line each."""
    lines = [INTERVALS]
    if isinstance(answer, SimulatedQueue):
        if answer.traffic_intensity is not None and answer.reward.mean is None:  # jobs of a law of sizes earn nothing
            lines.append("the traffic intensity is that of the mean size, which is a lower bound")
        lines.append(f"quantiles of the delay are off by at most {100 * answer.queue.delay.relative_error:g} %")
    else:
        drawn_by = (
            "are drawn by the jump chain" if answer.path == "jump chain" else "come from a list that policies share"
        )
        lines.append(f"jobs {drawn_by}")
        if not answer.warmup_check.enough:
            longer = max(answer.warmup_check.suggested, answer.until / 2)
            lines.append(f"the warm-up looks short: reward still drifts (try --warmup {longer:g})")
    if answer.replications == 1:
        lines.append("one replication: intervals are by batches of time")
    return [*lines, *notes_of_start(answer)]


def _log(answer: Simulated) -> Table:
    """Return the event log; a ring of a clock has no type."""
    pools = answer.pools or {}
    rows = [
        [
            f"{row.time:.6f}",
            row.event,
            quoted(row.type) if row.type else f"clock {row.clock}",
            _place(row.server, pools) if row.server else "",
            _place(row.to, pools) if row.to else "",
        ]
        for row in answer.log or ()
    ]
    head = ["time", "event", "type", "server", "to server"]
    return Table("first events", head, rows, [True, False, False, False, False], whole=True)


def _place(server: int, pools: Mapping[str, int]) -> str:
    """Return the number of a server, and its pool where there are several."""
    last = 0
    for name, size in pools.items():
        last += size
        if server <= last:
            return f"{server} ({quoted(name)})"
    return str(server)


def quantiles_of(delay: Delay) -> dict[str, Number]:
    """Return the quantiles of delays by name."""
    return {"95 %": Number(delay.p95, delay.p95_ci95), "99 %": Number(delay.p99, delay.p99_ci95)}


def notes_of_start(answer: Simulated) -> list[str]:
    """Return what is said of a trace, and of the jobs at time 0."""
    lines = []
    if trace := answer.trace:
        cut = f"; {trace.cut_off:,} were there to its end, and count as ended then" if trace.cut_off else ""
        used = "" if trace.used == trace.arrivals else f", of which {trace.used:,} come by the end"
        came = many(trace.arrivals, "arrival")
        lines.append(f"{came} in the trace, the last at {trace.last:,.6g} {trace.unit}{used}{cut}")
    if initial := answer.initial:
        if initial.service == "whole":
            return [*lines, f"{many(initial.jobs, 'job')} {'waits' if initial.jobs == 1 else 'wait'} at time 0"]
        cut = f"; {initial.cut_off:,} were there to its end, and count as ended then" if initial.cut_off else ""
        lines.append(
            f"{many(initial.jobs, 'task')} of the trace {'is' if initial.jobs == 1 else 'are'} there at time 0, "
            f"with what is left of {'its' if initial.jobs == 1 else 'their'} service{cut}"
        )
    return lines


def pictures(answer: Simulated) -> list[Picture]:
    """Return the jobs in service by type."""
    return [Picture("Mean number of jobs in service by type.", bars_of("jobs in service (number)", answer.jobs))]


def bars_of(xlabel: str, lengths: Mapping[str, float | None]) -> Bars:
    """Return bars by name, without those of which there is no number."""
    lengths_by_name = {drawn(name): length for name, length in lengths.items() if length is not None}
    return Bars(xlabel, list(lengths_by_name), [("", list(lengths_by_name.values()))])


def evidence(answer: Simulated) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("all numbers", "statistical")]


def assumptions(answer: Simulated) -> list[str]:
    """Return what was assumed of the trace."""
    return list(answer.trace.notes) if answer.trace else []


def curve_of(result: Result[Any], name: str = "", values: Callable[[Run], Array] | None = None) -> Curve:
    """Return `values` by bins, unless given reward or queue, over time, with its 95 % band over replications."""
    at, mean, low, high = result.curve() if values is None else result.curve_of(values)
    name = drawn(name or result.policy.name)
    if replications([result]) < 2:
        return Curve(name, at.tolist(), mean.tolist())
    curve = Curve(name, at.tolist(), mean.tolist(), low.tolist(), high.tolist())
    # a queue, a share or a count is never negative
    return curve if values is None and isinstance(result, LossResult) else above_zero(curve)


def chart_over_time(results: Sequence[Result[Any]], lines: Sequence[Line] = (), title: str = "") -> Chart:
    """Return reward, or queue, over time for each result, with 95 % bands over replications and the warm-up shaded."""
    run = results[0].runs[0]
    warmup = float(run.measures.edges[run.first])
    return Chart(
        f"time ({unit_of_time(results[0].scenario)})",
        "reward (per server)" if isinstance(results[0], LossResult) else "queue (jobs)",
        [curve_of(result) for result in results],
        lines,
        title,
        ylim=(0.0, None),
        shaded=(("warm-up", 0.0, warmup),) if warmup > 0 else (),
    )


def title_of(results: Sequence[Result[Any]]) -> str:
    """Return the title of a chart over time: servers, replications, and what the bands are."""
    count = replications(results)
    runs = f"{many(results[0].scenario.servers, 'server')}, {many(count, 'replication')}"
    return f"{runs}, 95 % bands" if count > 1 else runs


def references(result: Result[Any]) -> list[Line]:
    """Return the greedy and the optimal reward of many servers, for a loss system that draws its arrivals."""
    from theory.greedy.optimal import solve

    if isinstance(result, QueueResult) or result.scenario.jobs is not None:
        return []
    solution = solve(result.scenario.instance)
    greedy, optimal = solution.greedy.reward, solution.optimal.reward
    if greedy == optimal:
        return [Line("greedy, optimal", float(greedy))]
    values = (("greedy, many servers", greedy), ("optimal", optimal))
    return [Line(name, float(reward)) for name, reward in values]


def picture_of_simulation(results: Sequence[Result[Any]], path: str | Path, *, by_mean: bool = False) -> None:
    """Draw reward over time beside the greedy and the optimal reward of many servers, or the queue over time."""
    scenario = results[0].scenario
    title = title_of(results)
    if isinstance(results[0], QueueResult) and scenario.intensity is not None:
        title += f", traffic intensity {scenario.intensity:.4g}" + " at least" * by_mean
    picture_of_panels([chart_over_time(results, references(results[0]), title)], path, "", height=2.8, alone=4.6)
