"""Faults around stores: kills, full disks, damage, several writers, lost workers, clocks that jump, upgrades.

However a run with a store ends, what it had stored is there afterwards, and the same command run again gives the
numbers of a run that nothing disturbed, from as many cells, and without running a stored one again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fluid.test_experiment import grid_file
from tests.tools.attacks.report import Report
from tests.tools.faults.commands import (
    EXAMPLES,
    PATIENCE,
    ROOT,
    Command,
    interrupted,
    limit,
    mounted,
    sealed,
    without_rights_of_root,
)

SIMULATE = f"simulate {EXAMPLES}/%s --seed 7 --store out.db --json"
RUNS = {
    "experiment": "experiment grid.toml --store out.db --csv out.csv --workers 1",
    "experiment on two": "experiment grid.toml --store out.db --csv out.csv --workers 2",
    "simulate": SIMULATE % "caught.toml --policy nonpreemptive --servers 5 --until 5000 --replications 8",
    "simulate slots": SIMULATE % "uniform_sizes.toml --policy vqs-bf --servers 5 --until 20000 --replications 6",
}
"""Commands with a store; each is taken up where it was."""

Row = tuple[bytes, float, float]
"""Content, seconds and the time at which it was stored; the last two tell whether it was run again."""


def rows(store: Path) -> dict[str, Row]:
    """Return the rows of a store by key; none where there is no store yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            found = connection.execute("select key, content, seconds, finished from results")
            return {key: row for key, *row in found}
    except sqlite3.OperationalError:
        return {}


def rows_of_copy(folder: Path) -> dict[str, Row]:
    """Return the rows of a store whose process was ended, and leave its write-ahead log as it is."""
    with TemporaryDirectory() as other:
        for name in ("out.db", "out.db-wal"):
            if (folder / name).exists():
                shutil.copy(folder / name, other)
        return rows(Path(other) / "out.db")


def outcome_of(run: str, folder: Path, answer: str | bytes | None) -> Any:
    """Return the table of an experiment, or the answer of a simulation without what names clocks and options."""
    if run.startswith("experiment"):
        return (folder / "out.csv").read_text()
    values = json.loads(answer or b"{}")
    return {name: values[name] for name in values.keys() - {"events_per_second", "events_as_python", "made"}}


@cache
def undisturbed(run: str, cells: int) -> tuple[dict[str, Any], Any]:
    """Return contents by key, and the outcome, of a run that nothing disturbs, on one processor."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        grid_file(folder, replications=cells, until=200)
        process = Command(folder, RUNS[run], Report(), run).start()
        answer, said = process.communicate(timeout=300)  # the first of its kind compiles
        assert process.returncode == 0, said
        return {key: row[0] for key, row in rows(folder / "out.db").items()}, outcome_of(run, folder, answer)


class Stored(Command):
    """A command with a store, beside what it gives where nothing disturbs it."""

    def __init__(self, folder: Path, run: str, report: Report, name: str, more: str = "", cells: int = 2) -> None:
        self.run, self.store = run, folder / "out.db"
        self.numbers, self.outcome = undisturbed(run.removesuffix(" on two"), cells)
        grid_file(folder, replications=cells, until=200)
        super().__init__(folder, f"{RUNS[run]} {more}", report, f"{name}, {run}")

    def wait_for(self, process: subprocess.Popen[bytes], count: int) -> bool:
        """Wait until a number of cells is stored, each of them whole; return whether the process still runs."""
        end, seen = time.monotonic() + PATIENCE, dict[str, Row]()
        while process.poll() is None and len(seen) < count and time.monotonic() < end:
            time.sleep(0.001)
            seen = rows(self.store)
            if half := [key for key in seen.keys() & self.numbers.keys() if seen[key][0] != self.numbers[key]]:
                self.blame(f"{len(half)} stored cells have other numbers while it runs")
                break
        return process.poll() is None

    def take_up(self, before: dict[str, Row], *, is_alone: bool = True, **how: Any) -> None:
        """Run it to the end; what was stored is there as it was, and all is as if nothing had happened.

        The store has no cells of other commands, if it `is_alone`.
        """
        if self.judge(self.start(**how), {0}):
            return
        after = rows(self.store)
        if {key: row[0] for key, row in after.items() if is_alone or key in self.numbers} != self.numbers:
            self.blame(f"{len(after)} cells in place of {len(self.numbers)}, or other numbers")
        if changed := [key for key, row in before.items() if after.get(key) != row]:
            self.blame(f"{len(changed)} of {len(before)} stored cells were run again, lost or changed")
        if outcome_of(self.run, self.folder, self.answer) != self.outcome:
            self.blame("another table or answer")


@contextlib.contextmanager
def stored(report: Report, run: str, name: str, more: str = "", cells: int = 2) -> Iterator[Stored]:
    """Give a command in a folder of its own."""
    with TemporaryDirectory() as folder:
        yield Stored(Path(folder), run, report, name, more, cells)


def killed(command: Stored, rng: random.Random, times: int, **how: Any) -> dict[str, Row]:
    """Kill a command (9) with its workers when a random number of cells is stored, again and again.

    Return the rows of its store, which keeps its write-ahead log.
    """
    before: dict[str, Row] = {}
    for target in sorted(rng.randrange(len(command.numbers) * 3 // 4) for _ in range(times)):
        process = command.start(start_new_session=True, **how)
        if command.wait_for(process, target):
            time.sleep(rng.uniform(0.0, 0.02))
            command.report.outcomes["killed"] += 1
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        command.report.tried += 1
        now = rows_of_copy(command.folder)
        if lost := [key for key, row in before.items() if now.get(key) != row]:
            command.blame(f"{len(lost)} of {len(before)} stored cells were lost or changed by a kill")
        before = now
    return before


def kills(report: Report, rng: random.Random, *, small: bool) -> None:
    """Kills at random cells of experiments and simulations."""
    for run in ("experiment on two", "simulate") if small else RUNS:
        cells, times = (2, 1) if small else (12, 10) if run == "experiment on two" else (2, 4)
        with stored(report, run, "killed", cells=cells) as command:
            command.take_up(killed(command, rng, times))


def interrupts(report: Report, rng: random.Random, *, small: bool) -> None:
    """Ctrl-C at every 50 ms of an experiment (small: every 500 ms), from the first instant of packproof to its end."""
    delay, is_running = 0.005, True
    while is_running and delay < 60:
        with stored(report, "experiment", f"SIGINT after {delay:.3f} s") as command:
            is_running = interrupted(command, signal.SIGINT, delay)
            if strange := [key for key, row in rows(command.store).items() if command.numbers.get(key) != row[0]]:
                command.blame(f"{len(strange)} cells with other numbers")
            if rng.random() < 0.2:  # for all of them it would take long
                command.take_up(rows(command.store))
        delay += 0.5 if small else 0.05


def full_disks(report: Report, rng: random.Random, *, small: bool) -> None:
    """A store that may not grow beyond random sizes, then may; and one on a small disk, where root may mount one."""
    for run in ("experiment",) if small else ("experiment", "experiment on two", "simulate"):
        for most in [rng.randrange(1000, 100_000) for _ in range(1 if small else 3)]:
            with stored(report, run, f"files of at most {most} bytes") as command:
                command.judge(command.start(limits={resource.RLIMIT_FSIZE: most}), {0, 2})
                command.take_up(rows_of_copy(command.folder))
    with mounted("128k") as folder:
        if folder is None:
            report.outcomes["no disk mounted"] += 1
            return
        command = Stored(folder, "experiment", report, "a disk of 128 KiB")
        command.judge(command.start(), {0, 2})
        grow = ["mount", "-o", "remount,size=20m", str(folder)]
        subprocess.run(grow, capture_output=True, check=True)
        command.take_up(rows_of_copy(folder))


def read_only(report: Report, rng: random.Random, *, small: bool) -> None:
    """A store that cannot be written, and one in a folder that cannot, each with half of its cells."""
    for run in ("simulate",) if small else ("experiment", "simulate"):
        with stored(report, run, "a read-only store") as command:
            before = killed(command, rng, 1)
            command.store.chmod(0o444)
            command.judge(command.start(before=without_rights_of_root), {2})
            command.store.chmod(0o644)
            with sealed(command.folder):
                command.judge(command.start(before=without_rights_of_root), {2})
            command.take_up(before)


def writers(report: Report, rng: random.Random, *, small: bool) -> None:
    """Two packproofs on one store at once, both served, and another program that holds it for a second."""
    for is_stopped in (True,) if small else (True, True, False, False):
        with stored(report, "experiment", "the first of two writers", cells=6) as first:
            second = Stored(first.folder, "experiment on two", report, "the second of two writers", cells=6)
            second.beside |= first.beside
            begun = first.start()
            if is_stopped:  # among its cells, and perhaps in the midst of a commit, which the second waits for
                first.wait_for(begun, 1 + rng.randrange(9))
                begun.send_signal(signal.SIGSTOP)
            second.judge(second.start(), {0, 2} if is_stopped else {0})
            begun.send_signal(signal.SIGCONT)
            first.judge(begun, {0})
            first.take_up(rows(first.store))
    with stored(report, "experiment", "a store that another program holds for a second") as command:
        process = command.start()
        command.wait_for(process, 3)
        with contextlib.closing(sqlite3.connect(command.store, isolation_level=None, timeout=30)) as holder:
            holder.execute("begin immediate")
            time.sleep(1.0)
            holder.execute("commit")
        command.judge(process, {0})
        command.take_up(rows(command.store))


# ---- damaged stores --------------------------------------------------------------------------------------------------


def damaged(content: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield ways in which a file is not what it was, by name, without end."""
    while True:
        place = rng.randrange(len(content))
        flipped = content[place] ^ 1 << rng.randrange(8)
        yield "a flipped bit", content[:place] + bytes([flipped]) + content[place + 1 :]
        several = bytearray(content)
        for _ in range(8):
            several[rng.randrange(len(content))] = rng.randrange(256)
        yield "other bytes", bytes(several)
        yield "cut short", content[:place]
        page = place // 4096 * 4096
        yield "a page of noise", content[:page] + rng.randbytes(4096) + content[page + 4096 :]


def read_damaged(seed: int, times: int) -> None:
    """Let commands read ``whole.db`` with damage, and ``cut.db`` with damage in its log; print what is wrong."""
    from bounds.cli import run

    rng = random.Random(seed)
    whole, cut, log = [Path(name).read_bytes() for name in ("whole.db", "cut.db", "cut.db-wal")]
    cases = [(*way, b"") for way, _ in zip(damaged(whole, rng), range(times), strict=False)]
    logs = zip(damaged(log, rng), range(times // 4), strict=False)
    cases += [(f"log, {what}", cut, content) for (what, content), _ in logs]
    cases += [("zero length", b"", b""), ("a text file", b"numbers\n" * 9000, b""), ("zeros", bytes(8192), b"")]
    for version in (0, 1, 2, 3, 5, 2**31 - 1):
        cases.append((f"version {version}", whole[:60] + version.to_bytes(4, "big") + whole[64:], b""))
    outcomes: dict[str, Any] = json.loads(Path("outcomes.json").read_text())
    for number, (what, content, log) in enumerate(cases):
        name = list(outcomes)[number // 4 % 2]
        for place in Path().glob("out.db*"):
            place.unlink()
        Path("out.db").write_bytes(content)
        Path("out.db-wal").write_bytes(log)
        Path("out.csv").write_text("yesterday\n")
        streams = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            status = run(RUNS[name].split())
        answer, said = streams[0].getvalue(), streams[1].getvalue()
        wrong = "" if status in (0, 2) else f"status {status}"
        if status == 2 and (Path("out.csv").read_text() != "yesterday\n" or not Path("out.db").exists()):
            wrong = "a file was written or lost"
        if status == 2 and said.count("\n") != 1:
            wrong = "more than one line"
        if status == 0 and outcome_of(name, Path(), answer) != outcomes[name]:
            wrong = "status 0 and other numbers"
        print(json.dumps([f"case {number}, {what}, {name}", status, wrong and f"{wrong}: {said[:200]}"]))


def damage(report: Report, rng: random.Random, *, small: bool) -> None:
    """Stores that are cut, flipped, of zero length, no stores, or of other versions, and logs with damage."""
    with stored(report, "experiment", "damage") as command:
        killed(command, rng, 1)
        for name in ("out.db", "out.db-wal"):
            shutil.copy(command.folder / name, command.folder / name.replace("out", "cut"))
            command.beside.add(name.replace("out", "cut"))
        command.take_up({})
        other = Stored(command.folder, "simulate", report, "damage")
        other.take_up({}, is_alone=False)
        shutil.move(command.store, command.folder / "whole.db")
        outcomes = {one.run: one.outcome for one in (command, other)}
        (command.folder / "outcomes.json").write_text(json.dumps(outcomes))
        seed, times = rng.randrange(10**6), 12 if small else 160
        process = command.start(
            script=f"from tests.tools.faults.stores import read_damaged; read_damaged({seed}, {times})"
        )
        lines, errors = process.communicate(timeout=2 * PATIENCE)
        for line in lines.splitlines():
            what, status, wrong = json.loads(line)
            report.tried += 1
            report.outcomes[f"status {status}"] += 1
            report.wrong += [f"{what}: {wrong}"] if wrong else []
        if process.returncode:
            command.blame(f"the reader of damaged stores ended with {process.returncode}: {errors[-300:]!r}")


# ---- lost workers and schedulers -------------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Give the engine of a cluster of two workers on this machine, and the process of its scheduler."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        where = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        how: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        how |= {"preexec_fn": limit, "start_new_session": True, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
        dask = [sys.executable, "-m"]
        scheduler = subprocess.Popen([*dask, "distributed.cli.dask_scheduler", *where, "--port", "0"], **how)
        workers = ["--nworkers", "2", "--nthreads", "1", "--death-timeout", "60"]
        keeper = subprocess.Popen([*dask, "distributed.cli.dask_worker", *where, *workers], **how)
        try:
            end = time.monotonic() + PATIENCE
            while not file.exists() and time.monotonic() < end:
                time.sleep(0.05)
            yield json.loads(file.read_text())["address"].replace("tcp://", "dask://"), scheduler
        finally:
            for process in (keeper, scheduler):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def a_worker(engine: str) -> int:
    """Return the process of one of the workers of a cluster."""
    from dask.distributed import Client

    with Client(engine.replace("dask://", "tcp://")) as client:
        client.wait_for_workers(1, timeout=60)
        return min(client.run(os.getpid).values())


def clusters(report: Report, rng: random.Random, *, small: bool) -> None:
    """On dask: the driver is killed, a worker is killed while others go on, and the scheduler is killed."""
    if find_spec("distributed") is None:
        report.outcomes["no dask installed"] += 1
        return
    run = "experiment"
    with cluster() as (engine, scheduler):
        words = f"--engine {engine}"
        if not small:
            with stored(report, run, "on dask, a killed driver", words) as command:
                command.take_up(killed(command, rng, 2))
        for _ in range(0 if small else 2):
            with stored(report, run, "on dask, a killed worker", words) as command:
                process = command.start()
                command.wait_for(process, 1 + rng.randrange(9))
                os.kill(a_worker(engine), signal.SIGKILL)
                command.judge(process, {0})
                command.take_up(rows(command.store))
        with stored(report, run, "on dask, a killed scheduler", words, cells=8) as command:
            process = command.start()
            command.wait_for(process, 1 + rng.randrange(9))
            scheduler.kill()
            command.judge(process, {2})
            before = rows(command.store)
            command.words = RUNS[run]
            command.take_up(before)


# ---- clocks and upgrades ---------------------------------------------------------------------------------------------

CLOCK = """
import random, time
def shifted(real=time.time, rng=random.Random({seed})):
    return real() + rng.choice((-1e9, -3600.0, 0.0, 3600.0, 1e9))
time.time, time.time_ns = shifted, lambda: int(1e9 * shifted())
"""
"""A ``sitecustomize`` by which the clock on the wall jumps by up to thirty years at every look."""


def clocks(report: Report, rng: random.Random, *, small: bool) -> None:
    """The clock on the wall is set back and forth, seen by packproof, its workers and its libraries."""
    search = f"attack {EXAMPLES}/rules_to_attack.py:first_fit --kind items --items 6 --starts 2 --workers 2 --json"
    search = f"{search} --evaluations 300 --time-limit 40"
    with TemporaryDirectory() as folder:

        def jumping() -> dict[str, Any]:
            """Draw other jumps, and return how a process is made to see them."""
            (Path(folder) / "sitecustomize.py").write_text(CLOCK.format(seed=rng.randrange(10**6)))
            return {"env": {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}}

        for run in ("experiment on two",) if small else RUNS:
            with stored(report, run, "clocks that jump") as command:
                command.take_up({}, **jumping())
        answers = []
        for number in range(4 if small else 6):
            with TemporaryDirectory() as empty:
                attack = Command(Path(empty), search, report, "clocks that jump, attack")
                attack.judge(attack.start(**(jumping() if number else {})), {0})
                answer = json.loads(attack.answer or b"{}")
                answers.append(tuple(answer.get(name) for name in ("ratio", "evaluations", "complete")))
        if len(set(answers)) > 1:
            attack.blame(f"not all answers are those of the first: {answers}")


UPGRADE = """
import sys, packproof, fluid.experiment.run, fluid.experiment.replications
from theory.version import versions
from tests.tools.faults.stores import upgrade
versions(), upgrade({home!r}), packproof.main()
"""
"""A packproof under which another version is installed when it has begun, and its workers have not."""


def installed(home: Path) -> dict[str, Any]:
    """Copy packproof to a place where it can be upgraded; return how it is run there, without machine code."""
    for name in ("theory", "fluid", "bounds", "tests"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    shutil.copy(ROOT / "packproof.py", home)
    return {"env": {"PYTHONPATH": str(home), "NUMBA_DISABLE_JIT": "1"}}


def upgrade(home: str) -> None:
    """Install version 99 over packproof, which draws other numbers from a seed."""
    for name, old, new in (
        ("theory/version.py", '__version__ = "', '__version__ = "99.'),
        ("fluid/simulation/driver.py", "sequence(seed).spawn(3)]", "sequence(seed).spawn(4)[1:]]"),
    ):
        place = Path(home) / name
        text = place.read_text()
        assert text.count(old) == 1, name
        place.with_suffix(".new").write_text(text.replace(old, new))
        place.with_suffix(".new").replace(place)


def upgrades(report: Report, rng: random.Random, *, small: bool) -> None:
    """Another version is installed while a run goes on: no number of one version counts for the other."""
    for run in ("experiment on two",) if small else ("experiment on two", "simulate"):
        for moment in ("before the workers begin", "among the cells")[: 1 if small else 2]:
            with TemporaryDirectory() as code, TemporaryDirectory() as folder:
                command, how = Stored(Path(folder), run, report, f"an upgrade {moment}", cells=1), installed(Path(code))
                command.words = command.words.replace("5000", "500")
                grid_file(command.folder, replications=1, until=20)  # as it runs without machine code
                old = _numbers_by_key(command, command.start(**how), {0})
                for place in command.folder.glob("out.db*"):
                    place.unlink()
                if moment == "among the cells":
                    process = command.start(**how)
                    command.wait_for(process, len(command.numbers) // 2 + rng.randrange(2))  # workers have loaded all
                    upgrade(code)
                else:
                    process = command.start(script=UPGRADE.format(home=code), **how)
                mixed = _numbers_by_key(command, process, {0, 2})
                both = _numbers_by_key(command, command.start(**how), {0})
                if strange := [key for key, numbers in mixed.items() if old.get(key) != numbers]:
                    command.blame(f"{len(strange)} of {len(mixed)} cells have numbers of the other version")
                if len(both) != len(mixed) + len(old) or set(both.values()) <= set(old.values()):
                    command.blame(f"the new version has {len(both) - len(mixed)} cells in place of {len(old)}")


def _numbers_by_key(command: Stored, process: subprocess.Popen[bytes], allowed: set[int]) -> dict[str, bytes]:
    command.judge(process, allowed)
    return {key: row[0] for key, row in rows(command.store).items()}
