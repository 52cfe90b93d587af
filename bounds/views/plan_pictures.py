"""The pictures of a plan: servers by bound and policy, what is in use over time, what servers hold, and growth."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert

from bounds.answers.plan import PlanAnswer
from bounds.views.panels import Bars, Chart, Curve, Line
from bounds.views.pictures import drawn
from bounds.views.plan_cost import cost_picture
from bounds.views.shown import Picture, packed_by_name
from bounds.views.spans import HOUR
from bounds.views.text import many

MOST_MIXES = 12
"""Contents of servers that the picture of an assignment has."""


def pictures_of_plan(answer: PlanAnswer) -> list[Picture]:
    """Return the servers by bound and policy, VMs in service over the day and by type, and growth."""
    met = {one.policy: (one.servers, max(one.servers, *(one.range or [0]))) for one in answer.policies if one.servers}
    ends = {
        "carry the mean": (answer.carries.lower, answer.carries.upper),
        "hold the fullest instant": (answer.peak.lower, answer.peak.upper),
        **met,
    }
    parts = [
        ("servers", [float(low) for low, _ in ends.values()]),
        ("up to: upper bounds, or resampled logs", [float(high - low) for low, high in ends.values()]),
    ]
    bounds = Picture(
        "Servers: bounds for the mean workload and the fullest instant, and what each policy needs for the target on "
        "the log, and at most on resampled logs.",
        Bars("servers (number)", [drawn(name) for name in ends], parts),
    )
    costs = [cost_picture(answer)] if answer.cost else []
    over_time = [*_use(answer), *_profiles(answer)]
    return [*costs, bounds, *over_time, *_assignment(answer), _by_type(answer), *_as_it_grows(answer)]


class _Filled(Struct):
    """Servers of a pool that hold the same, as a certificate has them."""

    pool: str
    configuration: dict[str, int]
    servers: Annotated[int, Meta(ge=1, le=10**9)]


def _assignment(answer: PlanAnswer) -> list[Picture]:
    """Return what servers hold where the fewest known carry the mean workload; none where the certificate lacks it."""
    try:
        columns = convert(answer.certificate["evidence"]["servers"]["columns"], list[_Filled])
    except (KeyError, TypeError, ValidationError):
        return []
    has_pools = len({one.pool for one in columns}) > 1
    contents = [f"{one.pool}: " * has_pools + packed_by_name(one.configuration) for one in columns]
    most = sorted(zip(contents, columns, strict=True), key=lambda one: -one[1].servers)[:MOST_MIXES]
    if not most:
        return []
    part = f", the {MOST_MIXES} most frequent of {len(columns):,} contents" if len(columns) > MOST_MIXES else ""
    caption = f"What each of {many(answer.carries.upper, 'server')} holds where they carry the mean workload{part}."
    lengths = [float(one.servers) for _, one in most]
    return [Picture(caption, Bars("servers (number)", [drawn(name, 40) for name, _ in most], [("", lengths)]))]


def _use(answer: PlanAnswer) -> list[Picture]:
    """Return what is in use of all servers over the log, and when VMs are refused or wait."""
    if not answer.over_time:
        return []
    span = answer.over_time[-1].ends
    unit, length = ("days", 24 * HOUR) if span >= 48 * HOUR else ("hours", HOUR) if span >= HOUR else ("seconds", 1.0)
    middle = [(one.begins + one.ends) / 2 / length for one in answer.over_time]
    when = f"time from the beginning of the log ({unit})"
    on = f"{many(answer.servers or 0, 'server')} under {answer.policy}"
    shares = [
        Curve(drawn(name), middle, [100 * one.in_use[name] for one in answer.over_time], look="plain")
        for name in answer.over_time[0].in_use
    ]
    in_use = Chart(when, "in use (% of all servers)", shares, [Line("capacity", 100.0)], ylim=(0.0, 105.0))
    if answer.target.kind == "accepted":
        trouble = [100 * (one.refused or 0) / max(one.arrivals, 1) for one in answer.over_time]
        what, label = "VMs refused, of those that came", "refused (% of the VMs that came)"
    else:
        trouble, what, label = (
            [one.waiting for one in answer.over_time],
            "VMs that wait, on average",
            "VMs that wait (number)",
        )
    pictures = [Picture(f"What is in use of {on}, over the log.", in_use)] if shares else []
    curve = Curve("", middle, trouble, look="plain")
    return [*pictures, Picture(f"{what}, over the log, on {on}.", Chart(when, label, [curve], ylim=(0.0, None)))]


def _profiles(answer: PlanAnswer) -> list[Picture]:
    dated = answer.log.begins is not None
    hours, days = ("UTC", "Monday is 1") if dated else ("from the beginning of the log",) * 2
    every = ((answer.by_hour, f"hour of the day ({hours})", 0), (answer.by_day, f"day of the week ({days})", 1))
    charts = []
    for values, what, first in every:
        if values:
            curve = Curve("", [float(x) for x in range(first, first + len(values))], values)
            chart = Chart(what, "VMs in service (number)", [curve], ylim=(0.0, None))
            charts.append(Picture(f"VMs in service by {what}.", chart))
    return charts


def _by_type(answer: PlanAnswer) -> Picture:
    parts = [
        ("mean", [one.jobs for one in answer.workload]),
        ("more at the fullest instant", [max(one.at_peak - one.jobs, 0.0) for one in answer.workload]),
    ]
    bars = Bars("VMs in service (number)", [drawn(one.type) for one in answer.workload], parts)
    return Picture("VMs in service by type: the mean, and how many more at the fullest instant.", bars)


def _as_it_grows(answer: PlanAnswer) -> list[Picture]:
    grown = {"today": answer.servers} | {f"+{100 * one.growth:.0f} %": one.servers for one in answer.growth}
    lengths = [float(servers) for servers in grown.values() if servers]
    if not answer.growth or len(lengths) < len(grown):
        return []
    bars = Bars("servers (number)", list(grown), [("", lengths)])
    return [Picture(f"Servers that {answer.policy} needs for the target as the log grows.", bars)]
