"""Forged assignments and placements that agree with themselves: each breaks one condition, and is refused for it.

The instances are small enough to see by hand what is true of them; the honest certificate beside a forgery is accepted.
"""

from __future__ import annotations

from fractions import Fraction

from bounds import checker
from tests.checker.corpus import CERTIFICATES, GONE, Document, at, changed, document, refused, verdict


def contended() -> Document:
    """One slot a server for types a, which earns 10 and has half a job a server, and b, which earns 1 and has two.

    The optimum, like greedy, gives half of the time to each: 11/2. The prices 1 of a slot prove it: 9/2 + 0 + 1.
    """
    kinds = [
        {"name": name, "reward": reward, "workload": load, "service_rate": "1", "demand": {"cpu": "1"}}
        for name, reward, load in (("a", "10", "1/2"), ("b", "1", "2"))
    ]
    instance = {"server": [{"name": "s", "share": "1", "capacity": {"cpu": "1"}}], "type": kinds}
    evidence = {
        "permutation": ["a", "b"],
        "stages": [
            {"configurations": {"s": {"a": 1}}, "fraction": "1/2", "exhausts": ["a"]},
            {"configurations": {"s": {"b": 1}}, "fraction": "1/2", "exhausts": []},
        ],
        "columns": [
            {"pool": "s", "configuration": {"a": 1}, "fraction": "1/2"},
            {"pool": "s", "configuration": {"b": 1}, "fraction": "1/2"},
        ],
        "slot_prices": {"a": "1", "b": "1"},
        "server_prices": {"s": "1"},
    }
    claims = {
        "greedy": "11/2",
        "optimal": "11/2",
        "ratio": "1",
        "guarantee": "3/4",
        "guarantee_stagewise": "11/12",
    }
    return document("assignment", instance, evidence, claims)


def overstated(honest: Document, columns: list[tuple[str, str]], optimal: str, ratio: str) -> Document:
    """Return a forgery whose prices, all 0, let every job be served: they prove 7."""
    listed = [{"pool": "s", "configuration": {name: 1}, "fraction": fraction} for name, fraction in columns]
    return changed(
        honest,
        (("evidence", "columns"), listed),
        (("evidence", "slot_prices"), {"a": "0", "b": "0"}),
        (("evidence", "server_prices"), {"s": "0"}),
        (("claims", "optimal"), optimal),
        (("claims", "ratio"), ratio),
    )


def test_an_optimum_with_more_slots_than_work_of_one_type() -> None:
    """All servers are used and no more; a has 2/3 slots for 1/2 job, b is below its work: 20/3 + 1/3 = 7."""
    honest = contended()
    assert not verdict(honest)
    forged = overstated(honest, [("a", "2/3"), ("b", "1/3")], "7", "11/14")
    refused("the columns have more slots than work", forged)


def test_an_optimum_on_more_servers_than_there_are() -> None:
    forged = overstated(contended(), [("a", "1/2"), ("b", "2")], "7", "11/14")
    refused("the columns use too many servers", forged)


def test_an_optimum_that_no_columns_earn_or_no_prices_prove() -> None:
    honest = contended()
    refused(
        "the columns do not earn the optimal reward", overstated(honest, [("a", "1/2"), ("b", "1/2")], "7", "11/14")
    )
    under = changed(
        honest,
        (("evidence", "columns", 1, "fraction"), "1/4"),
        (("claims", "optimal"), "21/4"),
        (("claims", "ratio"), "22/21"),
    )
    refused("the prices do not prove the optimal reward", under)
    dear = changed(
        honest, (("evidence", "slot_prices"), {"a": "11", "b": "1"}), (("evidence", "server_prices", "s"), "11")
    )
    refused("a slot price is above the reward, or not 0 without workload", dear)
    idle = changed(CERTIFICATES["assignment, no work"], (("evidence", "slot_prices", "a"), "1"))
    refused("a slot price is above the reward, or not 0 without workload", idle)
    refused(
        "a server price is not the greatest value of a configuration",
        changed(honest, (("evidence", "server_prices", "s"), "1/2")),
    )


def test_every_claim_is_exact() -> None:
    reasons = {
        "greedy": "the greedy reward is not right",
        "optimal": "the columns do not earn the optimal reward",
        "ratio": "the ratio is not right",
        "guarantee": "the guarantee is not right",
        "guarantee_stagewise": "the stagewise guarantee is not right",
    }
    for honest in CERTIFICATES.values():
        if honest["kind"] == "assignment":
            for claim, reason in reasons.items():
                for step in (Fraction(1, 1000), Fraction(-1, 1000)):
                    other = Fraction(honest["claims"][claim]) + step
                    if other >= 0:
                        refused(reason, changed(honest, (("claims", claim), str(other))))


def test_permutations_that_are_none_or_not_greedys() -> None:
    order = "the permutation is not the order in which greedy exhausts the types"
    for honest in CERTIFICATES.values():
        if honest["kind"] not in ("assignment", "worst") or len(honest["instance"]["type"]) < 2:
            continue
        names = honest["evidence"]["permutation"]
        for other in (names + names[-1:], names[:-1], names[:-1] + names[:1], [*names[:-1], "z"]):
            none = changed(honest, (("evidence", "permutation"), other))
            refused("the permutation is none of the types", none)
        for i in range(len(names) - 1):
            swapped = [*names[:i], names[i + 1], names[i], *names[i + 2 :]]
            refused(order, changed(honest, (("evidence", "permutation"), swapped)))


def test_stages_that_are_missing_or_too_many() -> None:
    for honest in CERTIFICATES.values():
        if honest["kind"] == "assignment":
            stages = honest["evidence"]["stages"]
            for other in (stages[:-1], stages + stages[-1:]):
                if other != stages:
                    forged = changed(honest, (("evidence", "stages"), other))
                    refused("the number of greedy stages is not right", forged)


def test_a_type_that_ends_just_when_the_servers_do() -> None:
    """Half a job of b a server takes the other half of the time: all is served, and b is exhausted with the servers."""
    exact = changed(
        contended(),
        (("instance", "type", 1, "workload"), "1/2"),
        (("evidence", "stages", 1, "exhausts"), ["b"]),
        (("evidence", "slot_prices"), {"a": "0", "b": "0"}),
        (("evidence", "server_prices"), {"s": "0"}),
        (("claims", "guarantee"), "1"),
        (("claims", "guarantee_stagewise"), "1"),
    )
    assert not verdict(exact)
    refused("a stage does not exhaust what it says", changed(exact, (("evidence", "stages", 1, "exhausts"), [])))


def test_negative_amounts_and_prices() -> None:
    honest = contended()
    fraction = ("evidence", "columns", 1, "fraction")
    refused("a column is empty or not feasible", changed(honest, (fraction, "-1/2")))
    refused("a slot price is less than 0", changed(honest, (("evidence", "slot_prices", "b"), "-1/2")))
    refused("a server price is less than 0", changed(honest, (("evidence", "server_prices", "s"), "-1/2")))
    whole = changed(CERTIFICATES["assignment, one pool"], (("evidence", "servers", "slot_prices", "a"), "-1/2"))
    refused("a slot price is less than 0", whole)


def test_placements_that_are_not_greedy() -> None:
    """On ten servers greedy gives five to pairs of a and five to b."""
    one = CERTIFICATES["assignment, one pool"]

    def placed(*stages: tuple[dict[str, int], int], greedy: str) -> Document:
        listed = [{"configurations": {"s": k}, "servers": {"s": n}} for k, n in stages]
        return changed(one, (("evidence", "servers", "stages"), listed), (("claims", "servers", "greedy"), greedy))

    a, b, both = {"a": 2}, {"b": 1}, {"a": 1, "b": 1}
    assert not verdict(placed((a, 5), (b, 5), greedy="15"))
    refused("a stage is longer than its first type lasts", placed((a, 6), (b, 4), greedy="14"))
    refused("a stage ends before a type is exhausted", placed((a, 4), (b, 6), greedy="14"))
    refused("a stage ends before a type is exhausted", placed((a, 3), (a, 2), (b, 5), greedy="15"))
    refused("a configuration is not MaxReward of the types left", placed((both, 10), greedy="20"))
    refused("a configuration is not MaxReward of the types left", placed((b, 5), (a, 5), greedy="15"))
    refused("greedy placement has further stages", placed((a, 5), greedy="10"))
    refused("a stage comes after greedy placement has ended", placed((a, 5), (b, 5), (b, 1), greedy="15"))
    refused("a stage uses more servers than there are", placed((a, 11), greedy="10"))
    refused("a stage uses no server", placed((a, 0), (a, 5), (b, 5), greedy="15"))
    refused("the reward of greedy placement is not right", placed((a, 5), (b, 5), greedy="16"))


def test_numbers_of_servers_that_are_not_right() -> None:
    one, two = CERTIFICATES["assignment, one pool"], CERTIFICATES["assignment, least servers"]
    prices, columns, claims = (
        ("evidence", "servers", "slot_prices"),
        ("evidence", "servers", "columns"),
        ("claims", "servers"),
    )
    wrong = "the prices do not prove the least number of servers"
    for least in (9, 11, 12, 5, 1):
        refused(wrong, changed(one, ((*claims, "least"), least)))
    refused(wrong, changed(one, (prices, {"a": "1/10", "b": "1/10"}), ((*claims, "least"), 5)))
    refused(wrong, changed(one, (prices, {"a": "1/15", "b": "1/15"})))
    refused("prices that prove nothing are not 0", changed(one, ((*claims, "least"), 0)))
    assert not verdict(changed(one, (prices, {"a": "0", "b": "0"}), ((*claims, "least"), 0)))
    for big, little in ((3, 3), (1, 5), (2, 3), (2, 5)):
        pools = ("evidence", "servers", "split"), {"big": big, "little": little}
        refused("the servers of the pools are not in proportion to the shares", changed(two, pools))
    spare = [
        {"pool": "s", "configuration": {"a": 1, "b": 1}, "servers": 9},
        {"pool": "s", "configuration": {"a": 1}, "servers": 1},
    ]
    rest = {"pool": "s", "configuration": {"b": 1}, "servers": 1}
    assert not verdict(changed(one, (columns, [*spare, rest]), ((*claims, "most"), 11)))
    refused("the columns do not need as many servers as claimed", changed(one, (columns, [*spare, rest])))
    refused("the columns do not carry just the jobs", changed(one, (columns, spare)))
    refused(
        "the columns do not carry just the jobs",
        changed(one, (columns, [*spare[:1], {**spare[1], "servers": 2}, rest]), ((*claims, "most"), 12)),
    )
    refused("a column is empty or not feasible", changed(one, (columns, [at(one, columns)[0], {**rest, "servers": 0}])))
    refused("no servers", changed(one, ((*claims, "servers"), 0)))
    refused("a price where nothing is needed", changed(CERTIFICATES["assignment, no work"], ((*prices, "a"), "1")))
    refused("evidence and claims on whole servers do not go together", changed(one, (claims, GONE)))
    refused("evidence and claims on whole servers do not go together", changed(one, (("evidence", "servers"), GONE)))
    assert not verdict(changed(one, (claims, GONE), (("evidence", "servers"), GONE)))


def test_a_later_stage_that_is_a_server_too_long() -> None:
    """After seven wide and three tall servers, the second type lasts for three and two; (4, 2) is the next state."""
    two = CERTIFICATES["assignment, two pools"]
    second = ("evidence", "servers", "stages", 1, "servers")
    assert at(two, second) == {"wide": 3, "tall": 2}
    refused("a stage is longer than its first type lasts", changed(two, (second, {"wide": 4, "tall": 2})))


def test_the_corpus_has_every_kind_and_form() -> None:
    assert {row["kind"] for row in CERTIFICATES.values()} == set(checker.KINDS)
    mechanisms = {at(row, ("claims", "mechanism")) for row in CERTIFICATES.values() if row["kind"] == "allocation"}
    assert mechanisms == {"drf", *checker.LEVELLED, "ps-dsf", "ps-dsf-tdm"}


def test_stages_that_use_the_pools_out_of_proportion() -> None:
    """There are two big servers and four little ones: a stage of one big server has two little ones."""
    two = CERTIFICATES["assignment, least servers"]
    used = ("evidence", "servers", "stages", 0, "servers")
    cases = (
        (1, 1, "the servers of a stage are not in proportion"),
        (0, 2, "the servers of a stage are not in proportion"),
        (2, 2, "the servers of a stage are not in proportion"),
        (0, 1, "a stage ends before a type is exhausted"),  # a quarter of the time, before the first big one
        (1, 3, "a stage is longer than its first type lasts"),  # three quarters, before the second big one
    )
    for big, little, reason in cases:
        refused(reason, changed(two, (used, {"big": big, "little": little})))


def on_the_last_pool(shares: dict[str, str], jobs: int, claimed: Document) -> Document:
    """Return the certificate of jobs of size 2 on one server, of the first pool; only the last pool has servers of 2.

    None is served; prices of 1/jobs prove how many servers have enough of the last pool.
    """
    *narrow, wide = shares
    pools = [{"name": n, "share": s, "capacity": {"cpu": "2" if n == wide else "1"}} for n, s in shares.items()]
    kinds = [{"name": "t", "reward": "1", "workload": str(jobs), "service_rate": "1", "demand": {"cpu": "2"}}]
    held = {**{name: {} for name in narrow}, wide: {"t": 1}}
    evidence = {
        "permutation": ["t"],
        "stages": [{"configurations": held, "fraction": "1", "exhausts": []}],
        "columns": [{"pool": wide, "configuration": {"t": 1}, "fraction": shares[wide]}],
        "slot_prices": {"t": "1"},
        "server_prices": {**dict.fromkeys(narrow, "0"), wide: "1"},
        "servers": {
            "split" if "split" in claimed else "pools": {name: int(name == narrow[0]) for name in shares},
            "stages": [],
            "slot_prices": {"t": "1" if jobs == 1 else f"1/{jobs}"},
            "columns": [{"pool": wide, "configuration": {"t": 1}, "servers": jobs}],
        },
    }
    whole = {"servers": 1, "greedy": "0", **claimed}
    claims = {**dict.fromkeys(("ratio", "guarantee", "guarantee_stagewise"), "1"), "servers": whole}
    claims |= {"greedy": shares[wide], "optimal": shares[wide]}
    return document("assignment", {"server": pools, "type": kinds}, evidence, claims)


def least_servers(least: int, most: int, split: str | None = "largest remainders") -> Document:
    """Return the claimed bounds, with the split over the pools where there is one."""
    return {"least": least, "most": most, **({} if split is None else {"split": split})}


def test_servers_are_split_as_the_certificate_says() -> None:
    """At 4 : 1 the second pool has its first server of five if shares are rounded down, by largest remainders of three.

    At 3 : 3 : 1 the third has its second one of ten servers, and of eleven one again; its share of ten is 10/7.
    """
    low, most = (
        "the prices do not prove the least number of servers",
        "the columns do not need as many servers as claimed",
    )
    two, three = {"a": "4/5", "b": "1/5"}, {"a": "3/7", "b": "3/7", "c": "1/7"}
    for shares, jobs, down, remainders in ((two, 1, 5, 3), (three, 2, 14, 10)):
        for number, split in ((down, None), (remainders, "largest remainders")):
            assert not verdict(on_the_last_pool(shares, jobs, least_servers(number, number, split)))
            for other in (number - 1, number + 1, down + remainders - number):
                refused(low, on_the_last_pool(shares, jobs, least_servers(other, number, split)))
                refused(most, on_the_last_pool(shares, jobs, least_servers(number, other, split)))
            lost = on_the_last_pool(shares, jobs, least_servers(number, number, split))
            rule = GONE if split else "largest remainders"
            assert verdict(changed(lost, (("claims", "servers", "split"), rule)))
        refused(
            "the split of servers over pools is unknown",
            on_the_last_pool(shares, jobs, least_servers(down, down, "rounded down")),
        )
    # where both rules say the same, the certificate of one is none of the other: the claim is not lost
    halves = {"a": "1/2", "b": "1/2"}
    for split, other in ((None, "largest remainders"), ("largest remainders", GONE)):
        honest = on_the_last_pool(halves, 1, least_servers(2, 2, split))
        assert not verdict(honest)
        refused("evidence.servers does not have", changed(honest, (("claims", "servers", "split"), other)))
    one = CERTIFICATES["assignment, one pool"]
    refused(
        "the split of servers over pools is unknown",
        changed(one, (("claims", "servers", "split"), "largest remainders")),
    )


def test_of_shares_that_are_far_apart_the_last_numbers_are_tried() -> None:
    """Rounded down, 2,000,001 servers have one of the last pool; the thousand numbers below are tried."""
    shares = {"a": "1000000/2000001", "b": "1000000/2000001", "c": "1/2000001"}
    assert not verdict(on_the_last_pool(shares, 1, least_servers(666_667, 1_999_001)))
    for most in (1_999_000, 1_999_002, 2_000_001):
        assert verdict(on_the_last_pool(shares, 1, least_servers(666_667, most)))


def test_a_pool_without_a_server() -> None:
    """One server goes to the narrow pool, of 4/5, where no job of size 2 fits; five servers have a wide one."""
    stages = ("evidence", "servers", "stages")
    honest = on_the_last_pool({"a": "4/5", "b": "1/5"}, 1, least_servers(5, 5, None))
    assert not verdict(honest)
    idle = {"configurations": {"a": {}, "b": {"t": 1}}, "servers": {"a": 1, "b": 0}}
    refused("a stage comes after greedy placement has ended", changed(honest, (stages, [idle])))
    refused("the reward of greedy placement is not right", changed(honest, (("claims", "servers", "greedy"), "1")))
    fits = changed(honest, (("instance", "server", 0, "capacity", "cpu"), "2"), (("claims", "optimal"), "1"))
    assert verdict(fits), "where the job fits the only server, a placement without stages is not greedy"
