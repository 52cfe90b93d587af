"""Numeric shares: the violation against its definition in rationals, agreement with exact shares, units and order."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import cycling_cluster
from tests.theory.test_sharing_large import CHECKS, SHARES, drawn, exact_distance
from theory.errors import InputError
from theory.sharing import per_server
from theory.sharing.allocation import feasible_decimals
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.model import Cluster, Matrix, cluster, eligibility
from theory.sharing.per_server import numeric_ps_dsf
from theory.sharing.reduction import reduce
from theory.sharing.turns import WIDE, Turns
from theory.sharing.violation import ROUNDING, ps_dsf_violation

ABOVE = Fraction(2 * ROUNDING)
"""What the violation may exceed its exact value by, relative to 1 plus that value."""


def value_of(instance: Cluster, tasks: Matrix, division: str) -> float:
    return ps_dsf_violation(instance, tasks, division).value


def with_effective(instance: Cluster) -> Cluster:
    """Give every second user a capacity of its own of the first server, for what it demands and the server has."""
    first = instance.servers[0]
    own = tuple(c * Fraction(3, 2 + r) for r, c in enumerate(first.capacity))
    users = [replace(u, effective={first.name: own}) if n % 2 else u for n, u in enumerate(instance.users)]
    return replace(instance, users=tuple(users))


@pytest.mark.parametrize("division", CHECKS)
@pytest.mark.parametrize("seed", range(12))
def test_the_violation_is_that_of_the_definition(division: str, seed: int) -> None:
    """On feasible tasks far from and near to fair ones: an upper bound, and above by rounding only."""
    generator = random.Random(seed)
    instance = drawn(seed, 12)
    instance = with_effective(instance) if seed % 2 else instance
    may = eligibility(instance)
    tasks = [
        [Fraction(generator.randint(0, 3) * generator.randint(0, 1)) if can else Fraction(0) for can in row]
        for row in may
    ]
    for n, row in enumerate(tasks):  # a user without tasks is infinitely far
        row[int(np.argmax(may[n]))] += 1
    found = ps_dsf_violation(instance, feasible_decimals(instance, tasks, division), division)
    least = exact_distance(instance, feasible_decimals(instance, tasks, division), division)
    assert found.overload == 0
    assert least <= Fraction(found.bottleneck) <= least + ABOVE * (1 + least)


@pytest.mark.parametrize("seed", range(8))
def test_eligibility_is_a_positive_monopoly(seed: int) -> None:
    instance = with_effective(drawn(seed, 12))
    assert eligibility(instance).tolist() == [[gamma > 0 for gamma in row] for row in instance.monopoly]


@pytest.mark.parametrize("division", CHECKS)
@pytest.mark.parametrize("seed", range(20))
def test_exact_shares_have_no_violation_and_perturbed_ones_do(division: str, seed: int) -> None:
    """Negative control: tasks that are taken away, added or moved exceed the tolerance that exact shares keep."""
    instance = drawn(seed, 16)
    tasks = [list(row) for row in SHARES[division](instance).tasks]
    assert value_of(instance, tasks, division) < 1e-13
    assert ps_dsf_violation(instance, tasks, division).overload == 0
    n, i = max(
        ((n, i) for n, row in enumerate(tasks) for i, x in enumerate(row) if x), key=lambda at: tasks[at[0]][at[1]]
    )
    for factor in (Fraction(999, 1000), Fraction(1001, 1000)):
        moved = [list(row) for row in tasks]
        moved[n][i] *= factor
        assert value_of(instance, moved, division) > 1e-6
    more = ps_dsf_violation(instance, [[x * Fraction(1001, 1000) for x in row] for row in tasks], division)
    assert Fraction(more.overload) >= Fraction(1, 1000)
    assert more.overload == pytest.approx(1e-3)


def test_what_no_tolerance_excuses() -> None:
    instance = cluster([[4, 0], [4, 4]], [[1, 1], [1, 0]])
    negative = ps_dsf_violation(instance, [[0, Fraction(4)], [Fraction(4), Fraction(-1)]])
    assert negative.value == inf
    assert negative.reason == "-1 tasks of 'u2' on 's2', expected 0 or more"
    barred = ps_dsf_violation(instance, [[Fraction(1), Fraction(3)], [Fraction(3), 0]])
    assert barred.value == inf
    assert barred.reason == "1 tasks of 'u1' on 's1', where that user can run none"
    nothing = ps_dsf_violation(cluster([[4]], [[1], [1]]), [[Fraction(0)], [Fraction(4)]])
    assert (nothing.value, nothing.user, nothing.server) == (inf, "u1", "s1")


def test_quantities_that_floats_do_not_hold_are_refused() -> None:
    instance = cluster([[Fraction(10) ** 400, 1]], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match="within a factor of 1e75"):
        ps_dsf_violation(instance, [[1], [1]])


@pytest.mark.parametrize("division", CHECKS)
@pytest.mark.parametrize("seed", range(20))
def test_numeric_shares_are_near_the_exact_ones(division: str, seed: int) -> None:
    """Where shares are unique (time division) the totals agree; under both, the tolerance is kept, and feasibility."""
    instance = drawn(seed)
    found = numeric_ps_dsf(instance, division, 1e-10)
    assert found.violation is not None
    assert found.violation.value <= 1e-10
    assert not found.exact
    assert is_feasible_allocation(instance, found.tasks, division=division)
    assert exact_distance(instance, found.tasks, division) <= Fraction(1e-10)
    assert all(x == Fraction(repr(float(x))) for row in found.tasks for x in row), "what JSON shows is what was checked"
    if division == "time":
        exact = SHARES[division](instance)
        assert [float(x) for x in found.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-8)


def test_middle_clusters() -> None:
    instance = random_cluster(random.Random(3), 200, 40, 4, largest=50)
    exact = SHARES["time"](instance)
    found = numeric_ps_dsf(instance, "time", 1e-9)
    assert [float(x) for x in found.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-7)
    assert found.violation == ps_dsf_violation(instance, found.tasks, "time")


@pytest.mark.slow
def test_units_and_order_do_not_matter() -> None:
    generator = random.Random(3)
    instance = random_cluster(generator, 60, 40, 3, largest=9, counts=2)
    totals = [float(x) for x in numeric_ps_dsf(instance, "resource", 1e-9).totals]
    users = generator.sample(range(60), 60)
    servers = generator.sample(range(40), 40)
    turned = Cluster(
        instance.resources, tuple(instance.servers[i] for i in servers), tuple(instance.users[n] for n in users)
    )
    assert [float(x) for x in numeric_ps_dsf(turned, "resource", 1e-9).totals] == pytest.approx(
        [totals[n] for n in users]
    )
    unit = Fraction(7, 3)
    scaled = Cluster(
        instance.resources,
        tuple(replace(s, capacity=(s.capacity[0] * unit, *s.capacity[1:])) for s in instance.servers),
        tuple(replace(u, demand=(u.demand[0] * unit, *u.demand[1:])) for u in instance.users),
    )
    assert [float(x) for x in numeric_ps_dsf(scaled, "resource", 1e-9).totals] == pytest.approx(totals)
    tasks = numeric_ps_dsf(instance, "resource", 1e-3).tasks
    before, after = ps_dsf_violation(instance, tasks), ps_dsf_violation(scaled, tasks)
    assert before.value == pytest.approx(after.value, abs=1e-13)
    mixed = tuple(tuple(tasks[n][i] for i in servers) for n in users)
    assert ps_dsf_violation(turned, mixed).value == pytest.approx(before.value, abs=1e-13)


def test_a_cycle_is_left() -> None:
    found = numeric_ps_dsf(cycling_cluster(), "resource", 1e-9)
    assert found.violation is not None
    assert found.violation.value <= 1e-9


def test_rounds_that_do_not_suffice_are_told() -> None:
    """Negative control: the violation of what few rounds give is above the tolerance, and is the one stated."""
    instance = random_cluster(random.Random(8), 80, 25, 3, largest=50)
    found = numeric_ps_dsf(instance, "resource", 1e-12, rounds=3)
    assert found.violation is not None
    assert found.violation.value > 1e-3
    assert not found.interrupted
    assert is_feasible_allocation(instance, found.tasks)


def test_an_interrupt_gives_the_nearest_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_cluster(random.Random(8), 80, 25, 3, largest=50)
    monkeypatch.setattr(per_server, "settle", lambda _: None)  # so that the rounds do not end before
    said: list[str] = []

    def interrupt(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            raise KeyboardInterrupt

    found = numeric_ps_dsf(instance, "resource", 1e-12, say=interrupt)
    assert found.interrupted
    assert found.violation is not None
    assert 1e-12 < found.violation.value < 1
    assert found.rounds == 128


def test_an_interrupt_before_the_first_look_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(Turns, "run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        numeric_ps_dsf(drawn(3), "resource", 1e-9)


def test_compiled_code_is_left_between_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is noticed between calls; how many rounds a call runs changes nothing."""
    instance = random_cluster(random.Random(4), 30, 8, 3)
    found = [numeric_ps_dsf(instance, "resource", 1e-9).tasks]
    monkeypatch.setattr("theory.sharing.turns.AT_ONCE", 1)
    found.append(numeric_ps_dsf(instance, "resource", 1e-9).tasks)
    assert found[0] == found[1]


@pytest.mark.parametrize("division", CHECKS)
@pytest.mark.parametrize("seed", range(10))
def test_looking_at_near_users_gives_shares_as_good(division: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done for the largest clusters only, here for small ones."""
    monkeypatch.setattr("theory.sharing.turns.NEAR_PAIRS", 0)
    instance = drawn(seed)
    found = numeric_ps_dsf(instance, division, 1e-10)
    assert found.violation is not None
    assert found.violation.value <= 1e-10
    if division == "time":
        exact = SHARES[division](instance)
        assert [float(x) for x in found.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_users_that_are_near(seed: int) -> None:
    """Those with tasks at a server, and those who stand below the bound elsewhere; rounds among them end alike."""
    turns = Turns(reduce(random_cluster(random.Random(seed), 40, 12, 3, largest=50)), "resource")
    turns.run(50)
    first, users = turns._near()
    totals = turns.tasks.sum(axis=0)
    left_out = 0
    for i, (begin, end) in enumerate(first):
        bound = turns._bound[i, turns._kind]
        below = (totals - turns.tasks[i]) * turns.per_task[i] < WIDE * bound
        assert (
            users[begin:end].tolist()
            == np.flatnonzero((turns.tasks[i] > 0) | (below & (turns.per_task[i] > 0))).tolist()
        )
        left_out += 40 - (end - begin)
    assert left_out > 0
    others = Turns(turns.reduced, "resource")
    others.tasks[:], others._bound[:] = turns.tasks, turns._bound
    turns.run(1)
    others._rounds_among((first, users), 1, 1.0)
    assert others.tasks == pytest.approx(turns.tasks, rel=1e-12)


def test_a_distance_in_floats_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: were the rounds ten times as far as they think, they would go on."""
    instance = random_cluster(random.Random(8), 80, 25, 3, largest=50)
    distance = Turns.distance
    monkeypatch.setattr(per_server, "settle", lambda _: None)
    monkeypatch.setattr(Turns, "distance", lambda self, tasks: distance(self, tasks) / 10)
    found = numeric_ps_dsf(instance, "time", 1e-3)
    assert found.violation is not None
    assert found.violation.value <= 1e-3
