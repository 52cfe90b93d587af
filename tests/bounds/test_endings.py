"""What commands say: servers of a region, tuned thresholds and their picture, results reproduced."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from bounds.views.admission import tuned_answer
from bounds.views.admission_pictures import panel_of_tuning
from bounds.views.drawing import arranged
from bounds.views.shown import text_of
from fluid.admission.law.admission_files import read_admission
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.study.tuning import Tuned, tune
from fluid.statistics import Interval
from tests.pictures.looks import faults

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    cluster = read_admission(EXAMPLES / "admission_small.toml")
    return tune(cluster, AdmissionPolicy("zeroth"), 0.05, 200.0, replications=4, steps=5)


def drawn(tuned: Tuned, sla: float = 0.05) -> Any:
    """Return the only axes of the picture of a tuning."""
    picture = arranged([panel_of_tuning(tuned, sla)], "", height=2.8, alone=5.6)
    assert faults(picture) == []
    (axes,) = picture.axes
    return axes


def test_the_picture_of_a_tuning_shows_all_that_was_tried(tuned: Tuned) -> None:
    axes = drawn(tuned)
    (bars,) = axes.containers
    points, _, (spans,) = bars
    tried = sorted(tuned.tried, key=lambda one: one[0])
    assert points.get_xdata().tolist() == [threshold for threshold, _ in tried]
    assert points.get_ydata().tolist() == [share.mean for _, share in tried]
    ends = [segment[:, 1] for segment in spans.get_segments()]
    assert np.allclose(ends, [[max(0.0, share.low), share.high] for _, share in tried])
    low, high = axes.get_ylim()
    assert all(low < end < high for pair in ends for end in pair)
    assert low < 0.05 < high
    labels = [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []
    labels += [text.get_text() for text in axes.texts]  # beside their lines
    estimated = f"estimated threshold {tuned.policy.threshold:.4g}"
    assert set(labels) >= {"SLA 0.05", estimated}
    assert any("95 %" in label for label in labels)
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines["SLA 0.05"].get_ydata()) == {0.05}
    assert set(lines[estimated].get_xdata()) == {tuned.policy.threshold}
    both = replace(tuned, safe=replace(tuned.policy, threshold=4.0))
    safe = {line.get_label(): line for line in drawn(both).get_lines()}["safe threshold 4"]
    assert set(safe.get_xdata()) == {4.0}
    equal = drawn(replace(tuned, safe=tuned.policy))
    assert [label for line in equal.get_lines() if "threshold" in (label := str(line.get_label()))] == [
        f"estimated, and safe, threshold {tuned.policy.threshold:.4g}"
    ]


def test_shares_of_zero_are_drawn_and_positive_ones_fill_the_axis(tuned: Tuned) -> None:
    never = Interval(0.0, 0.0, 0.0, 0.95, 4)
    more = replace(tuned, tried=((0.5, never), *tuned.tried), fitted=(0.0, *tuned.fitted))
    axes = drawn(more)
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] < 0
    shares = ((3.0, Interval(0.04, 0.03, 0.05, 0.95, 4)), (4.0, Interval(0.06, 0.05, 0.07, 0.95, 4)))
    least = replace(tuned, tried=shares, fitted=(0.04, 0.06), policy=replace(tuned.policy, threshold=3.0))
    axes = drawn(least)
    assert axes.get_yscale() == "log"
    assert axes.get_ylim() == pytest.approx((0.03 / 1.5, 0.07 * 1.5)), "no decades without a point"


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((2.0, 9.0), "by intervals over the runs, up to 2 the SLA is met, and from 9 on it is missed"),
        ((0.0, inf), "no threshold tried surely meets the SLA, and none surely misses it"),
        ((3.0, inf), "up to 3 the SLA is met, and none surely misses it"),
    ],
)
def test_a_tuned_threshold_says_what_is_decided(interval: tuple[float, float], said: str, tuned: Tuned) -> None:
    lines = "\n".join(text_of(tuned_answer(replace(tuned, interval=interval), 0.05)))
    assert said in lines
    assert "any" not in lines.replace("many", "")
    assert ("more or longer runs may decide" in lines) is (0.0 in interval or inf in interval)
    assert ("the end of the range searched" in lines) is (tuned.policy.threshold == tuned.tried[-1][0])
    one = replace(tuned, tried=tuned.tried[:1])
    assert "the estimated threshold is the end of the range searched" in "\n".join(text_of(tuned_answer(one, 0.05)))


@pytest.mark.parametrize(
    ("ended_by", "said"),
    [
        ("precision", "what the SLA allows is within 0.5 points"),
        (
            "replications",
            "what the SLA allows is not within 0.5 points, and --replications allows no more worlds",
        ),
        (
            "time",
            "what the SLA allows is not within 0.5 points, and --time-limit allows no more worlds",
        ),
    ],
)
def test_a_tuning_says_which_threshold_is_safe_and_whether_it_is_precise(
    ended_by: str, said: str, tuned: Tuned
) -> None:
    at_safe = replace(tuned.result, sla=Interval(0.01, 0.0, 0.02, 0.95, 4))
    safe = replace(tuned, safe=replace(tuned.policy, threshold=3.0), safe_result=at_safe, ended_by=ended_by)
    answer = tuned_answer(safe, 0.05)
    lines = "\n".join(text_of(answer))
    assert said in lines
    assert "the safe threshold is the largest of" in lines
    assert answer.safe is not None
    assert answer.safe.threshold == 3
    refused = re.search(r"refused at most, at 97.5 % confidence +2.72 %", lines)
    assert refused is not None, "0.01 e, as the interval is 0.01 +- 0.01"
    none = replace(safe, safe=None, safe_result=None)
    lines = "\n".join(text_of(tuned_answer(none, 0.05)))
    assert "is proven to meet the SLA by the fresh runs" in lines
    assert tuned_answer(none, 0.05).safe is None


def test_the_default_of_tune_is_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["admission", "tune", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Hours of each run; the default is a year. [default: 8760]" in shown


def test_region_says_how_many_servers_a_workload_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """At intensity 1 ten servers' workload needs an eleventh for bounded queues."""
    assert run(["region", str(EXAMPLES / "four_types.toml"), "--servers", "10", "--facets", "0"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "servers that bring the workload 10 needed for queues that stay bounded, at least 11" in shown
    assert "needed to hold all jobs at once, at least 11" in shown
    assert "most that a server can hold at these prices, on average 2" in shown
    assert "what the workload of a server is worth at these prices 2 " in shown


def test_region_says_what_the_workload_is_worth_at_the_prices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One type of size 5 on servers of 12, workload 3/2: two fit, so a slot costs 1 and the intensity is 3/4."""
    file = tmp_path / "i.toml"
    file.write_text(
        '[server]\ncapacity = { cpu = 12 }\n[[type]]\nname = "a"\ndemand = { cpu = 5 }\nreward = 1\nworkload = 1.5\n'
    )
    assert run(["region", str(file)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "traffic intensity 3/4 (0.75) the servers carry the workload yes" in shown
    assert "most that a server can hold at these prices, on average 2" in shown
    assert "what the workload of a server is worth at these prices 3/2 (1.5)" in shown
    assert Fraction(3, 2) / 2 == Fraction(3, 4)


@pytest.mark.slow
def test_reproduce_says_in_the_end_what_was_written_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "autoscaling/figure-2", "--out", str(tmp_path / "figures")]
    assert run(arguments) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"1 result written to {tmp_path / 'figures'} (picture, numbers, description)"
    assert (tmp_path / "figures" / "autoscaling" / "figure-2.png").exists()
    assert run(arguments) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("0 results written to ")
    assert last.endswith("; 1 stood there already (--again computes them anew)")
