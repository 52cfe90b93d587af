"""``packproof plan`` with servers on offer: what the options mean, what is answered, and one line for bad input."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.checker import check
from bounds.cli import run
from bounds.cli.candidates import servers_of
from bounds.views.report import report_page
from tests.bounds.validated import expect_valid
from theory.files.planned_types import with_pools
from theory.greedy import Offer

ROOT = Path(__file__).parents[2]
TYPES, LOG, JOBS = (ROOT / "examples" / name for name in ("vm_types.csv", "vm_log.csv", "jobs.csv"))
OFFER = "--server name=a,cpu=6,price=3 --server name=b,cpu=11,price=5 --accept 0.99 --policy first-fit"


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(words.split()) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_prices_limits_and_what_exists_are_read() -> None:
    read = servers_of(["name=a,cpu=4,price=1/3,most=9,have=2", "name=old,cpu=8,have=3,overhead=cpu:0.5"], spare=1)
    assert read.market is not None
    assert read.market.offers == (Offer(Fraction(1, 3), 9, 2), Offer(Fraction(0), 3, 3))
    assert read.market.spare == 1
    assert read.pools == [{"name": "a", "capacity": {"cpu": "4"}}, {"name": "old", "capacity": {"cpu": "15/2"}}]
    # servers without prices are a fixed mix, as ever
    fixed = servers_of(["cpu=4,memory=8,overhead=cpu:1,memory:0.5"])
    assert fixed.market is None
    assert fixed.pools == [{"capacity": {"cpu": "3", "memory": "15/2"}}]


def test_types_of_the_catalogue_are_on_offer() -> None:
    read = servers_of(["aws:m5.*,overhead=cpu:0.5,memory:2,most=4", "name=own,cpu=4,memory=8,price=1"])
    assert read.market is not None
    large = next(i for i, pool in enumerate(read.pools) if pool["name"] == "aws:m5.large")
    assert read.pools[large]["capacity"] == {"cpu": "3/2", "memory": "6"}
    assert read.market.offers[large] == Offer(Fraction("0.096"), 4)
    assert len(read.pools) > 4


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            "--server name=a,cpu=6,price=2 --server name=b,cpu=6",
            "--server: b: expected price=NUMBER, as others have, or",
        ),
        ("--server cpu=6,most=3", "--server: expected a price=NUMBER of at least one kind of server beside most= and"),
        ("--server cpu=6 --spare 1", "--spare: expected a price=NUMBER of at least one kind of server"),
        ("--server aws:nix.*", "--server: 'aws:nix.*': expected cpu=NUMBER,memory=NUMBER, or types of the catalogue"),
        ("--server name=a,cpu=6,price=2,share=1", "--server: a: expected a share= (of a fixed mix) or prices (of cand"),
        ("--server cpu=6,price=2,overhead=cpu:7", "--server: overhead: cpu: expected at least 0 and less than the 6"),
        ("--server cpu=6,overhead=gpu:1", "--server: overhead: gpu: expected one of cpu"),
        ("--server cpu=6,overhead=cpu:x", "--server: overhead: cpu: expected a number, got 'x'"),
        ("--server cpu=6,price=x", "--server: server: price: expected a number, got 'x'"),
        ("--server cpu=6,price=-1", "--server: server: price: expected at least 0, got -1"),
        ("--server cpu=6,price=1,most=1.5", "--server: server: most: expected a whole number of at least 0, got 1.5"),
        ("--server cpu=6,price=1,most=1,have=2", "--server: server: most: expected at least the 2 that exist, got 1"),
        ("--server cpu=6,price=1,most=0", "most: the servers that there may be carry at most 0 % of the jobs"),
    ],
)
def test_refusals(more: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"plan {JOBS} {more} --accept 0.9 --policy first-fit".split()) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith(line), said


@pytest.mark.slow
def test_the_cheapest_mix_and_its_bounds_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    answer: Any = json.loads(printed(f"plan {JOBS} {OFFER} --json", capsys))
    expect_valid(answer, "plan")
    assert check(answer["certificate"])
    cost = answer["cost"]
    (row,) = cost["policies"]
    prices = {one["server"]: Fraction(one["price_exact"]) for one in cost["kinds"]}
    paid = sum(prices[name] * number for name, number in row["paid"].items())
    assert paid == Fraction(row["cost_exact"]) == Fraction(cost["cost_exact"])
    assert Fraction(cost["mean"]["lower_exact"]) <= Fraction(cost["peak"]["lower_exact"])
    assert sum(row["servers"].values()) == answer["servers"]
    assert row["attained"] >= 0.99
    assert f"for {float(paid):g} " in answer["sentence"]
    page = report_page(answer, "packproof plan LOG")
    assert "cheapest mix found" in page


@pytest.mark.slow
def test_what_exists_is_not_paid_and_a_reserve_is(capsys: pytest.CaptureFixture[str]) -> None:
    offers = "--server name=a,cpu=48,memory=192,price=2.4,most=9 --server name=old,cpu=48,memory=96,have=3"
    words = f"plan {TYPES} {LOG} {offers} --spare 1 --accept 0.99 --policy first-fit"
    cost = json.loads(printed(f"{words} --json", capsys))["cost"]
    (row,) = cost["policies"]
    assert row["servers"]["old"] <= 2
    assert row["paid"] == {"a": row["servers"]["a"] + 1, "old": 0}
    text = printed(words, capsys)
    assert "servers on offer, 1 in reserve of each kind that is used" in text
    assert f"({row['paid']['a']} a to pay for)" in text


@pytest.mark.slow
def test_a_limit_on_the_number_of_jobs_is_a_resource(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"plan {JOBS} --server cpu=6000,pods=3 --accept 1 --policy first-fit --json"
    answer = json.loads(printed(words, capsys))
    jobs = sum(answer["peak"]["jobs"].values())
    assert answer["peak"]["lower"] == -(-jobs // 3) > 1
    assert answer["servers"] >= answer["peak"]["lower"]


def test_a_resource_that_types_name_is_no_limit() -> None:
    table = {"name": "a", "demand": {"cpu": "1", "pods": "2"}}
    (kept,) = with_pools([table], [{"capacity": {"cpu": "4", "pods": "9"}}]).types
    assert kept["demand"] == {"cpu": "1", "pods": "2"}
    (kept,) = with_pools([{**table, "demand": {"cpu": "1"}}], [{"capacity": {"cpu": "4", "pods": "9"}}]).types
    assert kept["demand"] == {"cpu": "1", "pods": "1"}


@pytest.mark.slow
def test_growth_is_planned_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"plan {JOBS} --server cpu=6 --accept 0.9 --policy first-fit --json"
    plain, grown = (json.loads(printed(words + more, capsys)) for more in ("", " --grow 3"))
    assert grown["log"]["arrivals"] == 3 * plain["log"]["arrivals"]
    assert grown["log"]["grown"] == {"": 3.0}
    assert "grown" not in plain["log"]
    assert grown["servers"] > plain["servers"]
    assert "this log with 3 times the VMs" in grown["sentence"]


@pytest.mark.parametrize("more", ["--grow x", "--grow web=2", "--grow 2 --grow 3", "--grow=-1"])
def test_growth_that_is_none_is_refused(more: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"plan {JOBS} --server cpu=6 --accept 0.9 --policy first-fit {more}".split()) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("--grow: ")


def log_with_large(place: Path) -> Path:
    """Write a log of 30 small VMs, and three that are too large for servers of 16 and 32 CPUs."""
    rows = [f"{600 * i},{600 * i + 900 + 37 * i},{4 + 4 * (i % 3)},{8 + 8 * (i % 2)}" for i in range(30)]
    large = ["4000,5000,40,16", "4000,5000,8,512", "4100,5000,8,512"]
    place.write_text("\n".join(["start,end,vCPU,memory", *rows, *large]) + "\n")
    return place


@pytest.mark.slow
def test_what_fits_no_server_is_left_out_where_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_with_large(tmp_path / "log.csv")
    kinds = "--server name=a,cpu=16,memory=32,price=1 --server name=b,cpu=32,memory=64,price=1.8"
    words = f"plan {log} {kinds} --accept 0.99 --policy first-fit --drop-large"
    answer = json.loads(printed(f"{words} --json", capsys))
    assert answer["log"]["arrivals"] == 30
    assert answer["log"]["too_large"] == [
        {"tasks": 2, "demand": {"cpu": "8", "memory": "512"}, "short": {"memory": 2}, "kinds": 2},
        {"tasks": 1, "demand": {"cpu": "40", "memory": "16"}, "short": {"cpu": 2}, "kinds": 2},
    ]
    assert answer["sentence"].startswith("Without 3 VMs that fit no server, ")
    assert "insufficient memory on 2 of 2" in printed(words, capsys)


def test_what_fits_no_server_is_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_with_large(tmp_path / "log.csv")
    kinds = "--server name=a,cpu=16,memory=32 --server name=b,cpu=48,memory=8"
    assert run(f"plan {log} {kinds} --accept 0.99 --policy first-fit".split()) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        f"{log}:32: expected tasks that fit a server, got cpu = 40, memory = 16 (3 tasks of 33 do not; insufficient "
        "cpu on 1 of 2 kinds of servers, insufficient memory on 1); --drop-large goes on without them"
    )


@pytest.mark.slow
def test_types_that_fit_no_server_are_left_out_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"plan {TYPES} {LOG} --server cpu=6,memory=192 --accept 0.9 --policy first-fit --json"
    assert run(words.split()) == 2
    assert "'web.large' fits no server, not even alone" in capsys.readouterr().err
    answer = json.loads(printed(f"{words} --drop-large", capsys))
    (large,) = answer["log"]["too_large"]
    assert large == {"tasks": 269, "demand": {"cpu": "8", "memory": "32"}, "short": {"cpu": 1}, "kinds": 1}
    assert answer["log"]["arrivals"] == 1555 - 269
    assert {one["type"]: one["arrivals"] for one in answer["workload"]} == {"web.small": 961, "db.large": 325}
