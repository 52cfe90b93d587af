"""Independent tasks on the processes of this machine, or on a dask cluster; results come as they finish."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import inf
from typing import Any

from theory.errors import InputError

REACH = 10.0
"""Seconds after which a scheduler that does not answer counts as none."""


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
        An engine that is none, cannot be reached, or is not installed.
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
        raise InputError(f"--engine: expected local or dask://HOST:PORT, got {engine!r}")


def refuse_workers(workers: int) -> None:
    """Refuse a number of processes that is none, before anything is done."""
    if workers == 0 or workers < -1 or workers > 1024:
        raise InputError(f"--workers: expected -1 or a number from 1 to 1024, got {workers}")


def _numbered(function: Callable[..., Any], number: int, task: tuple[Any, ...]) -> tuple[int, Any]:
    return number, function(*task)


def _watched(driver: int, function: Callable[..., Any], number: int, task: tuple[Any, ...]) -> tuple[int, Any]:
    end_with(driver)
    _keep_worker()
    return _numbered(function, number, task)


@cache
def _keep_worker() -> None:
    """Let this worker stay: what it keeps for later tasks is no leak, for which loky would begin another worker."""
    from joblib.externals.loky import process_executor

    process_executor._MEMORY_LEAK_CHECK_DELAY = inf


@cache
def end_with(driver: int) -> None:
    """Let this process end soon after the one that drives it, its parent, even if that one is killed."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _here(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], workers: int) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed

    if workers == 1:
        for number, task in enumerate(tasks):
            yield number, function(*task)
        return
    calls = (delayed(_watched)(os.getpid(), function, number, task) for number, task in enumerate(tasks))
    results = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(calls)
    try:
        for one in results:  # noqa: UP028 - delegation would close the results outside of the filter below
            yield one
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # whoever gives up knows that results go unused
            results.close()


def _on_dask(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], address: str) -> Iterator[tuple[int, Any]]:
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise InputError("--engine: dask is not installed (pip install 'packproof[cluster]')") from None
    host, _, port = address.rpartition(":")
    try:
        # dask tries again until its time is up, even where nobody listens; the system says so at once
        socket.create_connection((host, int(port)), timeout=REACH).close()
        client = Client(f"tcp://{address}", timeout=REACH)
    except (OSError, TimeoutError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or f"no answer within {REACH:g} s"
        raise InputError(f"--engine: no dask scheduler at {address}: {reason}") from None
    with client:
        futures = [client.submit(_numbered, function, i, task, pure=False) for i, task in enumerate(tasks)]
        for future in as_completed(futures):
            yield future.result()
            future.release()
