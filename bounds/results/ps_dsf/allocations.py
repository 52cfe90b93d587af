"""Figures 1 to 6 of the PS-DSF paper: allocations, and users that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bounds.results.instances import figure_1 as cluster_1
from bounds.results.instances import figure_4 as cluster_4
from bounds.results.instances import figures_2_and_3 as cluster_2
from bounds.results.instances import table_4 as cluster_5
from bounds.results.ps_dsf.motion import (
    AWAY,
    CLASSES,
    UNTIL,
    by_class,
    one_by_one,
    section_5_history,
    section_5_schedule,
)
from bounds.results.reproduction import reproduction
from bounds.views.panels import Bars, Cells, Chart, Curve, Panel
from bounds.views.sharing import bars_of
from fluid.limits.sharing import run_at_once
from theory.numbers import text
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.per_server import ps_dsf

RESOURCES = ("CPU", "memory", "bandwidth")

MECHANISMS = {"PS-DSF": ps_dsf, "C-DRFH": c_drfh, "TSF": tsf}


@reproduction(
    "ps-dsf/figure-1",
    "memory of three users under three mechanisms",
    printed="6, 6 and 12 GB under PS-DSF; C-DRFH and TSF far from it",
    lost="demands and capacities but for the memory, and the tasks",
    chosen="a cluster that fits every printed number",
    claims=("figure-1",),
)
def figure_1() -> Sequence[Panel]:
    """Return the memory of each user, and who holds what under PS-DSF."""
    cluster = replace(cluster_1(), resources=RESOURCES)
    every = {name: mechanism(cluster) for name, mechanism in MECHANISMS.items()}
    rows = [f"{name}, {user.name}" for name in MECHANISMS for user in cluster.users]
    held = [float(2 * tasks) for allocation in every.values() for tasks in allocation.totals]
    memory = Bars("memory (GB)", rows, [("memory of the user", held)], stars=[(0, 6.0), (1, 6.0), (2, 12.0)])
    return memory, bars_of(every["PS-DSF"], "PS-DSF")


def _virtual_shares(allocation: Allocation) -> list[Panel]:
    """Return the virtual dominant share of each user with respect to each server."""
    cluster = allocation.cluster
    rows, shares = [], []
    for i, server in enumerate(cluster.servers):
        for user, total, alone in zip(cluster.users, allocation.totals, cluster.monopoly, strict=True):
            if alone[i]:
                rows.append(f"{server.name}, {user.name}")
                shares.append(float(total / alone[i]))
    return [Bars("virtual dominant share (1)", rows, [("tasks over tasks alone on the server", shares)])]


@reproduction(
    "ps-dsf/figures-2-3",
    "four users on two servers: what they hold, and their virtual dominant shares",
    printed="users 3 and 4 take nothing on the first server",
    lost="demands, capacities and tasks",
    chosen="a cluster that fits the prose",
    claims=("figures-2-3",),
)
def figures_2_3() -> Sequence[Panel]:
    """Return the PS-DSF allocation and the shares."""
    allocation = ps_dsf(replace(cluster_2(), resources=RESOURCES))
    return bars_of(allocation, "PS-DSF"), *_virtual_shares(allocation)


@reproduction(
    "ps-dsf/figure-4",
    "two users on three wireless channels",
    printed="1.5 and 1 Mb/s; channel 1 to user 1, channel 3 to user 2, channel 2 shared equally",
    lost="the rates of the channels",
    chosen="one member of the family of rates that fits",
    claims=("figure-4",),
    height=1.9,
)
def figure_4() -> Sequence[Panel]:
    """Return the time of each channel by user, and the rates."""
    cluster = cluster_4()
    allocation = ps_dsf(cluster)
    parts = []
    for user, tasks, alone in zip(cluster.users, allocation.tasks, cluster.monopoly, strict=True):
        parts.append((user.name, [float(x / rate) if rate else 0.0 for x, rate in zip(tasks, alone, strict=True)]))
    channels = Bars("share of the channel (1)", [f"channel {i + 1}" for i in range(3)], parts, xlim=(0.0, 1.0))
    rates = Bars(
        "rate (Mb/s)",
        [user.name for user in cluster.users],
        [("computed", [float(x) for x in allocation.totals])],
        stars=[(0, 1.5), (1, 1.0)],
    )
    return channels, rates


@reproduction(
    "ps-dsf/figure-5",
    "the cluster of Section V",
    printed="120 servers in four classes; users 3 and 4 on the last two classes only",
    lost="the configurations and the demands",
    chosen="those that the printed Table IV leaves open, with the most memory for user 3",
    claims=("table-4-ps-dsf",),
    height=1.7,
)
def figure_5() -> Sequence[Panel]:
    """Return classes and users as tables."""
    cluster = cluster_5()
    classes = Cells(
        ["servers", "CPU each", "memory each"],
        [f"class {one.name}" for one in cluster.servers],
        [[str(one.count), *map(text, one.capacity)] for one in cluster.servers],
    )
    users = Cells(
        ["CPU a task", "memory a task", "classes"],
        [user.name for user in cluster.users],
        [[*map(text, user.demand), ", ".join(user.servers or CLASSES)] for user in cluster.users],
    )
    return classes, users


@reproduction(
    "ps-dsf/figure-6",
    "CPU in use on classes C and D as user 4 leaves and returns",
    printed="greater utilisation than TSF and C-DRFH, prompt convergence",
    lost="all times, the curves",
    chosen=f"{UNTIL} s, user 4 away from {AWAY[0]} to {AWAY[1]} s; the order in which servers update decides which "
    "allocation is reached while user 4 is away, and TSF and C-DRFH leave their split open",
    claims=("section-5-simulation", "section-5-full"),
)
def figure_6() -> Sequence[Panel]:
    """Return the utilisation over time: PS-DSF in motion, the others as they would be at once."""
    order = range(120)
    history = section_5_history(order)
    used = by_class(one_by_one(cluster_5(), order), history.utilisation, 0)
    times = history.time.tolist()
    panels = []
    others = {
        name: run_at_once(cluster_5(), section_5_schedule(), mechanism).utilisation
        for name, mechanism in MECHANISMS.items()
        if name != "PS-DSF"
    }
    for place in (2, 3):
        curves = [Curve("PS-DSF, servers in motion", times, used[:, place].tolist(), look="plain")]
        for name, shares in others.items():
            curves.append(Curve(f"{name}, exact", times, shares[:, place, 0].tolist(), look="steps"))
        panels.append(
            Chart(
                "time (s)",
                "CPU in use (share)",
                curves,
                title=f"class {CLASSES[place]}",
                ylim=(0.0, 1.05),
                shaded=(("user 4 is away", float(AWAY[0]), float(AWAY[1])),),
            )
        )
    return panels
