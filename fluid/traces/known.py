"""Logs of known origin: a specification of a few lines says what the columns are, by header or by number.

`KNOWN` has the formats of tables, `fluid.traces.documents` what is made of documents of JSON. A column of a log is made
of one or several columns of the table, perhaps by a function of their cells, and is then read as every log is
(`fluid.traces.mapped`). Of several columns of one name the first counts whose headers the table has.

Sources: the manual page of sacct (Slurm); the manual of HTCondor; the Standard Workload Format 2.2 of the Parallel
Workloads Archive; the READMEs of AzurePublicDataset (V1, V2) and HeliosData. Azure's own analysis takes >24 cores for
30 and >64 GB for 70.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import compress
from pathlib import Path
from typing import NoReturn

from fluid.traces import condor, slurm
from fluid.traces.mapped import trace_of
from fluid.traces.model import Doubt, Outcome, ReadColumn, Trace
from fluid.traces.task_columns import NO_RESOURCES, TIMES, TaskColumns, named_columns
from theory.errors import InputError
from theory.files.cells import nonnegative
from theory.files.formats import records
from theory.files.open_table import opened
from theory.files.table import Block, Table
from theory.numbers import many, text

CellsOfRow = tuple[str, ...]

UNITS = {"cpu": "cores", "memory": "GiB", "disk": "GiB", "gpu": "GPUs"}
"""Units of the resources of every format."""


@dataclass(frozen=True)
class Made:
    """A column of a log, and how it is made.

    Attributes
    ----------
    name : str
        What it is (`fluid.traces.task_columns`): time, start, end, duration, count, state, outcome, or a resource.
    of : tuple of str
        Headers of the columns that it is made of.
    read : function, optional
        Makes a cell of one cell of each of these columns; raises ValueError that says what is expected.
    instead : mapping of str to str
        Cells that are taken for another, which a note counts.
    """

    name: str
    of: tuple[str, ...]
    read: Callable[..., str] | None = None
    instead: Mapping[str, str] = field(default_factory=dict)


def one_of(words: Mapping[str, str]) -> Callable[[str], str]:
    """Make the reader of cells that are one of some words, each of which means another."""

    def read(cell: str) -> str:
        if cell not in words:
            raise ValueError(f"expected one of {', '.join(words)}, got {cell[:40]!r}")
        return words[cell]

    return read


@dataclass(frozen=True)
class Rule:
    """Rows that are no tasks: what is said of them, the column that tells them, and how; perhaps parts of others."""

    reason: str
    of: str
    is_such: Callable[[str], bool]
    are_parts: bool = False


@dataclass(frozen=True)
class LogFormat:
    """A log of known origin.

    Attributes
    ----------
    name : str
        What such a log is called.
    columns : tuple of Made
    needed : tuple of tuple of str
        Headers that tell it: of each tuple one.
    header : tuple of str
        The columns of a table without a header, in their order.
    first : tuple of str
        Regular expressions of the cells of the first row of such a table.
    leave : tuple of Rule
        Rows that are no tasks, such as the steps of a job; they are left out and counted.
    advice : str
        How to get such a log, where columns are missing.
    notes : tuple of str
        What is assumed of every such log.
    remarks : function, optional
        Makes notes of the distinct cells that each column was made of.
    """

    name: str
    columns: tuple[Made, ...]
    needed: tuple[tuple[str, ...], ...] = ()
    header: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    leave: tuple[Rule, ...] = ()
    advice: str = ""
    notes: tuple[str, ...] = ()
    remarks: Callable[[Mapping[str, Sequence[CellsOfRow]]], Sequence[str]] | None = None

    def tells(self, first: Sequence[str]) -> bool:
        """Return whether a first row is one of this format."""
        if self.first:
            return len(first) == len(self.header) and all(map(re.fullmatch, self.first, first))
        return bool(self.needed) and all(set(group) & set(first) for group in self.needed)

    def bound(self, table: Table) -> list[Made]:
        """Return the columns that a table has, each once; a table that lacks one that is needed is refused."""
        found: dict[str, Made] = {}
        for made in self.columns:
            if made.name not in found and set(made.of) <= set(table.header):
                found[made.name] = made
        if "end" in found:
            found.pop("duration", None)
        else:
            found.pop("start", None)
        lacking = [
            name for name in ("time", "duration") if name not in found and not (name != "time" and "end" in found)
        ]
        if lacking or not set(found) - set(NO_RESOURCES):
            self._refuse_lack(table, lacking)
        return list(found.values())

    def _refuse_lack(self, table: Table, lacking: Sequence[str]) -> NoReturn:
        groups: list[tuple[str, ...]] = [("duration", "end") if name == "duration" else (name,) for name in lacking]
        groups = groups or [tuple(UNITS)]
        wanted = [sorted({" and ".join(one.of) for one in self.columns if one.name in names}) for names in groups]
        names = ", and ".join(" or ".join(headers) for headers in wanted)
        advice = f" ({self.advice})" if self.advice else ""
        table.fail(table.first, "", f"expected {names} in {self.name}{advice}; found {', '.join(table.header)[:200]}")


# ---- Slurm -----------------------------------------------------------------------------------------------------------

ADVICE = "sacct -a -X -P -o JobID,State,Submit,Start,End,ReqTRES"
JOBS = tuple(Made("time", (name,)) for name in ("Submit", "Eligible", "Start"))
TIMES_OF_JOBS = (
    *JOBS,
    Made("start", ("Start",)),
    Made("end", ("End",)),
    Made("duration", ("ElapsedRaw",)),
    Made("duration", ("Elapsed",), slurm.seconds),
    Made("state", ("State",), slurm.state),
    Made("outcome", ("State",), slurm.outcome),
)
TRES = tuple(
    Made(name, of, slurm.tres(name))
    for of in (("ReqTRES", "AllocTRES"), ("ReqTRES",), ("AllocTRES",))
    for name in ("count", "cpu", "memory", "gpu")
)
CORES = ("ReqCPUS", "AllocCPUS", "NCPUS")
NODES = ("NNodes", "ReqNodes", "AllocNodes")
IDS = ("JobID", "JobIDRaw")

SACCT = LogFormat(
    "the jobs of Slurm (sacct)",
    (*TIMES_OF_JOBS, *TRES),
    (IDS, ("ReqTRES", "AllocTRES")),
    leave=tuple(Rule("that are steps of jobs", name, slurm.is_step, are_parts=True) for name in IDS),
    advice=ADVICE,
    notes=(
        "Slurm: K, M, G and T of memory are powers of 1024",
        "Slurm: each node of a job counts as a task of its own",
    ),
    remarks=slurm.remarks,
)

SACCT_COLUMNS = replace(
    SACCT,
    columns=(
        *TIMES_OF_JOBS,
        *(Made("count", (nodes,), slurm.nodes) for nodes in NODES),
        *(Made("cpu", (cores, nodes), slurm.per_node) for nodes in NODES for cores in CORES),
        *(Made("cpu", (cores,)) for cores in CORES),
        *(Made("memory", ("ReqMem", cores, nodes), slurm.memory) for nodes in NODES for cores in CORES),
        *(Made("memory", ("ReqMem", cores), slurm.memory) for cores in CORES),
        Made("memory", ("ReqMem",), slurm.memory),
    ),
    needed=(IDS, CORES),
    remarks=None,
)


# ---- HTCondor --------------------------------------------------------------------------------------------------------

HTCONDOR = LogFormat(
    "the jobs of HTCondor (condor_history)",
    (
        Made("time", ("QDate",)),
        *(Made("start", (name,)) for name in ("JobCurrentStartDate", "JobStartDate")),
        Made("end", ("CompletionDate", "EnteredCurrentStatus", "JobStatus"), condor.end),
        *(Made("outcome", of, condor.outcome) for of in (("JobStatus", "ExitCode"), ("JobStatus",))),
        Made("cpu", ("RequestCpus",), condor.request()),
        Made("memory", ("RequestMemory",), condor.request(1024)),
        Made("disk", ("RequestDisk",), condor.request(2**20)),
        *(Made("gpu", (name,), condor.request()) for name in ("RequestGPUs", "RequestGpus")),
    ),
    needed=(("QDate",), ("JobStatus",), ("RequestCpus",)),
    leave=(Rule("that run outside of the pool (universe 7, 9, 12)", "JobUniverse", {"7", "9", "12"}.__contains__),),
    advice="condor_history -af:ht QDate JobCurrentStartDate CompletionDate EnteredCurrentStatus JobStatus ExitCode "
    "JobUniverse RequestCpus RequestMemory RequestDisk RequestGPUs",
    notes=("HTCondor: of a job that ran several times the last run counts; one that was removed counts until then",),
)


# ---- the Parallel Workloads Archive ----------------------------------------------------------------------------------


def _processors(requested: str, allocated: str) -> str:
    """Return the number of processors of a job: those requested, or those it had where that is not known (-1)."""
    return next((cell for cell in (requested, allocated) if not cell.startswith("-") and nonnegative(cell) > 0), "0")


def _kibibytes(each: str, requested: str, allocated: str) -> str:
    """Return the memory of a job in GiB, of kilobytes for each processor; 0 where it is not known (-1)."""
    return (
        "0" if each.startswith("-") else text(nonnegative(each) * Fraction(_processors(requested, allocated)) / 2**20)
    )


PARTS_OF_JOBS = Rule(
    "that are parts of a job, which has a line of its own (status 2, 3, 4)",
    "status",
    {"2", "3", "4"}.__contains__,
    are_parts=True,
)


def _unknown(cells: Mapping[str, Sequence[CellsOfRow]]) -> list[str]:
    """Return the notes on what a log does not know."""
    notes = []
    if any(each.startswith("-") for each, *_ in cells.get("memory", ())):
        notes.append("SWF: memory that is not known (-1) counts as 0")
    if ("-1",) in cells.get("outcome", ()):
        notes.append("SWF: jobs whose status is not known (-1) are taken to have run to their end")
    return notes


SWF = LogFormat(
    "a log in the Standard Workload Format",
    (
        Made("time", ("submit time",)),
        Made("duration", ("run time",)),
        Made("cpu", ("requested processors", "allocated processors"), _processors),
        Made("memory", ("requested memory", "requested processors", "allocated processors"), _kibibytes),
        Made("outcome", ("status",), one_of({"1": "finish", "0": "fail", "5": "kill", "-1": "finish"})),
    ),
    header=("job number", "submit time", "wait time", "run time", "allocated processors", "average cpu time",
            "used memory", "requested processors", "requested time", "requested memory", "status", "user", "group",
            "executable", "queue", "partition", "preceding job", "think time"),
    first=(r"-?\d+(\.\d*)?",) * 18,
    leave=(PARTS_OF_JOBS,),
    notes=("SWF: a job is one unit, so that all its processors are on one server",),
    remarks=_unknown,
)  # fmt: skip


# ---- Azure and Helios ------------------------------------------------------------------------------------------------

NUMBER = r"\d+(\.\d+)?"
AZURE_CORES = Made("cpu", ("vmcorecountbucket",), instead={">24": "30"})
AZURE_MEMORY = Made("memory", ("vmmemorybucket",), instead={">64": "70"})
AZURE_TIMES = (Made("time", ("vmcreated",)), Made("end", ("vmdeleted",)))

AZURE = LogFormat(
    "the VMs of Azure's traces of 2017 and 2019",
    (*AZURE_TIMES, AZURE_CORES, AZURE_MEMORY),
    header=("vmid", "subscriptionid", "deploymentid", "vmcreated", "vmdeleted", "maxcpu", "avgcpu", "p95maxcpu",
            "vmcategory", "vmcorecountbucket", "vmmemorybucket"),
    first=(".+", ".+", ".+", NUMBER, NUMBER, *(r"[\d.eE+-]+",) * 3, ".*", f">?{NUMBER}", f">?{NUMBER}"),
    notes=("Azure: a GB counts as a GiB; a bucket of cores or memory counts as its upper end",),
)  # fmt: skip

AZURE_WITH_HEADER = replace(
    AZURE,
    columns=(*AZURE.columns, Made("cpu", ("vmcorecount",)), Made("memory", ("vmmemory",))),
    needed=(("vmcreated",), ("vmdeleted",), ("vmcorecountbucket", "vmcorecount")),
    header=(),
    first=(),
)

HELIOS = LogFormat(
    "the jobs of Helios",
    (
        Made("time", ("submit_time",)),
        Made("start", ("start_time",)),
        Made("end", ("end_time",)),
        Made("state", ("state",), slurm.state),
        Made("outcome", ("state",), slurm.outcome),
        Made("count", ("node_num",), slurm.nodes),
        Made("cpu", ("cpu_num", "node_num"), slurm.per_node),
        Made("gpu", ("gpu_num", "node_num"), slurm.per_node),
    ),
    needed=(("gpu_num",), ("cpu_num",), ("node_num",), ("submit_time",)),
    notes=("Helios: each node of a job counts as a task of its own",),
)

KNOWN = (SACCT, SACCT_COLUMNS, HTCONDOR, SWF, AZURE, AZURE_WITH_HEADER, HELIOS)
"""The formats, in the order in which a first row is compared with them."""


def format_of(first: Sequence[str]) -> LogFormat | None:
    """Return the format that a first row tells; None for no known one."""
    return next((one for one in KNOWN if one.tells(first)), None)


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Maker:
    """Makes the columns of a log of the rows of a table, and counts what is left out and replaced."""

    def __init__(self, table: Table, form: LogFormat) -> None:
        self.table, self.columns = table, form.bound(table)
        self.left_out: Counter[str] = Counter()
        self.parts = 0
        self.replaced: Counter[tuple[str, str, str]] = Counter()
        self.made: dict[str, dict[CellsOfRow, str]] = {one.name: {} for one in self.columns}
        self._rules = [rule for rule in form.leave if rule.of in table.header]
        self._resources = [i for i, one in enumerate(self.columns) if one.name not in NO_RESOURCES]
        self.rows = 0

    def blocks(self) -> Iterator[Block]:
        """Give the rows of the log."""
        header = self.table.header
        for lines, rows in self.table.blocks():
            self.rows += len(rows)
            cells = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
            chosen = [True] * len(rows)
            for rule in self._rules:
                which = [rule.is_such(cell) for cell in cells[header.index(rule.of)]]
                count = sum(compress(which, chosen))
                self.left_out[rule.reason] += count
                self.parts += count if rule.are_parts else 0
                chosen = [there and not such for there, such in zip(chosen, which, strict=True)]
            kept = list(compress(lines, chosen))
            used = {name: list(compress(cells[header.index(name)], chosen)) for one in self.columns for name in one.of}
            made = [self._cells(one, kept, [used[name] for name in one.of]) for one in self.columns]
            yield self._that_request(kept, [list(row) for row in zip(*made, strict=True)])

    def _cells(self, one: Made, lines: Sequence[int], columns: Sequence[Sequence[str]]) -> list[str]:
        """Return the cells of a column of the log."""
        if one.read is None:
            cells = list(columns[0])
            for found in one.instead.keys() & set(cells):
                self.replaced[one.of[0], found, one.instead[found]] += cells.count(found)
            return [one.instead.get(cell, cell) for cell in cells] if one.instead else cells
        known = self.made[one.name]
        values = []
        for i, cells_of_row in enumerate(zip(*columns, strict=True)):
            value = known.get(cells_of_row)
            if value is None:
                try:
                    value = known[cells_of_row] = one.read(*cells_of_row)
                except ValueError as error:
                    place, problem = "", str(error)
                    if isinstance(error, InputError):  # which may say the header of another cell than the first
                        place, problem = error.place, error.problem
                    self.table.fail(lines[i], place or one.of[0], problem)
            values.append(value)
        return values

    def _that_request(self, lines: list[int], rows: list[list[str]]) -> Block:
        """Leave out rows that request nothing."""
        requests = [any(row[i].strip("0.") for i in self._resources) for row in rows]
        count = len(rows) - sum(requests)
        if count:
            self.left_out["that request nothing"] += count
            lines, rows = list(compress(lines, requests)), list(compress(rows, requests))
        return lines, rows

    @property
    def notes(self) -> list[str]:
        """Return the notes on rows that are left out, and on cells that are taken for others."""
        left = [f"{many(count, 'row')} {reason} left out" for reason, count in self.left_out.items() if count]
        others = [
            f"{name}: {many(n, 'row')} with {cell} count as {value}" for (name, cell, value), n in self.replaced.items()
        ]
        return [*left, *others]


def read_known(path: str | Path, form: LogFormat, *, drop_open: bool = False, strict: bool = False) -> Trace:
    """Read a log of known origin.

    Parameters
    ----------
    path : str or Path
    form : LogFormat
    drop_open : bool
        Whether rows without an end are dropped; unless so, they run on to the end of the log.
    strict : bool
        Whether rows that never ran are refused; unless so, they are dropped and counted.

    Raises
    ------
    InputError
        Missing columns, or cells that are not of the format: each names file, line and column.
    """
    with opened(path, form.header) as table:
        return read_table(table, form, drop_open=drop_open, strict=strict)


def read_table(table: Table, form: LogFormat, *, drop_open: bool = False, strict: bool = False) -> Trace:
    """Read an open table that is a log of known origin."""
    maker = _Maker(table, form)
    names = tuple(one.name for one in maker.columns)
    columns = TaskColumns(
        named_columns(dict(zip(names, names, strict=True))),
        outcomes=(("censored", Outcome.finish),) if drop_open else (),
        keeps_open=not drop_open,
        are_asked=True,
    )
    inner = Table(table.place, names, table.first, table.notes, maker.blocks())
    found = records(inner, columns.columns)
    if not len(found):
        left = f" ({'; '.join(maker.notes)})" if maker.notes else ""
        table.fail(table.first, "", f"expected the rows of {form.name}, found none that is a task{left}")
    headers = [one.of[0] for one in maker.columns]
    found.header, found.headers = table.header, dict(zip(names, headers, strict=True))
    used = {name for one in maker.columns for name in one.of} | {rule.of for rule in form.leave}
    trace = trace_of(found, replace(columns, unread=tuple(used)), strict=strict)
    remarks = form.remarks({name: list(made) for name, made in maker.made.items()}) if form.remarks else ()
    reading = trace.reading
    assert reading is not None
    reading = replace(
        reading,
        format=form.name,
        columns=tuple(_column(one, reading.written) for one in maker.columns),
        rows=maker.rows,
        parts=maker.parts,
        left_out=(*((reason, count) for reason, count in maker.left_out.items() if count), *reading.left_out),
    )
    notes = (f"read as {form.name}: {reading.in_words()}", *form.notes, *maker.notes, *remarks, *trace.notes)
    doubts = tuple(note for note in trace.notes if isinstance(note, Doubt))
    return replace(trace, notes=(*doubts, *(note for note in notes if note not in doubts)), reading=reading)


def _column(one: Made, written: str) -> ReadColumn:
    unit = "date" if written == "dates" and one.name != "duration" else "s"
    return ReadColumn(" and ".join(one.of), one.name, unit if one.name in TIMES else UNITS.get(one.name, ""))
