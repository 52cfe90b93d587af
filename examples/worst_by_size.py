"""Greedy's worst instances by number of job types and resources: one found here, and the table on record.

Run ``python examples/worst_by_size.py OUT.png``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof.adversary import proven_bound, worst_by_size
from packproof.views import arguments, picture_of_sizes, ratios_on_record


def main(path: str = "worst_by_size.png") -> Fraction:
    """Draw the table and return the least ratio found for three types and two resources."""
    found = worst_by_size(3, 2)
    print(f"3 types, 2 resources: {found.ratio}" + (", the proven bound" if found.attained else ""))
    print(f"  {found.instance.pools[0].space}")
    print(f"  rewards {', '.join(map(str, found.instance.rewards))}")
    print("least ratios on record")
    for (types, resources), ratio in ratios_on_record().items():
        above = float(ratio - proven_bound(types))
        print(f"  {types} types, at most {resources} resources: {float(ratio):.6f}, {above:.6f} above the bound")
    picture_of_sizes(path)
    return found.ratio


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
