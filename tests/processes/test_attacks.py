"""What the attacks do when the checker, a policy or a command is broken; CI runs them themselves (``make attacks``)."""

from __future__ import annotations

import contextlib
import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bounds import checker
from fluid.experiment import grid
from tests.tools.attacks import large_documents, rules
from tests.tools.attacks.exhaustion import run_alone
from tests.tools.attacks.forgeries import TRUTH, attack_certificates
from tests.tools.attacks.large_documents import LARGE
from tests.tools.attacks.named_code import attack_named_code
from tests.tools.attacks.policies import run_wrong
from tests.tools.attacks.report import Report
from tests.tools.attacks.rules import attack_rules
from tests.tools.attacks.written import attack_written
from tests.tools.attacks.wrong_policies import HELPERS, cases
from tests.tools.faults.commands import COMMANDS, Command


def test_code_that_runs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every grid were allowed to name code."""
    read = grid.read_grid
    monkeypatch.setattr(grid, "read_grid", lambda path, **_: read(path, code="run"))
    assert any("code has run: " in entry for entry in attack_named_code(60, seed=2).wrong)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Collect no garbage of other tests, whose callbacks swallow what a signal raises within them."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("make", LARGE, ids=lambda make: make.__name__)
def test_the_time_ends_whatever_is_being_verified(make: Callable[[], Any]) -> None:
    document = make()
    start = time.process_time()
    with contextlib.suppress(checker.Refused, checker.Unreadable), checker.limited(0.3):
        checker.check(document)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("megabytes", [56, 60, 64, 76])
def test_the_memory_of_a_document_is_measured(megabytes: int) -> None:
    """Many small numbers use the memory up to the last byte: without its reserve, the checker does not end at 60 MB."""
    text = json.dumps(large_documents.states_of_short_prices())
    run = run_alone(text, megabytes * 10**6)
    assert (run.status, len(run.lines), "within the memory that is allowed" in run.lines[0]) == (2, 1, True)
    assert run.seconds > 0
    assert run.memory > 10**7


def test_every_kind_of_certificate_is_forged() -> None:
    assert set(TRUTH) == set(checker.KINDS)


def test_a_checker_that_refuses_what_is_true_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "greatest", lambda *_: 1)
    assert attack_written(small=True, seed=5, seconds=0.3).wrong


def test_a_search_that_is_not_ended_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of a second less than none, every search takes too long."""
    monkeypatch.setattr(rules, "PATIENCE", -2.0)
    assert attack_rules(("leaves",)).wrong


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


def test_a_command_that_ends_well_is_not_blamed(tmp_path: Path) -> None:
    report = Report()
    command = Command(tmp_path, COMMANDS["fluid"], report, "fluid")
    command.judge(command.start(), {0})
    assert (report.outcomes["status 0"], report.wrong) == (1, [])


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("raise ValueError('x')", "status 1: ['ValueError: x']"),
        ("raise ValueError('x')", "lines, Traceback (most recent call last): ... ValueError: x"),
        ("open('out.csv', 'w').write('half a row')", "out.csv is not whole, 10 bytes"),
        ("import os; os.remove('out.csv')", "out.csv is not whole, 0 bytes"),
        ("open('.packproof.1', 'w')", "left ['.packproof.1']"),
        ("pass", "out.csv was not written"),
    ],
)
def test_a_command_that_ends_badly_is_found(script: str, said: str, tmp_path: Path) -> None:
    report = Report()
    command = Command(tmp_path, COMMANDS["fluid"], report, "fluid")
    command.judge(command.start(script=script), {0})
    assert any(said in entry for entry in report.wrong), report.wrong


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """Return a folder with the module that stands beside the policies."""
    (tmp_path / "helpers.py").write_text(HELPERS)
    return tmp_path


def test_an_attack_notices_what_is_not_refused(beside: Path) -> None:
    """A policy without the fault that it is said to have."""
    report = Report()
    run_wrong("python", [case._replace(fault=0) for case in cases()[:1]], report, beside)
    assert ["status 0" in entry for entry in report.wrong] == [True]
