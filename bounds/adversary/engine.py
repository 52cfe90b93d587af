"""One search for bad instances of any rule: a judge gives the value of an instance, a space draws, moves and shrinks.

The value is what the rule keeps, so smaller is worse. The search keeps a few of the worst instances and changes them; a
part of its draws is fresh, so that it does not stay where it began. What it finds is shrunk, and judged again exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from bounds.adversary.budget import INTERRUPTED, Budget, OutOfTimeError

Case = TypeVar("Case")
Value = Fraction | float

KEPT = 12
"""Instances that are changed further."""

FRESH = 0.15
"""Part of the instances that are drawn anew."""


@dataclass(frozen=True)
class Judged:
    """What a judge says of an instance.

    Attributes
    ----------
    value : Fraction or float
        What the rule keeps there; at most this, if `exact` is False.
    exact : bool
    evidence : object
        What shows it, such as a packing.
    """

    value: Value
    exact: bool = True
    evidence: Any = None


Judge = Callable[[Case], Judged]


class Space(ABC, Generic[Case]):
    """A family of instances."""

    def corners(self) -> Iterator[Case]:
        """Yield instances to begin with, such as sizes a little above 1/k."""
        return iter(())

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Case:
        """Return a random instance."""

    @abstractmethod
    def move(self, case: Case, rng: np.random.Generator) -> Case:
        """Return an instance near another one."""

    @abstractmethod
    def shrinks(self, case: Case) -> Iterator[Case]:
        """Yield simpler instances, the boldest first; each is smaller in an order without infinite descent."""


@dataclass(frozen=True)
class Found(Generic[Case]):
    """The worst instance found.

    Attributes
    ----------
    case : Case
    judged : Judged
        Of that instance, by the judge itself.
    evaluations : int
        Instances judged, by the judge or by its surrogate.
    history : tuple of (int, value)
        Evaluations and value at each improvement.
    complete : bool
        Whether the search ended by itself: at its target, or after as many evaluations as it was allowed.
    """

    case: Case
    judged: Judged
    evaluations: int
    history: tuple[tuple[int, Value], ...]
    complete: bool


def attack(
    judge: Judge[Case],
    space: Space[Case],
    *,
    seed: int = 0,
    budget: Budget | None = None,
    evaluations: int | None = None,
    target: Value | None = None,
    surrogate: Callable[[Case], Value] | None = None,
    shrink: bool = True,
) -> Found[Case]:
    """Search for the instance of a space at which a rule keeps least.

    Parameters
    ----------
    judge : callable
        ``Case -> Judged``.
    space : Space
    seed : int
        Equal seeds give equal searches; a search that is ended by the clock stops where the clock says.
    budget : Budget, optional
        On its end, or on Ctrl-C, the worst so far is returned with ``complete=False``.
    evaluations : int, optional
        Instances to judge at most.
    target : Fraction or float, optional
        The search ends when a value is at most this.
    surrogate : callable, optional
        A cheaper value for the climb. Only instances with a smaller one than all before are judged.
    shrink : bool
        Whether to look for a simpler instance that is as bad.

    Raises
    ------
    InputError
        From the rule's own errors, as its judge words them.

    Notes
    -----
    A move is accepted among the `KEPT` worst if it is at least as bad as the best of them; moves come in bursts of one
    to four. Source: packproof.

    Examples
    --------
    >>> class Numbers(Space):
    ...     def draw(self, rng): return int(rng.integers(1000))
    ...     def move(self, case, rng): return abs(case + int(rng.integers(-9, 10)))
    ...     def shrinks(self, case): return iter(())
    >>> attack(lambda n: Judged(abs(n - 617)), Numbers(), evaluations=2000).case
    617
    """
    search = _Search(judge, space, budget or Budget(), surrogate, evaluations, target)
    rng = np.random.default_rng(seed)
    try:
        search.climb(rng)
        complete = True
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        complete = False
    if shrink:
        search.shrink()
    case, judged = search.best()
    return Found(case, judged, search.count, tuple(search.history), complete)


@dataclass
class _Search(Generic[Case]):
    judge: Judge[Case]
    space: Space[Case]
    budget: Budget
    surrogate: Callable[[Case], Value] | None
    evaluations: int | None
    target: Value | None
    count: int = 0
    history: list[tuple[int, Value]] = field(default_factory=list)
    pool: list[tuple[Value, int, Case]] = field(default_factory=list)
    """The worst instances, by value; of equal ones the youngest first."""
    worst: tuple[Case, Judged] | None = None

    def climb(self, rng: np.random.Generator) -> None:
        """Judge corners first, then changed and fresh instances, until the end of the budget."""
        for case in self.space.corners():
            if self._done():
                return
            self._look(case)
        while not self._done():
            if not self.pool or rng.random() < FRESH:
                self._look(self.space.draw(rng))
                continue
            place = int(len(self.pool) * rng.random() ** 2)
            case = self.pool[place][2]
            for _ in range(int(rng.integers(1, 5))):
                case = self.space.move(case, rng)
            self._look(case)

    def _done(self) -> bool:
        value = "" if self.worst is None else f", worst {float(self.worst[1].value):.6f}"
        self.budget.spend(f"{self.count} instances judged{value}")
        if self.evaluations is not None and self.count >= self.evaluations:
            return True
        return self.target is not None and self.worst is not None and self.worst[1].value <= self.target

    def _look(self, case: Case) -> None:
        self.count += 1
        judged = None if self.surrogate else self.judge(case)
        value = judged.value if judged is not None else self.surrogate(case) if self.surrogate else 0
        if len(self.pool) == KEPT and value > self.pool[-1][0]:
            return
        self.pool = [entry for entry in self.pool if entry[2] != case]
        self.pool.append((value, -self.count, case))
        self.pool.sort(key=lambda entry: entry[:2])
        del self.pool[KEPT:]
        if not self.history or value < self.history[-1][1]:
            self.history.append((self.count, value))
            judged = judged or self.judge(case)
            if self.worst is None or judged.value < self.worst[1].value:
                self.worst = (case, judged)

    def shrink(self) -> None:
        """Replace the worst instance by simpler ones that are as bad, until none is."""
        while self.worst is not None:
            case, judged = self.worst
            for simpler in self.space.shrinks(case):
                self.count += 1
                again = self.judge(simpler)
                if again.value <= judged.value:
                    self.worst = (simpler, again)
                    break
            else:
                return

    def best(self) -> tuple[Case, Judged]:
        """Return the worst instance; the first of the space where nothing was judged in time."""
        if self.worst is None:
            case = next(self.space.corners(), None) or self.space.draw(np.random.default_rng(0))
            self.worst = (case, self.judge(case))
        return self.worst
