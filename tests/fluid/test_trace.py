"""Traces: small twins of each format read exactly; every bad field names its file and line; preprocessing."""

import gzip
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.traces.alibaba import read_alibaba
from fluid.traces.google import read_google_events, read_google_table
from fluid.traces.model import Outcome, Trace
from fluid.traces.preprocess import (
    completed,
    exposure_mean,
    mean_duration,
    of_classes,
    powers_of_half,
    priority_classes,
    single_resource,
    stretched,
    window,
)
from fluid.traces.readers import read_plain
from theory.errors import InputError

HEADER = "job,task,attempt,user,submit_us,schedule_us,end_us,outcome,sched_class,priority,cpu_req,mem_req,disk_req,x\n"
TABLE = f"""{HEADER}1,0,0,7,0,0,650000000,FINISH,2,9,0.125,0.07446,0.0004,0
1,1,0,7,0,0,,CENSORED,2,9,0.125,0.5,0.0004,0
2,0,0,7,0,610000000,660000000,FINISH,0,0,0.01,0.02,0,0
3,0,0,8,700000000,700500000,705000000,FINISH,0,0,0.0625,0.03,0,0
3,1,0,8,700000000,,,CENSORED,0,0,0.0625,0.03,0,0
3,2,0,8,700000001,700500000,701000000,KILL,0,2,0.0625,0.03,0,0
3,2,1,8,701000000,701000000,720000000,FINISH,0,2,0.0625,0.03,0,0
4,0,0,8,702000000,703000000,,CENSORED,0,4,,,,0
"""

EVENTS = """0,,1,0,5,0,u,2,9,0.125,0.07446,0.0004,0
0,,1,0,5,1,u,2,9,0.125,0.07446,0.0004,0
0,,1,1,5,0,u,2,9,0.125,0.5,0.0004,0
0,,1,1,5,1,u,2,9,0.125,0.5,0.0004,0
0,,2,0,,0,u,0,0,0.01,0.02,0,0
610000000,,2,0,5,1,u,0,0,0.01,0.02,0,0
650000000,,1,0,5,4,u,2,9,0.125,0.07446,0.0004,0
660000000,,2,0,5,4,u,0,0,0.01,0.02,0,0
700000000,,3,0,,0,u,0,0,0.0625,0.03,0,0
700000000,,3,1,,0,u,0,0,0.0625,0.03,0,0
700000001,,3,2,,0,u,0,2,0.0625,0.03,0,0
700500000,,3,0,5,1,u,0,0,0.0625,0.03,0,0
700500000,,3,2,5,1,u,0,2,0.0625,0.03,0,0
701000000,,3,2,5,5,u,0,2,0.0625,0.03,0,0
701000000,,3,2,,0,u,0,2,0.0625,0.03,0,0
701000000,,3,2,5,1,u,0,2,0.0625,0.03,0,0
702000000,,4,0,,0,u,0,4,,,,0
703000000,,4,0,5,1,u,0,4,,,,0
705000000,,3,0,5,4,u,0,0,0.0625,0.03,0,0
720000000,,3,2,5,4,u,0,2,0.0625,0.03,0,0
"""

PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
a,12000,16384,1,1000,,LS,Running,100,160,100
b,6000,12288,1,460,,BE,Running,110,150,120
c,6000,12288,2,1000,,BE,Pending,120,150,
"""

PLAIN = """time,cpu,memory,duration,type
0,0.5,0.25,10,a
0.0000015,0.125,0.75,1.5,b
7,1,0.001,0.5,a
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_google_table(tmp_path: Path) -> None:
    trace = read_google_table(written(tmp_path, "t.csv.gz", TABLE))
    assert trace.arrival.tolist() == [-1, -1, 10**8 * 0, 10**8, 100000001, 101000000]
    assert trace.duration.tolist() == [50_000_000, 120_000_000, 50_000_000, 4_500_000, 500_000, 19_000_000]
    assert trace.outcome.tolist() == [0, Outcome.censored, 0, 0, Outcome.kill, 0]
    exact = [[d * u for d, u in zip(row, trace.unit, strict=True)] for row in trace.demand.tolist()]
    assert exact[1] == [Fraction(1, 8), Fraction(1, 2)]
    assert exact[0][1] == Fraction(7446, 100000)
    assert "1 attempts never scheduled dropped" in trace.notes
    assert "1 attempts without a request dropped" in trace.notes
    assert trace.present.tolist() == [True, True, False, False, False, False]


def test_original_events_give_the_same_trace(tmp_path: Path) -> None:
    ours = read_google_table(written(tmp_path, "t.csv", TABLE))
    lines = EVENTS.splitlines(keepends=True)
    parts = [written(tmp_path, "part-0.csv", "".join(lines[:9])), written(tmp_path, "p1.csv.gz", "".join(lines[9:]))]
    theirs = read_google_events(parts)

    def tasks(trace: Trace) -> list[tuple[object, ...]]:
        columns = (trace.arrival, trace.duration, trace.outcome, trace.attempt, trace.label)
        demands = (tuple(d * u for d, u in zip(row, trace.unit, strict=True)) for row in trace.demand.tolist())
        return sorted((*map(int, row), demand) for *row, demand in zip(*columns, demands, strict=True))

    assert tasks(ours) == tasks(theirs)


def test_alibaba(tmp_path: Path) -> None:
    trace = read_alibaba(written(tmp_path, "pods.csv", PODS))
    assert trace.arrival.tolist() == [0, 10_000_000]
    assert trace.duration.tolist() == [60_000_000, 30_000_000]
    assert trace.labels == ("LS", "BE")
    assert [trace.demand[1, r] * trace.unit[r] for r in range(3)] == [6, 12288, Fraction(46, 100)]
    one = single_resource(trace, [32, 262144, 1])
    assert [one.demand[i, 0] * one.unit[0] for i in range(2)] == [1, Fraction(46, 100)]


def test_plain(tmp_path: Path) -> None:
    trace = read_plain(written(tmp_path, "p.csv", PLAIN))
    assert trace.arrival.tolist() == [0, 2, 7_000_000]
    assert (trace.resources, trace.labels, trace.label.tolist()) == (("cpu", "memory"), ("a", "b"), [0, 1, 0])


@pytest.mark.parametrize(
    ("reader", "text", "complaint"),
    [
        (read_plain, PLAIN.replace("0.25,10", "0.25,"), ":2: duration"),
        (read_plain, PLAIN.replace("0.125", "-0.125"), ":3: cpu: expected a number of at least 0"),
        (read_plain, PLAIN.replace("7,1,", "0.000001,1,"), ":4: time: expected a time of at least 2e-06 s (sorted)"),
        (read_plain, PLAIN.replace("0.5,0.25", "0,0"), ":2: cpu: expected at least one positive"),
        (read_plain, PLAIN.replace("1.5,b", "nan,b"), ":3: duration"),
        (read_plain, PLAIN + "8,1\n", ":5: expected 5 fields, got 2"),
        (read_plain, "time,cpu\n0,1\n", ":1: expected a header"),
        (
            partial(read_google_table, strict=True),
            TABLE.replace("700500000,705000000", "700500000,70500000"),
            ":5: end: expected submission",
        ),
        (read_google_table, TABLE.replace("701000000,701000000,72", "7,701000000,72"), ":8: submit_us: expected a"),
        (read_google_table, TABLE.replace("KILL", "LOST"), ":7: outcome"),
        (read_google_table, TABLE.replace("705000000,FINISH", ",FINISH"), ":5: end_us"),
        (read_google_table, TABLE.replace("priority", "prio"), ":1: priority"),
        (
            read_google_table,
            TABLE.replace("701000000,701000000,72", f"701000000,{2**63},72"),
            ":8: schedule_us: expected",
        ),
        (read_google_events, EVENTS.replace("705000000,,3,0,5,4", "70500000,,3,0,5,4"), ":19: time"),
        (read_google_events, EVENTS.replace("705000000,,3,0,5,4", "705000000,,3,0,5,9"), ":19: event"),
        (read_google_events, EVENTS.replace("0,,1,0,5,0,u,", "-5,,1,0,5,0,u,", 1), ":1: time"),
        (read_google_events, "1,2\n", ":1: expected 13 fields"),
        (partial(read_alibaba, strict=True), PODS.replace("100,160,100", "100,90,100"), ":2: deletion_time"),
        (read_alibaba, PODS.replace("12000", "-1"), ":2: cpu_milli"),
    ],
)
def test_bad_fields_name_the_line(tmp_path: Path, reader: object, text: str, complaint: str) -> None:
    path = written(tmp_path, "bad.csv", text)
    with pytest.raises(InputError) as caught:
        reader(path)  # type: ignore[operator]
    assert str(caught.value).startswith(f"{path}{complaint}"), caught.value
    assert "\n" not in str(caught.value)


def test_a_missing_and_a_broken_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_plain(tmp_path / "none.csv")
    (tmp_path / "half.csv.gz").write_bytes(gzip.compress(PLAIN.encode())[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        read_plain(tmp_path / "half.csv.gz")


def sizes(values: list[int], unit: Fraction) -> Trace:
    n = len(values)
    zeros = np.zeros(n, np.int64)
    return Trace(
        ("size",), (unit,), np.arange(n), zeros + 1, zeros, zeros, np.array(values)[:, None], zeros + 3, (), ()
    )


@given(st.lists(st.integers(1, 10**8), min_size=1), st.integers(1, 9))
def test_rounding_up_to_powers_of_half(values: list[int], most: int) -> None:
    unit = Fraction(1, 10**8)
    for value, m in zip(values, powers_of_half(sizes(values, unit), most).tolist(), strict=True):
        assert Fraction(1, 2**m) >= value * unit
        assert m == most or value * unit > Fraction(1, 2 ** (m + 1))


def test_stretching_window_and_classes() -> None:
    trace = sizes([1, 2, 3, 4], Fraction(1, 8))
    assert stretched(trace, 2).arrival.tolist() == [0, 2, 4, 6]
    assert stretched(trace, Fraction(5, 8)).arrival.tolist() == [0, 0, 1, 1]
    assert window(trace, 1e-6, 3e-6).arrival.tolist() == [0, 1]
    assert priority_classes(trace).tolist() == [1] * 4
    assert len(of_classes(trace, [0, 2])) == 0
    with pytest.raises(InputError):
        stretched(trace, 0)


@pytest.mark.slow
def test_real_windows(data: Path) -> None:
    trace = read_google_table(data / "google2011_part0_attempts.csv.gz")
    done = completed(trace).arrivals
    assert len(done) == 37_702
    assert mean_duration(done) < exposure_mean(trace.arrivals)  # the completed are the short ones
    assert np.bincount(powers_of_half(single_resource(done)), minlength=8)[:3].sum() == 0
    pods = read_alibaba(data / "alibaba_gpu2023_pods.csv.gz")
    assert len(pods) == 8152 - 897


def test_priority_bands() -> None:
    """Google priorities 0-1 are free, 2-8 middle, 9-11 production and monitoring."""
    zeros = np.zeros(12, np.int64)
    trace = Trace(("size",), (Fraction(1),), zeros, zeros, zeros, zeros, zeros[:, None] + 1, np.arange(12), (), ())
    assert priority_classes(trace).tolist() == [0] * 2 + [1] * 7 + [2] * 3


def test_exposure_counts_only_stays_that_ended() -> None:
    """Ten seconds seen, of which one stay of two ended in sight."""
    zeros = np.zeros(2, np.int64)
    seconds = np.array([4, 6]) * 10**6
    outcome = np.array([Outcome.finish, Outcome.censored])
    trace = Trace(("size",), (Fraction(1),), zeros, seconds, outcome, zeros, zeros[:, None] + 1, zeros, (), ())
    assert (exposure_mean(trace), mean_duration(trace)) == (10.0, 5.0)
