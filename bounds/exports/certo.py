"""certo-math's document ``lp_dual``: a linear program with an optimal solution of it and of its dual.

What ``certo verify FILE`` proves: the solution is feasible, the dual one too, and both have the claimed value; all in
fractions, by arithmetic alone. What it does not prove: that the program is that of the instance, or, where the file
says that not all configurations are listed, anything about the others.
"""

from __future__ import annotations

import json

from bounds.exports.document import Certificate, Exported
from bounds.exports.programs import Program, programs_of
from theory.numbers import text

SCHEMA = 5
"""Version of certo-math's documents."""


def certo(certificate: Certificate) -> list[Exported]:
    """Write the programs of a certificate with their solutions.

    Raises
    ------
    Unsuited
        If the certificate has no linear program.
    """
    return [_document(program) for program in programs_of(certificate)]


def _document(program: Program) -> Exported:
    variables = list(program.objective)
    assert program.dual is not None
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
