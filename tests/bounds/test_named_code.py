"""A file runs no code by itself: policies of its own that a grid names run where the command line allows it."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from fluid.experiment.grid import LEAVE_OUT, RUN, read_grid
from tests.instances import ONE
from theory.errors import InputError, quoted

ROOT = Path(__file__).parents[2]
MODULE = """
from pathlib import Path
from packproof import Policy, policy

first_fit = policy("first-fit")
Path(__file__).with_suffix(".mark").touch()
functions = (first_fit.prepare, first_fit.place, first_fit.depart, first_fit.refresh)
MINE = Policy("mine", "loss", *functions, options=("keep",))
"""
AT_THE_TOP = 'instance = "one.toml"\nuntil = 3\nservers = 2\npolicy = "{}"\n'
VARIED = 'instance = "one.toml"\nuntil = 3\nservers = 2\nreplications = 2\n[vary]\npolicy = ["power-of-d", "{}"]\n'
OPTIONS = VARIED + "keep = [1, 2]\nd = [1, 2]\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.toml").write_text(ONE)
    (tmp_path / "own").mkdir()
    for name in ("own_code.py", "own/code.py", "own/__init__.py"):
        (tmp_path / name).write_text(MODULE)
    return tmp_path


def marks(here: Path) -> list[str]:
    return sorted(path.name for path in here.rglob("*.mark"))


NAMES = ("own_code.py:MINE", "own_code:MINE", "own.code:MINE", "./own_code.py:MINE", "own/code.py:MINE")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [AT_THE_TOP, VARIED, OPTIONS])
def test_a_grid_that_names_code_is_refused(
    name: str, text: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "grid.toml").write_text(text.format(name))
    assert run(["experiment", "grid.toml", "--store", "s.db"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"grid.toml names code of its own, {name}; --allow-code runs it\n"
    assert (marks(here), list(here.glob("s.db*"))) == ([], [])
    with pytest.raises(InputError, match="names code of its own"):
        read_grid("grid.toml")
    assert not marks(here)


@pytest.mark.parametrize("name", NAMES)
def test_what_runs_nothing_loads_nothing(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "grid.toml").write_text(OPTIONS.format(name))
    line = f"runs no code: nothing is known of {name}, code of the grid's own\n"
    assert run(["experiment", "grid.toml", "--number", "list", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == f"grid.toml: --number list {line}"
    assert "reward" in json.loads(shown.out)
    assert run(["experiment", "grid.toml", "--store", "s.db", "--status", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == f"grid.toml: --status {line}"
    answer = json.loads(shown.out)
    assert [answer[name] for name in ("cells", "finished", "unknown")] == [16, 0, 8]
    unknown = [point for point in answer["points"] if point["finished"] is None]
    assert [point["parameters"]["policy"] for point in unknown] == [name] * 4
    assert run(["experiment", "grid.toml", "--store", "s.db", "--status"]) == 0
    assert capsys.readouterr().out.startswith("0 of 8 cells of the grid are finished; nothing is known of 8 cells ")
    assert (marks(here), list(here.glob("s.db*"))) == ([], [])


def test_a_grid_of_code_alone_is_unknown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "grid.toml").write_text(AT_THE_TOP.format(NAMES[0]))
    assert run(["experiment", "grid.toml", "--number", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run(["experiment", "grid.toml", "--store", "s.db", "--status"]) == 0
    assert "0 of 0 cells of the grid are finished; nothing is known of 1 cell " in capsys.readouterr().out
    assert not marks(here)


def test_code_that_is_allowed_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of cells that are known, those that have run are told from others as where all is known."""
    (here / "grid.toml").write_text(OPTIONS.format(NAMES[0]))
    assert run(["experiment", "grid.toml", "--store", "s.db", "--workers", "1", "--allow-code", "--json"]) == 0
    shown = capsys.readouterr()
    assert "not used" not in shown.err
    assert json.loads(shown.out)["finished"] == 16
    assert marks(here) == ["own_code.mark"]
    assert run(["experiment", "grid.toml", "--store", "s.db", "--status", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [answer[name] for name in ("cells", "finished", "unknown", "events_left")] == [16, 8, 8, 0]
    every, known = read_grid("grid.toml", code=RUN), read_grid("grid.toml", code=LEAVE_OUT)
    assert {cell.key for cell in known.cells} < {cell.key for cell in every.cells}
    assert every.number_of_cells == known.number_of_cells == 16


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--store", "s.db", "--status", "--allow-code"], "--allow-code: "),
        (["--number", "list", "--allow-code"], "--allow-code: "),
    ],
)
def test_nothing_is_allowed_where_nothing_runs(
    words: list[str], expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "grid.toml").write_text(VARIED.format(NAMES[0]))
    assert run(["experiment", "grid.toml", *words]) == 2
    assert capsys.readouterr().err.startswith(expected)
    assert not marks(here)


def test_a_permission_that_is_not_used_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "grid.toml").write_text(AT_THE_TOP.format("first-fit"))
    assert run(["experiment", "grid.toml", "--store", "s.db", "--workers", "1", "--allow-code"]) == 0
    assert "grid.toml: --allow-code: not used, the grid names no code of its own\n" in capsys.readouterr().err


def test_a_word_that_only_code_could_read_is_refused_where_there_is_none(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "grid.toml").write_text(OPTIONS.format("first-fit"))
    for words in (["--number", "list"], ["--store", "s.db", "--status"]):
        assert run(["experiment", "grid.toml", *words]) == 2
        assert "grid.toml: vary.keep: unknown field" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["simulation", "arrivals", "top"])
def test_instances_name_no_policy(place: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = NAMES[0]
    text = {
        "simulation": f'{ONE}[simulation]\npolicy = "{name}"\n',
        "arrivals": f'{ONE}[simulation]\narrivals = {{ trace = "{name}" }}\n',
        "top": f'policy = "{name}"\n{ONE}',
    }[place]
    (here / "one.toml").write_text(text)
    assert run(["simulate", "one.toml", "--policy", "first-fit", "--servers", "2", "--until", "3"]) == 2
    assert run(["solve", "one.toml"]) in (0, 2)
    assert capsys.readouterr().err.count("\n") <= 2
    assert not marks(here)


@pytest.mark.slow
def test_a_folder_does_not_say_where_machine_code_is_loaded_from(tmp_path: Path) -> None:
    """The settings of numba in the working folder, of which two name what is loaded."""
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./theirs\ncache_locator_classes: their_module.Locator\n")
    (tmp_path / "four.toml").write_text((ROOT / "examples" / "four_types.toml").read_text())
    code = (
        "from bounds.cli import run; run(['example', 'list']); from numba.core import config; "
        "print(repr((config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES)))"
    )
    settings = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    called: Any = {"cwd": tmp_path, "env": {**settings, "PYTHONPATH": str(ROOT)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code], check=True, **called)
    assert done.stdout.splitlines()[-1] == "('', '')"
    # what a user has in the environment stays
    called["env"]["NUMBA_CACHE_DIR"] = str(tmp_path / "mine")
    done = subprocess.run([sys.executable, "-c", code], check=True, **called)
    assert f"{tmp_path / 'mine'}" in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_what_may_run_code_or_reach_a_network_is_known() -> None:
    """All places that load code or pickles, or open a connection, by file: a new one has to be looked at."""
    risky = {
        "eval", "exec", "compile", "__import__", "import_module", "exec_module", "loads of pickle", "load of pickle",
        "load of np", "system", "Popen", "socket", "urllib.request", "http.client", "subprocess", "yaml", "marshal",
    }  # fmt: skip
    # a file without these words has no such place, and is not parsed
    names = sorted({word.partition(" of ")[0].rpartition(".")[2] for word in risky})
    written = re.compile(rf"\b(?:{'|'.join(names)})\b")
    places: dict[str, set[str]] = {}
    for folder in ("theory", "fluid", "bounds"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if not written.search(text):
                continue
            for node in ast.walk(ast.parse(text)):
                for word in _words(node):
                    if word in risky:
                        places.setdefault(path.relative_to(ROOT).as_posix(), set()).add(word)
    known = {
        "theory/doors.py": {"import_module"},  # modules of packproof
        "theory/files/code.py": {"import_module", "exec_module"},  # code that the command line names, or allows
        "fluid/experiment/store.py": {"import_module"},  # msvcrt
        "fluid/experiment/replications.py": {"load of np"},
        "fluid/admission/simulation/replications.py": {"load of np"},
        "fluid/parallel.py": {"loads of pickle", "socket"},  # workers
        "bounds/adversary/contained.py": {"loads of pickle"},  # memory that two of our processes share
    }
    assert {path: words for path, words in places.items() if not words <= known.get(path, set())} == {}
    for path in ("fluid/experiment/replications.py", "fluid/admission/simulation/replications.py"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert text.count("np.load(") == text.count("allow_pickle=False")


def _words(node: ast.AST) -> Iterator[str]:
    """Yield what a call or an import is called."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.attr if node.func.attr not in ("compile", "eval", "load", "loads") else ""
        if isinstance(node.func.value, ast.Name):
            yield f"{node.func.attr} of {node.func.value.id}"


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", 'a"><img src=x onerror=alert(1)>', "]]><svg onload=f()>"]
)
def test_names_are_escaped_in_a_report(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = {
        "server": {"capacity": {name: 4}},
        "type": [{"name": name, "demand": {name: 1}, "reward": 1, "workload": 3}],
    }
    (here / "named.json").write_text(json.dumps(table))
    assert run(["solve", "named.json", "--json"]) == 0
    (here / "answer.json").write_text(capsys.readouterr().out)
    assert run(["report", "answer.json", "--out", "page.html"]) == 0
    page = (here / "page.html").read_text()
    shown = html.escape(quoted(name)).partition(" ")[0]  # with quotation marks where it has signs of other things
    assert shown in page.replace("&#34;", "&quot;")
    assert not any(part in page for part in ("<script>alert", "<img src=x", "<svg onload"))
