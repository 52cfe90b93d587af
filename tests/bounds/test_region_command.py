"""``packproof region``: JSON keys, schema, certificate, pictures, slices, and one line for bad input."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from bounds.cli import run
from bounds.views.region import outline
from tests.bounds.validated import expect_valid
from theory.instance import additive
from theory.region.facets import region_facets

FOUR = str(Path(__file__).parent.parent.parent / "examples" / "four_types.toml")
EC2 = str(Path(__file__).parent.parent.parent / "examples" / "ec2.toml")


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert run(["region", *arguments, "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    expect_valid(document, "region")
    with pytest.raises(jsonschema.ValidationError):
        expect_valid({**document, "extra": 1}, "region")
    return document


def one_resource(types: int, workload: str = "1/50") -> dict[str, Any]:
    kinds = [{"name": f"s{n}", "demand": {"r": n}, "reward": 1, "workload": workload} for n in range(51, 51 + types)]
    return {"server": {"capacity": {"r": 1000}}, "type": kinds}


@pytest.mark.slow
def test_json_of_four_types(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer([FOUR, "--servers", "1000"], capsys)
    assert (found["configurations"], found["maximal"]) == (12574, 424)
    assert (found["traffic_intensity"], found["supportable"]) == ("1", False)
    assert len(found["facets"]) == 19
    assert {"normal": {"small": "1", "medium": "4", "memory": "2", "large": "32"}, "offset": "80"} in found["facets"]
    assert found["servers_needed"]["supportable"] == 1001
    assert found["servers_needed"]["at_once"] == {"lower": 1001, "upper": 1001, "exact": True}
    assert found["headroom"]["large"] == "0"
    assert len(found["vertices"]) == 24


def test_certificate_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "c.json"
    assert answer([EC2, "--certificate", str(proof)], capsys)["traffic_intensity"] == "1"
    assert run(["check", str(proof), "--instance", EC2]) == 0
    assert re.search(r"facets +5 of them", capsys.readouterr().out)
    assert run(["check", str(proof), "--instance", FOUR]) == 1


def test_pools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pools.json"
    pools = [{"name": f"of{c}", "capacity": {"r": c}} for c in (1, 2, 4, 8)]
    kinds = [{"name": f"t{d}", "demand": {"r": d}, "reward": 1, "workload": "89/400"} for d in (1, 2, 4, 8)]
    path.write_text(json.dumps({"server": pools, "type": kinds}))
    found = answer([str(path), "--certificate", str(tmp_path / "c.json")], capsys)
    assert (found["traffic_intensity"], found["supportable"]) == ("89/100", True)
    assert found["pools"]["of2"] == {"share": "1/4", "configurations": 4, "maximal": 2}
    assert found["configurations"] == 2 + 4 + 10 + 36
    assert run(["check", str(tmp_path / "c.json")]) == 0


@pytest.mark.slow
def test_large_sets_still_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, proof = tmp_path / "many.json", tmp_path / "c.json"
    path.write_text(json.dumps(one_resource(70)))
    found = answer([str(path), "--certificate", str(proof)], capsys)
    assert found["facets"] is None
    assert "70 types" in found["facets_reason"]
    assert found["headroom"] is None
    assert "--headroom" in found["headroom_reason"]
    assert found["configurations"] > 10**9
    assert Fraction(found["traffic_intensity"]) >= Fraction(sum(range(51, 121)), 50_000)
    assert run(["check", str(proof)]) == 0
    path.write_text(json.dumps(one_resource(12)))
    found = answer([str(path), "--facets", "200"], capsys)
    assert "simplices" in found["facets_reason"]
    assert found["headroom"] is not None


@pytest.mark.slow
def test_text_and_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["region", FOUR, "--slice", "small,large"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("This workload is on the boundary of the region: its traffic intensity is 1")
    assert "small + 32 large <= 890/13" in text
    assert "medium + memory + 10 large <= 26" in text
    assert "<= 0" not in text, "that no workload is negative is a facet of every region"
    found = answer([FOUR, "--slice", "small,large"], capsys)["slice"]
    assert found["types"] == ["small", "large"]
    assert found["workload"] == {"medium": "18/13", "memory": "3"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "types"), [("0", 1), ("1/2", 1), ("0", 2), ("1/2", 2), ("30", 2), ("1/2", 3), ("30", 3), ("0", 4)]
)
def test_pictures(types: int, workload: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "i.json", tmp_path / "p.png"
    document = one_resource(types, workload)
    document["server"]["capacity"]["r"] = 200
    path.write_text(json.dumps(document))
    found = answer([str(path), "--plot", str(picture)], capsys)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (found["headroom"] is None) == (workload == "30")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--slice", "small"],
        ["--slice", "small,small"],
        ["--slice", "small,nothing"],
        ["--facets", "-1"],
        ["--servers", "0"],
        ["--plot", "picture.xyz"],
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["region", FOUR, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_bad_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    document = one_resource(2)
    document["type"][0]["demand"]["r"] = 1001
    path.write_text(json.dumps(document))
    assert run(["region", str(path)]) == 2
    assert "fits no server" in capsys.readouterr().err


@pytest.mark.parametrize("capacity", [[6], [7], [9]])
def test_the_outline_of_a_plane_is_convex(capacity: list[int]) -> None:
    """It turns left at each corner, as no other order of its corners does, and lies in the region."""
    region = region_facets(additive(capacity, [[4], [1]]))
    corners = outline(region)
    steps = np.diff(np.vstack([corners, corners[:2]]), axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]
    assert (turns > 0).all()
    assert all(facet.value(list(map(Fraction, corner))) <= facet.offset for facet in region.outer for corner in corners)
