"""The answer of ``packproof solve``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import Bounds, CommandAnswer


class Solved(CommandAnswer):
    """The answer of ``solve``."""

    greedy: Greedy
    optimal: Optimal
    ratio: float
    ratio_exact: Annotated[Exact, Of("ratio")]
    guarantee: Exact
    guarantee_stagewise: Exact
    servers: WholeServers | UnsetType = UNSET


class Greedy(Answer):
    """The greedy assignment."""

    reward: Exact
    reward_float: Annotated[float, Of("reward")]
    permutation: list[str]
    stages: list[GreedyStage]
    served: dict[str, Exact]


class GreedyStage(Answer):
    """A stage of the greedy assignment; one pool has a configuration, several have one each."""

    fraction: Exact
    exhausts: str | None
    configuration: dict[str, int] | UnsetType = UNSET
    configurations: dict[str, dict[str, int]] | UnsetType = UNSET


class Optimal(Answer):
    """The optimal assignment and its prices."""

    reward_float: Annotated[float, Of("reward")]
    exact: Exact
    columns: list[Column]
    served: dict[str, Exact]
    slot_prices: dict[str, Exact]
    job_prices: dict[str, Exact]
    server_prices: dict[str, Exact]


class Column(Answer):
    """A configuration of a pool, and the fraction of all servers that take it."""

    pool: str
    configuration: dict[str, int]
    fraction: Exact


class WholeServers(Answer):
    """What ``--servers`` adds."""

    servers: int
    pools: dict[str, int]
    greedy: GreedyServers
    fluid: Exact
    loss: Exact
    loss_bound: Exact | None
    least_servers: Bounds


class GreedyServers(Answer):
    """Greedy placement on whole servers."""

    reward: Exact
    reward_float: Annotated[float, Of("reward")]
    stages: list[ServersStage]
    empty: int


class ServersStage(Answer):
    """A stage of greedy placement on whole servers."""

    servers: dict[str, int]
    configuration: dict[str, int] | UnsetType = UNSET
    configurations: dict[str, dict[str, int]] | UnsetType = UNSET
