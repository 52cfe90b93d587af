"""``packproof throughput`` of items of several resources: the bins that they need, from both sides."""

from __future__ import annotations

from fractions import Fraction

from bounds.views.text import Answer, Exact, many
from theory.errors import quoted
from theory.files.items import ItemList
from theory.greedy.servers import LeastServers, least_servers
from theory.numbers import text

MOST_SHOWN = 20
"""Kinds of bins that the text shows."""


class ItemKind(Answer, frozen=True):
    """Equal items: their sizes by resource, how many there are, and the price of one that proves the lower bound."""

    size: dict[str, Exact]
    count: int
    price: Exact


class Filled(Answer, frozen=True):
    """Equal bins: how many there are, and the places for items in each, by the place of the kind from 0."""

    bins: int
    places: dict[str, int]


class ItemBins(Answer, frozen=True):
    """The least number of bins for a list of items lies between `at_least` and `at_most`, and they are proved.

    At the prices of `kinds` the items are worth more than ``at_least - 1`` bins can be, whatever these hold (where one
    resource alone binds, `at_least` may be proved by bins that hold no more items of a kind than there are); `packing`
    has places for all items in `at_most` bins.
    """

    items: int
    capacity: dict[str, Exact]
    at_least: int
    at_most: int
    exact: bool
    kinds: list[ItemKind]
    packing: list[Filled]


def items_answer(given: ItemList) -> ItemBins:
    """Solve the configuration program and return the answer."""
    found: LeastServers = least_servers(given.instance(), list(map(Fraction, given.counts)))
    rows = zip(given.sizes, given.counts, found.slot_prices, strict=True)
    return ItemBins(
        items=sum(given.counts),
        capacity=dict(zip(given.resources, map(text, given.capacity), strict=True)),
        at_least=found.lower,
        at_most=found.upper,
        exact=found.lower == found.upper,
        kinds=[
            ItemKind(size=dict(zip(given.resources, map(text, size), strict=True)), count=count, price=text(price))
            for size, count, price in rows
        ],
        packing=[
            Filled(bins=number, places={str(k): places for k, places in enumerate(column) if places})
            for _, column, number in found.columns
        ],
    )


def items_lines(answer: ItemBins) -> list[str]:
    """Return the answer as text."""
    number = (
        f"{answer.at_least:,}, exactly" if answer.exact else f"at least {answer.at_least:,}, at most {answer.at_most:,}"
    )
    lines = [
        f"bins for {many(answer.items, 'item')} of {many(len(answer.kinds), 'kind')}: {number}",
        "  lower bound: the configuration program over all resources, exact; upper bound: the packing below",
        "",
    ]
    for filled in answer.packing[:MOST_SHOWN]:
        held = " + ".join(f"{places} of ({_size(answer.kinds[int(k)])})" for k, places in filled.places.items())
        lines.append(f"  {many(filled.bins, 'bin')}: {held}")
    if len(answer.packing) > MOST_SHOWN:
        lines.append(f"  and {len(answer.packing) - MOST_SHOWN:,} more, which --json has")
    return lines


def _size(kind: ItemKind) -> str:
    return ", ".join(f"{quoted(name)} {size}" for name, size in kind.size.items())
