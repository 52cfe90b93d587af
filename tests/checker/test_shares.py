"""Forged allocations that agree with themselves: each breaks one condition, and is refused for it."""

from __future__ import annotations

from typing import Any

from tests.checker.corpus import CERTIFICATES, GONE, Document, changed, document, refused, verdict


def shared(
    servers: list[str], allowed: dict[str, Any], rows: dict[str, Any], stages: list[Any], tasks: Any
) -> Document:
    """Return a certificate of TSF for servers and users of one unit each."""
    users = []
    for name, may in allowed.items():
        user = {"name": name, "demand": {"cpu": "1"}, "weight": "1"}
        users.append(user if may is None else {**user, "servers": may})
    instance = {"server": [{"name": s, "capacity": {"cpu": "1"}, "count": 1} for s in servers], "user": users}
    evidence = {"allocation": rows, "stages": stages}
    return document("allocation", instance, evidence, {"mechanism": "tsf", "tasks": tasks})


def test_a_task_that_is_worth_more_than_it_costs() -> None:
    """Two equal users of one server: halves are fair, three quarters and one quarter are not.

    Values of 4 for v alone, at level 1/4, and of 1 for both, at level 3/4, make the tasks worth all resources; but
    nobody pays 4 for what costs 1.
    """
    prices = {"A": {"cpu": "1"}}
    honest = [{"prices": prices, "values": {"u": "1", "v": "1"}}]
    both = {"u": None, "v": None}
    assert not verdict(shared(["A"], both, {"u": {"A": "1/2"}, "v": {"A": "1/2"}}, honest, {"u": "1/2", "v": "1/2"}))
    unfair = {"u": {"A": "3/4"}, "v": {"A": "1/4"}}
    stages = [{"prices": prices, "values": {"v": "4"}}, *honest]
    forged = shared(["A"], both, unfair, stages, {"u": "3/4", "v": "1/4"})
    refused("a task is worth more than its resources cost", forged)


def test_a_task_that_is_worth_more_than_it_costs_where_the_user_may_run() -> None:
    """U may run on A, v anywhere: one server each is fair. Prices on B alone say nothing of u, who cannot use it."""
    may = {"u": ["A"], "v": None}
    half = {"A": {"cpu": "1/2"}, "B": {"cpu": "1/2"}}
    honest = [{"prices": half, "values": {"u": "1/2", "v": "1/2"}}]
    assert not verdict(shared(["A", "B"], may, {"u": {"A": "1"}, "v": {"B": "1"}}, honest, {"u": "1", "v": "1"}))
    rows, tasks = {"u": {"A": "1/2"}, "v": {"A": "1/2", "B": "1"}}, {"u": "1/2", "v": "3/2"}
    for prices, worth in (({"B": {"cpu": "1"}}, "2"), (half, "2"), ({"A": {"cpu": "1"}}, "2")):
        stages = [{"prices": prices, "values": {"u": worth}}, *honest]
        refused("a task is worth more than its resources cost", shared(["A", "B"], may, rows, stages, tasks))
    alone = {"u": ["A"], "v": ["B"]}  # now v, too, may run on one server only: u pays for A alone, and takes it all
    stages = [
        {"prices": {"A": {"cpu": "1"}}, "values": {"u": "1"}},
        {"prices": half, "values": {"u": "1/2", "v": "1/2"}},
    ]
    rows, tasks = {"u": {"A": "1"}, "v": {"B": "1"}}, {"u": "1", "v": "1"}
    assert not verdict(shared(["A", "B"], alone, rows, stages[1:], tasks))
    assert not verdict(shared(["A", "B"], alone, rows, stages, tasks))  # the second stage proves v, at the same level
    refused("a stage proves nothing of a further user", shared(["A", "B"], alone, rows, stages[::-1], tasks))
    unused = shared(["A", "B"], alone, {"u": {"A": "1/2"}, "v": {"B": "1"}}, stages, {"u": "1/2", "v": "1"})
    refused("the tasks are not worth all resources", unused)


def test_stages_of_equal_levels() -> None:
    """A server for each user: a stage for each proves it, in either order; none proves what it does not price."""
    alone, prices = {"u": ["A"], "v": ["B"]}, [{"A": {"cpu": "1"}}, {"B": {"cpu": "1"}}]
    stages = [{"prices": price, "values": {user: "1"}} for price, user in zip(prices, "uv", strict=True)]
    rows, tasks = {"u": {"A": "1"}, "v": {"B": "1"}}, {"u": "1", "v": "1"}
    for order in (stages, stages[::-1]):
        assert not verdict(shared(["A", "B"], alone, rows, order, tasks))
    refused("nothing proves that a user cannot have more", shared(["A", "B"], alone, rows, stages[:1], tasks))
    for forged in ([*stages, stages[0]], [stages[0], stages[0], stages[1]]):
        refused("a stage proves nothing of a further user", shared(["A", "B"], alone, rows, forged, tasks))
    rows, tasks = {"u": {"A": "1/2"}, "v": {"B": "1/2"}}, {"u": "1/2", "v": "1/2"}  # at equal levels, too low
    refused("the tasks are not worth all resources", shared(["A", "B"], alone, rows, stages, tasks))
    dear = [{"prices": price, "values": {user: "2"}} for price, user in zip(prices, "uv", strict=True)]
    refused("a task is worth more than its resources cost", shared(["A", "B"], alone, rows, dear, tasks))
    lower = {"u": {"A": "1"}, "v": {"A": "1/3", "B": "2/3"}}  # u and v on A and v alone on B: 1 and 1 are fair
    refused("a task may not run there", shared(["A", "B"], alone, lower, stages, {"u": "1", "v": "1"}))


def test_stages_of_falling_levels() -> None:
    """Two users of three servers each: a stage at a higher level may not come before one at a lower."""
    may = {"u": ["A"], "v": ["B", "C"]}
    rows, tasks = {"u": {"A": "1"}, "v": {"B": "1", "C": "1"}}, {"u": "1", "v": "2"}
    both = {"B": {"cpu": "1/2"}, "C": {"cpu": "1/2"}}
    low = {"prices": {"A": {"cpu": "1"}}, "values": {"u": "1"}}
    high = {"prices": both, "values": {"v": "1/2"}}
    assert not verdict(shared(["A", "B", "C"], may, rows, [low, high], tasks))
    refused("the stages are not in order", shared(["A", "B", "C"], may, rows, [high, low], tasks))


def per_server(servers: list[dict[str, Any]], users: list[Any], rows: Any, tasks: Any, **more: Any) -> Document:
    """Return a certificate of PS-DSF for users (name, demand, weight)."""
    people = [{"name": name, "demand": demand, "weight": weight} for name, demand, weight in users]
    instance = {"server": [{"count": 1, **server} for server in servers], "user": people}
    claims = {"mechanism": "ps-dsf", "tasks": tasks}
    return document("allocation", instance, {"allocation": rows, **more}, claims)


def test_users_without_a_bottleneck() -> None:
    unit, users = [{"name": "A", "capacity": {"cpu": "1"}}], [("u", {"cpu": "1"}, "1"), ("v", {"cpu": "1"}, "1")]

    def split(u: str, v: str) -> Document:
        return per_server(unit, users, {"u": {"A": u}, "v": {"A": v}}, {"u": u, "v": v})

    assert not verdict(split("1/2", "1/2"))
    for u, v in (("1/4", "1/4"), ("3/4", "1/4"), ("1/4", "3/4"), ("1/2", "1/4")):
        refused("a user has no bottleneck at a server", split(u, v))
    refused("a server holds more than it can", split("1/2", "3/4"))
    refused("a server holds more than it can", split("1", "1"))
    both = [{"name": "A", "capacity": {"cpu": "1", "ram": "1"}}]
    apart = [("u", {"cpu": "1"}, "1"), ("v", {"ram": "1/4"}, "1/2")]

    def own(v: str) -> Document:
        return per_server(both, apart, {"u": {"A": "1"}, "v": {"A": v}}, {"u": "1", "v": v})

    assert not verdict(own("4"))
    refused("a user has no bottleneck at a server", own("3"))  # its level is above that of u, who has the cpu
    extra = per_server(unit, users, {"u": {"A": "1/2"}, "v": {"A": "1/2"}}, {"u": "1/2", "v": "1/2"}, stages=[])
    refused("prices belong to the mechanisms that are max-min fair in one number", extra)


def test_allocations_that_are_not_allowed_or_not_proved() -> None:
    half = {"A": {"cpu": "1/2"}, "B": {"cpu": "1/2"}}
    fair = [{"prices": half, "values": {"u": "1/2", "v": "1/2"}}]
    may, ones = {"u": ["A"], "v": None}, {"u": "1", "v": "1"}
    refused("a task may not run there", shared(["A", "B"], may, {"u": {"B": "1"}, "v": {"A": "1"}}, fair, ones))
    refused("tasks stand on an unknown server", shared(["A", "B"], may, {"u": {"C": "1"}, "v": {"A": "1"}}, fair, ones))
    less = {"u": {"A": "2", "B": "-1"}, "v": {"B": "1"}}
    refused("tasks is less than 0", shared(["A", "B"], may, less, fair, ones))
    debt = [{"prices": half, "values": {"u": "3/2", "v": "-1/2"}}]
    honest = {"u": {"A": "1"}, "v": {"B": "1"}}
    refused("a value is less than 0", shared(["A", "B"], may, honest, debt, ones))
    priced = "prices belong to the mechanisms that are max-min fair in one number"
    refused(priced, changed(CERTIFICATES["tsf, plain"], (("evidence", "stages"), GONE)))
    zero = {"u": {"A": "1", "B": "0"}, "v": {"B": "1"}}
    refused("tasks that are 0 are listed", shared(["A", "B"], may, zero, fair, ones))
    full = [{"prices": {"A": {"cpu": "1"}}, "values": {"u": "1/2", "v": "1/2"}}]
    both = {"u": None, "v": None}
    refused("a server holds more than it can", shared(["A"], both, {"u": {"A": "1"}, "v": {"A": "1"}}, full, ones))
    three = dict.fromkeys("uvw")  # the first has no task on the server that holds too much
    rows = {"u": {"B": "1"}, "v": {"A": "1"}, "w": {"A": "1"}}
    thirds = [{"prices": half, "values": dict.fromkeys("uvw", "1/3")}]
    refused("a server holds more than it can", shared(["A", "B"], three, rows, thirds, dict.fromkeys("uvw", "1")))
    unfair, tasks = {"u": {"A": "3/4"}, "v": {"A": "1/4"}}, {"u": "3/4", "v": "1/4"}
    last = {"prices": {"A": {"cpu": "1"}}, "values": {"u": "1", "v": "1"}}
    for price, worth, reason in (
        ("4", "4", "the prices do not sum to 1"),
        ("1/2", "1/2", "the prices do not sum to 1"),
        ("1", "1", "the tasks are not worth all resources"),
    ):
        first = {"prices": {"A": {"cpu": price}}, "values": {"v": worth}}
        refused(reason, shared(["A"], both, unfair, [first, last], tasks))
    refused("nothing proves that a user cannot have more", shared(["A"], both, unfair, [last], tasks))
    halves, equal = {"u": {"A": "1/2"}, "v": {"A": "1/2"}}, {"u": "1/2", "v": "1/2"}
    refused("a stage proves nothing of a further user", shared(["A"], both, halves, [last, last], equal))
    refused("nothing proves that a user cannot have more", shared(["A"], both, halves, [], equal))
    cases: list[tuple[Any, Any, str]] = [
        ({"B": {"cpu": "1"}}, {"u": "1"}, "prices of an unknown server"),
        ([], {"u": "1"}, "prices of an unknown server"),
        ({"A": {"cpu": "1", "ram": "0"}}, {"u": "1"}, "a price that is 0 is listed"),
        ({"A": {"cpu": "2", "ram": "-1"}}, {"u": "1"}, "prices is less than 0"),
        ({"A": {"cpu": "1"}}, {"w": "1"}, "a value of an unknown user"),
        ({"A": {"cpu": "1"}}, [], "a value of an unknown user"),
        ({"A": {"cpu": "1"}}, {"u": "0", "v": "1"}, "a value is 0"),
        ({"A": {"cpu": "1"}}, {}, "a value is 0"),
    ]
    for prices, values, reason in cases:
        stages = [{"prices": prices, "values": values}]
        refused(reason, shared(["A"], both, halves, stages, equal))
    refused("the mechanism is unknown", changed(CERTIFICATES["tsf, plain"], (("claims", "mechanism"), "drfh")))
