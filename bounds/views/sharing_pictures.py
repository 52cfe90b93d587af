"""Pictures of ``packproof share``: allocations as bars, and users coming and going over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bounds.answers.sharing import InMotion
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve
from bounds.views.pictures import COLUMN, PALETTE, drawn
from bounds.views.text import UNIT_OF_THE_FILE
from theory.sharing.allocation import Allocation, jain_index

MOST_PANELS = 8  # server classes and resources that are drawn over time, in file order
MOST_CURVES = 10  # users whose tasks are drawn over time, in file order
LONGEST_OF_THREE = 14  # letters of the names beside the bars of three panels in a row
MOST_USERS = len(PALETTE) - 1  # users drawn in colours of their own; the others are drawn together


def together(parts: Sequence[tuple[str, Sequence[float]]]) -> list[tuple[str, Sequence[float]]]:
    """Return the parts of bars by user; the palette has no more colours, and the last one is for all other users."""
    named = [(drawn(name), lengths) for name, lengths in parts]
    if len(named) <= MOST_USERS:
        return named
    others = [sum(lengths) for lengths in zip(*(lengths for _, lengths in named[MOST_USERS - 1 :]), strict=True)]
    return [*named[: MOST_USERS - 1], (f"{len(named) - MOST_USERS + 1} others", others)]


def bars_of(allocation: Allocation, title: str = "") -> Bars:
    """Return a bar for each server and resource, of what each user holds of it."""
    cluster = allocation.cluster
    places = [
        (i, r) for i in range(len(cluster.servers)) for r in range(len(cluster.resources)) if cluster.capacity[i][r]
    ]
    # x_ni d_nir / c_ir: the share of resource r of server i that the tasks of user n take
    shares = np.array(
        [
            [float(row[i] * cluster.use(n, i)[r] / cluster.capacity[i][r]) for i, r in places]
            for n, row in enumerate(allocation.tasks)
        ]
    )
    parts = [(user.name, row.tolist()) for user, row in zip(cluster.users, shares, strict=True)]
    return Bars(
        "in use (share)",
        [f"{drawn(cluster.servers[i].name)} {drawn(cluster.resources[r])}" for i, r in places],
        together(parts),
        title or f"{allocation.mechanism}\nJain index {float(jain_index(allocation.shares)):.3f}",
        xlim=(0.0, 1.0),
    )


def picture_of_shares(allocations: Sequence[Allocation], path: str | Path) -> None:
    """Draw allocations side by side, three in a row, or two where the names beside the bars are long.

    Raises
    ------
    InputError
        If the picture cannot be written there.
    """
    most = max(len(a.cluster.servers) * len(a.cluster.resources) for a in allocations)
    panels = [bars_of(allocation) for allocation in allocations]
    columns = 3 if max(len(name) for panel in panels for name in panel.bars) <= LONGEST_OF_THREE else 2
    picture_of_panels(panels, path, "", columns=columns, height=min(6.0, 1.2 + 0.2 * most), alone=COLUMN)


def tasks_over_time(answer: InMotion) -> Chart:
    """Return the tasks of each user over time, as a panel."""
    users = list(answer.tasks.items())[:MOST_CURVES]
    curves = [Curve(drawn(user), answer.time, tasks, look="steps") for user, tasks in users]
    return Chart(f"time ({UNIT_OF_THE_FILE})", "tasks (number)", curves, ylim=(0, None))


def picture_of_history(answer: InMotion, path: str | Path) -> None:
    """Draw utilisation of the first resource by server class, and tasks by user, over time."""
    first = next(iter(dict.fromkeys(resource for row in answer.utilisation.values() for resource in row)))
    used = [
        Curve(drawn(server), answer.time, row[first], look="steps")
        for server, row in answer.utilisation.items()
        if first in row
    ]
    chart = Chart(f"time ({UNIT_OF_THE_FILE})", f"{drawn(first)} in use (share)", used, ylim=(0, 1.05))
    picture_of_panels([chart, tasks_over_time(answer)], path, "")


def picture_of_histories(answers: Mapping[str, InMotion], path: str | Path) -> None:
    """Draw utilisation over time by mechanism: a panel for each server class and resource, two in a row."""
    first = next(iter(answers.values()))
    places = [(server, resource) for server, row in first.utilisation.items() for resource in row]
    charts = [
        Chart(
            f"time ({UNIT_OF_THE_FILE})",
            "in use (share)",
            [Curve(name, one.time, one.utilisation[server][resource], look="steps") for name, one in answers.items()],
            title=f"{drawn(server)}, {drawn(resource)}",
            ylim=(0.0, 1.05),
        )
        for server, resource in places[:MOST_PANELS]
    ]
    picture_of_panels(charts, path, "", height=2.2)
