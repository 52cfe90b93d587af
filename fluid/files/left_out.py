"""What the types of an instance may leave out where a trace says which jobs come: ``workload`` and ``reward``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fluid.traces.file import TraceFile
from fluid.traces.jobs import TraceJobs, typed_jobs
from theory.errors import InputError, quoted
from theory.files.document import read_document
from theory.files.instances import parse_instance, read_instance
from theory.instance import Instance

FINEST = 10**9
"""Largest denominator of a workload that is taken from a trace."""


@dataclass(frozen=True)
class LeftOut:
    """The places of the types without a workload, which the trace then gives, and whether no type has a reward."""

    workload: tuple[int, ...] = ()
    reward: bool = False

    def filled(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document without its table ``[simulation]``, and with a value for what it leaves out."""
        completed = {name: value for name, value in document.items() if name != "simulation"}
        if self.workload or self.reward:
            reward = {"reward": 1} if self.reward else {}
            without = set(self.workload)
            completed["type"] = [
                {**kind, **reward, **({"workload": 0} if j in without else {})}
                for j, kind in enumerate(completed["type"])
            ]
        return completed

    def measured(
        self, instance: Instance, traced: TraceJobs | None, servers: int, source: str
    ) -> tuple[Instance, tuple[str, ...]]:
        """Return the instance with the workloads of the trace, and the notes on that.

        Raises InputError where a workload is left out and there is no trace.
        """
        notes = ("types have no reward: each job counts 1",) if self.reward else ()
        if not self.workload:
            return instance, notes
        if traced is None:
            raise InputError(f"{source}: type[{self.workload[0] + 1}].workload: missing, expected a number")
        times, types, durations = traced.arriving
        # Little's law: total time in service per server and unit of time, from the first arrival to the last, is the
        # mean number of jobs of a type on a server if none were refused or kept waiting
        span = max(float(times[-1] - times[0]), float(durations.max(initial=0.0)), 1e-6)
        busy = np.bincount(types, weights=durations, minlength=len(instance.types)) / (span * servers)
        without = set(self.workload)
        workload = [
            Fraction(float(busy[j])).limit_denominator(FINEST) if j in without else rho
            for j, rho in enumerate(instance.workload)
        ]
        shown = ", ".join(f"{quoted(instance.names[j])} {float(workload[j]):.4g}" for j in self.workload)
        return instance.with_workload(workload), (*notes, f"workload from the trace, jobs per server: {shown}")


def has_trace(table: object) -> bool:
    """Return whether a table ``[simulation]`` takes its arrivals from a trace."""
    arrivals = table.get("arrivals") if isinstance(table, Mapping) else None
    return isinstance(arrivals, Mapping) and "trace" in arrivals


def left_to_trace(document: Mapping[str, Any]) -> LeftOut:
    """Return what the types of a document leave out; nothing where the document has no list of types."""
    kinds = document.get("type")
    if not isinstance(kinds, list) or not all(isinstance(kind, Mapping) for kind in kinds):
        return LeftOut()
    return LeftOut(
        tuple(j for j, kind in enumerate(kinds) if "workload" not in kind),
        bool(kinds) and not any("reward" in kind for kind in kinds),
    )


def read_measured(path: Path, trace: Path | None, servers: int | None) -> tuple[Instance, tuple[str, ...]]:
    """Read an instance whose types may leave out their workload where a trace on a number of servers gives it.

    Returns
    -------
    Instance
    tuple of str
        What was measured and assumed, with the notes of the trace.

    Raises
    ------
    InputError
        A trace without a number of servers, or beside types that all have a workload.
    """
    if trace is None:
        return read_instance(path), ()
    if servers is None:
        raise InputError("--trace: expected --servers L beside it: the workload is the mean number of jobs per server")
    document = read_document(path)
    left_out = left_to_trace(document)
    if not left_out.workload:
        raise InputError(f"{path}: --trace: expected types without workload, which a trace gives; all have one")
    instance = parse_instance(left_out.filled(document), str(path))
    traced = typed_jobs(TraceFile(trace), instance, present=False)
    instance, notes = left_out.measured(instance, traced, servers, str(path))
    return instance, (*traced.notes, *notes)
