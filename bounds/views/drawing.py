"""How panels are drawn: one on axes, several in rows with one legend, and a picture of them in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.views.panels import Bars, Cells, Chart, Curve, Line, Panel, Spans
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
    plain,
    plain_ticks,
    save,
    share_legend,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

SHADES = ("#EBEBEB", "#F9E3D8")

ACROSS: tuple[Any, ...] = ((0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), (0, (1, 1)))  # dashes of lines across a panel

MOST_TICKS = 16

MOST_STACKED = 6  # bars of several parts that have numbers in their parts

MOST_LETTERS = 90  # of a text that is drawn

MOST_MARKED = 30  # curves of more points carry only some markers

MOST_BESIDE = 5  # lines that are named beside them

BESIDE_LETTERS = {1: 24, 2: 16, 3: 10, 4: 7}  # most letters of these names, by the number of panels side by side


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
    shared = _one_legend(panels)
    for axes, panel in zip(every, panels, strict=False):
        draw(axes, panel, beside=not shared)
    for axes in every[len(panels) :]:
        axes.set_axis_off()
    shown = every[: len(panels)]
    if shared and any(axes.get_legend() for axes in shown):
        share_legend(made, shown, title)
    elif title:
        made.suptitle(title, x=0.01, ha="left")
    return made, shown


def _one_legend(panels: Sequence[Panel]) -> bool:
    """Whether one legend can stand for those of all panels: equal curves, and equal lines where there are any."""
    # charts without curves and tables have no legend
    named = [
        panel for panel in panels if not isinstance(panel, Cells) and (not isinstance(panel, Chart) or panel.curves)
    ]
    curves, lines = (set(keys) for keys in zip(*map(_looks, named or panels), strict=True))
    return len(named or panels) > 1 and len(curves) == 1 and len(lines - {()}) <= 1


def _looks(panel: Panel) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what gives curves (bars, pieces) and lines across a panel their names and looks."""
    across = panel.lines if isinstance(panel, Chart | Spans) else ()
    lines = tuple((line.name, line.upright, line.printed) for line in across)
    names: list[Any] = []
    if isinstance(panel, Chart):
        markers = [curve.look in ("line", "dots") and len(curve.x) > MOST_MARKED for curve in panel.curves]
        names = [(curve.name, curve.look, many) for curve, many in zip(panel.curves, markers, strict=True)]
        names += [name for name, _, _ in panel.shaded]
    elif isinstance(panel, Bars):
        names = [name for name, _ in panel.parts]
    elif isinstance(panel, Spans):
        names = list(dict.fromkeys(one.group for one in panel.spans))
    return (type(panel), *names), lines


@styled
def arranged(
    panels: Sequence[Panel], title: str, columns: int = 2, height: float = 2.6, *, alone: float = PAGE
) -> Figure:
    """Return a picture of panels in rows, at most `columns` side by side and `height` inches high each."""
    return in_rows(panels, columns, height, title=title, alone=alone)[0]


def picture_of_panels(
    panels: Sequence[Panel],
    path: str | Path,
    title: str,
    columns: int = 2,
    height: float = 2.6,
    *,
    alone: float = PAGE,
) -> None:
    """Write a picture of panels (`arranged`); the format follows the name."""
    save(arranged(panels, title, columns, height, alone=alone), path)


def draw(axes: Axes, panel: Panel, *, beside: bool = True) -> None:
    """Draw a panel on axes; call it in the style (`bounds.views.pictures.styled`).

    Lines of a chart have their names `beside` them where these are few and short; all others are in a legend.
    """
    if panel.title:
        axes.set_title(_words(panel.title), loc="center")
    if isinstance(panel, Chart):
        _draw_chart(axes, panel, beside=beside)
        return
    artists: dict[type, Callable[[Axes, Any], None]] = {
        Bars: _draw_bars, Cells: _draw_cells, Spans: _draw_spans,
    }  # fmt: skip
    artists[type(panel)](axes, panel)


def _words(text: str) -> str:
    """Return words of a panel, in which a name may stand, as they are drawn; longer names are cut by who takes them."""
    return drawn(text, MOST_LETTERS)


def _draw_chart(axes: Axes, chart: Chart, *, beside: bool) -> None:
    axes.set(xlabel=_words(chart.xlabel), ylabel=_words(chart.ylabel))
    for set_scale, scale in ((axes.set_xscale, chart.xscale), (axes.set_yscale, chart.yscale)):
        set_scale(scale, **({"linthresh": chart.linear_below} if scale == "symlog" else {}))
    # parts of one curve have one place, which is its look
    places = list(accumulate((not curve.continues for curve in chart.curves), initial=-1))[1:]
    _draw_areas(axes, chart.curves, places)
    for place, curve in zip(places, chart.curves, strict=True):
        if curve.look not in ("layer", "band"):
            _draw_curve(axes, curve, place, places[-1] + 1, log=chart.yscale == "log")
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
    named = _beside(axes, chart) if beside else []
    for name, height, colour in named:
        axes.annotate(name, (1.0, height), xycoords="axes fraction", xytext=(4, 0), textcoords="offset points",
                      color=colour, fontsize=7, va="center")  # fmt: skip
    legend_above(axes, without=[name for name, _, _ in named])


def _beside(axes: Axes, chart: Chart) -> list[tuple[str, float, str]]:
    """Return the names that stand to the right of lines, their heights in parts of the axes, and their colours.

    There are none where names are many or long, or where a line ends elsewhere; then all are in the legend.
    """
    spec, made = axes.get_subplotspec(), axes.get_figure(root=True)
    if any(curve.continues for curve in chart.curves):
        return []
    columns, rows = (1, 1) if spec is None else (spec.get_gridspec().ncols, spec.get_gridspec().nrows)
    assert made is not None
    # a line of text in parts of the height, which the labels and the title take a part of
    step = 9.5 / (72 * max(made.get_figheight() / rows - 0.9, 0.5))
    ends = [
        (_words(curve.name), (curve.x[-1], curve.y[-1]), MARK if curve.look == "reference" else _colour(place))
        for place, curve in enumerate(chart.curves)
        if curve.look in ("line", "plain", "steps", "reference") and len(curve.x)
    ]
    across = [line for line in chart.lines if not line.upright]
    ends += [(_named(line), (axes.get_xlim()[1], line.value), "black" if line.printed else MARK) for line in across]
    to_axes = axes.transData + axes.transAxes.inverted()
    named = [(name, *to_axes.transform(end), colour) for name, end, colour in ends]
    fits = all(x > 0.94 and 0 <= y <= 1.001 and len(name) <= BESIDE_LETTERS[min(columns, 4)] for name, x, y, _ in named)
    if not fits or len(named) > MOST_BESIDE or len({name for name, *_ in named}) < len(named):
        return []
    named.sort(key=lambda one: one[2])
    heights = _apart([y for _, _, y, _ in named], step)
    heights = [max(y, step * (n + 0.5)) for n, y in enumerate(heights)]  # clear of the numbers below the axes
    return [(name, y, colour) for (name, _, _, colour), y in zip(named, heights, strict=True)]


def _apart(places: Sequence[float], step: float) -> list[float]:
    """Return places in increasing order at a distance of at least `step`, moved as little as is simple.

    >>> [round(place, 2) for place in _apart([0.0, 0.5, 0.52, 1.0], 0.1)]
    [0.0, 0.46, 0.56, 1.0]
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        # a group has its places around its mean; two that touch become one
        while len(groups) > 1 and _middle(groups[-1]) - _middle(groups[-2]) < step * sum(map(len, groups[-2:])) / 2:
            last = groups.pop()
            groups[-1] += last
    return [_middle(group) + step * (n - (len(group) - 1) / 2) for group in groups for n in range(len(group))]


def _middle(places: Sequence[float]) -> float:
    return sum(places) / len(places)


def _tick(axes: Axes, chart: Chart) -> None:
    """Label a logarithmic axis at its points where they are few and short, and large numbers at fewer places."""
    points = sorted({float(x) for curve in chart.curves for x in curve.x})
    ticks = list(chart.xticks)
    # measured numbers have too many digits for a label
    short = all(x == round(x) or x == float(f"{x:.3g}") for x in points)
    if chart.xscale == "log" and not ticks and short and len(points) <= MOST_TICKS:
        power = points[0] < 1e-4 or points[-1] >= 1e7  # as all numbers on an axis are written alike
        for x in points:
            # labels nearer to each other than 6 % of the axis would overlap
            if not ticks or x > ticks[-1][0] * (points[-1] / points[0]) ** 0.06:
                ticks.append((x, plain(x, 6, power=power)))
    _set_ticks(axes, ticks)
    if not ticks and chart.xscale == "linear" and points and points[-1] >= 10_000:
        axes.locator_params(axis="x", nbins=6)


def _set_ticks(axes: Axes, ticks: Sequence[tuple[float, str]]) -> None:
    """Label the horizontal axis at the given places alone; without places it stays as it is."""
    if ticks:
        axes.set_xticks([x for x, _ in ticks], [_words(label) for _, label in ticks], minor=False)
        axes.set_xticks([], minor=True)


def _draw_areas(axes: Axes, curves: Sequence[Curve], places: Sequence[int]) -> None:
    """Draw layers, each on top of those before it, and bands without a line."""
    base: NDArray[Any] | float = 0.0
    shade = 0.0
    for place, curve in zip(places, curves, strict=True):
        if curve.look == "layer":
            top = base + np.array(curve.y, float)
            look: dict[str, Any] = {"hatch": HATCHES[place % len(HATCHES)], "edgecolor": "white", "lw": 0}
            axes.fill_between(curve.x, base, top, facecolor=_colour(place), label=_words(curve.name), **look)
            base = top
        elif curve.look == "band":
            shade += 0.12
            axes.fill_between(curve.x, curve.low, curve.high, color=MARK, alpha=shade, lw=0, label=_words(curve.name))


def _draw_curve(axes: Axes, curve: Curve, place: int, count: int, *, log: bool) -> None:
    """Draw one curve; earlier ones are wider, so that a later one that coincides with it leaves it visible."""
    name = "" if curve.continues else _words(curve.name)
    colour, dash = _colour(place), DASHES[place % len(DASHES)]
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
        "point": {"ls": "", "marker": "D", "color": "black", "ms": 5.5, "zorder": 3},
        "ring": {"ls": "", "marker": "s", "color": GREEDY, "ms": 9, "mfc": "none", "mew": 1.2, "zorder": 3},
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
    if len(low) and curve.look in ("steps", "plain", "line", "reference"):
        if log:
            # a logarithmic axis has no 0: ends there are drawn at the least number of the curve
            low = np.where(low > 0, low, min(part[part > 0].min(initial=np.inf) for part in (y, low)))
        shade = MARK if curve.look == "reference" else colour
        axes.fill_between(x, low, high, color=shade, alpha=0.2, lw=0)
    axes.plot(x, y, label=name, **looks[curve.look])


def _colour(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def _named(line: Line) -> str:
    return _words(f"printed: {line.name}" if line.printed else line.name)


def _draw_lines(axes: Axes, lines: Sequence[Line]) -> None:
    names = list(dict.fromkeys(line.name for line in lines))
    for place, line in enumerate(lines):
        across = axes.axvline if line.upright else axes.axhline
        colour, width = ("black", 1.5) if line.printed else (MARK, 1.0)
        dash = ACROSS[names.index(line.name) % len(ACROSS)]
        label = "" if line.name in (other.name for other in lines[:place]) else _named(line)
        across(line.value, color=colour, ls=dash, lw=width, label=label, zorder=1.5)


def _draw_bars(axes: Axes, panel: Bars) -> None:
    places = np.arange(len(panel.bars))
    base = np.zeros(len(panel.bars))
    for n, (name, lengths) in enumerate(panel.parts):
        axes.barh(
            places, lengths, left=base, height=0.75, color=PALETTE[n % len(PALETTE)], hatch=HATCHES[n % len(HATCHES)],
            edgecolor="white", linewidth=0.3, label=_words(name),
        )  # fmt: skip
        _write_lengths(axes, panel, base, np.array(lengths, float))
        base += np.array(lengths, float)
    if panel.whiskers:
        low, high = (np.array(ends) for ends in zip(*panel.whiskers, strict=True))
        ends = (base - low, high - base)
        axes.errorbar(base, places, xerr=ends, fmt="none", ecolor="black", capsize=3, label="95 % interval")
    if panel.stars:
        rows, values = zip(*panel.stars, strict=True)
        axes.plot(
            values, rows, "*", color="black", ms=8, mfc="white", mew=0.8, label="printed", clip_on=False, zorder=3
        )
    axes.set_yticks(places, [_words(bar) for bar in panel.bars], fontsize=7 if len(panel.bars) <= 24 else 5)
    axes.invert_yaxis()
    if panel.xlim[1] is None and all(length == round(length) for _, lengths in panel.parts for length in lengths):
        axes.locator_params(axis="x", integer=True)  # of what is counted there are no parts
    first, last = panel.xlim
    if last is None and not min(base.max(initial=first), axes.get_xlim()[1]) > first:
        last = first + 1.0  # of bars that do not reach the axis there is no end
    axes.set(xlabel=_words(panel.xlabel), xlim=(first, last), ylabel=_words(panel.ylabel))
    # the axis says what bars of one part are, but beside stars or intervals it is not seen what these belong to
    alone = len(panel.parts) == 1 and not panel.whiskers and not panel.stars
    legend_above(axes, without=[_words(panel.parts[0][0])] if alone else [])


def _write_lengths(axes: Axes, panel: Bars, base: NDArray[Any], lengths: NDArray[Any]) -> None:
    """Write numbers at the ends of bars of one part, and inside of the longer parts of a few bars."""
    if len(panel.bars) > (MOST_TICKS if len(panel.parts) == 1 else MOST_STACKED):
        return
    # beyond the interval, and a printed number, of a bar
    ends = [high for _, high in panel.whiskers] or lengths.tolist()
    for row, printed in panel.stars:
        ends[row] = max(ends[row], printed)
    aside = 8 if panel.stars else 3
    spec = axes.get_subplotspec()
    columns = 1 if spec is None else spec.get_gridspec().ncols
    longest = np.sum([part for _, part in panel.parts], axis=0).max(initial=1e-300)
    for row, (begin, length) in enumerate(zip(base.tolist(), lengths.tolist(), strict=True)):
        if len(panel.parts) == 1:
            where: dict[str, Any] = {"xytext": (aside, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(plain(length), (ends[row], row), fontsize=7, **where)
        elif length > 0.1 * columns * longest:
            plate = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
            middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5, "bbox": plate, "clip_on": True}
            axes.text(begin + length / 2, row, plain(length), **middle)


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
