"""Which type of an instance a task of a trace is: by name, by demand, or by its size rounded up to a power of 1/2."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.traces.file import POWERS, PRIORITIES, TraceFile
from fluid.traces.model import ALIBABA, GOOGLE, MICROSECONDS, PLAIN, Trace
from fluid.traces.preprocess import completed, powers_of_half, priority_classes, single_resource
from theory.errors import InputError, TooLargeError, listed, meant, quoted
from theory.greedy.optimal import AssignmentProgram
from theory.instance import Additive, Instance, JobType, Pool
from theory.numbers import text
from theory.rows import unique_rows

ROUND = f'round its tasks up to types of one resource: arrivals = {{ trace = ..., types = "{POWERS}" }}'
"""What helps with a real trace, whose tasks have thousands of demands."""

SHOWN = 8
"""Most names of types in a message."""


def with_types(file: TraceFile, trace: Trace, instance: Instance) -> tuple[Trace, NDArray[Any]]:
    """Return the tasks of a trace, the one in a file or a part of it, that have types, and the types.

    Raises InputError, with the line, for a type or demand that the instance does not have, and a demand that is not
    that of its type; also for resources that are not those of the instance.
    """
    if file.types:
        return _by_power(file, trace, instance)
    if file.capacity:
        raise InputError("simulation.arrivals.capacity", f"expected types too (a law of sizes needs none); {ROUND}")
    if trace.source == PLAIN and trace.labels:
        return trace, _by_name(file, trace, instance)
    return trace, _by_demand(file, trace, instance)


def expect_types(file: TraceFile, names: Collection[str], source: str) -> None:
    """Refuse a log that names a type which is none of `source`, by row and column; it may lack the provider."""
    trace = file.trace
    labels = trace.labels if trace.source == PLAIN else ()
    unknown = [i for i, name in enumerate(labels) if all(name not in (one, one.partition(":")[2]) for one in names)]
    if unknown:
        rows = np.flatnonzero(np.isin(trace.label, unknown))
        i = int(rows[0] if trace.line is None else rows[np.argmin(trace.line[rows])])  # the first in the file
        name, first = labels[trace.label[i]], sorted(names)
        have = listed(first[:SHOWN]) + (f" and {len(first) - SHOWN:,} more" if len(first) > SHOWN else "")
        problem = f"{quoted(name)} is no type of {source} (it has {have}){meant(name, names)}"
        _refuse(file, trace, i, f"{trace.header}: {problem}")


def in_shares(file: TraceFile, trace: Trace) -> Trace:
    """Return the tasks of a trace with one resource, ``size``: the largest share of a server that each asks.

    Of a plain trace, a size of 0 or of more than a server is refused, with its line; from a real trace such tasks are
    dropped, and counted.
    """
    capacity = dict(file.capacity)
    if capacity and set(capacity) != set(trace.resources):
        named, expected = ", ".join(capacity), ", ".join(trace.resources) or "none"
        raise InputError(
            "simulation.arrivals.capacity", f"expected the resources of the trace ({expected}), got {named}"
        )
    if trace.source == ALIBABA and not capacity:
        raise InputError(
            file.path,
            "",
            "expected the capacity of a server, of which cpu (vCPU), memory (MiB) and gpu (GPUs) take "
            "shares: arrivals = { trace = ..., capacity = { cpu = 96, memory = 393216, gpu = 8 } }",
        )
    try:
        kept = single_resource(trace, [capacity[name] for name in trace.resources] if capacity else None)
    except InputError as error:
        raise error.within(file.path) from error
    if trace.source == PLAIN and len(kept) < len(trace) and trace.line is not None and kept.line is not None:
        i = int(np.flatnonzero(~np.isin(trace.line, kept.line))[0])
        advice = "" if capacity else "; or say what a server has: arrivals = { trace = ..., capacity = { ... } }"
        _refuse(
            file, trace, i, f"expected shares of a server, more than 0 and at most 1, got {_shown(trace, i)}{advice}"
        )
    return kept


def _by_name(file: TraceFile, trace: Trace, instance: Instance) -> NDArray[Any]:
    """By the column ``type``; resources, where there are some, must say the same as the instance."""
    # a log may name types of the catalogue without the provider: m5.large for aws:m5.large
    places: dict[str, list[int]] = {}
    for j, name in enumerate(instance.names):
        places.setdefault(name.rpartition(":")[2], []).append(j)
    places |= {name: [j] for j, name in enumerate(instance.names)}
    for place, name in enumerate(trace.labels):
        fitting = places.get(name, [])
        if len(fitting) != 1:
            i = int(np.argmax(trace.label == place))
            expected = [instance.names[j] for j in fitting] or instance.names
            _refuse(file, trace, i, f"type: expected one of {', '.join(expected)}, got {name!r}")
    types = np.array([places[name][0] for name in trace.labels], np.int64)[trace.label]
    if trace.resources:
        space = _space_of(file, trace, instance, or_none=True)
        wrong = [(_other(trace, r, space, types), r) for r in range(len(trace.resources))]
        rows = [(int(np.argmax(row)), r) for row, r in wrong if row.any()]
        if rows:
            i, r = min(rows)
            name, where = trace.resources[r], space.resources.index(trace.resources[r])
            says = _number(space.demands[types[i]][where] * space.unit[where])
            got = _number(int(trace.demand[i, r]) * trace.unit[r])
            _refuse(
                file,
                trace,
                i,
                f"{name}: expected {says} as the instance says of {instance.names[types[i]]}, got {got}",
            )
    return types


def _other(trace: Trace, r: int, space: Additive, types: NDArray[Any]) -> NDArray[np.bool_]:
    """Whose resource is another than that of the type."""
    where = space.resources.index(trace.resources[r])
    wanted = [row[where] * space.unit[where] / trace.unit[r] for row in space.demands]
    in_units = [int(x) if x.denominator == 1 and x < 2**62 else -1 for x in wanted]
    return np.asarray(trace.demand[:, r] != np.array(in_units, np.int64)[types])


def _by_demand(file: TraceFile, trace: Trace, instance: Instance) -> NDArray[Any]:
    space = _space_of(file, trace, instance)
    columns = [space.resources.index(name) for name in trace.resources]
    types_of_demand: dict[tuple[Fraction, ...], list[int]] = {}
    for j, row in enumerate(space.demands):
        types_of_demand.setdefault(tuple(row[r] * space.unit[r] for r in columns), []).append(j)
    rows, first, back = unique_rows(trace.demand)
    number = np.zeros(len(rows), np.int64)
    for place in np.argsort(first).tolist():
        demand = tuple(n * unit for n, unit in zip(rows[place].tolist(), trace.unit, strict=True))
        types = types_of_demand.get(demand, [])
        shown = _shown(trace, int(first[place]))
        if not types:
            help_ = "" if trace.source == PLAIN else f"; {ROUND}"
            _refuse(
                file, trace, int(first[place]), f"expected the demand of a type of the instance, got {shown}{help_}"
            )
        if len(types) > 1:
            names = " and ".join(instance.names[j] for j in types)
            _refuse(file, trace, int(first[place]), f"expected a column type, as {names} have the same demand, {shown}")
        number[place] = types[0]
    return number[back]


def _space_of(file: TraceFile, trace: Trace, instance: Instance, *, or_none: bool = False) -> Additive:
    """Return the capacities of the instance, whose resources are those of the trace."""
    space = next((pool.space for pool in instance.pools if isinstance(pool.space, Additive)), None)
    own = () if space is None else space.resources
    if space is not None and set(own) == set(trace.resources):
        return space
    strange = [name for name in trace.resources if name not in own]
    lacking = [name for name in own if name not in trace.resources]
    what = f"{', '.join(strange)}: no resource of the instance" if strange else f"{', '.join(lacking)}: missing"
    wanted = f"the resources {', '.join(own)}" if own else "no resources"
    none = ", or none, as there is a column type" if or_none and own else ""
    help_ = "" if trace.source == PLAIN else f"; {ROUND}"
    resources_found = ", ".join(trace.resources) or "none"
    raise InputError(f"{file.path}:1", what, f"expected {wanted}{none}, found {resources_found}{help_}")


def _by_power(file: TraceFile, trace: Trace, instance: Instance) -> tuple[Trace, NDArray[Any]]:
    """By size rounded up to a power of 1/2, and by the class of the priority if types are of such classes."""
    by_class = file.types == PRIORITIES
    if by_class and not (trace.source == GOOGLE or trace.priorities):
        raise InputError(
            file.path, "", f"expected Google's trace of 2011 for types = {PRIORITIES!r}, or a column of its priorities"
        )
    type_of = _powers_of(instance, by_class=by_class)
    kept = in_shares(file, trace)
    level = priority_classes(kept) if by_class else np.zeros(len(kept), np.int64)
    exponent = powers_of_half(kept, max(m for _, m in type_of))
    pairs, first, back = unique_rows(np.column_stack([level, exponent]))
    number = np.zeros(len(pairs), np.int64)
    for place in np.argsort(first).tolist():
        c, m = pairs[place].tolist()
        if (c, m) not in type_of:
            which = f"p{c}/{2**m}" if by_class else f"of size {Fraction(1, 2**m)}"
            have = ", ".join(instance.names[j] for j in type_of.values())
            i = int(first[place])
            _refuse(file, kept, i, f"expected a type {which} in the instance for {_shown(kept, i)}, found {have}")
        number[place] = type_of[c, m]
    return kept, number[back]


def _powers_of(instance: Instance, *, by_class: bool) -> dict[tuple[int, int], int]:
    """Return the types by class and exponent."""
    space = instance.pools[0].space
    if len(instance.pools) > 1 or not isinstance(space, Additive) or len(space.capacity) > 1:
        raise InputError(
            "simulation.arrivals.types", "expected servers of one kind with one resource, as types are sizes"
        )
    type_of: dict[tuple[int, int], int] = {}
    for j, (name, row) in enumerate(zip(instance.names, space.demands, strict=True)):
        size = Fraction(row[0], space.capacity[0])
        if size.numerator != 1 or size.denominator.bit_count() != 1:
            raise InputError(
                "simulation.arrivals.types", f"expected types of 1, 1/2, 1/4, ... of a server, {name} is {size}"
            )
        m = size.denominator.bit_length() - 1
        if m > 40:
            raise TooLargeError(
                "simulation.arrivals.types", f"expected sizes of at least 2^-40 of a server, {name} is 2^-{m}"
            )
        c = next((c for c in range(3) if name == f"p{c}/{2**m}"), None) if by_class else 0
        if c is None:
            raise InputError(
                "simulation.arrivals.types", f"{name}: expected p0/{2**m}, p1/{2**m} or p2/{2**m}, by its size"
            )
        if (c, m) in type_of:
            other = instance.names[type_of[c, m]]
            raise InputError(
                "simulation.arrivals.types",
                f"expected one type of each size, {other} and {name} "
                f"are {size} of a server; types = {PRIORITIES!r} tells them apart by the priority of a Google trace",
            )
        type_of[c, m] = j
    return type_of


def _shown(trace: Trace, i: int) -> str:
    pairs = zip(trace.resources, trace.demand[i].tolist(), trace.unit, strict=True)
    return ", ".join(f"{name} = {_number(n * unit)}" for name, n, unit in pairs)


def _number(value: Fraction) -> str:
    """Write a number as a table has it, as a decimal, where that is exact."""
    decimal = f"{float(value):.12g}"
    return decimal if Fraction(decimal) == value else text(value)


def _refuse(file: TraceFile, trace: Trace, i: int, problem: str) -> NoReturn:
    """Raise the one error line of a task."""
    where = f"{file.path}" if trace.line is None else f"{file.path}:{int(trace.line[i])}"
    raise InputError(where, "", problem)


FACTORS = (1, 2, 4)
"""Reward of a unit of size by priority class. The paper's factors are not known; ours only put the classes in order."""


@dataclass(frozen=True)
class TaskSystem:
    """Jobs of a trace, the instance of their types, and the priority class of each type.

    Times of jobs are whole microseconds, and ``until``, when the last of them ends, is in seconds.

    The instance has one resource of capacity 1; type ``pC/N`` has priority class C and size 1/N. Workloads are those of
    one server.
    """

    instance: Instance
    jobs: JobList
    priority: dict[str, int]
    until: float


def tasks_of(trace: Trace, factors: Sequence[Fraction | int] = FACTORS, finest: int = 7) -> TaskSystem:
    """Turn the completed tasks of a Google trace into jobs of a loss system.

    Parameters
    ----------
    trace : Trace
        With resources as shares of a server.
    factors : sequence of rational, shape (3,)
        Reward of a unit of size, by priority class.
    finest : int
        Sizes are rounded up to a power of 1/2, at least 2^-finest.

    Notes
    -----
    Size is the largest requested share; only tasks that finished inside the trace are kept, as in the paper, so
    durations are biased down.
    """
    kept = single_resource(completed(trace).arrivals)
    exponent, level = powers_of_half(kept, finest), priority_classes(kept)
    pairs, _, types = unique_rows(np.column_stack([level, exponent]))
    durations = kept.duration / MICROSECONDS
    until = float((kept.arrival + kept.duration).max()) / MICROSECONDS
    kinds, demands, priority = [], [], {}
    for number, (c, m) in enumerate(pairs.tolist()):
        of_this_type = types == number
        busy = Fraction(float(durations[of_this_type].sum()) / until).limit_denominator(10**6)
        name = f"p{c}/{2**m}"
        mean = max(float(durations[of_this_type].mean()), 1e-6)
        rate = max(Fraction(1 / mean).limit_denominator(10**9), Fraction(1, 10**9))
        kinds.append(JobType(name, Fraction(factors[c]) / 2**m, busy, rate))
        demands.append((2 ** (finest - m),))
        priority[name] = c
    space = Additive(("size",), (2**finest,), tuple(demands), (Fraction(1, 2**finest),))
    instance = Instance(tuple(kinds), (Pool("pool1", Fraction(1), space),))
    jobs = JobList(kept.arrival, types.astype(np.int32), kept.duration)
    return TaskSystem(instance, jobs, priority, until)


def upper_bound(system: TaskSystem, servers: int, warmup: float, until: float, spans: int = 100) -> float:
    """Bound the time-average reward per server of any policy over [warmup, until]; more spans, a sharper bound.

    Source: auto-scaling paper, Section 7.2 (the program), and Jensen's inequality.
    """
    # The jobs in service never exceed those of a system that loses none, so at each moment the reward is at most the
    # optimum of the assignment program for the latter's jobs; that optimum is concave in the jobs, so its average over
    # a span of time is at most its value at their average.
    program = AssignmentProgram(system.instance)
    edges = np.linspace(warmup, until, spans + 1)
    rewards = []
    for begin, end in pairwise(edges.tolist()):
        means = lossless_jobs(system, begin, end) / servers
        rewards.append(program.approximate([Fraction(float(x)).limit_denominator(10**6) for x in means]))
    return float(np.mean(rewards))


def lossless_jobs(system: TaskSystem, begin: float, end: float) -> NDArray[np.float64]:
    """Return the mean jobs of each type over a span of time, in seconds, where none is lost, float64[J]."""
    times, types, durations = system.jobs
    first, last = begin * MICROSECONDS, end * MICROSECONDS
    inside = np.clip(times + durations, first, last) - np.clip(times, first, last)
    return np.bincount(types, weights=inside, minlength=len(system.instance.types)) / (last - first)
