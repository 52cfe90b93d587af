"""What made an answer: version, command, options, seed, inputs and libraries, in JSON and as the last line of text."""

from __future__ import annotations

import shlex
import sys
from contextvars import ContextVar
from enum import Enum
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from theory.errors import InputError
from theory.files.places import digest_of_file, inputs_of_the_command
from theory.version import __version__

LIBRARIES = {
    "numpy": "numpy",
    "numba": "numba",
    "scipy": "scipy",
    "highspy": "highspy",
    "flint": "python-flint",
    "cvxpy": "cvxpy",
    "sympy": "sympy",
    "pyscipopt": "pyscipopt",
    "pyarrow": "pyarrow",
}
"""Packages that numbers may depend on, by the name under which they are imported."""

HEX = 12  # digits of a digest in a line of text


class Words(NamedTuple):
    """A command, its words, and its parameters by name."""

    command: str
    words: tuple[str, ...]
    parameters: dict[str, Any]

    @property
    def line(self) -> str:
        """Return the command line."""
        return f"{self.command} {shlex.join(self.words)}".rstrip()


_WORDS: ContextVar[Words | None] = ContextVar("_WORDS", default=None)


def note_command(command: str, words: list[str], parameters: dict[str, Any]) -> None:
    """Note which command runs, and with which parameters."""
    _WORDS.set(Words(command, tuple(words), dict(parameters)))


def forget_command() -> None:
    """Note that no command runs yet."""
    _WORDS.set(None)


def made() -> dict[str, Any] | None:
    """Return what makes the answer of the command that runs, as JSON has it; None where no command runs.

    Options are those that have a value, by the names of the parameters; defaults are among them. Inputs have the
    SHA-256 of their content as the answer is printed, libraries are those that were loaded.
    """
    words = _WORDS.get()
    if words is None:
        return None
    options = {
        name: _plain(value)
        for name, value in words.parameters.items()
        if name not in ("as_json", "seed") and value not in (None, False, (), [])
    }
    return {
        "version": __version__,
        "command": words.line,
        "options": options,
        "seed": words.parameters.get("seed"),
        "inputs": _digests(),
        "libraries": {name: _version(name) for module, name in LIBRARIES.items() if module in sys.modules},
    }


def made_line() -> str | None:
    """Return what makes the answer in one line: the command, and how the digest of each input begins."""
    words, origin = _WORDS.get(), made()
    if words is None or origin is None:
        return None
    inputs = "".join(f"; {path} is sha256 {digest[:HEX]}" for path, digest in origin["inputs"].items())
    libraries = ", ".join(f"{name} {number}" for name, number in origin["libraries"].items())
    beside = f" with {libraries}" if libraries else ""
    return f"made by packproof {__version__}{beside}: {words.line}{inputs}"


@cache
def _version(name: str) -> str:
    return version(name)


def _digests() -> dict[str, str]:
    digests = {}
    for path in inputs_of_the_command():
        try:
            digests[path] = digest_of_file(path)
        except (InputError, OSError):  # it has gone since it was read
            continue
    return digests


def _plain(value: Any) -> Any:
    """Return the value of an option as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, bool | int | float) else str(value)
