"""Formats of traces: recognised by their first row, bad tables by line."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fluid.traces.google import read_google_events
from fluid.traces.model import ALIBABA, GOOGLE, PLAIN, Outcome, Trace
from fluid.traces.preprocess import completed, single_resource
from fluid.traces.readers import read_plain, read_trace
from tests.fluid.test_trace import EVENTS, PODS, TABLE
from tests.fluid.test_trace import PLAIN as TWO
from theory.errors import InputError, TooLargeError


@pytest.mark.parametrize(("text", "source"), [(TWO, PLAIN), (TABLE, GOOGLE), (EVENTS, GOOGLE), (PODS, ALIBABA)])
@pytest.mark.parametrize("spoilt", ["{}", "\ufeff{}", "\n{}\n \n"])
def test_the_first_row_tells_the_format(tmp_path: Path, text: str, source: str, spoilt: str) -> None:
    """A byte order mark and blank lines, between rows too, are no part of a trace; lines are counted all the same."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    plain = read_trace(path)
    path.write_text(spoilt.format(text.replace("\n", "\n\n", 3) if spoilt != "{}" else text), encoding="utf-8")
    trace = read_trace(path)
    assert trace.source == plain.source == source
    for name in ("arrival", "duration", "outcome", "attempt", "demand", "label"):
        assert (getattr(trace, name) == getattr(plain, name)).all(), name
    assert trace.line is not None
    zipped = tmp_path / "t.csv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert (read_trace(zipped).line == trace.line).all()
    lines = path.read_text(encoding="utf-8").splitlines()
    if source == PLAIN:
        assert [lines[int(i) - 1] for i in trace.line] == TWO.splitlines()[1:]


def test_lines_follow_their_tasks(tmp_path: Path) -> None:
    """Through sorting and choosing: the demand of a task is that of its line."""
    path = tmp_path / "t.csv"
    path.write_text(EVENTS)
    trace = completed(read_google_events(path)).arrivals
    assert trace.line is not None
    assert len(trace) == 2
    rows = EVENTS.splitlines()
    for i, line in enumerate(trace.line.tolist()):
        exact = [str(float(d * u)) for d, u in zip(trace.demand[i].tolist(), trace.unit, strict=True)]
        assert rows[line - 1].split(",")[9:11] == exact
    (tmp_path / "u.csv").write_text("720000001,,9,0,,0,u,0,0,-1,0.03,0,0\n")
    with pytest.raises(InputError, match=r"u\.csv:1: cpu: expected a number of at least 0"):
        read_google_events([path, tmp_path / "u.csv"])
    assert read_google_events([path]).line is not None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", ": expected a trace, a header with time, duration, and type or resources, found an empty file"),
        ("a,b\n1,2\n", ":1: expected a header with time, duration, and type or resources, or the table"),
        ("time,duration\n0,1\n", ":1: expected a header with time, duration, and type or resources; found time"),
        ("time,duration,cpu,cpu\n0,1,1,1\n", ":1: cpu: expected each column once"),
        ("time,duration,time,cpu\n0,1,1,1\n", ":1: time: expected each column once"),
        ("time,duration,cpu,\n0,1,1,\n", ":1: expected a name for column 4"),
        (TABLE.replace("disk_req", "cpu_req"), ":1: cpu_req: expected each column once"),
        ("time,duration,cpu\n0,1,1\n\n\n0,1,x\n", ":5: cpu: expected a number"),
        ('time,duration,cpu\n0,1,"a\n', ':2: expected comma-separated values (a cell that begins with " has no'),
        ("time,duration,cpu\n", ":1: expected tasks below the header, found none"),
        ("time,duration,cpu\n0,1," + "9" * 200_000 + "\n", ":2: expected comma-separated values"),
        ("time,duration,cpu\n0,1,1e30\n0,1,1e-30\n", ": cpu: expected numbers with fewer digits"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}{complaint}"), caught.value


def test_sizes_too_fine() -> None:
    zeros = np.zeros(2, np.int64)
    tasks = Trace(("a",), (Fraction(1, 3**40),), zeros, zeros, zeros, zeros, np.array([[1], [2]]), zeros, (), ())
    with pytest.raises(TooLargeError, match="round them"):
        single_resource(tasks)
    huge = Trace(("a", "b"), (Fraction(1), Fraction(1, 7)), zeros, zeros, zeros, zeros,
                 np.array([[2**61, 1], [1, 2]]), zeros, (), ())  # fmt: skip
    assert single_resource(huge).demand.tolist() == [[7]]  # the first is larger than a server, and no product overflows


def test_pods_that_are_there_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(PODS + "d,6000,12288,1,460,,BE,Running,120,160,121\n")
    trace = read_trace(path)
    assert trace.outcome.tolist() == [Outcome.censored, Outcome.finish, Outcome.censored]
    assert "2 pods are there to the last moment: right-censored there" in trace.notes


def test_plain_reads_a_header_with_spaces(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time, duration, cpu, type\n0, 1, 2, a\n1, 1, 2, b \n")
    trace = read_plain(path)
    assert (trace.resources, trace.labels, trace.unit) == (("cpu",), ("a", "b"), (Fraction(2),))
