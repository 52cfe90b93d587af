"""What a planner brings: several pools, own types beside those of the catalogue, names of pools everywhere."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from theory.files.instances import read_instance
from theory.files.price_catalogue import catalogue

OWN = "name,cpu,memory,gpu,price,workload\nbatch,16,32,,0.35,2\ntraining,8,64,1,1.9,1/2\n"
POOLS = ["--server", "name=old,share=2,cpu=48,memory=192", "--server", "name=new,cpu=96,memory=384,gpu=8"]


def made(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["instance", *arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_pools_and_own_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, out = tmp_path / "own.csv", tmp_path / "mixed.toml"
    own.write_text(OWN)
    arguments = ["--types", "aws:c5.large", "--own", str(own), "--workload", "3", *POOLS]
    document = made(arguments, capsys)
    assert [(pool["name"], pool["share"]) for pool in document["server"]] == [("old", "2/3"), ("new", "1/3")]
    assert document["server"][1]["capacity"] == {"cpu": "96", "memory": "384", "gpu": "8"}
    workloads = {kind["name"]: kind["workload"] for kind in document["type"]}
    assert workloads == {"aws:c5.large": "3", "batch": "2", "training": "1/2"}, "--workload where no file says"
    assert run(["instance", *arguments, "--out", str(out)]) == 0
    instance = read_instance(out)
    assert instance.rewards == (catalogue()["aws:c5.large"].price, Fraction(7, 20), Fraction(19, 10))
    assert [pool.space.most(2) for pool in instance.pools] == [0, 6], "training needs a gpu: 384 / 64 on a new server"


def test_own_types_as_toml_are_those_of_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, tables = tmp_path / "own.csv", tmp_path / "own.toml"
    table.write_text(OWN)
    tables.write_text(
        '[[type]]\nname = "batch"\ndemand = { cpu = 16, memory = 32 }\nreward = 0.35\nworkload = 2\n'
        '[[type]]\nname = "training"\ndemand = { cpu = 8, memory = 64, gpu = 1 }\nreward = 1.9\nworkload = "1/2"\n'
    )
    first, second = (made(["--own", str(path), *POOLS], capsys) for path in (table, tables))
    assert {**first, "made": 0} == {**second, "made": 0}, "what made them names the file"


@pytest.mark.parametrize(
    ("own", "more", "words"),
    [
        ("name,cpu,price\na,1,x\n", [], ["own.csv:2: price", "x"]),
        ("name,cpu\na,1\n", [], ["own.csv:1", "price"]),
        ("name,cpu,price,reward\na,1,1,1\n", [], ["own.csv:1", "each once"]),
        ("name,cpu,cpu,price\na,1,1,1\n", [], ["own.csv:1", "each once"]),
        ("name,cpu,price\na,1\n", [], ["own.csv:2", "3 fields"]),
        ("name,cpu,price\n", [], ["own.csv", "at least one type"]),
        ("name,cpu,price\na,1,1\n", ["--types", "aws:c5.large"], ["--server", "memory"]),
        ("name,cpu,price\na,1,1\n", ["--server", "name=pool1,cpu=4"], ["server[2].name", "pool1"]),
    ],
)
def test_bad_own_types(
    own: str, more: list[str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(own)
    assert run(["instance", "--own", str(path), "--server", "cpu=9", *more]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert all(word in told.err for word in words), told.err


def test_nothing_to_make_an_instance_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instance", "--server", "cpu=9,memory=9"]) == 2
    assert capsys.readouterr().err.startswith("--types: missing")


def test_pools_are_named_where_servers_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, out = tmp_path / "own.csv", tmp_path / "mixed.toml"
    own.write_text(OWN)
    assert run(["instance", "--own", str(own), *POOLS, "--out", str(out)]) == 0
    capsys.readouterr()
    assert run(["solve", str(out), "--servers", "9"]) == 0
    assert "6 old + 3 new" in capsys.readouterr().out
    simulated = ["simulate", str(out), "--policy", "first-fit", "--servers", "9", "--until", "5", "--log", "30"]
    assert run(simulated) == 0
    text = capsys.readouterr().out
    assert "6 old + 3 new" in text
    lines = [line for line in text.splitlines() if " training " in line and re.search("arrival|departure", line)]
    assert lines
    assert all("(new)" in line for line in lines), "old servers have no gpu"
    assert run([*simulated, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pools"] == {"old": 6, "new": 3}
