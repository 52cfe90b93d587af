"""The table ``[simulation]`` of an instance file: arrivals, service, initial jobs, and options of policies.

Beside the types of an instance, for loss systems and queues in continuous time:

.. code-block:: toml

    [simulation]
    arrivals = "poisson"                       # or { law = "log-normal", scv = 2 }, { law = "poisson", batch = 5 },
                                               # { law = "poisson", batch = 5, sizes = "geometric" },
                                               # { trace = "jobs.csv", stretch = 0.8 }, a file beside this one
                                               #    (`fluid.traces.file`)
    service = "exponential"                    # or "deterministic", { law = "hyper-exponential", scv = 4 }
    initial = "empty"                          # or { full = { small = 80 } }, every server so; or a list, in order:
                                               #    [ { servers = 10, jobs = { small = 2 } }, ... ];
                                               # { queue = { small = 80 } }, jobs that wait; "trace", the tasks that
                                               #    run when a trace opens, with what is left of their service
    reservation = "(log L)^1.5"                # options of policies, each a field of its record
                                               #    (`fluid.simulation.options`)

Jobs that are there at time 0 and not on servers (``queue``, ``"trace"``) all wait when a policy of queues first looks.
In a loss system the tasks of a trace come at time 0 one after another, in the order of the file, and may be refused.

For slotted queues, beside the types of an instance or a law of sizes:

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

With an instance file, rates and service are those of its types: a unit of time is a slot, ``rate``, ``intensity``,
``service_rate`` and ``grid`` have no meaning, and the queue at the start is ``{ queue = { small = 80 } }``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from fluid.files.initial import InitialJobs, initial_jobs, initial_sizes
from fluid.simulation.arrivals import NAMES, ArrivalLaw, Law
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import all_options, option_of
from fluid.simulation.slotted.sizes import GRID
from fluid.traces.file import TraceFile, on_file, trace_of
from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.record import take
from theory.instance import Instance

SLOT = Fraction(1, 10)
"""Seconds a slot where a trace is read, as in the high-throughput paper."""

SHAPED = ("hyper-exponential", "log-normal")
"""Laws with a shape, the number ``scv``."""


AnyTable = TypeVar("AnyTable", bound="Table")


@dataclass(frozen=True)
class Table:
    """What the table says in every model: options of policies, jobs at time 0, and a trace instead of all laws."""

    options: dict[str, Any] = field(default_factory=dict)
    initial: InitialJobs = InitialJobs()
    trace: TraceFile | None = None


@dataclass(frozen=True)
class ContinuousTable(Table):
    """What it says of a model in continuous time: the laws of arrivals and service."""

    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()


@dataclass(frozen=True)
class SlottedTable(Table):
    """What it says of a slotted queue; all fields behind `slot` are those of a law of sizes."""

    fixed: bool = False  # this and the next as in `fluid.simulation.slotted.model.SlottedScenario`
    bernoulli: bool = False
    slot: Fraction = SLOT  # seconds, for traces
    rate: Fraction | None = None  # jobs a slot
    intensity: Fraction | None = None  # the part of what the servers carry at most
    service_rate: Fraction = Fraction(1)
    grid: Fraction = GRID


def with_trace(table: AnyTable, path: Path | None, *, drop_open: bool = False, strict: bool = False) -> AnyTable:
    """Take all jobs from the trace in a file, read as ``arrivals`` says; the same table where there is none.

    Tasks of a trace at time 0 without a trace are refused.
    """
    located = replace(table, trace=on_file(table.trace, path, drop_open=drop_open, strict=strict))
    if located.initial.trace and located.trace is None:
        raise InputError("simulation.initial", "trace: expected arrivals from a trace too (--trace FILE)")
    return located


def parse_continuous(
    table: object,
    instance: Instance,
    source: str = "instance",
    folder: Path | None = None,
    policies: Sequence[Policy] = (),
    readers: Sequence[str] = (),
) -> ContinuousTable:
    """Parse the table for a model in continuous time; names of files start at `folder`.

    Options are those of every policy that comes with packproof, and those of `policies`, perhaps an author's; what is
    not declared but by name is taken as it stands. `readers` are the policies that the refusal of an unknown field
    names.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.

    Examples
    --------
    >>> from theory.instance import additive
    >>> made = parse_continuous({"reservation": "2 log L", "service": "deterministic"}, additive([1], [[1]]))
    Traceback (most recent call last):
    theory.errors.InputError: instance: simulation.reservation: expected a number or a function of L such as
    "(log L)^1.5", got '2 log L' (not an expression in L)
    """
    fields = Fields(table, source, "simulation")
    trace = trace_of(fields, folder)
    arrivals = _arrivals(fields) if fields.has("arrivals") else ArrivalLaw()
    service = _law(fields, "service") if fields.has("service") else Law()
    initial = initial_jobs(fields, instance) if fields.has("initial") else InitialJobs()
    options = policy_options(fields, policies, instance.names)
    if fields.has("slot"):
        fields.take("slot", "seconds a slot")  # for slotted policies, which may share the file
    fields.finish(readers=readers)
    return ContinuousTable(options, initial, trace, arrivals, service)


def parse_slotted(
    table: object,
    source: str,
    instance: Instance | None = None,
    folder: Path | None = None,
    policies: Sequence[Policy] = (),
    readers: Sequence[str] = (),
) -> SlottedTable:
    """Parse the table for a slotted queue.

    Parameters
    ----------
    table : object
    source : str
        Name of the file, for errors.
    instance : Instance, optional
        Beside which the table is; beside a law of sizes unless given.
    folder : Path, optional
        Where names of files start.
    policies : sequence of Policy
        Whose options the table may hold besides those of the policies that come with packproof.
    readers : sequence of str
        The policies that the refusal of an unknown field names.

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
    values: dict[str, Any] = {}
    initial = InitialJobs()
    if fields.has("initial"):
        initial = initial_sizes(fields) if instance is None else initial_jobs(fields, instance)
    if instance is None:
        for name, expected in (("rate", "jobs a slot"), ("intensity", "a traffic intensity")):
            values[name] = fields.number(name, expected) if fields.has(name) else None
        if values["rate"] is not None and values["intensity"] is not None:
            fields.fail("intensity", "expected a rate or an intensity, got both")
        expected = "a probability greater than 0 and at most 1"
        values["service_rate"] = fields.optional_number("service_rate", Fraction(1), expected, strict=True)
        if values["service_rate"] > 1:
            fields.fail("service_rate", f"expected {expected}, got {numbers.text(values['service_rate'])}")
        expected = "a step from 1e-6 to 1"
        values["grid"] = fields.optional_number("grid", GRID, expected)
        if not GRID <= values["grid"] <= 1:
            fields.fail("grid", f"expected {expected}, got {numbers.text(values['grid'])}")
    options = policy_options(fields, policies, () if instance is None else instance.names)
    fields.finish(readers=readers)
    fixed, single = service == "deterministic", arrivals == "bernoulli"
    return SlottedTable(options, initial, trace, fixed, single, slot, **values)


def policy_options(fields: Fields, policies: Sequence[Policy], types: Sequence[str]) -> dict[str, Any]:
    """Take the options of policies, in the order of the file; other policies are loaded where a field is left."""
    given, options = fields.names(), {}
    for name, reader in [(name, policy) for policy in policies for name in policy.options]:
        if fields.has(name):
            option = option_of(reader, name)
            options[name] = fields.take(name, "a value") if option is None else take(option, fields, types)
    for name, option in all_options().items() if fields.names() else ():
        if fields.has(name):
            options[name] = take(option, fields, types)
    return {name: options[name] for name in given if name in options}


def _law(fields: Fields, name: str) -> Law:
    expected = f"one of {', '.join(NAMES)}, or a table with law and scv"
    value = fields.take(name, expected)
    if isinstance(value, str) and value in NAMES:
        return Law(value)
    if not isinstance(value, Mapping):
        fields.fail(name, f"expected {expected}, got {str(value)[:60]!r}")
    table = Fields(value, fields.source, f"{fields.place}.{name}")
    law = _law_of(table, NAMES)
    table.finish()
    return law


def _law_of(table: Fields, names: tuple[str, ...]) -> Law:
    law = table.text("law", f"one of {', '.join(names)}")
    if law not in names:
        table.fail("law", f"expected one of {', '.join(names)}, got {law!r}")
    least = 1 if law == "hyper-exponential" else 0
    expected = f"variance over squared mean, more than {least} and less than a million"
    scv = 4.0
    if table.has("scv"):
        if law not in SHAPED:
            table.fail("scv", f"expected it beside {' or '.join(SHAPED)} only: {law} has no shape to choose")
        scv = float(table.number("scv", expected, least=least, strict=True))
        if scv >= 1e6:
            table.fail("scv", f"expected {expected}, got {scv:g}")
    return Law("exponential" if law == "poisson" else law, scv)


def one_of(fields: Fields, name: str, values: tuple[str, ...]) -> str:
    """Take a field that is one of a few names; the first where it is left out."""
    if not fields.has(name):
        return values[0]
    value = fields.text(name, f"one of {', '.join(values)}")
    if value not in values:
        fields.fail(name, f"expected one of {', '.join(values)}, got {value!r}")
    return value


def _arrivals(fields: Fields) -> ArrivalLaw:
    expected = "poisson, a table with law, and scv, batch and sizes where they apply, or one with trace"
    value = fields.take("arrivals", expected)
    if value == "poisson":
        return ArrivalLaw()
    if isinstance(value, str) and value in NAMES:
        return ArrivalLaw(Law(value))
    if not isinstance(value, Mapping):
        fields.fail("arrivals", f"expected {expected}, got {str(value)[:60]!r}")
    table = Fields(value, fields.source, f"{fields.place}.arrivals")
    law = _law_of(table, ("poisson", *NAMES))
    if table.peek("sizes") is not None and table.peek("batch") is None:
        table.fail("sizes", "expected batch, the mean jobs in a batch, beside it")
    geometric = table.has("sizes") and one_of(table, "sizes", ("fixed", "geometric")) == "geometric"
    batch = float(table.number("batch", "mean jobs in a batch, 1 to a million", least=1)) if table.has("batch") else 1.0
    if batch > 1e6 or (not geometric and batch != int(batch)):
        table.fail("batch", f"expected a whole number up to a million (geometric sizes: any), got {batch:g}")
    table.finish()
    return ArrivalLaw(law, batch, geometric)
