"""The path of a run is the same compiled and as Python, by a policy of packproof and by an author's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

RUN = """
import json, sys
from pathlib import Path
from fluid.simulation import run as runs
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from theory.instance import additive

def ran(name, until, python):
    "Run as the first of its process; return events, events as Python, the mean jobs and how many files are stored."
    runs._EXPECTED.clear()
    scenario = LossScenario(additive([3], [[1], [2]], workload=[2, 1]), servers=20, until=until, warmup=1.0)
    run = run_once(policy(name), scenario, 5, python=python)
    stored = len([*Path(sys.argv[1]).rglob("*.nb*")])
    return run.events, run.interpreted, run.measures.jobs.tolist(), stored

print(json.dumps([ran(name, until, python) for name, until, python in json.loads(sys.argv[2])]))
"""


def ran(folder: Path, *calls: tuple[str, float, bool | None]) -> Any:
    """Make runs in one process with a cache of its own; return what each gives."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", RUN, str(folder), json.dumps(calls)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["first-fit", f"{EXAMPLES / 'own_policies.py'}:WORST_FIT"], ids=["ours", "own"])
def test_the_path_is_the_same_however_it_runs(name: str, tmp_path: Path) -> None:
    calls = [(name, 20.0, python) for python in (None, True, False)]
    by_choice, as_python, compiled, long = ran(tmp_path, *calls, (name, 1000.0, None))
    events, interpreted, jobs, stored = by_choice
    assert interpreted == events
    assert stored == 0  # nothing was compiled, neither loop nor preparation
    assert as_python == by_choice
    assert compiled[0] == events
    assert compiled[1] == (0 if name == "first-fit" else 300)  # an author's policy begins as Python
    assert compiled[2] == jobs
    assert compiled[3] > 0
    assert long[1] == compiled[1]
    assert long[0] > 100_000
