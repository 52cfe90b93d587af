"""What annotations of a record say of its fields: the forms of values, for the reader, the writer and the schema.

`theory.files.record` says which types and marks there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from theory.files.document import Fields

R = TypeVar("R")


# ---- what annotations carry ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """The least and the greatest number, both allowed unless `above` and `below` exclude them.

    >>> [f"a number{bounds}" for bounds in (Range(0, 1), Range(0, above=True), Range(most=40), Range())]
    ['a number from 0 to 1', 'a number greater than 0', 'a number of at most 40', 'a number']
    """

    least: float = -inf
    most: float = inf
    above: bool = False
    below: bool = False
    why: str = ""  # what is said of an end that is excluded

    def __contains__(self, number: Fraction | float) -> bool:
        """Return whether a number is within the bounds."""
        return self.least <= number <= self.most and not self.excluded(number)

    def excluded(self, number: Fraction | float) -> bool:
        """Return whether a number is an end that is not allowed."""
        return (self.above and number == self.least) or (self.below and number == self.most)

    def __str__(self) -> str:
        """Return the bounds in words that stand behind the name of a kind of number."""
        least, most = map(_bound, (self.least, self.most))
        if self.below:
            return f" above {least} and below {most}" if self.above else f" of at least {least} and below {most}"
        if self.least == -inf:
            return "" if self.most == inf else f" of at most {most}"
        if self.above:
            return f" greater than {least}" + ("" if self.most == inf else f" and at most {most}")
        return f" of at least {least}" if self.most == inf else f" from {least} to {most}"


def _bound(bound: float) -> str:
    """Return a bound in words; large powers of two, which are ends of types of machines, as such."""
    if not isinstance(bound, int):
        return f"{bound:g}"
    return f"2^{bound.bit_length() - 1}" if bound > 2**50 and bound.bit_count() == 1 else str(bound)


@dataclass(frozen=True)
class Expected:
    """What messages call a value, in place of words that are made of its type.

    On a list or table whose entries have no annotation of their own, it is what messages call an entry.
    """

    words: str


@dataclass(frozen=True)
class Some:
    """Marks a list or table of which some entry is not 0; `words` say so: "at least one positive demand"."""

    words: str


@dataclass(frozen=True)
class Tables:
    """Marks a tuple of records that a file has as one table or as an array of at least one."""

    words: str


@dataclass(frozen=True)
class Named:
    """The name in files of a field that Python cannot call so."""

    name: str


@dataclass(frozen=True)
class Matching:
    """The regular expression of all of a text."""

    pattern: str


@dataclass(frozen=True)
class Reading:
    """How a value of another type is read: `parse` returns it, or raises ValueError with what is wrong.

    `written` returns a value as a file would hold it; without one it is the value's text.
    """

    expected: str
    parse: Callable[[Any], Any]
    written: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class Either:
    """Exactly one of several fields is given; `what` says what they are: "law"."""

    names: tuple[str, ...]
    what: str = ""

    @property
    def words(self) -> str:
        """What is expected."""
        names = " and ".join(self.names) if len(self.names) == 2 else ", ".join(self.names)
        return f"exactly one {f'{self.what} ' * bool(self.what)}of {names}"

    def problem(self, given: Sequence[str]) -> str:
        """Return what is wrong where other than one of the fields is given; empty where nothing is.

        >>> Either(("capacity", "configurations")).problem(()), Either(("csv", "items"), "law").problem(("csv",))
        ('expected exactly one of capacity and configurations, got none', '')
        """
        if len(given) == 1:
            return ""
        return f"expected {self.words}, got {' and '.join(given) or 'none'}"


@dataclass(frozen=True)
class Given:
    """Marks a field that files must give, though Python may leave it out."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A record that knows where it stood in a file, so that what is wrong beside other tables is told there."""

    at: Fields = field(default=Fields({}, ""), compare=False, repr=False)


# ---- forms of values -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """What a value may be.

    Attributes
    ----------
    kind : type
        As annotated, without None.
    more : tuple
        All that its annotation carries.
    """

    kind: Any
    more: tuple[Any, ...] = ()

    @classmethod
    def of(cls, hint: Any, inherited: tuple[Any, ...] = ()) -> Form:
        """Return the form of an annotation; one without metadata of its own has those that are inherited."""
        kind, more = _parts(hint)
        return Form(kind, more or inherited)

    @cached_property
    def about(self) -> str:
        """What it means, in one line; empty where the annotation does not say."""
        return next((words for words in self.more if isinstance(words, str)), "")

    def metadata(self, kind: type[R]) -> R | None:
        """Return what the annotation carries of a type."""
        return next((value for value in self.more if isinstance(value, kind)), None)

    @cached_property
    def bounds(self) -> Range:
        """The range of a number."""
        return self.metadata(Range) or Range()

    @cached_property
    def reading(self) -> Reading | None:
        """How a value is read that is of none of the types which the reader knows."""
        return self.metadata(Reading)

    @cached_property
    def alternatives(self) -> tuple[Form, ...]:
        """The forms of which a value has one; empty where there is but one."""
        several = get_origin(self.kind) in (Union, UnionType)
        return tuple(Form.of(each) for each in get_args(self.kind)) if several else ()

    @cached_property
    def container(self) -> Any:
        """Mapping for a table by name, tuple for a list, None for a single value or a record."""
        origin = get_origin(self.kind)
        is_by_name = isinstance(origin, type) and issubclass(origin, Mapping)
        return Mapping if is_by_name else tuple if origin is tuple else None

    @cached_property
    def _hints(self) -> list[Any]:
        """The annotations of the entries."""
        hints = [hint for hint in get_args(self.kind) if hint is not Ellipsis]
        return hints[1:] if self.container is Mapping else hints

    @cached_property
    def entries(self) -> tuple[Form, ...]:
        """The forms of the entries of a list of fixed length, or the one form of all entries."""
        if self.container is None:
            return (self,)
        inherited = tuple(one for one in self.more if isinstance(one, Range | Expected | Reading))
        return tuple(Form.of(hint, inherited) for hint in self._hints)

    @cached_property
    def keys(self) -> Form:
        """The form of the names of a table."""
        return Form.of(get_args(self.kind)[0])

    @property
    def is_row(self) -> bool:
        """Whether it is a list of fixed length."""
        return self.container is tuple and Ellipsis not in get_args(self.kind)

    def expected(self, names: Sequence[str] = ()) -> str:
        """Return what messages expect; a table by name has these names."""
        if words := self.metadata(Tables) or (self._is_told_apart and self.metadata(Expected)):
            return words.words
        if self.container and self.entries[0].kind is Any:
            return "a table" if self.container is Mapping else "a list"
        if self.container is Mapping:
            entries = f" with {', '.join(names)}" if names else ""
            return f"a table{entries}, for each {self.expected_entry}"
        length = f" of {len(self.entries)}" if self.is_row else ""
        return f"a list{length}, each entry {self.expected_entry}" if self.container else self.expected_entry

    @cached_property
    def _is_told_apart(self) -> bool:
        """Whether words that the annotation carries are about a list or table, as its entries have their own."""
        return self.is_row or (bool(self.container) and any(get_origin(hint) is Annotated for hint in self._hints))

    @cached_property
    def expected_value(self) -> str:
        """What messages expect, a table by name with any names."""
        return self.expected()

    @cached_property
    def expected_entry(self) -> str:
        """What messages expect of a value, or of an entry where it is a list or a table by name."""
        form = self.entries[0]
        if form.container:
            return form.expected()
        if words := form.metadata(Expected):
            return words.words
        if reading := form.reading:
            return reading.expected
        if get_origin(form.kind) is Literal:
            return f"one of {', '.join(get_args(form.kind))}"
        if form.alternatives:
            return " or ".join(each.expected() for each in form.alternatives)
        bounds = form.bounds
        words_of_kind = {bool: "true or false", int: f"a whole number{bounds}", str: "a text", Any: "a value"}
        return "a table" if is_dataclass(form.kind) else words_of_kind.get(form.kind, f"a number{bounds}")


@dataclass(frozen=True)
class RecordField(Form):
    """A field of a record.

    Attributes
    ----------
    name, attribute : str
        In files, and of the record.
    default : object
        MISSING where a value must be given.
    """

    name: str = ""
    attribute: str = ""
    default: Any = None

    @property
    def is_table(self) -> bool:
        """Whether a file has a table, or tables, of this name."""
        return is_dataclass(self.entries[0].kind) or self.container is Mapping

    @property
    def written(self) -> str:
        """The default as a file would hold it; empty where a value must be given, or where there is none."""
        value = self.default
        if value is MISSING or value is None:
            return ""
        if reading := self.reading:
            return reading.written(value) if reading.written else str(value)
        if isinstance(value, str | bool):
            return f'"{value}"' if isinstance(value, str) else str(value).lower()
        return f"{value:g}" if isinstance(value, float) else str(value)


def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type of an annotation, without None, and all that it carries."""
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(kind) in (Union, UnionType):
        kinds = tuple(each for each in get_args(kind) if each is not NoneType)
        if len(kinds) == 1:
            kind, own = _parts(kinds[0])
            return kind, (*more, *own)
        kind = Union[kinds]  # noqa: UP007  (of as many as there are)
    return kind, tuple(more)


def fields_of(record: type[Any]) -> tuple[RecordField, ...]:
    """Return the fields of a record in their order, those of the records that it extends first.

    >>> @dataclass(frozen=True)
    ... class Rule:
    ...     beta: Annotated[float, Range(0, 1), "weight below which a server stalls"] = 0.9
    >>> [(field.name, field.written, field.expected(), field.about) for field in fields_of(Rule)]
    [('beta', '0.9', 'a number from 0 to 1', 'weight below which a server stalls')]
    """
    return _declared(cast(Hashable, record))


@cache
def _declared(record: Any) -> tuple[RecordField, ...]:
    hints = get_type_hints(record, include_extras=True)
    declared = []
    for each in fields(record):
        kind, more = _parts(hints[each.name])
        if kind is Fields:  # where the record stood
            continue
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if any(isinstance(one, Given) for one in more):
            default = MISSING
        name = next((one.name for one in more if isinstance(one, Named)), each.name)
        declared.append(RecordField(kind, more, name, each.name, default))
    return tuple(declared)
