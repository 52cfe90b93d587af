"""``packproof export``: the files for a foreign tool, and what each says."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.answers.exports import ExportAnswer
from bounds.answers.record import Fields, encode
from bounds.exports.document import Exported


def export_answer(form: str, kind: str, files: Sequence[Exported], paths: Sequence[str | None]) -> ExportAnswer:
    """Return what was exported, and where it was written."""
    every = zip(files, paths, strict=True)
    written = [Fields(file, path=path, text=file.text if path is None else None) for file, path in every]
    return encode(ExportAnswer, format=form, kind=kind, files=written)


def export_lines(answer: ExportAnswer) -> list[str]:
    """Return a line for each file that was written; the text of one that was not."""
    lines: list[str] = []
    for file in answer.files:
        if file.path is None:
            lines += (file.text or "").splitlines()
        else:
            lines.append(f"{file.path}: {file.states} Expected: {file.expected}.")
    return lines
