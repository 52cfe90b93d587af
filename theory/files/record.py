"""Records: frozen dataclasses whose annotations say what a table of a file may hold, and the one reader of them.

The annotation of a field carries its type, its range, and a line of words; what has no default must be given::

    @dataclass(frozen=True)
    class Rule:
        beta: Annotated[float, Range(0, 1), "weight below which a server stalls"] = 0.9
        oracle: Annotated[Literal["exact", "greedy"], "how configurations of great weight are found"] = "exact"

Types are ``bool``, ``int``, ``float``, ``Fraction``, ``str``, ``Literal`` of texts, another record, ``tuple[X, ...]``
(a list, or an array of tables), ``tuple[X, Y]`` (a list of that length), ``Mapping[K, X]`` (a table by name, or by
number), ``Any`` (what another reader takes), and any other type beside a `Reading`; of several, as in ``X | Y``, the
one whose form a value has. With ``X | None`` and the default None a field may be left out without a value. Entries of
lists and tables may have annotations of their own. Messages, lists of options and reference pages, the schema
(`theory.files.schema`) and the document of a record (`theory.files.written`) are made from the same annotations.

A record of a whole file names in ``SIGN`` the field by which files of its kind are known (`theory.files.kinds`). A
record with ``EITHER`` has exactly one of the fields that it names. What is wrong with several fields together the
record refuses itself, in ``__post_init__``, as ``InputError(field, problem)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from math import isfinite
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from theory.errors import InputError
from theory.files.document import Fields, Numeral
from theory.files.forms import (
    Either,
    Expected,
    Form,
    Given,
    Matching,
    Named,
    Placed,
    Range,
    Reading,
    RecordField,
    Some,
    Tables,
    fields_of,
)
from theory.files.kinds import KINDS_OF_FILES, VALUES
from theory.numbers import rational

__all__ = [
    "Either", "Expected", "Form", "Given", "Matching", "Named", "Placed", "Range", "Reading", "RecordField", "Some",
    "Tables", "expect_ranges", "fields_of", "read", "read_file", "take",
]  # fmt: skip

R = TypeVar("R")


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
    >>> from theory.files.clusters import UserTable
    >>> read(UserTable, {"name": "ann", "demand": {"cpu": "1/2"}}).demand
    {'cpu': Fraction(1, 2)}
    >>> read(UserTable, {"name": "ann", "demand": {"cpu": -1}}, "user[1]")
    Traceback (most recent call last):
    theory.errors.InputError: user[1].demand.cpu: expected a number of at least 0, got -1
    """
    if not isinstance(table, Fields):
        table = Fields(table, "", place)
    declared = fields_of(record)
    _refuse_other_kinds(getattr(record, "SIGN", ""), table, declared)
    values = {
        one.attribute: take(one, table, names) for one in declared if table.has(one.name) or one.default is MISSING
    }
    table.finish()
    either = getattr(record, "EITHER", None)
    if either and (problem := either.problem([name for name in either.names if name in values])):
        table.fail("", problem)
    if issubclass(record, Placed):
        values["at"] = table
    try:
        return record(**values)
    except InputError as error:
        table.fail(error.place, error.problem)


def _refuse_other_kinds(sign: str, table: Fields, declared: Sequence[RecordField]) -> None:
    """Refuse a file of another kind; one that has its own sign is of this kind, whatever it lacks."""
    value = table.peek(sign)
    if not sign or isinstance(value, Mapping | list) or (value is not None and sign in VALUES):
        return
    needed = [one for one in declared if (one.name == sign if sign in VALUES else one.default is MISSING)]
    if not needed and any(table.peek(one.name) is not None for one in declared):
        return
    names = [one.name for one in needed or declared]
    each = "table" if all(one.is_table for one in needed or declared) else "field"
    table.refuse_other_kinds(KINDS_OF_FILES[sign][0], *names, each=each)


def read_file(record: type[R], document: Mapping[str, Any], source: str) -> R:
    """Read the record of a whole file; `source` names it in errors."""
    return read(record, Fields(document, source))


def take(field: RecordField, table: Fields, names: Sequence[str] = ()) -> Any:
    """Take the value of one field of a record from a table (see `read`)."""
    expected = field.expected(names) if names else field.expected_value
    return _parsed(field, table, field.name, table.take(field.name, expected), names)


def _parsed(form: Form, table: Fields, place: str, value: Any, names: Sequence[str]) -> Any:
    """Return a value as one of a form; `place` is where it stands in the table."""
    if form.alternatives and not form.reading:
        return _parsed(_alternative(form, table, place, value), table, place, value, names)
    if form.container:
        several = _table_by_name if form.container is Mapping else _row if form.is_row else _list
        found = several(form, table, place, value, names)
        if (some := form.metadata(Some)) and all(
            one == 0 for one in (found.values() if isinstance(found, dict) else found)
        ):
            table.fail(place, f"expected {some.words}{'' if found else ', got none'}")
        return found
    if is_dataclass(form.kind) and not form.reading:
        return read(cast(type[Any], form.kind), Fields(value, table.source, table.where(place)), names=names)
    return _single(form, table, place, value)


def _alternative(form: Form, table: Fields, place: str, value: Any) -> Form:
    """Return the form of several that a value has: a table, a list as deep, a text or a number."""
    is_text = isinstance(value, str) and not isinstance(value, Numeral)
    for each in form.alternatives:
        if isinstance(value, Mapping):
            fits = each.container is Mapping or is_dataclass(each.kind)
        elif isinstance(value, list | tuple):
            fits = each.container is tuple and _depth_of(each) == _depth(value)
        else:  # a number may be a text, too, where nothing else is
            others = is_text and any(one.kind is str for one in form.alternatives)
            fits = each.container is None and not is_dataclass(each.kind) and (each.kind is str) == others
        if fits:
            break
    else:
        table.refuse(place, form.expected(), value)
    return each


def _depth(value: Any) -> int:
    """Return how many lists are within each other."""
    return 1 + _depth(value[0] if value else None) if isinstance(value, list | tuple) else 0


def _depth_of(form: Form) -> int:
    return 1 + _depth_of(form.entries[0]) if form.container is tuple else 0


def _table_by_name(form: Form, table: Fields, place: str, value: Any, names: Sequence[str]) -> dict[Any, Any]:
    entries, (entry,), found = Fields(value, table.source, table.where(place)), form.entries, {}
    for name in names or entries.names():
        key = name if form.keys.kind is str else _single(form.keys, entries, "", name)
        if key in found:
            entries.fail(name, f"expected each {form.keys.about} once")
        found[key] = _parsed(entry, entries, name, entries.take(name, form.expected_entry), names)
    entries.finish()
    return found


def _list(form: Form, table: Fields, place: str, value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    (entry,) = form.entries
    if tables := form.metadata(Tables):
        if isinstance(value, Mapping):
            return (_parsed(entry, table, place, value, names),)
        if not value:
            table.refuse(place, tables.words, value)
    if not isinstance(value, list | tuple):
        table.refuse(place, form.expected(), value)
    return tuple(_parsed(entry, table, f"{place}[{i}]", one, names) for i, one in enumerate(value, 1))


def _row(form: Form, table: Fields, place: str, value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return a list of fixed length; what is wrong with an entry is told of all of it."""
    if not isinstance(value, list | tuple) or len(value) != len(form.entries):
        table.refuse(place, form.expected(), value)
    return tuple(_parsed(entry, table, place, one, names) for entry, one in zip(form.entries, value, strict=True))


def _single(form: Form, table: Fields, place: str, value: Any) -> Any:
    """Return a single value as one of a type."""
    kind, expected, reading, bounds = form.kind, form.expected_entry, form.reading, form.bounds
    if kind is Any and not reading:
        return value
    if kind is bool or get_origin(kind) is Literal:
        if value not in get_args(kind) and not (kind is bool and isinstance(value, bool)):
            table.refuse(place, expected, value)
        return value
    if kind is str and not reading:
        text, matching = (
            Fields({place: value}, table.source, table.place).text(place, expected),
            form.metadata(Matching),
        )
        if matching and not re.fullmatch(matching.pattern, text):
            table.refuse(place, f"a text of the form {matching.pattern}", value)
        return text
    try:
        parsed = reading.parse(value) if reading else rational(value)
    except ValueError as error:
        is_told = isinstance(value, bool | int | float | str)  # why another value is no number, its form says
        table.refuse(place, expected, value, error if reading or is_told else "")
    if reading:
        return parsed
    if parsed not in bounds or (kind is int and parsed.denominator > 1):
        table.refuse(place, expected, value, bounds.why if bounds.excluded(parsed) else "")
    return kind(parsed)


def expect_ranges(record: Any) -> None:
    """Refuse a record of Python whose numbers are not in their ranges, as `read` refuses those of a file."""
    for each in fields_of(type(record)):
        bounds, value = each.metadata(Range), getattr(record, each.attribute)
        if bounds and not (isfinite(value) and value in bounds):
            raise InputError(each.name, f"expected {each.expected_entry}, got {value!r}")
