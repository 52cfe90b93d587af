"""Rules that never answer, or answer what is none: a search must end in time, with an answer or in one line."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bounds.cli import run
from tests.tools.attacks.report import Report

LIMIT = 1.0
"""Seconds that a search may take."""

PATIENCE = 12.0
"""Seconds after which a search counts as one that does not end: it is ended some three after its limit."""

RULES = """
import ctypes, itertools, os, sys, time
from fractions import Fraction

apart = lambda items: list(range(len(items)))

def loops(items, capacity):
    while True:
        pass
def loops_late(items, capacity):
    while len(items) == 5:
        pass
    return apart(items)
def sleeps(items, capacity):
    time.sleep(1000)
def dawdles(items, capacity):
    time.sleep(0.4)
    return apart(items)
def swallows(items, capacity):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass
def exits(items, capacity):
    sys.exit(3)
def leaves(items, capacity):
    os._exit(4)
def crashes(items, capacity):
    ctypes.string_at(0)
def recurses(items, capacity):
    return recurses(items, capacity)
def prints(items, capacity):
    while True:
        print("x" * 10_000, flush=True)
def reads(items, capacity):
    return [int(input())] * len(items)
def counts(items, capacity):
    return itertools.count()
def repeats(items, capacity):
    return [0] * 10**8
def powers(items, capacity):
    return [10**10**10] * len(items)
def digits(items, capacity):
    return [10**100_000] * len(items)
def nothing(items, capacity):
    return None
def letters(items, capacity):
    return "a" * len(items)
def halves(items, capacity):
    return [0.5] * len(items)
class Silent(Exception):
    def __str__(self):
        raise ValueError
def silent(items, capacity):
    raise Silent
class Shy(list):
    def __repr__(self):
        raise ValueError
def shy(items, capacity):
    return Shy([Shy()] * len(items))

def share_loops(instance):
    while True:
        pass
def share_many(instance):
    return [(0, (0,) * len(instance.types), Fraction(0))] * 10**7
def share_digits(instance):
    return [(0, (0,) * len(instance.types), Fraction(1, 10**100_000))]
def share_jobs(instance):
    return [(0, (10**100_000,) * len(instance.types), Fraction(1))]
def share_float(instance):
    return [(0, (0,) * len(instance.types), float("nan"))]
def share_leaves(instance):
    os._exit(0)

def task_loops(cluster):
    while True:
        pass
def task_rows(cluster):
    return ((Fraction(0) for _ in itertools.count()) for _ in itertools.count())
def task_digits(cluster):
    return [[10**10_000] * len(cluster.servers)] * len(cluster.users)
def task_leaves(cluster):
    os._exit(1)
"""
"""Rules: those whose names begin with share assign servers, those with task share a cluster, others pack items."""

SMALL = ("loops", "loops_late", "leaves", "crashes", "prints", "counts", "digits", "silent", "shy", "share_many",
         "task_leaves")  # fmt: skip


def names() -> list[str]:
    """Return the names of all rules."""
    return [line.split()[1].partition("(")[0] for line in RULES.splitlines() if line.startswith("def ")]


def attack_rules(only: tuple[str, ...] = ()) -> Report:
    """Let the command attack each rule, or some of them."""
    report = Report()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rules.py"
        file.write_text(RULES)
        for name in only or names():
            kind = {"share": "assignment", "task": "sharing"}.get(name.partition("_")[0], "items")
            out, error, begun = io.StringIO(), io.StringIO(), time.monotonic()
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                    status = run(["attack", f"{file}:{name}", "--kind", kind, "--time-limit", str(LIMIT)])
            except BaseException as fault:
                report.wrong.append(f"{name}: {type(fault).__name__}: {fault}"[:600])
                continue
            seconds = time.monotonic() - begun
            report.outcomes[f"status {status}"] += 1
            said = [line for line in error.getvalue().splitlines() if "instances judged" not in line]
            if status == 0 and out.getvalue() and len(said) <= 1:
                pass  # an answer, perhaps with a line on a rule that was ended
            elif status != 2 or len(said) != 1 or out.getvalue() or f"rules.py:{name}: " not in said[0]:
                report.wrong.append(f"{name}: status {status}, says {said!r}"[:600])
            if seconds > LIMIT + PATIENCE:
                report.wrong.append(f"{name}: {seconds:.1f} s")
            report.slowest = max(report.slowest, (seconds, name))
    return report
