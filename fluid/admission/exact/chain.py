"""Small clusters of known kinds, exactly: the Markov chain of their deployments, and its stationary law.

A state counts deployments by kind and number of cores. Known kinds are memoryless, so counts are all that matters, for
the future and for every policy that sees kinds and sizes. The chain is built from the rates of the model, the policy
decides at arrivals, and its stationary law gives utilisation and the share of refused scale-outs. What one deployment
does is a `Dynamics`: that of known kinds is here, those of hidden kinds are in `fluid.admission.exact.hidden`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.law.thresholds import POLICIES, needed_over
from fluid.admission.simulation.outlook import aligned_horizons, fill_kinds, new_outlook
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.chains.elimination import stationary
from theory.compiled import bound
from theory.errors import ArgumentError, ArgumentTooLargeError

STATES = 200_000
"""States beyond which a cluster is refused."""

Pair = tuple[int, int]
"""A deployment: its label (its kind, or what is believed of it) and its cores."""

State = tuple[Pair, ...]
"""The deployments, sorted."""


class Changes(NamedTuple):
    """What may happen to one deployment."""

    moves: list[tuple[Pair | None, float]]  # what it becomes, None if it ends, and the rate
    asked: float  # rate of its scale-outs
    refused: float  # rate of those that do not fit


class Dynamics(Protocol):
    """What deployments do, one by one; what one does depends on others by the free cores alone."""

    arriving: tuple[Pair, ...]  # classes of arrivals, as a policy or the chain tells them apart
    probability: NDArray[np.float64]  # [K]: of each class
    believed: NDArray[np.float64]  # [L, kinds]: for each label the probabilities of kinds, as moment policies see them

    def changes(self, pair: Pair, free: int) -> Changes:
        """Return what may happen to a deployment while `free` cores are free."""


class KnownKinds:
    """Deployments whose label is their kind."""

    def __init__(self, cluster: AdmissionCluster) -> None:
        self.kinds = cluster.kinds
        self.arriving = tuple((k, kind.size) for k, kind in enumerate(self.kinds))
        self.probability = np.array([kind.probability for kind in self.kinds])
        self.believed = np.eye(len(self.kinds))

    def changes(self, pair: Pair, free: int) -> Changes:
        """Return the death of a core, the shutdown, and the scale-out if it fits."""
        k, cores = pair
        kind = self.kinds[k]
        moves: list[tuple[Pair | None, float]] = [((k, cores - 1) if cores > 1 else None, cores * kind.mu)]
        if kind.shutdown_rate:
            moves.append((None, kind.shutdown_rate))
        fits = kind.batch <= free
        if kind.scale_out_rate and fits:
            moves.append(((k, cores + kind.batch), kind.scale_out_rate))
        return Changes(moves, kind.scale_out_rate, 0.0 if fits else kind.scale_out_rate)


@dataclass(frozen=True)
class Space:
    """The n states of a small cluster, and what happens in them."""

    cluster: AdmissionCluster
    most: int  # deployments at once; arrivals beyond are refused
    dynamics: Dynamics
    states: tuple[State, ...]  # reachable if every arrival that fits is admitted
    cores: NDArray[np.int64]
    asked: NDArray[np.float64]  # [n]: rate of scale-outs
    refused: NDArray[np.float64]  # [n]: rate of those that do not fit
    # row, column and rate of all changes but arrivals
    moves: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
    entered: NDArray[np.int64]  # [n, K]: the state after an arrival of each class is admitted, -1 where it does not fit


def small_space(cluster: AdmissionCluster, most: int, dynamics: Dynamics | None = None) -> Space:
    """List the states of a small cluster, from the empty one; unless other dynamics are given, its kinds are known.

    Raises
    ------
    TooLargeError
        More than `STATES` states.
    """
    if most < 1:
        raise ArgumentError("most_deployments", f"expected a number of at least 1, got {most}")
    dynamics = KnownKinds(cluster) if dynamics is None else dynamics
    number: dict[State, int] = {(): 0}
    waiting: list[State] = [()]
    rows: list[int] = []
    columns: list[int] = []
    rates: list[float] = []
    asked: list[float] = []
    refused: list[float] = []
    entered: list[list[int]] = []

    def named(state: State) -> int:
        if state not in number:
            if len(number) == STATES:
                raise ArgumentTooLargeError(
                    "most_deployments", f"more than {STATES:,} states, expected fewer: lower it, or the capacity"
                )
            number[state] = len(number)
            waiting.append(state)
        return number[state]

    at = 0
    while at < len(waiting):
        state = waiting[at]
        active = sum(cores for _, cores in state)
        # one deployment changes at a time, at rates that depend on the others by the free cores alone
        wanted = lost = 0.0
        for i, pair in enumerate(state):
            others = state[:i] + state[i + 1 :]
            changes = dynamics.changes(pair, cluster.capacity - active)
            wanted, lost = wanted + changes.asked, lost + changes.refused
            for after, rate in changes.moves:
                rows.append(at)
                columns.append(named(others if after is None else tuple(sorted((*others, after)))))
                rates.append(rate)
        asked.append(wanted)
        refused.append(lost)
        entered.append(
            [
                named(tuple(sorted((*state, pair))))
                if active + pair[1] <= cluster.capacity and len(state) < most and p > 0
                else -1
                for pair, p in zip(dynamics.arriving, dynamics.probability, strict=True)
            ]
        )
        at += 1
    cores = np.array([sum(c for _, c in state) for state in waiting])
    moves = (np.array(rows, np.int64), np.array(columns, np.int64), np.array(rates, float))
    return Space(
        cluster,
        most,
        dynamics,
        tuple(waiting),
        cores,
        np.array(asked),
        np.array(refused),
        moves,
        np.array(entered, np.int64),
    )


@dataclass(frozen=True)
class ExactResult:
    """What the chain of a policy gives."""

    utilisation: float  # mean active cores over the capacity
    sla: float  # refused scale-outs over all; 0 where none is asked for
    states: int
    acceptance: float  # share of arrivals that are admitted
    law: NDArray[np.float64]  # [n]: stationary probabilities of the states of the space
    residual: float  # largest entry of |law x generator| over the largest rate: the error of the linear algebra


_fill_kinds, _needed_over = bound(fill_kinds), bound(needed_over)


def needed_thresholds(space: Space, policy: AdmissionPolicy) -> NDArray[np.float64]:
    """Return the number that a policy compares with its threshold, float64[n, K]; infinite where a class does not fit.

    Moment policies see labels, and expect what the kinds do by `Dynamics.believed`.
    """
    arriving = space.dynamics.arriving
    if not policy.labelled:
        raise ArgumentError("unlabelled", "a chain of known kinds cannot hold beliefs about hidden ones")
    fits = space.entered >= 0
    needed = np.full(fits.shape, np.inf)
    if policy.name in ("everybody", "zeroth"):
        sizes = np.array([size for _, size in arriving])
        active = space.cores[:, None] + sizes if policy.name == "zeroth" else np.zeros(fits.shape)
        return np.where(fits, active, np.inf)
    horizons = aligned_horizons() if policy.horizons is None else policy.horizons
    number = {pair: i for i, pair in enumerate({pair: 0 for state in (*space.states, arriving) for pair in state})}
    view = new_outlook(space.cluster, horizons, len(number), direct=True)
    for pair, i in number.items():
        _fill_kinds(view, i, float(pair[1]), np.ascontiguousarray(space.dynamics.believed[pair[0]], float))
    code, marginal = POLICIES.index(policy.name), float(policy.marginal)
    for i, state in enumerate(space.states):
        inside = [number[pair] for pair in state]
        mean, variance = view.mean[inside].sum(axis=0), view.variance[inside].sum(axis=0)
        for k in np.flatnonzero(fits[i]):
            own = number[arriving[int(k)]]
            needed[i, k] = _needed_over(
                code, mean + view.mean[own], variance + view.variance[own], view.mean[own], view.rule.capacity, marginal
            )
    return needed


def decisions_of(space: Space, policy: AdmissionPolicy) -> NDArray[np.float64]:
    """Return what a policy admits, float64[n, K] of 0 and 1."""
    return np.asarray(needed_thresholds(space, policy) < policy.threshold, float)


def best_threshold(space: Space, policy: AdmissionPolicy, sla: float) -> tuple[float, ExactResult]:
    """Return a threshold of a policy that meets an SLA, by bisection over the thresholds that differ, and its measures.

    The first threshold admits no deployment, so one is always found.
    """
    needed = needed_thresholds(space, policy)
    marks = np.unique(needed[np.isfinite(needed)])
    low, high = 0, len(marks)  # index: thresholds just above the first `low` marks
    best = (float(marks[0]) if len(marks) else 0.0, solved(space, np.zeros(needed.shape)))
    while low < high:
        middle = (low + high + 1) // 2
        threshold = float(np.nextafter(marks[middle - 1], np.inf))
        solution = solved(space, (needed < threshold).astype(float))
        if solution.sla <= sla:
            low, best = middle, (threshold, solution)
        else:
            high = middle - 1
    return best


def generator(space: Space, accept: NDArray[np.float64]) -> Any:
    """Return the generator matrix of the chain, sparse [n, n], for probabilities of acceptance, float64[n, K]."""
    from scipy.sparse import coo_matrix, diags

    n = len(space.states)
    rate = space.cluster.arrival_rate * accept * space.dynamics.probability
    at, kind = np.nonzero((space.entered >= 0) & (rate > 0))
    rows, columns, rates = space.moves
    row = np.concatenate([rows, at])
    column = np.concatenate([columns, space.entered[at, kind]])
    value = np.concatenate([rates, rate[at, kind]])
    matrix = coo_matrix((value, (row, column)), (n, n)).tocsr()
    return (matrix - diags(np.asarray(matrix.sum(axis=1)).ravel())).tocsr()


def solved(space: Space, accept: NDArray[np.float64]) -> ExactResult:
    """Return the stationary measures for probabilities of acceptance, from the exact law of the chain.

    Notes
    -----
    The empty cluster is reached from everywhere, so one class of states is recurrent.
    """
    from scipy.sparse.csgraph import breadth_first_order

    matrix = generator(space, accept)
    rates = matrix.tocoo()
    between = rates.row != rates.col
    law, residual = stationary(len(space.states), rates.row[between], rates.col[between], rates.data[between])
    asked = float(law @ space.asked)
    return ExactResult(
        utilisation=float(law @ space.cores) / space.cluster.capacity,
        sla=float(law @ space.refused) / asked if asked > 0 else 0.0,
        states=len(breadth_first_order(matrix, 0, return_predecessors=False)),
        acceptance=float(law @ np.where(space.entered >= 0, accept, 0.0) @ space.dynamics.probability),
        law=law,
        residual=residual,
    )


def exact_policy(cluster: AdmissionCluster, policy: AdmissionPolicy, most: int) -> ExactResult:
    """Return the stationary utilisation and SLA of a policy in a small cluster of known kinds.

    Examples
    --------
    Cores that never grow and come one at a time are Erlang's loss system.

    >>> from fluid.admission.law.cluster import Kind
    >>> cluster = AdmissionCluster(2, 3.0, (Kind(1.0, 1.0, 0.0, 0.0, 1),))
    >>> round(exact_policy(cluster, AdmissionPolicy("everybody"), 2).acceptance, 10)  # 1 - B(2, 3)
    0.4705882353
    """
    space = small_space(cluster, most)
    return solved(space, decisions_of(space, policy))
