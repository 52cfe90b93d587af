"""``packproof worst``: the workload, the rewards, or both that hurt greedy most."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.options import (
    CertificateFile,
    JsonFlag,
    TraceServers,
    WorkloadTrace,
    WorstFile,
    read_with_trace,
    refuse_endless,
    refuse_unused,
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


@app.command(
    examples=(
        "packproof worst examples/four_types.toml --vary workload --out worst.toml",
        "packproof worst --types 3 --resources 2",
    )
)
def worst(
    instance: Annotated[
        Path | None, typer.Argument(metavar="INSTANCE", help="Instance file, TOML or JSON.", show_default=False)
    ] = None,
    vary: Annotated[
        Vary | None, typer.Option("--vary", help="What the adversary chooses in INSTANCE.", show_default=False)
    ] = None,
    types: Annotated[
        int | None,
        typer.Option(
            "--types", metavar="J", min=1, max=8, help="Instead of INSTANCE: all instances with J types; all varies."
        ),
    ] = None,
    resources: Annotated[
        int | None, typer.Option("--resources", metavar="R", min=1, max=8, help="With --types: at most R resources.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    starts: Annotated[
        int | None, typer.Option("--starts", metavar="N", min=1, help="Starts where rewards vary (default 12).")
    ] = None,
    time_limit: TimeLimit = 60,
    trace: WorkloadTrace = None,
    servers: TraceServers = None,
    out: WorstFile = None,
    certificate: CertificateFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Find the instance on which greedy attains the least share of the optimum."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.search import worst_instance
    from bounds.views.worst import worst_answer
    from theory.files.instances import write_instance

    if types is not None or resources is not None:
        _refuse_both(instance, vary, types, resources)
        unused = {"--starts": starts is not None, "--trace": trace is not None, "--servers": servers is not None}
        refuse_unused(unused, "--types: that search runs until --time-limit, and everything varies")
        _by_size(types or 1, resources or 1, seed, time_limit, out, certificate, as_json=as_json)
        return
    if instance is None:
        raise InputError("INSTANCE: expected a file, or --types J and --resources R in its place")
    if vary is None:
        raise InputError(f"--vary: missing, expected what may change in {instance}: one of {', '.join(Vary)}")
    if certificate is not None and vary is not Vary.workload:
        raise InputError(f"--certificate: only the worst workload is certified, got --vary {vary.value}")
    if vary is Vary.workload:
        refuse_unused({"--starts": starts is not None}, "--vary workload: every order of exhaustion is decided")
    original = _read(instance, vary, trace, servers)
    with progress() as report:
        budget = Budget(time_limit, report)
        worst_case = worst_instance(original, vary.value, seed=seed, starts=starts or 12, budget=budget)
        if certificate is not None:
            document = _proof(worst_case.instance, worst_case.ratio, budget) if worst_case.exact else None
            if document is None:
                raise InputError("--time-limit: not every order was decided in time, so that there is no certificate")
            write_certificate(certificate, document)
    if out is not None:
        write_instance(out, worst_case.instance)
    show(worst_answer(worst_case), as_json=as_json)


def _read(instance: Path, vary: Vary, trace: Path | None, servers: int | None) -> Instance:
    """Read an instance; its types need no workload where that varies."""
    from theory.files.document import read_document
    from theory.files.instances import parse_instance

    if vary is Vary.rewards:
        return read_with_trace(instance, trace, servers, only_for_trace=True)
    refuse_unused({"--trace": trace is not None, "--servers": servers is not None}, "a workload that varies")
    return parse_instance(read_document(instance), str(instance), workload_needed=False)


def _refuse_both(instance: Path | None, vary: Vary | None, types: int | None, resources: int | None) -> None:
    """Refuse what does not go with a search over all instances."""
    if instance is not None:
        raise InputError(f"INSTANCE: expected either a file or --types and --resources, got both ({instance})")
    if vary is not None:
        raise InputError(f"--vary: expected nothing beside --types, where everything varies, got {vary.value}")
    if types is None or resources is None:
        missing = "--types" if types is None else "--resources"
        raise InputError(f"{missing}: expected both --types J and --resources R, got only one of them")


def _by_size(
    types: int, resources: int, seed: int, seconds: float, out: Path | None, certificate: Path | None, *, as_json: bool
) -> None:
    """Show the worst instance of all with a number of types and of resources."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.by_size import worst_by_size
    from bounds.certificates.assignment import assignment_certificate
    from bounds.views.worst import by_size_answer
    from theory.files.instances import write_instance
    from theory.greedy.optimal import solve

    refuse_endless(seconds, "without INSTANCE")
    certified = None
    with progress() as report:
        worst_case = worst_by_size(types, resources, seed=seed, budget=Budget(seconds, report))
        if certificate is not None:  # that no workload is worse, where that is decided in time; or of the ratio alone
            # a time of its own: the search may have used all of the limit
            budget = Budget(max(seconds, 1.0), report)
            document = _proof(worst_case.instance, worst_case.ratio, budget) if worst_case.workload_decided else None
            certified = "assignment" if document is None else "worst"
            write_certificate(certificate, document or assignment_certificate(solve(worst_case.instance)))
    if out is not None:
        write_instance(out, worst_case.instance)
    show(by_size_answer(worst_case, certified), as_json=as_json)


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
