"""Running independent replications: here one after another, on the processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from fluid.parallel import run_all

Say = Callable[[str], None] | None


class Replications(NamedTuple):
    """What became of replications that were asked for.

    Attributes
    ----------
    runs : tuple
        In their order.
    interrupted : bool
        Whether Ctrl-C came before all of them were finished.
    """

    runs: tuple[Any, ...]
    interrupted: bool


def seed_of(seed: int, replication: int) -> np.random.SeedSequence:
    """Return the seed of a replication: it depends on nothing else, so not on who runs it or when."""
    return np.random.SeedSequence(seed, spawn_key=(replication,))


def replicate(
    task: Callable[..., Any],
    arguments: tuple[Any, ...],
    numbers: Iterable[int],
    seed: int,
    *,
    workers: int = 1,
    engine: str = "local",
    say: Say = None,
    held: dict[int, Any] | None = None,
    keep: Callable[[int, Any], None] | None = None,
) -> Replications:
    """Run replications and return them in their order.

    Parameters
    ----------
    task : callable
        ``task(*arguments, seed, say)``, importable; its result has ``interrupted``.
    arguments : tuple
        The first is the policy, or its name.
    numbers : iterable of int
        Replications to run.
    seed, workers, engine
        See `fluid.simulation.loss.result.simulate_loss`.
    say : callable, optional
        Told a line now and then; handed to the task where it runs in this process.
    held : dict, optional
        Replications that are there already.
    keep : callable, optional
        ``keep(number, run)`` for each that was not cut short.

    Returns
    -------
    Replications
        After Ctrl-C, what was finished; a run that was cut short only if there is no other.
    """
    wanted = list(numbers)
    done, interrupted = dict(held or {}), False
    total = len(done) + len(wanted)
    name = getattr(arguments[0], "name", arguments[0])
    if say is not None and wanted:
        say(f"{name}: starting (what runs first on a machine is compiled, which takes up to a minute)")
    alone = engine == "local" and (len(wanted) == 1 or workers == 1)
    try:
        if alone:
            runs = ((r, task(*arguments, seed_of(seed, r), say)) for r in wanted)
        else:
            tasks = [(*arguments, seed_of(seed, r), None) for r in wanted]
            runs = ((wanted[i], run) for i, run in run_all(task, tasks, workers=workers, engine=engine))
        for r, run in runs:
            if run.interrupted:
                done, interrupted = done or {r: run}, True
                break
            done[r] = run
            if keep is not None:
                keep(r, run)
            if say is not None and total > 1:
                say(f"{name}: {len(done)} of {total} replications")
    except KeyboardInterrupt:
        if not done:
            raise
        interrupted = True
    return Replications(tuple(done[r] for r in sorted(done)), interrupted)
