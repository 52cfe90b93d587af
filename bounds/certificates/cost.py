"""The certificate of the least cost of servers that hold given jobs, between two bounds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from bounds.certificates.document import by_pool, by_type, servers_document, signed
from theory.errors import ArgumentError
from theory.exact.knapsack import max_weight, weight
from theory.files.instances import instance_document
from theory.greedy.cheapest import CheapestServers
from theory.greedy.offers import Offer, working
from theory.instance import Instance
from theory.numbers import text


def cost_certificate(
    instance: Instance, offers: Sequence[Offer], found: CheapestServers, spare: int = 0
) -> dict[str, Any]:
    """Return the certificate of `theory.greedy.cheapest.cheapest_servers`, whose arguments the others are.

    Its lower bound is what the slot prices prove, rounded up to a multiple of what divides all prices. The one of
    `found` can be higher: branching and all packings of a short list leave no evidence that is short.

    Raises
    ------
    ArgumentError
        No servers were found, so that there is no upper bound.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.greedy.cheapest import cheapest_servers
    >>> from theory.instance import pooled
    >>> kinds = pooled([(1, [4]), (1, [10])], [[2], [3]])
    >>> offers = [Offer(Fraction(4)), Offer(Fraction(9))]
    >>> found = cheapest_servers(kinds, offers, [Fraction(4), Fraction(2)])
    >>> claims = checker.check(cost_certificate(kinds, offers, found))
    >>> claims["lower"], claims["upper"], claims["servers"]
    ('13', '13', {'pool1': 1, 'pool2': 1})
    """
    if found.servers is None or found.upper is None:
        raise ArgumentError("found", "expected servers that hold the jobs, found none")
    slots = range(len(instance.names))
    need = [sum(number * k[j] for _, k, number in found.columns) for j in slots]
    prices = [price if n else Fraction(0) for price, n in zip(found.slot_prices, need, strict=True)]
    evidence = {
        "slot_prices": by_type(instance, prices),
        "columns": servers_document(instance, found.columns),
    }
    question = {
        "jobs": dict(zip(instance.names, need, strict=True)),
        "offers": by_pool(instance, [_offered(offer) for offer in offers]),
        "spare": spare,
    }
    priced = priced_cost(instance, offers, need, prices, spare)
    claims = {
        "priced": text(priced),
        "lower": text(_rounded_up(priced, offers)),
        "upper": text(found.upper),
        "servers": by_pool(instance, found.servers),
    }
    return signed("cost", instance_document(instance) | question, evidence, claims)


def _offered(offer: Offer) -> dict[str, Any]:
    most = {} if offer.most is None else {"most": offer.most}
    return {"price": text(offer.price), "have": offer.have, **most}


def priced_cost(
    instance: Instance, offers: Sequence[Offer], need: Sequence[int], slot_prices: Sequence[Fraction], spare: int
) -> Fraction:
    """Return a cost below which no servers hold the jobs, by slot prices; each of the servers holds at least a job."""
    least, jobs = weight(need, slot_prices), sum(need)
    unit = lcm(*(price.denominator for price in slot_prices))
    weights = [int(price * unit) for price in slot_prices]
    for pool, offer in zip(instance.pools, offers, strict=True):
        worth = weight(max_weight(pool.space, weights, compiled=False), slot_prices)
        most = working(offer, spare, jobs)
        free = min(offer.have, most)
        least -= worth * free + max(worth - offer.price, Fraction(0)) * (most - free)
    return least


def _rounded_up(cost: Fraction, offers: Sequence[Offer]) -> Fraction:
    """Return the least multiple, at least 0, of what divides all prices: a cost is a whole number of each."""
    scale = lcm(*(offer.price.denominator for offer in offers))
    step = Fraction(gcd(*(int(offer.price * scale) for offer in offers)), scale)
    return -(-max(cost, Fraction(0)) // step) * step if step else Fraction(0)
