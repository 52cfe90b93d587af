"""Compilation in another process, while the run that asked for it goes on as Python on the same path.

A short run is over before the compiler would be: it never starts one. A longer one switches at an event boundary as
soon as the machine code is kept beside the source. ``PACKPROOF_COMPILE=first`` compiles before anything runs, in the
process itself; so it is where processes cannot be forked, or machine code cannot be kept.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

from fluid.parallel import end_with
from theory.compiled import cache_prefix, has_machine_code

PATIENCE = 2.0
"""Seconds that a run goes on as Python before another process begins to compile, which takes several: a shorter run
spends nothing on it."""

PART = 1_000
"""Events run as Python between two looks at the compiler."""

FEW_SERVERS = 20_000
"""Servers up to which a state is prepared as Python where its functions have not been compiled."""

Function = Callable[..., Any]


def compiles_beside() -> bool:
    """Return whether compilation may go on beside a run."""
    return os.environ.get("PACKPROOF_COMPILE", "beside") != "first" and sys.platform == "linux"


class Compilation:
    """The compilation of a kernel (`theory.compiled.bound`): ``function(*inputs, 0)`` compiles and runs nothing."""

    def __init__(self, function: Function, inputs: tuple[Any, ...]) -> None:
        self._function, self._inputs = function, inputs
        self._waited, self._child, self._has_ended = 0.0, 0, False

    @classmethod
    def needed(cls, function: Function, inputs: tuple[Any, ...]) -> Self | None:
        """Return the compilation of a kernel, None if machine code is at hand or cannot be kept for later."""
        if not compiles_beside() or cache_prefix(function) is None or has_machine_code(function, *inputs, 0):
            return None
        return _GOING_ON.setdefault(function, cls(function, inputs))  # type: ignore[return-value]

    def is_over(self, waited: float) -> bool:
        """Say how long a run has gone on as Python since the last call; return whether it may be compiled now."""
        self._waited += waited
        if self._child:
            ended, _ = os.waitpid(self._child, os.WNOHANG)
            if not ended:
                return False
            self._child, self._has_ended = 0, True
        # whether the child failed, or could not store what it compiled: the run compiles for itself
        over = self._has_ended or has_machine_code(self._function, *self._inputs, 0)
        if over:
            _GOING_ON.pop(self._function, None)
        elif self._waited >= PATIENCE:
            self._begin()
        return over

    def _begin(self) -> None:
        """Compile in a child, which ends soon after this process, however this one ends."""
        parent, child = os.getpid(), os.fork()
        if child:
            self._child = child
            return
        try:
            end_with(parent)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
            with compiling_alone(self._function):
                self._function(*self._inputs, 0)
            os._exit(0)
        finally:
            os._exit(1)

    def end(self) -> None:
        """Stop the child."""
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0


_GOING_ON: dict[Function, Compilation] = {}
"""What this process waits for, from one run to the next."""


@contextmanager
def compiling_alone(function: Function) -> Iterator[None]:
    """Wait until no other process compiles a kernel: what it has compiled is at hand afterwards.

    The lock is a file beside the machine code, which other users cannot open. The process that holds it removes it in
    the end; those that wait for it still hold the removed file, and go on one after another.
    """
    place = cache_prefix(function)
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows
        place = None
    if place is None:
        yield
        return
    path, handle = f"{place}.lock", None
    try:
        with suppress(OSError):  # no lock can be had: nobody waits
            handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
            flock(handle, LOCK_EX)
        yield
    finally:
        if handle is not None:
            with suppress(OSError):
                os.unlink(path)
            os.close(handle)


@atexit.register
def _end_all() -> None:
    for compilation in _GOING_ON.values():
        compilation.end()
