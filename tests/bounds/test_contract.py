"""What other programs rely on: standard output holds the answer alone, statuses mean one thing, files stay whole."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
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
from bounds.cli.endings import TRACEBACK
from fluid.experiment.store import Store
from theory.errors import InputError, shortened
from theory.greedy import optimal

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FOUR = str(EXAMPLES / "four_types.toml")
SMALL = str(EXAMPLES / "admission_small.toml")

# ---- standard output holds the answer alone --------------------------------------------------------------------------

CHATTING = """
import ctypes, json, os, sys, types
import highspy
import bounds.cli.app
from bounds.cli import run

def chat():
    os.write(1, b"a banner on descriptor 1\\n")
    ctypes.CDLL(None).printf(b"a banner in the buffer of the C library\\n")
    os.system("echo a banner of a child")
    print("a line of Python")
    sys.__stdout__.write("a line for the first standard output\\n")

def chatting(function):
    return lambda *arguments, **how: (chat(), function(*arguments, **how))[1]

highspy.Highs = chatting(highspy.Highs)
sys.modules["bounds.cli.app"].json = types.SimpleNamespace(dumps=chatting(json.dumps))
for line in sys.stdin:
    assert run([*line.split(), "--json"]) == 0, line
"""
"""Runs the commands of its input in a process where libraries print by every road; their answers are its output."""

COMMANDS = (
    "solve %four_types.toml --servers 7",
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
    "export @solve_two.json --format lp --out !out",
    "attack %rules_to_attack.py:first_fit --kind items --items 3 --evaluations 9 --workers 1",
    "admission optimal %admission_small.toml --most-deployments 2",
)


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
        answer, end = json.JSONDecoder().raw_decode(rest)
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


def test_a_file_that_is_printed_is_utf_8_and_an_answer_is_escaped(tmp_path: Path) -> None:
    """A terminal that lacks characters changes no status; JSON stays JSON, and a printed file stays the file."""
    named = tmp_path / "named.toml"
    named.write_text(Path(FOUR).read_text().replace('"small"', '"中é"'))
    outputs: dict[str, list[bytes]] = {}
    for encoding in ("utf-8", "latin-1", "ascii"):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
        code = (
            "import sys; from bounds.cli import run\n"
            "for line in sys.stdin.read().splitlines():\n"
            "    assert run(line.split()) == 0, line\n"
            "    print('|', flush=True)"
        )
        proof = tmp_path / f"{encoding}.json"
        lines = [f"solve {named} --certificate {proof}", f"check {proof}", f"check {proof} --json",
                 f"solve {named} --certificate -", f"solve {named} --json"]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code],
            input="\n".join(lines).encode(),
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs[encoding] = done.stdout.split(b"|\n")
    assert "中é".encode() in outputs["utf-8"][0]
    assert r"\u4e2dé".encode("latin-1") in outputs["latin-1"][0]
    assert rb"\u4e2d\xe9" in outputs["ascii"][0]
    for place in (2, 4):
        documents = [json.loads(output[place].decode(name)) for name, output in outputs.items()]
        for document in documents:
            del document["made"]  # it names the file
        assert documents[0] == documents[1] == documents[2]
    assert outputs["utf-8"][3] == outputs["latin-1"][3] == outputs["ascii"][3] == (tmp_path / "ascii.json").read_bytes()


# ---- statuses --------------------------------------------------------------------------------------------------------


def ended(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    status = run(arguments)
    shown = capsys.readouterr()
    assert shown.out == ""
    return status, shown.err


def test_a_fault_of_packproof_has_a_status_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError(f"by\nzero {'x' * 5000}")

    monkeypatch.setattr("theory.greedy.optimal.global_greedy", fails)
    monkeypatch.delenv(TRACEBACK, raising=False)
    status, line = ended(["solve", FOUR], capsys)
    assert (status, line.count("\n")) == (70, 1)
    assert line.startswith("packproof: a fault of packproof itself: ZeroDivisionError: by zero xxx")
    assert "(theory/greedy/optimal.py:" in line
    assert "please report it" in line
    assert len(line) < 800
    monkeypatch.setenv(TRACEBACK, "1")
    status, more = ended(["solve", FOUR], capsys)
    assert status == 70
    assert more.startswith(line)
    assert "Traceback (most recent call last)" in more


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MemoryError(), 2, "packproof: the memory is used up: expected more of it"),
        (InputError("x"), 2, "x\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (SystemExit(3), 2, "packproof: the code of an author called sys.exit(3)"),
        (OSError(28, "No space left on device", "t.csv"), 2, "packproof: t.csv: No space left on device"),
        (ImportError("no module"), 70, "packproof: a fault of packproof itself: ImportError: no module"),
        (RecursionError("too deep"), 70, "packproof: a fault of packproof itself: RecursionError: too deep"),
    ],
)
def test_endings(
    error: BaseException, status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr("theory.greedy.optimal.global_greedy", fails)
    found, line = ended(["solve", FOUR], capsys)
    assert (found, line.count("\n")) == (status, 1)
    assert line.startswith(said)


STARTING = """
import os, signal, sys
wanted = sys.argv[1]
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == wanted:
            {what}
sys.meta_path.insert(0, Finder)
import packproof
sys.argv[1:] = ["solve", {four!r}]
packproof.main()
"""


@pytest.mark.parametrize(
    ("module", "what", "status", "said"),
    [
        ("bounds", "os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted\n"),
        ("typer", "os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted\n"),
        ("bounds.cli.worst", "os.kill(os.getpid(), signal.SIGTERM)", 130, "interrupted\n"),
        ("highspy", "os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted\n"),
        ("numpy", "os.kill(os.getpid(), signal.SIGTERM)", 130, "interrupted\n"),
        ("typer", "raise ImportError('no typer')", 2, "no typer\n"),
        ("typer", "raise MemoryError", 2, "packproof: the memory is used up"),
    ],
)
def test_an_interrupt_while_packproof_is_loaded(module: str, what: str, status: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTING.format(what=what, four=FOUR), module],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done.stderr
    assert done.stderr.startswith(said)


def spoilt(kind: str, folder: Path) -> str:
    """Return the arguments of a command that reads a file made to break it."""
    long = f'"{"1" * 140_000}"'
    files: dict[str, tuple[str, str]] = {
        "sizes": (f"size\n0.5\n{long}\n", "throughput S.toml"),
        "own": (f"name,cpu,memory,price\n{long},1,2,3\n", "instance --own F --server cpu=9,memory=9"),
        "items": (f"cpu\n{long}\n", "throughput I.toml"),
        "dots": (f"{'.'.join('a' * 100_000)} = 1\n", "solve F"),
        "header": (f"[{'.'.join(['a b', *'a' * 100_000])}]\n".replace("a b", '"a b"'), "solve F"),
        "arrays": (f"server = {'[' * 100_000}\n", "solve F"),
        "tables": (f"server = {'{a=' * 100_000}\n", "solve F"),
        "arrivals": (Path(SMALL).read_text().replace("arrival_rate = ", "arrival_rate = 1e18 #"),
                     "admission exact F --policy zeroth --threshold 5 --most-deployments 3"),
        "many arrivals": (Path(SMALL).read_text().replace("arrival_rate = ", "arrival_rate = 1e8 #"),
                          "admission simulate F --policy zeroth --threshold 5 --until 20 --replications 1"),
        "kappa": ((EXAMPLES / "admission.toml").read_text().replace("kappa = ", "kappa = 1e15 #"),
                  "admission law F --at 1 --size 4"),
    }  # fmt: skip
    text, command = files[kind]
    (folder / "f.csv").write_text(text)
    (folder / "S.toml").write_text('[sizes]\ncsv = "f.csv"\n')
    (folder / "I.toml").write_text('[items]\ncapacity = { cpu = 10 }\ncsv = "f.csv"\n')
    (folder / "f.toml").write_text(text)
    name = "f.csv" if kind == "own" else "f.toml"
    return " ".join(
        str(folder / {"F": name}.get(w, w)) if w in ("F", "S.toml", "I.toml") else w for w in command.split()
    )


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("sizes", "f.csv:3: expected comma-separated values (field larger than field limit (131072))"),
        ("own", "f.csv:2: expected comma-separated values (field larger than field limit (131072))"),
        ("items", "f.csv:2: expected comma-separated values (field larger than field limit (131072))"),
        ("dots", "f.toml: expected keys of at most 20 parts with dots between them"),
        ("header", "f.toml: expected keys of at most 20 parts with dots between them"),
        ("arrays", "f.toml: expected a flat TOML document, found one nested too deeply"),
        ("tables", "f.toml: expected a flat TOML document, found one nested too deeply"),
        ("arrivals", "f.toml: cluster.arrival_rate: expected at most 1,000,000,000 an hour, got 1e+18"),
        (
            "many arrivals",
            "f.toml: cluster.arrival_rate: 1e+08 an hour are 2e+09 deployments within 20 hours, expected",
        ),
        ("kappa", "f.toml: deployments.kappa: expected a number from -100 to 5, got 1e+15"),
    ],
)
def test_files_made_to_break_a_reader(kind: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, line = ended(spoilt(kind, tmp_path).split(), capsys)
    assert (status, line.count("\n")) == (2, 1), line
    assert line.startswith(f"{tmp_path}/{said}"), line


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["share", str(EXAMPLES / "four_classes.toml"), "--mechanism", LONG],
        ["simulate", FOUR, "--policy", LONG, "--servers", "2", "--until", "9"],
        ["admission", "decide", SMALL, "--active", LONG, "--arriving", "8", "--horizons", "1"],
        ["verify", LONG],
        ["verify", "--level", LONG],
        ["solve", LONG],
        ["solve", FOUR, "--certificate", f"{LONG}/x.json"],
        [LONG],
    ],
)
def test_long_values_are_cut_in_messages(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, line = ended(arguments, capsys)
    assert (status, line.count("\n")) == (2, 1)
    assert len(line) < 2100
    assert "xxx...xxx" in line or LONG[:61] not in line


def test_messages_are_cut_where_they_quote() -> None:
    whole = f"types' names, the server's '{'a' * 40}' and '*' and {'b' * 50} are kept as they are, it is said"
    assert shortened(whole) == whole
    assert shortened(f"got '{'a' * 99}'; the user's") == f"got '{'a' * 37}...{'a' * 37}'; the user's"
    assert len(shortened("word " * 100_000)) <= 2000
    assert len(shortened("w" * 100_000)) <= 400


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
        connection.execute("drop table cells")
        connection.execute("create table cells (key text, value text)")

    def tables(connection: Any) -> None:
        connection.execute("drop table cells")
        connection.execute("create table others (key text)")

    def numbers(connection: Any) -> None:
        connection.execute("update cells set numbers = 'none', arrays = x'00'")

    return {"columns": columns, "tables": tables, "numbers": numbers}


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
    for command in commands[kind == "numbers" :]:
        status, line = ended(command, capsys)
        assert (status, line.count("\n")) == (2, 1)
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
        for beside in ("lock", "db-wal", "db-shm"):
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


SHUTTING_DOWN = """
import atexit, os, signal, sys
def send(number=int(sys.argv[1]), kill=os.kill, process=os.getpid()):
    kill(process, number)
class Late:
    def __del__(self, send=send):  # as Python clears its modules, when it has given up its handlers of signals
        send()
{when}
import packproof
sys.argv[1:] = {words!r}
packproof.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["atexit.register(send)", "late = Late()"])
@pytest.mark.parametrize(("words", "status"), [(["catalogue", "n2-standard-4"], 0), (["catalogue", "none"], 2)])
def test_a_signal_while_python_shuts_down_changes_no_status(
    number: int, when: str, words: list[str], status: int
) -> None:
    code = SHUTTING_DOWN.format(when=when, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code, str(number)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert (done.stdout.count("\n") > 0) is (status == 0)
    assert done.stderr.count("\n") == (status != 0), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit of Linux")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["solve", FOUR], 2),
        (["admission", "exact", SMALL, "--policy", "zeroth", "--threshold", "8", "--most-deployments", "4"], 2),
        (["check", str(ROOT / "tests/frozen/certificates/solve_two.json")], 0),
        (["--version"], 0),
    ],
)
def test_memory_too_small_for_numpy_has_the_status_of_a_limit(words: list[str], status: int) -> None:
    """With 100 MB OpenBLAS would end the process with status 1, which is that of a refuted certificate."""
    limit = 100_000_000 if status else 300_000_000
    done = subprocess.run(
        [sys.executable, "-c", "import packproof; packproof.main()", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, bool(done.stdout)) == (status, status == 0), done.stderr
    assert done.stderr.count("\n") == (status != 0)
    assert not status or done.stderr.startswith("packproof: the memory is used up: expected more of it (see ulimit -v)")
