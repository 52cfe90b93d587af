"""The table of facets beside peers, and how the time of each grows with the number of types."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from benchmarks.greedy import exponent
from benchmarks.hulls import (
    PATIENCE,
    Inequalities,
    from_vertices,
    inequalities,
    ours,
    ppl,
    ppl_hull,
    processor_time,
    qhull,
)
from bounds.views.tables import aligned
from theory.exact.knapsack import feasible
from theory.instance import additive
from theory.region.facets import region_facets

SIZES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
"""Demands of the types: the first J of them."""

CAPACITY = 60

ENOUGH = 60.0
"""CPU seconds above which a peer is not timed on larger regions."""

LISTED = 200_000
"""Configurations up to which they are listed for peers."""

Timed = tuple[Inequalities | int, float] | None


def by_ppl(points: Sequence[Sequence[Fraction | int]]) -> Timed:
    """Time PPL on points, whole numbers."""
    if ppl is None:
        return None
    made, taken = processor_time(partial(ppl_hull, np.array([[int(x) for x in row] for row in points])))
    return inequalities(made), taken


def facets_beside_peers(types: Sequence[int] = (4, 5, 6, 7, 8, 9)) -> None:
    """Print the CPU seconds of everybody on servers of 60 units and J types of prime sizes, and the growth over J.

    packproof starts from the description of the server, and proves that its facets are complete. The peers are given
    points: all configurations, or, to spare them, the vertices that packproof found. Each answer is compared with ours;
    of qhull, which has floats, the number of facets.
    """
    columns: dict[str, Callable[[], Timed]] = {}
    taken: dict[str, dict[int, float]] = {}
    rows = [["types", "configurations", "vertices", "facets"]]
    for n in types:
        instance = additive([CAPACITY], [[size] for size in SIZES[:n]])
        ours(instance)
        region = region_facets(instance)
        mine, seconds = processor_time(partial(ours, instance))
        listed = feasible(instance.pools[0].space)
        vertices = [*region.vertices, (Fraction(0),) * n]
        columns = {
            "qhull, configurations": lambda listed=listed: processor_time(lambda: qhull(listed)),
            "PPL, configurations": lambda listed=listed: by_ppl(listed.tolist()),
            "PPL, vertices": lambda vertices=vertices: by_ppl(vertices),
            "lrs, vertices": lambda vertices=vertices: from_vertices("lrs", vertices),
            "cdd, vertices": lambda vertices=vertices: from_vertices("scdd_gmp", vertices),
        }
        taken.setdefault("packproof", {})[n] = seconds
        row = [str(n), f"{len(listed):,}", f"{len(vertices):,}", f"{len(mine):,}", shown(seconds)]
        for name, run in columns.items():
            row.append(_cell(name, run, n, mine, taken, too_many="configurations" in name and len(listed) > LISTED))
        rows.append(row)
    rows[0] += ["packproof", *columns]
    print("facets, CPU seconds:", *aligned(rows, right=len(rows[0])), sep="\n")
    for name, times in taken.items():
        if len(times) > 1:
            growth = exponent(list(times), list(times.values()))
            print(
                f"growth of facets by {name} in the number of types: J^{growth:.2f}, {min(times)} to {max(times)} types"
            )


def _cell(
    name: str,
    run: Callable[[], Timed],
    n: int,
    mine: Inequalities,
    taken: dict[str, dict[int, float]],
    *,
    too_many: bool,
) -> str:
    """Time a peer, unless it took too long before; note its time, and say where its answer differs from ours."""
    times = taken.setdefault(name, {})
    if too_many or max(times.values(), default=0.0) > ENOUGH:
        return "not run"
    try:
        found = run()
    except subprocess.TimeoutExpired:
        times[n] = float(PATIENCE)
        return f"over {PATIENCE}"
    if found is None:
        return "not installed"
    answer, times[n] = found
    same = answer == (mine if isinstance(answer, set) else len(mine))
    return shown(times[n]) + ("" if same else " (differs)")


def shown(seconds: float) -> str:
    """Write seconds with as many digits as mean something."""
    return f"{seconds:.4f}" if seconds < 1 else f"{seconds:.1f}"
