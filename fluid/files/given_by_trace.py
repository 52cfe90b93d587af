"""What types may leave out where a trace says which jobs come: their workload and reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fluid.simulation.documents import ListedJobs
from theory.errors import quoted
from theory.files.instances import parse_instance, without_workload
from theory.instance import Instance

FINEST = 10**9
"""Largest denominator of a workload that is taken from a trace."""


@dataclass(frozen=True)
class GivenByTrace:
    """What types leave to a trace: the places of those without a workload, and whether no type has a reward."""

    workload: tuple[int, ...] = ()
    reward: bool = False

    def parsed(self, document: Mapping[str, Any], source: str) -> Instance:
        """Return the instance of a document, with workload 0 and reward 1 where these are left out."""
        if self.reward:
            document = {**document, "type": [{**kind, "reward": 1} for kind in document["type"]]}
        return parse_instance(document, source, workload_needed=not self.workload)

    def measured(self, instance: Instance, traced: ListedJobs | None, servers: int) -> tuple[Instance, tuple[str, ...]]:
        """Return the instance with the workloads of the trace, and the notes on that."""
        notes = ("types have no reward: each job counts 1",) if self.reward else ()
        if not self.workload or traced is None:
            return instance, notes
        times, types, durations = traced.arriving
        # Little's law: total time in service per server and unit of time, from the first arrival to the last, is the
        # mean number of jobs of a type on a server if none were refused or kept waiting
        span = max(float(times[-1] - times[0]), float(durations.max(initial=0)), 1.0)  # microseconds
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


def what_trace_gives(document: Mapping[str, Any]) -> GivenByTrace:
    """Return what the types of a document leave out; nothing where the document has no list of types."""
    kinds = document.get("type")
    if not isinstance(kinds, list) or not all(isinstance(kind, Mapping) for kind in kinds):
        return GivenByTrace()
    return GivenByTrace(without_workload(document), bool(kinds) and not any("reward" in kind for kind in kinds))
