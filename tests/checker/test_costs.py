"""Forged certificates of the least cost of servers that agree with themselves: each is refused for what it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checker.corpus import CERTIFICATES, GONE, at, changed, refused, verdict

BOTH, LIMIT, EXIST = CERTIFICATES["cost, both kinds"], CERTIFICATES["cost, a limit"], CERTIFICATES["cost, some exist"]


def test_what_the_corpus_says() -> None:
    """Two of a server of 4, or one of 10, hold four jobs of 2 and two of 3: 14 units of work, and 13 is the cost."""
    claims = at(BOTH, ("claims",))
    assert (claims["lower"], claims["upper"], claims["servers"]) == ("13", "13", {"little": 1, "big": 1})
    assert all(at(row, ("claims", "lower")) for name, row in CERTIFICATES.items() if name.startswith("cost, "))


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (("claims", "lower"), "14", "the lower bound is not right"),
        (("claims", "lower"), "12", "the lower bound is not right"),
        (("claims", "upper"), "12", "the servers do not cost what is claimed"),
        (("claims", "servers", "big"), 2, "the columns do not use as many servers as claimed"),
        (("instance", "jobs", "a"), 5, "the cost that the prices prove is not right"),
        (("instance", "spare"), 1, "the servers do not cost what is claimed"),
        (("instance", "offers", "big", "price"), "10", "the lower bound is not right"),
        (("instance", "offers", "big", "price"), "-1", "a price is less than 0"),
        (("instance", "offers", "big", "have"), 2, "the cost that the prices prove is not right"),
        (("instance", "offers", "big", "most"), 0, "there are not so many servers"),
        (("instance", "offers", "big"), {"price": "9", "have": 3, "most": 2}, "more servers exist than there may be"),
        (("instance", "offers", "big"), GONE, "instance.offers does not have"),
        (("evidence", "slot_prices", "a"), "-1", "a slot price is less than 0"),
        (("evidence", "columns", 0, "servers"), 2, "the columns do not hold just the jobs"),
    ],
)
def test_each_claim_is_verified(place: tuple[Any, ...], value: Any, reason: str) -> None:
    refused(reason, changed(BOTH, (place, value)))


def test_servers_that_exist_and_limits_lower_the_bound() -> None:
    """More servers that cost nothing, or fewer that may be bought, change what the same prices prove."""
    for honest in (LIMIT, EXIST):
        assert not verdict(honest)
        offers = at(honest, ("instance", "offers"))
        assert any(
            verdict(changed(honest, (("instance", "offers", name, "have"), one["have"] + 1)))
            for name, one in offers.items()
        )
