"""Replications of an admission policy; with a store, an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fluid.admission.model import AdmissionCluster
from fluid.admission.simulate import AdmissionPolicy, AdmissionResult, AdmissionRun, one_run, result_of
from fluid.parallel import run_all

if TYPE_CHECKING:
    from fluid.experiment.store import Store

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
    workers, engine
        See `fluid.parallel.run_all`.
    progress : callable, optional
        Called with a line now and then.
    store : Store, optional
        Runs that it holds are read; the others are stored as they are finished.
    """
    found: dict[int, AdmissionRun] = {}
    total = 0.0
    keys: list[str] = []
    if store is not None:
        given = _given(cluster, policy, until, seed, observations, warmup, most)
        keys = [_digest([FORMAT, "admission", given, r]) for r in range(replications)]
        for r, key in enumerate(keys):
            held = store.arrays(key)
            if held is not None:
                found[r] = _unpacked(held[0])
                total += held[1]
    missing = [r for r in range(replications) if r not in found]
    tasks = [(cluster, policy, until, seed, r, observations, warmup, most) for r in missing]
    for number, (run, seconds) in run_all(one_run, tasks, workers=workers, engine=engine):
        r = missing[number]
        if store is not None:
            numbers: dict[str, float | None] = {"utilisation": run.utilisation, "sla": run.sla}
            store.put(keys[r], r, {"policy": policy.name, "seed": seed}, numbers, seconds, _packed(run))
        found[r] = run
        total += seconds
        if progress is not None:
            progress(f"{len(found)} of {replications} runs")
    return result_of([found[r] for r in range(replications)], total)


def _given(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    until: float,
    seed: int,
    observations: int,
    warmup: float,
    most: int | None,
) -> dict[str, Any]:
    """Return what a run depends on, but for its number."""
    return {
        "cluster": asdict(cluster),
        "policy": {**asdict(policy), "horizons": None if policy.horizons is None else policy.horizons.tolist()},
        "until": until,
        "seed": seed,
        "observations": observations,
        "warmup": warmup,
        "most": most,
    }


def _digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _packed(run: AdmissionRun) -> bytes:
    stream = io.BytesIO()
    values: dict[str, Any] = {one.name: np.asarray(getattr(run, one.name)) for one in fields(run)}
    np.savez_compressed(stream, **values)
    return stream.getvalue()


def _unpacked(content: bytes) -> AdmissionRun:
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        values = {name: held[name] if held[name].ndim else held[name].item() for name in held.files}
    return AdmissionRun(**values)
