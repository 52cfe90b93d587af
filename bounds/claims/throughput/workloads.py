"""Claims of the high-throughput bin packing paper that need no dynamics, in the order of its text."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.claims.instances import random_law
from theory.exact.knapsack import max_weight
from theory.instance import Additive
from theory.numbers import text, to_integers, total
from theory.partition.bounding import bracket
from theory.partition.cuts import Partition, by_cuts, by_sets, equal_probability
from theory.partition.guarantees import adversarial_law, guarantee
from theory.partition.laws import discrete, uniform
from theory.partition.rounded import lower_rounded, supportable, upper_rounded
from theory.partition.universal import (
    least_J,
    reduced_configurations,
    universal_cells,
    universal_partition,
    vqs_workload,
)

HALF = Fraction(1, 2)


@claim(
    "lemma-2",
    "The maximum supportable workload is at most L over the mean size: the certified lower bound never exceeds it, on "
    "random laws of pieces and atoms; it is attained by laws that fill servers.",
    source="Lemma 2",
    printed="the maximum value of rho* is at most L / mean size",
    evidence=Evidence.certified,
    breaks=("the mean is taken of sizes five percent larger",),
)
def lemma_2(level: Level, broken: str) -> Outcome:
    """Compare the lower bound with 1 / mean."""
    generator = random.Random(2)
    laws = [random_law(generator) for _ in range(12 if level is Level.quick else 200)]
    laws += [uniform("1/10", "9/10"), uniform("1/100", "19/100")]
    scale = Fraction(21, 20) if broken else Fraction(1)
    worst = max(bracket(law, Fraction(1, 10)).lower * law.mean * scale for law in laws)
    computed = f"{len(laws)} laws, largest share of the bound {text(worst)}"
    return Outcome(computed, worst == 1)


@claim(
    "theorem-1",
    "Rounding up supports at most, rounding down at least the maximum, for every partition; finer partitions close in "
    "from both sides: random laws and nested partitions against the certified bracket.",
    source="Theorem 1",
    printed="there is a unique rho*, the limit of both roundings as partitions become finer",
    evidence=Evidence.certified,
    breaks=("rounding up and rounding down are exchanged",),
)
def theorem_1(level: Level, broken: str) -> Outcome:
    """Check order and monotonicity."""
    generator = random.Random(1)
    good, count = True, 8 if level is Level.quick else 80
    for _ in range(count):
        law = random_law(generator)
        best = bracket(law, Fraction(1, 20))
        ups, downs = [], []
        for step in (10, 5, 1):
            partition = by_cuts(Fraction(i, 20) for i in range(step, 20, step))
            ups.append(upper_rounded(law, partition))
            downs.append(lower_rounded(law, partition))
        if broken:
            ups, downs = [down or Fraction(0) for down in downs], list(ups)
        good &= all(a <= b for a, b in pairwise(ups)) and all(low <= best.upper for low in ups)
        good &= all(a is None or (b is not None and a >= b) for a, b in pairwise(downs))
        good &= all(high is None or high >= best.lower for high in downs)
    return Outcome(f"{count} laws, 3 nested partitions each", good)


@claim(
    "theorem-1-identities",
    "(40) and (41) hold with equality for partitions of equal probability: laws without atoms, 2, 4 and 8 cells (full: "
    "16), 1 and 5 servers.",
    source="Equations (40) and (41)",
    printed="(40) and (41), for a sequence of partitions of equal probability",
    evidence=Evidence.certified,
    breaks=("cells of equal length",),
)
def identities(level: Level, broken: str) -> Outcome:
    """Solve both linear programs exactly."""
    generator = random.Random(40)
    laws = [uniform("1/10", "9/10"), uniform(0, 1), uniform("1/100", "19/100")]
    laws += [random_law(generator, atoms=False) for _ in range(1 if level is Level.quick else 20)]
    checked, good = 0, True
    for law in laws:
        for cells in (2, 4, 8) if level is Level.quick else (2, 4, 8, 16):
            for servers in (1, 5):
                cuts = by_cuts(Fraction(i, cells) for i in range(1, cells))
                partition = cuts if broken else equal_probability(law, cells)
                up, down = upper_rounded(law, partition, servers), lower_rounded(law, partition, servers)
                checked += 1
                good &= down is not None and up < servers * cells
                if down is not None and up < servers * cells:
                    good &= down == up / (1 - up / (servers * cells))  # (40)
                    good &= down - up == down**2 / (servers * cells + down)  # (41)
    return Outcome(f"{checked} programs, every identity exact", good)


def greatest_reduced_weight(J: int, cuts: bool = True) -> tuple[Fraction, Fraction, tuple[int, ...]]:
    """Return the greatest <k, Q> over all configurations k of all refinements and all Q with K_RED Q <= 1.

    Parameters
    ----------
    J : int
    cuts : bool
        False leaves the configurations with a job of I_1 and another kind out of K_RED, but for one: a wrong set.

    Returns
    -------
    value : Fraction
    q : Fraction
        The Q_1 at which it is attained.
    k : tuple of int, length 2J
        Jobs in each interval.

    Notes
    -----
    For fixed Q_1 = q the constraints are a box; a configuration of a refinement puts k_j jobs in I_j if sum k_j inf I_j
    is below 1, strictly, for no I_j holds its infimum. For fixed k the value is concave and piecewise linear in q,
    breaking where a minimum of the box does: so those q suffice, each an integer knapsack with units of 1/(3 2^J).
    """
    cells = universal_cells(J)
    unit = 3 * 2**J
    sizes = tuple((int(low * unit),) for low, _ in cells)
    space = Additive(("size",), (unit - 1,), sizes, (Fraction(1, unit),))
    best = (Fraction(0), Fraction(0), (0,) * (2 * J))
    breaks = {Fraction(0), Fraction(2, 3), Fraction(1), *(1 - Fraction(2**m // 3, 2**m) for m in range(2, J))}
    for q in sorted(breaks):
        corner = [Fraction(0)] * (2 * J)
        for m in range(J):
            corner[2 * m] = min(Fraction(1, 2**m), (1 - q) / (2**m // 3)) if m > 1 and cuts else Fraction(1, 2**m)
            corner[2 * m + 1] = min(Fraction(2, 3 * 2**m), (1 - q) / 2 ** (m - 1) if m and cuts else Fraction(1))
        corner[1] = q
        weights, scale = to_integers(corner)
        k = max_weight(space, weights)
        value = total(Fraction(w * n) for w, n in zip(weights, k, strict=True)) * scale
        best = max(best, (value, q, k))
    return best


@claim(
    "prop-1",
    "For every J = 2..12, every refinement of the universal partition and all queues some reduced configuration has at "
    "least 2/3 of the weight of any configuration: the greatest <k, Q> subject to K_RED Q <= 1 is 3/2, exactly.",
    source="Proposition 1",
    printed="some reduced configuration has 2/3 of the weight of any configuration of any refinement",
    evidence=Evidence.proved,
    breaks=("K_RED without its pairs",),
)
def proposition_1(level: Level, broken: str) -> Outcome:
    """Decide the parametric knapsack for each J."""
    del level
    found = {J: greatest_reduced_weight(J, cuts=not broken)[0] for J in range(2, 13)}
    computed = ", ".join(f"J={J}: {text(value)}" for J, value in found.items())
    return Outcome(computed, all(value == Fraction(3, 2) for value in found.values()))


@claim(
    "prop-1-tight",
    "2/3 is attained for every J = 2..12: queues with Q_1 = 1, Q_2 = 1/2 meet every constraint of K_RED, and e_1 + e_2 "
    "is feasible for sizes 0.6 and 0.4, with weight 3/2.",
    source="Proposition 1",
    printed="tightness of the 2/3 bound: the example with sizes 0.4 and 0.6",
    evidence=Evidence.proved,
    breaks=("Q_2 = 2/3",),
)
def proposition_1_tight(level: Level, broken: str) -> Outcome:
    """Check the certificate against K_RED."""
    del level
    second = Fraction(2, 3) if broken else HALF
    good = True
    for J in range(2, 13):
        weights = [max(Fraction(0), total([k[1] * Fraction(1), k[2] * second])) for k in reduced_configurations(J)]
        good &= max(weights) == 1
        cells = universal_cells(J)
        good &= cells[1][0] < Fraction(3, 5) <= cells[1][1] and cells[2][0] < Fraction(2, 5) <= cells[2][1]
    computed = f"weight {text(1 + second)} against 1, J = 2..12"
    return Outcome(computed, good and Fraction(3, 5) + Fraction(2, 5) <= 1)


@claim(
    "k-red",
    "K_RED has 4J - 4 configurations, all distinct, all feasible for the upper-rounded queues, J = 2..12; none is "
    "below another.",
    source="Equation (19)",
    printed="4J - 4 configurations, feasible for the upper-rounded queues",
    evidence=Evidence.proved,
    breaks=("the capacity is lower by a third",),
)
def reduced_set(level: Level, broken: str) -> Outcome:
    """Count and check each."""
    del level
    capacity = Fraction(2, 3) if broken else Fraction(1)
    good = True
    for J in range(2, 13):
        rows, sizes = reduced_configurations(J), universal_partition(J).upper
        good &= len(rows) == len(set(rows)) == 4 * J - 4
        good &= all(total(n * size for n, size in zip(k, sizes, strict=True)) <= capacity for k in rows)
        good &= not any(k != o and all(a <= b for a, b in zip(k, o, strict=True)) for k in rows for o in rows)
    return Outcome("J = 2..12: 4, 8, ..., 44 configurations", good)


@claim(
    "powers-of-two",
    "Cuts at powers of two alone guarantee just 1/(2 - 2^(1-J)) on (1/2^J, 1], so 1/2 for all laws: for J = 1..8 the "
    "worst law is 2^J - 1 jobs a little above 1/2^J.",
    source="Section IV",
    printed="this partition can only achieve 1/2 of the optimal workload",
    evidence=Evidence.proved,
    breaks=("cuts at two thirds of the powers",),
)
def powers_of_two(level: Level, broken: str) -> Outcome:
    """Decide by an integer knapsack for each J.

    The sizes 2^-m divide each other, so fractions of servers pack them without loss: the servers that rounded jobs
    need are the sum of their sizes. It is to be maximised over jobs whose infima sum to less than 1.
    """
    found = {}
    for J in range(1, 9 if level is Level.quick else 13):
        factor = Fraction(2, 3) if broken else Fraction(1)
        unit = 3 * 2**J
        lower = tuple((int(factor * unit / 2 ** (m + 1)),) for m in range(J))
        tops = [2 ** (J - m) for m in range(J)]
        k = max_weight(Additive(("size",), (unit - 1,), lower, (Fraction(1, unit),)), tops)
        found[J] = Fraction(2**J, sum(n * top for n, top in zip(k, tops, strict=True)))
    good = all(value == 1 / (2 - Fraction(2, 2**J)) for J, value in found.items())
    computed = ", ".join(f"J={J}: {text(value)}" for J, value in found.items()) + ", to 1/2"
    return Outcome(computed, good)


def _partitions(generator: random.Random, count: int) -> list[Partition]:
    """Draw partitions by cuts, and some whose queues are unions of intervals."""
    found = [by_cuts(["1/2"]), universal_partition(3), by_cuts(Fraction(i, 100) for i in range(1, 100))]
    for _ in range(count):
        cuts = sorted(generator.sample(range(1, 60), generator.randint(1, 12)))
        ends = [Fraction(c, 60) for c in (0, *cuts, 60)]
        cells: list[list[tuple[Fraction, Fraction]]] = [[] for _ in range(generator.randint(1, len(ends) - 1))]
        for i, interval in enumerate(pairwise(ends)):
            cells[i if i < len(cells) else generator.randrange(len(cells))].append(interval)
        found.append(by_sets([[(a, b) for a, b in cell] for cell in cells]))
    return found


@claim(
    "prop-2",
    "No finite partition guarantees more than 2/3: for each of many partitions, unions of intervals among them, a law "
    "of two sizes 1/2 -+ eps is made on which its upper-rounded queues support at most 2/3 of the maximum.",
    source="Proposition 2",
    printed="no finite partition achieves more than 2/3 for all laws",
    evidence=Evidence.certified,
    breaks=("eps at a cut of the partition",),
)
def proposition_2(level: Level, broken: str) -> Outcome:
    """Make the law for each partition and solve both programs."""
    partitions = _partitions(random.Random(22), 20 if level is Level.quick else 300)
    worst = Fraction(0)
    for partition in partitions:
        law = adversarial_law(partition)
        if broken:
            law = discrete({HALF - Fraction(1, 10): HALF, HALF + Fraction(1, 10): HALF})
        best = supportable([size for size, _ in law.atoms], [p for _, p in law.atoms])
        assert best is not None
        worst = max(worst, upper_rounded(law, partition) / best.workload)
    computed = f"{len(partitions)} partitions, greatest ratio {text(worst)}"
    return Outcome(computed, worst <= Fraction(2, 3))


@claim(
    "prop-2-p2",
    "Printed: the maximum 4/3 of (61) is attained by p_1 = p_2 = 1/3. These do not sum to 1; it is p_1 = 1/3, p_2 = "
    "2/3.",
    source="Equation (61)",
    printed="the maximum is achieved by p_1 = 1/3 and p_2 = 1/3: rho <= 4/3",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    breaks=("(61) is evaluated at p = (1/3, 2/3)",),
)
def proposition_2_p2(level: Level, broken: str) -> Outcome:
    """Evaluate (61) at the printed point."""
    del level
    p1, p2 = Fraction(1, 3), Fraction(2, 3) if broken else Fraction(1, 3)
    rho = 2 * min(2 * p1, p2)
    holds = p1 + p2 == 1 and rho == Fraction(4, 3)
    computed = f"sum {text(p1 + p2)}, rho at most {text(rho)}; p_2 = 2/3 gives 4/3"
    return Outcome(computed, holds)


@claim(
    "prop-2-epsilon",
    "Printed: any eps in (0, 1/3) makes the law. At eps = 1/4 three jobs of 1/4 may fit after rounding: cuts at 3/10, "
    "1/2, 4/5 support 3/4 of the maximum. It takes eps <= 1/6.",
    source="Proposition 2",
    printed="eps in (0, 1/3)",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    breaks=("eps = 1/7",),
)
def proposition_2_epsilon(level: Level, broken: str) -> Outcome:
    """Solve the program at eps = 1/4."""
    del level
    epsilon = Fraction(1, 7) if broken else Fraction(1, 4)
    law = discrete({HALF - epsilon: HALF, HALF + epsilon: HALF})
    ratio = upper_rounded(law, by_cuts(["3/10", "1/2", "4/5"])) / 2
    holds = ratio <= Fraction(2, 3)
    return Outcome(f"ratio {text(ratio)} at eps = {text(epsilon)}", holds)


@claim(
    "corollary-1",
    "With J least such that F(1/2^J) < eps VQS supports (1 - eps) 2/3 of the maximum: on random laws that reach down "
    "to 0, against the certified upper bound.",
    source="Corollary 1",
    printed="VQS achieves at least (1 - eps) 2/3 of the optimal workload",
    evidence=Evidence.certified,
    breaks=("J is too small by three",),
)
def corollary_1(level: Level, broken: str) -> Outcome:
    """Compare exact VQS workloads with the bound."""
    generator = random.Random(11)
    laws = [uniform(0, 1), uniform(0, "1/10")]
    laws += [random_law(generator, least=0) for _ in range(4 if level is Level.quick else 60)]
    least = Fraction(10)
    tried = 0
    for law in laws:
        best = bracket(law, Fraction(1, 20))
        for epsilon in (Fraction(1, 5), Fraction(1, 100)):
            J = least_J(law, epsilon)
            assert J is not None
            used = max(2, J - 5) if broken else J
            tried += 1
            keeps = vqs_workload(law, J=used).workload / best.upper
            least = min(least, keeps / ((1 - epsilon) * Fraction(2, 3)))
    computed = f"{tried} cases, least share of the guarantee {float(least):.4f}"
    return Outcome(computed, least >= 1)


@claim(
    "example-best-fit",
    "Section VII-A.2, sizes 2 and 5 in capacity 10, small jobs twice as likely: the rate 0.0306 exceeds in both types "
    "what the configuration (2, 1) serves, and (5, 0), (0, 2) with weights 4/9 and 5/9 serve more than it. K_RED alone "
    "is sure of 0.03, less than that: it counts four small jobs, VQS fills in the fifth.",
    source="Section VII-A.2",
    printed="(0.0204, 0.0102) against (0.02, 0.01); below 4/9 (0.05, 0) + 5/9 (0, 0.02)",
    evidence=Evidence.certified,
    breaks=("the rate is 0.029",),
)
def example_best_fit(level: Level, broken: str) -> Outcome:
    """Compare the vectors, and the maximum rate."""
    del level
    rate = Fraction(29, 1000) if broken else Fraction(306, 10_000)
    arrivals = (rate * 2 / 3, rate / 3)
    stuck = (Fraction(2, 100), Fraction(1, 100))
    hull = (Fraction(4, 9) * Fraction(5, 100), Fraction(5, 9) * Fraction(2, 100))
    law = discrete({"1/5": "2/3", "1/2": "1/3"})
    most, vqs = bracket(law).lower / 100, vqs_workload(law).workload / 100
    good = all(a > s for a, s in zip(arrivals, stuck, strict=True))
    good &= all(a < h for a, h in zip(arrivals, hull, strict=True)) and vqs < rate < most
    shown = ", ".join(text(x) for x in hull)
    return Outcome(f"hull point ({shown}); most {text(most)}, VQS {text(vqs)}", good)


@claim(
    "example-uniform",
    "Section VII-A.3, 5 servers: traffic intensity 1 is what is supportable at all for sizes uniform on [0.01, 0.19] "
    "and on [0.1, 0.9], workloads 50 and 10, exactly; VQS is sure to keep 9/11 and 48/59 of them at least.",
    source="Section VII-A.3",
    printed="traffic intensity 1 is a bound on what is supportable by any algorithm",
    evidence=Evidence.certified,
    breaks=("the second is uniform on [0.1, 0.95]",),
)
def example_uniform(level: Level, broken: str) -> Outcome:
    """Bracket both laws."""
    del level
    found = []
    for law in (uniform("1/100", "19/100"), uniform("1/10", "19/20" if broken else "9/10")):
        best = bracket(law)
        found.append((5 * best.lower, 5 * best.upper, vqs_workload(law).workload / best.lower))
    good = [low for low, _, _ in found] == [high for _, high, _ in found] == [50, 10]
    computed = "; ".join(f"{text(low)}, VQS keeps {float(share):.4f}" for low, _, share in found)
    return Outcome(computed, good and all(share >= Fraction(2, 3) for *_, share in found))


@claim(
    "universal-guarantee",
    "Upper-rounded queues of the universal partition on (1/2^J, 1] keep at least 2/3 for every law, and no more: the "
    "exact guarantee, J = 2, 3, over all configurations (K_RED is not needed for it).",
    source="Proposition 1",
    printed="2/3 with K_RED (Theorem 3); no partition more (Proposition 2)",
    evidence=Evidence.proved,
    breaks=("the cut at 1/2 is left out",),
)
def universal_guarantee(level: Level, broken: str) -> Outcome:
    """Compute the least ratio over all laws."""
    found = []
    for J in (2, 3) if level is Level.quick else (2, 3, 4):
        cuts = [high for _, high in universal_cells(J) if not (broken and high == HALF)]
        found.append(guarantee(cuts, Fraction(1, 2**J)).ratio)
    computed = ", ".join(map(text, found))
    return Outcome(computed, all(ratio == Fraction(2, 3) for ratio in found))
