"""The attacks on a small scale, and what they do when the checker is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bounds import checker
from tests.attacks.forgeries import attack_certificates
from tests.attacks.inputs import attack_inputs
from tests.attacks.policies import HELPERS, cases, run_right, run_wrong
from tests.attacks.report import Report


def test_forged_certificates() -> None:
    report = attack_certificates(800, seed=2)
    assert not report.wrong
    assert report.outcomes["refused"] > 400
    assert report.outcomes["accepted, and true"] > 0  # an instance may be altered where the claims stay true


def test_spoilt_inputs() -> None:
    report = attack_inputs(40, seed=2)
    assert not report.wrong
    assert report.outcomes["status 2"] > 10


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


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """Return a folder with the module that stands beside the policies."""
    (tmp_path / "helpers.py").write_text(HELPERS)
    return tmp_path


def test_wrong_policies(beside: Path) -> None:
    """Some of those that the attack has; some of the files of their own, which need no compiler."""
    report, every = Report(), cases()
    assert len(every) >= 100
    run_wrong("python", every[::13], report, beside)
    run_wrong("rehearsed", [case for case in every if case.text][1::11], report, beside)
    assert not report.wrong
    assert report.outcomes["python: one line"] > 10


def test_right_policies_reach_their_tools_in_every_way(beside: Path) -> None:
    report = Report()
    run_right("python", ("loss",), report, beside)
    assert not report.wrong


def test_an_attack_notices_what_is_not_refused(beside: Path) -> None:
    """A policy without the fault that it is said to have."""
    report = Report()
    run_wrong("python", [case._replace(fault=0) for case in cases()[:1]], report, beside)
    assert ["status 0" in entry for entry in report.wrong] == [True]
