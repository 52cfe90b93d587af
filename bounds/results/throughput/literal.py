"""The policies of the high-throughput paper as the text gives them: lists, exact sizes, no code of the simulator.

Claims and tests replay them slot by slot beside the policies of `fluid.simulation.slotted.policies`. A break makes one
step wrong, by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm


@dataclass(eq=False)  # two jobs alike are two jobs
class Job:
    """A job: when it came and in which order, its class and size, slots in service.

    The size is a part of the server, and within a simulation the whole number of its units.
    """

    slot: int
    order: int
    kind: int
    size: Fraction | int
    work: int


@dataclass
class Server:
    """A server and the jobs in it, with the slots in which they end; `free` is the residual capacity."""

    free: int
    jobs: list[tuple[int, Job]] = field(default_factory=list)
    active: tuple[int, int, int] | None = None
    slots: tuple[int, ...] | None = None


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


FIRST_FIT, SMALLEST = "new jobs take the first server that they fit", "servers fill up with the smallest job first"
RESERVED, LIMITED = "five sixths of the server are reserved for queue 1", "step (ii) takes at most k_j jobs"
NO_LIMIT, NO_REST = "step (ii) has no limit k_j", "what is left of a server stays empty"
OVERTAKING, LIGHTEST = "jobs overtake one that fits no server", "a server takes a configuration of least weight"
"""The breaks of BF-J/S, VQS, VQS-BF, FIFO-FF and MaxWeight."""


class Literal:
    """A simulation slot by slot; `starts` lists (slot, class, server), `unit` is the number of units of a server.

    Parameters
    ----------
    policy : str
        Its name, as the simulator has it.
    servers : int
    sizes : sequence of Fraction
        Of the classes, parts of a server.
    levels : int
        J of the universal partition.
    broken : str
        A break, or empty.
    """

    def __init__(self, policy: str, servers: int, sizes: Sequence[Fraction], levels: int, broken: str = "") -> None:
        self.policy, self.levels, self.broken = policy, levels, broken
        self.queue_of = [virtual_queue(size, levels) for size in sizes]
        self.unit = lcm(6 * 2**levels, *(size.denominator for size in sizes))  # whole sixths of 2^-J
        self.sizes = [int(size * self.unit) for size in sizes]
        self.servers = [Server(self.unit) for _ in range(servers)]
        self.queue: list[Job] = []
        self.starts: list[tuple[int, int, int]] = []
        self.now = 0

    def run(self, jobs: Sequence[Job], until: int) -> None:
        """Go through the slots: jobs leave, jobs come, and the policy starts jobs."""
        coming: dict[int, list[Job]] = {}
        for job in jobs:
            coming.setdefault(job.slot, []).append(replace(job, size=int(job.size * self.unit)))
        for self.now in range(until):
            left = set()
            for number, server in enumerate(self.servers):
                staying = [(end, job) for end, job in server.jobs if end > self.now]
                if len(staying) < len(server.jobs):
                    left.add(number)
                    server.jobs, server.free = staying, self.unit - sum(int(job.size) for _, job in staying)
            fresh = coming.get(self.now, [])
            self.queue += fresh
            getattr(self, self.policy.replace("-", "_"))(left, fresh)

    def start(self, job: Job, number: int) -> None:
        """Start a waiting job on a server that it fits."""
        server = self.servers[number]
        assert job.size <= server.free
        self.queue.remove(job)
        server.jobs.append((self.now + job.work, job))
        server.free -= int(job.size)
        self.starts.append((self.now, job.kind, number))

    def tightest(self, job: Job) -> int | None:
        """Return the server with the least residual capacity that a job fits, the first of equals."""
        fitting = [(s.free, n) for n, s in enumerate(self.servers) if s.free >= job.size]
        if self.broken == FIRST_FIT:
            return fitting[0][1] if fitting else None
        return min(fitting)[1] if fitting else None

    def largest(self, server: Server, among: Sequence[Job]) -> Job | None:
        """Return the largest of some jobs that fits a server, the first to come of equals."""
        fitting = [job for job in among if job.size <= server.free]
        if self.broken == SMALLEST:
            return min(fitting, key=lambda job: (job.size, job.order)) if fitting else None
        return max(fitting, key=lambda job: (job.size, -job.order)) if fitting else None

    def fill(self, number: int) -> None:
        """Start the largest job that fits, again and again."""
        while (job := self.largest(self.servers[number], self.queue)) is not None:
            self.start(job, number)

    def bf_j(self, _left: set[int], _fresh: list[Job]) -> None:
        """BF-J: every job in the queue takes the tightest server."""
        for job in list(self.queue):
            if (number := self.tightest(job)) is not None:
                self.start(job, number)

    def bf_s(self, _left: set[int], _fresh: list[Job]) -> None:
        """BF-S: every server fills up."""
        for number in range(len(self.servers)):
            self.fill(number)

    def bf_js(self, left: set[int], fresh: list[Job]) -> None:
        """BF-J/S: 1. BF-S for servers that jobs have left; 2. BF-J for new jobs that still wait."""
        for vacated in sorted(left):
            self.fill(vacated)
        for job in fresh:
            if job in self.queue and (number := self.tightest(job)) is not None:
                self.start(job, number)

    def fifo_ff(self, _left: set[int], _fresh: list[Job]) -> None:
        """FIFO-FF: the first job in the queue takes the first server that it fits, or all wait."""
        for job in list(self.queue):
            fitting = [n for n, s in enumerate(self.servers) if s.free >= job.size]
            if fitting:
                self.start(job, fitting[0])
            elif self.broken != OVERTAKING:
                return

    def of(self, queue: int) -> list[Job]:
        """Return the waiting jobs of a virtual queue, the first to come first."""
        return [job for job in self.queue if self.queue_of[job.kind] == queue]

    def choose(self, server: Server) -> tuple[int, int, int] | None:
        """Return the active configuration: (20) when the server is empty and a job waits, else (21)."""
        if not server.jobs:
            server.active = None
            if self.queue:
                rows = reduced(self.levels)
                weights = [large * len(self.of(1)) + n * len(self.of(q)) for large, q, n in rows]
                server.active = rows[weights.index(max(weights))]
        return server.active

    def counted(self, job: Job) -> int:
        """Return the size of a job, 2^-J for a smaller one."""
        return max(int(job.size), int(self.unit // 2**self.levels))

    def vqs(self, _left: set[int], _fresh: list[Job]) -> None:
        """VQS, Section V: steps 1 and 2 (i), (ii) for every server."""
        for number, server in enumerate(self.servers):
            if (row := self.choose(server)) is None:
                continue
            large, queue, most = row
            if large and self.of(1) and all(self.queue_of[job.kind] != 1 for _, job in server.jobs):
                self.start(self.of(1)[0], number)
            reserved = 5 if self.broken == RESERVED else 4  # sixths of the server
            budget = self.unit // 6 * (6 - reserved) if large else self.unit
            while self.of(queue):
                head = self.of(queue)[0]
                inner = [job for _, job in server.jobs if self.queue_of[job.kind] == queue]
                full = sum(map(self.counted, inner)) + self.counted(head) > budget
                if full or (self.broken == LIMITED and len(inner) >= most):
                    break
                self.start(head, number)

    def vqs_bf(self, _left: set[int], _fresh: list[Job]) -> None:
        """VQS-BF, Section VI: as VQS with the largest jobs that fit, at most k_j of queue j, then BF-S."""
        for number, server in enumerate(self.servers):
            if (row := self.choose(server)) is None:
                continue
            large, queue, most = row
            if large and (job := self.largest(server, self.of(1))) is not None:
                self.start(job, number)
            if self.broken == NO_LIMIT:
                most = len(self.queue) + len(server.jobs)
            while sum(self.queue_of[job.kind] == queue for _, job in server.jobs) < most:
                if (job := self.largest(server, self.of(queue))) is None:
                    break
                self.start(job, number)
            if self.broken != NO_REST:
                self.fill(number)

    @cached_property
    def configurations(self) -> list[tuple[int, ...]]:
        """The contents that fit a server."""
        most = [range(self.unit // size + 1) for size in self.sizes]
        return [k for k in product(*most) if sum(a * b for a, b in zip(k, self.sizes, strict=True)) <= self.unit]

    def max_weight(self, _left: set[int], _fresh: list[Job]) -> None:
        """Max-weight: an empty server takes the configuration of greatest weight, and keeps it until it is empty."""
        for number, server in enumerate(self.servers):
            if not server.jobs:
                if not self.queue:
                    continue
                waiting = [sum(job.kind == c for job in self.queue) for c in range(len(self.sizes))]
                choose = min if self.broken == LIGHTEST else max
                server.slots = choose(
                    self.configurations, key=lambda k: (sum(a * b for a, b in zip(k, waiting, strict=True)), k)
                )
            assert server.slots is not None
            for c, slots in enumerate(server.slots):
                for job in [job for job in self.queue if job.kind == c]:
                    if sum(other.kind == c for _, other in server.jobs) < slots:
                        self.start(job, number)
