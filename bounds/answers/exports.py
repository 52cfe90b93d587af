"""The answers of ``packproof check`` and ``packproof export``, which are about certificates."""

from __future__ import annotations

from typing import Annotated, Any

from bounds.answers.record import HIDDEN, Answer, Head
from bounds.answers.shared import CommandAnswer


class CheckedCertificate(CommandAnswer):
    """What the checker says of a certificate: its claims, none where it is refused, and why it is."""

    valid: Annotated[bool, HIDDEN]
    reason: Annotated[str | None, HIDDEN]
    claims: Annotated[dict[str, Any], HIDDEN]


class ExportAnswer(CommandAnswer):
    """The answer of ``export``: files by name; `expected` is what the foreign tool must answer."""

    format: Annotated[str, HIDDEN]
    kind: Annotated[str, HIDDEN]
    files: list[ExportedFile]


class ExportedFile(Answer):
    """A file; its text is null where it was written, its path is null where it was not."""

    name: Annotated[str, HIDDEN]
    states: Annotated[str, Head("what it states", prose=True)]
    expected: Annotated[str, Head("what the tool must answer", prose=True)]
    path: Annotated[str | None, Head("file", prose=True)]
    text: Annotated[str | None, HIDDEN]
