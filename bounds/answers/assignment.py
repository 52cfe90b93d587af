"""Answers of ``packproof solve``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, NOTES, Answer, Exact, Head, Of
from bounds.answers.shared import Bounds, CommandAnswer


class Solved(CommandAnswer):
    """The answer of ``solve``."""

    greedy: Annotated[Greedy, Head("greedy assignment")]
    optimal: Annotated[Optimal, Head("optimal assignment")]
    ratio: Annotated[float, Head("greedy reward, of the optimal reward", share=True)]
    ratio_exact: Annotated[Exact, Of("ratio"), Head("the same, exactly")]
    guarantee: Annotated[Exact, Head("guaranteed by the fractions of the greedy stages", share=True)]
    guarantee_stagewise: Annotated[Exact, Head("guaranteed by the best of these stages", share=True)]
    servers: Annotated[WholeServers | UnsetType, Head("whole servers")] = UNSET


class Approximated(CommandAnswer):
    """The answer of ``solve --oracle fptas``: greedy with an approximate oracle, and what is proved of it."""

    oracle: str
    epsilon: Annotated[Exact, HIDDEN]
    alpha: Annotated[Exact, Head("alpha: of the greatest reward, earned by each stage at least", share=True)]
    greedy: Annotated[Greedy, Head("greedy assignment")]
    upper_bound: Annotated[Exact, Head("the optimal reward is at most")]
    guarantee: Annotated[Exact, Head("guaranteed by the fractions of the greedy stages", share=True)]
    guarantee_stagewise: Annotated[Exact, Head("guaranteed by the best of these stages", share=True)]
    guarantee_of_size: Annotated[Exact, Head("guaranteed for J types, 1 - (1 - alpha/J)^J", share=True)]
    notes: Annotated[list[str], NOTES]


class Greedy(Answer):
    """The greedy assignment."""

    reward: Annotated[Exact, Head("reward per server")]
    reward_float: Annotated[float, Of("reward")]
    permutation: Annotated[list[str], Head("types in the order in which they run out")]
    stages: Annotated[list[GreedyStage], Head("greedy assignment, stage by stage")]
    served: Annotated[dict[str, Exact], Head("served, jobs per server", by="type")]


class GreedyStage(Answer):
    """A stage of the greedy assignment; one pool has a configuration, several have one each."""

    fraction: Annotated[Exact, Head("of the servers", share=True)]
    exhausts: Annotated[str | None, Head("until this type runs out")]
    configuration: dict[str, int] | UnsetType = UNSET
    configurations: Annotated[dict[str, dict[str, int]] | UnsetType, Head("configuration of each pool")] = UNSET


class Optimal(Answer):
    """The optimal assignment and its prices."""

    reward_float: Annotated[float, Of("reward")]
    exact: Annotated[Exact, Head("reward per server")]
    columns: Annotated[list[Column], Head("optimal assignment, by configuration")]
    served: Annotated[dict[str, Exact], Head("served, jobs per server", by="type")]
    slot_prices: Annotated[dict[str, Exact], Head("price of a slot", by="type")]
    job_prices: Annotated[dict[str, Exact], Head("one more job is worth", by="type")]
    server_prices: Annotated[dict[str, Exact], Head("one more server is worth", by="pool")]


class Column(Answer):
    """A configuration of a pool, and the fraction of all servers that take it."""

    pool: Annotated[str, HIDDEN]
    configuration: dict[str, int]
    fraction: Annotated[Exact, Head("of the servers", share=True)]


class WholeServers(Answer):
    """What ``--servers`` adds."""

    servers: int
    pools: Annotated[dict[str, int], Head("servers of each pool")]
    greedy: Annotated[GreedyServers, Head("greedy placement on whole servers")]
    fluid: Annotated[Exact, Head("reward of the fluid limit on these servers")]
    loss: Annotated[Exact, Head("lost by whole servers")]
    loss_bound: Annotated[Exact | None, Head("the loss is at most (Lemma B.1, many servers)")]
    least_servers: Annotated[Bounds, Head("least number of servers that carry the workload")]


class GreedyServers(Answer):
    """Greedy placement on whole servers."""

    reward: Exact
    reward_float: Annotated[float, Of("reward")]
    stages: Annotated[list[ServersStage], Head("whole servers, stage by stage")]
    empty: Annotated[int, Head("servers that stay empty")]


class ServersStage(Answer):
    """A stage of greedy placement on whole servers."""

    servers: Annotated[dict[str, int], Head("servers of each pool")]
    configuration: dict[str, int] | UnsetType = UNSET
    configurations: Annotated[dict[str, dict[str, int]] | UnsetType, Head("configuration of each pool")] = UNSET
