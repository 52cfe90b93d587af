"""Wrong policies: ``python -m tests.tools.mutants`` breaks a policy, mechanism or oracle in one line, one at a time.

``mutants.toml`` says for each mutant which text of which file is replaced, what that breaks in the words of the paper,
and which claim and which test notice it; where no claim is about the policy, a test alone does. The project is copied
once; each mutant is an edit of the copy, undone after it. The claim and the test run there as plain Python, since most
of the time of a compiled run would go to compilation. They first run without a mutant, since what fails without one
notices nothing.

``--only PATTERN ...`` takes the mutants whose names contain one of the patterns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIST = Path(__file__).with_name("mutants.toml")
SECONDS = 300
"""Time limit of a claim or a test; what it ends has noticed the mutant, as it ends without one."""


@dataclass(frozen=True)
class Mutant:
    """A text of a file, which occurs once, with its replacement.

    Attributes
    ----------
    name, file, old, new : str
    breaks : str
        What it breaks, in the words of the paper.
    claim, test : str
        Those that notice it: the identifier of a claim, empty where none is about it, and what pytest is given.
    """

    name: str
    file: str
    old: str
    new: str
    breaks: str
    test: str
    claim: str = ""

    def source(self, root: Path = ROOT) -> str:
        """Return the text of the file with the edit."""
        return (root / self.file).read_text().replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """Return the mutants of the list."""
    return [Mutant(name, **table) for name, table in tomllib.loads(LIST.read_text()).items()]


def copied(folder: Path) -> Path:
    """Copy what claims and tests read."""
    left_out = shutil.ignore_patterns(".*", "__pycache__", "_build", "build", "*.egg-info")
    return Path(shutil.copytree(ROOT, folder / "copy", ignore=left_out))


@contextmanager
def applied(mutant: Mutant, root: Path) -> Iterator[None]:
    """Apply a mutant to the copy."""
    file = root / mutant.file
    before = file.read_text()
    if before.count(mutant.old) != 1:
        sys.exit(f"{LIST.name}: {mutant.name}: {mutant.file} has its text {before.count(mutant.old)} times, not once")
    file.write_text(mutant.source(root))
    try:
        yield
    finally:
        file.write_text(before)


def claim_command(mutant: Mutant) -> tuple[str, ...]:
    """Return the command that checks the claim of a mutant."""
    return (sys.executable, "-B", "-m", "packproof", "verify", mutant.claim)


def test_command(mutant: Mutant) -> tuple[str, ...]:
    """Return the command that runs the test of a mutant."""
    options = ("-n", "0", "-q", "-x", "-m", "not soak", "-p", "no:cacheprovider", "-p", "no:randomly")
    return (sys.executable, "-B", "-m", "pytest", *options, mutant.test)


def ends_well(command: tuple[str, ...], root: Path) -> bool:
    """Run a command in the copy; return whether it succeeds within the time limit."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    try:
        ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


@cache
def is_sound(command: tuple[str, ...], root: Path) -> bool:
    """Return whether a command succeeds without a mutant."""
    return ends_well(command, root)


def noticed(mutant: Mutant, root: Path) -> tuple[bool, bool]:
    """Return whether the claim and the test of a mutant notice it."""
    commands = claim_command(mutant), test_command(mutant)
    sound = bool(mutant.claim) and is_sound(commands[0], root), is_sound(commands[1], root)
    with applied(mutant, root):
        by_claim, by_test = (ok and not ends_well(command, root) for ok, command in zip(sound, commands, strict=True))
    return by_claim, by_test


def main() -> int:
    """Run the mutants and print the table and the score; return 0 if its test notices each, and its claim if any."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.mutants", description="wrong policies, and who notices them"
    )
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="PATTERN", help="take mutants whose names contain one"
    )
    patterns = parser.parse_args().only
    chosen = [mutant for mutant in mutants() if any(pattern in mutant.name for pattern in patterns)]
    start = time.monotonic()
    claims = tests = good = 0
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        for mutant in chosen:
            by_claim, by_test = noticed(mutant, root)
            claims, tests = claims + by_claim, tests + by_test
            good += by_test and (by_claim or not mutant.claim)
            words = [f"{who} {'notices' if yes else 'MISSES'}" for who, yes in (("claim", by_claim), ("test", by_test))]
            first = words[0] if mutant.claim else "no claim"
            print(f"{mutant.name:40} {first:14} {words[1]:13} {mutant.claim or mutant.test}", flush=True)
    with_claim = sum(1 for mutant in chosen if mutant.claim)
    print(
        f"{len(chosen)} mutants: {claims} of {with_claim} noticed by their claim, {tests} of all by their test, "
        f"in {time.monotonic() - start:.0f} s"
    )
    return 0 if good == len(chosen) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
