"""Allocations of anybody's: decisions against definitions written anew, in floats where a solver helps."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds.results.instances.drawn import random_cluster
from bounds.results.ps_dsf.properties import table_1_witnesses
from theory.sharing.allocation import Stage
from theory.sharing.judgement import distance, given, judge_given, overloads, unwhole_tasks
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster, ServerClass, User, cluster, occupation
from theory.sharing.properties import PROPERTIES, efficiency

Rows = list[list[Fraction]]
SEEDS = range(8)
WITNESSES = table_1_witnesses()


def drawn(seed: int) -> tuple[Cluster, random.Random]:
    rng = random.Random(seed)
    return random_cluster(rng, 3, 2, rng.choice([1, 2]), counts=3), rng


def some_tasks(instance: Cluster, rng: random.Random, most: int) -> Rows:
    """Return parts of what each could run alone that sum to at most `most` on a server."""
    parts = [rng.choices([0, 1, 2], k=len(instance.servers)) for _ in instance.users]
    sums = [max(1, sum(column)) for column in zip(*parts, strict=True)]
    return [
        [most * gamma * Fraction(part, whole) for gamma, part, whole in zip(row, own, sums, strict=True)]
        for row, own in zip(instance.monopoly, parts, strict=True)
    ]


def fits(instance: Cluster, tasks: Rows) -> bool:
    for i, server in enumerate(instance.servers):
        for r, one in enumerate(server.capacity):
            used = sum(tasks[n][i] * instance.use(n, i)[r] for n in range(len(tasks)) if tasks[n][i])
            if used > one * server.count:
                return False
    return all(
        not x or most
        for row, alone in zip(tasks, instance.monopoly, strict=True)
        for x, most in zip(row, alone, strict=True)
    )


def envies(instance: Cluster, tasks: Rows) -> set[tuple[str, str]]:
    """Return who would run more with what another holds, server by server, resource by resource."""
    found = set()
    for n, user in enumerate(instance.users):
        for m, other in enumerate(instance.users):
            value = Fraction(0)
            for i, server in enumerate(instance.servers):
                if user.servers is None or server.name in user.servers:
                    held = [tasks[m][i] * need for need in instance.use(m, i)] if tasks[m][i] else []
                    needs = instance.use(n, i) if held else ()
                    value += min((h / d for h, d in zip(held, needs, strict=True) if d), default=0)
            if value * user.weight / other.weight > sum(tasks[n]):
                found.add((user.name, other.name))
    return found


def greatest_gain(instance: Cluster, tasks: Rows) -> float:
    """Return the greatest sum of gains without a loss, as parts of what users run alone, by another solver."""
    places = [(n, i) for n, row in enumerate(instance.monopoly) for i, gamma in enumerate(row) if gamma]
    alone = [float(sum(row)) for row in instance.monopoly]
    rows, limits = [], []
    for i, server in enumerate(instance.servers):
        for r, one in enumerate(server.capacity):
            rows.append([float(instance.use(n, j)[r]) if j == i else 0.0 for n, j in places])
            limits.append(float(one * server.count))
    for n, row in enumerate(tasks):
        rows.append([-1.0 if m == n else 0.0 for m, _ in places])
        limits.append(-float(sum(row)))
    found = linprog([-1 / alone[n] for n, _ in places], A_ub=np.array(rows), b_ub=limits)
    return float(-found.fun - sum(float(sum(row)) / most for row, most in zip(tasks, alone, strict=True)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [1, 2])
def test_fit_envy_incentive_and_efficiency_by_their_definitions(seed: int, most: int) -> None:
    instance, rng = drawn(seed)
    tasks = some_tasks(instance, rng, most)
    judged = judge_given(given(instance, tasks))
    assert judged.feasible == fits(instance, tasks)
    if not judged.feasible:
        assert judged.overloads
        assert all(one.holds is None for one in judged.properties.values())
        return
    pairs = envies(instance, tasks)
    assert {(one.user, one.envies) for one in judged.envious} == pairs
    assert judged.properties["envy_freeness"].holds == (not pairs)
    weights = sum(user.weight for user in instance.users)
    owned = [user.weight / weights * sum(row) for user, row in zip(instance.users, instance.monopoly, strict=True)]
    below = [1 - sum(row) / due for row, due in zip(tasks, owned, strict=True) if sum(row) < due]
    assert judged.properties["sharing_incentive"].holds == (not below)
    assert judged.gaps["sharing_incentive"] == max(below, default=0)
    gain = greatest_gain(instance, tasks)
    assert abs(gain - float(judged.gaps["pareto_optimality"])) < 1e-7
    assert judged.properties["pareto_optimality"].holds == (gain < 1e-7)


@pytest.mark.parametrize("name", [name for name, one in MECHANISMS.items() if not one.pools_servers])
@pytest.mark.parametrize("seed", SEEDS)
def test_shares_of_mechanisms_have_what_the_papers_prove(name: str, seed: int) -> None:
    """Under time division Pareto optimality is within that division, which is not what is judged."""
    instance, _ = drawn(seed)
    mechanism = MECHANISMS[name]
    own = given(instance, mechanism(instance).tasks)
    judged = judge_given(own)
    assert judged.feasible
    proved = mechanism.properties - ({"pareto_optimality"} if mechanism.division == "time" else set())
    assert all(judged.properties[one].holds for one in proved)
    far = distance(own, mechanism)
    assert far.fulfils
    assert far.part == 0


def test_figure_1_of_the_ps_dsf_paper() -> None:
    """TSF fails bottleneck fairness and no other property."""
    figure_1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    tsf = judge_given(given(figure_1, MECHANISMS["tsf"](figure_1).tasks))
    assert [name for name, one in tsf.properties.items() if not one.holds] == ["bottleneck_fairness"]
    assert tsf.gaps["bottleneck_fairness"] == Fraction(1, 3)  # the first two users have 2 of their 3


@pytest.mark.parametrize("name", [name for name, (_, _, lacks) in WITNESSES.items() if lacks in PROPERTIES])
def test_the_witnesses_of_table_1(name: str) -> None:
    """Clusters on which a mechanism lacks a property that its paper, or Table I, denies it."""
    mechanism, instance, lacks = WITNESSES[name]
    judged = judge_given(given(instance, mechanism(instance).tasks))
    assert judged.feasible
    assert judged.properties[lacks].holds is False
    assert 0 < judged.gaps[lacks] < len(instance.users)


def test_the_nearest_mechanism_and_the_furthest_user() -> None:
    one = cluster([[8]], [[1], [2]])
    far = distance(given(one, [[Fraction(6)], [Fraction(1)]]), MECHANISMS["drf"])  # its own: 4 and 2
    assert (far.fulfils, far.part, far.user) == (False, Fraction(1, 4), "u1")
    assert far.totals == (4, 2)


def test_an_allocation_by_ps_dsf_that_is_not_the_computed_one() -> None:
    """Under resource division there can be several: the conditions decide, the distance is from one of them."""
    two = cluster([[2], [2]], [[1], [1]])
    swapped = given(two, [[Fraction(0), Fraction(2)], [Fraction(2), Fraction(0)]])
    assert distance(swapped, MECHANISMS["ps-dsf"]).fulfils
    worse = given(two, [[Fraction(1), Fraction(2)], [Fraction(1), Fraction(0)]])
    assert not distance(worse, MECHANISMS["ps-dsf"]).fulfils


def test_what_is_tolerated() -> None:
    """Thirds as decimals: a load of 1.000002, and a user at 0.999998 of what it owns."""
    one = cluster([[2]], [[1], [1]])
    near = given(one, [[Fraction("1.000004")], [Fraction(1)]])
    assert not judge_given(near).feasible
    judged = judge_given(near, Fraction("0.00001"))
    assert judged.feasible
    assert judged.overloads[0].part == Fraction("0.000002")
    assert sum(judged.allocation.totals) == 2
    assert all(one.holds for one in judged.properties.values())
    assert 0 < judged.gaps["sharing_incentive"] <= Fraction("0.00001")
    strict = judge_given(given(one, judged.allocation.tasks))
    assert not strict.properties["sharing_incentive"].holds


@pytest.mark.parametrize("seed", range(20))
def test_whole_tasks_are_counted_server_by_server(seed: int) -> None:
    """By adding whole tasks one by one to one server after another."""
    instance, _ = drawn(seed)
    tasks = tuple(tuple(Fraction(floor(most)) for most in row) for row in instance.monopoly)
    found = {(one.user, one.server): one.most_whole for one in unwhole_tasks(given(instance, tasks))}
    for n, user in enumerate(instance.users):
        for i, server in enumerate(instance.servers):
            each = 0
            if instance.monopoly[n][i]:
                need = instance.use(n, i)
                while all((each + 1) * x <= c for x, c in zip(need, server.capacity, strict=True)):
                    each += 1
            held = each * server.count
            assert found.get((user.name, server.name), held) == held
            assert ((user.name, server.name) in found) == (tasks[n][i] > held)


def test_tasks_with_fractions_are_named_where_no_server_holds_one() -> None:
    two = Cluster(("memory",), (ServerClass("a", (Fraction(10),), 2),), (User("u", (Fraction(4),)),))
    assert not unwhole_tasks(given(two, [[Fraction(9, 2)]]))
    assert [one.most_whole for one in unwhole_tasks(given(two, [[Fraction(5)]]))] == [4]
    large = replace(two, users=(User("u", (Fraction(16),)),))
    assert [one.most_whole for one in unwhole_tasks(given(large, [[Fraction(1, 2)]]))] == [0]


def test_tasks_where_they_may_not_run_are_not_in_the_load() -> None:
    two = cluster([[2], [2]], [[1], [1]], eligible=[[True, False], [True, True]])
    judged = judge_given(given(two, [[Fraction(1), Fraction(2)], [Fraction(0), Fraction(1)]]))
    assert not judged.feasible
    assert [(one.user, one.server, one.tasks) for one in judged.misplaced] == [("u1", "s2", 2)]
    assert overloads(judged.allocation) == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_prices_prove_efficiency(seed: int) -> None:
    """Values are positive and below costs, and the tasks are worth all prices; otherwise better tasks are feasible."""
    instance, rng = drawn(seed)
    for tasks in (some_tasks(instance, rng, 1), MECHANISMS["tsf"](instance).tasks):
        totals = [sum(row, Fraction(0)) for row in tasks]
        table = occupation(instance)
        proof = efficiency(table, totals)
        if not isinstance(proof, Stage):
            better = [sum(row, Fraction(0)) for row in proof]
            assert fits(instance, [list(row) for row in proof])
            assert all(new >= old for new, old in zip(better, totals, strict=True))
            assert better != totals
            continue
        assert all(value > 0 for value in proof.value)
        for n, row in enumerate(table.shares):
            for i, share in enumerate(row):
                if share is not None:
                    assert proof.value[n] <= sum(y * part for y, part in zip(proof.prices[i], share, strict=True))
        worth = sum(value * x for value, x in zip(proof.value, totals, strict=True))
        assert worth == sum(map(sum, proof.prices))
