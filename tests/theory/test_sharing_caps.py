"""Caps on demand: shares against filling from the definition, properties, certificates, and who refuses them."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds import checker
from bounds.certificates import allocation_certificate, fairness_certificate
from bounds.results.instances.drawn import random_cluster
from fluid.limits.sharing import Schedule, run_schedule
from tests.reference.capped_shares import drf_in_steps, levels_by_programs, loads
from theory.errors import InputError
from theory.exact.programs import LinearProgram
from theory.exact.programs.linear import Vertex
from theory.files.clusters import cluster_document, parse_cluster
from theory.sharing import maxmin
from theory.sharing.allocation import whole_tasks
from theory.sharing.checks import infeasibility
from theory.sharing.judgement import distance, given, judge_given
from theory.sharing.levels import max_min_violation, task_units
from theory.sharing.maxmin import cdrf
from theory.sharing.mechanisms import MECHANISMS, is_certified
from theory.sharing.model import Cluster, cluster
from theory.sharing.numeric_levels import numeric_max_min
from theory.sharing.properties import envy
from theory.sharing.strategy import search_lies
from theory.sharing.violation import ps_dsf_violation

TAKE = ("drf", "c-drfh", "tsf")
OTHERS = tuple(name for name in MECHANISMS if name not in TAKE)
SEEDS = range(12)


def capped(seed: int, *, servers: int | None = None) -> Cluster:
    """Draw a cluster in which about half of the users have caps, some of them beyond what they could get."""
    rng = random.Random(seed)
    drawn = random_cluster(rng, rng.randint(2, 5), servers or rng.randint(1, 4), rng.randint(1, 3), counts=3)
    if not all(any(server.capacity) for server in drawn.servers):  # no cluster of a file
        return capped(seed + 1000, servers=servers)
    users = tuple(
        replace(user, most_tasks=sum(row) * Fraction(rng.randint(1, 12), 12)) if rng.random() < 0.6 else user
        for user, row in zip(drawn.users, drawn.monopoly, strict=True)
    )
    return replace(drawn, users=users)


def test_the_example_of_drf() -> None:
    """Ghodsi et al.: 9 CPUs, 18 GB, tasks of (1, 4) and (3, 1) give 3 and 2; who wants 1 leaves 17/4 to the other."""
    assert MECHANISMS["drf"](cluster([[9, 18]], [[1, 4], [3, 1]])).totals == (3, 2)
    wants_one = cluster([[9, 18]], [[1, 4], [3, 1]], most_tasks=[None, 1])
    for name in TAKE:
        assert MECHANISMS[name](wants_one).totals == (Fraction(17, 4), 1)


@pytest.mark.parametrize("name", ["c-drfh", "tsf"])
@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_those_of_the_reference(name: str, seed: int) -> None:
    instance = capped(seed)
    totals = MECHANISMS[name](instance).totals
    expected = levels_by_programs(instance, [float(u) for u in task_units(instance, name)])
    assert [float(x) for x in totals] == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_drf_is_filled_in_small_steps(seed: int) -> None:
    """Each user is short by less than a step of its own and what the steps of the others leave: all within 1 %."""
    instance = capped(seed, servers=1)
    alone = [float(row[0]) for row in instance.monopoly]
    filled = drf_in_steps(instance, 4000)
    for x, near, whole in zip(MECHANISMS["drf"](instance).totals, filled, alone, strict=True):
        assert abs(float(x) - near) < 0.01 * whole


@pytest.mark.parametrize("name", TAKE)
@pytest.mark.parametrize("seed", SEEDS)
def test_shares_are_certified_within_caps(name: str, seed: int) -> None:
    instance = capped(seed)
    allocation = MECHANISMS[name](instance)
    assert is_certified(allocation)
    document = allocation_certificate(instance, allocation)
    assert checker.check(document) == document["claims"]
    assert all(user.wanted(x) == x for user, x in zip(instance.users, allocation.totals, strict=True))
    whole = whole_tasks(allocation).tasks
    assert all(user.wanted(Fraction(sum(row))) == sum(row) for user, row in zip(instance.users, whole, strict=True))


def test_caps_bind_in_the_clusters_drawn() -> None:
    """Among them are users at caps, users below them, and users that caps of others help."""
    at, below, helped = 0, 0, 0
    for seed in SEEDS:
        instance = capped(seed)
        free = replace(instance, users=tuple(replace(user, most_tasks=None) for user in instance.users))
        before, after = MECHANISMS["tsf"](free).totals, MECHANISMS["tsf"](instance).totals
        for user, old, new in zip(instance.users, before, after, strict=True):
            at += user.is_at_cap(new)
            below += user.most_tasks is not None and new < user.most_tasks
            helped += new > old
    assert min(at, below, helped) >= 5, (at, below, helped)


@pytest.mark.parametrize("name", TAKE)
def test_caps_that_do_not_bind_change_nothing(name: str) -> None:
    for seed in SEEDS:
        free = replace(drawn := capped(seed), users=tuple(replace(user, most_tasks=None) for user in drawn.users))
        totals = MECHANISMS[name](free).totals
        loose = tuple(replace(u, most_tasks=x or Fraction(1)) for u, x in zip(free.users, totals, strict=True))
        assert MECHANISMS[name](replace(free, users=loose)).totals == totals


@pytest.mark.parametrize("name", TAKE)
def test_a_user_that_is_two_equal_ones(name: str) -> None:
    """Half the weight and half the cap each: together they have what the one has."""
    for seed in SEEDS:
        instance = capped(seed)
        first, *rest = instance.users
        most = None if first.most_tasks is None else first.most_tasks / 2
        halves = [replace(first, name=half, weight=first.weight / 2, most_tasks=most) for half in ("x", "y")]
        one, other, *others = MECHANISMS[name](replace(instance, users=(*halves, *rest))).totals
        assert (one + other, *others) == MECHANISMS[name](instance).totals
        assert one == other


def test_a_vertex_beyond_a_cap_is_cut_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs bound tasks from below, so an optimal vertex may give the first user all that is free."""

    class Generous(LinearProgram):
        def solve(self) -> Vertex:
            vertex = super().solve()
            _, *others, level = vertex.primal
            return replace(vertex, primal=(1 - sum(others), *others, level))

    monkeypatch.setattr(maxmin, "LinearProgram", Generous)
    assert MECHANISMS["tsf"](cluster([[4]], [[1], [1]], most_tasks=[1, 2])).totals == (1, 2)


# ---- properties ------------------------------------------------------------------------------------------------------


def can_gain(instance: Cluster, totals: tuple[Fraction, ...]) -> bool:
    """Whether tasks that fit, and are wanted, give some user more and none less: a program in floats."""
    pairs, rows, bounds = loads(instance)
    users = np.array([[float(n == m) for n, _ in pairs] for m in range(len(totals))])
    least = np.array([float(x) for x in totals])
    solution = linprog(
        -users.sum(axis=0), A_ub=np.vstack([rows, -users]), b_ub=np.concatenate([bounds, -least * (1 - 1e-9)])
    )
    return bool(-solution.fun > least.sum() * (1 + 1e-7))


@pytest.mark.parametrize("seed", SEEDS)
def test_properties_by_their_definitions(seed: int) -> None:
    """Of shares by TSF, and of some part of them: what a user does not want is worth nothing to it."""
    instance = capped(seed)
    fair = MECHANISMS["tsf"](instance)
    for part in (Fraction(1), Fraction(2, 3)):
        tasks = [[x * part for x in row] for row in fair.tasks]
        allocation = given(instance, tasks)
        judged = judge_given(allocation)
        weights, verdicts = sum(instance.weights), judged.properties
        assert verdicts["pareto_optimality"].holds == (not can_gain(instance, allocation.totals))
        assert verdicts["sharing_incentive"].holds == all(
            x >= min(due for due in (user.weight / weights * sum(row), user.most_tasks) if due is not None)
            for x, user, row in zip(allocation.totals, instance.users, instance.monopoly, strict=True)
        )
        free = given(replace(instance, users=tuple(replace(u, most_tasks=None) for u in instance.users)), tasks)
        users = range(len(instance.users))
        for n, m in ((n, m) for n in users for m in users if n != m):
            wish = instance.users[n].most_tasks
            assert envy(allocation, n, m) == (envy(free, n, m) if wish is None else min(wish, envy(free, n, m)))
        document = fairness_certificate(judged)
        assert checker.check(document)["properties"] == {name: one.holds for name, one in verdicts.items()}


def test_everybody_has_what_it_wants() -> None:
    content = cluster([[4]], [[1], [1]], most_tasks=[1, 2])
    allocation = MECHANISMS["c-drfh"](content)
    assert allocation.totals == (1, 2)
    assert allocation.stages == ()
    assert checker.check(allocation_certificate(content, allocation))["tasks"] == {"u1": "1", "u2": "2"}
    judged = judge_given(given(content, allocation.tasks))
    assert all(one.holds for one in judged.properties.values())
    assert all(checker.check(fairness_certificate(judged))["properties"].values())
    assert all(distance(given(content, allocation.tasks), MECHANISMS[name]).fulfils for name in TAKE)


def test_more_tasks_than_wanted() -> None:
    """They are named, nothing is decided, and a tolerance takes the rest away."""
    instance = cluster([[4]], [[1], [1]], most_tasks=[1, None])
    judged = judge_given(given(instance, [[Fraction(5, 4)], [Fraction(2)]]))
    assert not judged.feasible
    assert [(one.user, one.part) for one in judged.unwanted] == [("u1", Fraction(1, 4))]
    assert infeasibility(instance, [[Fraction(5, 4)], [Fraction(2)]]) == "5/4 tasks of user u1, who wants 1"
    assert checker.check(fairness_certificate(judged))["unwanted"] == ["u1"]
    tolerated = judge_given(given(instance, [[Fraction(5, 4)], [Fraction(2)]]), Fraction(1, 4))
    assert tolerated.feasible
    assert tolerated.allocation.totals == (1, 2)


def test_no_lie_pays_under_drf() -> None:
    """Saying that one wants any number brings tasks that one does not want."""
    for seed in SEEDS:
        lie, tried = search_lies(MECHANISMS["drf"], capped(seed, servers=1), rounds=0)
        assert lie is None
        assert tried


# ---- who refuses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OTHERS)
def test_mechanisms_without_caps_refuse_them(name: str) -> None:
    with pytest.raises(InputError) as refusal:
        MECHANISMS[name](cluster([[4]], [[1], [1]], most_tasks=[1, 2]))
    assert str(refusal.value) == (
        f"shares by {name}: expected users without most_tasks, got most_tasks of u1 and 1 more"
        " (drf, c-drfh and tsf take it, as exact shares)"
    )


def test_what_knows_no_caps_refuses_them() -> None:
    instance = cluster([[4]], [[1], [1]], most_tasks=[1, None])
    tasks = [[Fraction(1)], [Fraction(3)]]
    for run in (
        lambda: cdrf(instance),
        lambda: numeric_max_min(instance, "tsf", 1e-6),
        lambda: max_min_violation(instance, tasks, "tsf", [np.ones((1, 1))]),
        lambda: ps_dsf_violation(instance, tasks),
        lambda: run_schedule(instance, Schedule((), Fraction(1))),
    ):
        with pytest.raises(InputError, match="expected users without most_tasks, got most_tasks of u1 "):
            run()


def test_a_file_has_the_caps_back() -> None:
    instance = cluster([[4]], [[1], [1]], most_tasks=["5/2", None])
    document = cluster_document(instance)
    assert document["user"][0]["most_tasks"] == "5/2"
    assert "most_tasks" not in document["user"][1]
    assert parse_cluster(document) == instance
    for bad in (0, -1, "five"):
        document["user"][0]["most_tasks"] = bad
        with pytest.raises(InputError, match=r"^cluster: user\[1\]\.most_tasks: expected a number"):
            parse_cluster(document)
