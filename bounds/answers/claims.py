"""Answers of ``packproof verify`` and ``packproof reproduce``."""

from __future__ import annotations

from typing import Annotated, Any

from bounds.answers.record import HIDDEN, Answer, Head
from bounds.answers.shared import CommandAnswer


class Reproduced(Answer):
    """What became of a result; `cpu_seconds` is null where it was skipped, `reason` says why."""

    result: str
    status: str
    reason: str
    level: str
    cpu_seconds: float | None
    files: list[str]


class ListedResult(Answer):
    """A result as it is listed, with its parameters by level."""

    result: str
    title: Annotated[str, Head("what it shows", prose=True)]
    printed: Annotated[str, HIDDEN]
    lost: Annotated[str, HIDDEN]
    chosen: Annotated[str, HIDDEN]
    seed: Annotated[int | None, HIDDEN]
    claims: Annotated[list[str], HIDDEN]
    parameters: Annotated[dict[str, dict[str, Any]], HIDDEN]


class Verified(Answer):
    """A claim and the outcome of its check; `evidence`, `holds` and `as_registered` are null where it was skipped."""

    id: Annotated[str, HIDDEN]
    title: Annotated[str, Head("what is claimed", prose=True)]
    paper: Annotated[str, HIDDEN]
    source: Annotated[str, Head("source", prose=True)]
    statement: Annotated[str, Head("statement", prose=True)]
    printed: Annotated[str, Head("printed", prose=True)]
    computed: Annotated[str, Head("computed", prose=True)]
    evidence: str | None
    verdict: Annotated[str, HIDDEN]
    refutes: Annotated[str | None, HIDDEN]
    theorems: Annotated[list[str], HIDDEN]
    holds: Annotated[bool | None, HIDDEN]
    as_registered: Annotated[bool | None, HIDDEN]
    seconds: Annotated[float, Head("seconds", digits=3)]


class CoveredStatement(Answer):
    """A numbered statement of a paper, or another source, with its claims; none where nothing is checked."""

    paper: str
    statement: str
    claims: list[CoveringClaim]


class CoveringClaim(Answer):
    """A claim about a statement, as it is registered."""

    id: str
    evidence: str | None
    verdict: str
    refutes: str | None


class Asked(CommandAnswer):
    """A claim that was asked about other numbers: all its parameters, as ``--with`` takes them.

    `holds` says whether what is printed came out for them, null where nothing was checked.
    """

    id: Annotated[str, Head("claim")]
    parameters: Annotated[dict[str, str], Head("value", by="parameter", prose=True)]
    printed: Annotated[str, Head("printed", prose=True)]
    computed: Annotated[str, Head("computed", prose=True)]
    holds: Annotated[bool | None, HIDDEN]


class Listed(Answer):
    """A claim as it is registered; `evidence` is null where it cannot be checked."""

    id: Annotated[str, Head("claim")]
    title: Annotated[str, Head("what is claimed", prose=True)]
    paper: Annotated[str, HIDDEN]
    source: Annotated[str, Head("source", prose=True)]
    statement: Annotated[str, HIDDEN]
    printed: Annotated[str, HIDDEN]
    evidence: str | None
    verdict: Annotated[str, Head("verdict", prose=True)]
    refutes: Annotated[str | None, Head("what fails", prose=True)]
    theorems: Annotated[list[str], HIDDEN]
    holds: Annotated[bool | None, HIDDEN]
