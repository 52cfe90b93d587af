"""Foreign tools: where they are, how they are run, and what they answer to an exported file.

``PACKPROOF_FOREIGN`` names a folder that ``make foreign`` fills: an environment of Python with the packages, and
Debian's programs unpacked below ``debian``. Without it, the tools are those on the path and in this environment.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from bounds.exports import Exported

HOME = Path(os.environ.get("PACKPROOF_FOREIGN", "/nonexistent"))
DEBIAN = HOME / "debian" / "usr"
LIBRARIES = [str(path) for path in (DEBIAN / "lib", *sorted((DEBIAN / "lib").glob("*-linux-gnu")))]
SECONDS = 60


class Failed(Exception):  # noqa: N818
    """A tool gave no verdict: it did not read the file, crashed or took too long. That is neither yes nor no."""


def program(name: str) -> list[str] | None:
    """Return the command of a program, None where it is not installed."""
    found = shutil.which(name, path=os.pathsep.join([str(HOME / "bin"), str(DEBIAN / "bin"), os.environ["PATH"]]))
    return None if found is None else [found]


def python_with(module: str) -> list[str] | None:
    """Return an interpreter that has a module, None where there is none."""
    inner = HOME / "bin" / "python"
    if inner.exists():
        looked = subprocess.run([inner, "-c", f"import {module}"], capture_output=True, check=False)
        return [str(inner)] if looked.returncode == 0 else None
    return [sys.executable] if importlib.util.find_spec(module) else None


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a tool and return what it prints."""
    environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join([*LIBRARIES, os.environ.get("LD_LIBRARY_PATH", "")])}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} took more than {SECONDS} s") from None
    return done.stdout + done.stderr


# ---- verdicts: whether a tool finds all statements true --------------------------------------------------------------

_CVC5 = """
import sys, cvc5
solver = cvc5.Solver()
symbols = cvc5.SymbolManager(solver)
parser = cvc5.InputParser(solver, symbols)
parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.argv[1])
while not (command := parser.nextCommand()).isNull():
    print(command.invoke(solver, symbols), end="")
"""


def _queries(command: list[str], files: Sequence[Exported], folder: Path) -> bool:
    """All queries are unsatisfiable."""
    (script,) = files
    answers = run([*command, folder / script.name], folder).split()
    wanted = script.text.count("(check-sat)")
    if set(answers) - {"sat", "unsat"} or len(answers) != wanted:
        raise Failed(" ".join(answers)[:300])
    return Counter(answers) == Counter({"unsat": wanted})


def claimed(text: str) -> Fraction:
    """Return the optimum that the comment of a program claims."""
    found = re.search(r"claimed optimum: (\S+)", text)
    assert found is not None
    return Fraction(found[1])


def _glpk(command: list[str], files: Sequence[Exported], folder: Path) -> bool:
    """The exact simplex ends at the claimed optimum, which is an integer; its answer is printed with 15 digits."""
    return all(_glpk_value(command, file, folder) == claimed(file.text) for file in files)


def _glpk_value(command: list[str], file: Exported, folder: Path) -> Fraction:
    told = run([*command, "--exact", "--lp", file.name, "-w", "answer"], folder)
    answer = (folder / "answer").read_text() if "OPTIMAL" in told else ""
    (folder / "answer").unlink(missing_ok=True)
    found = re.search(r"^s bas \d+ \d+ f f (\S+)$", answer, re.M)
    if found is None:
        raise Failed(told[-300:])
    return Fraction(found[1])


def rows_of(text: str) -> set[tuple[int, ...]]:
    """Return the rows between ``begin`` and ``end``, each scaled to coprime integers."""
    found = re.search(r"^begin\n[^\n]*\n(.*?)^end", text, re.M | re.S)
    if found is None:
        raise Failed(text[-300:])
    rows = set()
    for line in found[1].splitlines():
        numbers = [Fraction(word) for word in line.split()]
        scale = lcm(*(number.denominator for number in numbers))
        whole = [int(number * scale) for number in numbers]
        rows.add(tuple(number // gcd(*whole) for number in whole))
    return rows


def _lrs(command: list[str], files: Sequence[Exported], folder: Path) -> bool:
    """Each of the two files gives the rows of the other."""
    facets, vertices = files
    return all(
        rows_of(run([*command, a.name], folder)) == rows_of(b.text) for a, b in ((facets, vertices), (vertices, facets))
    )


def _cdd(command: list[str], files: Sequence[Exported], folder: Path) -> bool:
    """Each of the two files gives the rows of the other, in a file beside it."""
    verdicts = []
    for a, b, made in ((*files, "facets.ext"), (*reversed(files), "vertices.ine")):
        told = run([*command, a.name], folder)
        if not (folder / made).exists():
            raise Failed(told[-300:])
        verdicts.append(rows_of((folder / made).read_text()) == rows_of(b.text))
    return all(verdicts)


_HIGHS = """
import sys, highspy
for name in sys.argv[1:]:
    solver = highspy.Highs()
    solver.silent()
    assert solver.readModel(name) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    print(repr(solver.getInfo().objective_function_value))
"""


def _highs(command: list[str], files: Sequence[Exported], folder: Path) -> bool:
    """The optimum in floats is the claimed one, to one part in 10^9: evidence, not proof."""
    told = run([*command, "-c", _HIGHS, *(file.name for file in files)], folder)
    try:
        values = [float(line) for line in told.splitlines()]
    except ValueError:
        raise Failed(told[-300:]) from None
    if len(values) != len(files):
        raise Failed(told[-300:])
    return all(
        abs(v - float(claimed(f.text))) <= 1e-9 * abs(claimed(f.text)) for v, f in zip(values, files, strict=True)
    )


@dataclass(frozen=True)
class Tool:
    """A foreign tool, the format that it reads, and its verdict on the files of one certificate."""

    name: str
    form: str
    command: Callable[[], list[str] | None]
    verdict: Callable[[list[str], Sequence[Exported], Path], bool]

    def accepts(self, files: Sequence[Exported], folder: Path) -> bool:
        """Return whether the tool finds all statements true.

        Raises
        ------
        Failed
            If it gives no verdict.
        """
        command = self.command()
        assert command is not None
        for file in files:
            (folder / file.name).write_text(file.text)
        return self.verdict(command, files, folder)


def _cvc5() -> list[str] | None:
    command = python_with("cvc5")
    return None if command is None else [*command, "-c", _CVC5]


TOOLS = [
    Tool("z3", "smtlib", lambda: program("z3"), _queries),
    Tool("cvc5", "smtlib", _cvc5, _queries),
    Tool("glpsol --exact", "lp", lambda: program("glpsol"), _glpk),
    Tool("lrs", "lrs", lambda: program("lrs"), _lrs),
    Tool("scdd_gmp", "lrs", lambda: program("scdd_gmp"), _cdd),
    Tool("HiGHS", "lp", lambda: [sys.executable], _highs),
]
"""HiGHS comes with packproof; all others are skipped where they are not installed."""

if __name__ == "__main__":
    for each in TOOLS:
        print(f"{each.name} ({each.form}): {'found' if each.command() else 'not found'}")
