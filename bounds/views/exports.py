"""``packproof export``: the files for a foreign tool, and what each says."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.exports.document import Exported
from bounds.views.answers import Answer


class ExportedFile(Answer, frozen=True):
    """A file; its text is null where it was written, its path is null where it was not."""

    name: str
    states: str
    expected: str
    path: str | None
    text: str | None


class ExportAnswer(Answer, frozen=True):
    """The answer of ``export``: files by name; `expected` is what the foreign tool must answer."""

    format: str
    kind: str
    files: list[ExportedFile]


def export_answer(form: str, kind: str, files: Sequence[Exported], paths: Sequence[str | None]) -> ExportAnswer:
    """Return what was exported, and where it was written."""
    every = zip(files, paths, strict=True)
    written = [ExportedFile.of(file, path=path, text=file.text if path is None else None) for file, path in every]
    return ExportAnswer(format=form, kind=kind, files=written)


def export_lines(answer: ExportAnswer) -> list[str]:
    """Return a line for each file that was written; the text of one that was not."""
    lines = []
    for file in answer.files:
        if file.path is None:
            lines += (file.text or "").splitlines()
        else:
            lines.append(f"{file.path}: {file.states} Expected: {file.expected}.")
    return lines
