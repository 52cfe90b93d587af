"""What other programs rely on: standard output holds the answer alone, and files stay whole."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bounds.cli import run
from fluid.experiment.store import Store
from theory.greedy import optimal

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FOUR = str(EXAMPLES / "four_types.toml")
SMALL = str(EXAMPLES / "admission_small.toml")

# ---- standard output holds the answer alone --------------------------------------------------------------------------

CHATTING = """
import ctypes, json, os, sys, types
import highspy
import theory.files.places
from bounds.cli import run

def chat():
    os.write(1, b"a banner on descriptor 1\\n")
    ctypes.CDLL(None).printf(b"a banner in the buffer of the C library\\n")
    os.system("echo a banner of a child")
    print("a line of Python")
    sys.__stdout__.write("a line for the first standard output\\n")

def chatting(function):
    return lambda *arguments, **how: (chat(), function(*arguments, **how))[1]

class Chatting(highspy.Highs):
    def __init__(self):
        chat()
        super().__init__()

highspy.Highs = Chatting
theory.files.places.json = types.SimpleNamespace(dumps=chatting(json.dumps))
for line in sys.stdin:
    assert run([*line.split(), "--json"]) == 0, line
"""
"""Runs the commands of its input in a process where libraries print by every road; their answers are its output."""

COMMANDS = (
    "solve %caught.toml --servers 2",
    "worst %caught.toml --vary workload",
    "check @solve_two.json",
    "instance --types aws:m5.large --server cpu=96,memory=384",
    "region %caught.toml",
    "throughput %counted_sizes.toml",
    "share %four_classes.toml --mechanism tsf",
    "fluid %caught.toml --until 1 --points 2",
    "simulate %caught.toml --policy nonpreemptive --servers 2 --until 5",
    "simulate --policy list",
    "experiment %small_grid.toml --store !s.db --status",
    "reproduce --list",
    "verify --list --paper ps-dsf",
    "catalogue aws:m5.large",
    "log %vm_log.csv",
    "export @solve_two.json --format lp --out !out",
    "attack %rules_to_attack.py:first_fit --kind items --items 3 --evaluations 9 --workers 1",
    "admission optimal %admission_small.toml --most-deployments 1",
)


def refuse_constant(name: str) -> None:
    """Refuse a number that JSON does not have."""
    raise AssertionError(name)


@pytest.mark.slow
def test_nothing_but_the_answer_reaches_standard_output(tmp_path: Path) -> None:
    places = {"%": f"{EXAMPLES}/", "@": f"{ROOT}/tests/frozen/certificates/", "!": f"{tmp_path}/"}
    lines = ["".join(places.get(character, character) for character in command) for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", CHATTING],
        input="\n".join(lines),
        env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1", "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rest, answers = done.stdout, []
    while rest.strip():
        answer, end = json.JSONDecoder(parse_constant=refuse_constant).raw_decode(rest)
        answers.append(answer)
        rest = rest[end:].lstrip("\n")
    assert len(answers) == len(COMMANDS)
    told = ("descriptor 1", "the C library", "a child", "a line of Python", "first standard output")
    counts = {words: done.stderr.count(words) for words in told}
    assert min(counts.values()) >= len(COMMANDS), counts


def test_what_is_printed_while_a_host_has_standard_output_is_no_part_of_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = optimal.global_greedy

    def prints(*arguments: Any) -> Any:
        print("a line of Python")
        return whole(*arguments)

    monkeypatch.setattr(optimal, "global_greedy", prints)
    assert run(["solve", FOUR, "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)
    assert shown.err == "a line of Python\n"


@pytest.mark.slow
def test_a_file_that_is_printed_is_utf_8_and_an_answer_is_escaped(tmp_path: Path) -> None:
    """A terminal that lacks characters changes no status; JSON stays JSON, and a printed file stays the file."""
    named = tmp_path / "named.toml"
    named.write_text(Path(FOUR).read_text().replace('"small"', '"中é"'))
    # the first encoding is that of the process, by its environment; a caller may change it as well
    encodings = ("ascii", "latin-1", "utf-8")
    code = (
        "import sys; from bounds.cli import run\n"
        "for encoding in sys.argv[2:]:\n"
        "    if sys.stdout.encoding != encoding: sys.stdout.reconfigure(encoding=encoding)\n"
        "    proof = f'{encoding}.json'\n"
        "    for line in sys.argv[1].replace('PROOF', proof).splitlines():\n"
        "        assert run(line.split()) == 0, line\n"
        "        print('|', flush=True)"
    )
    lines = [f"solve {named} --certificate PROOF", "check PROOF", "check PROOF --json",
             f"solve {named} --certificate -", f"solve {named} --json"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, "\n".join(lines), *encodings],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encodings[0]},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(b"|\n")
    outputs = {encoding: printed[at : at + len(lines)] for encoding, at in zip(encodings, (0, 5, 10), strict=True)}
    assert "中é".encode() in outputs["utf-8"][0]
    assert r"\u4e2dé".encode("latin-1") in outputs["latin-1"][0]
    assert rb"\u4e2d\xe9" in outputs["ascii"][0]
    for place in (2, 4):
        documents = [json.loads(output[place].decode(name)) for name, output in outputs.items()]
        for document in documents:
            del document["made"]  # it names the file
        assert documents[0] == documents[1] == documents[2]
    assert outputs["utf-8"][3] == outputs["latin-1"][3] == outputs["ascii"][3] == (tmp_path / "ascii.json").read_bytes()


# ---- files stay whole ------------------------------------------------------------------------------------------------


def test_an_interrupted_experiment_writes_over_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stops(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fluid.experiment.run.run_experiment", stops)
    outputs = {name: tmp_path / name for name in ("rows.csv", "points.csv", "p.png")}
    for place in outputs.values():
        place.write_bytes(b"from yesterday\n")
    rows, points, picture = map(str, outputs.values())
    arguments = ["experiment", str(EXAMPLES / "small_grid.toml"), "--store", str(tmp_path / "s.db"), "--workers", "1"]
    assert run([*arguments, "--csv", rows, "--summary", points, "--plot", picture]) == 130
    assert capsys.readouterr().err.endswith("interrupted\n")
    assert all(place.read_bytes() == b"from yesterday\n" for place in outputs.values())


@pytest.mark.parametrize("instant", ["open", "write", "replace"])
def test_an_interrupted_output_leaves_what_was_there(
    instant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "path.csv"
    place.write_bytes(b"from yesterday\n")

    def stops(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    if instant == "write":
        whole = Path.open

        class Stopped(io.BytesIO):
            def write(self, _: Any) -> int:
                raise KeyboardInterrupt

        def opened(path: Path, mode: str = "r", *arguments: Any, **how: Any) -> Any:
            if mode == "xb":
                whole(path, mode).close()
                return Stopped()
            return whole(path, mode, *arguments, **how)

        monkeypatch.setattr(Path, "open", opened)
    else:
        monkeypatch.setattr(Path, instant, stops)
    assert run(["fluid", FOUR, "--until", "1", "--csv", str(place)]) == 130
    monkeypatch.undo()
    assert [one.name for one in tmp_path.iterdir()] == ["path.csv"]
    assert place.read_bytes() == b"from yesterday\n"
    assert capsys.readouterr().err == "interrupted\n"


def strange_stores() -> dict[str, Callable[[Any], None]]:
    """Return what is done to a store that has its mark and its version, and no longer its table."""

    def columns(connection: Any) -> None:
        connection.execute("drop table results")
        connection.execute("create table results (key text, value text)")

    def tables(connection: Any) -> None:
        connection.execute("drop table results")
        connection.execute("create table others (key text)")

    def contents(connection: Any) -> None:
        connection.execute("update results set content = x'00'")

    return {"columns": columns, "tables": tables, "contents": contents}


@pytest.mark.slow
@pytest.mark.parametrize("kind", strange_stores())
def test_a_store_with_the_mark_and_another_table(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid, stored = str(EXAMPLES / "small_grid.toml"), str(tmp_path / "s.db")
    simulate = [
        "simulate",
        str(EXAMPLES / "caught.toml"),
        "--policy",
        "nonpreemptive",
        "--servers",
        "2",
        "--until",
        "5",
    ]
    assert run([*simulate, "--store", stored]) == 0
    with closing(sqlite3.connect(stored)) as connection:
        strange_stores()[kind](connection)
        connection.commit()
    commands = [["experiment", grid, "--store", stored, "--status"], [*simulate, "--store", stored]]
    for command in commands[kind == "contents" :]:
        capsys.readouterr()
        assert run(command) == 2
        shown, line = capsys.readouterr()
        assert (shown, line.count("\n")) == ("", 1)
        assert line.startswith(f"{stored}: ")
        assert "take a new file" in line


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users")
def test_the_status_of_a_store_in_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    user = os.geteuid()
    with TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder, grids = Path(name) / "store", Path(name) / "examples"
        shutil.copytree(EXAMPLES, grids)
        folder.mkdir()
        Path(name).chmod(0o755)
        arguments = [
            "experiment",
            f"{grids}/small_grid.toml",
            "--store",
            f"{folder}/s.db",
            "--status",
            "--json",
        ]
        Store(folder / "s.db").close()
        assert run(arguments) == 0
        whole = capsys.readouterr().out
        for beside in ("db-wal", "db-shm"):
            next(folder.glob(f"*{beside}")).unlink()
        folder.chmod(0o555)
        try:
            if user == 0:
                os.seteuid(65534)  # root may write anywhere
            status = run(arguments)
        finally:
            os.seteuid(user)
            folder.chmod(0o755)
        left = [one.name for one in folder.iterdir()]
    assert (status, capsys.readouterr()) == (0, (whole, ""))
    assert left == ["s.db"]
