"""Results computed, drawn and stored: a folder has PAPER/RESULT.png, .svg, .csv and .json of each.

The JSON is written last, so where it stands the others do. A result whose JSON stands, with the parameters, the seed
and the version of today, is not computed again unless asked for.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.results.reproduction import Effort, Reproduction, WithoutData
from bounds.views.panels import COLUMNS, Panel, arranged
from bounds.views.pictures import as_bytes, styled
from theory.errors import InputError
from theory.files.places import write_bytes, write_json, write_text
from theory.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".csv", ".json")
"""The files of a result, in the order in which they are written."""

LETTERS = 150
"""Of a line under a picture."""


@dataclass(frozen=True)
class Done:
    """What became of a result.

    Attributes
    ----------
    result : Reproduction
    status : str
        ``made``, ``stored`` (it stood there already) or ``skipped``.
    reason : str
        Why it was skipped.
    seconds : float
        CPU time of computing and drawing it, when it was made.
    files : tuple of Path
    """

    result: Reproduction
    status: str
    reason: str = ""
    seconds: float = 0.0
    files: tuple[Path, ...] = ()


def reproduce_all(
    chosen: Sequence[Reproduction],
    folder: Path,
    effort: Effort = Effort.quick,
    *,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Done]:
    """Yield what became of each result, one after another."""
    for number, one in enumerate(chosen, 1):
        progress(f"{number} of {len(chosen)}: {one.id}")
        yield reproduce(one, folder, effort, again=again)


def reproduce(result: Reproduction, folder: Path, effort: Effort = Effort.quick, *, again: bool = False) -> Done:
    """Compute a result, draw it, and write its files.

    Raises
    ------
    InputError
        A folder that cannot be written.

    Notes
    -----
    Ctrl-C while it is computed leaves no file of it.
    """
    files = tuple((folder / result.id).with_suffix(ending) for ending in ENDINGS)
    document = rests_on(result, effort)
    if not again and (seconds := _stored(files, document)) is not None:
        return Done(result, "stored", seconds=seconds, files=files)
    begin = time.process_time()
    try:
        panels = result.compute(**result.parameters[effort])
    except WithoutData as reason:
        return Done(result, "skipped", str(reason))
    made = picture(result, panels)
    content = [as_bytes(made, "png"), as_bytes(made, "svg")]
    seconds = time.process_time() - begin
    try:
        files[0].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{files[0].parent}: cannot be made: {error.strerror}") from None
    for path, drawn in zip(files, content, strict=False):
        write_bytes(path, drawn)
    write_text(files[2], table(panels))
    write_json(files[3], {**document, "cpu_seconds": round(seconds, 3)})
    return Done(result, "made", seconds=seconds, files=files)


@styled
def picture(result: Reproduction, panels: Sequence[Panel]) -> Figure:
    """Draw the panels of a result in rows, its title above and its caption below."""
    made = arranged(panels, f"{result.id}: {result.title}", result.columns, result.height)
    made.supxlabel("\n".join(textwrap.wrap(result.caption, LETTERS)), x=0.01, ha="left", fontsize=6)
    return made


def table(panels: Sequence[Panel]) -> str:
    """Return what the panels show as CSV: panel, series, x, y, low, high."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, panel in enumerate(panels, 1):
        for title, *rest in panel.rows():
            writer.writerow([title or number, *(repr(x) if isinstance(x, float) else x for x in rest)])
    return stream.getvalue()


def rests_on(result: Reproduction, effort: Effort) -> dict[str, Any]:
    """Return what stands in the JSON, but for the time: what the picture depends on, and what it says."""
    return {
        "result": result.id,
        "title": result.title,
        "printed": result.printed,
        "lost": result.lost,
        "chosen": result.chosen,
        "claims": list(result.claims),
        "level": effort.value,
        "seed": result.seed,
        "parameters": json.loads(json.dumps(dict(result.parameters[effort]), default=str)),
        "version": __version__,
    }


def _stored(files: Sequence[Path], document: dict[str, Any]) -> float | None:
    """Return the CPU seconds that a result took, if it stands there with the same parameters; else None."""
    if not all(path.is_file() for path in files):
        return None
    try:
        found = json.loads(files[-1].read_text("utf-8"))
        seconds = float(found.pop("cpu_seconds"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return seconds if found == document else None
