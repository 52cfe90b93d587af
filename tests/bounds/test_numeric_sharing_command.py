"""``packproof share --tolerance``: answers, the check of stored ones, progress, Ctrl-C, and one line for refusals."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.answers import schema as schema_of
from bounds.cli import run
from bounds.results.instances.drawn import random_cluster
from tests.bounds.validated import expect_valid
from theory.files.clusters import cluster_document, read_cluster
from theory.sharing import per_server
from theory.sharing.violation import ps_dsf_violation

EXAMPLE = str(Path(__file__).parent.parent.parent / "examples" / "four_classes.toml")


def schema(name: str) -> Any:
    return schema_of(name)


@pytest.fixture
def middle(tmp_path: Path) -> str:
    """A cluster of 80 users and 25 server classes, as a file."""
    path = tmp_path / "middle.json"
    path.write_text(json.dumps(cluster_document(random_cluster(random.Random(8), 80, 25, 3, largest=50))))
    return str(path)


def made(command: list[str], capsys: Any) -> tuple[str, Any]:
    """Return an answer of the command as text and read, of its schema and within its tolerance."""
    assert run([*command, "--json"]) == 0
    text = capsys.readouterr().out
    answer = json.loads(text)
    expect_valid(answer, "share_numeric")
    assert 0 <= answer["violation"] <= answer["tolerance"] == float(command[-1])
    return text, answer


def accepted(command: list[str], stored: Path, text: str, capsys: Any) -> Any:
    """Return what the check says of an answer that it accepts."""
    stored.write_text(text)
    assert run([*command, "--check", str(stored), "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    expect_valid(checked, "share_check")
    assert checked["valid"]
    return checked


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["ps-dsf", "ps-dsf-tdm"])
def test_an_answer_is_made_and_checked(mechanism: str, middle: str, tmp_path: Path, capsys: Any) -> None:
    command = ["share", middle, "--mechanism", mechanism, "--tolerance", "1e-9"]
    text, answer = made(command, capsys)
    assert answer["evidence"] == "numeric"
    assert not answer["exact"]
    assert all(x > 0 for row in answer["allocation"].values() for x in row.values())
    assert {one["holds"] for one in answer["properties"].values()} == {None}
    for user, row in answer["allocation"].items():
        assert answer["tasks"][user] == pytest.approx(sum(row.values()), rel=1e-12)

    # the violation again, from the decimals of the answer alone
    cluster = read_cluster(middle)
    read = json.loads(text, parse_float=str, parse_int=str)["allocation"]
    tasks = [[Fraction(read[u.name].get(s.name, 0)) for s in cluster.servers] for u in cluster.users]
    found = ps_dsf_violation(cluster, tasks, answer["division"])
    assert (found.value, found.overload, found.user, found.server) == (
        answer["violation"],
        0,
        answer["user"],
        answer["server"],
    )

    stored = tmp_path / "answer.json"
    assert accepted(command, stored, text, capsys)["violation"] == answer["violation"]

    # negative control: one user's tasks altered by a millionth
    user = max(answer["allocation"], key=lambda name: len(answer["allocation"][name]))
    server = next(iter(answer["allocation"][user]))
    for factor, said in ((1 + 1e-6, "beyond its capacity"), (1 - 1e-6, "Furthest from a bottleneck is")):
        altered = json.loads(text)
        altered["allocation"][user][server] *= factor
        stored.write_text(json.dumps(altered))
        assert run([*command, "--check", str(stored)]) == 1
        out = capsys.readouterr().out
        assert out.startswith(f"The stored shares of {mechanism} are refused: they are within ")
        assert said in out


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["c-drfh", "cdrf", "tsf"])
def test_max_min_fair_answers_are_made_and_checked(mechanism: str, middle: str, tmp_path: Path, capsys: Any) -> None:
    command = ["share", middle, "--mechanism", mechanism, "--tolerance", "1e-6"]
    text, answer = made(command, capsys)
    stored = tmp_path / "answer.json"
    assert accepted(command, stored, text, capsys)["violation"] == pytest.approx(answer["violation"], abs=1e-9)
    assert run(command) == 0
    assert "of max-min fairness (1.0e-06 was asked for)" in capsys.readouterr().out

    # negative controls: tasks of one user altered, prices of all resources alike, prices left out or below 0
    user = max(answer["allocation"], key=lambda name: len(answer["allocation"][name]))
    server = max(answer["allocation"][user], key=answer["allocation"][user].get)
    for factor, said in ((1.01, "beyond its capacity"), (0.99, "The user who might gain most is")):
        altered = json.loads(text)
        altered["allocation"][user][server] *= factor
        stored.write_text(json.dumps(altered))
        assert run([*command, "--check", str(stored)]) == 1
        assert said in capsys.readouterr().out
    cluster = read_cluster(middle)
    alike = [{s.name: dict.fromkeys(cluster.resources, 1.0) for s in cluster.servers}]
    stored.write_text(json.dumps(answer | {"prices": alike}))
    assert run([*command, "--check", str(stored)]) == 1
    assert " are refused: they are within " in capsys.readouterr().out
    name = cluster.servers[0].name
    for prices, said in (
        (None, "prices: expected the prices that --tolerance writes"),
        ([{name: {cluster.resources[0]: -1}}], "expected a price, at least 0"),
        ([{"nowhere": {}}], "expected a server of the cluster"),
        ([{name: {"nothing": 1}}], "expected a resource of the cluster"),
        ([{}], "prices: expected finite numbers of at least 0"),
    ):
        stored.write_text(json.dumps(answer | {"prices": prices}))
        assert run([*command, "--check", str(stored)]) == 2
        assert said in capsys.readouterr().err


def test_exact_answers_pass_the_check(tmp_path: Path, capsys: Any) -> None:
    stored = tmp_path / "answer.json"
    assert run(["share", EXAMPLE, "--mechanism", "tsf", "--json"]) == 0
    other = capsys.readouterr().out
    assert run(["share", EXAMPLE, "--mechanism", "ps-dsf", "--json"]) == 0
    stored.write_text(capsys.readouterr().out)
    command = ["share", EXAMPLE, "--mechanism", "ps-dsf", "--tolerance", "1e-12", "--check", str(stored)]
    assert run(command) == 0
    assert " are valid: they are within " in capsys.readouterr().out
    stored.write_text(other.replace('"tsf"', '"ps-dsf"'))
    assert run(command) == 1, "another mechanism's shares are not PS-DSF"
    assert " are refused: they are within " in capsys.readouterr().out


def test_text_of_small_and_large_clusters(middle: str, capsys: Any) -> None:
    assert run(["share", EXAMPLE, "--mechanism", "ps-dsf", "--tolerance", "1e-9"]) == 0
    out = capsys.readouterr().out
    assert "The shares are numeric: they fit the servers exactly, and are within " in out
    assert "conditions of Theorem 1" in out
    assert re.search(r'"user 4" +27\.5\n', out)
    assert run(["share", middle, "--mechanism", "ps-dsf-tdm", "--tolerance", "1e-9"]) == 0
    out = capsys.readouterr().out
    assert "conditions of Theorem 2" in out
    assert "80 users run between " in out
    assert re.search(r"server classes +25\n", out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tolerance", "0"], "--tolerance: expected a number of at least 1e-12 and less than 1, got 0"),
        (["--tolerance", "1e-13"], "--tolerance: expected a number of at least 1e-12"),
        (["--tolerance", "1"], "--tolerance: expected a number of at least 1e-12"),
        (["--tolerance", "few"], "--tolerance: expected a number of at least 1e-12"),
        (["--tolerance", "1e-3", "--whole"], "--whole: has no meaning with --tolerance"),
        (["--tolerance", "1e-3", "--lies", "1"], "--lies: has no meaning with --tolerance"),
        (["--tolerance", "1e-3", "--plot", "p.png"], "--plot: has no meaning with --tolerance"),
        (["--tolerance", "1e-3", "--certificate", "c.json"], "--certificate: has no meaning with --tolerance"),
        (["--check", EXAMPLE], "--tolerance: missing, expected --tolerance EPS"),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["share", EXAMPLE, "--mechanism", "ps-dsf", *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("mechanism", "why"), [("all", "one at a time"), ("drf", "drf is exact at any size")])
def test_other_mechanisms_are_refused(mechanism: str, why: str, capsys: Any) -> None:
    assert run(["share", EXAMPLE, "--mechanism", mechanism, "--tolerance", "1e-3"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("--tolerance: expected --mechanism ps-dsf, ps-dsf-tdm, c-drfh, cdrf, tsf")
    assert why in err


def test_a_tolerance_too_small_for_linear_programs_is_refused(capsys: Any) -> None:
    assert run(["share", EXAMPLE, "--mechanism", "tsf", "--tolerance", "1e-7"]) == 2
    assert capsys.readouterr().err.startswith("--tolerance: expected a number of at least 1e-06")


def test_a_tolerance_that_is_not_reached_is_refused(middle: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(per_server.numeric_ps_dsf, "__kwdefaults__", {"rounds": 3, "say": None})
    assert run(["share", middle, "--mechanism", "ps-dsf", "--tolerance", "1e-9"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "3 rounds of ps-dsf came within" in captured.err
    assert "allow more with --tolerance" in captured.err


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"mechanism": "ps-dsf"}, "allocation: "),
        ({"allocation": {}}, "mechanism: "),
        ({"mechanism": "ps-dsf-tdm", "allocation": {}}, "mechanism: expected ps-dsf, got 'ps-dsf-tdm'"),
        ({"mechanism": "ps-dsf", "allocation": {"nobody": {}}}, "allocation.nobody: expected a user of the cluster"),
        ({"mechanism": "ps-dsf", "allocation": {"user 1": {"Z": 1}}}, "allocation.user 1.Z: expected a server"),
        (
            {"mechanism": "ps-dsf", "allocation": {"user 1": {"A": -1}}},
            "allocation.user 1.A: expected a number of tasks",
        ),
        (
            {"mechanism": "ps-dsf", "allocation": {"user 1": {"A": "x"}}},
            "allocation.user 1.A: expected a number of tasks",
        ),
    ],
)
def test_stored_allocations_that_make_no_sense(document: Any, said: str, tmp_path: Path, capsys: Any) -> None:
    stored = tmp_path / "answer.json"
    stored.write_text(json.dumps(document))
    command = ["share", EXAMPLE, "--mechanism", "ps-dsf", "--tolerance", "1e-3", "--check", str(stored)]
    assert run(command) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{stored}: {said}")
    assert err.count("\n") == 1


def test_tasks_where_none_can_run_are_refused(tmp_path: Path, capsys: Any) -> None:
    stored = tmp_path / "answer.json"
    stored.write_text(json.dumps({"mechanism": "ps-dsf", "allocation": {"user 4": {"A": 1}}}))
    command = ["share", EXAMPLE, "--mechanism", "ps-dsf", "--tolerance", "0.9", "--check", str(stored)]
    assert run(command) == 1
    assert (
        "The stored shares are refused: 1 tasks of 'user 4' on 'A', where that user can run none"
        in capsys.readouterr().out
    )
    assert run([*command, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "share_check")
    assert answer["violation"] is None
    assert not answer["valid"]


WAITING = """
import time
from tests.tools.progress import main, speak_often
from theory.sharing import per_server

look, looks = per_server._run_and_look, []

def looks_and_waits(*arguments):
    looks.append(1)
    if len(looks) == 2:
        time.sleep(100)
    return look(*arguments)

per_server._run_and_look = looks_and_waits
speak_often()
main()
"""
"""The command, which waits between its first look at the shares and the second, long before the end."""


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_interrupted_gives_the_nearest_so_far(by: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C long before the end: status 0, and the violation that was reached."""
    root = Path(__file__).parent.parent.parent
    path = tmp_path / "several.json"
    path.write_text(json.dumps(cluster_document(random_cluster(random.Random(2), 150, 15, 4, largest=50))))
    command = ["share", str(path), "--mechanism", "ps-dsf", "--tolerance", "1e-12", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *command],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert process.stderr is not None
    said = next((line for line in process.stderr if "rounds: within" in line), "")
    assert said.endswith("of the conditions, 1.0e-12 wanted\n")
    process.send_signal(by)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "interrupted: the nearest shares so far" in err
    answer = json.loads(out)
    assert answer["interrupted"]
    assert 1e-12 < answer["violation"] < 1
