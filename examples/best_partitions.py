"""How much a finite partition can promise: the best with N cuts, for every N, and where the universal partition stands.

A partition promises a share of the maximum supportable workload for every law of sizes above u. The share is exact, and
so is the search: every other partition on the grid is refuted by a law of its own.

Run ``python examples/best_partitions.py OUT.png``; ``--fine`` searches twenty-fourths instead of twelfths.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from fractions import Fraction

from packproof import best_partitions, guarantee
from packproof.partition import Guarantee, universal_cells
from packproof.views import picture_of_guarantees

SMALLEST = ("1/4", "1/6", "1/8")


def main(path: str | None = None, grid: int = 12) -> dict[tuple[str, int], Fraction]:
    """Print and draw the best guarantee by least size and number of cuts, and return them."""
    curves: dict[str, list[Guarantee]] = {}
    for least in SMALLEST:
        curves[least] = []
        for number in range(6):
            *_, best = best_partitions(number, least, grid)
            curves[least].append(best)
            cuts = ", ".join(map(str, best.cuts))
            law = ", ".join(f"{size} ({p})" for size, p in best.worst_law.atoms)
            print(f"sizes above {least}, {number} cuts: {best.ratio!s:>7} at {{{cuts}}}, worst law {law}", flush=True)
            if best.ratio == Fraction(2, 3):
                break
    universal = {}
    for least in SMALLEST:
        found = guarantee([high for _, high in universal_cells(3)], least)
        universal[least] = found
        print(f"sizes above {least}, universal partition: {found.ratio} with {len(found.cuts)} cuts")
    if path is not None:
        picture_of_guarantees(curves, universal, path)
    return {(least, len(best.cuts)): best.ratio for least, row in curves.items() for best in row}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("picture", metavar="OUT.png", nargs="?", help="file to write")
    parser.add_argument("--fine", action="store_true", help="search twenty-fourths")
    given = parser.parse_args()
    main(given.picture, 24 if given.fine else 12)
