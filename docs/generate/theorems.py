"""The statements of theorems that Coq checked, as they stand in ``proofs/Statements.v``."""

from __future__ import annotations

import re
from pathlib import Path

STATEMENTS = Path(__file__).parents[2] / "proofs" / "Statements.v"


def statement_of(theorem: str) -> str:
    """Return what a theorem (``File.name``) says, with the variables and hypotheses of the sections around it.

    The text of Statements.v is read in order: a section's declarations hold to its end.

    Raises
    ------
    KeyError
        A theorem without a statement.
    """
    declared: list[list[str]] = [[]]
    for block in re.split(r"\n\n|(?<=\.)\n(?=[A-Z(])", STATEMENTS.read_text(encoding="utf-8")):
        code = re.sub(r"\(\*.*?\*\)\s*", "", block, flags=re.DOTALL)
        first = (code.split(maxsplit=1) or [""])[0]
        if first in ("Section", "Module"):
            declared.append([])
        elif first == "End":
            declared.pop()
        elif first in ("Variable", "Variables", "Hypothesis", "Notation"):
            declared[-1].append(block)
        elif re.search(rf"\n  := (?:fun \w+ => )?@?{re.escape(theorem)}\b", block):
            said = block.rpartition("\n  := ")[0].replace("Definition ", "Theorem ", 1)
            return "\n".join([*(line for section in declared for line in section), f"{said}."])
    raise KeyError(theorem)
