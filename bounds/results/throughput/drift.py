"""Claims of the high-throughput paper about the lemmas behind its Theorem 3: Section VIII-B."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from math import isqrt

from bounds.claims import Evidence, Level, Outcome, Refutes, Verdict, claim
from bounds.results.instances import random_law
from bounds.results.throughput.partitions import PAIRS, greatest_reduced_weight
from fluid.limits.drift import angle_constant
from theory.exact.knapsack import weight
from theory.instance import Configuration
from theory.numbers import text, total
from theory.partition.bounding import bracket
from theory.partition.guarantees import adversarial_law
from theory.partition.laws import Law, discrete
from theory.partition.universal import least_J, reduced_configurations, universal_partition, vqs_workload

TWO_THIRDS = Fraction(2, 3)


def _laws(count: int, generator: random.Random) -> list[tuple[Law, int]]:
    """Draw laws of sizes of at least 1/16, and some on which upper-rounded queues keep just 2/3; each with its J."""
    laws = [random_law(generator, least=2) for _ in range(count)]
    laws += [adversarial_law(universal_partition(J)) for J in (2, 3, 4)]
    return [*((law, least_J(law) or 2) for law in laws), (discrete({"1/4": 1}), 2)]


def strictly_above(law: Law, J: int, workload: Fraction, slack: Fraction) -> bool:
    """Return whether x in conv K_RED and epsilon are found with workload P^(I) < (1 - epsilon) x, in every component.

    x is the mixture that carries most, with a little of all of K_RED: a part `slack` / 3, which is epsilon too.
    """
    best, rows = vqs_workload(law, J=J), reduced_configurations(J)
    part = slack / 3
    average = [Fraction(sum(column), len(rows)) for column in zip(*rows, strict=True)]
    mixed = [total(share * k[j] for k, share in best.columns) for j in range(2 * J)]
    x = [(1 - part) * a + part * b for a, b in zip(mixed, average, strict=True)]
    probabilities = universal_partition(J).probabilities(law)
    return all(workload * p < (1 - part) * a for p, a in zip(probabilities, x, strict=True))


@claim(
    "lemma-3",
    "For every J >= 2 and every law of sizes of at least 1/2^J: any rho < 2/3 rho* has an x in conv K_RED and an "
    "epsilon > 0 with rho P < (1 - epsilon) L x. By linear duality that is Proposition 1, which Coq checked, with the "
    "size 1/2^J itself allowed: the greatest weight of a configuration of real sizes is 3/2 of the greatest of K_RED, "
    "exactly (the code: J = 2..12). x and epsilon are given for laws at rho = 0.98 x 2/3 rho*, some of which keep no "
    "more than 2/3.",
    source="Lemma 3",
    printed="if rho < 2/3 rho*, there is x in Conv(K_RED) and epsilon > 0 such that rho P < (1 - epsilon) L x",
    evidence=Evidence.proved,
    breaks=(PAIRS, "rho is 0.98 x 3/4 of the maximum"),
    proof="proofs.md#strictly-inside",
)
def lemma_3(level: Level, broken: str) -> Outcome:
    """Decide the parametric knapsack for each J, and construct x for some laws."""
    without = PAIRS if broken == PAIRS else ""
    # beside the knapsack, whose infima sum to less than 1: 2^J jobs of size 1/2^J, and 3 2^(J-2) of them in K_RED
    values = [max(greatest_reduced_weight(J, without), Fraction(2**J, 3 * 2 ** (J - 2))) for J in range(2, 13)]
    share = Fraction(3, 4) if broken.startswith("rho") else TWO_THIRDS
    laws = _laws(6 if level is Level.quick else 60, random.Random(3))
    slack = Fraction(1, 50)
    carried = sum(
        strictly_above(law, J, (1 - slack) * share * bracket(law, Fraction(1, 100)).upper, slack) for law, J in laws
    )
    computed = (
        f"greatest weights {', '.join(sorted(set(map(text, values))))} for J = 2..12; x found for {carried} of "
        f"{len(laws)} laws at {float((1 - slack) * share):.4f} of the maximum"
    )
    return Outcome(computed, set(values) == {Fraction(3, 2)} and carried == len(laws))


GAMMA = Fraction(9, 10)
QUEUES = (Fraction(1), TWO_THIRDS, Fraction(1, 2), Fraction(1, 3))
"""Queues at which all of K_RED, J = 2, has the same weight."""


def gap_of(k: Configuration, rival: Configuration, gamma: Fraction) -> list[Fraction]:
    """Return k - gamma rival: the active configuration k is too light, (50), where its product with Q is negative."""
    return [a - gamma * b for a, b in zip(k, rival, strict=True)]


REPAIRED = "(1 - gamma) / (sqrt(2J) max ||k' - gamma k||) for (52)"


@claim(
    "lemma-4",
    "(52), the least sine of the angles between the hyperplanes of k' - k and k' - gamma k, is what the queues must at "
    "least move, as a part of ||Q||, until a configuration of greatest weight has less than gamma of it: J = 2, gamma "
    "= 9/10, Q = (1, 2/3, 1/2, 1/3), where 3 e_3 is left behind by 2 e_2 after 0.0213. The angle is the distance in a "
    "plane only. The lemma needs some constant: (1 - gamma) / (sqrt(2J) max ||k' - gamma k||) is one.",
    source="Lemma 4, Equation (52)",
    printed="Term_2 >= 1 - 2 (lambda + mu K_max L) N_2 / (B_gamma1 ||Q||), B_gamma1 = min sin of the angle (52)",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.proof_step,
    breaks=("only queues 0 and 2 and their configurations", REPAIRED),
)
def lemma_4(level: Level, broken: str) -> Outcome:
    """Compare squares of the least move and of what (52) allows."""
    rows, queues = reduced_configurations(2), list(QUEUES)
    if broken.startswith("only"):
        rows, queues = [(1, 0), (0, 2)], [Fraction(1), Fraction(1, 2)]
    norm = total(q * q for q in queues)
    greatest = max(weight(k, queues) for k in rows)
    pairs = [(k, rival) for k, rival in permutations(rows, 2) if weight(k, queues) == greatest]
    moves = []
    for k, rival in pairs:
        gap = gap_of(k, rival, GAMMA)
        square = total(g * g for g in gap)
        least = weight(gap, queues) / square  # how far along the gap it is just not too light; it is a little beyond
        after = [q - Fraction(1001, 1000) * least * g for q, g in zip(queues, gap, strict=True)]
        if min(after) >= 0 and weight(k, after) < GAMMA * weight(rival, after):
            moves.append((least**2 * square / norm, k, rival))
    least, k, rival = min(moves)
    if broken == REPAIRED:
        allowed = (1 - GAMMA) ** 2 / 4 / max(total(g * g for g in gap_of(a, b, GAMMA)) for a, b in pairs)
    else:
        allowed = min(angle_constant(a, b, GAMMA) for a, b in permutations(rows, 2))
    computed = (
        f"{k} falls behind {rival} after {float(least) ** 0.5:.4f} ||Q||, allowed {float(allowed) ** 0.5:.4f} of it "
        f"(squares {text(least)}, {text(allowed)})"
    )
    return Outcome(computed, least >= allowed)


def root_below(x: Fraction) -> Fraction:
    """Return a rational below the square root of x, within 10^-12."""
    scale = 10**12
    return Fraction(isqrt(x.numerator * scale**2 // x.denominator), scale)


@claim(
    "lemma-5",
    "(53) with B_1 = epsilon gamma L / sqrt(2J) and B_2 = L K_max ||rho||: random laws and laws that keep just 2/3, 1 "
    "to 3 servers, rho = 0.97 x 2/3 rho*, gamma = 0.99, random queues, some empty; each server has the lightest "
    "configuration of K_RED that (48) allows, fully served where jobs wait and at random elsewhere. Exact but for B_1 "
    "and B_2, whose roots are taken to the safe side. (The proof prints the sum of rho for its norm in B_2, which is "
    "weaker.)",
    source="Lemma 5",
    printed="(53), B_2 = L K_max ||rho|| and B_1 > 0, by (55) at least epsilon gamma L / sqrt(2J)",
    evidence=Evidence.certified,
    breaks=("the lightest configurations of all", "B_2 = 0", "B_1 is twice as large"),
)
def lemma_5(level: Level, broken: str) -> Outcome:
    generator = random.Random(5)
    gamma, tried, failed, closest = Fraction(99, 100), 0, 0, Fraction(-(10**9))
    for law, J in _laws(4 if level is Level.quick else 30, generator):
        rows, upper = reduced_configurations(J), bracket(law, Fraction(1, 100)).upper
        most = vqs_workload(law, J=J).workload  # rho P <= (rho / most) L x for an x in conv K_RED
        probabilities = universal_partition(J).probabilities(law)
        for _ in range(60 if level is Level.quick else 300):
            servers = generator.randint(1, 3)
            rho = [Fraction(97, 100) * TWO_THIRDS * upper * servers * p for p in probabilities]
            epsilon = 1 - Fraction(97, 100) * TWO_THIRDS * upper / (gamma * most)
            scale = 10 ** generator.randint(0, 3)
            queues = [Fraction(generator.choice((0, generator.randint(0, scale)))) for _ in rho]
            heaviest = max(weight(k, queues) for k in rows)
            allowed = [k for k in rows if broken.startswith("the lightest") or weight(k, queues) >= gamma * heaviest]
            in_service = [0] * len(rho)
            for _ in range(servers):
                k = min(allowed, key=lambda k: weight(k, queues))
                for j, slots in enumerate(k):
                    in_service[j] += slots if queues[j] else generator.randint(0, slots)
            drift = total((q + n) * (r - n) for q, n, r in zip(queues, in_service, rho, strict=True))  # left of (53)
            b_1 = epsilon * gamma * servers * (2 if broken.startswith("B_1") else 1)  # times sqrt(2J)
            b_1_norm = b_1 * _root_above(total(q * q for q in queues) / (2 * J))
            b_2 = Fraction(0) if broken == "B_2 = 0" else servers * 2**J * root_below(total(r * r for r in rho))
            tried += 1
            failed += drift > b_2 - b_1_norm
            closest = max(closest, drift - (b_2 - b_1_norm))
    return Outcome(f"{failed} of {tried} states violate (53), greatest excess {float(closest):.4g}", failed == 0)


def _root_above(x: Fraction) -> Fraction:
    return root_below(x) + Fraction(1, 10**12)
