"""The page of results as a PDF: all of its text is there, and a wrong call is refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("markdown_it")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pdf() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    from generate import pdf

    yield pdf
    sys.path.remove(str(DOCS))


def test_the_page_of_html_has_the_text_and_needs_nothing_else(pdf: ModuleType) -> None:
    text = pdf.PAGE.read_text(encoding="utf-8")
    page = pdf.html(text)
    words = re.sub(r"<[^>]*>", " ", page)
    abstract = re.sub(r"\s+", " ", words[words.index("Abstract") :])
    first = "Abstract On one resource with equal servers greedy reservation attains at least 0.69662 of the optimum"
    assert abstract.startswith(first)
    assert page.count("<table>") == sum(line.startswith("|---|") for line in text.splitlines())
    assert page.count("<img") == len(pdf.FORMULA.findall(text)) > 10
    assert "FORMULA" not in page
    assert "$" not in words
    assert set(re.findall(r'(?:src|href)="([^:]*):', page)) <= {"data", "http", "https"}


def test_a_wrong_call_is_refused(pdf: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert pdf.main(["results.txt"]) == 2
    assert pdf.main([]) == 2
    assert "ends with .pdf" in capsys.readouterr().err


@pytest.mark.slow
def test_it_is_printed(pdf: ModuleType, tmp_path: Path) -> None:
    if pdf.chromium() is None:
        pytest.skip("needs Chromium")
    assert pdf.main([str(tmp_path / "out.pdf")]) == 0
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF")
