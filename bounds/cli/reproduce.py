"""``packproof reproduce``: the figures and tables of the papers, computed anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bounds.claims import Level
from bounds.cli.app import app, progress, show
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import JsonFlag
from theory.files.answer import print_answer

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RESULT",
        help="PAPER/RESULT, its last part if one paper has it, a paper, or all (the default).",
        show_default=False,
    ),
]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")]
LevelName = Annotated[Level, typer.Option("--level", help="Sizes of runs and samples.")]
ListFlag = Annotated[bool, typer.Option("--list", help="List the results without computing them.")]
Again = Annotated[bool, typer.Option("--again", help="Compute results anew whose files stand in the folder.")]


@dataclass(frozen=True, kw_only=True)
class Computing(Mode):
    """Figures and tables are computed."""

    beside = "results that are computed"

    names: Names = None
    out: Folder = Path("reproduced")
    level: LevelName = Level.quick
    again: Again = False
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class Listing(Mode):
    """They are listed."""

    beside = "--list, which computes nothing"
    chosen_by = ("listing",)

    names: Names = None
    listing: ListFlag = False
    as_json: JsonFlag = False


def list_results(options: Listing) -> None:
    """List figures and tables."""
    from bounds.results.reproduction import reproductions
    from bounds.results.run import listed

    show([listed(one) for one in reproductions(options.names or ())], as_json=options.as_json)


def compute(options: Computing) -> None:
    """Compute figures and tables."""
    from bounds.results.reproduction import reproductions
    from bounds.results.run import ending, reproduce_all
    from bounds.views.claims import sentence

    chosen, answers = reproductions(options.names or ()), []
    became: Counter[str] = Counter()
    with progress() as say:
        for done in reproduce_all(chosen, options.out, options.level, again=options.again, progress=say):
            answer = done.answer(options.level)
            answers.append(answer)
            # counted for the last line: computed, or there already
            became[done.status] += 1
            if not options.as_json:
                say.print(sentence(answer))
    if options.as_json:
        show(answers, as_json=True)
    else:
        print_answer(ending(became, options.out, again=options.again))


app.command(
    "reproduce", examples=("packproof reproduce autoscaling/figure-2 --out figures", "packproof reproduce --list")
)(
    command_of(
        lambda given: Listing if given.listing else Computing,
        {Computing: compute, Listing: list_results},
        """Compute figures and tables of the papers: a picture (PNG, SVG), its numbers (CSV), what they rest on (JSON).

        Results that stand in the folder with the same parameters and version are not computed again, so that an
        interrupted run continues.
        """,
    )
)
