"""What the servers of a plan cost: in words, as a part of its answer, and in tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from bounds.answers.plan import CostBetween, PlanAnswer, PlanMix
from bounds.answers.record import Fields, named
from bounds.certificates.cost import cost_certificate
from bounds.views.panels import Bars
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table
from bounds.views.spans import moment
from bounds.views.text import many
from fluid.simulation.ticks import in_units
from fluid.traces.jobs import TICK
from theory.errors import quoted
from theory.greedy.offers import bought

if TYPE_CHECKING:
    from fluid.planning.mixes import CheapestPlan, Mix, MixNeed
    from theory.greedy.cheapest import CheapestServers

MEAN = "carries the mean workload"
PEAK = "holds the fullest instant"
ALWAYS = "holds the most VMs of each type at any time"


def cost_fields(cheapest: CheapestPlan) -> Fields:
    """Return the part of the answer about costs."""
    pools, market = cheapest.instance.pools, cheapest.market

    def servers(mix: Mix | None) -> dict[str, int] | None:
        return None if mix is None else named(pools, mix)

    def between(found: CheapestServers, *, proof: bool = True) -> Fields:
        certificate = None
        if proof and found.servers is not None:
            certificate = cost_certificate(cheapest.instance, market.offers, found, market.spare)
        return Fields(found, servers=servers(found.servers), certificate=certificate)

    def of_policy(need: MixNeed) -> Fields:
        paid = None if need.mix is None else bought(market.offers, need.mix, market.spare)
        return Fields(need, servers=servers(need.mix), paid=servers(paid))

    pairs = zip(pools, market.offers, strict=True)
    return Fields(
        cost=None if cheapest.best is None else cheapest.best.cost,
        kinds=[Fields(offer, server=pool.name) for pool, offer in pairs],
        spare=market.spare,
        mean=between(cheapest.mean),
        peak=None if cheapest.peak is None else between(cheapest.peak),
        at=float(in_units(cheapest.at, TICK)),
        always=None if cheapest.always is None else between(cheapest.always, proof=False),
        policies=[of_policy(need) for need in cheapest.policies],
    )


def policy_in_words(policy: str) -> str:
    """Write the name of a policy in a table, which says that dra is greedy reservation."""
    return f"{policy} (greedy reservation)" if policy == "dra" else policy


def price_in_words(cost: Fraction | float) -> str:
    """Write a cost with two decimals, or as many as it takes for four digits.

    >>> price_in_words(Fraction(1234)), price_in_words(51.234), price_in_words(Fraction(1, 300))
    ('1,234', '51.23', '0.003333')
    """
    value = float(cost)
    if value >= 1:
        return f"{value:,.2f}".removesuffix(".00")
    return f"{value:.4g}"


def servers_in_words(servers: Mapping[str, int]) -> str:
    """Write a mix of servers.

    >>> servers_in_words({"c5": 8, "m5": 0, "r5": 4})
    '8 c5 and 4 r5'
    """
    parts = [f"{number:,} {quoted(name)}" for name, number in servers.items() if number]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "no server"


def mix_in_words(cheapest: CheapestPlan, need: MixNeed) -> str:
    """Write the mix that a policy needs, and what it costs, as a sentence begins."""
    assert need.mix is not None and need.cost is not None  # noqa: PT018
    market, pools = cheapest.market, cheapest.instance.pools
    reserve = f", with {market.spare} more of each in reserve" if market.spare else ""
    total = many(sum(need.mix), "server")
    words = f"{total} ({servers_in_words(named(pools, need.mix))}{reserve}) for {price_in_words(need.cost)}"
    exist = any(number and offer.have for number, offer in zip(need.mix, market.offers, strict=True))
    if exist:
        paid = servers_in_words(named(pools, bought(market.offers, need.mix, market.spare)))
        words += f" ({paid} to pay for)"
    return words


def bounds_in_words(cheapest: CheapestPlan) -> str:
    """Write the bounds of the cost, for the end of a sentence."""
    mean = _between(cheapest.mean.lower, cheapest.mean.upper)
    if cheapest.peak is None:
        return f"the least cost that carries its mean workload is {mean}, and there are too few for its fullest instant"
    peak = _between(cheapest.peak.lower, cheapest.peak.upper)
    return f"the least cost that carries its mean workload is {mean}, and that holds its fullest instant {peak}"


def _between(lower: Fraction | float, upper: Fraction | float | None) -> str:
    if upper is None:
        return f"{price_in_words(lower)} or more"
    low, high = price_in_words(lower), price_in_words(upper)
    return high if lower == upper else f"{low} to {high}"


def cost_tables(answer: PlanAnswer, attained_words: Callable[[float], str]) -> list[Table]:
    """Return the kinds on offer, the bounds of the cost, and the cheapest mix found for each policy."""
    cost = answer.cost
    assert cost
    offers = [
        [one.server, price_in_words(one.price), "no limit" if one.most is None else f"{one.most:,}", f"{one.have:,}"]
        for one in cost.kinds
    ]
    reserve = f", {cost.spare} in reserve of each kind that is used" if cost.spare else ""
    kinds = Table(f"servers on offer{reserve}", ["server", "price", "at most", "exist"], offers, [False] + [True] * 3)
    return [kinds, _bounds(answer), _mixes(cost.policies, attained_words)]


def _bounds(answer: PlanAnswer) -> Table:
    cost = answer.cost
    assert cost
    instant = f"{PEAK} ({moment(answer.log.begins, cost.at)})"
    rows = [_bound(what, one) for what, one in ((MEAN, cost.mean), (instant, cost.peak), (ALWAYS, cost.always))]
    head = ["what", "costs at least", "a mix costs", "that mix"]
    return Table("least cost of servers, if VMs may be moved (exact bounds)", head, rows, [False] * len(head))


def _bound(what: str, found: CostBetween | None) -> list[str]:
    if found is None:
        return [what, "too few servers", "-", "-"]
    upper = "none was found" if found.upper is None else price_in_words(found.upper)
    mix = "-" if found.servers is None else servers_in_words(found.servers)
    return [what, price_in_words(found.lower), upper, mix]


def _mixes(policies: Sequence[PlanMix], attained_words: Callable[[float], str]) -> Table:
    rows = [
        [
            policy_in_words(one.policy),
            "not met" if one.cost is None else price_in_words(one.cost),
            "-" if one.servers is None else servers_in_words(one.servers),
            attained_words(one.attained),
            f"{one.tried:,}",
        ]
        for one in policies
    ]
    head = ["policy", "costs", "servers", "attained", "mixes simulated"]
    return Table("the cheapest mix found (simulated)", head, rows, [False] * len(head))


def cost_picture(answer: PlanAnswer) -> Picture:
    """Return the bounds of the cost, and what the cheapest mix found for each policy costs."""
    cost = answer.cost
    assert cost
    bounds = {MEAN: cost.mean, PEAK: cost.peak}
    ends = {
        **{what: (one.lower, one.upper or one.lower) for what, one in bounds.items() if one is not None},
        **{drawn(one.policy): (one.cost, one.cost) for one in cost.policies if one.cost is not None},
    }
    parts = [
        ("cost", [float(low) for low, _ in ends.values()]),
        ("up to: the mix found", [float(high - low) for low, high in ends.values()]),
    ]
    caption = "Least cost of servers: bounds, and the cheapest mix found on which each policy meets the target."
    return Picture(caption, Bars("cost (units of the prices)", list(ends), parts))
