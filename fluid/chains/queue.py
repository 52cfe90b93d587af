"""The exact law of small queues, truncated where many jobs wait, with bounds on what the truncation does.

The chain is made as in `fluid.chains.loss`: the policy's own functions run on copies of its state, once for each
outcome of each draw. Continuous time: Poisson arrivals, exponential service, the policy's own clocks. Slots: at most
one job comes in a slot, each job in service ends with a probability. States in which more than N jobs wait are cut off.

Bounds. Let A be the states with at most N waiting jobs, R those of them that the chain can enter from outside, f any
quantity. The stationary law restricted to A is v M with v >= 0 carried by R and M the matrix of expected times in A
before it is left, so the mean of f given A lies between the least and the greatest of (M f)_i / (M 1)_i over i in R
(Courtois and Semal). A job can only come back from outside through states in which more than N - m jobs wait, m the
most that start at once; that these states are all that have at most N waiting jobs is checked against a chain that
reaches further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fluid.chains.loss import STATES, Branching, stationary
from fluid.simulation.authors import prepared, python_functions
from fluid.simulation.policy_interface import RESTLESS, Policy
from fluid.simulation.slotted import state as slotted
from fluid.simulation.slotted.trees import NOTHING
from fluid.simulation.state import MOVES, PATIENCE, Setting, State, copied, key, most_calls, put, take
from theory.errors import InputError, TooLargeError
from theory.greedy.servers import max_jobs
from theory.instance import Instance
from theory.jit import plain

Step = tuple[float, State, Any]
"""Rate or probability, state of the policy, jobs in service (None where the state tells)."""


@dataclass(frozen=True)
class QueueLaw:
    """The law of a queue in equilibrium, given that at most `most_waiting` jobs wait.

    Attributes
    ----------
    waiting : int64[n, J]
        Jobs of each type or class that wait, by state.
    serving : int64[n, J]
        Jobs in service.
    probability : float64[n]
        Of the chain whose steps to states beyond are left out; see `bounds`.
    most_waiting : int
        N.
    beyond : float
        Estimate, by geometric extrapolation, of the probability that more jobs wait. No bound.
    closed : bool
        Whether a chain that reaches further has no other state with at most N waiting jobs: what `bounds` rests on.
    entries : bool[n]
        R, the states that can be entered from outside.
    leaving : tuple
        Sparse matrix of the steps within A and the rates at which states are left, for `bounds`.
    residual : float
    """

    waiting: NDArray[np.int64]
    serving: NDArray[np.int64]
    probability: NDArray[np.float64]
    most_waiting: int
    beyond: float
    closed: bool
    entries: NDArray[np.bool_]
    leaving: tuple[Any, NDArray[np.float64]]
    residual: float

    def mean(self, quantity: NDArray[Any]) -> float:
        """Return the mean of a quantity given by states."""
        return float(self.probability @ quantity)

    def bounds(self, quantity: NDArray[Any]) -> tuple[float, float]:
        """Bound the mean of a quantity given A (rigorous where `closed`, up to rounding)."""
        from scipy.sparse import csc_array, diags_array
        from scipy.sparse.linalg import splu

        inside, out = self.leaving
        solve = splu(csc_array(diags_array(out) - inside)).solve
        weight, time = solve(np.asarray(quantity, float)), solve(np.ones(len(out)))
        ratios = weight[self.entries] / time[self.entries]
        return float(ratios.min()), float(ratios.max())

    @property
    def queue(self) -> NDArray[np.int64]:
        """Jobs that wait, by state, int64[n]."""
        return cast(NDArray[np.int64], self.waiting.sum(axis=1))


def queue_law(
    policy: Policy, instance: Instance, servers: int, most_waiting: int, options: dict[str, Any] | None = None
) -> QueueLaw:
    """Return the law of a queue in continuous time under a policy.

    Parameters
    ----------
    policy : Policy
        Of model ``queue``.
    instance : Instance
        Its workload and service rates give the rates.
    servers : int
    most_waiting : int
        N: states in which more jobs wait are cut off.
    options : dict, optional
        Of the policy.

    Raises
    ------
    TooLargeError
        More than `fluid.chains.loss.STATES` states.

    Examples
    --------
    >>> from fluid.simulation.policy_names import policy
    >>> from theory.instance import additive
    >>> law = queue_law(policy("nonpreemptive"), additive([1], [[1]], workload=["1/2"]), servers=1, most_waiting=60)
    >>> round(law.mean(law.queue), 9), law.closed                      # M/M/1: rho^2 / (1 - rho)
    (0.5, True)
    """
    if policy.model != "queue":
        raise InputError(f"--policy: {policy.name} is not a policy for queues in continuous time")
    setting = Setting(instance, servers, options or {})
    moves = ContinuousSteps(policy, setting)
    most = max_jobs(instance)

    def describe(state: State, _: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return state.waiting.copy(), state.totals.copy()

    return _law(prepared(policy, setting), None, moves, describe, most_waiting, most, key, policy.name)


class ContinuousSteps:
    """All events from a state of a queue in continuous time, with their rates.

    Parameters
    ----------
    policy : Policy
        Of model ``queue``.
    setting : Setting
    number : callable
        What rates are made of: ``float``, or ``Fraction`` for exact ones (a probability that the policy draws with is
        a float before it is made one).
    """

    def __init__(self, policy: Policy, setting: Setting, number: Callable[[Any], Any] = float) -> None:
        self._functions = python_functions(policy, setting.instance.names)
        self._put, self._take, self._most_calls = plain(put), plain(take), plain(most_calls)
        self._number = number
        types = setting.instance.types
        self._arrivals = [number(setting.servers * t.workload * t.service_rate) for t in types]
        self._services = [number(t.service_rate) for t in types]

    def __call__(self, state: State, _: Any = None) -> Iterator[Step]:
        """Yield rate, state after it and None for each outcome of each event."""
        for rate, event, what, server in self.events(state):
            draws = Branching()
            for _ in draws.paths():
                after = self._after(state, event, what, server, draws)
                yield rate * self._number(draws.probability), after, None

    def events(self, state: State) -> list[tuple[Any, Callable[..., None], int, int]]:
        """Return what can happen: rate, the function that does it, type or clock, server."""
        found: list[tuple[Any, Callable[..., None], int, int]]
        found = [(rate, self._arrive, j, 0) for j, rate in enumerate(self._arrivals) if rate > 0]
        for server, j in np.argwhere(state.counts > 0).tolist():
            found.append((self._services[j] * int(state.counts[server, j]), self._leave, j, server))
        return found + [(self._number(r), self._rings, k, 0) for k, r in enumerate(state.clocks.tolist()) if r > 0]

    def walk(self, state: State, generator: np.random.Generator) -> Iterator[tuple[State, float, int]]:
        """Yield a random path: each state, how long the one before lasted, and the server that a job has left or -1.

        It ends only where nothing can happen any more.
        """
        while events := self.events(state):
            rates = np.array([float(rate) for rate, *_ in events])
            total = rates.sum()
            time = float(generator.exponential(1 / total))
            _, event, what, server = events[int(np.searchsorted(rates.cumsum(), generator.random() * total))]
            state = self._after(state, event, what, server, generator)
            yield state, time, server if event == self._leave else -1

    def _after(self, state: State, event: Callable[..., None], what: int, server: int, draws: Any) -> State:
        after = copied(state)
        event(after, what, server, draws)
        again, calls = True, 0
        while again:
            if calls > PATIENCE + self._most_calls(after):
                raise self._functions.refuse("refresh", after, RESTLESS)
            after.done[MOVES] = 0
            again = bool(self._functions.refresh(after, draws))
            calls += again
        after.done[MOVES] = 0
        return after

    def with_arrival(self, state: State, j: int, draws: Any) -> State:
        """Return the state after a job of a type has come, with random choices from `draws`."""
        return self._after(state, self._arrive, j, 0, draws)

    def _arrive(self, state: State, j: int, _: int, draws: Any) -> None:
        server = self._functions.place(state, j, draws)
        if server < 0:
            state.waiting[j] += 1
        else:
            self._put(state, server, j)

    def _leave(self, state: State, j: int, server: int, draws: Any) -> None:
        self._take(state, server, j)
        self._functions.depart(state, server, j, draws)

    def _rings(self, state: State, clock: int, _: int, draws: Any) -> None:
        self._functions.ring(state, clock, draws)


def slotted_law(
    policy: Policy,
    sizes: NDArray[np.int64],
    capacity: int,
    servers: int,
    arrivals: NDArray[np.float64],
    services: NDArray[np.float64],
    most_waiting: int,
    options: dict[str, Any] | None = None,
) -> QueueLaw:
    """Return the law of a slotted queue at the ends of slots.

    Parameters
    ----------
    policy : Policy
        Of model ``slotted``.
    sizes : int64[n]
        Not decreasing.
    capacity, servers : int
    arrivals : float64[n]
        Probability that a job of each class comes in a slot; at most one comes.
    services : float64[n]
        Probability that a job in service ends in a slot.
    most_waiting : int
        N, as for `queue_law`.
    options : dict, optional

    Examples
    --------
    >>> from fluid.simulation.policy_names import policy
    >>> law = slotted_law(policy("bf-js"), np.array([1]), 1, 1, np.array([0.2]), np.array([0.4]), most_waiting=60)
    >>> round(law.mean(law.queue + law.serving.sum(axis=1)), 9)         # Geo/Geo/1: a (1 - a) / (s - a)
    0.8
    """
    if policy.model != "slotted":
        raise InputError(f"--policy: {policy.name} is not a policy for slotted queues")
    moves = SlotSteps(policy, arrivals, services)
    setting = slotted.SlottedSetting(sizes, capacity, servers, options or {})
    start = moves.canonical(prepared(policy, setting))

    def describe(state: State, serving: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return state.lines[:, slotted.COUNT].copy(), np.array(serving, np.int64).sum(axis=0)

    def name(state: State, serving: Any = None) -> bytes:
        return key(state) + repr(serving).encode()

    most = servers * (capacity // int(sizes[0]))
    nobody = ((0,) * len(sizes),) * servers
    return _law(start, nobody, moves, describe, most_waiting, most, name, policy.name)


class SlotSteps:
    """All slots from a state of a slotted queue, with their probabilities."""

    def __init__(self, policy: Policy, arrivals: NDArray[np.float64], services: NDArray[np.float64]) -> None:
        self._functions = python_functions(policy)
        self._join, self._begin, self._end = plain(slotted.join), plain(slotted.begin), plain(slotted.end)
        self._arrivals = [(float(p), c) for c, p in enumerate(arrivals) if p > 0]
        self._services = [float(p) for p in services]

    def __call__(self, state: State, serving: Any) -> Iterator[Step]:
        """Yield probability, state after it and jobs in service for each outcome of the next slot."""
        held = [(server, c, n) for server, row in enumerate(serving) for c, n in enumerate(row) if n]
        none = 1 - sum(p for p, _ in self._arrivals)
        for ended in product(*(range(n + 1) for *_, n in held)):
            chance = 1.0
            for (_, c, n), k in zip(held, ended, strict=True):
                chance *= comb(n, k) * self._services[c] ** k * (1 - self._services[c]) ** (n - k)
            for probability, coming in (*self._arrivals, (none, None)):
                if chance * probability > 0:
                    yield from self._slot(state, serving, chance * probability, held, ended, coming)

    def _slot(
        self, state: State, serving: Any, chance: float, held: Any, ended: Any, coming: int | None
    ) -> Iterator[Step]:
        gone = [(server, c) for (server, c, _), k in zip(held, ended, strict=True) for _ in range(k)]
        for probability, after, jobs in self.slot(state, serving, gone, () if coming is None else (coming,)):
            yield chance * probability, self.canonical(after), jobs

    def slot(
        self, state: State, serving: Any, ended: Sequence[tuple[int, int]], coming: Sequence[int]
    ) -> Iterator[Step]:
        """Yield probability, state and jobs in service after a slot, for each outcome of the policy's draws.

        Parameters
        ----------
        state : State
        serving : tuple of tuple of int, shape (L, n)
            Jobs in service.
        ended : sequence of (server, class)
            Jobs that end in the slot.
        coming : sequence of int
            Classes of the jobs that come in it, in their order.
        """
        draws = Branching()
        for _ in draws.paths():
            after = copied(state)
            jobs = [list(row) for row in serving]
            for server, c in ended:
                jobs[server][c] -= 1
                self._end(after, c, server)
                self._functions.depart(after, server, c, draws)
            for c in coming:
                self._join(after, c)
            limit = PATIENCE + 10 * (len(after.free) + int(after.counters[slotted.WAITING]))
            calls = 0
            while self._functions.refresh(after, draws):
                self._follow(after, jobs)
                calls += 1
                if calls > limit:
                    raise self._functions.refuse("refresh", after, RESTLESS)
            self._follow(after, jobs)
            for c in coming:
                server = self._functions.place(after, c, draws) if after.lines[c, slotted.COUNT] > 0 else -1
                if server >= 0:
                    self._begin(after, c, server)
                    self._follow(after, jobs)
            yield draws.probability, after, tuple(map(tuple, jobs))

    @staticmethod
    def _follow(state: State, jobs: list[list[int]]) -> None:
        for c, _, server in state.moves[: state.done[MOVES]].tolist():
            jobs[server][c] += 1
        state.done[MOVES] = 0

    def canonical(self, state: State) -> State:
        """Number the waiting jobs anew, so that states that differ in their history alone are equal."""
        line = []
        for c in range(len(state.sizes)):
            at = state.lines[c, slotted.FIRST]
            while at >= 0:
                line.append((state.number[at] if len(state.heads) else 0, c))
                at = state.after[at]
        return self.with_line(state, [c for _, c in sorted(line)])

    def with_more(self, state: State, classes: Sequence[int]) -> State:
        """Return the state with more jobs of these classes behind those that wait."""
        more = copied(state)
        used = int(more.counters[slotted.WAITING]) + len(classes)
        if used >= len(more.after):
            more = slotted.with_places(more, 2 * used)
        for c in classes:
            self._join(more, c)
        return more

    def with_line(self, state: State, line: Sequence[int]) -> State:
        """Return the state with jobs of these classes, in the order of their arrival, for those that wait."""
        room = max(16, 2 * len(line))
        blank = state._replace(
            lines=np.column_stack(
                [np.full((len(state.sizes), 2), -1), state.sizes, np.zeros(len(state.sizes), np.int64)]
            ),
            after=np.append(np.arange(1, room), -1),
            number=np.zeros(room, np.int64),
            counters=np.zeros(3, np.int64),
            words=np.zeros_like(state.words),
            heads=np.full_like(state.heads, NOTHING),
            queues=np.zeros_like(state.queues),
        )
        for c in line:
            self._join(blank, c)
        blank.done[:] = 0
        blank.moves[:] = 0
        return blank


def _law(
    start: State,
    jobs: Any,
    steps: Callable[[State, Any], Iterator[Step]],
    describe: Callable[[State, Any], tuple[NDArray[np.int64], NDArray[np.int64]]],
    most_waiting: int,
    most: int,
    name: Callable[..., bytes],
    policy: str,
) -> QueueLaw:
    """Explore the states with at most N waiting jobs, and further to see that none is missed; solve for the law."""
    number: dict[bytes, int] = {}
    waiting: list[NDArray[np.int64]] = []
    serving: list[NDArray[np.int64]] = []
    todo: list[tuple[State, Any]] = []
    rates: list[tuple[int, int, float]] = []

    def add(state: State, held: Any) -> int:
        title = name(state) if held is None else name(state, held)
        if title not in number:
            if len(number) >= STATES:
                raise TooLargeError(
                    f"the chain of {policy} has more than {STATES:,} states: keep fewer waiting jobs, or take fewer or "
                    "smaller servers"
                )
            number[title] = len(number)
            queue, inside = describe(state, held)
            waiting.append(queue)
            serving.append(inside)
            todo.append((state, held))
        return number[title]

    def expand(frontier: list[int], limit: int) -> list[int]:
        """Follow the states with at most so many waiting jobs; return the others."""
        beyond = []
        while frontier:
            here = frontier.pop()
            if waiting[here].sum() > limit:
                beyond.append(here)
                continue
            before = len(number)
            for rate, after, inside in steps(*todo[here]):
                rates.append((here, add(after, inside), rate))
            frontier += range(before, len(number))
        return beyond

    frontier = expand([add(start, jobs)], most_waiting)
    found = len(number) - len(frontier)
    expand(frontier, most_waiting + 2)
    closed = found == sum(int(w.sum()) <= most_waiting for w in waiting)
    totals = np.array([int(w.sum()) for w in waiting])
    inside_a = totals <= most_waiting
    place = np.cumsum(inside_a) - 1
    rows, columns, values = (np.array(x) for x in zip(*rates, strict=True))
    out = np.zeros(len(totals))
    np.add.at(out, rows[rows != columns], values[rows != columns])
    both = inside_a[rows] & inside_a[columns] & (rows != columns)
    n = int(inside_a.sum())
    r, c, v = place[rows[both]], place[columns[both]], values[both]
    probability, residual = stationary(n, r, c, v)
    from scipy.sparse import coo_array, csc_array

    levels = np.bincount(totals[inside_a], weights=probability, minlength=most_waiting + 1)
    # the last level also carries what is cut off, so the decay is read before it
    ratio = (
        levels[most_waiting - 1] / levels[most_waiting - 2]
        if most_waiting > 1 and levels[most_waiting - 2] > 0
        else 0.0
    )
    beyond = float(levels[most_waiting - 1] * ratio**2 / (1 - ratio)) if ratio < 1 else float("inf")
    return QueueLaw(
        np.array(waiting)[inside_a],
        np.array(serving)[inside_a],
        probability,
        most_waiting,
        beyond,
        closed,
        totals[inside_a] > most_waiting - most,
        (csc_array(coo_array((v, (r, c)), shape=(n, n))), out[inside_a]),
        residual,
    )
