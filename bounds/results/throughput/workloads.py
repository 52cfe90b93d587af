"""Claims of the high-throughput paper about the maximum supportable workload: Lemma 2, Theorem 1, the examples."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import random_law
from theory.numbers import text, total
from theory.partition.bounding import bracket
from theory.partition.cuts import by_cuts, equal_probability
from theory.partition.laws import Law, discrete, uniform
from theory.partition.rounded import lower_rounded, upper_rounded
from theory.partition.universal import vqs_workload


@claim(
    "lemma-2",
    "On random laws of pieces and atoms the certified lower bound of the maximum supportable workload is at most L "
    "over the mean size; laws that fill servers attain it.",
    source="Lemma 2",
    printed="the maximum value of rho* is at most L / mean size",
    evidence=Evidence.certified,
    breaks=("the mean is taken of sizes five percent larger",),
)
def lemma_2(level: Level, broken: str) -> Outcome:
    generator = random.Random(2)
    laws = [random_law(generator) for _ in range(12 if level is Level.quick else 200)]
    laws += [uniform("1/10", "9/10"), uniform("1/100", "19/100")]
    scale = Fraction(21, 20) if broken else Fraction(1)
    worst = max(bracket(law, Fraction(1, 10)).lower * law.mean * scale for law in laws)
    computed = f"{len(laws)} laws, largest share of the bound {text(worst)}"
    return Outcome(computed, worst == 1)


def _shrunk(law: Law, scale: Fraction) -> Law:
    """Return the law of sizes that are all scaled."""
    pieces = (replace(piece, lower=piece.lower * scale, upper=piece.upper * scale) for piece in law.pieces)
    return Law(tuple((size * scale, p) for size, p in law.atoms), tuple(pieces))


@claim(
    "theorem-1",
    "Random laws of pieces and atoms, three nested partitions each: upper-rounded queues support at most what any "
    "schedule does (the certified upper bound), lower-rounded queues at least what some schedule does (the certified "
    "lower bound), and finer partitions are nowhere further from it. Both meet: along nested partitions with cells "
    "that end at the atoms, and 2, 4, 8 and 16 cells of equal probability for the rest, the gap never rises, and falls "
    "to a third or less.",
    source="Theorem 1",
    printed="there is a unique rho*, the limit of both roundings as partitions become finer",
    evidence=Evidence.certified,
    breaks=(
        "rounding up and rounding down are exchanged",
        "the maximum is that of sizes a quarter smaller",
        "cells of equal length",
    ),
)
def theorem_1(level: Level, broken: str) -> Outcome:
    generator = random.Random(1)
    good, count = True, 8 if level is Level.quick else 80
    most, least = Fraction(0), Fraction(10**6)
    for _ in range(count):
        law = random_law(generator)
        best = bracket(_shrunk(law, Fraction(3, 4)) if "smaller" in broken else law, Fraction(1, 20))
        ups, downs = [], []
        for step in (10, 5, 1):  # nested partitions, the finest last
            partition = by_cuts(Fraction(i, 20) for i in range(step, 20, step))
            ups.append(upper_rounded(law, partition))
            downs.append(lower_rounded(law, partition))
        if "exchanged" in broken:
            ups, downs = [down or Fraction(0) for down in downs], list(ups)
        good &= all(a <= b for a, b in pairwise(ups)) and all(low <= best.upper for low in ups)
        good &= all(a is None or (b is not None and a >= b) for a, b in pairwise(downs))
        good &= all(high is None or high >= best.lower for high in downs)
        most = max(most, ups[-1] / best.upper)
        least = min(least, *(high / best.lower for high in downs if high is not None))
    laws = [discrete({"1/3": "1/2", "2/3": "1/2"}), *(random_law(generator) for _ in range(count // 2))]
    gaps = [_gaps(law, equal="equal length" in broken) for law in laws]
    meets = sum(row[-1] <= row[0] / 3 and row == sorted(row, reverse=True) for row in gaps)
    last = max(row[-1] for row in gaps)
    computed = (
        f"{count} laws, 3 nested partitions each: the finest upper-rounded queues support at most {float(most):.4f} of "
        f"the upper bound, lower-rounded queues at least {float(least):.4f} of the lower; the roundings of {meets} of "
        f"{len(laws)} laws meet, the largest gap with 16 cells is {float(last):.3f}"
    )
    return Outcome(computed, good and meets == len(laws))


def _gaps(law: Law, *, equal: bool) -> list[Fraction]:
    """Return what rounding up lacks of rounding down, as a part of it, with 2, 4, 8 and 16 cells beside the atoms'.

    Each partition has the cuts of the one before, so that the gap cannot rise.
    """
    gaps, cuts = [], set[Fraction]()
    for cells in (2, 4, 8, 16):
        cuts |= {end for size, _ in law.atoms for end in (size, size - Fraction(1, 200 * cells))}
        if law.pieces:
            mass = total(piece.probability for piece in law.pieces)
            rest = Law((), tuple(replace(piece, probability=piece.probability / mass) for piece in law.pieces))
            cuts |= set(equal_probability(rest, cells).upper)
        if equal:
            cuts = {Fraction(i, cells) for i in range(1, cells)}
        partition = by_cuts(sorted(cut for cut in cuts if 0 < cut < 1))
        up, down = upper_rounded(law, partition), lower_rounded(law, partition)
        gaps.append(1 - up / down if down else Fraction(1))
    return gaps


@claim(
    "theorem-1-identities",
    "(40) and (41) hold with equality for partitions of equal probability: laws without atoms, 2, 4 and 8 cells (full: "
    "16), 1 and 5 servers.",
    source="Equations (40) and (41)",
    printed="(40) and (41), for a sequence of partitions of equal probability",
    evidence=Evidence.certified,
    breaks=("cells of equal length", "one cell more in (40) and (41)"),
)
def identities(level: Level, broken: str) -> Outcome:
    generator = random.Random(40)
    laws = [uniform("1/10", "9/10"), uniform(0, 1), uniform("1/100", "19/100")]
    laws += [random_law(generator, atoms=False) for _ in range(1 if level is Level.quick else 20)]
    checked, first, second = 0, 0, 0
    for law in laws:
        for cells in (2, 4, 8) if level is Level.quick else (2, 4, 8, 16):
            for servers in (1, 5):
                cuts = by_cuts(Fraction(i, cells) for i in range(1, cells))
                partition = cuts if broken == "cells of equal length" else equal_probability(law, cells)
                up, down = upper_rounded(law, partition, servers), lower_rounded(law, partition, servers)
                checked += 1
                share = servers * (cells + (broken == "one cell more in (40) and (41)"))  # L 2^(n + 1)
                if down is not None and up < share:
                    first += down == up / (1 - up / share)  # (40)
                    second += down - up == down**2 / (share + down)  # (41)
    return Outcome(f"{checked} pairs of programs: (40) holds in {first}, (41) in {second}", first == second == checked)


@claim(
    "example-best-fit",
    "Section VII-A.2, sizes 2 and 5 in capacity 10, small jobs twice as likely: the rate 0.0306 exceeds in both types "
    "what the configuration (2, 1) serves, and (5, 0), (0, 2) with weights 4/9 and 5/9 serve more than it. K_RED alone "
    "is sure of 0.03, less than that: it counts four small jobs, VQS fills in the fifth.",
    source="Section VII-A.2",
    printed="(0.0204, 0.0102) against (0.02, 0.01); below 4/9 (0.05, 0) + 5/9 (0, 0.02)",
    evidence=Evidence.certified,
    breaks=("the rate is 0.029", "the rate is 0.034"),
)
def example_best_fit(level: Level, broken: str) -> Outcome:
    rate = {"the rate is 0.029": Fraction(29, 1000), "the rate is 0.034": Fraction(34, 1000)}.get(
        broken, Fraction(306, 10_000)
    )
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
    "Section VII-A.3, 5 servers: traffic intensity 1 is what is supportable at all for sizes uniform on [0.01, 0.19] "
    "and on [0.1, 0.9], workloads 50 and 10, exactly; K_RED carries at least 2/3 of them.",
    source="Section VII-A.3",
    printed="traffic intensity 1 is a bound on what is supportable by any algorithm",
    evidence=Evidence.certified,
    breaks=("the second is uniform on [0.1, 0.95]", "J = 3 for both"),
)
def example_uniform(level: Level, broken: str) -> Outcome:
    brackets = []
    second = "19/20" if broken == "the second is uniform on [0.1, 0.95]" else "9/10"
    J = 3 if broken == "J = 3 for both" else None
    for law in (uniform("1/100", "19/100"), uniform("1/10", second)):
        best = bracket(law)
        brackets.append((5 * best.lower, 5 * best.upper, vqs_workload(law, J=J).workload / best.lower))
    good = [low for low, _, _ in brackets] == [high for _, high, _ in brackets] == [50, 10]
    parts = (f"{text(low)} to {text(high)}, K_RED {float(share):.4f} of it" for low, high, share in brackets)
    return Outcome("; ".join(parts), good and all(share >= Fraction(2, 3) for *_, share in brackets))
