"""The exact law of small queues, truncated where many jobs wait, with bounds on what the truncation does.

The chain is made as in `fluid.chains.loss`: the policy's own functions run on copies of its state, once for each
outcome of each draw. Continuous time: Poisson arrivals, exponential service, the policy's own clocks. Slots: at most
one job comes in a slot, each job in service ends with a probability. States in which more than N jobs wait are cut off.

`QueueLaw.bounds` says what is true of the whole chain (`fluid.chains.truncation`). The chain can only come back from
outside through states in which more than N - m jobs wait, m the most jobs that all servers hold. That the states
explored are all that have at most N waiting jobs is checked against a chain that reaches two jobs further: strong
evidence, no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fluid.chains.elimination import stationary
from fluid.chains.loss import STATES
from fluid.chains.steps import ContinuousSteps, SlotSteps, Step
from fluid.chains.truncation import mean_bounds
from fluid.simulation.policy_interface import Policy
from fluid.simulation.prepared import prepared
from fluid.simulation.slotted import state as slotted
from fluid.simulation.state import Setting, State, key
from theory.errors import InputError, TooLargeError
from theory.greedy.servers import max_jobs
from theory.instance import Instance


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
        Sparse matrix of the rates within A, and the rates to the outside of it by state, for `bounds`.
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
        """Bound the mean of a quantity given A.

        Where `closed`, the bounds hold for the chain whose rates are these floats: errors of rounding, those of the
        linear equations included, are in them (`fluid.chains.truncation`).
        """
        return mean_bounds(*self.leaving, self.entries, int(self.probability.argmax()), np.asarray(quantity, float))

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
    most = servers * max_jobs(instance)

    def describe(state: State, _: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return state.waiting.copy(), state.totals.copy()

    return _law(prepared(policy, setting), None, moves, describe, most_waiting, most, key, policy.name)


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
    exits = np.zeros(len(totals))
    goes_out = inside_a[rows] & ~inside_a[columns]
    np.add.at(exits, rows[goes_out], values[goes_out])
    both = inside_a[rows] & inside_a[columns] & (rows != columns)
    n = int(inside_a.sum())
    r, c, v = place[rows[both]], place[columns[both]], values[both]
    try:
        probability, residual = stationary(n, r, c, v)
    except InputError as refusal:
        raise InputError(f"{refusal}, cut off at most_waiting={most_waiting}: expected a larger number") from None
    from scipy.sparse import coo_array, csr_array

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
        (csr_array(coo_array((v, (r, c)), shape=(n, n))), exits[inside_a]),
        residual,
    )
