"""The key of a result: one digest of all that it depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from fluid.simulation.policy_interface import Policy
from fluid.simulation.scenario import Scenario
from theory.errors import ArgumentError, InputError
from theory.version import versions

FORMAT = 3
"""Part of every key: raised where the same scenario takes another path, or its measures have other fields."""


def key_of_runs(policy: Policy, scenario: Scenario, entropy: int) -> str:
    """Return the digest of a policy, a scenario and the entropy of a seed.

    A policy counts by its name, or by the text of its author's code and the name in it, wherever that lies.
    """
    if not policy.source:
        raise InputError("store", f"expected a policy by its name or as FILE.py:NAME, got {policy.name}, of no file")
    name = policy.source.rpartition(":")[2] if policy.code else policy.source
    return fingerprint([versions(), FORMAT, name, policy.code, scenario, entropy])


def key_of_run(runs: str, replication: int) -> str:
    """Return the key of one of the runs, whose seed is ``SeedSequence(entropy, spawn_key=(replication,))``."""
    return fingerprint([runs, replication])


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
        raise ArgumentError("store", "a scenario with Python callables cannot be stored: callables cannot be hashed")
    else:
        yield f"{type(value).__name__} {value!r}".encode()
        return
    yield f"{type(value).__name__} {len(members)}".encode()
    for name in sorted(members):
        yield name.encode()
        yield from _parts(members[name])
