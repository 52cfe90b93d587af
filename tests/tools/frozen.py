"""Run the frozen cases and write what they answer: ``python -m tests.tools.frozen``.

Rewriting the record is a decision, not a repair: the reason belongs in the commit.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from bounds.cli import run
from fluid.simulation.run import Runner
from tests.frozen.cases import CASES, PATHS
from tests.frozen.indices import refusing

HERE = Path(__file__).parents[1] / "frozen"
ANSWERS = HERE / "answers.json"
CERTIFICATES = HERE / "certificates"
VOLATILE = ("events_per_second", "events_as_python", "seconds", "made")
"""Keys of answers that speak of clocks, and of places and versions."""

PROSE = ("source", "statement", "printed", "computed")
"""Keys of claims that are prose, whose words may become plainer."""


def answered(arguments: str) -> dict[str, Any]:
    """Return what a case prints and the files that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"@": f"{HERE / 'inputs'}/", "%": f"{HERE.parents[1] / 'examples'}/", "!": f"{folder}/"}
        words = [places.get(word[0], word[0]) + word[1:] for word in arguments.split()]
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = run(words)
        assert status == 0, (arguments, err.getvalue())
        found: dict[str, Any] = {"answer": _without_clocks(json.loads(out.getvalue(), parse_constant=_no_json))}
        for file in sorted(Path(folder).iterdir()):
            if file.suffix in (".json", ".poly", ".toml", ".csv"):
                found[file.name] = file.read_text()
    return found


def _no_json(name: str) -> None:
    raise AssertionError(f"{name} is no number of JSON")


def _without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_clocks(one) for name, one in value.items() if name not in (*VOLATILE, *PROSE)}
    if isinstance(value, list):
        rows = [_without_clocks(one) for one in value]
        claims = rows and isinstance(rows[0], dict) and "paper" in rows[0]  # the order of the list is free
        return sorted(rows, key=lambda row: row["id"]) if claims else rows
    return value


def packed(value: Any) -> Any:
    """Return an answer as it is recorded: event logs as rows, certificates as digests of their bytes."""
    answer = value["answer"]
    if isinstance(answer, dict) and isinstance(answer.get("log"), list):
        answer = {**answer, "log": [list(row.values()) for row in answer["log"]]}
    files = {
        name: text if not name.endswith(".json") else sha256(text.encode()).hexdigest()
        for name, text in value.items()
        if name != "answer"
    }
    return {"answer": answer, **files}


def paths_as_python() -> None:
    """Print the answers of all policies' paths; run with ``NUMBA_DISABLE_JIT=1``. No index may be negative."""
    part = Runner._part
    Runner._part = lambda self, run, inputs, most: part(self, run, list(map(refusing, inputs)), most)  # type: ignore[method-assign]
    print(json.dumps({name: packed(answered(arguments)) for name, arguments in PATHS.items()}))


def differences(expected: Any, found: Any, place: str = "") -> Iterable[str]:
    """Yield the places at which two answers differ: floats by more than 1e-9 of themselves, all else at all."""
    if isinstance(expected, float) and isinstance(found, int | float) and not isinstance(found, bool):
        if abs(expected - found) > 1e-9 * max(1.0, abs(expected)):
            yield f"{place}: {expected!r} became {found!r}"
    elif isinstance(expected, dict) and isinstance(found, dict):
        if not expected.keys() <= found.keys():  # their order is free, and there may be more
            yield f"{place}: keys {list(expected)} became {list(found)}"
        for name in expected.keys() & found.keys():
            yield from differences(expected[name], found[name], f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(expected)} entries became {len(found)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(one, other, f"{place}[{number}]")
    elif place.endswith(".csv") and "\n" in expected:
        yield from differences(_cells(expected), _cells(found), place + ":")
    elif expected != found:
        yield f"{place}: {str(expected)[:200]!r} became {str(found)[:200]!r}"


def _cells(text: str) -> list[list[Any]]:
    """Return a table of comma-separated values, numbers as floats."""

    def number(cell: str) -> Any:
        try:
            return float(cell)
        except ValueError:
            return cell

    return [[number(cell) for cell in row] for row in csv.reader(text.splitlines())]


def main() -> None:
    """Write the record, and one certificate of each kind as it was first written."""
    record = {}
    CERTIFICATES.mkdir(exist_ok=True)
    for name, arguments in CASES.items():
        found = answered(arguments)
        record[name] = packed(found)
        if "out.json" in found and os.environ.get("CERTIFICATES"):
            (CERTIFICATES / f"{name.replace(' ', '_')}.json").write_text(found["out.json"])
    rows = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items()]
    ANSWERS.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
