"""Tasks of a trace as jobs of an instance: by name, by demand, by size, as the papers prepare them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.arrivals import JobList
from fluid.simulation.slotted.sizes import in_slots
from fluid.traces.file import TraceFile
from fluid.traces.jobs import TICK, sized_jobs, typed_jobs
from fluid.traces.preprocess import completed, powers_of_half, single_resource, stretched
from fluid.traces.readers import read_trace
from fluid.traces.types import tasks_of
from tests.fluid.test_trace import PODS, TABLE
from tests.fluid.traced import INSTANCE, JOBS, LAST, asked, refused, simulated
from theory.errors import InputError
from theory.files.instances import parse_instance, read_instance
from theory.instance import Instance, additive

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


def test_a_name_without_its_provider_is_that_of_one_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where two providers have the type, the log must say which; where one has, and by its whole name, it is taken."""
    path = tmp_path / "t.csv"
    instance = INSTANCE.replace("small", "aws:x").replace("big", "gcp:x")
    arguments = [*asked(tmp_path, instance=instance), "--policy", "nonpreemptive", "--until", "10", "--trace"]
    path.write_text(JOBS.replace("small", "aws:x").replace("big", "x"))
    line = refused([*arguments, str(path)], capsys)
    assert line.startswith(f"{path}:2: type: expected one of aws:x, gcp:x, got 'x'")
    path.write_text(JOBS.replace("small", "aws:x").replace("big", "gcp:x"))
    by_whole_name, _ = simulated([*arguments, str(path)], capsys)
    asked(tmp_path, instance=INSTANCE.replace("small", "aws:x").replace("big", "gcp:y"))
    path.write_text(JOBS.replace("small", "x").replace("big", "y"))
    by_short_name, _ = simulated([*arguments, str(path)], capsys)
    assert by_short_name["jobs"]["gcp:y"] == by_whole_name["jobs"]["gcp:x"]


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


@pytest.mark.slow
def test_types_alone_and_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without resources the type says what a job takes, with resources that agree just so; also of a list."""
    answers = []
    for text in (JOBS, "".join(",".join(line.split(",")[:3]) + "\n" for line in JOBS.splitlines())):
        (tmp_path / "t.csv").write_text(text)
        arguments = [*asked(tmp_path), "--policy", "nonpreemptive", "--until", "11", "--trace", str(tmp_path / "t.csv")]
        answers.append(simulated(arguments, capsys)[0] | {"events_per_second": 0, "events_as_python": 0, "made": 0})
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
    ticks = np.array(sorted(microseconds), np.int64)
    found = in_slots(JobList(ticks, np.zeros(len(ticks), np.int32), ticks), slot / TICK)
    exact = [-(-Fraction(x, 10**6) // slot) for x in sorted(microseconds)]
    assert found.times.tolist() == exact
    assert found.durations.tolist() == [max(1, x) for x in exact]


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
    with pytest.raises(InputError, match="expected Google's trace of 2011"):
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


@pytest.mark.slow
def test_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The types for a real trace suit every model, and the made-up trace the instance that it is for."""
    examples = Path(__file__).parent.parent.parent / "examples"
    types, google = str(examples / "powers_of_half.toml"), str(synthetic(tmp_path))
    for policy in ("nonpreemptive", "first-fit", "bf-js"):
        arguments = ["simulate", types, "--policy", policy, "--servers", "5", "--until", "10", "--trace", google]
        assert set(simulated(arguments, capsys)[0]["jobs"]) == set(read_instance(types).names)
    arguments = [str(examples / "caught.toml"), "--policy", "nonpreemptive", "--servers", "2", "--until", "59"]
    found, told = simulated(["simulate", *arguments, "--trace", str(examples / "jobs.csv")], capsys)
    assert (found["trace"]["arrivals"], told) == (318, [])


# --- the real window ---


@pytest.mark.slow
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
    assert (jobs.times == trace.arrival).all()
    law, sized = sized_jobs(TraceFile(path, Fraction(5, 8), completed=True), present=False)
    window = stretched(trace, Fraction(5, 8))
    slots = in_slots(sized.arriving, Fraction(1, 10) / TICK)
    assert (slots.times == -(-window.arrival // 100_000)).all()
    assert (slots.durations == np.maximum(1, -(-window.duration // 100_000))).all()
    assert (law.sizes[sized.arriving.types] == window.demand[:, 0] * window.unit[0].numerator).all()
    assert law.capacity == window.unit[0].denominator
