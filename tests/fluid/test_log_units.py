"""One log in other units, formats and orders is one trace; what its times may be is decided on whole columns."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import tempfile
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.admission.study.tenant_log import read_tenant_log
from fluid.traces.model import Doubt, Trace
from fluid.traces.readers import read_trace
from theory.errors import InputError
from theory.numbers import text

MAY = datetime(2026, 5, 1, tzinfo=UTC)
MAY_SECONDS = int(MAY.timestamp())

MICROSECONDS_IN = {
    "ns nanoseconds": Fraction(1, 1000),
    "us usec microsecond": Fraction(1),
    "ms msec milliseconds": Fraction(1000),
    "s sec second": Fraction(10**6),
    "min minutes": Fraction(60 * 10**6),
    "h hour hours hr": Fraction(3600 * 10**6),
    "d day days": Fraction(86400 * 10**6),
    "w weeks": Fraction(7 * 86400 * 10**6),
}
TIME_UNITS = {unit: factor for units, factor in MICROSECONDS_IN.items() for unit in units.split()}
MIB_IN = {"bytes": Fraction(1, 2**20), "Ki": Fraction(1, 2**10), "MiB": Fraction(1), "GB": Fraction(2**10)}
MILLI_IN = {"m": Fraction(1), "millicores": Fraction(1), "cores": Fraction(1000), "": Fraction(1000)}
BRACKETS = ("{} ({})", "{} [{}]", "{}_{}", "{} in {}")


class Vm(NamedTuple):
    """A VM: microseconds after the first of May, its stay, its type, and milli-cores and MiB."""

    arrival: int
    stay: int
    kind: str
    cores: int
    memory: int


VMS = st.lists(
    st.builds(
        Vm,
        st.integers(0, 30 * 86400 * 10**6),
        st.integers(10**6, 86400 * 10**6),
        st.sampled_from(["small", "large", "odd one"]),
        st.integers(1, 8000),
        st.integers(1, 65536),
    ),
    min_size=1,
    max_size=8,
)
SEEDS = st.integers(0, 2**32)


def iso(time: int, style: int) -> str:
    moment = MAY + timedelta(microseconds=time)
    if style == 0:
        return moment.isoformat().replace("+00:00", "Z")
    if style == 1:
        return moment.astimezone(timezone(timedelta(hours=-7))).isoformat()
    if style == 2:
        return f"{moment:%Y-%m-%d %H:%M:%S.%f}"
    return f"{moment:%Y%m%d%H%M%S.%f}"


def rendered(vms: list[Vm], rng: random.Random, *, typed: bool) -> list[dict[str, str]]:
    """Write a log with times, units and columns that are drawn."""

    def number(value: Fraction) -> str:
        decimal = value.denominator % 3 and value.denominator % 7 and len(text(value)) < 30
        return f"{float(value):.0f}" if decimal and value.denominator == 1 else text(value)

    def headed(name: str, unit: str) -> str:
        is_noun = unit in ("cores", "")
        return rng.choice(BRACKETS[:2] if is_noun else BRACKETS).format(name, unit) if unit else name

    form = rng.choice(["iso", "epoch", "stated"])
    created = rng.choice(["created_at", "start", "submit_time", "Launch Time"])
    ended = rng.choice(["deleted_at", "end", "finished"])
    stayed = rng.choice(["duration", "lifetime", "runtime"])
    by_end, style = rng.random() < 0.5, rng.randrange(4)
    unit, other, of_stay = (rng.choice(list(TIME_UNITS)) for _ in range(3))
    epoch = rng.choice([1000, 1, Fraction(1, 1000), Fraction(1, 10**6)])  # of a second, a milli-, micro-, nanosecond
    if form == "stated":
        created = headed(created, unit)
        ended = headed(ended, other)
    stayed = headed(stayed, of_stay)
    since = rng.choice([0, MAY_SECONDS * 10**6])

    def moment(time: int, factor: Fraction) -> str:
        if form == "iso":
            return iso(time, style)
        if form == "epoch":
            return number(Fraction(MAY_SECONDS * 10**6 + time) / (1000 * epoch))
        return number(Fraction(since + time) / factor)

    cpu_unit, memory_unit = rng.choice(list(MILLI_IN)), rng.choice(list(MIB_IN))
    cpu, memory = headed("cpu", cpu_unit), headed(rng.choice(["memory", "RAM"]), memory_unit)
    table = []
    for vm in vms:
        row = {created: moment(vm.arrival, TIME_UNITS[unit])}
        if by_end:
            row[ended] = moment(vm.arrival + vm.stay, TIME_UNITS[other])
        else:
            row[stayed] = number(Fraction(vm.stay) / TIME_UNITS[of_stay])
        if typed:
            row["VM Size"] = vm.kind
        else:
            row[cpu] = number(vm.cores / MILLI_IN[cpu_unit])
            row[memory] = number(vm.memory / MIB_IN[memory_unit])
        table.append(row | {"note": "x", "memory_used": "7"})
    rng.shuffle(table)
    names = list(table[0])
    rng.shuffle(names)
    return [{name: row[name] for name in names} for row in table]


def written(table: list[dict[str, str]], folder: Path, rng: random.Random) -> Path:
    """Write a table as a file of a format that is drawn."""
    formats = ["csv", "csv.gz", "jsonl", "ndjson.gz", *(["parquet"] if find_spec("pyarrow") else [])]
    path = folder / f"log.{rng.choice(formats)}"
    if path.suffix == ".parquet":
        import pyarrow as arrow
        from pyarrow import parquet

        parquet.write_table(arrow.table({name: [row[name] for row in table] for name in table[0]}), path)
        return path
    if "json" in path.name:
        lines = [{k: int(v) if v.isdigit() else v for k, v in row.items()} for row in table]
        content = "\n".join(map(json.dumps, lines))
    else:
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
        content = stream.getvalue()
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def tasks(trace: Trace) -> list[tuple[Any, ...]]:
    """Return the tasks of a trace, in an order of their own."""
    needs = [tuple(n * u for n, u in zip(row, trace.unit, strict=True)) for row in trace.demand.tolist()]
    labels = [trace.labels[i] if trace.labels else "" for i in trace.label.tolist()]
    return sorted(zip(trace.arrival.tolist(), trace.duration.tolist(), labels, needs, strict=True))


@pytest.mark.slow
@settings(max_examples=30)
@given(VMS, SEEDS, st.booleans())
def test_a_log_is_the_same_in_other_units_formats_and_orders(vms: list[Vm], seed: int, typed: bool) -> None:
    rng = random.Random(seed)
    first = min(vm.arrival for vm in vms)
    expected = sorted(
        (
            vm.arrival - first,
            vm.stay,
            vm.kind if typed else "",
            () if typed else (Fraction(vm.cores, 1000), Fraction(vm.memory, 1024)),
        )
        for vm in vms
    )
    with tempfile.TemporaryDirectory() as folder:
        traces = [read_trace(written(rendered(vms, rng, typed=typed), Path(folder), rng)) for _ in range(2)]
    for trace in traces:
        assert tasks(trace) == expected
        assert (np.diff(trace.arrival) >= 0).all()
        assert any("columns not used: " in note and '"note"' in note for note in trace.notes)
    one, other = traces
    for name in ("arrival", "duration", "outcome", "attempt", "label", "demand"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.labels, one.unit, one.resources) == (other.labels, other.unit, other.resources)


@pytest.mark.slow
@settings(max_examples=30)
@given(VMS, SEEDS, st.sampled_from(["num_instances", "replicas", "Count", "quantity", "n"]))
def test_rows_that_count_are_the_rows_written_out(vms: list[Vm], seed: int, header: str) -> None:
    rng = random.Random(seed)
    table = rendered(vms, rng, typed=bool(seed % 2))
    copies = [rng.randrange(1, 4) for _ in table]
    counted = [row | {header: str(n)} for row, n in zip(table, copies, strict=True)]
    longer = [row for row, n in zip(table, copies, strict=True) for _ in range(n)]
    with tempfile.TemporaryDirectory() as folder:
        one = read_trace(written(counted, Path(folder), rng))
        other = read_trace(written(longer, Path(folder), rng))
    for name in ("arrival", "duration", "label", "demand"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    total = f"each row counts as {header} says: {sum(copies):,} in {len(copies)} row"
    assert any(note.startswith(total) for note in one.notes)


@pytest.mark.slow
@settings(max_examples=30)
@given(VMS, SEEDS, st.integers(1, 7))
def test_rows_that_never_ran_change_nothing_but_the_count(vms: list[Vm], seed: int, number: int) -> None:
    rng = random.Random(seed)
    rows = [(iso(vm.arrival, 0), iso(vm.arrival + vm.stay, 0), vm.kind) for vm in vms]
    bad = [
        *[("", iso(5, 0), "small"), ("Unknown", "Unknown", "small"), ("-1", "-1", "small"), (iso(9, 0), "-1", "odd")],
        *[("1970-01-01T00:00:00Z", iso(4, 0), "small"), ("0001-01-01T00:00:00Z", "", "large")],
        (iso(7 * 10**6, 0), iso(10**6, 0), "small"),
    ]
    chosen = rng.sample(bad, min(number, len(bad)) if len(rows) > 1 else 1)
    if len(rows) == 1:
        chosen = bad[:1]
    mixed = [*rows, *chosen]
    rng.shuffle(mixed)
    head = "created_at,deleted_at,type\n"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "log.csv"
        place.write_text(head + "\n".join(map(",".join, rows)))
        expected = read_trace(place)
        place.write_text(head + "\n".join(map(",".join, mixed)))
        trace = read_trace(place)
        with pytest.raises(InputError, match=r"log\.csv:\d+: (created_at|deleted_at): expected"):
            read_trace(place, strict=True)
    for name in ("arrival", "duration", "label"):
        assert np.array_equal(getattr(trace, name), getattr(expected, name)), name
    rows_word = "row" if len(chosen) == 1 else "rows"
    assert any(note.startswith(f"{len(chosen)} {rows_word} that never ran dropped: ") for note in trace.notes)


def read(folder: Path, content: str, **how: bool) -> Trace:
    path = folder / "log.csv"
    path.write_text(content)
    return read_trace(path, **how)


def seconds(values: Any) -> list[float]:
    return [value / 10**6 for value in values.tolist()]


@pytest.mark.parametrize(
    ("content", "arrivals", "stays"),
    [
        ("created_at,deleted_at,vCPU\n20260501120000,20260501130000,2\n20260501130000,20260501140000,2", [0, 3600],
         [3600, 3600]),
        ("created_at,deleted_at,vCPU\n20260501,20260502,2\n20260503,20260505,2", [0, 172800], [86400, 172800]),
        ("created_at,deleted_at,vCPU\n202605011200,202605011201,2", [0], [60]),
        ("created_at,deleted_at,vCPU\n20260501T120000Z,20260501T130000Z,2", [0], [3600]),
        ("time,duration,vCPU\n20260501,60,2\n20260502,90,2", [0, 86400], [60, 90]),
        ("created_at,deleted_at,vCPU\n45778.5,45779.25,2\n45778.75,45779.0,2", [0, 21600], [64800, 21600]),
        ("created_at,deleted_at,vCPU\n45778.0416666667,45778.0833333333,2", [0], [3600]),
        ("created_at (days),deleted_at (days),vCPU\n45778,45779,2\n45779,45781,2", [0, 86400], [86400, 172800]),
        ("start (s),end (ms),vCPU\n10,20000,2\n20,40000,2", [0, 10], [10, 20]),
        ("start (ms),end (s),vCPU\n10000,20,2\n20000,40,2", [0, 10], [10, 20]),
        ("created,deleted,vCPU\n0,1777593700000,2\n1777593600000,1777597200000,2\n1777593700000,1777597300000,2",
         [0, 100], [3600, 3600]),
        ("created,lifetime (h),vCPU\n1777593600000,1,2\n1777597200000,2,2", [0, 3600], [3600, 7200]),
        ("time,duration,vCPU\n1777593600,1000,2\n1777593700,1000,2", [0, 100], [1000, 1000]),
        ("submitted_time,start_time,end_time,vCPU\n0,10,100,2\n50,70,90,2", [0, 50], [90, 20]),
        ("queued,Start,End,type\n0,10,100,a", [0], [90]),
    ],
)  # fmt: skip
def test_times_that_are_read(content: str, arrivals: list[float], stays: list[float], tmp_path: Path) -> None:
    trace = read(tmp_path, content)
    assert seconds(trace.arrival) == arrivals
    assert seconds(trace.duration) == stays


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("start (s),end,type\n0,10,a\n5,20,a", ":1: end: expected a unit in the header, such as end (s), as start (s)"),
        ("start,end (ms),type\n0,10000,a\n5,20000,a", ":1: start: expected a unit in the header"),
        ("start (ms),duration,type\n0,10,a\n5,20,a", ":1: duration: expected a unit in the header"),
        ("start,duration (h),type\n0,10,a\n5,20,a", ":1: start: expected a unit in the header"),
        ("created,duration,type\n1777593600000,3600,a", ":1: duration: expected a unit in the header"),
        ("created,duration,type\n45778.5,2,a\n45779,3,a", ":1: duration: expected a unit in the header"),
        ("created,deleted,type\n1777593600,1777597200000,a", "expected times of one unit, or the unit in the header"),
        ("created,deleted,type\n1777593600,1777593700,a\n1777593600000,1777593700000,a", "expected times of one unit"),
        ("created,deleted,type\n45778,45779,a\n45779,45780,a", "start (days)".replace("start", "created")),
        ("start,end,type\n0,0.5,a\n1,1.25,a\n2,2.5,a", "and the mean stay is then 0.4167 s, under a second"),
        ("created_at,duration,type\n2026-05-01,0.004,a\n2026-05-02,0.005,a", "duration has no unit and is taken for s"),
        ("created_at,duration,type\n2026-05-01T00:00:00,900000,a\n2026-05-01T00:10:00,900000,a", "more than ten times"),
        ("created_at,deleted_at,type\n2026-05-02,2026-05-01,a\n2026-05-03,2026-05-01,a\n2026-05-01,2026-05-03,a",
         "(2 of 3 rows end before they start: are these the columns?)"),
        ("start,lifetime (fortnights),type\n0,1,a", ":1: lifetime (fortnights): expected a unit of time (ns, us, ms"),
        ("start,end,cpu (%)\n0,10,50", ":1: cpu (%): expected a unit of cpu (cores, or m or milli for thousandths)"),
        ("start,end,type,replicas\n0,10,a,1.5", ":2: replicas: expected a whole number"),
        ("start,end,type,replicas\n0,10,a,", ":2: replicas: expected a whole number"),
        ("time,duration,size,count\n0,1,0.5,2", ":1: count: expected the name of a resource"),
        ("created_at,deleted_at,type\nUnknown,Unknown,a\n-1,-1,a", "(no row of the table ran)"),
    ],
)  # fmt: skip
def test_times_and_units_that_are_refused(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_cell_far_down_decides_as_well_as_the_first(tmp_path: Path) -> None:
    """The whole column is looked at: a date that is none, and a number that is too large, in row 1,500."""
    rows = [f"{20260501000000 + second},{20260501010000 + second},a" for second in range(60)] * 25
    head = "created,deleted,type\n"
    assert seconds(read(tmp_path, head + "\n".join(rows)).duration) == [3600.0] * 1500
    trace = read(tmp_path, head + "\n".join([*rows, "20260501006100,20260501006200,a"]))
    assert trace.duration.max() < 10**6 * 10_000, "61 minutes are no date, so that all are numbers"
    with pytest.raises(InputError, match="expected times of one unit"):
        read(
            tmp_path, head + "\n".join([f"{1777593600 + i},{1777593700 + i},a" for i in range(1500)] + ["9e12,9e12,a"])
        )


def test_what_was_assumed_is_in_the_first_note(tmp_path: Path) -> None:
    note = read(tmp_path, "start,end,type\n0,10,a\n5,20,a").notes[0]
    assert note.endswith("; start and end have no unit and are taken for seconds")
    note = read(tmp_path, "created_at,duration,type\n2026-05-01,900,a\n2026-05-02,900,a").notes[0]
    assert note.endswith("; duration has no unit and is taken for seconds")
    note = read(tmp_path, "created_at,deleted_at,type\n20260501,20260502,a").notes[0]
    assert note.endswith("created_at and deleted_at: numbers such as 20260501 are taken for dates")
    assert "the first arrival, 2026-05-01T00:00:00 without a zone" in " ".join(read(tmp_path, (
        "created_at,deleted_at,type\n20260501,20260502,a")).notes)  # fmt: skip


def test_doubts_come_before_all_other_notes(tmp_path: Path) -> None:
    short = read(tmp_path, "start (ms),end (ms),type\n0,10,a\n5,20,a").notes[0]
    assert isinstance(short, Doubt)
    assert short == "the mean stay is 0.0125 s, under a second"
    head = "created_at,deleted_at,type\n2026-05-01,2026-05-02,a\n2026-05-02,2026-05-03,a\n"
    far = read(tmp_path, head + "2026-05-01,9999-12-31,a\n").notes[0]
    assert isinstance(far, Doubt)
    assert far.startswith("1 row (the first: 4) ends up to 2,912,")


def test_columns_that_are_not_used_are_named(tmp_path: Path) -> None:
    notes = read(tmp_path, "id,start,end,type,region,cpu,cost\ni,0,10,a,x,1,2\nj,5,20,a,x,1,2").notes
    assert 'columns not used: "region", "cpu", "cost"' in notes, "ids are read, to find rows that repeat"
    notes = read(tmp_path, "start,end,cores,cpu\n0,10,8,37.5\n5,20,8,12.5").notes
    assert 'columns not used: "cpu"' in notes


def test_states_that_say_that_a_row_never_ran(tmp_path: Path) -> None:
    head = "submit,start,end,type,state\n0,1,9,a,COMPLETED\n1,2,9,a,FAILED\n4,None,9,a,CANCELLED\n"
    trace = read(tmp_path, f"{head}2,,,a,PENDING\n3,4,9,a,Pending\n4,5,,a,RUNNING\n")
    assert len(trace) == 3
    notes = " ".join(trace.notes)
    assert "3 rows that never ran dropped: 1 with state PENDING, 1 with state Pending, 1 without start" in notes
    assert "state: rows are taken to have run: 1 COMPLETED, 1 FAILED, 1 RUNNING" in notes


def test_few_rows_that_end_before_they_start_are_dropped_and_many_are_refused(tmp_path: Path) -> None:
    good = "\n".join(f"{i},{i + 60},a" for i in range(100))
    bad = [f"{i + 60},{i},a" for i in range(1, 12)]
    for number in (1, 10):
        trace = read(tmp_path, "start,end,type\n" + good + "\n" + "\n".join(bad[:number]))
        assert len(trace) == 100
        assert any(f"{number} that end before they start" in note for note in trace.notes)
    content = "start,end,type\n" + good + "\n" + "\n".join(bad)
    assert len(read(tmp_path, content)) == 100, "eleven of 111 are less than a tenth"
    with pytest.raises(InputError, match=r"log\.csv:92: end: expected arrival <= start <= end, .*11 of 101 rows"):
        read(tmp_path, "start,end,type\n" + good[: good.index("\n90,") + 1] + "\n".join(bad))


TENANTS = """deployment,started,ended,cores
a,2026-05-01T00:00:00Z,2026-05-02T00:00:00Z,2
a,2026-05-01T06:00:00Z,2026-05-02T00:00:00Z,2
b,2026-05-01T12:00:00Z,,4
c,2026-05-03T00:00:00Z,2026-05-03T12:00:00Z,1
"""


def test_a_log_of_tenants_is_the_same_in_other_units(tmp_path: Path) -> None:
    def tenants(content: str) -> list[Any]:
        path = tmp_path / "tenants.csv"
        path.write_text(content)
        log = read_tenant_log(path)
        return [log.arrival.tolist(), log.initial.tolist(), [getattr(log.seen, n).tolist() for n in vars(log.seen)]]

    expected = tenants(TENANTS)
    minutes = (
        "deployment,started (min),lifetime (days),cores (m)\na,0,1,2000\na,360,0.75,2000\nb,720,,4000\nc,2880,0.5,1000"
    )
    assert tenants(minutes) == expected
    counted = "deployment,started,ended,cores,replicas\n" + "\n".join(f"{line},1" for line in TENANTS.split()[1:])
    assert tenants(counted) == expected
    with pytest.raises(InputError, match=r"tenants\.csv:1: lifetime \(fortnights\): expected a unit of time"):
        tenants(minutes.replace("days", "fortnights"))
    with pytest.raises(InputError, match=r"tenants\.csv:1: started: expected a unit in the header"):
        tenants(minutes.replace("started (min)", "started"))
