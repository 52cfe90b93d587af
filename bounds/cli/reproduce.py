"""``packproof reproduce``: the figures and tables of the papers, computed anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import app, progress, show
from bounds.cli.options import JsonFlag
from theory.errors import InputError
from theory.files.answer import print_answer


@app.command(examples=("packproof reproduce autoscaling/figure-2 --out figures", "packproof reproduce --list"))
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT", help="PAPER/RESULT, a paper, or all (the default).", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")] = Path("reproduced"),
    level: Annotated[str, typer.Option("--level", metavar="quick|full", help="Sizes of runs and samples.")] = "quick",
    listing: Annotated[bool, typer.Option("--list", help="List the results without computing them.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Compute results anew whose files stand in the folder.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Compute figures and tables of the papers: a picture (PNG, SVG), its numbers (CSV), and what they rest on (JSON).

    Results that stand in the folder with the same parameters and version are not computed again, so that an
    interrupted run continues.
    """
    from bounds.results.reproduction import Effort, reproductions
    from bounds.results.run import ending, listed, reproduce_all
    from bounds.views.claims import sentence

    if level not in ("quick", "full"):
        raise InputError(f"--level: expected quick or full, got {level!r}")
    chosen = reproductions(names or ())
    if listing:
        show([listed(one) for one in chosen], as_json=as_json)
        return
    effort, answers = Effort(level), []
    became: Counter[str] = Counter()
    with progress() as say:
        for done in reproduce_all(chosen, out, effort, again=again, progress=say):
            answer = done.answer(effort)
            answers.append(answer)
            # counted for the last line: computed, or there already
            became[done.status] += 1
            if not as_json:
                say.print(sentence(answer))
    if as_json:
        show(answers, as_json=True)
    else:
        print_answer(ending(became, out, again=again))
