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
import json
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from theory.instance import additive

scenario = LossScenario(additive([3], [[1], [2]], workload=[2, 1]), servers=20, until={until}, warmup=1.0)
run = run_once(policy({name!r}), scenario, 5, python={python})
print(json.dumps([run.events, run.interpreted, run.measures.jobs.tolist()]))
"""


def ran(folder: Path, name: str, until: float, python: bool | None) -> Any:
    """Run in a process of its own with a cache of its own; return events, events as Python and the mean jobs."""
    code = RUN.format(name=name, until=until, python=python)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["first-fit", f"{EXAMPLES / 'own_policies.py'}:WORST_FIT"], ids=["ours", "own"])
def test_the_path_is_the_same_however_it_runs(name: str, tmp_path: Path) -> None:
    events, interpreted, jobs = ran(tmp_path, name, 20.0, None)
    assert interpreted == events
    assert not list(tmp_path.rglob("*.nb*"))  # nothing was compiled, neither loop nor preparation
    assert ran(tmp_path, name, 20.0, True) == [events, events, jobs]
    compiled = ran(tmp_path, name, 20.0, False)
    assert compiled[0] == events
    assert compiled[1] == (0 if name == "first-fit" else 300)  # an author's policy begins as Python
    assert compiled[2] == jobs
    assert list(tmp_path.rglob("*.nbc"))
    long = ran(tmp_path, name, 1000.0, None)
    assert long[1] == compiled[1]
    assert long[0] > 100_000
