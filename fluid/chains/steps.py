"""The steps that a queue can take from a state, made by the policy's own functions: events in time, and slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.chains.loss import Branching, settling
from fluid.simulation.authors import python_functions
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted import state as slotted
from fluid.simulation.slotted.loop import most_calls
from fluid.simulation.state import MOVES, Setting, State, copied, put, take
from fluid.simulation.structures.searches import new_tree
from theory.compiled import plain

Step = tuple[float, State, Any]
"""Rate or probability, state of the policy, jobs in service (None where the state tells)."""


def _clear_moves(state: State, *_: Any) -> None:
    state.done[MOVES] = 0


class ContinuousSteps:
    """All events from a state of a queue in continuous time, with their rates.

    Rates are made by `number`: ``float``, or ``Fraction`` for exact ones (a probability that the policy draws with is a
    float before it is made one).
    """

    def __init__(self, policy: Policy, setting: Setting, number: Callable[[Any], Any] = float) -> None:
        self._functions = python_functions(policy, setting.instance.names)
        self._put, self._take, self.settle = plain(put), plain(take), settling(self._functions, _clear_moves)
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
        outcomes: list[tuple[Any, Callable[..., None], int, int]]
        outcomes = [(rate, self._arrive, j, 0) for j, rate in enumerate(self._arrivals) if rate > 0]
        for server, j in np.argwhere(state.counts > 0).tolist():
            outcomes.append((self._services[j] * int(state.counts[server, j]), self._leave, j, server))
        return outcomes + [(self._number(r), self._rings, k, 0) for k, r in enumerate(state.clocks.tolist()) if r > 0]

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
        self.settle(after, None, draws)
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


class SlotSteps:
    """All slots from a state of a slotted queue, with their probabilities."""

    def __init__(self, policy: Policy, arrivals: NDArray[np.float64], services: NDArray[np.float64]) -> None:
        self._functions = python_functions(policy)
        self._join, self._begin, self._end = plain(slotted.join), plain(slotted.begin), plain(slotted.end)
        self._settle = settling(self._functions, self._follow, most_calls)
        self._arrivals = [(float(p), c) for c, p in enumerate(arrivals) if p > 0]
        self._services = [float(p) for p in services]

    def __call__(self, state: State, serving: Any) -> Iterator[Step]:
        """Yield probability, state after it and jobs in service for each outcome of the next slot."""
        # jobs of one class on one server end alike: binomial numbers of them, independent between the groups
        groups = [(server, c, n) for server, row in enumerate(serving) for c, n in enumerate(row) if n]
        none = 1 - sum(p for p, _ in self._arrivals)
        for ended in product(*(range(n + 1) for *_, n in groups)):
            chance = 1.0
            for (_, c, n), k in zip(groups, ended, strict=True):
                chance *= comb(n, k) * self._services[c] ** k * (1 - self._services[c]) ** (n - k)
            for probability, coming in (*self._arrivals, (none, None)):
                if chance * probability > 0:
                    yield from self._slot(state, serving, chance * probability, groups, ended, coming)

    def _slot(
        self, state: State, serving: Any, chance: float, groups: Any, ended: Any, coming: int | None
    ) -> Iterator[Step]:
        gone = [(server, c) for (server, c, _), k in zip(groups, ended, strict=True) for _ in range(k)]
        for probability, after, jobs in self.slot(state, serving, gone, () if coming is None else (coming,)):
            yield chance * probability, self.canonical(after), jobs

    def slot(
        self, state: State, serving: Any, ended: Sequence[tuple[int, int]], coming: Sequence[int]
    ) -> Iterator[Step]:
        """Yield probability, state and jobs in service after a slot, for each outcome of the policy's draws.

        Jobs in service are a tuple of shape (L, n); those that end in the slot are pairs (server, class), and those
        that come are classes, in their order.
        """
        draws = Branching()
        for _ in draws.paths():
            after = copied(state)
            jobs = [list(row) for row in serving]
            for server, c in ended:
                jobs[server][c] -= 1
                self._end(after, c, server)
                self._functions.depart(after, server, c, draws)
            after = self._joined(after, coming)
            self._settle(after, jobs, draws)
            for c in coming:
                server = self._functions.place(after, c, draws) if after.lines[c, slotted.COUNT] > 0 else -1
                if server >= 0:
                    self._begin(after, c, server)
                    self._follow(after, jobs)
            yield draws.probability, after, tuple(map(tuple, jobs))

    @staticmethod
    def _follow(state: State, jobs: list[list[int]], *_: Any) -> None:
        for c, _, server in state.moves[: state.done[MOVES]].tolist():
            jobs[server][c] += 1
        state.done[MOVES] = 0

    def canonical(self, state: State) -> State:
        """Number the waiting jobs anew, so that states that differ in their history alone are equal."""
        line = []
        in_order = slotted.has_arrivals(state) or slotted.has_fronts(state)
        for c in range(len(state.sizes)):
            at = state.lines[c, slotted.FIRST]
            while at >= 0:
                line.append((state.number[at] if in_order else 0, c))
                at = state.after[at]
        return self.with_line(state, [c for _, c in sorted(line)])

    def with_more(self, state: State, classes: Sequence[int]) -> State:
        """Return the state with more jobs of these classes behind those that wait."""
        return self._joined(copied(state), classes)

    def _joined(self, state: State, classes: Sequence[int]) -> State:
        """Put jobs behind those that wait, in place as long as there are places for them."""
        used = int(state.counters[slotted.WAITING]) + len(classes)
        if used >= len(state.after):
            state = slotted.with_places(state, 2 * used)
        for c in classes:
            self._join(state, c)
        return state

    def with_line(self, state: State, line: Sequence[int]) -> State:
        """Return the state with jobs of these classes, in the order of their arrival, for those that wait."""
        length = max(16, 2 * len(line))
        blank = state._replace(
            lines=slotted.empty_lines(len(state.sizes)),
            after=np.append(np.arange(1, length), -1),
            number=np.zeros(length, np.int64),
            counters=np.zeros(4, np.int64),
            words=np.zeros_like(state.words),
            arrived=new_tree(2 * length) if slotted.has_arrivals(state) else state.arrived,
            queues=np.zeros_like(state.queues),
            order=np.full((length, 2), -1) if slotted.has_fronts(state) else state.order,
            fronts=np.full_like(state.fronts, -1),
        )
        for c in line:
            self._join(blank, c)
        blank.done[:] = 0
        blank.moves[:] = 0
        return blank
