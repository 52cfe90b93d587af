"""The search for bad instances of any rule: a judge values an instance, a space draws, moves and shrinks them.

The value is what the rule keeps, so smaller is worse. The search keeps a few of the worst instances and changes them; a
part of its draws is fresh, so that it does not stay where it began. What it finds is shrunk, and judged again exactly.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from bounds.adversary.budget import INTERRUPTED, OVERTIME, Budget, OutOfTimeError
from fluid.parallel import run_all
from theory.numbers import many
from theory.shown import Shown

Case = TypeVar("Case")
Value = Fraction | float

KEPT = 12  # instances that are changed further
FRESH = 0.15  # part of the instances that are drawn anew
ROUND = (64, 4096)  # evaluations in the first round of several starts, and in the longest: what a Ctrl-C loses at most


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


class Watch:
    """The listener of a search while it goes on; this one ignores everything."""

    def judging(self, case: object) -> None:
        """Take note of an instance, before the rule is called on it."""

    def improved(self, found: Found[Any]) -> None:
        """Take note of the worst instance so far."""

    def report(self, progress: str) -> None:
        """Take note of how far the search is."""

    def began(self) -> None:
        """Take note that the time limit begins."""


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


Row = tuple[Any, ...]


def with_entry(row: Row, i: int, value: Any) -> Row:
    """Return a row with one entry changed.

    >>> with_entry((4, 5, 6), 1, 0), without_entry((4, 5, 6), 1), in_order((4, 5, 6), (2, 0))
    ((4, 0, 6), (4, 6), (6, 4))
    """
    return (*row[:i], value, *row[i + 1 :])


def without_entry(row: Row, i: int) -> Row:
    """Return a row without one entry."""
    return (*row[:i], *row[i + 1 :])


def in_order(row: Sequence[Any], places: Sequence[int]) -> Row:
    """Return the entries at some places of a row, in their order."""
    return tuple(row[i] for i in places)


def on_grid(rows: Sequence[Row], capacity: Row, grid: int, *, up: bool = False) -> tuple[Row, ...]:
    """Return demands in units of one over `grid` of each capacity, rounded down, or up.

    >>> on_grid([(5, 6)], (12, 9), 4), on_grid([(5, 6)], (12, 9), 4, up=True)
    (((1, 2),), ((2, 3),))
    """
    return tuple(
        tuple(-(-d * grid // c) if up else d * grid // c for d, c in zip(row, capacity, strict=True)) for row in rows
    )


@dataclass(frozen=True, repr=False)
class Found(Shown, Generic[Case]):
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
    shrinking : int
        How many of the evaluations were in shrinking the worst instance, which the limit of a search leaves out.
    """

    case: Case
    judged: Judged
    evaluations: int
    history: tuple[tuple[int, Value], ...]
    complete: bool
    shrinking: int = 0


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
    begin: Sequence[Case] = (),
    starts: int = 1,
    workers: int = 1,
    engine: str = "local",
    watch: Watch | None = None,
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
        Instances to judge at most, before shrinking.
    target : Fraction or float, optional
        The search ends when a value is at most this.
    surrogate : callable, optional
        A cheaper value for the climb. Only instances with a smaller one than all before are judged.
    shrink : bool
        Whether to look for a simpler instance that is as bad.
    begin : sequence of Case
        Instances of the space to judge first, such as the worst of an earlier search.
    starts : int
        Independent searches, which divide the evaluations among them. The first one begins at `begin` and at the
        corners of the space, the others at random; the worst instance of all is shrunk.
    workers : int
        Processes for several starts (-1: one a core). The answer does not depend on their number.
    engine : str
        ``local``, or ``dask://HOST:PORT``, as for `packproof.simulate`; there a single start is a task, too.
    watch : Watch, optional
        Listens to instances before they are judged, and to improvements.

    Raises
    ------
    InputError
        From the rule's own errors, as its judge words them.

    Notes
    -----
    A move is accepted among the `KEPT` worst if it is at least as bad as the best of them; moves come in bursts of one
    to four. Several starts go on in rounds, each of the same number of evaluations for all of them; after a round in
    which one has reached the target, all stop. Shrinking ends `OVERTIME` after the time limit. The judge runs in this
    process: `bounds.adversary.contained.contained` runs a search in another one, which is ended where a rule loops.
    Source: packproof.

    Examples
    --------
    >>> class Numbers(Space):
    ...     def draw(self, rng): return int(rng.integers(1000))
    ...     def move(self, case, rng): return abs(case + int(rng.integers(-9, 10)))
    ...     def shrinks(self, case): return iter(())
    >>> attack(lambda n: Judged(abs(n - 617)), Numbers(), evaluations=2000).case
    617
    """
    shared, watched = budget or Budget(), watch or Watch()
    climbs = [
        Climb(
            judge,
            space,
            np.random.default_rng(seed if i == 0 else np.random.SeedSequence(seed, spawn_key=(i,))),
            surrogate,
            None if evaluations is None else evaluations // starts + (i < evaluations % starts),
            target,
            [*begin, *space.corners()] if i == 0 else [],
            watched,
        )
        for i in range(starts)
    ]
    try:
        if starts == 1 and engine == "local":
            climbs[0].go_on(shared)
        else:
            in_rounds(climbs, shared, workers, engine, watched)
        complete = True
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        complete = False
    best = _worst_of(climbs)
    best.watch = watched
    searched = sum(climb.count for climb in climbs)
    if shrink:
        best.shrink(shared)
    case, judged = best.best()
    total = sum(climb.count for climb in climbs)
    return Found(case, judged, total, tuple(best.history), complete, total - searched)


@dataclass
class Climb(Generic[Case]):
    """One search, which can stop, travel to another process, and go on."""

    judge: Judge[Case]
    space: Space[Case]
    rng: np.random.Generator
    surrogate: Callable[[Case], Value] | None
    evaluations: int | None
    target: Value | None
    opening: list[Case]  # instances to be judged before all others
    watch: Watch = field(default_factory=Watch)
    count: int = 0
    history: list[tuple[int, Value]] = field(default_factory=list)
    pool: list[tuple[Value, int, Case]] = field(default_factory=list)
    """The worst instances, by value; of equal ones the youngest first."""
    worst: tuple[Case, Judged] | None = None

    @property
    def least(self) -> Value:
        """The least value so far."""
        return 1 if self.worst is None else self.worst[1].value

    @property
    def done(self) -> bool:
        """Whether it has reached its target, or has judged as many instances as it may."""
        if self.evaluations is not None and self.count >= self.evaluations:
            return True
        return self.reached

    @property
    def reached(self) -> bool:
        """Whether it has reached its target."""
        return self.target is not None and self.worst is not None and self.least <= self.target

    def go_on(self, budget: Budget, number: int | None = None) -> None:
        """Judge the opening first, then changed and fresh instances, at most `number` if it is given."""
        end = None if number is None else self.count + number
        while not self.done and (end is None or self.count < end):
            value = "" if self.worst is None else f", worst {float(self.least):.6f}"
            budget.spend(f"{many(self.count, 'instance')} judged{value}")
            self._look(self._next())

    def _next(self) -> Case:
        if self.opening:
            return self.opening.pop(0)
        # a part of the draws is fresh, so that the climb does not stay where it began
        if not self.pool or self.rng.random() < FRESH:
            return self.space.draw(self.rng)
        # the square prefers the worst, which stand first
        case = self.pool[int(len(self.pool) * self.rng.random() ** 2)][2]
        for _ in range(int(self.rng.integers(1, 5))):
            case = self.space.move(case, self.rng)
        return case

    def _look(self, case: Case) -> None:
        self.count += 1
        self.watch.judging(case)
        judged = None if self.surrogate else self.judge(case)
        value = judged.value if judged is not None else self.surrogate(case) if self.surrogate else 0
        if len(self.pool) == KEPT and value > self.pool[-1][0]:
            return
        # invariant: the pool is sorted by value, and no instance is in it twice
        self.pool = [entry for entry in self.pool if entry[2] != case]
        self.pool.append((value, -self.count, case))
        self.pool.sort(key=lambda entry: entry[:2])
        del self.pool[KEPT:]
        if not self.history or value < self.history[-1][1]:
            self.history.append((self.count, value))
            judged = judged or self.judge(case)
            if self.worst is None or judged.value < self.worst[1].value:
                self._replace_worst(case, judged)

    def _replace_worst(self, case: Case, judged: Judged) -> None:
        self.worst = (case, judged)
        self.watch.improved(Found(case, judged, self.count, tuple(self.history), complete=False))

    def shrink(self, budget: Budget) -> None:
        """Replace the worst instance by simpler ones that are as bad, until none is, or the overtime ends."""
        while self.worst is not None:
            case, judged = self.worst
            for simpler in self.space.shrinks(case):
                if budget.left < -OVERTIME:
                    return
                self.count += 1
                self.watch.judging(simpler)
                again = self.judge(simpler)
                if again.value <= judged.value:
                    self._replace_worst(simpler, again)
                    break
            else:
                return

    def best(self) -> tuple[Case, Judged]:
        """Return the worst instance; the first of the space where nothing was judged in time."""
        if self.worst is None:
            case = next(self.space.corners(), None) or self.space.draw(np.random.default_rng(0))
            self.watch.judging(case)
            self.worst = (case, self.judge(case))
        return self.worst


def _worst_of(climbs: Sequence[Climb[Case]]) -> Climb[Case]:
    """Return the first search of those with the least value."""
    return min((climb for climb in climbs if climb.worst), key=lambda climb: climb.least, default=climbs[0])


def in_rounds(climbs: list[Climb[Case]], budget: Budget, workers: int, engine: str, watch: Watch) -> None:
    """Let several searches go on, in processes, until all are done or one has reached its target.

    At the end of the budget, or on Ctrl-C, what was finished by then is in `climbs`.
    """
    length = ROUND[0]
    climbs[0].go_on(budget, 1)  # compiles, here and for the processes, before the clock begins
    budget.begin()
    while not any(climb.reached for climb in climbs):
        going = [i for i, climb in enumerate(climbs) if not climb.done]
        if not going:
            return
        # the clock on the wall may be set meanwhile, but it is the one that machines share
        clock = time.monotonic if engine == "local" else time.time
        tasks = [(climbs[i], length, clock, clock() + budget.left) for i in going]
        late = False
        for place, (climb, in_time) in run_all(_one_round, tasks, workers=workers, engine=engine):
            climbs[going[place]] = climb
            late |= not in_time
        best, count = _worst_of(climbs), sum(climb.count for climb in climbs)
        if best.worst is not None:
            watch.improved(Found(*best.worst, count, tuple(best.history), complete=False))
        budget.spend(f"{many(count, 'instance')} judged, worst {float(best.least):.6f}")
        if late:
            raise OutOfTimeError
        length = min(2 * length, ROUND[1])


def _one_round(climb: Climb[Case], length: int, clock: Callable[[], float], until: float) -> tuple[Climb[Case], bool]:
    """Let a search go on until a time of a clock, and return whether it was in time."""
    try:
        climb.go_on(Budget(until - clock()), length)
    except OutOfTimeError:
        return climb, False
    return climb, True
