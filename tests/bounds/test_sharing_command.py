"""``packproof share``: JSON keys, certificates, events, pictures, and one line for bad input."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from msgspec import convert
from msgspec.structs import replace

from bounds.answers import KINDS
from bounds.answers.allocation import JudgedShares
from bounds.answers.sharing import Shares
from bounds.cli import run
from bounds.views.headline import headline
from bounds.views.sharing import sentence, tables
from bounds.views.sharing_pictures import picture_of_shares
from bounds.views.shown import text_of
from tests.bounds.validated import expect_valid
from theory.errors import InputError
from theory.sharing.model import Cluster, ServerClass, User
from theory.sharing.per_server import ps_dsf

CLUSTER = """
[[server]]
name = "A"
capacity = { cpu = 9, ram = 12, bandwidth = 100 }
[[server]]
name = "B"
capacity = { cpu = 12, ram = 12 }
[[user]]
name = "u1"
demand = { cpu = 1, ram = 2, bandwidth = 10 }
[[user]]
name = "u2"
demand = { cpu = 1, ram = 2, bandwidth = 1 }
[[user]]
name = "u3"
demand = { cpu = 1, ram = 2 }
weight = 2
"""


GROUPS = """
server = [{ name = "pool", capacity = { cpu = 10, gpu = 10 } }]
group = [{ name = "research" }, { name = "web", weight = 1 }]
user = [
  { name = "train", group = "research", demand = { gpu = 1 } },
  { name = "crawl", group = "web", demand = { cpu = 1 } },
  { name = "rank", group = "web", demand = { gpu = 1 } },
]
"""


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER)
    return path


def test_one_mechanism_as_json(cluster, capsys):
    assert run(["share", str(cluster), "--mechanism", "ps-dsf", "--whole", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["mechanism"] == "ps-dsf"
    assert answer["tasks"] == {"u1": 3.0, "u2": 3.0, "u3": 6.0}
    assert answer["allocation"]["u3"] == {"A": 0.0, "B": 6.0}
    assert answer["utilisation"]["B"] == {"cpu": 0.5, "ram": 1.0}
    assert answer["properties"]["bottleneck_fairness"] == {"holds": True, "witness": None}
    assert answer["properties"]["strategy_proofness"]["holds"] is None
    assert answer["whole"]["tasks"] == {"u1": 3, "u2": 3, "u3": 6}


@pytest.mark.slow
def test_all_in_one_table(cluster, tmp_path, capsys):
    picture = tmp_path / "shares.png"
    assert run(["share", str(cluster), "--plot", str(picture)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    names = ["drf", "c-drfh", "cdrf", "tsf", "ps-dsf", "ps-dsf-tdm"]
    assert ["user", *names] in lines
    assert ["u3", "6.261", "6.261", "8", "8", "6", "6"] in lines
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(["share", str(cluster), "--json"]) == 0
    together = json.loads(capsys.readouterr().out)
    expect_valid(together, "share_all")
    answers = together["mechanisms"]
    assert list(answers) == names
    for answer in answers.values():
        expect_valid(answer, "share")


@pytest.mark.parametrize("mechanism", ["drf", "c-drfh", "cdrf", "tsf", "ps-dsf", "ps-dsf-tdm"])
def test_certificates(cluster, tmp_path, capsys, mechanism):
    out = tmp_path / "certificate.json"
    assert run(["share", str(cluster), "--mechanism", mechanism, "--certificate", str(out)]) == 0
    assert run(["check", str(out)]) == 0
    document = json.loads(out.read_text())
    document["claims"]["tasks"]["u1"] = "4"
    out.write_text(json.dumps(document))
    assert run(["check", str(out)]) == 1
    capsys.readouterr()


@pytest.mark.slow
def test_events(cluster, tmp_path, capsys):
    plan = tmp_path / "events.toml"
    plan.write_text('until = 20\n[[event]]\ntime = 10\nuser = "u3"\naction = "leave"\n')
    picture = tmp_path / "history.png"
    command = ["share", str(cluster), "--mechanism", "ps-dsf", "--events", str(plan)]
    assert run([*command, "--json", "--plot", str(picture)]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "share_events")
    assert answer["tasks"]["u3"][8] == 6
    assert answer["tasks"]["u3"][-1] == 0
    assert picture.exists()
    assert run(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("Under ps-dsf, after 1 change of the users who are present, u1 runs 3 tasks and u2 3 at the")
    rows = [line.split() for line in out.splitlines()]
    assert ["20", "u2", "3"] in rows
    assert ["20", "u3", "away"] in rows


def test_lies(cluster, capsys):
    assert run(["share", str(cluster), "--mechanism", "tsf", "--lies", "1"]) == 0
    assert "misreports tried" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("weight = 2", "weight = 0", "user[3].weight: expected a number greater than 0, got 0"),
        ("weight = 2", 'servers = ["Z"]', "user[3].servers: expected names of servers of this file (A, B), got 'Z'"),
        ("cpu = 9", "cpu = -9", "server[1].capacity.cpu: expected a number of at least 0, got -9"),
        (
            "weight = 2",
            'servers = ["B"]\n[[user]]\nname = "u4"\ndemand = { bandwidth = 1 }\nservers = ["B"]',
            "user[4]: ",
        ),
    ],
)
def test_bad_input_is_one_line(cluster, capsys, old, new, line):
    cluster.write_text(CLUSTER.replace(old, new))
    assert run(["share", str(cluster)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(f"{cluster}: {line}")


@pytest.mark.parametrize(
    "options",
    [["--mechanism", "fair"], ["--certificate", "c.json"], ["--mechanism", "tsf", "--events", "e.toml"]],
)
def test_bad_usage(cluster, capsys, options):
    assert run(["share", str(cluster), *options]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_caps(cluster, tmp_path, capsys):
    """Of all mechanisms those without caps are left out, by name; asked for, they are refused in one line."""
    cluster.write_text(CLUSTER.replace("weight = 2", "weight = 2\nmost_tasks = 2"))
    assert run(["share", str(cluster), "--json"]) == 0
    captured = capsys.readouterr()
    answers = json.loads(captured.out)["mechanisms"]
    assert list(answers) == ["drf", "c-drfh", "tsf"]
    assert all(one["tasks_exact"]["u3"] == "2" and one["most_tasks"] == {"u3": "2"} for one in answers.values())
    assert captured.err == f"{cluster}: most_tasks: left out cdrf, ps-dsf, ps-dsf-tdm, which do not take it\n"
    proof = tmp_path / "proof.json"
    assert run(["share", str(cluster), "--mechanism", "tsf", "--certificate", str(proof)]) == 0
    assert "wants at most" in capsys.readouterr().out
    assert run(["check", str(proof), "--instance", str(cluster)]) == 0
    for name in ("cdrf", "ps-dsf", "ps-dsf-tdm"):
        assert run(["share", str(cluster), "--mechanism", name]) == 2
        assert capsys.readouterr().err.startswith(
            f"{cluster}: shares by {name}: expected users without most_tasks, got"
        )
    assert run(["share", str(cluster), "--mechanism", "tsf", "--tolerance", "1e-3"]) == 2
    assert capsys.readouterr().err.startswith(f"{cluster}: --tolerance: expected users without most_tasks, got")
    tasks = tmp_path / "tasks.csv"
    tasks.write_text("user,server,tasks\nu3,B,5/2\n")
    assert run(["share", str(cluster), "--allocation", str(tasks), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged["unwanted"] == [{"user": "u3", "tasks": "5/2", "most_tasks": "2"}]
    lines = headline(convert(judged, JudgedShares, strict=False))
    assert lines is not None
    assert lines.number == "1", "the cap of u3 is the one condition that fails"
    assert run(["share", str(cluster), "--allocation", str(tasks)]) == 0
    assert "do NOT fit this cluster: u3 has 2.5 tasks and wants at most 2." in capsys.readouterr().out


LABELS = """
server = [
  { name = "default", capacity = { memory = 100, vcores = 100 } },
  { name = "label", capacity = { memory = 480, vcores = 100 } },
]
user = [
  { name = "x", demand = { memory = 4, vcores = 1 }, servers = ["label"] },
  { name = "y", demand = { memory = 1, vcores = 1 }%s },
]
"""


def test_groups(tmp_path, capsys):
    """DRF takes them, and says what each holds; who does not take them is left out by name, or refuses in a line."""
    path, tasks, proof = tmp_path / "groups.toml", tmp_path / "tasks.csv", tmp_path / "proof.json"
    path.write_text(GROUPS)
    assert run(["share", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    (answer,) = json.loads(captured.out)["mechanisms"].values()
    assert answer["tasks_exact"] == {"train": "5", "crawl": "10", "rank": "5"}
    assert answer["groups"] == [
        {"group": "research", "weight": "1", "users": ["train"], "share": "1/2", "due": "1/2"},
        {"group": "web", "weight": "1", "users": ["crawl", "rank"], "share": "1", "due": "1/2"},
    ]
    assert answer["properties"]["sharing_incentive"]["holds"] is True
    assert "not defined with groups" in answer["properties"]["envy_freeness"]["witness"]["note"]
    assert captured.err == f"{path}: group: left out c-drfh, cdrf, tsf, ps-dsf, ps-dsf-tdm, which do not take it\n"
    assert run(["share", str(path)]) == 0
    assert "dominant share of each group" in capsys.readouterr().out
    assert (
        run(["share", str(path), "--mechanism", "drf", "--whole", "--lies", "1", "--plot", str(tmp_path / "p.png")])
        == 0
    )
    assert "what groups hold" in capsys.readouterr().out
    tasks.write_text("user,server,tasks\ntrain,pool,4\ncrawl,pool,10\nrank,pool,6\n")
    assert run(["share", str(path), "--allocation", str(tasks)]) == 0
    assert "research holds at most 0.4 of a resource, and its part by weight is 0.5" in capsys.readouterr().out
    for options, place in (
        (["--mechanism", "tsf"], "shares by tsf"),
        (["--mechanism", "tsf", "--tolerance", "1e-3"], "--tolerance"),
        (["--mechanism", "tsf", "--tolerance", "1e-3", "--check", str(tasks)], "--tolerance"),
        (["--events", str(tasks)], "--events"),
        (["--allocation", str(tasks), "--certificate", str(proof)], "--certificate with --allocation"),
    ):
        assert run(["share", str(path), *options]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        line = captured.err.splitlines()[-1]
        assert line.startswith(f"{path}: {place}: expected users without group, got group research and 1 more")
        assert not proof.exists()
    assert run(["share", str(path), "--mechanism", "drf", "--certificate", str(proof)]) == 0
    assert run(["check", str(proof), "--instance", str(path)]) == 0
    other = tmp_path / "other.toml"
    other.write_text(GROUPS.replace("weight = 1", "weight = 2"))
    assert run(["check", str(proof), "--instance", str(other)]) == 1


def test_what_drf_ignores_is_named_and_nothing_is_verified_that_does_not_fit(tmp_path, capsys):
    path, proof = tmp_path / "labels.toml", tmp_path / "proof.json"
    path.write_text(LABELS % ', servers = ["label"]')
    words = ["share", str(path), "--mechanism", "drf"]
    assert run([*words, "--certificate", str(proof)]) == 2
    line = capsys.readouterr().err
    assert line.startswith("--certificate: expected tasks that fit the cluster; those of drf, which ignores")
    assert line.count("\n") == 1
    assert not proof.exists()
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "ignores the borders between servers and servers (placement) of x, y" in shown
    assert "and they do NOT fit this cluster" in shown
    assert "verified" not in shown
    assert {line.split()[-1] for line in shown.splitlines() if "fairness" in line} == {"cluster"}  # of a reason
    assert "  yes  " not in shown
    assert run([*words, "--json", "--lies", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["feasible"] is False
    assert {one["holds"] for one in answer["properties"].values()} == {None}
    expect_valid(answer, "share")
    assert run(["share", str(path)]) == 0
    together = capsys.readouterr().out
    assert "drf divides all servers as one and ignores the borders between servers and servers (placement) of x, y" in (
        together
    )
    assert "they do NOT fit this cluster" in together
    assert together.startswith("Of the mechanisms whose tasks fit this cluster, ")
    assert "?" not in together


def test_drf_whose_tasks_fit_is_judged_on_the_servers(tmp_path, capsys):
    path, proof = tmp_path / "users.toml", tmp_path / "proof.json"
    path.write_text(CLUSTER)
    assert run(["share", str(path), "--mechanism", "drf", "--certificate", str(proof), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["feasible"], answer["ignored"]) == (True, ["the borders between servers"])
    assert answer["properties"]["envy_freeness"]["holds"] is None
    assert answer["properties"]["pareto_optimality"]["holds"] is True
    assert json.loads(proof.read_text())["claims"]["ignored"] == "borders of servers"
    for mechanism in ("cdrf", "ps-dsf"):
        assert run(["share", str(path), "--mechanism", mechanism, "--json"]) == 0
        assert "ignored" not in json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_lies_that_were_not_searched_and_lies_that_were_not_found(cluster, capsys):
    assert run(["share", str(cluster)]) == 0
    assert capsys.readouterr().out.count("not searched") == 6
    assert run(["share", str(cluster), "--lies", "1"]) == 0
    shown = capsys.readouterr().out
    assert "none found" in shown
    assert "not searched" not in shown
    assert run(["share", str(cluster), "--mechanism", "cdrf", "--lies", "1"]) == 0
    assert "none found  no profitable lie among" in capsys.readouterr().out


def test_a_lie_about_servers_is_printed(tmp_path, capsys):
    """Who may run on the first server only gains where it claims to run on both, like the others."""
    path = tmp_path / "lie.toml"
    path.write_text(
        'server = [{ name = "A", capacity = { cpu = 2 } }, { name = "B", capacity = { cpu = 1 } }]\n'
        'user = [{ name = "u", demand = { cpu = 1 }, servers = ["A"] }, { name = "v", demand = { cpu = 1 } },\n'
        '{ name = "w", demand = { cpu = 1 } }]\n'
    )
    assert run(["share", str(path), "--mechanism", "cdrf", "--lies", "0"]) == 0
    shown = capsys.readouterr().out
    # alone u runs 2 tasks and the others 3, so of 3 tasks u has 2 of 8 parts; who is like the others has a third
    assert "Not satisfied: envy-freeness, bottleneck fairness, single-resource fairness, strategy-proofness." in shown
    assert "NO     u says that it may run on all servers, and gets 1 in place of 0.75 tasks" in shown


def answers(cluster, tmp_path, capsys):
    """Return answers of every kind as classes, with an allocation that fails a property."""
    plan = tmp_path / "events.toml"
    plan.write_text('until = 20\n[[event]]\ntime = 10\nuser = "u3"\naction = "leave"\n')
    commands = {
        "share": ["--mechanism", "tsf", "--whole"],
        "share_all": [],
        "share_events": ["--mechanism", "ps-dsf", "--events", str(plan)],
        "share_events_all": ["--events", str(plan)],
        "share_numeric": ["--mechanism", "ps-dsf", "--tolerance", "1e-9"],
        "share_check": ["--mechanism", "ps-dsf", "--tolerance", "1e-9", "--check", str(tmp_path / "shares.json")],
    }
    assert run(["share", str(cluster), "--mechanism", "ps-dsf", "--json"]) == 0
    (tmp_path / "shares.json").write_text(capsys.readouterr().out)
    for name, words in commands.items():
        assert run(["share", str(cluster), *words, "--json"]) == 0
        yield name, convert(json.loads(capsys.readouterr().out), KINDS[name].type())


@pytest.mark.slow
def test_no_name_of_a_field_reaches_the_text(cluster, tmp_path, capsys):
    for name, answer in answers(cluster, tmp_path, capsys):
        shown = "\n".join(text_of(answer))
        assert re.search(r"[a-z]_[a-z]", shown) is None, (name, shown)


@pytest.mark.slow
def test_the_sentence_has_the_numbers_of_the_answer(cluster, tmp_path, capsys):
    every = dict(answers(cluster, tmp_path, capsys))
    one, together, numeric = every["share"], every["share_all"], every["share_numeric"]
    assert sentence(one).startswith("Under tsf, u1 runs 2 tasks, u2 2 and u3 8. The tasks are exact and verified. Not")
    assert one.tasks == {"u1": 2, "u2": 2, "u3": 8}
    assert f"within {numeric.violation:.1e} of" in sentence(numeric)
    best = max(together.mechanisms.values(), key=lambda share: share.nash_welfare)
    assert f"({best.nash_welfare:.4f})" in sentence(together)
    failing = next(table for table in tables(together) if table.title == "why a property fails")
    assert ["tsf", "bottleneck fairness", "u1 has 4 of ram; its fair amount is 6"] in failing.rows


def test_many_users_and_servers_are_summed_up():
    servers, users = [f"s{i}" for i in range(30)], [f"u{n}" for n in range(20)]
    answer = convert(
        {
            "mechanism": "tsf", "division": "resource", "exact": True, "rounds": None, "damped": False,
            "tasks": dict(zip(users, range(1, 21), strict=True)), "tasks_exact": None,
            "allocation": {user: {"s0": 1.0, "s1": 0.0} for user in users},
            "utilisation": {server: {"cpu": i / 60} for i, server in enumerate(servers)},
            "jain_index": 0.5, "nash_welfare": 0.5, "properties": {},
        },
        Shares,
    )  # fmt: skip
    assert sentence(answer).startswith("Under tsf, 20 users run between 1 and 20 tasks each.")
    rows = dict(next(table for table in tables(answer) if table.title.startswith("in all")).rows)
    assert rows["pairs of user and server class with tasks"] == "20"
    assert rows["tasks of a user, median"] == "10.5"
    assert rows["cpu in use on a server class"] == "between 0 % and 48.3 %"


@pytest.mark.slow
def test_runs_that_are_not_equally_long_are_refused(cluster, tmp_path, capsys):
    run_over_time = dict(answers(cluster, tmp_path, capsys))["share_events"]
    with pytest.raises(InputError, match="lists of one length"):
        sentence(replace(run_over_time, time=run_over_time.time[1:]))


def test_the_price_of_fairness_is_named_under_time_division(tmp_path, capsys):
    """Two users tied to a unit server each and two who may use both: 3/2 of 2, which is the least for four users."""
    path = tmp_path / "cluster.json"
    users = [{"name": f"u{n}", "demand": {"time": 1}} for n in range(4)]
    users[0]["servers"], users[1]["servers"] = ["a"], ["b"]
    servers = [{"name": name, "capacity": {"time": 1}} for name in "ab"]
    path.write_text(json.dumps({"server": servers, "user": users}))
    assert run(["share", str(path), "--mechanism", "ps-dsf-tdm", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "share")
    assert answer["price"] == {"parts": "3/2", "greatest": "2", "kept": 0.75, "guaranteed": 0.75}
    assert run(["share", str(path), "--mechanism", "ps-dsf-tdm"]) == 0
    assert "sum to 1.5 of at most 2, so 75 % is kept, and at least 75 % is guaranteed." in capsys.readouterr().out
    users[2]["weight"] = 3
    path.write_text(json.dumps({"server": servers, "user": users}))
    assert run(["share", str(path), "--mechanism", "ps-dsf-tdm", "--json"]) == 0
    assert "guaranteed" not in json.loads(capsys.readouterr().out)["price"]
    assert run(["share", str(path), "--mechanism", "ps-dsf", "--json"]) == 0
    assert "price" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("name", "columns"), [("A", 3), ("0.25/0.2498", 2)])
def test_long_names_of_servers_leave_room_for_two_panels_in_a_row(name, columns, monkeypatch):
    drawn = []
    monkeypatch.setattr("bounds.views.sharing_pictures.picture_of_panels", lambda *_, **how: drawn.append(how))
    shared = Cluster(("memory",), (ServerClass(name, (Fraction(2),), 1),), (User("u", (Fraction(1),), Fraction(1)),))
    picture_of_shares([ps_dsf(shared)], "p.png")
    assert [how["columns"] for how in drawn] == [columns]
