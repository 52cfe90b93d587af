"""Results computed, drawn and stored: a folder has PAPER/RESULT.png, .svg, .csv and .json of each.

The JSON is written last, so where it is there the others are. A result whose JSON is there, with the parameters, the
seed and the version of today, is not computed again unless asked for. The answers of the command follow.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.answers.claims import ListedResult, Reproduced
from bounds.answers.record import encode
from bounds.claims import Level, WithoutData
from bounds.results.reproduction import Reproduction, about_bands
from bounds.views.drawing import arranged
from bounds.views.panels import COLUMNS, Panel
from bounds.views.pictures import as_bytes, styled, typeset
from bounds.views.text import many
from theory.errors import InputError
from theory.files.places import write_bytes, write_json, write_text
from theory.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".csv", ".json")  # the files of a result, in the order in which they are written

LETTERS = 170  # of a line under a picture


@dataclass(frozen=True)
class Done:
    """What became of a result."""

    result: Reproduction
    status: str  # ``made``, ``stored`` (its files were there already) or ``skipped``
    reason: str = ""  # why it was skipped
    seconds: float = 0.0  # CPU time of computing and drawing it, when it was made
    files: tuple[Path, ...] = ()

    def answer(self, effort: Level) -> Reproduced:
        """Return it as an answer of the command."""
        return encode(
            Reproduced,
            result=self.result.id,
            status=self.status,
            reason=self.reason,
            level=effort.value,
            cpu_seconds=None if self.status == "skipped" else round(self.seconds, 3),
            files=[str(path) for path in self.files],
        )


def reproduce_all(
    chosen: Sequence[Reproduction],
    folder: Path,
    effort: Level = Level.quick,
    *,
    again: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Done]:
    """Yield what became of each result, one after another."""
    for number, one in enumerate(chosen, 1):
        progress(f"{number} of {len(chosen)}: {one.id}")
        yield reproduce(one, folder, effort, again=again)


def reproduce(result: Reproduction, folder: Path, effort: Level = Level.quick, *, again: bool = False) -> Done:
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
    figure = picture(result, panels, effort)
    content = [as_bytes(figure, "png"), as_bytes(figure, "svg")]
    seconds = time.process_time() - begin
    try:
        files[0].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(files[0].parent, "", f"cannot be made: {error.strerror}") from error
    for path, drawn in zip(files, content, strict=False):
        write_bytes(path, drawn)
    write_text(files[2], table(panels))
    write_json(files[3], {**document, "cpu_seconds": round(seconds, 3)})
    return Done(result, "made", seconds=seconds, files=files)


@styled
def picture(result: Reproduction, panels: Sequence[Panel], effort: Level = Level.quick) -> Figure:
    """Draw the panels of a result in rows, its title above and below what was chosen and what its bands are."""
    figure = arranged(panels, f"{result.id}: {result.title}", result.columns, result.height)
    runs = result.parameters[effort].get("runs")
    below = [*textwrap.wrap(typeset(result.caption), LETTERS), *textwrap.wrap(about_bands(panels, runs), LETTERS)]
    figure.supxlabel("\n".join(below), x=0.01, ha="left", fontsize=6)
    return figure


def table(panels: Sequence[Panel]) -> str:
    """Return what the panels show as CSV: panel, series, x, y, low, high."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, panel in enumerate(panels, 1):
        for title, *rest in panel.rows():
            writer.writerow([title or number, *(repr(x) if isinstance(x, float) else x for x in rest)])
    return stream.getvalue()


def rests_on(result: Reproduction, effort: Level) -> dict[str, Any]:
    """Return the JSON of a result but for the time: what the picture depends on, and what it says."""
    return {
        "result": result.id,
        **{name: getattr(result, name) for name in ("title", "printed", "lost", "chosen")},
        "claims": list(result.claims),
        "level": effort.value,
        "seed": result.seed,
        "parameters": json.loads(json.dumps(dict(result.parameters[effort]), default=str)),
        "version": __version__,
    }


def _stored(files: Sequence[Path], document: dict[str, Any]) -> float | None:
    """Return the CPU seconds that a result took, if it is stored with the same parameters; else None."""
    if not all(path.is_file() for path in files):
        return None
    try:
        stored = json.loads(files[-1].read_text("utf-8"))
        seconds = float(stored.pop("cpu_seconds"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return seconds if stored == document else None


def ending(became: Mapping[str, int], folder: Path, *, again: bool) -> str:
    """Say in the end what was written where: how many results were made, stored already, or skipped.

    Examples
    --------
    >>> ending({"made": 1, "skipped": 2}, Path("figures"), again=False)
    '1 result written to figures (picture, numbers, description); 2 skipped'
    """
    parts = [f"{many(became.get('made', 0), 'result')} written to {folder} (picture, numbers, description)"]
    if became.get("stored"):
        parts.append(f"{became['stored']:,} stood there already{'' if again else ' (--again computes them anew)'}")
    if became.get("skipped"):
        parts.append(f"{became['skipped']:,} skipped")
    return "; ".join(parts)


def listed(result: Reproduction) -> ListedResult:
    """Return a result as it is listed."""
    entry = {name: value for name, value in rests_on(result, Level.quick).items() if name not in ("level", "version")}
    levels = {effort.value: rests_on(result, effort)["parameters"] for effort in (Level.quick, Level.full)}
    return encode(ListedResult, **{**entry, "parameters": levels})
