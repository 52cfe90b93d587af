"""The policies of the non-preemptive paper as the text gives them: lists, all configurations, no simulator's code.

Claims and tests replay them event by event beside the policies of `fluid.simulation.queue.policies`. A break makes one
step wrong, by its name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import product
from math import tanh
from typing import Any

import numpy as np

Job = tuple[float, int, float]
"""Arrival, type, time in service."""

STALE, TAKES = "the configuration of the first server decides who stalls", "a stalled server goes on taking jobs"
BUSY = "a server renews as soon as the new configuration holds its jobs"
STEADY = "queues sample servers at a rate that does not grow with them"
"""The breaks of Algorithm 1, of max-weight at local refresh times, and of randomized sampling."""


class Server:
    """A server: what it may hold, what it holds, what it is to hold."""

    def __init__(self, capacity: Sequence[int], demands: Sequence[Sequence[int]]) -> None:
        self.capacity, self.demands = capacity, demands
        self.holds = [0] * len(demands)
        self.tokens = [0] * len(demands)
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


class Literal:
    """An event-driven simulation of one policy; `starts` lists (time, type, server).

    Parameters
    ----------
    policy : str
        Its name, as the simulator has it.
    servers : sequence of pairs
        Capacity and demands of each server.
    service_rates : sequence of float
    options : dict
        Of the policy.
    draws : numpy.random.Generator
        For the clocks of a policy that has some.
    broken : str
        A break, or empty.
    """

    def __init__(
        self,
        policy: str,
        servers: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]],
        service_rates: Sequence[float],
        options: dict[str, Any],
        draws: np.random.Generator,
        broken: str = "",
    ) -> None:
        self.broken = broken
        self.policy, self.options, self.draws, self.rates = policy, options, draws, service_rates
        self.servers = [Server(*server) for server in servers]
        self.queues: list[deque[Job]] = [deque() for _ in service_rates]
        self.tokens: list[list[int]] = [[] for _ in service_rates]
        self.in_service: list[tuple[float, int, int, int]] = []  # end, order, type, server
        self.now, self.order = 0.0, 0
        self.starts: list[tuple[float, int, int]] = []
        self.once = options.get("renewal") == "on-emptying"
        if policy == "nonpreemptive" or self.once:
            for server in self.servers:
                if options.get("start") == "at-once":
                    server.slots = list(server.best(self.waiting, self.oracle))
                else:
                    server.active = server.used = False

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

    def clocks(self) -> list[float]:
        """Return the rates of a policy's clocks."""
        if self.policy != "randomized-sampling":
            return []
        sampling, expiry = self.options.get("sampling", 1.0), self.options.get("expiry", 1.0)
        grows = self.broken != STEADY
        return [sampling * mu * (1 + grows * n) for mu, n in zip(self.rates, self.waiting, strict=True)] + [
            expiry * mu * len(tokens) for mu, tokens in zip(self.rates, self.tokens, strict=True)
        ]

    def ring(self, k: int) -> None:
        """Sample a server for a type, or let a token expire (randomized sampling)."""
        types = len(self.queues)
        if k >= types:
            self.take_token(k - types)
            return
        number = int(self.draws.random() * len(self.servers))
        server = self.servers[number]
        reserved = [a + b + (j == k) for j, (a, b) in enumerate(zip(server.holds, server.tokens, strict=True))]
        if server.can_hold(reserved):
            if self.queues[k]:
                self.start(self.queues[k].popleft(), number)
            else:
                server.tokens[k] += 1
                self.tokens[k].append(number)

    def take_token(self, j: int) -> int:
        """Remove a token of a type at random; return its server."""
        chosen = int(self.draws.random() * len(self.tokens[j]))
        number = self.tokens[j][chosen]
        self.tokens[j][chosen] = self.tokens[j][-1]
        self.tokens[j].pop()
        self.servers[number].tokens[j] -= 1
        return number

    def first_slot(self, j: int) -> int | None:
        """Return the first active server with an empty slot for a type."""
        for number, server in enumerate(self.servers):
            if (server.active or self.broken == TAKES) and server.slots[j] > server.holds[j]:
                return number
        return None

    def unused(self, j: int) -> list[int]:
        """Return the servers never active that can hold a type, pool by pool."""
        return [number for number, server in enumerate(self.servers) if not server.used and server.most[j]]

    def fill(self, number: int) -> None:
        """Fill the empty slots of a server from the queues."""
        server = self.servers[number]
        for j, queue in enumerate(self.queues):
            while server.holds[j] < server.slots[j] and queue:
                self.start(queue.popleft(), number)

    def arrive(self, job: Job) -> None:
        """Algorithm 1, an arrival: the first empty slot, else the queue."""
        j = job[1]
        self.queues[j].append(job)
        if self.policy == "randomized-sampling":
            if self.tokens[j]:
                self.start(self.queues[j].popleft(), self.take_token(j))
            return
        slot = self.first_slot(j)
        if slot is not None:
            self.start(self.queues[j].popleft(), slot)
        elif self.policy == "nonpreemptive" or self.once:
            for number in self.unused(j):
                if not self.queues[j]:
                    break
                server = self.servers[number]
                server.slots = list(server.best(self.waiting, self.oracle))
                server.active = server.used = True
                self.fill(number)
        elif self.policy == "max-weight-local":
            for number, server in enumerate(self.servers):
                if not any(server.holds) and server.most[j]:
                    server.slots = list(server.best(self.waiting, self.oracle))
                    self.fill(number)
                    break

    def depart(self, j: int, number: int) -> None:
        """Algorithm 1, a departure: (5) decides whether the server stalls; an empty one begins anew."""
        server = self.servers[number]
        if self.policy == "randomized-sampling":
            return
        if self.policy == "max-weight-local":
            best = server.best(self.waiting, self.oracle)
            held_by_best = all(a <= b for a, b in zip(server.holds, best, strict=True))
            if not any(server.holds) or (self.broken == BUSY and held_by_best):
                server.slots = list(best)
            self.fill(number)
            return
        if server.active:
            best = server.best(self.waiting, self.oracle)
            compared = self.servers[0] if self.broken == STALE else server
            if self.weight(compared.slots) < self.beta() * self.weight(best):
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
