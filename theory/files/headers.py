"""What the columns of a table are, guessed from their headers: ``VM Size``, ``RAM (GiB)``, ``price``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

KIB = 1024

RESOURCES: Mapping[str, tuple[str, ...]] = {
    "cpu": (
        "cpu",
        "vcpu",
        "cpus",
        "vcpus",
        "cores",
        "core",
        "ncpus",
        "num_cpus",
        "cpu_cores",
        "vcpu_count",
        "cpu_count",
    ),
    "memory": ("memory", "mem", "ram", "memory_size"),
    "disk": ("disk", "storage", "disk_size", "ssd"),
    "gpu": ("gpu", "gpus", "num_gpus", "gpu_count", "accelerators"),
}
"""Headers of resources, in lower case with ``_`` for every other sign."""

TYPE = (
    "vm_size",
    "vm_type",
    "instance_type",
    "machine_type",
    "vm_flavor",
    "flavor",
    "flavour",
    "sku",
    "type",
)
"""Headers of the name of a type."""

SIZES: dict[str, Fraction | int] = {
    "tib": KIB,
    "gib": 1,
    "mib": Fraction(1, KIB),
    "kib": Fraction(1, KIB**2),
    "bytes": Fraction(1, KIB**3),
}
SIZES |= {"tb": KIB, "gb": 1, "mb": Fraction(1, KIB), "kb": Fraction(1, KIB**2)}
"""GiB in a unit of memory or disk. A GB counts as a GiB, since clouds mostly write GB and mean GiB."""

CORES: Mapping[str, Fraction | int] = {"milli": Fraction(1, 1000), "millicores": Fraction(1, 1000)}

SECONDS: Mapping[str, Fraction | int] = {
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": 1,
    "sec": 1,
    "secs": 1,
    "seconds": 1,
    "min": 60,
    "mins": 60,
    "minutes": 60,
    "h": 3600,
    "hr": 3600,
    "hrs": 3600,
    "hours": 3600,
    "d": 86400,
    "days": 86400,
}
"""Seconds in a unit of time."""


class Header(NamedTuple):
    """A header as it is compared: its words without the unit, and the unit (empty for none)."""

    words: str
    unit: str


def header_of(cell: str) -> Header:
    """Return the words and the unit of a header.

    Examples
    --------
    >>> header_of("RAM (GiB)"), header_of("duration_ms"), header_of("created-at")
    (Header(words='ram', unit='gib'), Header(words='duration', unit='ms'), Header(words='created_at', unit=''))
    """
    outside, _, inside = cell.strip().lower().partition("(")
    words = re.sub(r"\W+", "_", outside).strip("_")
    before, _, last = words.rpartition("_")
    if before and last in (*SIZES, *CORES, *SECONDS):
        return Header(before, last)
    return Header(words, re.sub(r"\W+", "", inside.partition(")")[0]))


def columns_by_meaning(headers: Sequence[str], meanings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the header for each meaning that a table has; of several headers the one that is named first.

    Examples
    --------
    >>> columns_by_meaning(["VM Size", "vCPU", "note"], {"type": TYPE, **RESOURCES})
    {'type': 'VM Size', 'cpu': 'vCPU'}
    """
    by_words: dict[str, str] = {}
    for cell in headers:
        by_words.setdefault(header_of(cell).words, cell)
    chosen: dict[str, str] = {}
    for meaning, names in meanings.items():
        header = next((by_words[name] for name in names if name in by_words), None)
        if header is not None and header not in chosen.values():
            chosen[meaning] = header
    return chosen


def factor_of(meaning: str, header: str) -> Fraction:
    """Return what a number below a header is multiplied by: GiB of memory and disk, cores of cpu, else seconds.

    Examples
    --------
    >>> factor_of("memory", "RAM (MiB)"), factor_of("duration", "runtime_h"), factor_of("cpu", "vCPU")
    (Fraction(1, 1024), Fraction(3600, 1), Fraction(1, 1))
    """
    by_meaning: Mapping[str, Mapping[str, Fraction | int]] = {"cpu": CORES, "gpu": {}, "memory": SIZES, "disk": SIZES}
    units = by_meaning.get(meaning, SECONDS)
    return Fraction(units.get(header_of(header).unit, 1))
