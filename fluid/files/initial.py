"""The field ``initial`` of the table ``[simulation]``: jobs that are there at time 0, on servers or waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fluid.simulation.documents import InitialJobs
from theory.errors import listed
from theory.files.document import Fields
from theory.files.record import Expected, Range, read
from theory.instance import Instance

MOST_AT_ONCE = 10**7
"""Most jobs of a type that are there at time 0."""

Jobs = Annotated[int, Range(0, MOST_AT_ONCE), Expected("a number of jobs up to ten million"), "jobs at time 0"]
JobsByType = Annotated[
    Mapping[str, int], Range(0, MOST_AT_ONCE), Expected("a number of jobs up to ten million"), "jobs of each type"
]


@dataclass(frozen=True)
class Run:
    """Equal servers that follow each other."""

    servers: Annotated[int, Range(1), Expected("a number of servers"), "how many"]
    jobs: JobsByType


@dataclass(frozen=True)
class Full:
    """Every server so."""

    full: JobsByType


@dataclass(frozen=True)
class Waiting:
    """Jobs that wait."""

    queue: JobsByType


@dataclass(frozen=True)
class Drawn:
    """Jobs of a law of sizes that wait."""

    queue: Jobs


def initial_jobs(fields: Fields, instance: Instance) -> InitialJobs:
    """Take the field ``initial`` beside an instance."""
    expected = (
        "empty, trace, { full = { TYPE = jobs } }, { queue = { TYPE = jobs } }, "
        "or a list of { servers = N, jobs = { TYPE = jobs } }"
    )
    value = fields.take("initial", expected)
    place = fields.where("initial")

    def counts(jobs: Mapping[str, int], inner: str) -> tuple[int, ...]:
        for name in jobs:
            if name not in instance.names:
                fields.fail(f"initial{inner}.{name}", f"expected a type ({listed(instance.names)})")
        return tuple(jobs.get(name, 0) for name in instance.names)

    if value in ("empty", "trace"):
        return InitialJobs(trace=value == "trace")
    if isinstance(value, Mapping):
        table = Fields(value, fields.source, place)
        if "queue" in value:
            return InitialJobs(queue=counts(read(Waiting, table).queue, ".queue"))
        return InitialJobs(((None, counts(read(Full, table).full, ".full")),))
    if not isinstance(value, list) or not value:
        fields.refuse("initial", expected, value)
    runs = [read(Run, Fields(item, fields.source, f"{place}[{i}]")) for i, item in enumerate(value, 1)]
    return InitialJobs(tuple((run.servers, counts(run.jobs, f"[{i}].jobs")) for i, run in enumerate(runs, 1)))


def initial_sizes(fields: Fields) -> InitialJobs:
    """Take the field ``initial`` beside a law of sizes: jobs of a trace, or how many of the law wait."""
    expected = "empty, trace or { queue = N }"
    value = fields.take("initial", expected)
    if isinstance(value, Mapping):
        return InitialJobs(drawn=read(Drawn, Fields(value, fields.source, fields.where("initial"))).queue)
    if value not in ("empty", "trace"):
        fields.refuse("initial", expected, value)
    return InitialJobs(trace=value == "trace")
