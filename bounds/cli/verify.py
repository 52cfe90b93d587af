"""``packproof verify``: check the claims on record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import JsonFlag, app, completed_by, progress, show
from theory.files.answer import print_answer

if TYPE_CHECKING:
    from bounds.claims import Checked


@app.command(
    examples=(
        "packproof verify introduction",
        "packproof verify --list --paper ps-dsf",
    )
)
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Identifiers, or their last parts.", show_default=False)
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(
            "--paper",
            metavar="NAME",
            help="Only this paper's claims.",
            autocompletion=completed_by("bounds.claims:PAPERS"),
        ),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            "--level",
            metavar="quick|full",
            help="Size of families and samples.",
            autocompletion=completed_by("bounds.claims:Level"),
        ),
    ] = "quick",
    listing: Annotated[bool, typer.Option("--list", help="List the claims without checking them.")] = False,
    table: Annotated[
        bool, typer.Option("--coverage", help="List the papers' numbered statements with their claims.")
    ] = False,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="DIR", help="Also draw the figures and tables that show these claims."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check claims one by one: status 0 if no outcome is other than the registered one, 1 if one is."""
    import time

    from bounds.claims import PAPERS, Level, claims, modules, verify_all
    from bounds.claims.statements import coverage
    from bounds.views.claims import (
        coverage_lines,
        covered,
        ending,
        listed,
        listing_lines,
        summary_lines,
        verdict_lines,
        verified,
    )
    from theory.errors import InputError

    if level not in list(Level):
        raise InputError(f"--level: expected quick or full, got {level!r}")
    chosen = list(modules(names or (), paper))
    if table:
        found_claims = coverage(claims(chosen), PAPERS if paper is None else (paper,))
        show(covered(found_claims), lambda: coverage_lines(found_claims), as_json=as_json)
        return
    if listing:
        loaded = claims(chosen)
        show([listed(one) for one in loaded], lambda: listing_lines(loaded), as_json=as_json)
        return
    found: list[Checked] = []
    begin = time.perf_counter()
    with progress() as report:
        for number, checked in enumerate(verify_all(chosen, Level(level)), 1):
            report(f"{number} of {len(chosen)}: {checked.claim.id}")
            found.append(checked)
            if not as_json:
                report.print("\n".join(verdict_lines(checked)))
    found.sort(key=lambda checked: chosen.index(checked.claim.id))
    if as_json:
        show([verified(checked) for checked in found], list, as_json=True)
    else:
        print_answer("\n".join(("", *summary_lines(found))))
        print_answer(f"{ending(found)}, {time.perf_counter() - begin:.1f} s")
    if pictures is not None:
        _draw([checked.claim.id for checked in found], pictures, level, as_json=as_json)
    if not all(checked.ok for checked in found):
        raise typer.Exit(1)


def _draw(identities: list[str], folder: Path, level: str, *, as_json: bool) -> None:
    """Draw what shows these claims (`packproof reproduce`), and say how many have no picture."""
    from bounds.reproduce.answers import line_of
    from bounds.reproduce.model import Effort, reproductions
    from bounds.reproduce.run import reproduce_all

    chosen = [one for one in reproductions() if set(one.claims) & set(identities)]
    with progress() as say:
        for done in reproduce_all(chosen, folder, Effort(level), progress=say):
            if not as_json:
                say.print(line_of(done))
    shown = {identity for one in chosen for identity in one.claims}
    bare = sum(identity not in shown for identity in identities)
    if bare and not as_json:
        print_answer(f"{bare} of {len(identities)} claims have no picture")
