"""Wrong policies: one is noticed by its claim and by its test, and every policy file has some that judge it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.mutants.__main__ import copied, mutants, noticed
from tests.tools.mutants.drawn import FILES, is_test, judges


@pytest.mark.parametrize("file", FILES)
def test_tests_and_claims_judge_the_mutants_of_every_policy_file(file: str) -> None:
    *claims, tests = judges(file)
    assert tests
    assert not any(is_test(claim) for claim in claims)
    assert is_test(tests)


@pytest.mark.soak
def test_a_mutant_is_noticed(tmp_path: Path) -> None:
    """By the tool, which runs all of them at night (`make mutants`)."""
    (mutant,) = (mutant for mutant in mutants() if mutant.name == "dra-drains-lowest-rank")
    assert noticed(mutant, copied(tmp_path)) == (True, True)
