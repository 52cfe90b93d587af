"""How fast supportable workloads are: brackets of laws, and the configuration program beside its peers in one run.

Run ``python -m benchmarks.throughput``; with ``--peers FOLDER`` (a folder of ``conf_cg.py`` and ``conf_vpsolver.py``,
set up by its ``setup.sh``) each peer runs on the same instances right after ours. Machines are noisy: trust ratios.
``--many-sizes`` runs large configuration programs only, up to 1,000 sizes, on fine grids too.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from math import log
from pathlib import Path
from statistics import median

import numpy as np

from theory.exact.columns import stock
from theory.files.google_machines import REQUESTS, google_law
from theory.partition.bounding import bracket
from theory.partition.guarantees import best_partitions, guarantee
from theory.partition.laws import Law, discrete, uniform
from theory.partition.rounded import Supportable, supportable
from theory.partition.universal import universal_cells, vqs_workload


def instance(types: int, seed: int = 1, capacity: int = 1000) -> tuple[list[int], list[int]]:
    """Draw the peers' instance: distinct sizes of 5 to 50 % of a capacity, demands 1 to 100."""
    generator = random.Random(1000 + seed)
    seen: set[int] = set()
    while len(seen) < types:
        seen.add(generator.randint(capacity // 20, capacity // 2))
    sizes = sorted(seen, reverse=True)
    return sizes, [generator.randint(1, 100) for _ in sizes]


def solved(types: int, seed: int = 1, capacity: int = 1000) -> tuple[float, Supportable]:
    """Solve the configuration program of an instance exactly; return the seconds and the answer."""
    sizes, demands = instance(types, seed, capacity)
    begin = time.perf_counter()
    found = supportable([Fraction(s, capacity) for s in sizes], [Fraction(d, sum(demands)) for d in demands])
    seconds = time.perf_counter() - begin
    assert found is not None
    return seconds, found


def is_certified(types: int, found: Supportable, capacity: int = 1000) -> bool:
    """Decide optimality from the answer alone: slots, prices, and a knapsack in integers."""
    sizes, demands = instance(types, capacity=capacity)
    share = [Fraction(d, sum(demands)) for d in demands]
    slots = [sum((x * k[j] for k, x in found.columns), Fraction(0)) for j in range(types)]
    feasible = all(sum(n * s for n, s in zip(k, sizes, strict=True)) <= capacity for k, _ in found.columns)
    primal = feasible and sum(x for _, x in found.columns) <= 1 and slots == [found.workload * p for p in share]
    unit = np.lcm.reduce([y.denominator for y in found.prices], dtype=object)
    best = [0] * (capacity + 1)
    for size, price in zip(sizes, found.prices, strict=True):
        for c in range(size, capacity + 1):
            best[c] = max(best[c], best[c - size] + int(price * unit))
    return primal and best[capacity] <= unit and sum(map(Fraction.__mul__, found.prices, share)) * found.workload == 1


def peers(folder: Path, types: int) -> dict[str, float]:
    """Run the peers on the same instance; return seconds by name."""
    python = folder / ".venv" / "bin" / "python"
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    seconds = {}
    for name, command, key in (
        ("plain column generation", ["conf_cg.py", str(types)], "seconds"),
        ("VPSolver arc-flow + HiGHS", ["conf_vpsolver.py", "lp", "1", str(types)], "total_seconds"),
    ):
        try:
            environment = {**os.environ, "PATH": path}
            done = subprocess.run(
                [str(python), *command], cwd=folder, env=environment, capture_output=True, timeout=120, check=False
            )
            answer = json.loads(done.stdout)
            seconds[name] = answer[key] + answer.get("certificate_seconds", 0)
        except subprocess.TimeoutExpired:
            seconds[name] = 120.0
        except (OSError, ValueError, KeyError) as error:
            print(f"  {name}: no answer ({type(error).__name__})")
    return seconds


def timed(action: Callable[[], object], runs: int = 3) -> float:
    """Return the median seconds of an action."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return median(times)


def brackets_of_laws() -> None:
    """Print bound, gap and time of the paper's laws and of the trace."""
    laws: list[tuple[str, Law, int, str]] = [
        ("uniform [0.1, 0.9]", uniform("1/10", "9/10"), 5, "1/100"),
        ("uniform [0.01, 0.19]", uniform("1/100", "19/100"), 5, "1/100"),
        ("uniform [0.3, 0.6]", uniform("3/10", "3/5"), 1, "1/100"),
        ("uniform [0.2, 0.5]", uniform("1/5", "1/2"), 1, "1/100"),
        ("uniform [0.3, 0.6]", uniform("3/10", "3/5"), 1, "1/1000"),
    ]
    folder = Path(os.environ.get("PACKPROOF_DATA", "../shared/data"))
    if (folder / REQUESTS).exists():
        laws += [(f"Google {name}", google_law(folder, name), 1, "1/100") for name in ("memory", "cpu", "larger")]
    for name, law, servers, gap in laws:
        begin = time.perf_counter()
        best = bracket(law, Fraction(gap))
        seconds = time.perf_counter() - begin
        lower, upper = float(servers * best.lower), float(servers * best.upper)
        share = float(vqs_workload(law).workload / best.upper)
        print(
            f"{name:22} {servers} servers, gap {gap:6}: [{lower:.5f}, {upper:.5f}], {float(best.gap):.4%}, "
            f"{len(best.below.cells)} cells, {seconds:.2f} s (VQS keeps {share:.3f})",
            flush=True,
        )


def configuration_program(folder: Path | None) -> None:
    """Print exact times by number of types, beside the peers; and the growth."""
    solved(30)  # compile and import
    for types in (50, 100, 200):
        ours = median(solved(types)[0] for _ in range(3))
        found = solved(types)[1]
        print(f"{types:4} sizes on 1000: {ours:.3f} s, certified: {is_certified(types, found)}", flush=True)
        for name, seconds in (peers(folder, types) if folder else {}).items():
            print(f"       {name:28} {seconds:8.3f} s, {seconds / ours:6.1f} times ours", flush=True)
    types = (10, 20, 50, 100, 200)
    times = [median(solved(n, seed)[0] for seed in range(1, 6)) for n in types]
    slope = np.polyfit([log(n) for n in types], [log(t) for t in times], 1)[0]
    print("time by types:", ", ".join(f"{n}: {t * 1000:.0f} ms" for n, t in zip(types, times, strict=True)))
    print(f"growth in the number of types (10 to 200, five instances each): J^{slope:.2f}")
    law = discrete({"1/7": "1/3", "2/5": "1/3", "3/5": "1/3"})
    servers = (1, 10**3, 10**6)
    each = [timed(lambda n=n: n * bracket(law).lower) for n in servers]
    slope = np.polyfit([log(n) for n in servers], [log(t) for t in each], 1)[0]
    print(f"growth in the number of servers (1 to 10^6): L^{slope:.2f} (the program is solved for one)")


def drawn_jobs(kind: str, jobs: int, capacity: int, seed: int = 1) -> tuple[list[int], list[int]]:
    """Draw jobs of a kind that is published for bin packing (the instances are ours); return sizes and their numbers.

    ``uniform``: sizes of 10 to 70 % of the capacity; ``triplets``: three jobs, each from a quarter to a half, fill a
    server; ``cut``: servers cut at random places into three to five jobs, so the optimum fills all of them.
    """
    generator = random.Random(seed)
    made: list[int] = []
    while len(made) < jobs:
        if kind == "uniform":
            made.append(generator.randint(capacity // 10, 7 * capacity // 10))
        elif kind == "triplets":
            a, b = (generator.randint(capacity // 4 + 1, capacity // 2 - 1) for _ in range(2))
            if capacity // 4 < capacity - a - b < capacity // 2:
                made += [a, b, capacity - a - b]
        else:
            cuts = sorted(generator.sample(range(1, capacity), generator.randint(2, 4)))
            parts = [b - a for a, b in zip([0, *cuts], [*cuts, capacity], strict=True)]
            if min(parts) >= capacity // 20:
                made += parts
    sizes = sorted(set(made))
    return sizes, [made.count(size) for size in sizes]


def many_sizes() -> None:
    """Print exact times of large programs: any configurations, and proper ones."""
    stock([3, 5], [2, 2], 10)
    stock([3, 5], [2, 2], 10, [2, 2])
    for kind, jobs, capacity in (
        ("uniform", 500, 1000),
        ("uniform", 1000, 10_000),
        ("triplets", 501, 1000),
        ("triplets", 1002, 10_000),
        ("cut", 400, 10_000),
        ("cut", 1000, 10_000),
        ("uniform", 1000, 100_000),
    ):
        sizes, numbers = drawn_jobs(kind, jobs, capacity)
        for name, most in (("any", None), ("proper", numbers)):
            begin = time.process_time()
            found = stock(sizes, numbers, capacity, most)
            seconds = time.process_time() - begin
            value = "no exact answer" if found is None else f"{float(found.servers):.6f} servers, exact"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            rounds = 0 if found is None else found.rounds
            print(
                f"{kind:8} {len(sizes):4} sizes on {capacity:6}, {name:6} configurations: {seconds:7.2f} s CPU, "
                f"{value}, {rounds} rounds, peak {peak} MB",
                flush=True,
            )


def fine_grids() -> None:
    """Print exact times where a table of the grid would be far too large, beside its memory."""
    capacity = 10**9
    sizes = [3 * 10**8 + 1, 5 * 10**8 + 7]
    stock(sizes, [2, 2], capacity)
    for types, least, most in ((50, 0.1, 0.5), (100, 0.1, 0.7), (100, 0.05, 0.5), (300, 0.1, 0.7), (1000, 0.1, 0.7)):
        generator = random.Random(1)
        sizes = sorted(generator.sample(range(int(least * capacity), int(most * capacity)), types))
        demand = [generator.randint(1, 100) for _ in sizes]
        begin = time.process_time()
        found = stock(sizes, demand, capacity)
        seconds = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        value = "no exact answer" if found is None else f"{float(found.servers):.6f} servers, {found.rounds} rounds"
        print(
            f"{types:4} sizes of {least:.0%} to {most:.0%} on {capacity:.0e}: {seconds:7.2f} s CPU, {value}, "
            f"peak {peak} MB (a table: {12 * capacity // 2**20:,} MB)",
            flush=True,
        )


def guarantees() -> None:
    """Print the time of exact guarantees and of searches."""
    for J in (2, 3, 4):
        cuts = [high for _, high in universal_cells(J)]
        begin = time.perf_counter()
        found = guarantee(cuts, Fraction(1, 2**J))
        seconds = time.perf_counter() - begin
        print(f"universal partition, J = {J}: guarantee {found.ratio}, {found.programs} programs, {seconds:.2f} s")
    begin = time.perf_counter()
    *_, best = best_partitions(3, "1/8", 24)
    seconds = time.perf_counter() - begin
    print(f"best of 1,140 partitions with 3 cuts on (1/8, 1]: {best.ratio}, {seconds:.2f} s")


def main() -> None:
    """Print every figure."""
    if "--many-sizes" in sys.argv:
        many_sizes()
        fine_grids()
        return
    folder = Path(sys.argv[sys.argv.index("--peers") + 1]) if "--peers" in sys.argv else None
    brackets_of_laws()
    configuration_program(folder)
    guarantees()


if __name__ == "__main__":
    main()
