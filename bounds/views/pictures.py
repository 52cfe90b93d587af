"""Every figure. Colours are distinct in print and for the colour-blind; nothing is drawn on a screen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory.errors import InputError
from theory.files.places import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREEDY, OPTIMAL, MARK = "#D55E00", "#0072B2", "#555555"
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#332288", "#882255")


def figure(width: float = 9.0, height: float = 4.0, columns: int = 1) -> tuple[Figure, Any]:
    """Return a figure without a window, and its axes (one, or an array of them)."""
    from matplotlib.figure import Figure as NewFigure

    made = NewFigure(figsize=(width, height), layout="constrained")
    return made, made.subplots(1, columns)


def save(made: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all; the format follows the name (png, svg, pdf).

    Raises
    ------
    InputError
        If the name ends in no format that can be drawn, or the place cannot be written.
    """
    kind = Path(path).suffix.lower().lstrip(".") or "png"
    if kind not in made.canvas.get_supported_filetypes():
        raise InputError(f"{path}: expected a picture's name ending in .png, .svg or .pdf")
    buffer = io.BytesIO()
    made.savefig(buffer, format=kind, dpi=144)
    write_bytes(path, buffer.getvalue())
