"""``packproof instance``: an instance file from the catalogue of cloud VM types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import JsonFlag, app, to_write


@app.command(
    examples=(
        "packproof instance --types 'aws:m5.*,aws:r5.large' --server cpu=96,memory=768 --out m5.toml",
        "packproof instance --types aws:c5.large,gcp:n2-standard-4 --server cpu=64,memory=256 --workload 5/2",
    )
)
def instance(
    types: Annotated[
        str, typer.Option("--types", metavar="aws:NAME,gcp:NAME,...", help="VM types; a family as aws:m5.*")
    ],
    server: Annotated[str, typer.Option("--server", metavar="cpu=80,memory=640", help="vCPUs and GiB of a server.")],
    workload: Annotated[str, typer.Option("--workload", metavar="R", help="Jobs of each type per server.")] = "1",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write, TOML or JSON.", callback=to_write)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an instance of real VM types; the reward of a type is its price an hour."""
    import json
    from fractions import Fraction

    from theory.errors import InputError
    from theory.files.instances import instance_document, instance_toml, write_instance
    from theory.files.price_catalogue import catalogue_instance
    from theory.numbers import rational

    def exact(option: str, text: str) -> Fraction:
        try:
            return rational(text)
        except ValueError as error:
            raise InputError(f"{option}: expected a number, got {text[:60]!r} ({error})") from None

    capacity: dict[str, Fraction] = {}
    for part in server.split(","):
        name, equals, amount = part.partition("=")
        if not equals or name.strip() in capacity:
            raise InputError(f"--server: expected cpu=NUMBER,memory=NUMBER, got {server[:60]!r}")
        capacity[name.strip()] = exact(f"--server: {name.strip()}", amount)
    names = [name.strip() for name in types.split(",") if name.strip()]
    made = catalogue_instance(names, capacity, exact("--workload", workload))
    if out is not None:
        write_instance(out, made)
        if not as_json:
            print(f"{out}: {len(made.types)} types")
            return
    print(
        json.dumps(instance_document(made), indent=2) if as_json else instance_toml(made), end="\n" if as_json else ""
    )
