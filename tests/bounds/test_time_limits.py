"""A time limit counts from the first instance that was judged: what comes before is compiling."""

from __future__ import annotations

import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from bounds.adversary import budget, by_size, engine, online
from bounds.adversary.budget import Budget, OutOfTimeError
from bounds.adversary.contained import Wire, contained
from bounds.adversary.engine import Judged, attack
from bounds.adversary.items import ItemSpace, judge_items
from bounds.adversary.online import break_policy
from bounds.adversary.search import worst_instance
from bounds.results.instances.papers import four_types
from examples.rules_to_attack import first_fit
from fluid.simulation.policy_names import policy
from theory.errors import InputError

COMPILER = 1000.0
"""Seconds of the first judgement."""


class Clock:
    """A clock that work moves: the first piece takes as long as a compiler, each later one a second."""

    def __init__(self) -> None:
        self.now, self.pieces = 5.0, 0

    def monotonic(self) -> float:
        return self.now

    def work(self, *_: Any, **__: Any) -> None:
        self.now += 1.0 if self.pieces else COMPILER
        self.pieces += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    for module in (budget, engine):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=moved.monotonic, time=moved.monotonic))
    return moved


@pytest.mark.parametrize("seconds", [3.0, 20.0])
@pytest.mark.parametrize("starts", [1, 3])
def test_a_slow_first_judgement_leaves_the_limit_to_the_others(seconds: float, starts: int, clock: Clock) -> None:
    judge, said = judge_items(first_fit), []

    def slow(case: Any) -> Judged:
        clock.work()
        return judge(case)

    found = attack(slow, ItemSpace(2, 6), budget=Budget(seconds, said.append), shrink=False, starts=starts, workers=1)
    assert not found.complete
    assert seconds <= found.evaluations - 1 <= seconds + starts + 1
    assert "compiling comes first" in said[0]
    assert not any("compiling" in line for line in said[1:])


@pytest.mark.parametrize("limit", [0.0, -1.0])
def test_no_time_is_no_time(limit: float, clock: Clock) -> None:
    spent = Budget(limit)

    def search() -> None:
        for _ in range(3):
            spent.spend("")
            clock.work()

    with pytest.raises(OutOfTimeError):
        search()
    assert clock.pieces <= 2


@pytest.mark.slow
@pytest.mark.parametrize("vary", ["workload", "rewards", "all"])
def test_worst_instances_have_the_whole_limit(vary: str, clock: Clock) -> None:
    class Slow(Budget):
        def spend(self, progress: str) -> None:
            super().spend(progress)
            clock.work()

    whole = worst_instance(four_types(), vary, starts=2)
    programs = Slow(1e9)
    assert worst_instance(four_types(), vary, starts=2, budget=programs) == whole
    needed = clock.pieces  # a second each, but for the first
    clock.pieces = 0
    assert worst_instance(four_types(), vary, starts=2, budget=Slow(needed + 1.0)) == whole
    clock.pieces = 0
    assert not worst_instance(four_types(), vary, starts=2, budget=Slow(needed / 3)).complete


def test_policies_have_the_whole_limit(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the work is lost on every instance; the simulation at the end is left out."""

    def lost(*_: Any, **__: Any) -> float:
        clock.work()
        return 0.5

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(online, "lost_share", lost)
    monkeypatch.setattr(online, "growth_of", interrupted)
    monkeypatch.setattr(online, "simulate", clock.work)  # where the policy is compiled
    said: list[str] = []
    broken = break_policy(policy("bf-j"), time_limit=20.0, report=said.append)
    assert "compiling comes first" in said[0]
    assert broken.ratio == Fraction(1)
    assert 20 <= broken.found.evaluations - 1 <= 22
    clock.pieces = 0
    monkeypatch.setattr(online, "simulate", lambda *_, **__: None)  # it is compiled with the first instance
    assert 20 <= break_policy(policy("bf-j"), time_limit=20.0).found.evaluations - 1 <= 22


@pytest.mark.parametrize("begins", [True, False])
def test_the_process_that_waits_counts_from_there_as_well(begins: bool) -> None:
    def searched(wire: Wire) -> str:
        time.sleep(0.6)
        if begins:
            wire.began()
        time.sleep(0.6)
        return "answered"

    if begins:
        assert contained(searched, "mine", seconds=0.6, overtime=0.3) == "answered"
    else:
        with pytest.raises(InputError, match="gave no answer"):
            contained(searched, "mine", seconds=0.6, overtime=0.3)


def test_all_instances_of_a_size_have_the_whole_limit(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first instance is solved before the clock begins; what is decided exactly needs no more time."""
    monkeypatch.setattr(by_size, "time", SimpleNamespace(monotonic=clock.monotonic))
    solved = by_size.solve

    def slow(*given: Any) -> Any:
        clock.work()
        return solved(*given)

    monkeypatch.setattr(by_size, "solve", slow)
    said: list[str] = []
    worst = by_size.worst_by_size(3, 2, budget=Budget(100.0, said.append))
    assert "compiling comes first" in said[0]
    assert worst.complete
    assert worst.attained
