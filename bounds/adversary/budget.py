"""The time limit of a search, and its reports of progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

INTERRUPTED = threading.Event()
"""Set by Ctrl-C on the command line. An exception alone may be lost: compilers swallow it in their callbacks."""

OVERTIME = 2.0  # seconds after the time limit in which the worst instance may still be made simpler


class OutOfTimeError(Exception):
    """The time limit was reached; the best result so far remains."""


@dataclass
class Budget:
    """A time limit and a listener for progress.

    Attributes
    ----------
    seconds : float
        Time allowed from the making of the object.
    report : callable, optional
        Called with a short text from time to time.
    stage : str
        Said before every progress text: which part of a longer search this is.
    """

    seconds: float = float("inf")
    report: Callable[[str], None] | None = None
    stage: str = ""
    _start: float = field(default_factory=time.monotonic)
    _reported: float = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.monotonic() - self._start)

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
        # at most five reports a second, whatever a search says
        now = time.monotonic()
        if self.report is not None and now - self._reported > 0.2:
            self._reported = now
            self.report(self.stage + progress)
        if self.left < 0:
            raise OutOfTimeError
