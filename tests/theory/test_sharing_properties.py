"""Properties and lies: verdicts and their witnesses, checked from the definitions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from bounds.adversary.sharing import random_cluster
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.maxmin import c_drfh, drf, tsf
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm
from theory.sharing.properties import (
    decide,
    envy_freeness,
    pareto_optimality,
    sharing_incentive,
    single_resource_fairness,
)
from theory.sharing.strategy import misreports, search_lies, strategy_proofness

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
