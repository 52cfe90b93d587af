"""Replications of ``packproof simulate`` in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fluid.experiment.store import Store
from fluid.parallel import run_all
from fluid.simulation.driver import replicate, run_replication, seed_of
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Result, Run
from fluid.simulation.scenario import Scenario
from theory.errors import InputError
from theory.version import versions

FORMAT = 2
"""Part of every key: raised where the same scenario takes another path, or its measures have other fields."""


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
        name = policy.source
        if not name:
            raise InputError(f"store: expected a policy by its name or as FILE.py:NAME, got {policy.name}, of no file")
        own = name.rpartition(":")[2] if policy.code else name
        self._store, self._scenario = store, scenario
        self._cell = fingerprint([versions(), FORMAT, own, policy.code, scenario, seed])
        self._parameters = {"policy": name, "servers": scenario.servers, "seed": seed}

    def _key(self, r: int) -> str:
        return fingerprint([self._cell, r])

    def read(self, r: int) -> Run | None:
        """Return a replication, without ``state``; None where the store has not got it."""
        stored = self._store.run(self._key(r), partial(_unpacked, self._scenario.measures()))
        return None if stored is None else Run(self._scenario, stored[0], None, stored[1])

    def put(self, r: int, run: Run) -> None:
        """Store a replication."""
        is_loss = self._scenario.model == "loss"
        number, mean = ("reward", run.mean_reward) if is_loss else ("queue", run.mean_queue)
        self._store.put(self._key(r), r, self._parameters, {number: mean}, run.seconds, _packed(run.measures))


def _packed(measures: Measures) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **measures._asdict())
    return stream.getvalue()


def _unpacked(like: Measures, content: bytes) -> Measures:
    """Return stored measures; ValueError for arrays that are not those of a run of this scenario."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        stored = Measures(**{name: arrays[name] for name in Measures._fields})
    for name in Measures._fields:
        expected, array = getattr(like, name), getattr(stored, name)
        if array.shape != expected.shape or array.dtype != expected.dtype or not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite {expected.dtype} of shape {expected.shape}")
    return stored


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
