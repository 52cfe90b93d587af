"""``packproof verify`` and ``packproof reproduce``: claims with their outcomes, and results of the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bounds.claims import PAPERS, Checked, Claim, Covered, Evidence, Refutes, Verdict
from bounds.views.answers import Answer
from bounds.views.tables import aligned
from bounds.views.text import many

FAILS = {
    Refutes.statement: "the printed statement fails",
    Refutes.proof_step: "a step of the printed proof fails",
    Refutes.number: "a printed number or formula fails, perhaps by a misprint",
}
SAID = {
    Verdict.holds: "HOLDS",
    Verdict.refuted: "REFUTED",
    Verdict.not_reproduced: "NOT REPRODUCED",
    Verdict.skipped: "SKIPPED",
}


class Listed(Answer, frozen=True):
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


class Verified(Answer, frozen=True):
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


def listed(claim: Claim) -> Listed:
    """Return a claim as it is registered."""
    return Listed.of(claim)


def verified(checked: Checked) -> Verified:
    """Return a claim with its outcome."""
    return Verified.of(
        checked,
        checked.outcome,
        checked.claim,
        as_registered=None if checked.skipped else checked.ok,
        seconds=round(checked.seconds, 3),
    )


def verdict_lines(checked: Checked) -> list[str]:
    """Return a claim with its outcome as text, the verdict first."""
    claim = checked.claim
    recorded = "" if checked.verdict is claim.verdict else f"{SAID[claim.verdict]} is on record"
    beside = f" ({'' if checked.skipped else 'UNEXPECTED: '}{recorded})" if recorded else ""
    lines = [f"{SAID[checked.verdict]:14}  {claim.id}{beside}"]
    known = ", ".join(part for part in (checked.evidence, checked.refutes and FAILS[checked.refutes]) if part)
    lines += [f"     known    {known}"] if known else []
    lines += [f"     theorems {', '.join(claim.theorems)} (folder proofs, checked by Coq)"] if claim.theorems else []
    return [
        *lines,
        f"     source   {claim.source}",
        f"     claim    {claim.statement}",
        f"     printed  {claim.printed}",
        f"     computed {checked.outcome.computed}",
        f"     seconds  {checked.seconds:.2f}",
    ]


def listing_lines(chosen: Sequence[Claim]) -> list[str]:
    """Return the claims as a table: one line each, without the statements."""
    rows = [(c.id, c.source, c.evidence or "-", SAID[c.verdict].lower(), c.refutes or "") for c in chosen]
    return aligned([("claim", "source", "evidence", "verdict", "what fails"), *rows])


class CoveringClaim(Answer, frozen=True):
    """A claim about a statement, as it is registered."""

    id: str
    evidence: str | None
    verdict: str
    refutes: str | None


class CoveredStatement(Answer, frozen=True):
    """A numbered statement of a paper, or another source, with its claims; none where nothing is checked."""

    paper: str
    statement: str
    claims: list[CoveringClaim]


def covered(found: Sequence[Covered]) -> list[CoveredStatement]:
    """Return the table of coverage."""
    return [CoveredStatement.of(row) for row in found]


def coverage_lines(found: Sequence[Covered]) -> list[str]:
    """Return the table of coverage as text, a claim a line, and how many statements have claims."""
    rows = []
    for row in found:
        rows += [
            (
                row.paper,
                row.statement,
                c.id.partition("/")[2],
                c.evidence or "-",
                SAID[c.verdict].lower(),
                c.refutes or "",
            )
            for c in row.claims
        ] or [(row.paper, row.statement, "no claim", "-", "-", "")]
    table = aligned([("paper", "statement", "claim", "evidence", "verdict", "what fails"), *rows])
    numbered = [row for row in found if row.numbered]
    with_claims = sum(bool(row.claims) for row in numbered)
    checkable = sum(any(c.verdict is not Verdict.skipped for c in row.claims) for row in numbered)
    each = {c.id: c for row in found for c in row.claims}.values()
    ranks, verdicts = Counter(c.evidence or "skipped" for c in each), Counter(SAID[c.verdict].lower() for c in each)
    shown = ", ".join(f"{ranks[rank]} {rank}" for rank in (*Evidence, "skipped") if ranks[rank])
    came_out = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    return [
        *table,
        "",
        f"{with_claims} of {len(numbered)} numbered statements have a claim, {checkable} one that can be checked",
        f"claims by evidence, on record: {shown}",
        f"claims by verdict, on record: {came_out}",
    ]


def summary_lines(found: Sequence[Checked]) -> list[str]:
    """Return how many claims of each paper have which verdict."""
    counts = Counter((c.claim.paper, c.verdict) for c in found)
    papers = [paper for paper in PAPERS if any(c.claim.paper == paper for c in found)]
    rows = [(paper, *(str(counts[paper, verdict]) for verdict in Verdict)) for paper in papers]
    if len(papers) > 1:
        rows.append(("all", *(str(sum(c.verdict is verdict for c in found)) for verdict in Verdict)))
    return aligned([("paper", *(SAID[verdict].lower() for verdict in Verdict)), *rows], right=len(Verdict))


def ending(found: Sequence[Checked]) -> str:
    """Return the last line: how many claims were checked, how many came out unexpectedly, how many were skipped."""
    skipped = sum(checked.skipped for checked in found)
    checked, unexpected = len(found) - skipped, sum(not one.ok for one in found)
    if not checked:
        return f"{many(len(found), 'claim')}, nothing checked: {skipped} skipped"
    left = f", {skipped} skipped" if skipped else ""
    return f"{many(checked, 'claim')} checked, {unexpected} with an outcome other than on record{left}"


class Reproduced(Answer, frozen=True):
    """What became of a result; `cpu_seconds` is null where it was skipped, `reason` says why."""

    result: str
    status: str
    reason: str
    level: str
    cpu_seconds: float | None
    files: list[str]


class ListedResult(Answer, frozen=True):
    """A result as it is listed, with its parameters by level."""

    result: str
    title: str
    printed: str
    lost: str
    chosen: str
    seed: int | None
    claims: list[str]
    parameters: dict[str, dict[str, Any]]
