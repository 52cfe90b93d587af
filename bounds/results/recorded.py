"""How long claims took when the atlas of the documentation was recorded; a checkout has that run, a wheel has not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bounds.claims import Level

RUN = Path(__file__).parents[2] / "docs" / "atlas" / "run.json"


def recorded_seconds(run: Path = RUN) -> dict[str, float]:
    """Return the seconds of each claim of a stored run at the level quick; none where there is no such run."""
    try:
        entries = json.loads(run.read_text(encoding="utf-8"))
        return {str(entry["id"]): float(entry["seconds"]) for entry in entries}
    except (OSError, ValueError, LookupError, TypeError):
        # it only tells a reader what to expect, so that a check does without it
        return {}


def about(identities: Sequence[str], level: Level, seconds: Mapping[str, float]) -> str:
    """Return what is said before claims are checked: which ones, and how long they took when they were recorded.

    Examples
    --------
    >>> about(["autoscaling/theorem-4.1"], Level.quick, {"autoscaling/theorem-4.1": 8.0})
    'autoscaling/theorem-4.1: about 8 s on record; a first run also compiles'
    >>> about(["a/b", "a/c"], Level.quick, {"a/b": 70.0, "a/c": 21.5})
    '2 claims: about 92 s on record if one after another; a first run also compiles'
    >>> about(["a/b"], Level.full, {"a/b": 70.0})
    'a/b: no time on record for the level full'
    """
    what = identities[0] if len(identities) == 1 else f"{len(identities):,} claims"
    if level is not Level.quick:
        return f"{what}: no time on record for the level {level.value}"
    if not all(one in seconds for one in identities):
        return f"{what}: no time on record"
    # less than a second is no information beside the start of the program
    total = max(1, round(sum(seconds[one] for one in identities)))
    order = "" if len(identities) == 1 else " if one after another"
    return f"{what}: about {total:,} s on record{order}; a first run also compiles"
