"""Documents: reading TOML and JSON without losing a digit, field by field, and rows of comma-separated values."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unicodedata import normalize

from theory import numbers
from theory.errors import InputError, meant
from theory.files.kinds import KUBERNETES, kind_of_document, kind_of_text
from theory.files.places import read_text

MAX_PARTS = 20
"""Most parts of a dotted key of TOML: the parser takes time and memory that grow with their square."""

_LONG_KEY = re.compile(rf"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_PARTS}}}""")


class Numeral(str):
    """A number as it stood in the file, kept as text so that no digit is lost."""

    __slots__ = ()


def _shown(value: object) -> str:
    text = value if isinstance(value, Numeral) else repr(value) if not isinstance(value, dict) else "a table"
    text = " ".join(str(text).split())
    return text if len(text) <= 60 else text[:57] + "..."


def refuse_doubles(names: Sequence[str], tables: Sequence[Fields]) -> None:
    """Refuse a name that two of the tables have, and warn of two that look alike."""
    seen: set[str] = set()
    for name, table in zip(names, tables, strict=True):
        if name in seen:
            table.fail("name", f"expected a name of its own, got {name!r} again")
        seen.add(name)
    warn_if_alike(names, tables[0].source if tables else "")


def warn_if_alike(names: Sequence[str], source: str) -> None:
    """Say on stderr, once, which different names of a file are one name but for composition, width or case."""
    first: dict[str, str] = {}
    for name in names:
        # compatibility composition before and after folding, since folding may undo it
        other = first.setdefault(normalize("NFKC", normalize("NFKC", name).casefold()), name)
        if other != name:
            _warn_of(ascii(other), ascii(name), source)


@cache
def _warn_of(one: str, other: str, source: str) -> None:
    print(f"{source}: the names {one} and {other} differ in Unicode composition, width or case alone", file=sys.stderr)


def _integer(text: str) -> int | Numeral:
    return int(text) if len(text) <= numbers.MAX_DIGITS else Numeral(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {_shown(twice)} stands twice in one object")
    return table


def read_document(path: str | Path) -> dict[str, Any]:
    """Read a TOML or JSON file; numbers that are not plain integers come back as text.

    Parameters
    ----------
    path : str or Path
        Read as JSON if its name ends in ``.json``, else as TOML.

    Raises
    ------
    InputError
        What `theory.files.places.read_text` refuses, and a document that is nested too deeply or not well formed.
    """
    text = read_text(path)
    document = parse_document(text, str(path), is_json=Path(path).suffix.lower() == ".json")
    if kind_of_document(document) == KUBERNETES:  # before its items are taken for those of packproof
        raise InputError(path, "", f"expected a document of packproof, found {': '.join(KUBERNETES)}")
    document.pop("made", None)  # an answer of --json that is a file says what made it
    return document


def parse_document(text: str, source: str, *, is_json: bool) -> dict[str, Any]:
    """Parse the text of a document; `source` names it in errors (see `read_document`)."""
    kind = "JSON" if is_json else "TOML"
    try:
        if is_json:
            document = json.loads(
                text,
                parse_float=Numeral,
                parse_int=_integer,
                parse_constant=Numeral,
                object_pairs_hook=_object,
            )
        else:
            if _LONG_KEY.search(text):
                raise InputError(source, "", f"expected keys of at most {MAX_PARTS} parts with dots between them")
            document = tomllib.loads(text, parse_float=Numeral)
    except RecursionError as error:
        raise InputError(source, "", f"expected a flat {kind} document, found one nested too deeply") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(source, "", _unlike(text, kind, " ".join(str(error).split()))) from error
    if not isinstance(document, dict):
        raise InputError(source, "", f"expected a {kind} object at the top")
    return document


def _unlike(text: str, kind: str, why: str) -> str:
    """Word the refusal of a text that is no document of a kind: what it is, or where it stops being one."""
    kind_found = kind_of_text(text)
    # a text of the expected kind is refused for one of its parts, so the parser's words help most
    if not kind_found or kind_found.startswith(f"a {kind} "):  # the latter where a key stands twice, say
        return f"expected a {kind} document, found text that is not well-formed {kind}: {why}"
    named = "ends" if kind == "JSON" else "does not end"
    return f"expected a {kind} document, as the name {named} in .json, found {kind_found}"


class Fields:
    """The fields of one table, taken one at a time; `finish` refuses what nobody took.

    Parameters
    ----------
    table : mapping
    source : str
        Name of the file, for errors; empty where there is none.
    place : str
        Where the table stands in the file, such as ``type[2]``; empty at the top.
    """

    def __init__(self, table: object, source: str, place: str = "") -> None:
        self.source, self.place = source, place
        if not isinstance(table, Mapping):
            self.fail("", f"expected a table, got {_shown(table)}")
        for name in table:
            if not (isinstance(name, str) and name.isprintable() and len(name) <= 200):
                self.fail("", f"expected names of at most 200 printable characters, got {_shown(name)}")
        self._left: dict[str, Any] = dict(table)
        self._known: list[str] = []

    def fail(self, name: str, problem: str) -> NoReturn:
        """Raise the one error line for field `name` (empty: the table itself)."""
        raise InputError(self.source, self.where(name), problem)

    def where(self, name: str) -> str:
        """Return the place of a field in the file."""
        return ".".join(part for part in (self.place, name) if part)

    def refuse(self, name: str, expected: str, value: object, why: object = "") -> NoReturn:
        """Raise the error of a field with another value than was expected."""
        self.fail(name, f"expected {expected}, got {_shown(value)}{f' ({why})' if why else ''}")

    def refuse_other_kinds(self, what: str, *needed: str, each: str = "table") -> None:
        """Refuse a file of another kind, by a field that tells it, where a needed one is missing.

        Parameters
        ----------
        what : str
            What is expected.
        *needed : str
            The fields that it must have.
        each : str
            What these are.

        Examples
        --------
        >>> Fields({"items": {}}, "f").refuse_other_kinds("an instance", "server", "type")
        Traceback (most recent call last):
        theory.errors.InputError: f: expected an instance (tables server and type), found a list of items (table items):
        packproof throughput, and packproof attack --kind items --from, read it
        """
        there = (self._left[name] for name in needed if name in self._left)
        if sum(each == "field" or isinstance(value, Mapping | list) for value in there) == len(needed):
            return
        kind, commands = kind_of_document({name: value for name, value in self._left.items() if name not in needed})
        if kind:
            tables = f"{each}{'s' * (len(needed) > 1)} {' and '.join(needed)}"
            self.fail("", f"expected {what} ({tables}), found {kind}: {commands}")

    def has(self, name: str) -> bool:
        """Return whether the field is present and not yet taken; it is known from then on."""
        self._known.append(name)
        return name in self._left

    def peek(self, name: str) -> Any:
        """Return a field as it stands and leave it to be taken; None if it is not there."""
        return self._left.get(name)

    def names(self) -> list[str]:
        """Return the names of the fields not yet taken."""
        return list(self._left)

    def take(self, name: str, expected: str) -> Any:
        """Take a required field as it stands."""
        self._known.append(name)
        if name not in self._left:
            from difflib import get_close_matches

            near = get_close_matches(name, self._left, 1, 0.75)  # perhaps it is there, with a slip of the keys
            self.fail(name, f"missing, expected {expected}{f'; there is a field {near[0]}' if near else ''}")
        return self._left.pop(name)

    def number(self, name: str, expected: str = "a number", *, least: int = 0, strict: bool = False) -> Fraction:
        """Take a required exact number that is at least `least` (greater than it if `strict`)."""
        value = self.take(name, expected)
        try:
            result = numbers.rational(value)
        except ValueError as error:
            self.fail(name, f"expected {expected}, got {_shown(value)} ({error})")
        # the bound is refused, too, where it is strict
        if result < least or (strict and result == least):
            self.fail(name, f"expected {expected}, got {_shown(value)}")
        return result

    def optional_number(
        self, name: str, default: Fraction, expected: str = "a number", *, least: int = 0, strict: bool = False
    ) -> Fraction:
        """Take an exact number, or the default where it is left out (see `number`)."""
        self._known.append(name)
        return self.number(name, expected, least=least, strict=strict) if self.has(name) else default

    def integer(self, name: str, expected: str = "a whole number", *, least: int = 0) -> int:
        """Take a required whole number that is at least `least`."""
        value = self.number(name, expected, least=least)
        if value.denominator != 1:
            self.fail(name, f"expected {expected}, got {numbers.text(value)}")
        return int(value)

    def text(self, name: str, expected: str = "a name") -> str:
        """Take a required non-empty text of at most 200 printable characters."""
        value = self.take(name, expected)
        if not isinstance(value, str) or isinstance(value, Numeral) or not 0 < len(value) <= 200:
            self.fail(name, f"expected {expected}, got {_shown(value)}")
        if not value.isprintable():
            self.fail(name, f"expected {expected} of printable characters, got {_shown(value)}")
        return value

    def table(self, name: str, expected: str = "a table") -> Fields:
        """Take a required table."""
        value = self.take(name, expected)
        return Fields(value, self.source, f"{self.place}.{name}" if self.place else name)

    def tables(self, name: str, expected: str) -> list[Fields]:
        """Take a required table or array of tables; places count from 1."""
        value = self.take(name, expected)
        if isinstance(value, Mapping):
            return [Fields(value, self.source, name)]
        if not isinstance(value, list) or not value:
            self.fail(name, f"expected {expected}, got {_shown(value)}")
        return [Fields(item, self.source, f"{name}[{i}]") for i, item in enumerate(value, 1)]

    def finish(self, known: Sequence[str] = (), *, readers: Sequence[str] = ()) -> None:
        """Refuse fields that nobody took.

        `known` names optional ones beside those that were asked for, `readers` what was asked, if it is to be named.
        """
        to_whom = f" to {', '.join(readers)}" if readers else ""
        for name in self._left:
            expected = dict.fromkeys([*self._known, *known])
            self.fail(
                name if len(name) <= 60 and name.isprintable() else _shown(name),
                f"unknown field{to_whom}, expected one of {', '.join(expected)}{meant(name, expected)}",
            )
