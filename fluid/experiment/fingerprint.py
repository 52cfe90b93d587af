"""A digest of plain data: the name under which a result is kept that depends on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from theory.errors import InputError


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
