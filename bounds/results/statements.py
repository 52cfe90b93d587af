"""The numbered statements of the papers, and which claims are about each.

Definitions, assumptions and drawings that state nothing (such as a picture of a partition) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bounds.claims import Claim, Covered

STATEMENTS = {
    "autoscaling": "Theorems 3.7, 3.9, 4.1 and 6.1; Propositions 3.1, 3.5, 3.10, 5.4, 5.10, 6.2 and 6.3; "
    "Corollary 3.6; Lemmas 5.9, 6.4, B.1, D.1, F.1, F.2, F.3, G.1, G.2, G.3, G.4 and I.1; "
    "Definitions 2.3, 3.4 and 3.8; Remarks 1, 2 and 4; Figures 2, 3, 4, 5 and 6; Table 1",
    "ps-dsf": "Theorems 1, 2 and 3; Lemmas 1 and 2; Corollary 1; Figures 1, 2, 3, 4, 5 and 6; Tables I and IV",
    "throughput": "Theorems 1, 2, 3 and 4; Propositions 1 and 2; Corollary 1; "
    "Lemmas 1, 2, 3, 4 and 5; Figures 1, 3, 4 and 5",
    "nonpreemptive": "Theorem 3.1; Propositions 4.2 and 4.5; Lemmas 4.1, 4.3, 4.4, 5.1 and 6.1; "
    "Corollaries 5.2, 5.3, 6.2 and 6.3; Examples 1 and 2; Table 1; Figures 5, 6, 7 and 8",
    "admission": "Propositions 3.1, 4.3, 4.5, 7.1, C.1 and D.2; Corollaries 3.2 and 7.2; "
    "Definition 6.1; Tables 1, 2, 3 and 4",
}
"""The numbered statements by paper: theorems, propositions, corollaries, lemmas, and so on."""

_KINDS = ("Theorem", "Proposition", "Corollary", "Lemma", "Definition", "Remark", "Figure", "Table", "Example")
_PLURALS = {f"{kind}s" if kind[-1] != "y" else f"{kind[:-1]}ies": kind for kind in _KINDS}
_NUMBER = r"(?:(?:[A-Z]\.)?[0-9]+(?:\.[0-9]+)?[a-z]?|[IVX]+)\b"
_NAMED = re.compile(rf"\b({'|'.join((*_PLURALS, *_KINDS))}) ({_NUMBER}(?:(?:, | and ){_NUMBER})*)")
_PART = re.compile("(?<=[0-9])[a-z]$")  # a part of a figure, as in Figure 4a


def numbers_of(source: str) -> tuple[str, ...]:
    """Return the numbered statements that a source names, each once, in their order.

    Examples
    --------
    >>> numbers_of("Figures 2 and 3"), numbers_of("Lemma 4.1, Figure 4a"), numbers_of("Equation (2)")
    (('Figure 2', 'Figure 3'), ('Lemma 4.1', 'Figure 4'), ())
    """
    statements = []
    for word, listed in _NAMED.findall(source):
        numbers = re.split(", | and ", listed) if word in _PLURALS else [re.split(", | and ", listed)[0]]
        statements += [f"{_PLURALS.get(word, word)} {_PART.sub('', number)}" for number in numbers]
    return tuple(dict.fromkeys(statements))


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
        statements = numbers_of(STATEMENTS.get(paper, ""))
        rows += [Covered(paper, s, tuple(c for c, names in named if s in names), numbered=True) for s in statements]
        others = [claim for claim, names in named if not set(names) & set(statements)]
        for source in dict.fromkeys(claim.source for claim in others):
            rows.append(Covered(paper, source, tuple(claim for claim in others if claim.source == source)))
    return rows
