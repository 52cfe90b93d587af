"""Foreign tools accept what is true and refuse what is false: twenty exported certificates of each sort a tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from bounds.exports import FORMATS, export
from tests.foreign.certificates import ALTERATIONS, false_ones, true_ones
from tests.foreign.tools import TOOLS, Tool


@pytest.fixture(params=TOOLS, ids=lambda tool: f"{tool.name}, {tool.form}")
def tool(request: pytest.FixtureRequest) -> Tool:
    found: Tool = request.param
    if found.command() is None:
        pytest.skip(f"{found.name} is not installed (make foreign installs it where it can)")
    return found


def folder_of(tmp_path: Path, number: int) -> Path:
    folder = tmp_path / str(number)
    folder.mkdir()
    return folder


def test_twenty_are_accepted(tool: Tool, tmp_path: Path) -> None:
    for number, document in enumerate(true_ones(tool.form)):
        files = export(document, tool.form)
        assert tool.accepts(files, folder_of(tmp_path, number)), (document["kind"], number)


def test_twenty_altered_ones_are_refused(tool: Tool, tmp_path: Path) -> None:
    for number, (what, document) in enumerate(false_ones(tool.form)):
        files = export(document, tool.form)
        assert not tool.accepts(files, folder_of(tmp_path, number)), (what, number)


def test_every_kind_of_a_format_is_tried() -> None:
    assert {form: tuple(kinds) for form, kinds in ALTERATIONS.items()} == {form: FORMATS[form] for form in ALTERATIONS}
    assert set(ALTERATIONS) == set(FORMATS) == {tool.form for tool in TOOLS}
