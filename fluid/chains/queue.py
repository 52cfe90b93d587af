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
from theory.errors import ArgumentError, InputError, TooLargeError, expect_number
from theory.greedy.servers import max_jobs
from theory.instance import Instance
from theory.shown import Shown


@dataclass(frozen=True, repr=False)
class QueueLaw(Shown):
    """The law of a queue in equilibrium, by n states, given that at most `most_waiting` jobs wait."""

    waiting: NDArray[np.int64]  # [n, J]: jobs of each type or class that wait
    serving: NDArray[np.int64]  # [n, J]: jobs in service
    probability: NDArray[np.float64]  # of the chain whose steps to states beyond are left out; see `bounds`
    most_waiting: int  # N
    beyond: float  # estimate, by geometric extrapolation, of the probability that more jobs wait; no bound
    # whether a chain that reaches further has no other state with at most N waiting jobs: what `bounds` rests on
    closed: bool
    entries: NDArray[np.bool_]  # [n]: R, the states that can be entered from outside
    # sparse matrix of the rates within A, and the rates to the outside of it by state
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
    Instance.expected(instance)
    expect_number(servers, "servers", 1)
    if policy.model != "queue":
        raise ArgumentError("policy", f"{policy.name} is not a policy for queues in continuous time")
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
        raise ArgumentError("policy", f"{policy.name} is not a policy for slotted queues")
    moves = SlotSteps(policy, arrivals, services)
    setting = slotted.SlottedSetting(sizes, capacity, servers, options or {})
    start = moves.canonical(prepared(policy, setting))

    def describe(state: State, serving: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return state.lines[:, slotted.COUNT].copy(), np.array(serving, np.int64).sum(axis=0)

    def name(state: State, serving: Any = None) -> bytes:
        return key(state) + repr(serving).encode()

    most = servers * (capacity // int(sizes[0]))
    none_in_service = ((0,) * len(sizes),) * servers
    return _law(start, none_in_service, moves, describe, most_waiting, most, name, policy.name)


class _Explored:
    """States of a queue by number, and the rates between those that were followed.

    `steps` says what can happen in a state, `describe` the jobs that wait and those in service, by type, and `name`
    what distinguishes two states; `policy` is a name for messages.
    """

    def __init__(
        self,
        steps: Callable[[State, Any], Iterator[Step]],
        describe: Callable[[State, Any], tuple[NDArray[np.int64], NDArray[np.int64]]],
        name: Callable[..., bytes],
        policy: str,
    ) -> None:
        self._steps, self._describe, self._name, self._policy = steps, describe, name, policy
        self._number: dict[bytes, int] = {}
        self._states: list[tuple[State, Any]] = []
        self.waiting: list[NDArray[np.int64]] = []
        self.serving: list[NDArray[np.int64]] = []
        self.rates: list[tuple[int, int, float]] = []

    def __len__(self) -> int:
        return len(self._states)

    def add(self, state: State, serving: Any) -> int:
        """Return the number of a state, a new one if it has not been seen."""
        title = self._name(state) if serving is None else self._name(state, serving)
        if title not in self._number:
            if len(self) >= STATES:
                raise TooLargeError(
                    f"the chain of {self._policy} has more than {STATES:,} states: keep fewer waiting jobs, or take "
                    "fewer or smaller servers"
                )
            self._number[title] = len(self)
            queue, inside = self._describe(state, serving)
            self.waiting.append(queue)
            self.serving.append(inside)
            self._states.append((state, serving))
        return self._number[title]

    def expand(self, frontier: list[int], limit: int) -> list[int]:
        """Follow the states with at most `limit` waiting jobs; return the others that were reached."""
        beyond = []
        while frontier:
            here = frontier.pop()
            if self.waiting[here].sum() > limit:
                beyond.append(here)
                continue
            before = len(self)
            for rate, after, serving in self._steps(*self._states[here]):
                self.rates.append((here, self.add(after, serving), rate))
            frontier += range(before, len(self))
        return beyond


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
    explored = _Explored(steps, describe, name, policy)
    frontier = explored.expand([explored.add(start, jobs)], most_waiting)
    within = len(explored) - len(frontier)
    # A state of A that is reached only through longer queues would be missing; two jobs further shows the nearest ones.
    explored.expand(frontier, most_waiting + 2)
    totals = np.array([int(w.sum()) for w in explored.waiting])
    inside_a = totals <= most_waiting
    closed = within == int(inside_a.sum())
    place = np.cumsum(inside_a) - 1
    rows, columns, values = (np.array(x) for x in zip(*explored.rates, strict=True))
    exits = np.zeros(len(totals))
    # e(s): rates from A to the outside of it, by state
    goes_out = inside_a[rows] & ~inside_a[columns]
    np.add.at(exits, rows[goes_out], values[goes_out])
    both = inside_a[rows] & inside_a[columns] & (rows != columns)
    n = int(inside_a.sum())
    r, c, v = place[rows[both]], place[columns[both]], values[both]
    try:
        probability, residual = stationary(n, r, c, v)
    except InputError as refusal:
        raise refusal.ending(f", cut off at most_waiting={most_waiting}: expected a larger number") from refusal
    from scipy.sparse import coo_array, csr_array

    # probability that n jobs wait, n = 0, ..., N
    levels = np.bincount(totals[inside_a], weights=probability, minlength=most_waiting + 1).astype(np.float64)
    return QueueLaw(
        np.array(explored.waiting)[inside_a],
        np.array(explored.serving)[inside_a],
        probability,
        most_waiting,
        _probability_beyond(levels),
        closed,
        # One event starts at most m jobs, m the most that all servers hold: from more than N waiting jobs it leads to
        # more than N - m.
        totals[inside_a] > most_waiting - most,
        (csr_array(coo_array((v, (r, c)), shape=(n, n))), exits[inside_a]),
        residual,
    )


def _probability_beyond(levels: NDArray[np.float64]) -> float:
    """Extrapolate the probability that more jobs wait than the last level has, as a geometric series.

    The last level also carries what is cut off, so the ratio of the series is read one level before it.
    """
    if len(levels) < 3 or levels[-3] <= 0:
        return 0.0
    ratio = levels[-2] / levels[-3]
    return float(levels[-2] * ratio**2 / (1 - ratio)) if ratio < 1 else float("inf")
