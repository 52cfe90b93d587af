"""A report at 390 pixels, on a wide screen, and printed: nothing is cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bounds.views.report import report_page
from tests.docs.browser import Browser, chromium

EXAMPLES = Path(__file__).parents[2] / "examples"
CUT = """[...document.querySelectorAll("body, .scroll, pre, figure")].filter(
  one => one.scrollWidth > one.clientWidth + 1).map(one => `${one.tagName}.${one.className}`)"""
CARDS = "document.querySelectorAll('table.cards').length"
HEADS = "document.querySelector('.cards thead') && getComputedStyle(document.querySelector('.cards thead')).display"
FIRST = "[...document.querySelector('.cards tbody tr').cells].map(one => one.dataset.head)"
ROUND = "document.querySelector('.cards td + td').getBoundingClientRect().width > 300"


def test_nothing_of_a_report_is_cut(tmp_path: Path) -> None:
    """Tables that are too wide for a telephone are lists of their rows there, and tables everywhere else."""
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    page = tmp_path / "plan.html"
    document = json.loads((EXAMPLES / "plan_answer.json").read_text(encoding="utf-8"))
    page.write_text(report_page(document, document["made"]["command"]), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.resize(390)
        browser.open(page)
        assert browser.do(CUT) == []
        assert browser.do(CARDS) >= 2
        assert browser.do(HEADS) == "none"
        assert browser.do(FIRST) == ["policy", "servers", "attained", "on one less", "on resampled logs"]
        assert browser.do(ROUND), "a cell takes the whole line"
        # a telephone that is turned, and paper
        browser.resize(1280)
        browser.wait(f"{CARDS} === 0")
        assert browser.do(CUT) == []
        browser.resize(390)
        browser.wait(f"{CARDS} >= 2")
        browser.resize(718, "print")
        browser.wait(f"{CARDS} === 0")
        assert browser.do(CUT) == []
        assert not browser.complaints
