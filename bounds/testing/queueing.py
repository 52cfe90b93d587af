"""Queues whose policies are tested: jobs, servers and laws of arrivals and service, scaled to a share of the region."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from bounds.testing.strategies import instances, size_laws
from fluid.files.scenarios import read_scenario
from fluid.simulation.arrivals import ArrivalLaw, Law
from fluid.simulation.continuous import SHAPED
from fluid.simulation.documents import Times
from fluid.simulation.policy_interface import Policy
from fluid.simulation.scenario import Scenario
from theory.files.instances import instance_document
from theory.files.sizes import Sizes, sizes_document
from theory.instance import Instance
from theory.numbers import text, total
from theory.partition.laws import Law as SizeLaw
from theory.partition.rounded import Supportable, supportable
from theory.region.membership import CapacityProgram


def _scenario(queue: AnyQueue, policy: Policy, share: Fraction, jobs: int) -> Scenario:
    """Return the scenario in which about `jobs` jobs come, half of them before measuring begins."""
    until = jobs / float(queue.rate(share))
    if policy.model == "slotted":
        until = float(round(until))
    times = Times(queue.servers, until, until // 2 if policy.model == "slotted" else until / 2)
    return read_scenario(queue.document(share), policy, times, source="the queue").scenario


@dataclass(frozen=True)
class Queue:
    """A queue in continuous time; of the workload only the proportions matter.

    Attributes
    ----------
    instance : Instance
    servers : int
    arrivals : ArrivalLaw
    service : Law
    """

    instance: Instance
    servers: int = 1
    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()
    scenario = _scenario

    def scaled(self, share: Fraction) -> Instance:
        """Return the instance whose workload has this traffic intensity."""
        # intensity is linear along the ray of the workload
        at = CapacityProgram(self.instance).intensity().value
        return self.instance.with_workload([share / at * rho for rho in self.instance.workload])

    def document(self, share: Fraction) -> dict[str, Any]:
        """Return the file for `simulate` in which the traffic intensity is `share`."""
        between, batch = _law(self.arrivals.between), self.arrivals.batch
        arrivals: Any = between
        if batch > 1:
            arrivals = {**(between if isinstance(between, dict) else {"law": between}), "batch": int(batch)}
        return {
            **instance_document(self.scaled(share)),
            "simulation": {"arrivals": arrivals, "service": _law(self.service)},
        }

    def rate(self, share: Fraction) -> Fraction:
        """Jobs that come per unit of time."""
        return self.servers * total(t.workload * t.service_rate for t in self.scaled(share).types)

    def work(self) -> tuple[float, ...]:
        """Time of one server that a waiting job of each type will take at least."""
        intensity = CapacityProgram(self.instance).intensity()
        pairs = zip(intensity.prices, self.instance.types, strict=True)
        return tuple(float(price / (intensity.support * t.service_rate)) for price, t in pairs)


@dataclass(frozen=True)
class SlottedQueue:
    """A queue in slots of time, of jobs with finitely many sizes.

    Attributes
    ----------
    sizes : theory.partition.Law
    servers : int
    service_rate : Fraction
        1 over the mean slots of a job; a whole number of them, at least 1.
    fixed : bool
        Service of exactly that many slots; otherwise geometric.
    """

    sizes: SizeLaw
    servers: int = 1
    service_rate: Fraction = Fraction(1, 20)
    fixed: bool = False
    scenario = _scenario

    def document(self, share: Fraction) -> dict[str, Any]:
        """Return the file for `simulate`, and `throughput`, in which `share` of the supportable workload comes."""
        return {
            **sizes_document(Sizes(self.sizes, self.servers)),
            "simulation": {
                "rate": text(self.rate(share)),
                "service_rate": text(self.service_rate),
                "service": "deterministic" if self.fixed else "geometric",
            },
        }

    def rate(self, share: Fraction) -> Fraction:
        """Jobs that come in a slot."""
        return share * self._supportable().workload * self.servers * self.service_rate

    def work(self) -> tuple[float, ...]:
        """Slots of one server that a waiting job of each size will take at least."""
        return tuple(float(price / self.service_rate) for price in self._supportable().prices)

    def _supportable(self) -> Supportable:
        solution = supportable([size for size, _ in self.sizes.atoms], [p for _, p in self.sizes.atoms])
        assert solution is not None  # all sizes are positive
        return solution


AnyQueue = Queue | SlottedQueue


def _law(law: Law) -> Any:
    return {"law": law.name, "scv": law.scv} if law.name in SHAPED else law.name


@st.composite
def service_laws(draw: Any) -> Law:
    """Draw laws of service times: exponential, deterministic, hyper-exponential, log-normal."""
    name = draw(st.sampled_from(["exponential", "deterministic", "hyper-exponential", "log-normal"]))
    return Law(name, draw(st.sampled_from([2.0, 4.0]))) if name in SHAPED else Law(name)


@st.composite
def arrival_laws(draw: Any) -> ArrivalLaw:
    """Draw laws of arrivals: Poisson or renewal streams, of single jobs or of batches."""
    return ArrivalLaw(draw(service_laws()), float(draw(st.integers(1, 3))))


@st.composite
def queues(draw: Any, *, max_types: int = 3, max_resources: int = 1, max_servers: int = 3) -> Queue:
    """Draw queues in continuous time of additive instances.

    Parameters
    ----------
    max_types, max_resources, max_servers : int
    """
    instance = draw(instances(max_types=max_types, max_resources=max_resources))
    assume(any(instance.workload))
    return Queue(instance, draw(st.integers(1, max_servers)), draw(arrival_laws()), draw(service_laws()))


@st.composite
def slotted_queues(draw: Any, *, max_sizes: int = 4, max_servers: int = 3) -> SlottedQueue:
    """Draw queues in slots, of laws of finitely many sizes.

    Parameters
    ----------
    max_sizes, max_servers : int
    """
    law = draw(size_laws(max_sizes=max_sizes))
    rate = Fraction(1, draw(st.sampled_from([10, 20, 50])))
    return SlottedQueue(law, draw(st.integers(1, max_servers)), rate, draw(st.booleans()))
