"""The answer of ``packproof plan``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, LINES, Answer, Exact, Head, Of, expect_keys
from bounds.answers.shared import CommandAnswer
from theory.errors import quoted

WORKLOAD = "workload by type"
GREEDY = "greedy reservation (the policy dra), which fills servers with the VMs of the greatest reward"


def split_in_words(pools: Mapping[str, int] | UnsetType | None) -> str:
    """Write the servers of each pool, for after their sum; nothing where there is one pool.

    >>> split_in_words({"big": 7, "small": 1})
    ' (7 big, 1 small)'
    """
    return f" ({', '.join(f'{count:,} {quoted(name)}' for name, count in pools.items())})" if pools else ""


class PlanAnswer(CommandAnswer):
    """How many servers a log needs; times are in seconds from the beginning of the log.

    `carries` is certified by `certificate`, `peak` is exact; `policies` and `growth` are simulated; `packproof
    check` verifies `certificate`. `pools` splits servers over several pools by their shares (null: there is one
    pool, or no answer). `rounding` says what the rounding of demands to types costs (null: there was none).
    `cost`, where servers have prices, is what the log costs; what else the answer says is about the proportions of its
    cheapest mix. `over_time` has what the policy of the answer does in equal periods (empty: there is no answer).
    """

    sentence: Annotated[str, HIDDEN]
    target: Annotated[PlanTarget, HIDDEN]
    servers: int | None
    policy: str | None
    pools: Annotated[dict[str, int] | None, Head("servers of each pool")]
    cost: Annotated[PlanCost | UnsetType, HIDDEN] = UNSET
    log: Annotated[PlanLog, HIDDEN]
    workload: Annotated[list[TypeOfLog], Head(WORKLOAD)]
    by_hour: Annotated[list[float] | None, HIDDEN]
    by_day: Annotated[list[float] | None, HIDDEN]
    carries: Annotated[ServersBetween, Head("servers that carry the mean workload (certified)")]
    peak: Annotated[PlanPeak, Head("servers that hold the fullest instant, if VMs may be moved (exact)")]
    policies: Annotated[list[PlanPolicy], HIDDEN]
    over_time: Annotated[list[PlanPeriod], HIDDEN]
    greedy: Annotated[PlanGreedy, Head(GREEDY)]
    rounding: Annotated[
        PlanRounding | None, Head("demands rounded up to types, and what that costs (certified bounds)")
    ]
    growth: Annotated[list[PlanGrowth], HIDDEN]
    left_out: Annotated[list[str], Head("left out for lack of time, or as the log is long", by=LINES)]
    not_run: Annotated[list[str], Head("left out, as it cannot run here", by=LINES)]
    certificate: Annotated[Any, HIDDEN]

    def __post_init__(self) -> None:
        """Refuse periods that speak of other resources than the first."""
        in_use = {f"over_time[{i}].in_use": period.in_use for i, period in enumerate(self.over_time)}
        expect_keys(next(iter(in_use.values()), {}), "over_time[0].in_use", in_use)


class PlanTarget(Answer):
    """A share of VMs that is accepted at least (`accepted`), or a mean wait in seconds at most (`wait`)."""

    kind: str
    value: float


class PlanLog(Answer):
    """The log, when measuring begins, and what was guessed and dropped.

    `about` has the first lines of ``packproof log``.

    `begins` is in seconds from 1970 (null: the log has no dates). `grown`, where growth was asked for, has how many
    times the VMs of a type there are, or of all others (an empty name); numbers are then of the log so grown, but for
    those in `about`. `too_large` has the tasks that were left out as they fit no server, where that was asked for.
    `doubts` has those of the notes that put the log in doubt, where there are any.
    """

    arrivals: int
    seconds: float
    warmup: float
    begins: float | None
    about: list[str]
    notes: list[str]
    grown: dict[str, float] | UnsetType = UNSET
    too_large: list[PlanTooLarge] | UnsetType = UNSET
    doubts: list[str] | UnsetType = UNSET


class PlanTooLarge(Answer):
    """Tasks of one demand that fit no server and were left out.

    `short` has on how many of the `kinds` of servers there is too little of a resource.
    """

    tasks: int
    demand: dict[str, Exact]
    short: dict[str, int]
    kinds: int


class TypeOfLog(Answer):
    """The workload of a type: mean jobs in service, and those at the fullest instant.

    `headroom` is the number of further jobs that fit, null where the servers do not carry the mean.
    """

    type: str
    arrivals: int
    arrivals_per_hour: Annotated[float, Head("arrivals an hour", digits=4)]
    mean_hours: Annotated[float | None, Head("mean stay, hours", digits=4)]
    jobs: Annotated[float, Head("in service, mean", digits=4)]
    at_peak: Annotated[int, Head("in service at the fullest instant")]
    headroom: Annotated[float | None, Head("room for more, of this type alone", digits=4)]


class ServersBetween(Answer):
    """Bounds of a least number of servers, both exact; `pools` splits `upper` over several pools."""

    lower: int
    upper: int
    pools: dict[str, int] | UnsetType = UNSET

    def in_words(self) -> str:
        """Return the number with its pools, or between which ends it is."""
        exact = self.lower == self.upper
        return f"{self.upper:,}{split_in_words(self.pools)}" if exact else f"{self.lower:,} to {self.upper:,}"


class PlanPeak(ServersBetween):
    """Servers that hold the VMs of every instant if they may be moved.

    Fewer than `lower` do not hold those of the instant `at`.
    """

    at: float
    jobs: dict[str, int]


class PlanPolicy(Answer):
    """The servers on which a policy meets the target (null: not met), and what it attains there and on one less.

    `one_less_pools` splits one less over several pools. `resampled` has its servers on resampled logs, `range` their
    range.
    """

    policy: str
    servers: int | None
    pools: dict[str, int] | None
    attained: float
    one_less: float | None
    one_less_pools: dict[str, int] | UnsetType = UNSET
    resampled: list[int | None]
    range: list[int] | None


class PlanPeriod(Answer):
    """A period of the log under the policy of the answer: simulated, from `begins` to `ends`.

    Of the VMs that came in it, `refused` found no server with room (null where VMs wait); `waiting` is the mean number
    that wait, and `in_use` the mean share of each resource of all servers.
    """

    begins: float
    ends: float
    arrivals: int
    refused: int | None
    waiting: float
    in_use: dict[str, float]


class PlanGreedy(Answer):
    """What greedy reservation keeps of the optimal reward at this mix, and at the worst that was found.

    `worst_found` says that there is no worse mix.
    """

    ratio: Annotated[float, Head("of the optimal reward, at this mix of types", digits=5, share=True)]
    ratio_exact: Annotated[Exact, Of("ratio")]
    worst_ratio: Annotated[float, Head("of the optimal reward, at the worst mix found", digits=5, share=True)]
    worst_ratio_exact: Annotated[Exact, Of("worst_ratio")]
    worst_found: Annotated[bool, Head("no mix is worse than that")]
    worst_workload: Annotated[dict[str, Exact], HIDDEN]


class PlanRounding(Answer):
    """Demands that were rounded up to a grid, as the log came without a table of types.

    `added` is by how much that raises the work of the log, by resource. Of the servers that carry the mean workload,
    and of those that hold the fullest instant, `lower` are needed for the demands as they are and `upper` are enough.
    """

    grid: Annotated[str, Head("grid", prose=True)]
    distinct: Annotated[int, Head("distinct demands")]
    types: int
    added: Annotated[dict[str, float], Head("added by rounding", by="resource", share=True, digits=3)]
    carries: Annotated[ServersBetween, Head("servers that carry the mean workload, demands as they are")]
    peak: Annotated[ServersBetween, Head("servers that hold the fullest instant, demands as they are")]


class PlanGrowth(Answer):
    """What the log with more arrivals needs."""

    growth: float
    carries: ServersBetween
    servers: int | None
    pools: dict[str, int] | None
    attained: float


class PlanCost(Answer):
    """What servers of the kinds on offer cost.

    `spare` are in reserve of each kind that is used. `mean` and `peak` bound the least cost that carries the mean
    workload and that holds the jobs of the instant `at`; the mix of `always` holds every instant (null: there are too
    few servers).
    """

    cost: float | None
    cost_exact: Annotated[Exact | None, Of("cost")]
    kinds: list[PlanKind]
    spare: int
    mean: CostBetween
    peak: CostBetween | None
    at: float
    always: CostBetween | None
    policies: list[PlanMix]


class PlanKind(Answer):
    """A kind of server on offer: what one costs, the most there may be (null: no limit), and how many exist."""

    server: str
    price: float
    price_exact: Annotated[Exact, Of("price")]
    most: int | None
    have: int


class CostBetween(Answer):
    """Bounds of a least cost: nothing costs less than `lower`; `servers` cost `upper` (null: none were found).

    `servers` hold VMs, those in reserve come to them. `certificate`, of the cost for the mean workload or an instant,
    proves `upper`, and a lower bound by prices alone, which can be lower than `lower`; `packproof check` verifies it.
    """

    lower: float
    lower_exact: Annotated[Exact, Of("lower")]
    upper: float | None
    upper_exact: Annotated[Exact | None, Of("upper")]
    servers: dict[str, int] | None
    certificate: Annotated[Any | UnsetType, HIDDEN] = UNSET


class PlanMix(Answer):
    """The cheapest mix found on which a policy meets the target (null: none was), and the mixes that were simulated.

    `servers` hold VMs; `paid` are those that are paid for, with those in reserve and without those that exist.
    """

    policy: str
    servers: dict[str, int] | None
    paid: dict[str, int] | None
    cost: float | None
    cost_exact: Annotated[Exact | None, Of("cost")]
    attained: float
    tried: int
