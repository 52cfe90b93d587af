"""Logs as planners have them: one log in twelve forms is one trace, and malformed logs end in one line each."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bounds.cli import run
from fluid.traces.guessed import guess_columns
from fluid.traces.model import Outcome, Trace
from fluid.traces.readers import read_trace
from theory.errors import InputError

ROWS = [(0, 90, "small"), (30, 1830, "large"), (45.5, 46, "small"), (3600, 7200, "small")]
"""Seconds of arrival and departure, and the type."""

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


FORMS = {
    "zone": ("created_at,deleted_at,VM Size", lambda t: at(t).isoformat()),
    "Z": ("Created At,Deleted At,vm_size", lambda t: at(t).isoformat().replace("+00:00", "Z")),
    "UTC": ("creation_time,deletion_time,instance_type", lambda t: f"{at(t):%Y-%m-%d %H:%M:%S.%f} UTC"),
    "another zone": ("start,end,type", lambda t: (at(t) - timedelta(hours=7)).isoformat().replace("+00:00", "-07:00")),
    "no zone": ("start,end,flavor", lambda t: at(t).replace(tzinfo=None).isoformat()),
    "blank": ("start_time,end_time,machine_type", lambda t: f"{at(t):%Y-%m-%d %H:%M:%S.%f}"),
    "seconds": ("start,end,sku", lambda t: f"{at(t).timestamp():.1f}"),
    "milliseconds": ("start,end,sku", lambda t: f"{at(t).timestamp() * 1000:.0f}"),
    "microseconds": ("start,end,sku", lambda t: f"{at(t).timestamp() * 1e6:.0f}"),
    "small seconds": ("submit,finished,VM Type", str),
    "stated unit": ("submit (ms),finished (ms),VM Type", lambda t: f"{t * 1000:.0f}"),
}


def table(form: str) -> str:
    header, write = FORMS[form]
    return "\n".join([header, *(f"{write(a)},{write(b)},{kind}" for a, b, kind in ROWS)]) + "\n"


def read(path: Path, text: str, *, drop_open: bool = False) -> Trace:
    path.write_text(text)
    return read_trace(path, drop_open=drop_open)


@pytest.mark.parametrize("form", FORMS)
def test_one_log_in_every_form(form: str, tmp_path: Path) -> None:
    trace = read(tmp_path / "log.csv", table(form))
    assert trace.arrival.tolist() == [round(a * 1e6) for a, _, _ in ROWS]
    assert trace.duration.tolist() == [round((b - a) * 1e6) for a, b, _ in ROWS]
    assert [trace.labels[i] for i in trace.label] == [kind for _, _, kind in ROWS]
    assert trace.notes[0].startswith("columns guessed from the header: time = "), "the guess is among the notes"


@pytest.mark.parametrize("sign", [";", "\t", "|"])
@pytest.mark.parametrize("form", FORMS)
def test_one_log_with_other_separators(form: str, sign: str, tmp_path: Path) -> None:
    expected = read(tmp_path / "log.csv", table(form))
    names = {";": "semicolons", "\t": "tabs", "|": "bars"}
    trace = read(tmp_path / "log.csv", "# a comment\n" + table(form).replace(",", sign))
    assert np.array_equal(trace.arrival, expected.arrival)
    assert np.array_equal(trace.duration, expected.duration)
    assert f"cells are separated by {names[sign]}" in trace.notes
    assert "1 comment left out (lines with #)" in trace.notes


def test_a_log_with_decimal_commas(tmp_path: Path) -> None:
    rows = "0,5;10;1,5\n1;2,25;2\n"
    trace = read(tmp_path / "log.csv", f"start;end;vCPU\n{rows}")
    assert trace.arrival.tolist() == [0, 500_000]
    assert trace.duration.tolist() == [9_500_000, 1_250_000]
    assert [n * trace.unit[0] for n in trace.demand[:, 0].tolist()] == [Fraction(3, 2), 2]
    assert "numbers have a decimal comma" in trace.notes


@pytest.mark.parametrize("header", ["created_at,duration,type", "created_at,runtime_min,type", "time,duration,type"])
def test_durations_have_the_unit_of_their_header(header: str, tmp_path: Path) -> None:
    unit = 60 if "min" in header else 1
    rows = [f"{at(a).isoformat()},{(b - a) / unit:g},{kind}" for a, b, kind in ROWS]
    trace = read(tmp_path / "log.csv", "\n".join([header, *rows]))
    assert trace.duration.tolist() == [round((b - a) * 1e6) for a, b, _ in ROWS]


def test_resources_in_gib_and_cores(tmp_path: Path) -> None:
    trace = read(tmp_path / "log.csv", "start,end,vCPU,RAM (MiB),cost\n0,1,2,512,9\n1,3,4,8192,9\n")
    assert trace.resources == ("cpu", "memory")
    assert [[n * unit for n, unit in zip(row, trace.unit, strict=True)] for row in trace.demand.tolist()] == [
        [2, 0.5],
        [4, 8],
    ]


def test_service_may_begin_after_creation(tmp_path: Path) -> None:
    columns, words = guess_columns(_file(tmp_path, "id,created_at,started_at,ended_at,type\n"))
    assert columns.headers == {"time": "created_at", "start": "started_at", "end": "ended_at", "type": "type"}
    assert 'time = "created_at"' in words


def _file(folder: Path, text: str) -> Path:
    path = folder / "log.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("empty", ["", "null", "NaT", "-", "N/A"])
def test_rows_without_an_end(empty: str, tmp_path: Path) -> None:
    text = f"start,end,type\n{at(0).isoformat()},{at(60).isoformat()},a\n{at(10).isoformat()},{empty},b\n"
    trace = read(tmp_path / "log.csv", text)
    assert trace.duration.tolist() == [60_000_000, 50_000_000], "to the last moment of the log"
    assert [Outcome(one) for one in trace.outcome.tolist()] == [Outcome.finish, Outcome.censored]
    assert any("1 row has no end and runs on to the last moment" in note for note in trace.notes)
    dropped = read(tmp_path / "log.csv", text, drop_open=True)
    assert len(dropped) == 1
    assert any("1 row without an end dropped" in note for note in dropped.notes)


@pytest.mark.slow
def test_json_lines_gzip_and_parquet(tmp_path: Path) -> None:
    expected = read(tmp_path / "log.csv", table("zone"))
    records = [{"created_at": at(a).isoformat(), "deleted_at": at(b).isoformat(), "type": kind} for a, b, kind in ROWS]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(table("zone").encode()))
    others = [tmp_path / "log.jsonl", tmp_path / "log.csv.gz"]
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        pass
    else:
        columns = {"created_at": [at(a) for a, _, _ in ROWS], "deleted_at": [at(b) for _, b, _ in ROWS]}
        parquet.write_table(arrow.table({**columns, "type": [kind for *_, kind in ROWS]}), tmp_path / "log.parquet")
        others.append(tmp_path / "log.parquet")
    for path in others:
        trace = read_trace(path)
        assert np.array_equal(trace.arrival, expected.arrival)
        assert np.array_equal(trace.duration, expected.duration)


HEAD = "created_at,deleted_at,type"
GOOD = "2026-05-01T00:00:00Z,2026-05-01T01:00:00Z,small"
MALFORMED = {
    "an empty file": ("", "empty file"),
    "a header alone": (HEAD, "expected tasks below the header"),
    "two decimal marks": ("start;end;vCPU\n0;1,5;2\n0;2.5;2", "expected one decimal mark, found 1,5 and 2.5"),
    "commas of thousands": ("start;end;vCPU\n0;1,500;2", "1,500 may be 1.500 or 1500"),
    "a header again": (f"{HEAD}\n{GOOD}\n{HEAD}\n{GOOD}", ":3: expected a row of the table, found its header again"),
    "a row of units": (
        "start,end,vCPU\n(s),(s),cores\n0,1,2",
        "found units: they stand in the header, such as start (s)",
    ),
    "a row of totals": ("id,start,end,vCPU\na,0,1,2\nTOTAL,,,2", ":3: expected a row of the table, found a row of t"),
    "no arrivals": ("deleted_at,duration,type\n5,5,a", "created_at or start"),
    "no end": ("created_at,start,type\n5,5,a", "deleted_at, end or duration"),
    "neither types nor resources": ("created_at,deleted_at,owner\n1,2,me", "VM Size"),
    "unknown columns": ("when,how_long,what\n1,2,a", "common headers"),
    "a column twice": (f"{HEAD},type\n{GOOD},small", "each column once"),
    "a row too short": (f"{HEAD}\n{GOOD}\n2026-05-01T00:00:00Z,small", ":3: expected 3 fields, got 2"),
    "a row too long": (f"{HEAD}\n{GOOD},x", ":2: expected 3 fields, got 4"),
    "no time at all": (f"{HEAD}\n,2026-05-01T01:00:00Z,small", ":2: created_at: expected a time such as"),
    "words for a time": (f"{HEAD}\nyesterday,2026-05-01T01:00:00Z,small", ":2: created_at"),
    "American dates": (f"{HEAD}\n05/01/2026,05/02/2026,small", ":1: created_at and deleted_at: expected dates that"),
    "a month of 13": (f"{HEAD}\n2026-13-01T00:00:00Z,,small", ":2: created_at: expected a time such as"),
    "a day of 31 June": (f"{HEAD}\n2026-06-31,,small", ":2: created_at: expected a time such as"),
    "an hour of 25": (f"{HEAD}\n2026-05-01T25:00:00Z,,small", ":2: created_at: expected a time such as"),
    "a zone by name": (f"{HEAD}\n2026-05-01T00:00:00 Europe/Paris,,small", ":2: created_at: expected a time such as"),
    "a zone in some rows": (
        f"{HEAD}\n{GOOD}\n2026-05-01 02:00:00,,small",
        ":3: created_at: expected a time with a zone",
    ),
    "numbers among dates": (f"{HEAD}\n{GOOD}\n1777600000,,small", ":3: created_at: expected a time with a zone"),
    "a date among numbers": (f"{HEAD}\n1,2,a\n{GOOD}", ":3: created_at: expected a number"),
    "an end before the start": (f"{HEAD}\n2026-05-01T02:00:00Z,2026-05-01T01:00:00Z,a", ":2: deleted_at"),
    "a negative duration": ("start,duration,type\n1,-5,a", ":2: duration: expected a number of at least 0"),
    "a duration in words": ("start,duration,type\n1,one hour,a", ":2: duration: expected a number"),
    "a time beyond all clocks": ("start,end,type\n1,1e40,a", ":2: end: expected a time within"),
    "no type": (f"{HEAD}\n{GOOD[:-5]}", ":2: type: expected the name of a type"),
    "a negative resource": ("start,end,vCPU\n1,2,-4", ":2: vCPU: expected a number of at least 0"),
    "words for a resource": ("start,end,RAM (MiB)\n1,2,much", ":2: RAM (MiB): expected a number"),
    "no resource": ("start,end,vCPU\n1,2,0", ":2: vCPU: expected at least one positive demand"),
    "an open quotation": (f'{HEAD}\n"2026-05-01T00:00:00Z,,a', "comma-separated values"),
    "bytes that are no text": (f"{HEAD}\n2026-05-01T00:00:00Z,,\udcff", "expected UTF-8 text"),
}


def test_there_are_thirty_malformed_logs() -> None:
    assert len(MALFORMED) >= 30


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_log_ends_in_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = MALFORMED[name]
    log, types = tmp_path / "log.csv", tmp_path / "types.toml"
    log.write_bytes(text.encode("utf-8", "surrogateescape"))
    types.write_text('server.capacity = { cpu = 4 }\n[[type]]\nname = "small"\ndemand = { cpu = 1 }\n')
    with pytest.raises(InputError) as caught:
        read_trace(log)
    assert words in str(caught.value), str(caught.value)
    simulate = f"simulate {types} --policy first-fit --servers 2 --until 9 --trace {log}"
    for command in (simulate, f"plan {types} {log} --server cpu=4 --accept 1"):
        assert run(command.split()) == 2
        shown = capsys.readouterr()
        assert not shown.out
        (line,) = shown.err.splitlines()
        assert str(log) in line


def test_ends_long_after_the_log_are_told(tmp_path: Path) -> None:
    """A year 9999 in place of an end; a stay that is as long as the log is none."""
    head = "start,end,type\n2026-05-01,2026-05-03,a\n2026-05-03,2026-05-05,a\n"
    assert not any("is that when" in note for note in read(tmp_path / "log.csv", head).notes)
    assert any("is that when" in note for note in read(tmp_path / "log.csv", f"{head}2026-05-02,2026-05-06,a\n").notes)
    trace = read(tmp_path / "log.csv", f"{head}2026-05-02,9999-12-31,a\n2026-05-02,9999-12-30,a\n")
    days = (datetime(9999, 12, 31) - datetime(2026, 5, 3)).days
    words = f"2 rows (the first: 4) end up to {days:,} days after the last arrival, in a log of 2 days: is that"
    assert any(note.startswith(words) for note in trace.notes), trace.notes


def test_ids_that_repeat_are_told(tmp_path: Path) -> None:
    head = "instance_id,start,end,type\ni1,0,1,a\ni2,0,1,a\n,0,1,a\n,0,1,a\n"
    assert not any("earlier row" in note for note in read(tmp_path / "log.csv", head).notes), "empty cells are no ids"
    notes = read(tmp_path / "log.csv", f"{head}i1,0,1,a\ni1,2,3,a\n").notes
    assert "2 rows have the instance_id of an earlier row: each counts as a VM" in notes


def test_drop_open_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("start,end,type\n0,6,small\n1,,small\n2,5,small\n")
    types = tmp_path / "types.toml"
    types.write_text('server.capacity = { cpu = 4 }\n[[type]]\nname = "small"\ndemand = { cpu = 1 }\n')
    simulate = f"simulate {types} --policy first-fit --servers 2 --until 6 --warmup 1 --trace {log} --json"
    for words, arrivals in (([], 3), (["--drop-open"], 2)):
        assert run([*simulate.split(), *words]) == 0
        assert json.loads(capsys.readouterr().out)["trace"]["arrivals"] == arrivals


def test_rows_that_never_ran_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, types = tmp_path / "log.csv", tmp_path / "types.toml"
    log.write_text("start,end,type\n0,6,small\nUnknown,Unknown,small\n2,5,small\n")
    body = 'server.capacity = { cpu = 4 }\n[[type]]\nname = "small"\ndemand = { cpu = 1 }\n'
    types.write_text(body)
    simulate = f"simulate {types} --policy first-fit --servers 2 --until 6 --warmup 1"
    assert run([*simulate.split(), "--trace", str(log), "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)["trace"]
    assert trace["arrivals"] == 2
    assert "1 row that never ran dropped: 1 without start" in trace["notes"]
    strictly = f"[simulation]\narrivals = {{ trace = {str(log)!r}, strict = true }}\n"
    for words in (["--trace", str(log), "--strict"], []):
        types.write_text(body if words else strictly + body.replace("server.capacity", "[server]\ncapacity"))
        assert run([*simulate.split(), *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"{log}:3: start: expected a time such as 2026-05-01T12:00:00Z, got 'Unknown'")
