"""Every mechanism against its independent checker, on the paper's examples and on random clusters."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import cycling_cluster
from bounds.results.packproof.sharing import totals_of_the_program
from theory.errors import InputError
from theory.sharing import per_server
from theory.sharing.allocation import whole_tasks
from theory.sharing.checks import (
    corollary_1,
    has_bottleneck,
    is_feasible_allocation,
    is_max_min,
    is_ps_dsf,
    is_ps_dsf_tdm,
)
from theory.sharing.dominant import drf
from theory.sharing.levels import task_units
from theory.sharing.maxmin import max_min_tasks
from theory.sharing.mechanisms import MECHANISMS, is_certified
from theory.sharing.model import Cluster, User, cluster, occupation
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm, ps_dsf_tdm_rounds


def figure_1() -> Cluster:
    return cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])


def fractions(texts: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, texts.split()))


@pytest.mark.parametrize(
    ("mechanism", "totals"),
    [("ps-dsf", "3 3 6"), ("c-drfh", "60/23 72/23 144/23"), ("tsf", "2 2 8")],
)
def test_figure_1(mechanism: str, totals: str) -> None:
    assert MECHANISMS[mechanism](figure_1()).totals == fractions(totals)


def test_figures_2_and_3() -> None:
    demands = [[1.5, 1, 10], [1, 2, 10], [0.5, 1, 0], [1, 0.5, 0]]
    allocation = ps_dsf(cluster([[9, 12, 100], [12, 12, 0]], demands))
    assert allocation.totals == fractions("18/5 18/5 8 8")
    assert [row[0] for row in allocation.tasks[2:]] == [0, 0]


def test_figure_4_by_effective_capacities() -> None:
    base = cluster([[1], [1], [1]], [[1], [1]])
    rates = [("3/4", "3/2", "1/2"), ("1/4", "1", "1/2")]
    users = tuple(
        User(user.name, user.demand, effective={f"s{i + 1}": (Fraction(rate),) for i, rate in enumerate(row)})
        for user, row in zip(base.users, rates, strict=True)
    )
    wireless = Cluster(base.resources, base.servers, users)
    half = Fraction(1, 2)
    for mechanism in (ps_dsf, ps_dsf_tdm, ps_dsf_tdm_rounds):
        assert mechanism(wireless).tasks == ((Fraction(3, 4), Fraction(3, 4), 0), (0, half, half))


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("seed", range(12))
def test_random_clusters_are_certified(name: str, seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(4):
        instance = random_cluster(generator, generator.randint(1, 6), generator.randint(1, 5), generator.randint(1, 4))
        assert is_certified(MECHANISMS[name](instance))
        assert is_certified(MECHANISMS[name](random_cluster(generator, 4, 3, 2, counts=5)))


def test_rounds_that_do_not_end_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_cluster(random.Random(1), 5, 4, 3)
    few = ps_dsf_tdm_rounds(instance, rounds=1)
    assert not few.exact
    assert is_feasible_allocation(instance, few.tasks, division="time")
    monkeypatch.setattr(per_server, "ROUNDS", 1)
    with pytest.raises(InputError, match=r"^ps-dsf-tdm: 1 rounds found no exact allocation: allow a violation"):
        ps_dsf_tdm(instance)


@pytest.mark.parametrize("seed", range(20))
def test_time_division_is_the_convex_program(seed: int) -> None:
    """The totals are unique, and those of the program of Eisenberg and Gale, solved in floats."""
    instance = random_cluster(random.Random(seed), 5, 4, 3)
    assert totals_of_the_program(instance) == pytest.approx([float(x) for x in ps_dsf_tdm(instance).totals], rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_one_server_is_drf(seed: int) -> None:
    generator = random.Random(seed)
    instance = random_cluster(generator, 6, 1, 3, placement=0)
    assert ps_dsf(instance).totals == drf(instance).totals
    alike = random_cluster(generator, 6, 1, 1, placement=0)  # with one resource, time division is DRF as well
    assert ps_dsf_tdm(alike).totals == drf(alike).totals


def test_cycle_is_left_by_damping() -> None:
    allocation = ps_dsf(cycling_cluster())
    assert allocation.exact
    assert allocation.damped
    assert is_ps_dsf(cycling_cluster(), allocation.tasks)


def test_checkers_refuse_altered_allocations() -> None:
    generator = random.Random(5)
    refused = altered = 0
    for _ in range(40):
        instance = random_cluster(generator, 4, 3, 2)
        for mechanism, check in ((ps_dsf, is_ps_dsf), (ps_dsf_tdm, is_ps_dsf_tdm)):
            tasks = [list(row) for row in mechanism(instance).tasks]
            n = generator.randrange(4)
            i = next(i for i, x in enumerate(tasks[n]) if x)
            tasks[n][i] *= generator.choice([Fraction(99, 100), Fraction(101, 100)])
            altered += 1
            refused += not check(instance, tasks)
    assert refused == altered


def test_max_min_checker_refuses() -> None:
    instance = figure_1()
    tasks, stages = max_min_tasks(occupation(instance), task_units(instance, "tsf"))
    assert is_max_min(instance, tasks, task_units(instance, "tsf"), stages)
    assert not is_max_min(instance, tasks, task_units(instance, "c-drfh"), stages)
    assert not is_max_min(instance, tasks, task_units(instance, "tsf"), ())
    less = [[x * Fraction(9, 10) for x in row] for row in tasks]
    assert not is_max_min(instance, less, task_units(instance, "tsf"), stages)


def test_feasibility_is_exact() -> None:
    instance = cluster([[1, 1]], [[1, 0], [0, 1]])
    one, tiny = Fraction(1), Fraction(1, 10**30)
    assert is_feasible_allocation(instance, [[one], [one]])
    assert not is_feasible_allocation(instance, [[one + tiny], [one]])
    assert not is_feasible_allocation(instance, [[-tiny], [one]])
    assert not is_feasible_allocation(instance, [[one], [tiny]], division="time")
    walled = cluster([[1], [1]], [[1]], eligible=[[True, False]])
    assert not is_feasible_allocation(walled, [[0, tiny]])


def test_corollary_1_agrees_with_definition_6() -> None:
    generator = random.Random(2)
    for _ in range(30):
        instance = random_cluster(generator, 4, 3, 3)
        tasks = ps_dsf(instance).tasks
        for i in range(3):
            waiting = [n for n in range(4) if instance.monopoly[n][i]]
            while waiting:  # the inner loop of Algorithm I, ending without an update
                settled = next(s for r in range(3) if (s := corollary_1(instance, tasks, i, r, waiting)))
                assert all(has_bottleneck(instance, tasks, n, i) is not None for n in settled)
                waiting = [n for n in waiting if n not in settled]


@pytest.mark.parametrize("seed", range(10))
def test_whole_tasks_fit_and_lose_little(seed: int) -> None:
    instance = random_cluster(random.Random(seed), 4, 3, 2, largest=9, counts=4)
    allocation = ps_dsf(instance)
    whole = whole_tasks(allocation)
    assert is_feasible_allocation(instance, [[Fraction(x) for x in row] for row in whole.tasks])
    for lost, x, row in zip(whole.lost, allocation.totals, whole.tasks, strict=True):
        assert lost == x - sum(row)
        assert sum(row) < x + 1


def test_floats_above_the_exact_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from theory.sharing import maxmin

    instance = random_cluster(random.Random(4), 6, 4, 3)
    exact = maxmin.tsf(instance)
    monkeypatch.setattr(maxmin, "EXACT_PAIRS", 0)
    numeric = maxmin.tsf(instance)
    assert exact.exact
    assert not numeric.exact
    assert is_feasible_allocation(instance, numeric.tasks)
    assert [float(x) for x in numeric.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-5)
