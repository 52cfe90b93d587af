"""Every answer says what made it: enough to run it again, and to see what has changed."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.answers import schema
from bounds.cli import run
from tests.bounds.validated import expect_valid
from theory.version import __version__

ROOT = Path(__file__).parents[2]
CAUGHT = ROOT / "examples" / "caught.toml"
JOBS = ROOT / "examples" / "jobs.csv"
SIMULATE = f"simulate {CAUGHT} --policy nonpreemptive --servers 2 --until 9 --trace {JOBS} --seed 5"


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(words.split()) == 0
    return capsys.readouterr().out


def made_of(words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    origin: dict[str, Any] = json.loads(printed(f"{words} --json", capsys))["made"]
    return origin


def test_options_seed_and_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    origin = made_of(SIMULATE, capsys)
    assert (origin["version"], origin["command"], origin["seed"]) == (__version__, f"packproof {SIMULATE} --json", 5)
    assert origin["options"] | {"until": 9.0, "servers": 2, "policies": ["nonpreemptive"]} == origin["options"]
    assert origin["inputs"] == {str(path): sha256(path.read_bytes()).hexdigest() for path in (CAUGHT, JOBS)}
    assert {"numpy", "numba"} <= origin["libraries"].keys()
    jsonschema.validate(origin, {**schema("simulate_queue"), "$ref": "#/$defs/Made"})


def test_another_seed_and_another_file_are_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy.toml"
    copy.write_text(CAUGHT.read_text())
    first = made_of(f"solve {copy}", capsys)
    copy.write_text(CAUGHT.read_text() + "# a remark\n")
    second = made_of(f"solve {copy}", capsys)
    assert first["inputs"][str(copy)] != second["inputs"][str(copy)]
    assert {**first, "inputs": 0} == {**second, "inputs": 0}
    assert first["seed"] is None


def test_the_last_line_of_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    *_, blank, last = printed(f"solve {CAUGHT} --servers 3", capsys).splitlines()
    digest = sha256(CAUGHT.read_bytes()).hexdigest()
    assert not blank
    assert last.startswith(f"made by packproof {__version__} with ")
    assert last.endswith(f": packproof solve {CAUGHT} --servers 3; {CAUGHT} is sha256 {digest[:12]}")


def test_lists_and_texts_of_files_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(json.loads(printed("simulate --policy dra:list --json", capsys)), list)
    assert "made by" not in printed("simulate --policy dra:list", capsys)
    proof = tmp_path / "proof.json"
    printed(f"solve {CAUGHT} --certificate {proof}", capsys)
    assert "made" not in json.loads(proof.read_text()), "a certificate holds what the checker verifies, and no more"
    assert "made by" not in printed(f"export {proof} --format lp", capsys)
    assert "made by" not in printed("instance --types aws:m5.large --server cpu=96,memory=384", capsys)


def test_an_instance_of_an_answer_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "instance.json"
    file.write_text(printed("instance --types aws:m5.large --server cpu=96,memory=384 --json", capsys))
    assert json.loads(file.read_text())["made"]["command"].startswith("packproof instance --types ")
    expect_valid(json.loads(file.read_text()), "instance")
    assert made_of(f"worst {file} --vary workload", capsys)["inputs"].keys() == {str(file)}
