"""The servers of a plan: a mix that is fixed by shares, or kinds on offer with prices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from bounds.cli.instance import pool_table
from bounds.cli.options import named_values, read_number
from theory.errors import InputError, listed, meant

if TYPE_CHECKING:
    from fluid.planning import Market

OPTION = "--server"
TERMS = ("price", "most", "have")


class Servers(NamedTuple):
    """Tables ``[[server]]``, and what they cost where they are on offer."""

    pools: list[dict[str, Any]]
    market: Market | None


def servers_of(options: Sequence[str], spare: int = 0) -> Servers:
    """Read the servers of a plan.

    Each is ``name=A,cpu=80,memory=640`` with perhaps ``share=`` (of a fixed mix), or ``price=``, ``most=`` and
    ``have=`` (on offer), and ``overhead=cpu:0.5,memory:2`` (what a server cannot use); or types of the catalogue, with
    more of these words after a comma.
    """
    stated = [words for option in options for words in _of_catalogue(option)]
    terms, overheads, pools = [], [], []
    for number, words in enumerate(stated, 1):
        table, parts = dict(words), {}
        for name in (*TERMS, "overhead"):
            if name in table:
                parts[name] = table.pop(name)
        pool = pool_table(",".join(f"{name}={value}" for name, value in table.items()), number, several=len(stated) > 1)
        overheads.append(parts.pop("overhead", ""))
        pools.append(_less(pool, overheads[-1]))
        terms.append(parts)
    return Servers(pools, _market(pools, terms, spare))


def _of_catalogue(option: str) -> list[dict[str, str]]:
    """Return the words of an option; of each type of the catalogue where it names some."""
    from theory.numbers import text

    first, *others = _parts(option)
    if "=" in first or ":" not in first:
        return [named_values(OPTION, [first, *others], "cpu=NUMBER,memory=NUMBER", got=option[:60])]
    from theory.files.price_catalogue import catalogue, matching, near

    names = matching(first)
    if not names:
        hint = near(first)
        raise InputError(
            OPTION,
            f"{first[:60]!r}: expected cpu=NUMBER,memory=NUMBER, or types of the catalogue such as 'aws:m5.*'"
            + (f"; near names: {', '.join(hint)}" if hint else ""),
        )
    more = named_values(
        OPTION, others, "price=NUMBER, most=NUMBER, have=NUMBER or overhead=cpu:NUMBER", got=option[:60]
    )
    machines = {name: catalogue()[name] for name in names}
    return [
        {"name": name, "cpu": text(Fraction(one.vcpu)), "memory": text(one.memory), "price": text(one.price), **more}
        for name, one in machines.items()
    ]


def _parts(option: str) -> list[str]:
    """Return the parts between commas; those of ``overhead=cpu:0.5,memory:2`` stay together.

    >>> _parts("cpu=4,overhead=cpu:0.5,memory:2,price=3")
    ['cpu=4', 'overhead=cpu:0.5,memory:2', 'price=3']
    """
    parts: list[str] = []
    for part in option.split(","):
        if parts and parts[-1].strip().startswith("overhead") and "=" not in part and ":" in part:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _less(pool: dict[str, Any], overhead: str) -> dict[str, Any]:
    """Return a server without what it cannot use."""
    from theory.numbers import text

    if not overhead:
        return pool
    capacity = dict(pool["capacity"])
    parts = [part.replace(":", "=", 1) for part in overhead.split(",")]
    for name, value in named_values(
        f"{OPTION}: overhead", parts, "cpu:NUMBER,memory:NUMBER", got=overhead[:60]
    ).items():
        if name not in capacity:
            raise InputError(
                f"{OPTION}: overhead", f"{name[:60]}: expected one of {listed(capacity)}{meant(name, capacity)}"
            )
        amount = read_number(f"{OPTION}: overhead: {name}", value)
        if not 0 <= amount < Fraction(capacity[name]):
            expected = f"expected at least 0 and less than the {capacity[name]} that the server has"
            raise InputError(f"{OPTION}: overhead: {name}", f"{expected}, got {value[:60]}")
        capacity[name] = text(Fraction(capacity[name]) - amount)
    return {**pool, "capacity": capacity}


def _market(pools: Sequence[dict[str, Any]], terms: Sequence[dict[str, str]], spare: int) -> Market | None:
    """Return what servers cost; None where none has a price."""
    from fluid.planning import Market
    from theory.greedy import Offer

    if not any("price" in parts for parts in terms):
        if any(terms):
            raise InputError(OPTION, "expected a price=NUMBER of at least one kind of server beside most= and have=")
        if spare:
            raise InputError("--spare", "expected a price=NUMBER of at least one kind of server")
        return None
    offers = []
    for pool, parts in zip(pools, terms, strict=True):
        name = str(pool.get("name", "server"))[:60]
        if "share" in pool:
            raise InputError(OPTION, f"{name}: expected a share= (of a fixed mix) or prices (of candidates), not both")
        have = _whole(name, "have", parts.get("have", "0"))
        if "price" not in parts and not have:
            raise InputError(
                OPTION, f"{name}: expected price=NUMBER, as others have, or have=NUMBER of servers that exist"
            )
        price = read_number(f"{OPTION}: {name}: price", parts.get("price", "0"))
        if price < 0:
            raise InputError(f"{OPTION}: {name}: price", f"expected at least 0, got {parts['price'][:60]}")
        # without a price there are no more than exist
        most = _whole(name, "most", parts["most"]) if "most" in parts else None if "price" in parts else have
        if most is not None and most < have:
            raise InputError(f"{OPTION}: {name}: most", f"expected at least the {have} that exist, got {most}")
        offers.append(Offer(price, most, have))
    return Market(tuple(offers), spare)


def _whole(name: str, what: str, value: str) -> int:
    number = read_number(f"{OPTION}: {name}: {what}", value)
    if number < 0 or number.denominator > 1:
        raise InputError(f"{OPTION}: {name}: {what}", f"expected a whole number of at least 0, got {value[:60]}")
    return int(number)
