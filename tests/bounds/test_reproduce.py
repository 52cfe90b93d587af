"""``packproof reproduce``: files, resuming, interruption, what is skipped; and numbers that mathematics gives."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.claims import Level
from bounds.cli import run
from bounds.results import claims
from bounds.results.autoscaling.traces import window
from bounds.results.real_data import real_table, real_window
from bounds.results.reproduction import REGISTRY, modules, reproductions
from bounds.results.run import ENDINGS, reproduce, table
from bounds.views.panels import Chart, Curve, Panel, above_zero
from tests.bounds.validated import expect_valid
from theory.errors import InputError
from theory.greedy.workload_scaling import scaling


def numbers(name: str) -> list[dict[str, str]]:
    (one,) = reproductions([name])
    return list(csv.DictReader(io.StringIO(table(one.compute(**one.parameters[Level.tiny])))))


def column(rows: list[dict[str, str]], series: str, what: str = "y") -> list[float]:
    return [float(row[what]) for row in rows if row["series"] == series]


def test_every_result_is_there_and_shows_claims_that_are() -> None:
    found = reproductions(["all"])
    assert [one.id for one in found] == list(modules())
    assert len(claims({identity for one in found for identity in one.claims})) > 30
    for one in found:
        assert one.printed
        assert one.title
        assert set(one.parameters[Level.tiny]) == set(one.parameters[Level.quick]) == set(one.parameters[Level.full])


@pytest.mark.slow
def test_files_and_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "ps-dsf/figure-4", "--out", str(tmp_path), "--json"]
    assert run(command) == 0
    (made,) = json.loads(capsys.readouterr().out)
    assert made["status"] == "made"
    paths = [tmp_path / f"ps-dsf/figure-4{ending}" for ending in ENDINGS]
    assert [Path(name) for name in made["files"]] == paths
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in paths[1].read_bytes()[:500]
    document = json.loads(paths[3].read_text())
    assert document["level"] == "quick"
    assert document["cpu_seconds"] > 0
    first = [path.read_bytes() for path in paths]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "stored"
    paths[2].unlink()
    for again in ([], ["--again"]):
        assert run([*command, *again]) == 0
        assert json.loads(capsys.readouterr().out)[0]["status"] == "made"
    assert [path.read_bytes() for path in paths[:3]] == first[:3]  # equal results are equal files
    assert not list(tmp_path.rglob(".packproof*"))


@pytest.fixture
def counted() -> Iterator[list[int]]:
    """Put in place of a result one that counts how often it is computed."""
    (one,) = reproductions(["ps-dsf/figure-5"])
    calls: list[int] = []

    def compute(**given: Any) -> Sequence[Panel]:
        calls.append(len(given))
        return one.compute()

    REGISTRY[one.id] = replace(one, compute=compute)
    yield calls
    REGISTRY[one.id] = one


@pytest.mark.slow
def test_changed_parameters_are_computed_again(counted: list[int], tmp_path: Path) -> None:
    one = REGISTRY["ps-dsf/figure-5"]
    for _ in range(2):
        reproduce(one, tmp_path)
    assert counted == [0]
    longer = replace(one, parameters={**one.parameters, Level.quick: {"runs": 3}})
    assert reproduce(longer, tmp_path).status == "made"
    assert reproduce(replace(longer, seed=5), tmp_path).status == "made"
    assert counted == [0, 1, 1]
    (tmp_path / "ps-dsf/figure-5.json").write_text("[]")
    assert reproduce(one, tmp_path).status == "made"


def test_interrupted_results_leave_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = reproductions(["ps-dsf/figure-5"])

    def interrupted() -> Sequence[Panel]:
        raise KeyboardInterrupt

    REGISTRY[one.id] = replace(one, compute=interrupted)
    try:
        assert run(["reproduce", "ps-dsf/figure-4", "ps-dsf/figure-5", "--out", str(tmp_path)]) == 130
    finally:
        REGISTRY[one.id] = one
    assert "interrupted" in capsys.readouterr().err
    assert sorted(path.stem for path in tmp_path.rglob("*.*")) == ["figure-4"] * 4


def test_without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stored = (real_table, real_window, window)
    for one in stored:
        one.cache_clear()
    monkeypatch.setenv("PACKPROOF_DATA", str(tmp_path))
    try:
        names = [one.id for one in reproductions() if "84 minutes" in one.chosen]
        assert len(names) == 6
        assert run(["reproduce", *names, "--out", str(tmp_path / "out")]) == 0
    finally:
        for one in stored:
            one.cache_clear()
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == len(names)
    assert last == f"0 results written to {tmp_path / 'out'} (picture, numbers, description); 6 skipped"
    assert all("skipped: no real data" in line for line in lines)
    assert not (tmp_path / "out").exists()


def test_the_picture_of_figure_2_says_where_the_curves_meet() -> None:
    """They meet before the second critical point: at the first of the drawn scales from which on both are equal."""
    (figure,) = reproductions(["autoscaling/figure-2"])
    rewards = next(panel for panel in figure.compute() if isinstance(panel, Chart) and panel.lines)
    optimal, greedy = rewards.curves
    equal = [a == b for a, b in zip(optimal.y, greedy.y, strict=True)]
    meet = next(x for i, x in enumerate(optimal.x) if i > equal.index(False) and all(equal[i:]))
    second = max(line.value for line in rewards.lines)
    assert meet < second
    assert rewards.title == f"greedy is optimal already from {meet:.4g} to {second:.4g}"


@pytest.mark.slow
def test_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (["autoscaling/figure3"], "did you mean autoscaling/figure-3?"),
        (["ps-dsf/figure-5", "--level", "slow"], "--level: expected one of tiny, quick, full"),
        (["ps-dsf/figure-5", "--out", "/dev/null/x"], "cannot be made"),
    ):
        assert run(["reproduce", *words]) == 2
        error = capsys.readouterr().err
        assert expected in error
        assert error.count("\n") == 1
    with pytest.raises(InputError, match="expected PAPER/RESULT"):
        reproductions(["nothing like it at all"])


@pytest.mark.slow
def test_answers_have_their_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:

    for name, words in (
        ("reproduce", ["ps-dsf/figure-5", "--out", str(tmp_path)]),
        ("reproduce_list", ["all", "--list"]),
    ):
        assert run(["reproduce", *words, "--json"]) == 0
        expect_valid(json.loads(capsys.readouterr().out), name)


@pytest.mark.slow
def test_verify_draws_what_a_claim_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "table-4-tsf", "equation-11", "--pictures", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "1 of 2 claims has no picture" in text
    assert [path.name for path in sorted(tmp_path.rglob("*.png"))] == ["table-4.png"]


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_figure_2_agrees_outside_the_critical_points() -> None:
    from bounds.results.instances.papers import four_types

    rows, curve = numbers("autoscaling/figure-2"), scaling(four_types())
    scales, greedy, optimal = column(rows, "greedy", "x"), column(rows, "greedy"), column(rows, "optimal")
    for scale, a, b in zip(scales, greedy, optimal, strict=True):
        if not curve.full < scale < curve.saturated:
            assert a == pytest.approx(b, abs=1e-9)
        assert a <= b + 1e-9
    assert min(column(rows, "ratio")) == pytest.approx(float(curve.worst[1]), abs=1e-9)


def test_printed_numbers_of_ps_dsf() -> None:
    memory = column(numbers("ps-dsf/figure-1"), "memory of the user")
    assert memory[:3] == [6.0, 6.0, 12.0]
    rates = column(numbers("ps-dsf/figure-4"), "computed")
    assert rates == [1.5, 1.0]
    red = [row for row in numbers("ps-dsf/table-4") if row["panel"] == "TSF" and row["x"] == "exact, in all"]
    assert abs(float(red[2]["y"]) - 58.33) > 0.005


def test_the_printed_workload_is_on_the_boundary() -> None:
    """In each slice the region is convex, so the point lies on a segment between two neighbours."""
    rows = numbers("nonpreemptive/table-1")
    for number in ("2", "3", "4"):
        mine = [row for row in rows if row["panel"] == number]
        xs, ys = column(mine, "boundary of the region", "x"), column(mine, "boundary of the region")
        (x,), (y,) = column(mine, "printed workload", "x"), column(mine, "printed workload")
        segments = pairwise(zip(xs, ys, strict=True))
        on = [
            abs((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) < 1e-9
            and min(a[0], b[0]) - 1e-9 <= x <= max(a[0], b[0]) + 1e-9
            and min(a[1], b[1]) - 1e-9 <= y <= max(a[1], b[1]) + 1e-9
            for a, b in segments
        ]
        assert any(on), number


def test_universal_partition_tiles_the_line() -> None:
    rows = numbers("throughput/figure-2")
    for depth in range(1, 5):
        ends = sorted((float(r["low"]), float(r["high"])) for r in rows if r["series"] == f"J = {depth}")
        assert ends[0][0] == pytest.approx(2.0**-depth)
        assert ends[-1][1] == 1.0
        assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(ends))


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e7)), min_size=1))
def test_a_band_of_what_is_never_negative_is_not_cut_at_0(points: list[tuple[float, float]]) -> None:
    mean, width = zip(*points, strict=True)
    low, high = ([m + sign * w for m, w in points] for sign in (-1, 1))
    curve = Curve("queue", range(len(points)), mean, low, high)
    shown = above_zero(curve)
    assert shown.high == high
    if min(low) > 0:
        assert shown == curve
    for m, w, end in zip(mean, width, shown.low, strict=True):
        assert max(0.0, m - w) <= end * (1 + 1e-9) + 1e-9
        assert end <= m
        assert end > 0 or m == 0 or w / m > 700, "e to the power of a width over 700 means is no float"


def test_stored_bands_are_not_cut_at_0() -> None:
    stored = json.loads((Path(__file__).parents[2] / "docs" / "atlas" / "panels.json").read_text())
    curves = [curve for result in stored for panel in result["panels"] for curve in panel.get("curves", ())]
    assert len(curves) > 50
    cut = [curve["name"] for curve in curves for y, low in zip(curve["y"], curve["low"], strict=False) if low == 0 < y]
    assert cut == []
