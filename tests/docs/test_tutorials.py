"""Tutorials: each ends with what was learned, hides its set-up, prints values, and describes its pictures in words."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

jupytext = pytest.importorskip("jupytext")
DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in (DOCS / "tutorials").glob("*.md") if page.stem != "index")


def cells(page: Path) -> list[Any]:
    """Return the cells of code that a reader sees."""
    notebook = jupytext.reads(page.read_text(encoding="utf-8"), fmt="md:myst")
    return [cell for cell in notebook.cells if cell.cell_type == "code" and "tags" not in cell.metadata]


def last_expression(source: str) -> str:
    """Return the last statement of a cell if it is an expression, whose value a notebook would show."""
    code = "\n".join(line for line in source.splitlines() if not line.startswith(("!", "%")))
    body = ast.parse(code).body
    return ast.unparse(body[-1]) if body and isinstance(body[-1], ast.Expr) and not source.endswith(";") else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_ends_with_what_was_learned(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[-1] == "What you have learned"
    end = text.partition("## What you have learned")[2]
    assert end.count("\n- ") == 3
    assert len(re.findall(r"\]\([\w/.-]+\.md\)", end.partition("Two next steps:")[2])) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_cells_print_values_and_describe_pictures(page: Path) -> None:
    for cell in cells(page):
        if cell.source.startswith("%%"):
            continue
        assert "mkdtemp" not in cell.source, "set-up has the tag remove-cell"
        assert "NUMBA_DISABLE_JIT" not in cell.source
        shown = last_expression(cell.source)
        assert re.match(r"$|print\(|Image\(|picture_of", shown), f"a value is shown, not printed: {shown}"
        if "Image(" in cell.source or "plt.subplots" in cell.source:
            assert len(cell.metadata["mystnb"]["image"]["alt"].split()) >= 8


def test_what_a_cell_shows() -> None:
    assert last_expression("!packproof solve\nx = 1\nx, 2") == "(x, 2)"
    assert not last_expression("x = 1")
    assert not last_expression("ax.legend();")


@pytest.fixture
def notebooks() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    from generate import notebooks

    yield notebooks
    sys.path.remove(str(DOCS))


def test_commands_of_tutorials_show_no_versions(
    notebooks: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DOCS.parent)  # the start of a kernel goes there, too

    class Shell:
        def var_expand(self, command: str, depth: int) -> str:
            return command if depth else ""

    shell: Any = Shell()
    exec(notebooks.STARTUP.format(root=str(DOCS.parent)), {"get_ipython": lambda: shell})
    shell.system("printf 'ratio 1\\n\\nmade by packproof 1.0.0 with numpy 2: packproof solve x\\n'")
    assert capsys.readouterr().out == "ratio 1\n"
