"""Certificates of worst workloads: made for random types, accepted, and refused where a word of them is false."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import checker
from bounds.adversary.budget import Budget, OutOfTimeError
from bounds.adversary.workload import refutation, worst_workload
from bounds.certificates.worst import worst_certificate
from bounds.cli import run
from bounds.results.instances.papers import four_types
from bounds.testing import explicit_instances, instances
from theory.files.instances import write_instance
from theory.greedy.optimal import solve
from theory.instance import Instance, additive


def certificate(instance: Instance) -> dict[str, Any]:
    worst = worst_workload(instance)
    at_worst = instance.with_workload(worst.workload)
    made = worst_certificate(solve(at_worst), refutation(at_worst, worst.ratio))
    document: dict[str, Any] = json.loads(json.dumps(made))
    return document


def signed(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "digest": checker.digest(document)}


@pytest.mark.slow
@settings(max_examples=25)
@given(instances(max_pools=3) | explicit_instances())
def test_what_is_made_is_accepted(instance: Instance) -> None:
    document = certificate(instance)
    assert Fraction(checker.check(document)["ratio"]) == worst_workload(instance).ratio


@pytest.mark.slow
@settings(max_examples=25)
@given(instances(max_pools=2) | explicit_instances(), st.fractions(0, 1))
def test_no_other_ratio_is_accepted(instance: Instance, ratio: Fraction) -> None:
    document = certificate(instance)
    if str(ratio) != document["claims"]["ratio"]:
        document["claims"]["ratio"] = str(ratio)
        with pytest.raises(checker.Refused):
            checker.check(signed(document))


@pytest.mark.slow
@settings(max_examples=25)
@given(instances(max_pools=2) | explicit_instances(), st.data())
def test_a_workload_that_is_not_the_worst_is_refused(instance: Instance, data: st.DataObject) -> None:
    document = certificate(instance)
    worst = Fraction(document["claims"]["ratio"])
    rate = st.integers(1, 20).map(lambda n: Fraction(n, 4))
    rates = data.draw(st.lists(rate, min_size=len(instance.types), max_size=len(instance.types)))
    solution = solve(instance.with_workload(rates))
    forged = worst_certificate(solution, refutation(instance, worst))
    if solution.ratio == worst:
        assert checker.check(forged)["ratio"] == str(worst)
        return
    assert solution.ratio > worst
    with pytest.raises(checker.Refused, match="do not refute"):
        checker.check(forged)


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all orders of a certificate."""
    yield node
    for below in node.get("after", {}).values():
        yield from nodes(below)


def test_every_order_counts() -> None:
    document = certificate(additive([12, 20], [[2, 5], [5, 1], [7, 3], [1, 9]], [2, 3, 4, 3]))
    count = len(list(nodes(document["evidence"]["orders"])))
    assert count > 10
    for number in range(count):
        for name in list(list(nodes(document["evidence"]["orders"]))[number].get("after", {})):
            wrong = copy.deepcopy(document)
            del list(nodes(wrong["evidence"]["orders"]))[number]["after"][name]
            with pytest.raises(checker.Refused, match="orders after"):
                checker.check(signed(wrong))
        wrong = copy.deepcopy(document)
        prices = list(nodes(wrong["evidence"]["orders"]))[number]["prices"]
        for name in prices:  # more than a stage earns
            prices[name] = "1000000"
        if prices:
            with pytest.raises(checker.Refused, match="refute"):
                checker.check(signed(wrong))


def test_a_refutation_of_more_than_is_true_is_not_made() -> None:
    instance = additive([12], [[5], [7]])
    with pytest.raises(ValueError, match="keeps only 3/4"):
        refutation(instance, Fraction(4, 5))
    with pytest.raises(OutOfTimeError):
        refutation(instance, Fraction(3, 4), Budget(-1.0))


def test_the_order_of_types_belongs_to_the_claim() -> None:
    """With the larger type first, ties are broken the other way, and the worst workload keeps more."""
    first, second = certificate(additive([12], [[5], [7]])), certificate(additive([12], [[7], [5]]))
    assert (first["claims"]["ratio"], second["claims"]["ratio"]) == ("3/4", "1")
    swapped = copy.deepcopy(first)
    swapped["instance"]["type"].reverse()
    with pytest.raises(checker.Refused):
        checker.check(signed(swapped))


@pytest.mark.slow
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given_, out, made = tmp_path / "i.toml", tmp_path / "w.toml", tmp_path / "c.json"
    write_instance(given_, four_types())
    assert (
        run(["worst", str(given_), "--vary", "workload", "--out", str(out), "--certificate", str(made), "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["exact"] == "449/515"
    assert run(["check", str(made), "--instance", str(given_)]) == 0
    assert run(["check", str(made), "--instance", str(out)]) == 0
    write_instance(given_, additive([12], [[5], [7]]))
    assert run(["check", str(made), "--instance", str(given_)]) == 1
    alone = tmp_path / "checker.py"
    shutil.copy(checker.__file__, alone)
    done = subprocess.run([sys.executable, "-I", "-S", alone, made], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "valid: ratio 449/515\n")
    capsys.readouterr()
    for arguments, said in (
        (["--vary", "all"], "has no meaning with --vary all"),
        (["--vary", "workload", "--time-limit", "0"], "not every order was decided"),
        (["--vary", "workload", "--out", str(made)], "named twice"),
    ):
        before = made.read_bytes()
        assert run(["worst", str(given_), *arguments, "--certificate", str(made)]) == 2
        assert said in capsys.readouterr().err
        assert made.read_bytes() == before
