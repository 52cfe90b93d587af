"""The list of wrong policies does not rot: each applies to its file, and names a claim and a test that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bounds.results import modules
from tests.mutants.__main__ import ROOT, Mutant, copied, mutants, noticed
from tests.mutants.drawn import JUDGES, POLICIES

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


def test_every_policy_file_has_claims_and_tests_that_judge_its_mutants() -> None:
    policies = {str(path.relative_to(ROOT / POLICIES)) for path in (ROOT / POLICIES).glob("*/policies/*.py")}
    assert set(JUDGES) == {path for path in policies if not path.endswith("__init__.py")}
    for judges in JUDGES.values():
        assert judges[0] in KNOWN
        assert all(judge in KNOWN or (ROOT / judge).is_file() for judge in judges)


def test_three_mutants_are_noticed(tmp_path: Path) -> None:
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    root = copied(tmp_path)
    for name in ("oracle-ratio-without-resources", "sharing-algorithm-1-forgets-users", "preemption-largest-first"):
        assert noticed(by_name[name], root) == (True, True), name
