"""``packproof example``: the files that help texts use, for those who have the wheel and no checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import app, completed_by
from theory.errors import InputError, meant
from theory.files.answer import print_answer, print_file

HOME = Path(__file__).parents[1]

KINDS = (".toml", ".csv", ".json", ".py")


def folder() -> Path:
    """Return where the examples are: in the wheel, or beside the packages in a checkout."""
    in_wheel = HOME / "examples"
    return in_wheel if in_wheel.is_dir() else HOME.parent / "examples"


def names() -> list[str]:
    """Return the names of the examples."""
    places = folder()
    every = places.iterdir() if places.is_dir() else ()
    return sorted(path.name for path in every if path.suffix in KINDS and not path.name.startswith("_"))


@app.command(examples=("packproof example", "packproof example four_types.toml"))
def example(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of a file, as help texts have it (none: list all).",
            show_default=False,
            autocompletion=completed_by(f"{__name__}:names"),
        ),
    ] = "",
) -> None:
    """Print an example file: packproof example four_types.toml > four_types.toml."""
    files = names()
    if not name:
        print_answer("\n".join(files))
        return
    wanted = name.removeprefix("examples/")
    if wanted not in files:
        listed = "expected an example, as `packproof example` lists them"
        raise InputError("NAME", f"{listed}, got {name[:60]!r}{meant(wanted, files)}")
    print_file((folder() / wanted).read_text(encoding="utf-8"))
