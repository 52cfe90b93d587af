"""``packproof worst``: the workload, the rewards, or both that hurt greedy most."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import CertificateFile, JsonFlag, app, progress, show, to_write, write_certificate

if TYPE_CHECKING:
    from bounds.adversary.budget import Budget
    from bounds.adversary.by_size import WorstBySize
    from bounds.adversary.search import WorstInstance


class Vary(StrEnum):
    """What the adversary chooses."""

    workload = "workload"
    rewards = "rewards"
    all = "all"


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
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", min=0, help="Time after which the best instance so far is returned."
        ),
    ] = 60,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="WORST.toml", help="Write the instance found.", callback=to_write)
    ] = None,
    certificate: CertificateFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Find the instance on which greedy attains the least share of the optimum."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.search import worst_instance
    from bounds.views.assignment import worst_answer, worst_lines
    from theory.errors import InputError
    from theory.files.instances import read_instance, write_instance

    if types is not None or resources is not None:
        _refuse_both(instance, vary, types, resources)
        if starts is not None:
            raise InputError("--starts: has no meaning with --types: that search runs until --time-limit")
        _by_size(types or 1, resources or 1, seed, time_limit, out, certificate, as_json=as_json)
        return
    if instance is None:
        raise InputError("INSTANCE: expected a file, or --types J and --resources R in its place")
    if vary is None:
        raise InputError(f"--vary: missing, expected what may change in {instance}: one of {', '.join(Vary)}")
    if certificate is not None and vary is not Vary.workload:
        raise InputError(f"--certificate: only the worst workload is certified, got --vary {vary.value}")
    if starts is not None and vary is Vary.workload:
        raise InputError("--starts: has no meaning with --vary workload: every order of exhaustion is decided")
    given = read_instance(instance)
    with progress() as report:
        budget = Budget(time_limit, report)
        found = worst_instance(given, vary.value, seed=seed, starts=starts or 12, budget=budget)
        if certificate is not None:
            write_certificate(certificate, _certificate(found, budget))
    if out is not None:
        write_instance(out, found.instance)
    show(worst_answer(found), lambda: worst_lines(found), as_json=as_json)


def _refuse_both(instance: Path | None, vary: Vary | None, types: int | None, resources: int | None) -> None:
    """Refuse what does not go with a search over all instances."""
    from theory.errors import InputError

    if instance is not None:
        raise InputError(f"INSTANCE: expected either a file or --types and --resources, got both ({instance})")
    if vary is not None:
        raise InputError(f"--vary: expected nothing beside --types, where everything varies, got {vary.value}")
    if types is None or resources is None:
        missing = "--types" if types is None else "--resources"
        raise InputError(f"{missing}: expected both --types J and --resources R, got only one of them")


def _by_size(
    types: int,
    resources: int,
    seed: int,
    time_limit: float,
    out: Path | None,
    certificate: Path | None,
    *,
    as_json: bool,
) -> None:
    """Answer for all instances with so many types and resources."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.by_size import worst_by_size
    from bounds.views.by_size import by_size_answer, by_size_lines
    from theory.files.instances import write_instance

    kind = None
    with progress() as report:
        found = worst_by_size(types, resources, seed=seed, budget=Budget(time_limit, report))
        if certificate is not None:
            kind, document = _best_certificate(found, Budget(max(time_limit, 1.0), report))
            write_certificate(certificate, document)
    if out is not None:
        write_instance(out, found.instance)
    show(by_size_answer(found, kind), lambda: by_size_lines(found, kind), as_json=as_json)


def _best_certificate(found: WorstBySize, budget: Budget) -> tuple[str, dict[str, Any]]:
    """Return the certificate that no workload is worse, where that is decided in time; or of the ratio alone."""
    from bounds.adversary.budget import OutOfTimeError
    from bounds.adversary.orders import refutation
    from bounds.certificates.assignment import assignment_certificate
    from bounds.certificates.worst import worst_certificate
    from theory.greedy.optimal import solve

    solution = solve(found.instance)
    if found.workload_decided:
        try:
            return "worst", worst_certificate(solution, refutation(found.instance, found.ratio, budget))
        except OutOfTimeError:
            pass
    return "assignment", assignment_certificate(solution)


def _certificate(found: WorstInstance, budget: Budget) -> dict[str, Any]:
    """Return the certificate that no workload is worse, or say why there is none."""
    from bounds.adversary.budget import OutOfTimeError
    from bounds.adversary.orders import refutation
    from bounds.certificates.worst import worst_certificate
    from theory.errors import InputError
    from theory.greedy.optimal import solve

    try:
        if not found.exact:
            raise OutOfTimeError
        return worst_certificate(solve(found.instance), refutation(found.instance, found.ratio, budget))
    except OutOfTimeError:
        raise InputError("--time-limit: not every order was decided in time, so that there is no certificate") from None
