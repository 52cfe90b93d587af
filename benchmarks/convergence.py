"""How fast dynamic reservation meets its fluid limit: slopes of the distance on twelve instances, and its controls.

``python -m benchmarks.convergence [LARGEST [RUNS]]``: from the empty system over [0, 15], with g = (log L)^2 and
(log L)^1.5. About 20 minutes on two processors with the defaults, 100,000 servers and 8 runs of each size.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.stepping import reflected
from bounds.results.instances.families import limited_by_draining, not_limited_by_draining
from fluid.limits.convergence import CrossCheck, crosscheck
from fluid.limits.reservation import Reservation, fluid_path, minimum_rates
from fluid.simulation.options import Expression
from theory.instance import Instance

SIZES = (200, 1000, 5000, 20_000, 100_000)
UNTIL, BINS, SEED = 15.0, 750, 2026
RESERVATIONS = ("(log L)^2", "(log L)^1.5")
LARGER = {"four VM types, 6 times": "4 * (log L)^2"}
"""Instances with many jobs on a server: more is reserved."""


def simplified(instance: Instance, times: np.ndarray) -> np.ndarray:
    """Return the path with the least rate of the types in place of the time until the last job leaves."""
    return fluid_path(Reservation(instance), float(times[-1]), rates=minimum_rates).jobs(times)


def at_once(instance: Instance, times: np.ndarray) -> np.ndarray:
    """Return the reflected path, whether or not its condition holds."""
    return reflected(Reservation(instance), times, 4, anyway=True)


def line(check: CrossCheck) -> str:
    """Mean distance by number of servers, and the slope with its interval."""
    rate = check.rate
    far = " ".join(f"{d:.4f}" for d in check.distances.mean(axis=1))
    return f"{far}  slope {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]"


def main() -> None:
    """Print a table."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    sizes = [size for size in SIZES if size <= largest]
    begin = time.perf_counter()
    print(f"supremum over [0, {UNTIL:.0f}] of |Y/L - y|, mean of {runs} runs, L = {sizes}, seed {SEED}")
    for kind, family in (("draining does not limit", not_limited_by_draining()), ("it does", limited_by_draining())):
        print(kind)
        for name, instance in family.items():
            for reserve in (*RESERVATIONS, *((LARGER[name],) if name in LARGER else ())):
                check = crosscheck(
                    instance,
                    sizes,
                    UNTIL,
                    runs,
                    options={"reservation": Expression(reserve)},
                    seed=SEED,
                    bins=BINS,
                    workers=-1,
                )
                print(f"  {name:24} g = {reserve:12} {line(check)}", flush=True)
            if kind == "it does":
                print(f"    with the simplified drain rates:  {line(check.beside(simplified))}")
                print(f"    with the reflected path:          {line(check.beside(at_once))}", flush=True)
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
