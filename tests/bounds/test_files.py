"""Files are never lost: what commands read and write, and how they end where the system refuses."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bounds.cli import run
from tests.frozen.refusals import CLUSTER, OWN, SIZES
from theory.errors import InputError
from theory.files.places import files_of_a_command, open_input, read_bytes, write_bytes, write_folder, write_text

ROOT = Path(__file__).parents[2]
TWO = """[server]
capacity = { cpu = 12 }
[[type]]
name = "a"
demand = { cpu = 5 }
reward = 3
workload = "1/4"
[[type]]
name = "b"
demand = { cpu = 7 }
reward = 4
workload = "1/4"
"""
GRID = 'instance = "i.toml"\nuntil = 5\nreplications = 1\nservers = 5\npolicy = "dra"\n'
TRACE = "time,duration,cpu\n1,1,5\n"
TENANTS = Path(__file__).parents[2] / "examples" / "admission_small.toml"
LOSS = "simulate i.toml --policy dra --servers 5 --until 5"
FILES = {
    "i.toml": TWO,
    "c.toml": CLUSTER,
    "s.toml": SIZES,
    "law.toml": '[sizes]\ncsv = "law.csv"\n',
    "law.csv": "0.5\n0.25\n",
    "g.toml": GRID,
    "t.csv": TRACE,
    "own.py": OWN.format(place="return 0"),
    "og.toml": GRID.replace('"dra"', '"own.py:MINE"'),
    "state.toml": "[jobs]\na = 0\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys.modules["bounds.cli.app"], "INTERVAL", 1e9
    )  # no lines of progress, however slow the machine is
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def refused(arguments: str, capsys: pytest.CaptureFixture[str], *words: str) -> None:
    """Expect status 2, one line with the words, and nothing on standard output."""
    capsys.readouterr()
    assert run(arguments.split()) == 2, arguments
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1, (arguments, shown.err)
    assert all(word in shown.err for word in words), (words, shown.err)
    assert not shown.out


# ---- outputs and inputs ----------------------------------------------------------------------------------------------

OVER_AN_INPUT = {
    "solve i.toml --certificate i.toml": "i.toml",
    "solve i.toml --certificate ./i.toml": "i.toml",
    "region i.toml --certificate i.toml": "i.toml",
    "worst i.toml --vary workload --out i.toml": "i.toml",
    "share c.toml --mechanism tsf --certificate c.toml": "c.toml",
    "throughput s.toml --certificate s.toml": "s.toml",
    "throughput law.toml --certificate law.csv": "law.csv",
    "fluid i.toml --until 3 --csv i.toml": "i.toml",
    "fluid i.toml --until 3 --from state.toml --csv state.toml": "state.toml",
    f"{LOSS} --store i.toml": "i.toml",
    f"{LOSS} --trace t.csv --store t.csv": "t.csv",
    "experiment g.toml --store s.db --csv g.toml": "g.toml",
    "experiment g.toml --store s.db --csv i.toml": "i.toml",
    "experiment g.toml --store i.toml": "i.toml",
    "experiment og.toml --allow-code --store s.db --csv own.py": "own.py",
}


@pytest.mark.parametrize("arguments", OVER_AN_INPUT)
def test_no_output_over_an_input(arguments: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(arguments, capsys, OVER_AN_INPUT[arguments], "named twice")
    assert {name: (here / name).read_text() for name in FILES} == FILES
    assert not list(here.glob(".packproof.*"))


@pytest.mark.parametrize(
    "arguments",
    [
        "solve i.toml --certificate x.png --plot x.png",
        "solve i.toml --certificate x.png --plot ./x.png",
        "region i.toml --certificate x.png --plot x.png",
        "share c.toml --mechanism tsf --certificate x.png --plot x.png",
        "throughput s.toml --certificate x.png --plot x.png",
        "fluid i.toml --until 3 --csv x.png --plot x.png",
        f"{LOSS} --store x.png --plot x.png",
        f"admission tune {TENANTS} --policy zeroth --sla 0.1 --until 9 --store x.png --plot x.png",
        "experiment g.toml --store x --csv x",
        "experiment g.toml --store x --csv x-journal",
        "experiment g.toml --store x --csv x-wal",
    ],
)
def test_no_two_outputs_at_one_place(arguments: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(arguments, capsys, "named twice")
    assert not list(here.glob("x*"))


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_another_name_of_an_input_is_the_input(link: object, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(link)
    link("i.toml", "other.json")
    refused("solve i.toml --certificate other.json", capsys, "named twice")
    refused("solve other.json --certificate i.toml", capsys, "named twice")
    assert (here / "i.toml").read_text() == TWO


def test_links_are_followed_and_stay(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "folder" / "real.json").write_text("{}")
    (here / "link.json").symlink_to("folder/real.json")
    (here / "new.json").symlink_to("folder/made.json")
    for name, real in (("link.json", "real.json"), ("new.json", "made.json")):
        assert run(["solve", "i.toml", "--certificate", name]) == 0
        assert (here / name).is_symlink()
        assert json.loads((here / "folder" / real).read_text())["kind"] == "assignment"


@pytest.mark.slow
def test_links_that_lead_nowhere(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a").symlink_to("b")
    (here / "b").symlink_to("a")
    (here / "lost").symlink_to("none/file")
    for arguments in ("solve a", "check a", f"{LOSS} --trace a", "experiment a --store s.db", "share a"):
        refused(arguments, capsys, "a: cannot be read")
    for option in ("solve i.toml --certificate", f"{LOSS} --store", "fluid i.toml --until 3 --csv"):
        refused(f"{option} a", capsys, "a: cannot be written")
        refused(f"{option} lost", capsys, "lost: cannot be written: there is no folder")


@pytest.mark.slow
def test_names_that_are_too_long(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "n" * 300
    for arguments in (f"solve {name}", f"check {name}", f"{LOSS} --trace {name}", f"experiment {name} --store s.db"):
        refused(arguments, capsys, "cannot be read: File name too long")
    for option in ("solve i.toml --certificate", f"{LOSS} --store", "worst i.toml --vary workload --out"):
        refused(f"{option} {name}", capsys, "cannot be written: File name too long")
    longest = "ü" * 127  # 254 bytes: the temporary file beside it has a name of its own
    assert run(["solve", "i.toml", "--certificate", longest]) == 0
    assert (here / longest).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["/dev/zero", "/dev/null", "/dev/full", "pipe", "socket", "to-pipe", "folder"])
def test_only_regular_files(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    os.symlink("pipe", "to-pipe")
    (here / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        begin = time.monotonic()
        for arguments in (
            f"solve {kind}",
            f"check {kind}",
            f"share {kind}",
            f"throughput {kind}",
            f"experiment {kind} --store s.db",
            f"{LOSS} --trace {kind}",
            f"fluid i.toml --until 3 --from {kind}",
        ):
            refused(arguments, capsys, kind, "expected a file, found a ")
        for arguments in (
            f"solve i.toml --certificate {kind}",
            f"fluid i.toml --until 3 --csv {kind}",
            f"worst i.toml --vary workload --out {kind}",
            f"{LOSS} --store {kind}",
            f"experiment g.toml --store s.db --csv {kind}",
        ):
            refused(arguments, capsys, kind, "expected a file name to write, found a ")
    assert time.monotonic() - begin < 30  # nothing waited for a writer


def test_the_checker_alone_reads_regular_files_only(here: Path) -> None:
    os.mkfifo("pipe")
    (here / "large.json").touch()
    os.truncate("large.json", 2**26 + 1)
    for name in ("/dev/zero", "pipe", "large.json", "."):
        command = [sys.executable, "-I", "-S", str(ROOT / "bounds" / "checker.py"), name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith(name)


@pytest.mark.usefixtures("here")
def test_a_policy_that_is_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.py")
    refused("simulate i.toml --policy pipe.py:MINE --servers 5 --until 5", capsys, "pipe.py", "found a pipe")


@pytest.mark.usefixtures("here")
def test_other_handles_are_no_files(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"):
        refused(f"solve i.toml --certificate {name}", capsys, name)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_limits_hold_for_files_without_a_size() -> None:
    place = Path("/proc/self/status")
    assert place.stat().st_size == 0
    with pytest.raises(InputError, match="expected at most"):
        read_bytes(place, most=10)
    assert len(read_bytes(place)) > 10


@pytest.mark.usefixtures("here")
def test_a_file_that_becomes_a_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("pipe")
    regular = os.stat("i.toml")
    monkeypatch.setattr("theory.files.places.os.stat", lambda *_args, **_kwargs: regular)
    with pytest.raises(InputError, match="found a pipe"):
        open_input("pipe")


# ---- standard output -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_json_and_csv_go_to_standard_output(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        "solve i.toml --certificate",
        "region i.toml --certificate",
        "throughput law.toml --certificate",
        "share c.toml --mechanism tsf --certificate",
    ):
        capsys.readouterr()
        assert run([*arguments.split(), name]) == 0
        assert json.loads(capsys.readouterr().out)["digest"]  # the document alone
    for arguments in ("fluid i.toml --until 3 --points 3 --csv", "experiment g.toml --store s.db --workers 1 --csv"):
        capsys.readouterr()
        assert run([*arguments.split(), name]) == 0
        rows = capsys.readouterr().out.splitlines()
        assert len({row.count(",") for row in rows}) == 1 < len(rows)
    refused(f"solve i.toml --certificate {name} --json", capsys, "standard output")
    refused(f"solve i.toml --json --certificate {name}", capsys, "standard output")
    refused(f"worst i.toml --vary workload --out {name}", capsys, "standard output")
    refused(f"{LOSS} --store {name}", capsys, "standard output")
    assert not (here / "-").exists()


def packproof(arguments: str, folder: Path, before: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command by a shell, with what stands before and after it."""
    command = f"{before} exec '{sys.executable}' -m packproof {arguments} {after}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", ["catalogue m5.large", "catalogue m5.large --json", "solve i.toml --certificate -", "--help"]
)
def test_a_full_disk_behind_standard_output(arguments: str, here: Path) -> None:
    done = packproof(arguments, here, after="> /dev/full")
    assert done.returncode == 2
    assert done.stderr == "packproof: the answer cannot be written to standard output: No space left on device\n"


@pytest.mark.slow
def test_closed_streams(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "catalogue m5.large --json"  # a process that loads little
    assert run(asked.split()) == 0
    expected = json.loads(capsys.readouterr().out)
    done = packproof("solve i.toml --certificate c.json", here, after=">&-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output is closed" in done.stderr
    assert not (here / "c.json").exists()
    whole = packproof(asked, here, after="2>&-").stdout
    assert {**json.loads(whole), "made": 0} == {**expected, "made": 0}  # made by the libraries of another process
    for after in ("2>&-", "2> /dev/full"):
        done = packproof("solve none.toml", here, after=after)
        assert (done.returncode, done.stdout) == (2, "")
    done = packproof(asked, here, after="<&-")
    assert (done.returncode, done.stdout) == (0, whole)


FEW_HANDLES = """
import sys
from bounds.cli import run

for line in sys.stdin:
    assert run(line.split()) == (2 if "none" in line else 0), line
"""
"""Runs the commands of its input, each in what the last has left of the handles."""


@pytest.mark.slow
def test_few_file_handles(here: Path) -> None:
    commands = ("solve i.toml", "region i.toml", "share c.toml", "throughput s.toml", "check none.json", LOSS)
    done = subprocess.run(
        ["bash", "-c", f"ulimit -n 20; exec '{sys.executable}' -c '{FEW_HANDLES}'"],
        input="\n".join(commands),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    done = packproof(f"{LOSS} --replications 3 --store s.db", here, before="ulimit -n 10;")
    lines = [line for line in done.stderr.splitlines() if "starting" not in line]
    assert (done.returncode, done.stdout, len(lines)) == (2, "", 1), done.stderr
    assert "file handles" in lines[0]


# ---- stores, schedulers, authors -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_databases_of_others_stay_as_they_are(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, statements in {
        "cells.db": ["create table cells (a)", "insert into cells values (1)"],
        "wal.db": ["pragma journal_mode = wal", "create table t (a)"],
        "mark.db": ["pragma application_id = 7", "create table t (a)"],
        "view.db": ["create view cells as select 1"],
    }.items():
        connection = sqlite3.connect(name)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        before = Path(name).read_bytes()
        for command in (LOSS, "experiment g.toml"):
            refused(f"{command} --store {name}", capsys, name, "another program's database")
        assert Path(name).read_bytes() == before
    (here / "broken.db").write_bytes(b"SQLite format 3\x00" + b"x" * 50)
    refused(f"{LOSS} --store broken.db", capsys, "broken.db", "expected a store of experiments")


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_scheduler_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    refused(f"{LOSS} --replications 2 --engine dask://127.0.0.1:1", capsys, "--engine", "127.0.0.1:1")
    refused("experiment g.toml --store s.db --engine dask://127.0.0.1:1", capsys, "--engine", "127.0.0.1:1")


PREPARE = "def prepare(setting): return Common(**common(setting))"


@pytest.mark.slow
@pytest.mark.parametrize("leave", ["sys.exit(0)", "sys.exit('bye')", "raise SystemExit", "exit(3)"])
def test_an_author_who_leaves(leave: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process; one way to leave also in others, which a run of several replications and a grid begin."""
    honest = "import sys\n" + OWN.format(place="return -1")
    assert PREPARE in honest
    workers = "--workers 2" if leave == "sys.exit(0)" else "--workers 1"
    simulate = "simulate i.toml --policy own.py:MINE --servers 5 --until 5"
    for number, code in enumerate(
        (
            honest.replace("return -1", leave),
            honest.replace(PREPARE, f"def prepare(setting): {leave}"),
            honest + f"{leave}\n",
        )
    ):
        (here / "own.py").write_text(code)
        refused(simulate, capsys, "--policy", "own.py:", "does not run" if number == 2 else "called sys.exit")
        if number == 0 and leave == "sys.exit(0)":
            refused(f"{simulate} --replications 3", capsys, "own.py:", "called sys.exit")
        refused(f"experiment og.toml --allow-code --store s{number}.db {workers}", capsys, "own.py:")


# ---- the place itself ------------------------------------------------------------------------------------------------


def test_outputs_are_whole_or_not_at_all(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "o.txt").write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("theory.files.places.os.replace", fail)
    with pytest.raises(InputError, match=r"o\.txt: cannot be written: No space left on device"):
        write_text("o.txt", "after")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(InputError, match="f: cannot be written"):
        write_folder("f", {"a": "1"})
    assert (here / "o.txt").read_text() == "before"
    assert sorted(path.name for path in here.iterdir()) == sorted([*FILES, "o.txt"])


def test_a_file_that_was_read_is_not_written_even_if_nobody_announced_it(here: Path) -> None:
    with files_of_a_command():
        read_bytes("i.toml")
        with pytest.raises(InputError, match="named twice"):
            write_bytes("i.toml", b"")
    assert (here / "i.toml").read_text() == TWO
    write_bytes("i.toml", b"x")  # a program of its own may do so
    assert (here / "i.toml").read_text() == "x"


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_an_output_is_compared_with_inputs_as_it_is_written(link: object, here: Path) -> None:
    """An input that an editor has written anew since is another file under the same name."""
    assert callable(link)
    with files_of_a_command():
        read_bytes("i.toml")
        (here / "saved").write_text("anew")
        (here / "saved").replace(here / "i.toml")
        link("i.toml", "other.json")
        with pytest.raises(InputError, match="named twice"):
            write_bytes("other.json", b"")
    assert (here / "i.toml").read_text() == "anew"


def test_a_folder_is_new_or_empty(here: Path) -> None:
    write_folder("new", {"a": "1", "b": "2"})
    assert {path.name: path.read_text() for path in (here / "new").iterdir()} == {"a": "1", "b": "2"}
    (here / "empty").mkdir()
    write_folder("empty", {"a": "1"})
    for place in ("new", "empty", "i.toml"):
        with pytest.raises(InputError, match="expected a folder that is empty or not there"):
            write_folder(place, {"a": "3"})
    with pytest.raises(InputError, match="there is no folder none"):
        write_folder("none/new", {"a": "1"})
