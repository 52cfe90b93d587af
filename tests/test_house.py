"""The house: imports run one way, no folder imports one that imports it, and commands load no more than they need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from importlinter import cli

import packproof
from tests.tools.source import Source

ROOT = Path(__file__).parent.parent
FILES = [path for floor in ("theory", "fluid", "bounds") for path in (ROOT / floor).rglob("*.py")]
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in FILES}


@cache
def source(path: Path) -> Source:
    """Return a file of the house, which is parsed once."""
    return Source(path)


def folders_imported(path: Path) -> set[str]:
    """Return the folders from which a file imports."""
    found = set()
    for node in source(path).nodes:
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


@pytest.mark.slow
def test_no_cycle_between_folders() -> None:
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        home = ".".join(path.parent.relative_to(ROOT).parts)
        arrows.setdefault(home, set()).update(folders_imported(path) - {home})
    assert not in_a_cycle(arrows)


@pytest.mark.slow
def test_no_cycle_between_files() -> None:
    """Imports within functions count; those for types alone do not."""
    arrows = {}
    for path in FILES:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        arrows[name] = files_imported(path, MODULES) - {name}
    assert arrows["bounds.views.simulation"] > {"bounds.views.panels", "theory.greedy.optimal"}  # the latter is lazy
    assert not in_a_cycle(arrows)


def files_imported(path: Path, names: Collection[str]) -> set[str]:
    """Return the modules that a file imports, and packages where names are taken from them."""
    found: set[str] = set()
    waiting: list[ast.AST] = [source(path).tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module in names:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in names} or {node.module}
        waiting += ast.iter_child_nodes(node)
    return found


def in_a_cycle(arrows: Mapping[str, set[str]]) -> list[str]:
    """Return what is reached from itself."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(arrows[start])
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen.add(place)
                waiting += arrows.get(place, ())
        return seen

    return [place for place in arrows if place in reached(place)]


FOREIGN = frozenset({"numba", "llvmlite", "highspy", "joblib", "numpy", "scipy", "matplotlib", "sympy", "cvxpy"})


@pytest.mark.slow
def test_functions_are_short() -> None:
    """Functions have at most 60 lines of code; the checker, which runs alone, is one file."""
    long = {
        f"{path.relative_to(ROOT)}:{function.name}"
        for path in FILES
        if path.name != "checker.py"
        for function in source(path).functions
        if (function.end_lineno or 0) - function.lineno >= 60 and source(path).length(function) > 60
    }
    assert not long


CHANGED = {"parallel.py process_executor._MEMORY_LEAK_CHECK_DELAY"}
"""Loky has no public option for how often its workers look at their memory; it is set in workers of packproof alone."""


WITH_DOORS = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for floor in ("theory", "fluid", "bounds")
    for path in (ROOT / floor).rglob("__init__.py")
    if "= doors(" in path.read_text(encoding="utf-8")
)
"""Packages whose public names are loaded on first use."""


@pytest.mark.parametrize("package", WITH_DOORS)
def test_every_public_name_is_found(package: str) -> None:
    """A name that a package lists is in the module that it says, which loads on first use."""
    room = import_module(package)
    missing = [name for name in room.__all__ if not hasattr(room, name)]
    assert not missing


@pytest.mark.slow
def test_no_package_is_changed() -> None:
    assert {line for path in FILES for line in source(path).changes_of_packages(FOREIGN)} <= CHANGED


def test_the_measures_notice(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text("import numba.core as core\nfound = 1  # a comment\ncore.flag = found if found.ndim else 2\n")
    example = Source(file)
    assert list(example.changes_of_packages(FOREIGN)) == ["example.py core.flag"]
    assert len(example.code) == 3


def test_functions_of_the_policies_ask_for_no_number_of_dimensions() -> None:
    """A flag with a name says which form a state has (validation and unpacking of arrays may ask)."""
    rooms = [path for path in FILES if "policies" in path.parts or path.name == "loop.py"]
    assert not [f"{path.name}:{line}" for path in rooms for line in source(path).switches_on_dimensions()]


HEAVY = {"numba", "highspy", "matplotlib", "scipy", "numpy", "sympy"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "most", "free_of"),
    [
        ("check tests/frozen/certificates/solve_two.json", 42, HEAVY | {"numpy"}),
        ("check tests/frozen/certificates/region_ec2.json", 42, HEAVY | {"numpy"}),
        ("verify autoscaling/introduction", 82, {"matplotlib", "sympy"}),
        ("solve examples/four_types.toml", 80, {"matplotlib", "sympy"}),
        (
            "simulate examples/four_types.toml --policy first-fit --servers 9 --until 5",
            80,
            {"matplotlib", "sympy", "highspy", "fluid.traces", "fluid.simulation.queue", "fluid.simulation.slotted"},
        ),
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
        assert all(name.startswith(("bounds.results.autoscaling", "bounds.results.instances")) for name in others)


def test_no_solver_stops_by_the_clock() -> None:
    """A limit of time that nobody gave would make an answer depend on how busy the machine is."""
    option = re.compile(r'(?<!ArgumentError\()"time_limit",')  # of a solver, rather than the name of a wrong argument
    assert option.search('solver.setOptionValue("time_limit", 5)')
    assert not [path for path in FILES if option.search(path.read_text())]


def test_another_package_of_that_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds" / "__init__.py").write_text("")
    path = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]"
    code = f"{path}; import packproof; packproof.check"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install packproof without --editable" in done.stderr.splitlines()[-1]
    assert "AttributeError" not in done.stderr


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_packproof_or_a_room(example: Path) -> None:
    named = {node.module for node in ast.walk(ast.parse(example.read_text())) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in named if module and module.split(".")[0] in {"theory", "fluid", "bounds", "packproof"}}
    assert ours <= {"packproof", *(f"packproof.{room}" for room in packproof.ROOMS)}
