"""Instances, clusters and laws of sizes that make no sense: each is refused for what is wrong with it."""

from __future__ import annotations

from typing import Any

from tests.checker.corpus import CERTIFICATES, GONE, changed, refused, verdict


def test_an_instance_that_makes_no_sense() -> None:
    one, both, listed = "assignment, one pool", "assignment, both kinds of pools", "assignment, explicit configurations"
    server, kind = ("instance", "server"), ("instance", "type")
    cases: list[tuple[str, tuple[Any, ...], Any, str]] = [
        (one, ("instance",), [], "instance is no table"),
        (one, server, {}, "instance.server is no list"),
        (one, kind, {}, "instance.type is no list"),
        (one, kind, [], "type names are missing or stand twice"),
        (one, (*kind, 1, "name"), "a", "type names are missing or stand twice"),
        (one, (*kind, 1, "name"), "", "a type's name is no name"),
        (one, (*kind, 1, "more"), 1, "a type does not have"),
        (one, (*kind, 0, "reward"), "0", "a reward or a service rate is not positive"),
        (one, (*kind, 0, "service_rate"), "0", "a reward or a service rate is not positive"),
        (one, (*kind, 0, "service_rate"), "-1", "a reward or a service rate is not positive"),
        (one, (*kind, 0, "reward"), "-1", "a reward is less than 0"),
        (one, (*kind, 0, "workload"), "-1", "a workload is less than 0"),
        (one, (*kind, 0, "demand"), [], "a demand is no table"),
        (one, (*kind, 0, "demand"), {"r1": "-1"}, "a demand is less than 0"),
        (one, (*kind, 0, "demand"), {"r2": "1"}, "a demand is for a resource of no server"),
        (one, (*kind, 0, "demand"), {"r1": "0"}, "a type has no positive demand"),
        (one, (*kind, 0, "demand"), GONE, "a type has no positive demand"),
        (one, (*kind, 0, "demand"), {"r1": "13"}, "a type fits no server"),
        (one, (*server, 0, "name"), 1, "a server's name is no name"),
        (one, (*server, 0, "share"), "0", "a share is 0"),
        (one, (*server, 0, "share"), "-1", "a share is less than 0"),
        (one, (*server, 0, "share"), "1/2", "the shares do not sum to 1"),
        (one, (*server, 0, "share"), "3/2", "the shares do not sum to 1"),
        (one, (*server, 0, "capacity"), [], "a capacity is no table"),
        (one, (*server, 0, "capacity"), {}, "a server has neither resources nor configurations"),
        (one, (*server, 0, "capacity"), {"r1": "-12"}, "a capacity is less than 0"),
        (one, (*server, 0, "capacity"), GONE, "a server has not either capacity or configurations"),
        (one, (*server, 0, "configurations"), [[1, 1]], "a server has not either capacity or configurations"),
        (listed, (*server, 0, "configurations"), [[1, 1]], "a configuration has not one entry for every type"),
        (listed, (*server, 0, "configurations"), [[1, 1, 1, 1]], "a configuration has not one entry for every type"),
        (listed, (*server, 0, "configurations"), [], "a server has neither resources nor configurations"),
        (listed, (*server, 0, "configurations"), {}, "configurations is no list"),
        (listed, (*server, 0, "configurations"), [{}], "a configuration is no list"),
        (listed, (*server, 0, "configurations"), [[1, 1, -1]], "a slot is no whole number"),
        (listed, (*server, 0, "configurations"), [[1, 1, 0]], "a type fits no server"),
        (both, (*server, 1, "name"), "sum", "pool names stand twice"),
        (both, (*kind, 1, "demand"), {"r1": "0"}, "a type has no positive demand"),
    ]
    for name, path, value, reason in cases:
        refused(reason, changed(CERTIFICATES[name], (path, value)))


def test_a_cluster_that_makes_no_sense() -> None:
    plain, tight, own, alone = "tsf, plain", "tsf, constrained", "tsf, effective", "drf, constrained"
    useless = "an effective capacity is 0, or of a resource that the server does not have"
    server, user = ("instance", "server"), ("instance", "user")
    cases: list[tuple[str, tuple[Any, ...], Any, str]] = [
        (plain, ("instance",), {}, "instance does not have"),
        (plain, server, {}, "instance.server is no list"),
        (plain, user, {}, "instance.user is no list"),
        (plain, (*server, 1, "name"), "A", "server names stand twice"),
        (plain, (*server, 1, "name"), "", "a server's name is no name"),
        (plain, (*server, 1, "capacity"), [], "a capacity is no table"),
        (plain, (*server, 1, "capacity"), {"": "1"}, "a capacity is no name"),
        (plain, (*server, 1, "capacity"), {"cpu": "-1"}, "a capacity is less than 0"),
        (plain, (*server, 1, "count"), 0, "a server's count is 0"),
        ("tsf, alone", (*server, 1, "capacity"), {}, "a server has no positive capacity"),  # nobody may run there
        ("tsf, alone", (*server, 1, "capacity"), {"cpu": "0"}, "a server has no positive capacity"),
        (plain, (*server, 1, "count"), GONE, "a server does not have"),
        (plain, (*user, 1, "name"), "u", "user names stand twice"),
        (plain, (*user, 1, "name"), None, "a user's name is no name"),
        (plain, (*user, 1, "weight"), "0", "a weight or a demand makes no sense"),
        (plain, (*user, 1, "weight"), "-1", "a weight is less than 0"),
        (plain, (*user, 1, "demand"), {"cpu": "0"}, "a weight or a demand makes no sense"),
        (plain, (*user, 1, "demand"), {"disk": "1"}, "a weight or a demand makes no sense"),
        (plain, (*user, 1, "demand"), {"cpu": "-1"}, "a demand is less than 0"),
        (plain, (*user, 1, "servers"), {}, "a user's servers is no list"),
        (plain, (*user, 1, "servers"), [], "a user fits no server"),
        (plain, (*user, 1, "servers"), ["C"], "a user names an unknown server"),
        (plain, (*user, 1, "servers"), ["A", "A"], "a user names a server twice"),
        (plain, (*user, 1, "servers"), [""], "a server is no name"),
        (plain, (*user, 0, "servers"), ["B"], "a user fits no server"),  # B has no net
        (tight, (*server, 0, "name"), "D", "a user names an unknown server"),
        (own, (*user, 0, "effective"), [], "effective: unknown server"),
        (own, (*user, 0, "effective"), {"C": {"cpu": "1"}}, "effective: unknown server"),
        (own, (*user, 0, "effective", "B"), [], "an effective capacity is no table"),
        (own, (*user, 0, "effective", "B", "cpu"), "-1", "an effective capacity is less than 0"),
        (own, (*user, 0, "effective", "B", "cpu"), "0", useless),
        (own, (*user, 0, "effective", "B"), {"disk": "1"}, useless),
        (alone, (*user, 1, "servers"), [], "a user fits no server"),  # the servers count as one, and are read apart
        (alone, (*user, 1, "servers"), None, "a user has a field without a value"),
    ]
    for name, path, value, reason in cases:
        refused(reason, changed(CERTIFICATES[name], (path, value)))
    everywhere = {"A": {"cpu": "4"}, "B": {"cpu": "6", "ram": "3"}}  # what A has anyway changes nothing
    assert not verdict(changed(CERTIFICATES[own], ((*user, 0, "effective"), everywhere)))
    for path, reason in ((server, "a weight or a demand makes no sense"), (user, "no users or no servers")):
        empty = {"allocation": {}, "stages": []}
        claims = ("claims", "tasks"), {}
        refused(reason, changed(CERTIFICATES[plain], (path, []), (("evidence",), empty), claims))
    refused("effective: unknown server", changed(CERTIFICATES["drf, effective"], ((*user, 0, "effective"), {"C": {}})))


def test_a_law_that_makes_no_sense() -> None:
    sizes = ("instance", "sizes")
    ranged, one = "a size or a probability is out of range", "there is not exactly one law"
    summed = "the probabilities do not sum to 1"
    cases: list[tuple[str, tuple[Any, ...], Any, str]] = [
        ("atoms", sizes, [], "instance.sizes is no table"),
        ("atoms", (*sizes, "servers"), 0, "no servers"),
        ("atoms", (*sizes, "servers"), "3", "servers is no whole number"),
        ("atoms", (*sizes, "discrete"), GONE, one),
        ("atoms", (*sizes, "uniform"), ["0", "1"], one),
        ("atoms", (*sizes, "discrete"), [], "the law is no table"),
        ("atoms", (*sizes, "discrete"), {}, summed),
        ("atoms", (*sizes, "discrete"), {"1/2": "1/2"}, summed),
        ("atoms", (*sizes, "discrete"), {"1/2": "1/2", "1/3": "2/3"}, summed),
        ("atoms", (*sizes, "discrete"), {"0": "1"}, ranged),
        ("atoms", (*sizes, "discrete"), {"-1/2": "1"}, ranged),
        ("atoms", (*sizes, "discrete"), {"3/2": "1"}, ranged),
        ("atoms", (*sizes, "discrete"), {"1/2": "0", "1/3": "1"}, ranged),
        ("atoms", (*sizes, "discrete"), {"1/2": "-1", "1/3": "2"}, ranged),
        ("uniform", (*sizes, "uniform"), ["1/2", "1/3"], ranged),
        ("uniform", (*sizes, "uniform"), ["-1/2", "1/3"], ranged),
        ("uniform", (*sizes, "uniform"), ["1/2", "4/3"], ranged),
        ("uniform", (*sizes, "uniform"), ["1/2"], "a piece has not two ends and a probability"),
        ("uniform", (*sizes, "uniform"), "ab", "uniform is no list"),
        ("mixed", (*sizes, "piecewise"), {"a": 1}, "piecewise is no list"),
        ("mixed", (*sizes, "piecewise"), ["abc"], "a piece is no list"),
        ("mixed", (*sizes, "piecewise"), [["0", "1"]], "a piece has not two ends and a probability"),
        ("mixed", (*sizes, "piecewise"), [["0", "1", "1", "1"]], "a piece has not two ends and a probability"),
        ("uniform", (*sizes, "uniform"), ["0", "1", "1"], "a piece has not two ends and a probability"),
        ("mixed", (*sizes, "piecewise"), [["0", "1", "1/2"], ["1/2", "1", "1/2"]], "pieces overlap"),
        ("mixed", (*sizes, "piecewise"), [["0", "1/2", "1/2"], ["1/2", "1", "1/4"]], summed),
    ]
    for name, path, value, reason in cases:
        refused(reason, changed(CERTIFICATES[f"throughput, {name}"], (path, value)))
