"""A search ends in time, whatever the code of an author does; refusals name the rule and the instance it was given."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.adversary import online
from bounds.adversary.budget import Budget
from bounds.adversary.contained import Wire, contained
from bounds.adversary.engine import Found, attack
from bounds.adversary.items import ItemSpace, judge_items, packed_by
from bounds.cli import run
from examples.rules_to_attack import first_fit
from tests.tools.attacks.rules import RULES
from theory.errors import InputError

ROOT = Path(__file__).parents[2]
QUICK = f"{ROOT / 'examples' / 'rules_to_attack.py'}:first_fit"


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "rules.py"
    path.write_text(RULES)
    return path


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """End a process half a second after its time limit, not three seconds."""
    monkeypatch.setattr("bounds.adversary.contained.OVERTIME", 0.3)
    monkeypatch.setattr("bounds.adversary.contained.LAST", 0.2)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("loops", "gave no answer in"),
        ("swallows", "gave no answer in"),
        ("leaves", "its process exited with status 4"),
        ("crashes", "its process was ended by SIGSEGV"),
        ("exits", "SystemExit: 3"),
        ("recurses", "RecursionError"),
        ("counts", "one whole number, its bin, for each of"),
    ],
)
def test_what_ends_a_rule_is_said_in_one_line(
    rule: str, said: str, rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    assert run(["attack", f"{rules}:{rule}", "--kind", "items", "--time-limit", "0.3"]) == 2
    assert time.monotonic() - begun < 20
    refusal = capsys.readouterr().err.splitlines()[-1]
    assert refusal.startswith(f"{rules}:{rule}: ")
    assert said in refusal
    assert "(items " in refusal


@pytest.mark.usefixtures("soon")
def test_a_rule_that_loops_late_gives_the_worst_until_then(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", f"{rules}:loops_late", "--kind", "items", "--time-limit", "0.5"]) == 0
    printed = capsys.readouterr()
    assert re.search(r"keeps [0-9.]+ % \(1/[0-9]+\)", printed.out)
    assert "; the worst instance until then follows" in printed.err
    assert "(items " in printed.err


@pytest.mark.usefixtures("soon")
def test_a_file_that_never_ends_to_run_is_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "endless.py"
    file.write_text("while True: pass")
    assert run(["attack", f"{file}:rule", "--kind", "items", "--time-limit", "0.1"]) == 2
    assert "gave no answer and was ended" in capsys.readouterr().err


def test_a_policy_is_contained_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(online, "SILENT", 0.5)
    file = tmp_path / "own.py"
    for code, said in (("import os; os._exit(5)", "exited with status 5"), ("while True: pass", "gave no answer")):
        file.write_text(code)
        assert run(["attack", f"{file}:POLICY", "--kind", "online", "--time-limit", "0.5"]) == 2
        assert said in capsys.readouterr().err


def test_shrinking_ends_with_the_time() -> None:
    """Every call takes half a second, so that shrinking would take minutes."""

    def slow(items: Any, _: Any) -> list[int]:
        time.sleep(0.5)
        return list(range(len(items)))

    begun = time.monotonic()
    found = attack(judge_items(slow), ItemSpace(3, 9), budget=Budget(0.6))
    assert time.monotonic() - begun < 10
    assert not found.complete


def test_functions_that_cannot_be_imported_are_contained() -> None:
    def search(rule: Any) -> Found[Any]:
        def searched(wire: Wire) -> Found[Any]:
            return attack(judge_items(rule), ItemSpace(2, 6), evaluations=300, watch=wire)

        found: Found[Any] = contained(searched, "mine", seconds=20)
        return found

    alone = attack(judge_items(first_fit), ItemSpace(2, 6), evaluations=300)
    assert search(lambda *given: first_fit(*given)[:]) == alone
    with pytest.raises(InputError, match=r"^mine: its process exited with status 9 \(items "):
        search(lambda *_: os._exit(9))
    with pytest.raises(RuntimeError, match="AssertionError: a fault"):
        contained(_fault, "mine")


def test_time_that_the_rule_does_not_take_is_not_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The rule answers at once; deciding the optimum would take minutes."""

    def judge(case: Any) -> Any:
        packed_by(first_fit, case)
        time.sleep(100)

    with pytest.raises(InputError, match=r"^mine: had answered, but the optimum was not decided in time.*\(items "):
        contained(lambda wire: attack(judge, ItemSpace(2, 6), watch=wire), "mine", seconds=0.1, overtime=0.5)
    # 45 items of three resources: the judge has no time for the optimum, which is bounded once the search is over
    sizes = np.random.default_rng(3).integers(200, 525, (45, 3))
    file = tmp_path / "many.toml"
    file.write_text(f"[items]\ncapacity = [1009, 1013, 1019]\nsizes = {sizes.tolist()}\n")
    begun = time.monotonic()
    command = ["attack", QUICK, "--kind", "items", "--from", str(file), "--evaluations", "1", "--time-limit", "0.5"]
    assert run(command) == 0
    assert time.monotonic() - begun < 20
    printed = capsys.readouterr()
    assert f"{file}: sizes are scaled to a capacity of {1009 * 1013 * 1019} in every resource" in printed.err
    (fewest,) = map(int, re.findall(r"bin in a packing with (\d+) bins", printed.out))
    assert fewest >= max(sizes.sum(axis=0) / [1009, 1013, 1019])
    (ratio,) = map(
        Fraction,
        re.findall(r"first_fit keeps [0-9.]+ % \((\d+/\d+)\) of the optimum; this ratio is exact", printed.out),
    )
    assert fewest / ratio == max(first_fit(sizes.tolist(), (1009, 1013, 1019))) + 1


def _fault(wire: Wire) -> None:
    wire.report("soon")
    raise AssertionError("a fault")


def test_answers_without_an_end_are_refused_by_their_length() -> None:
    items = ItemSpace(2, 6).draw(np.random.default_rng(1))
    with pytest.raises(InputError, match="got more"):
        packed_by(lambda *_: count(), items)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(("rule", "status"), [("loops", 130), ("swallows", 130), (QUICK, 0)])
def test_ctrl_c_ends_the_search_and_keeps_what_was_found(rule: str, status: int, rules: Path) -> None:
    named = rule if ":" in rule else f"{rules}:{rule}"
    command = [sys.executable, "-m", "tests.tools.progress", "attack", named, "--kind", "items", "--time-limit", "100"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stderr is not None
    assert "instances judged" in process.stderr.readline()
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < 20
    assert process.returncode == status, err
    assert ("keeps" in out) == (status == 0)


def test_no_process_is_left() -> None:
    """The processes of several starts end with the search, even where each is in a loop."""
    with pytest.raises(InputError, match="gave no answer"):
        contained(_leaves_a_process_behind, "mine", seconds=0.2, overtime=0.5)
    deadline = time.monotonic() + 20
    while _named("left-by-a-rule") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _named("left-by-a-rule")


def _leaves_a_process_behind(wire: Wire) -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "left-by-a-rule"])
    while True:
        wire.report("still here")
        time.sleep(0.01)


def _named(mark: str) -> bool:
    table = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return mark in table
