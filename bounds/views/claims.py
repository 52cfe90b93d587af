"""``packproof verify`` and ``packproof reproduce``: claims with their outcomes, and results of the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bounds.answers.claims import Asked, CoveredStatement, Listed, Verified
from bounds.answers.record import Answer, encode
from bounds.claims import ON_RECORD, PAPERS, Checked, Claim, Compared, Covered, Evidence, Refutes, Verdict
from bounds.views.tables import aligned
from bounds.views.text import many

FAILS = {
    Refutes.statement: "the printed statement fails",
    Refutes.boundary: "the printed statement fails in a boundary case (a tie, rounding, loose words)",
    Refutes.proof_step: "a step of the printed proof fails",
    Refutes.number: "the printed number or formula is wrong (perhaps a misprint)",
}
SAID = {
    Verdict.holds: "HOLDS",
    Verdict.refuted: "REFUTED",
    Verdict.not_reproduced: "NOT REPRODUCED",
    Verdict.skipped: "SKIPPED",
    Verdict.unfinished: "UNFINISHED",
}


def listed(claim: Claim) -> Listed:
    """Return a claim as it is registered."""
    return encode(Listed, claim)


def verified(checked: Checked) -> Verified:
    """Return a claim with its outcome."""
    return encode(
        Verified,
        checked,
        checked.outcome,
        checked.claim,
        as_registered=None if checked.outcome.holds is None else checked.ok,
        seconds=round(checked.seconds, 3),
    )


def asked(claim: Claim, parameters: Mapping[str, str], found: Compared) -> Asked:
    """Return a claim with what came out for a reader's numbers."""
    return encode(Asked, id=claim.id, parameters=parameters, **found._asdict())


def asked_lines(answer: Asked, statement: str) -> list[str]:
    """Return a claim with what came out for a reader's numbers as text."""
    verdict = {True: "HOLDS", False: "FAILS", None: "SKIPPED"}[answer.holds]
    parameters = " ".join(f"{name}={value}" for name, value in answer.parameters.items())
    return [
        f"{verdict:14}  {answer.id} with {parameters}",
        f"     claim    {statement}",
        f"     printed  {answer.printed}",
        f"     computed {answer.computed}",
    ]


def verdict_lines(checked: Checked) -> list[str]:
    """Return a claim with its outcome as text, the verdict first."""
    claim = checked.claim
    recorded = "" if checked.verdict is claim.verdict and checked.ok else f"{SAID[claim.verdict]} is on record"
    unexpected = "" if checked.outcome.holds is None else "UNEXPECTED: "
    beside = f" ({unexpected}{recorded})" if recorded else ""
    lines = [f"{SAID[checked.verdict]:14}  {claim.id}{beside}"]
    nature = ", ".join(part for part in (checked.evidence, checked.refutes and FAILS[checked.refutes]) if part)
    lines += [f"     known    {nature}"] if nature else []
    lines += [f"     theorems {', '.join(claim.theorems)} (folder proofs, checked by Coq)"] if claim.theorems else []
    lines += [f"     proof    docs/explanation/{claim.proof}"] if claim.proof else []
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
    rows = [(c.id, c.source, *_columns(c)) for c in chosen]
    return aligned([("claim", "source", "evidence", "verdict", "what fails"), *rows])


def _columns(claim: Claim) -> tuple[str, str, str]:
    """Return the rank of a claim's evidence, its verdict, and what fails, as on record."""
    return claim.evidence or "-", SAID[claim.verdict].lower(), claim.refutes or ""


def covered(found: Sequence[Covered]) -> list[Answer]:
    """Return the table of coverage."""
    return [encode(CoveredStatement, row) for row in found]


def coverage_lines(found: Sequence[Covered]) -> list[str]:
    """Return the table of coverage as text, a claim a line, and how many statements have claims."""
    rows = []
    for row in found:
        about = [(c.id.partition("/")[2], *_columns(c)) for c in row.claims] or [("no claim", "-", "-", "")]
        rows += [(row.paper, row.statement, *columns) for columns in about]
    table = aligned([("paper", "statement", "claim", "evidence", "verdict", "what fails"), *rows])
    numbered = [row for row in found if row.numbered]
    with_claims = sum(bool(row.claims) for row in numbered)
    checkable = sum(any(c.verdict is not Verdict.skipped for c in row.claims) for row in numbered)
    # a claim may stand with several statements
    each = {c.id: c for row in found for c in row.claims}.values()
    ranks, verdicts = Counter(c.evidence or "skipped" for c in each), Counter(SAID[c.verdict].lower() for c in each)
    shown = ", ".join(f"{ranks[rank]} {rank}" for rank in (*Evidence, "skipped") if ranks[rank])
    came_out = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    return [
        *table,
        "",
        f"{checkable} of {len(numbered)} numbered statements have a claim that can be checked, "
        f"{with_claims - checkable} only one that is skipped",
        f"claims by evidence, on record: {shown}",
        f"claims by verdict, on record: {came_out}",
    ]


def summary_lines(found: Sequence[Checked]) -> list[str]:
    """Return how many claims of each paper have which verdict."""
    counts = Counter((c.claim.paper, c.verdict) for c in found)
    verdicts = tuple(Verdict) if any(c.unfinished for c in found) else ON_RECORD
    papers = [paper for paper in PAPERS if any(c.claim.paper == paper for c in found)]
    rows = [(paper, *(str(counts[paper, verdict]) for verdict in verdicts)) for paper in papers]
    if len(papers) > 1:
        rows.append(("all", *(str(sum(c.verdict is verdict for c in found)) for verdict in verdicts)))
    return aligned([("paper", *(SAID[verdict].lower() for verdict in verdicts)), *rows], right=len(verdicts))


def ending(found: Sequence[Checked]) -> str:
    """Return the last line: how many claims were checked, how many came out unexpectedly, how many were not checked."""
    counts = {"skipped": sum(one.skipped for one in found), "unfinished": sum(one.unfinished for one in found)}
    checked, unexpected = len(found) - sum(counts.values()), sum(not one.ok and not one.unfinished for one in found)
    without = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    if not checked:
        return f"{many(len(found), 'claim')}; nothing was checked: {without}"
    outcomes = "the outcome is" if checked == 1 else "all outcomes are"
    came_out = f"{unexpected:,} NOT as expected" if unexpected else f"{outcomes} as expected"
    return f"{many(checked, 'claim')} checked; {came_out}" + (f"; {without}" if without else "")
