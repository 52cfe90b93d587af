"""Certificates of the least cost of servers: accepted, and true of every small catalogue by brute force."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from bounds import checker
from bounds.certificates import cost_certificate
from bounds.cli import run
from tests.theory.test_cheapest import brute_force, catalogue_of
from theory.errors import ArgumentError, InputError
from theory.greedy import Offer, cheapest_servers
from theory.instance import pooled

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("seed", range(30))
def test_bounds_are_true_of_small_catalogues(seed: int) -> None:
    kinds, demands, need, offers, spare = catalogue_of(seed)
    instance = pooled([(1, kind) for kind in kinds], demands)
    try:
        found = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
    except InputError:
        return
    if found.servers is None:
        with pytest.raises(ArgumentError, match="found none"):
            cost_certificate(instance, offers, found, spare)
        return
    claims = checker.check(json.loads(json.dumps(cost_certificate(instance, offers, found, spare))))
    least = brute_force(kinds, demands, need, offers, spare)
    assert least is not None
    assert Fraction(claims["lower"]) <= least <= Fraction(claims["upper"])
    assert Fraction(claims["lower"]) >= min(found.fluid, found.lower), "prices prove what the program has"


def test_prices_whose_common_part_is_a_half_round_the_bound_up() -> None:
    """Three jobs on servers of two: 3/2 servers of 5/2 cost 15/4, and whole ones a multiple of 5/2."""
    instance, offers = pooled([(1, [2])], [[1]]), [Offer(Fraction(5, 2))]
    claims = checker.check(cost_certificate(instance, offers, cheapest_servers(instance, offers, [Fraction(3)])))
    assert (claims["lower"], claims["upper"]) == ("5", "5")


def test_more_servers_exist_than_there_are_jobs() -> None:
    """They cost nothing, and those of the other kind are not bought."""
    instance, offers = pooled([(1, [2]), (1, [3])], [[1]]), [Offer(Fraction(5), have=50), Offer(Fraction(1))]
    claims = checker.check(cost_certificate(instance, offers, cheapest_servers(instance, offers, [Fraction(3)])))
    assert (claims["priced"], claims["lower"], claims["upper"]) == ("0", "0", "0")
    offers = [Offer(Fraction(5), have=50), Offer(Fraction(1), most=2)]
    found = replace(cheapest_servers(instance, offers, [Fraction(3)]), slot_prices=(Fraction(1, 2),))
    # at 1/2 a job three are worth 3/2; three of the first kind hold 1 each, and two of the second 1/2 beyond a price
    proof = cost_certificate(instance, offers, found)
    assert checker.check(proof)["priced"] == str(Fraction(3, 2) - 3 * 1 - 2 * Fraction(1, 2))


def test_an_answer_of_plan_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", str(EXAMPLES / "vm_types.csv"), str(EXAMPLES / "vm_log.csv"), "--accept", "0.9", "--json"]
    servers = ["name=big,cpu=48,memory=192,price=10", "name=small,cpu=24,memory=96,price=5.5"]
    assert run([*words, "--level", "quick", *(word for one in servers for word in ("--server", one))]) == 0
    cost = json.loads(capsys.readouterr().out)["cost"]
    for part in ("mean", "peak"):
        claims = checker.check(cost[part]["certificate"])
        assert claims["servers"] == cost[part]["servers"]
        assert claims["upper"] == cost[part]["upper_exact"]
        assert Fraction(claims["lower"]) <= Fraction(cost[part]["lower_exact"])
    assert "certificate" not in cost["always"]
