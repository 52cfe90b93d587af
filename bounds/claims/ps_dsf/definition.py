"""Definition 5 of the PS-DSF paper taken literally: can a user gain without a loss to somebody no better off?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.exact.linear import Bound, LinearProgram
from theory.numbers import total
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.model import Cluster
from theory.sharing.occupation import occupation


def satisfies_definition_5(
    cluster: Cluster, tasks: Sequence[Sequence[Fraction]], division: str, *, levels_matter: bool = True
) -> bool:
    """Decide Definition 5 by one exact linear program a user.

    User n's tasks are raised as far as possible while x_{m,i} may fall only for users m and servers i with
    s_{m,i} / phi_m > s_{n,i} / phi_n (for nobody, if not `levels_matter`); the allocation is PS-DSF if nobody gains.
    """
    if not is_feasible_allocation(cluster, tasks, division=division):
        return False
    table = occupation(cluster)
    if division == "time":
        table = table.in_time()
    totals = [total(row) for row in tasks]
    width = next(len(row) for rows in table.shares for row in rows if row is not None)
    for n in range(len(totals)):
        rows: list[tuple[Bound, Bound]] = [(None, 1)] * (len(cluster.servers) * width)
        program = LinearProgram(rows)
        for m, shares in enumerate(table.shares):
            for i, row in enumerate(shares):
                if row is None:
                    continue
                scale = table.monopoly(m, i)
                entries = {i * width + r: share * scale for r, share in enumerate(row) if share}
                protected = m != n
                if protected and levels_matter and table.shares[n][i] is not None:
                    theirs = totals[m] / (table.monopoly(m, i) * table.weights[m])
                    mine = totals[n] / (table.monopoly(n, i) * table.weights[n])
                    protected = theirs <= mine
                least = tasks[m][i] / scale if protected else 0
                program.add_columns([scale if m == n else 0], [entries], lower=[least])
        if program.solve().objective > totals[n]:
            return False
    return True
