"""The exact stationary law of a small loss system, from the chain that the policy's own functions make.

Arrivals are Poisson and service is exponential. From the initial state every arrival and every departure is tried: the
policy's ``place``, ``depart`` and ``refresh`` run as plain Python on a copy of its state, once for each outcome of
each draw, and states are distinguished by the bytes of their arrays. What comes out is the generator matrix;
`fluid.chains.elimination` gives its stationary law, with the residual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.chains.elimination import stationary
from fluid.simulation.authors import Guard, Unwatched, python_functions
from fluid.simulation.loop import Function, settle
from fluid.simulation.policy_interface import RESTLESS, UNANSWERED, Policy
from fluid.simulation.prepared import answered, prepared
from fluid.simulation.state import (
    ASKS,
    MOST_REQUESTS,
    MOVES,
    REASSIGNED,
    PolicyError,
    Setting,
    State,
    copied,
    key,
    most_calls,
    put,
    take,
)
from theory.compiled import plain
from theory.errors import ArgumentError, TooLargeError, expect_number
from theory.instance import Instance
from theory.numbers import many
from theory.shown import Shown

STATES = 50_000
"""States beyond which a chain is refused by default."""

DRAWS = "the exact chain knows one_of(draws, n) and draws.random() < p, expected no other draw"


class Branching:
    """A stand-in for a generator that goes through all outcomes of ``one_of(draws, n)`` and ``draws.random() < p``."""

    def __init__(self) -> None:
        self._script: list[tuple[int, tuple[float, ...]]] = []
        self._at = 0
        self.probability = 1.0

    def random(self) -> Uniform:
        """Return a number that is decided by what it is asked."""
        return Uniform(self)

    def __getattr__(self, name: str) -> Any:
        """Refuse other draws: their outcomes are not known."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise PolicyError(f"draws.{name}", DRAWS)

    def outcome(self, weights: tuple[float, ...]) -> int:
        """Return the outcome of this branch."""
        if self._at == len(self._script):
            self._script.append((next(i for i, weight in enumerate(weights) if weight > 0), weights))
        chosen, known = self._script[self._at]
        if known != weights:
            raise RuntimeError("the policy draws differently on the same state")
        self._at += 1
        self.probability *= weights[chosen]
        return chosen

    def paths(self) -> Iterator[None]:
        """Go through all scripts of outcomes, depth first."""
        while True:
            self._at, self.probability = 0, 1.0
            yield
            while self._script:
                chosen, weights = self._script.pop()
                more = next((i for i in range(chosen + 1, len(weights)) if weights[i] > 0), None)
                if more is not None:
                    self._script.append((more, weights))
                    break
            if not self._script:
                return


class Uniform:
    """A uniform number on [0, 1) that knows only how it compares with p, and which of n equal parts it lies in."""

    def __init__(self, branching: Branching) -> None:
        self._branching = branching

    def __mul__(self, number: int) -> int:
        """Return which of `number` equal parts it lies in."""
        if int(number) != number:
            raise PolicyError(f"draws.random() * {number!r}", DRAWS)
        return self._branching.outcome((1 / int(number),) * int(number))

    __rmul__ = __mul__

    def __lt__(self, probability: float) -> bool:
        """Return whether it lies below a probability."""
        # two outcomes of probabilities p and 1 - p; the first is that the number lies below
        p = min(1.0, max(0.0, float(probability)))
        return self._branching.outcome((p, 1 - p)) == 0

    def __ge__(self, probability: float) -> bool:
        """Return whether it does not lie below a probability."""
        return not self < probability

    __le__, __gt__ = __lt__, __ge__


@dataclass(frozen=True, repr=False)
class StationaryLaw(Shown):
    """The law of a loss system in equilibrium, by n states."""

    instance: Instance
    servers: int
    counts: NDArray[np.int32]  # [n, L, J]: jobs of each type on each server
    probability: NDArray[np.float64]
    refused: NDArray[np.float64]  # [n, J]: probability that an arriving job of each type is refused
    moves: NDArray[np.float64]  # [n]: migrations and preemptions per unit time
    residual: float  # largest entry of |probability x generator| over the largest rate: error of the linear algebra

    @cached_property
    def jobs(self) -> NDArray[np.float64]:
        """Mean jobs in service of each type, float64[J]."""
        return np.asarray(self.probability @ self.counts.sum(axis=1), float)

    @property
    def blocking(self) -> NDArray[np.float64]:
        """Probability that an arriving job is refused, float64[J] (arrivals see time averages)."""
        return np.asarray(self.probability @ self.refused, float)

    @property
    def reward(self) -> float:
        """Mean reward per server."""
        u = np.array([float(x) for x in self.instance.rewards])
        return float(self.jobs @ u) / self.servers

    @property
    def move_rate(self) -> float:
        """Migrations and preemptions per unit time."""
        return float(self.probability @ self.moves)

    def totals(self) -> dict[tuple[int, ...], float]:
        """Return the law of the numbers of jobs of each type."""
        law: dict[tuple[int, ...], float] = {}
        for row, p in zip(self.counts.sum(axis=1).tolist(), self.probability.tolist(), strict=True):
            law[tuple(row)] = law.get(tuple(row), 0.0) + p
        return law


def stationary_law(
    policy: Policy,
    instance: Instance,
    servers: int,
    options: dict[str, Any] | None = None,
    *,
    initial: NDArray[np.int32] | None = None,
    states: int = STATES,
) -> StationaryLaw:
    """Return the exact stationary law of a loss system under a policy.

    Parameters
    ----------
    policy : Policy
        Of the model ``loss``; randomised ones included (see `fluid.simulation.policy_interface`).
    instance : Instance
        Its workload and service rates give the rates.
    servers : int
    options : dict, optional
        Of the policy.
    initial : int32[L, J], optional
        Where the chain starts; empty where left out.
    states : int
        Most states.

    Raises
    ------
    TooLargeError
        Beyond `states`.
    InputError
        If the law depends on more than the reachable states: several recurrent classes.

    Notes
    -----
    n states take n (J + busy server-type pairs) runs of the policy in Python, some 0.1 ms each, and an elimination
    (`fluid.chains.elimination`). Every probability has a small relative error, whatever the loads.

    Examples
    --------
    >>> from fluid.simulation.policy_names import policy
    >>> from theory.instance import additive
    >>> law = stationary_law(policy("first-fit"), additive([2], [[1]], workload=[2]), servers=1)
    >>> len(law.probability), round(float(law.blocking[0]), 12)        # Erlang B(2, 2)
    (3, 0.4)
    """
    Instance.expected(instance)
    expect_number(servers, "servers", 1)
    if policy.model != "loss":
        raise ArgumentError("policy", f"{policy.name} is not a loss-system policy")
    chain = _Chain(policy, Setting(instance, servers, options or {}, initial), states)
    chain.explore()
    probability, residual = stationary(*chain.generator())
    return StationaryLaw(
        instance,
        servers,
        np.array(chain.counts, np.int32),
        probability,
        np.array(chain.refused),
        np.array(chain.moves),
        residual,
    )


def settling(
    functions: Guard | Unwatched, carry_out: Function, most_calls: Function = most_calls
) -> Callable[[State, Any, Any], None]:
    """Return what lets a policy refresh after an event until it rests, as the event loops do.

    It is called with a state, jobs and draws, and calls ``carry_out(state, jobs, _)`` where there are moves.
    """
    run: Function = plain(settle, refresh=functions.refresh, carry_out=carry_out, most_calls=most_calls)

    def settled(state: State, jobs: Any, draws: Any) -> None:
        try:
            run(state, jobs, None, draws)
        except PolicyError as error:
            if str(error) != RESTLESS:
                raise
            raise functions.refuse("refresh", state, RESTLESS) from error

    return settled


def _count_moves(state: State, moves: list[int], _: Any) -> None:
    moves.append(int(state.done[MOVES]))
    state.done[MOVES] = 0


class _Chain:
    """States by number, and the rates between them."""

    def __init__(self, policy: Policy, setting: Setting, limit: int) -> None:
        self._setting, self._limit, self._policy = setting, limit, policy
        self._functions = python_functions(policy, setting.instance.names)
        self._put, self._take, self._settle = plain(put), plain(take), settling(self._functions, _count_moves)
        types = setting.instance.types
        self._arrivals = [float(setting.servers * t.workload * t.service_rate) for t in types]
        self._services = [float(t.service_rate) for t in types]
        self._number: dict[bytes, int] = {}
        self._waiting: list[State] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._rates: list[float] = []
        self.counts: list[NDArray[np.int32]] = []
        self.refused: list[list[float]] = []
        self.moves: list[float] = []
        self._add(prepared(policy, setting))

    def _add(self, state: State) -> int:
        name = key(state)
        number = self._number.get(name)
        if number is None:
            number = self._number[name] = len(self._number)
            if number >= self._limit:
                raise TooLargeError(
                    f"the chain of {self._policy.name} on {many(self._setting.servers, 'server')} has more than "
                    f"{self._limit:,} states: take fewer servers, smaller servers or fewer types"
                )
            self._waiting.append(state)
            self.counts.append(state.counts.copy())
            self.refused.append([0.0] * len(state.totals))
            self.moves.append(0.0)
        return number

    def explore(self) -> None:
        """Try every arrival and departure from every state that is reached."""
        at = 0
        while at < len(self._waiting):
            state = self._waiting[at]
            self._waiting[at] = None
            # rates: L rho_j mu_j for an arrival of type j, mu_j for each job in service
            for j, rate in enumerate(self._arrivals):
                if rate > 0:
                    self._try(at, state, rate, j, -1)
            for server, j in np.argwhere(state.counts > 0).tolist():
                self._try(at, state, self._services[j] * int(state.counts[server, j]), j, server)
            at += 1

    def _try(self, at: int, state: State, rate: float, j: int, server: int) -> None:
        draws = Branching()
        for _ in draws.paths():
            after = copied(state)
            if server < 0:
                placed = self._functions.place(after, j, draws)
                if placed >= 0:
                    self._put(after, placed, j)
            else:
                placed = server
                self._take(after, server, j)
                self._functions.depart(after, server, j, draws)
            moves: list[int] = []
            self._settle(after, moves, draws)
            asked = 0
            while after.done[ASKS]:  # as the event loop does: answer, and go on at the same event
                if asked > MOST_REQUESTS:
                    raise self._functions.refuse("answer", after, UNANSWERED)
                asked += 1
                after = answered(self._policy, self._setting, after)
                self._settle(after, moves, draws)
            after.done[REASSIGNED] = 0
            if server < 0 and placed < 0:
                self.refused[at][j] += draws.probability
            self.moves[at] += rate * draws.probability * sum(moves)
            target = self._add(after)
            # a step that changes nothing is no transition of the chain, but its refusals and moves count
            if target != at:
                self._rows.append(at)
                self._columns.append(target)
                self._rates.append(rate * draws.probability)

    def generator(self) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the number of states and the rates between them: from, to, rate."""
        return len(self._number), np.array(self._rows, int), np.array(self._columns, int), np.array(self._rates)
