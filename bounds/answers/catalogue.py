"""Answers that list what there is to choose from: VM types, and policies."""

from __future__ import annotations

from typing import Annotated

from bounds.answers.record import HIDDEN, Answer, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class Catalogue(CommandAnswer):
    """The types that a pattern names, and what the price table lacks of their lines."""

    types: Annotated[list[VmType], Head("VM types")]
    missing: Annotated[
        list[MissingSizes],
        Head("sizes that the price table lacks, and most sister lines of the same generation have"),
    ]


class VmType(Answer):
    """A VM type: vCPUs, GiB of memory, US dollars an hour on demand."""

    name: Annotated[str, Head("type", prose=True)]
    cpu: Annotated[int, Head("vCPUs")]
    memory: Annotated[Exact, Head("GiB of memory")]
    price: Annotated[Exact, HIDDEN]
    price_float: Annotated[float, Of("price"), Head("USD an hour")]


class MissingSizes(Answer):
    """Sizes that the price table lacks in a line, and has in lines of the same generation."""

    line: Annotated[str, Head("line", prose=True)]
    sizes: list[str]


class PolicyLine(Answer):
    """A policy, in one line; `options` are fields of the table ``[simulation]``, which `explained` explains."""

    name: str
    model: str
    about: str
    options: list[str]
    explained: list[OptionLine]


class OptionLine(Answer):
    """An option of a policy.

    `default` as it stands in a file, null where the policy works it out, or needs a value.
    """

    name: str
    default: str | None
    about: str
