"""The configuration program on published instances of bin packing and cutting stock: exact answers, and how long.

``python -m benchmarks.bpplib FOLDER`` takes all files ``*.txt`` below a folder, such as the unpacked sets of BPPLIB
(Delorme, Iori and Martello, BPPLIB: a library for bin packing and cutting stock problems, Optimization Letters 12,
2018): a number of lines to come, the capacity, and then on each line a size, or a size and how many jobs have it. For
each folder it prints how many instances were solved exactly, with any configurations and with proper ones, and the CPU
seconds of both together. ``--most N`` takes so many files of each folder, evenly spread over their names.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np

from theory.errors import InputError, TooLargeError
from theory.exact.columns import Stock, bins

ROUNDING = 1e-9
"""By which prices in floats may seem to make a configuration worth more than its server."""


@dataclass(frozen=True)
class Jobs:
    """An instance: sizes in increasing order, how many jobs have each, and the capacity of a server."""

    sizes: list[int]
    numbers: list[int]
    capacity: int


def read_jobs(path: Path) -> Jobs:
    """Read an instance.

    Raises
    ------
    InputError
        A file of another form.
    """
    try:
        rows = [[int(word) for word in line.split()] for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise InputError(path, "", "expected whole numbers") from error
    (count, *_), (capacity, *_), *jobs = [row for row in rows if row] or [[0], [0]]
    numbers: Counter[int] = Counter()
    for size, *number in jobs:
        numbers[size] += number[0] if number else 1
    if not jobs or len(jobs) != count or min(numbers) < 1 or max(numbers) > capacity:
        raise InputError(path, "", "expected a number of lines, the capacity, and so many lines with a size of a job")
    sizes = sorted(numbers)
    return Jobs(sizes, [numbers[size] for size in sizes], capacity)


def is_sound(jobs: Jobs, found: Stock, *, proper: bool) -> bool:
    """Decide from the answer alone that it is optimal: exactly on the side of servers, in floats on that of prices."""
    have = [Fraction(0)] * len(jobs.sizes)
    for pattern, amount in found.patterns:
        if amount < 0 or sum(jobs.sizes[j] * k for j, k in pattern) > jobs.capacity:
            return False
        if proper and any(k > jobs.numbers[j] for j, k in pattern):
            return False
        for j, k in pattern:
            have[j] += k * amount
    carried = all(slots >= number for slots, number in zip(have, jobs.numbers, strict=True))
    equal = found.servers == sum(x for _, x in found.patterns) == sum(map(Fraction.__mul__, found.prices, jobs.numbers))
    worth = np.zeros(jobs.capacity + 1)  # the greatest within each capacity, one job after another
    for size, number, price in zip(jobs.sizes, jobs.numbers, found.prices, strict=True):
        fits = jobs.capacity // size
        for _ in range(min(number, fits) if proper else fits):
            worth[size:] = np.maximum(worth[size:], worth[:-size] + float(price))
    return carried and equal and min(found.prices) >= 0 and worth[-1] <= 1 + ROUNDING


def of_each_folder(root: Path, most: int | None) -> Iterator[tuple[str, list[Path]]]:
    """Yield the folders below one that hold instances, and some of them."""
    folders: dict[Path, list[Path]] = {}
    for path in sorted(root.rglob("*.txt")):
        folders.setdefault(path.parent, []).append(path)
    for folder, paths in folders.items():
        step = 1 if most is None else max(1, len(paths) // most)
        yield str(folder.relative_to(root)), paths[::step][:most]


def main() -> int:
    """Solve what was asked for; return 1 where something was not solved, or an answer does not stand."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bpplib", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, help="files of each folder")
    given = parser.parse_args()
    bins([3, 5], [2, 2], 10)  # compiles
    bad = 0
    for name, paths in of_each_folder(given.folder, given.most):
        seconds, widest, left = [], 0, []
        for path in paths:
            try:
                jobs = read_jobs(path)
            except InputError as error:
                print(error, file=sys.stderr)
                return 2
            begin = time.process_time()
            try:
                pair = bins(jobs.sizes, jobs.numbers, jobs.capacity)
            except TooLargeError:
                pair = None
            seconds.append(time.process_time() - begin)
            widest = max(widest, len(jobs.sizes))
            if pair is None or not all(is_sound(jobs, one, proper=i > 0) for i, one in enumerate(pair)):
                left.append(path.name)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{name}: {len(paths) - len(left)} of {len(paths)} exactly, up to {widest} sizes, median "
            f"{median(seconds):.2f} s, most {max(seconds):.2f} s, peak so far {peak} MB{': not ' if left else ''}"
            f"{', '.join(left[:3])}",
            flush=True,
        )
        bad += len(left)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
