"""Results of packproof on supportable workloads: tighter bounds, and the exact guarantee of a partition."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from bounds.claims import Evidence, Outcome, WithoutData, claim
from bounds.results.instances.drawn import random_law
from bounds.results.real_data import data_folder
from bounds.results.reproduction import drawing
from bounds.views.panels import Bars, Chart, Curve, Line, Panel
from theory.errors import InputError, expect_number
from theory.files.google_machines import REQUESTS, google_law
from theory.numbers import text, total
from theory.partition.bounding import Bracket, bracket
from theory.partition.cuts import by_cuts
from theory.partition.guarantees import best_partitions, guarantee
from theory.partition.laws import Law, discrete, uniform
from theory.partition.mixing import SizeCell, initial_cells, mixed
from theory.partition.rounded import lower_rounded, supportable, upper_rounded
from theory.partition.spread import lemma_2, spread_prices
from theory.partition.universal import universal_cells, vqs_workload

TWO_THIRDS = Fraction(2, 3)


def _grid(law: Law, grid: int) -> list[int]:
    return list(range(int(law.least * grid), -int(-law.greatest * grid // 1) + 1))


@claim(
    "linear-prices",
    "Linear prices bound workloads no worse than rounding",
    "Prices of sizes that are linear between the cuts bound the workload at least as well as rounding down to the "
    "same cuts, and as Lemma 2: an integer knapsack decides them. Random distributions on cuts at twentieths.",
    source="packproof",
    printed="not in the paper, which rounds down (step functions)",
    evidence=Evidence.certified,
    tiny={"count": 4},
    full={"count": 200},
    controls={"the cuts of the prices are four times as coarse and Lemma 2 is left out": {"grid": 5}},
)
def linear_prices(count: int = 10, *, grid: int = 20) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(61)
    better, good = 0, True
    for _ in range(count):
        law = random_law(generator, least=1)
        down = lower_rounded(law, by_cuts(Fraction(i, 20) for i in range(1, 20)))
        ours = spread_prices(law, grid, _grid(law, grid), 1e-9).bound(law)
        mean = lemma_2(law).bound(law)
        assert down is not None
        good &= ours <= down * (1 + Fraction(1, 10**8)) and ours <= mean * (1 + Fraction(1, 10**8))
        better += ours < min(down, mean)
    computed = f"{count} laws, strictly better than both on {better}"
    return Outcome(computed, good and better > 0)


@claim(
    "mixed-cells",
    "Mixing cells supports no less than rounding up",
    "Mixing uniform cells supports at least what rounding them up supports, never more than the prices allow: random "
    "distributions of 16 cells. It is exact with one cell for [0.1, 0.9] and [0.01, 0.19], where rounding up is 50 % "
    "short.",
    source="packproof",
    printed="not in the paper, which rounds up",
    evidence=Evidence.certified,
    tiny={"count": 4},
    full={"count": 100},
    controls={
        "the mixed ones have a quarter of the cells": {"mixing": 4},
        "rounding up has two cells where mixing has one": {"rounded": 2},
    },
)
def mixed_cells(count: int = 10, *, mixing: int = 16, rounded: int = 1) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(62)
    between, least = 0, Fraction(9)
    for _ in range(count):
        law = random_law(generator, least=1)
        cells = initial_cells(law, 16)
        up = _rounded_up(cells)
        ours = mixed(initial_cells(law, mixing), 1e-9).workload
        low, high = up * (1 - Fraction(1, 10**8)), spread_prices(law, 20, _grid(law, 20)).bound(law)
        between += low <= ours <= high  # between rounding up and the prices
        least = min(least, ours / up)
    laws = (uniform("1/10", "9/10"), uniform("1/100", "19/100"))
    exact = [mixed(initial_cells(law, 1)).workload for law in laws]
    up_of_one = [_rounded_up(initial_cells(law, rounded)) for law in laws]
    computed = (
        f"{between} of {count} laws lie between, at least {float(least):.4f} of what rounding up supports; one cell: "
        f"{', '.join(map(text, exact))}, rounded up {', '.join(map(text, up_of_one))}"
    )
    return Outcome(computed, between == count and exact == [2, 10] and up_of_one == [1, 5])


def _rounded_up(cells: Sequence[SizeCell]) -> Fraction:
    """Return the workload that cells support with the upper ends for sizes."""
    best = supportable([cell.top for cell in cells], [cell.probability for cell in cells])
    assert best is not None
    return best.workload


@drawing(
    "Sizes uniform on [1/10, 9/10]: bounds from above and from below",
    "linear-prices",
    "mixed-cells",
    "throughput/example-uniform",
    "throughput/lemma-2",
    "throughput/theorem-1",
)
def cells() -> Sequence[Panel]:
    law, numbers = uniform("1/10", "9/10"), (1, 2, 4, 8)
    values: dict[str, list[float]] = {"rounding down": [], "linear prices": [], "mixed cells": [], "rounding up": []}
    for number in numbers:
        cut = by_cuts(Fraction(1, 10) + Fraction(8 * i, 10 * number) for i in range(1, number))
        down, up = lower_rounded(law, cut), upper_rounded(law, cut)
        prices = spread_prices(law, 10 * number, _grid(law, 10 * number), 1e-9).bound(law)
        bounds = (down, prices, mixed(initial_cells(law, number)).workload, up)
        for name, value in zip(values, bounds, strict=True):
            values[name].append(float("nan") if value is None else float(value))
    curves, lemma_2_bound = (
        [Curve(name, numbers, y) for name, y in values.items()],
        Line("1 / mean size (Lemma 2)", 2.0),
    )
    return [Chart("equal cells (number)", "workload (jobs per server)", curves, [lemma_2_bound], xscale="log")]


@claim(
    "partition-guarantee",
    "A partition's guarantee is one over rounded servers",
    "The guarantee of a partition on (u, 1] is one over the most servers that the jobs of one server need once "
    "rounded up. Coq checked it for mean numbers of jobs by cell; that a distribution enters by these alone is proved "
    "in words. Beside the proof, on four partitions, and random ones, the worst distribution attains it exactly, the "
    "whole maximum is found again by other means, and no distribution of a random family is below.",
    source="packproof",
    printed="not in the paper: 2/3 for its own partition, at most 2/3 for any",
    evidence=Evidence.proved,
    tiny={"more": 1, "laws_each": 6},
    full={"more": 60, "laws_each": 400},
    controls={
        "a guarantee larger by a twentieth": {"factor": Fraction(21, 20)},
        "jobs are of the lower ends of their intervals": {"closed": True},
        "a cut is left out": {"left_out": 1},
    },
    proof="partitions.md#guarantee",
)
def partition_guarantee(
    more: int = 4,
    laws_each: int = 12,
    *,
    factor: Fraction = Fraction(1),
    closed: bool = False,
    left_out: int = 0,
) -> Outcome:
    """Attack each guarantee with many laws."""
    expect_number(more, "more", 0)
    expect_number(laws_each, "laws_each", 1)
    generator = random.Random(63)
    partitions = [(["1/2"], "1/4"), (["1/3", "1/2"], "1/5"), (["2/5"], "1/4"), (["1/4", "1/3", "1/2", "2/3"], "1/6")]
    for _ in range(more):
        cuts = generator.sample([text(Fraction(i, 12)) for i in range(4, 12)], generator.randint(1, 4))
        partitions.append((cuts, "1/4"))
    laws = attained = found_again = 0
    nearest, good = Fraction(9), True
    for cuts, least in partitions:
        exact = guarantee(cuts[left_out:], least)
        claimed = exact.ratio * factor
        worst = supportable([x for x, _ in exact.worst_law.atoms], [p for _, p in exact.worst_law.atoms])
        assert worst is not None
        attained += upper_rounded(exact.worst_law, by_cuts(cuts)) / worst.workload == claimed
        found_again += _most_servers(cuts, Fraction(least), closed=closed) * claimed == 1
        for _ in range(laws_each):
            sizes = [Fraction(i, 60) for i in range(1, 61) if Fraction(i, 60) > Fraction(least)]
            chosen = generator.sample(sizes, generator.randint(1, 4))
            weights = [generator.randint(1, 5) for _ in chosen]
            law = discrete({x: Fraction(w, sum(weights)) for x, w in zip(chosen, weights, strict=True)})
            best = supportable([x for x, _ in law.atoms], [p for _, p in law.atoms])
            assert best is not None
            laws += 1
            share = upper_rounded(law, by_cuts(cuts)) / (claimed * best.workload)
            nearest, good = min(nearest, share), good and share >= 1
    computed = (
        f"{attained} of {len(partitions)} attained, {found_again} found again; {laws} laws keep at least "
        f"{float(nearest):.4f} of it"
    )
    return Outcome(computed, good and attained == found_again == len(partitions))


def _most_servers(cuts: list[str], least: Fraction, *, closed: bool) -> Fraction:
    """Return the greatest number of servers, in fractions, over every content, each solved on its own as a law."""
    tops = sorted({Fraction(cut) for cut in cuts} | {Fraction(1)})
    lows = [least, *tops[:-1]]
    greatest = Fraction(0)
    for n in product(*(range(int(1 / low) + 1) for low in lows)):
        size, jobs = total(k * low for k, low in zip(n, lows, strict=True)), sum(n)
        if jobs and (size < 1 or (closed and size == 1)):
            law = supportable(tops, [Fraction(k, jobs) for k in n])  # jobs a server, of the upper ends
            assert law is not None
            greatest = max(greatest, jobs / law.workload)
    return greatest


@claim(
    "best-partitions",
    "Best guarantees by cuts are decided on grids",
    "Best guarantees with N cuts on a rational grid, each other partition refuted by a distribution: on (1/4, 1] one "
    "cut at 1/2 gives 2/3; on (1/6, 1] in twenty-fourths 1/5, 3/7, 3/5, 12/19 for N = 0..3 (quick: to N = 2).",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.proved,
    tiny={"most_cuts": 1},
    full={"most_cuts": 3},
    controls={"the grid has no 1/2 and no 1/3": {"grid": 25}},
    proof="partitions.md#guarantee",
)
def best_of_few_cuts(*, most_cuts: int = 2, grid: int = 24) -> Outcome:
    rows = {}
    for least, most in (("1/4", 1), ("1/6", most_cuts)):
        for number in range(most + 1):
            *_, best = best_partitions(number, least, grid)
            rows[least, number] = best
    expected = {("1/4", 0): "1/3", ("1/4", 1): "2/3", ("1/6", 0): "1/5", ("1/6", 1): "3/7", ("1/6", 2): "3/5"}
    expected["1/6", 3] = "12/19"
    good = all(text(best.ratio) == expected[key] for key, best in rows.items())
    shown = (
        f"({least}, 1] N={n}: {text(best.ratio)} at {{{', '.join(map(text, best.cuts))}}}"
        for (least, n), best in rows.items()
    )
    return Outcome("; ".join(shown), good)


def _universal_without(depth: int) -> tuple[list[Fraction], Fraction, dict[Fraction, Fraction]]:
    """Return the cuts of the universal partition, its guarantee on (1/8, 1], and that without each of its cuts."""
    every = [high for _, high in universal_cells(depth)[1:]]
    without = {cut: guarantee([c for c in every if c != cut], Fraction(1, 8)).ratio for cut in every}
    return every, guarantee(every, Fraction(1, 8)).ratio, without


@claim(
    "universal-cuts",
    "One cut guarantees 2/3 on sizes above 1/4",
    "On (1/4, 1] one cut does what the universal partition does with three. On (1/8, 1] each of its five cuts is needed"
    " (without one at most 3/5), and no four cuts in twelfths (full: in twenty-fourths) reach 2/3.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.proved,
    full={"grid": 24},
    controls={"the doubled cuts of the partition for J = 4": {"depth": 4}},
    proof="partitions.md#guarantee",
)
def universal_cuts(grid: int = 12, *, depth: int = 3) -> Outcome:
    expect_number(grid, "grid", 5)  # four cuts between 0 and 1
    one_cut = guarantee(["1/2"], "1/4").ratio
    _, whole, without = _universal_without(depth)
    *_, four = best_partitions(4, "1/8", grid)
    computed = f"one cut {text(one_cut)}, five {text(whole)}; "
    computed += ", ".join(f"without {text(cut)}: {text(ratio)}" for cut, ratio in without.items())
    computed += f"; best of four {text(four.ratio)} at {{{', '.join(map(text, four.cuts))}}}"
    good = one_cut == whole == TWO_THIRDS and max(without.values()) <= Fraction(3, 5) and four.ratio < TWO_THIRDS
    return Outcome(computed, good)


@drawing(
    "The universal partition of (1/8, 1]: every cut is needed for 2/3",
    "universal-cuts",
    "partition-guarantee",
    height=1.9,
)
def each_cut() -> Sequence[Panel]:
    every, whole, without = _universal_without(3)
    names = [f"all five cuts: {whole}", *(f"without the cut at {cut}: {without[cut]}" for cut in sorted(every))]
    ratios = [float(whole), *(float(without[cut]) for cut in sorted(every))]
    return [Bars("guaranteed (share)", names, [("guarantee", ratios)], xlim=(0.0, 0.8))]


@cache
def _of_google(resource: str) -> tuple[Bracket, Fraction]:
    """Return bounds of the workload for the requests of the Google trace, and the workload that VQS is sure of."""
    folder = data_folder()
    if not (folder / REQUESTS).exists():
        raise WithoutData(f"no {REQUESTS} in PACKPROOF_DATA")
    law = google_law(folder, resource)
    return bracket(law, Fraction(1, 100)), vqs_workload(law).workload


@claim(
    "google-throughput",
    "The trace's maximum workload is known within 1%",
    "The memory (full: and CPU) requests of the Google trace of 2011 support, per server, a workload known within 1 "
    "%; VQS is sure to support more than 4/5 of it.",
    source="packproof",
    printed="not in the paper, which simulates the trace",
    evidence=Evidence.certified,
    full={"resources": ("memory", "cpu")},
    controls={
        "sizes are doubled after the bound was made": {"doubled": 2},
        "VQS has half of the servers": {"parts": 2},
    },
)
def google(resources: tuple[str, ...] = ("memory",), *, doubled: int = 1, parts: int = 1) -> Outcome:
    for resource in resources:
        if resource not in ("memory", "cpu"):
            raise InputError("resources", f"expected memory or cpu, got {resource[:60]!r}")
    good, shown = True, []
    for resource in resources:
        best, supported = _of_google(resource)
        upper = doubled * best.upper
        keeps = supported / upper / parts
        good &= upper <= best.lower * Fraction(101, 100) and keeps > Fraction(4, 5)
        shown.append(f"{resource}: {float(best.lower):.3f} to {float(upper):.3f}, VQS keeps {float(keeps):.3f}")
    return Outcome("; ".join(shown), good)
