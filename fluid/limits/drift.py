"""The quadratic function of queues under Algorithm 1 of the non-preemptive paper, and its exact drift in every state.

``V = sum_j Q_j^2 / (2 mu_j)``, (13). Its generator in a state is the sum of rate times change of V over all events,
which the policy's own functions enumerate, in rationals.

Lemma 4.3 prints ``A V <= sum_j Q_j (rho_j - sum_l I_l k_j^l) + B_2`` with I_l = 1 for active servers. That fails: an
active server whose configuration has become lighter than (5) allows stalls at its next departure and takes no job from
the queue (unless that job was its last: then it is renewed at once), so what it holds does not count, and queues may
grow without bound while nothing departs from it. True, with I_l = 1 only where the server is active and not too light
(`serving`), is the same with

    ``B_2 = (sum_j rho_j + sum_l K_l) / 2``,  K_l the most jobs on server l.

Proof. An arrival adds (2 Q_j + 1) / (2 mu_j) at most. A job that ends in a serving server starts one of its type if
one waits, -Q_j + 1/2 per slot and unit of time, and nothing is lost where Q_j = 0. All else (a server that is renewed,
a slot filled at once) only starts waiting jobs, and V falls with Q. The constant is a worst case over instances: it is
attained where every queue waits and every server serves K_l jobs, which the oracle `single` may never choose.

Proposition 4.5 survives where every type arrives and fits every server. While a server is too light and not empty, jobs
leave it at rate min mu at least, and the first that does stalls it. While it is too light and empty, jobs of a type in
its configuration come at a rate above 0; they take the first empty slot, which may be another server's, but within a
unit of time enough of them come to fill all such slots, and no job leaves, with a probability above 0 in every state.
So the time for which an active period is too light has a bounded mean; and a server that serves has r beta of the
greatest weight by (5) itself. Lemma 4.4 needs the same, see `fluid.simulation.queue.policies.nonpreemptive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fluid.chains.steps import ContinuousSteps
from fluid.simulation.arrivals import JobList, Law, Stream, poisson
from fluid.simulation.oracle import heaviest
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.queue.policies.nonpreemptive import NONPREEMPTIVE, beta_now
from fluid.simulation.state import Setting, State, copied
from theory.compiled import plain
from theory.errors import InputError
from theory.exact.knapsack import maximal
from theory.exact.programs import InfeasibleError, LinearProgram
from theory.instance import Configuration, Instance, Space
from theory.numbers import to_integers, total

BASIC = {"p": 1, "cut": 2, "fall": 0, "early": False}
"""Options that leave Algorithm 1 as it is printed, without the customisations of Section 6."""

_heaviest, _beta_now = plain(heaviest), plain(beta_now)


@dataclass(frozen=True)
class Bound:
    """What bounds the drift of V in a state."""

    drift: Fraction  # the exact generator of V
    # sum_j Q_j (rho_j - sum_l I_l k_j^l), over servers that serve, and over all that are active
    serving: Fraction
    active: Fraction


class Algorithm1:
    """Algorithm 1 on an instance and its quadratic function, exact.

    Parameters
    ----------
    instance : Instance
    servers : int
        L, split over pools.
    beta : rational
    oracle : str
        ``exact``, ``single`` or ``greedy`` (`fluid.simulation.oracle`).

    Examples
    --------
    One server with two slots, three jobs wait: they come at rate 1, and two leave at rate 1 each.

    >>> from theory.instance import additive
    >>> system = Algorithm1(additive([2], [[1]], workload=[1]), 1, Fraction(1, 2))
    >>> state = system.full([3])
    >>> state.counts.tolist(), state.waiting.tolist(), system.value(state)
    ([[2]], [3], Fraction(9, 2))
    >>> system.bound(state).drift, system.bound(state).serving + system.constant
    (Fraction(-3, 2), Fraction(-3, 2))
    """

    def __init__(self, instance: Instance, servers: int, beta: Fraction | int, oracle: str = "exact") -> None:
        self.instance, self.beta = instance, Fraction(beta)
        if not 0 < self.beta <= 1:
            raise InputError("beta", f"expected a number above 0 and at most 1, got {beta}")
        self.setting = Setting(instance, servers, {**BASIC, "beta": self.beta, "oracle": oracle})
        self.policy = NONPREEMPTIVE
        self.steps = ContinuousSteps(self.policy, self.setting, Fraction)

    @cached_property
    def workload(self) -> tuple[Fraction, ...]:
        """rho_j of the whole cluster."""
        return tuple(self.setting.servers * rho for rho in self.instance.workload)

    @cached_property
    def most_jobs(self) -> tuple[int, ...]:
        """The most jobs on a server of each pool."""
        from theory.exact.knapsack import max_weight

        units = [1] * len(self.instance.types)
        return tuple(sum(max_weight(pool.space, units)) for pool in self.instance.pools)

    @property
    def constant(self) -> Fraction:
        """B_2 as derived: half of the workload and of all jobs that fit."""
        jobs = sum(n * k for n, k in zip(self.setting.pool_sizes, self.most_jobs, strict=True))
        return (total(self.workload) + jobs) / 2

    @property
    def printed_constant(self) -> Fraction:
        """B_2 as printed: ``sum_j (rho_j + L K^3 mu_max / mu_j + L K)``."""
        jobs, rates = max(self.most_jobs), [t.service_rate for t in self.instance.types]
        parts = [rho + self.setting.servers * jobs * (jobs**2 * max(rates) / mu + 1)
                 for rho, mu in zip(self.workload, rates, strict=True)]  # fmt: skip
        return total(parts)

    @cached_property
    def _weights(self) -> tuple[list[int], Fraction]:
        """Whole numbers in the ratio of 1 / (2 mu_j), and what they are to be multiplied by."""
        inverse = [1 / (2 * t.service_rate) for t in self.instance.types]
        whole, _ = to_integers(inverse)
        return whole, inverse[0] / whole[0]

    def start(self, queues: Sequence[int] = ()) -> State:
        """Return a system whose servers have not begun, with jobs that wait."""
        state = self.policy.prepare(self.setting)
        if len(queues):
            state.waiting[:] = queues
        return state

    def full(self, queues: Sequence[int]) -> State:
        """Return a system in which every server has begun for a queue, with jobs that still wait.

        Servers begin one after another, each for the jobs that remain by then.
        """
        state = self.start([q + max(self.most_jobs) * self.setting.servers for q in queues])
        for j in np.argsort(state.waiting)[::-1].tolist():
            state.asked[0] = j
            self.steps.settle(state, None, None)
        state.waiting[:] = queues
        return state

    def value(self, state: State) -> Fraction:
        """Return V."""
        weights, scale = self._weights
        return scale * int(sum(w * q**2 for w, q in zip(weights, state.waiting.tolist(), strict=True)))

    def serving(self, state: State) -> NDArray[np.bool_]:
        """Return which servers take jobs from the queue when one ends, bool[L]: active, and not too light by (5)."""
        scratch = copied(state)
        best = [int(_heaviest(scratch, p)) for p in range(len(self.instance.pools))]
        weights = state.configuration.astype(np.int64) @ state.waiting
        enough = weights >= float(_beta_now(state)) * np.array(best)[state.pool]  # as the policy compares
        return np.asarray((state.active == 1) & enough)

    def bound(self, state: State) -> Bound:
        """Return the exact drift of V in a state, and what is to bound it."""
        now = self.value(state)
        drift = sum((Fraction(rate) * (self.value(after) - now) for rate, after, _ in self.steps(state)), Fraction(0))
        slots = state.configuration.astype(np.int64)
        sides = []
        for chosen in (self.serving(state), state.active == 1):
            served = slots[chosen].sum(axis=0)
            sides.append(
                total(
                    q * (r - k) for q, r, k in zip(state.waiting.tolist(), self.workload, served.tolist(), strict=True)
                )
            )
        return Bound(drift, *sides)

    def states(self, queues: Sequence[int], seed: int, every: int = 5) -> Iterator[State]:
        """Yield every `every`-th state of a random path; it ends where nothing can happen."""
        walk = self.steps.walk(self.start(queues), np.random.default_rng(seed))
        return (state for number, (state, *_) in enumerate(walk) if number % every == 0)

    def periods(self, queues: Sequence[int], seed: int) -> Iterator[tuple[State, NDArray[np.int64]]]:
        """Yield states of a random path, and the queues for which each active server took its configuration.

        These are int64[L, J], before the jobs that start with the configuration leave the queue.
        """
        before = self.start(queues)
        taken = np.zeros(before.configuration.shape, np.int64)
        for state, _, left in self.steps.walk(before, np.random.default_rng(seed)):
            began = (state.active == 1) & (before.active == 0)
            if left >= 0 and state.active[left] == 1 and not self.serving(before)[left]:
                began[left] = True
            came = np.maximum(state.waiting + state.totals - before.waiting - before.totals, 0)
            at = before.waiting + came
            for server in np.flatnonzero(began):  # in the order in which they begin
                taken[server] = at
                at = at - state.counts[server]
            yield state, taken
            before = state

    def scenario(self, queues: Sequence[int], until: float, bins: int = 1) -> QueueScenario:
        """Return a scenario for the simulator: the queues come at time 0 in random order, then the Poisson arrivals.

        Servers begin with what suits the first jobs that come.
        """
        types = self.instance.types
        rates = [float(self.setting.servers * t.workload * t.service_rate) for t in types]
        services = np.array([float(t.service_rate) for t in types])

        def stream(generator: np.random.Generator) -> Stream:
            kinds = generator.permutation(np.repeat(np.arange(len(types), dtype=np.int32), list(queues)))
            if len(kinds):
                yield JobList(np.zeros(len(kinds)), kinds, generator.standard_exponential(len(kinds)) / services[kinds])
            yield from poisson(rates, services.tolist(), Law(), generator)

        return QueueScenario(
            self.instance, self.setting.servers, until, 0.0, options=self.setting.options, bins=bins, stream=stream
        )


Numbers = tuple[Fraction, ...]
Entries = dict[int, Fraction | int]


@dataclass(frozen=True)
class LeastMove:
    """The least move that makes a configuration too light.

    Attributes
    ----------
    constant : Fraction
        C: while max A + max D < C max Q, no server that has taken its configuration at Q is too light.
    configuration, rival : Configuration
        Where that is attained.
    queues, arrivals, departures : tuple of Fraction, shape (J,)
        Q, A, D with ``configuration . Q' = beta rival . Q'`` and ``max A + max D = C max Q``.
    """

    constant: Fraction
    configuration: Configuration
    rival: Configuration
    queues: Numbers
    arrivals: Numbers
    departures: Numbers


def least_move(
    space: Space, beta: Fraction, ratio: Fraction | int = 1, taken: Iterable[Sequence[int]] | None = None
) -> LeastMove | None:
    """Return the exact constant of Lemma 4.1 in the greatest norm, with a move that attains it.

    Parameters
    ----------
    space : Space
        Every type fits.
    beta : Fraction
        Below `ratio`.
    ratio : rational
        r of the oracle.
    taken : iterable of configurations, optional
        Those that the oracle may answer; all maximal ones where left out.

    Returns
    -------
    LeastMove or None
        None if no configuration ever becomes too light.

    Raises
    ------
    InputError
        beta not between 0 and the ratio; a type that does not fit.

    Notes
    -----
    One exact linear program with 3 J + 2 columns for each pair of configurations and each type.
    Source: non-preemptive VM scheduling paper, Lemma 4.1, in ``||A|| + ||D|| < C ||Q||`` with the greatest norm.

    Examples
    --------
    One job of either type on a server: half of a queue that is as long as the other must go, or the other must double.

    >>> from theory.instance import additive
    >>> found = least_move(additive([1], [[1], [1]]).pools[0].space, Fraction(1, 2))
    >>> str(found.constant), [str(q) for q in found.queues], [str(d) for d in found.departures]
    ('1/2', ['1', '1'], ['0', '1/2'])
    """
    if not 0 < beta < ratio:
        raise InputError("beta", f"expected a number between 0 and the oracle's ratio {ratio}, got {beta}")
    rows = [tuple(map(int, k)) for k in maximal(space)]
    if not np.max(rows, axis=0).all():
        raise InputError("space", "expected one that every type fits; without that the lemma fails")
    best: LeastMove | None = None
    for c in rows if taken is None else [tuple(map(int, k)) for k in taken]:
        for k in rows:
            if all(a >= beta * b for a, b in zip(c, k, strict=True)):
                continue  # heavier than beta k whatever the queues
            for longest in range(len(c)):
                move = _lightening(c, k, rows, beta, Fraction(ratio), longest)
                if move is not None and (best is None or move.constant < best.constant):
                    best = move
    return best


def _lightening(
    c: Configuration, k: Configuration, rows: list[Configuration], beta: Fraction, ratio: Fraction, longest: int
) -> LeastMove | None:
    """Minimise a + b: A <= a, D <= b, Q' = Q + A - D >= 0 where c . Q' <= beta k . Q'."""
    width = len(c)
    gap = [a - beta * b for a, b in zip(c, k, strict=True)]
    # rows: great against each rival; lighter than beta k; a - A_j; b - D_j; Q'_j
    bounds: list[tuple[Fraction | int | None, Fraction | int | None]] = [(0, None)] * len(rows)
    meet, tops, bottoms, after = (len(rows) + n for n in (0, 1, 1 + width, 1 + 2 * width))
    bounds += [(None, 0)] + [(0, None)] * (3 * width)
    program = LinearProgram(bounds)
    great: list[Entries] = [{i: c[j] - ratio * row[j] for i, row in enumerate(rows)} for j in range(width)]
    queue: list[Entries] = [{**great[j], meet: gap[j], after + j: 1} for j in range(width)]
    arrive: list[Entries] = [{meet: gap[j], tops + j: -1, after + j: 1} for j in range(width)]
    leave: list[Entries] = [{meet: -gap[j], bottoms + j: -1, after + j: -1} for j in range(width)]
    most: list[Entries] = [{tops + j: 1 for j in range(width)}, {bottoms + j: 1 for j in range(width)}]
    program.add_columns(
        [0] * (3 * width) + [-1, -1],
        [*queue, *arrive, *leave, *most],
        lower=[1 if j == longest else 0 for j in range(width)] + [0] * (2 * width + 2),
        upper=[1] * width + [None] * (2 * width + 2),
    )
    try:
        vertex = program.solve()
    except InfeasibleError:
        return None
    x = vertex.primal
    return LeastMove(-vertex.objective, c, k, x[:width], x[width : 2 * width], x[2 * width : 3 * width])


def angle_constant(c: Configuration, k: Configuration, beta: Fraction) -> Fraction:
    """Return sin^2 of the angle (10) between the hyperplanes of a configuration and a rival; 0 if parallel."""
    first = [Fraction(a - b) for a, b in zip(c, k, strict=True)]
    second = [a - beta * b for a, b in zip(c, k, strict=True)]
    inner, one, two = (
        total(Fraction(a) * b for a, b in zip(u, v, strict=True))
        for u, v in ((first, second), (first, first), (second, second))
    )
    return 1 - inner**2 / (one * two)
