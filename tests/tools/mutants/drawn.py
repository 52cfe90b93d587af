"""A sample of all mutants of the policy files: ``python -m tests.tools.mutants.drawn`` breaks one place at a time.

The mutants are those of cosmic-ray, as for the checker (`tests.tools.checker.mutants`), but for removed decorators,
which say how a function is compiled and not what it does. Every N-th of all files together is taken. A mutant is an
edit of a copy of the project; it is noticed by the first of the claims and tests that `mutants.toml` names for its
file that fails or takes several times the processor time that it takes without a mutant. Verdicts are written as they
come, and a run that is started again goes on where the last one ended.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from tests.tools.checker import mutants as cosmic
from tests.tools.mutants.__main__ import ROOT, copied, mutants

POLICIES = "fluid/simulation"
VERDICTS = ROOT / "build" / "drawn_mutants.jsonl"
EVERY = 40
LEAST = 90
"""Per cent that must be noticed."""

OTHERS = {"loss/policies/slot_lists.py": ("loss/policies/dra.py", "loss/policies/greedy_stages.py")}
"""A file that no named mutant breaks, and those whose claims and tests stand for it."""

RARER: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("loss/policies/dra.py", "loss/policies/greedy_stages.py", "loss/policies/slot_lists.py"),
    ("tests/fluid/test_reservation_options.py", "tests/fluid/test_reservation.py::test_sets_of_types_on_demand"),
) | dict.fromkeys(
    ("loss/policies/preemption.py", "loss/policies/static.py", "loss/policies/unreserved.py"),
    ("tests/fluid/test_policies.py::test_refusals_to_prepare_say_what_is_wrong",),
)
"""Tests of what few runs reach: options of dynamic reservation, more types than are prepared for, and refusals."""

FILES = sorted(
    path.relative_to(ROOT / POLICIES).as_posix()
    for path in (ROOT / POLICIES).glob("*/policies/*.py")
    if path.name != "__init__.py"
)


@cache
def judges(file: str) -> tuple[tuple[str, ...], ...]:
    """Return what is asked of the mutants of a file: each claim that its named mutants name, then their tests."""
    files = [f"{POLICIES}/{one}" for one in OTHERS.get(file, (file,))]
    named = [mutant for mutant in mutants() if mutant.file in files]
    claims = dict.fromkeys((mutant.claim,) for mutant in named if mutant.claim)
    tests = dict.fromkeys(mutant.test for mutant in named)
    return (*claims, (*tests, *RARER.get(file, ())))


def drawn(every: int, first: int) -> Iterator[tuple[str, str, cosmic.Mutant]]:
    """Yield every N-th mutant of the policy files, with its file and the text of that."""
    table = tomllib.loads(cosmic.CONFIG.read_text())["cosmic-ray"]["filters"]["operators-filter"]
    excluded = [*table["exclude-operators"], "core/RemoveDecorator$"]
    everything = (
        (file, mutant) for file in FILES for mutant in cosmic.mutants((ROOT / POLICIES / file).read_text(), excluded)
    )
    for file, mutant in islice(everything, first, None, every):
        parts = [text for _, text in cosmic.statements((ROOT / POLICIES / file).read_text())]
        parts[mutant.statement] = mutant.code
        yield file, "".join(parts), mutant


def is_test(judge: tuple[str, ...]) -> bool:
    """Return whether a judge is tests, not a claim."""
    return "::" in judge[0]


def ends_well(judge: tuple[str, ...], root: Path, seconds: int) -> bool:
    """Run a claim or tests in the copy as plain Python; return whether they succeed within their CPU time."""
    command = (sys.executable, "-B", "-m", "packproof", "verify", *judge)
    if is_test(judge):
        options = ("-n", "0", "-q", "-x", "-m", "not soak", "-p", "no:cacheprovider", "-p", "no:randomly")
        command = (sys.executable, "-B", "-m", "pytest", *options, *judge)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, preexec_fn=limited)
    return ended.returncode == 0


@cache
def limit(judge: tuple[str, ...], root: Path) -> int:
    """Return the CPU seconds that a claim or tests may take: five times what they take without a mutant."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not ends_well(judge, root, 600):
        raise RuntimeError(f"{' '.join(judge)} fails without a mutant")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(5 * (after.ru_utime - before.ru_utime)) + 5


def noticed_by(file: str, source: str, root: Path) -> str:
    """Return the first claim or the first tests that notice a mutant, or nothing."""
    place = root / POLICIES / file
    before = place.read_text()
    for judge in judges(file):
        seconds = limit(judge, root)  # without the mutant, and only where it is needed
        place.write_text(source)
        try:
            if not ends_well(judge, root, seconds):
                return " ".join(judge)
        finally:
            place.write_text(before)
    return ""


def main() -> int:
    """Run the mutants that have no verdict yet; print survivors and the score; return 0 if it is high enough."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.mutants.drawn", description="mutants of the policy files"
    )
    parser.add_argument("--every", type=int, default=EVERY, help="take every N-th mutant")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first mutant taken")
    options = parser.parse_args()
    VERDICTS.parent.mkdir(exist_ok=True)
    VERDICTS.touch()
    verdicts = {tuple(key): judge for *key, judge in map(json.loads, VERDICTS.read_text().splitlines())}
    start, alive, tests, taken = time.monotonic(), [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        for file, source, mutant in drawn(options.every, options.first):
            key = (file, mutant.line, mutant.operator, mutant.change)
            if key not in verdicts:
                verdicts[key] = noticed_by(file, source, root)
                with VERDICTS.open("a") as stream:
                    stream.write(json.dumps([*key, verdicts[key]]) + "\n")
            taken, tests = taken + 1, tests + ("::" in verdicts[key])
            if not verdicts[key]:
                alive.append(key)
                print(f"{file}:{mutant.line}: {mutant.operator}: {mutant.change}", flush=True)
    score = 100 * (1 - len(alive) / taken)
    print(
        f"{taken} mutants of policy files: {taken - tests - len(alive)} noticed by a claim, {tests} by a test alone, "
        f"{len(alive)} survive: {score:.1f} % are noticed, in {time.monotonic() - start:.0f} s"
    )
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
