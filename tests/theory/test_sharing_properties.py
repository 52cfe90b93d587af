"""Properties and lies: verdicts and their witnesses, checked from the definitions."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds.results.instances.drawn import random_cluster
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.dominant import drf
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm
from theory.sharing.pooled import judge, place
from theory.sharing.properties import (
    decide,
    envy_freeness,
    pareto_optimality,
    sharing_incentive,
    single_resource_fairness,
)
from theory.sharing.strategy import misreports, search_lies, strategy_proofness, utility_under

FIGURE_1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])


@pytest.mark.parametrize("mechanism", [ps_dsf, ps_dsf_tdm, drf])
@pytest.mark.parametrize("seed", range(25))
def test_theorem_3(mechanism, seed):
    generator = random.Random(seed)
    servers = 1 if mechanism is drf else generator.randint(1, 4)
    instance = random_cluster(generator, generator.randint(1, 5), servers, generator.randint(1, 3))
    verdicts = decide(mechanism(instance))
    if mechanism is ps_dsf:
        del verdicts["pareto_optimality"]  # not promised under resource division
    assert all(verdict.holds for verdict in verdicts.values())


def test_resource_division_is_not_pareto_optimal():
    instance = cluster([[2, 3], [5, 6]], [[1, 4], [4, 1], [4, 2]])
    allocation = ps_dsf(instance)
    verdict = pareto_optimality(allocation)
    assert verdict.holds is False
    better = verdict.witness["allocation"]
    tasks = [[Fraction(better[u.name].get(s.name, 0)) for s in instance.servers] for u in instance.users]
    assert is_feasible_allocation(instance, tasks)
    gains = [sum(row) - x for row, x in zip(tasks, allocation.totals, strict=True)]
    assert min(gains) >= 0 < max(gains)


def test_bottleneck_fairness_fails_on_figure_1():
    for mechanism, holds in ((tsf, False), (c_drfh, False), (ps_dsf, True)):
        assert decide(mechanism(FIGURE_1))["bottleneck_fairness"].holds is holds


def test_tsf_fails_the_sharing_incentive_of_the_paper():
    instance = cluster([[1, 2], [2, 1]], [[0, 1], [3, 2]], eligible=[[False, True], [True, True]])
    verdict = sharing_incentive(tsf(instance))
    assert verdict.holds is False
    assert verdict.witness == {"user": "u2", "tasks": "1/3", "uniform": "5/12"}


def test_witnesses_of_bad_allocations():
    instance = cluster([[4]], [[1], [1]])
    unequal = Allocation("", instance, ((Fraction(3),), (Fraction(1),)))
    assert sharing_incentive(unequal).witness == {"user": "u2", "tasks": "1", "uniform": "2"}
    assert envy_freeness(unequal).witness == {"user": "u2", "envies": "u1", "tasks": "1", "with_the_other": "3"}
    assert single_resource_fairness(unequal).witness["fair_amount"] == "2"
    assert pareto_optimality(unequal).holds is True
    wasteful = Allocation("", instance, ((Fraction(1),), (Fraction(1),)))
    assert pareto_optimality(wasteful).holds is False


def test_numeric_allocations_are_not_decided():
    numeric = Allocation("tsf", FIGURE_1, tsf(FIGURE_1).tasks, exact=False)
    assert {verdict.holds for verdict in decide(numeric).values()} == {None}


def test_a_profitable_lie_under_resource_division():
    instance = cluster([[4, 3, 2], [2, 2, 2]], [[2, 4, 1], [4, 2, 4]])
    lie, _ = search_lies(ps_dsf, instance)
    assert lie is not None
    assert lie.lying > lie.honest
    told = ps_dsf(instance.with_user(lie.user, lie.report))
    ratio = min(a / b for a, b in zip(lie.report.demand, instance.users[lie.user].demand, strict=True) if b)
    assert told.totals[lie.user] * ratio == lie.lying


def test_lies_about_servers_pay_under_cdrf():
    instance = cluster([[2], [4]], [[2], [1]], eligible=[[False, True], [True, True]])
    assert strategy_proofness(MECHANISMS["cdrf"], instance).holds is False


@pytest.mark.parametrize("seed", range(6))
def test_no_lie_pays_under_time_division(seed):
    verdict = strategy_proofness(ps_dsf_tdm, random_cluster(random.Random(seed), 3, 2, 2), rounds=4)
    assert verdict.holds is None
    assert "misreports tried" in verdict.witness["note"]


def test_lies_are_tried_once_and_the_truth_never():
    instance = cluster([[9, 18], [6, 6]], [[1, 4], [3, 1]], eligible=[[True, True], [True, False]])
    for n, user in enumerate(instance.users):
        told = [(report.demand, report.servers) for report in misreports(instance, n, 50, random.Random(1))]
        assert len(told) == len(set(told)) > 20
        assert (user.demand, user.servers) not in told
        assert all(said >= need for demand, _ in told for said, need in zip(demand, user.demand, strict=True))


def most_that_fits(instance, totals):
    """Return the greatest multiple of the totals that the servers hold, by another solver, in floats."""
    pairs = [(n, i) for n, row in enumerate(instance.monopoly) for i, alone in enumerate(row) if alone]
    width = len(instance.resources)
    loads = np.zeros((len(instance.servers) * width, len(pairs) + 1))
    sums = np.zeros((len(totals), len(pairs) + 1))
    for column, (n, i) in enumerate(pairs):
        loads[i * width : (i + 1) * width, column] = [float(d) for d in instance.use(n, i)]
        sums[n, column] = -1.0
    sums[:, -1] = [float(x) for x in totals]
    room = [float(c) for row in instance.capacity for c in row]
    goal = [0.0] * len(pairs) + [-1.0]
    return -linprog(goal, np.vstack([loads, sums]), [*room, *[0.0] * len(totals)]).fun


@pytest.mark.parametrize("seed", range(40))
def test_tasks_of_one_pool_are_placed_on_the_servers_where_they_fit(seed):
    generator = random.Random(seed)
    instance = random_cluster(generator, generator.randint(1, 4), generator.randint(2, 4), generator.randint(1, 3))
    allocation = drf(instance)
    tasks = place(instance, allocation.totals)
    most = most_that_fits(instance, allocation.totals)
    if tasks is None:
        assert most < 1 + 1e-9
        feasible, verdicts = judge(allocation, instance)
        assert feasible is False
        assert {verdict.holds for verdict in verdicts.values()} == {None}
    else:
        assert most > 1 - 1e-9
        assert is_feasible_allocation(instance, tasks)
        assert tuple(map(sum, tasks)) == allocation.totals


def test_both_happen():
    """The random clusters of the test above hold the tasks of one pool sometimes, and sometimes do not."""
    fits = set()
    for seed in range(40):
        generator = random.Random(seed)
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(2, 4), generator.randint(1, 3))
        fits.add(place(instance, drf(instance).totals) is None)
    assert fits == {True, False}


@pytest.mark.parametrize("seed", range(10))
def test_a_class_that_is_two_equal_ones_has_the_same_properties(seed):
    """Borders between equal servers matter to no number of tasks, so that pooling them changes no property of these."""
    generator = random.Random(seed)
    one = random_cluster(generator, 3, 1, 2)
    (server,) = one.servers
    two = replace(one, servers=(server, replace(server, name="other")))
    feasible, verdicts = judge(drf(two), two)
    assert feasible is True
    assert verdicts.pop("envy_freeness").holds is None
    whole = decide(drf(replace(one, servers=(replace(server, count=2),))))
    assert {name: verdict.holds for name, verdict in verdicts.items()} == {name: whole[name].holds for name in verdicts}


def test_placement_is_not_judged_on_the_pool():
    """Only 100 tasks exist, as both users run on the one server with 100 cores; DRF of the pool gives 200."""
    label = cluster([[100, 100], [480, 100]], [[4, 1], [1, 1]], eligible=[[False, True], [False, True]])
    allocation = drf(label)
    assert sum(allocation.totals) == 200
    feasible, verdicts = judge(allocation, label)
    assert feasible is False
    assert {verdict.holds for verdict in verdicts.values()} == {None}


@pytest.mark.parametrize("mechanism", ["cdrf", "tsf", "ps-dsf"])
@pytest.mark.parametrize("seed", range(8))
def test_a_lie_is_told_as_it_was_reported(mechanism, seed):
    """What a witness says is no truth, and whoever reports it can run as many tasks as the witness says."""
    generator = random.Random(seed)
    instance = random_cluster(generator, 3, 3, 2)
    witness = strategy_proofness(MECHANISMS[mechanism], instance, rounds=3, seed=seed).witness
    if "tried" in witness:
        assert witness["tried"] > 0
        return
    n = [user.name for user in instance.users].index(witness["user"])
    truth = instance.users[n]
    demand = tuple(Fraction(witness["reported_demand"][name]) for name in instance.resources)
    servers = tuple(witness["reported_servers"]) if "reported_servers" in witness else truth.servers
    assert (demand, servers) != (truth.demand, truth.servers)
    assert ("demands" in witness["lie"]) == (demand != truth.demand)
    allowed = {s.name for s in instance.servers} if truth.servers is None else set(truth.servers)
    said = {s.name for s in instance.servers} if servers is None else set(servers)
    assert ("may run on" in witness["lie"]) == (said != allowed)
    report = replace(truth, demand=demand, servers=servers)
    allocation = MECHANISMS[mechanism](instance.with_user(n, report))
    assert utility_under(instance, n, report, allocation) == Fraction(witness["tasks_by_lying"])
    assert MECHANISMS[mechanism](instance).totals[n] == Fraction(witness["tasks"]) < Fraction(witness["tasks_by_lying"])
