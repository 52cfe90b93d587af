"""``packproof reproduce``: its answers, which are the same for a result that is made, stored or skipped."""

from __future__ import annotations

from typing import Any

from bounds.views.text import Answer


class Reproduced(Answer, frozen=True, kw_only=True):
    """What became of a result; `cpu_seconds` is null where it was skipped, `reason` says why."""

    result: str
    status: str
    reason: str
    level: str
    cpu_seconds: float | None
    files: list[str]


class ListedResult(Answer, frozen=True, kw_only=True):
    """A result as it is listed, with its parameters by level."""

    result: str
    title: str
    printed: str
    lost: str
    chosen: str
    seed: int | None
    claims: list[str]
    parameters: dict[str, dict[str, Any]]
