"""``packproof catalogue``: the VM types that ``packproof instance`` knows, with resources and prices."""

from __future__ import annotations

from typing import Annotated

import typer

from bounds.cli.app import JsonFlag, app, completed_by, show


@app.command(
    examples=(
        "packproof catalogue 'aws:m5.*'",
        "packproof catalogue n2-standard",
    )
)
def catalogue(
    pattern: Annotated[
        str,
        typer.Argument(
            metavar="PATTERN",
            help="Name with * and ?, or part of one.",
            show_default=False,
            autocompletion=completed_by("theory.files.price_catalogue:catalogue"),
        ),
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """List the VM types of the price table: resources, prices, and sizes that the table lacks."""
    from bounds.views.catalogue import catalogue_answer, catalogue_lines
    from theory.errors import InputError
    from theory.files.price_catalogue import matching, near

    names = matching(pattern)
    if not names:
        hint = near(pattern.replace("*", ""))
        meant = f"; near names: {', '.join(hint)}" if hint else ""
        raise InputError(f"PATTERN: {pattern[:60]!r}: no type of the price table has such a name{meant}")
    answer = catalogue_answer(names)
    show(answer, lambda: catalogue_lines(answer), as_json=as_json)
