"""Who has tasks where, which levels are tied, what is saturated: from nearly fair tasks to fair ones.

By Theorem 1 the users whose bottleneck at server i is r, and who have some of it, are at one level L_{i,r}. A user who
has tasks on several servers has x_n = phi_n gamma_{n,i} L_{i,r} at each of them, so it ties their levels in a rational
proportion, and every level is a known multiple of the level of its component. What remains is linear: the unknowns are
one level for each component and the split of the users of several servers, and each saturated resource is one equation.
There are usually more unknowns than equations. The system is solved in floats first (`settle`), then exactly
(`exact_tasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.exact.programs import solve_sparse
from theory.sharing.reduction import Pair
from theory.sharing.turns import Turns

Node = tuple[int, int]
"""A server and a resource saturated there."""

HELD = (1e-9, 1e-7, 1e-11)
"""Shares of a server's time below which tasks count as none: the first, and others where that one does not do."""

FULL = 1e-9
"""What a load may lack of 1 to count as saturated."""

TRIES = 2
"""How often the places of users with less than no tasks are given up, before the structure is."""

FEW_FREE = 16
"""Up to this many unknowns that the equations leave free are rounded to simple fractions first, for short answers."""

SIMPLE = 10**6
"""Greatest denominator of these fractions, for numbers from 1 on; greater in proportion for smaller numbers."""

BITS = (30, 60)
"""Bits to which free unknowns are rounded otherwise: powers of two as denominators do not add up."""


class Levels:
    """Levels of bottlenecks, each a rational multiple of the level of its component."""

    def __init__(self) -> None:
        self._up: dict[Node, tuple[Node, Fraction]] = {}

    def find(self, node: Node) -> tuple[Node, Fraction]:
        """Return the root of a component and the ratio of the node's level to the root's."""
        path: list[tuple[Node, Fraction]] = []
        while (up := self._up.setdefault(node, (node, Fraction(1))))[0] != node:
            path.append((node, up[1]))
            node = up[0]
        if len(path) == 1:  # the node points to the root already
            return node, path[0][1]
        ratio = Fraction(1)
        for below, step in reversed(path):  # paths are compressed: each node on it now points to the root
            ratio *= step
            self._up[below] = (node, ratio)
        return node, ratio

    def tie(self, node: Node, factor: Fraction, other: Node) -> bool:
        """Make the level of `other` `factor` times that of `node`; False where earlier ties say another factor."""
        root, ratio = self.find(node)
        other_root, other_ratio = self.find(other)
        if root == other_root:
            return other_ratio == factor * ratio
        self._up[other_root] = (root, factor * ratio / other_ratio)
        return True


@dataclass(frozen=True)
class Structure:
    """The linear system that fair tasks with a given structure solve."""

    # of each user the server where it has most tasks, its component, and x_n as a multiple of the component's level
    home: dict[int, tuple[int, int, Fraction]]
    pieces: list[Pair]  # the other places where users have tasks; the rest of x_n is at home
    nodes: dict[Node, int]  # the equations: load 1 on each saturated resource
    components: int  # the unknowns are the levels of the components, then the pieces

    def terms(self, turns: Turns) -> Iterator[tuple[int, int, Fraction]]:
        """Yield the coefficients of the system: equation, unknown, value; several may belong to one place."""
        for n, (i, component, factor) in self.home.items():
            for r, share in enumerate(turns.share(n, i)):
                if share and (i, r) in self.nodes:
                    yield self.nodes[i, r], component, factor * share
        for place, (n, i) in enumerate(self.pieces, self.components):
            for server, sign in ((i, 1), (self.home[n][0], -1)):
                for r, share in enumerate(turns.share(n, server)):
                    if share and (server, r) in self.nodes:
                        yield self.nodes[server, r], place, sign * share

    def tasks(self, unknowns: Any, nothing: Any) -> dict[Pair, Any]:
        """Return the tasks of users on servers, those that are not zero, for given unknowns (floats or rationals)."""
        tasks: dict[Pair, Any] = {}
        for n, (i, component, factor) in self.home.items():
            tasks[n, i] = (factor + nothing) * unknowns[component]
        for place, (n, i) in enumerate(self.pieces, self.components):
            tasks[n, i] = unknowns[place]
            tasks[n, self.home[n][0]] -= unknowns[place]
        return {pair: x for pair, x in tasks.items() if x}


def read_structure(turns: Turns, least: float = HELD[0], without: frozenset[Pair] = frozenset()) -> Structure | None:
    """Return the structure of the tasks, as the last turns of the servers left them; None where a user has no tasks.

    Tasks below the share `least` of a server's time count as none, and pairs of user and server in `without` are left
    out.
    """
    # Users tie levels, those with the largest parts of a server first. A tie that contradicts those before it cannot
    # hold in the limit: its tasks are left out, since they are on their way to zero.
    part = turns.tasks * turns.per_task * turns.weights  # x_{n,i} / gamma_{n,i}
    levels = Levels()
    places: dict[int, list[tuple[int, Node, Fraction]]] = {}  # of each user, where it has tasks
    pairs = np.argwhere(part > least)
    for i, n in pairs[np.argsort(-part[pairs[:, 0], pairs[:, 1]], kind="stable")].tolist():
        if (n, i) in without:
            continue
        # its bottleneck is the demanded resource that saturated first, at the lowest level
        node = (i, min((turns.level[i, r], r) for r, need in enumerate(turns.share(n, i)) if need)[1])
        factor = turns.tasks_at_level_1(n, i)
        if n not in places:
            levels.find(node)
            places[n] = [(i, node, factor)]
        elif levels.tie(places[n][0][1], places[n][0][2] / factor, node):
            places[n].append((i, node, factor))
    if len(places) < len(turns.weights):
        return None
    components: dict[Node, int] = {}
    home, pieces = {}, []
    for n, there in places.items():
        # most of its tasks are at home, so that what is left of x_n there keeps its digits
        i, node, factor = max(there, key=lambda place: turns.tasks[place[0], n])
        root, ratio = levels.find(node)
        home[n] = (i, components.setdefault(root, len(components)), factor * ratio)
        pieces += [(n, other) for other, _, _ in there if other != i]
    full = np.argwhere((turns.loads() >= 1 - FULL) | np.isfinite(turns.level))
    return Structure(home, pieces, {(i, r): b for b, (i, r) in enumerate(full.tolist())}, len(components))


@dataclass(frozen=True)
class Settled:
    """Tasks in floats that solve their structure's equations."""

    form: Structure
    matrix: Any  # sparse, shape (B, U): coefficients of the unknowns in the equations
    unknowns: NDArray[np.float64]  # [U]
    tasks: NDArray[np.float64]  # [K, N]: not negative


def settle(turns: Turns, least: float = HELD[0]) -> Settled | None:
    """Return the tasks nearest to those of the turns, relative to each unknown, that solve the structure's equations.

    None where nothing does, or where tasks would be negative whatever ties are given up.
    """
    from scipy import sparse as matrices
    from scipy.linalg import lu_factor, lu_solve

    without: frozenset[Pair] = frozenset()
    for _ in range(TRIES):
        form = read_structure(turns, least, without)
        if form is None:
            return None
        size = len(form.nodes), form.components + len(form.pieces)
        entries = np.array([(b, u, float(value)) for b, u, value in form.terms(turns)])
        places = (entries[:, 0].astype(np.int64), entries[:, 1].astype(np.int64))
        matrix = matrices.coo_array((entries[:, 2], places), shape=size).tocsr()
        guess = _guess(turns, form)
        # The least v, in the sum of squares, with A (z + D v) = 1, D the diagonal of the unknowns z, is v = (A D)' y
        # with (A D)(A D)' y = 1 - A z. That matrix may be singular or nearly so: it gets a small ridge, and the
        # solution is refined.
        scaled = matrix @ matrices.diags_array(guess)
        normal = (scaled @ scaled.T).toarray()
        normal[np.diag_indices(size[0])] += 1e-14 * normal.diagonal().max()
        factors = lu_factor(normal, overwrite_a=True, check_finite=False)
        unknowns = guess
        for _ in range(4):
            unknowns = unknowns + guess * (scaled.T @ lu_solve(factors, 1 - matrix @ unknowns))
        if not np.abs(matrix @ unknowns - 1).max() < FULL:  # also where it is not a number
            return None
        tasks = np.zeros_like(turns.tasks)
        for (n, i), x in form.tasks(unknowns, 0.0).items():
            tasks[i, n] = x
        negative = np.argwhere(tasks < 0).tolist()
        if not negative:
            return Settled(form, matrix, unknowns, tasks)
        without |= {(n, i) for i, n in negative}
    return None


def _guess(turns: Turns, form: Structure) -> NDArray[np.float64]:
    """Return the unknowns of the present tasks: of a component's level the mean over its users."""
    totals = turns.tasks.sum(axis=0)
    levels = np.zeros(form.components)
    users = np.zeros(form.components)
    for n, (_, component, factor) in form.home.items():
        levels[component] += totals[n] / float(factor)
        users[component] += 1
    return np.array([*(levels / users), *(turns.tasks[i, n] for n, i in form.pieces)])


def exact_tasks(turns: Turns, settled: Settled) -> Iterator[dict[Pair, Fraction]]:
    """Yield exact tasks with the structure of settled ones, for several roundings of what the equations leave free.

    The tasks satisfy the equations that are independent in floats; whether they are fair is for `theory.sharing.checks`
    to say.
    """
    from scipy.linalg import qr

    # Orthogonal elimination with pivots chooses as many unknowns as there are independent equations, large ones first,
    # and as many equations. The chosen unknowns are solved for exactly; the others keep their floats, rounded: to
    # simple fractions where they are few, else to a few bits, since the denominators of many fractions multiply.
    scaled = settled.matrix.toarray() * settled.unknowns
    _, triangle, columns = qr(scaled, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int((size > 1e-11 * size[0]).sum())
    basis = {int(u): place for place, u in enumerate(columns[:rank])}
    rows = {b: b for b in range(len(scaled))}
    if rank < len(scaled):  # some equations follow from others
        chosen = qr(scaled[:, list(basis)].T, mode="r", pivoting=True)[1][:rank]
        rows = {int(b): place for place, b in enumerate(sorted(chosen))}
    roundings: list[Callable[[float], Fraction]] = [partial(_with_bits, bits) for bits in BITS]
    if len(settled.unknowns) - rank <= FEW_FREE:
        roundings.insert(0, _simple)
    for rounded in roundings:
        unknowns = [rounded(float(value)) for value in settled.unknowns]
        system: list[dict[int, Fraction]] = [{} for _ in rows]
        right = [Fraction(1)] * rank
        for b, u, value in settled.form.terms(turns):
            if b not in rows:
                continue
            if u in basis:
                row = system[rows[b]]
                row[basis[u]] = row.get(basis[u], Fraction(0)) + value
            elif unknowns[u]:
                right[rows[b]] -= value * unknowns[u]
        values = solve_sparse(system, right)
        if values is None:
            return
        for u, place in basis.items():
            unknowns[u] = values[place]
        yield settled.form.tasks(unknowns, Fraction(0))


def _simple(value: float) -> Fraction:
    """Round a number that is not negative to a simple fraction."""
    return Fraction(value).limit_denominator(round(SIMPLE * max(1.0, 1 / value))) if value else Fraction(0)


def _with_bits(bits: int, value: float) -> Fraction:
    """Round a number to the given number of significant bits."""
    unit = Fraction(2) ** (frexp(value)[1] - bits)
    return round(Fraction(value) / unit) * unit
