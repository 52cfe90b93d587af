"""``packproof check`` and ``packproof export``: certificates verified by the checker, or handed to tools of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import app, completed_by, show
from bounds.cli.options import JsonFlag, announcing
from bounds.exports.kinds import formats_in_words, kinds_in_words
from theory.errors import ArgumentError, InputError
from theory.files.answer import print_answer

CertificatePath = Annotated[Path, typer.Argument(metavar="CERTIFICATE.json", show_default=False)]


def certificate_text(path: Path) -> str:
    """Read the text of a certificate, which the checker parses; text that is another kind of document is refused."""
    from theory.files.kinds import kind_of_text
    from theory.files.places import read_text

    text = read_text(path)
    if '"format"' not in text:
        kind = kind_of_text(text) or "text that is none"
        raise InputError(path, "", f"expected a certificate, a JSON document with a field format, found {kind}")
    return text


@app.command(
    examples=(
        "packproof solve examples/ec2.toml --certificate proof.json && packproof check proof.json",
        "packproof check proof.json --instance examples/ec2.toml",
    )
)
def check(
    certificate: CertificatePath,
    instance: Annotated[
        Path | None,
        typer.Option("--instance", metavar="FILE", help="Require that the certificate is about this instance."),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(
            "--seconds", metavar="S", help="Seconds of processor time that the certificate may take (default 60)."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Verify a certificate: status 0 if its evidence proves every claim, 1 if not."""
    from bounds import checker
    from bounds.answers.exports import CheckedCertificate
    from bounds.answers.record import encode

    if seconds is not None and not 1 <= seconds <= 9_999_999:
        raise InputError("--seconds", f"expected a whole number from 1 to 9,999,999, got {seconds}")
    text = certificate_text(certificate)
    claims: dict[str, Any] = {}
    reason = None
    try:
        checker.limit_length(len(text.encode("utf-8")))
        with checker.limited(checker.SECONDS if seconds is None else seconds):
            document = checker.load(text)
            claims = checker.check(document)
        if instance is not None and not _is_about(document, instance):
            raise checker.Refused(f"it is not about the instance of {instance}")
    except checker.Refused as refused:
        reason = str(refused)
    except checker.Unreadable as error:
        raise InputError(certificate, "", error) from error
    proved = claims if reason is None else {}
    show(encode(CheckedCertificate, valid=reason is None, reason=reason, claims=proved), as_json=as_json)
    if reason is not None:
        raise typer.Exit(1)


def _is_about(document: dict[str, Any], path: Path) -> bool:
    """Return whether a certificate is about the instance of a file."""
    from theory.files.clusters import cluster_document, read_cluster
    from theory.files.instances import instance_document, read_instance
    from theory.files.sizes import read_sizes, sizes_document

    if document["kind"] == "packing":
        from bounds.adversary.documents import case_document, items_of
        from theory.files.document import read_document

        expected = case_document(items_of(read_document(path), str(path)))
        del expected["items"]["packing"]
    elif document["kind"] in ("allocation", "fair-share", "fairness"):
        expected = cluster_document(read_cluster(path))
    elif document["kind"] == "throughput":
        expected = sizes_document(read_sizes(path))
    else:
        expected = instance_document(read_instance(path))
    if document["kind"] == "worst":  # it is about the types, at any workload
        for kind, certified in zip(expected["type"], document["instance"]["type"], strict=False):
            kind["workload"] = certified["workload"]
    return bool(document["instance"] == expected)


@app.command(
    help="Write what a certificate states for a tool that shares no code with packproof; the evidence is not verified."
    f"\n\n{kinds_in_words()}",
    examples=(
        "packproof solve examples/ec2.toml --certificate proof.json && packproof export proof.json --format lp",
        "packproof export proof.json --format smtlib --out proof.smt2",
    ),
)
def export(
    certificate: CertificatePath,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"{formats_in_words()}.",
            autocompletion=completed_by("bounds.exports.kinds:FORMATS"),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE|FOLDER",
            help="File to write; a new folder where there are several.",
            callback=announcing(printed=True, folder=True),
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write what a certificate states for a tool of others, to a file, a folder or standard output."""
    from bounds import checker
    from bounds.exports import export as export_document
    from bounds.views.exports import export_answer
    from theory.files.places import write_folder, write_text

    text = certificate_text(certificate)
    try:
        document = checker.load(text)
        files = export_document(document, form)
    except (checker.Refused, checker.Unreadable) as error:
        raise InputError(certificate, "", error) from error
    except InputError as error:
        if isinstance(error, ArgumentError):  # the format, whatever the certificate
            raise
        raise error.within(certificate) from error
    names = ", ".join(file.name for file in files[:6])
    several = len(files) > 1
    paths: list[str | None] = [None] * len(files)
    if out is None and several and not as_json:
        raise InputError(
            "--out", f"expected a folder for {len(files)} files: {names}{', ...' if len(files) > 6 else ''}"
        )
    if out is not None:
        # one file goes into a folder that is there, or is the file named
        if several or out.is_dir():
            write_folder(out, {file.name: file.text for file in files})
            paths = [os.path.join(out, file.name) for file in files]
        else:
            write_text(out, files[0].text)
            paths = [str(out)]
    answer = export_answer(form, document["kind"], files, paths)
    if out is None and not as_json:  # the file itself is what is asked for
        print_answer(files[0].text, end="")
        return
    show(answer, as_json=as_json)
