"""Wrong policies of authors: each must end in one line with status 2, whatever it does, and however it does it.

There are three runs of the policies of `tests.tools.attacks.wrong_policies`:

- ``early``: the fault is made at once, in the first events, which run as Python;
- ``compiled``: long after these events, in compiled code;
- ``python``: as late, with ``NUMBA_DISABLE_JIT=1``.

Every run is the command line itself, in a process that is forked from one that has the modules loaded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.tools.attacks.report import Report
from tests.tools.attacks.wrong_policies import CALLS, ENDING, HELPERS, WAYS, Case, cases, command, faults

ROOT = Path(__file__).parents[3]

PATIENCE = 120.0
"""Seconds of wall after which a run counts as one that does not end."""

LATE = 1000
"""Calls of a function after which a late fault is made; 300 events run as Python first."""


class Outcome(NamedTuple):
    """What a command line has done: status (minus the number of a signal), what it printed, and seconds of CPU."""

    name: str
    status: int
    out: str
    error: str
    seconds: float


def run_forked(name: str, arguments: list[str], folder: Path) -> Outcome:
    """Run a command line in a process forked from this one."""
    from bounds.cli import main

    out, error = folder / "out", folder / "error"
    before = os.times()
    child = os.fork()
    if child == 0:
        for stream, path in ((1, out), (2, error)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        try:
            main(arguments)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            os._exit(1)
    end = time.monotonic() + PATIENCE
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.005)
    if not ended[0]:
        os.kill(child, 9)
        ended = os.waitpid(child, 0)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    status = os.waitstatus_to_exitcode(ended[1])
    return Outcome(name, status, out.read_text(), error.read_text(errors="replace"), seconds)


def complaint_of(case: Case, outcome: Outcome) -> str | None:
    """Return why an outcome is not one line with status 2 about the fault, None if it is."""
    lines = outcome.error.splitlines()
    said = [line for line in lines if not line.endswith((": starting", "it may take a minute)"))]
    said = [line for line in said if "runs as Python, numba cannot compile" not in line]
    said = [line for line in said if not re.fullmatch(r"x: (time|slot) .* events", line)]  # progress, on a slow machine
    if outcome.status == 2 and len(said) == 1 and said[0].isprintable() and not outcome.out:
        ended = "ended the process" in said[0]
        if case.fault == 0:
            return f"says {said[0]!r}" if ended != (case.name in ENDING) else None
        # a fault is found before it does harm, in the function that makes it
        function = faults(case.model)[case.fault - 1][1]
        place = rf"--policy: .*{case.model}\.py:\d+: {function} of x.*\((time|slot) \d"
        return None if re.match(place, said[0]) else f"says {said[0]!r}"
    return f"status {outcome.status}, says {outcome.error[-300:]!r}, prints {outcome.out[:100]!r}"


def _serve() -> None:
    """Run the cases that standard input has, a line each, and print their outcomes: in a process of one thread."""
    import fluid.simulation.slotted.model
    from fluid.simulation.policy_names import policy

    del fluid
    policy("first-fit")
    for line in sys.stdin:
        name, arguments, folder = json.loads(line)
        print(json.dumps(run_forked(name, arguments, Path(folder))), flush=True)


def outcomes(commands: Sequence[tuple[str, list[str]]], folder: Path, *, jit: bool) -> Iterator[Outcome]:
    """Run command lines, and yield what each does; machine code is kept in the folder."""
    more = {
        "NUMBA_DISABLE_JIT": "0" if jit else "1",
        "NUMBA_CACHE_DIR": str(folder / "kept"),
        "PYTHONPATH": str(ROOT),
    }
    lines = "".join(json.dumps([name, arguments, str(folder)]) + "\n" for name, arguments in commands)
    called = [sys.executable, "-m", "tests.tools.attacks.policies"]
    done = subprocess.run(
        called, input=lines, cwd=ROOT, env=os.environ | more, capture_output=True, text=True, check=False
    )
    for line in done.stdout.splitlines():
        yield Outcome(*json.loads(line))
    if done.returncode:
        raise RuntimeError(done.stderr)


def run_wrong(run: str, chosen: Sequence[Case], report: Report, folder: Path) -> None:
    """Let the command line run wrong policies: early, compiled or as Python."""
    late = 0 if run == "early" else LATE
    commands = [(case.name, command(case, number, folder, late)) for number, case in enumerate(chosen)]
    for case, outcome in zip(chosen, outcomes(commands, folder, jit=run != "python"), strict=True):
        complaint = complaint_of(case, outcome)
        report.outcomes[f"{run}: " + ("not one line" if complaint else "one line")] += 1
        if complaint:
            report.wrong.append(f"{run}, {outcome.name}: {complaint}")
        report.slowest = max(report.slowest, (outcome.seconds, f"{run}, {outcome.name}"))


def run_right(run: str, models: Sequence[str], report: Report, folder: Path) -> None:
    """Let the command line run right policies that reach their tool in every way: the answers are the same."""
    for model in models:
        commands = [
            (f"{model} {way}", command(Case(way, model), number, folder, number)) for number, way in enumerate(WAYS)
        ]
        answers = set()
        for outcome in outcomes(commands, folder, jit=run != "python"):
            answer = json.loads(outcome.out) if outcome.status == 0 else {}
            answer.pop("made", None)  # the command line differs
            as_python, speed = answer.pop("events_as_python", -1), answer.pop("events_per_second", 0)
            answers.add(json.dumps(answer))
            right = answers == {json.dumps(answer)} and answer and speed and (as_python <= 300) == (run == "compiled")
            report.outcomes[f"{run}: " + ("an answer" if right else "another answer")] += 1
            if not right:
                report.wrong.append(f"{run}, {outcome.name}: {as_python} events as Python, {outcome.error!r}")


def attack_policies(small: bool, seed: int) -> Report:
    """Let the command line run wrong policies and right ones; of the small form only some."""
    report, every = Report(), cases()
    models = (tuple(CALLS)[seed % 3],) if small else tuple(CALLS)  # one file to compile for each
    late = [case for case in every if case.fault and case.model in models]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "helpers.py").write_text(HELPERS)
        run_wrong("python", every[seed % 4 :: 4] if small else every, report, folder)
        run_wrong("early", every[seed % 9 :: 9] if small else every, report, folder)
        run_wrong("compiled", late[seed % 4 :: 4] if small else late, report, folder)
        for run in ("compiled", "python"):
            run_right(run, models, report, folder)
    return report


if __name__ == "__main__":
    _serve()
