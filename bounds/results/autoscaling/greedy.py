"""Claims of the auto-scaling paper on greedy placement and its limit, the global greedy assignment (Section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, islice, pairwise, permutations, product

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import additive_space, random_instance, small_grid
from bounds.results.instances.papers import four_types
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from theory.errors import expect_number
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
    "One large VM earns 4, two small 6",
    "Types (0.6, 0.6), (0.7, 0.1), (0.1, 0.7) with rewards 4, 3, 3 on a server (1, 1): the best configuration that "
    "holds the first type earns 4, the best of all earns 6.",
    source="Section 1",
    printed="one VM of reward 4, or two of 3 each: 4 against 6",
    evidence=Evidence.certified,
    controls={
        "the third type is smaller, so that it fits beside the first": {"third": (Fraction(1, 10), Fraction(4, 10))},
        "the first type earns 7": {"rewards": (7, 3, 3)},
    },
)
def introduction(
    rewards: tuple[Fraction, ...] = (Fraction(4), Fraction(3), Fraction(3)),
    first: tuple[Fraction, ...] = (Fraction(6, 10), Fraction(6, 10)),
    second: tuple[Fraction, ...] = (Fraction(7, 10), Fraction(1, 10)),
    third: tuple[Fraction, ...] = (Fraction(1, 10), Fraction(7, 10)),
) -> Outcome:
    """Compare with the reward of the first type alone, and with that of the other two together."""
    _, unit = to_integers([Fraction(1), *first, *second, *third])
    demands = [[int(size / unit) for size in sizes] for sizes in (first, second, third)]
    instance = additive([int(1 / unit)] * 2, demands, rewards)
    space, u = instance.pools[0].space, instance.rewards
    with_the_first = [k for k in feasible(space).tolist() if k[0]]
    greatest_with_it = max(weight(k, u) for k in with_the_first)
    best = weight(max_reward(space, u), u)
    computed = f"{text(greatest_with_it)} against {text(best)}"
    return Outcome(computed, greatest_with_it == u[0] and best == u[1] + u[2] > u[0])


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
    "MaxReward solves an unbounded knapsack, on random instances",
    "MaxReward of every set of types is the first of all feasible configurations of these types in the order of "
    "Definition 2.2, and its reward is the value of an unbounded knapsack over all resources (Remark 1): random "
    "instances of up to four types and three resources, every set of types, by enumeration and by dynamic programming.",
    source="Definition 2.3, Remark 1",
    printed="MaxReward, ties broken by Definition 2.2; equivalent with the unbounded knapsack problem (formula lost)",
    evidence=Evidence.certified,
    tiny={"instances": 25},
    full={"instances": 800},
    controls={
        "ties go to the least configuration": {"ties_to_greatest": False},
        "every type may be taken once": {"once": True},
    },
)
def definition_2_3(instances: int = 80, *, ties_to_greatest: bool = True, once: bool = False) -> Outcome:
    expect_number(instances, "instances", 1)
    generator, sign = np.random.default_rng(23), 1 if ties_to_greatest else -1
    sets = first = valued = 0
    for _ in range(instances):
        instance = random_instance(generator)
        space, u = additive_space(instance), instance.rewards
        rows = [tuple(row) for row in feasible(space).tolist()]
        unit = to_integers(list(u))[1]
        for types in chain.from_iterable(combinations(range(len(u)), size) for size in range(len(u) + 1)):
            best = max_reward(space, u, types)
            allowed = [k for k in rows if all(j in types for j, n in enumerate(k) if n)]
            ranks = [(weight(k, u), tuple(sign * n for n in k)) for k in allowed]
            sets += 1
            first += best == allowed[ranks.index(max(ranks))]
            valued += weight(best, u) == unit * _knapsack(space, u, types, once=once)
    computed = f"{sets} sets of types: the first by enumeration for {first}, the value of the knapsack for {valued}"
    return Outcome(computed, first == valued == sets)


LOADS = (Fraction(0), Fraction(1, 2), Fraction(1))
"""Workloads of each type in the families of Proposition 3.1's claim."""


def _two_resources(
    orders: int, loads_of_four: tuple[Fraction, ...], loads_of_five: tuple[Fraction, ...]
) -> Iterator[Instance]:
    """Yield instances of four types, in so many orders, with rewards 1 or 2; then those of five types."""
    demands = [[1, 0], [0, 1], [1, 1], [2, 1]]
    for rows in islice(permutations(demands), orders):
        for u in product((1, 2), repeat=4):
            base = additive([2, 2], rows, u)
            yield from (base.with_workload(rho) for rho in product(loads_of_four, repeat=4))
    five = additive([3, 2], [[1, 1], [2, 0], [0, 1], [1, 0], [3, 2]], [2, 2, 1, 1, 4])
    yield from (five.with_workload(rho) for rho in product(loads_of_five, repeat=5))


@claim(
    "prop-3.1",
    "The greedy permutation exists and is unique",
    "Exactly one permutation satisfies conditions 1) and 2), the second with the clause that configuration i holds "
    "jobs of the later type; its formula is lost, and the clause may be in it. Beside the theorem, all permutations "
    "are tried on every instance of finite families (one resource: two and three types, all demands, rewards and "
    "workloads of small grids; two resources: four types with rewards 1 or 2, five types, workloads 0, 1/2, 1), and "
    "the construction (53)-(54) finds the one.",
    source="Proposition 3.1",
    printed="for every workload there is a unique permutation with conditions 1) and 2)",
    evidence=Evidence.formal,
    tiny={"capacities": (3, 2), "rewards": (2, 1), "loads_of_four": LOADS[1:], "loads_of_five": LOADS[2:]},
    full={"capacities": (6, 4), "rewards": (4, 2), "orders": 24, "loads_of_five": LOADS},
    controls={
        "the clause on later types is left out": {"decide": is_permutation_without_clause},
        "the construction is given more work of the first type": {"more": Fraction(1, 2)},
    },
    theorems=("Permutation.exactly_one_permutation", "Permutation.permutation_unique"),
)
def proposition_3_1(
    capacities: tuple[int, ...] = (4, 3),
    rewards: tuple[int, ...] = (3, 2),
    orders: int = 1,
    loads_of_four: tuple[Fraction, ...] = LOADS,
    loads_of_five: tuple[Fraction, ...] = LOADS[1:],
    *,
    decide: Callable[[Instance, Sequence[int], MaxRewards], bool] = is_permutation_of_proposition_3_1,
    more: Fraction = LOADS[0],
) -> Outcome:
    """Look at families of two, three, .. types on one resource, by capacity and greatest reward, then at two resources.

    `orders` is the number of orders in which the four types on two resources come.
    """
    grids = [small_grid(n, *bounds) for n, bounds in enumerate(zip(capacities, rewards, strict=True), 2)]
    instances = several = none = other = 0
    pools: tuple[Pool, ...] = ()
    for instance in chain(*grids, _two_resources(orders, loads_of_four, loads_of_five)):
        instances += 1
        if instance.pools is not pools:  # workloads of one system, which come one after another, share its MaxRewards
            pools, max_rewards = instance.pools, MaxRewards(instance)
        valid = [order for order in permutations(range(len(instance.types))) if decide(instance, order, max_rewards)]
        first, *others = instance.workload
        constructed = global_greedy(instance.with_workload([first + more, *others]), max_rewards).permutation
        several += len(valid) > 1
        none += not valid
        other += len(valid) == 1 and valid[0] != constructed
    computed = (
        f"{instances:,} instances: {none} without a permutation, {several} with several, {other} with another one"
    )
    return Outcome(computed, none == several == other == 0)


def in_lexicographic_order(instance: Instance) -> list[Configuration]:
    """Return the greedy configurations, the lexicographically greatest first."""
    return sorted(greedy_configurations(instance), reverse=True)


def of_one_type(instance: Instance) -> list[Configuration]:
    """Return the greedy configurations of at most one type."""
    return [k for k in greedy_configurations(instance) if sum(map(bool, k)) <= 1]


@claim(
    "definition-3.4",
    "Greedy configurations follow the list, on random instances",
    "There are at most 2^J greedy configurations, the global greedy configurations of every workload are among them, "
    "and their places in the list are increasing, the last being the empty configuration: random instances.",
    source="Definition 3.4",
    printed="indexes increase from the global greedy configurations into the list of greedy configurations",
    evidence=Evidence.certified,
    tiny={"instances": 100},
    full={"instances": 3000},
    controls={
        "the list is in lexicographic order": {"greedy_list": in_lexicographic_order},
        "the list holds configurations of one type only": {"greedy_list": of_one_type},
    },
)
def definition_3_4(
    instances: int = 300, *, greedy_list: Callable[[Instance], list[Configuration]] = greedy_configurations
) -> Outcome:
    expect_number(instances, "instances", 1)
    generator = np.random.default_rng(34)
    missing = falling = many = longest = 0
    for _ in range(instances):
        instance = random_instance(generator)
        space, u = instance.pools[0].space, instance.rewards
        every = greedy_list(instance)
        order = global_greedy(instance).permutation
        used = [max_reward(space, u, order[i:]) for i in range(len(order))] + [(0,) * len(u)]
        missing += any(k not in every for k in used)
        places = [every.index(k) for k in used if k in every]
        falling += any(b <= a for a, b in pairwise(places)) or every[-1] != used[-1]
        many += len(every) > 2 ** len(u)
        longest = max(longest, len(every))
    computed = (
        f"{instances} instances, up to {longest} greedy configurations: {missing} with one that is not listed, "
        f"{falling} out of order, {many} with more than 2^J"
    )
    return Outcome(computed, missing == falling == many == 0)


STAGES_MATTER = explicit([[1, 8, 0], [0, 1, 3]], [10, 1, 3], [Fraction(30, 1000), Fraction(1, 2), 2])
"""An instance on which one job moves the second stage of greedy placement by eight servers."""


def lemma_b1_bounds(instance: Instance) -> dict[Configuration, int]:
    """Return (K+1)^(i-1) for the configuration of each stage i of Proposition 3.1."""
    order = global_greedy(instance).permutation
    space, u = instance.pools[0].space, instance.rewards
    bounds: dict[Configuration, int] = {}
    for i in range(len(order)):
        bounds.setdefault(max_reward(space, u, order[i:]), (max_jobs(instance) + 1) ** i)
    return bounds


def one_server(instance: Instance) -> dict[Configuration, int]:
    """Return one server for the configuration of each stage."""
    return dict.fromkeys(lemma_b1_bounds(instance), 1)


def _more_work(instance: Instance, factor: Fraction) -> Instance:
    """Return the instance with its workload multiplied."""
    return instance.with_workload([factor * rho for rho in instance.workload])


@claim(
    "prop-3.5",
    "Integer greedy stays near its limit, where tried",
    "The servers of each stage of integer greedy placement on L servers differ from L times the global greedy "
    "assignment by at most (K+1)^(i-1) in stage i (Lemma B.1), a bound without L: for L of 10^4 + 3, 10^6 + 3 and "
    "10^8 + 3 on random instances and on one with (1,8,0) and (0,1,3), where stage 2 moves by 8 for a job. Coq checked "
    "the bound for every L with which types end in the same order, and for all large L if no two types end together.",
    source="Proposition 3.5, Lemma B.1",
    printed="the integer greedy assignment divided by L converges to the global greedy assignment",
    evidence=Evidence.certified,
    full={"instances": 600},
    controls={
        "the fluid fractions belong to a workload one percent larger": {"factor": Fraction(101, 100)},
        "the bound is one server at every stage": {"bounds": one_server},
    },
)
def proposition_3_5(
    instances: int = 60,
    servers: tuple[int, ...] = (10**4 + 3, 10**6 + 3, 10**8 + 3),
    *,
    factor: Fraction = Fraction(1),
    bounds: Callable[[Instance], dict[Configuration, int]] = lemma_b1_bounds,
) -> Outcome:
    generator = np.random.default_rng(35)
    tried = [random_instance(generator) for _ in range(instances)]
    tried += [STAGES_MATTER.with_workload([Fraction(n, 1009), Fraction(1, 2), 2]) for n in range(25, 35)]
    worst, absolute = Fraction(0), Fraction(0)
    for instance in tried:
        greedy = global_greedy(_more_work(instance, factor))
        fluid = {stage.configurations: stage.fraction for stage in greedy.stages}
        bound = bounds(instance)
        for number in servers:
            placed = {s.configurations: s.servers[0] for s in greedy_placement(instance, number).stages}
            for ks in {*fluid, *placed}:
                error = abs(placed.get(ks, 0) - number * fluid.get(ks, Fraction(0)))
                worst, absolute = max(worst, error / bound[ks[0]]), max(absolute, error)
    computed = f"{len(tried)} instances, largest error {float(absolute):.4f} servers, {float(worst):.4f} of the bound"
    return Outcome(computed, worst <= 1)


@claim(
    "corollary-3.6",
    "Integer greedy's ratio approaches its limit, where tried",
    "The reward of integer greedy placement over the optimum of the program on L servers tends to the ratio of the "
    "global greedy assignment: for L from 10^3 to 10^8 on random instances they differ by at most the bound of Lemma "
    "B.1, sum over stages of (K+1)^(i-1) U_i, over L U*.",
    source="Corollary 3.6",
    printed="the ratio of the rewards of GPA and of the optimum converges to that of the assignments",
    evidence=Evidence.certified,
    full={"instances": 600},
    controls={
        "the limit belongs to a workload one percent larger": {"factor": Fraction(101, 100)},
        "servers left empty are paid like stage 1": {"empty_are_paid": True},
    },
)
def corollary_3_6(
    instances: int = 60,
    exponents: tuple[int, ...] = (3, 5, 8),
    *,
    factor: Fraction = Fraction(1),
    empty_are_paid: bool = False,
) -> Outcome:
    """Place jobs on 10, to the power of each exponent, servers."""
    expect_number(instances, "instances", 1)
    generator = np.random.default_rng(36)
    worst, last = Fraction(0), Fraction(0)
    for _ in range(instances):
        instance = random_instance(generator)
        best = optimal_assignment(instance).reward
        if not best:
            continue
        greedy = global_greedy(_more_work(instance, factor))
        loss = lemma_b1_bound(instance, greedy)
        assert loss is not None
        paid = greedy.stages[0].reward if empty_are_paid and greedy.stages else Fraction(0)  # for an empty server
        for servers in (10**exponent for exponent in exponents):
            placement = greedy_placement(instance, servers)
            reward = placement.reward + placement.empty * paid
            error = abs(reward / (servers * best) - greedy.reward / best)  # of the ratios
            worst = max(worst, error * servers * best / loss)
        last = max(last, error)
    computed = (
        f"{instances} instances, largest error {float(worst):.4f} of the bound, {float(last):.1e} of the ratio at "
        f"L = 10^{exponents[-1]}"
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
