"""The answer of ``packproof region``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, Answer, Exact, Head, Of
from bounds.answers.shared import Bounds, CommandAnswer
from theory.errors import quoted


class RegionAnswer(CommandAnswer):
    """The answer of ``region``; numbers of configurations are sums over the pools, the empty one included."""

    configurations: Annotated[int | None, Head("configurations of a server")]
    maximal: Annotated[int | None, Head("maximal configurations of a server")]
    pools: Annotated[dict[str, PoolCount], Head("configurations of each pool", by="pool")]
    facets: Annotated[list[FacetRow] | None, Head("facets, beside those at 0")]
    facets_reason: Annotated[str | None, Head("facets")]
    vertices: Annotated[list[dict[str, Exact]] | None, HIDDEN]
    traffic_intensity: Annotated[Exact, Head("traffic intensity")]
    traffic_intensity_float: Annotated[float, Of("traffic_intensity")]
    supportable: Annotated[bool, Head("the servers carry the workload")]
    boundary: Annotated[dict[str, Exact] | None, Head("at the boundary, jobs per server", by="type")]
    prices: Annotated[dict[str, Exact], Head("price of a job", by="type")]
    price_support: Annotated[Exact, Head("most that a server can hold at these prices, on average")]
    columns: Annotated[list[CarryingColumn], Head("servers that carry the workload, for each one there is")]
    headroom: Annotated[dict[str, Exact] | None, Head("room for this type alone, jobs per server", by="type")]
    headroom_reason: Annotated[str | None, Head("room for each type alone")]
    servers_needed: Annotated[ServersNeeded, Head("servers needed")]
    slice: Annotated[Cut | UnsetType, Head("slice by two types, the others as they are")] = UNSET


class PoolCount(Answer):
    """A pool and its numbers of configurations; null where they cannot be counted."""

    share: Annotated[Exact, Head("of the servers", share=True)]
    configurations: int | None
    maximal: int | None


class FacetRow(Answer):
    """A facet: normal . x <= offset, the normal in coprime integers."""

    normal: dict[str, Exact]
    offset: Exact

    def in_words(self) -> str:
        """Return the inequality, such as ``small + 4 large <= 12``."""
        terms = [quoted(name) if a == "1" else f"{a} {quoted(name)}" for name, a in self.normal.items() if a != "0"]
        return f"{' + '.join(terms)} <= {self.offset}"


class CarryingColumn(Answer):
    """A configuration of a pool, and an amount of servers for each server there is."""

    pool: str
    configuration: dict[str, int]
    fraction: Annotated[Exact, Head("servers")]


class ServersNeeded(Answer):
    """Servers for each one there is; of so many servers, how many keep queues bounded and hold all jobs at once."""

    per_server: Annotated[Exact, Head("for each one there is, to keep queues bounded: more than")]
    servers: Annotated[int | UnsetType, Head("servers that bring the workload")] = UNSET
    supportable: Annotated[int | UnsetType, Head("needed for queues that stay bounded, at least")] = UNSET
    at_once: Annotated[Bounds | UnsetType, Head("needed to hold all jobs at once, at least")] = UNSET


class Cut(Answer):
    """A slice: where it turns, its inequalities, and the workload of the other types."""

    types: list[str]
    workload: Annotated[dict[str, Exact], Head("workload, jobs per server", by="type")]
    vertices: Annotated[list[dict[str, Exact]], HIDDEN]
    edges: Annotated[list[FacetRow], Head("edges of the slice")]
