"""Faults around one command: signals, full disks, read-only folders, closed descriptors, little memory, terminals.

Whatever happens to a command, its status says it, standard error has one line at most beside those of progress, no file
is half written, and what was there before is there afterwards.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.tools.attacks.report import Report

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
YESTERDAY = b"from yesterday\n"

LIMITS = {resource.RLIMIT_AS: 6 * 10**9, resource.RLIMIT_CPU: 200}
"""What every process may take: bytes of addresses, and seconds of CPU."""

PATIENCE = 150.0
"""Seconds of wall after which a command counts as one that does not end."""

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


def limit(limits: Mapping[int, int] = LIMITS) -> None:
    """Limit what this process may take."""
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


class Command:
    """One command in a folder in which its outputs are there from yesterday."""

    def __init__(self, folder: Path, words: str, report: Report, name: str) -> None:
        self.folder, self.words, self.report, self.name = folder, words, report, name
        self.lines: list[str] = []  # of standard error, without those of progress
        self.answer: bytes | None = None
        self.beside = {place.name for place in folder.iterdir()}
        outputs = set(re.findall(r"out\.\w+", words))
        self.written = {folder / output for output in outputs if not output.endswith(".db")}
        for place in self.written:
            place.write_bytes(YESTERDAY)
        self.beside |= {"out.db", "out.db-wal", "out.db-shm"} if "out.db" in outputs else set()

    def start(
        self, *, limits: Mapping[int, int] = {}, before: Callable[[], Any] = bool, **how: Any
    ) -> subprocess.Popen[bytes]:
        """Begin it within `limits`, in a process that calls `before` first; `how` is of `subprocess`."""

        def begin() -> None:
            before()
            limit({**LIMITS, **limits})

        environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"} | how.pop("env", {})
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        script = streams.pop("script", "import packproof; packproof.main()")
        command = [sys.executable, "-c", script, *self.words.split()]
        return subprocess.Popen(command, cwd=self.folder, env=environment, preexec_fn=begin, **streams)  # noqa: PLW1509 (no threads)

    def judge(self, process: subprocess.Popen[bytes], allowed: set[int]) -> int:
        """Wait for it, say what is wrong with how it ended, and return its status."""
        try:
            self.answer, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            self.answer, said = process.communicate()
            self.blame(f"did not end within {PATIENCE:g} s")
        self.report.outcomes[f"status {process.returncode}"] += 1
        self.lines = [line for line in (said or b"").decode(errors="replace").splitlines() if not PROGRESS.search(line)]
        if process.returncode not in allowed:
            self.blame(f"status {process.returncode}: {self.lines[-1:]}")
        if len(self.lines) > 1:
            ends = f"{self.lines[0][:80]} ... {self.lines[-1][:80]}"
            self.blame(f"{len(self.lines)} lines, {ends}")
        self._judge_files(finished=process.returncode == 0)
        self.report.tried += 1
        return process.returncode

    def blame(self, what: str) -> None:
        """Say what is wrong."""
        self.report.wrong.append(f"{self.name}: {what}")

    def _judge_files(self, *, finished: bool) -> None:
        strangers = {place.name for place in self.folder.iterdir()} - {place.name for place in self.written}
        if strangers - self.beside:
            self.blame(f"left {sorted(strangers - self.beside)}")
        for place in self.written:
            content = place.read_bytes() if place.exists() else b""
            if content == YESTERDAY and finished:
                self.blame(f"{place.name} was not written")
            if content != YESTERDAY and not _is_whole(place, content):
                self.blame(f"{place.name} is not whole, {len(content)} bytes")


def _is_whole(place: Path, content: bytes) -> bool:
    ends = {".json": b"}\n", ".png": b"IEND\xaeB`\x82", ".csv": b"\n"}
    return len(content) > 100 and content.endswith(ends[place.suffix])


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


def chosen(rng: random.Random, *, small: bool) -> list[str]:
    """Return names of commands: one where the form is small, else all."""
    return rng.sample(list(COMMANDS), 1) if small else list(COMMANDS)


def interrupted(command: Command, sent: signal.Signals, delay: float) -> bool:
    """Send a command a signal some seconds after packproof begins; judge it, and return whether it still ran then."""
    read, write = os.pipe()
    process = command.start(script=STARTED.format(write), pass_fds=(write,))
    os.close(write)
    os.read(read, 1)
    os.close(read)
    time.sleep(delay)
    is_running = process.poll() is None
    process.send_signal(sent)
    command.judge(process, {0, 130})
    return is_running


def signals(report: Report, rng: random.Random, *, small: bool) -> None:
    """Ctrl-C and SIGTERM at random instants from the first of packproof on, its imports included."""
    for name in chosen(rng, small=small):
        for number in range(2):
            sent = (signal.SIGINT, signal.SIGTERM)[number % 2]
            delay = 0.005 + rng.choice([0.0, 0.05, 0.5, 2.0]) * rng.random()  # for Python to reach the function
            with _commanded(report, f"{sent.name} after {delay:.3f} s", name) as command:
                interrupted(command, sent, delay)


def full_disks(report: Report, rng: random.Random, *, small: bool) -> None:
    """Files that may not grow, a device that is full as standard output, and a disk of 8 KiB where root may mount."""
    names = chosen(rng, small=small)
    for name in names:
        for most in rng.sample([0, 64, 1000, 20_000], 1 if small else 2):
            with _commanded(report, f"files of at most {most} bytes", name) as command:
                command.judge(command.start(limits={resource.RLIMIT_FSIZE: most}), {0, 2})
        with _commanded(report, "a full device as standard output", name) as command, open("/dev/full", "wb") as full:
            process = command.start(stdout=full)
            process.wait(PATIENCE)
            for place in command.written:  # outputs are written before the answer is printed
                place.write_bytes(YESTERDAY)
            command.judge(process, {2})
    with mounted("8k") as folder:
        for name in names if folder else ():
            assert folder is not None
            for place in folder.iterdir():
                place.unlink()
            command = Command(folder, COMMANDS[name], report, f"a disk of 8 KiB, {name}")
            command.judge(command.start(), {0, 2})


@contextmanager
def mounted(size: str) -> Iterator[Path | None]:
    """Give a small disk in memory; None where it may not be mounted, as by anybody but root."""
    with TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        try:
            yield Path(folder) if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", folder], capture_output=True, check=True)


LIBC = ctypes.CDLL(None)


def without_rights_of_root() -> None:
    """Drop from what this process may begin the rights of root to write and read everywhere; for others do nothing."""
    for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        LIBC.prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """Let nothing be made in a folder, nor in those below, by processes `without_rights_of_root`."""
    folders = [folder, *(place for place in folder.rglob("*") if place.is_dir())]
    for place in folders:
        place.chmod(0o555)
    try:
        yield
    finally:
        for place in folders:
            place.chmod(0o755)


def read_only(report: Report, rng: random.Random, *, small: bool) -> None:
    """A folder that cannot be written for results and the store, and one for machine code, with and without content."""
    for name in chosen(rng, small=small):
        with _commanded(report, "a read-only folder", name) as command, sealed(command.folder):
            command.judge(command.start(before=without_rights_of_root), {2})
            if any(place.read_bytes() != YESTERDAY for place in command.written) or len(command.lines) != 1:
                report.wrong.append(f"{command.name}: expected one line and nothing written, said {command.lines}")
    with TemporaryDirectory() as folder:
        cache_folder = Path(folder) / "cache"
        cache_folder.mkdir()
        answers = []
        for what in ("empty", "filled", "with its content")[: 1 if small else 3]:
            with _commanded(report, f"a read-only folder of machine code, {what}", "fluid") as command:
                how = {"before": without_rights_of_root, "env": {"NUMBA_CACHE_DIR": str(cache_folder)}}
                if what == "filled":
                    command.judge(command.start(env=how["env"]), {0})
                else:
                    with sealed(cache_folder):
                        command.judge(command.start(**how), {0})
                answers.append((command.folder / "out.csv").read_bytes())
        if len(set(answers)) > 1:
            report.wrong.append("a read-only folder of machine code: another answer")


def descriptors(report: Report, rng: random.Random, *, small: bool) -> None:
    """Standard streams that are closed, and a reader who has left."""
    for name in chosen(rng, small=small):
        for closed in rng.sample(((0,), (1,), (2,), (0, 2), (1, 2)), 2):
            with _commanded(report, f"descriptors {closed} closed", name) as command:
                process = command.start(before=lambda closed=closed: [os.close(one) for one in closed])
                command.judge(process, {2} if 1 in closed else {0})
        with _commanded(report, "a reader who has left", name) as command:
            process = command.start()
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            command.judge(process, {0})


def memory(report: Report, rng: random.Random, *, small: bool) -> None:
    """Address spaces, also such as the libraries cannot begin in."""
    for name in chosen(rng, small=small):
        for _ in range(1 if small else 2):
            most = rng.choice([rng.randrange(60, 700), rng.randrange(700, 4000)]) * 10**6
            with _commanded(report, f"{most / 1e9:.2f} GB of memory", name) as command:
                command.judge(command.start(limits={resource.RLIMIT_AS: most}), {0, 2})


def encodings(report: Report, rng: random.Random, *, small: bool) -> None:
    """Terminals that lack the characters of a name."""
    for encoding in rng.sample(["latin-1", "ascii", "cp437", "koi8-r"], 1 if small else 4):
        with TemporaryDirectory() as folder:
            instance = Path(folder) / "i.toml"
            name = "".join(chr(rng.choice([0xE9, 0x4E2D, 0x1F600])) for _ in range(3))
            instance.write_text((EXAMPLES / "four_types.toml").read_text().replace("small", name), encoding="utf-8")
            for words in (f"solve {instance}", f"solve {instance} --json", f"solve {instance}-none-{name}"):
                with TemporaryDirectory() as empty:
                    command = Command(Path(empty), words, report, f"{encoding}, {words[:5]}{words[-6:]}")
                    process = command.start(env={"PYTHONIOENCODING": encoding})
                    command.judge(process, {2} if "none" in words else {0})
