"""What the solvers made is accepted."""

from __future__ import annotations

from tests.checker.corpus import CERTIFICATES, verdict


def test_what_the_solvers_made_is_accepted() -> None:
    for name, document in CERTIFICATES.items():
        assert not verdict(document), name
