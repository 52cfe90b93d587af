"""Statements of the paper on cluster admission whose numbers are lost in the text at hand."""

from __future__ import annotations

from bounds.claims import Level, Outcome, Verdict, claim


@claim(
    "tables-lost",
    "The fitted Gamma priors with kappa and delta (Tables 1 and 3), and the edges and probabilities of the buckets of "
    "the importance sampling (Table 4).",
    source="Tables 1, 3 and 4",
    printed="lost",
    evidence=None,
    verdict=Verdict.skipped,
)
def lost_tables(level: Level, broken: str) -> Outcome:
    """Say that nothing can be compared."""
    del level, broken
    return Outcome("every number of these tables is lost in the text at hand: nothing can be compared", None)
