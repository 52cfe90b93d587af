"""Replications of an admission policy; with a store, an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from fluid.admission.law.cluster import AdmissionCluster, refuse_span
from fluid.admission.simulation.simulate import (
    AdmissionPolicy,
    AdmissionResult,
    AdmissionRun,
    result_of,
    run_in_one_world,
)
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
            key_of_policy = _given(cluster, policy, until, seed, observations, warmup, most)
            for r in numbers:
                keys[p, r] = _digest([FORMAT, versions(), "admission", key_of_policy, r])
                stored = store.run(keys[p, r], _unpacked)
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
                measures: dict[str, float | None] = {"utilisation": run.utilisation, "sla": run.sla}
                store.put(keys[p, r], r, {"policy": policies[p].name, "seed": seed}, measures, seconds, _packed(run))
            results[p, r] = run
            spent[p] += seconds
        if progress is not None:
            progress(f"{done} of {many(len(wanted), 'run')}")
    return [result_of([results[p, r] for r in numbers], spent[p]) for p in range(len(policies))]


def _given(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    until: float,
    seed: int,
    observations: int,
    warmup: float,
    most: int | None,
) -> dict[str, Any]:
    """Return what a run depends on, but for its number; the name of the file is no part of it."""
    return {
        "cluster": {name: value for name, value in asdict(cluster).items() if name != "source"},
        "policy": _described(policy),
        "until": until,
        "seed": seed,
        "observations": observations,
        "warmup": warmup,
        "most": most,
    }


def _described(policy: AdmissionPolicy) -> dict[str, Any]:
    """Return what a policy's runs depend on; controls only where it has them, so that older stores serve on."""
    values = {**asdict(policy), "horizons": None if policy.horizons is None else policy.horizons.tolist()}
    return values if policy.gain else {name: value for name, value in values.items() if name not in ("aim", "gain")}


def _digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _packed(run: AdmissionRun) -> bytes:
    stream = io.BytesIO()
    values: dict[str, Any] = {one.name: np.asarray(getattr(run, one.name)) for one in fields(run)}
    np.savez_compressed(stream, **values)
    return stream.getvalue()


def _unpacked(content: bytes) -> AdmissionRun:
    """Return a stored run; ValueError for arrays that are none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        values = {name: held[name].item() if held[name].shape == () else held[name] for name in held.files}
    run = AdmissionRun(**values)
    numbers = (run.utilisation, run.capped, run.arrivals, run.admitted, run.events, run.peak, run.seconds)
    monthly = [np.asarray(column) for column in (run.asked, run.refused)]
    if not all(np.isscalar(number) and np.isfinite(number) for number in numbers):
        raise ValueError("expected numbers of a run")
    if any(column.ndim != 1 or not len(column) or column.dtype.kind != "i" for column in monthly) or len(
        monthly[0]
    ) != len(monthly[1]):
        raise ValueError("expected scale-outs of at least one month")
    return run
