"""Replications of ``packproof simulate`` in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fluid.experiment.arrays import packed, unpacked
from fluid.experiment.keys import key_of_run, key_of_runs
from fluid.experiment.store import Store
from fluid.parallel import run_all
from fluid.simulation.driver import replicate, run_replication, seed_of
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Result, Run
from fluid.simulation.scenario import Scenario


def simulate_stored(
    store: Store,
    policy: Policy,
    scenario: Scenario,
    *,
    replications: int,
    seed: int,
    engine: str = "local",
    workers: int = -1,
    progress: Callable[[str], None] | None = None,
) -> Result[Any]:
    """Simulate replications, of which those in the store are read and the others run and stored.

    Parameters
    ----------
    store : Store
    policy : Policy
        Found by its name, or as ``FILE.py:NAME``.
    scenario, replications, seed, engine, workers, progress
        See `fluid.simulation.driver.simulate`. Runs that were read have no ``state``.
    """
    stored = _Stored(store, policy, scenario, seed)
    runs = {r: run for r in range(replications) if (run := stored.read(r)) is not None}
    missing = [r for r in range(replications) if r not in runs]
    how: dict[str, Any] = {"workers": workers, "engine": engine, "progress": progress}
    how |= {"finished": runs, "store": stored.put}
    return scenario.result(policy, scenario, *replicate(policy, scenario, missing, seed, **how))


def simulate_each(
    pairs: Sequence[tuple[Policy, Scenario]], *, seed: int, engine: str = "local", store: Store | None = None
) -> list[Run]:
    """Simulate a replication of each of several policies and scenarios: one after another here, at once on a cluster.

    Runs that the store holds are read, and others stored as they finish. Ctrl-C ends all.
    """
    stored = None if store is None else [_Stored(store, policy, scenario, seed) for policy, scenario in pairs]
    runs: dict[int, Run | None] = {i: None if stored is None else stored[i].read(0) for i in range(len(pairs))}
    missing = [i for i, run in runs.items() if run is None]
    tasks = ((*pairs[i], seed_of(seed, 0), None) for i in missing)
    for number, bare in run_all(run_replication, tasks, workers=1, engine=engine):
        if bare.interrupted:
            raise KeyboardInterrupt
        i = missing[number]
        runs[i] = run = replace(bare, scenario=pairs[i][1])
        if stored is not None:
            stored[i].put(0, run)
    return [run for run in runs.values() if run is not None]


class _Stored:
    """The replications of a policy and a scenario in a store."""

    def __init__(self, store: Store, policy: Policy, scenario: Scenario, seed: int) -> None:
        self._store, self._scenario = store, scenario
        self._runs = key_of_runs(policy, scenario, seed)

    def read(self, r: int) -> Run | None:
        """Return a replication, without ``state``; None where the store has not got it."""
        return read_run(self._store, key_of_run(self._runs, r), self._scenario)

    def put(self, r: int, run: Run) -> None:
        """Store a replication."""
        put_run(self._store, key_of_run(self._runs, r), run)


def read_run(store: Store, key: str, scenario: Scenario | None) -> Run | None:
    """Return a run of a scenario that a store holds, without ``state``; None where it has not got it."""
    stored = store.read(key, lambda content: Measures(**unpacked(content)))
    return None if stored is None else Run(scenario, stored[0], None, stored[1])


def put_run(store: Store, key: str, run: Run) -> None:
    """Store what a run has measured, and its seconds."""
    store.put(key, packed(run.measures._asdict()), run.seconds)
