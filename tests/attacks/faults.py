"""Faults around packproof: full disks, signals, closed descriptors, little memory, terminals that lack characters.

Whatever happens to a command, its status says it, standard error has one line at most beside those of progress, no file
is half written, and what was there before is there afterwards.
"""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.attacks.report import Report

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
YESTERDAY = b"from yesterday\n"

STARTED = "import os, packproof; os.write({}, b'x'); packproof.main()"
"""What a process runs that tells when packproof begins: before that, a signal meets Python and not packproof."""

PROGRESS = re.compile(r"\.\.\.$|: starting$|replications$|compiling|cells(, .* to go)?$|^time |^[0-9]+ of |events$|%")
"""Lines that say how far the work is."""

COMMANDS = {
    "solve": f"solve {EXAMPLES}/ec2.toml --servers 77 --certificate out.json --json",
    "picture": f"solve {EXAMPLES}/four_types.toml --plot out.png",
    "fluid": f"fluid {EXAMPLES}/four_types.toml --until 5 --csv out.csv",
    "region": f"region {EXAMPLES}/ec2.toml --certificate out.json",
    "experiment": f"experiment {EXAMPLES}/small_grid.toml --store out.db --csv out.csv --workers 1",
    "share": f"share {EXAMPLES}/four_classes.toml --mechanism tsf --certificate out.json",
}
"""Commands that write files named ``out.*``."""


class Command:
    """One command in a folder in which its outputs are there from yesterday."""

    def __init__(self, folder: Path, words: str, report: Report, name: str) -> None:
        self.folder, self.words, self.report, self.name = folder, words, report, name
        outputs = set(re.findall(r"out\.\w+", words))
        self.written = {folder / output for output in outputs if not output.endswith(".db")}
        for place in self.written:
            place.write_bytes(YESTERDAY)
        self.beside = {"out.db", "out.db-wal", "out.db-shm", "out.db.lock"} if "out.db" in outputs else set()

    def start(self, **how: Any) -> subprocess.Popen[bytes]:
        """Begin it; `how` is what happens to it."""
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"} | how.pop("env", {})
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        script = streams.pop("script", "import packproof; packproof.main()")
        command = [sys.executable, "-c", script, *self.words.split()]
        return subprocess.Popen(command, cwd=self.folder, env=environment, **streams)

    def judge(self, process: subprocess.Popen[bytes], allowed: set[int]) -> None:
        """Wait for it, and say what is wrong with how it ended."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            _, said = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.report.wrong.append(f"{self.name}: did not end within 120 s")
            return
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        self.report.took(seconds, self.name)
        self.report.outcomes[f"status {process.returncode}"] += 1
        lines = [line for line in (said or b"").decode(errors="replace").splitlines() if not PROGRESS.search(line)]
        if process.returncode not in allowed:
            self.report.wrong.append(f"{self.name}: status {process.returncode}: {lines[-1:]}")
        if len(lines) > 1:
            self.report.wrong.append(f"{self.name}: {len(lines)} lines, {lines[0][:80]} ... {lines[-1][:80]}")
        self._judge_files(finished=process.returncode == 0)

    def _judge_files(self, *, finished: bool) -> None:
        strangers = {place.name for place in self.folder.iterdir()} - {place.name for place in self.written}
        if strangers - self.beside:
            self.report.wrong.append(f"{self.name}: left {sorted(strangers - self.beside)}")
        for place in self.written:
            content = place.read_bytes() if place.exists() else b""
            if content == YESTERDAY and finished:
                self.report.wrong.append(f"{self.name}: {place.name} was not written")
            if content != YESTERDAY and not _is_whole(place, content):
                self.report.wrong.append(f"{self.name}: {place.name} is not whole, {len(content)} bytes")


def _is_whole(place: Path, content: bytes) -> bool:
    ends = {".json": b"}\n", ".png": b"IEND\xaeB`\x82", ".csv": b"\n"}
    return len(content) > 100 and content.endswith(ends[place.suffix])


def attack_faults(small: bool, seed: int) -> Report:
    """Let things happen to commands, as many as the form has time for."""
    report = Report()
    rng = random.Random(seed)
    names = list(COMMANDS)
    for attack in (_signals, _disks, _descriptors, _memory, _encodings):
        attack(report, rng, rng.sample(names, 1) if small else names, 2 if small else 8)
    return report


@cache
def _compile_first(name: str) -> None:
    """Run a command once with nothing happening to it: the first of its kind on a machine compiles its loop."""
    with TemporaryDirectory() as folder:
        Command(Path(folder), COMMANDS[name], Report(), name).start().communicate(timeout=300)


@contextmanager
def _commanded(report: Report, kind: str, name: str) -> Iterator[Command]:
    _compile_first(name)
    with TemporaryDirectory() as folder:
        yield Command(Path(folder), COMMANDS[name], report, f"{kind}, {name}")


def _signals(report: Report, rng: random.Random, names: list[str], times: int) -> None:
    """Ctrl-C and SIGTERM from the first instant of packproof on, its imports included."""
    for name in names:
        for number in range(2 * times):
            sent = (signal.SIGINT, signal.SIGTERM)[number % 2]
            delay = 0.005 + rng.choice([0.0, 0.05, 0.5, 2.0]) * rng.random()  # for Python to reach the function
            with _commanded(report, f"{sent.name} after {delay:.3f} s", name) as command:
                read, write = os.pipe()
                process = command.start(script=STARTED.format(write), pass_fds=(write,))
                os.close(write)
                os.read(read, 1)
                os.close(read)
                time.sleep(delay)
                process.send_signal(sent)
                command.judge(process, {0, 130})


def _limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def _disks(report: Report, rng: random.Random, names: list[str], times: int) -> None:
    """Files that may not grow, a device that is full as standard output, and a small disk where one can be mounted."""
    for name in names:
        for _ in range(times):
            most = rng.choice([0, 64, 1000, 20_000])
            with _commanded(report, f"files of at most {most} bytes", name) as command:
                command.judge(command.start(preexec_fn=_limited(resource.RLIMIT_FSIZE, most)), {0, 2})
        with _commanded(report, "a full device as standard output", name) as command, open("/dev/full", "wb") as full:
            process = command.start(stdout=full)
            process.wait(120)
            for place in command.written:  # outputs are written before the answer is printed
                place.write_bytes(YESTERDAY)
            command.judge(process, {2})
    with TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            report.outcomes["no disk mounted"] += 1
            return
        try:
            for name in names:
                for place in Path(folder).iterdir():
                    place.unlink()
                command = Command(Path(folder), COMMANDS[name], report, f"a disk of 8 KiB, {name}")
                command.judge(command.start(), {0, 2})
        finally:
            subprocess.run(["umount", folder], capture_output=True, check=True)


def _descriptors(report: Report, rng: random.Random, names: list[str], times: int) -> None:
    """Standard streams that are closed, and a reader who has left."""
    for name in names:
        for closed in rng.sample(((0,), (1,), (2,), (0, 2), (1, 2)), min(times, 5)):
            with _commanded(report, f"descriptors {closed} closed", name) as command:
                process = command.start(preexec_fn=lambda closed=closed: [os.close(one) for one in closed])
                command.judge(process, {2} if 1 in closed else {0})
        with _commanded(report, "a reader who has left", name) as command:
            process = command.start()
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            command.judge(process, {0})


def _memory(report: Report, rng: random.Random, names: list[str], times: int) -> None:
    """Address spaces, also such as the libraries cannot begin in."""
    for name in names:
        for _ in range(times):
            most = rng.choice([rng.randrange(60, 700), rng.randrange(700, 4000)]) * 10**6
            with _commanded(report, f"{most / 1e9:.2f} GB of memory", name) as command:
                command.judge(command.start(preexec_fn=_limited(resource.RLIMIT_AS, most)), {0, 2})


def _encodings(report: Report, rng: random.Random, names: list[str], times: int) -> None:
    """Terminals that lack the characters of a name."""
    del names
    for encoding in ("latin-1", "ascii", "cp437", "koi8-r")[: times // 2]:
        with TemporaryDirectory() as folder:
            instance = Path(folder) / "i.toml"
            name = "".join(chr(rng.choice([0xE9, 0x4E2D, 0x1F600])) for _ in range(3))
            instance.write_text((EXAMPLES / "four_types.toml").read_text().replace("small", name), encoding="utf-8")
            for words in (f"solve {instance}", f"solve {instance} --json", f"solve {instance}-none-{name}"):
                with TemporaryDirectory() as empty:
                    command = Command(Path(empty), words, report, f"{encoding}, {words[:5]}{words[-6:]}")
                    process = command.start(env={"PYTHONIOENCODING": encoding})
                    command.judge(process, {2} if "none" in words else {0})
