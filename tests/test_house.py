"""The house: imports run one way, no folder imports one that imports it, and commands load no more than they need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter import cli

import packproof

ROOT = Path(__file__).parent.parent
FILES = [path for floor in ("theory", "fluid", "bounds") for path in (ROOT / floor).rglob("*.py")]
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in FILES}


def folders_imported(path: Path) -> set[str]:
    """Return the folders from which a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                module = name if name in MODULES else node.module
                if module in MODULES:
                    is_package = (ROOT / module.replace(".", "/")).is_dir()
                    found.add(module if is_package else module.rpartition(".")[0])
    return found


def test_contracts() -> None:
    assert cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_no_cycle_between_folders() -> None:
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        home = ".".join(path.parent.relative_to(ROOT).parts)
        arrows.setdefault(home, set()).update(folders_imported(path) - {home})

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(arrows[start])
        while waiting:
            folder = waiting.pop()
            if folder not in seen:
                seen.add(folder)
                waiting += arrows.get(folder, ())
        return seen

    assert not [folder for folder in arrows if folder in reached(folder)]


HEAVY = {"numba", "highspy", "matplotlib", "scipy", "numpy", "sympy"}


@pytest.mark.parametrize(
    ("arguments", "most", "free_of"),
    [
        ("check tests/frozen/certificates/solve_two.json", 42, HEAVY),
        ("check tests/frozen/certificates/region_ec2.json", 42, HEAVY),
        ("verify autoscaling/introduction", 74, {"matplotlib", "sympy"}),
        ("solve examples/four_types.toml", 75, {"matplotlib", "sympy"}),
    ],
)
def test_a_command_loads_what_it_needs(arguments: str, most: int, free_of: set[str]) -> None:
    code = (
        f"import sys; from bounds.cli import run; assert run({arguments.split()!r}) == 0;"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & free_of
    ours = [name for name in loaded if name.partition(".")[0] in ("theory", "fluid", "bounds")]
    assert len(ours) <= most, len(ours)
    if arguments.startswith("verify autoscaling/"):
        others = [name for name in ours if name.startswith("bounds.results.") and name.count(".") > 2]
        assert all(name.startswith("bounds.results.autoscaling") for name in others)


def test_no_solver_stops_by_the_clock() -> None:
    """A limit of time that nobody gave would make an answer depend on how busy the machine is."""
    assert not [path for path in FILES if '"time_limit",' in path.read_text()]


def test_old_names_warn_and_strangers_are_told(tmp_path: Path) -> None:
    code = "import warnings; warnings.simplefilter('error'); import packproof; packproof.QueueScene"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "packproof.QueueScene is now packproof.QueueScenario" in done.stderr
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds" / "__init__.py").write_text("")
    path = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]"
    code = f"{path}; import packproof; packproof.check"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install packproof in an environment of its own" in done.stderr.splitlines()[-1]
    assert "AttributeError" not in done.stderr


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_packproof_or_a_room(example: Path) -> None:
    named = {node.module for node in ast.walk(ast.parse(example.read_text())) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in named if module and module.split(".")[0] in {"theory", "fluid", "bounds"}}
    assert ours <= set(packproof.ROOMS.values())
