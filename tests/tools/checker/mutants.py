"""Mutation testing of the checker: ``python -m tests.tools.checker.mutants`` breaks it, one place at a time.

The mutants are those of cosmic-ray with the operators that ``mutants.toml`` leaves. A mutant is a change of one
statement of the file; it is run in a process of its own, in memory, so no file ever holds a mutant. It is killed if a
test fails, or if it takes more processor time than the limit. Each survivor is printed with its line.

``--every N`` takes every N-th mutant, ``--from K`` begins at the K-th, ``--jobs N`` runs N of them at a time. The
survivors are written to a file, and ``--again`` takes only those: a test that is added cannot revive a mutant.
"""

from __future__ import annotations
import __future__

import argparse
import ast
import os
import re
import resource
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any

from bounds import checker
from tests.checker import run

FILE = Path(checker.__file__)
CONFIG = Path(__file__).with_name("mutants.toml")
MEMORY = 3 << 30
"""Most bytes of the process of a mutant."""
SURVIVORS = FILE.parent.parent / "build" / "mutants.txt"


@dataclass(frozen=True)
class Mutant:
    """A statement of the file, counted from 0, with one change."""

    statement: int
    line: int
    operator: str
    code: str
    change: str

    def __str__(self) -> str:
        return f"{FILE.name}:{self.line}: {self.operator}: {self.change}"


def statements(source: str) -> list[tuple[int, str]]:
    """Return the statements of a module, each with the line before it; together they are the file."""
    tops = ast.parse(source).body
    starts = [min([top.lineno, *(d.lineno for d in getattr(top, "decorator_list", []))]) - 1 for top in tops]
    lines = source.splitlines(keepends=True)
    ends = [*starts[1:], len(lines)]
    return [(start, "".join(lines[start:end])) for start, end in zip(starts, ends, strict=True)]


def operators(excluded: list[str]) -> list[tuple[str, Any]]:
    """Return the operators of cosmic-ray that no pattern excludes, with their names."""
    from cosmic_ray.plugins import get_operator, operator_names

    patterns = re.compile("|".join(excluded))
    return [(name, get_operator(name)()) for name in sorted(operator_names()) if not patterns.match(name)]


def mutants(source: str, excluded: list[str]) -> Iterator[Mutant]:
    """Yield every mutant: cosmic-ray changes one place of one statement."""
    from cosmic_ray.ast import Visitor, get_ast
    from cosmic_ray.mutating import mutate_code

    class Count(Visitor):
        """Count the places at which each operator applies."""

        def __init__(self) -> None:
            self.places = [0] * len(found)

        def visit(self, node: Any) -> Any:
            for i, (_, operator) in enumerate(found):
                self.places[i] += len(list(operator.mutation_positions(node)))
            return node

    found = operators(excluded)
    for number, (before, text) in enumerate(statements(source)):
        count = Count()
        count.walk(get_ast(text))
        for (name, operator), places in zip(found, count.places, strict=True):
            for place in range(places):
                code = mutate_code(text, operator, place)
                pairs = zip(text.splitlines(), code.splitlines(), strict=False)
                line, new = next((i, b) for i, (a, b) in enumerate(pairs, before + 1) if a != b)
                yield Mutant(number, line, name.removeprefix("core/"), code, new.strip())


def compiled(code: str) -> CodeType:
    """Return the code object of a statement of the checker."""
    return compile(code, str(FILE), "exec", __future__.annotations.compiler_flag, dont_inherit=True)


def survives(codes: list[CodeType], mutant: Mutant | None, seconds: int) -> bool:
    """Run the tests in a process of its own against the checker with one statement replaced."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        words = checker.__doc__
        for number, code in enumerate(codes):
            exec(compiled(mutant.code) if mutant and number == mutant.statement else code, vars(checker))
        checker.__doc__ = words  # a text alone, below a constant, was taken for it
        status = run.main()
    finally:
        os._exit(status)  # no exception of a mutant may reach the code that started it


def main() -> int:
    """Run, print the survivors and the score; return 0 if the score is at least 95 %."""
    parser = argparse.ArgumentParser(description="mutation testing of bounds/checker.py")
    parser.add_argument("--every", type=int, default=1, help="take every N-th mutant")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first mutant taken")
    parser.add_argument("--again", action="store_true", help="take the survivors of the run before")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that run at a time")
    options = parser.parse_args()
    config = tomllib.loads(CONFIG.read_text())["cosmic-ray"]
    seconds = int(config["timeout"])
    source = FILE.read_text()
    codes = [compiled(text) for _, text in statements(source)]
    start = time.monotonic()
    if not survives(codes, None, seconds):
        print("the tests fail without a mutant", file=sys.stderr)
        return 2
    every = mutants(source, config["filters"]["operators-filter"]["exclude-operators"])
    before = set(SURVIVORS.read_text().splitlines()) if options.again else None
    taken = [m for m in islice(every, options.first, None, options.every) if before is None or str(m) in before]
    print(f"{len(taken)} mutants, made in {time.monotonic() - start:.0f} s", file=sys.stderr)
    alive = []
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda mutant: survives(codes, mutant, seconds), taken)
        for i, (mutant, lives) in enumerate(zip(taken, verdicts, strict=True), 1):
            if lives:
                alive.append(mutant)
                print(mutant, flush=True)
            if i % 100 == 0:
                print(f"{i} of {len(taken)}, {len(alive)} survive, {time.monotonic() - start:.0f} s", file=sys.stderr)
    SURVIVORS.parent.mkdir(exist_ok=True)
    SURVIVORS.write_text("".join(f"{mutant}\n" for mutant in alive))
    survivors = len(alive)
    score = 100 * (1 - survivors / len(taken))
    print(f"{len(taken)} mutants, {survivors} survive: {score:.1f} % are killed, in {time.monotonic() - start:.0f} s")
    return 0 if score >= 95 else 1


if __name__ == "__main__":
    sys.exit(main())
