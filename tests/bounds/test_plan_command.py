"""``packproof plan`` and ``packproof report``: the numbers of the single commands, one line for bad input, one page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.checker import check
from bounds.cli import run
from bounds.cli.example import names
from bounds.views.plan import ASSUMED, percent
from bounds.views.report import report_page
from fluid.planning.plan import EFFORTS, Effort
from fluid.traces import completed, powers_of_half, read_trace, single_resource
from tests.bounds.reported import page_of_the_plan
from tests.bounds.validated import expect_valid

ROOT = Path(__file__).parents[2]
TYPES, LOG = ROOT / "examples" / "vm_types.csv", ROOT / "examples" / "vm_log.csv"
PLAN = f"plan {TYPES} {LOG} --server cpu=48,memory=192 --accept 0.99 --policy first-fit --policy best-fit"


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(words.split()) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def answer(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(printed(f"{words} --json", capsys))


@pytest.mark.slow
def test_the_answer_is_that_of_the_single_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = answer(PLAN, capsys)
    expect_valid(plan, "plan")
    assert check(plan["certificate"])
    servers, policy = plan["servers"], plan["policy"]
    instance = tmp_path / "instance.json"
    instance.write_text(
        json.dumps(
            {"server": plan["certificate"]["instance"]["server"], "type": plan["certificate"]["instance"]["type"]}
        )
    )
    solved = answer(f"solve {instance} --servers {servers}", capsys)
    assert solved["servers"]["least_servers"] | plan["carries"] == solved["servers"]["least_servers"]
    assert solved["ratio"] == plan["greedy"]["ratio"]
    worst = answer(f"worst {instance} --vary workload", capsys)
    assert worst["exact"] == plan["greedy"]["worst_ratio_exact"]
    until = plan["log"]["seconds"]
    for number, value in ((servers, "attained"), (servers - 1, "one_less")):
        alone = f"simulate {instance} --policy {policy} --servers {number} --until {until!r} --warmup 0 --trace {LOG}"
        (row,) = (one for one in plan["policies"] if one["policy"] == policy)
        assert answer(alone, capsys)["accepted"]["mean"] == pytest.approx(row[value], abs=1e-9)
    for kind, row in zip(plan["certificate"]["instance"]["type"], plan["workload"], strict=True):
        top, _, bottom = kind["workload"].partition("/")
        assert int(top) / int(bottom or 1) * servers == pytest.approx(row["jobs"], abs=1e-3)


@pytest.mark.slow
def test_the_sentence_is_first_and_guesses_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(PLAN, capsys)
    assert re.match(
        r"\d+ servers suffice for this log under (first|best)-fit, which accepts 99\.\d+ % of the VMs", text
    )
    assert 'columns of the types guessed from the header: name = "VM Size", reward = "price", cpu = "vCPU"' in text
    assert 'columns guessed from the header: time = "created_at", end = "deleted_at", type = "VM Size"' in text
    assert "rows have no end and run on to the last moment of the table" in text


@pytest.mark.slow
def test_a_warm_up_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = PLAN.replace(" --policy best-fit", "")
    text = printed(f"{words} --warmup 86400", capsys)
    assert " % of the VMs that come after a warm-up of 24 hours (target: " in text
    assert "\nworkload by type (means after the warm-up of 24 hours)\n" in text
    assert "workload by type (means over the log)" in printed(words, capsys)


def test_one_accepted_short_of_all_is_not_all() -> None:
    assert [percent(share) for share in (1.0, 1 - 1e-6, 1 - 4e-8)] == ["100.000 %", "99.9999 %", "99.999996 %"]


def vm_table(rows: list[tuple[int, int, str]], form: str) -> str:
    """Write VMs, by the millisecond in which they come and leave, as a log of some form."""
    first = datetime(2026, 5, 4, tzinfo=UTC)
    dates = [[first + timedelta(milliseconds=at) for at in row[:2]] for row in rows]
    if form == "seconds":
        return "start,end,type\n" + "".join(f"{a / 1000:.3f},{b / 1000:.3f},{name}\n" for a, b, name in rows)
    if form == "json lines":
        return "".join(
            json.dumps({"start": begin.isoformat(), "end": end.isoformat(), "type": name}) + "\n"
            for (begin, end), (*_, name) in zip(dates, rows, strict=True)
        )
    return "start,end,type\n" + "".join(
        f"{begin.isoformat(timespec='milliseconds')},{end.isoformat(timespec='milliseconds')},{name}\n"
        for (begin, end), (*_, name) in zip(dates, rows, strict=True)
    )


@pytest.mark.slow
def test_the_form_of_the_question_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dates, seconds or JSON lines, rows in another order, another unit of a resource, two equal kinds of servers."""
    monkeypatch.setitem(EFFORTS, "quick", Effort(0, 1000, 40))
    rng = np.random.default_rng(12)
    begin = np.cumsum(rng.integers(1, 20_000, 60)).tolist()
    rows = [(at, begin[min(n + int(rng.integers(1, 9)), 59)] + (n > 55), "ab"[n % 2]) for n, at in enumerate(begin)]
    shuffled = [rows[0], *rng.permutation(np.array(rows[1:], object)).tolist()]
    types = {unit: tmp_path / f"types{unit}.toml" for unit in (1, 1000)}
    for unit, file in types.items():
        kinds = (("a", 2 * unit), ("b", 3 * unit))
        file.write_text("".join(f'[[type]]\nname = "{n}"\nreward = 1\ndemand = {{ x = {m} }}\n' for n, m in kinds))

    def plan(table: str, name: str, server: str, unit: int = 1) -> tuple[Any, ...]:
        (tmp_path / name).write_text(table)
        made = answer(f"plan {types[unit]} {tmp_path / name} {server} --accept 0.9 --policy first-fit", capsys)
        (row,) = made["policies"]
        jobs = [one["jobs"] for one in made["workload"]]
        return row["servers"], row["attained"], row["one_less"], jobs, made["peak"]["jobs"], made["peak"]["at"]

    expected = plan(vm_table(rows, "dates"), "a.csv", "--server x=6")
    assert plan(vm_table(rows, "seconds"), "b.csv", "--server x=6") == expected
    assert plan(vm_table(rows, "json lines"), "c.jsonl", "--server x=6") == expected
    assert plan(vm_table(shuffled, "dates"), "d.csv", "--server x=6") == expected
    assert plan(vm_table(rows, "dates"), "e.csv", "--server x=6000", 1000) == expected
    assert plan(vm_table(rows, "dates"), "f.csv", "--server name=u,x=6 --server name=v,x=6") == expected


@pytest.mark.slow
def test_resources_have_common_names_or_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    one = f"{PLAN.replace('cpu=48,memory=192', 'vCPU=48,RAM=192')}"
    assert {**answer(one, capsys), "made": 0} == {**answer(PLAN, capsys), "made": 0}
    without = answer(PLAN.replace(",memory=192", ""), capsys)
    assert without["sentence"].startswith("Without memory, which no server names, ")


def test_servers_of_two_kinds_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    pools = "--server name=big,cpu=48,memory=192 --server name=small,share=2,cpu=24,memory=96"
    words = f"plan {TYPES} {LOG} {pools} --accept 0.99 --policy first-fit"
    plan = answer(words, capsys)
    (row,) = plan["policies"]
    for one in (plan, row, *plan["growth"]):
        assert sum(one["pools"].values()) == one["servers"]
        assert abs(one["pools"]["big"] - one["servers"] / 3) < 1, "shares 1 and 2, rounded"
    split = f"{plan['pools']['big']} big, {plan['pools']['small']} small"
    assert plan["sentence"].startswith(f"{plan['servers']} servers ({split}) suffice for this log")
    low, high = row["range"]
    assert (low, high) == (min(row["resampled"]), max(row["resampled"]))
    assert f" {low} to {high} (3 logs)" in printed(words, capsys)


@pytest.mark.slow
def test_the_text_says_what_its_numbers_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    plan, text = answer(PLAN, capsys), printed(PLAN, capsys)
    room = f"Room for more: VMs of one type alone on {plan['servers']} servers"
    assert room in text
    fullest = datetime.fromtimestamp(round(plan["log"]["begins"] + plan["peak"]["at"]), UTC)
    assert f"{fullest:%Y-%m-%dT%H:%M:%S} UTC" in text
    assert all(f"\n  {one}" in text for one in ASSUMED)
    page = report_page(plan, plan["made"]["command"])
    assert all(
        one in page for one in (*ASSUMED, '<th scope="col" class="number">room for more, of this type alone</th>')
    )
    assert room in page
    assert f"<td>{fullest:%Y-%m-%dT%H:%M:%S} UTC</td>" in page
    for row in plan["policies"]:
        assert f"<td>{percent(row['attained'])} accepted</td>".replace(" %", "\N{NO-BREAK SPACE}%") in page
        assert f"<td>{' to '.join(map(str, row['range']))} (3 logs)</td>" in page
    assert ">pools<" not in page, "there is one kind of servers"
    one = printed(f"plan {TYPES} {LOG} --server cpu=999,memory=9999 --accept 0.5 --policy first-fit", capsys)
    assert one.startswith("1 server suffices for this log")


@pytest.mark.slow
def test_a_store_takes_up_what_was_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"{PLAN} --store {tmp_path / 's.db'}"
    first = answer(words, capsys)
    ran: list[Any] = []
    monkeypatch.setattr("fluid.simulation.driver.run_once", lambda *_, **__: ran.append(1))
    second = answer(words, capsys)
    assert not ran
    assert {**first, "made": 0} == {**second, "made": 0}


def test_types_of_the_catalogue_have_the_names_of_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "start,duration,instance_type\n" + "".join(f"{i},30,m5.large\n{i},20,m5.2xlarge\n" for i in range(60))
    )
    plan = answer(f"plan aws:m5.* {log} --server cpu=96,memory=384 --accept 1", capsys)
    assert [row["type"] for row in plan["workload"]] == ["m5.2xlarge", "m5.large"]
    assert any(
        'types that the log does not name are left out: "aws:m5.12xlarge"' in note for note in plan["log"]["notes"]
    )


SIZES = "".join(f'[[type]]\nname = "1/{n}"\ndemand = {{ size = "1/{n}" }}\n' for n in (1, 2, 4, 8, 16, 32, 64, 128))
"""Types of sizes that are powers of a half; the largest share of a server that a task asks is rounded up to one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("google2011_part0_attempts.csv.gz", "completed = true"),
        ("alibaba_gpu2023_pods.csv.gz", "capacity = { cpu = 96, memory = 393216, gpu = 8 }"),
    ],
)
def test_real_logs(file: str, more: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file of types says how a log is read, as that of an instance does."""
    types = tmp_path / "types.toml"
    types.write_text(f'{SIZES}[simulation.arrivals]\ntrace = "another.csv"\ntypes = "powers-of-half"\n{more}\n')
    plan = answer(f"plan {types} {data / file} --server size=1 --accept 0.95 --policy first-fit", capsys)
    expect_valid(plan, "plan")
    assert check(plan["certificate"])
    (row,) = plan["policies"]
    assert row["one_less"] < 0.95 <= row["attained"]
    carries, peak = plan["carries"], plan["peak"]
    assert carries["lower"] <= carries["upper"] <= peak["upper"]
    size = sum(row["jobs"] / int(row["type"][2:]) for row in plan["workload"])
    assert size <= carries["upper"], "the servers that carry the workload are no fewer than its size"
    # sizes that divide each other fill servers: the fullest instant needs its total size, rounded up
    trace = read_trace(data / file)
    capacity = [96, 393216, 8] if file.startswith("alibaba") else None
    trace = single_resource(trace if capacity else completed(trace), capacity)
    sizes = 128 // 2 ** powers_of_half(trace)
    begin = np.maximum(trace.arrival, 0)
    times = np.concatenate([begin, begin + trace.duration])
    order = np.lexsort((np.arange(len(times)) < len(trace), times))  # departures first
    fullest = np.cumsum(np.concatenate([sizes, -sizes])[order]).max()
    assert peak["lower"] <= -(-int(fullest) // 128) <= peak["upper"]


def test_a_waiting_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"plan {ROOT}/examples/caught.toml {ROOT}/examples/jobs.csv --server cpu=6 --wait 1 --policy nonpreemptive"
    plan = answer(words, capsys)
    assert plan["target"] == {"kind": "wait", "value": 1.0}
    (row,) = plan["policies"]
    assert row["attained"] <= 1 < row["one_less"]


REFUSED = {
    "no target": (f"plan {TYPES} {LOG} --server cpu=9", "--accept: expected either a share to accept or a mean wait"),
    "two targets": (
        f"plan {TYPES} {LOG} --server cpu=9 --accept 1 --wait 1",
        "--accept: expected either a share to accept or a mean wait (wait), not both",
    ),
    "a percentage": (
        f"plan {TYPES} {LOG} --server cpu=9 --accept 99%",
        "--accept: expected a number such as 0.99, got '99%'",
    ),
    "a cost": (
        f"plan {TYPES} {LOG} --server cpu=48,memory=192,cost=10 --accept 0.99",
        "--server: cost: no type has it (types have cpu, memory); did you mean price=?",
    ),
    "a share of 2": (f"plan {TYPES} {LOG} --server cpu=9 --accept 2", "--accept: expected a share"),
    "a negative wait": (f"plan {TYPES} {LOG} --server cpu=9 --wait -1", "--wait: expected a number of seconds"),
    "a level": (f"plan {TYPES} {LOG} --server cpu=9 --accept 1 --level slow", "--level: expected one of quick, full"),
    "a resource": (
        f"plan {TYPES} {LOG} --server gpu=9 --accept 1",
        "gpu: no type has it (types have cpu, memory)",
    ),
    "a misspelt resource": (
        f"plan {TYPES} {LOG} --server cpu=9,memroy=9 --accept 1",
        "--server: memroy: no type has it (types have cpu, memory); did you mean memory?",
    ),
    "a resource twice": (f"plan {TYPES} {LOG} --server ram=9,memory=9 --accept 1", "memory: expected memory once"),
    "a small server": (f"plan {TYPES} {LOG} --server cpu=4,memory=8 --accept 1", "web.large"),
    "a policy of queues": (f"{PLAN} --policy nonpreemptive", "--policy: expected one that refuses VMs"),
    "a slotted policy": (f"plan {TYPES} {LOG} --server cpu=48,memory=192 --wait 1 --policy bf-j", "--policy: expected"),
    "a warm-up of all": (f"{PLAN} --warmup 1e9", "--warmup: expected seconds from 0 to 604509, when the last VM"),
    "a negative warm-up": (f"{PLAN} --warmup -1", "--warmup: expected seconds from 0 to 604509"),
    "a demand that is no table": (
        f"plan number.toml {LOG} --server cpu=9 --accept 1",
        "number.toml: type[1].demand: expected a table, got 5",
    ),
    "a type without a name": (
        f"plan nameless.toml {LOG} --server cpu=9 --accept 1",
        "nameless.toml: type[1].name: missing, expected a name",
    ),
    "no types": (f"plan nowhere.csv {LOG} --server cpu=9 --accept 1", "nowhere.csv: cannot be read"),
    "strange types": (f"plan zz9 {LOG} --server cpu=9 --accept 1", "TYPES: 'zz9'"),
    "types of another log": (
        f"plan aws:m5.large {LOG} --server cpu=9,memory=99 --accept 1",
        f'{LOG}:2: VM Size: web.small is no type of aws:m5.large (it has "aws:m5.large")',
    ),
    "no log": (f"plan {TYPES} nowhere.csv --server cpu=9 --accept 1", "nowhere.csv: cannot be read"),
    "no time": (f"{PLAN} --time-limit 0", "--time-limit: expected"),
    "no report": ("report nowhere.json --out a.html", "nowhere.json: cannot be read"),
    "no answer": (f"report {TYPES} --out a.html", "expected JSON"),
    "an answer of another command": (
        "report other.json --out a.html",
        "other.json: made.command: expected one of admission belief",
    ),
    "half an answer": ("report half.json --out a.html", "half.json: greedy: missing"),
    "no example": ("example four_type.toml", "did you mean four_types.toml"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, expected = REFUSED[name]
    monkeypatch.chdir(tmp_path)
    for file, command in (("other.json", "packproof instance x"), ("half.json", "packproof solve x")):
        (tmp_path / file).write_text(json.dumps({"made": {"command": command}}))
    (tmp_path / "number.toml").write_text('[[type]]\nname = "a"\ndemand = 5\n')
    (tmp_path / "nameless.toml").write_text("[[type]]\ndemand = { cpu = 1 }\n")
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    (line,) = [line for line in shown.err.splitlines() if line != "reading the log"]
    assert expected in line
    assert not shown.out
    assert not (tmp_path / "a.html").exists()


REPORTS = {
    "solve": "solve %four_types.toml --servers 10",
    "worst": "worst %caught.toml --vary workload",
    "region": "region %caught.toml",
    "simulate": "simulate %caught.toml --policy nonpreemptive --servers 2 --until 20",
    "simulate several": "simulate %caught.toml --policy first-fit --policy best-fit --servers 2 --until 20",
    "against fluid": "simulate %four_types.toml --policy dra --servers 160 --until 0.2 --against-fluid",
    "experiment": "experiment %small_grid.toml --store @s.db --workers 1",
    "attack": "attack %rules_to_attack.py:first_fit --kind items --items 5 --evaluations 20",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_reports_of_other_answers(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = REPORTS[name].replace("%", f"{ROOT}/examples/").replace("@", f"{tmp_path}/")
    (tmp_path / "a.json").write_text(printed(f"{words} --json", capsys))
    printed(f"report {tmp_path / 'a.json'} --out {tmp_path / 'a.html'}", capsys)
    page = (tmp_path / "a.html").read_text()
    assert f"packproof {words} --json" in page
    assert 'class="answer"' in page
    assert ("<svg" in page) == (name not in ("attack", "experiment"))


@pytest.mark.slow
def test_a_report_is_the_same_in_another_process(tmp_path: Path) -> None:
    words = ["report", str(ROOT / "examples" / "plan_answer.json"), "--out", str(tmp_path / "a.html")]
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # of the hashes of texts, another than here
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-m", "packproof", *words], env=environment, check=True, capture_output=True)
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page_of_the_plan()


@pytest.mark.slow
def test_a_report_asks_for_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "plan.html"
    printed(f"{PLAN} --out {page}", capsys)
    text = page.read_text()
    assert text.count("<svg") >= 3
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', re.sub(r'xlink:href="#', 'href="#', text))
    assert "dc:date" not in text
    identifiers = re.findall(r'\bid="([^"]*)"', text)
    assert len(set(identifiers)) == len(identifiers)
    pytest.importorskip("tornado")
    from tests.docs.browser import Browser, chromium

    if chromium() is None:
        pytest.skip("no Chromium")
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        assert browser.do("document.querySelectorAll('svg').length") == text.count("<svg")
        assert browser.do("document.documentElement.scrollWidth <= innerWidth")
        # a click sorts a table by numbers
        browser.do("[...document.querySelectorAll('th button')].find(b => b.textContent === 'arrivals').click()")
        order = browser.do(
            "[...[...document.querySelectorAll('h3')].find(h => h.textContent.startsWith('workload by type'))"
            ".nextElementSibling.querySelector('table').tBodies[0].rows]"
            ".map(r => parseFloat(r.cells[1].textContent.replaceAll(',', '')))"
        )
        assert order == sorted(order)
        assert [address for address in browser.asked if not address.startswith(("file:", "data:"))] == []
        assert browser.complaints == []


def test_examples_are_those_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed("example", capsys).split() == names()
    assert printed("example four_types.toml", capsys) == (ROOT / "examples" / "four_types.toml").read_text()
    (tmp_path / "copy.toml").write_text(printed("example examples/caught.toml", capsys))
    shutil.copy(tmp_path / "copy.toml", tmp_path / "again.toml")
    assert run(["solve", str(tmp_path / "again.toml")]) == 0
