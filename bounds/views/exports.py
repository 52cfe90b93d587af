"""``packproof check`` and ``packproof export``: what a certificate proves, and files for foreign tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bounds.answers.exports import CheckedCertificate, ExportAnswer
from bounds.answers.record import Fields, encode
from bounds.checker import printable, quoted
from bounds.exports.document import Exported
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many


def export_answer(form: str, kind: str, files: Sequence[Exported], paths: Sequence[str | None]) -> ExportAnswer:
    """Return what was exported, and where it was written."""
    every = zip(files, paths, strict=True)
    written = [Fields(file, path=path, text=file.text if path is None else None) for file, path in every]
    return encode(ExportAnswer, format=form, kind=kind, files=written)


CLAIMED = {
    "J": "J of the universal partition",
    "fair": "fair share",
    "greedy": "greedy reward",
    "guarantee": "guaranteed by the fractions of the greedy stages",
    "guarantee_stagewise": "guaranteed by the best of these stages",
    "lower": "workload that can be supported, at least",
    "optimal": "optimal reward",
    "ratio": "part of the optimum that is kept",
    "ratio_at_most": "part of the optimum that is kept, at most",
    "servers": "whole servers",
    "supportable": "the servers carry the workload",
    "traffic_intensity": "traffic intensity",
    "upper": "workload that can be supported, at most",
    "vqs": "workload that VQS supports",
    "vqs_lost": "workload that VQS loses",
}
"""What values are called that a certificate claims, where their names do not say it."""

ON_SERVERS = {
    "greedy": "greedy reward",
    "least": "least number that carries the workload, at least",
    "most": "least number that carries the workload, at most",
    "servers": "number",
    "split": "split over the pools by",
}
"""The same, of whole servers."""


def sentence(answer: CheckedCertificate | ExportAnswer) -> str:
    """Return whether a certificate is valid, or how many files were written."""
    if isinstance(answer, CheckedCertificate):
        if not answer.valid:
            return f"The certificate is refused: {printable(answer.reason or '')}."
        return "The certificate is valid: its evidence proves all values that it claims."
    files = f"{many(len(answer.files), 'file')} in the format {answer.format}"
    verb = "states" if len(answer.files) == 1 else "state"
    return f"{files} {verb} what the certificate claims; its evidence was not verified."


def tables(answer: CheckedCertificate | ExportAnswer) -> list[Table]:
    """Return the values that are proved, or the files with what the foreign tool must answer."""
    if isinstance(answer, ExportAnswer):
        return [table._replace(whole=True) for table in tables_of(answer)]
    rows = [[name, value] for name, value in claimed(answer.claims)]
    return [Table("proved", ["", ""], rows, [False, True], whole=True)] if rows else []


def claimed(claims: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the claims of a certificate and their values: nested ones under their tables, lists by their length."""
    if isinstance(claims, Mapping):
        for key, value in sorted(claims.items()):
            words = ON_SERVERS if name == CLAIMED["servers"] else {} if name else CLAIMED
            called = words.get(key) or printable(quoted(key))
            yield from claimed(value, f"{name}, {called}" if name else called)
    elif isinstance(claims, list):
        yield name, f"{len(claims):,} of them"
    elif isinstance(claims, bool):
        yield name, "yes" if claims else "no"
    else:
        yield name, printable(str(claims))


def pictures(answer: CheckedCertificate | ExportAnswer) -> list[Picture]:
    """Return no picture: certificates have none."""
    del answer
    return []
