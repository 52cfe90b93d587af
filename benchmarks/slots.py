"""Slotted queues: events a CPU second of every policy, alone or beside another version of packproof on the same paths.

``python -m benchmarks.slots --against FOLDER`` runs the version in a folder (such as a worktree of git) and this one in
turn, three times each, and prints the medians and their ratio; where measures differ, the line says so. ``--only``
takes policies or scenarios whose names hold the words. Compilation is not timed, the drawing of jobs is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any

import numpy as np

POLICIES = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "max-weight", "fifo-ff")


def scenarios(events: int) -> dict[str, Callable[[], Any]]:
    """Return what makes each scenario, of about so many events, by name."""
    from fluid.simulation.arrivals import JobList
    from fluid.simulation.slotted.model import SlottedScenario
    from fluid.simulation.slotted.sizes import SizeLaw, discrete, uniform

    def made(law: SizeLaw, servers: int, load: float, *, waiting: int = 0, service: float = 0.01) -> SlottedScenario:
        rate = load * servers * service / law.mean
        slots = max(2, int(events / 2 / rate))
        draws = np.random.default_rng(0)
        jobs = JobList(np.zeros(waiting, np.int64), law.draw(draws, waiting), draws.geometric(service, waiting))
        return SlottedScenario(law, servers, slots, slots // 5, rate=rate, service=service, present=jobs)

    small, wide = (Fraction(1, 100), Fraction(19, 100)), (Fraction(1, 10), Fraction(9, 10))
    four = {Fraction(size, 60): 1 for size in (13, 16, 17, 31)}
    return {
        "[0.01, 0.19], 1,000 servers, 100,000 wait": lambda: made(uniform(*small), 1000, 1.05, waiting=100_000),
        "[0.1, 0.9], 1,000 servers, 100,000 wait": lambda: made(uniform(*wide), 1000, 1.05, waiting=100_000),
        "[0.1, 0.9], 10,000 servers, 100,000 wait": lambda: made(uniform(*wide), 10_000, 1.05, waiting=100_000),
        "[0.1, 0.9], 200 servers, load 0.9": lambda: made(uniform(*wide), 200, 0.9),
        "[0.1, 0.9], 5 servers, load 0.8": lambda: made(uniform(*wide), 5, 0.8),
        "four sizes, 400 servers, service of 1 slot": lambda: made(discrete(four), 400, 0.84, service=1.0),
        "four sizes, 100 servers, load 0.8": lambda: made(discrete(four), 100, 0.8),
        "two sizes, 1 server, load 0.8": lambda: made(discrete({Fraction(1, 5): 2, Fraction(1, 2): 1}), 1, 0.8),
    }


def served() -> None:
    """Run what is asked for on stdin, one line each: events, CPU seconds, and a digest of the measures."""
    from hashlib import sha256

    from fluid.simulation import driver
    from fluid.simulation.policy_names import policy

    driver.perf_counter = lambda: getrusage(RUSAGE_SELF).ru_utime  # type: ignore[attr-defined]
    for line in sys.stdin:
        name, scenario, events, seed = json.loads(line)
        run = driver.run_once(policy(name), scenarios(events)[scenario](), seed)
        digest = sha256(b"".join(array.tobytes() for array in run.measures)).hexdigest()
        print(json.dumps([int(run.events), run.seconds, digest]), flush=True)


class Version:
    """One version of packproof in a process of its own."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(folder)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--serve"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def __call__(self, *question: str | int) -> tuple[float, str]:
        """Return events a CPU second and the digest of a run."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        events, seconds, digest = json.loads(self._process.stdout.readline())
        return events / max(seconds, 1e-9), digest


def main() -> None:
    """Print one line a policy and scenario."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slots", description="slotted queues, events a second")
    parser.add_argument("--against", type=Path, help="folder of another version")
    parser.add_argument("--only", default="", help="words of a policy or a scenario")
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        served()
        return
    folders = [Path(__file__).parents[1], *([options.against] if options.against else [])]
    versions = [Version(folder) for folder in folders]
    for name in POLICIES:
        for scenario in scenarios(options.events):
            few = "sizes" in scenario
            if options.only not in f"{name}: {scenario}" or (name == "max-weight" and not few):
                continue
            for version in versions:
                version(name, scenario, 2000, 9)  # compiles
            runs = [[version(name, scenario, options.events, seed) for version in versions] for seed in range(3)]
            rates = [median(run[v][0] for run in runs) for v in range(len(versions))]
            line = f"{name}: {scenario}: {rates[0] / 1e6:.1f} M events/s"
            if options.against:
                same = all(ours[1] == theirs[1] for ours, theirs in runs)
                line += f", {rates[0] / rates[1]:.2f} times as fast{'' if same else ', and ANOTHER PATH'}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
