"""How a command runs and ends: its streams, its signals, its exit status.

==================================================  ======  ============================================================
what happens                                        status  what the command does
==================================================  ======  ============================================================
It has an answer                                    0       The answer is all that standard output holds.
A claim fails, a certificate is refuted             1       The answer says which. 1 is said of verdicts alone.
Bad input, or work beyond a limit                   2       One line on standard error, no answer, nothing half-written.
The disk is full, no file handle or memory is left  2       One line.
An author's code ends the process                   2       One line (`bounds.cli.apart`).
A fault of packproof itself                         70      One line, and with PACKPROOF_TRACEBACK=1 the traceback.
Ctrl-C or SIGTERM                                   130     "interrupted", unless the command has an answer so far: then
                                                            the answer, and 0. Long searches look for it.
Another one as the process ends                     as is   Nothing: the answer is complete, and so is the status.
Ctrl-Z                                              -       The processes that it has begun stop with it.
The reader of standard output leaves                0       Nothing more is written.
Standard output is closed                           2       One line.
Standard error is closed                            as is   What would be said there is lost.
A library prints                                    as is   On standard error (`theory.files.answer`).
A character is none of the terminal's               as is   It is escaped.
==================================================  ======  ============================================================
"""

from __future__ import annotations

import _thread
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from theory.errors import FAULT, ArgumentError, InputError, shortened, words_of_fault
from theory.files.answer import answer_apart, give_up_answer

INTERRUPT = 130  # 128 and the number of SIGINT, as shells have it
TRACEBACK = "PACKPROOF_TRACEBACK"  # the variable of the environment that asks for the traceback of a fault

PLEASE = f"please report it, with the command, to whom you have packproof from ({TRACEBACK}=1 shows the traceback)"

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def run(command: Callable[[], Any], *, process_ends: bool = False) -> int:
    """Run a command and return its exit status; nothing but the answer reaches standard output.

    With `process_ends` the process does nothing afterwards but end: Ctrl-C and SIGTERM are ignored from the end of the
    command on. Python gives its own handlers up while it shuts down, and a signal would then replace the status.
    """
    if sys.stderr is None:  # closed by whoever started packproof: `print` would fall back to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process lives)
    if sys.stdout is None:
        return ended("packproof: standard output is closed, expected it open for the answer")
    before, signals = _listen_for_interrupts()
    hook = sys.unraisablehook
    if before:  # where signals are listened to, in the main thread
        sys.unraisablehook = partial(_raise_later, hook)
    try:
        with answer_apart():
            try:
                return _run(command, signals)
            finally:  # the answer is complete, and so is the status: no signal changes it
                for number, _ in before:
                    signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:  # while the streams are opened
        return ended("interrupted", INTERRUPT)
    finally:
        if before:
            sys.unraisablehook = hook
        for number, handler in before if not process_ends else ():
            signal.signal(number, handler)


def _raise_later(hook: Callable[[Any], object], unraisable: Any) -> None:
    """Raise KeyboardInterrupt once more where it was raised in vain, such as in a function that C has called."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, _thread.interrupt_main).start()  # later, as nothing is raised from here either
    else:
        hook(unraisable)


def _run(command: Callable[[], Any], signals: list[int]) -> int:
    """Run a command within its streams; `signals` holds those that came."""
    try:
        status = command()
        if status == INTERRUPT:  # the frame around commands turns Ctrl-C into this status, without a word
            raise KeyboardInterrupt
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        # what is imported turns an interrupt into an error of its own
        return status_of(KeyboardInterrupt() if signals and not isinstance(error, InputError) else error)
    return status if isinstance(status, int) else 0


def _listen_for_interrupts() -> tuple[list[tuple[signal.Signals, Any]], list[int]]:
    """Note every Ctrl-C, or SIGTERM, where long searches look, and raise KeyboardInterrupt.

    Returned are the handlers before, by signal, and the signals that came, a list which grows.
    """
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        return [], signals

    def interrupt(number: int, frame: object) -> None:
        del frame
        from bounds.adversary.budget import INTERRUPTED

        signals.append(number)
        INTERRUPTED.set()
        raise KeyboardInterrupt

    return [(number, signal.signal(number, interrupt)) for number in (signal.SIGINT, signal.SIGTERM)], signals


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
    if isinstance(error, ArgumentError) and not error.source:  # of a function: an option has the name of the argument
        return ended(f"--{error.place.replace('_', '-')}: {error.problem}")
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
