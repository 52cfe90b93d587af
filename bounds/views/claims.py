"""``packproof verify`` and ``packproof reproduce``: claims with their outcomes, and results of the papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from bounds.answers.claims import Asked, CoveredStatement, Listed, ListedResult, Reproduced, Verified
from bounds.answers.record import encode
from bounds.claims import (
    ON_RECORD,
    PAPERS,
    REGISTRY,
    Checked,
    Claim,
    Compared,
    Covered,
    Evidence,
    Level,
    Refutes,
    Verdict,
    in_words,
    numbers_of,
)
from bounds.views.shown import Picture, Table, table_of, tables_of, written
from bounds.views.text import many

FAILS = {
    Refutes.statement: "the printed statement fails",
    Refutes.boundary: "the printed statement fails in a boundary case (a tie, rounding, loose words)",
    Refutes.proof_step: "a step of the printed proof fails",
    Refutes.number: "the printed number or formula is wrong (perhaps a misprint)",
}
Claims = Asked | Verified | Reproduced | Sequence[Listed] | Sequence[CoveredStatement] | Sequence[ListedResult]
"""What is shown here; lists have at least one answer."""

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


def covered(found: Sequence[Covered]) -> list[CoveredStatement]:
    """Return the table of coverage."""
    return [encode(CoveredStatement, row) for row in found]


def sentence(answer: Claims) -> str:
    """Return the outcome of a claim, how many claims or results there are, or what became of a result."""
    if isinstance(answer, Asked):
        # parameters give a sample, also where the claim on record is a theorem
        verdict = {True: "HOLDS on what was checked", False: "FAILS on what was checked", None: "is SKIPPED"}
        parameters = " and ".join(f"{name}={value}" for name, value in answer.parameters.items())
        return f"What {answer.id} prints {verdict[answer.holds]}, with {parameters}."
    if isinstance(answer, Verified):
        return f"{SAID[Verdict(answer.verdict)]:14}  {answer.id}"
    if isinstance(answer, Reproduced):
        return _became(answer)
    statements = [row for row in answer if isinstance(row, CoveredStatement)]
    if statements:
        numbered = [row for row in statements if _is_numbered(row)]
        checkable = sum(any(c.verdict != Verdict.skipped for c in row.claims) for row in numbered)
        skipped = sum(bool(row.claims) for row in numbered) - checkable
        return (
            f"{checkable} of {len(numbered)} numbered statements have a claim that can be checked, "
            f"{skipped} only one that is skipped."
        )
    if isinstance(answer[0], ListedResult):
        return f"{many(len(answer), 'result')} of the papers can be computed anew."
    return f"{many(len(answer), 'claim')} on record; nothing was checked."


def _is_numbered(row: CoveredStatement) -> bool:
    """Whether a row is about a numbered statement of a paper, and not about another place in it."""
    return numbers_of(row.statement) == (row.statement,)


def _became(answer: Reproduced) -> str:
    """Return what became of a result, on one line."""
    if answer.status == "skipped":
        return f"{answer.result:26} skipped: {answer.reason}"
    what = f"made in {answer.cpu_seconds:.1f} s of CPU" if answer.status == "made" else "stored already"
    endings = ", ".join(PurePath(file).suffix for file in answer.files[1:])
    return f"{answer.result:26} {what}: {answer.files[0]}, {endings}"


def tables(answer: Claims) -> list[Table]:
    """Return a claim with its outcome, or the list of claims, statements or results."""
    if isinstance(answer, Asked):
        numbers, *others = tables_of(answer)
        if answer.id in REGISTRY:  # where the claim was asked, it is loaded
            # the statement may name other numbers than those that were asked about
            numbers.rows.insert(1, ["what it says on record", REGISTRY[answer.id].statement])
        return [_as_text(numbers)._replace(title="what was asked"), *others]
    if isinstance(answer, Verified):
        (numbers,) = tables_of(answer)
        if answer.refutes:
            numbers.rows.append(["what fails", FAILS[Refutes(answer.refutes)]])
        if answer.theorems:
            numbers.rows.append(["theorems", f"{', '.join(answer.theorems)} (folder proofs, checked by Coq)"])
        return [_as_text(numbers)]
    if isinstance(answer, Reproduced):
        return []
    statements = [row for row in answer if isinstance(row, CoveredStatement)]
    if statements:
        return _coverage(statements)
    if isinstance(answer[0], ListedResult):
        return [table_of(ListedResult, answer, "results")]
    listed_claims = [row for row in answer if isinstance(row, Listed)]
    return [table_of(Listed, listed_claims, "claims"), *_parameters_of_one([row.id for row in listed_claims])]


def _parameters_of_one(identities: Sequence[str]) -> list[Table]:
    """Return the parameters of a claim that is listed alone, where it has any."""
    claim = REGISTRY.get(identities[0]) if len(identities) == 1 else None
    if claim is None or not claim.parameters:
        return []
    rows = [[name, value] for name, value in in_words(claim.parameters).items()]
    return [Table("parameters that --with takes", ["parameter", "default"], rows, [False, False], whole=True)]


def _as_text(table: Table) -> Table:
    """Return a table of single values with its texts to the left."""
    return table._replace(numeric=[False, False])


def _coverage(found: Sequence[CoveredStatement]) -> list[Table]:
    """Return the statements with their claims, a claim a row, and how many claims have which evidence and verdict."""
    rows = []
    for row in found:
        for claim in row.claims:
            name = claim.id.partition("/")[2]
            rows.append(
                [row.paper, row.statement, name, claim.evidence or "-", claim.verdict, claim.refutes or ""],
            )
        if not row.claims:
            rows.append([row.paper, row.statement, "no claim", "-", "-", ""])
    # a claim may stand with several statements
    each = {claim.id: claim for row in found for claim in row.claims}.values()
    ranks = Counter(claim.evidence or "skipped" for claim in each)
    verdicts = Counter(claim.verdict for claim in each)
    head = ["paper", "statement", "claim", "evidence", "verdict", "what fails"]
    return [
        Table("statements", head, rows, [False] * 6, whole=True),
        _counted("claims by evidence, on record", {rank: ranks[rank] for rank in (*Evidence, "skipped")}),
        _counted("claims by verdict, on record", dict(verdicts.most_common())),
    ]


def _counted(title: str, counts: Mapping[str, int]) -> Table:
    return Table(title, ["", ""], [[name, f"{count:,}"] for name, count in counts.items() if count], [False, True])


def pictures(answer: Claims) -> list[Picture]:
    """Return no picture: those of claims are made by ``packproof reproduce``."""
    del answer
    return []


def as_checked(checked: Checked, level: Level = Level.quick) -> str:
    """Return a claim with its outcome as text, the verdict first; and what is on record where that is another.

    Its parameters are shown with the values that the level of the check gives them.
    """
    claim, answer = checked.claim, verified(checked)
    recorded = "" if checked.verdict is claim.verdict and checked.ok else f"{SAID[claim.verdict]} is on record"
    unexpected = "" if checked.outcome.holds is None else "UNEXPECTED: "
    beside = f" ({unexpected}{recorded})" if recorded else ""
    (table,) = tables(answer)
    if claim.parameters:
        values = in_words(claim.parameters_at(level))
        table.rows.append(["parameters", ", ".join(f"{name} ({value})" for name, value in values.items())])
    if claim.proof:
        table.rows.append(["proof", f"docs/explanation/{claim.proof}"])
    return "\n".join([f"{sentence(answer)}{beside}", *written(table)])


def summary(found: Sequence[Checked]) -> Table:
    """Return how many claims of each paper have which verdict."""
    counts = Counter((c.claim.paper, c.verdict) for c in found)
    verdicts = tuple(Verdict) if any(c.unfinished for c in found) else ON_RECORD
    papers = [paper for paper in PAPERS if any(c.claim.paper == paper for c in found)]
    rows = [[paper, *(f"{counts[paper, verdict]:,}" for verdict in verdicts)] for paper in papers]
    if len(papers) > 1:
        rows.append(["all", *(f"{sum(c.verdict is verdict for c in found):,}" for verdict in verdicts)])
    head = ["paper", *(SAID[verdict].lower() for verdict in verdicts)]
    return Table("outcomes", head, rows, [False, *(True for _ in verdicts)])


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
