"""The systems of Section 7 of the non-preemptive scheduling paper, and those that begin with long queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fluid.limits.drift import Algorithm1
from fluid.simulation.state import State
from theory.errors import expect_number
from theory.instance import Instance, additive, pooled

BETA = Fraction(7, 8)  # the beta of the claims: below r = 1, and dyadic

ORACLES = ("exact", "single", "greedy")

NAMES = ("nonpreemptive", "max-weight-local", "randomized-sampling")
"""The policies that the paper compares: Algorithm 1, M14 and G16."""

EC2_SERVER = (900, 900, 5000)  # Table 1: tenths of a GB of memory, tenths of an EC2 unit, GB of storage

EC2_TYPES = ((150, 80, 1690), (171, 65, 420), (70, 200, 1690))
"""Table 1: standard, high-memory and high-CPU instances in the same units."""

BOUNDARY = (Fraction(2, 3), Fraction(11, 3), Fraction(2, 3))
"""The workload per server of Section 7.2, which is on the boundary of the region."""


def table_1(intensity: Fraction | int) -> Instance:
    """Return the types and servers of Table 1 at a traffic intensity."""
    return additive(EC2_SERVER, EC2_TYPES, workload=[intensity * rho for rho in BOUNDARY])


def example_1(intensity: Fraction | int) -> Instance:
    """Return Example 1 at a traffic intensity: a server of 6 units, jobs of 4 and of 1."""
    return additive([6], [[4], [1]], workload=[intensity * Fraction(1, 2), intensity * Fraction(4)])


def example_2(intensity: Fraction | int, sizes: tuple[int, ...] = (1, 2, 4, 8)) -> Instance:
    """Return Example 2 at a traffic intensity: a server of each size, and jobs that fill one of them."""
    expect_number(len(sizes), "number of sizes", 1)
    return pooled(
        [(1, [size]) for size in sizes], [[size] for size in sizes], workload=[intensity / len(sizes)] * len(sizes)
    )


@dataclass(frozen=True)
class LongQueue:
    """A system that begins with long queues."""

    name: str
    instance: Any  # makes the instance of a traffic intensity
    servers: int
    queue: tuple[int, ...]  # jobs of each type that wait at time 0
    until: float  # end of the run, in mean service times
    requests: tuple[tuple[int, ...], ...]  # vectors of jobs, equally likely, whose mean is proportional to the workload

    def longer(self, factor: Fraction | int) -> LongQueue:
        """Return the system with its queues and its time multiplied by a factor."""
        return replace(self, queue=tuple(int(factor * q) for q in self.queue), until=float(factor * self.until))


LONG = (
    LongQueue("Example 1", example_1, 1, (4000, 2000), 25_000.0, ((2, 4), (0, 12))),
    LongQueue("Table 1", table_1, 3, (1000, 1000, 1000), 3000.0, ((4, 1, 0), (0, 21, 4))),
)
"""One server with two types, and three servers with three types, at long queues."""


def arrived(system: Algorithm1, types: Sequence[int], state: State | None = None) -> State:
    """Return the state after arrivals of types, in this order, and nothing else; from empty where no state is given."""
    state = system.start() if state is None else state
    for j in types:  # arrivals come first among the steps
        state = list(system.steps(state))[j][1]
    return state
