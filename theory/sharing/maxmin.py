"""Mechanisms that are max-min fair in one number a user, by linear programs: C-DRFH, CDRF, TSF."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.exact.programs import Bound, LinearProgram
from theory.numbers import total
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.levels import C_DRFH, CDRF, TSF, LevelRule
from theory.sharing.model import Cluster, Matrix, Occupation, Row, eligibility, occupation
from theory.sharing.numeric_levels import LEAST_TOLERANCE, numeric_max_min

EXACT_PAIRS = 200_000
"""Up to this many pairs of user and eligible class the linear programs are solved in rationals, beyond it in floats."""


def max_min_tasks(table: Occupation, unit: Sequence[Fraction]) -> tuple[Matrix, tuple[Stage, ...]]:
    """Return tasks, shape (N, K), whose totals x_n / unit_n are lexicographically max-min, exactly, and their proof.

    Parameters
    ----------
    table : Occupation
    unit : sequence of Fraction, shape (N,)
        Positive.

    Notes
    -----
    At most N linear programs: raise the common level of the users still rising; those whose row has a positive
    multiplier stay at that level in *every* optimal solution (complementary slackness) and are frozen there. At least
    one is, since the multipliers weighted by the units sum to one. A user with a cap rises until it has the tasks that
    it wants: the common level is bounded by the least such level, and who reaches its cap is frozen there, without a
    stage, as the cap is the proof. What a vertex gives such a user beyond its cap was free, and is taken from it.

    Examples
    --------
    >>> from theory.sharing.model import cluster, occupation
    >>> tasks, stages = max_min_tasks(occupation(cluster([[3], [1]], [[1], [1]])), [1, 2])
    >>> [[str(x) for x in row] for row in tasks], len(stages)
    ([['1/3', '1'], ['8/3', '0']], 1)
    >>> capped = occupation(cluster([[3], [1]], [[1], [1]], most_tasks=[1, None]))
    >>> [str(sum(row)) for row in max_min_tasks(capped, [1, 2])[0]]
    ['1', '3']
    """
    users, servers, width = len(table.weights), len(table.shares[0]), table.width
    scale = [total(table.monopoly(n, i) for i in range(servers)) for n in range(users)]
    program, pairs = load_program(table, scale, [0] * users)
    load_rows = servers * width
    # A user's level is x_n / unit_n, and the unknowns are x_{n,i} / scale_n; levels are measured in the largest
    # unit_n / scale_n, so that no user needs a large coefficient.
    coefficient = [Fraction(unit[n]) / scale[n] for n in range(users)]
    largest = max(coefficient)
    coefficient = [value / largest for value in coefficient]
    cap = {n: most / scale[n] / coefficient[n] for n, most in enumerate(table.most) if most is not None}  # its level
    rising = list(range(users))
    values: Sequence[Fraction] = []
    stages: list[Stage] = []
    while rising:
        # maximise t with sum_i x_{n,i} / scale_n - coefficient_n t >= 0 for the users who rise
        least_cap = min((cap[n] for n in rising if n in cap), default=None)
        program.add_columns([1], [{load_rows + n: -coefficient[n] for n in rising}], upper=[least_cap])
        vertex = program.solve()
        values, level, price = vertex.primal, vertex.objective, vertex.dual
        at_cap = {n for n in rising if cap.get(n) == level}
        stopped = {n for n in rising if price[load_rows + n]} - at_cap
        if stopped:
            stages.append(
                Stage(
                    tuple(tuple(price[i * width : (i + 1) * width]) for i in range(servers)),
                    tuple(-price[load_rows + n] / scale[n] for n in range(users)),
                )
            )
        program.keep_columns(range(program.width - 1))
        for n in stopped | at_cap:
            program.set_row(load_rows + n, level * coefficient[n], None)
        rising = [n for n in rising if n not in stopped | at_cap]
    return _within_caps(table, unscaled(table, scale, pairs, values[:-1])), tuple(stages)  # the last value is the level


def _within_caps(table: Occupation, tasks: Matrix) -> Matrix:
    """Return tasks, shape (N, K), of which users have at most their caps, an equal part less on each class."""

    def trimmed(row: Row, most: Fraction | None) -> Row:
        has = total(row)
        return row if most is None or has <= most else tuple(x * most / has for x in row)

    return tuple(trimmed(row, most) for row, most in zip(tasks, table.most, strict=True))


def unscaled(
    table: Occupation, scale: Sequence[Fraction], pairs: Sequence[tuple[int, int]], values: Sequence[Fraction]
) -> Matrix:
    """Return tasks x_{n,i} of all pairs, shape (N, K), from those of `load_program`."""
    tasks = [[Fraction(0)] * len(rows) for rows in table.shares]
    for (n, i), value in zip(pairs, values, strict=True):
        tasks[n][i] = value * scale[n]
    return tuple(map(tuple, tasks))


def load_program(
    table: Occupation,
    scale: Sequence[Fraction],
    least: Sequence[Fraction | int],
    gain: int = 0,
    *,
    caps: bool = False,
) -> tuple[LinearProgram, list[tuple[int, int]]]:
    """Return the program of feasible tasks x_{n,i} / scale_n, each worth `gain`, and the pairs (n, i) of its columns.

    Rows are the loads, at most 1, of each resource of each server, then the sum of each user, at least `least`, and
    with `caps` at most the tasks that it wants.
    """
    width = table.width
    load_rows = len(table.shares[0]) * width
    most = [None if cap is None or not caps else cap / size for cap, size in zip(table.most, scale, strict=True)]
    rows: list[tuple[Bound, Bound]] = [(None, 1)] * load_rows + list(zip(least, most, strict=True))
    program = LinearProgram(rows)
    pairs, columns = [], []
    for n, shares in enumerate(table.shares):
        for i, row in enumerate(shares):
            if row is not None:
                column: dict[int, Fraction | int] = {
                    i * width + r: share * scale[n] for r, share in enumerate(row) if share
                }
                column[load_rows + n] = 1
                pairs.append((n, i))
                columns.append(column)
    program.add_columns([gain] * len(pairs), columns)
    return program, pairs


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
    return max_min(cluster, C_DRFH)


def tsf(cluster: Cluster) -> Allocation:
    """Return TSF: max-min fair in x_n / (phi_n h_n), h_n the tasks it could run alone without placement constraints.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in tsf(figure1).totals]
    ['2', '2', '8']
    """
    return max_min(cluster, TSF)


def cdrf(cluster: Cluster) -> Allocation:
    """Return CDRF: max-min fair in x_n / (phi_n h_n), h_n the tasks it can really run alone.

    Without placement constraints it is TSF. The paper defines it only there; with constraints this is the direct
    reading of "monopolising the whole cluster". It has no caps, so InputError for a cluster with them.
    """
    Cluster.expected(cluster)
    cluster.refuse_caps_and_groups("shares by cdrf")
    return max_min(cluster, CDRF)


def max_min(cluster: Cluster, rule: LevelRule) -> Allocation:
    """Return the allocation that is max-min fair in the level of a rule; InputError beyond a million pairs.

    Exact, with the ``stages`` that prove it, up to `EXACT_PAIRS` pairs of user and eligible class; beyond, numeric,
    with the ``violation`` that was reached (`theory.sharing.numeric_levels.numeric_max_min`), where no user has a cap.
    """
    Cluster.expected(cluster)
    cluster.refuse_groups(f"shares by {rule.name}")
    if eligibility(cluster).sum() > EXACT_PAIRS:
        return numeric_max_min(cluster, rule, LEAST_TOLERANCE)
    tasks, stages = max_min_tasks(occupation(cluster), rule.units(cluster))
    return Allocation(rule.name, cluster, tasks, stages=stages)
