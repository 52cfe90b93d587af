"""The hypotheses and conclusions of the theorems in `proofs/`, evaluated with packproof's own functions.

A theorem of Coq speaks of definitions written in Coq. These tests compute the same definitions from packproof's
instances, so that theorem and code speak of the same objects; they run without Coq.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import ceil, exp, prod
from pathlib import Path

import numpy as np
import pytest

from bounds.results.instances.drawn import random_instance
from bounds.results.instances.families import one_resource_family, one_resource_inserted, one_resource_member
from bounds.results.instances.papers import table_4, tight_family, tight_family_additive
from bounds.results.packproof.approximate import approximate_greedy, fewest_types, least_reward, sharp_family
from bounds.results.packproof.formal_table import formal_table
from bounds.results.packproof.potential import UNIT, potential
from bounds.results.packproof.region import harmonic
from theory.exact.knapsack.configurations import feasible
from theory.exact.knapsack.greatest import max_reward
from theory.exact.programs import LinearProgram
from theory.greedy.assignment import global_greedy, is_permutation_of_proposition_3_1, sequential_greedy
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement
from theory.instance import Additive, Configuration, Instance, explicit, pooled
from theory.numbers import total
from theory.partition.cuts import by_cuts
from theory.partition.guarantees import adversarial_law, guarantee
from theory.partition.laws import discrete
from theory.partition.rounded import supportable, upper_rounded
from theory.partition.universal import reduced_configurations, universal_cells
from theory.region.worst_case import worst_weights
from theory.sharing.model import cluster

PROOFS = Path(__file__).parent.parent.parent / "proofs"


def drawn(count: int) -> Iterator[Instance]:
    generator = np.random.default_rng(29)
    for i in range(count):
        if i % 4 == 3:
            rows = generator.integers(0, 5, (4, 3))
            rows[0] += rows.max(axis=0) == 0
            workload = [Fraction(int(n), 3) for n in generator.integers(0, 9, 3)]
            yield explicit(rows.tolist(), [int(n) for n in generator.integers(1, 6, 3)], workload)
        else:
            yield random_instance(generator, pools=1 + i % 3, exact_fit=i % 5 == 0)


def value(rewards: Sequence[Fraction], k: Sequence[Fraction | int]) -> Fraction:
    return total(u * n for u, n in zip(rewards, k, strict=True))


def assert_greedy_run(instance: Instance, stages: Sequence[tuple[Sequence[Configuration], Fraction]]) -> Fraction:
    """Assert the conditions of `greedy_run` in Model.v; return `earned`."""
    u, rho = instance.rewards, instance.workload
    served, used, earned = [Fraction(0)] * len(u), Fraction(0), Fraction(0)
    sets = [[tuple(map(int, k)) for k in feasible(pool.space)] for pool in instance.pools]
    for configurations, fraction in stages:
        left = {j for j, amount in enumerate(served) if amount != rho[j]}  # run_gone for all others
        assert fraction > 0  # run_frac
        for pool, k, every in zip(instance.pools, configurations, sets, strict=True):  # run_max
            assert pool.space.holds(k)
            assert all(j in left for j, slots in enumerate(k) if slots)
            among = [c for c in every if all(j in left for j, slots in enumerate(c) if slots)]
            assert value(u, k) == max(value(u, c) for c in among)
            assert k == max(among, key=lambda c: (value(u, c), c))  # the tie rule of CertificateModel.v and Model.v
        for j in range(len(u)):
            per_server = total(pool.share * k[j] for pool, k in zip(instance.pools, configurations, strict=True))
            served[j] += fraction * per_server
            earned += fraction * u[j] * per_server
        used += fraction
    assert all(a <= b for a, b in zip(served, rho, strict=True))  # run_fits
    assert used <= 1  # run_servers
    assert used == 1 or served == list(rho)  # run_end
    return earned


@pytest.mark.slow
def test_greedy_keeps_and_existence() -> None:
    for instance in drawn(120):
        solution = solve(instance)
        greedy = global_greedy(instance)
        stages = [(stage.configurations, stage.fraction) for stage in greedy.stages]
        earned = assert_greedy_run(instance, stages)  # Existence.greedy_is_run
        types, best = len(instance.types), solution.optimal.reward
        assert len(stages) <= types  # Existence.greedy_stages
        assert earned == greedy.reward
        missed = prod((1 - fraction for _, fraction in stages), start=Fraction(1))
        assert (1 - missed) * best <= earned  # Greedy.greedy_keeps_product
        for m in range(max(1, len(stages)), types + 3):  # Greedy.greedy_keeps
            assert (1 - (1 - Fraction(1, m)) ** m) * best <= earned
        assert best <= 2 * earned  # Greedy.greedy_keeps_half
        assert Fraction(632, 1000) * best <= earned  # Constant.greedy_keeps_632
        assert all(best <= bound for bound in greedy.upper_bounds)  # Greedy.stage_bound
        if greedy.serves_all:
            assert best == earned  # Greedy.serves_all_optimal


@pytest.mark.slow
def test_ties_determine() -> None:
    """A run with the tie rule may cut its stages, and earns the same; it cannot leave out a part."""
    cut = 0
    for instance in drawn(40):
        greedy = global_greedy(instance)
        stages = [(stage.configurations, stage.fraction) for stage in greedy.stages]
        parts = [(k, fraction * part) for k, fraction in stages for part in (Fraction(1, 3), Fraction(2, 3))]
        assert assert_greedy_run(instance, parts) == greedy.reward
        cut += len(parts) > len(stages)
        for i in range(len(parts)):
            with pytest.raises(AssertionError):
                assert_greedy_run(instance, parts[:i] + parts[i + 1 :])
    assert cut > 30


def test_approximate_greedy() -> None:
    """`near_reward` and `approximate_run` of Model.v, on the instances and runs of the claim."""
    for n, m, c in [(1, 2, 1), (2, 4, 3), (3, 3, 3), (3, 5, 1)]:
        types, alpha = n + 1, Fraction(c, m)
        q = 1 - alpha / types
        instance = sharp_family(types, alpha)
        assert alpha.denominator == m or alpha == 1
        rewards = [alpha * q**j for j in range(n)] + [types * q**n / instance.workload[-1]]
        assert list(instance.rewards) == rewards
        run = approximate_greedy(instance, alpha, fewest_types)
        assert run.fractions == (Fraction(1, types),) * types  # the run of Tight.v with c for m
        assert run.reward == (1 - (1 - alpha / types) ** types) * solve(instance).optimal.reward
    for number, instance in enumerate(drawn(60)):
        if len(instance.pools) > 1:
            continue
        alpha = Fraction(1 + number % 5, 5)
        run = approximate_greedy(instance, alpha, least_reward)
        best = solve(instance).optimal.reward
        stages = max(1, len(run.fractions))
        assert stages <= len(instance.types)
        assert sum(run.fractions) <= 1
        for most in range(stages, stages + 3):  # Approximate.approximate_keeps
            assert (1 - (1 - alpha / most) ** most) * best <= run.reward
        assert run.reward <= best


def test_the_constant_is_above_its_limit() -> None:
    last = Fraction(0)
    for n in range(1, 60):
        assert last <= (1 - Fraction(1, n)) ** n < Fraction(46, 125)  # complement_power_mono, complement_power_lt
        last = (1 - Fraction(1, n)) ** n
    assert Fraction(46, 125) - last < Fraction(1, 250)


def proposition_3_1(instance: Instance, order: Sequence[int], z: Sequence[Fraction]) -> bool:
    """Decide the record `proposition_3_1` of Model.v."""
    rho, types = instance.workload, range(len(order))
    slots = []
    for i in types:
        best = [max_reward(pool.space, instance.rewards, order[i:]) for pool in instance.pools]
        slots.append([total(p.share * k[j] for p, k in zip(instance.pools, best, strict=True)) for j in types])
    done = [[total(z[m] * slots[m][j] for m in range(i)) for j in types] for i in range(len(order) + 1)]
    return all(slots[i][j] > 0 and z[i] >= 0 and rho[j] == done[i + 1][j] for i, j in enumerate(order)) and all(
        not (slots[i][later] > 0 and rho[later] == done[i + 1][later]) or order[i] < later
        for i in types
        for later in order[i + 1 :]
    )


def test_exactly_one_permutation() -> None:
    for instance in drawn(60):
        greedy = global_greedy(instance)
        assert proposition_3_1(instance, greedy.permutation, greedy.lengths)  # permutation_exists
        assert not proposition_3_1(instance, greedy.permutation, [z + 1 for z in greedy.lengths])
        valid = [
            order
            for order in permutations(range(len(instance.types)))
            if is_permutation_of_proposition_3_1(instance, order)
        ]
        assert valid == [greedy.permutation]  # permutation_unique, exactly_one_permutation


def is_placement(instance: Instance, order: Sequence[int], L: int, servers: Sequence[int]) -> bool:
    """Decide the record `placement` of Model.v for one pool."""
    rho, types = instance.workload, range(len(order))
    slots = [max_reward(instance.pools[0].space, instance.rewards, order[i:]) for i in types]  # `stage_slots`
    done = [[sum(servers[m] * slots[m][j] for m in range(i)) for j in types] for i in range(len(order) + 1)]
    live = [[j for j in order[i:] if slots[i][j] > 0] for i in types]
    return sum(servers) <= L and all(
        order[i] in live[i]
        and (
            sum(servers[: i + 1]) == L
            or (
                done[i + 1][order[i]] >= L * rho[order[i]]
                and all(done[i + 1][j] < L * rho[j] for j in live[i] if j < order[i])
            )
        )
        and (servers[i] == 0 or all(done[i + 1][j] - slots[i][j] < L * rho[j] for j in live[i]))
        for i in types
    )


def test_lemma_b_1() -> None:
    generator, together, apart = np.random.default_rng(31), 0, Fraction(0)
    for instance in (random_instance(generator, exact_fit=i % 5 == 0) for i in range(80)):
        space, u = instance.pools[0].space, instance.rewards
        greedy = global_greedy(instance)
        order, z = greedy.permutation, greedy.lengths
        stages = [max_reward(space, u, order[i:]) for i in range(len(order))]
        most = max(max(k) for k in stages)
        ends = [min(Fraction(1), total(z[:i])) for i in range(len(order) + 1)]
        assigned = [b - a for a, b in pairwise(ends)]
        shares = {stage.configurations[0]: stage.fraction for stage in greedy.stages}
        assert [shares.get(k, 0) for k in stages] == assigned
        gaps = [  # of types that a stage does not exhaust, and of which it has slots
            instance.workload[j] - total(z[m] * stages[m][j] for m in range(i + 1))
            for i, k in enumerate(stages)
            for j in order[i + 1 :]
            if ends[i] < 1 and k[j] > 0
        ]
        d = min(gaps, default=Fraction(1))
        assert d >= 0
        together += d == 0
        enough = [ceil((most + 1) ** len(order) / d)] if d else []  # lemma_b_1_many
        for L in (1, 7, 101, 10**6 + 3, *enough):
            placed = {stage.configurations[0]: stage.servers[0] for stage in greedy_placement(instance, L).stages}
            servers = [placed.get(k, 0) for k in stages]
            assert sum(servers) == sum(placed.values())
            assert is_placement(instance, order, L, servers)
            more = [n + (i == 0) for i, n in enumerate(servers)]
            assert not is_placement(instance, order, L, more)  # a server too many in the first stage
            errors = [abs(n - L * x) for n, x in zip(servers, assigned, strict=True)]
            apart = max(apart, *(error / (most + 1) ** i for i, error in enumerate(errors)))
    assert Fraction(1, 2) < apart <= 1  # lemma_b_1
    assert together < 40


def test_conditions_of_a_run_are_needed() -> None:
    """Negative control: a run that ignores the best configuration violates a condition, and the conclusion."""
    instance = pooled([(1, [12])], [[5], [7]], rewards=[1, 100], workload=[10, 10])
    with pytest.raises(AssertionError):
        assert_greedy_run(instance, [([(2, 0)], Fraction(1))])
    assert solve(instance).optimal.reward > 2 * 2


@pytest.mark.parametrize("types", [2, 3, 4, 5])
def test_tight_family(types: int) -> None:
    """Tight.v with n + 1 = m = J, rewards times J^n: the same rewards, workload, demands and listed configurations."""
    n, m = types - 1, types
    q = 1 - Fraction(1, types)
    rewards = [q**j for j in range(n)] + [types * q**n / m]
    workload = [Fraction(1)] * n + [Fraction(m)]
    listed, whole = tight_family(types), tight_family_additive(types)
    for instance in (listed, whole):
        assert [u / Fraction(types) ** n for u in instance.rewards] == rewards
        assert list(instance.workload) == workload
        greedy = global_greedy(instance)
        assert [(s.configurations[0], s.fraction) for s in greedy.stages] == [
            (tuple((types if i < n else m) if j == i else 0 for j in range(types)), Fraction(1, types))
            for i in range(types)
        ]
        mixed = (*(1,) * n, m)
        assert instance.pools[0].space.holds(mixed)
        ratio = 1 - (1 - Fraction(1, types)) ** types
        assert greedy.reward == ratio * value(instance.rewards, mixed)
    space = whole.pools[0].space
    assert isinstance(space, Additive)
    intervals = [(a, p) for a in range(n) for p in range(a, n)]
    assert len(space.capacity) == types * (types - 1) // 2 + 1  # tight_resources
    assert space.capacity == (types * m,) * (len(intervals) + 1)
    for j, row in enumerate(space.demands):  # `tight_demand` of Model.v
        expected = [(m if a <= j <= p else 0) if j < n else types - (p + 1 - a) for a, p in intervals]
        assert list(row) == [*expected, 0 if j < n else types]


@pytest.mark.parametrize(("p", "m"), [(1, 0), (2, 0), (6, 0), (1, 1), (4, 1), (1, 2), (2, 2)])
def test_one_resource_members(p: int, m: int) -> None:
    """OneResource.v: the same demands, rewards, workload, stages and share; Coq counts small types from 0."""
    instance, types = one_resource_member(p, m + 1), p + m + 1
    t, T = [2**p], [2**p]  # `small_number` and `small_product`
    for i in range(m + 1):
        T.append(T[i] * t[i])
        t.append(t[i] * (t[i] + 1))
    d = [t[m - j] + 1 if j <= m else 2 ** (m + p + 1 - j) for j in range(types)]  # `member_part`
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    assert space.capacity == (t[m + 1] - 1,)
    assert [row[0] for row in space.demands] == [t[m + 1] // part for part in d]
    rewards = [Fraction(1, T[m - j] if j <= m else 2 ** (m + p + 1 - j)) for j in range(types)]
    assert list(instance.rewards) == rewards
    assert list(instance.workload) == [1] * types
    parts = [Fraction(1, part - 1) for part in d[:-1]]
    greedy = global_greedy(instance)
    assert [(s.configurations[0], s.fraction) for s in greedy.stages] == [
        (tuple(d[i] - 1 if j == i else 0 for j in range(types)), part)
        for i, part in enumerate([*parts, 1 - total(parts)])
    ]
    assert space.holds((1,) * types)
    halves = total(Fraction(1, 2**k - 1) for k in range(2, p + 1))
    spent = halves + total(Fraction(1, t[i]) for i in range(m + 1))
    share = 1 - spent / (2 * (1 + total(Fraction(1, T[i]) for i in range(1, m + 1))))  # one_resource_member
    assert greedy.reward == share * value(instance.rewards, (1,) * types) < value(rewards, (1,) * types)
    if m == 0:
        assert share == 1 - (Fraction(1, 2**p) + halves) / 2  # one_resource_keeps
        assert instance == one_resource_family(p + 1)
    if m == 1:
        N = Fraction(2**p)
        assert share == 1 - N**2 / (N**2 + 1) * (1 / (N * (N + 1)) + 1 / N + halves) / 2  # one_resource_inserted
        assert instance == one_resource_inserted(p + 2)


def series(b: int, terms: int) -> Fraction:
    """`series` of Model.v."""
    return Fraction(0) if terms == 0 else Fraction(1, b) + series(b * (b + 1), terms - 1)


def constant(fits: int, terms: int) -> Fraction:
    """`constant` of Model.v."""
    return 1 + series(fits + 1, terms)


def added_too_much(capacity: int, order: int, slack: float = 1e-9) -> int:
    """Count the steps of the hypothesis of `potential_keeps` that packproof's table does not allow."""
    generator, table, failing = random.Random(17), potential(16, 8, 6), 0
    scale = float(table.tangent) * order
    for _ in range(600):
        g = generator.randint(1, (capacity - 1) // 2)
        z = min(g, generator.choice((capacity // generator.randint(3, 40) + 1, generator.randint(1, g))))
        n, r = capacity // z, g // z
        b = generator.choice((1.0, generator.random())) / n
        before, after = (exp(table.at(UNIT * room // capacity) / UNIT) for room in (g, g - z))
        assert after >= 1
        failing += (1 - r * b) * (1 + b / scale) ** order * after > (1 - (r - 1) * b) * before * (1 + slack)
    return failing


def test_potential_keeps() -> None:
    """The table of packproof is a potential in the sense of the theorem, and greedy keeps what it says."""
    order, table = 2**16, potential(16, 8, 6)
    assert added_too_much(10_007, order) == added_too_much(3_000, order) == 0
    assert added_too_much(3_000, order, slack=-0.5) > 0
    tangent = float(table.tangent) * (1 + 1 / order) / (1 + 1 / order) ** order
    lost = tangent * exp(table.values[-1] / UNIT)
    assert 64 / 211 <= lost <= 0.304
    members = [one_resource_member(p, m) for p, m in ((3, 1), (2, 2))]
    assert all(solve(member).ratio >= 1 - lost for member in members)


def test_one_resource_all_types() -> None:
    """Greedy keeps more than 0.695 of known bad instances and of random ones; the table made again keeps as much."""
    assert formal_table(steps=300, contents=10).holds
    members = [one_resource_member(p, m) for p, m in ((3, 1), (2, 2))]
    assert all(Fraction(139, 200) <= solve(member).ratio < Fraction(71, 100) for member in members)


def test_lemma_6_1() -> None:
    for fits in range(1, 6):
        assert constant(fits, 6) == harmonic(fits, 6) <= Fraction(fits + 1, fits)  # `single_type_keeps_printed`
    assert constant(1, 7) < Fraction(423, 250)
    generator = random.Random(7)
    for _ in range(200):
        resources = generator.randint(1, 3)
        capacity = tuple(generator.randint(5, 40) for _ in range(resources))
        demands = [tuple(generator.randint(0, c) for c in capacity) for _ in range(generator.randint(1, 4))]
        demands = [row for row in demands if any(row)] or [capacity]
        names = tuple(f"r{r}" for r in range(resources))
        space = Additive(names, capacity, tuple(demands), (Fraction(1),) * resources)
        most = [space.most(j) for j in range(len(demands))]
        least = min(most)
        assert least >= 1
        for j, row in enumerate(demands):  # one_more
            assert any((most[j] + 1) * d > c for d, c in zip(row, capacity, strict=True))
        worst = worst_weights(space, "single-type")
        bound = resources * constant(least, min(8, sum(worst.best)))
        assert total(Fraction(slots, n) for slots, n in zip(worst.best, most, strict=True)) <= bound  # lemma_6_1
        assert worst.ratio >= 1 / bound  # single_type_keeps


@pytest.mark.parametrize(("fits", "terms", "resources"), [(1, 0, 1), (1, 3, 2), (2, 2, 1), (3, 2, 2)])
def test_lemma_6_1_sharp(fits: int, terms: int, resources: int) -> None:
    """The family of `lemma_6_1_sharp`, in whole units, judged by packproof's own worst weights."""
    denominators = [fits + 1]
    for _ in range(terms):
        denominators.append(denominators[-1] * (denominators[-1] + 1))
    most = [fits, *denominators[:-1]]
    extra = Fraction(1, (fits + terms) * denominators[-1])
    sizes = [Fraction(1, n + 1) + extra for n in most]
    unit = prod(size.denominator for size in sizes)
    rows = [
        tuple(int(size * unit) if s == r else 0 for s in range(resources)) for r in range(resources) for size in sizes
    ]
    names = tuple(f"r{r}" for r in range(resources))
    space = Additive(names, (unit,) * resources, tuple(rows), (Fraction(1),) * resources)
    assert [space.most(j) for j in range(len(rows))] == most * resources
    jobs = [fits, *(1,) * terms] * resources
    assert space.holds(jobs)
    worth = total(Fraction(slots, n) for slots, n in zip(jobs, most * resources, strict=True))
    assert worth == resources * constant(fits, terms)


def single(width: int, **slots: int) -> Configuration:
    return tuple(slots.get(f"_{j}", 0) for j in range(width))


@pytest.mark.parametrize("J", [2, 3, 4, 5])
def test_universal_partition(J: int) -> None:
    width = 2 * J
    listed = [single(width, **{f"_{2 * m}": 2**m}) for m in range(J)]  # `reduced` of Model.v
    listed += [single(width, **{f"_{2 * m + 3}": 3 * 2**m}) for m in range(J - 1)]
    listed += [single(width, _1=1, **{f"_{2 * m + 4}": 2 ** (m + 2) // 3}) for m in range(J - 2)]
    listed += [single(width, _1=1, **{f"_{2 * m + 3}": 2**m}) for m in range(J - 1)]
    assert sorted(listed) == sorted(reduced_configurations(J))
    inf_size = [(Fraction(1, 2) if j % 2 else Fraction(2, 3)) / 2 ** (j // 2) for j in range(width)]
    assert inf_size == [low for low, _ in universal_cells(J)]
    assert all(high == low for (low, _), (_, high) in pairwise(universal_cells(J)))
    generator = random.Random(J)
    for _ in range(300):
        weights = [Fraction(generator.randint(0, 12)) / 2 ** generator.randint(0, j // 2) for j in range(width)]
        most = max(value(weights, k) for k in listed)
        k, room = [0] * width, Fraction(1)
        while True:  # a random maximal configuration of jobs just above the lower ends
            fitting = [j for j in range(width) if inf_size[j] < room]
            if not fitting:
                break
            j = generator.choice(fitting)
            k[j] += 1
            room -= inf_size[j]
        assert value(weights, k) <= Fraction(3, 2) * most  # universal_two_thirds
    extreme = [Fraction(0), Fraction(1), Fraction(1, 2), *[Fraction(0)] * (width - 3)]  # universal_attained
    assert max(value(extreme, k) for k in listed) == 1
    assert inf_size[1] + inf_size[2] < 1
    assert extreme[1] + extreme[2] == Fraction(3, 2)


def carries(configurations: Sequence[Configuration], n: Sequence[Fraction]) -> Fraction:
    """Return the greatest x for which x n is `carried`."""
    program = LinearProgram([(None, 0)] * len(n) + [(None, 1)])
    program.add_columns([1], [dict(enumerate(n))])
    program.add_columns(
        [0] * len(configurations), [{len(n): 1, **{j: -s for j, s in enumerate(k)}} for k in configurations]
    )
    return program.solve().objective


@pytest.mark.slow
def test_weights_decide_workloads() -> None:
    """The greatest ratio of weights, by one program for each configuration, is that of the workloads."""
    generator = random.Random(11)
    for _ in range(40):
        width = generator.randint(1, 3)
        listed, others = ([tuple(generator.randint(0, 4) for _ in range(width)) for _ in range(4)] for _ in range(2))
        listed.append((1,) * width)  # so that each type is in one of them
        others.append((2,) * width)
        ratio = Fraction(0)
        for k in others:  # the greatest weight of k with those in the list weighing at most 1
            program = LinearProgram([(None, 1)] * len(listed))
            columns = [{i: row[j] for i, row in enumerate(listed) if row[j]} for j in range(width)]
            program.add_columns(list(k), columns)
            vertex = program.solve()
            assert max(value(vertex.primal, row) for row in listed) <= 1
            ratio = max(ratio, vertex.objective)
        shares = [Fraction(generator.randint(0, 5), 25) for _ in others]  # their sum is at most 1
        n = [total(x * k[j] for x, k in zip(shares, others, strict=True)) for j in range(width)]
        assert not any(n) or carries(listed, n) * ratio >= 1  # carried if divided by the ratio
        assert min(carries(listed, list(map(Fraction, k))) for k in others if any(k)) * ratio == 1


@pytest.mark.parametrize(("cuts", "least"), [(["1/2"], "1/4"), (["1/3", "1/2"], "1/5"), ([], "1/3"), (["2/5"], "2/7")])
def test_partition_guarantee(cuts: list[str], least: str) -> None:
    tops = [*map(Fraction, cuts), Fraction(1)]
    lows = [Fraction(least), *tops[:-1]]
    exact = guarantee(cuts, least)
    every = [range(int(1 / low) + 1) for low in lows]
    contents = [m for m in product(*every) if value(lows, m) < 1]
    rounded = [k for k in product(*every) if value(tops, k) <= 1]
    servers = {m: 1 / carries(rounded, list(map(Fraction, m))) for m in contents if any(m)}
    assert max(servers.values()) * exact.ratio == 1  # partition_guarantee
    assert max(value(exact.prices, k) for k in rounded) == 1  # partition_weights
    assert max(value(exact.prices, m) for m in contents) * exact.ratio == 1
    for m in servers:  # content_law
        slack = (1 - value(lows, m)) / (sum(m) + 1)
        sizes = [low + min(top - low, slack) for low, top in zip(lows, tops, strict=True)]
        assert all(low < size <= top for low, size, top in zip(lows, sizes, tops, strict=True))
        best = supportable(sizes, [Fraction(jobs, sum(m)) for jobs in m])
        assert best is not None
        assert best.workload >= sum(m)


@pytest.mark.parametrize("J", [2, 3, 4])
def test_universal_workloads(J: int) -> None:
    cells, reduced = universal_cells(J), reduced_configurations(J)
    assert [high for _, high in cells] == [  # max_size
        (Fraction(2, 3) if j % 2 else Fraction(1)) / 2 ** (j // 2) for j in range(2 * J)
    ]
    assert all(total(slots * high for slots, (_, high) in zip(k, cells, strict=True)) <= 1 for k in reduced)
    generator, least = random.Random(J), Fraction(9)
    for _ in range(40):
        n = [Fraction(0)] * len(cells)
        for _ in range(3):  # contents of servers, a third each
            room = Fraction(1)
            while (fitting := [j for j, (low, _) in enumerate(cells) if low < room]) and generator.random() < 0.95:
                j = generator.choice(fitting)
                n[j] += Fraction(1, 3)
                room -= cells[j][0]
        if any(n):
            least = min(least, carries(reduced, n))
    assert least >= Fraction(2, 3)  # universal_workloads, universal_keeps
    assert carries(reduced, [Fraction(int(j in (1, 2))) for j in range(2 * J)]) == Fraction(2, 3)  # universal_attained


@pytest.mark.parametrize("J", [1, 2, 3, 4])
def test_powers_of_two(J: int) -> None:
    factor = 1 / (2 - Fraction(2, 2**J))
    cuts = [Fraction(1, 2**m) for m in reversed(range(J))]
    assert guarantee(cuts, Fraction(1, 2**J)).ratio == factor  # powers_of_two_keep
    size = Fraction(1, 2**J - 1)  # powers_of_two_attained
    assert Fraction(1, 2**J) < size <= cuts[0]  # power_cell
    law = discrete({size: Fraction(1)})
    assert supportable([size], [Fraction(1)]).workload == 2**J - 1
    assert upper_rounded(law, by_cuts(cuts[:-1])) == (2**J - 1) * factor == 2 ** (J - 1)


def test_finite_partitions_lose() -> None:
    for cuts in (["1/2"], ["1/3", "1/2", "2/3"], ["2/5", "1/2", "3/5"], [Fraction(i, 30) for i in range(1, 30)]):
        law = adversarial_law(by_cuts(cuts))
        (small, p), (large, q) = law.atoms
        assert p == q == Fraction(1, 2)
        assert 0 < large - Fraction(1, 2) == Fraction(1, 2) - small <= Fraction(1, 6)
        assert upper_rounded(law, by_cuts(cuts)) <= 2 * Fraction(2, 3)  # of two jobs a server, one of each size
    quarters = discrete({Fraction(1, 4): Fraction(1, 2), Fraction(3, 4): Fraction(1, 2)})
    assert upper_rounded(quarters, by_cuts(["3/10", "1/2", "4/5"])) > Fraction(4, 3)  # eps = 1/4 is too large


def test_section_5_full() -> None:
    """If users fill what they demand of class A, user 2 runs half as many tasks on each class, whatever its shape."""
    generator = random.Random(5)
    for _ in range(20):
        capacity = [[generator.randint(1, 9) for _ in range(3)] for _ in range(2)]
        demand = [Fraction(c, 80) for c in capacity[0]]
        demand[2] *= generator.randint(0, 1)  # a resource that nobody demands need not be full
        pair = cluster(capacity, [demand, [2 * d for d in demand]])
        assert [row[0] for row in pair.monopoly] == [80, 40]
        assert all(40 * d + 20 * 2 * d == c for d, c in zip(demand, capacity[0], strict=True) if d)
        assert pair.monopoly[0][1] == 2 * pair.monopoly[1][1]
    table = table_4().monopoly
    assert [row[0] for row in table[:2]] == [80, 40]
    assert [row[3] for row in table[:2]] == [55, Fraction(165, 4)]


def test_sequential_pools() -> None:
    for instance in drawn(60):
        assert solve(instance).optimal.reward <= 2 * sequential_greedy(instance)  # sequential_half
    example = pooled([(1, [3]), (1, [2])], [[2], [3]], workload=["1/2", "1/2"])  # sequential_half_attained
    assert sequential_greedy(example) == Fraction(1, 2)
    assert solve(example).optimal.reward == 1


def test_sources_assume_nothing_and_theorems_are_listed() -> None:
    names = (PROOFS / "theorems.txt").read_text().split()
    sources = {path.stem: path.read_text() for path in PROOFS.glob("*.v")}
    assert not [n for n, text in sources.items() if re.search(r"\b(Admitted|admit|Axiom|Axioms|Conjecture)\b", text)]
    for name in names:
        file, _, theorem = name.partition(".")
        assert re.search(rf"^(Theorem|Lemma) {theorem}\b", sources[file], re.MULTILINE), name
    stated = {f"{file}.{name}" for file, text in sources.items() for name in re.findall(r"^Theorem (\w+)", text, re.M)}
    assert stated <= set(names)  # every theorem is among those whose assumptions are printed
