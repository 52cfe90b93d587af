"""``packproof verify``: claims with their outcomes."""

from __future__ import annotations

from bounds.claims import Claim, Evidence, Verdict
from bounds.views.text import Answer


class Listed(Answer, frozen=True):
    """A claim as it is registered."""

    id: str
    paper: str
    statement: str
    registered: str


class Verified(Answer, frozen=True):
    """A claim and the outcome of its check; `holds` is null where it was skipped."""

    id: str
    paper: str
    statement: str
    printed: str
    computed: str
    evidence: str
    holds: bool | None
    as_registered: bool
    seconds: float


def listed(claim: Claim) -> Listed:
    """Return a claim as it is registered."""
    return Listed(id=claim.id, paper=claim.paper, statement=claim.statement, registered=claim.evidence.value)


def verified(verdict: Verdict) -> Verified:
    """Return a claim with its outcome."""
    claim, outcome = verdict.claim, verdict.outcome
    return Verified(
        id=claim.id,
        paper=claim.paper,
        statement=claim.statement,
        printed=claim.printed,
        computed=outcome.computed,
        evidence=outcome.evidence.value,
        holds=outcome.holds,
        as_registered=verdict.ok,
        seconds=round(verdict.seconds, 3),
    )


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return a claim with its outcome as text."""
    claim, outcome = verdict.claim, verdict.outcome
    if not verdict.ok:
        found = f"NOT AS REGISTERED {outcome.evidence.value:12}"
    elif outcome.evidence is Evidence.refuted:
        found = "REFUTED, as on record (the printed statement fails): "
    else:
        found = f"ok {outcome.evidence.value:12}"
    return [
        f"{found}{claim.id}  ({verdict.seconds:.2f} s)",
        f"     claim    {claim.statement}",
        f"     printed  {claim.printed}",
        f"     computed {outcome.computed}",
    ]
