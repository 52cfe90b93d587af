"""``packproof verify``: check the claims on record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import app, completed_by, progress, show
from bounds.cli.endings import PLEASE, ended
from bounds.cli.options import EngineOption, JsonFlag, refuse_unused
from theory.errors import FAULT, InputError
from theory.files.answer import print_answer
from theory.numbers import many

if TYPE_CHECKING:
    from bounds.claims import Checked, Level


Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="CLAIM", help="Identifiers, their last parts, or papers.", show_default=False),
]
Paper = Annotated[
    str | None,
    typer.Option(
        "--paper", metavar="NAME", help="Only this paper's claims.", autocompletion=completed_by("bounds.claims:PAPERS")
    ),
]
LevelName = Annotated[
    str,
    typer.Option(
        "--level",
        metavar="quick|full",
        help="Size of families and samples (tiny: as in packproof's own tests).",
        autocompletion=completed_by("bounds.claims:Level"),
    ),
]
Listing = Annotated[bool, typer.Option("--list", help="List the claims without checking them.")]
Coverage = Annotated[bool, typer.Option("--coverage", help="List the papers' numbered statements with their claims.")]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="Ask one claim about another value of a parameter (again for more parameters).",
    ),
]
PicturesFolder = Annotated[
    Path | None,
    typer.Option("--pictures", metavar="DIR", help="Also draw the figures and tables that show these claims."),
]


@app.command(
    examples=(
        "packproof verify introduction",
        "packproof verify --list ps-dsf",
        "packproof verify nonpreemptive/table-1 --with workload=1,3,1",
    )
)
def verify(
    names: Names = None,
    paper: Paper = None,
    level: LevelName = "quick",
    given: With = None,
    listing: Listing = False,
    table: Coverage = False,
    pictures: PicturesFolder = None,
    engine: EngineOption = "local",
    as_json: JsonFlag = False,
) -> None:
    """Check claims one by one: status 0 if no outcome is other than the registered one, 1 if one is.

    A claim fails where a policy breaks its contract. An error in one check is shown with that claim, and the others are
    checked all the same; the status is then 70, or 2 where the error is one of input.
    """
    from bounds.claims import Level
    from bounds.results import modules

    if listing or table:
        refuse_unused({"--engine": engine != "local"}, "--list or --coverage, which check nothing")
    if level not in list(Level):
        raise InputError(f"--level: expected {', '.join(Level)}, got {level!r}")
    chosen = list(modules(names or (), paper))
    if given is not None:
        refused = {"--list": listing, "--coverage": table, "--pictures": pictures is not None}
        refuse_unused(refused | {"--level": level != "quick", "--engine": engine != "local"}, "--with")
        _ask(chosen, given, as_json=as_json)
    elif table:
        _cover(chosen, as_json=as_json)
    elif listing:
        _list(chosen, as_json=as_json)
    else:
        outcomes = _check(chosen, Level(level), engine, as_json=as_json)
        if pictures is not None:
            _draw([checked.claim.id for checked in outcomes], pictures, level, as_json=as_json)
        if not all(checked.ok for checked in outcomes):
            raise typer.Exit(_status(outcomes))


def _list(chosen: list[str], *, as_json: bool) -> None:
    """List claims without checking them."""
    from bounds.results import claims
    from bounds.views.claims import listed

    show([listed(claim) for claim in claims(chosen)], as_json=as_json)


def _cover(chosen: list[str], *, as_json: bool) -> None:
    """List the numbered statements of papers with their claims."""
    from bounds.claims import PAPERS
    from bounds.results import claims
    from bounds.results.statements import coverage
    from bounds.views.claims import covered

    of = {identity.partition("/")[0] for identity in chosen}
    show(covered(coverage(claims(chosen), tuple(one for one in PAPERS if one in of))), as_json=as_json)


def _check(chosen: list[str], level: Level, engine: str, *, as_json: bool) -> list[Checked]:
    """Check claims, and show each as it is checked; with --json all of them at the end."""
    from bounds.results import verify_all
    from bounds.views.claims import as_checked, ending, summary, verified
    from bounds.views.shown import written

    outcomes: list[Checked] = []
    begin = time.perf_counter()
    with progress() as report:
        for number, checked in enumerate(verify_all(chosen, level, engine=engine), 1):
            report(f"{number} of {len(chosen)}: {checked.claim.id}")
            outcomes.append(checked)
            if not as_json:
                report.print(as_checked(checked))
    # checks end in any order; the answer has the order of the papers
    outcomes.sort(key=lambda checked: chosen.index(checked.claim.id))
    if as_json:
        show([verified(checked) for checked in outcomes], as_json=True)
    else:
        print_answer("\n".join(("", *written(summary(outcomes)))))
        print_answer(f"{ending(outcomes)}, {time.perf_counter() - begin:.1f} s")
    return outcomes


def _ask(chosen: list[str], given: list[str], *, as_json: bool) -> None:
    """Ask one claim about a reader's numbers; status 1 where what is printed does not come out."""
    from bounds.results import claims
    from bounds.results.asked import ask
    from bounds.views.claims import asked

    if len(chosen) != 1:
        raise InputError(f"--with: expected one claim, got {len(chosen)}")
    (claim,) = claims(chosen)
    answer = asked(claim, *ask(claim, given))
    show(answer, as_json=as_json)
    if answer.holds is False:
        raise typer.Exit(1)


def _status(outcomes: Sequence[Checked]) -> int:
    """Return the status where an outcome is not the one on record; say on stderr which checks an error has ended."""
    ended_by: dict[tuple[int, str], list[str]] = {}
    for checked in outcomes:
        if checked.unfinished:
            ended_by.setdefault((checked.outcome.status, checked.outcome.computed), []).append(checked.claim.id)
    for (status, words), identities in ended_by.items():
        ended(f"{', '.join(identities)}: {words}" + (f"; {PLEASE}" if status == FAULT else ""), status)
    # a fault of packproof outweighs bad input, and bad input a verdict
    return max((status for status, _ in ended_by), default=1)


def _draw(identities: list[str], folder: Path, level: str, *, as_json: bool) -> None:
    """Draw what shows these claims (`packproof reproduce`), and say how many have no picture."""
    from bounds.results.reproduction import Effort, reproductions
    from bounds.results.run import reproduce_all
    from bounds.views.claims import sentence

    chosen = [one for one in reproductions() if set(one.claims) & set(identities)]
    with progress() as say:
        for done in reproduce_all(chosen, folder, Effort(level), progress=say):
            if not as_json:
                say.print(sentence(done.answer(Effort(level))))
    shown = {identity for one in chosen for identity in one.claims}
    bare = sum(identity not in shown for identity in identities)
    if bare and not as_json:
        print_answer(f"{bare} of {many(len(identities), 'claim')} {'has' if bare == 1 else 'have'} no picture")
