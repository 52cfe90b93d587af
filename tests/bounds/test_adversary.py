"""The worst instances: exact where that is claimed, attained where that is said, the same in every order of types."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bounds import checker
from bounds.adversary import workload
from bounds.adversary.budget import Budget
from bounds.adversary.search import TOLERANCE, worst_instance
from bounds.adversary.workload import refutation, worst_workload
from bounds.certificates.worst import worst_certificate
from bounds.cli import run
from bounds.results.instances.papers import four_types, tight_family
from bounds.testing import instances
from theory.exact.columns import generation
from theory.files.instances import read_instance
from theory.greedy.optimal import solve
from theory.instance import Instance, additive


def test_four_types() -> None:
    worst = worst_workload(four_types())
    assert worst.ratio == Fraction(449, 515)
    assert worst.workload == tuple(map(Fraction, ("48/13", "18/13", "3", "2")))


@pytest.mark.parametrize("types", range(2, 6))
def test_the_tight_family_is_worst_at_its_own_workload(types: int) -> None:
    assert worst_workload(tight_family(types)).ratio == 1 - (1 - Fraction(1, types)) ** types


@pytest.mark.slow
@given(instances(max_types=3, max_pools=2))
def test_no_sampled_workload_is_worse(instance: Instance) -> None:
    worst = worst_workload(instance)
    assert worst.complete
    assert solve(instance.with_workload(worst.workload)).ratio == worst.ratio
    generator = np.random.default_rng(0)
    for _ in range(10):
        workload = [Fraction(int(w), 8) for w in generator.integers(0, 40, len(instance.types))]
        assert solve(instance.with_workload(workload)).ratio >= worst.ratio


@pytest.mark.parametrize("seed", range(6))
def test_configurations_that_leave_do_not_change_the_worst(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages of greedy join between configurations that are sought: their columns keep their places."""
    draw = random.Random(seed)
    demands = [[draw.randint(1, 16), draw.randint(1, 20)] for _ in range(5)]
    instance = additive([48, 64], demands, [draw.randint(1, 50) for _ in demands])
    listed = worst_workload(instance)
    monkeypatch.setattr(generation, "ENUMERATE_BELOW", 0)
    monkeypatch.setattr(generation, "STAYING", 0)
    sought = worst_workload(instance)
    assert (sought.ratio, sought.complete) == (listed.ratio, True)
    checker.check(worst_certificate(solve(instance.with_workload(sought.workload)), refutation(instance, sought.ratio)))


@pytest.mark.slow
@pytest.mark.parametrize(("demands", "infimum"), [((5, 7), Fraction(3, 4)), ((3, 1, 7), Fraction(101, 136))])
def test_everything_varied_in_every_order(demands: tuple[int, ...], infimum: Fraction) -> None:
    for order in permutations(demands):
        worst = worst_instance(additive([12], [[d] for d in order], order), "all", starts=4)
        assert worst.infimum == infimum
        assert 0 <= worst.ratio - infimum <= TOLERANCE
        assert solve(worst.instance).ratio == worst.ratio
        for again in permutations(range(len(order))):  # off the ties the order cannot matter
            assert solve(worst.instance.reordered(again)).ratio == worst.ratio


def test_rewards_alone() -> None:
    worst = worst_instance(additive([12], [[5], [7]], [5, 7]), "rewards")
    assert worst.infimum == Fraction(3, 4)
    assert worst.instance.workload == (1, 1)


@pytest.mark.parametrize("clearly", [10, -10])
def test_floats_of_relaxations_do_not_decide(clearly: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether every relaxation is made exact, or none that floats take for promising by far: the worst is the same."""
    usual = worst_workload(four_types())
    monkeypatch.setattr(workload, "CLEARLY", clearly)
    again = worst_workload(four_types())
    assert (again.ratio, again.complete) == (usual.ratio, True)
    assert again.programs >= usual.programs if clearly < 0 else again.programs == usual.programs


@pytest.mark.slow
def test_time_limit_gives_the_best_so_far() -> None:
    start = time.monotonic()
    worst = worst_instance(four_types(), "all", starts=10**6, budget=Budget(1.0))
    assert not worst.complete
    assert worst.ratio == solve(worst.instance).ratio < 1
    assert time.monotonic() - start < 30


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parent.parent.parent / "examples" / "four_types.toml"
    out = tmp_path / "worst.toml"
    assert run(["worst", str(source), "--vary", "workload", "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["exact"], answer["is_worst"]) == ("449/515", True)
    assert solve(read_instance(out)).ratio == Fraction(449, 515)
    assert run(["worst", str(source), "--vary", "nothing"]) == 2


SEARCHING = """
import sys
from bounds.adversary.budget import Budget
from bounds.cli import main

spend, units = Budget.spend, []

def noted(budget, progress):
    units.append(progress)
    if len(units) == 100:
        print("it searches", file=sys.stderr, flush=True)
    spend(budget, progress)

Budget.spend = noted
main()
"""
"""The command, which says when its search has been under way for a while."""


@pytest.mark.slow
def test_interrupt_gives_the_best_so_far(tmp_path: Path) -> None:
    source = Path(__file__).parent.parent.parent / "examples" / "four_types.toml"
    out = tmp_path / "worst.toml"
    words = ["worst", str(source), "--vary", "all", "--starts", "1000000", "--out", str(out), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", SEARCHING, *words],
        cwd=source.parent.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "it searches\n" in process.stderr
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    answer = json.loads(printed)
    assert not answer["complete"]
    assert str(solve(read_instance(out)).ratio) == answer["exact"]
