"""Spoilt input files: a command must answer, or refuse in one line with status 2."""

from __future__ import annotations

import contextlib
import io
import json
import random
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bounds.cli import run
from tests.checker.corpus import at, places, replaced
from tests.checker.test_alterations import others
from tests.tools.attacks.forgeries import spoilt
from tests.tools.attacks.report import Report

EXAMPLES = Path(__file__).parents[3] / "examples"

COMMANDS: tuple[tuple[str, str], ...] = (
    ("four_types.toml", "solve {}"),
    ("four_types.toml", "solve {} --servers 20 --json"),
    ("ec2.toml", "region {}"),
    ("four_types.toml", "worst {} --vary workload --time-limit 2"),
    ("four_types.toml", "fluid {} --until 2"),
    ("four_types.toml", "simulate {} --policy dra --servers 5 --until 4"),
    ("ec2.toml", "simulate {} --policy nonpreemptive --servers 5 --until 4"),
    ("uniform_sizes.toml", "throughput {} --gap 0.2"),
    ("mixed_sizes.toml", "throughput {} --gap 0.2 --json"),
    ("four_classes.toml", "share {} --mechanism ps-dsf"),
    ("four_classes.toml", "share {} --mechanism all --json"),
    ("admission.toml", "admission moments {} --at 1 --size 3"),
    ("admission_small.toml", "admission exact {} --policy zeroth --threshold 3 --most-deployments 3"),
)


def tables(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield spoilt inputs for ever: the command that reads each, its form and its text."""
    while True:
        name, command = draw.choice(COMMANDS)
        text = (EXAMPLES / name).read_text()
        if draw.random() < 0.3:
            yield command, "toml", spoilt(text, draw)
            continue
        table: Any = {"file": tomllib.loads(text)}
        for _ in range(draw.randint(1, 2)):
            path = draw.choice(list(places(table["file"], ("file",))))
            strange = [float("nan"), float("inf"), -1, 0, 10**30, "1e999", "", "1/0", None, [], {}, [[]], True, "\n"]
            new = [*others(at(table, path), draw.randrange(12)), draw.choice(strange)]
            table = replaced(table, path, draw.choice(new))
        yield command, "json", json.dumps(table["file"])


def attack_inputs(number: int, seed: int) -> Report:
    """Let commands read spoilt files."""
    draw, report = random.Random(seed), Report()
    with TemporaryDirectory() as folder:
        for i, (command, form, text) in zip(range(number), tables(draw), strict=False):
            path = Path(folder) / f"input{i}.{form}"
            path.write_bytes(text.encode(errors="surrogatepass"))
            out, error, start = io.StringIO(), io.StringIO(), time.process_time()
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                    status = run(command.format(path).split())
            except BaseException as fault:
                report.wrong.append(f"input {i} of {command!r}: {type(fault).__name__}: {fault}: {text!r}"[:600])
            else:
                report.outcomes[f"status {status}"] += 1
                said = error.getvalue()
                if status not in (0, 1, 2) or (status == 2 and (said.count("\n") != 1 or out.getvalue())):
                    report.wrong.append(f"input {i} of {command!r}: status {status}, says {said!r}: {text!r}"[:600])
            report.took(time.process_time() - start, f"input {i} of {command!r}")
            path.unlink()
    return report
