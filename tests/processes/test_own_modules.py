"""An author's code with neighbours and in packages: here, in workers of a grid, and from another folder."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from bounds.adversary.rules import rule_named
from bounds.cli import run
from fluid.parallel import run_all
from fluid.simulation.policy_names import policy
from theory.errors import InputError
from theory.files.places import names_own_code

ROOT = Path(__file__).parent.parent.parent
INSTANCE = (
    "[server]\ncapacity = { cpu = 12 }\n[[type]]\nname = 'small'\ndemand = { cpu = 5 }\nreward = 1\nworkload = 1\n"
)
TOOLS = """
from fluid.simulation import fits
def first_with_room(state, job_type, draws):
    for server in range(len(state.counts)):
        if fits(state, server, job_type):
            return server
    return -1
"""
POLICY = """
from packproof import Policy
from fluid.simulation import Common, common, nothing_to_depart, nothing_to_refresh
from {home} import first_with_room
def prepare(setting):
    return Common(**common(setting))
TETRIS = Policy("tetris", "loss", prepare, first_with_room, nothing_to_depart, nothing_to_refresh)
"""
RULE = """
from {home} import opened
def next_fit(items, capacity):
    return opened(items, capacity)
"""
HELPER = """
def opened(items, capacity):
    return list(range(len(items)))
"""
GRID = """
instance = "small.toml"
servers = 2
replications = 2
until = 20
warmup = 2
[vary]
policy = ["{policy}", "first-fit"]
workload = [0.8]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package, a file with a neighbour, and an instance; names differ between tests."""
    for name in [name for name in sys.modules if name.startswith("own_")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", list(sys.path))
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "own_tools.py").write_text(TOOLS)
    (package / "policies.py").write_text(POLICY.format(home=".own_tools"))
    (package / "rules.py").write_text(RULE.format(home=".helper"))
    (package / "helper.py").write_text(HELPER)
    (tmp_path / "own_tools.py").write_text(TOOLS)
    (tmp_path / "policy.py").write_text(POLICY.format(home="own_tools"))
    (tmp_path / "own_rules.py").write_text(RULE.format(home="own_helper"))
    (tmp_path / "own_helper.py").write_text(HELPER)
    (tmp_path / "small.toml").write_text(INSTANCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["policy.py:TETRIS", "own_package.policies:TETRIS"])
def test_a_policy_with_neighbours(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "small.toml", "--policy", name, "--servers", "2", "--until", "20", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["policy"] == "tetris"
    inputs = {os.path.relpath(path) for path in answer["made"]["inputs"]}
    if name.startswith("policy"):
        assert inputs == {"small.toml", "policy.py", "own_tools.py"}
    else:
        assert inputs == {"small.toml", *(f"own_package/{file}.py" for file in ("__init__", "policies", "own_tools"))}
    chosen = policy(name)
    assert pickle.loads(pickle.dumps(chosen)).code == chosen.code
    # another folder, in a process that has never seen the code
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).code)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(chosen),
        capture_output=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert done.stdout.decode().strip() == chosen.code
    # the text of a neighbour counts, and a process that has the other text refuses
    tools = home / ("own_tools.py" if name.startswith("policy") else "own_package/own_tools.py")
    tools.write_text(TOOLS + "# changed\n")
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(chosen),
        capture_output=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert b"its code, or that of a module it imports, is not what it was" in done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("policy.py", "expected FILE.py:NAME, got"),
        ("own_package.policies", "expected PACKAGE.MODULE:NAME, got"),
        ("tetris", "fifo-ff, FILE.py:NAME or PACKAGE.MODULE:NAME, got"),
    ],
)
def test_a_name_that_is_left_out(name: str, expected: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "small.toml", "--policy", name, "--servers", "2", "--until", "20"]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("name", ["policy.py:TETRIS", "own_package.policies:TETRIS"])
def test_workers_of_a_grid_find_them(
    name: str, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "grid.toml").write_text(GRID.format(policy=name))
    # the workers began in another folder: here, or in that of an earlier test, which may be gone
    monkeypatch.chdir("/")
    folders = {folder for _, folder in run_all(os.path.realpath, [("/proc/self/cwd",)] * 4, workers=2)}
    assert str(home) not in folders
    monkeypatch.chdir(home)
    assert run(["experiment", "grid.toml", "--allow-code", "--store", "runs.db", "--workers", "2", "--json"]) == 0, (
        capsys.readouterr()
    )
    assert name in capsys.readouterr().out


def test_a_process_whose_folder_is_gone_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a worker that began in a folder of an earlier command; Python's own modules have no file to look for."""
    (tmp_path / "mine.py").write_text("import sys, json, beside\nfrom packproof import policy\nMINE = policy('dra')\n")
    (tmp_path / "beside.py").write_text("import sys\n")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert policy(f"{tmp_path}/mine.py:MINE").code


def test_workers_of_dask_find_them(dask_engine: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The workers of dask began in another folder, and read the package from the one where it was named."""
    (home / "grid.toml").write_text(GRID.format(policy="own_package.policies:TETRIS"))
    answers = []
    for engine in ("local", dask_engine):
        store = f"{engine[:3]}.db"
        assert run(["experiment", "grid.toml", "--allow-code", "--store", store, "--engine", engine, "--json"]) == 0, (
            capsys.readouterr()
        )
        answer = json.loads(capsys.readouterr().out)
        assert answer["cells"] == answer["finished"] == 4
        answers.append(answer["groups"])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", ["own_rules.py:next_fit", "own_rules:next_fit", "own_package.rules:next_fit"])
def test_rules_in_packages(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["attack", name, "--kind", "items", "--bins", "2", "--items", "4", "--evaluations", "20"]
    assert run([*command, "--json"]) == 0
    first = capsys.readouterr().out
    assert '"evaluations"' in first
    assert run([*command, "--starts", "2", "--workers", "2", "--store", "worst.db"]) == 0
    assert len(rule_named(name)([(1,), (1,)], (2,))) == 2
    assert len(pickle.loads(pickle.dumps(rule_named(name)))([(1,)], (2,))) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_nothing:f", "expected FILE.py:NAME, or PACKAGE.MODULE:NAME of a module that Python finds"),
        ("own_package.none:f", "got 'own_package.none', which it does not find"),
        ("own_package/rules.py:next_fit", "name it as PACKAGE.MODULE:NAME"),
        ("own_rules:none", "expected the name of one of its functions (next_fit"),
        ("own_broken:f", "own_broken:2: does not run: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_imported_is_told_in_one_line(
    name: str, said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "own_broken.py").write_text("\n1 / 0\n")
    assert run(["attack", name, "--kind", "items", "--evaluations", "5"]) == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert "\n" not in error


def test_a_neighbour_that_another_module_hides_is_refused(home: Path) -> None:
    assert policy("policy.py:TETRIS").name == "tetris"
    other = home / "other"
    other.mkdir()
    (other / "own_tools.py").write_text(TOOLS)
    (other / "policy.py").write_text(POLICY.format(home="own_tools"))
    with pytest.raises(InputError, match=r"imports own_tools, and .* of the same name is loaded already: rename"):
        policy("other/policy.py:TETRIS")


def test_the_text_of_the_package_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = policy("own_package.policies:TETRIS").code
    (home / "own_package" / "__init__.py").write_text("SEEN = 1\n")
    for name in [name for name in sys.modules if name.startswith("own_")]:
        monkeypatch.delitem(sys.modules, name)
    (home / "other").mkdir()
    monkeypatch.chdir(home / "other")  # a working folder of its own: nothing is cached for it
    assert policy(f"{home}/own_package.policies:TETRIS").code != before


def test_a_module_that_has_changed_since_it_was_imported_is_refused(home: Path) -> None:
    assert policy("own_package.policies:TETRIS").name == "tetris"
    file = home / "own_package" / "policies.py"
    file.write_text(file.read_text().replace('"tetris"', '"other"'))
    with pytest.raises(InputError, match="has changed since Python imported it: start Python again"):
        policy("own_package.policies:TETRIS")


def test_names_of_code() -> None:
    own = ["a.py:B", "pkg.mod:B", "/some/folder/pkg.mod:B", "mod:B"]
    others = ["first-fit", "vqs:list", "dask://host:8786", "aws:m5.*", ":B", "a:"]
    assert [names_own_code(name) for name in own + others] == [True] * 4 + [False] * 6
