"""Packing rules by name under attack, and files of the kit and of attacks as instances of a test."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.adversary.documents import case_document
from bounds.adversary.items import Items, judge_items
from bounds.cli import run
from bounds.testing import Queue, SlottedQueue, assert_keeps, load
from bounds.testing.failures import accuse, excuse
from fluid.simulation.arrivals import ArrivalLaw, Law
from theory.errors import InputError
from theory.files.instances import write_tables
from theory.instance import additive
from theory.partition.laws import discrete
from theory.rules import RULES
from theory.sharing.model import cluster

FOUR = Items(((6,), (1,), (6,), (7,)), (12,), (0, 1, 0, 1))


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert run(["attack", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_rule_by_name_is_attacked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """First-Fit keeps 2/3 of a list that First-Fit Decreasing keeps whole; what is written is read again by the kit."""
    file, proof = tmp_path / "four.toml", tmp_path / "proof.json"
    write_tables(file, case_document(FOUR))
    how = ("--kind", "items", "--from", str(file), "--evaluations", "1")
    assert answer(capsys, "ffd", *how)["ratio"] == "1"
    again = tmp_path / "again.toml"
    worse = answer(capsys, "first-fit", *how, "--out", str(again), "--certificate", str(proof))
    assert worse["ratio"] == "2/3"
    assert run(["check", str(proof)]) == 0
    assert load(again) == FOUR
    with pytest.raises(AssertionError, match="first_fit keeps 2/3"):
        assert_keeps(RULES["first-fit"], "3/4", load(again), folder=tmp_path)


def test_names_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", "third-fit", "--kind", "items"]) == 2
    said = capsys.readouterr().err
    assert "or one of first-fit, best-fit, next-fit, worst-fit, ffd, bfd, harmonic, got 'third-fit'" in said
    assert run(["attack", "first-fit"]) == 2
    assert "expected --kind items for one that packs items" in capsys.readouterr().err
    assert run(["attack", "harmonic", "--kind", "items", "--resources", "2", "--evaluations", "3"]) == 2
    assert "expected items of one resource, got 2" in capsys.readouterr().err


@pytest.mark.parametrize("name", RULES)
def test_what_the_rules_keep_is_what_the_judge_says(name: str) -> None:
    judged = judge_items(RULES[name], name)(FOUR)
    assert judged.exact
    assert judged.value == Fraction(2, max(RULES[name]([size for (size,) in FOUR.sizes], 12)) + 1)


INSTANCE = additive([12], [[5], [7]], [1, 2], ["1/2", 3])
CASES = {
    "items": FOUR,
    "two resources": Items(((3, 1), (1, 3)), (4, 4), (0, 0)),
    "instance": INSTANCE,
    "cluster": cluster([[4, 1], [2, 2]], [[1, 0], [1, 1]], [1, 2], [[True, False], [True, True]]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    write_tables(tmp_path / "case.toml", case_document(CASES[name]))
    assert load(tmp_path / "case.toml") == CASES[name]


def test_queues_that_were_written_are_read(tmp_path: Path) -> None:
    """The workload is scaled to the share that was asked for; everything else is the same."""
    half, laws = Fraction(1, 2), (ArrivalLaw(Law("log-normal", 2.0), 3.0), Law("deterministic"))
    queue = Queue(INSTANCE, 3, *laws)
    write_tables(tmp_path / "queue.toml", queue.document(half))
    assert load(tmp_path / "queue.toml", servers=3) == Queue(queue.scaled(half), 3, *laws)
    slotted = SlottedQueue(discrete({Fraction(2, 5): half, Fraction(3, 5): half}), 2, Fraction(1, 10), True)
    write_tables(tmp_path / "slotted.toml", slotted.document(half))
    assert load(tmp_path / "slotted.toml") == slotted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[simulation]\nservice = "geometric"\n', "simulation: expected arrivals and service alone, found service"),
        ('[simulation]\narrivals = "poisson"\nservice = "no"\n', "simulation.service: expected one of exponential"),
        ("[simulation]\ninitial = { full = { t1 = 1 } }\n", "simulation: expected arrivals and service alone"),
    ],
)
def test_files_of_other_queues_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "queue.toml"
    write_tables(file, case_document(INSTANCE))
    file.write_text(file.read_text() + text)
    with pytest.raises(InputError, match=said):
        load(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[sizes]\nuniform = [0, 1]\n[simulation]\nservice_rate = "1/2"\n', "sizes: expected finitely many sizes"),
        ("[sizes]\nitems = [0.5]\n", "simulation: missing"),
        ("[sizes]\nitems = [0.5]\n[simulation]\nservice_rate = 0.7\n", "service_rate: expected 1 over a whole number"),
        ("[sizes]\nitems = [0.5]\n[simulation]\nslot = 2\n", "simulation.slot: has no meaning"),
        ("[[policy]]\n", "server: missing, expected a table"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "sizes.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        load(file)


def test_hypothesis_shows_the_failing_instance_alone() -> None:
    """An example on which the rule keeps its share is not drawn as a table beside the instance that fails."""
    from hypothesis.vendor.pretty import pretty

    table = pretty(FOUR)
    assert "items, in bins of capacity 12" in table
    excuse(FOUR)
    assert pretty(FOUR) == "<any Items: the instance that fails is the one above>"
    accuse(FOUR)
    assert pretty(FOUR) == table
