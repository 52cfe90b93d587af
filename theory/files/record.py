"""Records: frozen dataclasses whose annotations say what a table of a file may hold, and the one reader of them.

The annotation of a field carries its type, its range, and a line of words; what has no default must be given::

    @dataclass(frozen=True)
    class Rule:
        beta: Annotated[float, Range(0, 1), "weight below which a server stalls"] = 0.9
        oracle: Annotated[Literal["exact", "greedy"], "how configurations of great weight are found"] = "exact"

Types are ``bool``, ``int``, ``float``, ``Fraction``, ``str``, ``Literal`` of texts, another record, ``tuple[X, ...]``
(a list, or an array of tables), ``Mapping[str, X]`` (a table by name), and any other type beside a `Reading`. With
``X | None`` and the default None a field may be left out without a value. Messages, lists of options and reference
pages are made from the same annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from fractions import Fraction
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from theory.files.document import Fields
from theory.numbers import rational

R = TypeVar("R")


@dataclass(frozen=True)
class Range:
    """The least and the greatest number, both allowed unless `above` excludes the least.

    >>> [f"a number{bounds}" for bounds in (Range(0, 1), Range(0, above=True), Range(most=40), Range())]
    ['a number from 0 to 1', 'a number greater than 0', 'a number of at most 40', 'a number']
    """

    least: float = -inf
    most: float = inf
    above: bool = False

    def __contains__(self, number: Fraction) -> bool:
        """Return whether a number is within the bounds."""
        return self.least <= number <= self.most and not (self.above and number == self.least)

    def __str__(self) -> str:
        """Return the bounds in words that stand behind the name of a kind of number."""
        least, most = (str(bound) if isinstance(bound, int) else f"{bound:g}" for bound in (self.least, self.most))
        if self.least == -inf:
            return "" if self.most == inf else f" of at most {most}"
        if self.above:
            return f" greater than {least}" + ("" if self.most == inf else f" and at most {most}")
        return f" of at least {least}" if self.most == inf else f" from {least} to {most}"


@dataclass(frozen=True)
class Expected:
    """What messages call a value, or an entry of a list or table, in place of words that are made of its type."""

    words: str


@dataclass(frozen=True)
class Reading:
    """How a value of another type is read: `parse` returns it, or raises ValueError with what is wrong.

    `written` returns a value as a file would hold it; without one it is the value's text.
    """

    expected: str
    parse: Callable[[Any], Any]
    written: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class RecordField:
    """A field of a record.

    Attributes
    ----------
    name : str
    kind : type
        As annotated, without None.
    default : object
        MISSING where a value must be given.
    about : str
        What it means, in one line.
    more : tuple
        All that its annotation carries.
    """

    name: str
    kind: Any
    default: Any
    about: str
    more: tuple[Any, ...]

    def metadata(self, kind: type[R]) -> R | None:
        """Return what the annotation carries of a type."""
        return next((value for value in self.more if isinstance(value, kind)), None)

    @property
    def written(self) -> str:
        """The default as a file would hold it; empty where a value must be given, or where there is none."""
        value = self.default
        if value is MISSING or value is None:
            return ""
        if reading := self.metadata(Reading):
            return reading.written(value) if reading.written else str(value)
        if isinstance(value, str | bool):
            return f'"{value}"' if isinstance(value, str) else str(value).lower()
        return f"{value:g}" if isinstance(value, float) else str(value)

    def expected(self, names: Sequence[str] = ()) -> str:
        """Return what messages expect of the field; a table by name has these names."""
        kind, _ = _container(self.kind)
        if kind is Mapping:
            entries = f" with {', '.join(names)}" if names else ""
            return f"a table{entries}, for each {self.expected_entry}"
        return f"a list, each entry {self.expected_entry}" if kind is tuple else self.expected_entry

    @property
    def expected_entry(self) -> str:
        """What messages expect of a value, or of an entry where the field is a list or a table by name."""
        _, kind = _container(self.kind)
        if words := self.metadata(Expected):
            return words.words
        if reading := self.metadata(Reading):
            return reading.expected
        if get_origin(kind) is Literal:
            return f"one of {', '.join(get_args(kind))}"
        bounds = self.metadata(Range) or Range()
        words_of_kind = {bool: "true or false", int: f"a whole number{bounds}", str: "a text"}
        return "a table" if is_dataclass(kind) else words_of_kind.get(kind, f"a number{bounds}")


def _container(kind: Any) -> tuple[Any, Any]:
    """Return Mapping or tuple, or None for a single value, and the type of the entries."""
    if get_origin(kind) is tuple:
        return tuple, get_args(kind)[0]
    is_mapping = isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping)
    return (Mapping, get_args(kind)[1]) if is_mapping else (None, kind)


def fields_of(record: type[Any]) -> tuple[RecordField, ...]:
    """Return the fields of a record in their order, those of the records that it extends first.

    >>> @dataclass(frozen=True)
    ... class Rule:
    ...     beta: Annotated[float, Range(0, 1), "weight below which a server stalls"] = 0.9
    >>> [(field.name, field.written, field.expected(), field.about) for field in fields_of(Rule)]
    [('beta', '0.9', 'a number from 0 to 1', 'weight below which a server stalls')]
    """
    hints = get_type_hints(record, include_extras=True)
    declared = []
    for field in fields(record):
        hint = hints[field.name]
        kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if get_origin(kind) in (Union, UnionType):
            (kind,) = (each for each in get_args(kind) if each is not NoneType)
        about = next((words for words in more if isinstance(words, str)), "")
        default = field.default if field.default_factory is MISSING else field.default_factory()
        declared.append(RecordField(field.name, kind, default, about, tuple(more)))
    return tuple(declared)


def read(record: type[R], table: Mapping[str, Any] | Fields, place: str = "", *, names: Sequence[str] = ()) -> R:
    """Read a record from a table; what the table leaves out has its default.

    Parameters
    ----------
    record : type
        A frozen dataclass.
    table : mapping or Fields
        All of it is read.
    place : str
        Where a mapping stands; a table of a file (`Fields`) knows its own.
    names : sequence of str
        Those for which tables by name must have entries; any where none are given.

    Raises
    ------
    InputError
        One line that names the place and what was expected.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Rule:
    ...     beta: Annotated[float, Range(0, 1), "weight below which a server stalls"] = 0.9
    >>> read(Rule, {"beta": "3/4"}), read(Rule, {})
    (Rule(beta=0.75), Rule(beta=0.9))
    >>> read(Rule, {"beta": 2}, "simulation")
    Traceback (most recent call last):
    theory.errors.InputError: simulation.beta: expected a number from 0 to 1, got 2
    """
    if not isinstance(table, Fields):
        table = Fields(table, "", place)
    values = {
        field.name: take(field, table, names)
        for field in fields_of(record)
        if table.has(field.name) or field.default is MISSING
    }
    table.finish()
    return record(**values)


def take(field: RecordField, table: Fields, names: Sequence[str] = ()) -> Any:
    """Take the value of one field of a record from a table (see `read`)."""
    value = table.take(field.name, field.expected(names))
    container, kind = _container(field.kind)
    if container is Mapping:
        entries = Fields(value, table.source, table.where(field.name))
        taken = {
            name: _parsed(field, kind, entries, name, entries.take(name, field.expected_entry), names)
            for name in names or entries.names()
        }
        entries.finish()
        return taken
    if container is tuple:
        if not isinstance(value, list | tuple):
            table.refuse(field.name, field.expected(), value)
        places = [f"{field.name}[{i}]" for i in range(1, len(value) + 1)]
        return tuple(_parsed(field, kind, table, *item, names) for item in zip(places, value, strict=True))
    return _parsed(field, kind, table, field.name, value, names)


def _parsed(field: RecordField, kind: Any, table: Fields, place: str, value: Any, names: Sequence[str]) -> Any:
    """Return a single value as one of a type; `place` is where it stands in the table."""
    expected, reading = field.expected_entry, field.metadata(Reading)
    if is_dataclass(kind) and not reading:
        return read(cast(type[Any], kind), Fields(value, table.source, table.where(place)), names=names)
    if kind is bool or get_origin(kind) is Literal:
        if value not in get_args(kind) and not (kind is bool and isinstance(value, bool)):
            table.refuse(place, expected, value)
        return value
    if kind is str:
        return Fields({place: value}, table.source, table.place).text(place, expected)
    try:
        parsed = reading.parse(value) if reading else rational(value)
    except ValueError as error:
        table.refuse(place, expected, value, error)
    if reading:
        return parsed
    if parsed not in (field.metadata(Range) or Range()) or (kind is int and parsed.denominator > 1):
        table.refuse(place, expected, value)
    return kind(parsed)
