"""``packproof report``: what it says is what the command says."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from bounds.answers import KINDS
from bounds.views.checked import EXACT
from bounds.views.headline import headline
from bounds.views.pictures import as_bytes
from bounds.views.report import report_page, reported
from tests.bounds.reported import KINDS_OF_ANSWERS, page_of_the_plan, printed, words_of
from tests.pictures.looks import HOSTILE, faults, typed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

SLOWER = {
    "decide": "admission decide admission.toml --active 120,40,7 --arriving 4 --horizons 1,24",
    "exact": "admission exact admission_small.toml --policy zeroth --threshold 6 --most-deployments 2",
    "optimal": "admission optimal admission_small.toml --sla 0.05 --most-deployments 2",
    "simulate admission": "admission simulate admission_small.toml --policy zeroth --threshold 8 --until 200",
}


def numbers_of(value: Any) -> Iterator[float]:
    """Yield the numbers of an answer, exact ones as floats."""
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers_of(one)
    elif isinstance(value, list):
        yield float(len(value))
        for one in value:
            yield from numbers_of(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, str) and re.fullmatch(EXACT, value):
        yield float(Fraction(value))


def sentence_of(page: str) -> str:
    found = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_a_report_begins_with_a_short_sentence_whose_numbers_are_in_the_answer(
    name: str, answers: dict[str, Any]
) -> None:
    document = answers[name]
    page = page_of_the_plan() if name == "plan" else report_page(document, document["made"]["command"])
    _begins_well(page)
    _has_its_numbers(name, document, sentence_of(page))


def _has_its_numbers(name: str, document: dict[str, Any], sentence: str) -> None:
    if name == "plan":  # the sentence is the answer's own
        assert sentence == document["sentence"]
        return
    known = list(numbers_of(document))
    if name == "log":
        known.append(document["span"] / 86400)
    if name == "throughput":
        known.append(document["vqs"] / document["maximum"]["upper"])
    for name_of_type in HOSTILE:
        sentence = sentence.replace(name_of_type, "")
    for words in document.get("parameters", {}).values() if name == "verify with" else ():
        sentence = sentence.replace(words, "")
    sentence = re.sub(r'"user \d"', "", sentence)
    for shown in re.findall(r"(?<![\w-])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?: %)?", sentence):
        percent, digits = shown.endswith("%"), len(shown.removesuffix(" %").partition(".")[2])
        value = float(shown.removesuffix(" %").replace(",", "")) / (100 if percent else 1)
        slack = 0.51 * 10.0 ** -(digits + 2 * percent)
        assert any(abs(one - value) <= max(slack, 1e-5 * abs(one)) for one in known) or value == 1.0, shown


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOWER)
def test_a_report_of_admission_begins_with_a_short_sentence(name: str, tmp_path: Path) -> None:
    document = json.loads(printed([*words_of(SLOWER[name], tmp_path), "--json"]))
    _begins_well(report_page(document, document["made"]["command"]))


def _begins_well(page: str) -> None:
    """Look at the number and the words that a report begins with, and at its numbers and heads."""
    found = re.search(r'<p class="first"><strong>(.*?)</strong>(.*?)</p>', page, re.DOTALL)
    assert found is not None
    number, words = unescape(found[1]), unescape(found[2])
    assert len(words.split()) <= 25, words
    assert len(re.sub(r"[\D]", "", number.partition(" to ")[0]).lstrip("0")) <= 4, number
    for cell in re.findall(r'<td class="number">([^<]*)</td>', page):
        for decimal in re.findall(r"(?<![\w.,/])\d+\.\d+(?![\w.])", cell):
            assert len(decimal.replace(".", "").strip("0")) <= 3 or round(float(decimal), 2) in (1.0, 100.0), cell
    heads = re.findall(r"<th[^>]*>([^<]*)</th>|<h3>([^<]*)</h3>", page)
    assert not [head for head in heads if re.fullmatch(r"[a-z]+(_[a-z]+)+", "".join(head))], "words, no keys"


def test_every_answer_that_has_a_report_has_first_lines() -> None:
    for names in reported().values():
        for name in names:
            assert headline.dispatch(KINDS[name].type()) is not headline.dispatch(object), name


def draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what reports draw, where what they say is asked for."""
    monkeypatch.setattr("bounds.views.report._svg", lambda _panel, _prefix: "<svg></svg>")


def test_a_log_is_in_doubt_where_the_record_says_so(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of the sentence do not decide it."""
    draw_nothing(monkeypatch)

    def first_of(document: dict[str, Any]) -> str:
        (first,) = re.findall(r'<p class="first">(.*?)</p>', report_page(document, "packproof plan LOG"), re.DOTALL)
        return str(first)

    said, doubted = copy.deepcopy(answers["plan"]), copy.deepcopy(answers["plan"])
    said["sentence"] = f"The log is in doubt (it is not). {said['sentence']}"
    doubted["log"]["doubts"] = ["the mean stay is 0.1 s, under a second"]
    assert "in doubt" not in first_of(said)
    assert first_of(doubted).endswith("The log is in doubt.")


def test_the_date_of_a_log_is_shown(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    draw_nothing(monkeypatch)
    for name in ("plan", "log"):
        page = report_page(answers[name], answers[name]["made"]["command"])
        assert "The log begins on 2026-05-04 and lasts" in page
    undated = copy.deepcopy(answers["log"])
    undated["begins"] = None
    assert "begins on" not in report_page(undated, undated["made"]["command"])


def test_pictures_of_a_report_have_no_background(answers: dict[str, Any]) -> None:
    """The page's own colour is behind them, so that a dark page has no white blocks."""
    page = report_page(answers["solve"], answers["solve"]["made"]["command"])
    (first, *_) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    background = re.search(r'id="p0-patch_1">\s*<path[^>]*style="([^"]*)"', first)
    assert background is not None
    assert "fill: none" in background[1] or "opacity: 0" in background[1]
    assert "servers (share)" in first, "the assignment comes first"


@pytest.mark.pictures
@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_pictures_of_a_report_are_sound(name: str, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes have units, texts do not overlap, and mathematics is printed, at the width of a report."""
    figures: list[Figure] = []

    def recorded(made: Figure, *given: Any, **named: Any) -> bytes:
        figures.append(made)
        return as_bytes(made, *given, **named)

    monkeypatch.setattr("bounds.views.report.as_bytes", recorded)
    report_page(answers[name], answers[name]["made"]["command"])
    assert not [fault for made in figures for fault in (*faults(made), *typed(made))]


def test_the_report_of_a_plan_shows_what_servers_hold(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Five servers carry the mean workload, as the certificate proves: three contents, on 2, 2 and 1 of them."""
    page = page_of_the_plan()
    assert "What each of 5 servers holds where they carry the mean workload." in page
    assert "<!-- 16 web.small + 4 db.large -->" in page
    without = copy.deepcopy(answers["plan"])
    del without["certificate"]["evidence"]["servers"]["columns"]
    draw_nothing(monkeypatch)
    assert "servers holds" not in report_page(without, "packproof plan LOG")


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 9), st.fractions(0, 3, max_denominator=5)),
        min_size=1,
        max_size=4,
    )
)
def test_the_report_of_solve_says_what_solve_says(types: list[tuple[int, int, int, Fraction]]) -> None:
    """The guarantee of the sentence is the larger one; both assignments are whole in the tables."""
    from bounds.views.assignment import sentence, solution_answer, tables
    from theory.files.instances import parse_instance
    from theory.greedy.optimal import solve

    kinds = [
        {"name": f"t{n}", "demand": {"a": a, "b": b}, "reward": reward, "workload": str(workload)}
        for n, (a, b, reward, workload) in enumerate(types)
    ]
    solution = solve(parse_instance({"server": {"capacity": {"a": 12, "b": 12}}, "type": kinds}, "drawn"))
    answer = solution_answer(solution)
    guaranteed = 100 * float(solution.greedy.guarantee_stagewise)
    assert f"guarantees at least {guaranteed:.2f} %" in sentence(answer)
    found = {table.title: table.rows for table in tables(answer)}
    for title, number in (
        ("greedy assignment, stage by stage", len(solution.greedy.stages)),
        ("optimal assignment, by configuration", len(solution.optimal.columns)),
    ):
        rows = found.get(title, [])
        assert len(rows) == number
        percents = [float(one.removesuffix(" %")) for row in rows for one in row if one.endswith(" %")]
        assert len(percents) == number
        assert sum(percents) <= 100 * (1 + 1e-5)
