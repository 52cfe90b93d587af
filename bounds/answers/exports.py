"""The answer of ``packproof export``."""

from __future__ import annotations

from bounds.answers.record import Answer
from bounds.answers.shared import CommandAnswer


class ExportAnswer(CommandAnswer):
    """The answer of ``export``: files by name; `expected` is what the foreign tool must answer."""

    format: str
    kind: str
    files: list[ExportedFile]


class ExportedFile(Answer):
    """A file; its text is null where it was written, its path is null where it was not."""

    name: str
    states: str
    expected: str
    path: str | None
    text: str | None
