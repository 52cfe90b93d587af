"""Results show themselves in a notebook, and turn into data frames."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import packproof
from bounds.views.notebook import answer_of
from bounds.views.shown import view_of
from theory.errors import InputError, quoted
from theory.shown import Shown

ROOT = Path(__file__).parent.parent.parent
NAME = '<script>alert("x")</script>'


class Cells(HTMLParser):
    """Collects the cells of tables, and what tags there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.pictures: list[bytes] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "img":
            head, _, body = str(dict(attrs)["src"]).partition(",")
            assert head == "data:image/png;base64"
            self.pictures.append(base64.b64decode(body))

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and self.tags[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def instance(name: str = NAME) -> Any:
    kinds = [
        {"name": name, "demand": {"cpu": 5}, "reward": 1, "workload": 1},
        {"name": "b", "demand": {"cpu": 7}, "reward": 1, "workload": 1},
    ]
    return packproof.parse_instance({"server": {"capacity": {"cpu": 12}}, "type": kinds})


def test_solution() -> None:
    shown = Cells(packproof.solve(instance())._repr_html_())
    assert "script" not in shown.tags, "names of types are text"
    assert ["greedy reward, of the optimal reward", "75 %"] in shown.rows
    assert [quoted(NAME), "1"] in shown.rows
    assert ["b", "1/2 (0.5)"] in shown.rows
    assert all(picture.startswith(b"\x89PNG") for picture in shown.pictures)
    assert len(shown.pictures) == 1


@pytest.mark.parametrize(("demands", "pictures"), [([[4], [1]], 1), ([[4], [1], [2]], 0)])
def test_region_is_drawn_in_two_dimensions(demands: list[list[int]], pictures: int) -> None:
    region = packproof.region_facets(packproof.additive([6], demands))
    shown = Cells(region._repr_html_())
    assert len(shown.pictures) == pictures
    terms = [
        " + ".join(f"{a} x{j}" if a > 1 else f"x{j}" for j, a in enumerate(facet.normal, 1) if a)
        for facet in region.outer
    ]
    assert [row[0].partition(" <= ")[0] for row in shown.rows] == terms


def results() -> list[Any]:
    loss = packproof.LossScenario(instance("a"), 4, 40.0, 10.0)
    queue = packproof.QueueScenario(packproof.additive([2], [[1]], workload=["1/2"]), 2, 40.0, 10.0)
    return [packproof.simulate("first-fit", loss, replications=3), packproof.simulate("nonpreemptive", queue)]


@pytest.mark.slow
def test_results_and_allocations() -> None:
    loss, queue = results()
    assert ["type", "jobs in service", "accepted"] in Cells(loss._repr_html_()).rows
    assert ["type", "jobs in service", "jobs waiting", "started, of those that came"] in Cells(queue._repr_html_()).rows
    assert len(Cells(loss._repr_html_()).pictures) == 1
    assert "95 % confidence" in loss._repr_html_()
    allocation = packproof.drf(packproof.cluster([[9, 12]], [[1, 2], [3, 1]]))
    cells = Cells(allocation._repr_html_()).rows
    assert ["u1", "18/5 (3.6)"] in cells
    assert ["u2", "9/5 (1.8)"] in cells


def things_with_a_view() -> list[Any]:
    parts = packproof.cluster([[9, 12]], [[1, 2], [3, 1]])
    shares = [packproof.drf(parts), packproof.numeric_max_min(parts, "tsf", 1e-6)]
    return [
        packproof.solve(instance()),
        packproof.region_facets(packproof.additive([6], [[4], [1]])),
        *results(),
        *shares,
    ]


@pytest.mark.slow
def test_a_notebook_shows_what_a_terminal_shows() -> None:
    for thing in things_with_a_view():
        answer = answer_of(thing)
        assert answer is not None
        shown, view = thing._repr_html_(), view_of(answer)
        assert f"<p>{escape(view.sentence(answer))}</p>" in shown
        rows = Cells(shown).rows
        for table in view.tables(answer):
            assert all(row in rows for row in table.rows), table.title
        assert len(Cells(shown).pictures) == min(1, len(view.pictures(answer)))


def test_frames() -> None:
    pandas = pytest.importorskip("pandas")
    solution = packproof.solve(instance("a"))
    frame = solution.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["greedy"].tolist() == [1, Fraction(1, 2)], "exact numbers stay exact"
    region = packproof.region_facets(packproof.additive([6], [[4], [1]]))
    assert [tuple(row) for row in region.to_frame()[["x1", "x2"]].to_numpy()] == [f.normal for f in region.facets]
    loss, queue = results()
    assert loss.to_frame()["reward"].mean() == pytest.approx(loss.reward().mean)
    assert queue.to_frame()["queue"].tolist() == pytest.approx([queue.queue().mean])
    assert packproof.drf(packproof.cluster([[9, 12]], [[1, 2], [3, 1]])).to_frame()["total"].tolist() == [
        Fraction(18, 5),
        Fraction(9, 5),
    ]


def test_without_pandas_and_without_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=re.escape("pip install 'packproof[notebook]'")):
        packproof.solve(instance()).to_frame()

    class Strange(Shown):
        pass

    assert Strange()._repr_html_() is None
    with pytest.raises(InputError, match="got a Strange"):
        Strange().to_frame()


@pytest.mark.slow
def test_the_rooms_alone_know_no_views() -> None:
    code = (
        "import sys; from theory.greedy import solve; from theory.instance import additive;"
        "assert solve(additive([12], [[5], [7]]))._repr_html_() is None;"
        "assert not any(name.startswith('bounds') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def small_things() -> list[Any]:
    law = packproof.stationary_law(packproof.policy("first-fit"), packproof.additive([2], [[1]], workload=[2]), 1)
    worst_list = packproof.attack(
        packproof.judge_items(lambda items, _: list(range(len(items)))), packproof.ItemSpace(2, 4), evaluations=20
    )
    trace = packproof.traces.Trace(
        ("cpu",), (Fraction(1, 2),), *(np.arange(40) for _ in range(4)), np.ones((40, 1), np.int64),
        np.zeros(40, np.int64), (NAME,), (),
    )  # fmt: skip
    return [
        instance(),
        packproof.cluster([[9, 12]], [[1, 2], [3, 1]]),
        packproof.worst_workload(packproof.additive([12], [[5], [7]])),
        trace,
        law,
        packproof.scaling(packproof.additive([12], [[5], [7]])),
        results()[0].reward(),
        worst_list,
        packproof.claims()[0],
    ]


def test_small_results_show_themselves() -> None:
    rows = (2, 2, 2, 30, 1, 3, 1, None, 1)
    for thing, number in zip(small_things(), rows, strict=True):
        shown = Cells(thing._repr_html_())
        assert "script" not in shown.tags, type(thing)
        assert number is None or len(shown.rows) == 1 + number, (type(thing), len(shown.rows))
        assert all(len(row) == len(shown.rows[0]) for row in shown.rows)


def test_frames_of_small_results() -> None:
    pytest.importorskip("pandas")
    kinds, users, worst, trace, law, scaling, interval, attacked, claim = (thing.to_frame() for thing in small_things())
    assert kinds["cpu"].tolist() == [5, 7]
    assert users["cpu" if "cpu" in users else "r1"].tolist() == [1, 3]
    assert worst["workload"].tolist() == [1, 1]
    assert len(trace) == 40
    assert trace["cpu"].tolist() == [Fraction(1, 2)] * 40
    assert law["blocking"].tolist() == pytest.approx([0.4])
    assert min(scaling["ratio"]) == Fraction(3, 4)
    assert interval["low"][0] <= interval["mean"][0] <= interval["high"][0]
    assert attacked["value"].is_monotonic_decreasing
    assert "/" in claim["id"][0]


def test_reprs_are_one_line() -> None:
    big = packproof.additive([997], [[j + 2] for j in range(60)])
    things = [*results(), *results()[0].runs, *small_things(), big, packproof.solve(big)]
    things += [packproof.drf(packproof.cluster([[9, 12]], [[1, 2], [3, 1]]))]
    for thing in things:
        line = repr(thing)
        assert "\n" not in line
        assert len(line) <= 400, (type(thing), len(line))
        assert line.startswith(type(thing).__name__ + "(")
    assert repr(packproof.statistics.Interval(0.5, 0.25, 0.75, 0.95, 8)) == (
        "Interval(mean=0.5, low=0.25, high=0.75, level=0.95, samples=8)"
    )


def test_every_lazy_module_lists_its_names() -> None:
    import importlib

    for room in packproof.ROOMS.values():
        module = importlib.import_module(room)
        assert set(getattr(module, "__all__", ())) <= set(dir(module)), room  # the checker is one file, and not lazy
    assert set(packproof.__all__) <= set(dir(packproof))


@pytest.mark.parametrize("name", sorted(packproof.ROOMS.keys() - {"testing"}))  # pytest would collect it
def test_a_room_that_is_called_says_what_to_call(name: str) -> None:
    room = getattr(packproof, name)
    with pytest.raises(
        TypeError, match=rf"^packproof\.{name} is a module, not a function: call a function of it \("
    ) as it:
        room(instance())
    functions = re.findall(rf"\b{name}\.(\w+)", str(it.value).partition("(")[2])
    assert functions
    assert all(callable(getattr(room, function)) for function in functions)


def test_rooms_are_modules_as_before() -> None:
    from packproof.region import traffic_intensity

    assert isinstance(packproof.region, ModuleType)
    assert packproof.region is sys.modules["packproof.region"] is sys.modules["theory.region"]
    assert traffic_intensity is packproof.traffic_intensity


WITHOUT = """
import sys
sys.modules["hypothesis"] = None  # as if it were not installed
import packproof
assert "testing" in dir(packproof)
for line in ("packproof.testing", "from packproof.testing import instances", "import packproof.testing"):
    try:
        exec(line)
    except ImportError as error:
        print(error)
"""


def test_without_hypothesis_a_line_says_what_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == 3 * "packproof.testing needs hypothesis: pip install 'packproof[testing]'\n"


def test_results_with_arrays_are_one_line() -> None:
    system = packproof.additive([2], [[1]], workload=["1/2"])
    law = packproof.queue_law(packproof.simulation.policy("nonpreemptive"), system, 1, 20)
    check = packproof.crosscheck(packproof.additive([12], [[5], [7]]), [16, 64], 1.0, 2, policy="static")
    for result in (law, check):
        line = repr(result)
        assert line.startswith(f"{type(result).__name__}(")
        assert "\n" not in line
        assert len(line) <= 400
    assert "most_waiting=20" in repr(law)
    assert "servers=(16, 64)" in repr(check)
