"""The errors a user meets: one line each, exit status 2."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

FIELDS = ("server", "type", "sizes", "simulation")
"""Tables of an instance file."""


MAX_QUOTED, MAX_WORD, MAX_LINE = 80, 400, 2000
"""Most characters of a message's quotations, of its words, which may be paths, and of the whole."""


class LineError(ValueError):
    """An error that is one line: where it is, and what is wrong there.

    It is made of its problem, of place and problem, or of source, place and problem, in the order of the line.

    Attributes
    ----------
    source : str
        The name of a file, perhaps with the number of a line; empty where it is not about a file.
    place : str
        The field of a file, the name of an argument, or the function of a policy; empty where it is about no such.
    problem : str
        What was expected, and what was found.

    Examples
    --------
    >>> error = InputError("pair.toml", "simulation.d", "expected a whole number")
    >>> error.place, error.table, str(error)
    ('simulation.d', 'simulation', 'pair.toml: simulation.d: expected a whole number')
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*words)
        if not 1 <= len(words) <= 3:
            raise TypeError(f"expected source, place and problem, got {len(words)} words")
        self.source, self.place, self.problem = ("", "", *map(str, words))[-3:]

    def __str__(self) -> str:
        """Return the line."""
        return ": ".join(part for part in (self.source, self.place, self.problem) if part)

    @property
    def table(self) -> str:
        """The first word of the place, which is a table of a file or an argument."""
        return re.split(r"[^\w-]", self.place, maxsplit=1)[0]

    def within(self, source: str | Path) -> Self:
        """Return the error with the name of a file before its own source, unless that begins with it."""
        named = f"{self.source}: ".startswith(f"{source}: ")
        return self._changed(self.source if named else f"{source}: {self.source}".removesuffix(": "), self.problem)

    def ending(self, words: str) -> Self:
        """Return the error with more words at the end of its problem."""
        return self._changed(self.source, self.problem + words)

    def _changed(self, source: str, problem: str) -> Self:
        """Return an error of the same class with another source and problem."""
        error = type(self).__new__(type(self))
        error.__dict__.update(self.__dict__)
        LineError.__init__(error, source, self.place, problem)
        return error


class InputError(LineError):
    """Bad input: one line that names the file, the field and what was expected."""


class ContractError(LineError):
    """A policy does what the interface of its model forbids; the words say what was expected."""


class TooLargeError(InputError):
    """Work beyond a stated limit: one line that states its size and gives advice."""


class ArgumentError(InputError):
    """A wrong argument of a function: `place` is its name, which the command line writes as an option."""


class ArgumentTooLargeError(TooLargeError, ArgumentError):
    """An argument that asks for work beyond a stated limit."""


FAULT = 70  # EX_SOFTWARE of the BSD list of exit statuses
"""The exit status of a fault of packproof itself."""


def words_of_fault(error: BaseException) -> str:
    """Return what is said of a fault of packproof itself: its kind, its words, and its place where that is known."""
    place = _place_of_fault(error)
    return f"a fault of packproof itself: {type(error).__name__}: {str(error)[:200]}{place and f' ({place})'}"


def _place_of_fault(error: BaseException) -> str:
    """Return ``FILE:LINE`` of the innermost code of packproof in a traceback; empty where there is none."""
    home = Path(__file__).parents[1]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(home) and file.relative_to(home).parts[0] in ("theory", "fluid", "bounds"):
            return f"{file.relative_to(home).as_posix()}:{frame.lineno}"
    return ""


def expect(value: object, kind: type | tuple[type, ...], name: str, words: str) -> None:
    """Refuse an argument that is not of a kind.

    Examples
    --------
    >>> expect("x.toml", int, "servers", "a number of servers")
    Traceback (most recent call last):
    theory.errors.ArgumentError: servers: expected a number of servers, got the str 'x.toml'
    """
    if not isinstance(value, kind):
        raise ArgumentError(name, f"expected {words}, got the {type(value).__name__} {value!r:.60}")


def expect_number(value: Any, name: str, least: int, most: int | None = None) -> None:
    """Refuse an argument that is no whole number from `least` to `most`; numpy's integers are whole numbers."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        words = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ArgumentError(name, f"expected a whole number {words}, got {value!r:.60}")


def meant(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks for names that are like a wrong one; empty where none is.

    Examples
    --------
    >>> meant("polcy", ["policy", "servers"]), meant("colour", ["policy", "servers"])
    ('; did you mean policy?', '')
    """
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(known), 2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def quoted(name: str) -> str:
    """Return a name as it stands in a text: in quotation marks if it could be taken for what stands around it.

    Letters, digits and a few signs need none; blanks, commas, colons, quotation marks and the like do.

    Examples
    --------
    >>> quoted("m5.large"), quoted("ann 4, bob")
    ('m5.large', '"ann 4, bob"')
    """
    return name if re.fullmatch(r"\w[\w.+/-]*", name) else json.dumps(name, ensure_ascii=False)


def listed(names: Iterable[str]) -> str:
    """Return names with commas between them, such as ``a, b, "c d"``."""
    return ", ".join(map(quoted, names))


def shortened(message: str) -> str:
    """Return a message in which long values are cut: quoted text, words such as numbers and paths, and the whole.

    Examples
    --------
    >>> shortened(f"--sla: expected a number, got {'x' * 100_000!r}").replace("x" * 37, "X")
    "--sla: expected a number, got 'X...X'"
    """
    # an apostrophe within a word begins no quotation; short quotations are matched as well, lest their end begins one
    message = re.sub(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")", lambda quoted: cut(quoted[0], MAX_QUOTED), message)
    message = re.sub(rf"\S{{{MAX_WORD + 1},}}", lambda word: cut(word[0], MAX_WORD), message)
    return cut(message, MAX_LINE)


def cut(text: str, most: int) -> str:
    """Return a text without its middle where it is longer than `most`.

    >>> cut("abcdefghijkl", 9)
    'abc...jkl'
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


@contextmanager
def naming(source: str | Path, fields: tuple[str, ...] = FIELDS) -> Iterator[None]:
    """Put the name of a file before errors about one of its fields.

    Examples
    --------
    >>> with naming("pair.toml"):
    ...     raise InputError("simulation.d", "expected a whole number")
    Traceback (most recent call last):
    theory.errors.InputError: pair.toml: simulation.d: expected a whole number
    """
    try:
        yield
    except InputError as error:
        if error.source or error.table not in fields:
            raise  # it names its file already, or no field of this one
        raise error.within(source) from error
