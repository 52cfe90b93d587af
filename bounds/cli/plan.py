"""``packproof plan``: how many servers a log of VMs needs, under which policy."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, completed_by, progress, show
from bounds.cli.instance import pool_table
from bounds.cli.options import EngineOption, JsonFlag, SeedOption, StoreFile, StrictOption, announcing
from theory.errors import InputError

if TYPE_CHECKING:
    from bounds.answers.plan import PlanAnswer
    from fluid.planning import Plan, PlannedLog
    from fluid.simulation.policy_interface import Policy

POLICIES = {
    "loss": ("first-fit", "best-fit", "dra"),
    "queue": ("nonpreemptive", "max-weight-local", "randomized-sampling"),
}
"""Policies that are compared unless some are named: where VMs are refused, and where they wait."""

WORST = 10.0  # seconds for the worst workload of the types


class Level(StrEnum):
    """How much of the log is simulated."""

    quick = "quick"
    full = "full"


Types = Annotated[
    str,
    typer.Argument(metavar="TYPES", help="VM types: CSV, TOML, JSON, or names such as 'aws:m5.*'.", show_default=False),
]
LogFile = Annotated[
    Path, typer.Argument(metavar="LOG", help="Log of VMs: CSV, JSON lines or Parquet.", show_default=False)
]
ServerOption = Annotated[
    list[str],
    typer.Option(
        "--server",
        metavar="cpu=96,memory=768",
        help="What a server has (memory in GiB); again, with name= and share= (of the number), for each further pool. "
        "first-fit fills pools in this order.",
    ),
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
    typer.Option("--level", help="Simulate at most 200,000 VMs and 3 resampled logs, or 2,000,000 and 19."),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="S", help="Seconds after which no further part is begun.")
]
Warmup = Annotated[
    float, typer.Option("--warmup", metavar="W", help="Seconds from the beginning of the log that are not counted.")
]
DropOpen = Annotated[
    bool, typer.Option("--drop-open", help="Drop rows without an end (else they run on to the end of the log).")
]
ReportFile = Annotated[
    Path | None, typer.Option("--out", metavar="OUT.html", help="Write a report.", callback=announcing())
]


@app.command(
    examples=(
        "packproof plan examples/caught.toml examples/jobs.csv --server cpu=6 --wait 2 --policy nonpreemptive",
        "packproof plan examples/vm_types.csv examples/vm_log.csv --server cpu=48,memory=192 --accept 0.99",
    )
)
def plan(
    types: Types,
    log: LogFile,
    server: ServerOption,
    accept: Accept = None,
    wait: Wait = None,
    policies: PolicyNames = None,
    level: LevelOption = Level.quick,
    time_limit: TimeLimit = 600.0,
    seed: SeedOption = 0,
    drop_open: DropOpen = False,
    warmup: Warmup = 0.0,
    strict: StrictOption = False,
    store: StoreFile = None,
    engine: EngineOption = "local",
    out: ReportFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Say how many servers a log of VMs needs, under which policy, beside exact bounds."""
    from fluid.experiment.store import Store
    from fluid.parallel import refuse_engine
    from fluid.planning import EFFORTS, Target, Trials, make_plan

    refuse_engine(engine)
    target = Target(accept, wait)
    chosen = _policies(policies or POLICIES["loss" if accept is not None else "queue"], accept is not None)
    with ExitStack() as stack:
        report = stack.enter_context(progress())
        report("reading the log")
        planned = _log(types, log, server, warmup, drop_open=drop_open, strict=strict)
        opened = None if store is None else stack.enter_context(Store(store))
        trials = Trials(target, seed, opened, report, engine)
        made_plan = make_plan(planned, chosen, trials, EFFORTS[level.value], time_limit, optional=policies is None)
        report("what greedy reservation keeps")
        answer = _answered(made_plan)
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


def _log(types: str, log: Path, server: list[str], warmup: float, **reading: bool) -> PlannedLog:
    """Read types, servers and the log; types have the names that the log has for them."""
    from fluid.files.left_out import trace_in
    from fluid.planning import planned_log
    from fluid.traces.model import PLAIN
    from fluid.traces.types import expect_types
    from theory.files.document import read_document
    from theory.files.instances import parse_instance
    from theory.files.planned_types import named_as_in, planned_types

    pools = [pool_table(option, number, several=len(server) > 1) for number, option in enumerate(server, 1)]
    read = planned_types(types, pools)
    # a file of types may say under [simulation.arrivals] how the log is read
    place = Path(types)
    document = read_document(place) if place.suffix.lower() in (".toml", ".json") else {}
    file = trace_in(document, place, log, **reading)
    assert file is not None
    expect_types(file, [str(table["name"]) for table in read.types], types)
    tables, more = named_as_in(read.types, file.trace.labels if file.trace.source == PLAIN else ())
    instance = parse_instance({"server": read.pools, "type": tables}, types, workload_needed=False)
    return planned_log(file, instance, (*read.notes, *more), read.uncounted, warmup)


def _answered(made_plan: Plan) -> PlanAnswer:
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
    return plan_answer(made_plan, solution, worst, assignment_certificate(solution, placed))
