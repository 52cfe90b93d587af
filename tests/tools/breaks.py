"""Breaks on purpose: ``python -m tests.tools.breaks`` breaks packproof in one place at a time and looks who notices.

``breaks.toml`` says for each break which text of which file is replaced, what answer or refusal that spoils, and the
tests without a marker, those of ``make test``, among which one notices it. The project is copied once; each break is an
edit of the copy, undone after it, as with the wrong policies of `tests.tools.mutants`. At the end all tests that have
noticed a break run without any: one that fails then has noticed nothing.

``--only NAME ...`` takes the breaks whose names, or the names of whose rooms, contain one of these. It ends with status
1 where a break is not noticed, where its text does not occur once, or, of all breaks, where a room of ARCHITECTURE.md
has none.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.tools.covered import rooms
from tests.tools.mutants.__main__ import Mutant, applied, copied

LIST = Path(__file__).with_name("breaks.toml")
SECONDS = 900
"""Time limit of the tests of a break; a test that never ends has noticed it."""

FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.M)
OPTIONS = ("-n", "0", "-q", "-rfE", "-p", "no:cacheprovider", "-p", "no:randomly")


@dataclass(frozen=True)
class Break(Mutant):
    """A break, with the room that it is in; its test may be several files, with blanks between them."""

    room: str = ""


def breaks() -> list[Break]:
    """Return the breaks of the list."""
    return [Break(name, **table) for name, table in tomllib.loads(LIST.read_text(encoding="utf-8")).items()]


def failures(tests: tuple[str, ...], root: Path, *options: str) -> list[str]:
    """Run tests without a marker in the copy, in their order; return those that fail."""
    command = (sys.executable, "-B", "-m", "pytest", *OPTIONS, *options, *tests)
    environment = os.environ | {"PYTHONPATH": str(root)}
    try:
        ended = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [tests[0]]
    if ended.returncode not in (0, 1, 2, 5):  # passed, failed, not collected, all have a marker
        sys.exit(f"{' '.join(tests)}: {(ended.stderr or ended.stdout).strip().splitlines()[-1]}")
    return FAILED.findall(ended.stdout)


def noticed_by(one: Break, root: Path) -> tuple[str, bool]:
    """Return the test that notices a break, or why none does, and whether one does."""
    times = (root / one.file).read_text(encoding="utf-8").count(one.old)
    if times != 1:
        return f"its text occurs {times} times in {one.file}, not once", False
    with applied(one, root):
        failed = failures(tuple(one.test.split()), root, "-x")
    return (failed[0], True) if failed else ("NO TEST", False)


def main() -> int:
    """Run the breaks and print the table; return 0 if each is noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.breaks", description="breaks on purpose, and which test notices each"
    )
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="take breaks of such names or rooms")
    patterns = parser.parse_args().only
    every = breaks()
    chosen = [one for one in every if any(pattern in f"{one.name} {one.room}" for pattern in patterns)]
    bare = [] if len(chosen) < len(every) else [room for room in rooms() if room not in {one.room for one in every}]
    noticing: dict[str, str] = {}  # by break
    print("| room | break | noticed by |", "|---|---|---|", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        for one in chosen:
            test, is_noticed = noticed_by(one, root)
            noticing |= {one.name: test} if is_noticed else {}
            print(f"| `{one.room}` | {one.name} | `{test}` |", flush=True)
        fails = failures((*dict.fromkeys(noticing.values()),), root) if noticing else []
    for room in bare:
        print(f"{room} has no break")
    for test in fails:
        print(f"{test} fails without a break as well")
    good = sum(test not in fails for test in noticing.values())
    print(f"{good} of {len(chosen)} breaks are noticed by tests without a marker")
    return 0 if good == len(chosen) > 0 and not bare else 1


if __name__ == "__main__":
    sys.exit(main())
