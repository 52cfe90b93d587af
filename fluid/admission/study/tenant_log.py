"""Logs of tenants, as what was watched of each deployment.

A log has a row a VM, with a column that names its deployment, or a row a deployment, with sums over its cores. Columns
are guessed from common headers or named, and times are read as in every log (`fluid.traces`). From a log of VMs:

- the VMs of a deployment that start together at first are its initial size; VMs that start together later are one
  scale-out;
- the cores of a VM end together, so a VM counts as one lifetime, however many cores it has;
- a deployment whose last VMs, at least `least`, end at the same time was shut down, and none of these VMs ended on its
  own. Where a single VM is the last to end, it may have ended on its own or been shut down; the likelihood has both
  (`Watched.alone`);
- rows without an end are censored at the end of the watch. Deployments that arrived before the watch began are not
  fitted: that they were still there says that they lived longer than others.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import fields, replace
from io import StringIO
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.belief import Observed
from fluid.admission.study.watched import TenantLog, Watched
from fluid.traces.guessed import CREATED, ENDED, STARTED, STATE, STAYED, in_words, read_named
from fluid.traces.mapped import trace_of
from fluid.traces.model import MICROSECONDS, Trace
from fluid.traces.readers import refuse_other_kinds
from fluid.traces.task_columns import TaskColumns
from theory.errors import ArgumentError, InputError
from theory.files.cells import moment
from theory.files.formats import Records
from theory.files.headers import COUNT, RESOURCES, columns_by_meaning
from theory.files.open_table import header_of_table, opened
from theory.files.table import Table, fail
from theory.numbers import many, rational

HOUR = 3600 * MICROSECONDS

SUMS = ("scale_outs", "added_cores", "ended_cores", "core_time")
"""What a log of deployments has beside arrival, end and initial cores."""

MEANINGS: Mapping[str, tuple[str, ...]] = {
    "arrival": (*STARTED, *CREATED),
    "end": ENDED,
    "lifetime": (*STAYED, "alive_time"),
    "deployment": (
        "deployment", "deployment_id", "deployment_name", "tenant", "tenant_id", "application", "app", "service",
        "subscription", "customer",
    ),
    "cores": (*(name for name in RESOURCES["cpu"] if name != "core"), "initial_cores", "initial_size", "size"),
    "scale_outs": ("scale_outs", "scaleouts", "scale_out_count"),
    "added_cores": ("added_cores", "cores_added", "scaled_out_cores"),
    "ended_cores": ("ended_cores", "cores_ended", "core_deaths"),
    "core_time": ("core_time", "core"),  # core_hours is "core" with the unit "hours"
    "count": COUNT,
    "state": STATE,
}  # fmt: skip
"""What a column may be, and the headers that say so."""


class Watch(NamedTuple):
    """When the watch began and ended, in microseconds after the first arrival; whether its begin was stated."""

    first: int
    last: int
    is_stated: bool

    @property
    def hours(self) -> float:
        """Its length."""
        return (self.last - self.first) / HOUR


def read_tenant_log(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    begin: str = "",
    end: str = "",
    least: int = 2,
    together: float = 0.0,
    strict: bool = False,
) -> TenantLog:
    """Read a log of VMs or of deployments.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip, JSON lines or Parquet.
    columns : mapping of str to str
        The headers of columns that are not guessed, by the names of `MEANINGS`.
    begin, end : str
        The watch: dates, or hours after the first arrival; by default from the first arrival to the last moment.
    least : int
        VMs that end at once where a deployment is shut down.
    together : float
        Seconds within which starts, or ends, are at once.
    strict : bool
        Whether rows that never ran are refused, rather than dropped and counted.

    Raises
    ------
    InputError
        One line that names the file, the line, the column and what was expected.

    Notes
    -----
    O(n log n) for n rows.
    """
    place = Path(path)
    found, table, of_deployments = _records(place, columns or {})
    guess = in_words(table).replace("type = ", "deployment = ")
    try:
        trace = trace_of(found, table, strict=strict)
    except InputError as error:
        raise error.ending(f" ({guess})") from error
    final = int((trace.arrival + trace.duration).max())
    first = _moment(begin, "from", trace) if begin else 0
    last = _moment(end, "to", trace) if end else final
    if last <= first:
        raise ArgumentError(
            "to", f"expected a moment after --from and the first arrival, {place} has none between them"
        )
    if of_deployments and last < final:
        hours = f"{ceil(final / HOUR * 100) / 100:,.2f} hours after the first arrival"
        raise ArgumentError("to", f"expected the last moment of {place} or later, {hours}: sums of "
            "deployments cannot be "
                         f"cut, got {end!r}")  # fmt: skip
    amounts = _amounts(place, table, trace)
    watch = Watch(first, last, bool(begin))
    if of_deployments:
        _refuse_contradictions(place, table, trace, amounts, last)
        log = _deployments(trace, amounts, watch)
    else:
        log = _vms(trace, amounts, watch, shutdown_vms=least, tolerance=round(together * MICROSECONDS))
    return _fitted_part(place, replace(log, notes=(guess, *log.notes)))


def _records(place: Path, named: Mapping[str, str]) -> tuple[Records, TaskColumns, bool]:
    """Read the columns of a log, and tell which is what, and whether rows are deployments."""
    try:
        header_of_table(place)
    except InputError:
        refuse_other_kinds(place, "a log of tenants")
        raise
    with opened(place) as table:
        return _named_records(table, named)


def _named_records(table: Table, named: Mapping[str, str]) -> tuple[Records, TaskColumns, bool]:
    place, line, header = table.place, table.first, list(table.header)
    shown = ", ".join(header)[:120] or "no columns"
    for name, cell in named.items():
        if name not in MEANINGS:
            raise ArgumentError("column", f"expected one of {', '.join(MEANINGS)} before =, got {name!r}")
        if cell not in header:
            raise ArgumentError("column", f"{place} has no column {cell!r}, expected one of {shown}")
    free = [cell for cell in header if cell not in named.values()]
    chosen = {**columns_by_meaning(free, {k: v for k, v in MEANINGS.items() if k not in named}), **named}
    of_deployments = "scale_outs" in chosen
    _refuse_lacking(place, line, chosen, shown)
    stay = "end" if "end" in chosen else "lifetime"
    meant = {"time": chosen["arrival"], "end" if stay == "end" else "duration": chosen[stay]}
    meant |= {"type": chosen["deployment"]} if "deployment" in chosen else {}
    meant |= {name: chosen[name] for name in ("cores", *(SUMS if of_deployments else ())) if name in chosen}
    meant |= {name: chosen[name] for name in ("count", "state") if name in chosen and not of_deployments}
    return *read_named(table, meant, {}), of_deployments


def _refuse_lacking(place: Path, line: int, chosen: Mapping[str, str], shown: str) -> None:
    """Refuse a table that lacks a column which a log of its kind has."""
    of_deployments = "scale_outs" in chosen
    if "arrival" not in chosen:
        refuse_other_kinds(place, "a log of tenants")
        fail(place, line, "", f"expected a column for arrivals, such as created_at or start; found {shown}")
    if not {"end", "lifetime"} & chosen.keys():
        fail(place, line, "", f"expected a column end, deleted_at or lifetime; found {shown}")
    if not of_deployments and "deployment" not in chosen:
        fail(place, line, "", "expected a column deployment (a row a VM), or scale_outs (a row a deployment), or "
                              f"--column NAME=HEADER for one; found {shown}")  # fmt: skip
    lacking = [name for name in ("cores", *SUMS) if of_deployments and name not in chosen]
    if lacking:
        words = f"{'columns' if len(lacking) > 1 else 'a column'} {', '.join(lacking)} beside scale_outs"
        fail(place, line, "", f"expected {words}, or --column NAME=HEADER for each; found {shown}")


def _moment(text: str, name: str, trace: Trace) -> int:
    """Return an end of the watch in microseconds after the first arrival."""
    try:
        if text[4:5] == "-":
            if trace.begins is None:
                raise ValueError("the log has no dates")
            return moment(text)[0] - trace.begins
        return round(rational(text) * HOUR)
    except ValueError as error:
        raise ArgumentError(
            name, f"expected a date or hours after the first arrival, got {text!r} ({error})"
        ) from error


def _amounts(place: Path, table: TaskColumns, trace: Trace) -> dict[str, NDArray[np.int64]]:
    """Return whole numbers by what they are (core time in microseconds), int64[n] each; refused where not whole."""
    header, line = table.headers, trace.line
    assert line is not None
    amounts = {}
    for r, name in enumerate(trace.resources):
        unit = trace.unit[r] * (MICROSECONDS if name == "core_time" else 1)
        exact = [value * unit for value in trace.demand[:, r].tolist()]
        for i, value in enumerate(exact):
            if name != "core_time" and value.denominator != 1:
                fail(place, int(line[i]), header[name], f"expected a whole number, got {float(value):g}")
            if name == "cores" and value < 1:
                fail(place, int(line[i]), header[name], f"expected at least 1 core, got {float(value):g}")
            if value > 2**53:
                fail(place, int(line[i]), header[name], f"expected less, got {float(value):g}")
        amounts[name] = np.array([round(value) for value in exact], np.int64)
    return amounts


def _vms(
    trace: Trace, amounts: Mapping[str, NDArray[np.int64]], watch: Watch, *, shutdown_vms: int, tolerance: int
) -> TenantLog:
    """Gather VMs into deployments, their batches, and how each deployment ended.

    A shutdown ends at least `shutdown_vms` VMs at once; times at most `tolerance` microseconds apart are one.
    """
    last = watch.last
    inside = trace.arrival <= last
    label, start = trace.label[inside], trace.arrival[inside]
    cores = amounts["cores"][inside] if "cores" in amounts else np.ones(len(start), np.int64)
    end = start + trace.duration[inside]
    is_open = trace.censored[inside] | (end > last)
    end = np.where(is_open, last, end)
    order = np.lexsort((start, label))
    label, start, end, cores, is_open = label[order], start[order], end[order], cores[order], is_open[order]
    hours = (end - start) / HOUR
    # the latest end so far among the VMs of a deployment: ranks of ends beyond those of the deployments before it
    moments, rank = np.unique(end, return_inverse=True)
    latest = moments[np.maximum.accumulate(label * len(moments) + rank) % len(moments)]
    is_new = np.concatenate([[True], np.diff(label) > 0])
    returns = np.concatenate([[False], start[1:] > latest[:-1] + tolerance]) & ~is_new
    begins = is_new | returns
    life = np.cumsum(begins) - 1
    opens = begins | np.concatenate([[True], np.diff(start) > tolerance])
    batch = np.cumsum(opens) - 1
    owner, size = life[opens], np.bincount(batch, cores).astype(np.int64)
    count = int(life[-1]) + 1
    arrival, over = start[begins], np.maximum.reduceat(end, np.flatnonzero(begins))
    lives_on = np.bincount(life, is_open, count) > 0
    joint = np.bincount(life, ~is_open & (end >= over[life] - tolerance), count)
    shut = ~lives_on & (joint >= shutdown_vms)
    ended = np.bincount(life, ~is_open, count)
    initial = size[np.flatnonzero(begins[opens])]
    scale_outs = np.bincount(owner, minlength=count) - 1
    added = np.bincount(owner, size, count).astype(np.int64) - initial
    seen = Watched(
        (ended - np.where(shut, joint, 0)).astype(np.int64),
        np.bincount(life, hours, count).astype(float),
        (over - arrival) / HOUR,
        scale_outs,
        added - scale_outs,
        scale_outs,
        shut,
        ~lives_on & ~shut & (joint == 1),
    )
    return TenantLog(
        (arrival - watch.first) / HOUR,
        initial,
        seen,
        np.bincount(life, hours * cores, count).astype(float),
        watch.hours,
        from_first=not watch.is_stated,
        cores=np.bincount(life, cores * is_open, count).astype(np.int64),
        names=np.array(trace.labels, object)[label[begins]],
        most_cores=_most_at_once(start, end, cores),
        notes=_notes_of_vms(trace, int(returns.sum()), bool((cores > 1).any())),
    )


def _notes_of_vms(trace: Trace, returns: int, has_large_vms: bool) -> tuple[str, ...]:
    notes = [note for note in trace.notes if "run on" not in note]
    if len(trace.labels) == len(trace.arrival):
        notes.append(
            "no deployment has two rows: if a row is a deployment, say which column counts its scale-outs "
            "(--column scale_outs=HEADER)"
        )
    if returns:
        notes.append(f"{many(returns, 'time')} a deployment without a VM returned, and counts as a new one then")
    if has_large_vms:
        notes.append("VMs of several cores count as one lifetime each; the model ends their cores one by one")
    return tuple(notes)


def _most_at_once(start: NDArray[np.int64], end: NDArray[np.int64], cores: NDArray[np.int64]) -> int:
    """Return the largest sum of cores of rows that overlap; of equal times, ends come first."""
    order = np.lexsort((np.repeat([1, 0], len(start)), np.concatenate([start, end])))
    return int(np.cumsum(np.concatenate([cores, -cores])[order]).max())


def _deployments(trace: Trace, amounts: Mapping[str, NDArray[np.int64]], watch: Watch) -> TenantLog:
    """Take sums of deployments as they are."""
    is_open, cores = trace.censored, amounts["cores"]
    scale_outs, added, ended = (amounts[name] for name in SUMS[:3])
    hours = amounts["core_time"] / HOUR
    shut = ~is_open & (ended < cores + added)
    lived = _lived(trace, watch.last) / HOUR
    return TenantLog(
        (trace.arrival - watch.first) / HOUR,
        cores,
        Watched(ended, hours, lived, scale_outs, added - scale_outs, scale_outs, shut),
        hours,
        watch.hours,
        from_first=not watch.is_stated,
        cores=np.where(is_open, cores + added - ended, 0),
        names=np.array(trace.labels, object)[trace.label] if trace.labels else np.arange(1, len(cores) + 1),
        notes=trace.notes,
    )


def _lived(trace: Trace, last: int) -> NDArray[np.int64]:
    """Return how long each deployment was seen alive, in microseconds: one without an end, to the end of the watch."""
    return np.where(trace.censored, last - trace.arrival, trace.duration)


def _refuse_contradictions(
    place: Path, table: TaskColumns, trace: Trace, amounts: Mapping[str, NDArray[np.int64]], last: int
) -> None:
    """Refuse sums of a deployment that no deployment has."""
    scale_outs, added, ended = (amounts[name] for name in SUMS[:3])
    total = amounts["cores"] + added
    # sums may be rounded: a hundredth and a minute
    too_little = amounts["core_time"] < 0.99 * _lived(trace, last) - 60 * MICROSECONDS
    wrong = {
        "added_cores": ((added < scale_outs) | ((scale_outs == 0) & (added > 0)), "at least 1 core a scale-out"),
        "ended_cores": (ended > total - trace.censored, "at most the cores that there were, less one if it still runs"),
        "core_time": (
            too_little,
            "at least the lifetime, in seconds unless the header has a unit; a row without an end lives to --to",
        ),
    }
    header, line = table.headers, trace.line
    assert line is not None
    for name, (bad, expected) in wrong.items():
        for i in np.flatnonzero(bad)[:1]:
            fail(place, int(line[i]), header[name], f"expected {expected}")


def _fitted_part(place: Path, log: TenantLog) -> TenantLog:
    """Leave out deployments from before the watch; those that are there at its end are kept beside the others."""
    assert log.cores is not None
    inside = log.arrival >= 0
    if inside.sum() < 2:
        raise InputError(place, "", f"expected at least 2 deployments that arrive within the watch, got {inside.sum()}")
    before = int((~inside).sum())
    there = f"{many(before, 'deployment')} there before --from {'is' if before == 1 else 'are'} not fitted"
    notes = (there,) if before else ()
    return replace(log.only(inside), present=log.only(log.cores > 0), notes=(*log.notes, *notes))


def state_csv(log: TenantLog, *, is_poisson: bool) -> str:
    """Return the deployments that are there now as ``decide --state`` reads them, with what was seen of each.

    Where the law of initial sizes is 1 + Poisson(sigma), the initial size is one of the sizes.
    """
    now = log if log.present is None else log.present
    seen = now.with_initial_sizes() if is_poisson else now.seen
    assert now.cores is not None
    assert now.names is not None
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "cores", *(one.name for one in fields(Observed))])
    for i, name in enumerate(now.names.tolist()):
        observed = Observed(
            int(seen.core_deaths[i]), float(max(seen.core_time[i], seen.alive_time[i])), float(seen.alive_time[i]),
            int(seen.scale_outs[i]), int(seen.extra_cores[i]), int(seen.sizes[i]),
        )  # fmt: skip
        table.writerow([name, int(now.cores[i]), *(f"{value:.10g}" for value in vars(observed).values())])
    return text.getvalue()
