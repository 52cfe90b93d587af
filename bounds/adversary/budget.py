"""The time limit of a search, and its reports of progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

INTERRUPTED = threading.Event()
"""Set by Ctrl-C on the command line. An exception alone may be lost: compilers swallow it in their callbacks."""

OVERTIME = 2.0  # seconds after the time limit in which the worst instance may still be made simpler


COMPILES = " (compiling comes first; the time limit begins after it, with the first instance)"
"""Said with the first progress text, where the clock does not run yet."""


class OutOfTimeError(Exception):
    """The time limit was reached; the best result so far remains."""


@dataclass
class Budget:
    """A time limit and a listener for progress.

    The clock begins when the first unit of work is over, which may have been spent on compiling: at the second call of
    `spend`, or at `begin`.

    Attributes
    ----------
    seconds : float
        Time allowed once the clock has begun.
    report : callable, optional
        Called with a short text from time to time.
    stage : str
        Said before every progress text: which part of a longer search this is.
    began : callable, optional
        Called when the clock begins.
    """

    seconds: float = float("inf")
    report: Callable[[str], None] | None = None
    stage: str = ""
    began: Callable[[], None] | None = None
    _start: float | None = None
    _reported: float | None = None

    @property
    def left(self) -> float:
        """Seconds that are left; all of them before the clock begins."""
        return self.seconds - (0.0 if self._start is None else time.monotonic() - self._start)

    def begin(self) -> Budget:
        """Begin the clock, unless it runs already; return the budget."""
        if self._start is None:
            self._start = time.monotonic()
            if self.began is not None:
                self.began()
        return self

    def spend(self, progress: str) -> None:
        """Tell the listener (at most five times a second).

        Raises
        ------
        OutOfTimeError
            If the time is up.
        KeyboardInterrupt
            After a Ctrl-C that was lost.
        """
        if INTERRUPTED.is_set():
            INTERRUPTED.clear()
            raise KeyboardInterrupt
        if self._reported is not None:
            self.begin()
        # at most five reports a second, whatever a search says
        now = time.monotonic()
        if self._reported is None or now - self._reported > 0.2:
            self._reported = now
            if self.report is not None:
                self.report(self.stage + progress + (COMPILES if self._start is None else ""))
        if self.left < 0:
            raise OutOfTimeError
