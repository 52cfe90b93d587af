"""``packproof share --allocation``: what is read, what is said, what is refused, and the certificate."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bounds import checker
from bounds.certificates.fairness import fairness_certificate
from bounds.cli import run
from bounds.results.instances.drawn import random_cluster
from tests.bounds.validated import expect_valid
from theory.sharing.judgement import given, judge_given
from theory.sharing.mechanisms import MECHANISMS

EXAMPLES = Path(__file__).parents[2] / "examples"
CLUSTER = str(EXAMPLES / "four_classes.toml")
TODAY = str(EXAMPLES / "four_classes_today.csv")


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert run(["share", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run(["share", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return a cluster of one server with 4 cpus, and two users of one cpu a task."""
    file = tmp_path / "pair.toml"
    file.write_text(
        '[[server]]\nname = "A"\ncapacity = { cpu = 4 }\n'
        '[[user]]\nname = "u"\ndemand = { cpu = 1 }\n[[user]]\nname = "v"\ndemand = { cpu = 1 }\n'
    )
    return file


def written(pair: Path, text: str, name: str = "now.csv") -> str:
    file = pair.parent / name
    file.write_text(text)
    return str(file)


def test_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """User 2 has 75 tasks and envies user 1; user 3 could run 15 more on what nobody uses."""
    proof = tmp_path / "proof.json"
    found = answer(capsys, CLUSTER, "--allocation", TODAY, "--mechanism", "tsf", "--certificate", str(proof))
    expect_valid(found, "share_allocation")
    assert found["feasible"]
    assert found["envious"] == [
        {"user": "user 2", "envies": "user 1", "tasks": "75", "with_the_other": "140", "more": "65"}
    ]
    assert found["properties"]["pareto_optimality"]["witness"]["gains"] == {"user 3": "15"}
    assert found["gaps"]["envy_freeness"] == pytest.approx(65 / 140)
    assert [one["mechanism"] for one in found["distances"]] == ["tsf"]
    assert run(["check", str(proof), "--instance", CLUSTER]) == 0
    forged = json.loads(proof.read_text())
    forged["claims"]["properties"]["envy_freeness"] = True
    forged["digest"] = checker.digest(forged)
    proof.write_text(json.dumps(forged))
    assert run(["check", str(proof)]) == 1


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["share", CLUSTER, "--allocation", TODAY, "--mechanism", "tsf"]) == 0
    said = capsys.readouterr().out
    for part in (
        'The tasks fit this cluster. They fit each class as one, but the servers of C hold 0 whole tasks of "user 4"',
        "Not satisfied: envy-freeness, Pareto optimality.",
        '"user 2" would run 65 more tasks with what "user 1" holds.',
        "who envies whom",
        "It is not by tsf",
    ):
        assert part in said


def test_too_many_tasks(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = written(pair, "user,server,tasks\nu,A,4\nv,A,1\n")
    proof = pair.parent / "proof.json"
    found = answer(capsys, str(pair), "--allocation", now, "--mechanism", "drf", "--certificate", str(proof))
    assert found["overloads"] == [
        {"server": "A", "resource": "cpu", "used": "5", "capacity": "4", "over": "1", "part": 0.25}
    ]
    assert {one["holds"] for one in found["properties"].values()} == {None}
    assert checker.check(json.loads(proof.read_text()))["over"] == {"A": {"cpu": "5/4"}}
    assert run(["share", str(pair), "--allocation", now, "--mechanism", "drf"]) == 0
    assert "The tasks do NOT fit this cluster: they use 5 of the cpu of A, which has 4." in capsys.readouterr().out
    found = answer(capsys, str(pair), "--allocation", now, "--mechanism", "drf", "--tolerance", "1/4")
    assert found["feasible"]
    assert found["tasks"] == {"u": 4.0, "v": 1.0}  # as they were given


def test_tables_documents_and_certificates_are_read_alike(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shares of a mechanism are its own, by its answer and by its certificate, with fractions and semicolons."""
    proof, document = pair.parent / "proof.json", pair.parent / "answer.json"
    made = answer(capsys, str(pair), "--mechanism", "tsf", "--certificate", str(proof))
    document.write_text(json.dumps(made))
    table = written(pair, "server;tasks;user\nA;2,0;u\nA;4/2;v\n")
    for file in (str(proof), str(document), table):
        found = answer(capsys, str(pair), "--allocation", file)
        assert all(one["holds"] for one in found["properties"].values())
        assert {one["part"] for one in found["distances"]} == {0}
        assert all(one["fulfils"] for one in found["distances"])


def test_tasks_that_single_servers_do_not_hold_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two servers of 64 have 128 together, and none of them holds a task of 100."""
    words = (str(tmp_path / "c.toml"), "--allocation", str(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("user,server,tasks\nu,A,1\n")
    for capacity, named in ((64, [{"user": "u", "server": "A", "tasks": "1", "most_whole": 0}]), (100, None)):
        server = f'[[server]]\nname = "A"\ncount = 2\ncapacity = {{ memory = {capacity} }}\n'
        (tmp_path / "c.toml").write_text(server + '[[user]]\nname = "u"\ndemand = { memory = 100 }\n')
        found = answer(capsys, *words)
        assert found["feasible"]
        assert found.get("unwhole") == named
        assert run(["share", *words]) == 0
        said = "the servers of A hold 0 whole tasks of u at most, which has 1 there" in capsys.readouterr().out
        assert said is (named is not None)


def test_what_is_not_used_is_named(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(pair, "user,server,tasks,queue\nu,A,1,red\n")
    document = written(pair, '{"allocation": {"u": {"A": 1}}, "date": "today"}', "now.json")
    for file, name in ((table, "queue"), (document, "date")):
        capsys.readouterr()
        assert run(["share", str(pair), "--allocation", file, "--mechanism", "drf"]) == 0
        assert f"{file}: not used: {name}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user,server\nu,A\n", "now.csv:1: tasks: expected a column of this name, found user, server"),
        ("user,server,tasks\nw,A,1\n", "now.csv:2: user: expected a user of the cluster (u, v), got 'w'"),
        ("user,server,tasks\nu,B,1\n", "now.csv:2: server: expected a server of the cluster (A), got 'B'"),
        ("user,server,tasks\nu,A,-1\n", "now.csv:2: tasks: expected a number of tasks, at least 0, got '-1'"),
        ("user,server,tasks\nu,A,many\n", "now.csv:2: tasks: expected a number of tasks, at least 0, got 'many'"),
        (
            "user,server,tasks\nu,A,1\nu,A,2\n",
            "now.csv:3: expected each pair of user and server once, got 'u' on 'A' again",
        ),
        ("user,server,tasks\n", "now.csv:1: expected at least one row below the header"),
    ],
)
def test_bad_tables(pair: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    assert said in refusal(capsys, str(pair), "--allocation", written(pair, text))


def test_bad_options(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = written(pair, "user,server,tasks\nu,A,1\n")
    given_ = (str(pair), "--allocation", now)
    assert "--whole: has no meaning with --allocation" in refusal(capsys, *given_, "--whole")
    assert "--certificate: has no meaning with --tolerance" in refusal(
        capsys, *given_, "--tolerance", "1e-9", "--certificate", str(pair.parent / "c.json")
    )
    for number in ("-1", "1", "few"):
        assert "--tolerance: expected a number of at least 0 and less than 1" in refusal(
            capsys, *given_, f"--tolerance={number}"
        )
    wrong = written(pair, '{"allocation": {"u": {"Z": 1}}}', "now.json")
    assert "now.json: allocation.u.Z: expected a server of the cluster" in refusal(
        capsys, str(pair), "--allocation", wrong
    )


@pytest.mark.parametrize("seed", range(6))
def test_certificates_of_drawn_allocations(seed: int) -> None:
    """Those of mechanisms, and parts of what users could run alone; altered verdicts are refused."""
    rng = random.Random(seed)
    instance = random_cluster(rng, 3, 2, 2, counts=2)
    if not all(any(server.capacity) for server in instance.servers):
        return
    half = [[x / rng.choice([2, 3]) for x in row] for row in instance.monopoly]
    for tasks in (half, MECHANISMS["ps-dsf"](instance).tasks, MECHANISMS["cdrf"](instance).tasks):
        certificate = fairness_certificate(judge_given(given(instance, tasks)))
        assert checker.check(certificate) == certificate["claims"]
        if certificate["claims"]["feasible"]:
            for name, holds in certificate["claims"]["properties"].items():
                properties = {**certificate["claims"]["properties"], name: not holds}
                forged = {**certificate, "claims": {**certificate["claims"], "properties": properties}}
                forged["digest"] = checker.digest(forged)
                with pytest.raises(checker.Refused):
                    checker.check(forged)


def test_no_certificate_where_a_property_is_not_decided(
    pair: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theory.sharing.properties.MAX_USERS", 1)
    now = written(pair, "user,server,tasks\nu,A,1\n")
    said = refusal(capsys, str(pair), "--allocation", now, "--certificate", str(pair.parent / "c.json"))
    assert "--certificate: expected a cluster that is small enough to decide every property of" in said
