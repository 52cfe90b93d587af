"""What the figures of `make bench` are measured beside still runs: nobody would notice a peer that does not."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks import bpplib, figures, plans
from fluid.traces.described import describe
from fluid.traces.readers import read_trace
from theory.exact.columns.cutting_stock import bins

QUICK = [figure for figure in figures.FIGURES if figure.peer is not None and "1,000 x" not in figure.name]


def once(action: Callable[[], object], runs: int = 1) -> float:
    """Stand for the measure: run an action once, whatever the runs asked for."""
    del runs
    action()
    return 1.0


@pytest.mark.parametrize("figure", QUICK, ids=lambda figure: figure.name)
def test_peers_run(figure: figures.Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "cpu", once)
    assert figure.peer is not None
    assert figure.peer[1]() > 0


def test_instances_of_bin_packing_are_read_solved_and_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same jobs in both forms; an answer that has been spoilt does not stand."""
    counted, single = tmp_path / "counted" / "a.txt", tmp_path / "single" / "b.txt"
    for path, text in ((counted, "2\n10\n5 2\n3 2\n"), (single, "4\n10\n5\n5\n3\n3\n")):
        path.parent.mkdir()
        path.write_text(text)
    jobs = bpplib.read_jobs(counted)
    assert jobs == bpplib.read_jobs(single) == bpplib.Jobs([3, 5], [2, 2], 10)
    monkeypatch.setattr(sys, "argv", ["bpplib", str(tmp_path)])
    assert bpplib.main() == 0
    assert capsys.readouterr().out.count("1 of 1 exactly, up to 2 sizes") == 2
    pair = bins(jobs.sizes, jobs.numbers, jobs.capacity)
    assert pair is not None
    found, proper = pair
    assert (found.servers, proper.servers) == (Fraction(5, 3), 2)
    assert bpplib.is_sound(jobs, found, proper=False)
    assert bpplib.is_sound(jobs, proper, proper=True)
    assert not bpplib.is_sound(jobs, found, proper=True), "a server holds three jobs of 3, and there are two"
    (pattern, amount), *others = proper.patterns
    for spoilt in (
        replace(proper, servers=proper.servers - 1),
        replace(proper, patterns=tuple(others)),
        replace(proper, patterns=((pattern, amount + 1), *others)),
        replace(proper, patterns=((pattern, amount), *others, (((0, 2), (1, 1)), Fraction(0)))),
        replace(proper, patterns=((pattern, amount + 1), *others, (pattern, Fraction(-1)))),
        replace(proper, prices=(Fraction(1), Fraction(0))),
        replace(proper, prices=(Fraction(-1, 4), Fraction(5, 4))),
    ):
        assert not bpplib.is_sound(jobs, spoilt, proper=True)
    monkeypatch.setattr(bpplib, "bins", lambda *_: (replace(found, servers=Fraction(1)), proper))
    assert bpplib.main() == 1
    assert "0 of 1 exactly" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "2\n10\n5 2\n", "1\n10\n11\n", "1\n10\n0\n", "1\n10\na\n"])
def test_a_file_that_is_no_instance_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.txt").write_text(text)
    monkeypatch.setattr(sys, "argv", ["bpplib", str(tmp_path)])
    assert bpplib.main() == 2
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'c.txt'}: expected")


def test_logs_of_plans_are_equal_for_equal_seeds_and_have_what_they_say(tmp_path: Path) -> None:
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        plans.write_log(tmp_path / name, 2000, seed)
    first, again, other = ((tmp_path / name).read_text() for name in ("a.csv", "b.csv", "c.csv"))
    assert first == again != other
    trace = read_trace(tmp_path / "a.csv")
    found = describe(trace)
    assert (found.tasks, found.distinct) == (2000, len(plans.KINDS))
    assert found.span == pytest.approx(plans.DAYS * 86_400, rel=0.01)
    cores = sum(found.stays.mean * one.tasks * float(one.demand["cpu"]) for one in found.common) / found.span
    assert cores == pytest.approx(plans.CORES, rel=0.1)


@pytest.mark.slow
def test_parts_of_a_plan_are_those_of_its_progress(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every part that is named is reached, and none is longer than the whole."""
    plans.write_log(tmp_path / "log.csv", 50)
    plans.plan([str(tmp_path / "log.csv"), *plans.SERVERS, "--policy", "first-fit"])
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {*plans.PARTS, "memory"}
    assert all(found[part] > 0 for part in plans.PARTS)
    assert plans.total(found) <= time.process_time()
