"""What can be wrong with a picture, found by its artists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

HOSTILE = ("$5_a_$", "_under", r"\frac{$x$}^2 \$", "中文 é", "W" * 200, "שלום %d {x} #&~ --> <b>")
"""Names that are no words: mathematics, a label that is hidden, no glyph, no space, another direction, markup."""

RESOURCES = ("$c_p_$", "_m\\")


def hostile_instance(types: int, pools: int = 1) -> dict[str, Any]:
    """Return an instance with hostile names of its types, resources and pools."""
    kinds = [(1, 1, "9/8", "48/13"), (4, 16, 6, 1), (2, 32, 6, 3), (32, 256, 64, 2), (3, 5, 4, 1), (6, 9, 7, 1)]
    capacity = dict(zip(RESOURCES, (80, 640), strict=True))
    return {
        "server": [{"name": name, "share": 1, "capacity": capacity} for name in HOSTILE[:pools]],
        "type": [
            {"name": name, "demand": dict(zip(RESOURCES, need, strict=True)), "reward": reward, "workload": workload}
            for name, (*need, reward, workload) in zip(HOSTILE, kinds[:types], strict=False)
        ],
    }


def hostile_cluster() -> dict[str, Any]:
    """Return a cluster with hostile names of its servers, resources and users."""
    return {
        "server": [
            {"name": name, "capacity": dict(zip(RESOURCES, (9 + i, 12), strict=True))}
            for i, name in enumerate(HOSTILE[:4])
        ],
        "user": [
            {"name": name, "demand": dict(zip(RESOURCES, (1, 1 + i), strict=True))} for i, name in enumerate(HOSTILE)
        ],
    }


def texts_of(made: Figure) -> list[str]:
    """Return all texts that a picture shows."""
    made.draw_without_rendering()
    return drawn_texts(made)


def drawn_texts(made: Figure) -> list[str]:
    """Return all texts that a picture shows which has been drawn, or saved, before."""
    return [text.get_text() for text in made.findobj(Text) if text.get_visible() and text.get_text()]


def flaws(made: Figure) -> list[str]:
    """Return what `faults` and `typed` find, of a picture that is drawn once for both."""
    return [*faults(made), *_typed(drawn_texts(made))]


SLACK = 1.5
"""Pixels by which boxes may overlap: rounding, and the space around letters."""


def faults(made: Figure) -> list[str]:
    """Return what is wrong with a picture, in words; nothing where all is well."""
    made.draw_without_rendering()
    found = [*_outside(made), *_over_axes(made)]
    for number, axes in enumerate(one for one in made.axes if one.axison):
        name = f"axes {number}"
        found += [f"{name}: {fault}" for fault in (*_labels(axes), *_legend(axes), *_crowded(axes), *_data(axes))]
        found += [f"{name}: {fault}" for fault in _alike(axes)]
    return found


def _texts(axes: Axes) -> list[Any]:
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    return [text for text in (*axes.texts, *ticks) if text.get_visible() and text.get_text()]


def _box(text: Any) -> Any:
    return text.get_window_extent()


def _overlap(one: Any, other: Any) -> bool:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(width > SLACK and height > SLACK)


def _outside(made: Figure) -> Iterator[str]:
    """Texts and legends must lie on the canvas."""
    canvas = made.bbox
    every: list[Any] = [*made.texts, *made.legends]
    for axes in made.axes:
        if axes.axison:
            legend = axes.get_legend()
            every += [
                axes.title,
                axes._left_title,
                axes.xaxis.label,
                axes.yaxis.label,
                *_shown_ticks(axes),
                *axes.texts,
            ]
            every += [axes.zaxis.label] if hasattr(axes, "zaxis") else []
            every += [] if legend is None else [legend]
    for one in every:
        box = one.get_window_extent()
        inside = (
            box.x0 >= canvas.x0 - SLACK
            and box.y0 >= canvas.y0 - SLACK
            and box.x1 <= canvas.x1 + SLACK
            and box.y1 <= canvas.y1 + SLACK
        )
        if box.width and not inside:
            yield f"outside the canvas: {getattr(one, 'get_text', lambda: 'a legend')()!r}"


def _over_axes(made: Figure) -> Iterator[str]:
    """A legend of all panels covers none of them, nor its title."""
    boxes = [box for axes in made.axes if axes.axison for box in (axes.get_window_extent(), _box(axes._left_title))]  # type: ignore[attr-defined]
    for legend in made.legends:
        if any(_overlap(legend.get_window_extent(), box) for box in boxes):
            yield "the legend of all panels covers one"


def _shown_ticks(axes: Axes) -> list[Any]:
    """Return the tick labels that are drawn: those within the limits."""
    found = []
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        low, high = sorted(limits)
        for tick, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False):
            if low <= tick <= high and label.get_text():
                found.append(label)
    return found


def _labels(axes: Axes) -> Iterator[str]:
    """A numeric axis names its quantity and its unit; an axis of names needs no label."""
    if axes.get_gid() == "table" or hasattr(axes, "zaxis"):
        return
    for which, axis, label in (("x", axes.xaxis, axes.get_xlabel()), ("y", axes.yaxis, axes.get_ylabel())):
        names = [text.get_text() for text in axis.get_ticklabels()]
        numeric = any(re.fullmatch(r"[-−\d.,×⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", name) for name in names)
        if axis.get_visible() and numeric and (not re.search(r"\(.+\)$", label) or label.endswith("(1)")):
            yield f"the {which} axis has no unit: {label!r}"


TYPED = re.compile(r"[\w)\]] - [\w(]|[\w)]\^|\de-\d|[<>]=|\b(rho|mu|beta|eps|epsilon|sqrt)\b|\b[a-zA-Z]_\w\b|\d%")
"""Mathematics as it is typed: a hyphen for minus, carets, names of Greek letters, no space before %."""


def typed(made: Figure) -> list[str]:
    """Return the texts of a picture that write mathematics as it is typed, not as it is printed."""
    return _typed(texts_of(made))


def _typed(texts: list[str]) -> list[str]:
    return [text for text in texts if TYPED.search(text)]


def _legend(axes: Axes) -> Iterator[str]:
    """A legend covers no data: it lies outside of all axes."""
    legend = axes.get_legend()
    if legend is not None:
        box = legend.get_window_extent()
        for other in axes.get_figure(root=True).axes:  # type: ignore[union-attr]
            if other.axison and not hasattr(axes, "zaxis") and _overlap(box, other.get_window_extent()):
                yield "the legend covers data"


def _crowded(axes: Axes) -> Iterator[str]:
    """No two texts of an axes lie on each other."""
    if hasattr(axes, "zaxis"):
        return
    shown = [*(text for text in axes.texts if text.get_text()), *_shown_ticks(axes)]
    boxes = [(text.get_text(), _box(text)) for text in shown]
    for (one, its_box), (other, other_box) in combinations(boxes, 2):
        if _overlap(its_box, other_box):
            yield f"{one!r} and {other!r} overlap"


def _data(axes: Axes) -> Iterator[str]:
    """Whatever has a name shows within the limits, and its heights are not cut off."""
    (left, right), (bottom, top) = (sorted(limits) for limits in (axes.get_xlim(), axes.get_ylim()))
    for line in axes.get_lines():
        if str(line.get_label()).startswith("_") or hasattr(axes, "zaxis"):
            continue
        x, y = (np.asarray(values, float) for values in (line.get_xdata(), line.get_ydata()))
        across = line.get_transform() != axes.transData  # a line across has one end in parts of the axes
        inside = np.isfinite(x) & np.isfinite(y) & (across | ((x >= left) & (x <= right)))
        if not len(x):
            continue
        if not inside.any():
            yield f"{line.get_label()!r} is not to be seen"
        elif not across:
            room = 0.01 * (top - bottom)
            if (y[inside] > top + room).any() or (y[inside] < bottom - room).any():
                yield f"{line.get_label()!r} is cut off"


def _alike(axes: Axes) -> Iterator[str]:
    """Named curves differ by more than colour."""
    looks: dict[Any, str] = {}
    for line in axes.get_lines():
        name = str(line.get_label())
        if name.startswith("_"):
            continue
        look = (str(line._unscaled_dash_pattern), line.get_marker(), line.get_linewidth(), line.get_color())  # type: ignore[attr-defined]
        if look in looks:
            yield f"{name!r} looks like {looks[look]!r}"
        looks[look] = name
