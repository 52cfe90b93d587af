"""Algorithm 1 of the non-preemptive paper as the text gives it: lists, all configurations, no simulator's code.

A claim and tests replay it event by event beside the policy of `fluid.simulation.queue.policies`. The tests transcribe
the policies that the paper compares itself with on the same loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import product
from math import tanh
from typing import Any

import numpy as np

Job = tuple[float, int, float]
"""Arrival, type, time in service."""


class Server:
    """A server: what it may hold, what it holds, what it is to hold."""

    def __init__(self, capacity: Sequence[int], demands: Sequence[Sequence[int]]) -> None:
        self.capacity, self.demands = capacity, demands
        self.holds = [0] * len(demands)
        self.slots = [0] * len(demands)
        self.active = self.used = True
        most = [min(c // d for c, d in zip(capacity, row, strict=True) if d) for row in demands]
        self.configurations = [k for k in product(*(range(m + 1) for m in most)) if any(k) and self.can_hold(k)]
        self.most = most

    def can_hold(self, k: Sequence[int]) -> bool:
        """Return whether a configuration fits every resource."""
        return all(
            sum(n * row[r] for n, row in zip(k, self.demands, strict=True)) <= c for r, c in enumerate(self.capacity)
        )

    def best(self, waiting: Sequence[int], oracle: str) -> tuple[int, ...]:
        """Return the r-max weight configuration; ties by more slots of the first type that differs."""
        if oracle == "greedy":
            return self._greedy(waiting)
        rivals = [k for k in self.configurations if oracle == "exact" or sum(n > 0 for n in k) == 1]
        return max(rivals, key=lambda k: (sum(a * b for a, b in zip(k, waiting, strict=True)), k))

    def _greedy(self, waiting: Sequence[int]) -> tuple[int, ...]:
        share = [
            max(d / c for d, c in zip(row, self.capacity, strict=True) if d) if m else float("inf")
            for row, m in zip(self.demands, self.most, strict=True)
        ]
        k = [0] * len(waiting)
        for j in sorted(range(len(waiting)), key=lambda j: (-waiting[j] / share[j], j)):
            while self.can_hold([n + (i == j) for i, n in enumerate(k)]):
                k[j] += 1
        return tuple(k)


class Transcription(ABC):
    """An event-driven simulation of one policy; `starts` lists (time, type, server).

    Parameters
    ----------
    servers : sequence of pairs
        Capacity and demands of each server.
    service_rates : sequence of float
    options : mapping
        Of the policy, as the simulator has them.
    draws : numpy.random.Generator
        For the clocks of a policy that has some.
    """

    def __init__(
        self,
        servers: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]],
        service_rates: Sequence[float],
        options: Mapping[str, Any],
        draws: np.random.Generator,
    ) -> None:
        self.options, self.draws, self.rates = options, draws, service_rates
        self.servers = [Server(*server) for server in servers]
        self.queues: list[deque[Job]] = [deque() for _ in service_rates]
        self.in_service: list[tuple[float, int, int, int]] = []  # end, order, type, server
        self.now, self.order = 0.0, 0
        self.starts: list[tuple[float, int, int]] = []

    @abstractmethod
    def arrive(self, job: Job) -> None:
        """Do what the policy does at an arrival."""

    @abstractmethod
    def depart(self, j: int, number: int) -> None:
        """Do what the policy does after a job of a type has left a server."""

    def clocks(self) -> list[float]:
        """Return the rates of the policy's clocks."""
        return []

    def ring(self, k: int) -> None:
        """Do what the policy does when a clock rings."""
        raise AssertionError(f"{type(self).__name__} has no clock {k}")

    @property
    def waiting(self) -> list[int]:
        """The jobs of each type that wait."""
        return [len(queue) for queue in self.queues]

    @property
    def oracle(self) -> str:
        """The name of the oracle."""
        return str(self.options.get("oracle", "exact"))

    def start(self, job: Job, server: int) -> None:
        """Start a job on a server that can hold it."""
        j = job[1]
        self.servers[server].holds[j] += 1
        assert self.servers[server].can_hold(self.servers[server].holds)
        self.starts.append((self.now, j, server))
        self.in_service.append((self.now + job[2], self.order, j, server))
        self.order += 1

    def run(self, jobs: Sequence[Job], until: float) -> None:
        """Go through arrivals, departures and clocks in the order of time."""
        coming = deque(jobs)
        while True:
            arriving = coming[0][0] if coming else float("inf")
            ending = min(self.in_service)[0] if self.in_service else float("inf")
            clocks = self.clocks()
            ringing = float("inf")
            if sum(clocks) > 0:
                ringing = self.now + self.draws.standard_exponential() / sum(clocks)
            time = min(arriving, ending, ringing)
            if time >= until:
                return
            self.now = time
            if ending <= arriving and ending <= ringing:
                entry = min(self.in_service)
                self.in_service.remove(entry)
                self.servers[entry[3]].holds[entry[2]] -= 1
                self.depart(entry[2], entry[3])
            elif arriving <= ringing:
                self.arrive(coming.popleft())
            else:
                level, k = self.draws.random() * sum(clocks), 0
                while k < len(clocks) - 1 and level >= clocks[k]:
                    level -= clocks[k]
                    k += 1
                self.ring(k)

    def takes_jobs(self, server: Server) -> bool:
        """Return whether jobs may start in the empty slots of a server."""
        return server.active

    def first_slot(self, j: int) -> int | None:
        """Return the first active server with an empty slot for a type."""
        for number, server in enumerate(self.servers):
            if self.takes_jobs(server) and server.slots[j] > server.holds[j]:
                return number
        return None

    def fill(self, number: int) -> None:
        """Fill the empty slots of a server from the queues."""
        server = self.servers[number]
        for j, queue in enumerate(self.queues):
            while server.holds[j] < server.slots[j] and queue:
                self.start(queue.popleft(), number)

    def rest(self) -> None:
        """Let servers begin when a job first needs them, or at once, with configurations for empty queues."""
        for server in self.servers:
            if self.options.get("start") == "at-once":
                server.slots = list(server.best(self.waiting, self.oracle))
            else:
                server.active = server.used = False

    def begin_unused(self, j: int) -> None:
        """Let servers that were never active begin for a type, pool by pool, while jobs of it wait."""
        for number, server in enumerate(self.servers):
            if self.queues[j] and not server.used and server.most[j]:
                server.slots = list(server.best(self.waiting, self.oracle))
                server.active = server.used = True
                self.fill(number)


class Algorithm1(Transcription):
    """Algorithm 1, with the options of Sections 6.2 to 6.4."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.rest()

    def arrive(self, job: Job) -> None:
        """Take the first empty slot, else wait (lines 1 to 3)."""
        j = job[1]
        self.queues[j].append(job)
        slot = self.first_slot(j)
        if slot is not None:
            self.start(self.queues[j].popleft(), slot)
        else:
            self.begin_unused(j)

    def depart(self, j: int, number: int) -> None:
        """Decide by (5) whether the server stalls; an empty one begins anew (lines 4 to 15)."""
        server = self.servers[number]
        if server.active:
            best = server.best(self.waiting, self.oracle)
            if self.weight(self.compared(server).slots) < self.beta() * self.weight(best):
                server.active = False
            elif self.queues[j]:
                self.start(self.queues[j].popleft(), number)
        if not server.active:
            best = server.best(self.waiting, self.oracle)
            subset = all(a <= b for a, b in zip(server.holds, best, strict=True))
            if not any(server.holds) or (subset and self.options.get("early", True)):
                server.active = True
                server.slots = list(best)
                self.fill(number)

    def compared(self, server: Server) -> Server:
        """Return the server whose configuration (5) compares when a job leaves a server: that server."""
        return server

    def weight(self, k: Sequence[int]) -> int:
        """Return <k, Q>."""
        return sum(a * b for a, b in zip(k, self.waiting, strict=True))

    def beta(self) -> float:
        """Return beta h(Q) q(s) of Sections 6.2 and 6.4."""
        share = sum(server.used and not server.active for server in self.servers) / len(self.servers)
        if share >= self.options.get("cut", 0.1):
            return 0.0
        p, z = self.options.get("p", -0.05), self.options.get("z", 0.005)
        growing = p + (1 - p) * tanh(z * sum(self.waiting))
        return float(self.options.get("beta", 0.9) * growing * (1 - self.options.get("fall", 1.0) * share))


class StaleConfiguration(Algorithm1):
    """Algorithm 1 with a break: the configuration of the first server decides who stalls."""

    def compared(self, server: Server) -> Server:
        """Return the first server."""
        del server
        return self.servers[0]


class StalledTakesJobs(Algorithm1):
    """Algorithm 1 with a break: a stalled server goes on taking jobs."""

    def takes_jobs(self, server: Server) -> bool:
        """Return that they may."""
        del server
        return True
