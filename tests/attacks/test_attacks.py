"""The attacks on a small scale, and what they do when the checker is broken."""

from __future__ import annotations

from typing import Any

import pytest

from bounds import checker
from tests.attacks.compiled import attack_compiled
from tests.attacks.forgeries import attack_certificates
from tests.attacks.inputs import attack_inputs


def test_forged_certificates() -> None:
    report = attack_certificates(800, seed=2)
    assert not report.wrong
    assert report.outcomes["refused"] > 400
    assert report.outcomes["accepted, and true"] > 0  # an instance may be altered where the claims stay true


def test_spoilt_inputs() -> None:
    report = attack_inputs(40, seed=2)
    assert not report.wrong
    assert report.outcomes["status 2"] > 10


def test_damaged_machine_code() -> None:
    report = attack_compiled(1, seed=2)
    assert not report.wrong
    assert report.outcomes["the same answer"] == 2


@pytest.mark.parametrize("condition", ["require_bottlenecks", "require_levels"])
def test_a_checker_without_a_condition_is_found(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: Any) -> None:
        return

    monkeypatch.setattr(checker, condition, nothing)
    report = attack_certificates(800, seed=2)
    assert any("is accepted" in entry for entry in report.wrong)


def test_a_checker_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(checker, "columns_of")
    report = attack_certificates(100, seed=2)
    assert any("NameError" in entry for entry in report.wrong)
