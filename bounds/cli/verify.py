"""``packproof verify``: check the claims on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import JsonFlag, app, progress, show

if TYPE_CHECKING:
    from bounds.claims import Verdict


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="[CLAIM ...]", show_default=False)] = None,
    paper: Annotated[str | None, typer.Option("--paper", metavar="NAME", help="Only this paper's claims.")] = None,
    level: Annotated[
        str, typer.Option("--level", metavar="quick|full", help="Size of families and samples.")
    ] = "quick",
    listing: Annotated[bool, typer.Option("--list", help="List the claims without checking them.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check claims one by one: status 0 if every outcome is the registered one, 1 if not."""
    import time

    from bounds.claims import Level, claims, verify_all
    from bounds.views.claims import listed, verdict_lines, verified
    from theory.errors import InputError

    if level not in list(Level):
        raise InputError(f"--level: expected quick or full, got {level!r}")
    chosen = claims(names or (), paper)
    if listing:
        show(
            [listed(c) for c in chosen],
            lambda: [f"{c.id:44} {c.evidence.value:12} {c.statement}" for c in chosen],
            as_json=as_json,
        )
        return
    verdicts: list[Verdict] = []
    begin = time.perf_counter()
    with progress() as report:
        for number, verdict in enumerate(verify_all(chosen, Level(level)), 1):
            report(f"{number} of {len(chosen)}: {verdict.claim.id}")
            verdicts.append(verdict)
            if not as_json:
                print("\n".join(verdict_lines(verdict)), flush=True)
    if as_json:
        show([verified(verdict) for verdict in verdicts], list, as_json=True)
    else:
        wrong = sum(not v.ok for v in verdicts)
        print(f"{len(verdicts)} claims, {wrong} not as registered, {time.perf_counter() - begin:.1f} s")
    if not all(v.ok for v in verdicts):
        raise typer.Exit(1)
