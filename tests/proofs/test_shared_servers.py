"""The definitions and theorems of Fairness.v and FairnessCosts.v, evaluated with packproof's own functions.

The predicates here are those of Model.v, word for word; packproof decides the same with functions of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

from bounds.adversary.sharing import (
    alone_everywhere,
    greatest_sum_of_parts,
    greatest_utilisation,
    mean_utilisation,
    sum_of_parts,
)
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import idle_family, price_family, unfair_family
from bounds.results.ps_dsf.characterisations import satisfies_definition_5
from theory.numbers import total
from theory.sharing.checks import has_bottleneck, is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import Cluster, cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm

Tasks = Sequence[Sequence[Fraction]]


def alone_tasks(c: Sequence[Fraction], d: Sequence[Fraction], g: Fraction) -> bool:
    pairs = list(zip(c, d, strict=True))
    return all(g * need <= most for most, need in pairs) and any(need > 0 and g * need == most for most, need in pairs)


def runs_alone(shared: Cluster) -> bool:
    return all(
        g == 0 or (g > 0 and alone_tasks(shared.capacity[i], user.demand, g))
        for user, row in zip(shared.users, shared.monopoly, strict=True)
        for i, g in enumerate(row)
    )


def placed(shared: Cluster, x: Tasks) -> bool:
    cells = [(g, a) for gs, row in zip(shared.monopoly, x, strict=True) for g, a in zip(gs, row, strict=True)]
    return all(a >= 0 and (g != 0 or a == 0) for g, a in cells)


def used(shared: Cluster, x: Tasks, i: int, r: int) -> Fraction:
    return total(row[i] * user.demand[r] for user, row in zip(shared.users, x, strict=True))


def time(shared: Cluster, x: Tasks, i: int) -> Fraction:
    return total(row[i] / gs[i] for gs, row in zip(shared.monopoly, x, strict=True) if gs[i])


def divided(shared: Cluster, x: Tasks) -> bool:
    amounts = [(i, r, c) for i, row in enumerate(shared.capacity) for r, c in enumerate(row)]
    return placed(shared, x) and all(used(shared, x, i, r) <= c for i, r, c in amounts)


def timed(shared: Cluster, x: Tasks) -> bool:
    return placed(shared, x) and all(time(shared, x, i) <= 1 for i in range(len(shared.servers)))


def level(shared: Cluster, x: Tasks, n: int, i: int) -> Fraction:
    return total(x[n]) / shared.monopoly[n][i] / shared.weights[n]


def places(shared: Cluster) -> list[tuple[int, int]]:
    return [(n, i) for n, row in enumerate(shared.monopoly) for i, g in enumerate(row) if g > 0]


def bottlenecks(shared: Cluster, x: Tasks, n: int, i: int) -> list[int]:
    return [
        r
        for r, c in enumerate(shared.capacity[i])
        if shared.users[n].demand[r] > 0
        and used(shared, x, i, r) == c
        and all(
            level(shared, x, m, i) <= level(shared, x, n, i)
            for m, user in enumerate(shared.users)
            if x[m][i] > 0 and user.demand[r] > 0
        )
    ]


def usable(shared: Cluster) -> set[int]:
    return {i for _, i in places(shared)}


def drawn(count: int) -> Iterator[tuple[Cluster, random.Random]]:
    generator = random.Random(41)
    for _ in range(count):
        users, servers, resources = (generator.randint(1, most) for most in (4, 3, 3))
        yield random_cluster(generator, users, servers, resources), generator


def scaled(x: Tasks, generator: random.Random) -> list[list[Fraction]]:
    """Return other tasks: some fewer, so that they stay feasible, and possibly too many of one."""
    return [[a * Fraction(generator.randint(2, 5), 4) for a in row] for row in x]


@pytest.mark.slow
def test_definition_5_is_bottlenecks_or_time() -> None:
    fair = unfair = infeasible = 0
    for shared, generator in drawn(40):
        assert runs_alone(shared)
        for mechanism, division in ((ps_dsf, "resource"), (ps_dsf_tdm, "time")):
            start = mechanism(shared).tasks
            for x in (start, scaled(start, generator), [[a / 2 for a in row] for row in start]):
                feasible = divided(shared, x) if division == "resource" else timed(shared, x)
                assert feasible == is_feasible_allocation(shared, x, division=division)
                infeasible += not feasible
                if not feasible:
                    continue
                if division == "resource":  # bottleneck_test
                    found = {place: bottlenecks(shared, x, *place) for place in places(shared)}
                    assert all((has_bottleneck(shared, x, *place) in r) if r else True for place, r in found.items())
                    passes = all(found.values())
                    assert passes == is_ps_dsf(shared, x)
                else:  # time_test
                    passes = all(time(shared, x, i) == 1 for i in usable(shared)) and all(
                        level(shared, x, m, i) <= level(shared, x, n, i)
                        for n, i in places(shared)
                        for m in range(len(shared.users))
                        if x[m][i] > 0
                    )
                    assert passes == is_ps_dsf_tdm(shared, x)
                    assert divided(shared, x)  # time_fits
                assert passes == satisfies_definition_5(shared, x, division)
                fair += passes
                unfair += not passes
    assert min(fair, unfair, infeasible) > 20


def test_time_is_stricter() -> None:
    both = cluster([[1, 1]], [[1, 0], [0, 1]])
    one = [[Fraction(1)], [Fraction(1)]]
    assert runs_alone(both)
    assert [total(row) for row in one] == [row[0] for row in both.monopoly]
    assert divided(both, one)
    assert not timed(both, one)


def test_exchange_of_time() -> None:
    exchanges = 0
    for shared, generator in drawn(60):
        x, g, phi = ps_dsf_tdm(shared).tasks, shared.monopoly, shared.weights
        served = [(n, i) for n, row in enumerate(x) for i, a in enumerate(row) if a > 0]
        for n, i in served:
            for m, j in served:
                a, b = Fraction(generator.randint(0, 4), 4), Fraction(generator.randint(0, 4), 4)
                gain_n, gain_m = b * g[n][j] - a * g[n][i], a * g[m][i] - b * g[m][j]
                assert not (gain_n > 0 and gain_m >= 0)
                assert not (gain_m > 0 and gain_n >= 0)
                if g[m][i] > 0 and g[n][j] > 0:
                    A = level(shared, x, m, i) - level(shared, x, n, i)
                    B = level(shared, x, n, j) - level(shared, x, m, j)
                    X, Y = total(x[n]), total(x[m])
                    rate = X * phi[m] / (Y * phi[n])
                    sold = a * A * g[n][i] * g[m][i] + b * B * g[n][j] * g[m][j]
                    assert gain_n + rate * gain_m == -sold * phi[m] / Y
                    assert min(A, B) >= 0 < rate
                    exchanges += m != n and i != j
    assert exchanges > 10


def test_market_equilibrium() -> None:
    for shared, generator in drawn(40):
        start = ps_dsf_tdm(shared).tasks
        for x in (start, [[a * Fraction(generator.randint(3, 4), 4) for a in row] for row in start]):
            g, phi = shared.monopoly, shared.weights
            sums = [total(row) for row in x]
            worth = [[w * a / have for a in row] for w, row, have in zip(phi, g, sums, strict=True)]
            price = [max(row[i] for row in worth) for i in range(len(shared.servers))]
            served = [(n, i) for n, row in enumerate(x) for i, a in enumerate(row) if a > 0]
            spent = [
                total(p * a / most for p, a, most in zip(price, row, gs, strict=True) if most)
                for row, gs in zip(x, g, strict=True)
            ]
            equilibrium = (
                all(worth[n][i] == price[i] for n, i in served)
                and all(worth[n][i] == 1 / level(shared, x, n, i) for n, i in served)
                and all(time(shared, x, i) == 1 for i in usable(shared))
                and spent == list(phi)
            )
            assert equilibrium == is_ps_dsf_tdm(shared, x)  # fisher_market


def test_price_of_fairness() -> None:
    generator = random.Random(43)
    for users, s in ((1, 1), (4, 2), (9, 3)) * 6:
        shared = random_cluster(generator, users, generator.randint(1, 4), generator.randint(1, 3), weights=1)
        fair = ps_dsf_tdm(shared)
        assert s**2 == len(shared.users)
        assert Fraction(2 * s - 1, users) * greatest_sum_of_parts(shared) <= sum_of_parts(fair)  # price_of_fairness
    for k in (1, 2, 3, 4):  # price_of_fairness_attained; user (i, l) of Coq is tied to i if l = 0
        family = price_family(k)
        x = [[Fraction(int(n == i), k) if n < k else Fraction(1, k * k) for i in range(k)] for n in range(k * k)]
        y = [[Fraction(int(n == i)) for i in range(k)] for n in range(k * k)]
        assert is_ps_dsf_tdm(family, x)
        assert timed(family, y)
        alone = alone_everywhere(family)
        parts = [total(total(row) / most for row, most in zip(z, alone, strict=True)) for z in (x, y)]
        assert parts[0] == Fraction(2 * k - 1, k**2) * parts[1] > 0
        assert parts == [sum_of_parts(ps_dsf_tdm(family)), greatest_sum_of_parts(family)]


def utilisation(shared: Cluster, x: Tasks) -> Fraction:
    """Return `mean_utilisation` of Model.v."""
    c = shared.capacity
    parts = [used(shared, x, i, r) / c[i][r] for i in usable(shared) for r in range(len(c[i]))]
    return total(parts) / len(parts)


def test_idle_resources() -> None:
    generator = random.Random(47)
    for _ in range(25):
        shared = random_cluster(generator, 3, 2, generator.randint(1, 3), zeros=0)
        assert min(map(min, shared.capacity)) > 0
        fair = ps_dsf(shared)
        mean = utilisation(shared, fair.tasks)
        if len(usable(shared)) == len(shared.servers):
            assert mean == mean_utilisation(fair)
            assert greatest_utilisation(shared) / len(shared.resources) <= mean  # idle_resources
    for resources, users in ((1, 1), (1, 4), (3, 1), (3, 5)):  # idle_resources_family
        family = idle_family(resources, users)
        assert [list(user.demand) for user in family.users] == [
            [int(k == 0 or r == 0) for r in range(resources)] for k in range(users)
        ]
        x = [[Fraction(1, users)]] * users
        y = [[Fraction(int(k == 0))] for k in range(users)]
        assert is_ps_dsf(family, x)
        assert divided(family, y)
        assert utilisation(family, y) == 1
        assert utilisation(family, x) == Fraction(1, resources) + (1 - Fraction(1, resources)) / users


@pytest.mark.parametrize("m", [1, 3, 40])
def test_unfairness_without_bound(m: int) -> None:
    family = unfair_family(m)
    assert [list(row) for row in family.capacity] == [[1, 1], [m, 0]]  # `unfair_capacity`
    assert [list(user.demand) for user in family.users] == [[1, 1], [1, 0]]  # `unfair_demand`
    assert [list(row) for row in family.monopoly] == [[1, 0], [1, 0]]  # `unfair_gamma`
    assert total(ps_dsf(family).tasks[0]) == Fraction(1, 2)
    anywhere = [[Fraction(1), Fraction(0)], [Fraction(1), Fraction(m)]]  # `runs_anywhere`
    for user, row in zip(family.users, anywhere, strict=True):
        assert all(alone_tasks(c, user.demand, g) for c, g in zip(family.capacity, row, strict=True))
    sums = [total(row[r] for row in family.capacity) for r in range(2)]
    dominant = [max(d / whole for d, whole in zip(user.demand, sums, strict=True)) for user in family.users]
    assert [1 / share for share in dominant] == [total(row) for row in anywhere] == [1, 1 + m]
    for mechanism in (tsf, c_drfh):
        x = [total(row) for row in mechanism(family).tasks]
        assert x[0] == Fraction(2, 2 + m) / 2
        assert x[0] / 1 == x[1] / (1 + m)
    for e in (Fraction(1), Fraction(1, 9)):
        assert 2 / e > m or Fraction(2, 2 + m) < e
