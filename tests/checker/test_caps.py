"""Forged certificates of users with caps: each breaks one condition that a cap adds, and is refused for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checker.corpus import GONE, Document, changed, document, refused, verdict

ONE = {"A": {"cpu": "1"}}
TSF, DRF = ("claims", "mechanism"), "drf"
CAP = ("instance", "user", 0, "most_tasks")
"""That of u, who wants a quarter; v wants any number, of one server of one CPU."""


def instance(most: str | None = "1/4", other: str | None = None) -> dict[str, Any]:
    users = [{"name": n, "demand": {"cpu": "1"}, "weight": "1"} for n in "uv"]
    caps = [{} if one is None else {"most_tasks": one} for one in (most, other)]
    both = [user | cap for user, cap in zip(users, caps, strict=True)]
    return {"server": [{"name": "A", "capacity": {"cpu": "1"}, "count": 1}], "user": both}


def by(mechanism: str, u: str, v: str, stages: list[Any] | None, **caps: Any) -> Document:
    """Return a certificate that u has so many tasks and v so many."""
    evidence = {"allocation": {"u": {"A": u}, "v": {"A": v}}} | ({} if stages is None else {"stages": stages})
    return document("allocation", instance(**caps), evidence, {"mechanism": mechanism, "tasks": {"u": u, "v": v}})


BOTH = [{"prices": ONE, "values": {"u": "1", "v": "1"}}]
HONEST = {"tsf": by("tsf", "1/4", "3/4", BOTH), "c-drfh": by("c-drfh", "1/4", "3/4", BOTH)}
HONEST |= {"drf": by("drf", "1/4", "3/4", None)}


@pytest.mark.parametrize("mechanism", list(HONEST))
def test_a_cap_is_what_keeps_its_user_from_more(mechanism: str) -> None:
    """With a cap of a quarter it is fair; without it, or with one that is not reached, it is not."""
    honest = HONEST[mechanism]
    assert not verdict(honest)
    reason = (
        "a user has no bottleneck at a server" if mechanism == DRF else "nothing proves that a user cannot have more"
    )
    refused(reason, changed(honest, (CAP, "1/3")))
    refused(reason, changed(honest, (CAP, GONE)))
    refused("a user has more tasks than it wants", changed(honest, (CAP, "1/5")))


def test_mechanisms_that_are_not_defined_with_caps() -> None:
    for mechanism, stages in (("cdrf", BOTH), ("ps-dsf", None), ("ps-dsf-tdm", None)):
        refused("the mechanism is not defined for users with caps", by(mechanism, "1/4", "3/4", stages))
        assert not verdict(by(mechanism, "1/2", "1/2", stages, most=None))


def test_who_is_below_its_cap_is_proved() -> None:
    """Both want quarters and have them; where v wants a half, nothing keeps it from more."""
    assert not verdict(by("tsf", "1/4", "1/4", [], other="1/4"))
    assert not verdict(by("drf", "1/4", "1/4", None, other="1/4"))
    refused("nothing proves that a user cannot have more", by("tsf", "1/4", "1/4", [], other="1/2"))
    refused("a user has no bottleneck at a server", by("drf", "1/4", "1/4", None, other="1/2"))
    refused("a stage proves nothing of a further user", by("tsf", "1/4", "3/4", BOTH, other="3/4"))


def test_caps_that_are_no_caps() -> None:
    for cap in ("0", "-1", "2/8", 1, True):
        assert verdict(changed(HONEST["tsf"], (CAP, cap)))
    refused("a user wants no task", changed(HONEST["tsf"], (CAP, "0")))


def judged(u: str, v: str, properties: dict[str, bool], evidence: dict[str, Any], **caps: Any) -> Document:
    """Return a certificate of an allocation of anybody's, of which cpu is the bottleneck."""
    rows = {"u": {"A": u}, "v": {"A": v}}
    claims = {"tasks": {"u": u, "v": v}, "feasible": True, "properties": properties, "bottleneck": "cpu"}
    return document("fairness", instance(**caps), {"allocation": rows, **evidence}, claims)


ALL = dict.fromkeys(
    ("bottleneck_fairness", "envy_freeness", "pareto_optimality", "sharing_incentive", "single_resource_fairness"), True
)
FAIR = {"allocation": {"u": {"A": "1/4"}, "v": {"A": "3/4"}}, "stages": BOTH}
PRICES = {"prices": ONE, "values": {"v": "1", "u": "1"}}


def test_properties_of_users_with_caps() -> None:
    """Nobody envies tasks that it does not want; without the cap u does, and has less than its half."""
    honest = judged("1/4", "3/4", ALL, {"prices": PRICES, "fair": FAIR})
    assert not verdict(honest)
    refused("the sharing incentive is not right", changed(honest, (CAP, GONE)))
    unfair = {**ALL, "sharing_incentive": False}
    refused("envy-freeness is not right", changed(honest, (CAP, GONE), (("claims", "properties"), unfair)))
    short = {**ALL, "bottleneck_fairness": False, "single_resource_fairness": False}
    refused("bottleneck fairness is not right", changed(honest, (("claims", "properties"), short)))
    more = {"allocation": {"u": {"A": "1/2"}, "v": {"A": "1/2"}}, "stages": BOTH}
    refused("a user has more tasks than it wants", changed(honest, (("evidence", "fair"), more)))


def test_nobody_gains_what_it_does_not_want() -> None:
    wasteful = {**ALL, "pareto_optimality": False}
    quarters = {"u": {"A": "1/4"}, "v": {"A": "1/4"}}
    nothing = {"prices": {}, "fair": {"allocation": quarters, "stages": []}}
    content = judged("1/4", "1/4", ALL, nothing, other="1/4")
    assert not verdict(content)
    better = (("evidence", "prices"), GONE), (("evidence", "better"), {"u": {"A": "1/2"}, "v": {"A": "1/4"}})
    refused("a user has more tasks than it wants", changed(content, (("claims", "properties"), wasteful), *better))
    refused("users who want no more need no prices", changed(content, (("evidence", "prices"), PRICES)))
    hungry = {**ALL, "sharing_incentive": False}
    refused("a stage does not have", judged("1/4", "1/4", hungry, nothing, other="1/3"))
    for values, reason in (
        ({"v": "3"}, "a task is worth more than its resources cost"),
        ({"u": "1"}, "a user's tasks are worth nothing"),
        ({"v": "1"}, "the tasks are not worth all resources"),
    ):
        prices = {"prices": {"prices": ONE, "values": values}, "fair": FAIR}
        refused(reason, judged("1/4", "1/3", hungry, prices))


def test_unwanted_tasks_are_all_told() -> None:
    rows, tasks = {"u": {"A": "1/2"}, "v": {"A": "1/2"}}, {"u": "1/2", "v": "1/2"}

    def unfit(**found: Any) -> Document:
        return document("fairness", instance(), {"allocation": rows}, {"tasks": tasks, "feasible": False, **found})

    assert not verdict(unfit(unwanted=["u"]))
    refused("nothing shows that the tasks do not fit", unfit())
    refused("claims.unwanted is empty", unfit(unwanted=[]))
    for wrong in (["v"], ["u", "v"], ["u", "u"], {"u": "1/4"}, "u", True):
        refused("the users with more tasks than they want are not right", unfit(unwanted=wrong))
    refused("the users with more tasks than they want are not right", unfit(over={"A": {"cpu": "3/2"}}))
    fits = judged("1/4", "3/4", ALL, {"prices": PRICES, "fair": FAIR})
    refused("tasks that fit are wanted", changed(fits, (("claims", "unwanted"), ["u"])))
    refused("a user has more tasks than it wants", judged("1/2", "1/2", ALL, {"prices": PRICES, "fair": FAIR}))
