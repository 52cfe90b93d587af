"""PS-DSF of very large clusters in floats: feasible exactly, near to the conditions of Theorem 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster, Matrix
from theory.sharing.reduction import Reduced, reduce
from theory.sharing.structure import settle
from theory.sharing.turns import Turns
from theory.sharing.violation import ps_dsf_violation

PARTS = (1.5, 1.0, 0.75)
"""Part of its way that a server goes: past its goal, which is quicker; the next part where that stops coming nearer."""

PLAIN = 2
"""Rounds of the whole way before the tasks are looked at: they bring loads back to 1."""

FIRST = 64
"""Rounds after which the tasks are looked at for the first time; then whenever the rounds are an eighth more."""

SETTLE = 1.25
"""The equations of the structure are solved again once the rounds are so many times as many."""

ROUNDS = 2**15
"""Most rounds."""

STORED = 1e-13
"""What storing tasks as decimals may add to the distance, with room."""

Say = Callable[[str], None]


@dataclass
class _Best:
    """The nearest tasks so far; when rounds of the present part were checked, and equations were solved, last."""

    tasks: NDArray[np.float64]
    distance: float = float("inf")
    checked: tuple[int, float] = field(default=(0, float("inf")))
    part: int = 0
    settled: int = 0

    def note(self, tasks: NDArray[np.float64], distance: float) -> None:
        """Keep a copy of tasks if they are nearer."""
        if distance < self.distance:
            np.copyto(self.tasks, tasks)
            self.distance = distance

    def choose_part(self, done: int) -> None:
        """Go to the next part where twice the rounds brought the tasks nearer by less than a tenth."""
        then, distance = self.checked
        if done >= 2 * then:
            if then and self.distance > 0.9 * distance:
                self.part = (self.part + 1) % len(PARTS)
            self.checked = (done, self.distance)


def numeric_ps_dsf(
    cluster: Cluster, division: str, tolerance: float, *, rounds: int = ROUNDS, say: Say | None = None
) -> Allocation:
    """Return an allocation that is PS-DSF up to a tolerance.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    division : {"resource", "time"}
    tolerance : float
        Of `theory.sharing.violation.ps_dsf_violation`, at which the rounds stop.
    rounds : int
        Most rounds of Algorithm I.
    say : callable, optional
        Takes a line of progress, at every look at the tasks.

    Returns
    -------
    Allocation
        Not ``exact``, but feasible exactly: its tasks are the shortest decimals of floats. Its ``violation`` was
        computed from these tasks alone, and is above the tolerance where the rounds did not come near enough, or were
        interrupted by Ctrl-C (``interrupted``).

    Notes
    -----
    Each turn is the inner loop of Algorithm I (`theory.sharing.filling`), and the servers go half as far again
    (over-relaxation): on random clusters that took less than half of the rounds to the same distance. From time to time
    the equations of the present structure are solved (`settle`), which ends the rounds at once where the structure is
    right. That the rounds have a limit is proved for time division only, and without over-relaxation. A round costs
    O(N K) at worst; in the largest clusters servers look at all users in one of 32 rounds. Memory is about
    8 (R + 4) N K bytes of floats, beside the cluster.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> found = numeric_ps_dsf(figure1, "resource", 1e-9)
    >>> [round(float(x), 6) for x in found.totals], found.violation.value <= 1e-9
    ([3.0, 3.0, 6.0], True)
    """
    reduced = reduce(cluster)
    turns = Turns(reduced, division)
    best = _Best(np.zeros_like(turns.tasks))
    goal = max(tolerance - STORED, tolerance / 2)
    done, interrupted = 0, False
    made: Allocation | None = None
    try:
        while made is None and done < rounds:
            done += _approach(turns, best, done, rounds, goal)
            if say is not None:
                say(f"{done:,} rounds: within {best.distance:.1e} of the conditions, {tolerance:.1e} wanted")
            if best.distance <= goal:
                made = stored(cluster, reduced, best.tasks, division, done)
                if made.violation is not None and made.violation.value > tolerance:
                    made = None
    except KeyboardInterrupt:
        if best.distance == float("inf"):
            raise
        interrupted = True
    if made is None:
        made = stored(cluster, reduced, best.tasks, division, done, interrupted=interrupted)
    return made


def _approach(turns: Turns, best: _Best, done: int, rounds: int, goal: float) -> int:
    """Run some rounds, look at the tasks and at those that solve their equations; return the number of rounds."""
    step = min(max(FIRST, done // 8), rounds - done)
    turns.run(max(step - PLAIN, 1), PARTS[best.part])
    turns.run(PLAIN)
    best.note(turns.tasks, turns.distance(turns.tasks))
    if best.distance > goal and done + step >= best.settled * SETTLE:
        best.settled = done + step
        settled = settle(turns)
        if settled is not None:
            best.note(settled.tasks, turns.distance(settled.tasks))
    best.choose_part(done + step)
    return step


def stored(
    cluster: Cluster,
    reduced: Reduced,
    tasks: NDArray[np.float64],
    division: str,
    rounds: int,
    *,
    damped: bool = False,
    interrupted: bool = False,
) -> Allocation:
    """Return tasks in floats as an allocation that is feasible exactly, with its violation.

    Parameters
    ----------
    tasks : float64[K, N]
        Of the reduced cluster.
    """
    found = {(n, i): Fraction(float(tasks[i, n])) for i, n in np.argwhere(tasks > 0).tolist()}
    decimals = feasible_decimals(cluster, reduced.expand(found), division)
    return Allocation(
        "ps-dsf" if division == "resource" else "ps-dsf-tdm",
        cluster,
        decimals,
        division,
        exact=False,
        rounds=rounds,
        damped=damped,
        interrupted=interrupted,
        violation=ps_dsf_violation(cluster, decimals, division),
    )


def feasible_decimals(cluster: Cluster, tasks: Sequence[Sequence[Fraction]], division: str) -> Matrix:
    """Return tasks as shortest decimals of floats, scaled down server by server until no load is above 1, exactly.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> third = Fraction(1, 3)
    >>> [str(row[0]) for row in feasible_decimals(cluster([[1]], [[1], [2]]), [[third], [third]], "resource")]
    ['3333333333333333/10000000000000000', '3333333333333333/10000000000000000']
    """
    zero = Fraction(0)
    here: list[list[tuple[int, Fraction]]] = [[] for _ in cluster.servers]
    for n, row in enumerate(tasks):
        for i, x in enumerate(row):
            if x:
                here[i].append((n, x))
    made: list[dict[int, Fraction]] = [{} for _ in cluster.users]
    for i, held in enumerate(here):
        shares = {
            n: [use / c if use else zero for use, c in zip(cluster.use(n, i), cluster.capacity[i], strict=True)]
            for n, _ in held
        }
        scale = 1.0
        while True:
            short = [(n, Fraction(repr(float(x) * scale))) for n, x in held]
            if division == "time":
                load = total(x * max(shares[n]) for n, x in short)
            else:
                load = max(total(x * shares[n][r] for n, x in short) for r in range(len(cluster.resources)))
            if load <= 1:
                break
            scale *= (1 - 2.0**-51) / float(load)
        for n, x in short:
            made[n][i] = x
    return tuple(tuple(row.get(i, zero) for i in range(len(cluster.servers))) for row in made)
