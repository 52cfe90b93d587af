"""How a command ends: its exit status, and one line on standard error that says why it has no answer.

0 is done; 1 is said of verdicts alone; 2 is bad input, or work beyond a limit; 70 a fault of packproof itself; 130 an
interrupt.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback

from theory.errors import FAULT, ArgumentError, InputError, shortened, words_of_fault
from theory.files.answer import give_up_answer

INTERRUPT = 130  # 128 and the number of SIGINT, as shells have it
TRACEBACK = "PACKPROOF_TRACEBACK"  # the variable of the environment that asks for the traceback of a fault

PLEASE = f"please report it, with the command, to whom you have packproof from ({TRACEBACK}=1 shows the traceback)"

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def ended(message: str, status: int = 2) -> int:
    """Write one line to standard error and return the status; where no line can be written, the status says it."""
    from bounds.checker import printable

    try:
        print(printable(shortened(" ".join(message.split()))), file=sys.stderr, flush=True)
    except OSError:  # from 3.13 on Python would try once more as it ends, and turn the status into 120
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process lives)
    return status


def status_of(error: BaseException) -> int:
    """Say in one line why a command ended, and return its status."""
    usage = getattr(error, "format_message", None)  # of the parser of the command line
    if isinstance(error, ArgumentError):  # of a function: the option has the name of the argument
        name, _, words = str(error).partition(":")
        return ended(f"--{name.replace('_', '-')}:{words}")
    if isinstance(error, InputError):
        return ended(str(error))
    if isinstance(error, KeyboardInterrupt):
        return ended("interrupted", INTERRUPT)
    if _reader_has_left(error):
        give_up_answer()
        return 0
    if isinstance(error, SystemExit):
        return ended(f"packproof: the code of an author called sys.exit({error.code!r}), expected it to return")
    if isinstance(error, MemoryError):
        return ended(
            "packproof: the memory is used up: expected more of it (see ulimit -v), or less work: a smaller file, "
            "fewer servers or replications, a shorter time"
        )
    failure = _system_failure(error) if isinstance(error, OSError | ImportError) else None
    if failure is None and usage is not None:
        failure = usage()
    return _fault(error) if failure is None else ended(f"packproof: {failure}")


def _reader_has_left(error: BaseException) -> bool:
    """Return whether the pipe was closed that the answer goes to; the frame around commands turns that into an exit."""
    # typer ends with status 1 where the pipe is closed, and keeps the cause
    cause = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(cause, OSError) and cause.errno == errno.EPIPE


def _fault(error: BaseException) -> int:
    status = ended(f"packproof: {words_of_fault(error)}; {PLEASE}", FAULT)
    if os.environ.get(TRACEBACK, "0") != "0":
        traceback.print_exception(error)
    return status


def _system_failure(error: OSError | ImportError) -> str | None:
    """Return in words what the system refused: a full disk, no file handle left; None for a fault of the code."""
    if isinstance(error, ImportError):  # a library that could not be opened, for lack of handles or memory
        return str(error) if "cannot open shared object file" in str(error) else None
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{error.strerror}: expected a higher limit of file handles (ulimit -n)"
    if error.filename is None and error.errno in _FULL:
        give_up_answer()  # files that are written name themselves, so this is the answer
        return f"the answer cannot be written to standard output: {error.strerror}"
    return f"{error.filename}: {error.strerror}" if error.filename else None
