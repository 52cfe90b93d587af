"""Records: what their annotations say is what is read, and what is written in lists of options."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import pytest

from theory.errors import InputError
from theory.files.document import Fields, Numeral
from theory.files.record import (
    Either,
    Expected,
    Given,
    Matching,
    Named,
    Placed,
    Range,
    Reading,
    Some,
    Tables,
    expect_ranges,
    fields_of,
    read,
    take,
)
from theory.files.schema import schema_of
from theory.files.written import document_of


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
        ({"name": "a", "beta": [1]}, r"p.beta: expected a number from 0 to 1, got \[1\]$"),
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


Size = Annotated[Fraction, Range(0, 1, above=True), Expected("a size"), "size"]
Row = Annotated[tuple[Fraction, Fraction], Expected("two ends")]


@dataclass(frozen=True)
class Part(Placed):
    EITHER: ClassVar = Either(("discrete", "rows"), "law")

    discrete: Annotated[Mapping[Size, int] | None, Expected("a table of sizes"), Some("at least one size")] = None
    rows: Annotated[tuple[Annotated[Size | Row | tuple[Row, ...], Expected("a part")], ...] | None, Some("a row")] = (
        None
    )


@dataclass(frozen=True)
class Whole:
    lam: Annotated[float, Named("lambda"), Range(-5, 5, above=True, below=True, why="an end")]
    part: Annotated[tuple[Part, ...], Tables("a table [part]")]
    seen: Annotated[int, Given(), Range(0, 2**53)] = 0
    digest: Annotated[str | None, Matching("[0-9a-f]+")] = None
    others: Annotated[Any, "not read"] = None

    def __post_init__(self) -> None:
        if self.seen > 9:
            raise InputError("seen", "expected fewer")


PART = {"discrete": {"1/2": 3}}
WHOLE = {"lambda": 1, "part": PART, "seen": 1}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"lambda": 5}, "lambda: expected a number above -5 and below 5, got 5 (an end)"),
        ({"lambda": 7}, "lambda: expected a number above -5 and below 5, got 7"),
        ({"lam": 1}, "lam: unknown field, expected one of lambda, part, seen, digest, others; did you mean lambda?"),
        ({"seen": -1}, "seen: expected a whole number from 0 to 2^53, got -1"),
        ({"seen": 10}, "seen: expected fewer"),
        ({"digest": "xyz"}, "digest: expected a text of the form [0-9a-f]+, got 'xyz'"),
        ({"part": []}, "part: expected a table [part], got []"),
        ({"part": {}}, "part: expected exactly one law of discrete and rows, got none"),
        (
            {"part": {**PART, "rows": ["1/2"]}},
            "part: expected exactly one law of discrete and rows, got discrete and rows",
        ),
        ({"part": [PART, {"discrete": {}}]}, "part[2].discrete: expected at least one size, got none"),
        ({"part": {"discrete": {"1/2": 0}}}, "part.discrete: expected at least one size"),
        ({"part": {"discrete": {"1/2": 1, "0.5": 1}}}, "part.discrete.0.5: expected each size once"),
        ({"part": {"discrete": {"2": 1}}}, "part.discrete: expected a size, got '2'"),
        ({"part": {"rows": [{}]}}, "part.rows[1]: expected a part, got a table"),
        ({"part": {"rows": ["1/2", [1]]}}, "part.rows[2]: expected two ends, got [1]"),
        ({"part": {"rows": [[["x", 1]]]}}, "part.rows[1][1]: expected two ends, got 'x' (not a number)"),
    ],
)
def test_marks_say_what_is_read(table: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(Whole, {**WHOLE, **table})
    assert str(caught.value) == words


def test_records_are_written_and_know_their_places() -> None:
    table = {**WHOLE, "part": [PART, {"rows": ["1/2", ["0", "1"], [["0", "1/3"], ["1/3", "1"]]]}]}
    record = read(Whole, Fields(table, "f"))
    assert document_of(record) == {**table, "lambda": 1.0}
    assert read(Whole, document_of(record)) == record
    with pytest.raises(InputError, match=r"^f: part\[2\].rows: wrong$"):
        record.part[1].at.fail("rows", "wrong")
    with pytest.raises(InputError, match=r"^seen: missing, expected a whole number from 0 to 2\^53$"):
        read(Whole, {name: value for name, value in WHOLE.items() if name != "seen"})
    with pytest.raises(InputError, match=r"^lambda: expected a number above -5 and below 5, got inf$"):
        expect_ranges(Whole(float("inf"), ()))
    form = schema_of(Whole)["$defs"]
    assert form["Whole"]["required"] == ["lambda", "part", "seen"]
    assert form["Whole"]["properties"]["lambda"] == {
        "type": ["number", "string"], "exclusiveMinimum": -5, "exclusiveMaximum": 5,
    }  # fmt: skip
    assert form["Part"]["oneOf"] == [{"required": ["discrete"]}, {"required": ["rows"]}]
