"""Answers of ``packproof verify`` and ``packproof reproduce``."""

from __future__ import annotations

from typing import Any

from bounds.answers.record import Answer
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
    title: str
    printed: str
    lost: str
    chosen: str
    seed: int | None
    claims: list[str]
    parameters: dict[str, dict[str, Any]]


class Verified(Answer):
    """A claim and the outcome of its check; `evidence`, `holds` and `as_registered` are null where it was skipped."""

    id: str
    paper: str
    source: str
    statement: str
    printed: str
    computed: str
    evidence: str | None
    verdict: str
    refutes: str | None
    theorems: list[str]
    holds: bool | None
    as_registered: bool | None
    seconds: float


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

    id: str
    parameters: dict[str, str]
    printed: str
    computed: str
    holds: bool | None


class Listed(Answer):
    """A claim as it is registered; `evidence` is null where it cannot be checked."""

    id: str
    paper: str
    source: str
    statement: str
    printed: str
    evidence: str | None
    verdict: str
    refutes: str | None
    theorems: list[str]
    holds: bool | None
