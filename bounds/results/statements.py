"""The numbered statements of the papers, and which claims are about each.

Definitions, assumptions and drawings that state nothing (such as a picture of a partition) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bounds.claims import Claim, Covered

STATEMENTS: dict[str, tuple[str, ...]] = {
    "autoscaling": (
        *(f"Theorem {n}" for n in ("3.7", "3.9", "4.1", "6.1")),
        *(f"Proposition {n}" for n in ("3.1", "3.5", "3.10", "5.4", "5.10", "6.2", "6.3")),
        "Corollary 3.6",
        *(f"Lemma {n}" for n in ("5.9", "6.4", "B.1", "D.1", "F.1", "F.2", "F.3", "G.1", "G.2", "G.3", "G.4", "I.1")),
        *(f"Definition {n}" for n in ("2.3", "3.4", "3.8")),
        *(f"Remark {n}" for n in (1, 2, 4)),
        *(f"Figure {n}" for n in (2, 3, 4, 5, 6)),
        "Table 1",
    ),
    "ps-dsf": (
        *(f"Theorem {n}" for n in (1, 2, 3)),
        *(f"Lemma {n}" for n in (1, 2)),
        "Corollary 1",
        *(f"Figure {n}" for n in (1, 2, 3, 4, 5, 6)),
        "Table I",
        "Table IV",
    ),
    "throughput": (
        *(f"Theorem {n}" for n in (1, 2, 3, 4)),
        *(f"Proposition {n}" for n in (1, 2)),
        "Corollary 1",
        *(f"Lemma {n}" for n in (1, 2, 3, 4, 5)),
        *(f"Figure {n}" for n in (1, 3, 4, 5)),
    ),
    "nonpreemptive": (
        "Theorem 3.1",
        *(f"Proposition {n}" for n in ("4.2", "4.5")),
        *(f"Lemma {n}" for n in ("4.1", "4.3", "4.4", "5.1", "6.1")),
        *(f"Corollary {n}" for n in ("5.2", "5.3", "6.2", "6.3")),
        *(f"Example {n}" for n in (1, 2)),
        "Table 1",
        *(f"Figure {n}" for n in (5, 6, 7, 8)),
    ),
    "admission": (
        *(f"Proposition {n}" for n in ("3.1", "4.3", "4.5", "7.1", "C.1", "D.2")),
        *(f"Corollary {n}" for n in ("3.2", "7.2")),
        "Definition 6.1",
        *(f"Table {n}" for n in (1, 2, 3, 4)),
    ),
}
"""The numbered statements by paper, in the order theorems, propositions, corollaries, lemmas, and so on."""


_KINDS = ("Theorem", "Proposition", "Corollary", "Lemma", "Definition", "Remark", "Figure", "Table", "Example")
_PLURALS = {f"{kind}s" if kind[-1] != "y" else f"{kind[:-1]}ies": kind for kind in _KINDS}
_NUMBER = r"(?:(?:[A-Z]\.)?[0-9]+(?:\.[0-9]+)?[a-z]?|[IVX]+)\b"
_NAMED = re.compile(rf"\b({'|'.join((*_PLURALS, *_KINDS))}) ({_NUMBER}(?:(?:, | and ){_NUMBER})*)")
_PART = re.compile("(?<=[0-9])[a-z]$")  # a part of a figure, as in Figure 4a


def numbers_of(source: str) -> set[str]:
    """Return the numbered statements that a source names.

    Examples
    --------
    >>> sorted(numbers_of("Figures 2 and 3")), sorted(numbers_of("Lemma 4.1, Figure 4a")), numbers_of("Equation (2)")
    (['Figure 2', 'Figure 3'], ['Figure 4', 'Lemma 4.1'], set())
    """
    statements = set()
    for word, listed in _NAMED.findall(source):
        numbers = re.split(", | and ", listed) if word in _PLURALS else [re.split(", | and ", listed)[0]]
        statements |= {f"{_PLURALS.get(word, word)} {_PART.sub('', number)}" for number in numbers}
    return statements


def coverage(chosen: Sequence[Claim], papers: Sequence[str]) -> list[Covered]:
    """Return every numbered statement of the papers with its claims, and the other sources that claims name.

    Parameters
    ----------
    chosen : sequence of Claim
    papers : sequence of str
        Keys; a paper without numbered statements (packproof's own results) has the sources of its claims only.
    """
    rows = []
    for paper in papers:
        named = [(claim, numbers_of(claim.source)) for claim in chosen if claim.paper == paper]
        statements = STATEMENTS.get(paper, ())
        rows += [Covered(paper, s, tuple(c for c, names in named if s in names), numbered=True) for s in statements]
        others = [claim for claim, names in named if not names & set(statements)]
        for source in dict.fromkeys(claim.source for claim in others):
            rows.append(Covered(paper, source, tuple(claim for claim in others if claim.source == source)))
    return rows
