"""Numeric TSF, C-DRFH and CDRF: near the exact shares, and a check that proves what it says, by its definition."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from bounds.results.instances.drawn import random_cluster
from tests.theory.test_numeric_shares import with_effective
from theory.errors import InputError
from theory.sharing import numeric_levels as numeric
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.levels import level_units, max_min_violation, task_units
from theory.sharing.maxmin import c_drfh, cdrf, tsf
from theory.sharing.model import Cluster, cluster
from theory.sharing.numeric_levels import numeric_max_min

EXACT: dict[str, Callable[[Cluster], Allocation]] = {"c-drfh": c_drfh, "cdrf": cdrf, "tsf": tsf}


def drawn(seed: int, users: int = 20, servers: int = 6) -> Cluster:
    instance = random_cluster(random.Random(seed), users, servers, 3, largest=50, counts=2)
    return with_effective(instance) if seed % 2 else instance


def prices_of(allocation: Allocation) -> list[NDArray[np.float64]]:
    return [np.array(stage.prices, float) for stage in allocation.stages]


def value_of(instance: Cluster, tasks: object, mechanism: str, prices: list[NDArray[np.float64]]) -> float:
    return max_min_violation(instance, tasks, mechanism, prices).value  # type: ignore[arg-type]


@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("seed", range(8))
def test_units_are_those_of_the_exact_mechanism(mechanism: str, seed: int) -> None:
    instance = drawn(seed)
    assert level_units(instance, mechanism) == pytest.approx(list(map(float, task_units(instance, mechanism))))


@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("seed", range(10))
def test_numeric_shares_are_near_the_exact_ones(mechanism: str, seed: int) -> None:
    """Totals of max-min fair shares are unique; so are the stages, but for ties."""
    instance = drawn(seed)
    exact, found = EXACT[mechanism](instance), numeric_max_min(instance, mechanism, 1e-6)
    assert found.violation is not None
    assert found.violation.overload == 0
    assert found.violation.value <= 1e-6
    assert is_feasible_allocation(instance, found.tasks)
    assert [float(x) for x in found.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-4)
    assert found.violation == max_min_violation(instance, found.tasks, mechanism, prices_of(found))
    assert len(found.stages) > 1 or len(exact.stages) == 1


@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("seed", range(10))
def test_exact_shares_pass_with_their_own_prices_and_altered_ones_do_not(mechanism: str, seed: int) -> None:
    """Negative control: what is taken from one user, or given by another mechanism, could be had without a loss."""
    instance = drawn(seed)
    exact = EXACT[mechanism](instance)
    prices = prices_of(exact)
    assert value_of(instance, exact.tasks, mechanism, prices) < 1e-9
    n = seed % len(instance.users)
    less = [[x * Fraction(99, 100) if m == n else x for x in row] for m, row in enumerate(exact.tasks)]
    assert value_of(instance, less, mechanism, prices) > 0.009
    i = max(range(len(instance.servers)), key=lambda i: exact.tasks[n][i])
    more = [[x + (m == n and k == i) for k, x in enumerate(row)] for m, row in enumerate(exact.tasks)]
    assert (
        max_min_violation(instance, more, mechanism, prices).overload > 0
        or value_of(instance, more, mechanism, prices) > 1e-6
    )
    other = [[x * (1 + m % 2) / 2 for x in row] for m, row in enumerate(exact.tasks)]
    assert value_of(instance, other, mechanism, prices) > 0.1


@pytest.mark.parametrize("seed", range(10))
def test_what_is_proved_is_true(seed: int) -> None:
    """The gain of every user alone, by an exact program, is at most the eps that the prices prove for all."""
    from theory.exact.programs.linear import LinearProgram
    from theory.sharing.model import occupation

    instance = drawn(seed, 6, 3)
    fair = tsf(instance)
    generator = random.Random(seed)
    factor = [Fraction(generator.randint(90, 100), 100) for _ in instance.users]
    tasks = [[x * part for x in row] for row, part in zip(fair.tasks, factor, strict=True)]
    eps = Fraction(value_of(instance, tasks, "tsf", prices_of(fair)))
    unit, totals = task_units(instance, "tsf"), [sum(row, Fraction(0)) for row in tasks]
    table = occupation(instance)
    width = len(instance.resources)
    gains = []
    for n in range(6):
        near = [m for m in range(6) if m == n or totals[m] / unit[m] <= (1 + eps) * totals[n] / unit[n]]
        program = LinearProgram(
            [(None, 1)] * (3 * width) + [(totals[m] if m in near and m != n else 0, None) for m in range(6)]
        )
        for m in range(6):
            for i in range(3):
                row = table.shares[m][i]
                if row is not None:
                    entries: dict[int, Fraction | int] = {i * width + r: share for r, share in enumerate(row) if share}
                    program.add_columns([int(m == n)], [entries | {3 * width + m: 1}])
        gains.append(program.solve().objective / totals[n] - 1)
    assert max(gains) <= eps
    assert max(gains) > 0


def test_least_eps_is_least() -> None:
    """Two users on one server: the second has half of its level, and could have the rest that is free."""
    pair = cluster([[4]], [[1], [1]])
    found = max_min_violation(pair, [[Fraction(2)], [Fraction(1)]], "tsf", [np.array([[1.0]])])
    assert (found.value, found.user) == (pytest.approx(1.0), "u2")  # 1 task more, for 1 that it has
    full = max_min_violation(pair, [[Fraction(3)], [Fraction(1)]], "tsf", [np.array([[1.0]])])
    assert full.value == pytest.approx(2.0)  # with eps below 2 the first may lose, and the second gain 3


def test_prices_must_be_prices() -> None:
    pair = cluster([[4]], [[1], [1]])
    tasks = [[Fraction(2)], [Fraction(2)]]
    assert value_of(pair, tasks, "tsf", []) == float("inf")
    for wrong in ([[-1.0]], [[0.0]], [[float("nan")]], [[1.0], [1.0]]):
        with pytest.raises(InputError, match="prices: expected finite numbers"):
            max_min_violation(pair, tasks, "tsf", [np.array(wrong)])
    barred = cluster([[4], [4]], [[1], [1]], eligible=[[True, False], [True, True]])
    assert max_min_violation(barred, [[1, 1], [1, 1]], "tsf", []).reason is not None  # type: ignore[list-item]


@pytest.mark.parametrize("mechanism", EXACT)
def test_a_start_by_an_interior_point_method_changes_nothing(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = drawn(3, 60, 12)
    totals = [float(x) for x in numeric_max_min(instance, mechanism, 1e-6).totals]
    monkeypatch.setattr(numeric, "LARGE", 0)
    assert [float(x) for x in numeric_max_min(instance, mechanism, 1e-6).totals] == pytest.approx(totals, rel=1e-4)


def test_missing_pairs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """From one pair a user, whichever, to the same shares: the prices say what is missing."""
    instance = drawn(5, 40, 10)
    totals = [float(x) for x in numeric_max_min(instance, "cdrf", 1e-6).totals]

    def first(_: object, may: NDArray[np.bool_]) -> NDArray[np.bool_]:
        made = np.zeros_like(may)
        made[may.argmax(axis=0), np.arange(may.shape[1])] = True
        return made

    monkeypatch.setattr(numeric, "likely_pairs", first)
    found = numeric_max_min(instance, "cdrf", 1e-6)
    assert found.violation is not None
    assert found.violation.value <= 1e-6
    assert [float(x) for x in found.totals] == pytest.approx(totals, rel=1e-4)


def test_a_solver_that_gives_up_is_asked_again_and_then_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = drawn(4)
    totals = [float(x) for x in numeric_max_min(instance, "tsf", 1e-6).totals]
    optimal, asked = numeric.StageProgram._is_optimal, []

    def every_second(self: numeric.StageProgram) -> bool:
        asked.append(True)
        return optimal(self) and len(asked) % 2 == 0

    monkeypatch.setattr(numeric.StageProgram, "_is_optimal", every_second)
    assert [float(x) for x in numeric_max_min(instance, "tsf", 1e-6).totals] == pytest.approx(totals, rel=1e-4)
    monkeypatch.setattr(numeric.StageProgram, "_is_optimal", lambda _: False)
    with pytest.raises(InputError, match="the linear programs of tsf could not be solved in floats"):
        numeric_max_min(instance, "tsf", 1e-6)


def test_weights_and_copies() -> None:
    """A user of twice the weight has what two equal ones have together; a split server is the server."""
    instance = drawn(2)
    doubled = instance.with_user(0, replace(instance.users[0], weight=2 * instance.users[0].weight))
    twins = replace(instance, users=(*instance.users, replace(instance.users[0], name="twin")))
    one, two = (numeric_max_min(c, "cdrf", 1e-6).totals for c in (doubled, twins))
    assert float(one[0]) == pytest.approx(float(two[0] + two[-1]), rel=1e-4)


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric, "MOST_PAIRS", 10)
    with pytest.raises(InputError, match="at most 10 pairs of user and server class, got 120: merge similar"):
        numeric_max_min(drawn(2), "tsf", 1e-3)


def staged(seed: int, users: int, servers: int) -> Cluster:
    """Draw a cluster whose users may use one server or two each, so that they stop in many stages."""
    generator = random.Random(seed)
    capacities = [[generator.randint(1, 50) for _ in range(3)] for _ in range(servers)]
    demands = [[generator.randint(1, 50) for _ in range(3)] for _ in range(users)]
    eligible = [[False] * servers for _ in range(users)]
    for row in eligible:
        for i in generator.sample(range(servers), generator.randint(1, 2)):
            row[i] = True
    return cluster(capacities, demands, [generator.randint(1, 3) for _ in range(users)], eligible)


@pytest.mark.parametrize("seed", range(3))
def test_tens_of_stages(seed: int) -> None:
    instance = staged(seed, 40, 20)
    exact, found = tsf(instance), numeric_max_min(instance, "tsf", 1e-6)
    assert len(found.stages) >= 10
    assert found.violation is not None
    assert found.violation.value <= 1e-6
    assert [float(x) for x in found.totals] == pytest.approx([float(x) for x in exact.totals], rel=1e-6)
