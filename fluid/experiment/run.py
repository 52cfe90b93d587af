"""Running an experiment: the cells that the store does not hold, here or on a cluster, written as they finish."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from fluid.experiment.cells import run_cell
from fluid.experiment.grid import Grid
from fluid.experiment.store import Store
from fluid.parallel import run_all


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes
    ----------
    done, total : int
        Cells.
    rate : float
        Cells a second since it was taken up.
    remaining : float
        Seconds at that rate.
    """

    done: int
    total: int
    rate: float
    remaining: float

    def __str__(self) -> str:
        """Return it as a line."""
        if self.rate <= 0:
            return f"{self.done:,} of {self.total:,} cells"
        left = int(self.remaining)
        clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
        return f"{self.done:,} of {self.total:,} cells, {self.rate:.3g} a second, {clock} to go"


def run_experiment(
    grid: Grid,
    store: Store,
    *,
    engine: str = "local",
    workers: int = -1,
    say: Callable[[Progress], None] | None = None,
) -> int:
    """Run what the store does not hold yet.

    Parameters
    ----------
    grid : Grid
    store : Store
    engine : str
        ``local`` or ``dask://HOST:PORT``.
    workers : int
        Processes here; -1: one a core.
    say : callable, optional
        Told after every cell.

    Returns
    -------
    int
        Cells run.

    Notes
    -----
    Interrupted in any way, everything finished is in the store; another run takes up the rest. A cell's result depends
    on its content alone, so the table is the same whoever ran it.
    """
    known = store.known(cell.key for cell in grid.cells)
    times = Counter(cell.key for cell in grid.cells)  # a value that a policy does not read makes no other cell
    waiting = list({cell.key: cell for cell in grid.cells if cell.key not in known}.values())
    begin = time.monotonic()
    done = 0
    total = len(grid.cells)
    there = total - sum(times[cell.key] for cell in waiting)
    if say is not None:
        say(Progress(there, total, 0.0, 0.0))
    tasks = [(cell,) for cell in waiting]
    for number, (numbers, seconds) in run_all(run_cell, tasks, workers=workers, engine=engine):
        cell = waiting[number]
        store.put(cell.key, cell.replication, cell.varied, numbers, seconds)
        done += 1
        if say is not None:
            rate = done / max(time.monotonic() - begin, 1e-9)
            there += times[cell.key]
            say(Progress(there, total, rate, (len(waiting) - done) / rate))
    return done
