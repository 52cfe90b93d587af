"""Partitions of sizes, prices and cells, the constant of single types, and hulls of configurations."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import packproof
from bounds.results.packproof.region import harmonic
from bounds.views.panels import Bars, Cells, Chart, Curve, Line
from generate.drawn import Drawing, draws
from theory.partition import reduced_configurations, universal_cells
from theory.partition.cuts import by_cuts
from theory.partition.mixing import initial_cells, mixed
from theory.partition.spread import spread_prices

KEPT = "kept for every law (share)"
TWO_THIRDS = Line("2/3", 2 / 3)


@draws("throughput/powers-of-two", "throughput/universal-guarantee", "throughput/prop-1-tight")
def powers() -> Drawing:
    """Draw the exact guarantee of both partitions of (1/2^J, 1]."""
    curves = []
    for name, most, step in (("cuts at powers of two alone", 5, 2), ("universal partition", 4, 1)):
        J = range(1 if step == 2 else 2, most + 1)
        cuts = {n: [high for _, high in universal_cells(n)][::step] if n > 1 else [Fraction(1)] for n in J}
        ratios = [packproof.guarantee(cuts[n], Fraction(1, 2**n)).ratio for n in J]
        curves.append(Curve(name, J, [float(ratio) for ratio in ratios]))
    formula = Curve("1 / (2 - 2^(1-J))", range(1, 6), [1 / (2 - 2.0 ** (1 - n)) for n in range(1, 6)], look="plain")
    ticks = [(n, str(n)) for n in range(1, 6)]
    chart = Chart("J (sizes above 1/2^J)", KEPT, [*curves, formula], [TWO_THIRDS], xticks=ticks, ylim=(0.45, 1.05))
    return Drawing("Exact guarantees: cuts at powers of two, and the universal partition", [chart])


@draws("throughput/k-red")
def reduced() -> Drawing:
    """Write the reduced configurations for J = 3 as a table, with the sizes that they fill once rounded up."""
    cells, rows = universal_cells(3), reduced_configurations(3)
    across = [f"({low}, {high}]" for low, high in cells] + ["size"]
    sizes = [sum(n * high for n, (_, high) in zip(k, cells, strict=True)) for k in rows]
    texts = [[*(str(n or "") for n in k), str(size)] for k, size in zip(rows, sizes, strict=True)]
    tones = [[*("good" if n else "" for n in k), ""] for k in rows]
    table = Cells(across, [f"k({n})" for n in range(1, len(rows) + 1)], texts, tones)
    return Drawing("The 8 reduced configurations for J = 3: jobs by virtual queue, and their size rounded up", [table])


@draws("packproof/vqs-bf-tight")
def lost() -> Drawing:
    """Draw the workload above which VQS-BF loses the system of the claim."""
    m = [n / 10 for n in range(61)]
    curve = Curve("(2 + exp(-m)) / 3", m, [(2 + exp(-x)) / 3 for x in m], look="plain")
    chart = Chart(
        "workload m of the jobs of size 1 (jobs)", "workload rho (jobs of either type)", [curve], [TWO_THIRDS]
    )
    return Drawing("Above the curve the waiting work under VQS-BF tends to infinity", [chart])


@draws("packproof/universal-cuts", "packproof/partition-guarantee")
def each_cut() -> Drawing:
    """Draw the guarantee of the universal partition of (1/8, 1] without each of its cuts."""
    least = Fraction(1, 8)
    cuts = sorted({high for _, high in universal_cells(3)})
    names = ["all five cuts", *(f"without the cut at {cut}" for cut in cuts[:-1])]
    sets = [cuts, *([one for one in cuts if one != cut] for cut in cuts[:-1])]
    ratios = [packproof.guarantee(one, least).ratio for one in sets]
    bars = Bars(KEPT, [f"{name}: {ratio}" for name, ratio in zip(names, ratios, strict=True)],
                [("guarantee", [float(ratio) for ratio in ratios])], xlim=(0.0, 0.8))  # fmt: skip
    return Drawing("The universal partition of (1/8, 1]: every cut is needed for 2/3", [bars], height=1.9)


@draws(
    "packproof/linear-prices",
    "packproof/mixed-cells",
    "throughput/example-uniform",
    "throughput/lemma-2",
    "throughput/theorem-1",
)
def cells() -> Drawing:
    """Draw bounds of the supportable workload of sizes uniform on [1/10, 9/10] by the number of equal cells."""
    law, numbers = packproof.uniform("1/10", "9/10"), (1, 2, 4, 8)
    values: dict[str, list[float]] = {"rounding down": [], "linear prices": [], "mixed cells": [], "rounding up": []}
    for number in numbers:
        cut = by_cuts(Fraction(1, 10) + Fraction(8 * i, 10 * number) for i in range(1, number))
        down, up = packproof.lower_rounded(law, cut), packproof.upper_rounded(law, cut)
        grid = 10 * number
        prices = spread_prices(law, grid, range(number, 9 * number + 1), 1e-9).bound(law)
        found = (down, prices, mixed(initial_cells(law, number)).workload, up)
        for name, value in zip(values, found, strict=True):
            values[name].append(float("nan") if value is None else float(value))
    curves = [Curve(name, numbers, found) for name, found in values.items()]
    chart = Chart(
        "equal cells (number)",
        "workload (jobs per server)",
        curves,
        [Line("1 / mean size (Lemma 2)", 2.0)],
        xscale="log",
    )
    return Drawing("Sizes uniform on [1/10, 9/10]: bounds from above and from below", [chart])


@draws("packproof/lemma-6.1-constant", "nonpreemptive/lemma-6.1")
def single_types() -> Drawing:
    """Draw both constants times the number of resources."""
    fits = range(1, 9)
    curves = [
        Curve("1 / T, attained in the limit", fits, [float(1 / harmonic(n)) for n in fits]),
        Curve("N / (N + 1), Lemma 6.1", fits, [n / (n + 1) for n in fits]),
    ]
    chart = Chart("jobs of any type that fit a server N (number)", "constant times resources R (1)", curves)
    return Drawing("The best configuration of a single job type against the greatest weight", [chart])


@draws("nonpreemptive/maximal-same-hull", "nonpreemptive/region-2", "nonpreemptive/corollary-6.2")
def hulls() -> Drawing:
    """Draw hulls of configurations for jobs of 4 and 1 on a server of 6."""
    instance = packproof.additive([6], [[4], [1]])
    kept = packproof.kept_fraction(instance, packproof.single_types(instance)).fraction
    corners = sorted(packproof.region_facets(instance).vertices, key=lambda corner: (corner[0], -corner[1]))
    every = [(a, b) for a in range(2) for b in range(7) if 4 * a + b <= 6]
    x, y = zip(*every, strict=True)
    curves = [
        Curve("configurations", x, y, look="dots"),
        Curve("outer boundary of C", *_along(corners, 1), look="plain"),
        Curve(f"its multiple by f = {kept}", *_along(corners, kept), look="plain"),
        Curve("single types alone", (0, 1), (6, 0), look="plain"),
        Curve("hull of the maximal ones", (0, 1), (6, 2), look="plain"),
        Curve("hull without (0, 0): its lower side", (0, 1), (1, 0), look="plain"),
        Curve("workload (1/4, 1/4)", (0.25,), (0.25,), look="stars"),
    ]
    chart = Chart("jobs of size 4 (per server)", "jobs of size 1 (per server)", curves)
    return Drawing("A server of 6, jobs of 4 and 1: the region C and other hulls", [chart], height=3.2)


def _along(corners: list[tuple[Fraction, ...]], factor: Fraction | int) -> tuple[list[float], list[float]]:
    return [float(factor * x) for x, _ in corners], [float(factor * y) for _, y in corners]
