"""Tables that people have: any columns, JSON lines, Parquet, and two more published formats, each beside a twin."""

from __future__ import annotations

import builtins
import csv
import gzip
import io
import json
import random
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fluid.traces.file import trace_of
from fluid.traces.google import TYPES, read_google_events
from fluid.traces.model import ALIBABA_2018, GOOGLE_2019, Outcome, Trace
from fluid.traces.readers import read_trace
from tests.fluid.test_trace import EVENTS
from theory.errors import InputError, TooLargeError
from theory.files.document import Fields
from theory.files.table_lines import LINES

PLAIN = "time,duration,type,cpu\n0,2.5,a,1\n0.25,1,b,0.5\n4,0.125,a,1\n"
FIELDS = ("arrival", "duration", "outcome", "attempt", "demand", "label")


def same(one: Trace, other: Trace) -> bool:
    equal = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS)
    return equal and (one.resources, one.unit, one.labels) == (other.resources, other.unit, other.labels)


def written(path: Path, table: str, rename: dict[str, str] | None = None) -> Path:
    """Write a CSV as the format that the name of the file says."""
    rows = [{(rename or {}).get(k, k): v for k, v in row.items()} for row in csv.DictReader(table.splitlines())]
    if path.name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {name: [row[name] for row in rows] for name in rows[0]}
        numbers = {name: [float(value) for value in values] for name, values in columns.items() if name != "type"}
        parquet.write_table(arrow.table({**columns, **numbers}), path)
        return path
    lines = [json.dumps({k: v if k == "type" else float(v) for k, v in row.items()}) for row in rows]
    text = "\n".join(lines) + "\n" if "json" in path.name else table
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json.gz", "t.parquet"])
def test_records_are_read_as_their_csv(name: str, tmp_path: Path) -> None:
    assert same(read_trace(written(tmp_path / name, PLAIN)), read_trace(written(tmp_path / "t.csv", PLAIN)))


def test_without_pyarrow_one_line_says_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refused(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refused)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"t\.parquet: Parquet needs pyarrow \(pip install 'packproof\[parquet\]'\)"):
        read_trace(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.gz", "t.parquet"])
@pytest.mark.parametrize("lines", ["2", "4"])
def test_a_table_has_a_limit_of_lines(name: str, lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / name, PLAIN)
    monkeypatch.setenv(LINES, lines)
    if lines == "4":
        assert len(read_trace(path).arrival) == 3
        return
    with pytest.raises(TooLargeError) as error:
        read_trace(path)
    assert str(error.value) == (
        f"{path}: expected at most 2 lines: take a part of it, such as a week, or set PACKPROOF_MOST_LINES=20 in the "
        "environment to read ten times as many"
    )


@pytest.mark.parametrize("lines", ["-1", "1e6", "many", "9" * 40, "\u0663"])
def test_a_limit_of_lines_is_a_whole_number(lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LINES, lines)
    with pytest.raises(InputError, match=r"^PACKPROOF_MOST_LINES: expected a whole number of lines, got '"):
        read_trace(written(tmp_path / "t.csv", PLAIN))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
@pytest.mark.parametrize("filled", [" ", "\n", "x"])
def test_what_a_compressed_file_holds_is_read_in_part(
    name: str, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes that hold fifty megabytes: blanks, empty lines, or a line without an end."""
    monkeypatch.setenv(LINES, "50000")
    path = written(tmp_path / name, PLAIN)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + filled.encode() * 50_000_000, 1))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match=r"expected at most 50,000 lines|lines of at most 1,000,000 characters"):
            read_trace(path)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(b"time,duration\n" * 9)
    with pytest.raises(InputError, match="expected a Parquet file"):
        read_trace(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"time": 0, "duration": 1, "cpu": 1}\n[1]\n', r"t\.jsonl:2: expected one JSON object a line"),
        ('{"time": 0, "duration": 1, "cpu": 1}\n{"time"\n', r"t\.jsonl:2: expected one JSON object a line"),
        ('{"time": 0, "duration": 1, "cpu": "x"}\n', r"t\.jsonl:1: cpu: expected a number"),
        ('{"time": 0, "cpu": 1}\n', "expected a header with time, duration"),
        ("", "expected a trace, .* found an empty file"),
    ],
)
def test_bad_json_lines(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(InputError, match=said):
        read_trace(tmp_path / "t.jsonl")


def mapped(path: Path, table: dict[str, Any]) -> Trace:
    fields = Fields({"arrivals": {"trace": path.name, **table}}, "i.toml", "simulation")
    file = trace_of(fields, path.parent)
    assert file is not None
    return file.trace


@pytest.mark.parametrize("name", ["own.csv", "own.jsonl", "own.parquet"])
def test_named_columns_are_the_plain_table(name: str, tmp_path: Path) -> None:
    columns = {"time": "submit", "duration": "ran", "type": "type", "cpu": "req"}
    path = written(tmp_path / name, PLAIN, {what: column for what, column in columns.items() if name != "own.csv"})
    if name == "own.csv":
        path.write_text(path.read_text().replace("time,duration,type,cpu", "submit,ran,type,req"))
    assert same(mapped(path, {"columns": columns}), read_trace(written(tmp_path / "t.csv", PLAIN)))


OWN = """id,submit,began,ended,status,try,prio,cores,junk
7,5000,6000,8500,COMPLETED,0,9,2,x
3,1000,1000,2000,NODE_FAIL,0,2,1,x
9,9000,9000,,,1,0,4,x
8,7000,7000,,kill,1,0,4,x
"""
COLUMNS = {
    "time": "submit",
    "start": "began",
    "end": "ended",
    "outcome": "status",
    "attempt": "try",
    "priority": "prio",
    "cpu": "cores",
}
OUTCOMES = {"COMPLETED": "finish", "NODE_FAIL": "fail"}


def test_outcome_attempt_priority_start_and_unit(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    trace = mapped(path, {"columns": COLUMNS, "outcomes": OUTCOMES, "unit": "1/1000"})
    assert trace.arrival.tolist() == [0, 4_000_000, 8_000_000], "by time, the first at 0"
    assert trace.duration.tolist() == [1_000_000, 2_500_000, 0], "from the start of service to the end"
    assert [Outcome(one) for one in trace.outcome.tolist()] == [Outcome.fail, Outcome.finish, Outcome.censored]
    assert trace.attempt.tolist() == [0, 0, 1]
    assert trace.label.tolist() == [2, 9, 0]
    assert trace.priorities
    assert (trace.demand[:, 0] * trace.unit[0]).tolist() == [1, 2, 4]
    assert any("1 row without an end dropped" in note for note in trace.notes)
    assert trace.line is not None
    assert trace.line.tolist() == [3, 2, 4]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"columns": {"end": "ended"}}, r"simulation.arrivals.columns.time: missing"),
        ({"columns": {"time": "submit"}}, "expected one of duration and end"),
        ({"columns": {"time": "submit", "end": "ended", "duration": "x"}}, "expected one of duration and end"),
        ({"columns": {"time": "submit", "duration": "x", "start": "began", "a": "b"}}, "expected end beside it"),
        ({"columns": {"time": "submit", "end": "ended"}}, "missing, expected type, or a resource"),
        ({"columns": {**COLUMNS, "type": "id"}}, "expected type or priority, got both"),
        ({"columns": {**COLUMNS, "cpu": "cpus"}, "outcomes": OUTCOMES}, "own.csv:1: cpus: expected a column"),
        ({"columns": COLUMNS}, r"own.csv:2: status: expected one of finish, .*got 'COMPLETED'"),
        ({"columns": COLUMNS, "outcomes": {"COMPLETED": "done"}}, "outcomes.COMPLETED: expected one of"),
        (
            {"columns": {**COLUMNS, "end": "began", "start": "ended"}, "outcomes": OUTCOMES},
            r"own.csv:2: began: expected",
        ),
        ({"unit": 2}, "unit: expected it beside columns only"),
    ],
)
def test_bad_maps(table: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    with pytest.raises(InputError, match=said):
        mapped(path, table)


def in_2019(rows: list[list[str]], names: bool) -> list[dict[str, Any]]:
    """Return original events of 2011 as instance events of 2019."""
    kinds = {"0": 0, "1": 3, "2": 4, "3": 5, "4": 6, "5": 7, "6": 8, "7": 9, "8": 10}
    return [
        {
            "time": row[0],
            "type": list(TYPES)[kinds[row[5]]] if names else str(kinds[row[5]]),
            "collection_id": row[2],
            "instance_index": row[3],
            "collection_type": "JOB" if names else "0",
            "priority": row[8],
            **({"resource_request": {"cpus": row[9], "memory": row[10]}} if row[9] else {}),
            "constraint": [],
        }
        for row in rows
    ]


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("name", ["events.json", "events.json.gz", "events.csv"])
def test_google_2019_is_2011_in_other_words(name: str, names: bool, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(EVENTS)
    old = read_google_events(tmp_path / "old.csv")
    events = in_2019(list(csv.reader(EVENTS.splitlines())), names)
    opening = {"time": "600000000", "type": "1", "collection_id": "99", "instance_index": "0", "collection_type": "0"}
    alloc = {**events[0], "collection_id": "77", "collection_type": "ALLOC_SET" if names else "1"}
    rows = [opening, alloc, *events]
    random.Random(3).shuffle(rows)  # the published files are not sorted, not even events of one time
    path = tmp_path / name
    if name.endswith(".csv"):
        flat = [
            {k: v for k, v in row.items() if not isinstance(v, dict | list)}
            | {f"resource_request.{k}": v for k, v in row.get("resource_request", {}).items()}
            for row in rows
        ]
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(dict.fromkeys(k for row in flat for k in row)))
        writer.writeheader()
        writer.writerows(flat)
        path.write_text(stream.getvalue())
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    new = read_trace(path)
    assert new.source == GOOGLE_2019
    assert any("1 submissions of alloc instances dropped" in note for note in new.notes)

    def tasks(trace: Trace) -> list[tuple[Any, ...]]:
        needs = trace.demand.astype(object) * np.array(trace.unit, object)
        columns = (trace.arrival, trace.duration, trace.outcome, trace.attempt, trace.label)
        return sorted((*row, *need) for *row, need in zip(*(c.tolist() for c in columns), needs.tolist(), strict=True))

    assert tasks(new) == tasks(old)


BATCH = """M1,2,j_1,1,Terminated,1000,1010,100,0.5
R2_1,1,j_1,1,Failed,1010,1015,50,0.25
task_x,1,j_2,2,Running,1020,0,100,0.5
M1,3,j_3,1,Waiting,0,0,100,0.5
M2,1,j_3,1,Terminated,1030,1025,100,0.5
M3,1,j_3,1,Terminated,1005,1040,,
"""


def test_alibaba_2018_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "batch_task.csv"
    path.write_text(BATCH)
    trace = read_trace(path)
    assert trace.source == ALIBABA_2018
    assert trace.arrival.tolist() == [0, 0, 10_000_000, 20_000_000]
    assert trace.duration.tolist() == [10_000_000, 10_000_000, 5_000_000, 0], "the last moment is 1020 s"
    assert trace.outcome.tolist() == [Outcome.finish, Outcome.finish, Outcome.fail, Outcome.censored]
    cores = [Fraction(int(n)) * trace.unit[0] for n in trace.demand[:, 0]]
    assert cores == [1, 1, Fraction(1, 2), 1], "100 is one core"
    told = " ".join(trace.notes)
    assert "1 tasks have not run" in told
    assert "1 tasks have no request" in told
    assert "1 tasks have no start and end in this order" in told
    path.write_text(BATCH.replace("Failed", "Exploded"))
    with pytest.raises(InputError, match=r"batch_task\.csv:2: status: expected one of terminated"):
        read_trace(path)
