"""Linear programs as text, in CPLEX's LP format.

What a solver proves: the optimum of the program in the file. With exact arithmetic (``glpsol --exact``) that is a
proof, up to the solver's own correctness; with floats it is evidence. What it does not prove: that the program is that
of the instance (read it: the coefficients are slots, shares and workload), and, where the file says that not all
configurations are listed, anything about the others; the SMT-LIB export states that no other one is worth more.

Readers of the format read numbers as doubles: every row, and the objective, is scaled to integers, and a program with
an integer beyond 2^53 is refused.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from bounds.exports.document import Exported, legend
from bounds.exports.programs import Program
from theory.errors import TooLargeError
from theory.numbers import text, to_integers

LARGEST = 2**53  # largest integer up to which all are doubles
ACROSS = 8  # terms on a line: some readers limit the length of lines


def lp(program: Program) -> Exported:
    """Write a program with integers alone (``glpsol --exact --lp FILE``)."""
    factor = lcm(program.optimum.denominator, *(c.denominator for c in program.objective.values()))
    claimed = factor * program.optimum
    objective = {x: factor * c for x, c in program.objective.items() if c}
    unit = "" if factor == 1 else f" times {factor}"
    head = [program.states, f"objective{unit}", f"claimed optimum: {text(claimed)}"]
    lines = [f"\\ {line}" for line in head] + legend("\\", program.legend)
    lines += ["Maximize", *_sum("obj", objective), "Subject To"]
    seen = [*objective.values(), claimed]
    for row in program.rows:
        # without a common divisor
        whole, _ = to_integers([*row.coefficients.values(), row.bound])
        *coefficients, bound = map(Fraction, whole)
        seen += [*coefficients, bound]
        lines += _sum(row.name, dict(zip(row.coefficients, coefficients, strict=True)), f" <= {text(bound)}")
    if any(abs(number) > LARGEST for number in seen):
        raise TooLargeError(
            f"the program {program.name} has integers beyond 2^53, which readers of this format round: expected "
            "--format smtlib, which has no limit"
        )
    return Exported(f"{program.name}.lp", program.states, f"optimum {text(claimed)}", "\n".join([*lines, "End", ""]))


def _sum(name: str, coefficients: dict[str, Fraction], end: str = "") -> list[str]:
    """Return a sum of terms, several a line; variables of the program are at least 0 by default."""
    terms = [f"{'-' if c < 0 else '+'} {text(abs(c))} {x}" for x, c in coefficients.items()]
    lines = [" ".join(terms[i : i + ACROSS]) for i in range(0, len(terms), ACROSS)]
    return (
        [f" {name}: {lines[0]}", *(f"   {line}" for line in lines[1:-1]), f"   {lines[-1]}{end}"]
        if lines[1:]
        else [f" {name}: {lines[0]}{end}"]
    )
