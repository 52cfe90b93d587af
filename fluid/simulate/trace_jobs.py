"""Tasks of a trace as jobs of a simulation: by type or by size, those that are there at time 0 apart."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulate.arrivals import JobList, joined
from fluid.simulate.slotted.streams import SizeLaw, SlotChunk
from fluid.trace import Trace, read_google_table, read_plain, single_resource, stretched
from fluid.trace.model import MICROSECONDS
from fluid.trace.readers import header
from theory.errors import InputError
from theory.files.document import Fields
from theory.instance import Additive, Instance


@dataclass(frozen=True)
class TraceFile:
    """A trace that stands for arrivals and service.

    Attributes
    ----------
    path : Path
        Plain CSV, or the table of attempts of the Google trace of 2011 (`fluid.trace`).
    stretch : Fraction
        Arrival times are multiplied by it, so traffic is divided (paper 001, VII-B).
    digest : str
        SHA-256 that the file must have; empty for any.
    """

    path: Path
    stretch: Fraction = Fraction(1)
    digest: str = ""

    @cached_property
    def trace(self) -> Trace:
        """What is in it, read once.

        Raises
        ------
        InputError
            A file that is no trace, or another one than the digest says.
        """
        trace = _read(self.path, self.digest)
        return trace if self.stretch == 1 else stretched(trace, self.stretch)


@dataclass(frozen=True)
class TraceJobs:
    """Jobs of a trace.

    Attributes
    ----------
    arriving : JobList
        In seconds.
    present : JobList
        Tasks that run when the trace opens, all at time 0; their durations are what was left of them.
    cut : int
        How many of the latter were still there when the trace ended: their durations are what was seen.
    """

    arriving: JobList
    present: JobList
    cut: int

    def all(self, initial: bool) -> JobList:
        """Return the jobs that arrive, and before them, if `initial`, those that are there."""
        return joined(self.present, self.arriving) if initial else self.arriving


def trace_of(fields: Fields, folder: Path | None) -> TraceFile | None:
    """Take ``arrivals`` if it is a table with the field ``trace``: a file, and perhaps ``stretch``.

    Parameters
    ----------
    fields : Fields
        Of the table ``[simulation]``.
    folder : Path, optional
        Where a relative name starts; the working directory unless given.
    """
    value = fields.peek("arrivals")
    if not isinstance(value, Mapping) or "trace" not in value:
        return None
    table = fields.table("arrivals")
    path = (folder or Path()) / table.text("trace", "the name of a file")
    stretch = table.optional_number("stretch", Fraction(1), "a factor greater than 0", strict=True)
    digest = table.text("digest", "the SHA-256 of the file") if table.has("digest") else ""
    table.finish()
    return TraceFile(path, stretch, digest)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


@lru_cache(maxsize=4)
def _kept(path: Path, digest: str) -> Trace:
    if digest_of(path) != digest:
        raise InputError(f"{path}: it has changed since the experiment was read; run it again")
    return _read(path, "")


def _read(path: Path, digest: str) -> Trace:
    if digest:
        return _kept(path, digest)
    return read_google_table(path) if "submit_us" in header(path) else read_plain(path)


def typed_jobs(file: TraceFile, instance: Instance) -> TraceJobs:
    """Turn a trace into jobs of the types of an instance, by name or else by demand.

    Raises
    ------
    InputError
        A row whose type the instance does not have, or a trace without arrivals.
    """
    trace = file.trace
    if trace.labels:
        unknown = next((name for name in trace.labels if name not in instance.names), None)
        if unknown is not None:
            raise InputError(f"{file.path}: type: expected one of {', '.join(instance.names)}, got {unknown!r}")
        types = np.array([instance.names.index(name) for name in trace.labels])[trace.label]
    else:
        types = _by_demand(file.path, trace, instance)
    return _divided(file.path, trace, types)


def _by_demand(path: Path, trace: Trace, instance: Instance) -> NDArray[Any]:
    space = instance.pools[0].space
    if not isinstance(space, Additive) or set(trace.resources) != set(space.resources):
        raise InputError(f"{path}: expected a column type, or the resources of the server")
    columns = [space.resources.index(name) for name in trace.resources]
    known = {tuple(row[r] * space.unit[r] for r in columns): j for j, row in reversed(list(enumerate(space.demands)))}
    rows, back = np.unique(trace.demand, axis=0, return_inverse=True)
    number = []
    for row in rows.tolist():
        demand = tuple(n * unit for n, unit in zip(row, trace.unit, strict=True))
        if demand not in known:
            shown = ", ".join(f"{name} = {float(x):g}" for name, x in zip(trace.resources, demand, strict=True))
            raise InputError(f"{path}: expected only demands of the instance's types, got {shown}")
        number.append(known[demand])
    return np.array(number)[back.reshape(-1)]


def sized_jobs(file: TraceFile) -> tuple[SizeLaw, TraceJobs]:
    """Turn a trace into jobs with sizes: the largest share of a server that a task asks of any resource.

    Returns
    -------
    SizeLaw
        The sizes that occur, of a server of capacity 1.
    TraceJobs
        Their types are places among the sizes.

    Raises
    ------
    InputError
        A plain trace with a size of 0 or of more than a server, or without arrivals. From the Google trace such tasks
        are dropped.
    """
    trace = file.trace
    kept = single_resource(trace)
    if len(kept) < len(trace) and "submit_us" not in header(file.path):
        raise InputError(f"{file.path}: expected shares of a server, more than 0 and at most 1, in every row")
    sizes, place = np.unique(kept.demand[:, 0], return_inverse=True)
    law = SizeLaw(sizes * kept.unit[0].numerator, kept.unit[0].denominator, np.zeros(0))
    return law, _divided(file.path, kept, place.reshape(-1))


def _divided(path: Path, trace: Trace, types: NDArray[Any]) -> TraceJobs:
    there = trace.present
    if there.all():
        raise InputError(f"{path}: expected at least one arrival")
    times, kinds, durations = trace.arrival / MICROSECONDS, types.astype(np.int32), trace.duration / MICROSECONDS
    arriving = JobList(times[~there], kinds[~there], durations[~there])
    present = JobList(np.zeros(int(there.sum())), kinds[there], durations[there])
    return TraceJobs(arriving, present, int((there & trace.censored).sum()))


def in_slots(jobs: JobList, slot: Fraction) -> SlotChunk:
    """Put jobs in the first slot that begins after they come, for at least one slot."""
    seconds = float(slot)
    when = np.ceil(jobs.times / seconds - 1e-9).astype(np.int64)
    work = np.maximum(1, np.ceil(jobs.durations / seconds - 1e-9)).astype(np.int64)
    return SlotChunk(when, jobs.types.astype(np.int32), work)
