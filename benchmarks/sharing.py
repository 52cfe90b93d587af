"""How long fair sharing takes, and how that grows with users and servers.

Run ``python -m benchmarks.sharing``; ``--large`` adds 1,000 users on 100 server classes.
"""

from __future__ import annotations

import random
import sys
import time
from math import log

from bounds.adversary.sharing import random_cluster
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm, ps_dsf_tdm_rounds

MECHANISMS = {
    "ps-dsf": ps_dsf,
    "ps-dsf-tdm (convex)": ps_dsf_tdm,
    "ps-dsf-tdm (rounds)": ps_dsf_tdm_rounds,
    "tsf": tsf,
    "c-drfh": c_drfh,
}


def run(sizes: list[tuple[int, int]]) -> dict[str, list[float]]:
    """Time every mechanism at every size (users, server classes); print one line each."""
    seconds: dict[str, list[float]] = {name: [] for name in MECHANISMS}
    for users, servers in sizes:
        instance = random_cluster(random.Random(1), users, servers, 4, largest=50)
        for name, mechanism in MECHANISMS.items():
            begin = time.perf_counter()
            allocation = mechanism(instance)
            seconds[name].append(time.perf_counter() - begin)
            certified = "exact" if allocation.exact else "numeric"
            rounds = "" if allocation.rounds is None else f", {allocation.rounds} rounds"
            print(
                f"{users:5} users x {servers:3} classes  {name:20} {seconds[name][-1]:9.2f} s  {certified}{rounds}",
                flush=True,
            )
    return seconds


def main() -> None:
    """Print times, and growth as the slope of log time over log size."""
    run([(4, 4)])  # compile and import
    for what, sizes in (
        ("users", [(25, 20), (50, 20), (100, 20), (200, 20)]),
        ("classes", [(50, 10), (50, 20), (50, 40), (50, 80)]),
    ):
        seconds = run(sizes)
        span = log(sizes[-1][0] * sizes[-1][1] / (sizes[0][0] * sizes[0][1]))
        for name, times in seconds.items():
            print(f"growth in {what}: {name} ~ {what}^{log(times[-1] / times[0]) / span:.2f}")
    if "--large" in sys.argv:
        run([(1000, 100)])


if __name__ == "__main__":
    main()
