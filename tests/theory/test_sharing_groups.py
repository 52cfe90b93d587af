"""Groups of users: hierarchical DRF against its authors' scheduler, its theorems, and who refuses groups."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bounds import checker
from bounds.adversary.documents import shape_of
from bounds.certificates import allocation_certificate, fairness_certificate
from fluid.limits.sharing import Schedule, run_schedule
from tests.reference.hierarchical_shares import Tree
from theory.errors import InputError
from theory.files.clusters import cluster_document, parse_cluster
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.dominant import drf
from theory.sharing.group_checks import is_hierarchical_drf
from theory.sharing.groups import group_shares
from theory.sharing.judgement import distance, given, judge_given
from theory.sharing.levels import max_min_violation
from theory.sharing.maxmin import c_drfh, cdrf, tsf
from theory.sharing.mechanisms import MECHANISMS, is_certified
from theory.sharing.model import Cluster, Group, ServerClass, cluster
from theory.sharing.numeric_levels import numeric_max_min
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm
from theory.sharing.properties import WITH_GROUPS, decide, worst_envy
from theory.sharing.strategy import search_lies
from theory.sharing.violation import ps_dsf_violation

SEEDS = range(60)


def drawn(seed: int, *, caps: float = 0.3) -> Cluster:
    """Draw one server, users of whom some are in up to three groups, and a part of them with caps."""
    rng = random.Random(seed)
    users, width = rng.randint(2, 6), rng.randint(1, 4)
    demands = [[rng.choice([0, 0, 1, 1, 2, 3, 5]) for _ in range(width)] for _ in range(users)]
    for demand in demands:
        demand[rng.randrange(width)] += not any(demand)
    names = [rng.choice([None, "a", "b", "c"]) for _ in range(users)]
    return cluster(
        [[rng.choice([6, 10, 12, 30]) for _ in range(width)]],
        demands,
        weights=[rng.randint(1, 3) for _ in range(users)],
        groups=["a", *names[1:]],
        group_weights={name: rng.randint(1, 3) for name in {"a", *names[1:]} if name},
        most_tasks=[Fraction(rng.randint(1, 12), 4) if rng.random() < caps else None for _ in range(users)],
    )


def flat(grouped: Cluster) -> Cluster:
    """Return a cluster without its groups."""
    return replace(grouped, users=tuple(replace(user, group=None) for user in grouped.users), groups=())


# ---- the definition --------------------------------------------------------------------------------------------------


def test_users_of_unlike_demands_do_not_starve() -> None:
    """Of the two examples of the paper, this one starves a user where a group counts what its other user has."""
    assert drf(cluster([[10, 10]], [[0, 1], [1, 0], [0, 1]], groups=[None, "g", "g"])).totals == (5, 10, 5)


def test_blocked_users_do_not_lend_their_share() -> None:
    """The other example: CPUs are gone at a third each, then the GPUs are divided equally between two groups."""
    names = [None, None, "g", "g", None]
    demands = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]]
    assert drf(cluster([[6, 6]], demands, groups=names)).totals == (2, 2, 2, 3, 3)


def test_what_blocked_users_hold_counts_unless_it_is_saturated() -> None:
    """CPUs are gone when the levels are 2/3; g still holds 2/3 of a third resource, h has only 2/5 of the disk.

    So h has the 2/15 of the disk that are left, although g has less of it.
    """
    demands = [[1, 2, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 1]]
    grouped = cluster(
        [[30, 30, 30]],
        demands,
        weights=[1, "1/5", 1, "3/5", "1/2"],
        groups=["g", "g", "h", "h", None],
    )
    assert drf(grouped).totals == (10, 4, 20, 16, 10)
    assert is_hierarchical_drf(grouped, [[x] for x in (10, 4, 20, 16, 10)])
    assert not is_hierarchical_drf(grouped, [[x] for x in (10, 8, 20, 12, 10)])


def test_of_groups_that_are_equally_low_the_one_with_less_of_what_it_takes_rises() -> None:
    """What the paper leaves open: g and h are both at 1/2 by what their blocked users hold of two resources."""
    demands = [[1, 2, 0, 0], [0, 0, 0, 1], [1, 0, 2, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]]
    grouped = cluster(
        [[8, 8, 8, 8]], demands, weights=[1, "1/4", 1, "1/2", 1, 1], groups=["g", "g", "h", "h", None, None]
    )
    assert drf(grouped).totals == (2, 2, 2, 2, 4, 4)
    assert is_hierarchical_drf(grouped, [[Fraction(x)] for x in (2, 2, 2, 2, 4, 4)])
    assert not is_hierarchical_drf(grouped, [[Fraction(x)] for x in (2, 1, 2, 3, 4, 4)])


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_are_those_of_the_scheduler(seed: int) -> None:
    """Of tasks of 1/200 of a dominant resource, the scheduler gives every user the same but for two."""
    grouped = drawn(seed)
    given_out = Tree(grouped, 200).fill()
    for x, near, row in zip(drf(grouped).totals, given_out, grouped.monopoly, strict=True):
        assert abs(float(x) - near) <= 2 / 200 * float(row[0])


def is_accepted(grouped: Cluster, allocation: Allocation) -> bool:
    """Whether the checker of certificates accepts an allocation as DRF."""
    try:
        checker.check(allocation_certificate(grouped, allocation))
    except checker.Refused:
        return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_the_checks_take_these_shares_and_no_others(seed: int) -> None:
    grouped, rng = drawn(seed), random.Random(seed)
    allocation = drf(grouped)
    assert is_certified(allocation)
    assert is_accepted(grouped, allocation)
    for _ in range(5):
        part, n = Fraction(rng.choice([0, 8, 9, 11, 12]), 10), rng.randrange(len(grouped.users))
        tasks = [[x * part if m == n else x for x in row] for m, row in enumerate(allocation.tasks)]
        assert not is_hierarchical_drf(grouped, tasks)
        assert not is_accepted(grouped, replace(allocation, tasks=tuple(map(tuple, tasks))))
    alone = drf(flat(grouped))
    if alone.totals != allocation.totals:
        assert not is_hierarchical_drf(grouped, alone.tasks)
        assert not is_accepted(grouped, replace(allocation, tasks=alone.tasks))


def test_the_clusters_drawn_are_of_all_kinds() -> None:
    """Groups matter in many of them; users are at caps; what a group holds of most is gone, and it goes on."""
    matters = at_cap = beyond = 0
    for seed in SEEDS:
        grouped = drawn(seed)
        allocation = drf(grouped)
        matters += allocation.totals != drf(flat(grouped)).totals
        at_cap += any(user.is_at_cap(x) for user, x in zip(grouped.users, allocation.totals, strict=True))
        levels = {one.share / one.weight for one in group_shares(allocation)}
        beyond += len(levels) > 1
    assert min(matters, at_cap, beyond) >= 20, (matters, at_cap, beyond)


# ---- theorems --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_one_user_and_one_group_of_all_are_flat(seed: int) -> None:
    plain = flat(drawn(seed))
    names = [f"g{n}" for n in range(len(plain.users))]
    alone = replace(
        plain,
        users=tuple(
            replace(user, group=name, weight=Fraction(7)) for user, name in zip(plain.users, names, strict=True)
        ),
        groups=tuple(Group(name, user.weight) for user, name in zip(plain.users, names, strict=True)),
    )
    together = replace(
        plain, users=tuple(replace(user, group="all") for user in plain.users), groups=(Group("all", Fraction(3)),)
    )
    totals = drf(plain).totals
    assert is_ps_dsf(plain, drf(plain).tasks)
    for grouped in (alone, together):
        assert drf(grouped).totals == totals
        assert is_hierarchical_drf(grouped, drf(plain).tasks)


@pytest.mark.parametrize("seed", SEEDS)
def test_units_of_weights_and_orders_change_nothing(seed: int) -> None:
    grouped, rng = drawn(seed), random.Random(seed)
    unit = {group.name: Fraction(rng.randint(1, 9), 7) for group in grouped.groups}
    users = [
        replace(user, weight=user.weight * (Fraction(5, 3) if user.group is None else unit[user.group]))
        for user in grouped.users
    ]
    groups = [replace(group, weight=group.weight * Fraction(5, 3)) for group in grouped.groups]
    expected = dict(zip([user.name for user in users], drf(grouped).totals, strict=True))
    rng.shuffle(users)
    rng.shuffle(groups)
    same = replace(grouped, users=tuple(users), groups=tuple(groups))
    assert drf(same).totals == tuple(expected[user.name] for user in users)


@pytest.mark.parametrize("seed", SEEDS)
def test_halves_of_a_user_and_of_a_group(seed: int) -> None:
    """Two halves of a user in its group, or of a group with all its users, change nothing for anybody else."""
    grouped = drawn(seed)
    first, *rest = grouped.users
    cap = None if first.most_tasks is None else first.most_tasks / 2
    both = tuple(replace(first, name=half, weight=first.weight / 2, most_tasks=cap) for half in ("x", "y"))
    one, other, *others = drf(replace(grouped, users=(*both, *rest))).totals
    assert (one + other, *others) == drf(grouped).totals
    assert one == other
    split = [user for user in grouped.users if user.group == "a"]
    halves = [
        replace(user, name=user.name + half, group=half, most_tasks=user.most_tasks and user.most_tasks / 2)
        for user in split
        for half in ("x", "y")
    ]
    apart = [user for user in grouped.users if user.group != "a"]
    (weight,) = (group.weight for group in grouped.groups if group.name == "a")
    groups = (*(group for group in grouped.groups if group.name != "a"), Group("x", weight / 2), Group("y", weight / 2))
    totals = drf(replace(grouped, users=(*apart, *halves), groups=groups)).totals
    expected = dict(zip([user.name for user in grouped.users], drf(grouped).totals, strict=True))
    assert totals == (*(expected[user.name] for user in apart), *(expected[u.name] / 2 for u in split for _ in "xy"))


@pytest.mark.parametrize("seed", SEEDS)
def test_users_of_proportional_demands_are_one_for_the_others(seed: int) -> None:
    """A group of them without caps is, to everybody else, a user of the weight of the group."""
    rng = random.Random(seed)
    others = drawn(seed)
    demand = others.users[-1].demand
    sizes = [Fraction(rng.randint(1, 5), 3) for _ in range(3)]
    like = [
        replace(
            others.users[-1],
            name=f"like{k}",
            demand=tuple(size * d for d in demand),
            weight=Fraction(rng.randint(1, 5)),
            group="like",
            most_tasks=None,
        )
        for k, size in enumerate(sizes)
    ]
    groups = (*others.groups, Group("like", Fraction(2)))
    alone = replace(like[0], demand=demand, group=None, weight=Fraction(2))
    *before, one = drf(replace(others, users=(*others.users, alone))).totals
    totals = drf(replace(others, users=(*others.users, *like), groups=groups)).totals
    assert totals[:-3] == tuple(before)
    assert sum(size * x for size, x in zip(sizes, totals[-3:], strict=True)) == one


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_gains_unless_another_loses(seed: int) -> None:
    """Every user has what it wants, or demands a resource that is saturated."""
    grouped = drawn(seed)
    allocation = drf(grouped)
    assert is_feasible_allocation(grouped, allocation.tasks)
    full = [allocation.utilisation(0, r) == 1 for r in range(len(grouped.resources))]
    for user, x in zip(grouped.users, allocation.totals, strict=True):
        assert user.is_at_cap(x) or any(d and gone for d, gone in zip(user.demand, full, strict=True))
    assert decide(allocation)["pareto_optimality"].holds


def fits_strictly(grouped: Cluster, allocation: Allocation, users: tuple[int, ...], part: Fraction) -> bool:
    """Whether what some users hold is less of each resource than a part of the cluster: by the definition alone."""
    held = [
        sum(allocation.totals[n] * grouped.users[n].demand[r] for n in users) for r in range(len(grouped.resources))
    ]
    return all(amount < part * c for amount, c in zip(held, grouped.capacity[0], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_incentive_of_groups(seed: int) -> None:
    """A group whose users want more holds its part of some resource; of fewer tasks the property says who does not."""
    grouped = drawn(seed)
    weights = sum(group.weight for group, _ in grouped.members)
    fair = drf(grouped)
    assert decide(fair)["sharing_incentive"].holds
    for part in (Fraction(1), Fraction(3, 4), Fraction(1, 3)):
        allocation = given(grouped, [[x * part for x in row] for row in fair.tasks])
        below = {
            group.name
            for group, users in grouped.members
            if fits_strictly(grouped, allocation, users, group.weight / weights)
            and not all(grouped.users[n].is_at_cap(allocation.totals[n]) for n in users)
        }
        found = decide(allocation)["sharing_incentive"]
        assert found.holds == (not below)
        if found.witness:
            assert found.witness["group"] in below


@pytest.mark.parametrize("seed", SEEDS)
def test_no_user_envies_another_one_of_its_group(seed: int) -> None:
    grouped = drawn(seed)
    allocation = drf(grouped)
    for _, users in grouped.members:
        inside = replace(
            flat(grouped), users=tuple(replace(grouped.users[n], group=None) for n in users)
        )  # what they hold, in the cluster of them alone
        assert worst_envy(given(inside, [allocation.tasks[n] for n in users])) is None


def test_a_user_may_have_less_than_in_its_groups_own_part() -> None:
    """No theorem: in half of the pool u1 would run 3/5 tasks, beside another group it runs 12/25."""
    demands, weights = [[5, 0], [0, 1], [5, 2]], [2, 3, 1]
    grouped = cluster([[6, 12]], demands, weights=weights, groups=["g", "g", None])
    part = cluster([[3, 6]], demands[:2], weights=weights[:2])
    assert drf(part).totals[0] == Fraction(3, 5)
    assert drf(grouped).totals[0] == Fraction(12, 25)


def test_a_lie_can_pay() -> None:
    """No theorem: the second user raises the share of its group, which blocks its companion earlier; worked by hand."""
    honest = cluster([[12, 12, 12]], [[1, 1, 4], [4, 0, 1], [0, 1, 0]], groups=["g", "g", None])
    lying = honest.with_user(1, replace(honest.users[1], demand=(Fraction(4), Fraction(0), Fraction(2))))
    assert drf(honest).totals == (2, Fraction(5, 2), 10)
    assert drf(lying).totals == (Fraction(12, 7), Fraction(18, 7), Fraction(72, 7))
    lie, _ = search_lies(drf, honest, rounds=0)
    assert lie is not None
    assert (lie.user, lie.lying) == (1, Fraction(18, 7))
    for one in (honest, lying):
        assert is_certified(drf(one))
        for x, near in zip(drf(one).totals, Tree(one, 600).fill(), strict=True):
            assert abs(float(x) - near) < 2 / 600 * 12


# ---- judgements, and who refuses -------------------------------------------------------------------------------------


def test_an_allocation_of_anybodys() -> None:
    """Of groups two properties are decided, the others say why not, and DRF alone is compared."""
    grouped = cluster([[10, 10]], [[0, 1], [1, 0], [0, 1]], groups=[None, "g", "g"])
    judged = judge_given(given(grouped, [[Fraction(4)], [Fraction(10)], [Fraction(6)]]))
    verdicts = judged.properties
    assert {name for name, one in verdicts.items() if one.holds is not None} == WITH_GROUPS
    assert verdicts["sharing_incentive"].witness == {"group": "u1", "share": "2/5", "due": "1/2"}
    assert judged.gaps == {"sharing_incentive": Fraction(1, 5), "pareto_optimality": 0}
    assert verdicts["pareto_optimality"].holds
    assert all("not defined with groups" in verdicts[name].witness["note"] for name in verdicts.keys() - WITH_GROUPS)
    assert judged.envious == ()
    assert judge_given(judged.allocation, Fraction(1, 4)).properties["sharing_incentive"].holds
    assert distance(judged.allocation, MECHANISMS["drf"]).part == Fraction(1, 10)
    assert distance(given(grouped, [[Fraction(x)] for x in (5, 10, 5)]), MECHANISMS["drf"]).fulfils


def test_users_have_parts_of_the_weights_of_their_groups() -> None:
    grouped = cluster(
        [[4]], [[1]] * 4, weights=[1, 3, 5, 2], groups=["g", "g", "h", None], group_weights={"g": 2, "h": 6}
    )
    assert grouped.overall_weights == (Fraction(1, 2), Fraction(3, 2), 6, 2)
    assert drf(grouped).totals == tuple(Fraction(4) * w / 10 for w in grouped.overall_weights)
    assert set(drf(grouped).shares) == {Fraction(1, 10)}


GROUPED = cluster([[4]], [[1], [1]], groups=["g", "h"])
TASKS = [[Fraction(1)], [Fraction(3)]]


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "drf"])
def test_other_mechanisms_refuse_groups(name: str) -> None:
    with pytest.raises(InputError) as refusal:
        MECHANISMS[name](GROUPED)
    assert str(refusal.value) == (
        f"shares by {name}: expected users without group, got group g and 1 more (drf takes them, as exact shares)"
    )


@pytest.mark.parametrize(
    "run",
    [
        lambda: c_drfh(GROUPED),
        lambda: cdrf(GROUPED),
        lambda: tsf(GROUPED),
        lambda: ps_dsf(GROUPED),
        lambda: ps_dsf_tdm(GROUPED),
        lambda: numeric_max_min(GROUPED, "tsf", 1e-6),
        lambda: max_min_violation(GROUPED, TASKS, "tsf", [np.ones((1, 1))]),
        lambda: ps_dsf_violation(GROUPED, TASKS),
        lambda: is_ps_dsf(GROUPED, TASKS),
        lambda: is_ps_dsf_tdm(GROUPED, TASKS),
        lambda: run_schedule(GROUPED, Schedule((), Fraction(1))),
        lambda: worst_envy(given(GROUPED, TASKS)),
        lambda: shape_of(GROUPED),
        lambda: fairness_certificate(judge_given(given(GROUPED, TASKS))),
    ],
)
def test_what_knows_no_groups_refuses_them(run: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="expected users without group, got group g and 1 more "):
        run()


def test_groups_that_are_none() -> None:
    with pytest.raises(InputError, match="group_weights: expected names of groups that users are in, got h"):
        cluster([[4]], [[1]], groups=["g"], group_weights={"h": 2})
    stray = replace(GROUPED, groups=GROUPED.groups[:1])
    with pytest.raises(InputError, match="user u2: expected a group of the cluster, got h"):
        drf(stray)


def test_pooled_servers_keep_groups() -> None:
    two = replace(GROUPED, servers=(ServerClass("a", (Fraction(4),)), ServerClass("b", (Fraction(2),), 3)))
    assert drf(two).totals == (5, 5)
    assert drf(two).cluster.groups == GROUPED.groups


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_has_the_groups_back() -> None:
    grouped = cluster([[4]], [[1], [1], [1]], groups=["g", None, "h"], group_weights={"h": "5/2"})
    document = cluster_document(grouped)
    assert document["group"] == [{"name": "g", "weight": "1"}, {"name": "h", "weight": "5/2"}]
    assert [user.get("group") for user in document["user"]] == ["g", None, "h"]
    assert parse_cluster(document) == grouped
    assert "group" not in cluster_document(flat(grouped))


@pytest.mark.parametrize(
    ("group", "users", "line"),
    [
        ([], ["g"], "cluster: group: expected at least one table [[group]]"),
        (
            None,
            ["g"],
            "cluster: user[1].group: expected a group that a table [[group]] of this file describes, got 'g'",
        ),
        ([{"name": "g"}], ["g", "h"], "cluster: user[2].group: expected a group of this file (g), got 'h'"),
        ([{"name": "g"}, {"name": "h"}], ["g"], "cluster: group[2].name: expected a group that users are in, got 'h'"),
        ([{"name": "g"}] * 2, ["g"], "cluster: group[2].name: expected a name of its own, got 'g' again"),
        (
            [{"name": "u2"}],
            ["u2", None],
            "cluster: user[2].name: expected a name that no group has, as this user is in",
        ),
        ([{"name": "g", "weight": 0}], ["g"], "cluster: group[1].weight: expected a number greater than 0, got 0"),
        ([{"name": "g", "size": 1}], ["g"], "cluster: group[1].size: "),
        ([{"name": "g"}], [7], "cluster: user[1].group: expected the name of a group, got 7"),
    ],
)
def test_bad_groups_are_one_line(group: object, users: list[object], line: str) -> None:
    tables = [
        {"name": f"u{n}", "demand": {"cpu": 1}} | ({} if name is None else {"group": name})
        for n, name in enumerate(users, 1)
    ]
    document = {"server": {"name": "A", "capacity": {"cpu": 4}}, "user": tables}
    with pytest.raises(InputError) as refusal:
        parse_cluster(document | ({} if group is None else {"group": group}))
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)
