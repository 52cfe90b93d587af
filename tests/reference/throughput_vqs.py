"""VQS of Section V of the high-throughput paper, equations (18) to (21), and VQS-BF of its Section VI."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.reference.throughput_slots import Job, Server, Transcription


def virtual_queue(size: Fraction, levels: int) -> int:
    """Return the virtual queue of a size by (18): 2m for (2/3 2^-m, 2^-m], 2m + 1 for (1/2 2^-m, 2/3 2^-m]."""
    for m in range(levels):
        scaled = size * 2**m
        if Fraction(2, 3) < scaled <= 1:
            return 2 * m
        if Fraction(1, 2) < scaled <= Fraction(2, 3):
            return 2 * m + 1
    return 2 * levels - 1


def reduced(levels: int) -> list[tuple[int, int, int]]:
    """Return K_RED of (19) as rows: jobs of queue 1, another queue, jobs of that."""
    rows = [(0, 2 * m, 2**m) for m in range(levels)]
    rows += [(0, 2 * m + 1, 3 * 2 ** (m - 1)) for m in range(1, levels)]
    rows += [(1, 2 * m, 2**m // 3) for m in range(2, levels)]
    return rows + [(1, 2 * m + 1, 2 ** (m - 1)) for m in range(1, levels)]


class VirtualQueues(Transcription):
    """VQS: each server schedules by its active configuration."""

    reserved = 4
    """Sixths of a server that are for a job of queue 1."""

    at_most_k_j = False
    """Whether step (ii) takes at most k_j jobs."""

    def __init__(self, servers: int, sizes: Sequence[Fraction], levels: int = 2) -> None:
        super().__init__(servers, sizes, levels)
        self.queue_of = [virtual_queue(size, levels) for size in sizes]

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Take step 1, then (i) and (ii) of step 2, for every server."""
        del left, fresh
        for number, server in enumerate(self.servers):
            row = self.choose(server)
            if row is not None:
                self.schedule_by(row, number)

    def schedule_by(self, row: tuple[int, ...], number: int) -> None:
        """Take the steps (i) and (ii) for a server."""
        server, (large, queue, most) = self.servers[number], row
        if large and self.of(1) and not self.inside(server, 1):
            self.start(self.of(1)[0], number)
        budget = self.unit // 6 * (6 - self.reserved) if large else self.unit
        while self.of(queue):
            head, inside = self.of(queue)[0], self.inside(server, queue)
            full = sum(map(self.counted, inside)) + self.counted(head) > budget
            if full or (self.at_most_k_j and len(inside) >= most):
                break
            self.start(head, number)

    def of(self, queue: int) -> list[Job]:
        """Return the waiting jobs of a virtual queue, the first to come first."""
        return [job for job in self.queue if self.queue_of[job.kind] == queue]

    def inside(self, server: Server, queue: int) -> list[Job]:
        """Return the jobs of a virtual queue in a server."""
        return [job for _, job in server.jobs if self.queue_of[job.kind] == queue]

    def choose(self, server: Server) -> tuple[int, ...] | None:
        """Return the active configuration: (20) when the server is empty and a job waits, else (21)."""
        if not server.jobs:
            server.configuration = None
            if self.queue:
                rows = reduced(self.levels)
                weights = [large * len(self.of(1)) + n * len(self.of(q)) for large, q, n in rows]
                server.configuration = rows[weights.index(max(weights))]
        return server.configuration

    def counted(self, job: Job) -> int:
        """Return the size of a job, 2^-J for a smaller one."""
        return max(job.size, self.unit // 2**self.levels)


class VirtualQueuesBestFit(VirtualQueues):
    """VQS-BF: as VQS with the largest jobs that fit, at most k_j of queue j, then BF-S."""

    at_most_k_j = True
    fills = True
    """Whether what is left of a server is filled up."""

    def schedule_by(self, row: tuple[int, ...], number: int) -> None:
        """Take the steps (i) and (ii) with the largest jobs that fit, and fill the server."""
        server, (large, queue, most) = self.servers[number], row
        if large and (job := self.largest(server, self.of(1))) is not None:
            self.start(job, number)
        while not self.at_most_k_j or len(self.inside(server, queue)) < most:
            if (job := self.largest(server, self.of(queue))) is None:
                break
            self.start(job, number)
        if self.fills:
            self.fill(number)


class FiveSixthsReserved(VirtualQueues):
    """Wrong VQS: five sixths of the server are reserved for queue 1."""

    reserved = 5


class AtMostKj(VirtualQueues):
    """Wrong VQS: step (ii) takes at most k_j jobs."""

    at_most_k_j = True


class WithoutKj(VirtualQueuesBestFit):
    """Wrong VQS-BF: step (ii) has no limit k_j."""

    at_most_k_j = False


class WithoutRest(VirtualQueuesBestFit):
    """Wrong VQS-BF: what is left of a server stays empty."""

    fills = False
