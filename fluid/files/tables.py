"""The table ``[simulation]`` of a document: arrivals, service, initial jobs, and options of policies.

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

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fluid.files.given_by_trace import has_trace
from fluid.files.initial import initial_jobs, initial_sizes
from fluid.simulation.documents import InitialJobs, Table
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import all_options, option_of
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.record import take
from theory.instance import Instance

if TYPE_CHECKING:
    from fluid.simulation.slotted.document import SlottedTable

AnyTable = TypeVar("AnyTable", bound=Table)


class Place(NamedTuple):
    """Where a document stands, and the trace that is read in place of the one that it names.

    Attributes
    ----------
    source : str
        Name of the file, for errors.
    folder : Path, optional
        Where names of files start.
    trace : Path, optional
        A trace that stands for the one in the table.
    drop_open, strict : bool
        How a trace is read, beside what the table says (`fluid.traces.file.TraceFile`).
    """

    source: str = "instance"
    folder: Path | None = None
    trace: Path | None = None
    drop_open: bool = False
    strict: bool = False


NOWHERE = Place()
"""Of a document that is no file."""


def parse_table(
    kind: type[AnyTable],
    table: object,
    instance: Instance | None,
    place: Place = NOWHERE,
    policies: Sequence[Policy] = (),
    readers: Sequence[str] = (),
) -> AnyTable:
    """Parse the table for a model.

    Options are those of every policy that comes with packproof, and those of `policies`, perhaps an author's; what is
    not declared but by name is taken as it stands.

    Parameters
    ----------
    kind : type
        The model's own table (`fluid.simulation.documents`).
    table : object
    instance : Instance, optional
        Beside which the table is; beside a law of sizes unless given.
    place : Place
    policies : sequence of Policy
    readers : sequence of str
        The policies that the refusal of an unknown field names.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.

    Examples
    --------
    >>> from fluid.simulation.continuous import ContinuousTable
    >>> from theory.instance import additive
    >>> made = parse_table(ContinuousTable, {"reservation": "2 log L"}, additive([1], [[1]]))
    Traceback (most recent call last):
    theory.errors.InputError: instance: simulation.reservation: expected a number or a function of L such as
    "(log L)^1.5", got '2 log L' (not an expression in L)
    """
    fields = Fields(table, place.source, "simulation")
    trace = None
    if place.trace is not None or has_trace(table):
        from fluid.traces.file import on_file, trace_of

        stated = trace_of(fields, place.folder)
        trace = on_file(stated, place.trace, drop_open=place.drop_open, strict=place.strict)
    own: dict[str, Any] = kind.own_fields(fields, of_sizes=instance is None)
    initial = InitialJobs()
    if fields.has("initial"):
        initial = initial_sizes(fields) if instance is None else initial_jobs(fields, instance)
    options = policy_options(fields, policies, () if instance is None else instance.names)
    fields.finish(readers=readers)
    if initial.trace and trace is None:
        raise InputError("simulation.initial", "trace: expected arrivals from a trace too (--trace FILE)")
    return kind(options, initial, trace, **own)


def parse_slotted(
    table: object,
    source: str,
    instance: Instance | None = None,
    folder: Path | None = None,
    policies: Sequence[Policy] = (),
) -> SlottedTable:
    """Parse the table for a slotted queue, beside a law of sizes unless beside an instance (see `parse_table`).

    Examples
    --------
    >>> parse_slotted({"intensity": "9/10", "service": "deterministic"}, "sizes.toml").fixed
    True
    """
    from fluid.simulation.slotted.document import SlottedTable

    return parse_table(SlottedTable, table, instance, Place(source, folder), policies)


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
