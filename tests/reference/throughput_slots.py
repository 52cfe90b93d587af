"""Slots, jobs and servers as the high-throughput paper describes them: lists, exact sizes, no code of the simulator.

The policies are in the files beside this one; a wrong policy is a subclass that overrides one step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

Start = tuple[int, int, int]
"""Slot, class and server of the start of a job."""


@dataclass(eq=False)  # two jobs alike are two jobs
class Job:
    """A job: its place in the order of arrival, its class, its size in units of the server, and slots in service."""

    order: int
    kind: int
    size: int
    work: int


@dataclass
class Server:
    """A server and the jobs in it, with the slots in which they end; `free` is the residual capacity."""

    free: int
    jobs: list[tuple[int, Job]] = field(default_factory=list)
    configuration: tuple[int, ...] | None = None


class Transcription(ABC):
    """A simulation slot by slot; `starts` lists the starts of jobs, `unit` is the number of units of a server.

    Parameters
    ----------
    servers : int
    sizes : sequence of Fraction
        Of the classes, parts of a server.
    levels : int
        J of the universal partition, for the policies that have one.
    """

    def __init__(self, servers: int, sizes: Sequence[Fraction], levels: int = 2) -> None:
        self.levels = levels
        self.unit = lcm(6 * 2**levels, *(size.denominator for size in sizes))  # whole sixths of 2^-J
        self.sizes = [int(size * self.unit) for size in sizes]
        self.servers = [Server(self.unit) for _ in range(servers)]
        self.queue: list[Job] = []
        self.starts: list[Start] = []
        self.now = 0

    def run(self, arrivals: Iterable[tuple[int, int, int]], until: int) -> list[Start]:
        """Go through the slots: jobs leave, jobs (slot, class, work) come, and the policy starts jobs."""
        coming: dict[int, list[Job]] = {}
        for order, (slot, kind, work) in enumerate(arrivals):
            coming.setdefault(slot, []).append(Job(order, kind, self.sizes[kind], work))
        for self.now in range(until):
            left = set()
            for number, server in enumerate(self.servers):
                staying = [(end, job) for end, job in server.jobs if end > self.now]
                if len(staying) < len(server.jobs):
                    left.add(number)
                    server.jobs, server.free = staying, self.unit - sum(job.size for _, job in staying)
            fresh = coming.get(self.now, [])
            self.queue += fresh
            self.schedule(left, fresh)
        return self.starts

    @abstractmethod
    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Start the jobs of a slot, given the servers that jobs have left and the jobs that have come."""

    def start(self, job: Job, number: int) -> None:
        """Start a waiting job on a server that it fits."""
        server = self.servers[number]
        assert job.size <= server.free
        self.queue.remove(job)
        server.jobs.append((self.now + job.work, job))
        server.free -= job.size
        self.starts.append((self.now, job.kind, number))

    def largest(self, server: Server, among: Sequence[Job]) -> Job | None:
        """Return the largest of some jobs that fits a server, the first to come of equals."""
        fitting = [job for job in among if job.size <= server.free]
        return max(fitting, key=lambda job: (job.size, -job.order)) if fitting else None

    def fill(self, number: int) -> None:
        """Start the largest job that fits a server, again and again (BF-S on one server)."""
        while (job := self.largest(self.servers[number], self.queue)) is not None:
            self.start(job, number)
