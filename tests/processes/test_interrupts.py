"""Ctrl-C: one that is raised, and one that a compiler swallowed, both end a long search with the best so far."""

from __future__ import annotations

import ctypes
import signal
import time
from types import SimpleNamespace

import pytest

from bounds.adversary.budget import INTERRUPTED, Budget
from bounds.adversary.search import worst_instance
from bounds.cli import run
from bounds.results.instances.papers import four_types
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack.greatest import max_reward
from theory.exact.knapsack.search import allowing
from theory.instance import additive, explicit, pooled


def test_a_swallowed_interrupt_is_noticed() -> None:
    calls = 0

    def swallow(text: str) -> None:
        nonlocal calls
        del text
        calls += 1
        INTERRUPTED.set()  # as if the exception had been lost in a callback

    worst = worst_instance(four_types(), "all", starts=1000, budget=Budget(report=swallow))
    assert calls == 1
    assert not worst.complete
    assert not INTERRUPTED.is_set()


def test_huge_units_are_refused_in_time() -> None:
    space = additive([10**12, 2 * 10**12], [[3, 4], [4, 7]]).pools[0].space
    with allowing(10**7), pytest.raises(TooLargeError, match=r"gave up after 10,000,000 nodes.*use coarser units"):
        max_reward(space, additive([1], [[1], [1]], rewards=[3, 5]).rewards)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: additive([12], [[5], [7]], rewards=[1, -1]), "rewards: expected numbers greater than 0"),
        (lambda: additive([12], [[5], [7]], rewards=[1, 0]), "rewards: expected numbers greater than 0"),
        (lambda: additive([12], [[5]], rewards=[1, 2]), "rewards: expected 1 number,"),
        (lambda: additive([12], [[5], [7]], rewards=[1]), "rewards: expected 2 numbers"),
        (lambda: additive([12], [[5], [7]], workload=[1, -1]), "workload: expected numbers of at least 0"),
        (lambda: additive([12], [[5]], rewards=["1/0"]), "rewards: expected numbers such as"),
        (lambda: additive([12], [[5], [70]]), "type 2 fits no server"),
        (lambda: additive([12], [[5], [0]]), "type 2 demands nothing"),
        (lambda: additive([12], [[-5]]), "demands: expected rows of 1 whole numbers of at least 0"),
        (lambda: additive([12], [[5, 1]]), "demands: expected rows of 1"),
        (lambda: additive([12, 9], [[5]]), "demands: expected rows of 2"),
        (lambda: additive([12], [[5.5]]), "demands: expected whole numbers"),  # type: ignore[list-item]
        (lambda: explicit([[1, -1]]), "configurations: expected rows of 2 whole numbers"),
        (lambda: explicit([[1, 0]]), "type 2 is in none"),
        (lambda: pooled([(0, [3])], [[1]]), "shares: expected numbers greater than 0"),
        (lambda: additive([12], []), "at least one pool and one type"),
    ],
)
def test_constructors_refuse_what_files_refuse(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_a_float_means_its_decimal_text() -> None:
    assert str(additive([1], [[1]], rewards=[0.1]).rewards[0]) == "1/10"


def test_an_interrupt_in_a_function_called_by_c_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where LLVM asks for machine code: what Python raises there goes no further."""
    said = []

    def command(*_: object, **__: object) -> int:
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        said.append("the function has returned")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pass
        said.append("the interrupt was lost")
        return 0

    monkeypatch.setattr("bounds.cli.application", lambda _: SimpleNamespace(parser=lambda: command))
    try:
        assert run([]) == 130
    finally:
        INTERRUPTED.clear()
    assert capsys.readouterr().err == "interrupted\n"
    assert said == ["the function has returned"]
