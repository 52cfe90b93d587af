"""What a person reads means what it says: no vacuous bounds, no options without effect, levels named, one style."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba import njit

from bounds.cli import run
from bounds.views.tables import ESCAPE, aligned, fitted
from fluid.simulation.driver import replicate
from theory.compiled import noticing_compilation

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FOUR = str(EXAMPLES / "four_types.toml")


def out(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "shown"), [(1000, False), (10**9, True)])
def test_a_bound_above_the_reward_itself_is_left_out(
    servers: int, shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    text = out(["solve", FOUR, "--servers", str(servers)], capsys)
    assert ("Lemma B.1" in text) == shown
    if shown:
        bound = re.search(r"the loss is at most \(Lemma B.1, many servers\) +([0-9/]+)", text)
        assert bound is not None
        assert Fraction(bound.group(1)) < 100 * servers


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["worst", "--types", "2", "--resources", "1", "--starts", "3"], "--starts"),
        (["worst", FOUR, "--vary", "workload", "--starts", "3"], "--starts"),
        (["share", "C", "--mechanism", "ps-dsf", "--events", "E", "--whole"], "--whole"),
        (["share", "C", "--mechanism", "ps-dsf", "--events", "E", "--lies", "0"], "--lies"),
        (["share", "C", "--mechanism", "ps-dsf", "--events", "E", "--certificate", "P"], "--certificate"),
    ],
)
def test_options_without_effect_are_refused(
    arguments: list[str], option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"C": "four_classes.toml", "E": "user_4_leaves.toml"}
    places = {word: str(EXAMPLES / name) for word, name in files.items()} | {"P": str(tmp_path / "proof.json")}
    assert run([places.get(word, word) for word in arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{option}: has no meaning with ")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_picture_that_fails_leaves_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device", "p.png")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bounds.views.fluid.picture_of_path", fails)
    assert run(["fluid", FOUR, "--until", "3", "--csv", "t.csv", "--plot", "p.png"]) == 2
    assert not list(tmp_path.iterdir())


def test_levels_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(["simulate", FOUR, "--policy", "first-fit", "--servers", "5", "--until", "20"], capsys)
    assert "95 % confidence" in text


def test_compiling_is_said_where_numba_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    twice = njit(lambda x: 2 * x)
    with noticing_compilation(lambda: said.append("compiling")):
        assert twice(3) == 6
        assert said
        known = len(said)
        assert twice(4) == 8
    assert len(said) == known, "what is compiled already is not compiled again"
    njit(lambda x: 3 * x)(1)
    assert len(said) == known, "nobody listens any more"

    def run_once(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("fluid.simulation.driver.run_once", run_once)
    lines: list[str] = []
    policy = type("P", (), {"name": "mine", "source": "", "code": ""})()
    with pytest.raises(KeyboardInterrupt):
        replicate(policy, SimpleNamespace(jobs=None), [0], 0, progress=lines.append)  # type: ignore[arg-type]
    assert lines
    assert not any("compil" in line for line in lines), "nothing was compiled"


ROWS = [["policy", "what it does"], ["dra", "dynamic reservation with many words that do not fit"], ["b", "x"]]


def test_tables_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = aligned(ROWS)
    assert max(map(len, plain)) > 40
    assert not any(ESCAPE in line for line in plain), "piped output is plain"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = aligned(ROWS)
    bare = [re.sub(rf"{ESCAPE}\[[0-9;]*m", "", line) for line in coloured]
    assert max(map(len, bare)) <= 40
    assert "".join("".join(bare).split()).startswith("policywhatitdoesdradynamicreservation")
    words = " ".join(bare).split()
    assert sorted(words) == sorted(word for row in ROWS for cell in row for word in cell.split()), "nothing is cut"
    assert fitted([f"  {'word ' * 20}"])[1].startswith("    word")
    assert max(map(len, fitted([f"  {'word ' * 20}"]))) <= 40
    monkeypatch.setenv("NO_COLOR", "1")
    assert not any(re.search(rf"{ESCAPE}\[[0-9;]*3[0-9]", line) for line in aligned(ROWS)), "no colours"
