"""Errors carry where they are as fields, and nothing is decided by the text of one."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds.cli.endings import status_of
from theory.errors import ArgumentError, ArgumentTooLargeError, InputError, LineError, TooLargeError, naming

HOME = Path(__file__).parents[2]
FILES = sorted(file for folder in ("theory", "fluid", "bounds") for file in (HOME / folder).rglob("*.py"))
ERRORS = ("InputError", "ArgumentError", "TooLargeError", "ArgumentTooLargeError", "PolicyError", "EngineError")

PLACED = re.compile(r"(--)?[a-z_][\w.-]*(\[\d+\])?: ")
"""A text that begins with a place: the words before its first colon have no blank."""

BY_TEXT = re.compile(r"str\((error|refusal)\)\.(startswith|removeprefix|partition|replace)|in str\(error")
"""What decides by the words of an error."""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
            yield node


def placed(code: str) -> list[str]:
    """Return the errors of a code whose place is part of their text."""
    whole = [call.args[0] for call in calls(ast.parse(code)) if len(call.args) == 1]
    parts = [text.values[0] if isinstance(text, ast.JoinedStr) else text for text in whole]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return [text for text in texts if PLACED.match(text)]


def test_the_line_is_made_of_its_fields() -> None:
    assert str(InputError("a.toml", "type[2].demand", "missing")) == "a.toml: type[2].demand: missing"
    assert str(InputError("a.toml", "", "missing")) == "a.toml: missing"
    assert (str(InputError("too hot")), InputError("too hot").place) == ("too hot", "")
    assert [InputError(place, "x").table for place in ("type[2].demand", "type web", "policy")] == [
        "type", "type", "policy"
    ]  # fmt: skip
    with pytest.raises(TypeError, match="got 4 words"):
        InputError("a", "b", "c", "d")


@pytest.mark.parametrize("kind", [InputError, TooLargeError, ArgumentError, ArgumentTooLargeError])
def test_another_process_gets_the_fields(kind: type[LineError]) -> None:
    error = pickle.loads(pickle.dumps(kind("until", "expected less").within("grid.toml")))
    assert type(error) is kind
    assert (error.source, error.place, error.problem) == ("grid.toml", "until", "expected less")


def test_a_file_is_named_once() -> None:
    error = InputError("jobs.csv:3", "time", "expected a number")
    assert str(error.within("grid.toml")) == "grid.toml: jobs.csv:3: time: expected a number"
    assert str(error.within("grid.toml").within("grid.toml")) == "grid.toml: jobs.csv:3: time: expected a number"
    assert str(error.within("jobs.csv:3").ending(" (guessed)")) == "jobs.csv:3: time: expected a number (guessed)"


def test_a_name_is_put_before_the_fields_of_a_file_alone() -> None:
    """Whatever a file is called: one named as a table is no table."""
    for error, line in (
        (InputError("sizes", "expected less"), "f: sizes: expected less"),
        (InputError("sizes.toml", "sizes", "expected less"), "sizes.toml: sizes: expected less"),
        (InputError("sizes.toml", "", "expected less"), "sizes.toml: expected less"),
        (InputError("until", "expected less"), "until: expected less"),
    ):
        with pytest.raises(InputError) as caught, naming("f", ("sizes",)):
            raise error
        assert str(caught.value) == line


def test_an_argument_is_an_option_on_the_command_line_and_a_field_in_a_grid(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = ArgumentTooLargeError("until", "3e9 jobs are expected by then")
    assert [status_of(error), status_of(error.within("grid.toml"))] == [2, 2]
    written = capsys.readouterr().err
    assert written == "--until: 3e9 jobs are expected by then\ngrid.toml: until: 3e9 jobs are expected by then\n"


@pytest.mark.slow
def test_no_place_is_part_of_a_text() -> None:
    assert placed('raise InputError(f"sizes: expected {most}")') == ["sizes: expected "]
    found = [(file.name, text) for file in FILES for text in placed(file.read_text(encoding="utf-8"))]
    assert not found


def test_nothing_is_decided_by_the_text_of_an_error() -> None:
    assert BY_TEXT.search('if str(error).startswith("--policy"):')
    found = [file.name for file in FILES if BY_TEXT.search(file.read_text(encoding="utf-8"))]
    assert found == ["endings.py", "grid.py"]  # an error of Python; whether a line names the policy already


def test_causes_are_kept() -> None:
    assert not [file.name for file in FILES if re.search(r"\bfrom None\b", file.read_text(encoding="utf-8"))]
