"""``packproof instance`` and ``packproof catalogue``: instance files of cloud VM types and of a user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import app, completed_by, print_json, show
from bounds.cli.options import JsonFlag, named_values, read_number, to_write
from theory.errors import InputError
from theory.files.answer import print_answer
from theory.numbers import many


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
        str | None,
        typer.Option(
            "--workload", metavar="R", help="Jobs of each type per server, where no file says (else it is left out)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write, TOML or JSON.", callback=to_write)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an instance of real VM types, and of your own; the reward of a VM type is its price an hour."""
    from theory.files.instances import instance_document, parse_instance, tables_toml, write_tables
    from theory.files.price_catalogue import catalogue_tables, read_own_types
    from theory.numbers import text

    names = [name.strip() for name in types.split(",") if name.strip()]
    if not names and own is None:
        raise InputError("--types", "missing, expected VM types, such as aws:m5.large, or your own (--own FILE)")
    pools = [pool_table(option, number, several=len(server) > 1) for number, option in enumerate(server, 1)]
    jobs = {} if workload is None else {"workload": text(read_number("--workload", workload))}
    tables = catalogue_tables(names)
    # types of the catalogue demand both, so that they would fit no server
    if tables and not any({"cpu", "memory"} <= set(pool["capacity"]) for pool in pools):
        named = "; ".join(", ".join(pool["capacity"]) or "nothing" for pool in pools)
        raise InputError("--server", f"expected cpu=NUMBER,memory=NUMBER for types of the catalogue, got {named}")
    tables += [] if own is None else read_own_types(own)
    raw = {"server": pools, "type": [{**jobs, **table} for table in tables]}
    parsed = parse_instance(raw, "--types" if own is None else str(own), workload_needed=False)
    document = instance_document(parsed)
    # a workload that no file states is not made up: a log has it, and the service rate with it
    document["type"] = [
        kind if "workload" in stated else {name: value for name, value in kind.items() if name in stated}
        for kind, stated in zip(document["type"], raw["type"], strict=True)
    ]
    if out is not None:
        write_tables(out, document)
        if not as_json:
            of_pools = f", {len(pools)} pools" if len(pools) > 1 else ""
            print_answer(f"{out}: {many(len(parsed.types), 'type')}{of_pools}")
            return
    print_json(document) if as_json else print_answer(tables_toml(document), end="")


def pool_table(option: str, number: int, *, several: bool) -> dict[str, Any]:
    """Return ``name=A,share=2,cpu=80,memory=640`` as a table ``[[server]]``; a name and a share may be left out."""
    from theory.numbers import text

    amounts = named_values("--server", option.split(","), "cpu=NUMBER,memory=NUMBER", got=option[:60])
    table: dict[str, Any] = {}
    pool_name = amounts.pop("name", None)
    if pool_name is not None or several:
        table["name"] = f"pool{number}" if pool_name is None else pool_name
    share = amounts.pop("share", None)
    if share is not None:
        table["share"] = text(read_number("--server: share", share))
    return table | {
        "capacity": {name: text(read_number(f"--server: {name}", value)) for name, value in amounts.items()}
    }


@app.command(examples=("packproof catalogue 'aws:m5.*'", "packproof catalogue n2-standard"))
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
    from bounds.views.catalogue import catalogue_answer
    from theory.files.price_catalogue import matching, near

    names = matching(pattern)
    if not names:
        hint = near(pattern.replace("*", ""))
        meant = f"; near names: {', '.join(hint)}" if hint else ""
        raise InputError("PATTERN", f"{pattern[:60]!r}: no type of the price table has such a name{meant}")
    show(catalogue_answer(names), as_json=as_json)
