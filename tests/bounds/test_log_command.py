"""``packproof log``, and plans of a log alone: what is counted, what is said, and one line for bad input."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.checker import check
from bounds.cli import run
from bounds.views.report import report_page
from fluid.planning.grids import MOST_TYPES
from fluid.planning.own_types import types_of_log
from fluid.traces.described import describe
from fluid.traces.readers import read_trace
from tests.bounds.validated import expect_valid
from theory.errors import InputError

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "vm_log.csv"


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(words) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def drawn_log(path: Path, seed: int, count: int = 60, kinds: int = 400) -> list[tuple[int, int, int, int]]:
    """Write a log in whole seconds with many ties and stays of 0; return arrival, end, cores and GiB by row."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        arrival = rng.randrange(40)
        rows.append(
            (arrival, arrival + rng.choice([0, 0, 1, 5, 9, 30]), 1 + rng.randrange(kinds) % 8, rng.randrange(1, kinds))
        )
    path.write_text("start (s),end (s),vCPU,RAM\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_the_numbers_are_those_of_a_count_by_hand(seed: int, tmp_path: Path) -> None:
    """Instant by instant, row by row: departures first, and a stay of 0 is there as it comes."""
    rows = drawn_log(tmp_path / "log.csv", seed)
    trace = read_trace(tmp_path / "log.csv")
    found = describe(trace)
    first = min(arrival for arrival, *_ in rows)
    assert found.tasks == len(rows)
    assert found.span == max(arrival for arrival, *_ in rows) - first
    stays = [end - arrival for arrival, end, *_ in rows]
    assert (found.stays.shortest, found.stays.longest) == (min(stays), max(stays))
    assert found.stays.mean == pytest.approx(sum(stays) / len(stays))
    assert found.stays.at_once == stays.count(0)
    counts = Counter(arrival for arrival, *_ in rows)
    assert found.ties.arrivals == sum(n for n in counts.values() if n > 1)
    assert found.ties.most == max(counts.values())
    ends = {end for arrival, end, *_ in rows if end > arrival}
    assert found.ties.with_departure == sum(arrival in ends for arrival, *_ in rows)
    assert found.ties.step == 1
    assert found.distinct == len({row[2:] for row in rows})
    order = zip(trace.arrival.tolist(), trace.duration.tolist(), trace.demand.tolist(), strict=True)
    most, there = [0, 0, 0], []
    for arrival, stay, demand in order:
        there = [one for one in there if one[0] > arrival]
        one = (arrival + stay, 1, *(n * u for n, u in zip(demand, trace.unit, strict=True)))
        most = [max(most[k], sum(x[k + 1] for x in [*there, one])) for k in range(3)]
        there += [one] if stay else []
    assert [one.most for one in found.peaks] == most


def test_the_answer_has_its_schema_and_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(printed(["log", str(LOG), "--json"], capsys))
    expect_valid(answer, "log")
    rows = LOG.read_text().splitlines()[1:]
    assert answer["rows"] == answer["tasks"] == len(rows)
    at = LOG.read_text().splitlines()[0].split(",").index("deleted_at")
    assert answer["stays"]["unended"] == sum(row.split(",")[at] == "" for row in rows)
    assert {one["header"]: one["became"] for one in answer["columns"]} == {
        "created_at": "time",
        "deleted_at": "end",
        "VM Size": "type",
    }
    assert "packproof log" in report_page(answer, answer["made"]["command"])


def test_everything_that_is_not_used_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(["log", str(ROOT / "tests/fluid/logs/sacct.txt")], capsys)
    assert "4 tasks of 7 rows, 4 of them left out" in text
    for words in (
        "that are steps of jobs     2",
        "with State PENDING         1",
        "without Start              1",
        "JobName",
    ):
        assert words in text
    path = tmp_path / "log.csv"
    path.write_text("start (s),end (s),type\n" + "5,5,a\n" * 20 + "9,7,a\n" * 2)
    text = printed(["log", str(path)], capsys)
    for words in ("20 of 20 tasks come at the first instant", "20 stays of 0 seconds", "that end before they start"):
        assert words in text, text


def test_a_wrong_file_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(90))
    places = [tmp_path / name for name in ("empty.csv", "other.csv", "picture.png", "none.csv")]
    for place in (*places, tmp_path, ROOT / "examples" / "four_types.toml"):
        capsys.readouterr()
        assert run(["log", str(place)]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        assert shown.err.startswith(str(place)), shown.err


# ---- plans of a log alone --------------------------------------------------------------------------------------------


def test_few_demands_are_types_as_they_are(tmp_path: Path) -> None:
    rows = drawn_log(tmp_path / "log.csv", 1, kinds=3)
    trace = read_trace(tmp_path / "log.csv")
    own = types_of_log(trace, {"cpu": Fraction(8), "memory": Fraction(400)}, "log")
    assert own.grid == ""
    assert own.distinct == len(own.types) == len({row[2:] for row in rows})
    _all_fit(trace, own)


@pytest.mark.parametrize("seed", range(3))
def test_many_demands_are_rounded_up(seed: int, tmp_path: Path) -> None:
    """No type asks less than its tasks, none more than a server, and the least demands are those of tasks."""
    drawn_log(tmp_path / "log.csv", seed, count=500)
    trace = read_trace(tmp_path / "log.csv")
    own = types_of_log(trace, {"cpu": Fraction(8), "memory": Fraction(400)}, "log")
    assert own.distinct > MOST_TYPES >= len(own.types)
    assert own.grid.startswith("shares of a server")
    assert all(share >= 0 for share in own.added.values())
    assert own.added["memory"] > 0
    _all_fit(trace, own)


def test_a_grid_with_steps_rounds_up_by_no_more_than_a_step(tmp_path: Path) -> None:
    """400 demands of memory alone: the finest grid with at most 24 types has two steps to each halving."""
    (tmp_path / "log.csv").write_text("start (s),end (s),RAM\n" + "".join(f"{i},{i + 5},{i + 1}\n" for i in range(400)))
    trace = read_trace(tmp_path / "log.csv")
    own = types_of_log(trace, {"memory": Fraction(400)}, "log")
    assert own.grid == "shares of a server with 2 steps to each halving: 1, 3/4, 2/4, ..."
    assert {Fraction(400), Fraction(300), Fraction(200), Fraction(150)} < {
        Fraction(x["demand"]["memory"]) for x in own.types
    }
    for row, j in zip(trace.demand[:, 0].tolist(), own.of_task.tolist(), strict=True):
        amount, above = row * trace.unit[0], Fraction(own.types[j]["demand"]["memory"])
        assert amount <= above < amount * Fraction(3, 2)
    assert 0 < own.added["memory"] < 0.5


def _all_fit(trace: Any, own: Any) -> None:
    tight = set()
    for row, j in zip(trace.demand.tolist(), own.of_task.tolist(), strict=True):
        demand = dict(zip(trace.resources, (n * u for n, u in zip(row, trace.unit, strict=True)), strict=True))
        for name, amount in demand.items():
            above = Fraction(own.types[j]["demand"].get(name, "0"))
            assert own.least[j][name] <= amount <= above <= {"cpu": 8, "memory": 400}[name]
            tight |= {(j, name)} if own.least[j][name] == amount else set()
    assert tight == {(j, name) for j in range(len(own.types)) for name in trace.resources}
    assert len(np.unique(own.of_task)) == len(own.types)


@pytest.mark.slow
def test_a_plan_of_a_log_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn_log(tmp_path / "log.csv", 5, count=40)
    words = ["plan", str(tmp_path / "log.csv"), "--server", "cpu=16,memory=400", "--accept", "0.9"]
    words += ["--policy", "first-fit", "--price", "cpu=2,memory=1/10"]
    answer = json.loads(printed([*words, "--json"], capsys))
    expect_valid(answer, "plan")
    assert check(answer["certificate"])
    rounding = answer["rounding"]
    assert rounding["types"] == len(answer["workload"]) <= MOST_TYPES < rounding["distinct"]
    for name in ("carries", "peak"):
        assert 0 < rounding[name]["lower"] <= rounding[name]["upper"] == answer[name]["upper"]
    assert any("distinct demands of the log were rounded up" in note for note in answer["log"]["notes"])
    assert answer["log"]["about"][0].startswith("the log was read as a log with common headers: 40 tasks")
    kinds = {one["name"]: one["reward"] for one in answer["certificate"]["instance"]["type"]}
    for name, reward in kinds.items():
        _, cores, _, gib = name.split()
        assert Fraction(reward) == 2 * Fraction(cores) + Fraction(gib) / 10


def test_a_log_with_names_and_resources_is_planned_by_its_resources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{i},{i + 7},{'ab'[i % 2]},{1 + i % 2}\n" for i in range(30))
    (tmp_path / "log.csv").write_text(f"start,end,type,vCPU\n{rows}")
    words = ["plan", str(tmp_path / "log.csv"), "--server", "cpu=4", "--accept", "1", "--policy", "first-fit", "--json"]
    answer = json.loads(printed(words, capsys))
    assert [one["type"] for one in answer["workload"]] == ["cpu 1", "cpu 2"]
    assert answer["rounding"] is None


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("start,end,type\n0,9,a\n", "cpu=4", "expected resources, such as vCPU and RAM"),
        ("start,end,vCPU\n0,9,8\n", "cpu=4", "log.csv:2: expected tasks that fit a server, got cpu = 8 (1 task"),
        ("start,end,vCPU\n0,9,2\n", "cpu=4,memory=8", "--server: memory: no type has it (types have cpu)"),
        ("start,end,vCPU\n0,9,2\n", "cpu=4 --price gpu=1", "--price: gpu: expected a resource that is planned, cpu"),
        ("start,end,vCPU\n0,9,2\n", "cpu=4 --price cpu=x", "--price: cpu: expected a number"),
        ("start,end,vCPU\n0,9,2\n", "cpu=4", "expected at least 10 arrivals over some time, got 1"),
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_planned_alone(
    text: str, options: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.csv").write_text(text)
    capsys.readouterr()
    assert run(["plan", str(tmp_path / "log.csv"), "--server", *options.split(), "--accept", "1"]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_prices_beside_a_table_of_types_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    types = str(ROOT / "examples" / "vm_types.csv")
    assert run(["plan", types, str(LOG), "--server", "cpu=48,memory=192", "--accept", "1", "--price", "cpu=1"]) == 2
    assert "--price: expected no prices beside TYPES" in capsys.readouterr().err


def test_a_task_that_fits_no_server_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("start,end,vCPU\n5,9,1\n0,9,64\n")
    with pytest.raises(InputError, match=r"log:3: expected tasks that fit a server, got cpu = 64 \(1 task of 2"):
        types_of_log(read_trace(tmp_path / "log.csv"), {"cpu": Fraction(8)}, "log")
