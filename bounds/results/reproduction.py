"""What a reproduced result is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib import import_module
from typing import Any

from bounds.views.panels import Panel
from theory.errors import InputError

WITH_RESULTS = ("autoscaling", "throughput", "ps-dsf", "nonpreemptive", "admission")
"""The papers whose figures and tables are reproduced, in the order in which they are listed: ``RESULTS`` of the folder
of a paper says which file has which."""


class Effort(StrEnum):
    """How much is computed: ``tiny`` for tests of the pictures, ``quick`` in seconds, ``full`` as far as it pays."""

    tiny = "tiny"
    quick = "quick"
    full = "full"


class WithoutData(Exception):  # noqa: N818 (it is a reason to skip, no error)
    """The real data that a result needs is not at hand; the message says which."""


Compute = Callable[..., Sequence[Panel]]


@dataclass(frozen=True)
class Reproduction:
    """A figure or table of a paper, as something that can be computed and drawn.

    Attributes
    ----------
    id : str
        ``paper/result``.
    title : str
        What it shows.
    printed : str
        What the paper prints of it.
    lost : str
        What is lost in the text at hand; empty for nothing.
    chosen : str
        What was chosen here in its place; empty for nothing.
    seed : int or None
        Of all that is drawn; None where nothing is.
    claims : tuple of str
        The claims that this picture shows.
    parameters : dict of Effort to dict
        The keyword arguments of `compute`.
    columns : int
        Panels side by side.
    height : float
        Inches a row of panels.
    compute : callable
        Returns the panels; raises `WithoutData`.
    """

    id: str
    title: str
    printed: str
    lost: str
    chosen: str
    seed: int | None
    claims: tuple[str, ...]
    parameters: Mapping[Effort, Mapping[str, Any]]
    columns: int
    height: float
    compute: Compute

    @property
    def caption(self) -> str:
        """The line under the picture."""
        return f"lost in our text: {self.lost or 'nothing'}; chosen here: {self.chosen or 'nothing'}"


REGISTRY: dict[str, Reproduction] = {}


def reproduction(
    name: str,
    title: str,
    *,
    printed: str,
    lost: str = "",
    chosen: str = "",
    seed: int | None = None,
    claims: tuple[str, ...] = (),
    tiny: Mapping[str, Any] | None = None,
    quick: Mapping[str, Any] | None = None,
    full: Mapping[str, Any] | None = None,
    columns: int = 2,
    height: float = 2.6,
) -> Callable[[Compute], Compute]:
    """Register a function as a result ``paper/name``; see `Reproduction`.

    `quick` stands for sizes that are left out.
    """
    parameters = {
        Effort.tiny: tiny if tiny is not None else quick or {},
        Effort.quick: quick or {},
        Effort.full: full if full is not None else quick or {},
    }

    def register(compute: Compute) -> Compute:
        paper = name.partition("/")[0]
        named = tuple(one if "/" in one else f"{paper}/{one}" for one in claims)
        REGISTRY[name] = Reproduction(
            name, title, printed, lost, chosen, seed, named, parameters, columns, height, compute
        )
        return compute

    return register


def modules() -> dict[str, str]:
    """Return the module that holds each result, by id, without loading any of them."""
    return {
        f"{paper}/{name}": f"{folder}.{module}"
        for paper, folder in ((paper, f"bounds.results.{paper.replace('-', '_')}") for paper in WITH_RESULTS)
        for module, names in import_module(folder).RESULTS.items()
        for name in names
    }


def reproductions(names: Iterable[str] = ()) -> list[Reproduction]:
    """Return results by name, in the order in which they are listed.

    Parameters
    ----------
    names : iterable of str
        ``paper/result``, a paper for all of its results, ``all``, or nothing for all.

    Raises
    ------
    InputError
        A name that is none of these.
    """
    listed = modules()
    wanted: set[str] = set()
    for name in names or ("all",):
        found = [one for one in listed if name in ("all", one, one.partition("/")[0])]
        if not found:
            near = get_close_matches(name, [*listed, *WITH_RESULTS], 1, 0.4)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"RESULT: expected PAPER/RESULT of `packproof reproduce --list`, got {name!r}{hint}")
        wanted.update(found)
    chosen = [one for one in listed if one in wanted]
    for one in chosen:
        import_module(listed[one])
    return [REGISTRY[one] for one in chosen]
