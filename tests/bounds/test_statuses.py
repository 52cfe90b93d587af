"""A status means one thing: 0 an answer, 1 a verdict, 2 bad input, 70 a fault of ours, as other programs rely on."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bounds.certificates import assignment_certificate
from bounds.cli import run
from bounds.cli.endings import TRACEBACK
from theory.errors import InputError, shortened

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FOUR = str(EXAMPLES / "four_types.toml")
SMALL = str(EXAMPLES / "admission_small.toml")


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


def test_a_certificate_that_the_checker_refuses_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def altered(*parts: Any) -> dict[str, Any]:
        document = assignment_certificate(*parts)
        return {**document, "claims": {**document["claims"], "optimal": "1"}}

    monkeypatch.setattr("bounds.certificates.assignment.assignment_certificate", altered)
    path = tmp_path / "proof.json"
    status, line = ended(["solve", FOUR, "--certificate", str(path)], capsys)
    assert (status, line.count("\n")) == (70, 1)
    assert not list(tmp_path.iterdir())


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
    ended_with, line = ended(["solve", FOUR], capsys)
    assert (ended_with, line.count("\n")) == (status, 1)
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
        ("bounds.cli.solve", "os.kill(os.getpid(), signal.SIGTERM)", 130, "interrupted\n"),
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
        (
            "arrivals",
            "f.toml: cluster.arrival_rate: expected a number greater than 0 and at most 1,000,000,000 an hour",
        ),
        (
            "many arrivals",
            "f.toml: cluster.arrival_rate: 1e+08 an hour are 2e+09 deployments within 20 hours, expected",
        ),
        ("kappa", "f.toml: deployments.kappa: expected a number above -5 and below 5, got 1e15"),
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
    sentence = f"types' names, the server's '{'a' * 40}' and '*' and {'b' * 50} are kept as they are, it is said"
    assert shortened(sentence) == sentence
    assert shortened(f"got '{'a' * 99}'; the user's") == f"got '{'a' * 37}...{'a' * 37}'; the user's"
    assert len(shortened("word " * 100_000)) <= 2000
    assert len(shortened("w" * 100_000)) <= 400


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


@pytest.mark.slow
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
