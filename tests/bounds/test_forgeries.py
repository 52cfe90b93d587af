"""Forged certificates: numbers altered so that they agree with each other, digest made anew. All are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bounds import checker
from bounds.certificates.assignment import assignment_certificate
from theory.greedy.optimal import Column, Solution, solve
from theory.greedy.servers import Placement, PlacementStage, greedy_placement, least_servers
from theory.instance import Instance, additive

HALF, ONE = Fraction(1, 2), Fraction(1)


@pytest.fixture
def instance() -> Instance:
    """Greedy earns 3/2 with two of the first type on half of the servers; one of each on all servers earns 2."""
    return additive([12], [[5], [7]])


def test_an_optimum_understated_by_a_server_price_below_the_greatest_value(instance: Instance) -> None:
    solution = solve(instance)
    columns = (Column(0, (2, 0), HALF), Column(0, (0, 1), HALF))
    forged = replace(
        solution.optimal,
        reward=Fraction(3, 2),
        columns=columns,
        slot_prices=(ONE, ONE),
        server_prices=(Fraction(3, 2),),
        job_prices=(Fraction(0), Fraction(0)),
    )
    with pytest.raises(checker.Refused, match="server price"):
        checker.check(assignment_certificate(replace(solution, optimal=forged)))


def test_an_optimum_overstated_by_more_servers_than_there_are(instance: Instance) -> None:
    big = instance.with_workload([2, 2])
    solution = solve(big)
    honest = solution.optimal
    forged = replace(honest, reward=2 * honest.reward, columns=(Column(0, (1, 1), Fraction(2)),))
    with pytest.raises(checker.Refused):
        checker.check(assignment_certificate(replace(solution, optimal=forged)))


def test_an_optimum_overstated_by_an_infeasible_configuration(instance: Instance) -> None:
    big = instance.with_workload([2, 2])
    solution = solve(big)
    forged = replace(
        solution.optimal,
        reward=Fraction(4),
        columns=(Column(0, (2, 2), ONE),),
        slot_prices=(ONE, ONE),
        server_prices=(Fraction(4),),
    )
    with pytest.raises(checker.Refused):
        checker.check(assignment_certificate(replace(solution, optimal=forged)))


def placed(solution: Solution, stages: list[tuple[tuple[int, ...], int]], reward: int) -> dict[str, object]:
    servers, instance = 10, solution.instance
    placement = Placement((servers,), tuple(PlacementStage((k,), (n,)) for k, n in stages), Fraction(reward))
    return assignment_certificate(solution, (servers, placement, least_servers(instance, [10, 10])))


def test_a_stage_of_greedy_placement_that_lasts_too_long_or_ends_too_soon(instance: Instance) -> None:
    solution = solve(instance)
    honest = greedy_placement(instance, 10)
    assert [(stage.configurations[0], stage.servers[0]) for stage in honest.stages] == [((2, 0), 5), ((0, 1), 5)]
    checker.check(placed(solution, [((2, 0), 5), ((0, 1), 5)], 15))
    with pytest.raises(checker.Refused, match="longer than its first type lasts"):
        checker.check(placed(solution, [((2, 0), 6), ((0, 1), 4)], 14))
    with pytest.raises(checker.Refused):
        checker.check(placed(solution, [((2, 0), 4), ((0, 1), 6)], 14))
    with pytest.raises(checker.Refused):
        checker.check(placed(solution, [((1, 1), 10)], 20))
