"""The answer of ``packproof region``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import Bounds, CommandAnswer


class RegionAnswer(CommandAnswer):
    """The answer of ``region``; numbers of configurations are sums over the pools, the empty one included."""

    configurations: int | None
    maximal: int | None
    pools: dict[str, PoolCount]
    facets: list[FacetRow] | None
    facets_reason: str | None
    vertices: list[dict[str, Exact]] | None
    traffic_intensity: Exact
    traffic_intensity_float: Annotated[float, Of("traffic_intensity")]
    supportable: bool
    boundary: dict[str, Exact] | None
    prices: dict[str, Exact]
    price_support: Exact
    columns: list[CarryingColumn]
    headroom: dict[str, Exact] | None
    headroom_reason: str | None
    servers_needed: ServersNeeded
    slice: Cut | UnsetType = UNSET


class PoolCount(Answer):
    """A pool and its numbers of configurations; null where they cannot be counted."""

    share: Exact
    configurations: int | None
    maximal: int | None


class FacetRow(Answer):
    """A facet: normal . x <= offset, the normal in coprime integers."""

    normal: dict[str, Exact]
    offset: Exact


class CarryingColumn(Answer):
    """A configuration of a pool, and an amount of servers for each server there is."""

    pool: str
    configuration: dict[str, int]
    fraction: Exact


class ServersNeeded(Answer):
    """Servers for each one there is; of so many servers, how many keep queues bounded and hold all jobs at once."""

    per_server: Exact
    servers: int | UnsetType = UNSET
    supportable: int | UnsetType = UNSET
    at_once: Bounds | UnsetType = UNSET


class Cut(Answer):
    """A slice: where it turns, its inequalities, and the workload of the other types."""

    types: list[str]
    workload: dict[str, Exact]
    vertices: list[dict[str, Exact]]
    edges: list[FacetRow]
