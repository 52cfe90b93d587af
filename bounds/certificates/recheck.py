"""Whether the checker can verify what is stated of servers whose resources stand on fine grids."""

from __future__ import annotations

from math import prod

from bounds import checker
from theory.exact.configurations import has_at_most
from theory.files.instances import instance_document
from theory.instance import Additive, Instance


def beyond_checker(instance: Instance) -> str | None:
    """Return why the checker's budget is too small for prices of an instance; None where that is not certain.

    The checker knows a table over all levels of the resources, and where that would be too large, a list of all
    configurations. Both are beyond its limits if neither the table nor the list, counted no further than to the limit,
    is short enough.

    Examples
    --------
    >>> from theory.instance import additive
    >>> beyond_checker(additive([12], [[5], [7]])) is None
    True
    >>> demands = [[101 + 7 * j, 150 + 13 * j % 97, 190 - 3 * j] for j in range(12)]
    >>> beyond_checker(additive([10_000, 10_000, 10_000], demands))  # doctest: +ELLIPSIS
    'pool pool1 needs a table of 1e+13 cells, or a list of more than 517,241 configurations, ...'
    """
    for pool, seen in zip(instance.pools, checker.model(instance_document(instance)).pools, strict=True):
        if not isinstance(pool.space, Additive):
            continue
        types = len(seen.demands)
        cells = prod(c + 1 for c in seen.capacity) * types
        units = 20 + 2 * types * (len(seen.capacity) + 1)  # for each configuration that the checker lists
        most = min(checker.MAX_CONFIGURATIONS, checker.BUDGET // units)
        if cells > checker.MAX_CELLS and not has_at_most(pool.space, most):
            return (
                f"pool {pool.name} needs a table of {cells:.0e} cells, or a list of more than {most:,} configurations, "
                "which is all that its budget covers (--budget raises it)"
            )
    return None
