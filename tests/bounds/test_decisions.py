"""Decisions of claims: their levels are shared out, their count is kept, and both kinds keep their rate."""

from __future__ import annotations

import numpy as np
import pytest

from bounds.results.decisions import ALARM, Decisions
from fluid.statistics import student_quantile


def test_the_rate_is_shared_out_and_the_count_is_kept() -> None:
    decisions = Decisions(5)
    assert [decisions.level() for _ in range(5)] == [1 - ALARM / 5] * 5
    with pytest.raises(RuntimeError, match="planned 5"):
        decisions.mean([1.0, 2.0])


def test_student_widths() -> None:
    values = np.array([3.0, 4.0, 5.0, 8.0])
    found = Decisions(2).mean(values)
    width = student_quantile(1 - ALARM / 4, 3) * values.std(ddof=1) / 2
    assert found.mean == 5.0
    assert found.half_width == pytest.approx(width)


@pytest.mark.parametrize(
    ("positive", "negative", "decided"), [(20, 0, True), (19, 0, False), (33, 2, True), (29, 3, False)]
)
def test_sign_test(positive: int, negative: int, decided: bool) -> None:
    values = [1.0] * positive + [-100.0] * negative
    assert Decisions(1).mostly_positive(values) is decided


def test_zero_is_no_positive_value() -> None:
    assert not Decisions(1).mostly_positive([0.0] * 100)
