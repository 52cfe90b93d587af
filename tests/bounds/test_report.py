"""``packproof report``: what it says is what the command says, and an altered answer is refused in one line."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from bounds.answers import KINDS, schema
from bounds.cli import run
from bounds.views.checked import EXACT, as_float, expect_answer
from bounds.views.headline import headline
from bounds.views.pictures import as_bytes
from bounds.views.report import _schema_of, report_page, reported
from tests.pictures.looks import HOSTILE, faults, hostile_instance, typed
from theory.errors import InputError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

COMMANDS = {
    "solve": "solve four_types.toml --servers 10",
    "solve, two pools": "solve pools.json --servers 9",
    "worst": "worst caught.toml --vary workload",
    "worst by size": "worst --types 3 --resources 1",
    "region": "region caught.toml",
    "log": "log vm_log.csv",
    "simulate": "simulate four_types.toml --policy dra --servers 5 --until 3 --replications 2",
    "simulate a queue": "simulate caught.toml --policy nonpreemptive --servers 2 --until 20",
    "simulate several": "simulate caught.toml --policy first-fit --policy best-fit --servers 2 --until 20",
    "simulate several queues": "simulate caught.toml --policy nonpreemptive --policy max-weight-local --servers 2 "
    "--until 20",
    "against fluid": "simulate four_types.toml --policy dra --servers 160 --until 0.2 --against-fluid --replications 3",
    "experiment": "experiment small_grid.toml --store s.db --workers 1",
    "tune": "admission tune admission_small.toml --policy zeroth --sla 0.1 --until 900 --replications 4 --steps 3",
    "share": "share four_classes.toml --mechanism tsf --whole",
    "share, all": "share four_classes.toml",
    "share, allocation": "share four_classes.toml --allocation four_classes_today.csv",
    "share over time": "share four_classes.toml --mechanism ps-dsf --events user_4_leaves.toml",
    "share over time, all": "share four_classes.toml --events user_4_leaves.toml",
    "share, numeric": "share four_classes.toml --mechanism tsf --tolerance 1e-6",
    "fluid": "fluid four_types.toml --until 2",
    "throughput": "throughput uniform_sizes.toml",
    "law": "admission law admission.toml --at 24 --size 4 --given mu=0.05,lambda=1,sigma=4",
    "moments": "admission moments admission.toml --at 24 --size 4",
    "belief": "admission belief admission.toml --observed observed.json",
    "check": "check plan_certificate.json",
    "catalogue": "catalogue m5.*",
    "verify with": "verify nonpreemptive/table-1 --with workload=1,3,1",
    "attack": "attack rules_to_attack.py:first_fit --kind items --items 5 --time-limit 2",
}


SLOWER = {
    "decide": "admission decide admission.toml --active 120,40,7 --arriving 4 --horizons 1,24",
    "exact": "admission exact admission_small.toml --policy zeroth --threshold 6 --most-deployments 2",
    "optimal": "admission optimal admission_small.toml --sla 0.05 --most-deployments 2",
    "simulate admission": "admission simulate admission_small.toml --policy zeroth --threshold 8 --until 200",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return an answer of each kind that has a report."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "pools.json").write_text(json.dumps(hostile_instance(3, 2)))
    documents: dict[str, Any] = {"plan": json.loads((EXAMPLES / "plan_answer.json").read_text())}
    with pytest.MonkeyPatch.context() as patch:
        for name, command in COMMANDS.items():
            words = [_place(word, folder) for word in command.split()]
            patch.chdir(folder)
            documents[name] = json.loads(_printed([*words, "--json"]))
    return documents


def _place(word: str, folder: Path) -> str:
    if word == "pools.json":
        return str(folder / word)
    return str(EXAMPLES / word) if word.partition(":")[0].endswith((".toml", ".py", ".json", ".csv")) else word


def _printed(words: list[str]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        assert run(words) == 0, words
    return stream.getvalue()


KINDS_OF_ANSWERS = ["plan", *COMMANDS]


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
    page = report_page(document, document["made"]["command"])
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
    document = json.loads(_printed([*(_place(word, tmp_path) for word in SLOWER[name].split()), "--json"]))
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


def test_a_log_is_in_doubt_where_the_record_says_so(answers: dict[str, Any]) -> None:
    """The words of the sentence do not decide it."""

    def first_of(document: dict[str, Any]) -> str:
        (first,) = re.findall(r'<p class="first">(.*?)</p>', report_page(document, "packproof plan LOG"), re.DOTALL)
        return str(first)

    said, doubted = copy.deepcopy(answers["plan"]), copy.deepcopy(answers["plan"])
    said["sentence"] = f"The log is in doubt (it is not). {said['sentence']}"
    doubted["log"]["doubts"] = ["the mean stay is 0.1 s, under a second"]
    assert "in doubt" not in first_of(said)
    assert first_of(doubted).endswith("The log is in doubt.")


def test_the_date_of_a_log_is_shown(answers: dict[str, Any]) -> None:
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


def test_the_report_of_a_plan_shows_what_servers_hold(answers: dict[str, Any]) -> None:
    """Five servers carry the mean workload, as the certificate proves: three contents, on 2, 2 and 1 of them."""
    page = report_page(answers["plan"], "packproof plan LOG")
    assert "What each of 5 servers holds where they carry the mean workload." in page
    assert "<!-- 16 web.small + 4 db.large -->" in page
    without = copy.deepcopy(answers["plan"])
    del without["certificate"]["evidence"]["servers"]["columns"]
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


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value[:30]) if isinstance(value, list) else ()
    for key, one in items:
        yield (*before, key)
        yield from _places(one, (*before, key))


STRANGE: list[Any] = [
    None, True, -1, 0, 0.0, 1e308, -1e300, 10**90, 10**400, 1e-300, "", "x", "1/0", "-3/4", "9" * 5000, [], {}, [1],
    {"a": 1}, "\ud800", "\x07\n", "$a_$", "W" * 3000, float("nan"), float("inf"), [None], [[]], "{{x}}<script>", "中",
]  # fmt: skip


@st.composite
def alterations(draw: st.DrawFn, document: Any) -> Any:
    """Draw an answer in which a few places are gone, replaced, copied from elsewhere, cut or added."""
    altered = copy.deepcopy(document)
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


@pytest.mark.slow
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
    for path in _containers({key: value for key, value in answers[name].items() if key != "made"}):
        before = answers[name]
        for key in path:
            before = before[key]
        for value in ([], before[: len(before) // 2]) if isinstance(before, list) else ({},):
            document = _with(answers[name], path, value)
            with contextlib.suppress(InputError):
                report_page(document, document["made"]["command"])


def _containers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        if path:
            yield path
        for key, part in value.items() if isinstance(value, dict) else enumerate(value[:2]):
            yield from _containers(part, (*path, key))


def _with(document: Any, path: Sequence[Any], value: Any) -> Any:
    """Return a copy of a document with another value at a place."""
    changed = parent = copy.deepcopy(document)
    for key in path[:-1]:
        parent = parent[int(key) if isinstance(parent, list) else key]
    parent[int(path[-1]) if isinstance(parent, list) else path[-1]] = value
    return changed


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_place(case: str, answers: dict[str, Any]) -> None:
    changes, expected = REFUSED[case]
    document = copy.deepcopy(answers["solve"])
    for place, value in changes.items():
        *path, last = (int(key) if key.isdigit() else key for key in place.split("."))
        parent = document
        for key in path:
            parent = parent[key]
        if value is ...:
            del parent[last]
        else:
            parent[last] = value
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
