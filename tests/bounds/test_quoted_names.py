"""Names of files in the text of commands: none imitates what stands around it, and names that look alike are said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bounds.cli import run
from theory.errors import quoted
from theory.files.document import _warn_of

ODD = ["ann 4, tasks.bob", "b: 3 + 2 c", "cpu of B", "D (idle)", 'e", "f']
KINDS, POOLS, RESOURCES = ODD[:2], ODD[2:4], ODD[4:]


def instance(tmp_path: Path) -> str:
    (resource,) = RESOURCES
    document = {
        "server": [{"name": name, "share": "1/2", "capacity": {resource: 12 + 3 * p}} for p, name in enumerate(POOLS)],
        "type": [
            {"name": name, "demand": {resource: demand}, "reward": 1, "workload": 1}
            for name, demand in zip(KINDS, (5, 7), strict=True)
        ],
    }
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(document))
    return str(path)


def cluster(tmp_path: Path) -> str:
    (resource,) = RESOURCES
    document = {
        "server": [{"name": name, "capacity": {resource: 12}} for name in POOLS],
        "user": [{"name": name, "demand": {resource: 5}} for name in KINDS],
    }
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(document))
    return str(path)


def assert_all_quoted(text: str) -> None:
    """Require that odd names are there, and nowhere without quotation marks."""
    rest, found = text, 0
    for name in ODD:
        found += rest.count(quoted(name))
        rest = rest.replace(quoted(name), "")
    assert found
    for name in ODD:
        assert name not in rest


@pytest.mark.parametrize(
    "command",
    [
        "solve {instance} --servers 10 --certificate {out}",
        "region {instance} --certificate {out}",
        "worst {instance} --vary workload --certificate {out}",
        "share {cluster} --mechanism ps-dsf --whole --certificate {out}",
        "share {cluster} --mechanism cdrf --certificate {out}",
        "share {cluster} --mechanism all",
        "simulate {instance} --policy dra --servers 10 --until 5",
        "simulate {instance} --policy nonpreemptive --servers 10 --until 5",
    ],
)
def test_names_are_quoted(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "proof.json")
    words = command.split()
    files = {"instance": instance(tmp_path), "cluster": cluster(tmp_path), "out": out}
    assert run([word.format(**files) for word in words]) == 0
    assert_all_quoted(capsys.readouterr().out)
    if words[0] == "share" and "--certificate" in words:
        assert run(["check", out]) == 0
        assert_all_quoted(capsys.readouterr().out)


def test_names_are_quoted_in_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["region", instance(tmp_path), "--slice", "a,b"]) == 2
    assert f"two different types of {', '.join(map(quoted, KINDS))}, got" in capsys.readouterr().err
    path = tmp_path / "cluster.json"
    document = json.loads(Path(cluster(tmp_path)).read_text())
    document["user"][0]["servers"] = ["s"]
    path.write_text(json.dumps(document))
    assert run(["share", str(path)]) == 2
    assert f"({', '.join(map(quoted, POOLS))}), got 's'" in capsys.readouterr().err


@pytest.mark.parametrize(("one", "other"), [("caf\u00e9", "cafe\u0301"), ("A1", "\uff211"), ("gpu", "GPU")])
def test_names_that_look_alike_are_said_once(
    one: str, other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _warn_of.cache_clear()
    users = [{"name": name, "demand": {"cpu": 1}} for name in (one, other, "else")]
    path = tmp_path / "users.json"
    path.write_text(json.dumps({"server": [{"name": one, "capacity": {"cpu": 2}}], "user": users}))
    for _ in range(2):
        assert run(["share", str(path), "--mechanism", "all", "--json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "Unicode" in line]  # beside progress
    assert said == [f"{path}: the names {one!a} and {other!a} differ in Unicode composition, width or case alone"]
    types = [{"name": "t", "demand": {one: 1, other: 1}, "reward": 1, "workload": 1}]
    path.write_text(json.dumps({"server": {"capacity": {one: 2, other: 2}}, "type": types}))
    _warn_of.cache_clear()
    assert run(["solve", str(path)]) == 0
    assert capsys.readouterr().err.count("differ in Unicode") == 1
