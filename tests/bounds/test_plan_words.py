"""What ``packproof plan`` says beside its numbers: of what they are, of pools, of ties, of a reserve."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from bounds.views import plan as view
from bounds.views.plan_cost import policy_in_words
from fluid.planning import PlannedLog, Target, Trials, make_plan
from fluid.planning.needs import Peak
from fluid.planning.plan import EFFORTS, Effort, PolicyNeed
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_names import policy
from theory.instance import pooled

Row = tuple[int, int, str]
WORDS = {"a": 3, "b": 2}
PRICED = "--server name=big,cpu=8,price=10 --server name=small,cpu=4,price=5.2 --accept 0.9"


@pytest.fixture(autouse=True)
def _few_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORTS, "quick", Effort(2, 1000, 40))


def rows_of(seed: int, number: int = 40) -> list[Row]:
    """Return when VMs come, how long they stay, and their types: many come at one instant."""
    draw = random.Random(seed)
    return sorted((draw.randint(0, 6), draw.randint(1, 6), draw.choice("ab")) for _ in range(number))


def log_of(path: Path, rows: list[Row], *, plain: bool = False) -> Path:
    if plain:
        lines = ["time,duration,type", *(f"{at},{stay},{name}" for at, stay, name in rows)]
    else:
        lines = ["start,end,type", *(f"{at},{at + stay},{name}" for at, stay, name in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def types_of(folder: Path) -> Path:
    (folder / "types.csv").write_text("name,cpu,price\n" + "".join(f"{name},{cpu},1\n" for name, cpu in WORDS.items()))
    return folder / "types.csv"


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(words.split()) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def accepted_by_hand(rows: list[Row], servers: int, capacity: int) -> float:
    """Return the share that first-fit accepts of rows in their order; who leaves at an instant has left before."""
    inside: list[list[tuple[int, int]]] = [[] for _ in range(servers)]
    count = 0
    for at, stay, name in rows:
        for held in inside:
            held[:] = [(end, cpu) for end, cpu in held if end > at]
        home = next((held for held in inside if sum(cpu for _, cpu in held) + WORDS[name] <= capacity), None)
        if home is not None:
            home.append((at + stay, WORDS[name]))
            count += 1
    return count / len(rows)


def test_ties_are_broken_as_the_answer_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the names of types, then by the shorter stay, whatever the order of rows; in a plain table by that order."""
    rows = rows_of(2)
    other = sorted(rows, key=lambda row: (row[0], -ord(row[2]), -row[1]))
    by_name = sorted(rows, key=lambda row: (row[0], row[2], row[1]))
    types = types_of(tmp_path)

    def attained(order: list[Row], *, plain: bool) -> tuple[int, float]:
        log = log_of(tmp_path / "log.csv", order, plain=plain)
        text = printed(f"plan {types} {log} --server cpu=5 --accept 0.8 --policy first-fit --json", capsys)
        (row,) = json.loads(text)["policies"]
        return row["servers"], row["attained"]

    for order in (rows, other):
        servers, share = attained(order, plain=False)
        assert share == pytest.approx(accepted_by_hand(by_name, servers, 5))
        servers, share = attained(order, plain=True)
        assert share == pytest.approx(accepted_by_hand(order, servers, 5))
    assert attained(rows, plain=True) != attained(other, plain=True), "the order of ties matters here"
    assert any("in the order of the names of their types, of equal ones the shorter" in one for one in view.ASSUMED)
    assert any("in a plain table (time, duration) and in traces" in one for one in view.ASSUMED)


def test_servers_of_a_mix_are_split_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every number of servers has its pools, and no number is beside a cost of another rule."""
    words = f"plan {types_of(tmp_path)} {log_of(tmp_path / 'log.csv', rows_of(4))} {PRICED}"
    answer: Any = json.loads(printed(f"{words} --json", capsys))
    (row,) = answer["policies"]
    assert len(answer["pools"]) == 2, "a mix of both kinds"
    assert answer["carries"]["pools"] == answer["cost"]["mean"]["servers"], "rounded down, one small one takes six"
    for one in (answer["carries"], answer["peak"], *(growth["carries"] for growth in answer["growth"])):
        assert sum(one["pools"].values()) == one["upper"]
    assert sum(row["one_less_pools"].values()) == row["servers"] - 1
    text = printed(words, capsys)
    titles = re.findall(r"\n\n([^ \n].*)\n  ", text)
    assert "numbers, of servers in the proportions of the cheapest mix found" in titles
    assert titles.index(answer_title(titles, "greedy reservation")) > titles.index(answer_title(titles, "growth"))
    big, small = (row["one_less_pools"][name] for name in ("big", "small"))
    assert f"{100 * row['one_less']:.3f} % accepted ({big} big, {small} small)" in text
    assert re.search(r"\n  dra \(greedy reservation\) +\d", text)
    big, small = (answer["carries"]["pools"][name] for name in ("big", "small"))
    assert f"{answer['carries']['upper']} ({big} big, {small} small)" in text
    assert "(to hold all VMs; 10 % may be refused)." in answer["sentence"]


def answer_title(titles: list[str], begins: str) -> str:
    return next(title for title in titles if title.startswith(begins))


def test_only_dra_is_greedy_reservation() -> None:
    assert [policy_in_words(name) for name in ("dra", "first-fit")] == ["dra (greedy reservation)", "first-fit"]


def small_log() -> PlannedLog:
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 400, 100))
    jobs = JobList(times - times[0], rng.integers(0, 2, 100).astype(np.int32), rng.integers(1, 60, 100))
    return PlannedLog(pooled([(7, [8]), (1, [4])], [[3], [2]]), jobs, int(jobs.times[-1]) + 1, None, ())


def test_a_reserve_is_advised_where_all_resampled_logs_need_more() -> None:
    trials = Trials(Target(accept=0.9))
    plan = make_plan(small_log(), [policy("first-fit")], trials, Effort(0, 0, 40))
    assert plan.best is not None
    servers = plan.best.servers
    assert servers is not None
    more = f" Every resampled log needed more, {servers + 1} to {servers + 3} servers: plan a reserve."
    cases: list[tuple[tuple[int | None, ...], str]] = [
        ((), ""),
        ((servers + 1, servers + 3), more),
        ((servers + 2,), f" Every resampled log needed more, {servers + 2} servers: plan a reserve."),
        ((servers + 1, None), " Every resampled log needed more: plan a reserve."),
        ((servers, servers + 3), ""),
        ((servers - 1, servers - 1), ""),
    ]
    for resampled, expected in cases:
        again = replace(plan, policies=(PolicyNeed(plan.best, resampled),))
        assert view._reserve(again) == expected
        assert view._sentence(again).endswith(f" may be refused).{expected}")
    split = view.split_in_words(view._pools(plan.log.instance, servers))
    assert view._sentence(plan).startswith(f"{servers} servers{split} suffice")
    assert "big" not in split, "pools of this instance have other names"
    peak = replace(plan, peak=Peak(7, 9, 0.0, (1, 1)))
    assert "; its mean workload needs " in view._sentence(peak)
    assert " and its fullest instant 7 to 9 servers (to hold all VMs; 10 % may be refused)." in view._sentence(peak)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Target(accept=1), ""),
        (Target(accept=0.999), " (to hold all VMs; 0.1 % may be refused)"),
        (Target(wait=0), ""),
        (Target(wait=2), " (to hold all VMs at once; they may wait)"),
    ],
)
def test_what_the_fullest_instant_is_about(target: Target, words: str) -> None:
    plan = make_plan(small_log(), [policy("first-fit")], Trials(Target(accept=0.9)), Effort(0, 0, 40))
    assert view._all_held(replace(plan, trials=Trials(target))) == words


def test_of_equal_policies_the_first_is_taken() -> None:
    """As the answer says: what it attains does not decide."""
    for names in (("first-fit", "best-fit"), ("best-fit", "first-fit")):
        plan = make_plan(small_log(), [policy(name) for name in names], Trials(Target(accept=0.9)), Effort(0, 0, 40))
        needs = [row.need for row in plan.policies]
        assert plan.best is next(need for need in needs if need.servers == min(one.servers or 0 for one in needs))
    assert any("it is the first in the table, whatever they attain" in one for one in view.ASSUMED)
