"""Results of packproof on greedy reservation: exact worst cases, server pools."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np

from bounds.adversary.search import TOLERANCE, worst_instance
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.autoscaling.guarantees import cloud
from bounds.results.instances import PRINTED_TYPES, SERVER, price, random_instance
from bounds.results.reproduction import drawing
from bounds.views.panels import Panel
from theory.greedy.assignment import global_greedy, sequential_greedy
from theory.greedy.optimal import solve
from theory.instance import additive, pooled
from theory.numbers import text


@claim(
    "worst-workload",
    "The exactly worst workload of the paper's four VM types: for each order in which types are listed, every order of "
    "exhaustion is one exact linear program. The order of the list matters, because ties go to types listed first: in "
    "the paper's order the least ratio is 449/515, attained at (48/13, 18/13, 3, 2) jobs per server of (1, 1), "
    "(4, 16), (2, 32), (32, 256). It is 11047/12679, attained at (39/10, 27/20, 3, 2) of the same, in just the orders "
    "that list (4, 16) before both (1, 1) and (2, 32), and no order has less.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    breaks=("servers have 512 GB", "ties go to types listed last"),
)
def exactly_worst(level: Level, broken: str) -> Outcome:
    """Decide it in every order of the list, then solve the instances found."""
    paper = ("48/13", "18/13", "3", "2")
    expected = {True: (Fraction(11047, 12679), ("39/10", "27/20", "3", "2")), False: (Fraction(449, 515), paper)}
    orders = list(permutations(range(4)))
    good, worst_of = True, []
    for order in orders[::4] if broken else orders:
        types = [PRINTED_TYPES[j] for j in order]
        instance = additive((80, 512) if broken == "servers have 512 GB" else SERVER, types, [price(*t) for t in types])
        worst = worst_workload(instance)
        attained = solve(instance.with_workload(worst.workload)).ratio
        where = tuple(text(worst.workload[order.index(j)]) for j in range(4))
        place = order[::-1].index if broken.startswith("ties") else order.index
        early = place(1) < min(place(0), place(2))
        good &= worst.complete and attained == worst.ratio and (worst.ratio, where) == expected[early]
        worst_of.append((worst.ratio, where))
    shown = (f"{text(r)} at ({', '.join(w)}) in {worst_of.count((r, w))}" for r, w in sorted(set(worst_of)))
    computed = f"{len(worst_of)} orders: {'; '.join(shown)}; {'as' if good else 'not as'} the order of the list says"
    return Outcome(computed, good)


@claim(
    "worst-rewards",
    "Workload and rewards together reach 3/4 for demands 5, 7 on 12 and 101/136 for 3, 1, 7 on 12, as infima "
    "attained to within 1e-6 off the ties, whatever the order of the types.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.certified,
    breaks=("the capacity is another",),
)
def rewards_too(level: Level, broken: str) -> Outcome:
    """Search in several orders of the types."""
    orders = (
        [(3, 1, 7), (7, 3, 1)]
        if level is Level.quick
        else [(3, 1, 7), (3, 7, 1), (1, 3, 7), (1, 7, 3), (7, 1, 3), (7, 3, 1)]
    )
    good, shown = True, []
    for capacity, demands, infimum in [(12, (5, 7), Fraction(3, 4)), (12, (7, 5), Fraction(3, 4))] + [
        (12, order, Fraction(101, 136)) for order in orders
    ]:
        instance = additive([capacity + 2 if broken else capacity], [[d] for d in demands], demands)
        worst = worst_instance(instance, "all", starts=6)
        good &= worst.infimum == infimum and 0 <= worst.ratio - infimum <= TOLERANCE
        good &= solve(worst.instance).ratio == worst.ratio
        shown.append(f"{demands}: {text(worst.infimum)}")
    return Outcome("; ".join(shown), good)


@claim(
    "pools",
    "Ascending in all pools at once, greedy keeps 1 - prod(1 - x_i) of every assignment over any number of pools, x_i "
    "the fractions of its stages, and 1 - (1 - 1/m)^m for every m that is at least the number of stages or of types. "
    "Beside the theorem, guarantee and ratio are compared exactly on random instances of two and three pools.",
    source="packproof",
    printed="the paper postpones several server pools",
    evidence=Evidence.formal,
    breaks=("the pools are filled one after another",),
    theorems=(
        "Greedy.greedy_keeps_product",
        "Greedy.greedy_keeps",
        "Existence.greedy_guarantee",
    ),
)
def pools(level: Level, broken: str) -> Outcome:
    """Compare guarantee and ratio."""
    generator = np.random.default_rng(9)
    count = 300 if level is Level.quick else 5000
    violations, least = 0, Fraction(1)
    for _ in range(count):
        instance = random_instance(generator, pools=int(generator.integers(2, 4)))
        solution = solve(instance)
        greedy, best = solution.greedy, solution.optimal.reward
        reward = sequential_greedy(instance) if broken else greedy.reward
        bound = max(greedy.guarantee, greedy.guarantee_stagewise)
        violations += reward < bound * best
        least = min(least, reward / best if best else Fraction(1))
    computed = f"{count} instances, {violations} below the guarantee, least ratio {float(least):.4f}"
    return Outcome(computed, violations == 0)


@drawing("Three pools of servers, filled at once", "pools", height=2.9)
def three_pools() -> Sequence[Panel]:
    """Draw instances of three pools."""
    return [cloud(pools=3)]


@claim(
    "sequential-pools",
    "Filling pools one after another, each by greedy on what is left, keeps at least half of every assignment, and no "
    "more on two pools with demands 2, 3 and capacities 3, 2. Beside the theorem, the worst over a family of two "
    "equal pools on one resource is searched exhaustively.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.formal,
    breaks=("all pools are filled at once",),
    theorems=(
        "Sequential.sequential_half",
        "Sequential.sequential_half_attained",
    ),
)
def sequential(level: Level, broken: str) -> Outcome:
    """Search the family exhaustively."""
    top = 3 if level is Level.quick else 4
    least: tuple[Fraction, str] = (Fraction(1), "")
    loads = (Fraction(0), Fraction(1, 2), Fraction(1))
    for demands in product(range(1, top + 1), repeat=2):
        for capacities in product(range(1, top + 1), repeat=2):
            if max(demands) > max(capacities):
                continue
            base = pooled([(1, [c]) for c in capacities], [[d] for d in demands])
            for workload in product(loads, repeat=2):
                instance = base.with_workload(workload)
                solution = solve(instance)
                if not solution.optimal.reward:
                    continue
                reward = global_greedy(instance).reward if broken else sequential_greedy(instance)
                where = f"demands {demands}, capacities {capacities}, workload {'/'.join(map(text, workload))}"
                least = min(least, (reward / solution.optimal.reward, where))
    ratio, where = least
    return Outcome(f"worst ratio {text(ratio)} at {where}", ratio == Fraction(1, 2))
