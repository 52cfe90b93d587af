"""``packproof plan``: a number of servers for a log of VMs, in one sentence, with what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bounds.answers.plan import GREEDY, WORKLOAD, PlanAnswer, PlanPeriod, PlanTooLarge, split_in_words
from bounds.answers.record import Fields, encode, named
from bounds.views.log import first_lines
from bounds.views.plan_cost import bounds_in_words, cost_fields, cost_tables, mix_in_words, policy_in_words
from bounds.views.plan_pictures import pictures_of_plan
from bounds.views.shown import NUMBERS, Picture, Table, tables_of
from bounds.views.spans import HOUR, lasting, moment
from bounds.views.text import many
from fluid.planning.log import DAY
from fluid.planning.mixes import CheapestPlan
from fluid.planning.needs import Peak
from fluid.planning.plan import Plan, PolicyNeed
from fluid.simulation.ticks import in_units
from fluid.traces.jobs import TICK
from fluid.traces.model import Doubt
from theory.errors import listed, quoted
from theory.greedy.optimal import Solution
from theory.greedy.pools import apportion
from theory.greedy.servers import LeastServers
from theory.instance import Instance

if TYPE_CHECKING:
    from bounds.adversary.workload import WorstWorkload

ASSUMED = (
    "The log is counted from its first instant (or from the end of the warm-up, --warmup) to just beyond its last "
    "arrival; the servers begin empty. VMs that leave at an instant have left for those that come at it.",
    "VMs that come at one instant come in the order of the names of their types, of equal ones the shorter stay first; "
    "in a plain table (time, duration) and in traces of Google and Alibaba in the order of the file.",
    "Where VMs wait, the run goes on after the last arrival until none does.",
    "The target is met on the number of servers, and missed on one less; not all smaller numbers were tried.",
    "The policy of the answer needs the fewest servers (the least cost, where servers have prices); of policies that "
    "need as many it is the first in the table, whatever they attain.",
    "Resampled logs put the days of the log (ten equal parts, if it has fewer than five days) together anew, drawn "
    "with replacement: busy days may be missing or come twice, so that their range need not contain the answer.",
    "Growth adds copies of VMs that are drawn, moved by up to a hundredth of the log.",
)
"""What every plan assumes."""

IN_PROPORTION = (
    "What is said of resampled logs and of growth is about servers in the proportions of the mix, too; costs are "
    "bounded for the VMs as they are, and a policy may need more than the bound."
)
"""What a plan assumes whose servers have prices."""


def plan_answer(
    plan: Plan,
    solution: Solution,
    worst: WorstWorkload,
    certificate: Mapping[str, Any],
    rounding: Mapping[str, Any] | None = None,
    cheapest: CheapestPlan | None = None,
) -> PlanAnswer:
    """Return the answer of a plan; `rounding` is what the rounding of demands to types costs, if there was any.

    `cheapest` is what its servers cost, where they have prices.

    `solution` is of the mean workload on the servers of the plan, `worst` the worst workload of the same types, and
    `certificate` proves `solution` and the servers that carry the workload.
    """
    log, target, peak = plan.log, plan.trials.target, plan.peak
    best = plan.best
    is_share = target.accept is not None
    return encode(
        PlanAnswer,
        sentence=doubted(log.notes, _sentence(plan) if cheapest is None else _cheapest_sentence(plan, cheapest)),
        cost=None if cheapest is None else cost_fields(cheapest),
        target={"kind": "accepted" if is_share else "wait", "value": target.accept if is_share else target.wait},
        servers=None if best is None else best.servers,
        policy=None if best is None else best.policy,
        pools=_pools(log.instance, None if best is None else best.servers),
        log=Fields(
            log,
            arrivals=len(log.jobs.times),
            seconds=seconds(log.until),
            warmup=seconds(log.warmup),
            begins=None if log.begins is None else seconds(log.begins),
            about=[] if log.trace is None else first_lines(log.trace),
            grown=dict(log.growth) if log.growth else None,
            too_large=log.too_large or None,
            doubts=_doubts(log.notes) or None,
        ),
        workload=_rows_by_type(plan),
        by_hour=log.profile(DAY, 24),
        by_day=log.profile(7 * DAY, 7),
        carries=_bounds(log.instance, plan.carries),
        peak=_bounds(log.instance, peak, at=seconds(peak.at), jobs=named(log.instance.types, peak.jobs)),
        over_time=_periods(plan),
        policies=[_need(log.instance, row) for row in plan.policies],
        greedy=Fields(
            ratio=solution.ratio, worst_ratio=worst.ratio, worst_found=worst.complete,
            worst_workload=named(log.instance.types, worst.workload),
        ),
        rounding=rounding,
        growth=[
            Fields(
                one, one.need,
                carries=_bounds(log.instance, one.carries), pools=_pools(log.instance, one.need.servers),
            )
            for one in plan.growth
        ],
        left_out=plan.left_out,
        not_run=plan.not_run,
        certificate=certificate,
    )  # fmt: skip


def _rows_by_type(plan: Plan) -> list[Fields]:
    """Return a row for each type: how many came and how often, how long they stayed, and what there is room for."""
    log, rows = plan.log, []
    times, types, durations = log.jobs
    span = in_units(log.until - log.warmup, TICK)
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
                at_peak=plan.peak.jobs[j],
                headroom=None if plan.headroom is None else float(plan.headroom[j]),
            )
        )
    return rows


def _periods(plan: Plan) -> list[dict[str, Any]]:
    """Return what the policy of the plan does in each period."""
    periods = plan.over_time
    if periods is None:
        return []
    refuses = plan.trials.target.accept is not None
    return [
        {
            "begins": float(begins),
            "ends": float(ends),
            "arrivals": int(periods.arrivals[i]),
            "refused": int(periods.arrivals[i] - periods.starts[i]) if refuses else None,
            "waiting": float(periods.waiting[i]),
            "in_use": {name: float(shares[i]) for name, shares in periods.in_use.items()},
        }
        for i, (begins, ends) in enumerate(pairwise(periods.edges))
    ]


def seconds(ticks: float) -> float:
    """Return a time of a log in seconds."""
    return float(in_units(float(ticks), TICK))


def _pools(instance: Instance, servers: int | None) -> dict[str, int] | None:
    """Return the servers of each pool; None where there is one pool, or no answer."""
    if servers is None or len(instance.pools) == 1:
        return None
    return named(instance.pools, apportion(servers, [pool.share for pool in instance.pools]))


def _bounds(instance: Instance, bounds: LeastServers | Peak, **more: Any) -> Fields:
    """Return the bounds of a number of servers, and the pools of the upper one."""
    return Fields(bounds, pools=_pools(instance, bounds.upper), **more)


def _need(instance: Instance, row: PolicyNeed) -> Fields:
    """Return what a policy needs, on the log and on resampled logs."""
    need = row.need
    less = None if need.one_less is None or need.servers is None else _pools(instance, need.servers - 1)
    return Fields(
        need, pools=_pools(instance, need.servers), one_less_pools=less, resampled=row.resampled, range=_range(row)
    )


def _range(row: PolicyNeed) -> list[int] | None:
    """Return the range of the servers on resampled logs; None where some needed more than were tried."""
    servers = [one for one in row.resampled if one is not None]
    return [min(servers), max(servers)] if servers and len(servers) == len(row.resampled) else None


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


def _aim(plan: Plan) -> str:
    """Write the target."""
    target = plan.trials.target
    if target.accept is None:
        return f"a mean wait of at most {target.wait:g} s"
    return f"at least {100 * target.accept:g} % of the VMs"


def _reached(plan: Plan, value: float) -> str:
    """Write what a policy attains, after its name."""
    counted = _counted(plan)
    if plan.trials.target.accept is None:
        return f"makes {counted} wait {value:,.1f} s on average"
    return f"accepts {percent(value)} of {counted}"


def _this_log(plan: Plan) -> str:
    """Name the log, with the growth that was asked for."""
    growth = plan.log.growth
    if not growth:
        return "this log"
    others = " of other types" if len(growth) > 1 else ""
    parts = [f"{float(factor):g} times the VMs{f' of {quoted(name)}' if name else others}" for name, factor in growth]
    return f"this log with {', '.join(parts)}"


def _without(plan: Plan) -> str:
    """Write which resources are left out, as the sentence begins; nothing where all are counted."""
    large = sum(one.tasks for one in plan.log.too_large)
    parts = [f"{listed(plan.log.uncounted)}, which no server names"] if plan.log.uncounted else []
    if large:
        parts.append(f"{many(large, 'VM')} that {'fits' if large == 1 else 'fit'} no server")
    return f"Without {', and without '.join(parts)}, " if parts else ""


def _cheapest_sentence(plan: Plan, cheapest: CheapestPlan) -> str:
    """Return the answer for servers with prices in one sentence."""
    without, log, best = _without(plan), _this_log(plan), cheapest.best
    aim, bounds = _aim(plan), bounds_in_words(cheapest)
    if best is None:
        none = "no mix" if without else "No mix"
        return f"{without}{none} that was tried meets the target, {aim}, on {log}; {bounds}."
    are = "is" if sum(best.mix or ()) == 1 else "are"
    return (
        f"{without}{mix_in_words(cheapest, best)} {are} the cheapest mix found for {log} under {best.policy}, "
        f"which {_reached(plan, best.attained)} (target: {aim}); {bounds}{_all_held(plan)}.{_reserve(plan)}"
    )


def _sentence(plan: Plan) -> str:
    """Return the answer in one sentence."""
    best, without, aim = plan.best, _without(plan), _aim(plan)
    if best is None or best.servers is None:
        return (
            f"{without}{'no' if without else 'No'} policy that was tried meets the target, {aim}, on {_this_log(plan)}."
        )
    reached = _reached(plan, best.attained)
    instance = plan.log.instance
    mean, peak = (_between(instance, one) for one in (plan.carries, plan.peak))
    return (
        f"{without}{many(best.servers, 'server')}{split_in_words(_pools(instance, best.servers))} "
        f"{'suffices' if best.servers == 1 else 'suffice'} for {_this_log(plan)} under {best.policy}, which {reached} "
        f"(target: {aim}); its mean workload needs {mean}, and its fullest instant {peak}{_all_held(plan)}."
        f"{_reserve(plan)}"
    )


def _all_held(plan: Plan) -> str:
    """Say, after what the fullest instant needs, that this is more than the target asks; nothing where it is not."""
    target = plan.trials.target
    if target.accept is None:
        return " (to hold all VMs at once; they may wait)" if target.wait else ""
    return f" (to hold all VMs; {100 * (1 - target.accept):g} % may be refused)" if target.accept < 1 else ""


def _reserve(plan: Plan) -> str:
    """Say that all resampled logs needed more than the log itself, as a further sentence; nothing where one did not."""
    row = next((row for row in plan.policies if row.need is plan.best), None)
    if row is None or row.need.servers is None or not row.resampled:
        return ""
    if any(one is not None and one <= row.need.servers for one in row.resampled):
        return ""
    ends = _range(row)
    number = "" if ends is None else f", {f'{ends[0]:,} to ' if ends[0] < ends[1] else ''}{many(ends[1], 'server')}"
    return f" Every resampled log needed more{number}: plan a reserve."


def _counted(plan: Plan) -> str:
    """Name the VMs that are counted."""
    if plan.log.warmup > 0:
        return f"the VMs that come after a warm-up of {lasting(seconds(plan.log.warmup))}"
    return "the VMs"


def doubted(notes: Sequence[str], answer: str) -> str:
    """Put what makes a log doubtful before an answer about it.

    >>> doubted([Doubt("the mean stay is 0.1 s, under a second"), "a note"], "3 servers suffice.")
    'The log is in doubt (the mean stay is 0.1 s, under a second). 3 servers suffice.'
    """
    doubts = _doubts(notes)
    return f"The log is in doubt ({'; '.join(doubts)}). {answer}" if doubts else answer


def _doubts(notes: Sequence[str]) -> list[str]:
    return [note for note in notes if isinstance(note, Doubt)]


def room(servers: int) -> str:
    """Say what the room for more VMs is about, which is given by type."""
    of = many(servers, "server")
    return f"Room for more: VMs of one type alone on {of}, on average, if packed as well as possible."


def _between(instance: Instance, bounds: LeastServers | Peak) -> str:
    lower, upper = bounds.lower, bounds.upper
    if lower < upper:
        return f"{lower:,} to {many(upper, 'server')}"
    return f"{many(upper, 'server')}{split_in_words(_pools(instance, upper))}"


def sentence(answer: PlanAnswer) -> str:
    """Return the answer in a sentence."""
    return answer.sentence


def tables(answer: PlanAnswer) -> list[Table]:
    """Return the log, bounds and the workload by type, and what policies need on the log and as it grows."""
    numbers, *others = tables_of(answer)
    is_share = answer.target.kind == "accepted"
    log, peak = answer.log, moment(answer.log.begins, answer.peak.at)
    rows = [
        ["VMs of the log", f"{log.arrivals:,} over {lasting(log.seconds)}"],
        *([["not counted, the warm-up", lasting(log.warmup)]] if log.warmup else []),
        ["target", attained_words(answer.target.value, share=is_share)],
        *numbers.rows,
        ["fullest instant", peak],
        *_profile(answer),
    ]
    means = f"means after the warm-up of {lasting(log.warmup)}" if log.warmup else "means over the log"
    others = [one._replace(title=f"{WORKLOAD} ({means})") if one.title == WORKLOAD else one for one in others]
    costs = cost_tables(answer, partial(attained_words, share=is_share)) if answer.cost else []
    policies = [_policies(answer, share=is_share), *_worst_periods(answer)]
    # what greedy reservation keeps comes last: it is about one policy
    about_greedy = [one for one in others if one.title == GREEDY]
    others = [one for one in others if one not in about_greedy]
    parts = [numbers._replace(title=_title(answer), rows=rows, numeric=[False, False]), *costs, *policies, *others]
    if answer.growth:
        parts.append(_growth(answer, share=is_share))
    parts += about_greedy
    if log.notes:
        parts.append(Table("about the log", [""], [[note] for note in log.notes], [False]))
    if log.too_large:
        parts.append(_too_large(log.too_large))
    about = [Table("the log", [""], [[line] for line in log.about], [False])] if log.about else []
    return [*about, *parts]


def _title(answer: PlanAnswer) -> str:
    """Return what the numbers are about."""
    if not answer.cost:
        return NUMBERS
    mix = "the cheapest mix found" if answer.servers is not None else "a mix for the fullest instant, or the nearest"
    return f"{NUMBERS}, of servers in the proportions of {mix}"


def _too_large(rows: Sequence[PlanTooLarge]) -> Table:
    """Return the VMs that fit no server, and what there is too little of on how many kinds of servers."""
    names = list(rows[0].demand)
    lines = [
        [
            f"{one.tasks:,}",
            *(one.demand.get(name, "0") for name in names),
            ", ".join(f"insufficient {name} on {number} of {one.kinds}" for name, number in one.short.items()),
        ]
        for one in rows
    ]
    head = ["VMs", *names, "kinds of servers"]
    return Table("left out, as they fit no server", head, lines, [True] * (1 + len(names)) + [False])


def _policies(answer: PlanAnswer, *, share: bool) -> Table:
    """Return what each policy needs, and what it attains there and on one server less."""
    rows = []
    for one in answer.policies:
        split = split_in_words(one.one_less_pools)
        less = "-" if one.one_less is None else f"{attained_words(one.one_less, share=share)}{split}"
        span = " to ".join(f"{end:,}" for end in sorted(set(one.range or [])))
        ends = f"{span} ({len(one.resampled)} logs)" if span else "-"
        servers = "not met" if one.servers is None else f"{one.servers:,}{split_in_words(one.pools)}"
        rows.append([policy_in_words(one.policy), servers, attained_words(one.attained, share=share), less, ends])
    head = ["policy", "servers", "attained", "on one less", "on resampled logs"]
    title = "in the proportions of the cheapest mix (simulated)" if answer.cost else "policies (simulated)"
    return Table(title, head, rows, [False] * len(head))


WORST_PERIODS = 5
"""Most periods that are listed: those in which the most VMs are refused, or wait."""


def _worst_periods(answer: PlanAnswer) -> list[Table]:
    """Return when VMs are refused, or wait, and what is in use then; nothing where that never happens."""
    refuses = answer.target.kind == "accepted"

    def trouble(one: PlanPeriod) -> float:
        return one.waiting if one.refused is None else one.refused

    worst = [one for one in nlargest(WORST_PERIODS, answer.over_time, key=trouble) if trouble(one) > 0]
    if not worst:
        return []
    names = list(worst[0].in_use)
    rows = [
        [
            moment(answer.log.begins, one.begins),
            lasting(one.ends - one.begins),
            f"{one.arrivals:,}",
            f"{one.waiting:,.4g}" if one.refused is None else f"{one.refused:,}",
            *(f"{100 * one.in_use[name]:.1f} %" for name in names),
        ]
        for one in sorted(worst, key=lambda one: one.begins)
    ]
    what = "refused" if refuses else "waiting, mean"
    head = ["from", "for", "VMs that came", what, *(f"{name} in use" for name in names)]
    number = [False, False] + [True] * (2 + len(names))
    title = f"when most VMs {'are refused' if refuses else 'wait'}, under {answer.policy} (simulated)"
    return [Table(title, head, rows, number)]


def _growth(answer: PlanAnswer, *, share: bool) -> Table:
    """Return what the log needs as it grows."""
    rows = [
        [
            f"{100 * one.growth:.0f} %",
            "none that was tried" if one.servers is None else f"{one.servers:,}{split_in_words(one.pools)}",
            attained_words(one.attained, share=share),
            one.carries.in_words(),
        ]
        for one in answer.growth
    ]
    head = ["more VMs", "servers", "attained", "servers that carry the mean workload"]
    return Table(f"growth, under {answer.policy} (simulated)", head, rows, [False] * len(head))


def _profile(answer: PlanAnswer) -> list[list[str]]:
    """Return when VMs in service are fewest and most, by the hour and by the day."""
    dated = answer.log.begins is not None
    hours, days = [f"{h}" for h in range(24)], ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    by_hour = "VMs in service by hour (UTC)" if dated else "VMs in service by hour of the log"
    by_day = "VMs in service by weekday" if dated else "VMs in service by weekday, if the log begins on a Monday"
    rows = []
    for what, values, names in ((by_hour, answer.by_hour, hours), (by_day, answer.by_day, days)):
        if values:
            low, high = min(values), max(values)
            least, most = names[values.index(low)], names[values.index(high)]
            rows.append([what, f"least {low:,.0f} ({least}), most {high:,.0f} ({most})"])
    return rows


def pictures(answer: PlanAnswer) -> list[Picture]:
    """Return the servers by bound and policy, what is in use over time, what servers hold, and growth."""
    return pictures_of_plan(answer)


def evidence(answer: PlanAnswer) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    costs = [
        ("what these servers cost, and that none cost less than prices prove (attached certificates)", "certified"),
        ("the least cost of servers that carry the mean workload, and an instant", "exact"),
        ("that a policy meets the target on its cheapest mix; not all cheaper mixes were tried", "statistical"),
    ]
    return [
        *(costs if answer.cost else []),
        ("the servers that carry the mean workload, from both sides (the attached certificate)", "certified"),
        ("what greedy reservation keeps at this mix (the attached certificate)", "certified"),
        ("the servers that hold the fullest instant, from both sides", "exact, without a certificate"),
        ("what a policy attains on the log, and on resampled and grown logs", "statistical"),
        ("that the target is missed on one server less; not all smaller numbers were tried", "statistical"),
    ]


def assumptions(answer: PlanAnswer) -> list[str]:
    """Return what the answer rests on."""
    costs = [IN_PROPORTION] if answer.cost else []
    return [*ASSUMED, *costs, *([room(answer.servers)] if answer.servers is not None else [])]
