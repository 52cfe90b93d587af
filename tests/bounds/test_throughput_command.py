"""``packproof throughput``: JSON keys, certificates, pictures, interruption, and one line for bad input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.cli import run
from tests.bounds.validated import expect_valid
from theory.exact.knapsack import greatest as knapsack
from theory.partition import bounding
from theory.partition.bounding import Bracket

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
UNIFORM, MIXED = str(EXAMPLES / "uniform_sizes.toml"), str(EXAMPLES / "mixed_sizes.toml")


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["throughput", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    expect_valid(document, "throughput")
    with pytest.raises(jsonschema.ValidationError):
        expect_valid({**document, "extra": 1}, "throughput")
    return document


def test_exact_law(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer([UNIFORM], capsys)
    assert found["maximum"]["exact"] == "10"
    assert found["maximum"]["lower"] == found["maximum"]["upper"] == 10
    assert (found["vqs_guarantee"], found["best_fit_guarantee"]) == (20 / 3, 5)
    assert found["vqs_exact"] == "480/59"
    assert found["vqs_lost"] == 0


@pytest.mark.slow
def test_bracket_certificate_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof, picture = tmp_path / "proof.json", tmp_path / "picture.png"
    found = answer([MIXED, "--gap", "0.02", "--certificate", str(proof), "--plot", str(picture)], capsys)
    assert found["maximum"]["exact"] is None
    assert found["reached"]
    assert found["gap"] <= 0.02
    assert found["partition"]["upper_rounded"] == "320/7"
    assert picture.stat().st_size > 10_000
    assert run(["check", str(proof), "--instance", MIXED]) == 0
    assert run(["check", str(proof), "--instance", UNIFORM]) == 1
    expect_valid(json.loads(proof.read_text()), "certificate")
    assert run(["throughput", MIXED]) == 0
    shown = capsys.readouterr().out
    assert "On 20 servers a workload of between " in shown
    assert "maximum supportable workload, jobs on all servers" in shown


def test_sizes_down_to_zero_lose_a_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text("[sizes]\nuniform = [0, 1]")
    found = answer([str(path)], capsys)
    assert (found["vqs_J"], found["vqs_lost"]) == (7, 1 / 128)
    assert run(["throughput", str(path)]) == 0
    assert re.search(r"jobs below 2\^-J, which VQS rounds up +0.7812 %", capsys.readouterr().out)


def test_the_size_schema_describes_the_examples() -> None:
    import tomllib

    for path in (UNIFORM, MIXED):
        expect_valid(tomllib.loads(Path(path).read_text()), "sizes")
    with pytest.raises(jsonschema.ValidationError):
        expect_valid({"sizes": {"uniform": [0, 1], "csv": "x"}}, "sizes")


def test_interrupted_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    whole = bounding.brackets

    def interrupted(*arguments: Any, **options: Any) -> Iterator[Bracket]:
        for i, found in enumerate(whole(*arguments, **options)):
            if i == 2:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(bounding, "brackets", interrupted)
    found = answer([MIXED, "--gap", "0.001"], capsys)
    assert not found["reached"]
    assert len(found["rounds"]) == 2
    low, high = (Fraction(found["maximum"][key]) for key in ("lower_exact", "upper_exact"))
    assert low < high


def test_the_limit_of_exact_tables_can_be_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text('[sizes]\ndiscrete = { "301/1000" = "1/2", "457/1000" = "1/4", "203/1000" = "1/4" }\n')
    low = answer([str(path), "--gap", "0.5", "--exact-cells", "2999"], capsys)["maximum"]
    high = answer([str(path), "--gap", "0.5", "--exact-cells", "3000"], capsys)["maximum"]
    assert high["exact"] is not None
    assert low["exact"] is None
    assert Fraction(low["lower_exact"]) <= Fraction(high["exact"]) <= Fraction(low["upper_exact"])


def test_a_fine_grid_is_exact_where_asked_and_within_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sizes.toml"
    sizes = ("0.123456789", "0.271828183", "0.314159265", "0.577215665")
    path.write_text("[sizes]\ndiscrete = { " + ", ".join(f'"{size}" = "1/4"' for size in sizes) + " }\n")
    assert (
        answer([str(path), "--gap", "0"], capsys)["maximum"]["exact"] == "3"
    )  # three quarters of a server hold 0.12, 0.27, 0.58
    monkeypatch.setattr(knapsack, "LISTED", 0)
    monkeypatch.setattr(knapsack, "MANY", 0)  # so that no branch and bound takes over
    assert run(["throughput", str(path), "--gap", "0", "--exact-cells", "1"]) == 0
    told = capsys.readouterr()
    assert "exactly" not in told.out
    assert told.err.splitlines()[-1].startswith("not exact: it takes more than 1 cell: allow more with --exact-cells")
    assert run(["throughput", str(path), "--exact-cells", "1"]) == 0
    assert "not exact" not in capsys.readouterr().err
    assert run(["throughput", str(path), "--jobs", "4", "--exact-cells", "1"]) == 2
    assert "takes more than 1 cell" in capsys.readouterr().err.splitlines()[-1]
    assert run(["throughput", str(path), "--jobs", "4"]) == 0


def test_bins_of_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text('[sizes]\ndiscrete = { "3/10" = "1/2", "1/2" = "1/2" }\n')
    found = answer([str(path), "--jobs", "4"], capsys)
    assert found["bins"] == {"jobs": 4, "configurations": "5/3", "proper": "2", "at_least": 2, "at_most": 2}
    for body, jobs in (('discrete = { "3/10" = "1/3", "1/2" = "2/3" }', "4"), ('uniform = ["1/10", "9/10"]', "4")):
        path.write_text(f"[sizes]\n{body}\n")
        assert run(["throughput", str(path), "--jobs", jobs]) == 2
        assert "--jobs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "options", "line"),
    [
        ('discrete = { "1/2" = "1/2" }', [], "expected probabilities that sum to 1"),
        ("uniform = [0.5, 1.5]", [], "sizes.uniform"),
        ('uniform = [0.1, 0.9]\npartition = [[0, "1/3"], ["1/2", 1]]', [], "a gap"),
        ("uniform = [0.1, 0.9]", ["--gap", "x"], "--gap"),
        ("uniform = [0.1, 0.9]", ["--gap", "2"], "--gap"),
        ("uniform = [0.1, 0.9]", ["--plot", "picture.xyz"], "picture"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, options: list[str], line: str
) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text(f"[sizes]\n{body}")
    assert run(["throughput", str(path), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert line in captured.err
