"""``packproof check``: verify a certificate with the independent checker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import JsonFlag, app, certificate_text, show


@app.command(
    examples=(
        "packproof solve examples/ec2.toml --certificate proof.json && packproof check proof.json",
        "packproof check proof.json --instance examples/ec2.toml",
    )
)
def check(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE.json", show_default=False)],
    instance: Annotated[
        Path | None,
        typer.Option("--instance", metavar="FILE", help="Require that the certificate is about this instance."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", help="Units of work that the certificate may take.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Verify a certificate: status 0 if its evidence proves every claim, 1 if not."""
    from bounds import checker
    from theory.errors import InputError
    from theory.files.clusters import cluster_document, read_cluster
    from theory.files.instances import instance_document, read_instance
    from theory.files.sizes import read_sizes, sizes_document

    if budget is not None and budget < 1:
        raise InputError(f"--budget: expected a positive whole number, got {budget}")
    text = certificate_text(certificate)
    claims: dict[str, Any] = {}
    reason = None
    try:
        document = checker.load(text)
        claims = checker.check(document, budget or checker.BUDGET)
        if instance is not None:
            if document["kind"] == "allocation":
                expected = cluster_document(read_cluster(instance))
            elif document["kind"] == "throughput":
                expected = sizes_document(read_sizes(instance))
            else:
                expected = instance_document(read_instance(instance))
            if document["kind"] == "worst":  # it is about the types, at any workload
                for kind, given in zip(expected["type"], document["instance"]["type"], strict=False):
                    kind["workload"] = given["workload"]
            if document["instance"] != expected:
                raise checker.Refused(f"it is not about the instance of {instance}")
    except checker.Refused as refused:
        reason = str(refused)
    except checker.Unreadable as error:
        raise InputError(f"{certificate}: {error}") from None
    answer = {"valid": reason is None, "reason": reason, "claims": claims if reason is None else {}}

    def lines() -> list[str]:
        if reason is not None:
            return [f"refused: {checker.printable(reason)}"]
        return ["valid: the evidence proves"] + [f"  {part}" for part in checker.shown(claims)]

    show(answer, lines, as_json=as_json)
    if reason is not None:
        raise typer.Exit(1)
