"""Exact reading, exact writing, and one clear line for everything else."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import run
from bounds.testing import explicit_instances, instances
from theory.errors import InputError
from theory.files.instances import instance_document, parse_instance, read_instance, tables_toml, write_instance
from theory.instance import Instance, pooled
from theory.numbers import rational, text, to_integers

GOOD = """
[server]
capacity = { cpu = 12 }
[[type]]
name = "a"
demand = { cpu = 5 }
reward = 1
workload = 1
"""


@given(st.fractions(max_denominator=10**6))
def test_text_and_back(value: Fraction) -> None:
    assert rational(text(value)) == value


@pytest.mark.parametrize("bad", ["nan", "inf", "", "1/0", "1e999999999", "9" * 500, "0x10", "1/2/3", True, None, [1]])
def test_what_is_no_number(bad: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        rational(bad)


@given(st.lists(st.fractions(min_value=0, max_denominator=50), min_size=1, max_size=6))
def test_scaling_keeps_proportions(values: list[Fraction]) -> None:
    integers, unit = to_integers(values)
    assert [i * unit for i in integers] == values


@given(instances(max_pools=3) | explicit_instances())
def test_an_instance_survives_its_document(instance: Instance) -> None:
    again = parse_instance(json.loads(json.dumps(instance_document(instance))))
    assert instance_document(again) == instance_document(instance)
    assert again.workload == instance.workload


def test_decimals_are_their_text(tmp_path: Path) -> None:
    path = tmp_path / "i.toml"
    path.write_text(GOOD.replace("reward = 1", "reward = 1.125").replace("cpu = 5", "cpu = 0.1"))
    instance = read_instance(path)
    assert instance.rewards == (Fraction(9, 8),)
    assert instance.pools[0].space.most(0) == 120
    write_instance(tmp_path / "o.toml", instance)
    assert read_instance(tmp_path / "o.toml") == instance
    assert (tmp_path / "o.toml").read_text() == tables_toml(instance_document(instance))


CASES = {
    "unknown field": (GOOD + "colour = 1\n", "type[1].colour"),
    "negative": (GOOD.replace("workload = 1", "workload = -1"), "type[1].workload"),
    "too large": (GOOD.replace("cpu = 5", "cpu = 13"), "type[1].demand"),
    "zero capacity": (GOOD.replace("cpu = 12", "cpu = 0"), "server.capacity.cpu"),
    "duplicate names": (GOOD + GOOD[GOOD.index("[[type]]") :], "type[2].name"),
    "nan": (GOOD.replace("reward = 1", "reward = nan"), "type[1].reward"),
    "one over zero": (GOOD.replace("reward = 1", 'reward = "1/0"'), "zero denominator"),
    "zero reward": (GOOD.replace("reward = 1", "reward = 0"), "type[1].reward"),
    "no types": ("[server]\ncapacity = { cpu = 1 }\n", "type"),
    "unknown resource": (GOOD.replace("cpu = 5", "gpu = 5"), "type[1].demand.gpu"),
    "no demand": (GOOD.replace("cpu = 5", "cpu = 0"), "type[1].demand"),
    "not TOML": ("a = = 1", "TOML"),
    "empty": (" \n", "empty"),
    "deep": ("a = " + "[" * 5000 + "]" * 5000, "deep"),
    "long number": (GOOD.replace("reward = 1", "reward = " + "9" * 5000), "TOML"),
    "huge exponent": (GOOD.replace("reward = 1", "reward = 1e99999"), "type[1].reward"),
    "truth value": (GOOD.replace("reward = 1", "reward = true"), "type[1].reward"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("command", ["solve", "worst"])
def test_bad_input_is_one_line(case: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, expected = CASES[case]
    path = tmp_path / "bad.toml"
    path.write_text(content)
    out = tmp_path / "out.json"
    extra = ["--certificate", str(out)] if command == "solve" else ["--vary", "workload", "--out", str(out)]
    assert run([command, str(path), *extra]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert str(path) in printed.err
    assert expected in printed.err
    assert not out.exists()


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    (tmp_path / "deep.json").write_text("[" * 100000)
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "twice.json").write_text('{"type": 1, "type": 2}')
    for name in (".", "missing.toml", "latin.toml", "deep.json", "list.json", "twice.json"):
        assert run(["solve", str(tmp_path / name)]) == 2
        printed = capsys.readouterr()
        assert printed.err.count("\n") == 1


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    marked = tmp_path / "marked.toml"
    marked.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert run(["solve", str(marked)]) == 0


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.toml"
    good.write_text(GOOD)
    assert run(["solve", str(good), "--certificate", str(tmp_path / "no" / "c.json")]) == 2
    assert run(["solve", str(good), "--plot", str(tmp_path / "picture.xyz")]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.toml"]


def test_shares_are_normalised() -> None:
    server = [{"name": n, "capacity": {"cpu": 4}, "share": s} for n, s in (("A", 1), ("B", 3))]
    kind = {"name": "a", "demand": {"cpu": 1}, "reward": 1, "workload": 1}
    assert [p.share for p in parse_instance({"server": server, "type": [kind]}).pools] == [
        Fraction(1, 4),
        Fraction(3, 4),
    ]
    with pytest.raises(InputError, match="name"):
        parse_instance({"server": [server[0], {**server[1], "name": "A"}], "type": [kind]})


def test_shares_of_pools_are_numbers_as_elsewhere() -> None:
    for shares in (("1/3", "2/3"), (1, 2), (0.5, 1.0), ("0.1", Fraction(1, 5))):
        made = pooled(list(zip(shares, ([12], [6]), strict=True)), [[3]])
        assert [pool.share for pool in made.pools] == [Fraction(1, 3), Fraction(2, 3)]
    for bad, said in (
        ("half", "numbers such as"),
        (None, "numbers such as"),
        ("0", "greater than 0"),
        (-1, "greater than 0"),
    ):
        with pytest.raises(InputError, match=f"^shares: expected .*{said}"):
            pooled([(1, [12]), (bad, [6])], [[3]])  # type: ignore[list-item]
