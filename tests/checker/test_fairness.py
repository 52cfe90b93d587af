"""Forged judgements of allocations that agree with themselves: each breaks one condition, and is refused for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checker.corpus import CERTIFICATES, GONE, at, changed, document, refused, verdict

FAIR, UNFAIR = CERTIFICATES["fairness, fair"], CERTIFICATES["fairness, one resource"]
WASTEFUL, TWO = CERTIFICATES["fairness, wasteful"], CERTIFICATES["fairness, two resources"]
OVER, WRONG = CERTIFICATES["fairness, too much"], CERTIFICATES["fairness, on wrong servers"]
HELD = ("claims", "properties")


def test_what_the_corpus_says() -> None:
    """Three quarters and one quarter of one server are efficient and nothing else; halves are all that is fair."""
    assert all(at(FAIR, HELD).values())
    assert [name for name, holds in at(UNFAIR, HELD).items() if holds] == ["pareto_optimality"]
    assert not at(WASTEFUL, HELD)["pareto_optimality"]
    assert at(OVER, ("claims", "over")) == {"A": {"ram": "9/8"}, "B": {"cpu": "7/6"}}
    assert at(WRONG, ("claims", "misplaced")) == {"u": ["A"], "v": ["B"]}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sharing_incentive", "the sharing incentive is not right"),
        ("envy_freeness", "envy-freeness is not right"),
        ("pareto_optimality", "Pareto optimality is not proved"),
        ("bottleneck_fairness", "bottleneck fairness is not right"),
        ("single_resource_fairness", "single-resource fairness is not right"),
    ],
)
def test_properties_that_are_claimed_the_other_way(name: str, reason: str) -> None:
    for honest in (FAIR, UNFAIR, WASTEFUL, TWO):
        refused(reason, changed(honest, ((*HELD, name), not at(honest, HELD)[name])))


def test_a_verdict_that_is_no_truth_value() -> None:
    refused("it is not said whether a property holds", changed(FAIR, ((*HELD, "envy_freeness"), 1)))
    refused("it is not said whether the tasks fit", changed(FAIR, (("claims", "feasible"), 1)))


def test_tasks_that_do_not_fit_are_not_said_to_fit() -> None:
    fits = {**OVER["claims"], "feasible": True, "properties": at(TWO, HELD)}
    refused("tasks that fit are on no wrong server", changed(OVER, (("claims",), fits)))
    del fits["over"]
    refused("a server holds more than it can", changed(OVER, (("claims",), fits)))
    elsewhere = {"tasks": WRONG["claims"]["tasks"], "feasible": True, "properties": at(TWO, HELD)}
    refused("a task may not run there", changed(WRONG, (("claims",), elsewhere)))


def test_tasks_that_fit_are_not_said_not_to_fit() -> None:
    """With properties, without anything that shows it, and with loads that are within the capacity."""
    bare = {"allocation": FAIR["evidence"]["allocation"]}
    unfit = {"tasks": FAIR["claims"]["tasks"], "feasible": False}
    refused("properties are of tasks that fit", changed(FAIR, (("claims", "feasible"), False)))
    refused("nothing shows that the tasks do not fit", changed(FAIR, (("claims",), unfit), (("evidence",), bare)))
    full = {**unfit, "over": {"A": {"cpu": "1"}}}
    refused("the loads beyond capacity are not right", changed(FAIR, (("claims",), full), (("evidence",), bare)))
    wrong = {**unfit, "misplaced": {"u": ["A"]}}
    refused("the tasks on wrong servers are not right", changed(FAIR, (("claims",), wrong), (("evidence",), bare)))
    refused("claims.over is no table", changed(FAIR, (("claims",), {**unfit, "over": {}}), (("evidence",), bare)))
    refused(
        "claims.misplaced is empty", changed(FAIR, (("claims",), {**unfit, "misplaced": {}}), (("evidence",), bare))
    )


def test_loads_and_places_are_all_told() -> None:
    refused("the loads beyond capacity are not right", changed(OVER, (("claims", "over", "B"), GONE)))
    refused("the loads beyond capacity are not right", changed(OVER, (("claims", "over", "A", "ram"), "5/4")))
    refused("the tasks on wrong servers are not right", changed(WRONG, (("claims", "misplaced", "u"), GONE)))
    refused("the tasks on wrong servers are not right", changed(OVER, (("claims", "misplaced"), {"u": ["A"]})))


def test_a_better_allocation_is_better() -> None:
    better = ("evidence", "better")
    refused("nobody has more in the better allocation", changed(WASTEFUL, (better, WASTEFUL["evidence"]["allocation"])))
    less = {"u": {"A": "1/4"}, "v": {"A": "3/4"}}
    refused("somebody has less in the better allocation", changed(WASTEFUL, (better, less)))
    refused("a server holds more than it can", changed(WASTEFUL, (better, {"u": {"A": "1"}, "v": {"A": "1"}})))
    refused("Pareto optimality is not proved", changed(WASTEFUL, (better, GONE)))


def test_prices_of_a_wasteful_allocation_prove_nothing() -> None:
    """One unit of a server at price 1: half of it and nearly half are not worth it, at whatever value."""
    claimed = ((*HELD, "pareto_optimality"), True)
    prices = (("evidence", "prices"), FAIR["evidence"]["prices"])
    refused("the tasks are not worth all resources", changed(WASTEFUL, claimed, (("evidence", "better"), GONE), prices))
    dear = {"prices": {"A": {"cpu": "1"}}, "values": {"u": "5001/5000", "v": "1"}}
    forged = changed(WASTEFUL, claimed, (("evidence", "better"), GONE), (("evidence", "prices"), dear))
    refused("a task is worth more than its resources cost", forged)


def test_prices_at_which_a_user_is_worth_nothing_prove_nothing() -> None:
    """V has all of its resource; u has half of its own, and could have more."""
    instance = {
        "server": [{"name": "A", "capacity": {"cpu": "1", "ram": "1"}, "count": 1}],
        "user": [
            {"name": "u", "demand": {"cpu": "1"}, "weight": "1"},
            {"name": "v", "demand": {"ram": "1"}, "weight": "1"},
        ],
    }
    properties = dict.fromkeys(at(FAIR, HELD), True)
    stage = {"prices": {"A": {"ram": "1"}}, "values": {"v": "1"}}
    evidence = {"allocation": {"u": {"A": "1/2"}, "v": {"A": "1"}}, "prices": stage}
    claims = {"tasks": {"u": "1/2", "v": "1"}, "feasible": True, "properties": properties}
    refused("a user's tasks are worth nothing", document("fairness", instance, evidence, claims))


def test_a_bottleneck_is_told_where_there_is_one_and_nowhere_else() -> None:
    gone = changed(FAIR, (("claims", "bottleneck"), GONE), (("evidence", "fair"), GONE))
    refused("a resource is the bottleneck of all users", gone)
    fair = FAIR["evidence"]["fair"]
    named = changed(TWO, (("claims", "bottleneck"), "cpu"), (("evidence", "fair"), fair))
    refused("the resource is not the bottleneck of all users", named)
    seen: list[Any] = [dict(user) for user in FAIR["instance"]["user"]]
    seen[0]["effective"] = {"A": {"cpu": "1"}}
    refused("a user has effective capacities", changed(FAIR, (("instance", "user"), seen)))


def test_the_fair_allocation_is_proved() -> None:
    stages = ("evidence", "fair", "stages")
    low = changed(UNFAIR, (("evidence", "fair", "allocation"), {"u": {"A": "1/4"}, "v": {"A": "1/4"}}))
    refused("the tasks are not worth all resources", low)
    refused("nothing proves that a user cannot have more", changed(UNFAIR, (stages, [])))
    own = changed(UNFAIR, (("evidence", "fair", "allocation"), UNFAIR["evidence"]["allocation"]))
    assert verdict(own)
