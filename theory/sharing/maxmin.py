"""Mechanisms that are max-min fair in one number a user: DRF, C-DRFH, CDRF, TSF."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.exact.linear import LinearProgram
from theory.exact.solver import Bound
from theory.numbers import total
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.model import Cluster, Matrix, Row
from theory.sharing.occupation import Occupation, occupation

EXACT_PAIRS = 200_000
"""Up to this many pairs of user and eligible class the repeated linear programs are solved in rationals."""


def max_min_tasks(
    table: Occupation, unit: Sequence[Fraction], *, exact: bool = True
) -> tuple[Matrix, tuple[Stage, ...]]:
    """Return tasks whose normalised totals x_n / unit_n are lexicographically max-min.

    Parameters
    ----------
    table : Occupation
    unit : sequence of Fraction, shape (N,)
        Positive.
    exact : bool
        Whether each linear program is solved in rationals; in floats the tasks are rational roundings, feasible only
        up to the solver's tolerance.

    Returns
    -------
    tasks : tuple of tuple of Fraction, shape (N, K)
    stages : tuple of Stage
        The proof, from the multipliers of the linear programs; empty in floats.

    Notes
    -----
    At most N linear programs: raise the common level of the users still rising; those whose row has a positive
    multiplier stay at that level in *every* optimal solution (complementary slackness) and are frozen there. At least
    one is, since the multipliers weighted by the units sum to one.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> tasks, stages = max_min_tasks(occupation(cluster([[3], [1]], [[1], [1]])), [1, 2])
    >>> [[str(x) for x in row] for row in tasks], len(stages)
    ([['1/3', '1'], ['8/3', '0']], 1)
    """
    users, servers = len(table.weights), len(table.shares[0])
    width = next(len(row) for rows in table.shares for row in rows if row is not None)
    capacity_rows = servers * width
    rows: list[tuple[Bound, Bound]] = [(None, 1)] * capacity_rows + [(0, None)] * users
    program = LinearProgram(rows)
    pairs = [(n, i) for n in range(users) for i in range(servers) if table.shares[n][i] is not None]
    scale = [total(table.monopoly(n, i) for i in range(servers)) for n in range(users)]
    entries: list[dict[int, Fraction | int]] = []
    for n, i in pairs:  # the unknown is x_{n,i} / scale_n
        row = table.shares[n][i]
        assert row is not None
        column: dict[int, Fraction | int] = {i * width + r: share * scale[n] for r, share in enumerate(row) if share}
        column[capacity_rows + n] = 1
        entries.append(column)
    program.add_columns([0] * len(pairs), entries)
    each = [Fraction(unit[n]) / scale[n] for n in range(users)]
    largest = max(each)
    each = [value / largest for value in each]  # the level is measured so that no user needs a large coefficient
    rising = list(range(users))
    values: Sequence[Fraction | float] = []
    stages: list[Stage] = []
    while rising:
        program.add_columns([1], [{capacity_rows + n: -each[n] for n in rising}])
        if exact:
            vertex = program.solve()
            values, level, price = vertex.primal, vertex.objective, vertex.dual
            stopped = [n for n in rising if price[capacity_rows + n]]
            stages.append(
                Stage(
                    tuple(tuple(price[i * width : (i + 1) * width]) for i in range(servers)),
                    tuple(-price[capacity_rows + n] / scale[n] for n in range(users)),
                )
            )
        else:
            objective, primal, dual = program.solve_float()
            values, level = [float(x) for x in primal], Fraction(objective).limit_denominator(10**12)
            pull = {n: abs(dual[capacity_rows + n]) * float(each[n]) for n in rising}
            stopped = [n for n in rising if pull[n] > 1e-6 * max(pull.values())]
        program.keep_columns(range(program.width - 1))
        for n in stopped:
            program.set_row(capacity_rows + n, level * each[n] if exact else level * each[n] * (1 - SLACK), None)
        rising = [n for n in rising if n not in set(stopped)]
    tasks = [[Fraction(0)] * servers for _ in range(users)]
    for (n, i), value in zip(pairs, values, strict=False):
        exact_value = value if isinstance(value, Fraction) else Fraction(max(value, 0.0)).limit_denominator(10**12)
        tasks[n][i] = exact_value * scale[n]
    return tuple(map(tuple, tasks)), tuple(stages)


SLACK = Fraction(1, 10**9)
"""In floats, frozen users keep their level up to this part, or rounding would make the next program infeasible."""


def drf(cluster: Cluster) -> Allocation:
    """Return weighted DRF on the servers pooled into one.

    Placement constraints and the borders between servers are ignored: what DRF would give if they did not exist.

    Notes
    -----
    Progressive filling: all rise at one weighted dominant share; who demands a resource that saturates stops. At most R
    steps of O(N R). Source: PS-DSF paper, Definition 1, formulas (2)-(4).

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> [str(x) for x in drf(cluster([[9, 18]], [[1, 4], [3, 1]])).totals]
    ['3', '2']
    """
    pool = cluster.pooled()
    table = occupation(pool)
    users = range(len(pool.users))
    share = [row[0] for row in table.shares]
    speed = [weight / max(row) if row else Fraction(0) for weight, row in zip(pool.weights, share, strict=True)]
    tasks = [Fraction(0)] * len(pool.users)
    free = [Fraction(1)] * len(pool.resources)
    rising = {n for n in users if speed[n]}
    while rising:
        rate = [total(speed[n] * (share[n] or ())[r] for n in rising) for r in range(len(free))]
        height = min(f / v for f, v in zip(free, rate, strict=True) if v)
        for n in rising:
            tasks[n] += height * speed[n]
        free = [f - height * v for f, v in zip(free, rate, strict=True)]
        full = [r for r, v in enumerate(rate) if v and not free[r]]
        rising = {n for n in rising if not any((share[n] or ())[r] for r in full)}
    return Allocation("drf", pool, tuple((x,) for x in tasks))


def c_drfh(cluster: Cluster) -> Allocation:
    """Return C-DRFH: max-min fair in x_n / phi_n times the global dominant share of a task.

    The share counts all servers, whatever the placement constraints; they hold for feasibility only. Formula (5).
    Effective capacities do not enter the share (the paper finds no global dominant resource for them).

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in c_drfh(figure1).totals]
    ['60/23', '72/23', '144/23']
    """
    return _max_min(cluster, "c-drfh")


def tsf(cluster: Cluster) -> Allocation:
    """Return TSF: max-min fair in x_n / (phi_n h_n), h_n the tasks it could run alone without placement constraints.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in tsf(figure1).totals]
    ['2', '2', '8']
    """
    return _max_min(cluster, "tsf")


def cdrf(cluster: Cluster) -> Allocation:
    """Return CDRF: max-min fair in x_n / (phi_n h_n), h_n the tasks it can really run alone.

    Without placement constraints it is TSF. The paper defines it only there; with constraints this is the direct
    reading of "monopolising the whole cluster".
    """
    return _max_min(cluster, "cdrf")


def task_units(cluster: Cluster, mechanism: str) -> Row:
    """Return the unit_n, length N, for which a mechanism is max-min fair in x_n / unit_n.

    phi_n h_n for ``tsf`` and ``cdrf``; for ``c-drfh`` phi_n over the global dominant share of a task.
    """
    if mechanism == "c-drfh":
        whole = [total(column) for column in zip(*cluster.capacity, strict=True)]
        return tuple(
            user.weight / max(d / c for d, c in zip(user.demand, whole, strict=True) if d) for user in cluster.users
        )
    alone = cluster.reach if mechanism == "tsf" else cluster.monopoly
    return tuple(w * total(row) for w, row in zip(cluster.weights, alone, strict=True))


def _max_min(cluster: Cluster, mechanism: str) -> Allocation:
    table = occupation(cluster)
    pairs = sum(row is not None for rows in table.shares for row in rows)
    exact = pairs <= EXACT_PAIRS
    tasks, stages = max_min_tasks(table, task_units(cluster, mechanism), exact=exact)
    if not exact:
        tasks = _scaled_down(cluster, tasks)
    return Allocation(mechanism, cluster, tasks, exact=exact, stages=stages)


def _scaled_down(cluster: Cluster, tasks: Matrix) -> Matrix:
    """Undo a solver's overshoot, class by class."""
    draft = Allocation("", cluster, tasks)
    load: Row = tuple(
        max(draft.utilisation(i, r) for r in range(len(cluster.resources))) for i in range(len(cluster.servers))
    )
    return tuple(
        tuple(x / max(Fraction(1), peak) if x else x for x, peak in zip(row, load, strict=True)) for row in tasks
    )
