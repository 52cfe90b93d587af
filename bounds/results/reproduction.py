"""Figures and tables of the papers, computed anew, and pictures of claims: what they are, and the registries of them.

A result is one function that returns panels (`bounds.views.panels`), registered with what is printed, what is lost in
the text at hand, what was chosen here, and its parameters at each size. A drawing is a picture of claims that no result
shows, computed in seconds while the pages of the documentation are built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from bounds.claims import Level, paper_of
from bounds.results import folder_of
from bounds.results.names import chosen
from bounds.views.drawing import arranged
from bounds.views.panels import Chart, Curve, Panel, above_zero
from fluid.statistics import Interval
from theory.doors import imported

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fluid.simulation.results import QueueResult

WITH_FIGURES = ("autoscaling", "throughput", "ps-dsf", "nonpreemptive", "admission")
"""The papers whose figures and tables are reproduced, in the order in which they are listed."""


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
    parameters : dict of Level to dict
        The keyword arguments of `compute`.
    columns : int
        Panels side by side.
    height : float
        Inches a row of panels.
    compute : callable
        Returns the panels; raises `bounds.claims.WithoutData`.
    """

    id: str
    title: str
    printed: str
    lost: str
    chosen: str
    seed: int | None
    claims: tuple[str, ...]
    parameters: Mapping[Level, Mapping[str, Any]]
    columns: int
    height: float
    compute: Compute

    @property
    def caption(self) -> str:
        """The line under the picture."""
        return (
            f"not legible in our copy of the paper: {self.lost or 'nothing'}; chosen here: {self.chosen or 'nothing'}"
        )


REGISTRY: dict[str, Reproduction] = {}


def reproduction(
    name: str,
    title: str,
    *,
    printed: str,
    lost: str = "",
    chosen: str = "",
    seed: int | None = None,
    claims: tuple[str, ...] | None = None,
    tiny: Mapping[str, Any] | None = None,
    quick: Mapping[str, Any] | None = None,
    full: Mapping[str, Any] | None = None,
    columns: int = 2,
    height: float = 2.6,
) -> Callable[[Compute], Compute]:
    """Register a function as a result of the paper in whose folder it is; see `Reproduction`.

    It shows the claim of its own name unless others are named. `quick` is taken for sizes that are left out.
    """
    parameters = {
        Level.tiny: tiny if tiny is not None else quick or {},
        Level.quick: quick or {},
        Level.full: full if full is not None else quick or {},
    }

    def register(compute: Compute) -> Compute:
        paper = paper_of(compute.__module__)
        identity, shown = f"{paper}/{name}", _identities(paper, (name,) if claims is None else claims)
        REGISTRY[identity] = Reproduction(
            identity, title, printed, lost, chosen, seed, shown, parameters, columns, height, compute
        )
        return compute

    return register


def _identities(paper: str, claims: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of claims of a paper, or of another one that their names begin with."""
    return tuple(name if "/" in name else f"{paper}/{name}" for name in claims)


@dataclass(frozen=True)
class Drawing:
    """A picture of claims: `columns` panels side by side, `height` inches a row; `compute` returns the panels."""

    title: str
    columns: int
    height: float
    compute: Callable[[], Sequence[Panel]]

    def figure(self) -> Figure:
        """Return the picture."""
        return arranged(self.compute(), self.title, self.columns, self.height)


DRAWINGS: dict[str, Drawing] = {}  # by claim, once the file of the claim is loaded


def drawing(
    title: str, *claims: str, columns: int = 1, height: float = 2.4
) -> Callable[[Callable[[], Sequence[Panel]]], Callable[[], Sequence[Panel]]]:
    """Register a function as the drawing of claims of the paper in whose folder it is; it computes once for all."""

    def register(compute: Callable[[], Sequence[Panel]]) -> Callable[[], Sequence[Panel]]:
        once = cache(compute)
        for claim in _identities(paper_of(compute.__module__), claims):
            if claim in DRAWINGS:
                raise ValueError(f"{claim}: another drawing shows this claim already")
            DRAWINGS[claim] = Drawing(title, columns, height, once)
        return once

    return register


def about_bands(panels: Sequence[Panel], runs: int | None = None) -> str:
    """Return the sentence under a picture that says what its bands are; empty where it has none.

    Parameters
    ----------
    panels : sequence of Panel
        The intervals of curves are of the mean, at the level 95 %.
    runs : int, optional
        The independent runs behind each.

    Examples
    --------
    >>> about_bands([Chart("x", "y", [Curve("a", [1.0], [2.0], [1.0], [3.0])])], 6)
    'bands and bars: 95 % confidence intervals of the mean, 6 runs'
    """
    charts = [panel for panel in panels if isinstance(panel, Chart)]
    if not any(len(curve.low) for chart in charts for curve in chart.curves):
        return ""
    said = f"bands and bars: 95 % confidence intervals of the mean{f', {runs} runs' if runs else ''}"
    below = any(min(curve.low, default=1) <= 0 for chart in charts if chart.yscale == "log" for curve in chart.curves)
    return f"{said}; ends at or below 0 are drawn at the least number of their curve" if below else said


def interval_curve(name: str, x: Sequence[float], intervals: Sequence[Interval], look: str = "line") -> Curve:
    """Return means with their intervals as a curve."""
    means, low, high = ([getattr(one, end) for one in intervals] for end in ("mean", "low", "high"))
    return Curve(name, x, means, low, high, look)


SURE = 0.999  # level of the interval that must lie above 0 where a queue is marked as growing


def mean_queues_chart(results: dict[str, list[QueueResult[Any]]], x: Sequence[float], xlabel: str, title: str) -> Chart:
    """Return mean queues with intervals by policy, points at which they grow beyond doubt marked."""
    curves = []
    for name, by_point in results.items():
        queues = interval_curve(name, x, [result.queue() for result in by_point])
        grows = [bool(result.growth(SURE).low > 0) for result in by_point]
        curves.append(replace(above_zero(queues), grows=grows))
    return Chart(xlabel, "mean queue (jobs)", curves, title=title, yscale="log")


def modules() -> dict[str, str]:
    """Return the module that holds each result, by id, in the order of the list, without loading any of them."""
    return {
        f"{paper}/{name}": f"{folder_of(paper)}.{module}"
        for paper in WITH_FIGURES
        for module, names in imported(folder_of(paper)).FIGURES
        for name in names.split()
    }


def reproductions(names: Iterable[str] = ()) -> list[Reproduction]:
    """Return results by name, in the order in which they are listed.

    Parameters
    ----------
    names : iterable of str
        ``paper/result``, its last part where that is of one paper, a paper for all of its results, ``all``, or
        nothing for all.

    Raises
    ------
    InputError
        A name that is none of these, also beside ``all``.
    """
    listed = modules()
    wanted = list(names) or ["all"]
    expected = "PAPER/RESULT of `packproof reproduce --list`"
    named = chosen((name for name in wanted if name != "all"), tuple(listed), "RESULT", expected, ambiguous=False)
    if "all" in wanted:
        named = tuple(listed)
    for one in named:
        imported(listed[one])
    return [REGISTRY[one] for one in named]
