"""Jobs with exponential service: for each type an urn of their servers, from which the next to end is drawn.

A job that migrates or is preempted leaves its entry behind, since nobody knows where in the urn it lies. Entries of one
type and server are exchangeable, so it is enough to count these stale entries: one drawn from a server with n jobs and
s stale entries is stale with probability s / (n + s); it is then thrown away and the draw repeated. Every job in
service is thus as likely as any other to be the next, and each stale entry costs one draw at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import Common
from theory.jit import step


class Urn(NamedTuple):
    """Entries of J urns, one after another in one array.

    Attributes
    ----------
    servers : int32[N]
        The server of each entry.
    first : int64[J + 1]
        Where each urn begins.
    length : int64[J]
        Entries in each urn, stale ones included.
    stale : int32[L, J]
        Stale entries by server and type; L = 0 where the policy moves no jobs.
    """

    servers: NDArray[np.int32]
    first: NDArray[np.int64]
    length: NDArray[np.int64]
    stale: NDArray[np.int32]


def new_urn(counts: NDArray[np.int32], expected: NDArray[np.float64], *, moves_jobs: bool) -> Urn:
    """Make the urns of jobs in service, with room for the numbers expected."""
    held = counts.sum(axis=0, dtype=np.int64)
    room = np.maximum(held, np.ceil(expected).astype(np.int64)) + _margin(len(held))
    first = np.concatenate([[0], np.cumsum(room)])
    servers = np.zeros(first[-1], np.int32)
    numbers = np.arange(len(counts), dtype=np.int32)
    for j, n in enumerate(held):
        servers[first[j] : first[j] + n] = np.repeat(numbers, counts[:, j])
    return Urn(servers, first, held, np.zeros((len(counts) if moves_jobs else 0, len(held)), np.int32))


def _margin(types: int) -> int:
    """Return room beside what is used: a loop runs so many events at a stretch."""
    return max(2048, min(1 << 16, (1 << 20) // max(1, types)))


def spare(urn: Urn) -> int:
    """Return how many entries can surely be added to any urn."""
    return int((np.diff(urn.first) - urn.length).min())


def enlarged(urn: Urn) -> Urn:
    """Copy urns, each with half as much room again as it uses."""
    room = urn.length + urn.length // 2 + _margin(len(urn.length))
    first = np.concatenate([[0], np.cumsum(room)])
    servers = np.zeros(first[-1], np.int32)
    for j, n in enumerate(urn.length):
        servers[first[j] : first[j] + n] = urn.servers[urn.first[j] : urn.first[j] + n]
    return Urn(servers, first, urn.length, urn.stale)


@step
def draw_job(urn: Urn, state: Common, job_type: int, draws: Any) -> int:
    """Take a job of a type out of its urn, each with the same probability; return its server."""
    first = urn.first[job_type]
    while True:
        length = urn.length[job_type]
        entry = first + int(draws.random() * length)
        server = urn.servers[entry]
        urn.servers[entry] = urn.servers[first + length - 1]
        urn.length[job_type] = length - 1
        if len(urn.stale) == 0:
            return int(server)
        stale = urn.stale[server, job_type]
        if stale == 0 or int(draws.random() * (stale + state.counts[server, job_type])) >= stale:
            return int(server)
        urn.stale[server, job_type] = stale - 1


@step
def add_job(urn: Urn, job_type: int, server: int) -> None:
    """Put a job into the urn of its type."""
    if len(urn.stale) != 0 and urn.stale[server, job_type] > 0:
        urn.stale[server, job_type] -= 1  # a stale entry comes to life again
        return
    length = urn.length[job_type]
    urn.servers[urn.first[job_type] + length] = server
    urn.length[job_type] = length + 1


@step
def transfer(urn: Urn, job_type: int, source: int, target: int) -> None:
    """Follow a job that was moved (`target` >= 0) or stopped."""
    urn.stale[source, job_type] += 1
    if target >= 0:
        add_job(urn, job_type, target)
