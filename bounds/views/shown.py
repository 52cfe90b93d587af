"""What a reader is shown of an answer, in a terminal, a report and a notebook: a sentence, tables and pictures.

The view of a subject, ``bounds/views/SUBJECT.py``, has ``sentence(answer)``, ``tables(answer)`` and
``pictures(answer)``. The tables come from the class of the answer: its single values are one table, and each list,
mapping and object is another. The words of a column and the digits of its numbers are declared with the field
(`bounds.answers.record.Head`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, UnsetType
from msgspec.structs import fields as fields_of

from bounds.answers.record import HIDDEN, LINES, Answer, Exact, Head, Of
from bounds.views.tables import INDENT, aligned
from bounds.views.text import short, with_interval
from theory.doors import imported
from theory.errors import quoted

if TYPE_CHECKING:
    from bounds.views.panels import Panel

MOST_ROWS = 40
"""Rows of a table that a terminal shows; a line says how many more there are."""

NUMBERS = "numbers"
"""The title of the single values of an answer."""

MOST_COLUMNS = 8
"""Columns of numbers that a table has side by side; more of them are rows."""


class Table(NamedTuple):
    """A table of text; `numeric` says which of its columns hold numbers.

    A terminal shows all rows of a table that is `whole`, such as one of which the reader gave the number of rows.
    """

    title: str
    head: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    whole: bool = False


class Picture(NamedTuple):
    """A panel and what is said below it."""

    caption: str
    panel: Panel


Shown = Answer | Sequence[Answer]
"""An answer, or a list of answers of one class, of which there is at least one."""


def view_of(answer: Shown) -> Any:
    """Return the module with the view of an answer's subject."""
    first = answer if isinstance(answer, Answer) else answer[0]
    return imported(f"bounds.views.{type(first).__module__.rpartition('.')[2]}")


def text_of(answer: Shown) -> list[str]:
    """Return an answer as lines of text: the sentence, the tables, and what the answer assumes."""
    view = view_of(answer)
    return lines_of(view.sentence(answer), view.tables(answer), assumptions_of(answer))


def assumptions_of(answer: Shown) -> list[str]:
    """Return what an answer assumes, where its view says so."""
    view = view_of(answer)
    return list(view.assumptions(answer)) if hasattr(view, "assumptions") else []


def lines_of(sentence: str, tables: list[Table], assumed: Sequence[str] = ()) -> list[str]:
    """Return a sentence, tables and assumptions as lines of text."""
    lines = [sentence]
    for table in tables:
        lines += ["", table.title, *written(table)]
    return [*lines, "", "assumed", *(f"  {line}" for line in assumed)] if assumed else lines


def written(table: Table) -> list[str]:
    """Return a table as lines of text; where there are many rows the last line says how many more there are."""
    width = len(table.numeric)
    right = next((place for place, numeric in enumerate(reversed(table.numeric)) if not numeric), width)
    most = len(table.rows) if table.whole else MOST_ROWS
    rows, more = table.rows[:most], len(table.rows) - most
    has_head = any(table.head)
    lines = aligned([table.head, *rows] if has_head else rows, right=right, head=has_head)
    return [*(" " * INDENT + line for line in lines), *([f"  and {more:,} more"] if more > 0 else [])]


# ---- the fields of a class as a reader sees them ---------------------------------------------------------------------


class Column(NamedTuple):
    """A field of a class of answers, as a reader sees it; its type is without null and without what is left out."""

    name: str
    head: Head
    kind: Any

    @property
    def is_mapping(self) -> bool:
        """Whether it has values by name; whole numbers by name are a configuration, which is one value."""
        return get_origin(self.kind) is dict and get_args(self.kind)[1] is not int

    @property
    def is_matrix(self) -> bool:
        """Whether it has numbers by two names."""
        return bool(self.kind == dict[str, dict[str, float]])

    @property
    def is_list(self) -> bool:
        """Whether it is a list of objects."""
        return get_origin(self.kind) is list and _is_answer(get_args(self.kind)[0])

    @property
    def is_object(self) -> bool:
        """Whether it is an object with fields that a table shows, other than one that is written in words."""
        return _is_answer(self.kind) and not _is_number(self.kind) and not hasattr(self.kind, "in_words")

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which stand to the right."""
        return self.kind in (int, float) or _is_number(self.kind) or self.kind == Exact


@cache
def columns_of(kind: type[Answer]) -> list[Column]:
    """Return the fields of a class of answers that a reader is shown."""
    hints = get_type_hints(kind, include_extras=True)
    columns = []
    for field in fields_of(kind):
        bare, marks = _bare(hints[field.name])
        head = next((mark for mark in marks if isinstance(mark, Head)), None)
        if head is None:  # another form of a field is for programs
            other_form = any(isinstance(mark, Of) for mark in marks)
            head = HIDDEN if other_form or bare is Any else Head(field.name.replace("_", " "))
        if head.words and field.name != "made":
            columns.append(Column(field.name, head, bare))
    return columns


def _bare(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without null and what is left out, and the marks around it; exact numbers stay `Exact`."""
    if get_origin(annotation) is Annotated:
        bare, marks = _bare(annotation.__origin__)
        rest = tuple(mark for mark in annotation.__metadata__ if isinstance(mark, Head | Of))
        # Annotated[Exact, Of(...)] is one annotation with the marks of both
        is_exact = annotation.__metadata__[:1] == get_args(Exact)[1:]
        return (Exact if is_exact else bare), (*rest, *marks)
    if get_origin(annotation) in (Union, UnionType):
        (one,) = (one for one in get_args(annotation) if one not in (NoneType, UnsetType))
        return _bare(one)
    return annotation, ()


def _is_answer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Answer)


def _is_number(kind: Any) -> bool:
    return _is_answer(kind) and set(kind.__struct_fields__) == {"mean", "ci95"}


# ---- tables ----------------------------------------------------------------------------------------------------------


def tables_of(answer: Answer, title: str = NUMBERS) -> list[Table]:
    """Return the tables of an answer: its single values, then each mapping, list and object with fields.

    Values by the same names (`Head.by`) stand side by side in one table.
    """
    single: list[list[str]] = []
    others: list[Table] = []
    together: dict[str, list[Column]] = {}
    for column in columns_of(type(answer)):
        value = getattr(answer, column.name)
        if value is None or value is UNSET:
            continue
        if column.is_matrix:
            others.append(_of_matrix(column, value))
        elif column.is_mapping:
            together.setdefault(column.head.by or column.name, []).append(column)
        elif column.head.by == LINES:
            others.append(Table(column.head.words, [""], [[line] for line in value], [False]))
        elif column.is_list:
            others += _of_list(column, value)
        elif column.is_object:
            others += tables_of(value, column.head.words)
        else:
            single.append([column.head.words, cell(column, value)])
    about = "" if title == NUMBERS else f"{title}, "
    mappings = [_of_mappings(answer, columns, about) for columns in together.values()]
    first = Table(title, ["", ""], single, [False, True])
    return [table for table in (first, *mappings, *others) if table.rows]


def table_of(kind: type[Answer], answers: Sequence[Answer], title: str) -> Table:
    """Return the table of a list of answers, all of its rows."""
    (table,) = _of_list(Column("", Head(title), list.__class_getitem__(kind)), list(answers))
    return table._replace(whole=True)


def _of_list(column: Column, values: list[Any]) -> Iterator[Table]:
    """Yield the table of a list of objects, without the columns that none of them has."""
    kind = get_args(column.kind)[0]
    if hasattr(kind, "in_words"):
        yield Table(column.head.words, [""], [[value.in_words()] for value in values], [False])
        return
    inner = columns_of(kind)
    used = [one for one in inner if any(getattr(value, one.name) not in (None, UNSET) for value in values)]
    rows = [[cell(one, getattr(value, one.name)) for one in used] for value in values]
    yield Table(column.head.words, [one.head.words for one in used], rows, [one.is_number for one in used])


def _of_matrix(column: Column, values: Mapping[str, Mapping[str, float]]) -> Table:
    """Return numbers by two names, which `by` calls "user, server": a column a second name, or a row a pair of names.

    Zeros of a table that has rows of pairs are left out.
    """
    down, across = column.head.by.split(", ")
    each = column._replace(kind=float)
    names = list(dict.fromkeys(name for row in values.values() for name in row))
    if len(names) <= MOST_COLUMNS:
        rows = [
            [quoted(one), *(cell(each, row[name]) if name in row else "" for name in names)]
            for one, row in values.items()
        ]
        return Table(column.head.words, [down, *map(quoted, names)], rows, [False, *(True for _ in names)])
    rows = [
        [quoted(one), quoted(name), cell(each, value)]
        for one, row in values.items()
        for name, value in row.items()
        if value
    ]
    return Table(column.head.words, [down, across, ""], rows, [False, False, True])


def _of_mappings(answer: Answer, columns: list[Column], about: str) -> Table:
    """Return the table of values by name: a row a name, a column a field; or the fields of objects by name."""
    by = columns[0].head.by
    title = f"{about}by {by}" if by else f"{about}{columns[0].head.words}"
    kind = get_args(columns[0].kind)[1]
    if _is_answer(kind) and not _is_number(kind):
        inner = columns_of(kind)
        objects = getattr(answer, columns[0].name).items()
        rows = [[quoted(name), *(cell(one, getattr(value, one.name)) for one in inner)] for name, value in objects]
        head = [by, *(one.head.words for one in inner)]
        return Table(columns[0].head.words, head, rows, [False, *(one.is_number for one in inner)])
    each = [column._replace(kind=_bare(get_args(column.kind)[1])[0]) for column in columns]
    values: list[Mapping[str, Any]] = [getattr(answer, column.name) for column in columns]
    rows = [
        [quoted(name), *(cell(column, one.get(name)) for column, one in zip(each, values, strict=True))]
        for name in dict.fromkeys(name for one in values for name in one)
    ]
    head = [by, *(column.head.words for column in columns)] if by else ["", ""]
    return Table(title, head, rows, [False, *(column.is_number for column in each)])


def cell(column: Column, value: Any) -> str:
    """Write a value for people: exact numbers as they are, others in the digits that the field declares."""
    head = column.head
    if value is None or value is UNSET:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Answer):
        return str(value.in_words()) if hasattr(value, "in_words") else _measured(value, head)
    if isinstance(value, int | float):
        return number(value, head.digits, share=head.share)
    if isinstance(value, Mapping):
        return packed_by_name(value)
    if isinstance(value, list | tuple):
        return ", ".join(cell(column, one) for one in value) or "-"
    if column.kind == Exact:
        return number(float(Fraction(value)), head.digits, share=True) if head.share else short(value)
    return str(value) if head.prose else quoted(str(value))


def number(value: float, digits: int = 6, *, share: bool = False) -> str:
    """Write a number in significant digits; a share is in per cent, and whole numbers stay whole.

    >>> number(1234567), number(0.123456789, 3), number(0.5, share=True), number(1.5e-9)
    ('1,234,567', '0.123', '50 %', '1.5e-09')
    """
    if not isfinite(value):
        return "-"
    if share:
        return f"{100 * value:.{digits}g} %"
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def _measured(value: Any, head: Head) -> str:
    """Write a measured number with its 95 % interval; that of a share within 0 and 1."""
    if not head.share or value.mean is None:
        return with_interval(value, head.digits, least=head.least)
    low, high = value.ci95
    ends = (
        f"  [{100 * max(low, 0):.{head.digits}g}, {100 * min(high, max(1, value.mean)):.{head.digits}g}]"
        if None not in (low, high)
        else ""
    )
    return f"{number(value.mean, head.digits, share=True)}{ends}"


def packed_by_name(value: Mapping[str, Any]) -> str:
    """Write a configuration, such as ``16 small + 3 large``; several of them with the names of their pools."""
    if any(isinstance(one, Mapping) for one in value.values()):
        return "; ".join(f"{quoted(name)}: {packed_by_name(one)}" for name, one in value.items())
    return " + ".join(f"{count:,} {quoted(name)}" for name, count in value.items() if count) or "empty"
