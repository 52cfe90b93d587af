"""The table ``[simulation]`` of an instance file: arrivals, service, initial jobs, and options of policies.

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
    reservation = "(log L)^1.5"                # dra: g, a number or a function of L
    placement = "best-ranked"                  # dra: or "worst-ranked"
    d = 2                                      # power-of-d
    priority = { small = 0, large = 1 }        # dra-preemption
    oracle = "exact"                           # nonpreemptive, max-weight-local: or "single", "greedy"
    beta = 0.9                                 # nonpreemptive: beta (p + (1 - p) tanh(z Q)) (1 - fall s), 0 from
    p = -0.05                                  #    s = cut on; p = 1: constant
    z = 0.005
    cut = 0.1
    fall = 1
    early = true                               # nonpreemptive: a stalled server may renew before it is empty
    start = "as-needed"                        # nonpreemptive: when servers become active first, or "at-once"
    sampling = 1                               # randomized-sampling: rate of an empty queue over the service rate
    expiry = 1                                 # randomized-sampling: rate of a token over the service rate
    partition = 7                              # vqs, vqs-bf: J of the universal partition

Jobs that are there at time 0 and not on servers (``queue``, ``"trace"``) all wait when a policy of queues first looks.
In a loss system the tasks of a trace come at time 0 one after another, in the order of the file, and may be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import ArrivalLaw
from fluid.simulation.expression import function_of_servers
from fluid.simulation.laws import NAMES, Law
from fluid.simulation.options import OPTIONS
from fluid.traces.file import TraceFile, on_file, trace_of
from theory.errors import InputError
from theory.files.document import Fields, read_document
from theory.instance import Instance


@dataclass(frozen=True)
class InitialJobs:
    """Jobs at time 0: runs of equal servers (how many, jobs of each type); None stands for all servers.

    Attributes
    ----------
    runs : tuple of (int or None, tuple of int)
        In the order of the servers; those left over are empty.
    queue : tuple of int
        Jobs of each type that wait; empty for none.
    trace : bool
        Whether the tasks that run when the trace opens are there.
    """

    runs: tuple[tuple[int | None, tuple[int, ...]], ...] = ()
    queue: tuple[int, ...] = ()
    trace: bool = False

    def counts(self, servers: int, types: int) -> NDArray[np.int32] | None:
        """Return the jobs of each type on each server, int32[L, J], or None where all are empty.

        Raises
        ------
        InputError
            More servers with jobs than there are.
        """
        if not self.runs:
            return None
        named = sum(number or 0 for number, _ in self.runs)
        if named > servers:
            raise InputError(f"simulation.initial: expected jobs on {servers:,} servers at most, got {named:,}")
        made = np.zeros((servers, types), np.int32)
        at = 0
        for number, jobs in self.runs:
            end = servers if number is None else at + number
            made[at:end] = jobs
            at = end
        return made


@dataclass(frozen=True)
class Simulation:
    """What the table ``[simulation]`` says.

    Attributes
    ----------
    arrivals : ArrivalLaw
    service : Law
    initial : InitialJobs
    options : dict
        Of policies; each takes what it knows.
    trace : TraceFile or None
        Instead of both laws.
    """

    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()
    initial: InitialJobs = InitialJobs()
    options: dict[str, Any] = field(default_factory=dict)
    trace: TraceFile | None = None

    def with_trace(self, path: Path | None) -> Simulation:
        """Let the trace in a file stand for arrivals and service; the same where there is none.

        How it is read (stretch, types, ...) is as `arrivals` says, if that is a trace too.

        Raises
        ------
        InputError
            Tasks of a trace at time 0, and no trace.
        """
        made = replace(self, trace=on_file(self.trace, path))
        refuse_without_trace(made.initial.trace, made.trace)
        return made


@dataclass(frozen=True)
class Expression:
    """A function of the number of servers that remembers its text (and can be sent to another process)."""

    text: str

    def __call__(self, servers: int) -> float:
        """Evaluate it."""
        return function_of_servers(self.text)(servers)


def read_simulation(path: str | Path, instance: Instance, own: Sequence[str] = ()) -> Simulation:
    """Read the table ``[simulation]`` of an instance file (see `parse_simulation`); defaults where there is none."""
    document = read_document(path)
    return parse_simulation(document.get("simulation", {}), instance, str(path), Path(path).parent, own)


def parse_simulation(
    table: object,
    instance: Instance,
    source: str = "instance",
    folder: Path | None = None,
    own: Sequence[str] = (),
) -> Simulation:
    """Turn the table ``[simulation]`` into what it says; names of files start at `folder`.

    Options are those of every policy that comes with packproof, and those named in `own` (see
    `fluid.simulation.policy.Policy.options`), which are taken as they stand.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.

    Examples
    --------
    >>> from theory.instance import additive
    >>> made = parse_simulation({"reservation": "2 log L", "service": "deterministic"}, additive([1], [[1]]))
    Traceback (most recent call last):
    theory.errors.InputError: instance: simulation.reservation: expected a number or a function of L such as
    "(log L)^1.5", got '2 log L' (not an expression in L)
    """
    fields = Fields(table, source, "simulation")
    trace = trace_of(fields, folder)
    arrivals = _arrivals(fields) if fields.has("arrivals") else ArrivalLaw()
    service = _law(fields, "service") if fields.has("service") else Law()
    initial = initial_jobs(fields, instance) if fields.has("initial") else InitialJobs()
    options = policy_options(fields, own, instance)
    if fields.has("slot"):
        fields.take("slot", "seconds a slot")  # for slotted policies, which may share the file
    fields.finish()
    return Simulation(arrivals, service, initial, options, trace)


def policy_options(fields: Fields, own: Sequence[str], instance: Instance | None) -> dict[str, Any]:
    """Take the options of policies, of an author's own by name."""
    options: dict[str, Any] = {}
    for name in dict.fromkeys([*OPTIONS, *own]):
        if fields.has(name):
            if instance is None or name not in READERS:
                options[name] = fields.take(name, "a value")
            else:
                options[name] = READERS[name](fields, instance)
    return options


def refuse_without_trace(wanted: bool, trace: TraceFile | None) -> None:
    """Refuse tasks of a trace at time 0 where there is no trace."""
    if wanted and trace is None:
        raise InputError("simulation.initial: trace: expected arrivals from a trace too (--trace FILE)")


MOST_AT_ONCE = 10**7
"""Most jobs of a type that are there at time 0."""

SHAPED = ("hyper-exponential", "log-normal")
"""Laws with a shape, the number ``scv``."""


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


def initial_jobs(fields: Fields, instance: Instance) -> InitialJobs:
    """Take the field ``initial`` beside an instance."""
    expected = (
        "empty, trace, { full = { TYPE = jobs } }, { queue = { TYPE = jobs } }, "
        "or a list of { servers = N, jobs = { TYPE = jobs } }"
    )
    value = fields.take("initial", expected)
    place = f"{fields.place}.initial"
    if value == "empty":
        return InitialJobs()
    if value == "trace":
        return InitialJobs(trace=True)
    if isinstance(value, Mapping):
        table = Fields(value, fields.source, place)
        waiting = table.has("queue")
        jobs = _jobs(table, "queue" if waiting else "full", instance)
        table.finish()
        return InitialJobs(queue=jobs) if waiting else InitialJobs(((None, jobs),))
    if not isinstance(value, list) or not value:
        fields.fail("initial", f"expected {expected}, got {str(value)[:60]!r}")
    runs = []
    for i, item in enumerate(value, 1):
        table = Fields(item, fields.source, f"{place}[{i}]")
        runs.append((table.integer("servers", "a number of servers", least=1), _jobs(table, "jobs", instance)))
        table.finish()
    return InitialJobs(tuple(runs))


def _jobs(fields: Fields, name: str, instance: Instance) -> tuple[int, ...]:
    table = fields.table(name, "a table of jobs by type")
    jobs = dict.fromkeys(instance.names, 0)
    for job_type in table.names():
        if job_type not in jobs:
            table.fail(job_type, f"expected a type ({', '.join(instance.names)})")
        jobs[job_type] = table.integer(job_type, "a number of jobs")
        if jobs[job_type] > MOST_AT_ONCE:
            table.fail(job_type, f"expected a number of jobs up to ten million, got {jobs[job_type]}")
    return tuple(jobs.values())


def _reservation(fields: Fields, instance: Instance) -> float | Expression:
    del instance
    expected = 'a number or a function of L such as "(log L)^1.5"'
    value = str(fields.take("reservation", expected))
    try:
        function_of_servers(value)
    except ValueError as error:
        fields.fail("reservation", f"expected {expected}, got {value[:60]!r} ({error})")
    return Expression(value)


def _placement(fields: Fields, instance: Instance) -> str:
    del instance
    return one_of(fields, "placement", ("best-ranked", "worst-ranked"))


def _choices(fields: Fields, instance: Instance) -> int:
    del instance
    return fields.integer("d", "a number of servers to draw, at least 1", least=1)


def _priority(fields: Fields, instance: Instance) -> dict[str, int]:
    table = fields.table("priority", "a table of priorities by type")
    priority = {name: table.integer(name, "a priority, 0 the lowest") for name in instance.names}
    table.finish()
    return priority


READERS: dict[str, Callable[[Fields, Instance], Any]] = {
    "reservation": _reservation,
    "placement": _placement,
    "d": _choices,
    "priority": _priority,
}
"""How options are read that need the instance or another form; of the others the policy knows the bounds."""
