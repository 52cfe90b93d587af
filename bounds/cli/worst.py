"""``packproof worst``: the workload, the rewards, or both that hurt greedy most."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import CertificateFile, InstanceFile, JsonFlag, app, progress, show, to_write

if TYPE_CHECKING:
    from bounds.adversary.budget import Budget
    from bounds.adversary.search import WorstInstance


class Vary(StrEnum):
    """What the adversary chooses."""

    workload = "workload"
    rewards = "rewards"
    all = "all"


@app.command()
def worst(
    instance: InstanceFile,
    vary: Annotated[Vary, typer.Option("--vary", help="What the adversary chooses.", show_default=False)],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    starts: Annotated[int, typer.Option("--starts", metavar="N", min=1, help="Starts where rewards vary.")] = 12,
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
    from theory.files.places import write_json

    if certificate is not None and vary is not Vary.workload:
        raise InputError(f"--certificate: only the worst workload is certified, got --vary {vary.value}")
    given = read_instance(instance)
    with progress() as report:
        budget = Budget(time_limit, report)
        found = worst_instance(given, vary.value, seed=seed, starts=starts, budget=budget)
        if certificate is not None:
            write_json(certificate, _certificate(found, budget))
    if out is not None:
        write_instance(out, found.instance)
    show(worst_answer(found), lambda: worst_lines(found), as_json=as_json)


def _certificate(found: WorstInstance, budget: Budget) -> dict[str, Any]:
    """Return the certificate that no workload is worse, or say why there is none."""
    from bounds.adversary.budget import OutOfTimeError
    from bounds.adversary.refutation import refutation
    from bounds.certificates.worst import worst_certificate
    from theory.errors import InputError
    from theory.greedy.optimal import solve

    try:
        if not found.exact:
            raise OutOfTimeError
        return worst_certificate(solve(found.instance), refutation(found.instance, found.ratio, budget))
    except OutOfTimeError:
        raise InputError("--time-limit: not every order was decided in time, so that there is no certificate") from None
