"""Offers of servers: what one of a kind costs, how many there may be, and how many exist already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import ArgumentError


@dataclass(frozen=True)
class Offer:
    """What servers of a kind cost.

    Attributes
    ----------
    price : Fraction
        Of one server, at least 0.
    most : int or None
        Most servers of the kind, in all; None for no limit.
    have : int
        Servers that exist already, which cost nothing.
    """

    price: Fraction
    most: int | None = None
    have: int = 0


def expect_offers(offers: Sequence[Offer], pools: int) -> None:
    """Refuse offers that are not one a pool, or out of range."""
    if len(offers) != pools:
        raise ArgumentError("offers", f"expected {pools}, one a pool, got {len(offers)}")
    for offer in offers:
        if offer.price < 0 or offer.have < 0 or (offer.most is not None and offer.most < offer.have):
            raise ArgumentError(
                "offers", f"expected a price and have of at least 0, and most of at least have: {offer}"
            )


def working(offer: Offer, spare: int, jobs: int) -> int:
    """Return the most servers of a kind that hold jobs: each holds at least one, and some are in reserve."""
    return jobs if offer.most is None else min(max(offer.most - spare, 0), jobs)


def cost_of(offers: Sequence[Offer], servers: Sequence[int], spare: int) -> Fraction | None:
    """Return what servers cost with their reserve; None where there are not so many.

    >>> cost_of([Offer(Fraction(3), most=9, have=2), Offer(Fraction(5))], [4, 0], 1)
    Fraction(9, 1)
    """
    cost = Fraction(0)
    for offer, number in zip(offers, servers, strict=True):
        if number:
            if offer.most is not None and number + spare > offer.most:
                return None
            cost += offer.price * max(number + spare - offer.have, 0)
    return cost


def bought(offers: Sequence[Offer], servers: Sequence[int], spare: int) -> tuple[int, ...]:
    """Return the servers of each kind that are paid for, those in reserve among them."""
    pairs = zip(offers, servers, strict=True)
    return tuple(max(number + spare - offer.have, 0) if number else 0 for offer, number in pairs)
