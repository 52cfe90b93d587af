"""Fair shares: families without a bound, resources that stay idle, and Algorithm I, which cycles or never ends."""

from __future__ import annotations

import packproof
from bounds.adversary.sharing import (
    cycling_cluster,
    endless_cluster,
    exact_rounds,
    idle_family,
    mean_utilisation,
    two_allocations,
    unfair_family,
)
from bounds.views.panels import Bars, Chart, Curve, Line
from generate.drawn import Drawing, draws
from theory.numbers import total


@draws("packproof/unfairness-without-bound")
def unfair() -> Drawing:
    """Draw the share of the first user by mechanism, as the size of a server grows."""
    sizes = [4**n for n in range(6)]
    curves = [
        Curve(name, sizes, [float(2 * mechanism(unfair_family(m)).totals[0]) for m in sizes])
        for name, mechanism in (("PS-DSF", packproof.ps_dsf), ("TSF", packproof.tsf), ("C-DRFH", packproof.c_drfh))
    ]
    curves.append(Curve("2 / (2 + m)", sizes, [2 / (2 + m) for m in sizes], look="plain"))
    chart = Chart(
        "size m of the other server (1)", "tasks (share of the fair ones)", curves, xscale="log", yscale="log"
    )
    return Drawing("How far below the bottleneck-fair share a user can be", [chart])


@draws("packproof/idle-resources")
def idle() -> Drawing:
    """Draw the mean utilisation of the family, and the least that is sure."""
    numbers, curves, lines = (1, 2, 4, 8, 16, 32), [], []
    for R in (2, 3, 4):
        used = [float(mean_utilisation(packproof.ps_dsf(idle_family(R, n)))) for n in numbers]
        curves.append(Curve(f"R = {R} resources", numbers, used))
        lines.append(Line(f"1/{R}", 1 / R))
    chart = Chart("users N (number)", "mean utilisation (1 is possible)", curves, lines, xscale="log", ylim=(0, None))
    return Drawing("PS-DSF can leave resources idle: a family where 1 is possible", [chart])


@draws("packproof/algorithm-1-cycles", "packproof/algorithm-1-endless")
def rounds() -> Drawing:
    """Draw totals by round where the algorithm cycles, and the distance to its limit where it does not end."""
    cycle, endless = exact_rounds(cycling_cluster(), 12), exact_rounds(endless_cluster(), 12)
    users = range(len(cycle[0]))
    left = [Curve(f"user {n + 1}", range(len(cycle)), [float(total(state[n])) for state in cycle]) for n in users]
    parts = [float(state[2][1]) - 1 / 3 for state in endless]
    right = [Curve("part of user 3 on server 2, less 1/3", range(len(parts)), parts)]
    right.append(Curve("4^-k / 6", range(len(parts)), [4.0**-k / 6 for k in range(len(parts))], look="plain"))
    return Drawing(
        "Algorithm I in exact arithmetic: it enters a cycle (left), or converges and never ends (right)",
        [
            Chart("round (number)", "tasks (number)", left),
            Chart("round k (number)", "difference (tasks)", right, yscale="log"),
        ],
        columns=2,
    )


@draws("packproof/resource-division-not-unique")
def both() -> Drawing:
    """Draw the tasks of both allocations, by user and server."""
    shared, *allocations = two_allocations()
    users = [f"user {n + 1}" for n in range(len(shared.users))]
    panels = [
        Bars(
            "tasks (number)",
            users,
            [(f"server {i + 1}", [float(row[i]) for row in tasks]) for i in range(len(shared.servers))],
            title,
            (0.0, 0.95),
        )
        for title, tasks in zip(("one allocation", "another"), allocations, strict=True)
    ]
    return Drawing("Two PS-DSF allocations of one cluster under resource division", panels, columns=2, height=1.5)
