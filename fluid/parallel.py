"""Independent tasks on the processes of this machine, or on a dask cluster; results come as they finish."""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from math import inf
from typing import Any

from theory.errors import ArgumentError, InputError
from theory.version import versions

REACH = 10.0
"""Seconds after which a scheduler that does not answer counts as none."""


class EngineError(ArgumentError):
    """A cluster, or a process, that is out of reach or lost, whatever the tasks are."""


def run_all(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, workers: int = -1, engine: str = "local"
) -> Iterator[tuple[int, Any]]:
    """Call a function for every tuple of arguments; yield (number of the task, result) as they finish.

    Parameters
    ----------
    function : callable
        Importable, or defined where it can be sent by value.
    tasks : iterable of tuple
        Those after the first, one a process, may be made while these are at work.
    workers : int
        Processes here; -1: one a core.
    engine : str
        ``local``, or ``dask://HOST:PORT``: the scheduler of a cluster (extra ``cluster``).

    Raises
    ------
    InputError
        An engine that is none; an `EngineError` where it cannot be reached, is lost, or is not installed.
    """
    refuse_engine(engine)
    if engine == "local":
        yield from _here(function, tasks, workers)
    else:
        yield from _on_dask(function, tasks, engine.removeprefix("dask://"))


def processors() -> int:
    """Return how many processors this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def refuse_engine(engine: str) -> None:
    """Refuse the name of an engine that is none, before anything is done."""
    if engine != "local" and not re.fullmatch(r"dask://[^\s/:]+:[0-9]{1,5}", engine):
        raise ArgumentError("engine", f"expected local or dask://HOST:PORT, got {engine!r}")


def refuse_workers(workers: int) -> None:
    """Refuse a number of processes that is none, before anything is done."""
    if workers == 0 or workers < -1 or workers > 1024:
        raise ArgumentError("workers", f"expected -1 or a number from 1 to 1024, got {workers}")


def _numbered(
    function: Callable[..., Any], number: int, task: tuple[Any, ...], expected: dict[str, str]
) -> tuple[int, Any]:
    """Call a function in a worker, which must have the versions of the process that asks."""
    if versions() != expected:
        theirs, ours = (
            ", ".join(f"{name} {version}" for name, version in one.items()) for one in (versions(), expected)
        )
        raise EngineError("engine", f"a worker runs {theirs}, expected {ours}: start again, with new workers")
    return number, function(*task)


def _unpacked(packed: bytes) -> tuple[int, Any]:
    """Do a task of a cluster: as bytes it reaches the worker unread, else the scheduler would run an author's code.

    What cannot be read here, such as a policy whose file is not on this machine, is an error of the task.
    """
    return _numbered(*pickle.loads(packed))


def end_with(parent: int) -> None:
    """Let this process end soon after its parent, even if that one is killed, and not before."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def stopped_together(group: int) -> Iterator[None]:
    """Let Ctrl-Z (SIGTSTP) stop another group of processes with this process, and SIGCONT let both go on."""

    def stop(number: int, frame: object) -> None:
        del frame
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(group, number)
        os.kill(os.getpid(), signal.SIGSTOP)  # returns when this process goes on
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGCONT)

    listens = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTSTP)
    if listens == signal.SIG_DFL:
        signal.signal(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        if listens == signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)


def _begin_worker(driver: int) -> None:
    """Prepare a worker, which works for packproof alone: other users of joblib begin their own."""
    from joblib.externals.loky import process_executor

    # What a worker keeps for later tasks is no leak, for which loky would begin another worker in its place; it has no
    # public option for that.
    process_executor._MEMORY_LEAK_CHECK_DELAY = inf
    end_with(driver)


def _here(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], workers: int) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    if workers == 1:
        for number, task in enumerate(tasks):
            yield number, function(*task)
        return
    calls = (delayed(_numbered)(function, number, task, versions()) for number, task in enumerate(tasks))
    parallel = Parallel(
        n_jobs=workers,
        return_as="generator_unordered",
        batch_size=1,
        initializer=_begin_worker,
        initargs=(os.getpid(),),
    )
    results = parallel(calls)
    try:
        for one in results:  # noqa: UP028 - delegation would close the results outside of the filter below
            yield one
    except TerminatedWorkerError as error:
        raise EngineError(
            "workers",
            "a process ended before its task was done: expected memory enough for all of them, and code of "
            "an author's that returns",
        ) from error
    except BrokenProcessPool as error:
        # a process could not read its task, such as a policy whose file has changed since it was read here; all else
        # is a fault of ours
        raised = str(error.__cause__).rstrip('"').splitlines()[-1]
        refusal = re.match(rf"{re.escape(InputError.__module__)}\.\w+: (.+)", raised)
        if refusal is None:
            raise
        raise EngineError("workers", f"a process could not read its task: {refusal[1]}") from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # whoever gives up knows that results go unused
            results.close()


def _on_dask(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], address: str) -> Iterator[tuple[int, Any]]:
    try:
        from cloudpickle import dumps
        from dask.distributed import Client, KilledWorker, as_completed
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise EngineError("engine", "dask is not installed (pip install 'packproof[cluster]')") from error
    host, _, port = address.rpartition(":")
    try:
        # dask tries again until its time is up, even where nobody listens; the system says so at once
        socket.create_connection((host, int(port)), timeout=REACH).close()
        client = Client(f"tcp://{address}", timeout=REACH)
    except (OSError, TimeoutError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or f"no answer within {REACH:g} s"
        raise EngineError("engine", f"no dask scheduler at {address}: {reason}") from error
    try:
        with _without_logs("distributed"), client:
            packed = (dumps((function, i, task, versions())) for i, task in enumerate(tasks))
            futures = [client.submit(_unpacked, each, pure=False) for each in packed]
            for future in as_completed(futures):
                yield future.result()
                future.release()
    except (CancelledError, CommClosedError) as error:
        raise EngineError("engine", f"the dask scheduler at {address} is lost; what was stored is there") from error
    except KilledWorker as error:
        raise EngineError("engine", f"the workers of the dask scheduler at {address} died at a task") from error


@contextmanager
def _without_logs(package: str) -> Iterator[None]:
    """Silence the loggers of a package: what it logs of a failure is said in one line."""
    loggers = [logging.getLogger(name) for name in [*logging.root.manager.loggerDict] if name.startswith(package)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
