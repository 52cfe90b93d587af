"""Mechanisms as records: what the six say of themselves is true, and a seventh needs one record and nothing else."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.adversary.rules import rule_named
from bounds.cli import run
from bounds.results.instances.drawn import random_cluster
from theory.errors import InputError
from theory.files.clusters import read_cluster
from theory.numbers import total
from theory.sharing import PROPERTIES, decide, strategy_proofness
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.levels import LevelRule
from theory.sharing.mechanisms import MECHANISMS, Mechanism, is_certified, level_mechanism
from theory.sharing.model import Cluster

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
EXAMPLE = str(EXAMPLES / "four_classes.toml")


def test_names_are_those_of_the_records() -> None:
    assert {name: one.name for name, one in MECHANISMS.items()} == {name: name for name in MECHANISMS}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MECHANISMS))
def test_properties_hold(name: str) -> None:
    mechanism, generator = MECHANISMS[name], random.Random(7)
    assert mechanism.properties <= set(PROPERTIES)
    failed = set()
    for _ in range(60):
        resources = generator.randint(1, 3)
        instance = random_cluster(generator, generator.randint(2, 5), generator.randint(1, 4), resources)
        failed |= {one for one, verdict in decide(mechanism(instance)).items() if not verdict.holds}
    assert not failed & mechanism.properties


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_what_is_recorded_of_an_allocation(name: str) -> None:
    mechanism, instance = MECHANISMS[name], random_cluster(random.Random(3), 5, 3, 2)
    allocation = mechanism(instance)
    assert (allocation.mechanism, allocation.division) == (name, mechanism.division)
    assert (allocation.cluster != instance) == mechanism.pools_servers
    assert is_certified(allocation)
    if mechanism.numeric is not None:
        near = mechanism.numeric.allocate(instance, 1e-6)
        assert near.violation is not None
        assert near.violation.value <= 1e-6
        assert bool(near.stages) == mechanism.numeric.has_prices


def test_a_cluster_that_is_too_large_is_refused_before_it_is_divided(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """By the record, by `--mechanism all` before anything is computed, and in one line."""
    small = replace(level_mechanism(LevelRule("tsf", lambda _: pytest.fail("divided"))), most_pairs=15)
    monkeypatch.setitem(MECHANISMS, "tsf", small)
    with pytest.raises(InputError, match=r"^shares by tsf: expected at most 15 pairs of user and server class, got 16"):
        MECHANISMS["tsf"](read_cluster(EXAMPLE))
    for name in ("tsf", "all"):
        assert run(["share", EXAMPLE, "--mechanism", name]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.splitlines()[-1].startswith("shares by tsf: expected at most 15 pairs")
        assert "--mechanism ps-dsf" in err


def equal_tasks() -> Mechanism:
    """A mechanism that is max-min fair in the tasks for each unit of weight, whatever they are."""
    return level_mechanism(LevelRule("equal-tasks", lambda cluster: cluster.weights))


def uniform_tasks(cluster: Cluster) -> Allocation:
    """Give every user its weight's part of every server."""
    whole = total(cluster.weights)
    tasks = tuple(
        tuple(weight / whole * gamma for gamma in row)
        for weight, row in zip(cluster.weights, cluster.monopoly, strict=True)
    )
    return Allocation("uniform", cluster, tasks)


UNIFORM = Mechanism(
    "uniform",
    uniform_tasks,
    lambda allocation: is_feasible_allocation(allocation.cluster, allocation.tasks),
    "uniform division",
    properties=frozenset({"sharing_incentive"}),
)


@pytest.mark.parametrize("seventh", [equal_tasks(), UNIFORM], ids=lambda one: one.name)
def test_a_seventh_mechanism_without_the_command(seventh: Mechanism) -> None:
    for seed in range(6):
        instance = random_cluster(random.Random(seed), 5, 3, 3)
        allocation = seventh(instance)
        assert is_certified(allocation, seventh)
        assert all(decide(allocation)[name].holds for name in seventh.properties)
    less = Allocation(seventh.name, instance, tuple(tuple(2 * x for x in row) for row in allocation.tasks))
    assert not is_certified(less, seventh)
    assert strategy_proofness(seventh, instance, rounds=1).witness is not None


@pytest.mark.slow
def test_a_seventh_mechanism_by_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """One more entry of the table, and every option takes it; nothing else of packproof has changed."""
    monkeypatch.setitem(MECHANISMS, "equal-tasks", equal_tasks())
    command = ["share", EXAMPLE, "--mechanism", "equal-tasks"]
    assert run([*command, "--whole", "--lies", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["exact"]
    assert list(answer["tasks_exact"].values()) == ["140", "140", "165/4", "165/4"]  # the last two are tied to C and D
    assert run(["share", EXAMPLE, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["mechanisms"])[-1] == "equal-tasks"

    stored = tmp_path / "near.json"
    assert run([*command, "--tolerance", "1e-6", "--json"]) == 0
    stored.write_text(capsys.readouterr().out)
    assert run([*command, "--tolerance", "1e-6", "--check", str(stored)]) == 0
    assert "of max-min fairness" in capsys.readouterr().out
    assert run([*command, "--tolerance", "1e-7"]) == 2
    assert "at least 1e-06" in capsys.readouterr().err
    assert run([*command, "--events", str(EXAMPLES / "user_4_leaves.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mechanism"] == "equal-tasks"
    assert run([*command, "--certificate", str(tmp_path / "c.json")]) == 2
    assert capsys.readouterr().err == "--certificate: packproof check knows no certificate of equal-tasks\n"

    shared = read_cluster(EXAMPLE)
    tasks = rule_named("equal-tasks", "sharing")(shared)
    assert [str(sum(row, Fraction(0))) for row in tasks] == ["140", "140", "165/4", "165/4"]


def test_a_mechanism_without_numeric_shares(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(MECHANISMS, "uniform", UNIFORM)
    assert run(["share", EXAMPLE, "--mechanism", "uniform", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["sharing_incentive"]["holds"]
    assert run(["share", EXAMPLE, "--mechanism", "uniform", "--tolerance", "1e-3"]) == 2
    assert "uniform is exact at any size, leave --tolerance out" in capsys.readouterr().err
