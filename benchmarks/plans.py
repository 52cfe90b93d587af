"""What a plan of a log costs by its length: CPU seconds of each part, and memory; beside another version, in turns.

Run ``python -m benchmarks.plans`` for 10^5 and 10^6 rows, or ``python -m benchmarks.plans ROWS ... [--level full]``.
With ``--against FOLDER``, a checkout of another version, each run of this version is followed by one of that one on the
same log, and the least CPU seconds of ``--turns N`` are compared. Each run is a process of its own. A fixed piece of
work is timed before each, as machines slow down where others use them: trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

KINDS = ((1, 2), (2, 4), (2, 8), (4, 8), (4, 16), (8, 32), (16, 64), (8, 64))
"""Cores and GiB of the VMs of a log, and the shares of the VMs that have them."""

SHARES = (0.3, 0.2, 0.15, 0.12, 0.1, 0.07, 0.03, 0.03)

DAYS, CORES = 28, 18_000
"""Length of a log, and cores that its VMs have on average: those of 188 servers."""

SERVERS = ("--server", "cpu=96,memory=384", "--accept", "0.999")

PARTS = ("start", "reading", "bounds", "simulation", "answer")


def write_log(path: Path, rows: int, seed: int = 1) -> None:
    """Write a log of VMs of eight kinds: id, start and end as dates, cores, memory.

    They come uniformly over four weeks, and stay for a log-normal time; equal seeds give equal files.
    """
    rng = np.random.default_rng(seed)
    begin = np.datetime64("2026-01-05T00:00:00", "s")
    starts = np.rint(np.sort(rng.uniform(0, DAYS * 86_400, rows))).astype(np.int64)
    kind = rng.choice(len(KINDS), rows, p=SHARES)
    mean = CORES * DAYS * 86_400 / rows / float(np.dot(SHARES, [cores for cores, _ in KINDS]))
    stays = np.maximum(np.rint(rng.lognormal(np.log(mean) - 0.5, 1.0, rows)), 1).astype(np.int64)
    with path.open("w", encoding="utf-8") as file:
        file.write("id,start date,end date,cores,memory_gb\n")
        for first in range(0, rows, 100_000):
            part = slice(first, first + 100_000)
            came, went = (np.datetime_as_string(begin + at[part]).tolist() for at in (starts, starts + stays))
            of_rows = zip(range(first, rows), came, went, kind[part].tolist(), strict=False)
            file.writelines(f"vm{i:08d},{a}Z,{b}Z,{KINDS[k][0]},{KINDS[k][1]}\n" for i, a, b, k in of_rows)


def part_of(message: str) -> str:
    """Return the part of a plan that begins with a line of progress.

    >>> [part_of(text) for text in ("reading the log", "servers that hold the fullest instant", "dra on 9 servers")]
    ['reading', 'bounds', 'simulation']
    """
    begins = {"reading the log": "reading", "servers that": "bounds", "what greedy": "answer"}
    return next((part for begin, part in begins.items() if message.startswith(begin)), "simulation")


def plan(arguments: Sequence[str]) -> None:
    """Run ``packproof plan`` in this process, and print the CPU seconds of its parts and the peak of memory as JSON."""
    import bounds.cli.plan
    from bounds.cli import run

    seconds = dict.fromkeys(PARTS, 0.0)
    part = "start"

    def report(message: str) -> None:
        nonlocal part
        seconds[part] += time.process_time() - sum(seconds.values())
        part = part_of(message)

    @contextmanager
    def progress() -> Iterator[Callable[[str], None]]:
        yield report

    with redirect_stdout(StringIO()), patch.object(bounds.cli.plan, "progress", progress):
        status = run(["plan", *arguments, "--json"])
    assert not status, "the plan failed"
    report("")
    print(json.dumps(seconds | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def measured(folder: Path, arguments: Sequence[str]) -> dict[str, float]:
    """Measure a plan by the version in a folder, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    # -P, as modules of this folder have the names of packages
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--one", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def calibration() -> float:
    """Return the CPU seconds of a fixed piece of work."""
    numbers = np.random.default_rng(0).random(4_000_000)
    begin = time.process_time()
    np.sort(numbers, kind="stable")
    return time.process_time() - begin


def total(one: dict[str, float]) -> float:
    """Return the CPU seconds of a run."""
    return sum(one[part] for part in PARTS)


def show(name: str, rows: int, one: dict[str, float]) -> None:
    """Print the row of a table."""
    seconds = total(one)
    shares = " | ".join(f"{one[part] / seconds:.0%}" for part in PARTS)
    print(f"| {name} | {rows:,} | {seconds:.1f} s | {one['memory']:,.0f} MB | {shares} |", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plans", description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--level", default="quick")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args(arguments)
    folders = {"this": Path(__file__).resolve().parents[1]} | ({"other": options.against} if options.against else {})
    print(f"| version | rows | CPU | memory | {' | '.join(PARTS)} |\n|{'---|' * (4 + len(PARTS))}")
    for rows in options.rows:
        with TemporaryDirectory() as folder:
            log = Path(folder) / "log.csv"
            write_log(log, rows)
            runs: dict[str, list[dict[str, float]]] = {name: [] for name in folders}
            work = []
            for _ in range(options.turns):
                for name, place in folders.items():
                    work.append(calibration())
                    runs[name].append(measured(place.resolve(), [str(log), *SERVERS, "--level", options.level]))
        for name, found in runs.items():
            show(name, rows, min(found, key=total))
        print(f"calibration at {rows:,} rows: {', '.join(f'{x:.2f}' for x in work)} s", file=sys.stderr)
        if "other" in runs:
            pairs = zip(runs["other"], runs["this"], strict=True)
            ratios = ", ".join(f"{total(other) / total(this):.2f}" for other, this in pairs)
            print(f"other over this, by turn: {ratios}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        plan(sys.argv[2:])
    else:
        main(sys.argv[1:])
