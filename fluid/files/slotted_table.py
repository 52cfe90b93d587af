"""The table ``[simulation]`` for slotted queues, beside the types of an instance or a law of sizes; a scene from both.

.. code-block:: toml

    [sizes]                                    # a law of sizes: servers of capacity 1 (`theory.files.sizes`)
    uniform = ["1/10", "9/10"]
    servers = 5                                # where --servers does not say otherwise

    [simulation]
    intensity = 0.9                            # rate x mean size x mean slots / servers; or rate = 0.08, the jobs that
                                               #    come in a slot, to the whole cluster
    service_rate = 0.01                        # probability that a job in service ends in a slot (1)
    service = "geometric"                      # or "deterministic": exactly the mean number of slots
    arrivals = "poisson"                       # or "bernoulli": at most one job a slot; or { trace = "jobs.csv",
                                               #    stretch = 0.8 }: jobs with their own sizes, instead of the law
                                               #    (`fluid.traces.file`)
    slot = 0.1                                 # seconds of a trace in a slot
    initial = { queue = 100 }                  # jobs that wait at the start; "trace": the tasks that run when the trace
                                               #    opens, with what is left of their service
    grid = 1e-6                                # steps in which pieces of the law are drawn
    partition = 7                              # vqs, vqs-bf: J of the universal partition

With an instance file, rates and service are those of its types: a unit of time is a slot, ``rate``, ``intensity``,
``service_rate`` and ``grid`` have no meaning, and the queue at the start is ``{ queue = { small = 80 } }``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fluid.files.simulation_table import (
    MOST_AT_ONCE,
    InitialJobs,
    initial_jobs,
    one_of,
    policy_options,
    refuse_without_trace,
)
from fluid.simulation.slotted.model import SlottedScene, slotted_scene, whole_service
from fluid.simulation.slotted.sizes import size_law
from fluid.simulation.slotted.streams import GRID, SlotChunk
from fluid.traces.file import TraceFile, on_file, trace_of
from fluid.traces.jobs import TraceJobs, in_slots, sized_jobs, typed_jobs
from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.sizes import Sizes
from theory.instance import Instance

SLOT = Fraction(1, 10)
"""Seconds a slot where a trace is read, as in paper 001."""

EMPTY = InitialJobs()

NAMED = 20
"""Most sizes of a law that are measured apart."""


@dataclass(frozen=True)
class SlottedSimulation:
    """What the table ``[simulation]`` says of a slotted queue.

    Attributes
    ----------
    fixed, bernoulli : bool
        As in `fluid.simulation.slotted.model.SlottedScene`.
    slot : Fraction
        Seconds, for traces.
    rate, intensity : Fraction or None
        Jobs a slot, or their part of what the servers carry at most; for laws of sizes.
    service_rate, grid : Fraction
        For laws of sizes.
    options : dict
        Of the policy.
    trace : TraceFile or None
        Instead of all laws.
    initial : InitialJobs
        With an instance: what is there at the start; ``queue`` and ``trace`` only.
    queue : int
        With a law of sizes: jobs that wait at the start.
    """

    fixed: bool = False
    bernoulli: bool = False
    slot: Fraction = SLOT
    rate: Fraction | None = None
    intensity: Fraction | None = None
    service_rate: Fraction = Fraction(1)
    grid: Fraction = GRID
    options: dict[str, Any] = field(default_factory=dict)
    trace: TraceFile | None = None
    initial: InitialJobs = EMPTY
    queue: int = 0

    def with_trace(self, path: Path | None) -> SlottedSimulation:
        """Let the trace in a file stand for all laws, read as `arrivals` says; the same where there is none."""
        return replace(self, trace=on_file(self.trace, path))

    def present(self, jobs: TraceJobs) -> SlotChunk | None:
        """Return the jobs of a trace that wait at the start, if they are to."""
        return in_slots(jobs.present, self.slot) if self.initial.trace else None


def parse_slotted(
    table: object,
    source: str,
    instance: Instance | None = None,
    folder: Path | None = None,
    own: Sequence[str] = (),
) -> SlottedSimulation:
    """Turn the table ``[simulation]`` into what it says.

    Parameters
    ----------
    table : object
    source : str
        Name of the file, for errors.
    instance : Instance, optional
        That the table stands beside; a law of sizes where there is none.
    folder : Path, optional
        Where names of files start.
    own : sequence of str
        Further options, of an author's own policy.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.

    Examples
    --------
    >>> parse_slotted({"intensity": "9/10", "service": "deterministic"}, "sizes.toml").fixed
    True
    """
    fields = Fields(table, source, "simulation")
    service = one_of(fields, "service", ("geometric", "deterministic"))
    trace = trace_of(fields, folder)
    arrivals = one_of(fields, "arrivals", ("poisson", "bernoulli"))
    slot = fields.optional_number("slot", SLOT, "seconds a slot", strict=True)
    given: dict[str, Any] = {}
    if instance is not None:
        given["initial"] = initial_jobs(fields, instance) if fields.has("initial") else InitialJobs()
    else:
        given["initial"], given["queue"] = _initial(fields)
        for name, expected in (("rate", "jobs a slot"), ("intensity", "a traffic intensity")):
            given[name] = fields.number(name, expected) if fields.has(name) else None
        if given["rate"] is not None and given["intensity"] is not None:
            fields.fail("intensity", "expected a rate or an intensity, got both")
        expected = "a probability greater than 0 and at most 1"
        given["service_rate"] = fields.optional_number("service_rate", Fraction(1), expected, strict=True)
        if given["service_rate"] > 1:
            fields.fail("service_rate", f"expected {expected}, got {numbers.text(given['service_rate'])}")
        expected = "a step from 1e-6 to 1"
        given["grid"] = fields.optional_number("grid", GRID, expected)
        if not GRID <= given["grid"] <= 1:
            fields.fail("grid", f"expected {expected}, got {numbers.text(given['grid'])}")
    options = policy_options(fields, own, instance)
    fields.finish()
    fixed, single = service == "deterministic", arrivals == "bernoulli"
    return SlottedSimulation(fixed, single, slot, options=options, trace=trace, **given)


def _initial(fields: Fields) -> tuple[InitialJobs, int]:
    """What is there at the start beside a law of sizes: jobs of a trace, and how many of the law wait."""
    if not fields.has("initial"):
        return InitialJobs(), 0
    value = fields.peek("initial")
    if isinstance(value, Mapping):
        table = fields.table("initial")
        queue = table.integer("queue", "a number of jobs up to ten million")
        if queue > MOST_AT_ONCE:
            table.fail("queue", f"expected a number of jobs up to ten million, got {queue}")
        table.finish()
        return InitialJobs(), queue
    if fields.take("initial", "empty, trace or { queue = N }") not in ("empty", "trace"):
        fields.fail("initial", f"expected empty, trace or {{ queue = N }}, got {str(value)[:60]!r}")
    return InitialJobs(trace=value == "trace"), 0


def is_sized(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a law of sizes."""
    return "sizes" in document


def sized_scene(
    sizes: Sizes, given: SlottedSimulation, servers: int, until: int, warmup: int, policy: str = "", **how: Any
) -> SlottedScene:
    """Make a scene of a law of sizes.

    Parameters
    ----------
    sizes : Sizes
        Its own number of servers is not read.
    given : SlottedSimulation
    servers, until, warmup : int
    policy : str
        Refused here where it does not suit the law.
    how
        Other fields of `SlottedScene`.

    Returns
    -------
    SlottedScene
        Its traffic intensity is by the mean size, a lower bound: at 1 or more nothing is stable.

    Raises
    ------
    InputError
        No rate, a rate that is none, a law with too many sizes, one that is not finite under max-weight.

    Examples
    --------
    >>> from theory.files.sizes import parse_sizes
    >>> law = parse_sizes({"sizes": {"uniform": ["1/10", "9/10"]}})
    >>> given = parse_slotted({"intensity": "9/10", "service_rate": "1/100"}, "sizes.toml")
    >>> sized_scene(law, given, servers=5, until=1000, warmup=200).rate
    0.09
    """
    refuse_without_trace(given.initial.trace, given.trace)
    if given.trace is not None:
        return _traced_scene(given, given.trace, servers, until, warmup, **how)
    if policy == "max-weight" and sizes.law.pieces:
        raise InputError("sizes: expected a law of finitely many sizes for max-weight; or take bf-js, vqs or vqs-bf")
    law = size_law(sizes.law, given.grid)
    slots = 1 / given.service_rate
    if given.fixed and slots.denominator > 1:
        raise InputError(f"simulation.service_rate: {whole_service(given.service_rate)}")
    each = sizes.law.mean * slots / servers
    if given.rate is not None:
        rate = given.rate
    elif given.intensity is not None:
        rate = given.intensity / each
    else:
        raise InputError("simulation.rate: missing, expected a rate (jobs a slot) or an intensity")
    if given.bernoulli and rate > 1:
        raise InputError(f"simulation.arrivals: bernoulli: expected at most 1 job a slot, got {float(rate):.6g}")
    named = not sizes.law.pieces and len(law.sizes) <= NAMED
    return SlottedScene(
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
        queue=given.queue,
        **how,
    )


def _traced_scene(
    given: SlottedSimulation, trace: TraceFile, servers: int, until: int, warmup: int, **how: Any
) -> SlottedScene:
    """The jobs of a trace with their own sizes; the law is not read."""
    law, jobs = sized_jobs(trace, present=given.initial.trace)
    if given.queue:
        raise InputError("simulation.initial: queue: expected a law to draw them from, got a trace")
    return SlottedScene(
        law,
        servers,
        until,
        warmup,
        jobs=in_slots(jobs.arriving, given.slot),
        present=given.present(jobs),
        options=given.options,
        **how,
    )


def typed_scene(
    instance: Instance, given: SlottedSimulation, servers: int, until: int, warmup: int, **how: Any
) -> SlottedScene:
    """Make a scene of the types of an instance (see `fluid.simulation.slotted.model.slotted_scene`).

    Raises
    ------
    InputError
        Jobs on servers at the start, tasks of a trace that is not there, and what `slotted_scene` refuses.
    """
    if given.initial.runs:
        raise InputError(
            'simulation.initial: expected empty, { queue = { TYPE = jobs } } or "trace"; servers start empty'
        )
    refuse_without_trace(given.initial.trace, given.trace)
    if given.trace is not None:
        traced = typed_jobs(given.trace, instance, present=given.initial.trace)
        how |= {"jobs": in_slots(traced.arriving, given.slot), "present": given.present(traced)}
    return slotted_scene(
        instance,
        servers,
        until,
        warmup,
        fixed=given.fixed,
        bernoulli=given.bernoulli,
        options=given.options,
        queue=given.initial.queue,
        **how,
    )
