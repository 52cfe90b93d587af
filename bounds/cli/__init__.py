"""The command line: a file a command, or a few that belong together; `endings` says how a command ends.

`app` has the application, `options` the options that several commands share, `made` what made an answer, and `apart`
runs users' code in a process of its own.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from bounds.cli import (  # noqa: F401 (each of them adds its commands to `app`)
    admission,
    admission_fit,
    attack,
    check,
    example,
    experiment,
    fluid,
    instance,
    plan,
    region,
    report,
    reproduce,
    schema,
    share,
    simulate,
    solve,
    throughput,
    verify,
    worst,
)
from bounds.cli.app import COMPLETE, MAX_WIDTH, answer_shell, app
from bounds.cli.endings import INTERRUPT, ended, status_of
from bounds.cli.made import forget_command
from theory.errors import InputError
from theory.files.answer import answer_apart, answer_width

__all__ = ["app", "main", "run"]

NOT_FROM_A_FILE = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")
"""Settings of numba that say where machine code is loaded from. Numba takes what the environment leaves out from a file
``.numba_config.yaml`` of the working folder, which may be a stranger's; empty, they mean the default."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    from bounds.cli.apart import run_apart, runs_code

    if COMPLETE in os.environ:
        answer_shell()
    words = sys.argv[1:] if arguments is None else arguments
    last = partial(run, process_ends=True)
    apart = hasattr(os, "fork") and runs_code(words)
    sys.exit(run_apart(last, words, ended) if apart else last(words))


def run(arguments: list[str], *, process_ends: bool = False) -> int:
    """Run the command line and return its exit status; nothing but the answer reaches standard output.

    With `process_ends` the process does nothing afterwards but end: Ctrl-C and SIGTERM are ignored from the end of the
    command on. Python gives its own handlers up while it shuts down, and a signal would then replace the status.
    """
    for name in NOT_FROM_A_FILE:
        os.environ.setdefault(name, "")
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
                return _run(arguments, signals)
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


def _run(arguments: list[str], signals: list[int]) -> int:
    """Run the command line within its streams; `signals` holds those that came."""
    from theory.files.places import files_of_a_command

    try:
        forget_command()
        with files_of_a_command():
            width = max(min(answer_width(), MAX_WIDTH) - 2, 50)
            status = app(arguments, prog_name="packproof", standalone_mode=False, terminal_width=width)
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
