"""The answer of ``packproof catalogue``."""

from __future__ import annotations

from typing import Annotated

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import CommandAnswer


class Catalogue(CommandAnswer):
    """The types that a pattern names, and what the price table lacks of their lines."""

    types: list[VmType]
    missing: list[MissingSizes]


class VmType(Answer):
    """A VM type: vCPUs, GiB of memory, US dollars an hour on demand."""

    name: str
    cpu: int
    memory: Exact
    price: Exact
    price_float: Annotated[float, Of("price")]


class MissingSizes(Answer):
    """Sizes that the price table lacks in a line, and has in lines of the same generation."""

    line: str
    sizes: list[str]
