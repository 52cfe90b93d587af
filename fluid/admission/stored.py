"""Runs of admission policies in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from fluid.admission.model import AdmissionCluster
from fluid.admission.simulate import AdmissionPolicy, AdmissionResult, AdmissionRun, one_run, result_of
from fluid.experiment.store import Store
from fluid.parallel import run_all

FORMAT = 1
"""Part of every key: raised when the same run would give another result."""


def simulate_stored(
    store: Store,
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
) -> AdmissionResult:
    """Simulate replications, of which those in the store are read and the others run and stored.

    Parameters
    ----------
    store : Store
    cluster, policy, until, replications, seed, observations, warmup, most, workers, engine, progress
        See `fluid.admission.simulate.simulate_admission`, which gives the same runs.
    """
    given = {
        "cluster": asdict(cluster),
        "policy": {**asdict(policy), "horizons": None if policy.horizons is None else policy.horizons.tolist()},
        "until": until,
        "seed": seed,
        "observations": observations,
        "warmup": warmup,
        "most": most,
    }
    keys = [_digest([FORMAT, "admission", given, r]) for r in range(replications)]
    found: dict[int, AdmissionRun] = {}
    total = 0.0
    for r, key in enumerate(keys):
        held = store.arrays(key)
        if held is not None:
            found[r] = _unpacked(held[0])
            total += held[1]
    missing = [r for r in range(replications) if r not in found]
    tasks = [(cluster, policy, until, seed, r, observations, warmup, most) for r in missing]
    for number, (run, seconds) in run_all(one_run, tasks, workers=workers, engine=engine):
        r = missing[number]
        numbers: dict[str, float | None] = {"utilisation": run.utilisation, "sla": run.sla}
        store.put(keys[r], r, {"policy": policy.name, "seed": seed}, numbers, seconds, _packed(run))
        found[r] = run
        total += seconds
        if progress is not None:
            progress(f"{len(found)} of {replications} runs")
    return result_of([found[r] for r in range(replications)], total)


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
