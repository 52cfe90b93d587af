"""Panels of pictures as data: what is drawn is a frozen record, which is a picture and a table at once.

A `Chart` has curves and lines over two numeric axes, `Bars` stacked bars, `Cells` a table in colours, `Spans` pieces of
a line. `draw` puts one on axes, and `rows` writes it as a table: what stands in the table is what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.views.pictures import (
    DASHES,
    GREEDY,
    HATCHES,
    MARK,
    MARKERS,
    PAGE,
    PALETTE,
    drawn,
    figure,
    legend_above,
    plain_ticks,
    save,
    share_legend,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = tuple[str, str, float | str, float | str, float | str, float | str]  # a text or a number for each of `COLUMNS`
COLUMNS = ("panel", "series", "x", "y", "low", "high")  # the heading of the table

SHADES = ("#EBEBEB", "#F9E3D8")

ACROSS: tuple[Any, ...] = ((0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), (0, (1, 1)))  # dashes of lines across a panel

MOST_TICKS = 16

MOST_LETTERS = 90  # of a text that is drawn

MOST_MARKED = 30  # curves of more points carry only some markers


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
        interval as a bar), ``stars`` (printed numbers), ``reference`` (what theory says, drawn as a `Line` is).
    grows : sequence of bool
        Points at which a queue grows beyond doubt, which are ringed; empty for none.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    look: str = "line"
    grows: Sequence[bool] = ()


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
    xscale, yscale : {"linear", "log"}
        The vertical one also ``symlog``: logarithmic from 1 on, linear below, so that zeros are seen.
    xlim, ylim : (float or None, float or None)
        Ends of the axes; None for what the data ask for.
    shaded : sequence of (name, from, to)
        Spans of the horizontal axis.
    xticks : sequence of (place, label)
        Of the horizontal axis; where left out, a logarithmic one is labelled at the points.
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


def in_rows(
    panels: Sequence[Panel], columns: int, height: float, *, title: str = "", alone: float = PAGE
) -> tuple[Figure, list[Axes]]:
    """Draw panels in rows; call it in the style (`bounds.views.pictures.styled`).

    A row has at most `columns` panels and is `height` inches high. Panels that name the same things, drawn alike, share
    one legend above all of them. A picture of one column is `alone` inches wide. The axes come in the order of the
    panels.
    """
    # rows are filled from the left; what is left of the last one stays empty
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    above = 0.55 if title else 0.3
    made, places = figure(PAGE if columns > 1 else alone, above + height * rows, columns, rows)
    every = [places] if rows * columns == 1 else list(places.flat)
    for axes, panel in zip(every, panels, strict=False):
        draw(axes, panel)
    for axes in every[len(panels) :]:
        axes.set_axis_off()
    shown = every[: len(panels)]
    if any(axes.get_legend() for axes in shown) and _one_legend(panels):
        share_legend(made, shown, title)
    elif title:
        made.suptitle(title, x=0.01, ha="left")
    return made, shown


def _one_legend(panels: Sequence[Panel]) -> bool:
    """Whether one legend can stand for those of all panels: equal curves, and equal lines where there are any."""
    curves, lines = (set(keys) for keys in zip(*map(_looks, panels), strict=True))
    return len(panels) > 1 and len(curves) == 1 and len(lines - {()}) <= 1


def _looks(panel: Panel) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what gives curves (bars, pieces) and lines across a panel their names and looks."""
    across = panel.lines if isinstance(panel, Chart | Spans) else ()
    lines = tuple((line.name, line.upright, line.printed) for line in across)
    names: list[Any] = []
    if isinstance(panel, Chart):
        names = [(curve.name, curve.look, len(curve.x) > MOST_MARKED) for curve in panel.curves]
        names += [name for name, _, _ in panel.shaded]
    elif isinstance(panel, Bars):
        names = [name for name, _ in panel.parts]
    elif isinstance(panel, Spans):
        names = list(dict.fromkeys(one.group for one in panel.spans))
    return (type(panel), *names), lines


@styled
def arranged(panels: Sequence[Panel], title: str, columns: int = 2, height: float = 2.6) -> Figure:
    """Return a picture of panels in rows, at most `columns` side by side and `height` inches high each."""
    return in_rows(panels, columns, height, title=title)[0]


def picture_of_panels(
    panels: Sequence[Panel], path: str | Path, title: str, columns: int = 2, height: float = 2.6
) -> None:
    """Write a picture of panels (`arranged`); the format follows the name."""
    save(arranged(panels, title, columns, height), path)


def draw(axes: Axes, panel: Panel) -> None:
    """Draw a panel on axes; call it in the style (`bounds.views.pictures.styled`)."""
    if panel.title:
        axes.set_title(_words(panel.title), loc="center")
    artists: dict[type, Callable[[Axes, Any], None]] = {
        Chart: _draw_chart, Bars: _draw_bars, Cells: _draw_cells, Spans: _draw_spans,
    }  # fmt: skip
    artists[type(panel)](axes, panel)


def _words(text: str) -> str:
    """Return words of a panel, in which a name may stand, as they are drawn; longer names are cut by who takes them."""
    return drawn(text, MOST_LETTERS)


def _draw_chart(axes: Axes, chart: Chart) -> None:
    axes.set(xscale=chart.xscale, xlabel=_words(chart.xlabel), ylabel=_words(chart.ylabel))
    # symlog is linear up to 1, so that zeros are seen
    axes.set_yscale(chart.yscale, **({"linthresh": 1.0} if chart.yscale == "symlog" else {}))
    for place, curve in enumerate(chart.curves):
        _draw_curve(axes, curve, place, len(chart.curves), log=chart.yscale == "log")
    grown = (zip(curve.x, curve.y, curve.grows, strict=True) for curve in chart.curves if len(curve.grows))
    rings = [(x, y) for points in grown for x, y, grows in points if grows]
    if rings:
        axes.plot(*zip(*rings, strict=True), "o", ms=7.5, mfc="none", mec=GREEDY, mew=0.9, label="grows (99.9 %)")
    for place, (name, begin, end) in enumerate(chart.shaded):
        axes.axvspan(begin, end, color=SHADES[place % 2], lw=0, label=_words(name), zorder=0)
    _draw_lines(axes, chart.lines)
    axes.grid(True)
    axes.margins(x=0.03)
    # after the curves and the margins, which would move the ends
    axes.set(xlim=chart.xlim, ylim=chart.ylim)
    _tick(axes, chart)
    plain_ticks(axes)
    legend_above(axes)


def _tick(axes: Axes, chart: Chart) -> None:
    """Label a logarithmic axis at its points where they are few, and large numbers in thousands."""
    points = sorted({float(x) for curve in chart.curves for x in curve.x})
    ticks = list(chart.xticks)
    if chart.xscale == "log" and not ticks and len(points) <= MOST_TICKS:
        for x in points:
            # labels nearer to each other than 6 % of the axis would overlap
            if not ticks or x > ticks[-1][0] * (points[-1] / points[0]) ** 0.06:
                ticks.append((x, f"{x:,g}"))
    _set_ticks(axes, ticks)
    if not ticks and chart.xscale == "linear" and points and points[-1] >= 10_000:
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.locator_params(axis="x", nbins=6)


def _set_ticks(axes: Axes, ticks: Sequence[tuple[float, str]]) -> None:
    """Label the horizontal axis at the given places alone; without places it stays as it is."""
    if ticks:
        axes.set_xticks([x for x, _ in ticks], [_words(label) for _, label in ticks], minor=False)
        axes.set_xticks([], minor=True)


def _draw_curve(axes: Axes, curve: Curve, place: int, count: int, *, log: bool) -> None:
    """Draw one curve; earlier ones are wider, so that a later one that coincides with it leaves it visible."""
    name, colour, dash = _words(curve.name), PALETTE[place % len(PALETTE)], DASHES[place % len(DASHES)]
    marker = MARKERS[place % len(MARKERS)]
    x, y, low, high = (np.array(values, float) for values in (curve.x, curve.y, curve.low, curve.high))
    if curve.look == "marks":
        ends = np.abs([y - low, high - y]) if len(low) else None
        axes.errorbar(x, y, ends, fmt=marker, color=colour, capsize=2.5, label=name)
        return
    few, step = len(x) <= MOST_MARKED, max(1, len(x) // 9)
    plain = {"color": colour, "ls": dash, "lw": 1.2 + 0.35 * min(count - 1 - place, 4)}
    looks: dict[str, dict[str, Any]] = {
        "stars": {"ls": "", "marker": "*", "color": "black", "ms": 7, "mfc": "none", "mew": 0.8},
        "reference": {"color": MARK, "ls": ACROSS[place % len(ACROSS)], "lw": 1.0, "zorder": 1.5},
        # a cross is nothing but its edge
        "dots": {"ls": "", "marker": marker, "color": colour, "ms": 4.5 if few else 1.6, "mew": 0.9 * (marker == "x")},
        "steps": {**plain, "drawstyle": "steps-post"},
        "plain": plain,
        "line": {
            **plain,
            "marker": marker,
            "markevery": 1 if few else (step * place // max(count, 1), step),
            "mfc": "none" if place % 2 else colour,
            "mew": 0.9,
        },
    }
    if len(low) and curve.look in ("steps", "plain", "line"):
        if log:
            # a logarithmic axis has no 0: ends there are drawn at the least number of the curve
            low = np.where(low > 0, low, min(part[part > 0].min(initial=np.inf) for part in (y, low)))
        axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
    axes.plot(x, y, label=name, **looks[curve.look])


def _draw_lines(axes: Axes, lines: Sequence[Line]) -> None:
    for place, line in enumerate(lines):
        across = axes.axvline if line.upright else axes.axhline
        name, colour, width = f"printed: {line.name}", "black", 1.5
        if not line.printed:
            name, colour, width = line.name, MARK, 1.0
        across(line.value, color=colour, ls=ACROSS[place % len(ACROSS)], lw=width, label=_words(name), zorder=1.5)


def _draw_bars(axes: Axes, panel: Bars) -> None:
    places = np.arange(len(panel.bars))
    base = np.zeros(len(panel.bars))
    for n, (name, lengths) in enumerate(panel.parts):
        axes.barh(
            places, lengths, left=base, height=0.75, color=PALETTE[n % len(PALETTE)], hatch=HATCHES[n % len(HATCHES)],
            edgecolor="white", linewidth=0.3, label=_words(name),
        )  # fmt: skip
        base += np.array(lengths, float)
    if panel.whiskers:
        low, high = (np.array(ends) for ends in zip(*panel.whiskers, strict=True))
        axes.errorbar(base, places, xerr=(base - low, high - base), fmt="none", ecolor="black", capsize=3, label="95 %")
    if panel.stars:
        rows, values = zip(*panel.stars, strict=True)
        axes.plot(
            values, rows, "*", color="black", ms=8, mfc="white", mew=0.8, label="printed", clip_on=False, zorder=3
        )
    axes.set_yticks(places, [_words(bar) for bar in panel.bars], fontsize=7 if len(panel.bars) <= 24 else 5)
    axes.invert_yaxis()
    first, last = panel.xlim
    if last is None and not base.max(initial=first) > first:
        last = first + 1.0  # of bars of no length there is no end
    axes.set(xlabel=_words(panel.xlabel), xlim=(first, last), ylabel=_words(panel.ylabel))
    legend_above(axes)


TONES = {"good": "#CDE8DF", "bad": "#F6D5C3", "open": "#EEEEEE", "": "#FFFFFF"}


def _draw_cells(axes: Axes, panel: Cells) -> None:
    tall, wide = len(panel.down), len(panel.across)
    for row, texts in enumerate(panel.texts):
        for column, text in enumerate(texts):
            tone = panel.tones[row][column] if len(panel.tones) else ""
            axes.fill([column, column + 1, column + 1, column], [row, row, row + 1, row + 1],
                      facecolor=TONES[tone], edgecolor="#BBBBBB", lw=0.5)  # fmt: skip
            axes.text(column + 0.5, row + 0.5, _words(text), ha="center", va="center", fontsize=7)
    axes.set_xticks(np.arange(wide) + 0.5, [_words(name) for name in panel.across])
    axes.set_yticks(np.arange(tall) + 0.5, [_words(name) for name in panel.down])
    axes.set_gid("table")
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set(xlim=(0, wide), ylim=(tall, 0))
    axes.spines[:].set_visible(False)


def _draw_spans(axes: Axes, panel: Spans) -> None:
    groups = list(dict.fromkeys(one.group for one in panel.spans if one.group))
    named: set[str] = set()
    for one in panel.spans:
        n = groups.index(one.group) if one.group else -1
        look: dict[str, Any] = {"color": "white"} if n < 0 else {"color": PALETTE[n % 10], "alpha": 0.55}
        axes.barh(
            one.row, one.high - one.low, left=one.low, height=0.72, edgecolor="#333333", linewidth=0.5,
            hatch="" if n < 0 else HATCHES[n % 10], label="" if one.group in named else _words(one.group), **look,
        )  # fmt: skip
        named.add(one.group)
        # the middle of a piece as it is seen
        middle = (one.low * one.high) ** 0.5 if panel.xscale == "log" else (one.low + one.high) / 2
        plate = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6} if n >= 0 else None
        axes.text(middle, one.row, _words(one.label), ha="center", va="center", fontsize=6, bbox=plate)
    _draw_lines(axes, panel.lines)
    axes.set_yticks(range(len(panel.down)), [_words(name) for name in panel.down])
    axes.invert_yaxis()
    axes.set(xscale=panel.xscale, xlabel=_words(panel.xlabel), ylabel=_words(panel.ylabel))
    axes.margins(x=0.02)
    _set_ticks(axes, panel.xticks)
    plain_ticks(axes)
    legend_above(axes)
