"""The jobs in service of a loss system, kept so that the loop finds the next to end: an urn, or a calendar.

An urn serves exponential service times: for each type it holds the servers of the jobs, and the next to end is drawn. A
job that migrates or is preempted leaves its entry behind, since its place in the urn is not known. Entries of one
type and server are exchangeable, so it is enough to count these stale entries: an entry drawn from a server with n jobs
and s stale entries is stale with probability s / (n + s), and is then thrown away and the draw repeated. Every job in
service is thus as likely as any other to be the next, and each stale entry costs one draw at most.

A calendar serves all other laws: it holds the time at which each job ends, and, for policies that move jobs, lists of
the jobs of each server and type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import Common, wide
from fluid.simulation.structures.event_list import EventList, enlarged, new_event_list, pop, push
from theory.compiled import step


class Urn(NamedTuple):
    """Entries of J urns, one after another in one array."""

    servers: NDArray[np.int32]  # [N]: the server of each entry
    first: NDArray[np.int64]  # [J + 1]: where each urn begins
    length: NDArray[np.int64]  # [J]: entries in each urn, stale ones included
    moves_jobs: bool  # whether the policy moves or stops jobs, so that entries become stale
    stale: NDArray[np.int32]  # [L, J]: stale entries by server and type; L = 0 where there can be none


def new_urn(counts: NDArray[np.int32], expected: NDArray[np.float64], *, moves_jobs: bool) -> Urn:
    """Make the urns of jobs in service, with memory for the numbers expected."""
    servers = len(counts)
    jobs = counts.sum(axis=0, dtype=np.int64)
    urn = _urns(np.maximum(jobs, np.ceil(expected).astype(np.int64)), servers if moves_jobs else 0)
    for j, n in enumerate(jobs):
        urn.servers[urn.first[j] : urn.first[j] + n] = np.repeat(np.arange(servers, dtype=np.int32), counts[:, j])
    return urn._replace(length=jobs, moves_jobs=moves_jobs)


def _urns(memory: NDArray[np.int64], moving: int) -> Urn:
    """Make empty urns with memory for given numbers of entries, and a margin for the events that run at once."""
    types = len(memory)
    margin = max(2048, min(1 << 16, (1 << 20) // max(1, types)))
    first = np.concatenate([[0], np.cumsum(memory + margin)])
    stale = np.zeros((moving, types), np.int32)
    return Urn(np.zeros(first[-1], np.int32), first, np.zeros(types, np.int64), False, stale)


def spare_in_urn(urn: Urn) -> int:
    """Return how many entries can surely be added to any urn."""
    return int((np.diff(urn.first) - urn.length).min())


def larger_urn(urn: Urn) -> Urn:
    """Copy urns, each with half as much memory again as it uses."""
    larger = _urns(urn.length + urn.length // 2, 0)
    for j, n in enumerate(urn.length):
        larger.servers[larger.first[j] : larger.first[j] + n] = urn.servers[urn.first[j] : urn.first[j] + n]
    return urn._replace(servers=larger.servers, first=larger.first)


@step
def draw_job(urn: Urn, state: Common, job_type: int, rng: Any) -> int:
    """Take a job of a type out of its urn, each with the same probability; return its server."""
    first = urn.first[job_type]
    while True:
        length = urn.length[job_type]
        entry = first + int(rng.random() * length)
        server = wide(urn.servers[entry])
        urn.servers[entry] = urn.servers[first + length - 1]
        urn.length[job_type] = length - 1
        if not urn.moves_jobs:
            return server
        stale = urn.stale[server, job_type]
        if stale == 0 or int(rng.random() * (stale + state.counts[server, job_type])) >= stale:
            return server
        urn.stale[server, job_type] = stale - 1


@step
def add_job(urn: Urn, job_type: int, server: int) -> None:
    """Put a job into the urn of its type."""
    if urn.moves_jobs and urn.stale[server, job_type] > 0:
        urn.stale[server, job_type] -= 1  # a stale entry comes to life again
        return
    length = urn.length[job_type]
    urn.servers[urn.first[job_type] + length] = server
    urn.length[job_type] = length + 1


@step
def transfer_in_urn(urn: Urn, job_type: int, source: int, target: int) -> None:
    """Follow a job that was moved (`target` >= 0) or stopped."""
    urn.stale[source, job_type] += 1
    if target >= 0:
        add_job(urn, job_type, target)


class Calendar(NamedTuple):
    """Memory for N jobs; a job keeps its number while it is in service."""

    ends: EventList  # numbers of the jobs by the time at which they end
    server: NDArray[np.int32]  # [N]: where each job runs; -1 if it was stopped and is still among the ends
    kind: NDArray[np.int32]  # [N]: the type of each job
    unused: NDArray[np.int32]  # [N], a stack: where n jobs are among the ends, its first N - n numbers are free
    moves_jobs: bool  # whether the policy moves or stops jobs, so that they must be found by server and type
    after: NDArray[np.int32]  # [N]: neighbours in the list of the server and type
    before: NDArray[np.int32]
    first: NDArray[np.int32]  # [L, J]: heads of those lists; L = 0 where the policy moves no jobs


def new_calendar(length: int, servers: int, types: int, *, moves_jobs: bool) -> Calendar:
    """Make an empty calendar with memory for a number of jobs."""
    length = max(length, 1024)
    return Calendar(
        new_event_list(length),
        np.zeros(length, np.int32),
        np.zeros(length, np.int32),
        np.arange(length - 1, -1, -1, dtype=np.int32),
        moves_jobs,
        np.full(length, -1, np.int32),
        np.full(length, -1, np.int32),
        np.full((servers if moves_jobs else 0, types), -1, np.int32),
    )


def spare_in_calendar(calendar: Calendar) -> int:
    """Return how many more jobs there is memory for."""
    return len(calendar.server) - int(calendar.ends.size[0])


def larger_calendar(calendar: Calendar) -> Calendar:
    """Copy a calendar with twice the memory."""
    length, spare = len(calendar.server), spare_in_calendar(calendar)
    larger = new_calendar(2 * length, *calendar.first.shape, moves_jobs=calendar.moves_jobs)
    for name in ("server", "kind", "after", "before"):
        getattr(larger, name)[:length] = getattr(calendar, name)
    # the new numbers lie below the free ones, which go out first
    larger.unused[:length] = np.arange(2 * length - 1, length - 1, -1)
    larger.unused[length : length + spare] = calendar.unused[:spare]
    return larger._replace(ends=enlarged(calendar.ends), first=calendar.first)


@step
def schedule(calendar: Calendar, due: float, job_type: int, server: int) -> None:
    """Enter a job that ends at a time."""
    job = calendar.unused[len(calendar.server) - calendar.ends.size[0] - 1]
    calendar.kind[job] = job_type
    calendar.server[job] = server
    if calendar.moves_jobs:
        _link(calendar, job, server)
    push(calendar.ends, due, job)


@step
def take_next(calendar: Calendar) -> int:
    """Remove the next job to end and return its number, which stays readable until the next `schedule`."""
    job = pop(calendar.ends)
    calendar.unused[len(calendar.server) - calendar.ends.size[0] - 1] = job
    if calendar.moves_jobs and calendar.server[job] >= 0:
        _unlink(calendar, job)
    return job


@step
def _link(calendar: Calendar, job: int, server: int) -> None:
    head = calendar.first[server, calendar.kind[job]]
    calendar.after[job] = head
    calendar.before[job] = -1
    if head >= 0:
        calendar.before[head] = job
    calendar.first[server, calendar.kind[job]] = job


@step
def _unlink(calendar: Calendar, job: int) -> None:
    after, before = calendar.after[job], calendar.before[job]
    if after >= 0:
        calendar.before[after] = before
    if before >= 0:
        calendar.after[before] = after
    else:
        calendar.first[calendar.server[job], calendar.kind[job]] = after


@step
def transfer_in_calendar(calendar: Calendar, job_type: int, source: int, target: int) -> None:
    """Move the job of a type that came to a server last, or stop it; a moved job ends when it would have."""
    job = calendar.first[source, job_type]
    _unlink(calendar, job)
    calendar.server[job] = target
    if target >= 0:
        _link(calendar, job, target)
