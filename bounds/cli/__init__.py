"""The command line: one file a command; exit status 0 done, 1 refuted, 2 bad input with one line on stderr."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

from bounds.cli import admission_runs
from bounds.cli.admission import group as admission
from bounds.cli.app import app
from bounds.cli.check import check
from bounds.cli.experiment import experiment
from bounds.cli.export import export
from bounds.cli.fluid import fluid
from bounds.cli.instance import instance
from bounds.cli.region import region
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
    "check",
    "experiment",
    "export",
    "fluid",
    "instance",
    "main",
    "region",
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
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status; errors a user can make end in one line."""
    from theory.errors import InputError

    before = _listen_for_interrupts()
    try:
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
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

    print(printable(" ".join(message.split())), file=sys.stderr)  # a file or a path may hold control characters
    return status
