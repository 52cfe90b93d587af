"""``packproof schema``: the JSON schemas of answers and files."""

from __future__ import annotations

from typing import Annotated

import typer

from bounds.cli.app import app, completed_by
from theory.files.answer import print_answer
from theory.files.places import json_text


@app.command(examples=("packproof schema", "packproof schema solve"))
def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of a schema (none: list all).",
            show_default=False,
            autocompletion=completed_by("bounds.answers:names"),
        ),
    ] = "",
) -> None:
    """Print the JSON schema of what a command prints with --json, or of a file."""
    from bounds.answers import FILES, KINDS, names
    from bounds.answers import schema as published
    from bounds.views.tables import aligned

    if name:
        print_answer(json_text(published(name)))
        return
    said = {one: f"packproof {kind.command}" for one, kind in KINDS.items()}
    said |= {one: file.what for one, file in FILES.items()}
    print_answer("\n".join(aligned([["name", "what it describes"], *([one, said[one]] for one in names())])))
