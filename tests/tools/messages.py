"""What packproof says of malformed files: ``python -m tests.tools.messages`` prints the line for 30 of each format.

A good file of each format is changed in one place: a field is left out, misspelt, or has a value of another kind; of
tables a cell, a header or a row. ``--only NAME ...`` takes the formats whose names contain one of these, ``--count N``
that many files of each, ``--doubtful`` prints only lines that do not name the file, or the field and what is expected.
It ends with status 1 where a command ends in another way than by reading the file, or by one line and status 2.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import reduce
from io import StringIO
from pathlib import Path
from typing import Any

from bounds.cli import run
from tests.bounds.test_formats import GOOD

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fluid" / "logs"

WRONG = (True, "x", "", -1, 1.5, 1e400, [], {}, [[]], None, "1/0", 10**30)
"""Values of which at least one is none of any field."""

CELLS = ("", "x", "-1", "nan", "1e400", "1,5", "2026-13-01", "NULL", '"')
"""The same for cells."""

EXPECTS = re.compile(r"expected|missing|unknown field")
WHOLE = re.compile(r"expected \d+ fields?|has no \" at its end|columns guessed from|expected a header with")
"""Lines that are about more than one field."""


@dataclass(frozen=True)
class Sample:
    """A good file of a format, the command that reads it, and what stands beside it."""

    command: str  # the file is FILE
    good: Any  # the text of a table, or a document
    beside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A malformed file: what was changed, the field that it is in, and the text."""

    words: str
    field: str
    text: str


def samples() -> dict[str, Sample]:
    """Return a good file of each format."""
    queue = {**GOOD["instance"], "type": [{**GOOD["instance"]["type"][0], "workload": "1/4"}]}
    cluster, own = json.dumps(GOOD["cluster"]), (ROOT / "examples" / "own_types.csv").read_text()
    tables = {
        "events": ("share c.json --mechanism ps-dsf --events FILE", GOOD["events"], {"c.json": cluster}),
        "allocation": ("share c.json --allocation FILE", "user,server,tasks\nu,A,2\n", {"c.json": cluster}),
        "own types": ("instance --own FILE --server cpu=96,memory=768,gpu=8", own, {}),
        "table of sizes": ("throughput s.toml", "size\n0.25\n0.5\n0.25\n", {"s.toml": '[sizes]\ncsv = "f.csv"\n'}),
        "plain trace": ("log FILE", "time,duration,type,cpu\n0,5,a,1\n1,2,b,2\n", {}),
        "log": ("log FILE", (ROOT / "examples" / "vm_log.csv").read_text().splitlines(), {}),
    }
    found = {
        "instance": Sample("solve FILE", GOOD["instance"]),
        "loss table": Sample(
            "simulate FILE --policy dra --servers 3 --until 1",
            GOOD["instance"]
            | {"simulation": {"arrivals": {"law": "poisson", "batch": 2}, "reservation": "(log L)^1.5"}},
        ),
        "queue table": Sample(
            "simulate FILE --policy nonpreemptive --servers 3 --until 1",
            queue
            | {"simulation": {"service": {"law": "hyper-exponential", "scv": 2}, "beta": 0.5, "initial": "empty"}},
        ),
        "slotted table": Sample(
            "simulate FILE --policy vqs --servers 3 --until 5",
            {"sizes": {"discrete": {"1/2": 1}, "servers": 2}, "simulation": {"rate": 1, "service_rate": "1/2"}},
        ),
        "law of sizes": Sample("throughput FILE", GOOD["sizes"]),
        "items": Sample("throughput FILE", GOOD["items"]),
        "cluster": Sample("share FILE --mechanism ps-dsf", GOOD["cluster"]),
        "grid": Sample(
            "experiment FILE --store s.db --status", GOOD["grid"] | {"policy": "dra"}, {"i.toml": _toml_of_instance()}
        ),
        "admission": Sample("admission moments FILE --at 1 --size 3", GOOD["admission"]),
        "deployments": Sample(
            "admission decide a.json --state FILE --arriving 2 --horizons 1", GOOD["deployments"], _admission()
        ),
        "observed": Sample("admission belief a.json --observed FILE", GOOD["observed"], _admission()),
        "start": Sample("fluid i.toml --until 9 --from FILE", GOOD["start"], {"i.toml": _toml_of_instance()}),
    }
    for name, (command, good, beside) in tables.items():
        found[name] = Sample(command, "\n".join(good[:6]) + "\n" if isinstance(good, list) else good, beside)
    logs = {path.name: path.read_text() for path in sorted(LOGS.iterdir())}
    documents = {name: json.loads(text) for name, text in logs.items() if text.lstrip()[:1] in ("{", "[")}
    return found | {name: Sample("log FILE", documents.get(name, text)) for name, text in logs.items()}


def _toml_of_instance() -> str:
    return '[server]\ncapacity = { cpu = 4 }\n[[type]]\nname = "a"\ndemand = { cpu = 1 }\nreward = 1\nworkload = 1\n'


def _admission() -> dict[str, str]:
    return {"a.json": json.dumps(GOOD["admission"])}


# ---- malformed files -------------------------------------------------------------------------------------------------


def changes_of(good: Any) -> Iterator[Change]:
    """Give the malformed files of a good one."""
    yield from changes_of_text(good) if isinstance(good, str) else changes_of_document(good)


def changes_of_document(good: Any) -> Iterator[Change]:
    """Give documents of which one field is wrong."""
    text = json.dumps(good)
    yield Change("nothing", "", "")
    yield Change("cut off", "", text[: len(text) // 2])
    yield Change("a list around it", "", f"[{text}]")
    for path in _paths(good):
        name = next((str(key) for key in reversed(path) if isinstance(key, str)), "")
        shown = ".".join(map(str, path))
        for value in WRONG:
            yield Change(f"{shown} = {json.dumps(value)}", name, json.dumps(_changed(good, path, value)))
        if isinstance(path[-1], str):
            yield Change(f"{shown} left out", name, json.dumps(_changed(good, path)))
            misspelt = _changed(_changed(good, path), (*path[:-1], f"{path[-1]}x"), _at(good, path))
            yield Change(f"{shown} misspelt", name, json.dumps(misspelt))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from _paths(entry, (*path, key))


def _at(good: Any, path: Sequence[Any]) -> Any:
    return reduce(lambda table, key: table[key], path, good)


def _changed(good: Any, path: Sequence[Any], *value: Any) -> Any:
    """Return a copy with another value at a place, or with none."""
    document = json.loads(json.dumps(good))
    table = _at(document, path[:-1])
    if value:
        (table[path[-1]],) = value
    else:
        del table[path[-1]]
    return document


def changes_of_text(good: str) -> Iterator[Change]:
    """Give tables of which one header, one row or one cell is wrong."""
    lines = good.splitlines()
    sign = max(",\t|;", key=lines[0].count) if re.search(r"[,\t|;]", lines[-1]) else None
    join = (sign or " ").join
    yield Change("nothing", "", "")
    yield Change("only the first row", "", lines[0] + "\n")
    yield Change("the first row twice", "", "\n".join([lines[0], *lines]) + "\n")
    header, has_header = lines[0].split(sign), not any(cell[:1].isdigit() for cell in lines[0].split(sign))
    for i, name in enumerate(header):
        yield Change(
            f"{name} misspelt", name, "\n".join([join([*header[:i], f"{name}x", *header[i + 1 :]]), *lines[1:]])
        )
        yield Change(f"{name} twice", name, "\n".join([join([*header, name]), *lines[1:]]))
    last = lines[-1].split(sign)
    for i in range(len(last)):
        name = header[i] if i < len(header) else ""
        yield Change(f"a row without {name or i}", "", "\n".join([*lines[:-1], join(last[:i] + last[i + 1 :])]) + "\n")
        for cell in CELLS:
            row = join([*last[:i], cell, *last[i + 1 :]])
            yield Change(f"{name or i} = {cell!r}", name if has_header else "", "\n".join([*lines[:-1], row]) + "\n")


# ---- what is said ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """How a command ended on a malformed file."""

    change: Change
    status: int
    lines: tuple[str, ...]

    @property
    def is_wrong(self) -> bool:
        """Return whether it ended otherwise than it should."""
        return self.status not in (0, 2) or (self.status == 2 and len(self.lines) != 1)

    def is_doubtful(self, file: str) -> bool:
        """Return whether it was refused by a line without the file, the field, or what is expected."""
        if self.status == 0 or self.is_wrong:
            return self.is_wrong
        (line,) = self.lines
        is_named = self.change.field in line or WHOLE.search(line) is not None
        return not (line.startswith(file) and EXPECTS.search(line) and is_named)


def said_of(sample: Sample, change: Change, file: str) -> Said:
    """Run the command of a format on a malformed file."""
    out, err = StringIO(), StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, text in {**sample.beside, file: change.text}.items():
            Path(name).write_text(text, encoding="utf-8")
        with redirect_stdout(out), redirect_stderr(err):
            status = run(sample.command.replace("FILE", file).split())
    return Said(change, status, tuple(err.getvalue().strip().splitlines()))


def main() -> int:
    """Print what is said of the malformed files of each format, and how many are read, refused and doubtful."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.messages", description="lines for malformed files")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="take formats of such names")
    parser.add_argument("--count", type=int, default=30, help="malformed files of each format")
    parser.add_argument("--doubtful", action="store_true", help="print doubtful lines only")
    options = parser.parse_args()
    totals = [0, 0, 0, 0]
    for name, sample in samples().items():
        if not any(one in name for one in options.only):
            continue
        file = "f.csv" if isinstance(sample.good, str) else "f.json"
        changes = list(changes_of(sample.good))
        chosen = changes[:3] + random.Random(name).sample(changes[3:], min(options.count - 3, len(changes) - 3))
        print(f"\n## {name}: {sample.command}\n")
        for said in (said_of(sample, change, file) for change in chosen):
            doubtful = said.is_doubtful(file)
            totals = [n + bool(more) for n, more in zip(
                totals, (said.status == 0, said.status == 2, doubtful, said.is_wrong), strict=True
            )]  # fmt: skip
            if doubtful or not options.doubtful:
                shown = " / ".join(said.lines) if said.status else "(read)"
                print(f"{'?' if doubtful else ' '} {said.change.words}: {shown}")
    print("\n{} read, {} refused, {} of them doubtful, {} ended otherwise".format(*totals))
    return 1 if totals[3] else 0


if __name__ == "__main__":
    raise SystemExit(main())
