"""Traffic intensities on servers with huge grids, in CPU seconds: ``python -m benchmarks.region --grids``.

``--against FOLDER`` runs the version in a folder (such as a worktree of git) beside this one, in turn, each question in
a process of its own that is ended after `PATIENCE` CPU seconds. Importing and compiling do not count.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from benchmarks.greedy import exponent
from theory.instance import Instance, pooled

PATIENCE = 20
"""CPU seconds after which a question is given up."""

SEEDS = (1, 2)

JOBS = {"large": (1000, 4000), "mixed": (100, 3000), "small": (10, 300)}
"""Least and greatest demand of each resource, on servers of about 10,000 units."""

TYPES = (10, 20, 30, 60)
RESOURCES = (2, 3, 4, 6)


def fine_grids(types: int, resources: int, jobs: str, seed: int, pools: int = 1) -> Instance:
    """Draw demands of whole units, and workloads from 0.01 to 1."""
    generator = random.Random(seed)
    low, high = JOBS[jobs]
    demands = [[generator.randint(low, high) for _ in range(resources)] for _ in range(types)]
    workload = [Fraction(generator.randint(1, 100), 100) for _ in range(types)]
    servers = [(1 + p % 3, [10_000 - 700 * ((p * (r + 2)) % 4) for r in range(resources)]) for p in range(pools)]
    return pooled(servers, demands, workload=workload)


QUESTION = f"""
import json, random, resource, sys, time
from fractions import Fraction
from theory.errors import TooLargeError
from theory.instance import pooled
from theory.region.membership import CapacityProgram
draw = random.Random(0)
first = [[draw.randint(1000, 4000) for _ in range(3)] for _ in range(30)]
CapacityProgram(pooled([(1, [10_000] * 3)], first)).intensity()  # compiles what the question needs
resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + {PATIENCE},) * 2)
servers, demands, workload = json.load(sys.stdin)
begin = time.process_time()
try:
    value = str(CapacityProgram(pooled(servers, demands, workload=list(map(Fraction, workload)))).intensity().value)
except TooLargeError:
    value = "refused"
print(time.process_time() - begin, value)
"""


def asked(instance: Instance, folder: Path) -> tuple[float, str]:
    """Return the CPU seconds that a version takes for the intensity, and what it answers."""
    spaces = [pool.space for pool in instance.pools]
    servers = [(str(pool.share), space.capacity) for pool, space in zip(instance.pools, spaces, strict=True)]
    given = json.dumps([servers, spaces[0].demands, list(map(str, instance.workload))])
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{QUESTION}"
    done = subprocess.run(
        [sys.executable, "-c", code], input=given, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode < 0:  # ended by the limit of CPU seconds
        return float(PATIENCE), "given up"
    done.check_returncode()
    time, value = done.stdout.split()
    return float(time), value


def _row(folders: list[Path], types: int, resources: int, jobs: str, pools: int = 1) -> list[float]:
    """Print the times of one family in each version; return those of this version."""
    answers = [[asked(fine_grids(types, resources, jobs, seed, pools), folder) for folder in folders] for seed in SEEDS]
    for seed, versions in zip(SEEDS, answers, strict=True):
        values = {value for _, value in versions} - {"refused", "given up"}
        assert len(values) <= 1, f"the versions differ: {values}, seed {seed}"
    said = []
    for i, name in enumerate(("now", "before")[: len(folders)]):
        times = ", ".join(
            f"{time:.2f}" + ("" if value[0].isdigit() else f" ({value})")
            for time, value in (versions[i] for versions in answers)
        )
        said.append(f"{name} {times}")
    what = f"{jobs} jobs, {types} types, {resources} resources, {pools} pool{'s' * (pools > 1)}"
    print(f"{what:48} CPU s: {'; '.join(said)}", flush=True)
    return [versions[0][0] for versions in answers]


def intensities_on_fine_grids(against: Path | None = None) -> None:
    """Print the times of each family, and how they grow in the number of types and of resources."""
    folders = [Path(__file__).parents[1], *([against] if against else [])]
    for jobs in JOBS:
        times = [sum(_row(folders, types, 3, jobs)) for types in TYPES]
        print(f"growth in the number of types ({jobs} jobs, 3 resources): J^{exponent(TYPES, times):.2f}", flush=True)
    for jobs in ("mixed", "small"):
        times = [sum(_row(folders[:1], 30, resources, jobs)) for resources in RESOURCES]
        print(f"growth in the number of resources ({jobs} jobs, 30 types): R^{exponent(RESOURCES, times):.2f}")
    for jobs in JOBS:
        _row(folders[:1], 30, 3, jobs, pools=10)
