"""Replications of an admission policy; with a store, an interrupted command is taken up where it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from fluid.admission.law.cluster import AdmissionCluster, refuse_span
from fluid.admission.simulation.simulate import (
    AdmissionPolicy,
    AdmissionResult,
    AdmissionRun,
    result_of,
    run_in_one_world,
)
from fluid.experiment.arrays import packed, unpacked
from fluid.experiment.keys import fingerprint, key_of_run
from fluid.experiment.store import Store
from fluid.parallel import refuse_workers, run_all
from theory.numbers import many
from theory.version import versions

FORMAT = 1
"""Part of every key: raised when the same run would give another result."""


def simulate_admission(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    until: float,
    *,
    replications: int = 10,
    seed: int = 0,
    observations: int = 0,
    warmup: float = 0.0,
    most: int | None = None,
    first: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> AdmissionResult:
    """Simulate replications of a policy, each in a world of its own.

    Parameters
    ----------
    cluster : AdmissionCluster
    policy : AdmissionPolicy
    until, warmup : float
        Hours; a run starts with an empty cluster.
    replications, seed : int
        Policies of equal seeds meet the same deployments.
    observations : int
        Observations of each process of a deployment before it arrives.
    most : int, optional
        Most deployments at once.
    first : int
        Number of the first world: runs with other numbers meet other deployments.
    workers, engine
        See `fluid.parallel.run_all`.
    progress : callable, optional
        Called with a line now and then.
    store : Store, optional
        Runs that it holds are read; the others are stored as they are finished.
    """
    (found,) = simulate_policies(
        cluster,
        [policy],
        until,
        replications=replications,
        seed=seed,
        observations=observations,
        warmup=warmup,
        most=most,
        first=first,
        workers=workers,
        engine=engine,
        progress=progress,
        store=store,
    )
    return found


def simulate_policies(
    cluster: AdmissionCluster,
    policies: Sequence[AdmissionPolicy],
    until: float,
    *,
    replications: int = 10,
    seed: int = 0,
    observations: int = 0,
    warmup: float = 0.0,
    most: int | None = None,
    first: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> list[AdmissionResult]:
    """Simulate policies, or thresholds, in the same worlds, each of which is drawn once: one result a policy.

    Parameters are those of `simulate_admission`, whose stored runs are the same.
    """
    refuse_span(until, warmup)
    refuse_workers(workers)
    numbers = range(first, first + replications)
    results: dict[tuple[int, int], AdmissionRun] = {}
    spent = [0.0] * len(policies)
    keys: dict[tuple[int, int], str] = {}
    if store is not None:
        for p, policy in enumerate(policies):
            # the name of the file is no part of what a run depends on
            what = [replace(cluster, source=""), policy, float(until), seed, observations, float(warmup), most]
            runs_of_policy = fingerprint([FORMAT, versions(), "admission", *what])
            for r in numbers:
                keys[p, r] = key_of_run(runs_of_policy, r)
                stored = store.read(keys[p, r], _unpacked)
                if stored is not None:
                    results[p, r] = stored[0]
                    spent[p] += stored[1]
    missing = {r: [p for p in range(len(policies)) if (p, r) not in results] for r in numbers}
    wanted = [r for r, some in missing.items() if some]
    tasks = [(cluster, [policies[p] for p in missing[r]], until, seed, r, observations, warmup, most) for r in wanted]
    for done, (number, runs) in enumerate(run_all(run_in_one_world, tasks, workers=workers, engine=engine), 1):
        r = wanted[number]
        for p, (run, seconds) in zip(missing[r], runs, strict=True):
            if store is not None:
                store.put(keys[p, r], _packed(run), seconds)
            results[p, r] = run
            spent[p] += seconds
        if progress is not None:
            progress(f"{done} of {many(len(wanted), 'run')}")
    return [result_of([results[p, r] for r in numbers], spent[p]) for p in range(len(policies))]


def _packed(run: AdmissionRun) -> bytes:
    return packed({one.name: getattr(run, one.name) for one in fields(run)})


def _unpacked(content: bytes) -> AdmissionRun:
    values: dict[str, Any] = {name: x if x.ndim else x.item() for name, x in unpacked(content).items()}
    return AdmissionRun(**values)
