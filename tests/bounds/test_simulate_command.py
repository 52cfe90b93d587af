"""``packproof simulate`` for loss systems: keys, text, picture, log, trace, store, own policies, bad input, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bounds.cli import run
from tests.instances import TWO

FOUR = Path(__file__).parent.parent.parent / "examples" / "four_types.toml"


def simulate(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run(["simulate", *arguments, "--json"]) == 0
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    return str(path)


def test_keys_of_the_contract(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [two, "--policy", "first-fit", "--servers", "20", "--until", "50"]
    one = simulate(arguments, capsys)
    assert {"policy", "servers", "events", "events_per_second", "warmup", "reward", "jobs", "acceptance"} <= set(one)
    assert one["warmup"] == 10
    low, high = one["reward"]["ci95"]  # type: ignore[index]
    assert low < one["reward"]["mean"] < high  # type: ignore[index]
    several = simulate([*arguments, "--replications", "3", "--log", "5", "--seed", "9"], capsys)
    assert len(several["log"]) == 5  # type: ignore[arg-type]
    again = simulate([*arguments, "--replications", "3", "--log", "5", "--seed", "9"], capsys)
    assert again["reward"] == several["reward"] != one["reward"]


def test_text_and_picture(two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "p.png"
    assert run(["simulate", two, "--policy", "dra", "--servers", "30", "--until", "30", "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert "migrations per unit time" in shown
    assert "idle reserved slots" in shown
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_store_is_taken_up(two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [two, "--policy", "first-fit", "--servers", "20", "--until", "50"]
    kept = ["--store", str(tmp_path / "s.db")]
    without = simulate([*arguments, "--replications", "4"], capsys)
    simulate([*arguments, *kept, "--replications", "2"], capsys)
    answer = simulate([*arguments, *kept, "--replications", "4"], capsys)
    for name, value in without.items():
        assert answer[name] == value or name in ("events_per_second", "events_as_python", "made")
    other = simulate([*arguments, *kept, "--replications", "4", "--seed", "1"], capsys)
    assert other["reward"] != answer["reward"]


def test_trace(two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(t / 4, 1.5, "ab"[t % 3 == 0], (7 if t % 3 == 0 else 5)) for t in range(200)]
    named, plain, wrong = (tmp_path / f"{name}.csv" for name in ("named", "plain", "wrong"))
    named.write_text("time,duration,type,cpu\n" + "\n".join(",".join(map(str, row)) for row in rows))
    plain.write_text("time,duration,cpu\n" + "\n".join(f"{t},{d},{cpu}" for t, d, _, cpu in rows))
    wrong.write_text("time,duration,cpu\n0,1,5\n1,1,6\n")
    arguments = [two, "--policy", "first-fit", "--servers", "3", "--until", "50", "--warmup", "0", "--trace"]
    first, second = (simulate([*arguments, str(path)], capsys) for path in (named, plain))
    assert first["reward"] == second["reward"]
    assert 0 < first["acceptance"]["a"] <= 1  # type: ignore[index]
    assert run(["simulate", *arguments, str(wrong)]) == 2
    message = capsys.readouterr().err
    assert "wrong.csv" in message
    assert "cpu = 6" in message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--policy", "nothing"], "--policy"),
        (["--policy", "nowhere.py:MINE"], "nowhere.py"),
        (["--policy", "dra", "--until", "0"], "--until"),
        (["--policy", "dra", "--until", "inf"], "--until"),
        (["--policy", "dra", "--warmup", "10"], "--warmup"),
        (["--policy", "dra", "--engine", "mpi", "--replications", "2"], "--engine"),
        (["--policy", "dra", "--engine", "mpi"], "--engine"),
        (["--policy", "dra", "--plot", "nowhere/p.png"], "nowhere/p.png: cannot be written"),
        (["--policy", "dra", "--plot", "p.doc"], "p.doc: expected a picture"),
        (["--policy", "dra-preemption"], "two.toml: simulation.priority"),
        (["--policy", "dra", "--servers", "0"], "--servers"),
    ],
)
def test_bad_input(two: str, options: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", two, "--servers", "3", "--until", "10", *options]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert expected in message


def test_places_are_refused_before_any_work(two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither picture nor table is written, and nothing is run, where one of them cannot be."""
    table = tmp_path / "path.csv"
    assert run(["fluid", two, "--until", "2", "--csv", str(table), "--plot", str(tmp_path / "no" / "p.png")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert not table.exists()
    endless = ["simulate", two, "--policy", "dra", "--servers", "3", "--until", "1e12", "--warmup", "1"]
    assert run([*endless, "--plot", str(tmp_path)]) == 2
    assert "expected a picture" in capsys.readouterr().err


def test_bad_table_names_the_file(two: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(two).write_text(TWO + '[simulation]\nservice = "quick"\n')
    assert run(["simulate", two, "--policy", "dra", "--servers", "3", "--until", "10"]) == 2
    assert "two.toml: simulation.service: expected" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_gives_the_best_so_far(two: str, by: signal.Signals) -> None:
    """Ctrl-C long before the end: status 0 and an answer over the time that was reached."""
    root = Path(__file__).parent.parent.parent
    arguments = ["simulate", two, "--policy", "first-fit", "--servers", "50", "--until", "1e9", "--warmup", "10"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tools.progress", *arguments, "--json"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert process.stderr is not None
    told = next((line for line in process.stderr if "of 1e+09" in line), "")  # it runs, past compilation
    assert told
    process.send_signal(by)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    answer = json.loads(out)
    assert answer["interrupted"]
    assert 10 < answer["until"] < 1e9


@pytest.mark.parametrize("replications", [1, 2])
def test_a_long_run_is_announced(
    replications: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jobs come at a rate of workload times service rate times servers, and as many leave."""
    path = tmp_path / "i.toml"
    path.write_text(
        '[[server]]\nname = "s"\nshare = 1\ncapacity = { cpu = 4 }\n'
        '[[type]]\nname = "a"\nreward = 1\nworkload = 2\nservice_rate = 0.5\ndemand = { cpu = 1 }\n'
        '[[type]]\nname = "b"\nreward = 1\nworkload = 0.25\nservice_rate = 4\ndemand = { cpu = 1 }\n'
    )
    words = ["simulate", str(path), "--policy", "first-fit", "--servers", "3", "--until", "5"]
    words += ["--replications", str(replications)]
    assert run(words) == 0
    assert "about" not in capsys.readouterr().err
    monkeypatch.setattr("fluid.experiment.pace.LONG", 0.0)
    assert run(words) == 0
    events = replications * 2 * 3 * 5 * (2 * 0.5 + 0.25 * 4)
    some = "1 replication" if replications == 1 else "2 replications"
    assert f"{path}: {some} to run, about {events:.2g} events: about " in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr("fluid.simulation.driver.replicate", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    words[words.index("--until") + 1] = "1e8"
    assert run(words) == 130
    assert f"{some} to run, about" in capsys.readouterr().err
