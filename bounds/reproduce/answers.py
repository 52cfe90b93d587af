"""Results as answers of the command, and as lines for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bounds.reproduce.model import Effort, Reproduction
from bounds.reproduce.run import Done
from bounds.views.answers import Answer, encode_answer
from bounds.views.tables import aligned
from bounds.views.text import many


def answer_of(done: Done, effort: Effort) -> Answer:
    """Return what became of a result."""
    return encode_answer(
        "reproduce",
        part="Reproduced",
        result=done.result.id,
        status=done.status,
        reason=done.reason,
        level=effort.value,
        cpu_seconds=None if done.status == "skipped" else round(done.seconds, 3),
        files=[str(path) for path in done.files],
    )


def line_of(done: Done) -> str:
    """Write what became of a result on one line."""
    if done.status == "skipped":
        return f"{done.result.id:26} skipped: {done.reason}"
    what = f"made in {done.seconds:.1f} s of CPU" if done.status == "made" else "stored already"
    return f"{done.result.id:26} {what}: {done.files[0].with_suffix('')}.png, .svg, .csv, .json"


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


def listed(result: Reproduction) -> Answer:
    """Return a result as it is listed."""
    levels = {effort.value: dict(result.parameters[effort]) for effort in (Effort.quick, Effort.full)}
    return encode_answer(
        "reproduce_list",
        part="ListedResult",
        result=result.id,
        title=result.title,
        printed=result.printed,
        lost=result.lost,
        chosen=result.chosen,
        seed=result.seed,
        claims=list(result.claims),
        parameters=json.loads(json.dumps(levels, default=str)),
    )


def listing_lines(results: Sequence[Reproduction]) -> list[str]:
    """Write the list: a result a line."""
    return aligned([["result", "what it shows"], *([one.id, one.title] for one in results)])
