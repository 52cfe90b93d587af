"""Replications of ``packproof simulate`` kept in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from fluid.experiment.store import Store
from fluid.parallel import run_all
from fluid.policies import policy as policy_by_name
from fluid.simulate.loss import LossRun, Scenario, run_loss
from fluid.simulate.measures import Measures, bin_edges
from fluid.simulate.replications import LossResult, seed_of


def kept_replications(
    store: Store,
    policy: str,
    scenario: Scenario,
    replications: int,
    seed: int,
    *,
    engine: str = "local",
    workers: int = -1,
    say: Callable[[str], None] | None = None,
) -> LossResult:
    """Return replications of a loss system, of which those in the store are read and the others run and kept.

    Parameters
    ----------
    store : Store
    policy : str
        A name, or ``FILE.py:NAME``.
    scenario, replications, seed, engine, workers
        See `fluid.simulate.replications.simulate_loss`.
    say : callable, optional
        Told after every replication.
    """
    found = policy_by_name(policy)
    keys = [_key(policy, scenario, seed, r) for r in range(replications)]
    runs: dict[int, LossRun] = {}
    for r, key in enumerate(keys):
        held = store.arrays(key)
        if held is not None:
            runs[r] = _read(scenario, *held)
    waiting = [r for r in range(replications) if r not in runs]
    tasks = [(policy, scenario, seed_of(seed, r)) for r in waiting]
    try:
        for number, run in run_all(_one, tasks, engine=engine, workers=workers if len(tasks) > 1 else 1):
            r = waiting[number]
            runs[r] = run
            if not run.interrupted:
                parameters = {"policy": policy, "servers": scenario.servers, "seed": seed}
                store.put(keys[r], r, parameters, {"reward": run.mean_reward}, run.seconds, _written(run))
            if say is not None:
                say(f"{found.name}: {len(runs)} of {replications} replications")
    except KeyboardInterrupt:
        if not runs:
            raise
    return LossResult(found, scenario, tuple(runs[r] for r in sorted(runs)))


def _one(policy: str, scenario: Scenario, seed: np.random.SeedSequence) -> LossRun:
    return run_loss(policy_by_name(policy), scenario, seed)


def _key(policy: str, scenario: Scenario, seed: int, replication: int) -> str:
    """A digest of all that the run depends on."""
    own = Path(policy.rpartition(":")[0]).read_bytes() if ".py:" in policy else b""
    plain = replace(scenario, initial=None, jobs=None)
    parts = [repr((policy, plain, seed, replication)).encode(), own]
    if scenario.initial is not None:
        parts.append(scenario.initial.tobytes())
    if scenario.jobs is not None:
        parts += [array.tobytes() for array in scenario.jobs]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _written(run: LossRun) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **run.measures._asdict())
    return stream.getvalue()


def _read(scenario: Scenario, content: bytes, seconds: float) -> LossRun:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        measures = Measures(**{name: arrays[name] for name in Measures._fields})
    _, first = bin_edges(scenario.until, scenario.warmup, scenario.bins)
    return LossRun(scenario, measures, first, seconds)
