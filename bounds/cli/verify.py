"""``packproof verify``: check the claims on record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.claims import PAPERS, Checked, Level
from bounds.cli.app import app, completed_by, progress, show
from bounds.cli.endings import PLEASE, ended
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import EngineOption, JsonFlag
from theory.errors import FAULT, InputError
from theory.files.answer import print_answer
from theory.numbers import many

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
    Level, typer.Option("--level", help="Size of families and samples (tiny: as in packproof's own tests).")
]
ListFlag = Annotated[bool, typer.Option("--list", help="List the claims without checking them.")]
CoverageFlag = Annotated[
    bool, typer.Option("--coverage", help="List the papers' numbered statements with their claims.")
]
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


@dataclass(frozen=True, kw_only=True)
class Chosen(Mode):
    """Which claims are meant."""

    names: Names = None
    paper: Paper = None
    as_json: JsonFlag = False

    @property
    def identities(self) -> list[str]:
        """The claims, in the order of the papers."""
        from bounds.results import modules

        return list(modules(self.names or (), self.paper))


@dataclass(frozen=True, kw_only=True)
class Checking(Chosen):
    """Claims are checked."""

    beside = "claims that are checked"

    level: LevelName = Level.quick
    pictures: PicturesFolder = None
    engine: EngineOption = "local"


@dataclass(frozen=True, kw_only=True)
class Listing(Chosen):
    """Claims are listed."""

    beside = "--list, which checks nothing"
    chosen_by = ("listing",)

    listing: ListFlag = False


@dataclass(frozen=True, kw_only=True)
class Covering(Chosen):
    """The numbered statements of papers are listed with their claims."""

    beside = "--coverage, which checks nothing"
    chosen_by = ("table",)

    table: CoverageFlag = False


@dataclass(frozen=True, kw_only=True)
class Asking(Chosen):
    """One claim is asked about a reader's numbers."""

    beside = "--with"
    chosen_by = ("given",)

    given: With = None


def _mode(given: Any) -> type[Mode]:
    if given.given is not None:
        return Asking
    if given.table:
        return Covering
    return Listing if given.listing else Checking


def check(options: Checking) -> None:
    """Check claims, and draw what shows them if that is asked for."""
    outcomes = _checked(options)
    if options.pictures is not None:
        identities = [checked.claim.id for checked in outcomes]
        _draw(identities, options.pictures, options.level.value, as_json=options.as_json)
    if not all(checked.ok for checked in outcomes):
        raise typer.Exit(_status(outcomes))


def _checked(options: Checking) -> list[Checked]:
    """Check claims, and show each as it is checked; with --json all of them at the end."""
    from bounds.results import verify_all
    from bounds.results.recorded import about, recorded_seconds
    from bounds.views.claims import as_checked, ending, summary, verified
    from bounds.views.shown import written

    chosen, outcomes = options.identities, list[Checked]()
    begin = time.perf_counter()
    seconds = recorded_seconds()
    with progress() as report:
        if chosen:
            report(about(chosen, options.level, seconds))
        for number, checked in enumerate(verify_all(chosen, options.level, engine=options.engine), 1):
            report(f"{number} of {len(chosen)}: {checked.claim.id}")
            outcomes.append(checked)
            if not options.as_json:
                report.print(as_checked(checked, options.level))
    # checks end in any order; the answer has the order of the papers
    outcomes.sort(key=lambda checked: chosen.index(checked.claim.id))
    if options.as_json:
        show([verified(checked) for checked in outcomes], as_json=True)
    else:
        print_answer("\n".join(("", *written(summary(outcomes)))))
        print_answer(f"{ending(outcomes)}, {time.perf_counter() - begin:.1f} s")
    return outcomes


def list_claims(options: Listing) -> None:
    """List claims without checking them."""
    from bounds.results import claims
    from bounds.views.claims import listed

    show([listed(claim) for claim in claims(options.identities)], as_json=options.as_json)


def cover(options: Covering) -> None:
    """List the numbered statements of papers with their claims."""
    from bounds.results import claims
    from bounds.results.statements import coverage
    from bounds.views.claims import covered

    of = {identity.partition("/")[0] for identity in options.identities}
    statements = coverage(claims(options.identities), tuple(one for one in PAPERS if one in of))
    show(covered(statements), as_json=options.as_json)


def ask_claim(options: Asking) -> None:
    """Ask one claim about a reader's numbers; status 1 where what is printed does not come out."""
    from bounds.results import claims
    from bounds.results.asked import ask
    from bounds.results.recorded import about, recorded_seconds
    from bounds.views.claims import asked

    chosen = options.identities
    if len(chosen) != 1:
        some = ", ".join(chosen[:4]) + ", ..." * (len(chosen) > 4)
        raise InputError("--with", f"expected one claim, got {len(chosen)}: {some}")
    (claim,) = claims(chosen)
    with progress() as report:
        report(f"{about(chosen, Level.quick, recorded_seconds())} (recorded with the defaults)")
        found = ask(claim, options.given or [])
    answer = asked(claim, *found)
    show(answer, as_json=options.as_json)
    if answer.holds is False:
        raise typer.Exit(1)


app.command(
    "verify",
    examples=(
        "packproof verify introduction",
        "packproof verify --list ps-dsf",
        "packproof verify nonpreemptive/table-1 --with workload=1,3,1",
    ),
)(
    command_of(
        _mode,
        {Checking: check, Listing: list_claims, Covering: cover, Asking: ask_claim},
        """Check claims one by one: status 0 if no outcome is other than the registered one, 1 if one is.

        A claim fails where a policy breaks its contract. An error in one check is shown with that claim, and the others
        are checked all the same; the status is then 70, or 2 where the error is one of input.
        """,
    )
)


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
    from bounds.claims import Level
    from bounds.results.reproduction import reproductions
    from bounds.results.run import reproduce_all
    from bounds.views.claims import sentence

    chosen = [one for one in reproductions() if set(one.claims) & set(identities)]
    with progress() as say:
        for done in reproduce_all(chosen, folder, Level(level), progress=say):
            if not as_json:
                say.print(sentence(done.answer(Level(level))))
    shown = {identity for one in chosen for identity in one.claims}
    bare = sum(identity not in shown for identity in identities)
    if bare and not as_json:
        print_answer(f"{bare} of {many(len(identities), 'claim')} {'has' if bare == 1 else 'have'} no picture")
