"""Stores tell runs apart by the code of an author's policy: its file and all that it runs, wherever that lies."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fluid.experiment import keys
from fluid.experiment.grid import RUN, read_grid
from fluid.experiment.replications import simulate_stored
from fluid.experiment.store import Store
from fluid.simulation.driver import simulate
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy, sent_policy
from theory.errors import InputError
from theory.instance import additive
from theory.version import versions

ROOT = Path(__file__).parents[2]
POLICY = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
{imports}
from fluid.simulation import Common, common, fits, nothing_to_depart, nothing_to_refresh
from packproof import Policy

def prepare(setting):
    {lazily}
    return Common(**common(setting))

def place(state, job_type, draws):
    for server in range({first}, len(state.counts)):
        if fits(state, server, job_type):
            return server
    return -1

MINE = Policy("mine", "loss", prepare, place, nothing_to_depart, nothing_to_refresh)
"""
PRINT = """
import os, sys
from fluid.simulation.policy_names import policy
for place in sys.argv[1:]:
    if not (child := os.fork()):
        print(policy(place + "/mine.py:MINE").code, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def write(folder: Path, files: dict[str, str], imports: str = "", lazily: str = "pass", first: str = "0") -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(POLICY.format(imports=imports, lazily=lazily, first=first))


def digests(*folders: Path) -> list[str]:
    """Return the digests as new processes have them, each of which has loaded nothing of a user's before."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PRINT, *map(str, folders)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


CASES: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "a helper": ({"imports": "import aid", "first": "aid.FIRST"}, {"aid.py": "FIRST = 0\n"}, "aid.py"),
    "a constant by its name": (
        {"imports": "from aid import FIRST", "first": "FIRST"},
        {"aid.py": "FIRST = 0\n"},
        "aid.py",
    ),
    "a closure": (
        {"imports": "from aid import closed\nfirst = closed()", "first": "first()"},
        {"aid.py": "def closed():\n    number = 0\n    return lambda: number\n"},
        "aid.py",
    ),
    "a module of a package": (
        {"imports": "from parts.deep import one"},
        {"parts/__init__.py": "", "parts/deep/__init__.py": "", "parts/deep/one.py": "FIRST = 0\n"},
        "parts/deep/one.py",
    ),
    "the front of a package": (
        {"imports": "import parts.one"},
        {"parts/__init__.py": "A = 0\n", "parts/one.py": ""},
        "parts/__init__.py",
    ),
    "a relative import": (
        {"imports": "from parts import one"},
        {"parts/__init__.py": "", "parts/one.py": "from . import two\n", "parts/two.py": "A = 0\n"},
        "parts/two.py",
    ),
    "a package without a file": ({"imports": "import bare.one"}, {"bare/one.py": "A = 0\n"}, "bare/one.py"),
    "a helper of a helper": ({"imports": "import aid"}, {"aid.py": "import more\n", "more.py": "A = 0\n"}, "more.py"),
    "a helper that is loaded late": ({"lazily": "import aid"}, {"aid.py": "A = 0\n"}, "aid.py"),
    "a helper that is found by a computed name": (
        {"imports": "from importlib import import_module\naid = import_module('a' + 'id')"},
        {"aid.py": "A = 0\n"},
        "aid.py",
    ),
    "a helper that no list of modules has": (
        {
            "imports": "from importlib.util import module_from_spec, spec_from_file_location\n"
            "spec = spec_from_file_location('aid', Path(__file__).parent / 'odd.py')\n"
            "aid = module_from_spec(spec)\nspec.loader.exec_module(aid)\nfirst = aid.first\ndel aid, spec"
        },
        {"odd.py": "def first():\n    return 0\n"},
        "odd.py",
    ),
    "the file itself": ({}, {}, "mine.py"),
}


PLACES = ("here", "elsewhere", "changed")


@pytest.fixture(scope="module")
def digests_of_cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the digests of each case at each of `PLACES`."""
    folders = []
    for case, (how, files, changed) in CASES.items():
        place = tmp_path_factory.mktemp(case.replace(" ", "-"))
        for name in PLACES:
            write(place / name, {"unrelated.py": f"A = {name!r}\n", **files}, **how)
            folders.append(place / name)
        (place / "changed" / changed).write_text((place / "changed" / changed).read_text() + "\nB = 1\n")
    found = digests(*folders)
    assert len(found) == len(folders)
    return {case: found[3 * i : 3 * i + 3] for i, case in enumerate(CASES)}


@pytest.mark.parametrize("case", CASES)
def test_what_the_policy_runs_counts_and_its_folder_does_not(case: str, digests_of_cases: dict[str, list[str]]) -> None:
    here, elsewhere, changed = digests_of_cases[case]
    assert here == elsewhere
    assert here != changed


def grid_in(folder: Path, name: str = "mine.py:MINE") -> Path:
    grid = folder / "g.toml"
    instance = ROOT / "examples" / "four_types.toml"
    grid.write_text(f'instance = "{instance}"\nuntil = 5\nservers = 3\npolicy = "{name}"\n')
    return grid


def test_keys_of_cells_hold_code_and_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "elsewhere"):
        write(tmp_path / name, {})
    write(tmp_path / "changed", {}, lazily="len('')")
    keys = [read_grid(grid_in(tmp_path / name), code=RUN).cells[0].key for name in ("here", "elsewhere", "changed")]
    assert keys[0] == keys[1] != keys[2]
    for changed in ("packproof", "numpy", "numba"):
        other = versions() | {changed: "0.0"}
        monkeypatch.setattr("fluid.experiment.keys.versions", lambda other=other: other)
        assert read_grid(grid_in(tmp_path / "here"), code=RUN).cells[0].key != keys[0]


def test_replications_are_told_apart_by_code_and_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = LossScenario(additive([6], [[4], [1]], workload=["1/2", 1]), 2, 5.0, 1.0)
    first_fit = policy("first-fit")

    def rows(found: Any) -> int:
        with Store(tmp_path / "s.db") as opened:
            simulate_stored(opened, found, scenario, replications=1, seed=0, workers=1)
        with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
            return int(connection.execute("select count(*) from results").fetchone()[0])

    mine = replace(first_fit, source="mine.py:MINE", code="a")
    assert [rows(mine), rows(mine)] == [1, 1]
    assert rows(replace(mine, source="elsewhere/mine.py:MINE")) == 1
    assert rows(replace(mine, code="b")) == 2
    monkeypatch.setattr(keys, "versions", lambda: {"packproof": "0.0"})
    assert rows(mine) == 3
    with pytest.raises(InputError, match="store: expected a policy by its name"):
        rows(replace(first_fit, source=""))


def test_a_worker_with_other_code_is_refused(tmp_path: Path) -> None:
    """A worker that began before a change has the old code, and would give its numbers for the new one's."""
    write(tmp_path, {})
    name = str(tmp_path / "mine.py:MINE")
    assert sent_policy(name, "/", policy(name).code).name == "mine"
    with pytest.raises(InputError, match="its code, or that of a module it imports, is not what it was"):
        sent_policy(name, "/", "0" * 64)


def test_what_is_loaded_only_as_it_runs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the text names is in the digest, wherever it stands; what it computes a name for is named, once."""
    scenario = LossScenario(additive([6], [[4], [1]], workload=["1/2", 1]), 2, 5.0, 1.0)
    late = "import named_late_by_a_test; __import__('computed_late_by_' + 'a_test')"
    write(tmp_path, {f"{name}_late_by_a_test.py": "A = 0\n" for name in ("named", "computed")}, lazily=late)
    name = str(tmp_path / "mine.py:MINE")
    for _ in range(2):
        simulate(policy(name), scenario)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"{name}: loads {tmp_path / 'computed_late_by_a_test.py'} only as it runs, ")


def test_the_text_of_a_loaded_module_is_what_was_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, {"aid_of_a_test.py": "A = 0\n"}, imports="import aid_of_a_test")
    name = str(tmp_path / "mine.py:MINE")
    first = policy(name).code
    (tmp_path / "aid_of_a_test.py").write_text("A = 1\n")
    assert policy(name).code == first, "this process runs the old text"
    assert digests(tmp_path)[0] != first
