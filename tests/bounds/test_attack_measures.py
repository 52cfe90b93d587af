"""Measures of sharing rules: envy, utilisation and lies, with rules whose worst value is known by a short argument."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from bounds.adversary.choices import Measure
from bounds.adversary.division import DivisionSpace, Shape, judge_division
from bounds.adversary.engine import attack
from bounds.adversary.lies import LieSpace, Misreport, first_lies, judge_lie, with_report
from bounds.adversary.rules import rule_named
from bounds.cli import run
from examples.rules_to_attack import equal_parts
from theory.errors import InputError
from theory.sharing import drf, is_ps_dsf, ps_dsf
from theory.sharing.model import Cluster


def later_get_more(given: Cluster) -> list[list[Fraction]]:
    """Give user n the part (n + 1) weight_n of every server."""
    parts = [(n + 1) * user.weight for n, user in enumerate(given.users)]
    rows = zip(parts, given.monopoly, strict=True)
    return [[part / sum(parts) * tasks for tasks in row] for part, row in rows]


def by_demand(given: Cluster) -> list[list[Fraction]]:
    """Give users parts of every server in proportion to what they say they demand of the first resource."""
    parts = [user.demand[0] for user in given.users]
    whole = sum(parts) or Fraction(1)
    return [[part / whole * tasks for tasks in row] for part, row in zip(parts, given.monopoly, strict=True)]


def test_envy_is_found_and_not_overstated() -> None:
    """With two users the first holds half of what the second does by weight: it keeps 1/2 where demands are alike."""
    found = attack(judge_division(later_get_more, "envy"), DivisionSpace(2, 2, 2), seed=1, evaluations=600)
    assert found.judged.value == Fraction(1, 2)
    assert found.judged.evidence["user"] == "u1"
    assert found.judged.evidence["envies"] == "u2"
    kept = attack(judge_division(equal_parts, "envy"), DivisionSpace(2, 2, 2), evaluations=100)
    assert kept.judged.value == 1


def test_who_envies_most() -> None:
    """Of three users alike, who hold 1/6, 2/6 and 3/6, the first envies the third most: it has a third of its tasks."""
    shape = Shape(((6,),), ((1,),) * 3, (1,) * 3, ((True,),) * 3)
    judged = judge_division(later_get_more, "envy")(shape)
    assert judged.value == Fraction(1, 3)
    assert (judged.evidence["user"], judged.evidence["envies"], judged.evidence["with_the_other"]) == ("u1", "u3", 3)


@pytest.mark.slow
def test_ps_dsf_saturates_a_resource_of_every_server_that_is_used() -> None:
    """On one server with two resources its mean utilisation is at least 1/2, and the greatest is at most 1."""
    worst = attack(
        judge_division(rule_named("ps-dsf", "sharing"), "utilisation"), DivisionSpace(3, 1, 2), evaluations=200
    )
    assert Fraction(1, 2) <= worst.judged.value < Fraction(3, 4)


def test_a_lie_that_pays_is_one() -> None:
    """Two users alike: whoever says that it demands k times as much of the second holds k/(k + 1) of the server.

    Each task brings k times the demand, so that the liar runs k times the tasks of its part, and 2 k / (k + 1) times
    those of the truth, if the report leaves the proportion of its demands as it is.
    """
    shape = Shape(((1,),), ((1,), (1,)), (1, 1), ((True,), (True,)))
    lie = Misreport(with_report(shape, 1, (3,)), 1)
    assert judge_lie(by_demand)(lie).value == Fraction(2, 3)
    assert judge_lie(by_demand)(lie).evidence["factor"] == "3/2"
    assert judge_lie(by_demand)(first_lies(shape)[0]).value == Fraction(3, 4)


@pytest.mark.soak
def test_lies_against_ps_dsf_are_certified_and_drf_has_none() -> None:
    """The allocations of the truth and of the lie are PS-DSF by Theorem 1, and the tasks by lying are counted anew."""
    space = LieSpace(3, 2, 3)
    worst = attack(judge_lie(rule_named("ps-dsf", "sharing")), space, seed=2, evaluations=3000, target=Fraction(19, 20))
    assert worst.judged.value <= Fraction(19, 20)
    case, n = worst.case, worst.case.liar
    truth, reported = case.truth.cluster(), case.reported.cluster()
    honest, lying = ps_dsf(truth), ps_dsf(reported)
    assert is_ps_dsf(truth, honest.tasks)
    assert is_ps_dsf(reported, lying.tasks)
    need, said = truth.users[n].demand, reported.users[n].demand
    usable = sum(x for x, able in zip(lying.tasks[n], truth.monopoly[n], strict=True) if able)
    gained = usable * min(s / d for s, d in zip(said, need, strict=True) if d)
    assert honest.totals[n] / gained == worst.judged.value
    assert attack(judge_lie(lambda c: drf(c).tasks), LieSpace(3, 1, 2), evaluations=300).judged.value == 1


def test_lies_stay_within_their_space() -> None:
    space, rng = LieSpace(3, 2, 2), np.random.default_rng(3)
    case = space.draw(rng)
    for _ in range(300):
        assert case.makes_sense
        assert case.truth.size == (3, 2, 2)
        assert case.reported.weight == case.truth.weight
        same = [n for n in range(3) if n != case.liar]
        assert all(case.reported.demand[n] == case.truth.demand[n] for n in same)
        case = space.move(case, rng)
    for simpler in space.shrinks(case):
        assert simpler.makes_sense
        assert simpler.liar < len(simpler.truth.demand)


@pytest.mark.slow
def test_mechanisms_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--kind", "sharing", "--bins", "2", "--resources", "2", "--evaluations", "60", "--json"]
    assert run(["attack", "tsf", *how, "--measure", "fair"]) == 0
    assert Fraction(json.loads(capsys.readouterr().out)["ratio"]) < 1
    for measure in Measure:
        assert run(["attack", "ps-dsf", *how[:-2], "6", "--measure", measure]) == 0
        assert "ps-dsf" in capsys.readouterr().out
    assert run(["attack", "ps-dsf", *how[:-2], "20", "--measure", "x"]) == 2
    assert "fair, equal-part, utilisation, envy, lie" in capsys.readouterr().err
    assert run(["attack", "ps-dsf"]) == 2
    assert "FILE.py:NAME" in capsys.readouterr().err
    assert run(["attack", "drf", *how]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("drf pools all servers")
    with pytest.raises(InputError, match="one of drf"):
        rule_named("nobody", "sharing")
