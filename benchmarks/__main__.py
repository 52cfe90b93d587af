"""``python -m benchmarks``: the figures of `benchmarks.figures` in one run, beside peers and an earlier run.

``--out FILE`` stores them as JSON with date, machine and versions; ``--compare FILE`` shows how they have changed;
``--only WORDS`` takes those whose names hold the words. The modules beside this one go further, each on one subject:
``python -m benchmarks.greedy``, ``.region``, ``.throughput``, ``.sharing``, ``.simulate``, ``.queues``, ``.slots``,
``.fluid``, ``.convergence``, ``.attack`` and, for what compilation costs, ``.starts``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.figures import FIGURES, Figure

LIBRARIES = ("numpy", "scipy", "numba", "highspy", "python-flint", "cvxpy")


def shown(value: float, unit: str) -> str:
    """Write a figure with its unit.

    Examples
    --------
    >>> shown(0.0123, "s"), shown(2.5e6, "/s")
    ('12.3 ms', '2.50 M/s')
    """
    if unit == "/s":
        return f"{value / 1e6:.2f} M/s"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def times_as_fast(new: float, old: float, unit: str) -> float:
    """Return how many times as fast the new figure is.

    Examples
    --------
    >>> times_as_fast(1.0, 2.0, "s"), times_as_fast(1.0, 2.0, "/s")
    (2.0, 0.5)
    """
    return old / new if unit == "s" else new / old


def measured(figure: Figure) -> dict[str, Any]:
    """Measure a figure and its peer."""
    entry: dict[str, Any] = {"unit": figure.unit, "value": figure.measure()}
    if figure.peer is not None:
        entry |= {"peer": figure.peer[0], "peer_value": figure.peer[1]()}
    return entry


def line(name: str, entry: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Write a figure, beside its peer and what it was before."""
    unit = entry["unit"]
    said = f"{name:36} {shown(entry['value'], unit):>12}"
    if before is not None:
        ratio = times_as_fast(entry["value"], before["value"], unit)
        said += f"   before {shown(before['value'], unit)}: {ratio:.2f} times as fast"
    if "peer" in entry:
        ratio = times_as_fast(entry["value"], entry["peer_value"], unit)
        said += f"   {entry['peer']} {shown(entry['peer_value'], unit)}: {ratio:.3g} times as fast"
    return said


def main() -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="figures of this version, beside peers")
    parser.add_argument("--out", type=Path, help="store the figures here, as JSON")
    parser.add_argument("--compare", type=Path, help="figures of an earlier run")
    parser.add_argument("--only", default="", help="take figures whose names hold these words")
    options = parser.parse_args()
    try:
        old = {} if options.compare is None else json.loads(options.compare.read_text())["figures"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{options.compare}: expected figures that --out has stored ({error})", file=sys.stderr)
        return 2
    chosen = [figure for figure in FIGURES if options.only in figure.name]
    if not chosen:
        print(f"--only: expected words of one of {', '.join(f.name for f in FIGURES)}", file=sys.stderr)
        return 2
    figures = {}
    for figure in chosen:
        figures[figure.name] = measured(figure)
        print(line(figure.name, figures[figure.name], old.get(figure.name)), flush=True)
    if options.out is not None:
        machine = {
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "python": platform.python_version(),
        }
        made = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine,
            "versions": {name: version(name) for name in LIBRARIES},
            "figures": figures,
        }
        options.out.write_text(json.dumps(made, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
