"""The style of every picture: sizes, fonts, colours, legends; and how a picture becomes a file.

Sizes are those of a printed page: a picture is one column or the page wide, and its text has the size that it has in
print. Curves differ by colour, by dashes and by marker, areas by colour and by hatching, so that they can be told apart
without colour, and where they coincide. Legends stand above the axes, never over data. A function that draws is
decorated with `styled`: the style holds while it draws, no file of the user changes it, and the settings of whoever
calls it stay as they are. Text is drawn letter by letter, never as mathematics; `drawn` writes a user's name.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from theory.errors import InputError, cut
from theory.files.places import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.5, 7.16  # inches: the width of a column, and of the text of a page with two columns

GREEDY, OPTIMAL, MARK = "#D55E00", "#0072B2", "#555555"
PALETTE = ("#0072B2", "#B57A00", "#00875F", "#C0629A", "#3A94CE", "#D55E00", "#777777", "#332288", "#882255", "#8A8000")
"""Colours with a contrast of at least 3:1 on white, after Okabe and Ito's; dashes, markers and hatching differ too."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "x", "P", "*")
HATCHES = ("", "////", "....", "\\\\\\\\", "xx", "++", "--", "oo", "||", "**")

STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so pictures are the same everywhere
    "text.parse_math": False,  # names are a user's, and may hold dollars, backslashes and carets
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "figure.titlesize": 8.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.title_fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.columnspacing": 1.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,  # numbers on axes are whole, not what is added to one above the axis
    "lines.linewidth": 1.3,
    "lines.markersize": 3.8,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.3,
    "hatch.linewidth": 0.5,
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
    "svg.hashsalt": "packproof",  # equal pictures are equal files
    "pdf.fonttype": 42,
}
"""Settings of matplotlib while packproof draws; all others have the values that matplotlib comes with."""

LETTERS = 32
"""Most letters of a name in a picture."""

HAIR_SPACE = "\u200a"

LABELS = 0.55
"""Inches that the labels of a vertical axis take."""

P = ParamSpec("P")
Drawn = TypeVar("Drawn")


def styled(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Let a function draw in the style, and leave the caller's settings of matplotlib as they are."""

    @wraps(draw)
    def in_style(*given: P.args, **named: P.kwargs) -> Drawn:
        _load()
        from matplotlib import rc_context, rcdefaults, rcParams

        settings: Any = dict(STYLE)  # its keys are a closed list of names
        with rc_context():
            rcdefaults()
            rcParams.update(settings)
            return draw(*given, **named)

    return in_style


@cache
def _load() -> None:
    """Load matplotlib without its complaints about a user's file of settings, none of which is used."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        import matplotlib  # noqa: F401
    except UnicodeDecodeError as error:
        raise InputError("matplotlibrc", f"expected the settings of matplotlib in UTF-8 ({error})") from error
    finally:
        logger.setLevel(level)


def drawn(name: str, most: int = LETTERS) -> str:
    r"""Return a name as pictures show it, in at most `most` letters, with codes for letters that the font has not.

    Examples
    --------
    >>> print(drawn("$5_a_$"), drawn("é 中"), drawn("x" * 100, 9))
    $5_a_$ é \u4e2d xxx...xxx
    """
    letters = (letter if _has_glyph(letter) else ascii(letter)[1:-1] for letter in cut(name, most))
    text = "".join(letters)
    # matplotlib's legends leave out what begins with an underscore
    return HAIR_SPACE + text if text.startswith("_") else text


@cache
def _has_glyph(letter: str) -> bool:
    """Whether the font of pictures can draw a letter; lines may be broken."""
    _load()
    from matplotlib.font_manager import findfont, get_font

    if letter in ("\n", HAIR_SPACE):
        return True
    return letter.isprintable() and get_font(findfont("DejaVu Sans")).get_char_index(ord(letter)) > 0


def figure(width: float = PAGE, height: float = 2.9, columns: int = 1, rows: int = 1, **how: Any) -> tuple[Figure, Any]:
    """Return a figure without a window, and its axes.

    Parameters
    ----------
    width, height : float
        Inches; `COLUMN` or `PAGE` wide.
    columns, rows : int
        Axes in the picture; more than one come as an array.
    **how
        Of `matplotlib.figure.Figure.subplots`.
    """
    _load()
    from matplotlib.figure import Figure as NewFigure

    blank = NewFigure(figsize=(width, height), layout="constrained")
    return blank, blank.subplots(rows, columns, **how)


def legend_above(axes: Axes, without: Collection[str] = ()) -> None:
    """Put the legend above the axes, under their title, in as many columns as fit.

    Names in `without` stand elsewhere. Where no name is left the title alone stands above.
    """
    handles, labels = axes.get_legend_handles_labels()
    in_legend = [(handle, label) for handle, label in zip(handles, labels, strict=True) if label not in without]
    title = axes.get_title()
    # the title moves into the legend, and has no part in its width
    axes.set_title("")
    if not in_legend:
        axes.set_title(title, loc="left")
        return
    handles, labels = map(list, zip(*in_legend, strict=True))
    how: Mapping[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2, "borderpad": 0.1}

    def legend(columns: int, title: str | None = None) -> Any:
        return axes.legend(handles, labels, ncols=columns, title=title, alignment="left", **how)

    space = _width_of(axes)
    labels[:] = _broken(legend, labels, space)
    _fit(legend(_most_columns(legend, min(len(labels), 5), space), title or None), space)


def share_legend(made: Figure, every: Sequence[Axes], title: str = "") -> None:
    """Put one legend, under a title, above all axes, on which one name means one look, instead of those above each."""
    named: dict[str, Any] = {}
    for axes in every:
        if (own := axes.get_legend()) is not None:
            axes.set_title(own.get_title().get_text(), loc="left")
            own.remove()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)

    def legend(columns: int) -> Any:
        how: Mapping[str, Any] = {"loc": "outside upper left", "alignment": "left", "title": title or None}
        return made.legend(named.values(), named.keys(), ncols=columns, **how)

    _fit(legend(_most_columns(legend, min(len(named), 8), made.bbox.width)), made.bbox.width)


def _most_columns(legend: Callable[[int], Any], most: int, space: float) -> int:
    """Return the number of columns, at most `most`, with which a legend fits into a width in pixels."""
    for columns in range(most, 1, -1):
        # the width is known only of a legend that is made
        tried = legend(columns)
        width = tried.get_window_extent().width
        tried.remove()
        if width <= space:
            return columns
    return 1


def _broken(legend: Callable[[int], Any], labels: Sequence[str], space: float) -> list[str]:
    """Return names, those too long for a legend of one column in two lines, broken at a plus."""
    tried = legend(1)
    over = tried.get_window_extent().width - space
    widths = [text.get_window_extent().width for text in tried.get_texts()]
    tried.remove()
    most = max(widths) - over
    return [_in_two(label) if width > most else label for label, width in zip(labels, widths, strict=True)]


def _in_two(name: str) -> str:
    """Return a name in two lines where it lists things.

    >>> _in_two("16 small + 3 medium + 10 memory + 1 large").split(chr(10))
    ['16 small + 3 medium', '+ 10 memory + 1 large']
    """
    places = [place for place in range(len(name)) if name[place : place + 3] == " + "]
    if not places:
        return name
    middle = min(places, key=lambda place: abs(place - len(name) / 2))
    return f"{name[:middle]}\n{name[middle + 1 :]}"


def _fit(legend: Any, space: float) -> None:
    """Cut the names in a legend that is wider than a space, in pixels."""
    over = legend.get_window_extent().width - space
    if over <= 0:
        return
    texts = legend.get_texts()
    widths = [text.get_window_extent().width for text in texts]
    most = max(widths) - over
    for text, width in zip(texts, widths, strict=True):
        if width > most:
            text.set_text(cut(text.get_text(), max(5, int(len(text.get_text()) * most / width))))


def _width_of(axes: Axes) -> float:
    """Return the width that axes have in a picture, in pixels, without the space of their labels."""
    whole_figure, place = axes.get_figure(root=True), axes.get_subplotspec()
    assert whole_figure is not None
    columns = 1 if place is None else place.get_gridspec().ncols
    return float((whole_figure.get_figwidth() / columns - LABELS) * whole_figure.dpi)


def save(made: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all; the format follows the name (png, svg, pdf).

    Raises
    ------
    InputError
        If the name ends in no format that can be drawn, or the place cannot be written.
    """
    kind = Path(path).suffix.lower().lstrip(".") or "png"
    if kind not in made.canvas.get_supported_filetypes():
        raise InputError(path, "", "expected a picture's name ending in .png, .svg or .pdf")
    write_bytes(path, as_bytes(made, kind))


@styled
def as_bytes(made: Figure, kind: str, dpi: float | None = None, *, clear: bool = False) -> bytes:
    """Return a figure as the content of a file: png, svg or pdf, without the date, so that equal ones are equal.

    A `clear` picture has no background, and shows that of its page.
    """
    for axes in made.axes:
        plain_ticks(axes)
    buffer = io.BytesIO()
    about = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {DRAWN: digest_of(made)}}
    made.savefig(buffer, format=kind, metadata=about.get(kind), dpi=dpi, transparent=clear)
    return buffer.getvalue()


DRAWN = "Drawn"
"""The field of a PNG with the digest of what it shows, by which a stored picture is compared with a fresh one."""


def digest_of(made: Figure) -> str:
    """Return the SHA-256 of what a figure shows: texts, and numbers to four digits, whatever draws them."""
    parts: list[str] = []

    def add(label: object, points: Any) -> None:
        numbers = (f"{x:.4g}" for x in np.ravel(points).tolist())
        parts.append(f"{label}: {' '.join(numbers)}")

    for axes in made.axes:
        parts += [axes.get_title(), axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        for line in axes.lines:
            add(line.get_label(), line.get_xydata())
        for patch in axes.patches:
            add(patch.get_label(), patch.get_patch_transform().transform(patch.get_path().vertices))
        for collection in axes.collections:
            add(collection.get_label(), collection.get_offsets())
            for path in collection.get_paths():
                add("", path.vertices)
        for text in axes.texts:
            add(text.get_text(), text.get_position())
    return sha256("\n".join(parts).encode()).hexdigest()


def plain_ticks(axes: Axes) -> None:
    """Write numbers on axes as `plain` does: all those of an axis by powers of ten where one of them is."""
    from matplotlib.ticker import Formatter, LogFormatter, ScalarFormatter, SymmetricalLogLocator

    class Plain(Formatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            del pos
            return plain(x, 7, power=_by_power(self.axis)) if _is_labelled(self.axis, x) else ""

    for axis in (axes.xaxis, axes.yaxis):
        ends = np.abs(axis.get_view_interval())
        symlog: Any = axis.get_transform()
        if axis.get_scale() == "symlog" and ends.max() < 100 * symlog.linthresh:
            axis.set_major_locator(SymmetricalLogLocator(transform=symlog, subs=(1.0, 2.0, 5.0)))
        if isinstance(axis.get_major_formatter(), LogFormatter):
            axis.set_major_formatter(Plain())
            if axis.get_scale() == "log":
                axis.set_minor_formatter(Plain())
        elif isinstance(axis.get_major_formatter(), ScalarFormatter) and (ends.max() >= 1000 or ends.max() < 1e-3):
            axis.set_major_formatter(Plain())


def _by_power(axis: Any) -> bool:
    """Whether numbers on an axis are powers of ten: where `plain` would write a labelled one of them so."""
    low, high = sorted(np.abs(axis.get_view_interval()))
    least = low if axis.get_scale() == "log" else high / 10
    return bool(0 < least < 1e-4 or high >= 1e7)


def _is_labelled(axis: Any, x: float) -> bool:
    """Whether a place of an axis has its number: on a long logarithmic axis powers of ten alone have it."""
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() != "log" or x <= 0:
        return True
    decades = np.log10(high / low)
    digit = x / 10 ** np.floor(np.log10(x) + 1e-9)
    # a vertical axis has space for more numbers
    some = 2.2 if axis.axis_name == "y" else 1.2
    digits = (1,) if decades > some else (1, 2, 5) if decades > 0.8 else range(1, 10)
    return any(abs(digit - one) < 1e-6 for one in digits) or decades < 0.3


RAISED = str.maketrans("-0123456789.", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹·")


def typeset(text: str) -> str:
    """Return packproof's own words, which are written for a terminal, with raised powers and with minus signs.

    >>> typeset("g(L) = (log L)^1.5, the slope of 3.56 - 2, steps of 1e-4")
    'g(L) = (log L)¹·⁵, the slope of 3.56 − 2, steps of 10⁻⁴'
    """
    text = re.sub(r"\b1e(-?\d+)\b", lambda found: f"10{str(int(found[1])).translate(RAISED)}", text)
    text = re.sub(r"(?<=[\w)])\^(-?\d+(?:\.\d+)?)", lambda found: found[1].translate(RAISED), text)
    return re.sub(r"(?<=[\w)]) - (?=[\w(])", " − ", text)


def plain(value: float, digits: int = 3, *, power: bool = False) -> str:
    """Write a number in a picture: in plain digits where that is short, by a power of ten elsewhere, or always.

    >>> plain(12345.6), plain(12345.6, 7), plain(0.00125), plain(-2.0), plain(1e-7), plain(2.5e9)
    ('12,346', '12,345.6', '0.00125', '−2', '10⁻⁷', '2.5×10⁹')
    >>> plain(0.02, power=True), plain(1.0, power=True), plain(0.0, power=True)
    ('2×10⁻²', '10⁰', '0')
    """
    if value == 0 or (not power and 1e-4 <= abs(value) < 1e7):
        text = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"
        return text.replace("-", "−")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    factor = f"{float(mantissa):g}".replace("-", "−")
    return f"{'' if factor == '1' else factor + '×'}10{str(int(exponent)).translate(RAISED)}"
