"""Data that names code: no file that a command reads may run a module, whatever its fields say.

Each case lies in a folder of its own, beside modules that leave a mark when they are imported, and the command runs in
that folder. Documents have the names of these modules in any of their fields; stores hold pickles.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import random
import sqlite3
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bounds.cli import run
from tests.checker.corpus import at, places, replaced
from tests.tools.attacks.report import Report

EXAMPLES = Path(__file__).parents[3] / "examples"

MARK = "run.mark"
"""The file that a module leaves in its folder when it is imported."""

MODULE = f"""
import os
from packproof import policy
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), {MARK!r}), "w").close()
X = policy("first-fit")
"""

NAMES = (
    "evil_code.py:X", "./evil_code.py:X", "{}/evil_code.py:X", "evil_code:X", "{}/evil_code:X", "evil_package:X",
    "evil_package.inside:X", "../{last}/evil_code.py:X", "evil_code.py:list", "evil_code.py", "evil_code",
    "evil_code:list", "first-fit,evil_code.py:X", "first-fit --policy evil_code.py:X", "--policy=evil_code.py:X",
    "file://{}/evil_code.py:X", "__import__('evil_code')", "!!python/object/apply:evil_code.X []", "cevil_code\nX\n.",
)  # fmt: skip

KEYS = (
    "policy", "rule", "code", "own", "module", "source", "mechanism", "engine", "kind", "trace", "arrivals", "initial",
)  # fmt: skip

GRID = {
    "instance": "four_types.toml", "until": 3, "servers": 3, "policy": "first-fit", "simulation": {"d": 2},
    "vary": {"workload": ["1/2", 1]},
}  # fmt: skip

COMMANDS: tuple[tuple[str, str], ...] = (
    ("grid", "experiment {} --store s.db --workers 1"),
    ("grid", "experiment {} --store s.db --status --json"),
    ("grid", "experiment {} --number list"),
    ("four_types.toml", "solve {}"),
    ("four_types.toml", "simulate {} --policy first-fit --servers 3 --until 3"),
    ("four_types.toml", "fluid {} --until 1"),
    ("uniform_sizes.toml", "throughput {} --gap 0.3"),
    ("four_classes.toml", "share {} --mechanism drf"),
    ("admission.toml", "admission moments {} --at 1 --size 3"),
    ("plan_certificate.json", "check {}"),
    ("plan_certificate.json", "export {} --to smt2"),
    ("plan_answer.json", "report {} --out page.html"),
    ("items", "throughput {}"),
)

CASE = {"items": {"capacity": [10], "sizes": [[7], [3], [2]]}}


class Marking:
    """An object whose pickle leaves the mark where it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.folder / MARK, "")


def lay_out(folder: Path) -> None:
    """Write the modules that leave a mark, and an instance."""
    (folder / "evil_package").mkdir()
    for name in ("evil_code.py", "evil_package/__init__.py", "evil_package/inside.py"):
        (folder / name).write_text(MODULE)
    (folder / "four_types.toml").write_text((EXAMPLES / "four_types.toml").read_text())


def documents(draw: random.Random, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield for ever a command, and the document that it reads, in which code is named at one or two places."""
    sources = {"grid": GRID, "items": CASE}
    for name in {name for name, _ in COMMANDS} - set(sources):
        text = (EXAMPLES / name).read_text()
        sources[name] = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    while True:
        name, command = draw.choice(COMMANDS if draw.random() < 0.6 else COMMANDS[:3])
        document: Any = sources[name]
        for _ in range(draw.randint(1, 2)):
            code = draw.choice(NAMES).format(folder, last=folder.name)
            value = draw.choice([code, code, [code], {"trace": code}, ["first-fit", code]])
            path = draw.choice(list(places(document)))
            here = at(document, path)
            if isinstance(here, dict):
                document = replaced(document, path, {**here, draw.choice(KEYS): value})
            elif path:
                document = replaced(document, path, value)
        if name == "grid" and draw.random() < 0.5:  # in the fields that have a meaning
            place = draw.choice([("policy",), ("vary", "policy"), ("simulation", "policy")])
            code = draw.choice(NAMES[:8]).format(folder, last=folder.name)
            document = {"instance": "four_types.toml", "until": 3, "servers": 3, "policy": "first-fit"}
            if place[0] == "policy":
                document["policy"] = code
            else:
                document[place[0]] = {place[1]: [code, "first-fit"]}
                del document["policy"]
        yield command, json.dumps(document)


def stores(draw: random.Random, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield for ever a command, and the store that it reads, in which a field is a pickle or an array of objects."""
    simulate = "simulate four_types.toml --policy first-fit --servers 3 --until 3 --replications 2 --store {}"
    experiment = "experiment grid.json --store {} --workers 1"
    (folder / "grid.json").write_text(json.dumps(GRID))
    for number in range(10**9):
        command = draw.choice([simulate, experiment])
        place = folder / f"stored{number}.db"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(command.format(place).split())
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=True, **{"numbers": np.array([Marking(folder)], dtype=object)})
        content: Any = draw.choice([pickle.dumps(Marking(folder)), packed.getvalue()])
        with contextlib.closing(sqlite3.connect(place)) as connection:
            for (key,) in connection.execute("select key from results").fetchall():
                values = (content, hashlib.sha256(key.encode() + b" " + content).hexdigest(), key)
                connection.execute("update results set content = ?, digest = ? where key = ?", values)
            connection.commit()
        yield command, str(place)


def attack_named_code(number: int, seed: int) -> Report:
    """Let commands read files that name code, and look for the mark."""
    draw, report = random.Random(seed), Report()
    before = os.getcwd()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        lay_out(folder)
        os.chdir(folder)
        try:
            for place, (command, text) in zip(range(number), documents(draw, folder), strict=False):
                path = folder / f"input{place}.json"
                path.write_text(text)
                _judge(folder, command.format(path.name), text, report)
            for _, (command, store) in zip(range(number // 20), stores(draw, folder), strict=False):
                _judge(folder, command.format(store), "a store that was changed", report)
        finally:
            os.chdir(before)
    return report


def _judge(folder: Path, command: str, text: str, report: Report) -> None:
    """Run a command; wrong are a mark, and a module that was loaded. How it ends is judged by `inputs`."""
    out, error, start = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = run(command.split())
    report.outcomes[f"status {status}"] += 1
    if "names code of its own" in error.getvalue() or "runs no code" in error.getvalue():
        report.outcomes["said to name code"] += 1
    said = f"{command!r}: status {status}, says {error.getvalue()!r}: {text!r}"[:600]
    if (folder / MARK).exists():
        report.wrong.append(f"code has run: {said}")
        (folder / MARK).unlink()
    loaded = [name for name in sys.modules if name.startswith("evil_")]
    if loaded:
        report.wrong.append(f"{loaded} are loaded: {said}")
        for name in loaded:
            del sys.modules[name]
    report.took(time.process_time() - start, command)
