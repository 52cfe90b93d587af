"""Claims of the high-throughput paper about the maximum supportable workload: Lemma 2, Theorem 1, the examples."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import random_law
from theory.errors import InputError, expect_number
from theory.numbers import text, total
from theory.partition.bounding import bracket
from theory.partition.cuts import Partition, by_cuts, equal_probability
from theory.partition.laws import Law, discrete, uniform
from theory.partition.rounded import lower_rounded, upper_rounded
from theory.partition.universal import vqs_workload


@claim(
    "lemma-2",
    "Certified workloads stay below L over mean size",
    "On random distributions of pieces and atoms the certified lower bound of the maximum supportable workload is at "
    "most L over the mean size; distributions that fill servers attain it.",
    source="Lemma 2",
    printed="the maximum value of rho* is at most L / mean size",
    evidence=Evidence.certified,
    full={"laws": 200},
    controls={"the mean is taken of sizes five percent larger": {"scale": Fraction(21, 20)}},
)
def lemma_2(laws: int = 12, *, scale: Fraction = Fraction(1)) -> Outcome:
    generator = random.Random(2)
    tried = [random_law(generator) for _ in range(laws)]
    tried += [uniform("1/10", "9/10"), uniform("1/100", "19/100")]
    worst = max(bracket(law, Fraction(1, 10)).lower * law.mean * scale for law in tried)
    computed = f"{len(tried)} laws, largest share of the bound {text(worst)}"
    return Outcome(computed, worst == 1)


def _shrunk(law: Law, scale: Fraction) -> Law:
    """Return the law of sizes that are all scaled."""
    pieces = (replace(piece, lower=piece.lower * scale, upper=piece.upper * scale) for piece in law.pieces)
    return Law(tuple((size * scale, p) for size, p in law.atoms), tuple(pieces))


Cuts = Callable[[Law, int], set[Fraction]]
Rounded = Callable[[Law, Partition], Fraction | None]


def cuts_of_equal_probability(law: Law, cells: int) -> set[Fraction]:
    """Return cuts beside the atoms of a law, and those that part the rest of it in cells of equal probability."""
    cuts = {end for size, _ in law.atoms for end in (size, size - Fraction(1, 200 * cells))}
    if law.pieces:
        mass = total(piece.probability for piece in law.pieces)
        rest = Law((), tuple(replace(piece, probability=piece.probability / mass) for piece in law.pieces))
        cuts |= set(equal_probability(rest, cells).upper)
    return cuts


def cuts_of_equal_length(_law: Law, cells: int) -> set[Fraction]:
    """Return the cuts that part (0, 1] in cells of equal length, whatever the law."""
    return {Fraction(i, cells) for i in range(1, cells)}


@claim(
    "theorem-1",
    "Finer partitions close the gap, for random distributions",
    "Random distributions of pieces and atoms, three nested partitions each: upper-rounded queues support at most "
    "what any schedule does (the certified upper bound), lower-rounded queues at least what some schedule does (the "
    "certified lower bound), and finer partitions are nowhere further from it. Both meet: along nested partitions "
    "with cells that end at the atoms, and 2, 4, 8 and 16 cells of equal probability for the rest, the gap never "
    "rises, and falls to a third or less.",
    source="Theorem 1",
    printed="there is a unique rho*, the limit of both roundings as partitions become finer",
    evidence=Evidence.certified,
    tiny={"laws": 2},
    full={"laws": 80},
    controls={
        "rounding up and rounding down are exchanged": {"up": lower_rounded, "down": upper_rounded},
        "the maximum is that of sizes a quarter smaller": {"scale": Fraction(3, 4)},
        "cells of equal length": {"cuts": cuts_of_equal_length},
    },
)
def theorem_1(
    laws: int = 8,
    *,
    up: Rounded = upper_rounded,
    down: Rounded = lower_rounded,
    scale: Fraction = Fraction(1),
    cuts: Cuts = cuts_of_equal_probability,
) -> Outcome:
    """Round random laws up and down on both sides of the maximum, and follow the gap for half as many."""
    expect_number(laws, "laws", 1)
    generator = random.Random(1)
    good, most, least = True, Fraction(0), Fraction(10**6)
    for law in [random_law(generator) for _ in range(laws)]:
        best = bracket(_shrunk(law, scale), Fraction(1, 20))
        nested = [by_cuts(Fraction(i, 20) for i in range(step, 20, step)) for step in (10, 5, 1)]  # the finest last
        ups = [up(law, partition) or Fraction(0) for partition in nested]
        downs = [down(law, partition) for partition in nested]
        good &= all(a <= b for a, b in pairwise(ups)) and all(low <= best.upper for low in ups)
        good &= all(a is None or (b is not None and a >= b) for a, b in pairwise(downs))
        good &= all(high is None or high >= best.lower for high in downs)
        most = max(most, ups[-1] / best.upper)
        least = min(least, *(high / best.lower for high in downs if high is not None))
    followed = [discrete({"1/3": "1/2", "2/3": "1/2"}), *(random_law(generator) for _ in range(laws // 2))]
    gaps = [_gaps(law, cuts) for law in followed]
    meets = sum(row[-1] <= row[0] / 3 and row == sorted(row, reverse=True) for row in gaps)
    last = max(row[-1] for row in gaps)
    computed = (
        f"{laws} laws, 3 nested partitions each: the finest upper-rounded queues support at most {float(most):.4f} of "
        f"the upper bound, lower-rounded queues at least {float(least):.4f} of the lower; the roundings of {meets} of "
        f"{len(followed)} laws meet, the largest gap with 16 cells is {float(last):.3f}"
    )
    return Outcome(computed, good and meets == len(followed))


def _gaps(law: Law, cuts_of: Cuts) -> list[Fraction]:
    """Return what rounding up lacks of rounding down, as a part of it, with 2, 4, 8 and 16 cells beside the atoms'.

    Each partition has the cuts of the one before, so that the gap cannot rise.
    """
    gaps, cuts = [], set[Fraction]()
    for cells in (2, 4, 8, 16):
        cuts |= cuts_of(law, cells)
        partition = by_cuts(sorted(cut for cut in cuts if 0 < cut < 1))
        up, down = upper_rounded(law, partition), lower_rounded(law, partition)
        gaps.append(1 - up / down if down else Fraction(1))
    return gaps


def partition_of_equal_length(law: Law, cells: int) -> Partition:
    """Return the partition in cells of equal length."""
    return by_cuts(sorted(cuts_of_equal_length(law, cells)))


@claim(
    "theorem-1-identities",
    "(40) and (41) hold for tried equal-probability partitions",
    "(40) and (41) hold with equality for partitions of equal probability: distributions without atoms, 2, 4 and 8 "
    "cells (full: 16), 1 and 5 servers.",
    source="Equations (40) and (41)",
    printed="(40) and (41), for a sequence of partitions of equal probability",
    evidence=Evidence.certified,
    full={"laws": 20, "cells": (2, 4, 8, 16)},
    controls={
        "cells of equal length": {"partition": partition_of_equal_length},
        "one cell more in (40) and (41)": {"more": 1},
    },
)
def identities(
    laws: int = 1,
    cells: tuple[int, ...] = (2, 4, 8),
    servers: tuple[int, ...] = (1, 5),
    *,
    partition: Callable[[Law, int], Partition] = equal_probability,
    more: int = 0,
) -> Outcome:
    """Compare both sides on random laws and three uniform ones; `more` is added to the cells of the equations."""
    for number in cells:
        expect_number(number, "cells", 2)
    generator = random.Random(40)
    tried = [uniform("1/10", "9/10"), uniform(0, 1), uniform("1/100", "19/100")]
    tried += [random_law(generator, atoms=False) for _ in range(laws)]
    checked, first, second = 0, 0, 0
    for law, number, L in product(tried, cells, servers):
        up, down = upper_rounded(law, partition(law, number), L), lower_rounded(law, partition(law, number), L)
        checked += 1
        share = L * (number + more)  # L 2^(n + 1)
        if down is not None and up < share:
            first += down == up / (1 - up / share)  # (40)
            second += down - up == down**2 / (share + down)  # (41)
    return Outcome(f"{checked} pairs of programs: (40) holds in {first}, (41) in {second}", first == second == checked)


@claim(
    "example-best-fit",
    "Rate 0.0306 exceeds what configuration (2, 1) serves",
    "Section VII-A.2, sizes 2 and 5 in capacity 10, small jobs twice as likely: the rate 0.0306 exceeds in both types "
    "what the configuration (2, 1) serves, and (5, 0), (0, 2) with weights 4/9 and 5/9 serve more than it. K_RED alone "
    "is sure of 0.03, less than that: it counts four small jobs, VQS fills in the fifth.",
    source="Section VII-A.2",
    printed="(0.0204, 0.0102) against (0.02, 0.01); below 4/9 (0.05, 0) + 5/9 (0, 0.02)",
    evidence=Evidence.certified,
    controls={
        "the rate is 0.029": {"rate": Fraction(29, 1000)},
        "the rate is 0.034": {"rate": Fraction(34, 1000)},
    },
)
def example_best_fit(rate: Fraction = Fraction(306, 10_000)) -> Outcome:
    """Compare a rate, in jobs a slot, with what (2, 1), the mixture and K_RED serve; a job takes 100 slots."""
    arrivals = (rate * 2 / 3, rate / 3)
    stuck = (Fraction(2, 100), Fraction(1, 100))
    hull = (Fraction(4, 9) * Fraction(5, 100), Fraction(5, 9) * Fraction(2, 100))
    law = discrete({"1/5": "2/3", "1/2": "1/3"})
    most, vqs = bracket(law).lower / 100, vqs_workload(law).workload / 100
    good = all(a > s for a, s in zip(arrivals, stuck, strict=True))
    good &= all(a < h for a, h in zip(arrivals, hull, strict=True)) and vqs < rate < most == total(hull)
    shown = ", ".join(text(x) for x in hull)
    rates = f"({', '.join(text(x) for x in arrivals)}) above (1/50, 1/100), below ({shown})?"
    return Outcome(f"{rates} Rate {text(rate)}, maximum {text(most)}, K_RED {text(vqs)}", good)


@claim(
    "example-uniform",
    "Intensity 1 is maximal for two uniform distributions",
    "Section VII-A.3, 5 servers: traffic intensity 1 is what is supportable at all for sizes uniform on [0.01, 0.19] "
    "and on [0.1, 0.9], workloads 50 and 10, exactly; K_RED supports at least 2/3 of them.",
    source="Section VII-A.3",
    printed="traffic intensity 1 is a bound on what is supportable by any algorithm",
    evidence=Evidence.certified,
    controls={
        "the second is uniform on [0.1, 0.95]": {"large": (Fraction(1, 10), Fraction(19, 20))},
        "J = 3 for both": {"J": 3},
    },
)
def example_uniform(
    small: tuple[Fraction, ...] = (Fraction(1, 100), Fraction(19, 100)),
    large: tuple[Fraction, ...] = (Fraction(1, 10), Fraction(9, 10)),
    servers: int = 5,
    *,
    J: int | None = None,
) -> Outcome:
    """Compare the maximum for sizes uniform between two ends with the workload of intensity 1, L / mean size."""
    expect_number(servers, "servers", 1)
    good, parts = True, []
    for name, ends in (("small", small), ("large", large)):
        if len(ends) != 2 or not 0 <= ends[0] < ends[1] <= 1:
            raise InputError(name, f"expected two ends, 0 <= low < high <= 1, got {', '.join(map(text, ends))}")
        law = uniform(*ends)
        best = bracket(law)
        low, high = servers * best.lower, servers * best.upper
        full = servers / law.mean  # the workload of intensity 1
        if low < full <= high:
            raise InputError(name, f"the maximum, {text(low)} to {text(high)}, is not known well enough")
        carried = vqs_workload(law, J=J).workload / best.lower
        good &= low == high == full and carried >= Fraction(2, 3)
        parts.append(f"{text(low)} to {text(high)}, K_RED {float(carried):.4f} of it")
    return Outcome("; ".join(parts), good)
