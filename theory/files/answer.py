"""The answer of a command, and standard output, which holds the answer and nothing else while a command runs.

Libraries print where they please: a solver its banner on descriptor 1, Python code by ``print``. `answer_apart` lets
both reach standard error, in this process and in those that it begins, and gives the answer a stream of its own.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from typing import TextIO

_ANSWER: ContextVar[TextIO | None] = ContextVar("_ANSWER", default=None)


@contextmanager
def answer_apart() -> Iterator[TextIO]:
    """Give the stream of the answer; whatever else is printed inside goes to standard error.

    Where standard output is descriptor 1, the answer goes to a duplicate of it, which no other process inherits, and
    descriptor 1 itself to standard error. Where it is something else, such as text in memory, it stays as it is.
    """
    output = sys.stdout
    on_descriptor = _descriptor(output) == 1
    stream: TextIO = _duplicate(output) if on_descriptor else output
    token = _ANSWER.set(stream)
    try:
        with redirect_stdout(sys.stderr):
            if on_descriptor:
                _send_descriptor_1_to_stderr()
            yield stream
    finally:
        _ANSWER.reset(token)
        if on_descriptor:
            # in this order: what libraries hold back belongs to standard error, where descriptor 1 still leads
            _flush_libraries(output)
            os.dup2(stream.fileno(), 1)
            with suppress(OSError):  # it was flushed where a failure is reported
                stream.close()


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _duplicate(stream: TextIO) -> TextIO:
    """Return a stream like one on a descriptor, on a duplicate of it that other programs do not inherit."""
    stream.flush()
    return io.TextIOWrapper(
        os.fdopen(os.dup(stream.fileno()), "wb"),
        encoding=stream.encoding,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _send_descriptor_1_to_stderr() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _flush_libraries(output: TextIO) -> None:
    """Write what libraries have left in the buffers of descriptor 1, before it is standard output again."""
    with suppress(OSError):
        output.flush()
    with suppress(OSError, TypeError, AttributeError):  # a system without a C library that Python finds
        ctypes.CDLL(None).fflush(None)


def answer_stream() -> TextIO:
    """Return where answers are printed: standard output, whatever has become of ``sys.stdout`` while a command runs."""
    return _ANSWER.get() or sys.stdout


def answer_width() -> int:
    """Return the columns of the terminal that shows the answer (or COLUMNS); 80 where standard output is none."""
    # as programs on Unix do: COLUMNS first, then the terminal, then 80
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(answer_stream().fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def print_answer(text: str, end: str = "\n") -> None:
    r"""Print a part of the answer.

    Characters that the encoding of standard output lacks are escaped, so that no terminal can make a command fail:
    ``\u4e2d``.
    """
    stream = answer_stream()
    line = text + end
    if not can_print(line):
        encoding = stream.encoding or "utf-8"
        line = line.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(line)
    stream.flush()


def can_print(text: str) -> bool:
    """Return whether the encoding of standard output has all characters of a text."""
    try:
        text.encode(answer_stream().encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_file(text: str) -> None:
    """Print the content of a file: in UTF-8, as files are, whatever the encoding of the terminal."""
    stream = answer_stream()
    stream.flush()
    raw = getattr(stream, "buffer", None)
    if raw is None:  # text in memory
        stream.write(text)
    else:
        raw.write(text.encode("utf-8"))
    stream.flush()


def give_up_answer() -> None:
    """Point the answer nowhere, so that what is left in its buffer does not fail again as the stream is closed."""
    stream = answer_stream()
    number = _descriptor(stream)
    if number is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
