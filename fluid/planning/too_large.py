"""Tasks that fit no server: which they are, and what the servers have too little of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.numbers import many, text


@dataclass(frozen=True)
class TooLarge:
    """Tasks of one demand that fit no server.

    Attributes
    ----------
    tasks : int
    demand : mapping of str to Fraction
    short : mapping of str to int
        The number of kinds of servers that have too little of a resource, by resource.
    kinds : int
        Kinds of servers in all.
    """

    tasks: int
    demand: Mapping[str, Fraction]
    short: Mapping[str, int]
    kinds: int

    def why(self) -> str:
        """Say what there is too little of, and on how many kinds of servers.

        >>> TooLarge(1, {}, {"memory": 8, "cpu": 2}, 9).why()
        'insufficient memory on 8 of 9 kinds of servers, insufficient cpu on 2'
        """
        every = f"of {many(self.kinds, 'kind')} of servers"
        parts = [f"insufficient {name} on {number}" for name, number in self.short.items()]
        return ", ".join([f"{parts[0]} {every}", *parts[1:]])

    def in_words(self) -> str:
        """Say which tasks fit no server, and why."""
        asked = ", ".join(f"{name} = {text(amount)}" for name, amount in self.demand.items())
        fit = "fits" if self.tasks == 1 else "fit"
        return f"{many(self.tasks, 'task')} with {asked} {fit} no server: {self.why()}"


def shortage(demand: Mapping[str, Fraction], servers: Sequence[Mapping[str, Fraction]]) -> dict[str, int]:
    """Return on how many kinds of servers a demand exceeds each resource, most first; nothing where it fits one.

    >>> kinds = [{"cpu": Fraction(8), "memory": Fraction(16)}, {"cpu": Fraction(4), "memory": Fraction(64)}]
    >>> shortage({"cpu": Fraction(6), "memory": Fraction(32)}, kinds)
    {'cpu': 1, 'memory': 1}
    >>> shortage({"cpu": Fraction(6), "memory": Fraction(16)}, kinds)
    {}
    """
    exceeded = [[name for name, amount in demand.items() if amount > kind.get(name, 0)] for kind in servers]
    if not all(exceeded):
        return {}
    counts = {name: sum(name in names for names in exceeded) for name in demand}
    return {name: number for name, number in sorted(counts.items(), key=lambda one: -one[1]) if number}
