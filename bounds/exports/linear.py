"""Linear programs as text: QSopt_ex's LP dialect, CPLEX's LP, free MPS, and certo-math's document ``lp_dual``.

What a solver proves: the optimum of the program in the file. With exact arithmetic (QSopt_ex, ``glpsol --exact``) that
is a proof, up to the solver's own correctness; with floats it is evidence. What it does not prove: that the program is
that of the instance (read it: the coefficients are slots, shares and workload), and, where the file says that not all
configurations are listed, anything about the others; the SMT-LIB export states that no other one is worth more.

QSopt_ex reads rational numbers. Readers of CPLEX's LP and of MPS read numbers as doubles: for them every row, and the
objective, is scaled to integers, and a program with an integer beyond 2^53 is refused.

certo-math's document holds the solution of the program and of its dual as well. What ``certo verify FILE`` proves: both
are feasible and have the claimed value, in fractions, by arithmetic alone; that, too, is about the program alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from bounds.exports.document import Exported, legend
from bounds.exports.programs import Program
from theory.errors import TooLargeError
from theory.numbers import text, to_integers

LARGEST = 2**53  # largest integer up to which all are doubles
SCHEMA = 5  # version of certo-math's documents
ACROSS = 8  # terms on a line: some readers limit the length of lines


def _head(mark: str, program: Program, factor: int, claimed: Fraction) -> list[str]:
    """Return the comment in front of a program."""
    unit = "" if factor == 1 else f" times {factor}" if factor > 0 else f" times {factor} (MPS is minimised)"
    head = [program.states, f"objective{unit}", f"claimed optimum: {text(claimed)}"]
    return [f"{mark} {line}" for line in head] + legend(mark, program.legend)


def _expected(claimed: Fraction) -> str:
    return f"optimum {text(claimed)}"


def _factor(program: Program) -> int:
    """Return what makes the objective and the claimed optimum integers."""
    return lcm(program.optimum.denominator, *(c.denominator for c in program.objective.values()))


def _row(coefficients: dict[str, Fraction], bound: Fraction, *, scaled: bool) -> tuple[dict[str, Fraction], Fraction]:
    """Return a row as it is, or scaled to integers without a common divisor."""
    if not scaled:
        return coefficients, bound
    whole, _ = to_integers([*coefficients.values(), bound])
    return dict(zip(coefficients, map(Fraction, whole), strict=False)), Fraction(whole[-1])


def _refuse_large(program: Program, numbers: Iterable[Fraction]) -> None:
    if any(abs(number) > LARGEST for number in numbers):
        raise TooLargeError(
            f"the program {program.name} has integers beyond 2^53, which readers of this format round: expected "
            "--format qsopt, which has no limit"
        )


def lp(program: Program, *, scaled: bool) -> Exported:
    """Write a program for QSopt_ex (``esolver -L FILE``), numbers being p/q, or scaled to CPLEX's LP format.

    In the latter all numbers are integers (``glpsol --exact --lp FILE``).
    """
    factor = _factor(program) if scaled else 1
    claimed = factor * program.optimum
    objective = {x: factor * c for x, c in program.objective.items() if c}
    lines = _head("\\", program, factor, claimed)
    lines += [] if scaled else ["Problem", f" {program.name}"]
    lines += ["Maximize", *_sum("obj", objective), "Subject To"]
    seen = [*objective.values(), claimed]
    for row in program.rows:
        coefficients, bound = _row(row.coefficients, row.bound, scaled=scaled)
        seen += [*coefficients.values(), bound]
        lines += _sum(row.name, coefficients, f" <= {text(bound)}")
    if scaled:
        _refuse_large(program, seen)
    return Exported(f"{program.name}.lp", program.states, _expected(claimed), "\n".join([*lines, "End", ""]))


def _sum(name: str, coefficients: dict[str, Fraction], end: str = "") -> list[str]:
    """Return a sum of terms, several a line; variables of the program are at least 0 by default."""
    terms = [f"{'-' if c < 0 else '+'} {text(abs(c))} {x}" for x, c in coefficients.items()]
    lines = [" ".join(terms[i : i + ACROSS]) for i in range(0, len(terms), ACROSS)]
    return (
        [f" {name}: {lines[0]}", *(f"   {line}" for line in lines[1:-1]), f"   {lines[-1]}{end}"]
        if lines[1:]
        else [f" {name}: {lines[0]}{end}"]
    )


def mps(program: Program) -> Exported:
    """Write a program in free MPS, all numbers integers; minus the objective is minimised, as the format has it."""
    factor = -_factor(program)
    claimed = factor * program.optimum
    columns: dict[str, list[tuple[str, Fraction]]] = {x: [("obj", factor * c)] for x, c in program.objective.items()}
    bounds: list[tuple[str, Fraction]] = []
    for row in program.rows:
        coefficients, bound = _row(row.coefficients, row.bound, scaled=True)
        bounds.append((row.name, bound))
        for x, c in coefficients.items():
            columns[x].append((row.name, c))
    _refuse_large(program, (c for entries in [bounds, *columns.values()] for _, c in entries))
    _refuse_large(program, [claimed])
    lines = [*_head("*", program, factor, claimed), f"NAME {program.name}", "ROWS", " N obj"]
    lines += [f" L {row.name}" for row in program.rows]
    lines += ["COLUMNS", *(f" {x} {row} {text(c)}" for x, entries in columns.items() for row, c in entries if c)]
    lines += ["RHS", *(f" rhs {row} {text(b)}" for row, b in bounds if b), "ENDATA", ""]
    return Exported(f"{program.name}.mps", program.states, _expected(claimed), "\n".join(lines))


def certo(program: Program) -> Exported:
    """Write a program with its solutions, as certo-math's document ``lp_dual``."""
    variables = list(program.objective)
    optimum = text(program.optimum)
    payload = {
        "sense": "max",
        "objective": optimum,
        "declared": {"objective": optimum},
        "dual": list(map(text, program.dual)),
        "primal": [text(program.primal.get(x, 0)) for x in variables],
        "A": [[text(row.coefficients.get(x, 0)) for x in variables] for row in program.rows],
        "b": [text(row.bound) for row in program.rows],
        "c": list(map(text, program.objective.values())),
        "names": [row.name for row in program.rows],
        "var_names": variables,
        "exact": True,
        "integer": False,
        "integral_point": None,
        "integral_objective": None,
        "kinds": {},
        "target": None,
        "loads": [],
    }
    document = {
        "schema": SCHEMA,
        "kind": "lp_dual",
        "solver_free": True,
        "note_key": "cert.note.lp_dual.exact",
        "note_args": {},
        "provenance": {"made_by": "packproof", "states": program.states, "legend": list(program.legend)},
        "payload": payload,
    }
    written = json.dumps(document, indent=1) + "\n"
    return Exported(f"{program.name}.json", program.states, f"verified, optimum {optimum}", written)
