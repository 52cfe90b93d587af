"""The wheel installs one import package: it works in a folder whose files have the names of the checkout's folders."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GRID = """
instance = "types.toml"
servers = 4
until = 5
replications = 2

[vary]
policy = ["first-fit", "mine.py:WORST_FIT"]
"""
TEST = """
from packproof.testing import instances
from hypothesis import given

@given(instances())
def test_types(instance):
    assert instance.types
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the contents of the wheel, built from the files under version control alone."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


@pytest.fixture
def run_there(installed: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Return a function that runs Python with the wheel's contents in a user's folder, as Python unless it compiles."""
    for name in ("theory", "fluid", "bounds", "examples", "tests"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the user was imported')")

    def run(*words: str, compiles: bool = False) -> str:
        python = {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": ""}
        environment = {**os.environ, **python, "NUMBA_DISABLE_JIT": "0" if compiles else "1"}
        called = [sys.executable, *words]
        return subprocess.run(
            called, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True
        ).stdout

    return run


def test_there_is_one_name_at_top_level(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} == {"packproof"}
    texts = [path.read_text() for path in installed.rglob("*.py")]
    assert not [text for text in texts if "\nfrom theory" in text or ">>> from fluid" in text]
    assert (installed / "packproof" / "py.typed").is_file()


def test_names_and_rooms(run_there) -> None:  # type: ignore[no-untyped-def]
    code = """if True:
        import packproof, packproof.sharing
        from packproof.testing import assert_keeps
        print(packproof.solve(packproof.additive([12], [[5], [7]])).ratio, packproof.sharing.drf.__module__)
        for name in packproof.__all__:
            getattr(packproof, name)
    """
    assert run_there("-c", code) == "3/4 packproof.theory.sharing.dominant\n"


def test_compiled_code(run_there) -> None:  # type: ignore[no-untyped-def]
    """What is compiled in an install is one kernel here; `.ci/smoke` compiles what the commands need."""
    code = """if True:
        import numpy as np
        from packproof.theory.compiled import is_stored
        from packproof.theory.exact.knapsack.tables import table_strides
        print(table_strides(np.array([2, 3, 4])), is_stored(table_strides))
    """
    assert run_there("-c", code, compiles=True) == "[60 20  5  1] True\n"


def test_commands(run_there, installed: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "types.toml").write_text(run_there("-m", "packproof", "example", "four_types.toml"))
    assert "449/515" in run_there("-m", "packproof", "solve", "types.toml", "--certificate", "c.json")
    assert "valid" in run_there("-I", "-S", str(installed / "packproof" / "bounds" / "checker.py"), "c.json")
    assert "HOLDS" in run_there("-m", "packproof", "verify", "def-3.8-three-types")


def test_own_code(run_there, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """An author's policy runs in workers, and tests of a user are collected."""
    for name, file in (("types.toml", "four_types.toml"), ("mine.py", "own_policies.py")):
        (tmp_path / name).write_text(run_there("-m", "packproof", "example", file))
    (tmp_path / "grid.toml").write_text(GRID)
    grid = run_there("-m", "packproof", "experiment", "grid.toml", "--allow-code", "--store", "s.db", "--workers", "2")
    assert "mine.py:WORST_FIT" in grid
    (tmp_path / "test_mine.py").write_text(TEST)
    assert "1 passed" in run_there("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "test_mine.py")
