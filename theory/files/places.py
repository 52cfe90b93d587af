"""Where commands read and write: the one place that decides what is a file, and that keeps outputs away from inputs.

Inputs are regular files, and so are outputs; links are followed. Devices, pipes, sockets and folders are refused, and
before they are opened where that can be seen, so that nothing waits for a pipe or reads a device without end. Outputs
are written whole or not at all: beside their place, then renamed. Within a command (`files_of_a_command`) no output may
be a file that the command reads, or another of its outputs; ``-`` and ``/dev/stdout`` stand for standard output where
an option takes them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import BufferedReader
from math import isfinite
from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.answer import print_file
from theory.files.kinds import begins_as_kubernetes, kind_of_bytes, kind_of_text

MAX_BYTES = 64 * 2**20
"""Largest document that is read."""

LOOK = 2**20
"""Bytes of a file that are looked at to tell its kind."""

LINE = 1000
"""Bytes of a long file by which the objects of Kubernetes are recognised."""

_AS_IT_IS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""How files are opened, as far as the system knows it. What was a file may be a pipe by now: without O_NONBLOCK,
opening one waits for a writer."""

STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of standard output."""


@dataclass
class _Files:
    """What a command reads and writes, by the names that it was given, in order; and what it prints."""

    inputs: dict[str, None] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    printed: str = ""


_FILES: ContextVar[_Files | None] = ContextVar("_FILES", default=None)


@contextmanager
def files_of_a_command() -> Iterator[None]:
    """Keep the outputs of what runs inside apart from its inputs and from each other.

    Examples
    --------
    >>> with files_of_a_command():
    ...     announce_output("answer.json")
    ...     note_input("./answer.json")
    Traceback (most recent call last):
    theory.errors.InputError: answer.json: named twice, expected another file to write
    """
    token = _FILES.set(_Files())
    try:
        yield
    finally:
        _FILES.reset(token)


def _refuse_same(path: str | Path, others: Iterable[str]) -> None:
    """Refuse a file that one of the others is: by its name, by a link, or by a second name."""
    for other in others:
        try:
            is_same = os.path.samefile(path, other)
        except (OSError, ValueError):  # one of them is not there
            is_same = os.path.realpath(path) == os.path.realpath(other)
        if is_same:
            raise InputError(Path(path), "", "named twice, expected another file to write")


def _is_standard_output(path: str | Path) -> bool:
    return _FILES.get() is not None and str(path) in STANDARD_OUTPUT


# ---- reading ---------------------------------------------------------------------------------------------------------


def note_input(path: str | Path) -> None:
    """Note that the command reads a file; one that it is to write, too, is refused."""
    files = _FILES.get()
    if files is not None:
        _refuse_same(path, files.outputs)
        files.inputs[str(path)] = None


def inputs_of_the_command() -> list[str]:
    """Return the files that the command has read so far, by the names under which it opened them."""
    files = _FILES.get()
    return [] if files is None else list(files.inputs)


def digest_of_file(path: str | Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits; a file that cannot be read is an InputError."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_input(path: str | Path) -> BufferedReader:
    """Open a regular file for reading; an output of the command and whatever cannot be read is refused."""
    note_input(path)
    return open_regular(path)


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file for reading, whether or not the command writes it, too (see `open_input`)."""
    path = Path(path)
    try:
        # seen before it is opened, since opening some devices has effects
        _refuse_irregular(path, os.stat(path).st_mode, "expected a file")
        handle = os.open(path, os.O_RDONLY | _AS_IT_IS)
        try:
            _refuse_irregular(path, os.fstat(handle).st_mode, "expected a file")
        except BaseException:
            os.close(handle)
            raise
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(repr(path), "", f"cannot be read: {error}") from error
    return os.fdopen(handle, "rb")


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """Read a regular file of at most a number of bytes, whatever size the system says that it has."""
    try:
        with open_input(path) as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise InputError(path, "", f"expected at most {most // 2**20} MiB")
    return content


def read_text(path: str | Path) -> str:
    """Read a regular file of UTF-8 text that is not empty; a byte order mark is no part of it."""
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "", not_text(content, error)) from error
    if not text.strip():
        raise InputError(path, "", "expected a document, found an empty file")
    return text


def not_text(content: bytes, error: UnicodeDecodeError) -> str:
    """Word the refusal of a file that is no text; `content` is how it begins."""
    content_found = kind_of_bytes(content) or f"byte {error.object[error.start]:#04x}"
    return f"expected UTF-8 text, found {content_found}"


def kind_of_file(path: str | Path) -> str:
    """Return what a file is that could not be read as it should; empty where that is not known, or it is large."""
    with open_regular(path) as stream:
        content = stream.read(LOOK + 1)  # one byte more tells whether it is longer
    if not content.strip():
        return "an empty file"
    kind = kind_of_bytes(content)
    begin = content[:LINE].decode("utf-8-sig", "replace")
    if not kind and begins_as_kubernetes(begin):
        return kind_of_text(begin)
    if kind or len(content) > LOOK:
        return kind
    try:
        return kind_of_text(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return ""


_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _refuse_irregular(path: Path, mode: int, expected: str) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "something else")
        raise InputError(path, "", f"{expected}, found {kind}")


# ---- writing ---------------------------------------------------------------------------------------------------------


def announce_output(path: str | Path, *, printed: bool = False, folder: bool = False) -> None:
    """Refuse a place that cannot be written before any work is done, and keep it apart from other files.

    With `printed`, names of standard output are taken as such; with `folder`, a folder may be there (`write_folder`
    refuses one that holds files).
    """
    path = Path(path)
    if _is_standard_output(path):
        if not printed:
            raise InputError(path, "", "expected the name of a file to write, got standard output")
        announce_print(str(path))
        return
    if not (folder and path.is_dir()):
        refuse_unwritable(path)
    files = _FILES.get()
    if files is not None:
        _refuse_same(path, files.inputs | files.outputs)
        files.outputs[str(path)] = None


def announce_print(what: str) -> None:
    """Refuse that two documents are printed: standard output holds the answer as JSON, or one output, and no more."""
    files = _FILES.get()
    if files is not None:
        if files.printed:
            raise InputError(what, f"standard output has {files.printed} already, expected the name of a file")
        files.printed = "the answer" if what == "--json" else "another output"


def output_is_printed() -> bool:
    """Return whether standard output holds an output file, so that the answer as text must stay away."""
    files = _FILES.get()
    return files is not None and files.printed == "another output"


def refuse_unwritable(path: str | Path) -> None:
    """Refuse a place where `write_bytes` would fail, as far as can be seen beforehand.

    Raises
    ------
    InputError
        Anything but a regular file, links that lead nowhere, a name in a folder that is not there, and what must not
        be written.
    """
    path = Path(path)
    try:
        _refuse_irregular(path, os.stat(path).st_mode, "expected a file name to write")
        if not os.access(path, os.W_OK):
            raise InputError(path, "", f"cannot be written: {os.strerror(errno.EACCES)}")
    except FileNotFoundError:
        pass  # nothing there, or a link to a place where nothing is: that place is written
    except OSError as error:
        raise InputError(path, "", f"cannot be written: {error.strerror}") from error
    if os.path.abspath(path).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        raise InputError(path, "", "expected a file name to write, found a device")
    # the file is made beside the place behind all links, and renamed, so that folder must take new files
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(
            path, "", f"cannot be written: there is no folder {folder if path.is_symlink() else path.parent}"
        )
    if not os.access(folder, os.W_OK):
        raise InputError(path, "", f"cannot be written: {os.strerror(errno.EACCES)}")


def _place_to_write(path: Path) -> Path:
    """Return the place behind all links; refuse a file that the command has read."""
    files = _FILES.get()
    if files is not None:
        _refuse_same(path, files.inputs)
    return Path(os.path.realpath(path))


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole or not at all, or standard output where an option takes it (see `write_bytes`)."""
    if _is_standard_output(path):
        print_file(text)
    else:
        write_bytes(path, text.encode("utf-8"))


def json_text(document: Any, *, indent: int | None = 2, ascii_only: bool = False) -> str:
    """Return a document as JSON text; a number that is not finite is null, as JSON has no word for it.

    Objects with a method ``to_json`` are what that returns; other objects that JSON does not know are their text.

    Examples
    --------
    >>> from fractions import Fraction
    >>> json_text({"limit": float("inf"), "ratio": Fraction(3, 4), "all": [1.5, float("nan")]}, indent=None)
    '{"limit": null, "ratio": "3/4", "all": [1.5, null]}'
    """
    how: dict[str, Any] = {"indent": indent, "ensure_ascii": ascii_only, "allow_nan": False, "default": _plain}
    try:
        return json.dumps(document, **how)
    except ValueError:
        return json.dumps(_finite(document), **how)


def _plain(value: Any) -> Any:
    return value.to_json() if hasattr(value, "to_json") else str(value)


def _finite(value: Any) -> Any:
    """Return a document whose numbers that are not finite are None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return _finite(value.to_json()) if hasattr(value, "to_json") else value


def write_json(path: str | Path, document: Any) -> None:
    """Write a document as indented JSON (see `write_text`)."""
    write_text(path, json_text(document) + "\n")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all: a temporary file beside it, then renamed. Links are followed and stay."""
    path = Path(path)
    refuse_unwritable(path)
    place = _place_to_write(path)
    try:
        # named before it is there, so that an interrupt at any instant finds it
        temporary = place.with_name(f".packproof.{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as stream:
                stream.write(content)
            # a file that is replaced keeps its permissions
            if place.exists():
                temporary.chmod(place.stat().st_mode & 0o777)
            temporary.replace(place)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(path, "", f"cannot be written: {error.strerror}") from error


def write_folder(path: str | Path, files: Mapping[str, str]) -> None:
    """Write text files by name into a folder that is empty or not there, whole or not at all.

    The folder is made under another name, then renamed.
    """
    path = Path(path)
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(
                path, "", f"expected a folder that is empty or not there, to write {len(files)} files into"
            )
        if not path.is_dir():
            refuse_unwritable(path)
        place = _place_to_write(path)
        new_folder = place.with_name(f".packproof.{secrets.token_hex(8)}")
        try:
            new_folder.mkdir()
            for name, text in files.items():
                (new_folder / name).write_text(text, encoding="utf-8")
            new_folder.replace(place)
        except BaseException:
            shutil.rmtree(new_folder, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(path, "", f"cannot be written: {error.strerror}") from error


def names_own_code(name: str) -> bool:
    """Return whether a name is that of a user's code, rather than of something that packproof has.

    >>> [names_own_code(name) for name in ("own.py:BEST", "mypkg.policies:Tetris", "first-fit", "vqs:list")]
    [True, True, False, False]
    """
    place, _, attribute = name.rpartition(":")
    is_module = bool(place) and all(part.isidentifier() for part in os.path.basename(place).split("."))
    return ".py:" in name or (is_module and attribute.isidentifier() and attribute != "list")
