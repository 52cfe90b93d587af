"""Greedy's worst instances by number of job types and resources: one found here, and the table on record.

Run ``python examples/worst_by_size.py OUT.png``.
"""

from __future__ import annotations

import sys
from fractions import Fraction

from bounds.adversary.by_size import worst_by_size
from bounds.adversary.chains import proven_bound
from bounds.claims.packproof.by_size import table
from bounds.views.by_size import save_table


def main(path: str) -> Fraction:
    """Draw the table and return the least ratio found for three types and two resources."""
    found = worst_by_size(3, 2)
    print(f"3 types, 2 resources: {found.ratio}" + (", the proven bound" if found.attained else ""))
    for job_type, demands in zip(found.instance.types, found.instance.pools[0].space.demands, strict=True):  # type: ignore[union-attr]
        print(f"  {job_type.name} needs {demands}, earns {job_type.reward}")
    print("least ratios on record")
    for cell in table():
        above = float(cell.ratio - proven_bound(cell.types))
        print(f"  {cell.types} types, {cell.resources} resources: {float(cell.ratio):.6f}, {above:.6f} above the bound")
    save_table({(cell.types, cell.resources): float(cell.ratio) for cell in table()}, path)
    return found.ratio


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "worst_by_size.png")
