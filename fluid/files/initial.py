"""The field ``initial`` of the table ``[simulation]``: jobs that are there at time 0, on servers or waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError, listed
from theory.files.document import Fields
from theory.instance import Instance
from theory.numbers import many

MOST_AT_ONCE = 10**7
"""Most jobs of a type that are there at time 0."""


@dataclass(frozen=True)
class InitialJobs:
    """Jobs at time 0: on runs of equal servers, waiting by type, of the trace, and drawn from a law of sizes.

    A run is the number of its servers, or None for all, and the jobs of each type on one of them; runs follow each
    other in the order of the servers, and the servers behind the last are empty.
    """

    runs: tuple[tuple[int | None, tuple[int, ...]], ...] = ()
    queue: tuple[int, ...] = ()
    trace: bool = False
    drawn: int = 0

    @property
    def waiting(self) -> int:
        """Return the number of waiting jobs, without those of a trace."""
        return sum(self.queue) + self.drawn

    def counts(self, servers: int, types: int) -> NDArray[np.int32] | None:
        """Return the jobs of each type on each server, int32[L, J], or None where all are empty.

        Raises
        ------
        InputError
            More servers with jobs than there are.
        """
        if not self.runs:
            return None
        named = sum(number or 0 for number, _ in self.runs)
        if named > servers:
            raise InputError("simulation.initial", f"expected jobs on {many(servers, 'server')} at most, got {named:,}")
        jobs_by_server = np.zeros((servers, types), np.int32)
        at = 0
        for number, jobs in self.runs:
            end = servers if number is None else at + number
            jobs_by_server[at:end] = jobs
            at = end
        return jobs_by_server


def initial_jobs(fields: Fields, instance: Instance) -> InitialJobs:
    """Take the field ``initial`` beside an instance."""
    expected = (
        "empty, trace, { full = { TYPE = jobs } }, { queue = { TYPE = jobs } }, "
        "or a list of { servers = N, jobs = { TYPE = jobs } }"
    )
    value = fields.take("initial", expected)
    place = f"{fields.place}.initial"
    if value == "empty":
        return InitialJobs()
    if value == "trace":
        return InitialJobs(trace=True)
    if isinstance(value, Mapping):
        table = Fields(value, fields.source, place)
        waiting = table.has("queue")
        jobs = _jobs(table, "queue" if waiting else "full", instance)
        table.finish()
        return InitialJobs(queue=jobs) if waiting else InitialJobs(((None, jobs),))
    if not isinstance(value, list) or not value:
        fields.fail("initial", f"expected {expected}, got {str(value)[:60]!r}")
    runs = []
    for i, item in enumerate(value, 1):
        table = Fields(item, fields.source, f"{place}[{i}]")
        runs.append((table.integer("servers", "a number of servers", least=1), _jobs(table, "jobs", instance)))
        table.finish()
    return InitialJobs(tuple(runs))


def _jobs(fields: Fields, name: str, instance: Instance) -> tuple[int, ...]:
    table = fields.table(name, "a table of jobs by type")
    jobs = dict.fromkeys(instance.names, 0)
    for job_type in table.names():
        if job_type not in jobs:
            table.fail(job_type, f"expected a type ({listed(instance.names)})")
        jobs[job_type] = table.integer(job_type, "a number of jobs")
        if jobs[job_type] > MOST_AT_ONCE:
            table.fail(job_type, f"expected a number of jobs up to ten million, got {jobs[job_type]}")
    return tuple(jobs.values())


def initial_sizes(fields: Fields) -> InitialJobs:
    """Take the field ``initial`` beside a law of sizes: jobs of a trace, or how many of the law wait."""
    value = fields.peek("initial")
    if isinstance(value, Mapping):
        table = fields.table("initial")
        queue = table.integer("queue", "a number of jobs up to ten million")
        if queue > MOST_AT_ONCE:
            table.fail("queue", f"expected a number of jobs up to ten million, got {queue}")
        table.finish()
        return InitialJobs(drawn=queue)
    if fields.take("initial", "empty, trace or { queue = N }") not in ("empty", "trace"):
        fields.fail("initial", f"expected empty, trace or {{ queue = N }}, got {str(value)[:60]!r}")
    return InitialJobs(trace=value == "trace")
