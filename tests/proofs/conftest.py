"""What the tests of the proofs share."""

from __future__ import annotations

import pytest

from tests.proofs.verdicts import Proved


@pytest.fixture(scope="session")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    """Return the verdict of the proved checkers on a document."""
    return Proved(tmp_path_factory.mktemp("converted") / "certificate.txt")
