"""``python -m benchmarks.starts``: what a policy costs until it runs compiled, and events a CPU second once it does.

A first start finds no machine code of packproof, a second one that of the first; each is a process of its own. Seconds
are CPU seconds, from the start of Python on, without what the run itself takes. ``--only`` takes policies whose names
hold the words.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from benchmarks.figures import cpu, loss, queue, slotted
from fluid.simulation.policy_names import HOMES, policy

RUNS: dict[str, Callable[[str], Callable[[], Any]]] = {
    "loss": partial(loss, servers=100),
    "queue": queue,
    "slotted": slotted,
    "dra-preemption": partial(loss, servers=100, priority={"small": 0, "medium": 0, "memory": 1, "large": 1}),
    "max-weight": partial(slotted, sizes={Fraction(1, 5): 1, Fraction(3, 10): 1, Fraction(1, 2): 1}),
}
"""What makes a run of a policy, by its name or else by its model."""


def measured(name: str) -> tuple[float, float]:
    """Return CPU seconds until a policy runs compiled, and events a CPU second from then on, in this process."""
    run = RUNS.get(name, RUNS[policy(name).model])(name)
    events = run().events
    spent = time.process_time()
    warm = cpu(run, 3)
    return spent - warm, events / warm


def started(name: str, folder: str) -> tuple[float, float]:
    """Measure a policy in a process of its own whose machine code is in a folder."""
    words = [sys.executable, "-m", "benchmarks.starts", "--here", name]
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, env=os.environ | {"NUMBA_CACHE_DIR": folder}
    )
    seconds, rate = map(float, done.stdout.split())
    return seconds, rate


def main() -> None:
    """Print a line a policy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(*measured(options.here))
        return
    print(f"{'policy':20} {'first start':>11} {'second start':>12} {'events a CPU second':>20}")
    for name in HOMES:
        if any(word in name for word in options.only):
            with tempfile.TemporaryDirectory() as folder:
                first, _ = started(name, folder)
                second, rate = started(name, folder)
            print(f"{name:20} {first:9.2f} s {second:10.2f} s {rate / 1e6:18.2f} M", flush=True)


if __name__ == "__main__":
    main()
