"""The atlas: a page for each claim, from the registry of claims and a stored run, and its indexes."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from bounds.checker import check
from bounds.claims import ON_RECORD, PAPERS, Claim, Evidence, Refutes, Verdict
from bounds.results import claims, folder_of
from bounds.results.statements import coverage
from bounds.views.claims import FAILS
from generate.evidence import CERTIFICATES, pictures
from generate.mathematics import with_formulas
from generate.text import code, hidden_toctree, plain, save, table
from generate.theorems import statement_of

RUN = "atlas/run.json"
"""The stored run: what ``packproof verify`` computed, by claim."""

TITLES: dict[str, str] = {paper: import_module(folder_of(paper)).TITLE for paper in PAPERS}
COLOURS = {
    Verdict.holds: "success",
    Verdict.refuted: "danger",
    Verdict.not_reproduced: "warning",
    Verdict.skipped: "secondary",
}
RANKS: dict[Evidence | None, str] = {
    Evidence.formal: "Coq checked a proof of the theorem; packproof's functions compute what the theorem speaks of.",
    Evidence.proved: "A complete written proof for the whole family that the statement names; its calculations are "
    "decided by exhaustion or in symbols. No step was sampled.",
    Evidence.certified: "Exact rational evidence, for the instances that were tried.",
    Evidence.numeric: "Floating-point numbers, with a stated tolerance.",
    Evidence.statistical: "Simulation with fixed seeds; a correct statement fails its test with probability at most "
    "one in a million.",
    None: "Nothing could be checked; the page of each claim says why.",
}
VERDICTS = {
    Verdict.holds: "What was checked came out as stated.",
    Verdict.refuted: "What is printed fails: the statement, in substance or in a boundary case, a step of its proof, "
    "or a number. The rank is that of the counterexample.",
    Verdict.not_reproduced: "A figure whose setting is partly lost did not come out as printed.",
    Verdict.skipped: "Nothing was checked, for the reason given.",
}


def page_of(claim: Claim) -> str:
    """Return the name of a claim's page below ``atlas``, without its suffix."""
    return f"{claim.paper}/{claim.id.partition('/')[2].replace('/', '-')}"


def stored(docs: Path) -> dict[str, dict[str, Any]]:
    """Return what the stored run computed, by claim."""
    return {entry["id"]: entry for entry in json.loads((docs / RUN).read_text(encoding="utf-8"))}


def badge(verdict: Verdict) -> str:
    """Return a verdict as a coloured label."""
    return f"{{bdg-{COLOURS[verdict]}}}`{verdict}`"


def write(docs: Path) -> None:
    """Write a page for each claim, the source pages that they link to, and the indexes."""
    everything, run, atlas = claims(), stored(docs), docs / "atlas"
    for claim in everything:
        save(atlas / f"{page_of(claim)}.md", claim_page(claim, run.get(claim.id), docs))
    for module in sorted({claim.check.__module__ for claim in everything}):
        save(atlas / "code" / f"{module}.md", source_page(module))
    save(atlas / "code" / "index.md", _code_index(everything))
    for paper in PAPERS:
        save(atlas / paper / "index.md", paper_page(paper, [claim for claim in everything if claim.paper == paper]))
    save(atlas / "by-rank.md", _by(everything, "Claims by rank", [*Evidence, None], lambda c: c.evidence, RANKS))
    save(atlas / "by-verdict.md", _by(everything, "Claims by verdict", list(ON_RECORD), lambda c: c.verdict, VERDICTS))
    save(atlas / "summary.txt", summary(everything))


def claim_page(claim: Claim, outcome: dict[str, Any] | None, docs: Path) -> str:
    """Return the page of a claim."""
    lines, first = inspect.getsourcelines(claim.check)
    module = claim.check.__module__
    file = "/../" + module.replace(".", "/") + ".py"
    parts = [
        f"# {with_formulas(claim.title)}\n",
        f"{plain(claim.source)} of [{TITLES[claim.paper]}](index.md), claim {code(claim.id)}\n",
        table(_rows(claim, outcome), kind="claim"),
    ]
    for name, caption in pictures(claim, page_of(claim), docs):
        parts.append(f"```{{image}} /{name}\n:alt: Picture for {claim.id}\n:width: 90%\n```\n")
        parts += [caption + "\n"] if caption else []
    if claim.id in CERTIFICATES:
        parts.append(_certificates(claim, docs))
    if claim.theorems:
        parts.append(_theorems(claim))
    parts += [
        "## Check it yourself\n",
        f"```console\n$ packproof verify {claim.id}\n```\n",
        f"The check is the function `{claim.check.__name__}` of [{module}](../code/{module}.md).\n",
        f":::{{dropdown}} Its code\n```{{literalinclude}} {file}\n:lines: {first}-{first + len(lines) - 1}\n"
        ":lineno-match:\n:language: python\n```\n:::\n",
    ]
    return "\n".join(parts)


def _rows(claim: Claim, outcome: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the table of a claim: what is printed, what is ours, and then what came out."""
    rank = f"{{bdg-primary-line}}`{claim.evidence}`" if claim.evidence else "no evidence"
    theorem, tried = parts_of(claim.statement)
    rows = [
        ("Printed", with_formulas(claim.printed)),
        ("Ours", with_formulas(theorem)),
        ("Outcome", badge(claim.verdict) + (f" {FAILS[claim.refutes]}" if claim.refutes else "")),
        ("Evidence", f"{rank} {RANKS[claim.evidence]}"),
        ("Computed", plain(outcome["computed"]) if outcome else "This claim is not in the stored run."),
    ]
    if claim.theorems:
        rows.append(("Theorems", ", ".join(map(code, claim.theorems)) + " of [the proofs](../../developer/proofs.md)"))
    if claim.proof:
        page, _, label = claim.proof.partition(".md#")
        rows.append(("Proof", f"{{prf:ref}}`{label}`, [{page}](../../explanation/{page}.md)"))
    if tried:
        rows.append(("Tested", with_formulas(tried)))
    if claim.controls:
        rows.append(
            ("Controls", "The check fails, as it must, when: " + "; ".join(plain(one) for one in claim.controls))
        )
    if outcome:
        rows.append(("Time", f"{outcome['seconds']:.1f} s in the stored run"))
    return rows


_TESTED = re.compile(r"\s(?=Beside (?:the (?:proof|theorems?)|it|each value)\b)")


def parts_of(statement: str) -> tuple[str, str]:
    """Return what a statement says, and what was tried beside its proof; the second is empty where nothing is proved.

    Examples
    --------
    >>> parts_of("Greedy keeps half. Beside the theorem, random instances.")
    ('Greedy keeps half.', 'Beside the theorem, random instances.')
    """
    theorem, *tried = _TESTED.split(statement, maxsplit=1)
    return theorem, "".join(tried)


def _certificates(claim: Claim, docs: Path) -> str:
    """Write the certificates of a claim, have each checked, and return the section that offers them."""
    folder = "_generated/certificates"
    parts = [
        "## Certificates\n",
        "Each file holds an instance, the evidence and the values that are claimed. The checker, which uses Python's "
        "standard library alone, accepted each of them while this page was built.\n",
    ]
    for name, make in CERTIFICATES[claim.id].items():
        certificate = make()
        check(certificate)
        save(docs / folder / f"{name}.json", json.dumps(certificate, indent=1))
        parts.append(f"- {{download}}`{name}.json </{folder}/{name}.json>`: `packproof check {name}.json`")
    return "\n".join([*parts, ""])


def _theorems(claim: Claim) -> str:
    """Return the section that quotes the theorems of a claim."""
    quoted = [f"```coq\n{statement_of(name)}\n```\n" for name in claim.theorems]
    words = "Each with the variables and hypotheses of its section; the words are defined in `proofs/Model.v`.\n"
    return "\n".join(["## What Coq checked\n", words, *quoted])


def source_page(module: str) -> str:
    """Return the page that shows a module of claims."""
    path = module.replace(".", "/") + ".py"
    front = "---\norphan: true\nnosearch: true\n---\n"
    return f"{front}\n# {path}\n\n```{{literalinclude}} /../{path}\n:linenos:\n:language: python\n```\n"


def _code_index(everything: Iterable[Claim]) -> str:
    modules = Counter(claim.check.__module__ for claim in everything)
    rows = [(f"[{module}]({module}.md)", str(number)) for module, number in sorted(modules.items())]
    return "# The code of the checks\n\n" + table(rows, ("module", "claims"), "claims")


def rows_of(chosen: Iterable[Claim], prefix: str) -> list[tuple[str, str, str, str]]:
    """Return the lines of an index: statement, what is claimed, rank, verdict."""
    return [
        (
            plain(claim.source),
            f"[{with_formulas(claim.title)}]({prefix}{page_of(claim)}.md)",
            claim.evidence or "",
            badge(claim.verdict) + (f" {claim.refutes}" if claim.refutes else ""),
        )
        for claim in chosen
    ]


HEAD = ("statement", "what is claimed", "evidence", "verdict")


def paper_page(paper: str, chosen: list[Claim]) -> str:
    """Return the index of a paper: its numbered statements, each with its claims, and the other claims."""
    counts = Counter(claim.verdict for claim in chosen)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ON_RECORD if counts[verdict])
    rows = [
        (plain(row.statement), *entry[1:])
        for row in coverage(chosen, (paper,))
        for entry in rows_of(row.claims, "../") or [("", "no claim", "", "")]
    ]
    return "\n".join(
        (
            f"# {TITLES[paper]}\n",
            f"The key of this paper is `{paper}`. It has {len(chosen)} claims: {said}. "
            f"`packproof verify --paper {paper}` checks them all.\n",
            table(rows, HEAD, "claims"),
            hidden_toctree(page_of(claim).partition("/")[2] for claim in chosen),
        )
    )


def _by(
    everything: list[Claim], title: str, values: list[Any], key: Callable[[Claim], Any], about: dict[Any, str]
) -> str:
    parts = [f"# {title}\n"]
    for value in values:
        chosen = [claim for claim in everything if key(claim) is value]
        if chosen:
            rows = [(claim.paper, *row) for claim, row in zip(chosen, rows_of(chosen, ""), strict=True)]
            title = str(value or "none").capitalize()
            parts += [f"## {title}: {len(chosen)}\n", about[value] + "\n", table(rows, ("paper", *HEAD), "claims")]
    return "\n".join(parts)


def summary(everything: list[Claim]) -> str:
    """Return how many claims of each paper have which verdict, as a table that the atlas includes."""
    counts = Counter((claim.paper, claim.verdict) for claim in everything)
    ranks = Counter(claim.evidence for claim in everything)
    refuted = Counter(claim.refutes for claim in everything if claim.refutes)
    rows = [
        (f"[{TITLES[paper]}]({paper}/index.md)", *(str(counts[paper, verdict] or "") for verdict in ON_RECORD))
        for paper in PAPERS
    ]
    rows.append(("**all**", *(f"**{sum(counts[paper, verdict] for paper in PAPERS)}**" for verdict in ON_RECORD)))
    known = ", ".join(f"{ranks[rank]} {rank}" for rank in Evidence)
    fails = ", ".join(f"{refuted[one]} {one}s" for one in Refutes if refuted[one])
    return "\n".join(
        (
            table(rows, ("paper", *ON_RECORD), "claims"),
            f"By evidence: {known}. Refuted are {fails}.\n",
        )
    )
