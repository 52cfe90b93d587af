"""Faults on purpose: ``python -m tests.tools.faults [--small] [NAME ...]`` lets things happen to packproof as it works.

Each fault is a function with an expectation that follows from the contract of the command line: status 0, or 2 with one
line, or 130 after an interrupt, never 1 or 70; no file lost or half-written; no cell lost, run twice or with other
numbers. Only loopback is used, and every process has a limit of time and memory. Root is not needed; where there is
none, nothing is mounted. The same seed gives the same faults, but for the instants at which they meet a process.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
from collections.abc import Callable

from joblib import Parallel, delayed

from tests.tools.attacks.report import Report
from tests.tools.faults import commands, stores

FAULTS: dict[str, Callable[..., None]] = {
    "kills": stores.kills,
    "interrupts": stores.interrupts,
    "signals": commands.signals,
    "full-disks": commands.full_disks,
    "full-stores": stores.full_disks,
    "read-only": commands.read_only,
    "read-only-stores": stores.read_only,
    "damage": stores.damage,
    "writers": stores.writers,
    "clusters": stores.clusters,
    "clocks": stores.clocks,
    "upgrades": stores.upgrades,
    "descriptors": commands.descriptors,
    "memory": commands.memory,
    "encodings": commands.encodings,
}
"""Each fault by its name: ``fault(report, rng, small=...)``."""


def _cpu() -> float:
    """Return the seconds of CPU of this process and of those that it has waited for."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def happen(name: str, seed: int, *, small: bool) -> tuple[str, int]:
    """Let the faults of one kind happen; return what came out as text, and how many things were wrong."""
    report, start, cpu = Report(), time.perf_counter(), _cpu()
    FAULTS[name](report, random.Random(f"{seed} {name}"), small=small)
    hurt = len({entry.partition(": ")[0] for entry in report.wrong})
    counts = ", ".join(f"{n} {outcome}" for outcome, n in sorted(report.outcomes.items()))
    lines = [
        f"{name}: tried {report.tried}, survived {max(report.tried - hurt, 0)}, wrong: {len(report.wrong)}, "
        f"{time.perf_counter() - start:.0f} s, {_cpu() - cpu:.0f} s of CPU ({counts})",
        *[f"  WRONG {entry}" for entry in report.wrong[:20]],
    ]
    return "\n".join(lines), len(report.wrong)


def main() -> int:
    """Run the faults, two kinds at a time where there are processors; return 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.faults", description="faults on purpose")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FAULTS)}; all where none is given")
    parser.add_argument("--small", action="store_true", help="a part of each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.names) - set(FAULTS):
        parser.error(f"unknown faults {sorted(unknown)}; there are {', '.join(FAULTS)}")
    wrong, kinds = 0, options.names or FAULTS
    two = Parallel(min(2, os.cpu_count() or 1), return_as="generator", pre_dispatch="all")
    for text, count in two(delayed(happen)(name, options.seed, small=options.small) for name in kinds):
        print(text, flush=True)
        wrong += count
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
