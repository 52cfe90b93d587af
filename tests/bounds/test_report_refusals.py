"""``packproof report`` of answers that were altered, cut or made elsewhere: refused in one line, or shown."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.answers import schema
from bounds.cli import run
from bounds.views import report
from bounds.views.checked import as_float, expect_answer
from bounds.views.report import _schema_of, report_page, reported
from tests.bounds.reported import KINDS_OF_ANSWERS
from theory.errors import InputError


def _places(value: Any, before: tuple[Any, ...] = (), most: int = 30) -> Iterator[tuple[Any, ...]]:
    """Yield the places within a document, of a list those of its first entries."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:most]) if isinstance(value, list) else ()
    for key, one in items:
        yield (*before, key)
        yield from _places(one, (*before, key), most)


def _with(document: Any, path: Sequence[Any], value: Any) -> Any:
    """Return a copy of a document with another value at a place, or without it for an ellipsis."""
    changed = parent = copy.deepcopy(document)
    for key in path[:-1]:
        parent = parent[int(key) if isinstance(parent, list) else key]
    last = int(path[-1]) if isinstance(parent, list) else path[-1]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return changed


STRANGE: list[Any] = [
    None, True, -1, 0, 0.0, 1e308, -1e300, 10**90, 10**400, 1e-300, "", "x", "1/0", "-3/4", "9" * 5000, [], {}, [1],
    {"a": 1}, "\ud800", "\x07\n", "$a_$", "W" * 3000, float("nan"), float("inf"), [None], [[]], "{{x}}<script>", "中",
]  # fmt: skip


@st.composite
def alterations(draw: st.DrawFn, document: Any) -> Any:
    """Draw an answer in which a few places are gone, replaced, copied from elsewhere, cut or added."""
    altered = json.loads(json.dumps(document))  # a copy, in a tenth of the time of deepcopy
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(altered))
        if not places:
            break
        *path, last = draw(st.sampled_from(places))
        parent = altered
        for key in path:
            parent = parent[key]
        change = draw(st.sampled_from(("gone", "replaced", "replaced", "cut", "added")))
        if change == "gone":
            del parent[last]
        elif change == "replaced":
            parent[last] = draw(st.sampled_from(STRANGE))
        elif change == "added" and isinstance(parent, dict):
            parent[draw(st.sampled_from(("extra", "\ud800", "_x$", "")))] = draw(st.sampled_from(STRANGE))
        elif isinstance(parent[last], list | str):
            parent[last] = parent[last][: len(parent[last]) // 2]
        elif isinstance(parent[last], int | float) and not isinstance(parent[last], bool):
            parent[last] = -parent[last] * 10**9
    return altered


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a picture that an earlier report of the test has had once: alterations leave most of them as they are."""
    draw, drawn = report._svg, dict[str, str]()

    def drawing(panel: Any, prefix: str) -> str:
        key = f"{prefix} {panel!r}"
        if key not in drawn:
            drawn[key] = draw(panel, prefix)
        return drawn[key]

    monkeypatch.setattr(report, "_svg", drawing)


@pytest.mark.slow
@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_an_altered_answer_is_refused_in_one_line_or_shown(
    name: str, answers: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "answer.json", tmp_path / "page.html"

    @settings(max_examples=12)
    @given(alterations(answers[name]))
    def altered(document: Any) -> None:
        file.write_text(json.dumps(document))
        page.unlink(missing_ok=True)
        capsys.readouterr()
        status = run(["report", str(file), "--out", str(page)])
        lines = capsys.readouterr().err.splitlines()
        assert (status, len(lines)) in ((0, 0), (2, 1)), lines
        assert page.exists() == (status == 0)
        if status == 2:
            assert lines[0].startswith(f"{file}: ")

    altered()


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_a_truncated_answer_is_refused_in_one_line(
    name: str, answers: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(answers[name])
    file, page = tmp_path / "answer.json", tmp_path / "page.html"
    for end in range(0, len(text) - 1, max(1, len(text) // 6)):
        file.write_text(text[:end])
        capsys.readouterr()
        assert run(["report", str(file), "--out", str(page)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"{file}: ")
        assert not page.exists()


REFUSED = {
    "a field of another type": ({"greedy.stages.0.fraction": 5}, "greedy.stages[0].fraction: expected a text, got 5"),
    "no exact number": ({"guarantee": "1/0"}, "guarantee: expected an exact number below 1e100"),
    "no field": ({"optimal.exact": ...}, "optimal.exact: missing"),
    "an unknown field": ({"extra": 1}, "extra: unknown field, expected one of greedy, optimal"),
    "no number": ({"ratio": True}, "ratio: expected a number, got True"),
    "a large number": ({"ratio": 10**200}, "ratio: expected a number below 1e100"),
    "half a letter": ({"greedy.permutation.0": "\ud800"}, "greedy.permutation[0]: expected letters"),
}


def test_a_comparison_of_no_policies_is_refused(answers: dict[str, Any]) -> None:
    for name in ("simulate several", "simulate several queues"):
        document = {**answers[name], "policies": []}
        with pytest.raises(InputError, match="policies: expected a list of at least 1, got 0"):
            report_page(document, document["made"]["command"])


UNLIKE = (
    ("fluid", "time", [], "time: expected a list of at least 1, got 0"),
    ("fluid", "reward", [1.0], "reward: expected a list of 202, as many as in time, got 1"),
    ("fluid", "jobs.small", [], "jobs.small: expected a list of 202"),
    ("fluid", "assignment.0.fraction", [], "assignment[0].fraction: expected a list of 202"),
    ("against fluid", "servers", [], "servers: expected a list of at least 1, got 0"),
    ("against fluid", "distances", [], "distances: expected a list of 3, as many as in servers, got 0"),
    ("against fluid", "distances.1", [], "distances[1]: expected a list of at least 1, got 0"),
    ("against fluid", "distances.1", [1.0], "distances[1]: expected a list of 3, as many as in distances[0], got 1"),
    ("against fluid", "late_rewards.0", [], "late_rewards[0]: expected a list of 3"),
    ("moments", "moments", [], "moments: expected a list of at least 1, got 0"),
    ("tune", "tried", [], "tried: expected a list of at least 1, got 0"),
    ("tune", "judged", [], "judged: expected a list of at least 1, got 0"),
    ("plan", "over_time.1.in_use", {}, "over_time[1].in_use: expected the names of over_time[0].in_use, got others"),
    ("share, allocation", "distances.1.tasks", {}, "distances[1].tasks: expected the names of tasks, got others"),
)


@pytest.mark.parametrize(("name", "place", "value", "expected"), UNLIKE, ids=[f"{one}: {at}" for one, at, *_ in UNLIKE])
def test_lists_that_must_be_alike_are(
    name: str, place: str, value: Any, expected: str, answers: dict[str, Any]
) -> None:
    document = _with(answers[name], place.split("."), value)
    with pytest.raises(InputError, match=re.escape(expected)):
        report_page(document, document["made"]["command"])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("share", "tasks", {}), ("log", "peaks", []), ("plan", "workload", []), ("share", "tasks", {"a": 5.0, "b": -1e9})],
)
def test_bars_of_nothing_are_drawn(name: str, place: str, value: Any, answers: dict[str, Any]) -> None:
    document = _with(answers[name], [place], value)
    assert "<svg" in report_page(document, document["made"]["command"])


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_whatever_is_cut_is_refused_or_shown(name: str, answers: dict[str, Any]) -> None:
    """Every list and table of an answer, of the first two in each list: emptied, and lists to their half."""
    for path in _places({key: value for key, value in answers[name].items() if key != "made"}, most=2):
        before = reduce(getitem, path, answers[name])
        if not isinstance(before, dict | list):
            continue
        for value in ([], before[: len(before) // 2]) if isinstance(before, list) else ({},):
            document = _with(answers[name], path, value)
            with contextlib.suppress(InputError):
                report_page(document, document["made"]["command"])


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_place(case: str, answers: dict[str, Any]) -> None:
    changes, expected = REFUSED[case]
    document = answers["solve"]
    for place, value in changes.items():
        document = _with(document, place.split("."), value)
    with pytest.raises(InputError, match=re.escape(expected)):
        report_page(document, document["made"]["command"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"made": {"command": "packproof solve x"}, "ratio": NaN}', "NaN is no number of JSON"),
        ('{"made": 1, "made": 2}', "the key 'made' stands twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"made": {"command": "packproof plan x"}, "certificate": ' + "[" * 800 + "]" * 800 + "}", ": "),
        ("[]", "made: missing"),
        ("{", "expected JSON"),
    ],
)
def test_no_answer(text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answer.json"
    file.write_text(text)
    assert run(["report", str(file), "--out", str(tmp_path / "page.html")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{file}: ")
    assert expected in line


def _refusal(document: Any, name: str) -> str:
    try:
        expect_answer(document, name)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS_OF_ANSWERS)
def test_the_check_of_answers_agrees_with_jsonschema(name: str, answers: dict[str, Any]) -> None:
    """Whatever jsonschema refuses is refused, and what it accepts is refused for its size, or its letters, alone."""
    document = answers[name]
    made_by = document["made"]["command"]
    schemas = next(names for command, names in reported().items() if made_by.startswith(f"packproof {command} "))

    @settings(max_examples=15)
    @given(alterations(document))
    def agree(altered: Any) -> None:
        chosen = _schema_of(altered, schemas) if isinstance(altered, dict) else schemas[0]
        validator = jsonschema.Draft202012Validator(schema(chosen))
        refusal = _refusal(altered, chosen)
        narrower = re.search("below 1e100|expected letters|whole number, got -?[0-9.e+-]+$", refusal) is not None
        assert narrower or validator.is_valid(altered) == (not refusal), refusal

    agree()


def test_exact_numbers_of_any_length_are_read() -> None:
    long = "7" * 6000
    assert as_float(f"{long}/{long}") == 1.0
    assert as_float("3/4") == 0.75
