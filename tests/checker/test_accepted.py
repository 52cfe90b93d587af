"""What the solvers made is accepted, and costs as many units of work as on record."""

from __future__ import annotations

from tests.checker.corpus import CERTIFICATES, ROWS, is_enough, verdict


def test_what_the_solvers_made_is_accepted() -> None:
    for name, document in CERTIFICATES.items():
        assert not verdict(document), name


def test_the_work_for_a_document_is_what_it_was() -> None:
    """``--budget N`` means the same in every version; `record.py` writes a change, which is a decision."""
    for row in ROWS:
        assert is_enough(row["certificate"], row["budget"]), row["name"]
        assert not is_enough(row["certificate"], row["budget"] - 1), row["name"]
