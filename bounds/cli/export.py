"""``packproof export``: what a certificate states, as files that other people's tools read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import JsonFlag, app, certificate_text, completed_by, show, to_write_or_print_or_fill


@app.command(
    examples=(
        "packproof solve examples/ec2.toml --certificate proof.json && packproof export proof.json --format qsopt",
        "packproof export proof.json --format smtlib --out proof.smt2",
    )
)
def export(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE.json", show_default=False)],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="smtlib (z3, cvc5), lp or mps (GLPK), qsopt (QSopt_ex), lrs (lrs, cdd) or certo (certo-math).",
            autocompletion=completed_by("bounds.exports.formats:FORMATS"),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE|FOLDER",
            help="File to write; a new folder where there are several.",
            callback=to_write_or_print_or_fill,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write what a certificate states for a tool that shares no code with packproof; the evidence is not verified.

    smtlib takes certificates of assignments, regions and throughput; lrs those of regions with facets; all others take
    every kind, of allocations those by c-drfh, cdrf and tsf.
    """
    from bounds import checker
    from bounds.exports import export as export_document
    from bounds.views.exports import export_answer, export_lines
    from theory.errors import InputError
    from theory.files.places import write_folder, write_text

    text = certificate_text(certificate)
    try:
        document = checker.load(text)
        files = export_document(document, form)
    except (checker.Refused, checker.Unreadable) as error:
        raise InputError(f"{certificate}: {error}") from None
    except InputError as error:
        raise (error if str(error).startswith("--format: ") else type(error)(f"{certificate}: {error}")) from None
    names = ", ".join(file.name for file in files[:6])
    several = len(files) > 1
    paths: list[str | None] = [None] * len(files)
    if out is None and several and not as_json:
        raise InputError(f"--out: expected a folder for {len(files)} files: {names}{', ...' if len(files) > 6 else ''}")
    if out is not None:
        if several or out.is_dir():
            write_folder(out, {file.name: file.text for file in files})
            paths = [os.path.join(out, file.name) for file in files]
        else:
            write_text(out, files[0].text)
            paths = [str(out)]
    answer = export_answer(form, document["kind"], files, paths)
    show(answer, lambda: export_lines(answer), as_json=as_json)
