"""Instances and laws of sizes of which a trace gives what their files leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fluid.files.given_by_trace import FINEST, has_trace, what_trace_gives
from fluid.traces.file import TraceFile, on_file, trace_of
from fluid.traces.jobs import sized_jobs, typed_jobs
from fluid.traces.model import MICROSECONDS
from theory.errors import ArgumentError, InputError, quoted
from theory.files.document import Fields
from theory.files.instances import parse_instance
from theory.files.sizes import LAWS, Sizes, parse_sizes
from theory.instance import Instance
from theory.numbers import many
from theory.partition.laws import empirical


def trace_in(
    document: Mapping[str, Any], path: Path, trace: Path | None, *, drop_open: bool = False, strict: bool = False
) -> TraceFile | None:
    """Return the trace of ``[simulation.arrivals]``, if any, with the file `trace` in its place if one is given."""
    table = document.get("simulation", {})
    stated = trace_of(Fields(table, str(path), "simulation"), path.parent) if has_trace(table) else None
    return on_file(stated, trace, drop_open=drop_open, strict=strict)


def measured_instance(
    document: Mapping[str, Any], path: Path, trace: Path | None, servers: int | None
) -> tuple[Instance, tuple[str, ...]]:
    """Return the instance of a file whose types may leave out their workload where a trace gives it.

    Parameters
    ----------
    document : mapping
    path : Path
        Of the file.
    trace : Path, optional
        In place of that of ``[simulation.arrivals]``, and read as that table says.
    servers : int, optional
        Number of servers that the jobs of the trace come to.

    Returns
    -------
    Instance
        Types without a service rate have the inverse of their mean service in the trace: time is in seconds.
    tuple of str
        What was measured and assumed, with the notes of the trace.

    Raises
    ------
    InputError
        A trace without a number of servers, or beside types that all have a workload.
    """
    file, given_by_trace = trace_in(document, path, trace), what_trace_gives(document)
    if trace is not None and not given_by_trace.workload:
        raise InputError(path, "--trace", "expected types without workload, which a trace gives; all have one")
    if file is None or not given_by_trace.workload:
        return parse_instance(document, str(path)), ()
    if servers is None:
        problem = "expected --servers L beside it: the workload is the mean number of jobs per server"
        raise InputError(path, "simulation.arrivals", problem) if trace is None else ArgumentError("trace", problem)
    instance = given_by_trace.parsed(document, str(path))
    traced = typed_jobs(file, instance, present=False)
    instance, notes = given_by_trace.measured(instance, traced, servers)
    _, types, durations = traced.arriving
    number = np.bincount(types, minlength=len(instance.types))
    stays = np.bincount(types, weights=durations, minlength=len(instance.types)) / np.maximum(number, 1) / MICROSECONDS
    kinds = list(instance.types)
    for j in given_by_trace.workload:
        if "service_rate" not in document["type"][j] and stays[j] > 0:
            kinds[j] = replace(kinds[j], service_rate=1 / Fraction(float(stays[j])).limit_denominator(FINEST))
    shown = ", ".join(f"{quoted(kinds[j].name)} {float(kinds[j].service_rate):.4g}" for j in given_by_trace.workload)
    return replace(instance, types=tuple(kinds)), (*traced.notes, *notes, f"service rates, per second: {shown}")


def measured_sizes(document: Mapping[str, Any], path: Path, trace: Path | None) -> tuple[Sizes, tuple[str, ...]]:
    """Return what a size file says, with the law of `trace`, or that of ``[simulation.arrivals]`` if it has no law.

    The probability of a size is its part of the jobs in service, as a law divides a workload. There are notes on that.
    """
    file, table = trace_in(document, path, trace), document.get("sizes")
    if not isinstance(table, Mapping) or file is None or (trace is None and any(law in table for law in LAWS)):
        return parse_sizes(document, str(path), path.parent), ()
    law, traced = sized_jobs(file, present=False)
    times, places, durations = traced.arriving
    busy = np.bincount(places, weights=durations, minlength=len(law.sizes))
    span = max(float(times[-1] - times[0]), float(durations.max()))
    if not busy.any():
        raise InputError(file.path, "", "expected jobs with some time in service")
    parts = {Fraction(size, law.capacity): round(x) for size, x in zip(law.sizes.tolist(), busy.tolist(), strict=True)}
    others = {name: value for name, value in table.items() if name not in LAWS}
    sizes = parse_sizes({**document, "sizes": {**others, "items": [1]}}, str(path), path.parent)
    shown = f"{float(durations.sum()) / span:.6g} jobs in service on average, of {many(len(law.sizes), 'size')}"
    return replace(sizes, law=empirical(parts), counts=()), (*traced.notes, f"law of sizes from the trace: {shown}")
