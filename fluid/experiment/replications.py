"""Replications of ``packproof simulate`` in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from fluid.experiment.store import Store
from fluid.simulation.driver import replicate
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Result, Run
from fluid.simulation.scenario import Scenario
from theory.errors import InputError
from theory.version import versions


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
    name = policy.source
    if not name:
        raise InputError(f"store: expected a policy by its name or as FILE.py:NAME, got {policy.name}, of no file")
    own = name.rpartition(":")[2] if policy.code else name
    cell = fingerprint([versions(), own, policy.code, scenario, seed])
    keys = [fingerprint([cell, r]) for r in range(replications)]
    runs: dict[int, Run] = {}
    for r, key in enumerate(keys):
        stored = store.run(key, _unpacked)
        if stored is not None:
            runs[r] = Run(scenario, stored[0], None, stored[1])

    def put(r: int, run: Run) -> None:
        parameters = {"policy": name, "servers": scenario.servers, "seed": seed}
        number = "reward" if scenario.model == "loss" else "queue"
        mean = run.mean_reward if scenario.model == "loss" else run.mean_queue
        store.put(keys[r], r, parameters, {number: mean}, run.seconds, _packed(run.measures))

    missing = [r for r in range(replications) if r not in runs]
    how: dict[str, Any] = {"workers": workers, "engine": engine, "progress": progress, "finished": runs, "store": put}
    return scenario.result(policy, scenario, *replicate(policy, scenario, missing, seed, **how))


def _packed(measures: Measures) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **measures._asdict())
    return stream.getvalue()


def _unpacked(content: bytes) -> Measures:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Measures(**{name: arrays[name] for name in Measures._fields})


def fingerprint(value: Any) -> str:
    """Return the SHA-256 of a value made of dataclasses, arrays, mappings, sequences and scalars.

    Raises
    ------
    InputError
        A callable: what it does cannot be read off its name.

    Examples
    --------
    >>> fingerprint({"a": np.arange(3), "b": 1.5}) == fingerprint({"b": 1.5, "a": np.arange(3)})
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0)), fingerprint(["ab"]) == fingerprint(["a", "b"])
    (False, False)
    """
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """Name, number of members, members: no two values give the same parts."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
        return
    if is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, Mapping):
        members = {f"{type(key).__name__} {key!r}": value[key] for key in value}
    elif isinstance(value, list | tuple):
        members = {f"{place:020}": one for place, one in enumerate(value)}
    elif callable(value):
        raise InputError("--store: a scenario with Python callables cannot be stored: callables cannot be hashed")
    else:
        yield f"{type(value).__name__} {value!r}".encode()
        return
    yield f"{type(value).__name__} {len(members)}".encode()
    for name in sorted(members):
        yield name.encode()
        yield from _parts(members[name])
