"""``packproof instance``: an instance file from the catalogue of cloud VM types and a user's own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import JsonFlag, app, completed_by, print_json, to_write
from theory.files.answer import print_answer


@app.command(
    examples=(
        "packproof instance --types 'aws:m5.*,aws:r5.large' --server cpu=96,memory=768 --out m5.toml",
        "packproof instance --types aws:c5.large --own examples/own_types.csv"
        " --server name=old,share=2,cpu=48,memory=192 --server name=new,cpu=96,memory=384,gpu=8",
    )
)
def instance(
    server: Annotated[
        list[str],
        typer.Option(
            "--server",
            metavar="cpu=80,memory=640",
            help="vCPUs and GiB of a server; again, with name= and share=, for each further pool.",
        ),
    ],
    types: Annotated[
        str,
        typer.Option(
            "--types",
            metavar="aws:NAME,gcp:NAME,...",
            help="VM types; a family as aws:m5.*",
            autocompletion=completed_by("theory.files.price_catalogue:catalogue"),
        ),
    ] = "",
    own: Annotated[
        Path | None, typer.Option("--own", metavar="FILE", help="Types of your own: CSV, or TOML with [[type]].")
    ] = None,
    workload: Annotated[
        str, typer.Option("--workload", metavar="R", help="Jobs of each type per server, where no file says.")
    ] = "1",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write, TOML or JSON.", callback=to_write)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an instance of real VM types, and of your own; the reward of a VM type is its price an hour."""
    from theory.errors import InputError
    from theory.files.instances import instance_document, instance_toml, parse_instance, write_instance
    from theory.files.own_types import read_own_types
    from theory.files.price_catalogue import catalogue_tables
    from theory.numbers import text

    names = [name.strip() for name in types.split(",") if name.strip()]
    if not names and own is None:
        raise InputError("--types: missing, expected VM types such as aws:m5.large, or types of your own (--own FILE)")
    pools = [_pool(option, number, several=len(server) > 1) for number, option in enumerate(server, 1)]
    jobs = _exact("--workload", workload)
    tables = catalogue_tables(names, jobs)
    if tables and not any({"cpu", "memory"} <= set(pool["capacity"]) for pool in pools):
        found = "; ".join(", ".join(pool["capacity"]) or "nothing" for pool in pools)
        raise InputError(f"--server: expected cpu=NUMBER,memory=NUMBER for types of the catalogue, got {found}")
    if own is not None:
        tables += [{"workload": text(jobs), **table} for table in read_own_types(own)]
    made = parse_instance({"server": pools, "type": tables}, "--types" if own is None else str(own))
    if out is not None:
        write_instance(out, made)
        if not as_json:
            print_answer(f"{out}: {len(made.types)} types" + (f", {len(pools)} pools" if len(pools) > 1 else ""))
            return
    if as_json:
        print_json(instance_document(made))
    else:
        print_answer(instance_toml(made), end="")


def _exact(option: str, text: str) -> Fraction:
    """Read a number; a bad one ends in one line that names the option."""
    from theory.errors import InputError
    from theory.numbers import rational

    try:
        return rational(text)
    except ValueError as error:
        raise InputError(f"{option}: expected a number, got {text[:60]!r} ({error})") from None


def _pool(option: str, number: int, *, several: bool) -> dict[str, Any]:
    """Return ``name=A,share=2,cpu=80,memory=640`` as a table ``[[server]]``; a name and a share may be left out."""
    from theory.errors import InputError
    from theory.numbers import text

    given: dict[str, str] = {}
    for part in option.split(","):
        name, equals, amount = part.partition("=")
        if not equals or name.strip() in given:
            raise InputError(f"--server: expected cpu=NUMBER,memory=NUMBER, got {option[:60]!r}")
        given[name.strip()] = amount.strip()
    table: dict[str, Any] = {}
    named = given.pop("name", None)
    if named is not None or several:
        table["name"] = f"pool{number}" if named is None else named
    share = given.pop("share", None)
    if share is not None:
        table["share"] = text(_exact("--server: share", share))
    return table | {"capacity": {name: text(_exact(f"--server: {name}", value)) for name, value in given.items()}}
