"""Servers with huge grids on the command line: limits, partial answers, and what the checker can decide."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from bounds import checker
from bounds.certificates.document import beyond_checker
from bounds.cli import run
from theory.errors import TooLargeError
from theory.exact.knapsack.search import Nodes
from theory.files.instances import instance_document
from theory.instance import Instance, additive
from theory.region.membership import CapacityProgram

ROOT = Path(__file__).parents[2]
EXAMPLES, FROZEN = ROOT / "examples", ROOT / "tests" / "frozen" / "certificates"


def vms(types: int, low: int) -> Instance:
    generator = random.Random(types)
    demands = [[generator.randint(low, 3000) for _ in range(3)] for _ in range(types)]
    workload = [Fraction(generator.randint(1, 9), 20 * types) for _ in demands]
    return additive([10_000, 10_000, 10_000], demands, workload=workload)


def written(tmp_path: Path, instance: Instance) -> str:
    path = tmp_path / "vms.json"
    path.write_text(json.dumps(instance_document(instance)))
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize(("types", "low"), [(8, 900), (16, 100)])
def test_the_checker_decides_grids_too_fine_for_tables(
    types: int, low: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "proof.json")
    path = written(tmp_path, vms(types, low))
    assert run(["region", path, "--facets", "0", "--no-headroom", "--certificate", out]) == 0
    assert not capsys.readouterr().err
    assert run(["check", out]) == 0


def without_end(_: object) -> str:
    while True:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "solve four_types.toml --servers 20",
        "region four_types.toml",
        "worst four_types.toml --vary workload",
        "throughput mixed_sizes.toml --gap 0.2",
        "share four_classes.toml --mechanism tsf",
    ],
)
def test_whoever_writes_a_certificate_hears_that_the_checker_does_not_decide_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "proof.json")
    name, file, *options = command.split()
    arguments = [name, str(EXAMPLES / file), *options, "--certificate", out]
    assert run(arguments) == 0
    assert not capsys.readouterr().err
    reason = "not decided within 0.05 s of processor time, which does not refute it: expected more with --seconds\n"
    with monkeypatch.context() as patched:
        patched.setattr(checker, "SECONDS", 0.05)
        patched.setattr(checker, "digest", without_end)
        assert run(arguments) == 0
        assert capsys.readouterr().err == f"{out}: packproof check does not decide it: {reason}"
        assert run(["check", out]) == 2
        assert reason in capsys.readouterr().err
    assert run(["check", out]) == 0


def test_a_certificate_that_is_refused_is_not_beyond_the_checker() -> None:
    document = json.loads((FROZEN / "solve_two.json").read_text())
    assert beyond_checker(document) is None
    document["claims"]["optimal"] = "1"
    with pytest.raises(checker.Refused):
        beyond_checker(document)


@pytest.mark.slow
def test_nodes_are_limited_and_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # no lines of progress, however slow the machine is
    monkeypatch.setattr(import_module("bounds.cli.app"), "INTERVAL", 1e9)
    path = written(tmp_path, vms(30, 100))
    for command in ("region", "solve"):
        assert run([command, path, "--nodes", "100"]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "gave up after 100 nodes" in err
        assert "--nodes" in err
    assert run(["solve", path, "--nodes", "100000000"]) == 0
    assert Nodes().most != 100


@pytest.mark.slow
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
