"""Commands that run a user's code have a process of their own, so that its end does not pass for an answer.

A user's code may end its process: by ``os._exit``, by a library that crashes, by taking all memory. The process that
the shell waits for therefore only waits; the other one writes one byte to it when the command is over. Without this
byte there is one line on stderr, and the status is 2.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from fluid.parallel import end_with, stopped_together
from theory.files.places import names_own_code

ALLOW_CODE = "--allow-code"


def runs_code(arguments: list[str]) -> bool:
    """Return whether a command line names code of a user's own, or allows the code that a file names.

    There is no other way to such code: what a file says runs nothing by itself.
    """
    return any(word == ALLOW_CODE or names_own_code(word.rpartition("=")[2]) for word in arguments)


def run_apart(run: Callable[[list[str]], int], arguments: list[str], fail: Callable[[str], int]) -> int:
    """Run a command line in a child; return its status, in parent and child alike.

    The child is the first of a group of processes, so that Ctrl-C and Ctrl-Z reach it once: from the parent.
    """
    read, write = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setpgid(0, 0)
        end_with(parent)
        try:
            return run(arguments)
        finally:
            with suppress(OSError, ValueError):  # the reader has left
                sys.stdout.flush()
            os.write(write, b".")
    os.close(write)

    def hand_on(number: int, frame: object) -> None:
        del frame
        with suppress(ProcessLookupError):  # it has ended
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, hand_on)
    with suppress(OSError):  # the child has done so, or ended
        os.setpgid(child, child)
    with stopped_together(child):
        _, status = os.waitpid(child, 0)
    for number in (signal.SIGINT, signal.SIGTERM):  # the status is decided: as in `run`
        signal.signal(number, signal.SIG_IGN)
    # the child writes one byte as its last act; without it, the code of a user has ended the process
    with os.fdopen(read, "rb") as messages:
        if messages.read(1):
            return os.waitstatus_to_exitcode(status)
    code = os.waitstatus_to_exitcode(status)
    how = f"with status {code}" if code >= 0 else f"by signal {signal.Signals(-code).name}"
    whose = next(filter(names_own_code, arguments), "a policy")
    return fail(f"packproof: the code of {whose} ended the process {how}, expected it to return; there is no answer")
