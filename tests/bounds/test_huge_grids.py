"""Servers with huge grids on the command line: limits, partial answers, and what the checker can decide."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from bounds import checker
from bounds.certificates.recheck import beyond_checker
from bounds.certificates.region import region_certificate
from bounds.cli import run
from bounds.testing import instances
from theory.errors import TooLargeError
from theory.exact.nodes import Nodes
from theory.files.instances import instance_document
from theory.instance import Instance, additive
from theory.region.membership import CapacityProgram


def vms(types: int, low: int) -> Instance:
    generator = random.Random(types)
    demands = [[generator.randint(low, 3000) for _ in range(3)] for _ in range(types)]
    workload = [Fraction(generator.randint(1, 9), 20 * types) for _ in demands]
    return additive([10_000, 10_000, 10_000], demands, workload=workload)


def written(tmp_path: Path, instance: Instance) -> str:
    path = tmp_path / "vms.json"
    path.write_text(json.dumps(instance_document(instance)))
    return str(path)


def test_the_checker_accepts_a_small_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "proof.json")
    assert run(["region", written(tmp_path, vms(8, 900)), "--facets", "0", "--certificate", out]) == 0
    assert "packproof check" not in capsys.readouterr().err
    assert run(["check", out]) == 0


def test_what_the_checker_does_not_decide_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "proof.json")
    assert run(["region", written(tmp_path, vms(30, 100)), "--no-headroom", "--certificate", out]) == 0
    err = capsys.readouterr().err
    assert f"{out}: packproof check does not decide it within its limits: pool pool1" in err


@given(instances(max_types=4, max_pools=2, max_capacity=60))
def test_nothing_that_is_said_to_be_beyond_the_checker_is_decided(instance: Instance) -> None:
    """With no table and a small budget: the forecast is certain wherever it is made."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "MAX_CELLS", 0)
        patch.setattr(checker, "BUDGET", 20_000)
        if beyond_checker(instance):
            certificate = region_certificate(instance, CapacityProgram(instance).intensity())
            with pytest.raises(checker.Unreadable):
                checker.check(certificate, checker.BUDGET)


def test_nodes_are_limited_and_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, vms(30, 100))
    for command in ("region", "solve"):
        assert run([command, path, "--nodes", "100"]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "gave up after 100 nodes" in err
        assert "--nodes" in err
    assert run(["solve", path, "--nodes", "100000000"]) == 0
    assert Nodes().most != 100


def test_the_intensity_is_given_where_head_room_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: CapacityProgram) -> None:
        raise TooLargeError("too many nodes")

    monkeypatch.setattr(CapacityProgram, "headroom", refused)
    assert run(["region", written(tmp_path, vms(30, 1000)), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["headroom"] is None
    assert answer["headroom_reason"] == "too many nodes"
    assert answer["supportable"] is True
