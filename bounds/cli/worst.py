"""``packproof worst``: the workload, the rewards, or both that hurt greedy most."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import (
    CertificateFile,
    JsonFlag,
    PlotFile,
    TraceServers,
    WorkloadTrace,
    WorstFile,
    read_with_trace,
    refuse_endless,
)
from theory.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from bounds.adversary.budget import Budget
    from theory.instance import Instance


class Vary(StrEnum):
    """What the adversary chooses."""

    workload = "workload"
    rewards = "rewards"
    all = "all"


TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", metavar="SECONDS", min=0, help="Time after which the best instance so far is returned."
    ),
]


Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")]
Starts = Annotated[
    int | None, typer.Option("--starts", metavar="N", min=1, help="Starts where rewards vary (default 12).")
]
InstanceFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="INSTANCE",
        help="Instance file, TOML or JSON; or --types J and --resources R in its place.",
        show_default=False,
    ),
]
VaryOption = Annotated[
    Vary | None, typer.Option("--vary", help="What the adversary chooses in INSTANCE.", show_default=False)
]
Types = Annotated[
    int | None,
    typer.Option(
        "--types", metavar="J", min=1, max=8, help="Instead of INSTANCE: all instances with J types; all varies."
    ),
]
Resources = Annotated[
    int | None, typer.Option("--resources", metavar="R", min=1, max=8, help="With --types: at most R resources.")
]


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What every mode takes."""

    seed: Seed = 0
    time_limit: TimeLimit = 60
    out: WorstFile = None
    plot: PlotFile = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class OfWorkloads(Options):
    """The workload of an instance varies."""

    beside = "--vary workload, which decides every order of exhaustion and needs no workload"

    instance: InstanceFile
    vary: VaryOption
    certificate: CertificateFile = None


@dataclass(frozen=True, kw_only=True)
class OfAll(Options):
    """Workload and rewards of an instance vary."""

    beside = "--vary all, where the workload is found and has no certificate"

    instance: InstanceFile
    vary: VaryOption
    starts: Starts = None


@dataclass(frozen=True, kw_only=True)
class OfRewards(OfAll):
    """The rewards of an instance vary."""

    beside = "--vary rewards, since only a worst workload has a certificate"

    trace: WorkloadTrace = None
    servers: TraceServers = None


@dataclass(frozen=True, kw_only=True)
class BySize(Options):
    """Everything varies, with a number of types and of resources."""

    beside = "--types: that search runs until --time-limit, and everything varies"
    chosen_by = (
        "types",
        "resources",
    )

    types: Types
    resources: Resources
    certificate: CertificateFile = None


def _mode(given: Any) -> type[Mode]:
    if given.types is not None or given.resources is not None:
        return BySize
    return {Vary.all: OfAll, Vary.rewards: OfRewards}.get(given.vary, OfWorkloads)


def of_instance(options: OfWorkloads | OfAll) -> None:
    """Show what hurts greedy most in an instance."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.search import STARTS, worst_instance
    from bounds.views.worst import worst_answer

    assert options.vary is not None
    starts = options.starts if isinstance(options, OfAll) else None
    certificate = options.certificate if isinstance(options, OfWorkloads) else None
    original = _read(options)
    with progress() as report:
        budget = Budget(options.time_limit, report)
        worst_case = worst_instance(
            original, options.vary.value, seed=options.seed, starts=starts or STARTS, budget=budget
        )
        if certificate is not None:
            document = _proof(worst_case.instance, worst_case.ratio, budget) if worst_case.exact else None
            if document is None:
                raise InputError("--time-limit", "not every order was decided in time, so that there is no certificate")
            write_certificate(certificate, document)
    _write(options, worst_case.instance)
    show(worst_answer(worst_case), as_json=options.as_json)


def _read(options: OfWorkloads | OfAll) -> Instance:
    """Read an instance; its types need no workload where that varies."""
    from theory.files.document import read_document
    from theory.files.instances import parse_instance

    assert options.instance is not None
    if isinstance(options, OfRewards):
        return read_with_trace(options.instance, options.trace, options.servers, only_for_trace=True)
    return parse_instance(read_document(options.instance), str(options.instance), workload_needed=False)


def by_size(options: BySize) -> None:
    """Show the worst instance of all with a number of types and of resources."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.by_size import worst_by_size
    from bounds.certificates.assignment import assignment_certificate
    from bounds.views.worst import by_size_answer
    from theory.greedy.optimal import solve

    assert options.types is not None
    assert options.resources is not None
    seconds, certified = options.time_limit, None
    refuse_endless(seconds, "without INSTANCE")
    with progress() as report:
        budget = Budget(seconds, report)
        worst_case = worst_by_size(options.types, options.resources, seed=options.seed, budget=budget)
        # that no workload is worse, where that is decided in time; or of the ratio alone
        if options.certificate is not None:
            # a time of its own: the search may have used all of the limit
            budget = Budget(max(seconds, 1.0), report)
            document = _proof(worst_case.instance, worst_case.ratio, budget) if worst_case.workload_decided else None
            certified = "assignment" if document is None else "worst"
            write_certificate(options.certificate, document or assignment_certificate(solve(worst_case.instance)))
    _write(options, worst_case.instance)
    show(by_size_answer(worst_case, certified), as_json=options.as_json)


def _write(options: Options, instance: Instance) -> None:
    """Write the worst instance, and its picture, where that is asked for."""
    from bounds.views.assignment import picture_of_solution
    from theory.files.instances import write_instance
    from theory.greedy.optimal import solve

    if options.out is not None:
        write_instance(options.out, instance)
    if options.plot is not None:
        picture_of_solution(solve(instance), options.plot)


def _proof(instance: Instance, ratio: Fraction, budget: Budget) -> dict[str, Any] | None:
    """Return the certificate that no workload is worse; None where that is not decided in time."""
    from bounds.adversary.budget import OutOfTimeError
    from bounds.adversary.workload import refutation
    from bounds.certificates.worst import worst_certificate
    from theory.greedy.optimal import solve

    try:
        return worst_certificate(solve(instance), refutation(instance, ratio, budget))
    except OutOfTimeError:
        return None


app.command(
    "worst",
    examples=(
        "packproof worst examples/four_types.toml --vary workload --out worst.toml",
        "packproof worst --types 3 --resources 2 --plot worst.png",
    ),
)(
    command_of(
        _mode,
        {OfWorkloads: of_instance, OfAll: of_instance, OfRewards: of_instance, BySize: by_size},
        "Find the instance on which greedy attains the least share of the optimum.",
    )
)
