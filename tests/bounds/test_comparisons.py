"""Several policies at once, grids as pictures, and mechanisms over time: numbers, pictures, bad input."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import convert

from bounds.answers import KINDS
from bounds.cli import run
from bounds.results.instances.papers import table_4
from bounds.results.ps_dsf.motion import section_5_schedule
from bounds.views.comparison import charts_of
from bounds.views.drawing import draw
from bounds.views.experiment_pictures import experiment_charts, picture_of_experiment
from bounds.views.panels import Chart, Curve
from bounds.views.pictures import figure
from bounds.views.shown import lines_of, view_of
from fluid.experiment.forecast import references
from fluid.experiment.grid import read_grid
from fluid.experiment.store import Store
from fluid.experiment.summaries import summary
from fluid.limits.sharing import Event, Schedule, run_at_once, run_schedule
from fluid.simulation.driver import simulate
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.queue.model import QueueScenario
from tests.bounds.validated import expect_valid
from tests.pictures.looks import faults
from theory.errors import InputError
from theory.files.instances import read_instance
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.sharing import cluster
from theory.sharing.maxmin import tsf
from theory.sharing.per_server import ps_dsf

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FOUR, CAUGHT = str(EXAMPLES / "four_types.toml"), str(EXAMPLES / "caught.toml")


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# ---- several policies ------------------------------------------------------------------------------------------------


def test_differences_are_paired(capsys: pytest.CaptureFixture[str]) -> None:
    """Policies that refuse nothing serve the same jobs, so they earn the same on each path: no noise is left."""
    words = ["simulate", FOUR, "--policy", "first-fit", "--policy", "best-fit", "--servers", "400", "--until", "0.5"]
    found = answer([*words, "--replications", "3"], capsys)
    expect_valid(found, "simulate_several")
    first, second = found["policies"]
    assert min(first["acceptance"].values()) == min(second["acceptance"].values()) == 1
    reward, *others = found["differences"]
    assert reward["number"] == "reward"
    assert reward["difference"] == {"mean": 0.0, "ci95": [0.0, 0.0]}
    numbers = {row["number"] for row in others}
    assert numbers >= {"acceptance", "acceptance.large", "jobs.small", "utilisation.memory", "migrations"}
    assert not numbers & {"drift", "events"}
    low, high = first["reward"]["ci95"]
    assert high - low > 0.1


@pytest.mark.slow
def test_the_order_of_policies_turns_the_sign(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["nonpreemptive", "max-weight-local"]
    found = []
    for order in (names, names[::-1]):
        chosen = [word for name in order for word in ("--policy", name)]
        found.append(answer(["simulate", CAUGHT, *chosen, "--servers", "1", "--until", "40"], capsys))
        expect_valid(found[-1], "simulate_several_queues")
    by_number = [{row["number"]: row["difference"]["mean"] for row in document["differences"]} for document in found]
    assert (
        by_number[0].keys() == by_number[1].keys() >= {"delay", "delay.p95", "queue.small", "started.large", "growth"}
    )
    for number, difference in by_number[0].items():
        assert difference == pytest.approx(-by_number[1][number])
    one = by_number[0]["queue"]
    assert one == pytest.approx(found[0]["policies"][1]["queue"]["mean"] - found[0]["policies"][0]["queue"]["mean"])


def _number_of(policy: dict[str, Any], name: str) -> float | None:
    """Return a number of a policy's answer by the name that it has in a difference."""
    if name == "acceptance":
        return policy["accepted"]["mean"]  # type: ignore[no-any-return]
    if name in ("delay", "delay.p95", "delay.p99"):
        return policy["queue"]["delay"][name.partition(".")[2] or "mean"]  # type: ignore[no-any-return]
    if name == "growth":
        return policy["queue"]["growth"]["per_time"]  # type: ignore[no-any-return]
    part, _, rest = name.partition(".")
    value = policy["queue"]["by_type"] if part == "queue" and rest else policy[part]
    if value is None:  # the policy holds no slots ready
        return None
    value = value[rest] if rest else value
    return value["mean"] if isinstance(value, dict) else value  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "words",
    [
        f"simulate {FOUR} --policy first-fit --policy static --servers 5 --until 4",
        f"simulate {CAUGHT} --policy nonpreemptive --policy max-weight-local --servers 2 --until 50",
    ],
    ids=["loss", "queue"],
)
def test_each_difference_is_that_of_the_two_answers(words: str, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A row of the table has two numbers and their difference: quantiles and shares are of all jobs in all three."""
    found = answer([*words.split(), "--replications", "4", "--seed", str(seed)], capsys)
    first, second = found["policies"]
    compared = set()
    for row in found["differences"]:
        numbers = [_number_of(policy, row["number"]) for policy in (second, first)]
        if None in numbers:
            continue
        compared.add(row["number"].partition(".")[0])
        assert row["difference"]["mean"] == pytest.approx(numbers[0] - numbers[1], abs=1e-9), row["number"]  # type: ignore[operator]
        low, high = row["difference"]["ci95"]
        assert low <= row["difference"]["mean"] <= high
    assert compared >= ({"delay", "queue", "started", "growth"} if "queue" in first else {"acceptance", "reward"})


def test_as_text_and_from_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", FOUR, "--policy", "first-fit", "--policy", "best-fit", "--servers", "20", "--until", "3"]
    shown = []
    for _ in range(2):
        assert run([*words, "--store", str(tmp_path / "s.db")]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "8 replications, the same jobs for all policies" in shown[0]
    assert "more than first-fit [95 %]" in shown[0]


@pytest.mark.parametrize(
    "words",
    [
        f"{FOUR} --policy dra --servers 5 --until 4",
        f"{CAUGHT} --policy nonpreemptive --servers 2 --until 20",
        f"{FOUR} --policy first-fit --policy static --servers 5 --until 4",
        f"{CAUGHT} --policy nonpreemptive --policy max-weight-local --servers 2 --until 20",
    ],
)
def test_the_text_has_the_numbers_of_the_answer_and_no_raw_names(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = answer(["simulate", *words.split()], capsys)
    policies = document.get("policies", [document])
    kind = f"simulate{'_several' * ('policies' in document)}{'_queue' * ('queue' in policies[0])}"
    typed = convert(document, KINDS[kind + "s" * (kind == "simulate_several_queue")].type())
    view = view_of(typed)
    for one in policies:
        number = f"{one['queue']['mean']:.4g}" if "queue" in one else f"{one['reward']['mean']:.6g}"
        assert f" {number} " in view.sentence(typed)
    shown = "\n".join(lines_of("", view.tables(typed)))
    assert "95 % confidence" in shown
    assert not re.search(r"[a-z]_[a-z]|[a-z]\.[a-z]", shown)


LOSSES, QUEUES = ("first-fit", "best-fit"), ("nonpreemptive", "randomized-sampling")


@pytest.mark.parametrize(("names", "count"), [(LOSSES, 1), (QUEUES, 3)])
def test_all_measures_of_a_trace(
    names: tuple[str, ...],
    count: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Text, JSON and picture count the same replications: those of policies that draw nothing are copies of one."""
    titles: list[str] = []
    monkeypatch.setattr(
        "bounds.views.comparison.charts_of", lambda results: titles.extend(c.title for c in charts_of(results)) or []
    )
    monkeypatch.setattr("bounds.views.comparison.picture_of_panels", lambda *_, **__: None)
    chosen = [word for name in names for word in ("--policy", name)]
    words = ["simulate", CAUGHT, *chosen, "--servers", "3", "--until", "30", "--trace", str(EXAMPLES / "jobs.csv")]
    words += ["--replications", "3"]
    found = answer([*words, "--plot", str(tmp_path / "p.png")], capsys)
    assert run(words) == 0
    text = capsys.readouterr().out.splitlines()
    notes = [line.strip() for line in text[text.index("notes") :]]
    shown = "1 replication" if count == 1 else "3 replications"
    assert found["replications"] == count == max(one["replications"] for one in found["policies"])
    assert any(f", {shown}, the same jobs" in line for line in notes)
    alone = f"one replication of {', '.join(names if count == 1 else names[:1])}: intervals are by batches of time"
    assert alone + "; differences have none" * (count == 1) in notes
    bands = "" if count == 1 else ", 95 % bands"
    assert titles[:2] == [f"3 servers, {shown}{bands}", f"difference{bands}"]
    assert any(line.startswith("318 arrivals in the trace") for line in notes)
    first, second = found["policies"]
    difference = {row["number"]: row["difference"] for row in found["differences"]}
    assert all((row["ci95"] == [None, None]) == (count == 1) for row in difference.values())
    used = second["utilisation"]["cpu"]["mean"] - first["utilisation"]["cpu"]["mean"]
    assert difference["utilisation.cpu"]["mean"] == pytest.approx(used)
    if count == 1:  # one run: the difference is that of the two answers
        for name in ("large", "small"):
            gain = second["acceptance"][name] - first["acceptance"][name]
            assert difference[f"acceptance.{name}"]["mean"] == pytest.approx(gain)
        assert difference["acceptance"]["mean"] == pytest.approx(second["accepted"]["mean"] - first["accepted"]["mean"])
    else:
        late = found["policies"][1]["queue"]["mean"] - found["policies"][0]["queue"]["mean"]
        assert difference["queue"]["mean"] == pytest.approx(late)
    rows = {(line.strip().split("  ")[0], name) for line in text for name in names if f"  {name}  " in f"{line}  "}
    labels = ("reward per server", "jobs accepted (share)") if count == 1 else ("jobs waiting", "delay, 95 %")
    assert rows >= {(label, name) for label in (*labels, "cpu in use (share)") for name in names}
    by_type = text.index("jobs accepted, by type" if count == 1 else "jobs waiting, by type")
    assert [line.split()[0] for line in text[by_type + 2 : by_type + 4]] == ["large", "small"]


def test_charts_of_queues() -> None:
    """Delays stand beside the queue; what was refused beside the reward, as often as the runs say."""
    instance = additive([2], [[1]], rewards=[1], workload=[3])
    lost = [simulate(name, LossScenario(instance, 2, 6.0, 1.0, bins=4), replications=2) for name in LOSSES]
    _, _, refused, used = charts_of(lost)
    assert refused.ylabel == "refused so far (jobs)"
    for curve, one in zip(refused.curves, lost, strict=True):
        assert curve.x[-1] == 6.0
        assert curve.y[-1] == np.mean([(run.measures.arrivals - run.measures.starts).sum() for run in one.runs]) > 0
    assert used.ylabel == "r1 in use (share)"
    waiting = [simulate(name, QueueScenario(instance, 2, 20.0, 1.0, bins=4), replications=2) for name in QUEUES]
    _, _, delays, _ = charts_of(waiting)
    for curve, result in zip(delays.curves, waiting, strict=True):
        assert list(curve.y) == [result.delay().mean, result.quantile(0.95), result.quantile(0.99)]
        assert min(curve.low) > 0  # also where an interval reaches below 0
    assert min(result.delay().low for result in waiting) < 0


def test_charts_of_a_comparison() -> None:
    """Each policy looks alike in both panels: the first is the line at 0 on the right."""
    scenario = LossScenario(additive([2], [[1]], rewards=[1], workload=[1]), 5, 4.0, 1.0, bins=4, synchronised=True)
    results = [simulate(name, scenario, replications=3) for name in ("first-fit", "best-fit")]
    left, right, *_ = charts_of(results)
    assert [curve.name for curve in left.curves] == [curve.name for curve in right.curves]
    assert set(right.curves[0].y) == {0.0}
    expected = np.array(left.curves[1].y) - np.array(left.curves[0].y)
    assert np.allclose(right.curves[1].y, expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([FOUR, "--policy", "dra", "--policy", "dra"], "got one of them twice"),
        ([FOUR, "--policy", "dra", "--policy", "nonpreemptive"], "expected policies of one model"),
        ([FOUR, "--policy", "dra", "--policy", "static", "--log", "3"], "--log: has no meaning"),
        ([FOUR, "--policy", "dra", "--policy", "static", "--against-fluid"], "--against-fluid: has no meaning"),
        ([FOUR, "--policy", "dra", "--policy", "nothing"], "--policy"),
    ],
)
def test_policies_that_cannot_be_compared(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", *words, "--servers", "5", "--until", "2"]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1


# ---- experiments -----------------------------------------------------------------------------------------------------

GRID = f"""
instance = "{FOUR}"
until = 1
replications = 2
[vary]
policy = ["first-fit", "static"]
servers = [3, 6, 90]
workload = ["1/2", 1]
"""


@pytest.mark.slow
def test_experiments_as_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, picture = tmp_path / "grid.toml", tmp_path / "p.pdf"
    place.write_text(GRID)
    words = ["experiment", str(place), "--store", str(tmp_path / "s.db"), "--workers", "1"]
    assert run([*words, "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"%PDF")
    for wrong, expected in (
        (["--plot", str(picture), "--number", "profit"], "--number: expected one of acceptance, acceptance.large"),
        (["--plot", str(picture), "--against", "seed"], "--against: expected a field that the grid varies"),
        (["--number", "reward"], "has no meaning with no --plot"),
    ):
        capsys.readouterr()
        assert run([*words, *wrong]) == 2
        assert expected in capsys.readouterr().err
    grid = read_grid(place)
    with Store(tmp_path / "s.db") as store:
        groups = summary(grid, store)
        by_servers = experiment_charts(grid, store)
        by_policy = experiment_charts(grid, store, ["utilisation.cpu"], "policy")
        with pytest.raises(InputError, match="at most 12 panels, got 18"):
            experiment_charts(grid, store, ["reward", "events", "utilisation.cpu"], "policy")
    assert [chart.title for chart in by_servers] == ["workload = 1/2", "workload = 1"]
    assert by_servers[0].xscale == "log"
    curves = [(chart.title, curve) for chart in by_servers for curve in chart.curves]
    for chart, factor in zip(by_servers, (Fraction(1, 2), Fraction(1)), strict=True):
        assert {line.name: line.value for line in chart.lines} == at_workload(factor)
    drawn = {(title, one.name, x): y for title, one in curves for x, y in zip(one.x, one.y, strict=True)}
    places = [(one.parameters, one.numbers["reward"].mean) for one in groups]
    known = {(f"workload = {at['workload']}", at["policy"], at["servers"]): mean for at, mean in places}
    assert drawn == known
    assert len(by_policy) == 6
    assert by_policy[0].xticks == [(0.0, "first-fit"), (1.0, "static")]
    picture_of_experiment(by_policy, tmp_path / "q.svg")
    assert (tmp_path / "q.svg").stat().st_size > 10_000


def test_panels_of_one_number_have_one_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr("bounds.views.experiment_pictures.save", lambda figure, _: made.append(figure))
    charts = [
        Chart("servers (number)", f"{number} (1)", [Curve("dra", [1.0, 2.0], [low, low + 1])])
        for number, low in (("reward", 0.0), ("reward", 8.0), ("queue", 100.0))
    ]
    picture_of_experiment(charts, "unused.png")
    first, second, third = (axes.get_ylim() for axes in made[0].axes)
    assert first == second
    assert first[0] <= 0
    assert 9 <= first[1] < third[0]


def at_workload(factor: Fraction) -> dict[str, float]:
    """Return the rewards of greedy and of the optimum at a part of the workload of the example."""
    instance = read_instance(FOUR)
    solution = solve(instance.with_workload([factor * rho for rho in instance.workload]))
    return {
        "greedy, fluid limit": float(solution.greedy.reward),
        "optimum of the instance": float(solution.optimal.reward),
    }


@pytest.mark.slow
def test_theory_moves_with_the_workload(tmp_path: Path) -> None:
    """Against the workload the references are curves; a list of one value is nothing that varies."""
    place = tmp_path / "grid.toml"
    place.write_text(GRID.replace("servers = [3, 6, 90]", "servers = [6]"))
    assert run(["experiment", str(place), "--store", str(tmp_path / "s.db"), "--workers", "1"]) == 0
    grid = read_grid(place)
    with Store(tmp_path / "s.db") as store:
        (chart,) = experiment_charts(grid, store, ["reward"], "workload")
        (acceptance,) = experiment_charts(grid, store, ["acceptance.large"], "workload")
        by_policy = experiment_charts(grid, store, ["reward"], "policy")
    assert chart.title == ""
    assert chart.lines == []
    theory = {one.name: dict(zip(one.x, one.y, strict=True)) for one in chart.curves if one.look == "reference"}
    half, whole = at_workload(Fraction(1, 2)), at_workload(Fraction(1))
    assert theory == {name: {0.5: half[name], 1.0: whole[name]} for name in whole}
    assert [one.look for one in acceptance.curves] == ["line", "line"]
    assert acceptance.lines == []
    assert [one.title for one in by_policy] == ["workload = 1/2", "workload = 1"]
    assert {line.name: line.value for line in by_policy[1].lines} == whole
    made, axes = figure(4.6, 3.0)
    draw(axes, chart)
    assert faults(made) == []
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
    for name in whole:
        assert drawn[name] == [half[name], whole[name]]


def test_a_trace_has_no_references(tmp_path: Path) -> None:
    """The workload of the instance is not that of the jobs of a trace."""
    place = tmp_path / "grid.toml"
    jobs = Path(FOUR).parent / "jobs.csv"
    place.write_text(
        f'instance = "{Path(FOUR).parent / "caught.toml"}"\nuntil = 9\nservers = 3\n[vary]\npolicy = ["first-fit"]\n'
        f'arrivals = ["poisson", {{ trace = "{jobs}" }}]\n'
    )
    grid = read_grid(place)
    (point,) = references(grid)
    assert point == ("first-fit", "poisson")


# ---- shares over time ------------------------------------------------------------------------------------------------


def test_at_once_is_where_motion_ends() -> None:
    """PS-DSF is unique on one server: the servers' procedure ends where the mechanism begins."""
    given = cluster([[6, 4]], [[1, 1], [2, 1], [1, 3]])
    plan = Schedule((Event(Fraction(5), 1, False), Event(Fraction(10), 1, True)), Fraction(15))
    moving, once = run_schedule(given, plan), run_at_once(given, plan, ps_dsf)
    assert np.array_equal(moving.time, once.time)
    assert np.array_equal(moving.present, once.present)
    for k in (4, 9, 14):
        assert np.allclose(moving.tasks[k], once.tasks[k])
        assert np.allclose(moving.utilisation[k], once.utilisation[k])


def test_at_once_is_the_mechanism_of_those_who_are_there() -> None:
    whole, plan = table_4(), section_5_schedule()
    found = run_at_once(whole, plan, tsf)
    for users, k in (((0, 1, 2, 3), 50), ((0, 1, 2), 150), ((0, 1, 2, 3), 250)):
        expected = [float(x) for x in tsf(table_4(users=users)).totals]
        assert np.allclose(found.tasks[k].sum(axis=1)[: len(users)], expected)
    nobody = Schedule(tuple(Event(Fraction(1), n, False) for n in range(4)), Fraction(3))
    assert not run_at_once(whole, nobody, tsf).tasks[1:].any()


@pytest.mark.slow
def test_all_mechanisms_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["share", str(EXAMPLES / "four_classes.toml"), "--events", str(EXAMPLES / "user_4_leaves.toml")]
    found = answer([*words, "--plot", str(tmp_path / "p.svg")], capsys)
    expect_valid(found, "share_events_all")
    assert list(found["mechanisms"]) == ["c-drfh", "cdrf", "tsf", "ps-dsf", "ps-dsf-tdm"]
    assert run([*words, "--mechanism", "tsf"]) == 0
    assert "away" in capsys.readouterr().out
    assert run([*words, "--mechanism", "drf"]) == 2
    assert "drf, which pools them" in capsys.readouterr().err
