"""``packproof plan``: a number of servers for a log of VMs, in one sentence, with what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.answers.plan import PlanAnswer
from bounds.answers.record import Fields, encode, named
from bounds.views.tables import aligned
from bounds.views.text import many
from fluid.planning.log import DAY
from fluid.planning.needs import Need
from fluid.planning.plan import Plan, PolicyNeed
from fluid.simulation.ticks import in_units
from fluid.traces.jobs import TICK
from fluid.traces.model import Doubt
from theory.errors import listed, quoted
from theory.greedy.optimal import Solution
from theory.greedy.servers import apportion
from theory.instance import Instance

if TYPE_CHECKING:
    from bounds.adversary.workload import WorstWorkload

HOUR = 3600.0

ASSUMED = (
    "The log is counted from its first instant (or from the end of the warm-up, --warmup) to just beyond its last "
    "arrival; the servers begin empty. VMs that leave at an instant have left for those that come at it, and VMs that "
    "come at one instant come in the order of the file.",
    "Where VMs wait, the run goes on after the last arrival until none does.",
    "The target is met on the number of servers, and missed on one less; not all smaller numbers were tried.",
    "Resampled logs put the days of the log (ten equal parts, if it has fewer than five days) together anew, drawn "
    "with replacement: busy days may be missing or come twice, so that their range need not contain the answer.",
    "Growth adds copies of VMs that are drawn, moved by up to a hundredth of the log.",
)
"""What every plan assumes."""


def plan_answer(plan: Plan, solution: Solution, worst: WorstWorkload, certificate: Mapping[str, Any]) -> PlanAnswer:
    """Return the answer of a plan.

    `solution` is of the mean workload on the servers of the plan, `worst` the worst workload of the same types, and
    `certificate` proves `solution` and the servers that carry the workload.
    """
    log, target = plan.log, plan.trials.target
    times, types, durations = log.jobs
    span = in_units(log.until - log.warmup, TICK)
    peak = plan.peak
    headroom = None if plan.headroom is None else [float(x) for x in plan.headroom]
    rows = []
    for j, name in enumerate(log.instance.names):
        of_type = types == j
        count = int(of_type.sum())
        rows.append(
            Fields(
                type=name,
                arrivals=count,
                arrivals_per_hour=float((times[of_type] >= log.warmup).sum() / span * HOUR),
                mean_hours=float(in_units(durations[of_type].mean(), TICK) / HOUR) if count else None,
                jobs=float(log.means[j]),
                at_peak=peak.jobs[j],
                headroom=None if headroom is None else headroom[j],
            )
        )
    best = plan.best
    is_share = target.share is not None
    simulated = None
    if plan.part is not log:
        simulated = {
            "arrivals": len(plan.part.jobs.times),
            "begins": seconds(plan.part_begins),
            "seconds": seconds(plan.part.until),
        }
    return encode(
        PlanAnswer,
        sentence=doubted(log.notes, sentence(plan)),
        target={"kind": "accepted" if is_share else "wait", "value": target.share if is_share else target.wait},
        servers=None if best is None else best.servers,
        policy=None if best is None else best.policy,
        pools=_pools(log.instance, best),
        log=Fields(
            log,
            arrivals=len(times),
            seconds=seconds(log.until),
            warmup=seconds(log.warmup),
            begins=None if log.begins is None else seconds(log.begins),
            simulated=simulated,
        ),
        workload=rows,
        by_hour=log.profile(DAY, 24),
        by_day=log.profile(7 * DAY, 7),
        carries=plan.carries,
        peak=Fields(peak, at=seconds(peak.at), jobs=named(log.instance.types, peak.jobs)),
        policies=[Fields(row.need, pools=_pools(log.instance, row.need), **_resampled(row)) for row in plan.policies],
        greedy=Fields(
            ratio=solution.ratio, worst_ratio=worst.ratio, worst_found=worst.complete,
            worst_workload=named(log.instance.types, worst.workload),
        ),
        growth=[Fields(one, one.need, pools=_pools(log.instance, one.need)) for one in plan.growth],
        left_out=plan.left_out,
        not_run=plan.not_run,
        certificate=certificate,
    )  # fmt: skip


def seconds(ticks: float) -> float:
    """Return a time of a log in seconds."""
    return float(in_units(float(ticks), TICK))


def _pools(instance: Instance, need: Need | None) -> dict[str, int] | None:
    """Return the servers of each pool; None where there is one pool, or no answer."""
    if need is None or need.servers is None or len(instance.pools) == 1:
        return None
    return named(instance.pools, apportion(need.servers, [pool.share for pool in instance.pools]))


def _resampled(row: PolicyNeed) -> dict[str, Any]:
    servers = [one for one in row.resampled if one is not None]
    ends = [min(servers), max(servers)] if servers and len(servers) == len(row.resampled) else None
    return {"resampled": row.resampled, "range": ends}


def _split(pools: Mapping[str, int] | None) -> str:
    """Write the servers of each pool, for after their sum; nothing where there is one pool."""
    return f" ({', '.join(f'{count:,} {quoted(name)}' for name, count in pools.items())})" if pools else ""


def attained_words(value: float, *, share: bool) -> str:
    """Write what a policy attains: a share accepted in percent, or a mean wait."""
    return f"{percent(value)} accepted" if share else f"{value:,.1f} s of mean waiting"


def percent(share: float) -> str:
    """Write a share with three decimals, or as many as tell it from all.

    >>> percent(0.99159), percent(1.0), percent(0.9999996)
    ('99.159 %', '100.000 %', '99.99996 %')
    """
    digits = 3
    while share < 1 and f"{100 * share:.{digits}f}" == f"{100:.{digits}f}":
        digits += 1
    return f"{100 * share:.{digits}f} %"


def sentence(plan: Plan) -> str:
    """Return the answer in one sentence."""
    target, best = plan.trials.target, plan.best
    share = target.share is not None
    aim = (
        f"at least {100 * (target.share or 0):g} % of the VMs" if share else f"a mean wait of at most {target.wait:g} s"
    )
    without = f"Without {listed(plan.log.uncounted)}, which no server names, " if plan.log.uncounted else ""
    if best is None or best.servers is None:
        return f"{without}{'no' if without else 'No'} policy that was tried meets the target, {aim}, on this log."
    counted = _counted(plan)
    attained = f"{percent(best.attained)} of {counted}" if share else f"{best.attained:,.1f} s on average"
    reached = f"accepts {attained}" if share else f"makes {counted} wait {attained}"
    mean, peak = (_between(one.lower, one.upper) for one in (plan.carries, plan.peak))
    (row,) = (row for row in plan.policies if row.need is best)
    ends = _resampled(row)["range"]
    again = f"; {_between(*ends)} on {many(len(row.resampled), 'resampled log')}" if ends else ""
    return (
        f"{without}{many(best.servers, 'server')}{_split(_pools(plan.log.instance, best))} "
        f"{'suffices' if best.servers == 1 else 'suffice'} for this log under {best.policy}, which {reached} "
        f"(target: {aim}{again}); its mean workload needs {mean}, and to hold its fullest instant takes {peak}."
    )


def _counted(plan: Plan) -> str:
    """Name the VMs that are counted."""
    whose = "the VMs"
    if plan.part is not plan.log:
        whose = f"the {len(plan.part.jobs.times):,} VMs of its busiest part (of {len(plan.log.jobs.times):,})"
    if plan.part.warmup > 0:
        whose += f" that come after a warm-up of {lasting(seconds(plan.part.warmup))}"
    elif plan.log.warmup > 0:
        whose += f", which begins after a warm-up of {lasting(seconds(plan.log.warmup))},"
    return whose


def doubted(notes: Sequence[str], answer: str) -> str:
    """Put what makes a log doubtful before an answer about it.

    >>> doubted([Doubt("the mean stay is 0.1 s, under a second"), "a note"], "3 servers suffice.")
    'The log is in doubt (the mean stay is 0.1 s, under a second). 3 servers suffice.'
    """
    doubts = [note for note in notes if isinstance(note, Doubt)]
    return f"The log is in doubt ({'; '.join(doubts)}). {answer}" if doubts else answer


def lasting(span: float) -> str:
    """Write a span of time, in seconds, in the unit that suits it.

    >>> lasting(59), lasting(7200), lasting(14 * 86400)
    ('59 s', '2 hours', '14 days')
    """
    if span < 300:
        return f"{span:,.3g} s"
    return f"{span / HOUR:,.3g} hours" if span < 48 * HOUR else f"{span / (24 * HOUR):,.4g} days"


def room(servers: int) -> str:
    """Say what the room for more VMs is about, which is given by type."""
    of = many(servers, "server")
    return f"Room for more: VMs of one type alone on {of}, on average, if packed as well as possible."


def moment(begins: float | None, at: float) -> str:
    """Write a time of a log, in seconds after it begins: the date where it has dates.

    >>> moment(1777852800.0, 90.0), moment(None, 7200.0)
    ('2026-05-04T00:01:30 UTC', '2 hours after the first arrival')
    """
    if begins is None:
        return f"{lasting(at)} after the first arrival"
    return f"{np.datetime64(round(begins + at), 's')} UTC"


def _between(lower: int, upper: int) -> str:
    return many(upper, "server") if lower == upper else f"{lower:,} to {many(upper, 'server')}"


def plan_lines(answer: PlanAnswer) -> list[str]:
    """Return the answer as text, the sentence first."""
    share = answer.target.kind == "accepted"
    log = answer.log
    lines = [answer.sentence, "", f"{many(log.arrivals, 'VM')} over {lasting(log.seconds)}"]
    lines += [f"  {note}" for note in log.notes]
    if part := log.simulated:
        busiest = f"{many(part.arrivals, 'VM')} over {lasting(part.seconds)}"
        lines.append(f"  policies were run on its busiest part, {busiest}")
    without = f" after the warm-up of {lasting(log.warmup)}" if log.warmup else " over the log"
    lines += ["", f"workload (means{without})"]
    table = [["type", "arrivals an hour", "mean stay", "in service", "at the peak", "room for more"]]
    for row in answer.workload:
        hours = "-" if row.mean_hours is None else lasting(row.mean_hours * HOUR)
        more = "-" if row.headroom is None else f"{row.headroom:,.0f}"
        table.append(
            [quoted(row.type), f"{row.arrivals_per_hour:,.2f}", hours, f"{row.jobs:,.1f}", f"{row.at_peak:,}", more]
        )
    lines += aligned(table, right=5)
    if answer.servers is not None:
        lines.append(f"  {room(answer.servers)}")
    lines.append("")
    lines += _profile_lines(answer)
    mean, peak = (_between(one.lower, one.upper) for one in (answer.carries, answer.peak))
    lines += [
        f"servers that carry the mean workload: {mean} (certified)",
        f"servers that hold the fullest instant: {peak} (exact, if VMs may be moved), "
        f"{moment(log.begins, answer.peak.at)}",
        "",
    ]
    table = [["policy (simulated)", "servers", "attained", "on one less", "on resampled logs"]]
    for one in answer.policies:
        less = "-" if one.one_less is None else attained_words(one.one_less, share=share)
        ends = "-" if one.range is None else f"{one.range[0]:,} to {one.range[1]:,} ({len(one.resampled)} logs)"
        servers = "not met" if one.servers is None else f"{one.servers:,}{_split(one.pools)}"
        table.append([one.policy, servers, attained_words(one.attained, share=share), less, ends])
    lines += [*aligned(table), ""]
    greedy = answer.greedy
    worst = "at the mix that is worst for it" if greedy.worst_found else "at the worst mix found (less may be possible)"
    lines.append(
        "greedy reservation, which fills servers with the VMs of the greatest reward, keeps "
        f"{100 * greedy.ratio:.2f} % of the optimal reward at this mix of types; {worst} "
        f"{100 * greedy.worst_ratio:.2f} %"
    )
    for grown in answer.growth:
        servers = (
            "no number that was tried" if grown.servers is None else many(grown.servers, "server") + _split(grown.pools)
        )
        carried = _between(grown.carries.lower, grown.carries.upper)
        lines.append(f"with {grown.growth:.0%} more VMs {answer.policy} needs {servers}; the mean workload {carried}")
    lines += [f"left out for lack of time: {what}" for what in answer.left_out]
    lines += [f"left out, as it cannot run here: {what}" for what in answer.not_run]
    return [*lines, "", "assumed", *(f"  {one}" for one in ASSUMED)]


def _profile_lines(answer: PlanAnswer) -> list[str]:
    lines = []
    for what, values, names in (
        (
            "hour (UTC)" if answer.log.begins is not None else "hour of the log",
            answer.by_hour,
            [f"{h}" for h in range(24)],
        ),
        (
            "weekday" if answer.log.begins is not None else "weekday, if the log begins on a Monday",
            answer.by_day,
            ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        ),
    ):
        if values:
            low, high = min(values), max(values)
            lines.append(
                f"VMs in service by {what}: least {low:,.0f} ({names[values.index(low)]}), "
                f"most {high:,.0f} ({names[values.index(high)]})"
            )
    return [*lines, ""] if lines else []
