"""Records: what their annotations say is what is read, and what is written in lists of options."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal

import pytest

from theory.errors import InputError
from theory.files.document import Fields, Numeral
from theory.files.record import Expected, Range, Reading, fields_of, read, take


def _half(value: Any) -> float:
    if value != "half":
        raise ValueError("it is not half")
    return 0.5


@dataclass(frozen=True)
class Server:
    name: Annotated[str, "what it is called"]
    count: Annotated[int, Range(1, 1000), "equal servers"] = 1


@dataclass(frozen=True)
class Everything(Server):
    share: Annotated[Fraction, Range(0, above=True), "of all servers"] = Fraction(1, 3)
    beta: Annotated[float, Range(0, 1), "a weight"] = 0.9
    least: Annotated[float, Range(most=1e12), "a bound"] = -1.0
    early: Annotated[bool, "whether it is early"] = True
    start: Annotated[Literal["as-needed", "at-once"], "when it begins"] = "as-needed"
    depth: Annotated[int | None, Range(2, 40), "levels"] = None
    half: Annotated[float, Reading("the word half", _half, lambda _: '"half"')] = 0.5
    other: Annotated[Server | None, "another one"] = None
    servers: Annotated[tuple[Server, ...], "more of them"] = ()
    sizes: Annotated[tuple[int, ...], Range(1), Expected("a size of at least 1"), "sizes"] = ()
    demand: Annotated[Mapping[str, Fraction], Range(0), "what it takes"] = field(default_factory=dict)
    bare: int = 7


def test_every_type_is_read() -> None:
    table = {
        "name": "a", "count": "3", "share": "1/3", "beta": Numeral("0.25"), "least": -2, "early": False,
        "start": "at-once", "depth": 3, "half": "half", "other": {"name": "b"}, "bare": 8,
        "servers": [{"name": "c", "count": 2}], "sizes": [1, Numeral("2.0")], "demand": {"cpu": "0.1"},
    }  # fmt: skip
    expected = Everything(
        "a", 3, Fraction(1, 3), 0.25, -2.0, False, "at-once", 3, 0.5, Server("b"), (Server("c", 2),), (1, 2),
        {"cpu": Fraction(1, 10)}, 8,
    )  # fmt: skip
    record = read(Everything, table)
    assert record == expected
    assert [type(getattr(record, name)) for name in ("count", "share", "beta")] == [int, Fraction, float]
    assert read(Everything, {"name": "a"}) == Everything("a")
    assert read(Everything, Fields({"name": "a"}, "f.toml", "server")) == Everything("a")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "p.name: missing, expected a text"),
        ({"nam": "a"}, "p.name: missing, expected a text; there is a field nam"),
        ({"name": 3}, "p.name: expected a text, got 3"),
        ({"name": "a", "colour": 1}, "p.colour: unknown field, expected one of name, count, share"),
        ({"name": "a", "betta": 1}, "p.betta: unknown field, expected one of .*; did you mean beta"),
        ({"name": "a", "count": 0}, "p.count: expected a whole number from 1 to 1000, got 0$"),
        ({"name": "a", "count": Numeral("2.5")}, "p.count: expected a whole number from 1 to 1000, got 2.5$"),
        ({"name": "a", "count": True}, r"p.count: expected .*, got True \(a truth value is not a number\)"),
        ({"name": "a", "share": 0}, "p.share: expected a number greater than 0, got 0"),
        ({"name": "a", "share": "1/0"}, r"p.share: expected .*, got '1/0' \(zero denominator\)"),
        ({"name": "a", "beta": [1]}, r"p.beta: expected a number from 0 to 1, got \[1\] \(list is not a number\)"),
        ({"name": "a", "least": 1e13}, r"p.least: expected a number of at most 1e\+12, got"),
        ({"name": "a", "early": 1}, "p.early: expected true or false, got 1"),
        ({"name": "a", "start": "never"}, "p.start: expected one of as-needed, at-once, got 'never'"),
        ({"name": "a", "start": ["at-once"]}, "p.start: expected one of as-needed, at-once, got"),
        ({"name": "a", "half": "third"}, r"p.half: expected the word half, got 'third' \(it is not half\)"),
        ({"name": "a", "other": {"name": "b", "count": -1}}, "p.other.count: expected a whole number from 1 to"),
        ({"name": "a", "other": 3}, "p.other: expected a table, got 3"),
        ({"name": "a", "servers": {"name": "b"}}, "p.servers: expected a list, each entry a table, got a table"),
        ({"name": "a", "servers": [{"name": "b"}, {}]}, r"p.servers\[2\].name: missing, expected a text"),
        ({"name": "a", "sizes": [1, 0]}, r"p.sizes\[2\]: expected a size of at least 1, got 0"),
        ({"name": "a", "demand": {"cpu": -1}}, "p.demand.cpu: expected a number of at least 0, got -1"),
        ({"name": "a", "demand": 4}, "p.demand: expected a table, got 4"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(table: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        read(Everything, table, "p")
    with pytest.raises(InputError, match=f"^f.toml: {words}"):
        read(Everything, Fields(table, "f.toml", "p"))


def test_tables_by_name_have_the_names_that_are_expected() -> None:
    @dataclass(frozen=True)
    class Priorities:
        priority: Mapping[str, int]

    assert read(Priorities, {"priority": {"b": 2, "a": 1}}, names=("a", "b")).priority == {"a": 1, "b": 2}
    for table, words in (
        ({}, "priority: missing, expected a table with a, b, for each a whole number"),
        ({"priority": {"a": 1}}, "priority.b: missing, expected a whole number"),
        ({"priority": {"a": 1, "b": 2, "c": 3}}, "priority.c: unknown field, expected one of a, b"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(words)}"):
            read(Priorities, table, names=("a", "b"))


def test_a_default_as_it_is_written_means_the_default() -> None:
    defaults = {each.name: each for each in fields_of(Everything)}
    assert list(defaults)[:3] == ["name", "count", "share"]
    assert [defaults[name].written for name in ("name", "count", "depth")] == ["", "1", ""]
    assert (defaults["name"].default, defaults["early"].about, defaults["bare"].about) == (
        MISSING, "whether it is early", "",
    )  # fmt: skip
    for name in ("count", "beta", "least", "early", "start", "half", "bare"):
        assert take(defaults[name], Fields(tomllib.loads(f"{name} = {defaults[name].written}"), "f")) == getattr(
            Everything("a"), name
        )
