"""Parts that answers of several subjects have."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Digest, Ends, Of


class Made(Answer):
    """What made an answer: the command with its options (`seed` apart), and the SHA-256 of each file that it read.

    Versions are those of packproof and of the libraries that were loaded.
    """

    version: str
    command: str
    options: dict[str, Any]
    seed: int | None
    inputs: dict[str, Digest]
    libraries: dict[str, str]


class Number(Answer):
    """A measured number with its 95 % interval; null where there is none."""

    mean: float | None
    ci95: Annotated[Ends, Of("")]


class Bounds(Answer):
    """The least number of servers that carries a workload, between bounds."""

    lower: int
    upper: int
    exact: bool

    def in_words(self) -> str:
        """Return the number, or between which ends it is."""
        return f"{self.lower:,}" if self.exact else f"between {self.lower:,} and {self.upper:,}"


class CommandAnswer(Answer):
    """The whole answer of a command; ``made`` is absent in Python, where no command made it."""

    made: Made | UnsetType = UNSET
