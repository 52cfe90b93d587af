"""The policies of the throughput paper as the text gives them: lists of jobs, exact fractions, no shared code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product


@dataclass
class Job:
    """A job: when it came and in which order, its class and size (a part of the server), slots in service."""

    slot: int
    order: int
    kind: int
    size: Fraction
    work: int


@dataclass
class Server:
    """A server and the jobs in it, with the slots in which they end."""

    jobs: list[tuple[int, Job]] = field(default_factory=list)
    active: tuple[int, int, int] | None = None
    slots: tuple[int, ...] | None = None

    @property
    def free(self) -> Fraction:
        return 1 - sum((job.size for _, job in self.jobs), Fraction(0))


def virtual_queue(size: Fraction, levels: int) -> int:
    for m in range(levels):
        scaled = size * 2**m
        if Fraction(2, 3) < scaled <= 1:
            return 2 * m
        if Fraction(1, 2) < scaled <= Fraction(2, 3):
            return 2 * m + 1
    return 2 * levels - 1


def reduced(levels: int) -> list[tuple[int, int, int]]:
    rows = [(0, 2 * m, 2**m) for m in range(levels)]
    rows += [(0, 2 * m + 1, 3 * 2 ** (m - 1)) for m in range(1, levels)]
    rows += [(1, 2 * m, 2**m // 3) for m in range(2, levels)]
    return rows + [(1, 2 * m + 1, 2 ** (m - 1)) for m in range(1, levels)]


class Literal:
    """A simulation slot by slot; `starts` lists (slot, class, server)."""

    def __init__(self, policy: str, servers: int, sizes: Sequence[Fraction], levels: int) -> None:
        self.policy, self.sizes, self.levels = policy, sizes, levels
        self.servers = [Server() for _ in range(servers)]
        self.queue: list[Job] = []
        self.starts: list[tuple[int, int, int]] = []
        self.now = 0

    def run(self, jobs: Sequence[Job], until: int) -> None:
        for self.now in range(until):
            left = set()
            for number, server in enumerate(self.servers):
                staying = [(end, job) for end, job in server.jobs if end > self.now]
                if len(staying) < len(server.jobs):
                    left.add(number)
                server.jobs = staying
            fresh = [job for job in jobs if job.slot == self.now]
            self.queue += fresh
            getattr(self, self.policy.replace("-", "_"))(left, fresh)

    def start(self, job: Job, number: int) -> None:
        server = self.servers[number]
        assert job.size <= server.free
        self.queue.remove(job)
        server.jobs.append((self.now + job.work, job))
        self.starts.append((self.now, job.kind, number))

    def tightest(self, job: Job) -> int | None:
        fitting = [(s.free, n) for n, s in enumerate(self.servers) if s.free >= job.size]
        return min(fitting)[1] if fitting else None

    def largest(self, server: Server, among: Sequence[Job]) -> Job | None:
        fitting = [job for job in among if job.size <= server.free]
        return max(fitting, key=lambda job: (job.size, -job.order)) if fitting else None

    def fill(self, number: int) -> None:
        while (job := self.largest(self.servers[number], self.queue)) is not None:
            self.start(job, number)

    def bf_j(self, left: set[int], fresh: list[Job]) -> None:
        for job in list(self.queue):
            if (number := self.tightest(job)) is not None:
                self.start(job, number)

    def bf_s(self, left: set[int], fresh: list[Job]) -> None:
        for number in range(len(self.servers)):
            self.fill(number)

    def bf_js(self, left: set[int], fresh: list[Job]) -> None:
        for number in sorted(left):
            self.fill(number)
        for job in fresh:
            if job in self.queue and (number := self.tightest(job)) is not None:
                self.start(job, number)

    def fifo_ff(self, left: set[int], fresh: list[Job]) -> None:
        while self.queue:
            job = self.queue[0]
            fitting = [n for n, s in enumerate(self.servers) if s.free >= job.size]
            if not fitting:
                return
            self.start(job, fitting[0])

    def of(self, queue: int) -> list[Job]:
        return [job for job in self.queue if virtual_queue(job.size, self.levels) == queue]

    def choose(self, server: Server) -> tuple[int, int, int] | None:
        """The active configuration, renewed when the server is empty and somebody waits."""
        if not server.jobs:
            server.active = None
            if self.queue:
                rows = reduced(self.levels)
                weights = [one * len(self.of(1)) + n * len(self.of(q)) for one, q, n in rows]
                server.active = rows[weights.index(max(weights))]
        return server.active

    def counted(self, job: Job) -> Fraction:
        return max(job.size, Fraction(1, 2**self.levels))

    def vqs(self, left: set[int], fresh: list[Job]) -> None:
        for number, server in enumerate(self.servers):
            if (row := self.choose(server)) is None:
                continue
            one, queue, _ = row
            held = [job for _, job in server.jobs if virtual_queue(job.size, self.levels) == 1]
            if one and not held and self.of(1):
                self.start(self.of(1)[0], number)
            budget = Fraction(1, 3) if one else Fraction(1)
            while self.of(queue):
                head = self.of(queue)[0]
                inner = [job for _, job in server.jobs if virtual_queue(job.size, self.levels) == queue]
                if sum(map(self.counted, inner), Fraction(0)) + self.counted(head) > budget:
                    break
                self.start(head, number)

    def vqs_bf(self, left: set[int], fresh: list[Job]) -> None:
        for number, server in enumerate(self.servers):
            if (row := self.choose(server)) is None:
                continue
            one, queue, most = row
            if one and (job := self.largest(server, self.of(1))) is not None:
                self.start(job, number)
            while sum(virtual_queue(job.size, self.levels) == queue for _, job in server.jobs) < most:
                if (job := self.largest(server, self.of(queue))) is None:
                    break
                self.start(job, number)
            self.fill(number)

    def max_weight(self, left: set[int], fresh: list[Job]) -> None:
        for number, server in enumerate(self.servers):
            if not server.jobs:
                if not self.queue:
                    continue
                waiting = [sum(job.kind == c for job in self.queue) for c in range(len(self.sizes))]
                most = [range(int(1 / size) + 1) for size in self.sizes]
                fitting = [k for k in product(*most) if sum(a * b for a, b in zip(k, self.sizes, strict=True)) <= 1]
                server.slots = max(fitting, key=lambda k: (sum(a * b for a, b in zip(k, waiting, strict=True)), k))
            assert server.slots is not None
            for c, slots in enumerate(server.slots):
                for job in [job for job in self.queue if job.kind == c]:
                    if sum(other.kind == c for _, other in server.jobs) < slots:
                        self.start(job, number)
