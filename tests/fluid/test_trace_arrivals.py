"""Traces as arrivals: every format from its first row, rows against the instance by line, what is told of a trace."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import run
from fluid.experiment import Store, comparisons, read_grid, run_experiment, summary
from fluid.simulate.arrivals import JobList
from fluid.simulate.tasks import tasks_of
from fluid.simulate.trace_file import TraceFile
from fluid.simulate.trace_jobs import in_slots, sized_jobs, typed_jobs
from fluid.trace import (
    Trace,
    completed,
    powers_of_half,
    read_google_events,
    read_plain,
    read_trace,
    single_resource,
    stretched,
)
from fluid.trace.model import ALIBABA, GOOGLE, PLAIN, Outcome
from tests.fluid.test_trace import EVENTS, PODS, TABLE
from tests.fluid.test_trace import PLAIN as TWO
from theory.errors import InputError, TooLargeError
from theory.files import parse_instance, read_instance
from theory.instance import Instance, additive

INSTANCE = """
[server]
capacity = { cpu = 8, mem = 16 }
[[type]]
name = "small"
demand = { cpu = 1, mem = 2 }
reward = 1
workload = 3
[[type]]
name = "big"
demand = { cpu = 4, mem = 4 }
reward = 5
workload = "3/4"
"""
HEAD = "time,duration,type,cpu,mem\n"
JOBS = HEAD + "".join(f"{0.3 * i:.1f},{1 + i % 3},{'big,4,4' if i % 4 == 0 else 'small,1,2'}\n" for i in range(40))
LAST = 11.7
"""When the last of JOBS comes."""


def asked(folder: Path, simulation: str = "", instance: str = INSTANCE) -> list[str]:
    (folder / "i.toml").write_text(f"{instance}\n[simulation]\n{simulation}\n")
    return ["simulate", str(folder / "i.toml"), "--servers", "2"]


def simulated(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the answer, which suits its schema, and the lines on stderr."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    found: dict[str, Any] = json.loads(shown.out)
    name = "simulate_queue" if "queue" in found else "simulate"
    jsonschema.validate(found, json.loads(files("bounds").joinpath(f"schemas/{name}.json").read_text()))
    return found, [line for line in shown.err.splitlines() if ".csv" in line or "identical" in line]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(arguments) == 2
    message = capsys.readouterr().err.rstrip("\n")
    assert "\n" not in message
    return message


# --- reading ---


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
        ("", ":1: expected a header with time"),
        ("a,b\n1,2\n", ":1: expected a header with time, duration, and type or resources, or the table"),
        ("time,duration\n0,1\n", ":1: expected a header with time, duration, and type or resources; found time"),
        ("time,duration,cpu,cpu\n0,1,1,1\n", ":1: cpu: expected each column once"),
        ("time,duration,time,cpu\n0,1,1,1\n", ":1: time: expected each column once"),
        ("time,duration,cpu,\n0,1,1,\n", ":1: expected a name for column 4"),
        (TABLE.replace("disk_req", "cpu_req"), ":1: cpu_req: expected each column once"),
        ("time,duration,cpu\n0,1,1\n\n\n0,1,x\n", ":5: cpu: expected a number"),
        ('time,duration,cpu\n0,1,"a\n', ":2: expected comma-separated values (unexpected end of data)"),
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


# --- against the instance ---


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (JOBS.replace("0.9,1,small", "0.9,1,huge"), ":5: type: expected one of small, big, got 'huge'"),
        (JOBS.replace("0.9,1,small", "0.9,1,"), ":5: type: expected one of small, big, got ''"),
        (JOBS.replace("1.2,2,big,4", "1.2,2,big,5"), ":6: cpu: expected 4 as the instance says of big, got 5"),
        (JOBS.replace("0.9,1,small,1,2", "0.9,1,small,1,.7"), ":5: mem: expected 2 as the instance says of small, got"),
        ("time,duration,type,gpu\n0,1,big,4\n", ":1: gpu: no resource of the instance: expected the resources cpu, mem,"
         " or none, as there is a column type, found gpu"),
        ("time,duration,type,cpu\n0,1,big,4\n", ":1: mem: missing: expected the resources cpu, mem, or none"),
        ("time,duration,cpu,mem,x\n0,1,4,4,0\n", ":1: x: no resource of the instance: expected the resources cpu, mem,"
         " found cpu, mem, x"),
        ("time,duration,cpu,mem\n0,1,4,4\n\n1,1,2,3\n", ":4: expected the demand of a type of the instance, got cpu = 2"
         ", mem = 3"),
        (TABLE, ":1: memory: no resource of the instance: expected the resources cpu, mem, found cpu, memory; round"),
        (PODS, ":1: memory, gpu: no resource of the instance: expected the resources cpu, mem, found cpu, memory, gpu"),
    ],
)  # fmt: skip
def test_rows_against_the_instance(
    tmp_path: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    arguments = [*asked(tmp_path), "--policy", "nonpreemptive", "--until", "10", "--trace", str(path)]
    assert refused(arguments, capsys).startswith(f"{path}{complaint}")


def test_one_type_of_two_with_equal_demands(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time,duration,size\n0,1,3\n1,1,2\n")
    with pytest.raises(
        InputError, match=r"t\.csv:3: expected a column type, as t1 and t2 have the same demand, size = 2"
    ):
        typed_jobs(TraceFile(path), sizes_of(2, 2, 3))


def sizes_of(*sizes: int, capacity: int = 8, names: tuple[str, ...] = ()) -> Instance:
    made = [
        {"name": name, "demand": {"size": size}, "reward": 1, "workload": 1}
        for name, size in zip(names or [f"t{j}" for j in range(1, len(sizes) + 1)], sizes, strict=True)
    ]
    return parse_instance({"server": {"capacity": {"size": capacity}}, "type": made})


def test_types_alone_and_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without resources the type says what a job takes, with resources that agree just so; also of a list."""
    answers = []
    for text in (JOBS, "".join(",".join(line.split(",")[:3]) + "\n" for line in JOBS.splitlines())):
        (tmp_path / "t.csv").write_text(text)
        arguments = [*asked(tmp_path), "--policy", "nonpreemptive", "--until", "11", "--trace", str(tmp_path / "t.csv")]
        answers.append(simulated(arguments, capsys)[0] | {"events_per_second": 0})
    assert answers[0] == answers[1]
    listed = INSTANCE.replace("capacity = { cpu = 8, mem = 16 }", "configurations = [[4, 1]]")
    listed = "\n".join(line for line in listed.splitlines() if "demand" not in line)
    arguments = [*asked(tmp_path, "", listed), "--policy", "first-fit", "--until", "11", "--trace"]
    assert simulated([*arguments, str(tmp_path / "t.csv")], capsys)[0]["trace"]["arrivals"] == 40
    (tmp_path / "t.csv").write_text(JOBS)
    assert "t.csv:1: cpu, mem: no resource of the instance: expected no resources, found cpu, mem" in refused(
        [*arguments, str(tmp_path / "t.csv")], capsys
    )
    (tmp_path / "t.csv").write_text("time,duration,type\n0,1,a\n")
    with pytest.raises(InputError, match="found none"):
        sized_jobs(TraceFile(tmp_path / "t.csv"))


@given(
    st.lists(st.integers(0, 10**14), min_size=1, max_size=20),
    st.sampled_from(
        [Fraction(1, 10), Fraction(60), Fraction(1, 3), Fraction(7, 10**9), Fraction(10**30), Fraction(10, 7)]
    ),
)
def test_slots_are_counted_exactly(microseconds: list[int], slot: Fraction) -> None:
    """Also millions of slots after the start, where a quotient of floating numbers is off by one."""
    seconds = np.array(sorted(microseconds)) / 10**6
    found = in_slots(JobList(seconds, np.zeros(len(seconds), np.int32), seconds), slot)
    exact = [-(-Fraction(x, 10**6) // slot) for x in sorted(microseconds)]
    assert found.slot.tolist() == exact
    assert found.work.tolist() == [max(1, x) for x in exact]


# --- the papers' preparation ---


def synthetic(folder: Path, count: int = 400) -> Path:
    """A table of attempts like Google's, of which a tenth was killed and some run at time 0."""
    draws = np.random.default_rng(3)
    begun = np.sort(np.where(draws.random(count) < 0.1, 0, draws.integers(600 * 10**6, 700 * 10**6, count)))
    lines = ["attempt,submit_us,schedule_us,end_us,outcome,priority,cpu_req,mem_req"]
    for at in begun.tolist():
        end = max(at, 600 * 10**6) + int(draws.integers(1, 40 * 10**6))
        outcome = "KILL" if draws.random() < 0.1 else "FINISH"
        cpu, memory = draws.choice([0.01, 0.03, 0.06, 0.125, 0.3, 0.8], 2, p=[0.3, 0.3, 0.2, 0.1, 0.08, 0.02])
        lines.append(f"0,{at},{at},{end},{outcome},{draws.choice([0, 1, 4, 9])},{cpu},{memory}")
    path = folder / "google.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


HALVES = sizes_of(*(2**m for m in range(7, -1, -1)), capacity=128)


def test_powers_of_half(tmp_path: Path) -> None:
    """As the paper makes its types: the rounding of the largest share, whatever the order of the types."""
    file = TraceFile(synthetic(tmp_path), completed=True, types="powers-of-half")
    trace = single_resource(completed(read_trace(file.path)).arrivals)
    jobs = typed_jobs(file, HALVES, present=False)
    assert (jobs.arriving.types == powers_of_half(trace)).all()
    assert len(jobs.present.types) == 0 < len(typed_jobs(file, HALVES).present.types)
    assert any("finished at the first attempt" in note for note in jobs.notes)
    with pytest.raises(InputError, match=r"google\.csv:\d+: expected a type of size 1/\d+ in the instance for size = "):
        typed_jobs(file, sizes_of(128, 64, 1, capacity=128))
    for instance, complaint in (
        (sizes_of(3, 1), "expected types of 1, 1/2, 1/4, ... of a server, t1 is 3/8"),
        (sizes_of(4, 4), "expected one type of each size, t1 and t2 are 1/2"),
        (additive([8, 8], [[1, 1]]), "expected servers of one kind with one resource"),
    ):
        with pytest.raises(InputError, match=r"simulation\.arrivals\.types: ") as caught:
            typed_jobs(file, instance)
        assert complaint in str(caught.value)


def test_priority_classes_are_those_of_the_task_system(tmp_path: Path) -> None:
    """The instance that `tasks_of` makes, and the same jobs."""
    file = TraceFile(synthetic(tmp_path), completed=True, types="priority-classes")
    system = tasks_of(read_trace(file.path))
    jobs = typed_jobs(file, system.instance, present=False).arriving
    for ours, theirs in zip(jobs, system.jobs, strict=True):
        assert (ours == theirs).all()
    with pytest.raises(InputError, match="t1: expected p0/1, p1/1 or p2/1, by its size"):
        typed_jobs(file, HALVES)
    (tmp_path / "t.csv").write_text("time,duration,size\n0,1,0.5\n")
    with pytest.raises(InputError, match="expected a Google trace"):
        typed_jobs(TraceFile(tmp_path / "t.csv", types="priority-classes"), system.instance)


def test_pods_need_the_capacity_of_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pods.csv").write_text(PODS)
    sizes = '[sizes]\nuniform = [0.1, 0.9]\n[simulation]\narrivals = { trace = "pods.csv"HOW }\nslot = 10\n'
    path = tmp_path / "s.toml"
    path.write_text(sizes.replace("HOW", ""))
    arguments = ["simulate", str(path), "--servers", "2", "--policy", "bf-js", "--until", "7", "--warmup", "0"]
    assert "pods.csv: expected the capacity of a server" in refused(arguments, capsys)
    path.write_text(sizes.replace("HOW", ", capacity = { cpu = 24, memory = 131072, gpu = 1 }"))
    found, _ = simulated(arguments, capsys)  # gpu: 1 and 46/100 of a server; 6 and 3 slots, one from the second on
    assert found["utilisation"]["size"]["mean"] == pytest.approx((6 + 3 * 0.46) / 7 / 2)
    path.write_text(sizes.replace("HOW", ", capacity = { cpu = 24, mem = 131072, gpu = 1 }"))
    assert "expected the resources of the trace (cpu, memory, gpu), got cpu, mem, gpu" in refused(arguments, capsys)
    half = TraceFile(tmp_path / "pods.csv", types="powers-of-half", capacity=(("cpu", Fraction(24)),
        ("memory", Fraction(131072)), ("gpu", Fraction(2))))  # fmt: skip
    assert typed_jobs(half, sizes_of(4, 2, 1)).arriving.types.tolist() == [0, 1]  # 12 / 24, 6 / 24
    (tmp_path / "t.csv").write_text("time,duration,size\n0,1,0.4\n1,1,4\n")
    with pytest.raises(
        InputError, match=r"t\.csv:3: expected shares of a server, more than 0 and at most 1, got size = 4; or"
    ):
        sized_jobs(TraceFile(tmp_path / "t.csv"))
    law, _ = sized_jobs(TraceFile(tmp_path / "t.csv", capacity=(("size", Fraction(8)),)))
    assert (law.sizes.tolist(), law.capacity) == ([1, 10], 20)
    with pytest.raises(InputError, match=r"arrivals\.types: expected an instance with types"):
        sized_jobs(TraceFile(tmp_path / "t.csv", types="powers-of-half"))
    with pytest.raises(InputError, match=r"arrivals\.capacity: expected types too"):
        typed_jobs(TraceFile(tmp_path / "t.csv", capacity=(("size", Fraction(8)),)), HALVES)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('types = "halves"', "simulation.arrivals.types: expected powers-of-half or priority-classes, got 'halves'"),
        ("completed = 1", "simulation.arrivals.completed: expected true or false"),
        ("capacity = { cpu = 0 }", "simulation.arrivals.capacity.cpu: expected a number greater than 0"),
        ("capacity = 3", "simulation.arrivals.capacity: expected a table"),
    ],
)
def test_bad_tables_of_arrivals(table: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = asked(tmp_path, f'arrivals = {{ trace = "t.csv", {table} }}')
    assert complaint in refused([*arguments, "--policy", "nonpreemptive", "--until", "5"], capsys)


def test_an_instance_without_powers_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = synthetic(tmp_path)
    arguments = asked(tmp_path, f'arrivals = {{ trace = "{path}", types = "powers-of-half" }}')
    message = refused([*arguments, "--policy", "nonpreemptive", "--until", "5"], capsys)
    assert message.startswith(f"{tmp_path / 'i.toml'}: simulation.arrivals.types: expected servers of one kind")


def test_another_file_is_read_in_the_same_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--trace`` replaces the file; stretch, types and the rest of the table stay."""
    (tmp_path / "t.csv").write_text(JOBS)
    table = 'arrivals = { trace = "none.csv", stretch = 0.5 }'
    for policy in ("nonpreemptive", "first-fit"):
        arguments = [*asked(tmp_path, table), "--policy", policy, "--until", "5", "--trace", str(tmp_path / "t.csv")]
        assert simulated(arguments, capsys)[0]["trace"]["last"] == pytest.approx(LAST / 2)
    one = "[server]\ncapacity = { cpu = 8 }\n[[type]]\nname = 'a'\ndemand = { cpu = 1 }\nreward = 1\nworkload = 1\n"
    (tmp_path / "u.csv").write_text("time,duration,type\n" + "".join(f"{i},1,a\n" for i in range(9)))
    arguments = [*asked(tmp_path, f"{table}\nslot = 1", one), "--policy", "bf-js", "--until", "4", "--trace"]
    assert simulated([*arguments, str(tmp_path / "u.csv")], capsys)[0]["trace"]["last"] == 4


def test_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The types for a real trace suit every model, and the made-up trace the instance that it is for."""
    examples = Path(__file__).parent.parent.parent / "examples"
    types, google = str(examples / "powers_of_half.toml"), str(synthetic(tmp_path))
    for policy in ("nonpreemptive", "first-fit", "bf-js"):
        arguments = ["simulate", types, "--policy", policy, "--servers", "5", "--until", "80", "--trace", google]
        assert set(simulated(arguments, capsys)[0]["jobs"]) == set(read_instance(types).names)
    arguments = [str(examples / "caught.toml"), "--policy", "nonpreemptive", "--servers", "2", "--until", "59"]
    found, told = simulated(["simulate", *arguments, "--trace", str(examples / "jobs.csv")], capsys)
    assert (found["trace"]["arrivals"], told) == (318, [])


# --- what is told ---


@pytest.mark.parametrize(("policy", "unit"), [("nonpreemptive", 1.0), ("first-fit", 1.0), ("bf-js", 0.5)])
def test_a_trace_that_ends_early(policy: str, unit: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told where it ends before the horizon, silent where it does not, refused where it ends within the warm-up."""
    path = tmp_path / "t.csv"
    path.write_text("time,duration,size\n" + "".join(f"{i},1,0.5\n" for i in range(11)))
    instance = (
        "[server]\ncapacity = { size = 1 }\n[[type]]\nname = 'a'\ndemand = { size = 0.5 }\nreward = 1\nworkload = 1\n"
    )
    simulation = f"slot = {unit}" if policy == "bf-js" else ""
    arguments = [*asked(tmp_path, simulation, instance), "--policy", policy, "--trace", str(path), "--until"]
    last, unit_name = 10 / unit, " slots" if policy == "bf-js" else " s"
    units = [f"{path}: --until and --warmup count slots for a slotted policy, seconds for others"][: policy == "bf-js"]
    found, told = simulated([*arguments, "40"], capsys)
    assert found["trace"]["arrivals"] == found["trace"]["used"] == 11
    assert (found["trace"]["last"], found["trace"]["ends_early"]) == (last, True)
    expected = (
        f"{path}: the last arrival is at {last:g}{unit_name}, before --until 40: nobody comes in the {40 - last:g}"
    )
    assert told[:-1] == units
    assert told[-1].startswith(expected)
    assert found["trace"]["unit"] == unit_name.strip()
    found, told = simulated([*arguments, f"{last:g}"], capsys)
    assert (found["trace"]["ends_early"], found["trace"]["used"], told) == (False, 10, units)
    found, told = simulated([*arguments, f"{last + 1:g}"], capsys)
    assert (found["trace"]["ends_early"], found["trace"]["used"], len(told)) == (True, 11, len(units) + 1)
    message = refused([*arguments, "40", "--warmup", f"{last + 1:g}"], capsys)
    assert message.startswith(
        f"{path}: the last arrival is at {last:g}{unit_name}, before the warm-up is over at {last + 1:g}"
    )
    assert simulated([*arguments, "40", "--warmup", f"{last:g}"], capsys)[0]["trace"]["last"] == last


def test_no_task_at_time_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    for text, lines in ((JOBS, 1), (JOBS.replace(HEAD, HEAD + "present,1,small,1,2\n"), 0)):
        path.write_text(text)
        for policy in ("nonpreemptive", "first-fit"):
            arguments = [
                *asked(tmp_path, 'initial = "trace"'),
                "--policy",
                policy,
                "--until",
                "10",
                "--trace",
                str(path),
            ]
            found, told = simulated(arguments, capsys)
            assert found["initial"]["jobs"] == 1 - lines
            assert len(told) == lines
            assert all('initial = "trace", but no task of the trace runs at time 0' in line for line in told)


def test_who_is_cut_off_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arrivals of a window that outlast it have the service that was seen: the answer says how many."""
    (tmp_path / "t.csv").write_text(TABLE.replace("705000000,FINISH", ",CENSORED"))
    path = tmp_path / "s.toml"
    path.write_text("[sizes]\nuniform = [0.1, 0.9]\n[simulation]\nslot = 1\n")
    arguments = ["simulate", str(path), "--servers", "1", "--policy", "bf-js", "--until", "100", "--trace"]
    found, _ = simulated([*arguments, str(tmp_path / "t.csv")], capsys)
    assert (found["trace"]["arrivals"], found["trace"]["cut_off"]) == (4, 1)
    assert "1 attempts never scheduled dropped" in found["trace"]["notes"]


@pytest.mark.parametrize("policy", ["nonpreemptive", "first-fit"])
def test_identical_replications_count_as_one(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(JOBS)
    arguments = [*asked(tmp_path), "--servers", "1", "--policy", policy, "--until", "11"]
    arguments += ["--trace", str(tmp_path / "t.csv")]
    one, silent = simulated(arguments, capsys)
    many, told = simulated([*arguments, "--replications", "3"], capsys)
    assert many | {"events_per_second": 0} == one | {"events_per_second": 0}
    assert (silent, len(told)) == ([], 1)
    assert told[0].startswith(f"all 3 replications are identical ({policy} draws nothing")
    number = many["queue"] if "queue" in many else many["reward"]
    assert number["ci95"][0] < number["ci95"][1]


def test_replications_of_a_policy_that_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(JOBS)
    arguments = [*asked(tmp_path), "--policy", "randomized-sampling", "--until", "11", "--replications", "3", "--trace"]
    found, told = simulated([*arguments, str(tmp_path / "t.csv")], capsys)
    assert found["replications"] == 3
    assert ["jobs and their service are those of the trace in every replication" in line for line in told] == [True]
    drawn, told = simulated([*asked(tmp_path), "--policy", "first-fit", "--until", "11", "--replications", "2"], capsys)
    assert (drawn["replications"], told) == (2, [])


def test_a_grid_says_each_thing_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two policies, two numbers of servers, three replications: a line a trace; no interval from copies of one run."""
    (tmp_path / "i.toml").write_text(INSTANCE)
    (tmp_path / "t.csv").write_text(JOBS)
    grid = tmp_path / "grid.toml"
    grid.write_text(
        'instance = "i.toml"\nuntil = 20\nreplications = 3\ninitial = "trace"\n[vary]\nservers = [1, 2]\n'
        'policy = ["nonpreemptive", "randomized-sampling"]\narrivals = [{ trace = "t.csv" }]\n'.replace(
            'initial = "trace"\n[vary]', '[vary]\ninitial = ["trace"]'
        )
    )
    assert run(["experiment", str(grid), "--store", str(tmp_path / "s.db"), "--workers", "1"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "t.csv" in line]
    assert len(told) == 3
    assert f"the last arrival is at {LAST:g} s, before until 20" in told[0]
    assert "no task of the trace runs at time 0" in told[1]
    assert "in every replication" in told[2]
    with Store(tmp_path / "s.db") as store:
        planned = read_grid(grid)
        assert run_experiment(planned, store, workers=1) == 0
        for group in summary(planned, store):
            drawn = group.parameters["policy"] == "randomized-sampling"
            assert group.replications == 3
            assert np.isfinite(group.numbers["queue"].high) == drawn
        assert all(np.isfinite(one.difference.high) for one in comparisons(planned, store, "queue"))
        grid.write_text(grid.read_text().replace("randomized-sampling", "max-weight-local"))
        planned = read_grid(grid)
        run_experiment(planned, store, workers=1)
        assert not any(np.isfinite(one.difference.high) for one in comparisons(planned, store, "queue"))
    grid.write_text(grid.read_text().replace("until = 20", "until = 60"))
    message = refused(["experiment", str(grid), "--store", str(tmp_path / "s.db")], capsys)
    assert message.startswith(
        f"{grid}: {tmp_path / 't.csv'}: the last arrival is at 11.7 s, before the warm-up is over"
    )


# --- the real window ---


def test_the_window_of_the_papers(data: Path) -> None:
    """A table of ``[simulation]`` makes the jobs that the claims make of the window."""
    path = data / "google2011_part0_attempts.csv.gz"
    if not path.is_file():
        pytest.skip(f"no real data: {path.name}")
    trace = single_resource(completed(read_trace(path)).arrivals)
    exponents = powers_of_half(trace)
    jobs = typed_jobs(TraceFile(path, completed=True, types="powers-of-half"), HALVES, present=False).arriving
    assert len(jobs.times) == 37_702
    assert (jobs.types == exponents).all()
    assert (jobs.times == trace.arrival / 1e6).all()
    law, sized = sized_jobs(TraceFile(path, Fraction(5, 8), completed=True), present=False)
    window = stretched(trace, Fraction(5, 8))
    slots = in_slots(sized.arriving, Fraction(1, 10))
    assert (slots.slot == -(-window.arrival // 100_000)).all()
    assert (slots.work == np.maximum(1, -(-window.duration // 100_000))).all()
    assert (law.sizes[sized.arriving.types] == window.demand[:, 0] * window.unit[0].numerator).all()
    assert law.capacity == window.unit[0].denominator


def test_plain_reads_a_header_with_spaces(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time, duration, cpu, type\n0, 1, 2, a\n1, 1, 2, b \n")
    trace = read_plain(path)
    assert (trace.resources, trace.labels, trace.unit) == (("cpu",), ("a", "b"), (Fraction(2),))
