"""What tests of traces share: an instance, jobs of its types, and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.answers import schema as schema_of
from bounds.cli import run
from fluid.experiment.grid import GridCell, scenario_of
from fluid.experiment.run import run_cell, run_numbers
from fluid.simulation.policy_names import policy

INSTANCE = """
[server]
capacity = { cpu = 8, mem = 16 }
[[type]]
name = "small"
demand = { cpu = 1, mem = 2 }
reward = 1
workload = 3
[[type]]
name = "big"
demand = { cpu = 4, mem = 4 }
reward = 5
workload = "3/4"
"""
HEAD = "time,duration,type,cpu,mem\n"
JOBS = HEAD + "".join(f"{0.3 * i:.1f},{1 + i % 3},{'big,4,4' if i % 4 == 0 else 'small,1,2'}\n" for i in range(40))
LAST = 11.7
"""When the last of JOBS comes."""


def asked(folder: Path, simulation: str = "", instance: str = INSTANCE) -> list[str]:
    (folder / "i.toml").write_text(f"{instance}\n[simulation]\n{simulation}\n")
    return ["simulate", str(folder / "i.toml"), "--servers", "2"]


def simulated(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the answer, which suits its schema, and the lines on stderr."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    found: dict[str, Any] = json.loads(shown.out)
    name = "simulate_queue" if "queue" in found else "simulate"
    jsonschema.validate(found, schema_of(name))
    return found, [line for line in shown.err.splitlines() if ".csv" in line or "identical" in line]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(arguments) == 2
    message = capsys.readouterr().err.rstrip("\n")
    assert "\n" not in message
    return message


def numbers_of_cell(cell: GridCell) -> dict[str, float | None]:
    """Run a cell of a grid, and return the numbers of its run."""
    return run_numbers(replace(run_cell(cell), scenario=scenario_of(cell.document, policy(cell.document["policy"]))))
