"""The numbered statements of the papers, and which claims are about each.

``STATEMENTS`` of a paper's folder lists them: theorems, propositions, corollaries, lemmas, and so on. Definitions,
assumptions and drawings that state nothing (such as a picture of a partition) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bounds.claims import Claim, Covered, numbers_of
from bounds.results import folder_of
from theory.doors import imported


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
