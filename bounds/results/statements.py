"""The numbered statements of the papers, and which claims are about each.

``STATEMENTS`` of a paper's folder lists them: theorems, propositions, corollaries, lemmas, and so on. Definitions,
assumptions and drawings that state nothing (such as a picture of a partition) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bounds.claims import Claim, Covered
from bounds.results import folder_of
from theory.doors import imported

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
        statements = numbers_of(imported(folder_of(paper)).STATEMENTS)
        rows += [Covered(paper, s, tuple(c for c, names in named if s in names), numbered=True) for s in statements]
        others = [claim for claim, names in named if not set(names) & set(statements)]
        for source in dict.fromkeys(claim.source for claim in others):
            rows.append(Covered(paper, source, tuple(claim for claim in others if claim.source == source)))
    return rows
