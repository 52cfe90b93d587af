"""Cells of Slurm's accounting as ``sacct`` prints them: elapsed times, states, and the resources that are tracked.

Source: the manual page of sacct, and the page on trackable resources (TRES) of Slurm's documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from theory.errors import InputError
from theory.numbers import many, text

GIB = {"": Fraction(1, 1024), "K": Fraction(1, 2**20), "M": Fraction(1, 1024), "G": Fraction(1), "T": Fraction(1024)}
GIB |= {"P": Fraction(2**20)}
"""GiB in a unit of memory; a number without one is in MiB."""

TIMES = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)", re.ASCII)
OUTCOMES = {
    "COMPLETED": "finish",
    "CANCELLED": "kill",
    "REVOKED": "kill",
    "PREEMPTED": "evict",
    "REQUEUED": "evict",
    **dict.fromkeys(("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"), "fail"),
    **dict.fromkeys(("RUNNING", "SUSPENDED", "RESIZING", "PENDING"), "censored"),
}
"""How a job ended, by its state."""

SHORT = {"CA": "CANCELLED", "CD": "COMPLETED", "F": "FAILED", "PD": "PENDING", "R": "RUNNING", "TO": "TIMEOUT"}


def seconds(cell: str) -> str:
    """Read a length of time, ``[days-]hours:minutes:seconds``, as seconds.

    Examples
    --------
    >>> seconds("1-02:00:00"), seconds("00:01:30"), seconds("01:30.250")
    ('93600', '90', '361/4')
    """
    parts = TIMES.fullmatch(cell)
    if parts is None:
        if cell.lower() in ("", "unknown", "invalid"):
            return ""
        raise InputError(f"expected [days-]hours:minutes:seconds, got {cell[:40]!r}")
    days, hours, minutes = (int(part or 0) for part in parts.groups()[:3])
    return text(((days * 24 + hours) * 60 + minutes) * 60 + Fraction(parts[4]))


def state(cell: str) -> str:
    """Return the state of a job without what follows it, as in ``CANCELLED by 1000``."""
    word = cell.split(maxsplit=1)[0].rstrip("+") if cell.strip() else ""
    return SHORT.get(word, word)


def outcome(cell: str) -> str:
    """Return how a job ended, by its state."""
    word = state(cell)
    if word not in OUTCOMES:
        raise InputError(f"expected a state of Slurm ({', '.join(OUTCOMES)}), got {cell[:40]!r}")
    return OUTCOMES[word]


def is_step(cell: str) -> bool:
    """Return whether a row is a step of a job: ``1234.batch``, ``1234.0``."""
    return "." in cell


def _amount(cell: str) -> Fraction:
    """Read memory in GiB."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)B?", cell, re.ASCII)
    if parts is None:
        raise InputError(f"expected memory such as 16G or 4000M, got {cell[:40]!r}")
    return Fraction(parts[1]) * GIB[parts[2]]


def _parts(cell: str) -> dict[str, str]:
    """Return the resources of a list such as ``cpu=4,gres/gpu=1,mem=16G,node=1``."""
    pairs = [part.partition("=") for part in cell.split(",") if part]
    if not all(sign and value for _, sign, value in pairs):
        raise InputError(f"expected trackable resources such as cpu=4,mem=16G,node=1, got {cell[:60]!r}")
    return {name: value for name, _, value in pairs}


def _count(name: str, cell: str) -> Fraction:
    if not re.fullmatch(r"\d+(\.\d+)?", cell, re.ASCII):
        raise InputError(f"expected a number for {name}, got {cell[:40]!r}")
    return Fraction(cell)


def _gpus(parts: Mapping[str, str]) -> Fraction:
    """Return the number of GPUs: of all models together, or else the sum over models."""
    if "gres/gpu" in parts:
        return _count("gres/gpu", parts["gres/gpu"])
    return sum((_count(name, value) for name, value in parts.items() if name.startswith("gres/gpu:")), Fraction(0))


def tres(name: str) -> Callable[..., str]:
    """Make the reader of a resource of a node, or of the number of nodes (``count``), from lists of resources.

    Of several lists it is the first that is not empty.

    Examples
    --------
    >>> of_both = "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=32G,node=2"
    >>> [tres(name)(of_both) for name in ("count", "cpu", "memory", "gpu")]
    ['2', '4', '16', '2']
    >>> tres("cpu")("", "cpu=3,mem=500M,node=1"), tres("memory")("cpu=3,mem=500M")
    ('3', '125/256')
    """
    return partial(_tres, name)


def _tres(name: str, *cells: str) -> str:
    parts = _parts(next((cell for cell in cells if cell), ""))
    number = _count("node", parts.get("node", "1")) or Fraction(1)
    if name == "count":
        return text(number)
    if name == "gpu":
        return text(_gpus(parts) / number)
    amount = _count("cpu", parts.get("cpu", "0")) if name == "cpu" else _amount(parts.get("mem", "0"))
    return text(amount / number)


def nodes(cell: str) -> str:
    """Return the number of nodes of a job; one where none is said."""
    return text(_count("nodes", cell or "0") or Fraction(1))


def per_node(cell: str, number: str) -> str:
    """Return what each node of a job has."""
    return text(_count("cores or GPUs", cell or "0") / Fraction(nodes(number)))


def memory(cell: str, cores: str = "", number: str = "1") -> str:
    """Read ``ReqMem``, of a node, in GiB: ``16G``, of the job; ``16Gn``, of a node; ``4Gc``, of a core.

    Examples
    --------
    >>> memory("16G"), memory("16Gn", "8", "2"), memory("4000Mc", "8", "2"), memory("16G", "8", "2")
    ('16', '16', '125/8', '8')
    """
    of = cell[-1:] if cell[-1:] in ("n", "c") else ""
    amount = _amount(cell.removesuffix(of) or "0")
    if of == "n":
        return text(amount)
    if of == "c" and not cores:
        raise InputError(f"expected ReqCPUS beside memory for each core, got {cell[:40]!r} alone")
    each = amount * _count("cores", cores) if of == "c" else amount
    return text(each / Fraction(nodes(number)))


def remarks(cells: Mapping[str, Sequence[tuple[str, ...]]]) -> list[str]:
    """Return the notes on resources that are not used, and on jobs that ask for no memory."""
    lists = {next((cell for cell in row if cell), "") for row in cells.get("cpu", ())}
    names = {name.partition(":")[0] for cell in lists for name in _parts(cell)}
    others = sorted(names - {"cpu", "mem", "node", "gres/gpu"})
    notes = [f"Slurm: resources not used: {', '.join(others)}"] if others else []
    without = [cell for cell in lists if cell and _parts(cell).get("mem", "0").strip("0KMGTP") == ""]
    if without:
        count = many(len(without), "distinct request")
        notes.append(f"Slurm: {count} without memory (mem=0 asks for all of a node) count as 0: {without[0][:80]}")
    return notes
