"""Forged certificates of what a rule keeps: each agrees with itself, breaks one condition, and is refused for it."""

from __future__ import annotations

from typing import Any

from tests.checker.corpus import CERTIFICATES, GONE, Document, changed, document, refused, verdict

HALVES = CERTIFICATES["packing, halves"]
NOTHING = CERTIFICATES["packing, nothing"]
FIFTHS = CERTIFICATES["packing, fifths"]
TYPE = CERTIFICATES["rule, one type"]
USERS = CERTIFICATES["fair-share, two users"]


def packed(capacity: Any, sizes: Any, rule: Any, packing: Any, prices: Any, **claims: Any) -> Document:
    """Return a certificate of a packing."""
    instance = {"items": {"capacity": capacity, "sizes": sizes}}
    return document("packing", instance, {"rule": rule, "packing": packing, "prices": prices}, claims)


def test_packings_that_are_none() -> None:
    evidence = ("evidence", "packing")
    refused("a bin holds more than it can", changed(HALVES, (evidence, [0, 0, 0, 1])))
    refused("there is not one bin for every item", changed(HALVES, (evidence, [0, 0, 1])))
    refused("the bins are not numbered in order", changed(HALVES, (evidence, [0, 0, 2, 2])))
    refused("the bins are not numbered in order", changed(HALVES, (evidence, [1, 1, 0, 0])))
    refused("a bin is no whole number", changed(HALVES, (evidence, [0, 0, -1, -1])))
    refused("the number of bins is not right", changed(HALVES, (evidence, [0, 0, 1, 2])))
    refused("a bin holds more than it can", changed(HALVES, (("evidence", "rule"), [0, 0, 0, 0])))
    refused("the number of the rule's bins is not right", changed(HALVES, (("evidence", "rule"), [0, 0, 1, 2])))
    # an item of size 0 may lie in a full bin, but not in one that does not exist
    assert not verdict(changed(NOTHING, (("evidence", "packing"), [0, 1, 1])))
    refused("the bins are not numbered in order", changed(NOTHING, (("evidence", "packing"), [0, 3, 1])))


def test_bounds_that_prices_do_not_prove() -> None:
    prices, bound, least = ("evidence", "prices"), ("claims", "bound"), ("claims", "least")
    # three items of 2 into bins of 5: two a bin, so each is worth 1/2, and 2 bins are needed
    dear = [(prices, ["1"]), (bound, "3"), (least, 3)]
    refused("items that fit a bin are worth more than 1", changed(FIFTHS, *dear))
    cheap = [(prices, ["1/3"]), (bound, "1"), (least, 1)]
    undecided = "the ratio is decided if least is most, and at most that otherwise"
    refused(undecided, changed(FIFTHS, *cheap))
    ratio, at_most = ("claims", "ratio"), ("claims", "ratio_at_most")
    # prices that prove less are right, too
    assert not verdict(changed(FIFTHS, *cheap, (ratio, GONE), (at_most, "2/3")))
    refused("the ratio is not right", changed(FIFTHS, *cheap, (ratio, GONE), (at_most, "1/3")))
    refused(undecided, changed(FIFTHS, (ratio, GONE), (at_most, "2/3")))
    # three bins for items that the rule put into two, and a ratio above 1
    worse = (("evidence", "packing"), [0, 1, 2]), (("claims", "most"), 3), (("evidence", "rule"), [0, 0, 1])
    refused("the packing has more bins than the rule", changed(FIFTHS, *worse, (("claims", "bins"), 2)))
    refused("the prices do not prove the bound", changed(FIFTHS, (prices, ["1/3"])))
    refused("the prices do not prove the bound", changed(FIFTHS, (bound, "2")))
    refused("the least number is not right", changed(FIFTHS, (least, 3)))
    refused("the least number is not right", changed(FIFTHS, (least, 1)))
    refused("there is not one price for every size", changed(FIFTHS, (prices, ["1/2", "0"])))
    refused("there is not one price for every size", changed(FIFTHS, (prices, [])))
    refused("a price is less than 0", changed(FIFTHS, (prices, ["-1/2"])))
    refused("the ratio is not right", changed(FIFTHS, (("claims", "ratio"), "1/3")))
    refused("a price is no exact number", changed(FIFTHS, (prices, [1])))


def test_items_that_make_no_sense() -> None:
    claims = {"bins": 1, "least": 1, "most": 1, "bound": "1", "ratio": "1"}
    assert not verdict(packed([2], [[2]], [0], [0], ["1"], **claims))
    refused("a capacity is 0", packed([0], [[0]], [0], [0], ["1"], **claims))
    refused("a capacity is 0", packed([], [[]], [0], [0], ["1"], **claims))
    refused("a capacity is 0", packed([2, 0], [[2, 0]], [0], [0], ["1"], **claims))
    refused("an item has not one size a resource", packed([2], [], [], [], [], **claims))
    refused("an item has not one size a resource", packed([2], [[1, 1]], [0], [0], ["1"], **claims))
    refused("an item has not one size a resource", packed([2, 2], [[1, 1], [1]], [0, 0], [0, 0], ["1"], **claims))
    refused("a size is no whole number", packed([2], [[-2]], [0], [0], ["1"], **claims))
    refused("a bin holds more than it can", packed([2], [[3]], [0], [0], ["1"], **claims))
    # both resources count: an item that fits in one of them does not fit
    refused("a bin holds more than it can", packed([4, 4], [[1, 3], [1, 3]], [0, 0], [0, 0], ["1/2"], **claims))
    refused("a bin holds more than it can", packed([4, 4], [[3, 1], [3, 1]], [0, 0], [0, 0], ["1/2"], **claims))


def test_assignments_of_rules() -> None:
    rule, claims = ("evidence", "rule"), ("claims", "rule")
    column = TYPE["evidence"]["rule"][0]
    # the rule serves two of the first type, and there is work for two: rewards of 3
    assert TYPE["claims"] == {"rule": "6", "optimal": "7", "ratio": "6/7"}
    refused("the reward of the rule is not right", changed(TYPE, (claims, "7"), (("claims", "ratio"), "1")))
    twice = changed(TYPE, (rule, [{**column, "fraction": "2"}]))
    refused("the rule uses too many servers", twice)
    refused("the columns are not in order", changed(TYPE, (rule, [column, column])))
    # half of the servers serve half; a slot without a job earns nothing
    half = changed(TYPE, (rule, [{**column, "fraction": "1/2"}]), (claims, "3"), (("claims", "ratio"), "3/7"))
    assert not verdict(half)
    idle = {"server": [{"name": "s", "share": "1", "capacity": {"r": "2"}}], "type": []}
    idle["type"] = [{"name": "a", "reward": "1", "workload": "1", "service_rate": "1", "demand": {"r": "1"}}]
    two = [{"pool": "s", "configuration": {"a": 2}, "fraction": "1"}]
    evidence = {
        "rule": two,
        "columns": [{"pool": "s", "configuration": {"a": 2}, "fraction": "1/2"}],
        "slot_prices": {"a": "0"},
        "server_prices": {"s": "0"},
    }
    assert not verdict(document("rule", idle, evidence, {"rule": "1", "optimal": "1", "ratio": "1"}))
    said = document("rule", idle, evidence, {"rule": "2", "optimal": "1", "ratio": "2"})
    refused("the reward of the rule is not right", said)
    refused("the columns do not earn the optimal reward", changed(TYPE, (("evidence", "columns"), [column])))
    low = changed(TYPE, (("evidence", "columns"), [column]), (("claims", "optimal"), "6"), (("claims", "ratio"), "1"))
    refused("the prices do not prove the optimal reward", low)
    refused("the ratio is not right", changed(TYPE, (("claims", "ratio"), "5/7")))
    none = [{**idle["type"][0], "workload": "0"}]
    empty = {**evidence, "columns": []}
    nothing = document("rule", {**idle, "type": none}, empty, {"rule": "0", "optimal": "0", "ratio": "1"})
    refused("the columns do not earn the optimal reward", nothing)


def test_fair_shares() -> None:
    evidence, claims = USERS["evidence"], USERS["claims"]
    refused("claims.user is no user", changed(USERS, (("claims", "user"), "u9")))
    refused("the tasks of the user are not right", changed(USERS, (("claims", "user"), "u1")))
    refused("the fair share of the user is not right", changed(USERS, (("claims", "fair"), "4")))
    refused("the ratio is not right", changed(USERS, (("claims", "ratio"), "1")))
    refused("the tasks of the user are not right", changed(USERS, (("claims", "tasks"), claims["fair"])))
    refused("the resource is not the bottleneck of all users", changed(USERS, (("claims", "resource"), "r9")))
    # tasks beyond the capacity, of the rule and of the fair division
    refused("a server holds more than it can", changed(USERS, (("evidence", "allocation", "u2"), {"s1": "5"})))
    refused("a server holds more than it can", changed(USERS, (("evidence", "fair", "u2"), {"s1": "5"})))
    refused("a task may not run there", changed(USERS, (("evidence", "allocation", "u1"), {"s2": "1"})))
    refused("a task may not run there", changed(USERS, (("evidence", "fair", "u1"), {"s2": "1"})))
    # a division that is not fair has no prices that prove it
    unfair = changed(USERS, (("evidence", "fair", "u2"), {"s2": "3/2"}))
    refused("the tasks are not worth all resources", unfair)
    refused("nothing proves that a user cannot have more", changed(USERS, (("evidence", "stages"), [])))
    assert evidence["stages"]


def test_levels_count_the_amount_of_the_resource_by_weight() -> None:
    """One server, two users: u takes 1 a task, v takes 2 and has twice the weight. Of 6 units u gets 2 and v 4."""
    users = [
        {"name": "u", "demand": {"r": "1"}, "weight": "1"},
        {"name": "v", "demand": {"r": "2"}, "weight": "2"},
    ]
    instance: Document = {"server": [{"name": "s", "capacity": {"r": "6"}, "count": 1}], "user": users}
    stages = [{"prices": {"s": {"r": "1"}}, "values": {"u": "1/6", "v": "1/3"}}]
    evidence: Document = {"allocation": {"u": {"s": "1"}, "v": {}}, "fair": {"u": {"s": "2"}, "v": {"s": "2"}}}
    evidence["stages"] = stages
    said = {"resource": "r", "user": "u", "tasks": "1", "fair": "2", "ratio": "1/2"}
    honest = document("fair-share", instance, evidence, said)
    assert not verdict(honest)
    none = {**said, "user": "v", "tasks": "0", "ratio": "0"}
    assert not verdict(changed(honest, (("claims",), none)))
    # equal tasks by number (2 and 2 are levels 2 and 2), or 4 and 1: levels 4 and 1, and then nothing proves v
    tilted = {"u": {"s": "4"}, "v": {"s": "1"}}
    refused(
        "nothing proves that a user cannot have more",
        changed(honest, (("evidence", "fair"), tilted), (("claims", "fair"), "4"), (("claims", "ratio"), "1/4")),
    )
    own = changed(honest, (("instance", "user", 0, "effective"), {"s": {"r": "12"}}))
    refused("a user has effective capacities", own)
    # another resource that limits one of them: r is not the bottleneck
    wide = [{**users[0], "demand": {"r": "1", "q": "1"}}, users[1]]
    narrow = {"server": [{"name": "s", "capacity": {"r": "6", "q": "2"}, "count": 1}], "user": wide}
    refused("the resource is not the bottleneck of all users", changed(honest, (("instance",), narrow)))
    unnamed = [{**users[0], "demand": {"q": "1"}}, users[1]]
    refused(
        "the resource is not the bottleneck of all users",
        changed(honest, (("instance",), {**narrow, "user": unnamed})),
    )


def test_no_part_of_the_evidence_may_be_absent() -> None:
    for name in ("packing, halves", "rule, one type", "fair-share, two users"):
        for part in CERTIFICATES[name]["evidence"]:
            assert verdict(changed(CERTIFICATES[name], (("evidence", part), GONE))).startswith("evidence does not have")
