"""Panels of pictures as data: what is drawn is a frozen record, which is a picture and a table at once.

A `Chart` has curves and lines over two numeric axes, `Bars` stacked bars, `Cells` a table in colours, `Spans` pieces of
a line. `rows` writes one as a table: what stands in the table is what `bounds.views.drawing` draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

Row = tuple[str, str, float | str, float | str, float | str, float | str]  # a text or a number for each of `COLUMNS`
COLUMNS = ("panel", "series", "x", "y", "low", "high")  # the heading of the table


@dataclass(frozen=True)
class Curve:
    """Points that belong together.

    Attributes
    ----------
    name : str
    x, y : sequence of float
    low, high : sequence of float
        The ends of a band; empty for none.
    look : str
        ``line`` (markers at the points), ``plain`` (none), ``steps``, ``dots`` (no line), ``marks`` (no line, the
        interval as a bar), ``stars`` (printed numbers), ``point`` and ``ring`` (one point, filled or around another),
        ``reference`` (what theory says, drawn as a `Line` is), ``band`` (the band alone, in grey, a later one darker),
        ``layer`` (an area of height `y` on top of the layers before it).
    grows : sequence of bool
        Points at which a queue grows beyond doubt, which are ringed; empty for none.
    continues : bool
        Whether it is one more part of the curve before it: drawn as that one, and not named again.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    look: str = "line"
    grows: Sequence[bool] = ()
    continues: bool = False


def above_zero(curve: Curve) -> Curve:
    """Return a curve of a quantity that is never negative with a band that does not reach down to 0.

    Where a lower end would, those of the curve are of the interval of the logarithm, mean exp(-half width / mean), by
    the delta method; the upper ends stay.
    """
    if not len(curve.low) or min(curve.low) > 0:
        return curve
    pairs = zip(curve.y, curve.low, strict=True)
    return replace(curve, low=[mean * exp((low - mean) / mean) if mean > 0 else 0.0 for mean, low in pairs])


@dataclass(frozen=True)
class Line:
    """A number drawn across the panel: at a height, or upright at a place of the horizontal axis.

    Lines of one name look the same, and are named once.

    Attributes
    ----------
    name : str
    value : float
    upright : bool
    printed : bool
        Whether it is a number that the paper prints; else it is computed.
    """

    name: str
    value: float
    upright: bool = False
    printed: bool = False


@dataclass(frozen=True)
class Chart:
    """Curves and lines.

    Attributes
    ----------
    xlabel, ylabel : str
        The quantity and, in brackets, its unit.
    curves, lines : sequence
    title : str
    xscale, yscale : {"linear", "log", "symlog"}
        The last is logarithmic from `linear_below` on and linear below it, so that zeros are seen.
    xlim, ylim : (float or None, float or None)
        Ends of the axes; None for what the data ask for.
    shaded : sequence of (name, from, to)
        Spans of the horizontal axis.
    xticks : sequence of (place, label)
        Of the horizontal axis; where left out, a logarithmic one is labelled at the points.
    linear_below : float
        Where a ``symlog`` axis becomes linear.
    """

    xlabel: str
    ylabel: str
    curves: Sequence[Curve]
    lines: Sequence[Line] = ()
    title: str = ""
    xscale: str = "linear"
    yscale: str = "linear"
    xlim: tuple[float | None, float | None] = (None, None)
    ylim: tuple[float | None, float | None] = (None, None)
    shaded: Sequence[tuple[str, float, float]] = ()
    xticks: Sequence[tuple[float, str]] = ()
    linear_below: float = 1.0

    def rows(self) -> Iterator[Row]:
        """Yield the table: the points of the curves, then the lines."""
        for curve in self.curves:
            ends: Sequence[tuple[float | str, float | str]] = list(zip(curve.low, curve.high, strict=True))
            for x, y, (low, high) in zip(curve.x, curve.y, ends or [("", "")] * len(curve.x), strict=True):
                yield (self.title, curve.name, x, y, low, high)
        for line in self.lines:
            yield (self.title, line.name, *((line.value, "") if line.upright else ("", line.value)), "", "")


@dataclass(frozen=True)
class Bars:
    """Stacked horizontal bars: `parts` gives for each name its length in each bar.

    `stars` are printed lengths, by place of the bar; `whiskers` the ends of the interval of each length, where there is
    one part.
    """

    xlabel: str
    bars: Sequence[str]
    parts: Sequence[tuple[str, Sequence[float]]]
    title: str = ""
    xlim: tuple[float, float | None] = (0.0, None)
    stars: Sequence[tuple[int, float]] = ()
    ylabel: str = ""
    whiskers: Sequence[tuple[float, float]] = ()

    def rows(self) -> Iterator[Row]:
        """Yield the table: a row a piece of a bar."""
        for name, lengths in self.parts:
            ends: Sequence[tuple[float | str, float | str]] = self.whiskers or [("", "")] * len(self.bars)
            for bar, length, (low, high) in zip(self.bars, lengths, ends, strict=True):
                yield (self.title, name, bar, length, low, high)
        for place, printed in self.stars:
            yield (self.title, "printed", self.bars[place], printed, "", "")


@dataclass(frozen=True)
class Cells:
    """A table of texts; a tone is ``good``, ``bad``, ``open`` or empty."""

    across: Sequence[str]
    down: Sequence[str]
    texts: Sequence[Sequence[str]]
    tones: Sequence[Sequence[str]] = ()
    title: str = ""

    def rows(self) -> Iterator[Row]:
        """Yield the table: a row a cell."""
        for name, texts in zip(self.down, self.texts, strict=True):
            for column, text in zip(self.across, texts, strict=True):
                yield (self.title, name, column, text.replace("\n", " "), "", "")


@dataclass(frozen=True)
class Span:
    """A piece of a row, from `low` to `high`; pieces of one `group` look the same, an empty group is hollow."""

    row: int
    low: float
    high: float
    label: str
    group: str = ""


@dataclass(frozen=True)
class Spans:
    """Rows of pieces over a numeric axis; `lines` stand upright."""

    xlabel: str
    down: Sequence[str]
    spans: Sequence[Span]
    title: str = ""
    xscale: str = "linear"
    lines: Sequence[Line] = ()
    ylabel: str = ""
    xticks: Sequence[tuple[float, str]] = ()

    def rows(self) -> Iterator[Row]:
        """Yield the table: a row a piece."""
        for one in self.spans:
            yield (self.title, self.down[one.row], one.label.replace("\n", " "), one.group, one.low, one.high)
        for line in self.lines:
            yield (self.title, line.name, line.value, "", "", "")


Panel = Chart | Bars | Cells | Spans
