"""A queue that the peers can express, timed in the peers' own environment: M/M/200 at traffic intensity 0.89.

Run by `benchmarks.queues` with the interpreter of the peers; prints one JSON line a tool. Standard library, SimPy and
Ciw.
"""

from __future__ import annotations

import heapq
import json
import random
import time
from collections import deque

SERVERS, RATE, ARRIVALS = 200, 178.0, 100_000


def report(tool: str, seconds: float) -> None:
    """Print one line: arrivals and departures a second."""
    print(json.dumps({"tool": tool, "events_per_s": 2 * ARRIVALS / seconds}), flush=True)


def with_heapq() -> None:
    """Run a plain event list with first come, first served."""
    draw = random.Random(1).expovariate
    ends: list[float] = []
    waiting: deque[float] = deque()
    now = 0.0
    for _ in range(ARRIVALS):
        now += draw(RATE)
        while ends and ends[0] <= now:
            end = heapq.heappop(ends)
            if waiting:
                waiting.popleft()
                heapq.heappush(ends, end + draw(1.0))
        if len(ends) < SERVERS:
            heapq.heappush(ends, now + draw(1.0))
        else:
            waiting.append(now)


def with_simpy() -> None:
    """Run a Resource."""
    import simpy

    draw = random.Random(1).expovariate
    environment = simpy.Environment()
    servers = simpy.Resource(environment, capacity=SERVERS)

    def job():
        with servers.request() as request:
            yield request
            yield environment.timeout(draw(1.0))

    def source():
        for _ in range(ARRIVALS):
            yield environment.timeout(draw(RATE))
            environment.process(job())

    environment.process(source())
    environment.run()


def with_ciw() -> None:
    """Run one node."""
    import ciw

    ciw.seed(1)
    exponential = ciw.dists.Exponential
    network = ciw.create_network(
        arrival_distributions=[exponential(RATE)],
        service_distributions=[exponential(1.0)],
        number_of_servers=[SERVERS],
    )
    ciw.Simulation(network).simulate_until_max_customers(ARRIVALS, method="Arrive")


if __name__ == "__main__":
    for name, run in (("heapq", with_heapq), ("simpy", with_simpy), ("ciw", with_ciw)):
        begin = time.perf_counter()
        try:
            run()
        except ImportError:
            continue
        report(name, time.perf_counter() - begin)
