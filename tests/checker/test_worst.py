"""Forged certificates of worst workloads, and an oracle: the conditions of the proof, by listing all configurations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from tests.checker.corpus import CERTIFICATES, FALSE, GONE, Document, Path_, at, changed, refused, verdict

WORST = {name: document for name, document in CERTIFICATES.items() if document["kind"] == "worst"}
REFUTED = "the prices do not refute an order"
FOLLOWING = "the prices do not refute the orders that follow"


class Oracle:
    """The types of a document, with all configurations of each pool, few as they are."""

    def __init__(self, document: Document) -> None:
        kinds = document["instance"]["type"]
        self.names = [kind["name"] for kind in kinds]
        self.rewards = [Fraction(kind["reward"]) for kind in kinds]
        self.ratio = Fraction(document["claims"]["ratio"])
        self.pools = [(Fraction(pool["share"]), self._listed(pool, kinds)) for pool in document["instance"]["server"]]

    @staticmethod
    def _listed(pool: Document, kinds: list[Document]) -> list[tuple[int, ...]]:
        if "configurations" in pool:
            return [k for top in pool["configurations"] for k in product(*(range(n + 1) for n in top))]
        (capacity,) = map(Fraction, pool["capacity"].values())
        demands = [Fraction(kind["demand"]["r1"]) for kind in kinds]
        most = [int(capacity / d) for d in demands]
        return [
            k
            for k in product(*(range(n + 1) for n in most))
            if sum(n * d for n, d in zip(k, demands, strict=True)) <= capacity
        ]

    def stage(self, types: list[int]) -> list[Fraction]:
        """Return the slots of an average server filled greedily with some types, ties to the first in order."""
        slots = [Fraction(0)] * len(self.names)
        for share, listed in self.pools:
            only = [k for k in listed if all(j in types or not n for j, n in enumerate(k))]
            best = max(only, key=lambda k: (self.worth(k, self.rewards), k))
            slots = [s + share * n for s, n in zip(slots, best, strict=True)]
        return slots

    @staticmethod
    def worth(slots: Any, prices: list[Fraction]) -> Fraction:
        return sum((n * p for n, p in zip(slots, prices, strict=True)), Fraction(0))

    def refutes(self, node: Document, left: list[int], ended: list[int], path: list[list[Fraction]]) -> bool:
        """Return whether an order of the certificate, and all that follow it, are refuted by their prices."""
        path = [*path, self.stage(left)]
        if ended and not self.priced(node["prices"], ended, path, None):
            return False
        for j in left if len(left) > 1 else []:
            if not path[-1][j]:
                continue
            below, rest = node["after"][self.names[j]], [i for i in left if i != j]
            if "after" in below:
                if not self.refutes(below, rest, [*ended, j], path):
                    return False
            else:
                alone = min(self.worth(self.stage([i]), self.rewards) for i in rest)
                if not self.priced(below["prices"], [*ended, j], path, alone):
                    return False
        return True

    def priced(self, prices: Document, ended: list[int], path: list[list[Fraction]], least: Fraction | None) -> bool:
        b = [Fraction(0)] * len(self.names)
        for j in ended:
            b[j] = Fraction(prices[self.names[j]])
        c = [max(Fraction(0), self.ratio * u - p) for u, p in zip(self.rewards, b, strict=True)]
        tau = sum((share * max(self.worth(k, c) for k in listed) for share, listed in self.pools), Fraction(0))
        kept = all(self.worth(s, b) + tau <= self.worth(s, self.rewards) for s in path)
        return kept and (least is None or tau <= least)


def prices_of(node: Document, path: Path_) -> Iterator[Path_]:
    """Yield the path of every price of an order and of those that follow."""
    for name in node["prices"]:
        yield (*path, "prices", name)
    for name, below in node.get("after", {}).items():
        yield from prices_of(below, (*path, "after", name))


def test_prices_refute_what_the_definition_says() -> None:
    draw, agreed = random.Random(7), {True: 0, False: 0}
    for name, document in WORST.items():
        oracle, found = Oracle(document), list(prices_of(document["evidence"]["orders"], ("evidence", "orders")))
        types = list(range(len(oracle.names)))
        assert oracle.refutes(document["evidence"]["orders"], types, [], []), name
        for _ in range(20 if found else 0):
            chosen = draw.sample(found, draw.randint(1, min(2, len(found))))
            change = [Fraction(draw.choice([-1, 1]), draw.choice([3, 10, 100, 1000])) for _ in chosen]
            new = [max(Fraction(0), Fraction(at(document, p)) + d) for p, d in zip(chosen, change, strict=True)]
            forged = changed(document, *zip(chosen, map(str, new), strict=True))
            expected = oracle.refutes(forged["evidence"]["orders"], types, [], [])
            said = verdict(forged)
            assert said in (("",) if expected else (REFUTED, FOLLOWING)), (name, chosen, new, said)
            agreed[expected] += 1
    assert min(agreed.values()) > 20, agreed


def test_a_workload_that_is_not_the_worst() -> None:
    for document in FALSE.values():
        refused(REFUTED, document)


def test_each_reason_to_refuse() -> None:
    two, three = CERTIFICATES["worst, two types"], CERTIFICATES["worst, three types"]
    first = ("evidence", "orders", "after", "a")
    half = ("evidence", "columns", 0, "fraction"), "1/2"
    refused("the ratio is above 1", changed(two, half, (("claims", "ratio"), "3/2")))
    refused("the workload does not attain the ratio", changed(two, half))
    refused("the workload does not attain the ratio", changed(two, (("claims", "ratio"), "1/2")))
    idle = [(("instance", "type", j, "workload"), "0") for j in (0, 1)]
    refused("the workload does not attain the ratio", changed(two, *idle, (("evidence", "columns"), [])))
    refused("a price is less than 0", changed(two, ((*first, "prices", "a"), "-1/2")))
    refused("an order is no table", changed(two, (first, "1/2")))
    refused("prices does not have the fields a", changed(two, ((*first, "prices"), {})))
    refused("the orders after does not have the fields a", changed(two, (first, GONE)))
    refused("claims.ratio is less than 0", changed(two, (("claims", "ratio"), "-3/4")))
    swapped = changed(three, (("evidence", "permutation"), ["a", "b", "c"]))
    refused("the permutation is not the order in which greedy exhausts the types", swapped)


def test_an_order_may_be_followed_to_its_last_type() -> None:
    """With one type left nothing can be exhausted before all is served: such an order has none after it."""
    two = CERTIFICATES["worst, two types"]
    last = ("evidence", "orders", "after", "a")
    assert not verdict(changed(two, ((*last, "after"), {})))
    refused("the orders after does not have", changed(two, ((*last, "after"), {"b": {"prices": {}}})))
