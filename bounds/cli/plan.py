"""``packproof plan``: how many servers a log of VMs needs, under which policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bounds.cli.app import app, completed_by, progress, show
from bounds.cli.candidates import servers_of
from bounds.cli.options import (
    DropOpen,
    EngineOption,
    JsonFlag,
    SeedOption,
    StoreFile,
    StrictOption,
    announcing,
)
from theory.errors import InputError, listed
from theory.numbers import many, text

if TYPE_CHECKING:
    from bounds.answers.plan import PlanAnswer
    from fluid.planning import CheapestPlan, OwnTypes, Plan, PlannedLog
    from fluid.simulation.policy_interface import Policy
    from fluid.traces.file import TraceFile
    from theory.files.planned_types import Planned
    from theory.instance import Instance

POLICIES = {
    "loss": ("first-fit", "best-fit", "dra"),
    "queue": ("nonpreemptive", "max-weight-local", "randomized-sampling"),
}
"""Policies that are compared unless some are named: where VMs are refused, and where they wait."""

GROWN = 2000
"""Beside the seed, what growth is drawn with: logs that are resampled have smaller numbers."""

WORST = 10.0  # seconds for the worst workload of the types


class Level(StrEnum):
    """How many logs are simulated beside the one that is given."""

    quick = "quick"
    full = "full"


Types = Annotated[
    str,
    typer.Argument(
        metavar="TYPES",
        help="VM types: CSV, TOML, JSON, or names such as 'aws:m5.*'; or the log alone, whose demands are the types.",
        show_default=False,
    ),
]
LastFile = Annotated[
    Path | None,
    typer.Argument(metavar="LOG", help="Log of VMs, jobs or pods (see packproof log).", show_default=False),
]
PriceOption = Annotated[
    str,
    typer.Option(
        "--price", metavar="cpu=0.03,memory=0.004", help="What a unit of each resource earns, where TYPES are left out."
    ),
]
ServerOption = Annotated[
    list[str],
    typer.Option(
        "--server",
        metavar="cpu=96,memory=768",
        help="What a server has (memory in GiB); again, with name= and share= (of the number), for each further pool. "
        "first-fit fills pools in this order. With price=, what a server costs (the price of a VM type is what it "
        "earns), and most=, have=, or types as 'aws:m5.*', servers are candidates. overhead=cpu:0.5,memory:2 is what "
        "a server cannot use.",
    ),
]
GrowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grow", metavar="TYPE=1.5", help="Plan for so many times the VMs of a type (again for others), or 1.2 of all."
    ),
]
DropLarge = Annotated[
    bool, typer.Option("--drop-large", help="Go on without the VMs that fit no server, which are counted.")
]
SpareOption = Annotated[
    int,
    typer.Option("--spare", metavar="N", help="Servers in reserve of each kind that is used, of candidates.", min=0),
]
Accept = Annotated[
    float | None, typer.Option("--accept", metavar="X", help="Share of the VMs to accept, as 0.999 (this or --wait).")
]
Wait = Annotated[
    float | None, typer.Option("--wait", metavar="T", help="Mean wait in seconds allowed (this or --accept).")
]
PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Policies to try, FILE.py:NAME or PACKAGE.MODULE:NAME (unless given, three that suit the target).",
        autocompletion=completed_by("fluid.simulation.policy_names:HOMES"),
    ),
]
LevelOption = Annotated[
    Level,
    typer.Option(
        "--level",
        help="Resampled and grown logs simulated beside it: 3 of 600,000 VMs in all, or 19 of 12,000,000.",
    ),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="S", help="Seconds after which no further part is begun.")
]
Warmup = Annotated[
    float, typer.Option("--warmup", metavar="W", help="Seconds from the beginning of the log that are not counted.")
]
ReportFile = Annotated[
    Path | None, typer.Option("--out", metavar="OUT.html", help="Write a report.", callback=announcing())
]


@app.command(
    examples=(
        "packproof plan examples/caught.toml examples/jobs.csv --server cpu=6 --wait 2 --policy nonpreemptive",
        "packproof plan examples/vm_types.csv examples/vm_log.csv --server cpu=48,memory=192 --accept 0.99",
        "packproof plan examples/jobs.csv --server cpu=6 --wait 2 --policy nonpreemptive",
        "packproof plan examples/jobs.csv --server name=a,cpu=6,price=3 --server name=b,cpu=11,price=5 --accept 0.99"
        " --policy first-fit",
    )
)
def plan(
    types: Types,
    server: ServerOption,
    log: LastFile = None,
    accept: Accept = None,
    wait: Wait = None,
    policies: PolicyNames = None,
    level: LevelOption = Level.quick,
    time_limit: TimeLimit = 600.0,
    seed: SeedOption = 0,
    drop_open: DropOpen = False,
    drop_large: DropLarge = False,
    warmup: Warmup = 0.0,
    price: PriceOption = "",
    spare: SpareOption = 0,
    grow: GrowOption = None,
    strict: StrictOption = False,
    store: StoreFile = None,
    engine: EngineOption = "local",
    out: ReportFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Say how many servers a log of VMs needs, under which policy, beside exact bounds."""
    from numpy.random import default_rng

    from fluid.experiment.store import Store
    from fluid.parallel import refuse_engine
    from fluid.planning import EFFORTS, Target, Trials, make_cheapest_plan, make_plan, with_growth

    refuse_engine(engine)
    target, servers = Target(accept, wait), servers_of(server, spare)
    chosen = _policies(policies or POLICIES["loss" if accept is not None else "queue"], accept is not None)
    reading = {"drop_open": drop_open, "strict": strict}
    with ExitStack() as stack:
        report = stack.enter_context(progress())
        report("reading the log")
        if log is None:
            planned, own = _log_alone(Path(types), servers.pools, warmup, price, drop_large=drop_large, **reading)
        elif price:
            raise InputError("--price", "expected no prices beside TYPES, which may have a column of prices")
        else:
            planned, own = _log(types, log, servers.pools, warmup, drop_large=drop_large, **reading), None
        if grow:
            planned = with_growth(planned, _growth(grow), default_rng([seed, GROWN]))
        opened = None if store is None else stack.enter_context(Store(store))
        trials = Trials(target, seed, opened, report, engine)
        spent = (chosen, trials, EFFORTS[level.value], time_limit)
        cheapest = None
        if servers.market is None:
            made_plan = make_plan(planned, *spent, optional=policies is None)
        else:
            cheapest = make_cheapest_plan(planned, servers.market, *spent, optional=policies is None)
            made_plan = cheapest.plan
        report("what greedy reservation keeps")
        answer = _answered(made_plan, None if own is None else _rounding(made_plan, own), cheapest)
    if out is not None:
        from bounds.cli.report import write_report

        write_report(out, answer)
    show(answer, as_json=as_json)


def _policies(names: Any, is_loss: bool) -> list[Policy]:
    from fluid.simulation.policy_names import policy as policy_by_name

    chosen = [policy_by_name(name) for name in dict.fromkeys(names)]
    model = "loss" if is_loss else "queue"
    for policy in chosen:
        if policy.model != model:
            suited = "refuses VMs (--accept)" if is_loss else "lets VMs wait (--wait)"
            raise InputError("--policy", f"expected one that {suited}, such as {POLICIES[model][0]}; got {policy.name}")
    return chosen


def _growth(options: Sequence[str]) -> dict[str, Fraction]:
    """Read ``TYPE=1.5``, or 1.2 for all types, which have an empty name."""
    from bounds.cli.options import read_number

    growth: dict[str, Fraction] = {}
    for option in options:
        name, _, value = (word.strip() for word in option.rpartition("="))
        if name in growth:
            raise InputError("--grow", f"expected {name[:60] or 'a factor of all types'} once")
        factor = growth[name] = read_number("--grow", value)
        if factor < 0:
            raise InputError("--grow", f"expected a factor of at least 0, got {value[:60]}")
    return growth


def _log(
    types: str, log: Path, pools: list[dict[str, Any]], warmup: float, *, drop_large: bool, **reading: bool
) -> PlannedLog:
    """Read types, servers and the log; types have the names that the log has for them."""
    from fluid.files.measured import trace_in
    from fluid.planning import planned_log
    from fluid.traces.model import PLAIN
    from fluid.traces.types import expect_types
    from theory.files.document import read_document
    from theory.files.instances import parse_instance
    from theory.files.planned_types import named_as_in, planned_types

    read = planned_types(types, pools)
    # a file of types may say under [simulation.arrivals] how the log is read
    place = Path(types)
    document = read_document(place) if place.suffix.lower() in (".toml", ".json") else {}
    file = trace_in(document, place, log, **reading)
    assert file is not None
    expect_types(file, [str(table["name"]) for table in read.types], types)
    tables, more = named_as_in(read.types, file.trace.labels if file.trace.source == PLAIN else ())
    notes = (*read.notes, *more)
    if drop_large and not file.types:
        return _without_large(file, types, read._replace(types=tables, notes=notes), warmup)
    instance = parse_instance({"server": read.pools, "type": tables}, types, workload_needed=False)
    return planned_log(file, instance, notes, read.uncounted, warmup)


def _without_large(file: TraceFile, types: str, read: Planned, warmup: float) -> PlannedLog:
    """Return the log without the tasks of types that fit no server."""
    import numpy as np

    from fluid.planning import TooLarge, planned_log, shortage
    from fluid.traces.types import with_types
    from theory.files.instances import parse_instance

    servers = _capacities(read.pools)
    demands = [{name: Fraction(text(amount)) for name, amount in table["demand"].items()} for table in read.types]
    short = [shortage(demand, servers) for demand in demands]
    kept = [table for table, lacks in zip(read.types, short, strict=True) if not lacks]
    if not kept:
        raise InputError(types, "type", "expected a type that some server can hold, got none")
    instance = parse_instance({"server": read.pools, "type": kept}, types, workload_needed=False)
    if len(kept) == len(read.types):
        return planned_log(file, instance, read.notes, read.uncounted, warmup)
    # the types of tasks are found among all, on a server that holds each
    names = {name for demand in demands for name in demand}
    largest = {name: max(demand.get(name, Fraction(0)) for demand in demands) for name in names}
    every = {
        "server": {"capacity": {name: text(amount) for name, amount in largest.items() if amount}},
        "type": read.types,
    }
    _, place = with_types(file, file.trace, parse_instance(every, types, workload_needed=False))
    number = np.cumsum([not lacks for lacks in short]) - 1
    of_task = np.where([bool(lacks) for lacks in short], -1, number)[place]
    tasks = np.bincount(place, minlength=len(short)).tolist()
    rows = zip(tasks, demands, short, strict=True)
    large = tuple(TooLarge(n, demand, lacks, len(servers)) for n, demand, lacks in rows if lacks and n)
    planned = planned_log(file, instance, read.notes, read.uncounted, warmup, of_task)
    return replace(planned, too_large=large)


def _capacities(pools: Sequence[dict[str, Any]]) -> list[dict[str, Fraction]]:
    """Return what each kind of server has."""
    return [{name: Fraction(amount) for name, amount in pool["capacity"].items()} for pool in pools]


class _Own(NamedTuple):
    """Types made of the demands of a log, and the instance of their least demands."""

    types: OwnTypes
    least: Instance


def _log_alone(
    log: Path, stated: list[dict[str, Any]], warmup: float, price: str, *, drop_large: bool, **reading: bool
) -> tuple[PlannedLog, _Own]:
    """Read servers and a log whose demands are its types."""
    from fluid.planning import expect_resources, planned_log, types_of_log
    from fluid.traces.file import on_file
    from theory.files.instances import parse_instance
    from theory.files.planned_types import with_pools

    file = on_file(None, log, **reading)
    assert file is not None
    file = replace(file, by_demand=True)
    expect_resources(file.trace, str(log))
    names = file.trace.resources
    # a type that asks of each resource tells how servers name them, and what no server has
    every = with_pools([{"name": "any", "demand": dict.fromkeys(names, "1"), "reward": 1}], stated)
    capacity = {
        name: max(Fraction(pool["capacity"].get(name, 0)) for pool in every.pools)
        for name in names
        if name not in every.uncounted
    }
    own = types_of_log(file.trace, capacity, str(log), _capacities(every.pools), drop_large=drop_large)
    prices = _prices(price, capacity)
    tables = [{**one, **_reward(one["demand"], prices)} for one in own.types]
    read = with_pools(tables, every.pools)
    instance, least = (
        parse_instance({"server": read.pools, "type": kinds}, str(log), workload_needed=False)
        for kinds in (read.types, _with_least(read.types, own))
    )
    notes = (_kinds_in_words(own), *every.notes, *read.notes)
    planned = planned_log(file, instance, notes, every.uncounted, warmup, own.of_task)
    return replace(planned, too_large=own.too_large), _Own(own, least)


def _kinds_in_words(own: OwnTypes) -> str:
    """Return what the types of a log are."""
    count = many(len(own.types), "type")
    if not own.grid:
        return f"no table of types was given: the {count} are the distinct demands of the log"
    added = ", ".join(f"{100 * share:.3g} % of {name}" for name, share in own.added.items())
    return (
        f"no table of types was given: the {own.distinct:,} distinct demands of the log were rounded up to {count}, "
        f"{own.grid}; that adds {added}"
    )


def _with_least(types: Sequence[dict[str, Any]], own: OwnTypes) -> list[dict[str, Any]]:
    """Return types with the least demand of their tasks."""
    return [
        {**table, "demand": {name: text(amount) for name, amount in least.items() if amount}}
        for table, least in zip(types, own.least, strict=True)
    ]


def _prices(option: str, capacity: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Read the prices of resources."""
    from bounds.cli.options import named_values, read_number

    if not option:
        return {}
    stated = named_values("--price", option.split(","), "cpu=NUMBER,memory=NUMBER", got=option[:60])
    strange = next((name for name in stated if name not in capacity), None)
    if strange is not None:
        raise InputError("--price", f"{strange[:60]}: expected a resource that is planned, {listed(capacity)}")
    return {name: read_number(f"--price: {name}", value) for name, value in stated.items()}


def _reward(demand: Mapping[str, str], prices: Mapping[str, Fraction]) -> dict[str, str]:
    """Return what a type earns, if there are prices."""
    if not prices:
        return {}
    reward = sum((Fraction(demand.get(name, "0")) * price for name, price in prices.items()), Fraction(0))
    if not reward:
        shown = ", ".join(f"{name} = {amount}" for name, amount in demand.items())
        raise InputError("--price", f"expected a price of a resource that each task asks for, one asks {shown} alone")
    return {"reward": text(reward)}


def _rounding(made_plan: Plan, own: _Own) -> dict[str, Any] | None:
    """Return what the rounding of demands costs, between bounds; None where they are as they were.

    Servers for the least demands of the tasks of each type are needed, and those for the rounded ones are enough.
    """
    from fluid.planning import mean_jobs
    from theory.greedy.servers import least_servers

    if not own.types.grid:
        return None
    # the servers are those of the plan, in its shares; of kinds on offer it has some
    shares = {pool.name: pool.share for pool in made_plan.log.instance.pools}
    pools = tuple(replace(pool, share=shares[pool.name]) for pool in own.least.pools if pool.name in shares)
    least = replace(own.least, pools=pools)
    mean = least_servers(least, mean_jobs(made_plan.log))
    peak = least_servers(least, [Fraction(count) for count in made_plan.peak.jobs])
    return {
        "grid": own.types.grid,
        "distinct": own.types.distinct,
        "types": len(own.types.types),
        "added": dict(own.types.added),
        "carries": {"lower": mean.lower, "upper": made_plan.carries.upper},
        "peak": {"lower": peak.lower, "upper": made_plan.peak.upper},
    }


def _answered(made_plan: Plan, rounding: dict[str, Any] | None, cheapest: CheapestPlan | None) -> PlanAnswer:
    from bounds.adversary.budget import Budget
    from bounds.adversary.workload import worst_workload
    from bounds.certificates.assignment import assignment_certificate
    from bounds.views.plan import plan_answer
    from fluid.planning import mean_jobs
    from theory.greedy.optimal import solve
    from theory.greedy.servers import greedy_placement, least_servers

    servers = made_plan.carries.upper if made_plan.best is None else made_plan.best.servers or 1
    servers = max(servers, 1)
    instance = made_plan.log.instance.with_workload([x / servers for x in mean_jobs(made_plan.log)])
    solution = solve(instance)
    placed = (servers, greedy_placement(instance, servers), least_servers(instance, mean_jobs(made_plan.log)))
    worst = worst_workload(instance, Budget(WORST))
    return plan_answer(made_plan, solution, worst, assignment_certificate(solution, placed), rounding, cheapest)
