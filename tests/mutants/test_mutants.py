"""The list of wrong policies does not rot: each applies to its file, and names a claim and a test that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bounds.results import modules
from tests.mutants.__main__ import ROOT, Mutant, copied, mutants, noticed
from tests.mutants.drawn import FILES, is_test, judges

MUTANTS = mutants()
KNOWN = modules()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_applies(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    compile(mutant.source(), mutant.file, "exec")
    assert mutant.source() != (ROOT / mutant.file).read_text()
    assert not mutant.claim or mutant.claim in KNOWN
    file, _, name = mutant.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text()
    assert "test_frozen" not in file


def test_mutants_are_many_and_distinct() -> None:
    assert len(MUTANTS) >= 60
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("file", FILES)
def test_a_claim_and_tests_judge_the_mutants_of_every_policy_file(file: str) -> None:
    *claims, tests = judges(file)
    assert claims
    assert tests
    assert not any(is_test(claim) for claim in claims)
    assert is_test(tests)


def test_three_mutants_are_noticed(tmp_path: Path) -> None:
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    root = copied(tmp_path)
    for name in ("oracle-ratio-without-resources", "sharing-algorithm-1-forgets-users", "preemption-largest-first"):
        assert noticed(by_name[name], root) == (True, True), name
