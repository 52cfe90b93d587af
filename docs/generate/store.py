"""Refresh what the atlas stores: ``python -m generate.store [--all | CLAIM ...]`` in the folder ``docs``.

Without arguments only the claims that the stored run lacks are checked, and those that it holds and that are no longer
registered are dropped; the others stay as they are. ``--all`` checks every claim anew. A claim whose data is absent
keeps what is stored of it. Unless claims are named, the panels of reproduced results are refreshed likewise
(`generate.reproduced`): missing or changed ones, or all of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from generate.reproduced import refresh

RUN = Path(__file__).parents[1] / "atlas" / "run.json"
FIELDS = ("id", "verdict", "evidence", "computed", "seconds")


def main(arguments: list[str]) -> int:
    """Check what is to be checked, write the run, and return 1 where an outcome is not the one on record."""
    from bounds.results import modules, verify_all
    from bounds.views.claims import verified

    held: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in json.loads(RUN.read_text(encoding="utf-8"))}
    everything = list(modules())
    named = [one for one in arguments if one != "--all"]
    chosen = list(modules(named)) if named else [one for one in everything if "--all" in arguments or one not in held]
    unexpected = 0
    for checked in verify_all(chosen):
        answer = verified(checked)
        if checked.skipped and answer.id in held:
            print(f"{answer.id}: not checked, its stored outcome stays", flush=True)
            continue
        held[answer.id] = {field: getattr(answer, field) for field in FIELDS} | {"seconds": round(answer.seconds, 1)}
        unexpected += not checked.ok
        print(f"{answer.id}: {answer.verdict}", flush=True)
    lines = [json.dumps(held[one], ensure_ascii=False) for one in everything if one in held]
    RUN.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    if not named:
        refresh(RUN.parents[1], again="--all" in arguments)
    return int(unexpected > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
