"""One of a thing is written in the singular, wherever commands count."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bounds.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"
INSTANCE = """
[server]
capacity = { cpu = 2 }

[[type]]
name = "a"
demand = { cpu = 1 }
reward = 1
workload = 0.5
"""
GRID = 'instance = "i.toml"\nuntil = 2\nreplications = 1\nservers = 1\n[vary]\npolicy = ["first-fit"]\n'
PLURAL = re.compile(r"(?<![\d.,/-])\b1 (?!(?:process|is|was|has|less|times)\b)[a-z]+s\b")

COMMANDS = (
    "solve i.toml --servers 1",
    "worst i.toml --vary workload",
    "worst i.toml --vary rewards --starts 1",
    "region i.toml",
    "fluid i.toml --until 1 --points 2",
    "simulate i.toml --policy first-fit --servers 1 --until 1e-9 --log 1",
    "simulate i.toml --policy first-fit --servers 1 --until 2",
    "simulate i.toml --policy first-fit --servers 1 --until 2 --trace t.csv",
    "experiment g.toml --store s.db --status",
    "experiment g.toml --store s.db --workers 1",
    "experiment g.toml --store s.db --workers 1",
    "instance --types aws:m5.large --server cpu=96,memory=384 --out out.toml",
    "throughput one.toml",
    "verify introduction",
    "attack %rules_to_attack.py:first_fit --kind items --items 1 --evaluations 1 --workers 1",
    "admission moments %admission.toml --at 1 --size 1",
    "admission law %admission.toml --at 1 --size 1 --given mu=0.05,lambda=1,sigma=4",
)


def test_the_pattern_finds_what_it_should() -> None:
    assert PLURAL.search("of 1 cells, 2 a second")
    assert not PLURAL.search("21 cells, 0.1 cores, 1 process, 1/1 servers")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[:60])
def test_one_of_a_thing_is_singular(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("i.toml").write_text(INSTANCE)
    Path("g.toml").write_text(GRID)
    Path("t.csv").write_text("time,duration,type\n0.5,1,a\n")
    Path("one.toml").write_text('[sizes]\nservers = 1\ndiscrete = { "1/2" = 1 }\n')
    assert run(words.replace("%", f"{EXAMPLES}/").split()) == 0
    shown = capsys.readouterr()
    assert not PLURAL.findall(shown.out + shown.err)
