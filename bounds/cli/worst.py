"""``packproof worst``: the workload, the rewards, or both that hurt greedy most."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import InstanceFile, JsonFlag, app, progress, show, to_write


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
    as_json: JsonFlag = False,
) -> None:
    """Find the instance on which greedy attains the least share of the optimum."""
    from bounds.adversary.budget import Budget
    from bounds.adversary.search import worst_instance
    from bounds.views.assignment import worst_answer, worst_lines
    from theory.files.instances import read_instance, write_instance

    given = read_instance(instance)
    with progress() as report:
        found = worst_instance(given, vary.value, seed=seed, starts=starts, budget=Budget(time_limit, report))
    if out is not None:
        write_instance(out, found.instance)
    show(worst_answer(found), lambda: worst_lines(found), as_json=as_json)
