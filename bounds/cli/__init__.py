"""The command line: one file a command; exit status 0 done, 1 refuted, 2 bad input with one line on stderr."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from bounds.cli import admission_runs
from bounds.cli.admission import group as admission
from bounds.cli.app import app
from bounds.cli.attack import attack
from bounds.cli.catalogue import catalogue
from bounds.cli.check import check
from bounds.cli.completion import completion
from bounds.cli.experiment import experiment
from bounds.cli.export import export
from bounds.cli.fluid import fluid
from bounds.cli.instance import instance
from bounds.cli.region import region
from bounds.cli.reproduce import reproduce
from bounds.cli.share import share
from bounds.cli.simulate import simulate
from bounds.cli.solve import solve
from bounds.cli.throughput import throughput
from bounds.cli.verify import verify
from bounds.cli.worst import worst

__all__ = [
    "admission",
    "admission_runs",
    "app",
    "attack",
    "catalogue",
    "check",
    "completion",
    "experiment",
    "export",
    "fluid",
    "instance",
    "main",
    "region",
    "reproduce",
    "run",
    "share",
    "simulate",
    "solve",
    "throughput",
    "verify",
    "worst",
]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    from bounds.cli.apart import names_code, run_apart

    words = sys.argv[1:] if arguments is None else arguments
    apart = hasattr(os, "fork") and names_code(words)
    sys.exit(run_apart(run, words, _fail) if apart else run(words))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status; errors a user can make end in one line."""
    from theory.errors import InputError
    from theory.files.places import files_of_a_command

    if sys.stderr is None:  # closed by whoever started packproof: `print` would fall back to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process lives)
    if sys.stdout is None:
        return _fail("packproof: standard output is closed, expected it open for the answer")
    before = _listen_for_interrupts()
    try:
        with files_of_a_command():
            status = app(arguments, prog_name="packproof", standalone_mode=False)
        sys.stdout.flush()
        if status == 130:  # the frame around commands turns Ctrl-C into this status, without a word
            raise KeyboardInterrupt
    except InputError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted", status=130)
    except BrokenPipeError:
        # whoever read the output has closed it: nothing more to say, and the interpreter must not try
        _give_up_stdout()
        return 0
    except SystemExit as error:
        if isinstance(error.__context__, OSError) and error.__context__.errno == errno.EPIPE:
            _give_up_stdout()  # the frame around commands turns a closed pipe into this
            return 0
        return _fail(f"packproof: the code of an author called sys.exit({error.code!r}), expected it to return")
    except (OSError, ImportError) as error:
        failure = _system_failure(error)
        if failure is None:
            raise
        return _fail(f"packproof: {failure}")
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            raise
        return _fail(f"packproof: {usage()}")
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    return status if isinstance(status, int) else 0


def _listen_for_interrupts() -> list[tuple[signal.Signals, Any]]:
    """Note every Ctrl-C, or SIGTERM, where long searches look, and raise KeyboardInterrupt; return what did before."""
    if threading.current_thread() is not threading.main_thread():
        return []

    def interrupt(number: int, frame: object) -> None:
        del number, frame
        from bounds.adversary.budget import INTERRUPTED

        INTERRUPTED.set()
        raise KeyboardInterrupt

    return [(number, signal.signal(number, interrupt)) for number in (signal.SIGINT, signal.SIGTERM)]


def _fail(message: str, status: int = 2) -> int:
    from bounds.checker import printable

    with suppress(OSError):  # where nobody can be told, the status says it
        print(printable(" ".join(message.split())), file=sys.stderr, flush=True)
    return status


def _system_failure(error: OSError | ImportError) -> str | None:
    """Return in words what the system refused: a full disk, no file handle left; None for a fault of the code."""
    if isinstance(error, ImportError):  # a library that could not be opened, for lack of handles or memory
        return str(error) if "cannot open shared object file" in str(error) else None
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{error.strerror}: expected a higher limit of file handles (ulimit -n)"
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF):
        _give_up_stdout()  # files that are written name themselves, so this is the answer
        return f"the answer cannot be written to standard output: {error.strerror}"
    return f"{error.filename}: {error.strerror}" if error.filename else None


def _give_up_stdout() -> None:
    """Point standard output nowhere, so that what is left in its buffer does not fail again as Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
