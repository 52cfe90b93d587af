"""Claims of the auto-scaling paper on greedy placement and its limit, the global greedy assignment (Section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations, product

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import additive_space, four_types, random_instance, small_grid
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from theory.exact.knapsack import feasible, max_reward, weight
from theory.greedy.assignment import (
    MaxRewards,
    global_greedy,
    greedy_configurations,
    is_permutation_of_proposition_3_1,
    is_permutation_without_clause,
)
from theory.greedy.optimal import optimal_assignment
from theory.greedy.servers import greedy_placement, lemma_b1_bound, max_jobs
from theory.instance import Additive, Configuration, Instance, Pool, additive, explicit
from theory.numbers import text, to_integers


@claim(
    "introduction",
    "Types (0.6, 0.6), (0.7, 0.1), (0.1, 0.7) with rewards 4, 3, 3 on a server (1, 1): the best configuration that "
    "holds the first type earns 4, the best of all earns 6.",
    source="Section 1",
    printed="one VM of reward 4, or two of 3 each: 4 against 6",
    evidence=Evidence.certified,
    breaks=("the third type is smaller, so that it fits beside the first", "the first type earns 7"),
)
def introduction(level: Level, broken: str) -> Outcome:
    small, dear = broken.startswith("the third"), broken.startswith("the first")
    instance = additive([10, 10], [[6, 6], [7, 1], [1, 4 if small else 7]], [7 if dear else 4, 3, 3])
    space, u = instance.pools[0].space, instance.rewards
    rivals = [k for k in product(range(2), repeat=3) if k[0] and space.holds(k)]
    first = max(weight(k, u) for k in rivals)
    best = weight(max_reward(space, u), u)
    return Outcome(f"{text(first)} against {text(best)}", first == 4 and best == 6)


def _knapsack(space: Additive, rewards: Iterable[Fraction], types: Iterable[int], *, once: bool) -> int:
    """Return the value of a knapsack with items of the given types, in the least common unit of the rewards.

    Unbounded, or with each type at most once; the textbook recursion over the capacity left of every resource.
    """
    whole, _ = to_integers(list(rewards))
    best: dict[tuple[int, ...], int] = {space.capacity: 0}  # the most that was earned, by what is left
    for j in types:
        room = dict(best)
        waiting = list(best.items())
        while waiting:
            left, value = waiting.pop()
            after = tuple(c - d for c, d in zip(left, space.demands[j], strict=True))
            if min(after) >= 0 and room.get(after, -1) < value + whole[j]:
                room[after] = value + whole[j]
                if not once:
                    waiting.append((after, room[after]))
        best = room
    return max(best.values())


@claim(
    "definition-2.3",
    "MaxReward of every set of types is the first of all feasible configurations of these types in the order of "
    "Definition 2.2, and its reward is the value of an unbounded knapsack over all resources (Remark 1): random "
    "instances of up to four types and three resources, every set of types, by enumeration and by dynamic programming.",
    source="Definition 2.3, Remark 1",
    printed="MaxReward, ties broken by Definition 2.2; equivalent with the unbounded knapsack problem (formula lost)",
    evidence=Evidence.certified,
    breaks=("ties go to the least configuration", "every type may be taken once"),
)
def definition_2_3(level: Level, broken: str) -> Outcome:
    generator = np.random.default_rng(23)
    sets = first = valued = 0
    for _ in range(80 if level is Level.quick else 800):
        instance = random_instance(generator)
        space, u = additive_space(instance), instance.rewards
        rows = [tuple(row) for row in feasible(space).tolist()]
        unit = to_integers(list(u))[1]
        for types in chain.from_iterable(combinations(range(len(u)), size) for size in range(len(u) + 1)):
            best_found = max_reward(space, u, types)
            allowed = [k for k in rows if all(j in types for j, n in enumerate(k) if n)]
            if broken.startswith("ties"):
                best = max(allowed, key=lambda k, u=u: (weight(k, u), tuple(-n for n in k)))  # type: ignore[misc]
            else:
                best = max(allowed, key=lambda k, u=u: (weight(k, u), k))  # type: ignore[misc]
            sets += 1
            first += best_found == best
            valued += weight(best_found, u) == unit * _knapsack(space, u, types, once=broken.startswith("every"))
    computed = f"{sets} sets of types: the first by enumeration for {first}, the value of the knapsack for {valued}"
    return Outcome(computed, first == valued == sets)


def _families(level: Level) -> Iterator[Instance]:
    """Yield every instance of the families of Proposition 3.1's claim."""
    quick = level is Level.quick
    for types, capacity, rewards in [(2, 4, 3), (3, 3, 2)] if quick else [(2, 6, 4), (3, 4, 2)]:
        yield from small_grid(types, capacity, rewards)
    loads = (Fraction(0), Fraction(1, 2), Fraction(1))
    demands = [[1, 0], [0, 1], [1, 1], [2, 1]]
    orders = [demands] if quick else list(permutations(demands))
    for rows in orders:
        for u in product((1, 2), repeat=4):
            base = additive([2, 2], rows, u)
            yield from (base.with_workload(rho) for rho in product(loads, repeat=4))
    five = additive([3, 2], [[1, 1], [2, 0], [0, 1], [1, 0], [3, 2]], [2, 2, 1, 1, 4])
    yield from (five.with_workload(rho) for rho in product(loads if not quick else loads[1:], repeat=5))


@claim(
    "prop-3.1",
    "Exactly one permutation satisfies conditions 1) and 2), the second with the clause that configuration i holds "
    "jobs of the later type; its formula is lost, and the clause may be in it. Beside the theorem, all permutations "
    "are tried on every instance of finite families (one resource: two and three types, all demands, rewards and "
    "workloads of small grids; two resources: four types with rewards 1 or 2, five types, workloads 0, 1/2, 1), and "
    "the construction (53)-(54) finds the one.",
    source="Proposition 3.1",
    printed="for every workload there is a unique permutation with conditions 1) and 2)",
    evidence=Evidence.formal,
    breaks=("the clause on later types is left out", "the construction is given more work of the first type"),
    theorems=("Permutation.exactly_one_permutation", "Permutation.permutation_unique"),
)
def proposition_3_1(level: Level, broken: str) -> Outcome:
    decide = is_permutation_without_clause if broken.startswith("the clause") else is_permutation_of_proposition_3_1
    instances = several = none = other = 0
    pools: tuple[Pool, ...] = ()
    for instance in _families(level):
        instances += 1
        if instance.pools is not pools:  # workloads of one system, which come one after another, share its MaxRewards
            pools, rewards = instance.pools, MaxRewards(instance)
        valid = [order for order in permutations(range(len(instance.types))) if decide(instance, order, rewards)]
        workload = list(instance.workload)
        workload[0] += Fraction(1, 2) if broken.startswith("the construction") else 0
        several += len(valid) > 1
        none += not valid
        other += len(valid) == 1 and valid[0] != global_greedy(instance.with_workload(workload), rewards).permutation
    computed = (
        f"{instances:,} instances: {none} without a permutation, {several} with several, {other} with another one"
    )
    return Outcome(computed, none == several == other == 0)


@claim(
    "definition-3.4",
    "There are at most 2^J greedy configurations, the global greedy configurations of every workload are among them, "
    "and their places in the list are increasing, the last being the empty configuration: random instances.",
    source="Definition 3.4",
    printed="indexes increase from the global greedy configurations into the list of greedy configurations",
    evidence=Evidence.certified,
    breaks=("the list is in lexicographic order", "the list holds configurations of one type only"),
)
def definition_3_4(level: Level, broken: str) -> Outcome:
    generator = np.random.default_rng(34)
    count = 300 if level is Level.quick else 3000
    missing = falling = many = longest = 0
    for _ in range(count):
        instance = random_instance(generator)
        space, u = instance.pools[0].space, instance.rewards
        every: list[Configuration] = greedy_configurations(instance)
        if broken.startswith("the list is"):
            every = sorted(every, reverse=True)
        elif broken:
            every = [k for k in every if sum(map(bool, k)) <= 1 or not any(k)]
        order = global_greedy(instance).permutation
        used = [max_reward(space, u, order[i:]) for i in range(len(order))] + [(0,) * len(u)]
        missing += any(k not in every for k in used)
        places = [every.index(k) for k in used if k in every]
        falling += any(b <= a for a, b in pairwise(places)) or every[-1] != used[-1]
        many += len(every) > 2 ** len(u)
        longest = max(longest, len(every))
    computed = (
        f"{count} instances, up to {longest} greedy configurations: {missing} with one that is not listed, {falling} "
        f"out of order, {many} with more than 2^J"
    )
    return Outcome(computed, missing == falling == many == 0)


STAGES_MATTER = explicit([[1, 8, 0], [0, 1, 3]], [10, 1, 3], [Fraction(30, 1000), Fraction(1, 2), 2])
"""An instance on which one job moves the second stage of greedy placement by eight servers."""


@claim(
    "prop-3.5",
    "The servers of each stage of integer greedy placement on L servers differ from L times the global greedy "
    "assignment by at most (K+1)^(i-1) in stage i (Lemma B.1), a bound without L: for L of 10^4 + 3, 10^6 + 3 and "
    "10^8 + 3 on random instances and on one with (1,8,0) and (0,1,3), where stage 2 moves by 8 for a job. Coq checked "
    "the bound for every L with which types end in the same order, and for all large L if no two types end together.",
    source="Proposition 3.5, Lemma B.1",
    printed="the integer greedy assignment divided by L converges to the global greedy assignment",
    evidence=Evidence.certified,
    breaks=("the fluid fractions belong to a workload one percent larger", "the bound is one server at every stage"),
)
def proposition_3_5(level: Level, broken: str) -> Outcome:
    generator = np.random.default_rng(35)
    count = 60 if level is Level.quick else 600
    instances = [random_instance(generator) for _ in range(count)]
    instances += [STAGES_MATTER.with_workload([Fraction(n, 1009), Fraction(1, 2), 2]) for n in range(25, 35)]
    worst, absolute = Fraction(0), Fraction(0)
    for instance in instances:
        factor = Fraction(101, 100) if broken.startswith("the fluid") else Fraction(1)
        greedy = global_greedy(instance.with_workload([w * factor for w in instance.workload]))
        fluid = {stage.configurations: stage.fraction for stage in greedy.stages}
        bound = _lemma_b1_bounds(instance, 0 if broken.startswith("the bound") else max_jobs(instance))
        for servers in (10**4 + 3, 10**6 + 3, 10**8 + 3):
            placed = {s.configurations: s.servers[0] for s in greedy_placement(instance, servers).stages}
            for ks in {*fluid, *placed}:
                error = abs(placed.get(ks, 0) - servers * fluid.get(ks, Fraction(0)))
                worst, absolute = max(worst, error / bound[ks[0]]), max(absolute, error)
    computed = (
        f"{len(instances)} instances, largest error {float(absolute):.4f} servers, {float(worst):.4f} of the bound"
    )
    return Outcome(computed, worst <= 1)


def _lemma_b1_bounds(instance: Instance, most: int) -> dict[tuple[int, ...], int]:
    """Return (K+1)^(i-1) for the configuration of each stage i of Proposition 3.1."""
    order = global_greedy(instance).permutation
    space, u = instance.pools[0].space, instance.rewards
    bounds: dict[tuple[int, ...], int] = {}
    for i in range(len(order)):
        bounds.setdefault(max_reward(space, u, order[i:]), (most + 1) ** i)
    return bounds


@claim(
    "corollary-3.6",
    "The reward of integer greedy placement over the optimum of the program on L servers tends to the ratio of the "
    "global greedy assignment: for L from 10^3 to 10^8 on random instances they differ by at most the bound of Lemma "
    "B.1, sum over stages of (K+1)^(i-1) U_i, over L U*.",
    source="Corollary 3.6",
    printed="the ratio of the rewards of GPA and of the optimum converges to that of the assignments",
    evidence=Evidence.certified,
    breaks=("the limit belongs to a workload one percent larger", "servers left empty are paid like stage 1"),
)
def corollary_3_6(level: Level, broken: str) -> Outcome:
    generator = np.random.default_rng(36)
    count = 60 if level is Level.quick else 600
    worst, last = Fraction(0), Fraction(0)
    for _ in range(count):
        instance = random_instance(generator)
        best = optimal_assignment(instance).reward
        if not best:
            continue
        factor = Fraction(101, 100) if broken.startswith("the limit") else Fraction(1)
        greedy = global_greedy(instance.with_workload([w * factor for w in instance.workload]))
        loss = lemma_b1_bound(instance, greedy)
        assert loss is not None
        for servers in (10**3, 10**5, 10**8):
            placement = greedy_placement(instance, servers)
            extra = placement.empty if broken.startswith("servers") else 0
            reward = placement.reward + extra * greedy.stages[0].reward if greedy.stages else placement.reward
            error = abs(reward / (servers * best) - greedy.reward / best)  # of the ratios
            worst = max(worst, error * servers * best / loss)
        last = max(last, error)
    computed = (
        f"{count} instances, largest error {float(worst):.4f} of the bound, {float(last):.1e} of the ratio at L = 10^8"
    )
    return Outcome(computed, worst <= 1)


@drawing("Greedy placement on whole servers: its ratio tends to that of the assignment", "prop-3.5", "corollary-3.6")
def whole_servers() -> Sequence[Panel]:
    instance, sizes = four_types(("1/3", "2/7", 3, 2)), [10**n for n in range(1, 9)]
    greedy, best = global_greedy(instance), optimal_assignment(instance).reward
    loss = lemma_b1_bound(instance, greedy)
    assert loss is not None
    allowed = [float(loss / (servers * best)) for servers in sizes]
    ratios = [greedy_placement(instance, servers).reward / (servers * best) for servers in sizes]
    errors = [float(abs(ratio - greedy.reward / best)) for ratio in ratios]
    curves = [Curve("bound of Lemma B.1", sizes, allowed, look="plain"), Curve("four VM types", sizes, errors)]
    return [Chart("servers L (number)", "difference of the ratios (share)", curves, xscale="log", yscale="log")]
