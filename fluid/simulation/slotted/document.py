"""A slotted queue as a document says it: of the types of an instance, or of a law of sizes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from fluid.simulation.arrivals import JobList
from fluid.simulation.documents import ListedJobs, Table, Times
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.model import SlottedScenario, slotted_scenario, whole_service
from fluid.simulation.slotted.sizes import GRID, SizeLaw, in_slots, size_law
from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.record import Expected, Range, fields_of, take
from theory.files.sizes import Sizes
from theory.instance import Instance
from theory.region.membership import traffic_intensity

NAMED = 20
"""Most sizes of a law that are measured apart."""

SLOT = Fraction(1, 10)
"""Seconds a slot where a trace is read, as in the high-throughput paper."""

PROBABILITY = "a probability greater than 0 and at most 1"


@dataclass(frozen=True)
class SlottedTable(Table):
    """What the table says of a slotted queue; all fields behind `slot` are those of a law of sizes."""

    service: Annotated[Literal["geometric", "deterministic"], "slots of a job, of the mean of its type or law"] = (
        "geometric"
    )
    arrivals: Annotated[Literal["poisson", "bernoulli"], "how many jobs come in a slot: bernoulli, one at most"] = (
        "poisson"
    )
    slot: Annotated[Fraction, Range(0, above=True), Expected("seconds a slot"), "seconds of a trace in a slot"] = SLOT
    rate: Annotated[Fraction | None, Range(0), Expected("jobs a slot"), "jobs that come in a slot"] = None
    intensity: Annotated[
        Fraction | None, Range(0), Expected("a traffic intensity"), "the part of what the servers carry at most"
    ] = None
    service_rate: Annotated[
        Fraction, Range(0, 1, above=True), Expected(PROBABILITY), "probability that a job in service ends in a slot"
    ] = Fraction(1)
    grid: Annotated[
        Fraction, Range(1e-6, 1), Expected("a step from 1e-6 to 1"), "steps in which pieces of the law are drawn"
    ] = GRID

    @property
    def fixed(self) -> bool:
        """Whether service has exactly the mean number of slots."""
        return self.service == "deterministic"

    @property
    def bernoulli(self) -> bool:
        """Whether at most one job comes in a slot."""
        return self.arrivals == "bernoulli"

    @staticmethod
    def own_fields(fields: Fields, *, of_sizes: bool) -> dict[str, Any]:
        """Take the fields of the model."""
        names = ("service", "arrivals", "slot", *(("rate", "intensity", "service_rate", "grid") if of_sizes else ()))
        own = {
            field.name: take(field, fields)
            for field in fields_of(SlottedTable)
            if field.name in names and fields.has(field.name)
        }
        if own.get("rate") is not None and own.get("intensity") is not None:
            fields.fail("intensity", "expected a rate or an intensity, got both")
        return own


TABLE = SlottedTable


def scenario_of(
    instance: Instance, table: SlottedTable, times: Times, listed: ListedJobs | None, **how: Any
) -> SlottedScenario:
    """Make the scenario of an instance; rates and service are those of the types, and a unit of time is a slot."""
    table.initial.refuse_in_service()
    jobs, present = _jobs(table, listed)
    return slotted_scenario(
        instance,
        *times.in_slots(),
        fixed=table.fixed,
        bernoulli=table.bernoulli,
        queue=table.initial.queue,
        jobs=jobs,
        present=present,
        intensity=float(traffic_intensity(instance)) if jobs is None else None,
        **how,
    )


def scenario_of_trace(
    law: SizeLaw, table: SlottedTable, times: Times, listed: ListedJobs, **how: Any
) -> SlottedScenario:
    """Make the scenario of jobs with sizes; `law` holds these."""
    if table.initial.drawn:
        raise InputError("simulation.initial", "queue: expected a law to draw them from, got a trace")
    jobs, present = _jobs(table, listed)
    return SlottedScenario(law, *times.in_slots(), jobs=jobs, present=present, **how)


def scenario_of_sizes(sizes: Sizes, table: SlottedTable, times: Times, policy: Policy, **how: Any) -> SlottedScenario:
    """Make the scenario of a law of sizes."""
    if policy.name == "max-weight" and sizes.law.pieces:
        raise InputError("sizes", "expected a law of finitely many sizes for max-weight; or take bf-js, vqs or vqs-bf")
    return sized_scenario(sizes, table, *times.in_slots(), **how)


def _jobs(table: SlottedTable, listed: ListedJobs | None) -> tuple[JobList | None, JobList | None]:
    """Return the jobs of a trace that come, and those that wait, in slots."""
    if listed is None:
        return None, None
    ticks = table.slot / listed.tick
    return in_slots(listed.arriving, ticks), in_slots(listed.present, ticks) if table.initial.trace else None


def sized_scenario(
    sizes: Sizes, given: SlottedTable, servers: int, until: int, warmup: int, **how: Any
) -> SlottedScenario:
    """Make the scenario of a law of sizes.

    Parameters
    ----------
    sizes : Sizes
        Its own number of servers is not read.
    given : SlottedTable
    servers, until, warmup : int
    how
        Other fields of `SlottedScenario`.

    Returns
    -------
    SlottedScenario
        Its traffic intensity is by the mean size, a lower bound: at 1 or more nothing is sgiven.

    Raises
    ------
    InputError
        No rate, a rate that is out of bounds, a law with too many sizes.

    Examples
    --------
    >>> from theory.files.sizes import parse_sizes
    >>> law = parse_sizes({"sizes": {"uniform": ["1/10", "9/10"]}})
    >>> given = SlottedTable(intensity=Fraction(9, 10), service_rate=Fraction(1, 100))
    >>> sized_scenario(law, given, servers=5, until=1000, warmup=200).rate
    0.09
    """
    law = size_law(sizes.law, given.grid)
    slots = 1 / given.service_rate
    if given.fixed and slots.denominator > 1:
        raise InputError("simulation.service_rate", f"{whole_service(given.service_rate)}")
    each = sizes.law.mean * slots / servers
    if given.rate is not None:
        rate = given.rate
    elif given.intensity is not None:
        rate = given.intensity / each
    else:
        raise InputError("simulation.rate", "missing, expected a rate (jobs a slot) or an intensity")
    if given.bernoulli and rate > 1:
        raise InputError("simulation.arrivals", f"bernoulli: expected at most 1 job a slot, got {float(rate):.6g}")
    named = not sizes.law.pieces and len(law.sizes) <= NAMED
    return SlottedScenario(
        law,
        servers,
        until,
        warmup,
        rate=float(rate),
        service=float(given.service_rate),
        fixed=given.fixed,
        bernoulli=given.bernoulli,
        intensity=float(rate * each),
        names=tuple(numbers.text(size) for size, _ in sizes.law.atoms) if named else ("jobs",),
        group=tuple(range(len(law.sizes))) if named else (),
        queue=given.initial.drawn,
        **({"options": given.options} | how),
    )
