"""Claims of the high-throughput paper about partitions and configurations: Section V and its proofs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from bounds.claims import Evidence, Outcome, Refutes, Verdict, claim
from bounds.results.instances.drawn import random_law
from bounds.results.reproduction import drawing, reproduction
from bounds.views.panels import Cells, Chart, Curve, Line, Panel, Span, Spans
from theory.errors import InputError, expect_number
from theory.exact.knapsack import max_weight, maximal
from theory.instance import Additive, Configuration
from theory.numbers import text, to_integers, total
from theory.partition.bounding import bracket
from theory.partition.cuts import Partition, by_cuts, by_sets
from theory.partition.guarantees import adversarial_law, guarantee
from theory.partition.laws import Law, discrete, uniform
from theory.partition.rounded import supportable, upper_rounded
from theory.partition.universal import (
    least_J,
    reduced_configurations,
    universal_cells,
    universal_partition,
    vqs_workload,
)

HALF = Fraction(1, 2)
MOST_J, MOST_J_OF_TABLES = 40, 14
"""The largest J that a reader may ask for; tables of the exact knapsack have 3 2^J rows."""


def greatest_reduced_weight(J: int, *, pairs: bool = True, threes: bool = True) -> Fraction:
    """Return the greatest <k, Q> over all configurations k of all refinements and all Q with K_RED Q <= 1.

    Without `pairs`, the configurations with a job of I_1 and another kind, or `threes`, those of an odd queue alone,
    K_RED is a wrong set. For fixed Q_1 = q the constraints are a box; a configuration of a refinement
    puts k_j jobs in I_j if sum k_j inf I_j is below 1, strictly, for no I_j holds its infimum. For fixed k the value is
    concave and piecewise linear in q, breaking where a minimum of the box does: so those q suffice, each an integer
    knapsack with units of 1/(3 2^J).
    """
    cells = universal_cells(J)
    unit = 3 * 2**J
    sizes = tuple((int(low * unit),) for low, _ in cells)
    space = Additive(("size",), (unit - 1,), sizes, (Fraction(1, unit),))
    best = Fraction(0)
    breaks = {Fraction(0), Fraction(2, 3), Fraction(1), *(1 - Fraction(2**m // 3, 2**m) for m in range(2, J))}
    for q in breaks:
        corner = [Fraction(0)] * (2 * J)
        for m in range(J):
            paired = m > 0 and pairs
            corner[2 * m] = min(Fraction(1, 2**m), (1 - q) / (2**m // 3) if m > 1 and paired else Fraction(1))
            alone = Fraction(2, 3 * 2**m) if threes else Fraction(1)
            corner[2 * m + 1] = min(alone, (1 - q) / 2 ** (m - 1) if paired else Fraction(1))
        corner[1] = q
        weights, scale = to_integers(corner)
        k = max_weight(space, weights)
        best = max(best, total(Fraction(w * n) for w, n in zip(weights, k, strict=True)) * scale)
    return best


@claim(
    "prop-1",
    "Some reduced configuration has 2/3 of any weight",
    "For every J >= 2 and all queues of the universal partition some reduced configuration has at least 2/3 of the "
    "weight of every feasible configuration, and so of every refinement; so K_RED supports 2/3 of each workload that "
    "servers of finitely many contents support. Beside the theorem, the greatest <k, Q> subject to K_RED Q <= 1 is "
    "computed for J = 2..12: 3/2, exactly.",
    source="Proposition 1",
    printed="some reduced configuration has 2/3 of the weight of any configuration of any refinement",
    evidence=Evidence.formal,
    controls={
        "K_RED without its pairs": {"pairs": False},
        "K_RED without 3 2^(m-1) e_(2m+1)": {"threes": False},
    },
    theorems=(
        "Universal.universal_two_thirds",
        "Universal.sizes_feasible",
        "Duality.weights_decide_workloads",
        "Partition.universal_workloads",
    ),
)
def proposition_1(deepest: int = 12, *, pairs: bool = True, threes: bool = True) -> Outcome:
    """Decide the greatest weight for each J up to the deepest, on K_RED or without a part of it."""
    expect_number(deepest, "deepest", 2, MOST_J_OF_TABLES)
    greatest = {J: greatest_reduced_weight(J, pairs=pairs, threes=threes) for J in range(2, deepest + 1)}
    computed = ", ".join(f"J={J}: {text(value)}" for J, value in greatest.items())
    return Outcome(computed, all(value == Fraction(3, 2) for value in greatest.values()))


@claim(
    "prop-1-tight",
    "The share 2/3 is attained for every J",
    "2/3 is attained for every J >= 2: queues with Q_1 = 1, Q_2 = 1/2 meet every constraint of K_RED, and e_1 + e_2 "
    "is feasible for sizes 0.6 and 0.4, with weight 3/2 (the code: J = 2..12).",
    source="Proposition 1",
    printed="tightness of the 2/3 bound: the example with sizes 0.4 and 0.6",
    evidence=Evidence.formal,
    controls={"Q_2 = 2/3": {"second": Fraction(2, 3)}},
    theorems=("Universal.universal_attained",),
)
def proposition_1_tight(
    large: Fraction = Fraction(3, 5), small: Fraction = Fraction(2, 5), second: Fraction = HALF, deepest: int = 12
) -> Outcome:
    """Decide whether a pair of sizes is e_1 + e_2 and has weight 3/2 for Q_1 = 1 and Q_2 = `second`."""
    expect_number(deepest, "deepest", 2, MOST_J)
    good = large + small <= 1 and 1 + second == Fraction(3, 2)
    for J in range(2, deepest + 1):
        good &= max(k[1] + k[2] * second for k in reduced_configurations(J)) == 1
        cells = universal_cells(J)
        good &= cells[1][0] < large <= cells[1][1] and cells[2][0] < small <= cells[2][1]
    return Outcome(f"weight {text(1 + second)} against 1, J = 2..{deepest}", good)


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@reproduction(
    "figure-2",
    "the universal partition of (2⁻ᴶ, 1]",
    printed="a picture of the partition (18)",
    lost="the picture",
    chosen="J = 1 to 4",
    claims=("prop-1",),
    quick={"deepest": 4},
    columns=1,
    height=2.6,
)
def figure_2_panels(deepest: int) -> Sequence[Panel]:
    spans = []
    for row, depth in enumerate(range(1, deepest + 1)):
        for j, (low, high) in enumerate(universal_cells(depth)):
            name = f"I{str(j).translate(SUBSCRIPTS)}"
            label = f"{name}\n{text(low)}" if row + 1 == deepest else name
            spans.append(Span(row, float(low), float(high), label, "even intervals" if j % 2 == 0 else "odd intervals"))
    down = [f"J = {depth}" for depth in range(1, deepest + 1)]
    ticks = [(2.0**-m, f"1/{2**m}" if m else "1") for m in range(deepest, -1, -1)]
    return (Spans("size (share of a server)", down, spans, xscale="log", ylabel="depth (J)", xticks=ticks),)


def with_powers_alone(J: int) -> list[Configuration]:
    """Return K_RED with 2^(m+1) jobs of an odd queue alone, where it has 3 2^(m-1)."""
    rows = reduced_configurations(J)
    return [tuple(n // 3 * 4 if sum(k) == n and n % 3 == 0 else n for n in k) for k in rows]


@claim(
    "k-red",
    "K_RED has 4J-4 distinct feasible configurations",
    "K_RED has 4J - 4 configurations, all distinct, all feasible for the upper-rounded queues, and none is below "
    "another, for every J >= 2 (the code: J = 2..12).",
    source="Equation (19)",
    printed="4J - 4 configurations, feasible for the upper-rounded queues",
    evidence=Evidence.proved,
    controls={
        "the capacity is lower by a third": {"capacity": Fraction(2, 3)},
        "2^(m+1) jobs of an odd queue alone": {"configurations": with_powers_alone},
    },
    proof="proofs.md#reduced-set",
)
def reduced_set(
    deepest: int = 12,
    *,
    capacity: Fraction = Fraction(1),
    configurations: Callable[[int], list[Configuration]] = reduced_configurations,
) -> Outcome:
    """Count the configurations for each J, and find the largest and those below another."""
    expect_number(deepest, "deepest", 2, MOST_J)
    counts, largest, below = [], Fraction(0), 0
    for J in range(2, deepest + 1):
        rows, sizes = configurations(J), universal_partition(J).upper
        counts.append(len(set(rows)))
        largest = max(largest, *(total(n * size for n, size in zip(k, sizes, strict=True)) for k in rows))
        below += sum(k != o and all(a <= b for a, b in zip(k, o, strict=True)) for k in rows for o in rows)
    good = counts == [4 * J - 4 for J in range(2, deepest + 1)] and largest <= capacity and not below
    computed = (
        f"J = 2..{deepest}: {', '.join(map(str, counts))} configurations, the largest of size {text(largest)} in a "
        f"server of {text(capacity)}; {below} below another"
    )
    return Outcome(computed, good)


@drawing("The 8 reduced configurations for J = 3: jobs by virtual queue, and their size rounded up", "k-red")
def reduced() -> Sequence[Panel]:
    """Write the reduced configurations for J = 3 as a table, with the sizes that they fill once rounded up."""
    cells, rows = universal_cells(3), reduced_configurations(3)
    across = [f"({low}, {high}]" for low, high in cells] + ["size"]
    sizes = [sum(n * high for n, (_, high) in zip(k, cells, strict=True)) for k in rows]
    texts = [[*(str(n or "") for n in k), str(size)] for k, size in zip(rows, sizes, strict=True)]
    tones = [[*("good" if n else "" for n in k), ""] for k in rows]
    table = Cells(across, [f"k({n})" for n in range(1, len(rows) + 1)], texts, tones)
    return [table]


@claim(
    "powers-of-two",
    "Cuts at powers of two guarantee 1/(2-2^(1-J))",
    "Cuts at powers of two alone guarantee just 1/(2 - 2^(1-J)) on (1/2^J, 1], which falls to 1/2, for every J >= 1: "
    "the worst distribution is 2^J - 1 jobs a little above 1/2^J. Coq checked both for mean numbers of jobs by cell; "
    "that a distribution enters by these alone is proved in words. Beside the proof, the exact ratio for J = 1..8 "
    "(full: 12).",
    source="Section IV",
    printed="this partition can only achieve 1/2 of the optimal workload",
    evidence=Evidence.proved,
    full={"deepest": 12},
    controls={"cuts at two thirds of the powers": {"factor": Fraction(2, 3)}},
    proof="proofs.md#powers-of-two",
)
def powers_of_two(deepest: int = 8, *, factor: Fraction = Fraction(1)) -> Outcome:
    """Decide by an integer knapsack for each J: the greatest sum of rounded sizes of jobs whose infima sum below 1."""
    expect_number(deepest, "deepest", 1, MOST_J_OF_TABLES)
    ratios = {}
    for J in range(1, deepest + 1):
        unit = 3 * 2**J
        lower = tuple((int(factor * unit / 2 ** (m + 1)),) for m in range(J))
        tops = [2 ** (J - m) for m in range(J)]
        k = max_weight(Additive(("size",), (unit - 1,), lower, (Fraction(1, unit),)), tops)
        ratios[J] = Fraction(2**J, sum(n * top for n, top in zip(k, tops, strict=True)))
    good = all(value == 1 / (2 - Fraction(2, 2**J)) for J, value in ratios.items())
    computed = ", ".join(f"J={J}: {text(value)}" for J, value in ratios.items()) + ", to 1/2"
    return Outcome(computed, good)


@drawing(
    "Exact guarantees: cuts at powers of two, and the universal partition",
    "powers-of-two",
    "universal-guarantee",
    "prop-1-tight",
)
def powers() -> Sequence[Panel]:
    curves = []
    for name, most, step in (("cuts at powers of two alone", 5, 2), ("universal partition", 4, 1)):
        J = range(1 if step == 2 else 2, most + 1)
        cuts = {n: [high for _, high in universal_cells(n)][::step] if n > 1 else [Fraction(1)] for n in J}
        ratios = [guarantee(cuts[n], Fraction(1, 2**n)).ratio for n in J]
        curves.append(Curve(name, J, [float(ratio) for ratio in ratios]))
    formula = Curve("1/(2 − 2¹⁻ᴶ)", range(1, 6), [1 / (2 - 2.0 ** (1 - n)) for n in range(1, 6)], look="plain")
    ticks = [(n, str(n)) for n in range(1, 6)]
    x, y = "J (sizes above 2⁻ᴶ)", "guaranteed (share)"
    return [Chart(x, y, [*curves, formula], [Line("2/3", 2 / 3)], xticks=ticks, ylim=(0.45, 1.05))]


@claim(
    "first-j-hull",
    "At powers of two, J configurations dominate all",
    "Cuts at powers of two, every J (the code: 2..7, full: 8): every maximal feasible configuration k is the mixture "
    "of the first J configurations of K_RED with weights k_m / 2^m, which sum to 1, so their hull, with all that lies "
    "below it, holds every feasible configuration. Those that do not fill the server lie below the hull, not in it.",
    source="Section V-C",
    printed="the hull of only the first J configurations of K_RED contains all feasible configurations (of this cut)",
    evidence=Evidence.proved,
    full={"deepest": 8},
    controls={
        "only the first J - 1": {"fewer": 1},
        "jobs above 1/2 are rounded up to 2/3": {"largest": Fraction(2, 3)},
    },
    proof="proofs.md#first-j-hull",
)
def first_j_hull(deepest: int = 7, *, fewer: int = 0, largest: Fraction = Fraction(1)) -> Outcome:
    """Mix the first J configurations, or fewer, where jobs above 1/2 are rounded up to the largest size."""
    expect_number(deepest, "deepest", 2, 8)
    counts, outside = [], 0
    for J in range(2, deepest + 1):
        vertices = reduced_configurations(J)[: J - fewer]
        unit = 3 * 2**J
        tops = [int(unit * largest), *(unit // 2**m for m in range(1, J))]
        rows = maximal(Additive(("size",), (unit,), tuple((top,) for top in tops), (Fraction(1, unit),))).tolist()
        counts.append(len(rows))
        unit = 2 ** (J - 1)  # all weights are multiples of its inverse
        for k in rows:
            weights = [n * unit // 2**m for m, n in enumerate(k)]
            mixed = [sum(w * v[2 * m] for w, v in zip(weights, vertices, strict=False)) for m in range(J)]
            outside += mixed != [unit * n for n in k] or sum(weights) != unit
    computed = f"{', '.join(map(str, counts))} maximal configurations, {outside} are not the mixture"
    return Outcome(computed, outside == 0)


def _partitions(generator: random.Random, count: int) -> list[Partition]:
    """Draw partitions by cuts, and some whose queues are unions of intervals."""
    partitions = [by_cuts(["1/2"]), universal_partition(3), by_cuts(Fraction(i, 100) for i in range(1, 100))]
    for _ in range(count):
        cuts = sorted(generator.sample(range(1, 60), generator.randint(1, 12)))
        ends = [Fraction(c, 60) for c in (0, *cuts, 60)]
        cells: list[list[tuple[Fraction, Fraction]]] = [[] for _ in range(generator.randint(1, len(ends) - 1))]
        for i, interval in enumerate(pairwise(ends)):
            cells[i if i < len(cells) else generator.randrange(len(cells))].append(interval)
        partitions.append(by_sets([[(a, b) for a, b in cell] for cell in cells]))
    return partitions


def law_of_tenths(_partition: Partition) -> Law:
    """Return the law of sizes 2/5 and 3/5 that does not look at the partition."""
    return discrete({Fraction(2, 5): HALF, Fraction(3, 5): HALF})


@claim(
    "prop-2",
    "No finite partition guarantees more than 2/3",
    "For every finite partition there is a distribution of two sizes 1/2 -+ eps on which its upper-rounded queues "
    "support at most 2/3 of the maximum, so that none guarantees more. Beside the theorem, the distribution is made "
    "for many partitions, unions of intervals among them.",
    source="Proposition 2",
    printed="no finite partition achieves more than 2/3 for all laws",
    evidence=Evidence.formal,
    full={"partitions": 300},
    controls={"eps at a cut of the partition": {"law_against": law_of_tenths}},
    theorems=("Cells.finite_partitions_lose",),
)
def proposition_2(
    cuts: tuple[Fraction, ...] = (),
    partitions: int = 20,
    *,
    law_against: Callable[[Partition], Law] = adversarial_law,
) -> Outcome:
    """Make the law for one partition by its cuts, or for many that are drawn and three by name."""
    if any(not 0 < cut < 1 for cut in cuts):
        raise InputError("cuts", f"expected numbers between 0 and 1, got {', '.join(map(text, cuts))}")
    tried = [by_cuts(cuts)] if cuts else _partitions(random.Random(22), partitions)
    worst = Fraction(0)
    for partition in tried:
        law = law_against(partition)
        best = supportable([size for size, _ in law.atoms], [p for _, p in law.atoms])
        assert best is not None
        worst = max(worst, upper_rounded(law, partition) / best.workload)
    return Outcome(f"{len(tried)} partitions, greatest ratio {text(worst)}", worst <= Fraction(2, 3))


@claim(
    "prop-2-p2",
    "The printed p_2 = 1/3 must be 2/3",
    "Printed: the maximum 4/3 of (61) is attained by p_1 = p_2 = 1/3. These do not sum to 1; it is p_1 = 1/3, p_2 = "
    "2/3. Perhaps a misprint, or a loss of the text at hand.",
    source="Equation (61)",
    printed="the maximum is achieved by p_1 = 1/3 and p_2 = 1/3: rho <= 4/3",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    controls={"(61) is evaluated at p = (1/3, 2/3)": {"p2": Fraction(2, 3)}},
)
def proposition_2_p2(p1: Fraction = Fraction(1, 3), p2: Fraction = Fraction(1, 3)) -> Outcome:
    """Evaluate (61) at the probabilities of the two sizes."""
    rho = 2 * min(2 * p1, p2)
    holds = p1 + p2 == 1 and rho == Fraction(4, 3)
    computed = f"sum {text(p1 + p2)}, rho at most {text(rho)}; p_2 = 2/3 gives 4/3"
    return Outcome(computed, holds)


@claim(
    "prop-2-epsilon",
    "The printed range of epsilon is too wide",
    "Printed: any eps in (0, 1/3) makes the distribution. At eps = 1/4 three jobs of 1/4 may fit after rounding: cuts "
    "at 3/10, 1/2, 4/5 support 3/4 of the maximum. It takes eps <= 1/6. Perhaps a misprint, or a loss of the text at "
    "hand.",
    source="Proposition 2",
    printed="eps in (0, 1/3)",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    controls={"eps = 1/7": {"epsilon": Fraction(1, 7)}},
)
def proposition_2_epsilon(epsilon: Fraction = Fraction(1, 4), cut: Fraction = Fraction(3, 10)) -> Outcome:
    """Compute the part of the maximum, two jobs a server, that cuts at `cut`, 1/2 and 4/5 support for 1/2 -+ eps."""
    if not 0 < epsilon < HALF or not 0 < cut < HALF:
        raise InputError("epsilon, cut", f"expected numbers between 0 and 1/2, got {text(epsilon)} and {text(cut)}")

    def kept(eps: Fraction, first: Fraction) -> Fraction:
        law = discrete({HALF - eps: HALF, HALF + eps: HALF})
        return upper_rounded(law, by_cuts([first, HALF, Fraction(4, 5)])) / 2

    ratio, edge = kept(epsilon, cut), Fraction(1, 6)
    above = kept(edge + Fraction(1, 1000), Fraction(1, 3))  # three small jobs fit after rounding up to 1/3
    assert kept(edge, Fraction(3, 10)) <= Fraction(2, 3) < above
    computed = f"ratio {text(ratio)} at eps = {text(epsilon)}; {text(above)} just above 1/6, with a cut at 1/3"
    return Outcome(computed, ratio <= Fraction(2, 3))


@claim(
    "corollary-1",
    "K_RED supports (1-eps)2/3 for random distributions",
    "On random distributions that reach down to 0, and two uniform ones, with J least such that F(1/2^J) < eps, for "
    "eps = 1/5 and 1/100: the workload that K_RED supports is at least (1 - eps) 2/3 of the certified upper bound of "
    "the maximum.",
    source="Corollary 1",
    printed="VQS achieves at least (1 - eps) 2/3 of the optimal workload",
    evidence=Evidence.certified,
    tiny={"laws": 1},
    full={"laws": 60},
    controls={
        "J is too small by five": {"fewer": 5},
        "(1 - eps) 5/6 for (1 - eps) 2/3": {"part": Fraction(5, 6)},
    },
)
def corollary_1(
    laws: int = 4,
    epsilons: tuple[Fraction, ...] = (Fraction(1, 5), Fraction(1, 100)),
    *,
    fewer: int = 0,
    part: Fraction = Fraction(2, 3),
) -> Outcome:
    """Compare what K_RED carries, for the least J or one that is smaller, with a part of (1 - eps) rho*."""
    if not epsilons or any(not Fraction(1, 10**6) <= epsilon < 1 for epsilon in epsilons):
        raise InputError("epsilons", f"expected numbers from 1e-6 to below 1, got {', '.join(map(text, epsilons))}")
    generator = random.Random(11)
    tried = [uniform(0, 1), uniform(0, "1/10"), *(random_law(generator, least=0) for _ in range(laws))]
    shares = []
    for law in tried:
        best = bracket(law, Fraction(1, 20))
        for epsilon in epsilons:
            J = least_J(law, epsilon)
            assert J is not None
            carried = vqs_workload(law, J=max(2, J - fewer)).workload / best.upper  # at most what VQS keeps of rho*
            shares.append(carried / ((1 - epsilon) * part))
    least = min(shares)
    return Outcome(f"{len(shares)} cases, least share of the guarantee {float(least):.4f}", least >= 1)


def universal_cuts(J: int) -> list[Fraction]:
    """Return the cuts of the universal partition, the greatest first."""
    return [high for _, high in universal_cells(J)]


def without_half(J: int) -> list[Fraction]:
    """Return the cuts of the universal partition but 1/2."""
    return [cut for cut in universal_cuts(J) if cut != HALF]


def powers_alone(J: int) -> list[Fraction]:
    """Return the cuts at powers of two alone."""
    return universal_cuts(J)[::2]


@claim(
    "universal-guarantee",
    "The universal partition guarantees exactly 2/3, J=2,3",
    "Upper-rounded queues of the universal partition on (1/2^J, 1] guarantee at least 2/3 for every distribution, and "
    "no more, for J = 2, 3 (full: 4): the exact guarantee over all configurations (K_RED is not needed for it). Coq "
    "checked 2/3 for every J >= 2 and mean numbers of jobs by cell; that a distribution enters by these alone is "
    "proved in words.",
    source="Proposition 1",
    printed="2/3 with K_RED (Theorem 3); no partition more (Proposition 2)",
    evidence=Evidence.proved,
    full={"deepest": 4},
    controls={
        "the cut at 1/2 is left out": {"cuts": without_half},
        "the cuts at 2/3 of the powers are left out": {"cuts": powers_alone},
    },
    proof="partitions.md#guarantee",
)
def universal_guarantee(deepest: int = 3, *, cuts: Callable[[int], list[Fraction]] = universal_cuts) -> Outcome:
    """Compute the exact guarantee of cuts for each J up to the deepest."""
    expect_number(deepest, "deepest", 2, 5)
    ratios = [guarantee(cuts(J), Fraction(1, 2**J)).ratio for J in range(2, deepest + 1)]
    return Outcome(", ".join(map(text, ratios)), all(ratio == Fraction(2, 3) for ratio in ratios))
