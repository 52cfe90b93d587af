"""Mechanisms that divide all servers as one: what they leave aside, and what is true of their tasks on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import load_program, unscaled
from theory.sharing.model import Cluster, Matrix, occupation
from theory.sharing.properties import MAX_PAIRS, PROPERTIES, Verdict, decide

BORDERS, EFFECTIVE, PLACEMENT = "borders of servers", "effective capacities", "placement"
"""What a mechanism may leave aside, as answers and certificates name it."""


@dataclass(frozen=True)
class Ignored:
    """A part of a cluster that a mechanism does not use.

    Attributes
    ----------
    what : str
        `BORDERS`, `EFFECTIVE` or `PLACEMENT`.
    users : tuple of str
        Those whose lines are not used; empty for the borders of servers, which concern all.
    """

    what: str
    users: tuple[str, ...] = ()


def ignored_as_one(cluster: Cluster) -> tuple[Ignored, ...]:
    """Return what is left aside where all servers count as one; nothing where the cluster has one class of servers.

    Examples
    --------
    >>> from theory.sharing import model
    >>> two = model.cluster([[3], [1]], [[1], [1]], eligible=[[True, True], [True, False]])
    >>> [(part.what, part.users) for part in ignored_as_one(two)]
    [('borders of servers', ()), ('placement', ('u2',))]
    """
    if len(cluster.servers) == 1:
        return ()
    effective = tuple(user.name for user in cluster.users if user.effective)
    placed = tuple(
        user.name for user in cluster.users if user.servers is not None and len(user.servers) < len(cluster.servers)
    )
    parts = (Ignored(EFFECTIVE, effective), Ignored(PLACEMENT, placed))
    return (Ignored(BORDERS), *(part for part in parts if part.users))


def place(cluster: Cluster, totals: Sequence[Fraction]) -> Matrix | None:
    """Return tasks on the servers, shape (N, K), with the given totals of users; None where no servers hold them.

    A linear program in rationals: the greatest multiple of the totals that fits.

    Examples
    --------
    >>> from theory.sharing import model
    >>> two = model.cluster([[2, 0], [0, 2]], [[1, 0], [0, 1]])
    >>> [[str(x) for x in row] for row in place(two, [Fraction(2), Fraction(1)])]
    [['2', '0'], ['0', '1']]
    >>> place(two, [Fraction(3), Fraction(0)]) is None
    True
    """
    table = occupation(cluster)
    users, load_rows = range(len(totals)), len(cluster.servers) * table.width
    scale = [total(row) for row in cluster.monopoly]
    program, pairs = load_program(table, scale, [0] * len(totals))
    # maximise t, at most 1, with sum_i x_{n,i} / scale_n >= t total_n / scale_n
    program.add_columns([1], [{load_rows + n: -totals[n] / scale[n] for n in users if totals[n]}])
    if not any(totals):
        return tuple((Fraction(0),) * len(cluster.servers) for _ in users)
    vertex = program.solve()
    if vertex.objective < 1:
        return None
    tasks = unscaled(table, scale, pairs, vertex.primal[:-1])
    parts = [x / have if have else x for x, have in zip(totals, map(total, tasks), strict=True)]
    return tuple(tuple(part * x for x in row) for part, row in zip(parts, tasks, strict=True))


def judge(allocation: Allocation, cluster: Cluster) -> tuple[bool | None, dict[str, Verdict]]:
    """Return whether the tasks of an allocation of all servers as one fit the cluster, and its properties there.

    Properties are those of the users' numbers of tasks on the servers as they are. Envy depends on which servers run
    the tasks, which such an allocation does not say, so it is not decided; neither is anything where the tasks do not
    fit, or for more than `MAX_PAIRS` pairs of user and server class.
    """
    name = allocation.mechanism
    if len(cluster.users) * len(cluster.servers) > MAX_PAIRS:
        reason = {"note": f"not decided beyond {MAX_PAIRS} pairs of user and server class"}
        return None, {one: Verdict(None, reason) for one in PROPERTIES}
    tasks = place(cluster, allocation.totals)
    if tasks is None:
        reason = {"note": "the tasks do not fit the servers of the cluster"}
        return False, {one: Verdict(None, reason) for one in PROPERTIES}
    verdicts = decide(Allocation(name, cluster, tasks))
    reason = {"note": f"{name} does not say which servers run the tasks"}
    return True, verdicts | {"envy_freeness": Verdict(None, reason)}
