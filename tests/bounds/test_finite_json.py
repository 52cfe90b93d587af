"""JSON has no word for numbers that are not finite: answers have null, and options take none but limits of time."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from enum import Enum
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import application, run
from theory.files.places import json_text

EXAMPLES = Path(__file__).parents[2] / "examples"
CAUGHT = str(EXAMPLES / "caught.toml")
RULE = f"{EXAMPLES / 'rules_to_attack.py'}:first_fit"


def strictly(text: str) -> Any:
    """Parse JSON as its standard has it."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


class Result:
    """An object of an answer."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def to_json(self) -> Any:
        return {"value": self.value}


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda parts: st.lists(parts) | st.lists(parts).map(tuple) | st.dictionaries(st.text(), parts) | parts.map(Result),
    max_leaves=12,
)


def expected(value: Any) -> Any:
    """Return what a document means as JSON."""
    if isinstance(value, Result):
        return {"value": expected(value.value)}
    if isinstance(value, dict):
        return {key: expected(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [expected(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


@pytest.mark.slow
@given(documents, st.booleans())
def test_every_document_is_json(document: Any, ascii_only: bool) -> None:
    text = json_text(document, ascii_only=ascii_only)
    assert strictly(text) == expected(document)
    assert text.isascii() or not ascii_only


def numbers(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return the options of all commands that take floats, each with the rest of a command line."""
    for name, one in getattr(command, "commands", {}).items():
        yield from numbers(one, (*words, name))
    if hasattr(command, "commands"):
        return
    hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    for parameter in command.params:
        kinds = get_args(hints.get(parameter.name))[:1]
        if float in (*kinds, *get_args(kinds[0] if kinds else None)):
            rest = [
                word
                for one in command.params
                if one.required and one is not parameter
                for word in (["FILE"] if one.param_type_name != "option" else [one.opts[0], first_of(hints[one.name])])
            ]
            yield (*words, *rest), parameter.opts[0]


def first_of(hint: Any) -> str:
    """Return a value that an option of a type takes: its first choice, or 1."""
    kind = get_args(hint)[0]
    return str(next(iter(kind))) if isinstance(kind, type) and issubclass(kind, Enum) else "1"


OPTIONS = list(numbers(application().parser()))


def test_all_options_that_take_numbers_are_tried() -> None:
    assert len(OPTIONS) > 30
    assert {("simulate", "--until"), ("plan", "--wait")} <= {(words[0], option) for words, option in OPTIONS}


@pytest.mark.parametrize(("words", "option"), OPTIONS, ids=lambda part: part if isinstance(part, str) else part[0])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1" + "0" * 5000])
def test_an_option_takes_finite_numbers(
    words: tuple[str, ...], option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if option == "--time-limit" and float(number) == inf:
        return
    assert run([*words, option, number, "--json"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"{option}: expected a")
    assert shown.err.count("\n") == 1
    assert len(shown.err) < 300


@pytest.mark.parametrize(
    "words",
    [
        ["worst", CAUGHT, "--vary", "workload"],
        ["attack", RULE, "--kind", "items", "--items", "3", "--evaluations", "9", "--workers", "1"],
    ],
)
def test_an_infinite_limit_of_time_is_none(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--time-limit", "inf", "--json"]) == 0
    assert strictly(capsys.readouterr().out)["made"]["options"]["time_limit"] is None


@pytest.mark.parametrize("words", [["worst", "--types", "2", "--resources", "1"], ["attack", RULE, "--kind", "items"]])
def test_a_search_without_an_end_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--time-limit", "inf"]) == 2
    assert capsys.readouterr().err.startswith("--time-limit: expected a finite number without")


def test_a_table_of_answers_with_numbers_that_are_not_finite() -> None:
    assert json_text([inf, -inf, nan], indent=None) == "[null, null, null]"
