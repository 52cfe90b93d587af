"""Large clusters: turns against Algorithm I as printed, allocations and tolerances against the checkers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bounds import checker
from bounds.adversary.sharing import exact_rounds
from bounds.certificates.allocation import allocation_certificate
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import cycling_cluster
from bounds.results.packproof.sharing import totals_of_the_program
from theory.compiled import plain
from theory.sharing import filling, per_server
from theory.sharing.checks import is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.model import Cluster, User, occupation
from theory.sharing.per_server import numeric_ps_dsf, ps_dsf, ps_dsf_tdm
from theory.sharing.reduction import reduce
from theory.sharing.rounds import start
from theory.sharing.structure import Levels, Settled, exact_tasks, settle
from theory.sharing.turns import Turns

CHECKS = {"resource": is_ps_dsf, "time": is_ps_dsf_tdm}
SHARES = {"resource": ps_dsf, "time": ps_dsf_tdm}


def drawn(seed: int, most: int = 40) -> Cluster:
    """Draw a cluster: small integers (ties), zero demands, placement constraints, weights, counts."""
    generator = random.Random(seed)
    size = generator.randint(1, most), generator.randint(1, most // 2), generator.randint(1, 4)
    return random_cluster(generator, *size, largest=generator.choice([2, 6, 50]), counts=4)


@pytest.mark.parametrize("division", CHECKS)
@pytest.mark.parametrize("seed", range(30))
def test_certified(division: str, seed: int) -> None:
    instance = drawn(seed)
    allocation = SHARES[division](instance)
    assert allocation.exact
    assert CHECKS[division](instance, allocation.tasks)


@pytest.mark.parametrize("seed", range(30))
def test_time_division_is_that_of_the_convex_program(seed: int) -> None:
    instance = drawn(seed, 12)
    assert totals_of_the_program(instance) == pytest.approx([float(x) for x in ps_dsf_tdm(instance).totals], rel=1e-3)


@pytest.mark.slow
def test_a_large_cluster_by_the_public_names() -> None:
    instance = random_cluster(random.Random(7), 90, 30, 4, largest=50, counts=3)
    for mechanism in (ps_dsf, ps_dsf_tdm):
        allocation = mechanism(instance)
        assert checker.check(allocation_certificate(instance, allocation))["mechanism"] == allocation.mechanism
        assert allocation.rounds is not None


@pytest.mark.parametrize("seed", range(15))
def test_a_turn_is_the_inner_loop_of_algorithm_1(seed: int) -> None:
    """Both start from the same tasks; one runs the loop of the paper in rationals, the other fills up in floats."""
    table = occupation(random_cluster(random.Random(seed), 6, 4, 3, largest=9))
    printed, filled = start(table, exact=True), start(table, exact=False)
    for _ in range(3):
        assert filled.tasks == pytest.approx(printed.tasks.astype(float), abs=1e-9)
        printed.round()
        filled.round()


@pytest.mark.parametrize("seed", range(15))
def test_an_absent_user_gets_nothing_and_leaves_the_others_alone(seed: int) -> None:
    """A turn among the users who are present, in both arithmetics."""
    instance = random_cluster(random.Random(seed), 6, 3, 3, largest=9)
    present = np.arange(6) != seed % 6
    states = [start(occupation(instance), exact=exact) for exact in (True, False)]
    for state in states:
        state.totals = state.totals - state.tasks[seed % 6].sum() * ~present
        state.tasks[~present] = 0
        for i in range(3):
            state.serve(i, present)
    printed, filled = states
    assert not filled.tasks[~present].any()
    assert filled.tasks == pytest.approx(printed.tasks.astype(float), abs=1e-9)


def test_python_runs_the_same_path() -> None:
    arrays = []
    for run in (filling.rounds, plain(filling.rounds)):
        turns = Turns(reduce(random_cluster(random.Random(2), 12, 6, 3)), "resource")
        everybody = np.array([[0, 12]] * 6), np.arange(12)
        state = turns.shares, turns.per_task, turns._needs, turns._kind, turns.tasks, turns._bound, turns.level
        run(*state, 9, 0.75, *everybody)
        arrays.append(turns.tasks)
    assert (arrays[0] == arrays[1]).all()


def test_a_narrow_first_look_changes_nothing() -> None:
    """Users above the bound are not looked at; where that was wrong, a second look must find them."""
    made = []
    for bound in (np.inf, 1e-6):
        turns = Turns(reduce(random_cluster(random.Random(4), 30, 8, 3)), "resource")
        turns._bound[turns._bound > 0] = bound
        turns.run(5)
        made.append(turns.tasks)
    assert made[0] == pytest.approx(made[1], rel=1e-12)


def test_a_cycle_is_left_by_damping() -> None:
    instance = cycling_cluster()
    assert exact_rounds(instance, 4)[2] == exact_rounds(instance, 4)[4]
    allocation = ps_dsf(instance)
    assert allocation.exact
    assert allocation.damped


def alike(rows: list[tuple[tuple[Fraction, ...] | None, ...]]) -> list[tuple[int, Fraction]]:
    """Return of each row the first one that is a multiple of it, and the factor; None must be at the same places."""
    found: list[tuple[int, Fraction]] = []
    for row in rows:
        numbers = [x for part in row if part is not None for x in part]
        for place, other in enumerate(rows):
            others = [x for part in other if part is not None for x in part]
            if [part is None for part in row] == [part is None for part in other]:
                factor = next((x / y for x, y in zip(numbers, others, strict=True) if y), Fraction(1))
                if numbers == [factor * y for y in others]:
                    found.append((place, factor))
                    break
    return found


@pytest.mark.parametrize("seed", range(12))
def test_reduction_merges_what_is_proportional(seed: int) -> None:
    """By the shares that tasks take: users whose rows are proportional, then servers whose columns are."""
    generator = random.Random(seed)
    instance = random_cluster(generator, 8, 6, 2, largest=2, counts=3)
    made, table = reduce(instance), occupation(instance)
    users, servers = alike(list(table.shares)), alike(list(zip(*table.shares, strict=True)))
    assert made.eligible.shape == tuple(len({place for place, _ in groups}) for groups in (users, servers))
    for groups, merged in ((users, made.user), (servers, made.server)):
        assert len(set(zip(groups, merged, strict=True))) >= len({place for place, _ in groups})
        assert len({(a, b) for (a, _), (b, _) in zip(groups, merged, strict=True)}) == len({b for b, _ in merged})
    for (i, factor), (_, part) in zip(servers, made.server, strict=True):  # larger shares, smaller server
        assert part == made.server[i][1] / factor
    tasks = {(n, i): Fraction(n + 1, i + 2) for n, i in np.argwhere(made.eligible).tolist()}
    wide = made.expand(tasks)
    for i, j in enumerate(dict(made.server)):
        load = [sum(x * s for (n, k), x in tasks.items() if k == j for s in [made.share(n, j)[0]])]
        members = [place for place, (k, _) in enumerate(made.server) if k == j]
        used = sum(wide[n][p] * instance.use(n, p)[0] for n in range(len(wide)) for p in members)
        capacity = sum(instance.capacity[p][0] for p in members)
        assert used == load[0] * capacity, i


@pytest.mark.slow
def test_order_units_and_copies_do_not_matter() -> None:
    generator = random.Random(3)
    instance = random_cluster(generator, 60, 40, 3, largest=9, counts=2)
    totals = ps_dsf(instance).totals
    users = generator.sample(range(60), 60)
    servers = generator.sample(range(40), 40)
    turned = Cluster(
        instance.resources, tuple(instance.servers[i] for i in servers), tuple(instance.users[n] for n in users)
    )
    assert [*ps_dsf(turned).totals] == [totals[n] for n in users]
    unit = Fraction(7, 3)
    scaled = Cluster(
        instance.resources,
        tuple(replace(s, capacity=(s.capacity[0] * unit, *s.capacity[1:])) for s in instance.servers),
        tuple(replace(u, demand=(u.demand[0] * unit, *u.demand[1:])) for u in instance.users),
    )
    assert ps_dsf(scaled).totals == totals
    half = [replace(user, weight=user.weight / 2) for user in instance.users]
    split = replace(instance, users=(*half, *(replace(user, name=f"{user.name}'") for user in half)))
    assert [2 * x for x in ps_dsf(split).totals[:60]] == list(totals)


def test_effective_capacities() -> None:
    base = random_cluster(random.Random(5), 25, 12, 2, zeros=0, placement=0)
    users = tuple(
        User(
            user.name,
            user.demand,
            user.weight,
            effective={
                base.servers[n % 12].name: tuple(c * Fraction(3, 2 + n % 3) for c in base.servers[n % 12].capacity)
            },
        )
        for n, user in enumerate(base.users)
    )
    instance = replace(base, users=users)
    for division, check in CHECKS.items():
        allocation = SHARES[division](instance)
        assert allocation.exact
        assert check(instance, allocation.tasks)
        checker.check(allocation_certificate(instance, allocation))


@pytest.mark.parametrize("division", CHECKS)
def test_numeric_allocations_keep_their_tolerance(division: str) -> None:
    """Feasible exactly; the condition of the theorem, evaluated in rationals, holds up to the stated tolerance."""
    instance = random_cluster(random.Random(8), 80, 25, 3, largest=50)
    allocation = numeric_ps_dsf(instance, division, 1e-2)
    assert not allocation.exact
    assert allocation.violation is not None
    assert allocation.violation.overload == 0
    assert 1e-9 < allocation.violation.value <= 1e-2
    assert is_feasible_allocation(instance, allocation.tasks, division=division)
    assert exact_distance(instance, allocation.tasks, division) <= Fraction(allocation.violation.value)
    assert exact_distance(instance, allocation.tasks, division) > Fraction(allocation.violation.value) * (
        1 - Fraction(1, 2**30)
    )


def exact_distance(instance: Cluster, tasks: tuple[tuple[Fraction, ...], ...], division: str) -> Fraction:
    """Return the least eps for which every user has a bottleneck up to eps everywhere, from the definition."""
    totals = [sum(row) for row in tasks]
    worst = Fraction(0)
    for i, capacity in enumerate(instance.capacity):
        eligible = [n for n in range(len(totals)) if instance.monopoly[n][i]]
        level = {n: totals[n] / instance.monopoly[n][i] / instance.weights[n] for n in eligible}
        needs = {
            n: [1 / instance.monopoly[n][i]]
            if division == "time"
            else [u / c if u else 0 for u, c in zip(instance.use(n, i), capacity, strict=True)]
            for n in eligible
        }
        width = len(next(iter(needs.values()), []))
        loads = [sum(tasks[n][i] * needs[n][r] for n in eligible) for r in range(width)]
        tops = [max((level[n] for n in eligible if tasks[n][i] and needs[n][r]), default=0) for r in range(width)]
        for n in eligible:
            worst = max(worst, min(max(1 - loads[r], tops[r] / level[n] - 1) for r in range(width) if needs[n][r]))
    return worst


@pytest.mark.slow
def test_a_wrong_finish_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: exact tasks that are a little off are refused, and the allocation is not called exact."""

    def off(turns: Turns, settled: Settled) -> Iterator[dict[tuple[int, int], Fraction]]:
        for tasks in exact_tasks(turns, settled):
            pair = max(tasks)
            yield {**tasks, pair: tasks[pair] * Fraction(999_999, 1_000_000)}

    instance = drawn(17)
    assert ps_dsf(instance, rounds=100).exact
    monkeypatch.setattr(per_server, "exact_tasks", off)
    allocation = ps_dsf(instance, rounds=100)
    assert not allocation.exact
    assert is_feasible_allocation(instance, allocation.tasks)


def test_a_false_tie_is_refused() -> None:
    levels = Levels()
    assert levels.tie((0, 0), Fraction(2), (1, 0))
    assert levels.tie((1, 0), Fraction(3), (2, 1))
    assert levels.tie((0, 0), Fraction(6), (2, 1))
    assert not levels.tie((2, 1), Fraction(1, 5), (0, 0))


def test_settled_tasks_are_fair_and_those_of_few_rounds_are_not() -> None:
    turns = Turns(reduce(drawn(17)), "resource")
    turns.run(3)
    assert turns.distance(turns.tasks) > 1e-3
    turns.run(2000)
    settled = settle(turns)
    assert settled is not None
    assert turns.distance(settled.tasks) < 1e-9


def test_loads_count_in_the_distance() -> None:
    turns = Turns(reduce(drawn(17)), "resource")
    turns.run(2000)
    settled = settle(turns)
    assert settled is not None
    assert turns.distance(settled.tasks * 0.75) == pytest.approx(0.25, abs=1e-6)
    assert turns.distance(settled.tasks * 1.125) == pytest.approx(0.125, abs=1e-6)
