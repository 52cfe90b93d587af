"""Pictures of fair sharing: bars of shares by server, mechanisms side by side, utilisation over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bounds.views.pictures import PALETTE, figure, save
from fluid.limits.sharing import History
from theory.sharing.allocation import Allocation, jain_index
from theory.sharing.model import Cluster

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_USERS = len(PALETTE) - 1
"""Users drawn in colours of their own; the others are drawn together."""


def draw_shares(axes: Axes, allocation: Allocation, *, legend: bool) -> None:
    """Draw for each server and resource a bar of what each user holds of it."""
    cluster = allocation.cluster
    places = [
        (i, r) for i in range(len(cluster.servers)) for r in range(len(cluster.resources)) if cluster.capacity[i][r]
    ]
    labels = [f"{cluster.servers[i].name} {cluster.resources[r]}" for i, r in places]
    held = np.array(
        [
            [float(row[i] * cluster.use(n, i)[r] / cluster.capacity[i][r]) for i, r in places]
            for n, row in enumerate(allocation.tasks)
        ]
    )
    names = [user.name for user in cluster.users]
    if len(names) > MOST_USERS:
        held = np.vstack([held[: MOST_USERS - 1], held[MOST_USERS - 1 :].sum(axis=0)])
        names = [*names[: MOST_USERS - 1], f"{len(names) - MOST_USERS + 1} others"]
    bottom = np.zeros(len(places))
    for n, name in enumerate(names):
        axes.barh(range(len(places)), held[n], left=bottom, color=PALETTE[n], label=name, height=0.8)
        bottom += held[n]
    axes.set_yticks(range(len(places)), labels, fontsize=8 if len(places) <= 24 else 5)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share in use")
    axes.set_title(f"{allocation.mechanism}  (Jain {float(jain_index(allocation.shares)):.3f})", fontsize=10)
    if legend:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def picture_of_shares(allocations: Sequence[Allocation], path: str | Path) -> None:
    """Draw allocations side by side, three in a row.

    Raises
    ------
    InputError
        If the picture cannot be written there.
    """
    from matplotlib.figure import Figure

    most = max(len(a.cluster.servers) * len(a.cluster.resources) for a in allocations)
    columns = min(3, len(allocations))
    rows = -(-len(allocations) // columns)
    made = Figure(figsize=(2.0 + 4.0 * columns, rows * min(8.0, 1.4 + 0.28 * most)), layout="constrained")
    every = made.subplots(rows, columns, squeeze=False).flatten()
    for k, (axes, allocation) in enumerate(zip(every, allocations, strict=False)):
        draw_shares(axes, allocation, legend=k + 1 == columns)
    for axes in every[len(allocations) :]:
        axes.set_axis_off()
    save(made, path)


def picture_of_history(history: History, cluster: Cluster, path: str | Path, resource: int = 0) -> None:
    """Draw utilisation of one resource by server class, and tasks by user, over time."""
    made, (left, right) = figure(11.0, 4.0, 2)
    drawn = [i for i, row in enumerate(cluster.capacity) if row[resource]]
    for k, i in enumerate(drawn):  # earlier ones wider, so that equal curves show below each other
        width, used = 1.5 + 1.5 * (len(drawn) - 1 - k), history.utilisation[:, i, resource]
        left.plot(history.time, used, color=PALETTE[i % 10], lw=min(width, 8.0), label=cluster.servers[i].name)
    left.set(xlabel="time", ylabel=f"{cluster.resources[resource]} in use", ylim=(0, 1.05))
    for n, user in enumerate(cluster.users[:10]):
        right.plot(history.time, history.tasks[:, n].sum(axis=1), color=PALETTE[n % 10], label=user.name)
    right.set(xlabel="time", ylabel="tasks")
    for axes in (left, right):
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes.grid(alpha=0.3)
    save(made, path)
