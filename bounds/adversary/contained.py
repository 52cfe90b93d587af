"""Code of an author runs in a process of its own, so that its end does not pass for an answer.

It may loop, sleep, exit, crash, or take all memory. Whatever calls it runs beside it, in one process that is forked:
a whole command, or a search, so that no instance has to travel. Before each call of a rule a search writes the instance
into memory that both processes see, which takes a few microseconds: whatever becomes of the process, the instance is
known. What it finds on the way is sent as it is found. Ctrl-C is passed on to that process.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import pickle
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any

from bounds.adversary.answers import LISTENERS
from bounds.adversary.budget import INTERRUPTED, OVERTIME
from bounds.adversary.engine import Found, Watch
from fluid.parallel import end_with, stopped_together
from theory.errors import InputError

BOARD = 1 << 20  # bytes for the instance that is judged; a larger one stays unknown

HEAD = struct.Struct("dq")
"""Of the board: when the call of the rule began, and the length of the instance; 0 while there is none of it."""

LISTENING = 0.1  # seconds between two looks at the clock, and at whether Ctrl-C was pressed
COMPILING = 120.0  # seconds in which a patient search may be silent once more, after its first word: it compiles
LAST = 1.0  # seconds after `OVERTIME` in which the process may still send its answer


class EndedError(InputError):
    """The process has ended without an answer; `status` is its exit status, or minus the number of a signal."""

    def __init__(self, line: str, status: int) -> None:
        super().__init__(line)
        self.status = status


class Wire(Watch):
    """What the search says to the process that waits for it."""

    def __init__(self, connection: Connection, board: mmap.mmap) -> None:
        self._connection, self.board = connection, board

    def judging(self, case: object) -> None:
        """Write the instance down."""
        text = pickle.dumps(case, -1)
        self.board[: HEAD.size] = HEAD.pack(0.0, 0)
        if HEAD.size + len(text) <= BOARD:
            self.board[HEAD.size : HEAD.size + len(text)] = text
            self.board[: HEAD.size] = HEAD.pack(0.0, len(text))

    def calling(self, begins: bool) -> None:
        """Write down when a call of the rule begins, and that it has ended: other time is not the rule's."""
        _, length = HEAD.unpack(self.board[: HEAD.size])
        self.board[: HEAD.size] = HEAD.pack(time.monotonic() if begins else 0.0, length)

    def improved(self, found: Found[Any]) -> None:
        """Send the worst instance so far."""
        self._connection.send(("improved", found))

    def report(self, progress: str) -> None:
        """Send how far the search is."""
        self._connection.send(("progress", progress))

    def began(self) -> None:
        """Send that the time limit of the search begins."""
        self._connection.send(("began", None))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes of the search as one that says nothing."""
        return Watch, ()


def contained(
    search: Callable[[Any], Any],
    name: str,
    *,
    seconds: float = float("inf"),
    overtime: float | None = None,
    patient: bool = False,
    silent: bool = True,
    report: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Any:
    """Run a search in a forked process; end it where it does not return in time.

    Parameters
    ----------
    search : callable
        Called with a `Wire`, or a `Watch`. What it returns is sent back, by pickle.
    name : str
        Of the rule, for messages.
    seconds : float
        The time limit that the search itself keeps to, as long as the rule returns.
    overtime : float, optional
        Seconds after that limit, or after Ctrl-C, at which the process is ended; ``OVERTIME + LAST`` where left out.
    patient : bool
        Whether every report of progress after the limit gives it `overtime` again, and the first one `COMPILING` more.
    silent : bool
        Whether what is printed there goes nowhere.
    report, warn : callable, optional
        Called with how far the search is; with one line if it was ended and its worst instance so far is returned.

    Returns
    -------
    object
        What the search returns; if it was ended, the worst `Found` that it had sent.

    Raises
    ------
    EndedError
        If the process crashed or exited. The line has the instance that the rule was given.
    InputError
        From the search; or if the process was ended before it had found anything.
    KeyboardInterrupt
        On Ctrl-C, if nothing was found by then; on a second one at once.

    Notes
    -----
    Where processes cannot be forked (Windows), the search runs in this one, and a rule that loops is not ended. A
    process of its own has a copy of all objects: what a rule remembers is lost with it.

    Examples
    --------
    >>> import os
    >>> contained(lambda wire: os._exit(3), "the rule")
    Traceback (most recent call last):
    bounds.adversary.contained.EndedError: the rule: its process exited with status 3
    """
    if "fork" not in get_all_start_methods():
        return search(Watch())
    overtime = OVERTIME + LAST if overtime is None else overtime
    context = get_context("fork")
    listener, sender = context.Pipe(duplex=False)
    board = mmap.mmap(-1, BOARD)
    process = context.Process(target=_searching, args=(search, name, Wire(sender, board), sender, os.getpid(), silent))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: the child uses none of theirs
        process.start()
    sender.close()
    assert process.pid is not None
    try:
        with _interrupts() as interrupts, stopped_together(process.pid):
            return _answer(process, listener, board, name, interrupts, seconds, overtime, patient, report, warn)
    finally:
        _end(process)
        listener.close()
        board.close()


@contextmanager
def _interrupts() -> Iterator[list[float]]:
    """Note the times of Ctrl-C, and of SIGTERM: an exception might come in the midst of a message."""
    times: list[float] = []
    if threading.current_thread() is not threading.main_thread():
        yield times
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: times.append(time.monotonic())) for number in numbers]
    try:
        yield times
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _answer(
    process: Any,
    listener: Connection,
    board: mmap.mmap,
    name: str,
    interrupts: list[float],
    seconds: float,
    overtime: float,
    patient: bool,
    report: Callable[[str], None] | None,
    warn: Callable[[str], None] | None,
) -> Any:
    """Listen to the process until it answers, ends, or has no time left."""
    deadline, passed_on, best = time.monotonic() + seconds + overtime, 0, None
    compiling = COMPILING
    while time.monotonic() < deadline:
        if len(interrupts) > passed_on:
            if passed_on and not patient:
                raise KeyboardInterrupt
            passed_on += 1
            os.kill(process.pid, signal.SIGINT)
            # after Ctrl-C the search has its overtime to answer, and no more
            deadline = min(deadline, time.monotonic() + overtime)
        if not listener.poll(min(LISTENING, max(0.0, deadline - time.monotonic()))):
            continue
        try:
            kind, content = listener.recv()
        except (EOFError, OSError) as error:
            process.join()
            raise EndedError(f"{name}: {_ended(process.exitcode)}{_instance_on(board)}", process.exitcode) from error
        if kind == "answer":
            return content
        if kind == "raised":
            raise content
        if kind == "improved":
            best = content
        elif kind == "began":  # what came before was compiling, and the first instance
            deadline = deadline if interrupts else max(deadline, time.monotonic() + seconds + overtime)
        elif report is not None:
            report(content)
        if patient:
            deadline = max(deadline, time.monotonic() + overtime + compiling)
            compiling = 0.0
    if best is None and interrupts:
        raise KeyboardInterrupt
    stuck = f"{name}: {_overdue(board)}{_instance_on(board)}"
    if best is None:
        raise InputError(stuck)
    if warn is not None:
        warn(f"{stuck}; the worst instance until then follows")
    return best


def _overdue(board: mmap.mmap) -> str:
    """Return what took too long: the rule, or what comes after its answer."""
    began, length = HEAD.unpack(board[: HEAD.size])
    if began:
        return f"gave no answer in {time.monotonic() - began:.1f} s and was ended"
    if length:
        return "had answered, but the optimum was not decided in time, and the search was ended"
    return "gave no answer and was ended"


def _ended(status: int) -> str:
    if status >= 0:
        return f"its process exited with status {status}"
    try:
        return f"its process was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"its process was ended by signal {-status}"


def _instance_on(board: mmap.mmap) -> str:
    """Return the instance that the rule was given, in brackets, where it is known."""
    _, length = HEAD.unpack(board[: HEAD.size])
    if not length:
        return ""
    try:
        return f" ({pickle.loads(board[HEAD.size : HEAD.size + length])})"
    except Exception:  # ended in the midst of writing
        return ""


def _end(process: Any) -> None:
    """End the process and those that it has started: they are one group."""
    for number, patience in ((signal.SIGTERM, 0.3), (signal.SIGKILL, None)):
        if process.exitcode is None or number == signal.SIGKILL:
            try:
                os.killpg(process.pid, number)
            except (ProcessLookupError, PermissionError):
                process.kill()  # it has not made its group yet, or has ended
            process.join(patience)


def _searching(
    search: Callable[[Wire], Any], name: str, wire: Wire, sender: Connection, driver: int, silent: bool
) -> None:
    """Run the search, and send what comes of it: the main function of the process."""
    os.setpgid(0, 0)  # Ctrl-C and Ctrl-Z on the terminal go to the process that listens
    end_with(driver)
    faulthandler.disable()  # the process that listens reports a crash in one line
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, _interrupt)
    if silent:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        sys.stdin, sys.stdout, sys.stderr = (open(os.devnull, mode) for mode in "rww")  # noqa: SIM115 (until it ends)
    LISTENERS.append(wire.calling)
    try:
        sender.send(("answer", search(wire)))
    except KeyboardInterrupt:
        sender.send(("raised", KeyboardInterrupt()))
    except InputError as refusal:
        sender.send(("raised", type(refusal)(*refusal.args)))
    except (SystemExit, GeneratorExit, RecursionError, MemoryError) as error:
        sender.send(("raised", InputError(name, f"{type(error).__name__}: {error}{_instance_on(wire.board)}")))
    except BaseException as error:
        sender.send(("raised", RuntimeError(f"{type(error).__name__}: {error}")))
    finally:
        os._exit(0)  # the threads and handlers at exit are those of the other process


def _interrupt(number: int, frame: object) -> None:
    del number, frame
    INTERRUPTED.set()
    raise KeyboardInterrupt
