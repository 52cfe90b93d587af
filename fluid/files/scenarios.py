"""From a document (an instance or a law of sizes, with its table ``[simulation]``) and a policy to a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from fluid.files.left_out import LeftOut, has_trace, left_to_trace
from fluid.files.tables import ContinuousTable, SlottedTable, Table, parse_continuous, parse_slotted, with_trace
from fluid.simulation.arrivals import JobList
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.scenario import Scenario, TypedScenario
from fluid.simulation.slotted.model import SlottedScenario, slotted_scenario, whole_service
from fluid.simulation.slotted.sizes import size_law
from fluid.traces.jobs import TICK, TraceJobs, in_slots, sized_jobs, typed_jobs
from theory import numbers
from theory.errors import ArgumentError, InputError
from theory.files.sizes import Sizes, parse_sizes
from theory.instance import Instance
from theory.region.membership import traffic_intensity

NAMED = 20
"""Most sizes of a law that are measured apart."""

ROUNDED = "deterministic times are rounded, as the least tick of which they could be whole numbers is too short:"
"""The note where simultaneous events of deterministic laws may not be so."""

EMPTY_SERVERS = 'expected empty, { queue = { TYPE = jobs } } or "trace"; servers start empty'


class Times(NamedTuple):
    """How many servers, and the times of a run.

    Attributes
    ----------
    servers : int
    until, warmup : float
        In seconds, or slots. A warm-up of a fifth of the run, which is the default of commands and grids, is rounded
        down to whole slots.
    """

    servers: int
    until: float
    warmup: float

    def in_slots(self) -> tuple[int, int, int]:
        """Return them as whole numbers of slots.

        Raises
        ------
        ArgumentError
            A time that is not a whole number.
        """
        for name, time in (("until", self.until), ("warmup", self.warmup)):
            is_default = name == "warmup" and time == self.until / 5
            if not is_default and not (isfinite(time) and time == int(time)):
                raise ArgumentError(name, f"expected a whole number of slots, got {time:g}")
        return self.servers, int(self.until), int(self.warmup)


@dataclass(frozen=True)
class Given:
    """A scenario, and what the file says beside it; no instance beside a law of sizes.

    `traced` are the jobs of the trace from which arrivals are taken, `notes` what was assumed where types leave
    something out.
    """

    scenario: Scenario
    table: Table
    instance: Instance | None
    traced: TraceJobs | None
    notes: tuple[str, ...] = ()


def is_sized(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a law of sizes."""
    return isinstance(document.get("sizes"), Mapping)


def servers_in(document: Mapping[str, Any], path: Path) -> int:
    """Return the number of servers that a law of sizes names; other files are refused."""
    table = document.get("sizes")
    if not isinstance(table, dict) or "servers" not in table:
        raise ArgumentError("servers", "missing, expected the number of servers")
    return parse_sizes(document, str(path), path.parent).servers


def read_scenario(
    document: Mapping[str, Any],
    policy: Policy,
    times: Times,
    *,
    source: str,
    folder: Path | None = None,
    trace: Path | None = None,
    drop_open: bool = False,
    strict: bool = False,
    synchronised: bool = False,
    compared: Sequence[Policy] = (),
    **how: Any,
) -> Given:
    """Make the scenario of a document for a policy.

    Parameters
    ----------
    document : mapping
        An instance file, or for slotted policies a law of sizes, with the table ``[simulation]``. Where a trace stands
        for arrivals, types may leave out ``workload`` and ``reward`` (`fluid.files.left_out`).
    policy : Policy
    times : Times
    source : str
        Name of the file, for errors.
    folder : Path, optional
        Where names of files start.
    trace : Path, optional
        A trace that stands for the one in the table.
    drop_open : bool
        Whether rows of a log without an end are dropped.
    strict : bool
        Whether rows of a log that never ran are refused.
    synchronised : bool
        Whether policies of loss systems see the same jobs (`LossScenario.synchronised`).
    compared : sequence of Policy
        All policies that read the document, where there are several: it may hold the options of any of them.
    how
        ``bins`` and ``log`` of the scenario.

    Raises
    ------
    InputError
        One line that names the field and what was expected.
    """
    table = document.get("simulation", {})
    reading = {"drop_open": drop_open, "strict": strict}
    if is_sized(document):
        if policy.model != "slotted":
            raise InputError("sizes", f"a law of sizes suits slotted policies, and {policy.name} is not one")
        sizes = parse_sizes(document, source, folder)
        of_sizes: Any = with_trace(_parsed_table(table, policy, compared, None, source, folder), trace, **reading)
        return replace(_of_sizes(sizes, _read_by(policy, of_sizes), policy, times, how), table=of_sizes)
    left_out = left_to_trace(document) if trace is not None or has_trace(table) else LeftOut()
    instance = left_out.parsed(document, source)
    given: Any = with_trace(_parsed_table(table, policy, compared, instance, source, folder), trace, **reading)
    traced = None if given.trace is None else typed_jobs(given.trace, instance, present=given.initial.trace)
    instance, notes = left_out.measured(instance, traced, times.servers)
    if policy.model == "loss":
        how["synchronised"] = synchronised
    makers: dict[str, Callable[..., Scenario]] = {"slotted": _slotted, "loss": _loss, "queue": _queue}
    scenario_of = makers[policy.model]
    scenario = scenario_of(instance, _read_by(policy, given), times, traced, how)
    if isinstance(scenario, TypedScenario) and scenario.rounds_times:
        notes = (*notes, f"{ROUNDED} {float(scenario.resolution):.3g} is that for --until {times.until:g}")
    return Given(scenario, given, instance, traced, notes)


def _parsed_table(
    table: object,
    policy: Policy,
    compared: Sequence[Policy],
    instance: Instance | None,
    source: str,
    folder: Path | None,
) -> Table:
    """Parse the table ``[simulation]``, which may hold the options of every policy that is compared."""
    policies, readers = compared or (policy,), [reader.name for reader in compared]
    if instance is None or policy.model == "slotted":
        return parse_slotted(table, source, instance, folder, policies, readers)
    return parse_continuous(table, instance, source, folder, policies, readers)


def _read_by(policy: Policy, table: Any) -> Any:
    """Return a table without the options of other policies."""
    options = {name: value for name, value in table.options.items() if name in policy.options}
    return replace(table, options=options)


def _loss(
    instance: Instance, given: ContinuousTable, times: Times, traced: TraceJobs | None, how: dict[str, Any]
) -> Scenario:
    """Tasks that run when a trace opens come at time 0, before all others, each for what was left of its service."""
    if given.initial.queue:
        raise InputError("simulation.initial", "queue: expected a policy of queues; in a loss system nobody waits")
    return LossScenario(
        instance,
        *times,
        given.arrivals,
        given.service,
        None if traced is None else traced.all,
        given.options,
        initial=given.initial.counts(times.servers, len(instance.types)),
        tick=_tick(traced),
        **how,
    )


def _queue(
    instance: Instance, given: ContinuousTable, times: Times, traced: TraceJobs | None, how: dict[str, Any]
) -> Scenario:
    if given.initial.runs:
        raise InputError("simulation.initial", EMPTY_SERVERS)
    return QueueScenario(
        instance,
        *times,
        given.arrivals,
        given.service,
        None if traced is None else traced.arriving,
        given.options,
        present=traced.present if traced is not None and given.initial.trace else None,
        queue=given.initial.queue,
        tick=_tick(traced),
        **how,
    )


def _tick(traced: TraceJobs | None) -> Fraction:
    return Fraction(1) if traced is None else TICK


def _slotted(
    instance: Instance, given: SlottedTable, times: Times, traced: TraceJobs | None, how: dict[str, Any]
) -> Scenario:
    """Rates and service are those of the types; a unit of time is a slot."""
    if given.initial.runs:
        raise InputError("simulation.initial", EMPTY_SERVERS)
    jobs, present = (None, None) if traced is None else _jobs_in_slots(traced, given)
    return slotted_scenario(
        instance,
        *times.in_slots(),
        fixed=given.fixed,
        bernoulli=given.bernoulli,
        options=given.options,
        queue=given.initial.queue,
        jobs=jobs,
        present=present,
        intensity=float(traffic_intensity(instance)) if jobs is None else None,
        **how,
    )


def _jobs_in_slots(traced: TraceJobs, given: SlottedTable) -> tuple[JobList, JobList | None]:
    present = in_slots(traced.present, given.slot) if given.initial.trace else None
    return in_slots(traced.arriving, given.slot), present


def _of_sizes(sizes: Sizes, given: SlottedTable, policy: Policy, times: Times, how: dict[str, Any]) -> Given:
    if given.trace is not None:
        if given.initial.drawn:
            raise InputError("simulation.initial", "queue: expected a law to draw them from, got a trace")
        law, traced = sized_jobs(given.trace, present=given.initial.trace)
        jobs, present = _jobs_in_slots(traced, given)
        scenario = SlottedScenario(law, *times.in_slots(), jobs=jobs, present=present, options=given.options, **how)
        return Given(scenario, given, None, traced)
    if policy.name == "max-weight" and sizes.law.pieces:
        raise InputError("sizes", "expected a law of finitely many sizes for max-weight; or take bf-js, vqs or vqs-bf")
    return Given(sized_scenario(sizes, given, *times.in_slots(), **how), given, None, None)


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
        Its traffic intensity is by the mean size, a lower bound: at 1 or more nothing is stable.

    Raises
    ------
    InputError
        No rate, a rate that is out of bounds, a law with too many sizes.

    Examples
    --------
    >>> law = parse_sizes({"sizes": {"uniform": ["1/10", "9/10"]}})
    >>> given = parse_slotted({"intensity": "9/10", "service_rate": "1/100"}, "sizes.toml")
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
        options=given.options,
        queue=given.initial.drawn,
        **how,
    )
