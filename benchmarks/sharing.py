"""How long fair sharing takes, how that grows with users and servers, and a convex solver beside it.

Run ``python -m benchmarks.sharing``; ``--large`` adds 1,000 users on 100 server classes. ``--huge`` times numeric
shares alone, of up to 10,000 users on 1,000 classes (``--huge 1e-6``: within that of the conditions of the theorem).
Seconds are CPU seconds of the process, and the peak is that of its resident memory so far. The peer is cvxpy with
Clarabel on the convex program of time division: floats, no certificate.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from math import log
from typing import Any

import numpy as np

from bounds import checker
from bounds.certificates.allocation import allocation_certificate
from bounds.results.instances.drawn import random_cluster
from bounds.results.packproof.sharing import totals_of_the_program
from theory.sharing.allocation import Allocation
from theory.sharing.levels import level_units, max_min_violation
from theory.sharing.maxmin import c_drfh, cdrf, tsf
from theory.sharing.model import Cluster, cluster, eligibility
from theory.sharing.numeric_levels import MOST_PAIRS, numeric_max_min
from theory.sharing.per_server import numeric_ps_dsf, ps_dsf, ps_dsf_tdm
from theory.sharing.violation import ps_dsf_violation, shares_of

MECHANISMS: dict[str, Callable[[Cluster], Allocation]] = {
    "ps-dsf": ps_dsf,
    "ps-dsf-tdm": ps_dsf_tdm,
    "tsf": tsf,
    "c-drfh": c_drfh,
    "cdrf": cdrf,
}
PEER = "tdm, cvxpy and Clarabel"


def drawn(users: int, servers: int) -> Cluster:
    """Draw a cluster of four resources with capacities and demands up to 50."""
    return random_cluster(random.Random(1), users, servers, 4, largest=50)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


def line(size: tuple[int, int], name: str, seconds: float, note: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{size[0]:6} users x {size[1]:4} classes  {name:24} {seconds:9.2f} s  {note}, peak {peak} MB", flush=True)


def run(sizes: list[tuple[int, int]], *, certificates: bool = False) -> dict[str, list[float]]:
    """Time every mechanism, and the peer, at every size (users, server classes); print one line each."""
    seconds: dict[str, list[float]] = {name: [] for name in [*MECHANISMS, PEER]}
    for size in sizes:
        instance = drawn(*size)
        exact: Allocation | None = None
        for name, mechanism in MECHANISMS.items():
            allocation, taken = timed(partial(mechanism, instance))
            seconds[name].append(taken)
            note = "exact" if allocation.exact else "numeric"
            note += "" if allocation.rounds is None else f", {allocation.rounds} rounds"
            if certificates:
                document = allocation_certificate(instance, allocation)
                _, checking = timed(partial(checker.check, document))
                note += f", accepted by the checker in {checking:.1f} s"
            line(size, name, taken, note)
            exact = allocation if name == "ps-dsf-tdm" else exact
        tasks, taken = timed(partial(totals_of_the_program, instance))
        seconds[PEER].append(taken)
        assert exact is not None
        error = np.max(np.abs(tasks / [float(x) for x in exact.totals] - 1))
        line(size, PEER, taken, f"floats, totals off by {error:.0e}")
    return seconds


HUGE = ((1_000, 100), (3_000, 300), (10_000, 1_000))
"""Users and server classes of numeric shares."""


def huge(tolerance: float) -> None:
    """Time numeric shares, and the check of them, at growing sizes; print growth as the slope of log over log size."""
    measured: dict[str, list[float]] = {}
    for size in HUGE:
        instance = very_large(*size)
        for division in ("time", "resource"):
            allocation, taken = timed(partial(numeric_ps_dsf, instance, division, tolerance))
            found, checking = timed(partial(ps_dsf_violation, instance, allocation.tasks, division))
            note = f"violation {found.value:.1e}, {allocation.rounds} rounds, checked in {checking:.1f} s"
            line(size, f"ps-dsf, {division} division", taken, note)
            for what, value in (("seconds", taken), ("seconds of the check", checking)):
                measured.setdefault(f"{division} division, {what}", []).append(value)
        for mechanism in ("tsf", "c-drfh", "cdrf") if size[0] * size[1] <= MOST_PAIRS else ():
            allocation, taken = timed(partial(numeric_max_min, instance, mechanism, tolerance))
            prices = [np.array(stage.prices, float) for stage in allocation.stages]
            found, checking = timed(partial(max_min_violation, instance, allocation.tasks, mechanism, prices))
            note = f"violation {found.value:.1e}, {len(prices)} stages, checked in {checking:.1f} s"
            line(size, mechanism, taken, note)
            if size == HUGE[0]:
                level, by_peer = timed(partial(first_level, instance, mechanism))
                ours = float(min(np.array(allocation.totals, float) / level_units(instance, mechanism)))
                line(size, "cvxpy and Clarabel", by_peer, f"first level only, off by {abs(level / ours - 1):.0e}")
            measured.setdefault(f"{mechanism}, seconds", []).append(taken)
    for name, values in measured.items():
        last = HUGE[len(values) - 1]
        span = log(last[0] * last[1] / (HUGE[0][0] * HUGE[0][1]))
        print(f"growth in pairs of user and class: {name} ~ pairs^{log(values[-1] / values[0]) / span:.2f}")


def first_level(instance: Cluster, mechanism: str) -> float:
    """Return the level that all users reach together, by cvxpy and Clarabel over all pairs: floats, no certificate."""
    import cvxpy

    share, may = shares_of(instance), eligibility(instance)
    shares = np.stack([share(i) for i in range(len(instance.servers))], axis=1)
    unit = level_units(instance, mechanism)
    part, level = cvxpy.Variable(may.shape, nonneg=True), cvxpy.Variable()
    loads = [
        cvxpy.sum(cvxpy.multiply(part, shares[:, :, r] * unit[:, None] / len(unit)), axis=0) <= 1
        for r in range(shares.shape[2])
    ]
    problem = cvxpy.Problem(
        cvxpy.Maximize(level), [cvxpy.sum(part, axis=1) == level, cvxpy.multiply(part, ~may) == 0, *loads]
    )
    problem.solve(solver="CLARABEL")
    return float(level.value) / len(unit)


def very_large(users: int, servers: int) -> Cluster:
    """Draw a cluster as `drawn` does, quickly."""
    generator = random.Random(1)

    def entry(zeros: float) -> int:
        return 0 if generator.random() < zeros else generator.randint(1, 50)

    capacities = [[generator.randint(1, 50)] + [entry(0.1) for _ in range(3)] for _ in range(servers)]
    demands = [[generator.randint(1, 50)] + [entry(0.2) for _ in range(3)] for _ in range(users)]
    eligible = [[generator.random() >= 0.2 for _ in range(servers)] for _ in range(users)]
    weights = [generator.randint(1, 3) for _ in range(users)]
    return cluster(capacities, demands, weights, eligible)


def main() -> None:
    """Print times, and growth as the slope of log time over log size."""
    if "--huge" in sys.argv:
        numeric_ps_dsf(very_large(60, 40), "resource", 1e-9)  # compile and import
        huge(float((sys.argv[sys.argv.index("--huge") + 1 :] or ["1e-4"])[0]))
        return
    run([(60, 40)])  # compile and import
    for what, sizes in (
        ("users", [(100, 40), (200, 40), (400, 40), (800, 40)]),
        ("classes", [(200, 20), (200, 40), (200, 80), (200, 160)]),
    ):
        seconds = run(sizes)
        span = log(sizes[-1][0] * sizes[-1][1] / (sizes[0][0] * sizes[0][1]))
        for name, times in seconds.items():
            print(f"growth in {what}: {name} ~ {what}^{log(times[-1] / times[0]) / span:.2f}")
    if "--large" in sys.argv:
        run([(1000, 100)], certificates=True)


if __name__ == "__main__":
    main()
