"""What `make test` covers: ``python -m tests.tools.covered`` runs the tests without a marker and counts them by room.

A room is a folder or file that ARCHITECTURE.md lists. A file of tests in `tests/FLOOR` belongs to the room of that
floor from which it imports most names, to the floor's own files only if it imports from no folder of it; doctests
belong to the room of their module. Tests of a command belong to `bounds/cli/` or to what they read of it, though they
reach every room; the column "beside" counts the tests of other rooms whose file imports something of this one.

The tests run one after another in this process, and the seconds are those of its CPU and of the processes that it has
waited for, without what numba compiles. ``--count`` runs none of them and gives no seconds. ``--write`` puts the table
into docs/developer/tests.md; other arguments go to pytest.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "developer" / "tests.md"
BEGIN, END = "<!-- written by python -m tests.tools.covered --write -->", "<!-- end of what it writes -->"
CLAIM = re.compile(r"tests/bounds/test_claims\.py::test_claim_and_controls\[(.+)\]")
PAGES, NONE = "README.md, docs/", "no room alone"
FACE, CHECKER = "packproof.py", "bounds/checker.py"
ALONE = "tests/checker/"
"""The tests of the checker, which reach it by a module of their own."""


@cache
def rooms() -> tuple[str, ...]:
    """Return the rooms that ARCHITECTURE.md lists under "Folders", those of code, in its order."""
    _, _, listed = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("\n## Folders\n")
    found = []
    for line in listed.partition("\n## ")[0].splitlines():
        first, *others = re.findall(r"`([^`]+)`", line.split("|")[1]) if line.startswith("| `") else [""]
        beside = first.rstrip("/").rpartition("/")[0]
        found += [room for room in (first, *(f"{beside}/{name}" for name in others)) if room]
    return tuple(room for room in found if room.startswith(("theory/", "fluid/", "bounds/")))


@cache
def room_of(file: str) -> str:
    """Return the room of a file: of those that hold it the one with the longest name.

    Examples
    --------
    >>> room_of("fluid/simulation/loss/policies/dra.py"), room_of("theory/reached.py"), room_of("fluid/statistics.py")
    ('fluid/simulation/loss/', 'theory/reached.py', 'fluid/')
    """
    if file in {FACE, CHECKER}:
        return file
    if not file.startswith(("theory/", "fluid/", "bounds/")):
        return PAGES if file.endswith(".md") else NONE
    return max((room for room in rooms() if file.startswith(room)), key=len)


def imported(file: Path) -> Counter[str]:
    """Return how many names a file imports from each room."""
    counted: Counter[str] = Counter()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [[f"{node.module}.{alias.name}", node.module] for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [[alias.name] for alias in node.names]
        for names in modules:
            paths = [path for name in names for path in _files_of(name)]
            if paths:
                counted[room_of(paths[0])] += 1
    counted.pop(NONE, None)
    return counted


def _files_of(module: str) -> Iterator[str]:
    path = module.replace(".", "/")
    for file in (f"{path}.py", f"{path}/__init__.py"):
        if (ROOT / file).is_file():
            yield file


@cache
def reached(file: str) -> tuple[str, ...]:
    """Return the room of a file of tests, and the others from which it imports."""
    if not file.startswith("tests/"):
        return (room_of(file),)
    if file.startswith(ALONE):
        return (CHECKER,)
    counted = imported(ROOT / file)
    floor = Path(file).parts[1]
    of_floor = [room for room in counted if room.partition("/")[0] == floor]
    own = max(of_floor, key=lambda room: (room != f"{floor}/", counted[room]), default=NONE)
    return own, *(room for room in counted if room != own)


COLUMNS = ("tests", "skipped", "seconds")
"""The columns that have a sum; the tests beside those of a room are counted in several."""


@dataclass
class Row:
    """What the tests of a room came to."""

    tests: int = 0
    skipped: int = 0
    seconds: float = 0.0
    beside: int = 0


@dataclass(eq=False)  # pytest puts plugins into sets
class Measured:
    """A plugin of pytest that counts tests, their CPU seconds, and claims with the controls that were tried."""

    counts_only: bool
    rows: defaultdict[str, Row] = field(default_factory=lambda: defaultdict(Row))
    failed: list[str] = field(default_factory=list)
    with_test: set[str] = field(default_factory=set)
    tried: dict[str, int] = field(default_factory=dict)
    """The number of controls of each claim that was checked with all of them; a claim without its data is not here."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests by room, and the claims that have one."""
        for item in session.items:
            own, *others = reached(item.path.relative_to(ROOT).as_posix())
            self.rows[own].tests += 1
            for room in others:
                self.rows[room].beside += 1
            if match := CLAIM.fullmatch(item.nodeid):
                self.with_test.add(match[1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Add the CPU of a test, with what it sets up, to its room."""
        from tests.conftest import CpuClock  # once pytest has prepared hypothesis, which this imports

        clock = CpuClock()
        result = yield
        self.rows[reached(item.path.relative_to(ROOT).as_posix())[0]].seconds += clock.seconds()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what failed and what was skipped, and the controls that the test of a claim says it has tried."""
        if report.failed:
            self.failed.append(report.nodeid)
        if report.skipped:
            self.rows[reached(report.nodeid.partition("::")[0])[0]].skipped += 1
        controls = dict(report.user_properties).get("controls")
        if report.when == "call" and report.passed and controls and (match := CLAIM.fullmatch(report.nodeid)):
            self.tried[match[1]] = int(controls)  # type: ignore[call-overload]

    def table(self) -> Iterator[str]:
        """Yield the lines of the table, each room once, also one without a test."""
        run = "" if self.counts_only else " skipped here | CPU s |"
        yield f"| room | its tests | beside |{run}"
        yield "|---|---:|---:|" + ("" if self.counts_only else "---:|---:|")
        for room in (*rooms(), CHECKER, FACE, PAGES, NONE):
            row = self.rows[room]
            run = "" if self.counts_only else f" {row.skipped} | {row.seconds:.1f} |"
            yield f"| `{room}` | {row.tests:,} | {row.beside:,} |{run}"
        tests, skipped, seconds = (sum(getattr(row, name) for row in self.rows.values()) for name in COLUMNS)
        yield f"| together | {tests:,} | |" + ("" if self.counts_only else f" {skipped} | {seconds:.0f} |")

    def of_claims(self) -> Iterator[str]:
        """Yield how many of the claims on record have a test, and were tried with their controls."""
        from bounds.claims import Verdict
        from bounds.results import claims

        known = {claim.id: claim for claim in claims()}
        can = {name for name, claim in known.items() if claim.verdict is not Verdict.skipped}
        controls = sum(len(claim.controls) for claim in known.values())
        yield (
            f"Of the {len(known)} claims on record {len(self.with_test)} have a test without a marker, which tries all "
            f"controls of its claim; {len(can)} of them can be checked, and have {controls} controls."
        )
        if not self.counts_only:
            yield f"Checked here: {len(self.tried)} claims, with {sum(self.tried.values())} controls."
            yield from (f"Not checked here: {name}." for name in sorted(can - self.tried.keys()))
        yield from (f"Without a test: {name}." for name in sorted(known.keys() - self.with_test))


def write(lines: list[str], how: str) -> None:
    """Put the lines into the page, in place of those that were there."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    when = f"{how} on {datetime.now(UTC):%Y-%m-%d} with Python {sys.version.split()[0]}."
    parts = [head + BEGIN, "", when, "", *lines, "", END + rest.partition(END)[2]]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def main() -> int:
    """Count or run the tests and print the table; return 0 if no test failed, and every room and claim has one."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.covered", description="what make test covers, by room")
    parser.add_argument("--count", action="store_true", help="count the tests and run none")
    parser.add_argument("--write", action="store_true", help=f"if no test fails, write {PAGE.relative_to(ROOT)}")
    options, others = parser.parse_known_args()
    measured = Measured(options.count)
    how = ["--collect-only", "-qq"] if options.count else ["-q"]
    status = int(pytest.main(["-n", "0", *how, "-p", "no:randomly", *others], plugins=[measured]))
    bare = [f"No test at all: `{room}`." for room in rooms() if measured.rows[room] == Row()]
    lines = [*measured.table(), "", *measured.of_claims(), *bare]
    print(*lines, *measured.failed, sep="\n")
    if options.write and not status:
        write(lines, "Counted" if options.count else "Measured")
    return status or int(bool(bare))


if __name__ == "__main__":
    sys.exit(main())
