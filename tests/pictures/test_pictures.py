"""Every picture by its artists: results at a tiny size, and the pictures of the commands; and the test of the test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from bounds.claims import Level, WithoutData
from bounds.cli import run
from bounds.results.reproduction import about_bands, modules, reproductions
from bounds.views.drawing import arranged, draw
from bounds.views.panels import Bars, Cells, Chart, Curve, Line, Span, Spans
from bounds.views.pictures import GREEDY, MARK, OPTIMAL, PALETTE, STYLE, figure, save, styled
from tests.pictures.looks import (
    HOSTILE,
    drawn_texts,
    faults,
    flaws,
    hostile_cluster,
    hostile_instance,
    texts_of,
    typed,
)

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.parametrize("identity", modules())
def test_panels_of_results(identity: str) -> None:
    """At a tiny size; the pictures of all, at the size of the pages, are looked at in `tests/docs/test_generate.py`."""
    (result,) = reproductions([identity])
    try:
        panels = result.compute(**result.parameters[Level.tiny])
    except WithoutData as reason:
        pytest.skip(str(reason))
    titles = [panel.title for panel in panels]
    assert len(panels) == 1 or all(any(True for _ in panel.rows()) for panel in panels), titles


COMMANDS = (
    "solve four_types.toml",
    "region caught.toml",
    "region ec2.toml",
    "region four_types.toml",
    "fluid four_types.toml --until 6",
    "throughput mixed_sizes.toml --gap 0.05",
    "throughput uniform_sizes.toml",
    "region four_types.toml --slice small,large",
    "worst caught.toml --vary workload",
    "worst --types 2 --resources 1",
    "share four_classes.toml --mechanism all",
    "share four_classes.toml --mechanism ps-dsf --events user_4_leaves.toml",
    "simulate four_types.toml --policy dra --servers 20 --until 5 --replications 2",
    "simulate caught.toml --policy nonpreemptive --servers 1 --until 50",
    "simulate four_types.toml --policy first-fit --policy best-fit --servers 20 --until 5 --replications 3",
    "simulate caught.toml --policy nonpreemptive --policy max-weight-local --servers 1 --until 50",
    "simulate caught.toml --policy first-fit --policy dra --servers 3 --until 59 --trace jobs.csv",
    "share four_classes.toml --mechanism all --events user_4_leaves.toml",
    "admission fit tenant_log.csv --replications 119",
    "admission belief admission.toml --observed observed.json",
    "simulate four_types.toml --policy dra --servers 160 --until 1 --against-fluid --replications 3",
)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Return a list of the figures that are written from now on."""
    written: list[Figure] = []
    save = Figure.savefig

    def recorded(made: Figure, *given: object, **named: object) -> None:
        written.append(made)
        save(made, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Figure, "savefig", recorded)
    return written


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list of the flaws of each figure that would be written from now on, found in the style of pictures."""
    found: list[list[str]] = []
    monkeypatch.setattr(Figure, "savefig", lambda made, *_, **__: found.append(flaws(made)))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_pictures_of_commands(command: str, tmp_path: Path, looked_at: list[list[str]]) -> None:
    words = [str(EXAMPLES / word) if word.endswith((".toml", ".csv", ".json")) else word for word in command.split()]
    assert run([*words, "--plot", str(tmp_path / "p.svg")]) == 0
    assert looked_at == [[]]


ONE, TWO, SIX, POOLS, CLUSTER = "one.json", "two.json", "six.json", "pools.json", "cluster.json"
DRAWN = {
    "solve": f"solve {SIX}",
    "solve, two pools": f"solve {POOLS}",
    "region of one type": f"region {ONE}",
    "region of two types": f"region {TWO}",
    "region of three types": f"region {POOLS}",
    "region by slices": f"region {SIX}",
    "fluid": f"fluid {SIX} --until 2",
    "share": f"share {CLUSTER} --mechanism ps-dsf",
    "share, all": f"share {CLUSTER} --mechanism all",
    "share, events": f"share {CLUSTER} --mechanism ps-dsf --events events.json",
    "share, all events": f"share {CLUSTER} --mechanism all --events events.json",
    "simulate several": f"simulate {SIX} --policy first-fit --policy own.py:KEPT --servers 3 --until 2",
    "against fluid": f"simulate {TWO} --policy dra --servers 160 --until 1 --against-fluid --replications 3",
}
OWN = """
from dataclasses import replace
from fluid.simulation.loss.policies.unreserved import FIRST_FIT
KEPT = replace(FIRST_FIT, name="$5_a_$")
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of files in which every name is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    documents = {
        ONE: hostile_instance(1),
        TWO: hostile_instance(2),
        SIX: hostile_instance(6),
        POOLS: hostile_instance(3, 2),
        CLUSTER: hostile_cluster(),
        "events.json": {"event": [{"time": 1, "user": HOSTILE[0], "action": "leave"}], "until": 2},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))
    (folder / "own.py").write_text(OWN)
    return folder


@pytest.mark.parametrize("command", DRAWN.values(), ids=DRAWN)
def test_names_are_drawn_as_they_are(command: str, hostile: Path, tmp_path: Path, figures: list[Figure]) -> None:
    """Mathematics, hidden labels, letters without a glyph, long names and markup: no warning, and each can be read."""
    words = [str(hostile / word) if word.endswith(".json") or ".py:" in word else word for word in command.split()]
    assert run([*words, "--plot", str(tmp_path / "p.svg")]) == 0
    ElementTree.parse(tmp_path / "p.svg")
    (made,) = figures
    shown = drawn_texts(made)
    made.set_layout_engine("none")  # it has its layout
    save(made, tmp_path / "p.png")
    assert any("$" in text for text in shown), "a name with dollars, letter by letter"
    assert not any("WWWWW" * 10 in text for text in shown), "long names are cut"
    assert not any("中" in text for text in shown), "a letter without a glyph has its code"


def test_a_name_that_begins_with_an_underscore_is_in_the_legend() -> None:
    (axes,) = _drawn(Chart("time (s)", "queue (jobs)", [replace(LINE, name=name) for name in HOSTILE])).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text().strip(" \u200a") for text in legend.get_texts()][:3] == list(HOSTILE[:3])
    assert len(legend.get_texts()) == len(HOSTILE)


LINE = Curve("a line", (0.0, 1.0), (0.0, 1.0))


def _drawn(*panels: Chart | Bars | Cells | Spans) -> Figure:
    made, places = styled(figure)(columns=len(panels))
    for axes, panel in zip([places] if len(panels) == 1 else places, panels, strict=True):
        styled(draw)(axes, panel)
    return made


def test_every_kind_of_panel() -> None:
    chart = Chart("time (s)", "queue (jobs)", [LINE], [Line("2", 0.5, printed=True)], "a title")
    bars = Bars("memory (GB)", ["one", "two"], [("a", (1.0, 2.0)), ("b", (0.5, 0.0))], stars=[(0, 1.5)])
    cells = Cells(["x", "y"], ["one"], [["1", "2"]], [["good", "bad"]])
    spans = Spans("size (share)", ["first"], [Span(0, 0.0, 0.5, "I", "odd"), Span(0, 0.5, 1.0, "J")])
    assert not faults(_drawn(chart, bars))
    assert not faults(_drawn(cells, spans))
    assert [row[1:4] for row in chart.rows()] == [("a line", 0.0, 0.0), ("a line", 1.0, 1.0), ("2", "", 0.5)]
    assert len(list(bars.rows())) == 5
    assert [row[3] for row in cells.rows()] == ["1", "2"]
    assert [row[4:] for row in spans.rows()] == [(0.0, 0.5), (0.5, 1.0)]


def test_bands_on_a_logarithmic_axis_are_those_of_the_numbers() -> None:
    """A lower end far below every mean is drawn where it is; one at 0, which has no place, is said in words."""
    chart = Chart("servers (number)", "queue (jobs)", [Curve("a", [1, 2], [2.0, 3.0], [0.25, 2.5], [4.0, 4.0])])
    chart = replace(chart, yscale="log")
    (axes,) = _drawn(chart).axes
    drawn = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (drawn.min(), drawn.max()) == (0.25, 4.0)
    assert about_bands([chart], 7) == "bands and bars: 95 % confidence intervals of the mean, 7 runs"
    (curve,) = chart.curves
    zero = replace(chart, curves=[replace(curve, low=[0.0, 2.5])])
    (axes,) = _drawn(zero).axes
    assert axes.collections[0].get_paths()[0].vertices[:, 1].min() == 2.0
    assert about_bands([zero]).endswith("; ends at or below 0 are drawn at the least number of their curve")
    assert not about_bands([replace(chart, curves=[LINE])])


def test_curves_that_coincide_are_both_seen() -> None:
    twins = [Curve(name, tuple(range(9)), tuple(range(9))) for name in ("one", "other", "third")]
    (axes,) = _drawn(Chart("time (s)", "queue (jobs)", twins)).axes
    lines = axes.get_lines()
    widths = [line.get_linewidth() for line in lines]
    assert widths == sorted(widths, reverse=True)
    assert len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) == 3


def test_panels_that_name_the_same_share_a_legend() -> None:
    """One look a name is the condition: other names, other looks or another order have names of their own."""
    other = Curve("other", (0.0, 1.0), (1.0, 0.0))
    grows = replace(LINE, grows=(False, True))

    def legends(*curves: tuple[Curve, ...], lines: tuple[str, ...] = ("", "")) -> tuple[list[str], int]:
        marks = [[Line(name, 0.5)] if name else [] for name in lines]
        panels = [
            Chart("time (s)", "queue (jobs)", some, mark, title=f"part {n}")
            for n, (some, mark) in enumerate(zip(curves, marks, strict=False))
        ]
        made = arranged(panels, "all")
        assert not faults(made)
        assert [axes.get_title("left") or axes.get_legend().get_title().get_text() for axes in made.axes] == [
            panel.title for panel in panels
        ]
        above = [text.get_text() for legend in made.legends for text in (legend.get_title(), *legend.get_texts())]
        return above, sum(axes.get_legend() is not None for axes in made.axes)

    assert legends((LINE, other), (LINE, other)) == (["all", "a line", "other"], 0)
    assert legends((LINE, other), (grows, other)) == (["all", "a line", "other", "grows (99.9 %)"], 0)
    assert legends((LINE, other), (other, LINE)) == ([], 0)
    assert legends((LINE, other), (replace(LINE, look="dots"), other)) == ([], 1)
    assert legends((LINE, other)) == ([], 0), "names beside the lines"
    assert legends((LINE, other), (LINE, other), lines=("", "half")) == (["all", "a line", "other", "half"], 0)
    assert legends((LINE, other), (LINE, other), lines=("one half", "half")) == ([], 0)
    made = arranged([Chart("time (s)", "queue (jobs)", (LINE, other))] * 2, "all")
    made.legends[0].set_loc("center")
    assert "the legend of all panels covers one" in faults(made)


def test_colours_are_seen_on_white() -> None:
    """Each colour of lines, bars and labels has a contrast of at least 3:1, as WCAG 2.1 computes it."""

    def contrast(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)

    assert contrast("#FFFFFF") == 1.0
    assert contrast("#F0E442") < 3, "yellow is not seen"
    assert all(contrast(colour) >= 3 for colour in (*PALETTE, GREEDY, OPTIMAL, MARK))


def test_names_beside_lines() -> None:
    """Up to five lines have their names beside them, apart from each other; more, or longer names, have a legend."""

    def beside(*names: str) -> tuple[list[str], bool]:
        (axes,) = _drawn(Chart("time (s)", "queue (jobs)", [replace(LINE, name=name) for name in names])).axes
        return [text.get_text() for text in axes.texts], axes.get_legend() is not None

    assert beside("a", "b", "c", "d", "e") == (["a", "b", "c", "d", "e"], False)
    assert beside("a", "b", "c", "d", "e", "f") == ([], True)
    assert beside("a", "b" * 30) == ([], True)
    made = _drawn(Chart("time (s)", "queue (jobs)", [replace(LINE, name=name) for name in "abcde"]))
    assert not faults(made), "lines that end in one place"


def test_parts_of_one_curve_look_alike_and_are_named_once() -> None:
    parts = [
        replace(LINE, name="bound"),
        Curve("bound", (1.0, 2.0), (3.0, 3.0), continues=True),
        replace(LINE, name="b"),
    ]
    changes = [Line("change", 0.25, upright=True), Line("change", 0.75, upright=True), Line("end", 0.9, upright=True)]
    (axes,) = _drawn(Chart("time (s)", "queue (jobs)", parts, changes)).axes
    first, second, other, *across = axes.get_lines()
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in (first, second, other)]
    assert looks[0] == looks[1] != looks[2]
    assert across[0].get_linestyle() == across[1].get_linestyle()
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["bound", "b", "change", "end"]


def test_layers_stand_on_those_before_and_bands_are_areas_alone() -> None:
    layers = [Curve(name, (0.0, 1.0), (0.25, height), look="layer") for name, height in (("a", 0.5), ("b", 0.25))]
    made = _drawn(Chart("time (s)", "servers (share)", layers))
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in made.axes[0].collections]
    bottoms = [area.get_paths()[0].vertices[:, 1].min() for area in made.axes[0].collections]
    assert (tops, bottoms) == ([0.5, 0.75], [0.0, 0.25])
    assert len({area.get_hatch() for area in made.axes[0].collections}) == 2, "told apart without colour"
    wide = [Curve(name, (0.0, 1.0), (1.0, 1.0), (low, low), (2.0, 2.0), "band") for name, low in (("a", 0), ("b", 0.5))]
    (axes,) = _drawn(Chart("time (s)", "queue (jobs)", wide)).axes
    assert not axes.get_lines()
    assert [area.get_paths()[0].vertices[:, 1].min() for area in axes.collections] == [0.0, 0.5]


def test_thousands_have_commas_on_both_axes() -> None:
    shown = texts_of(_drawn(Chart("servers (number)", "queue (jobs)", [Curve("a", (0, 4000), (-20000, 20000))])))
    assert {"4,000", "20,000", "−20,000"} <= set(shown)
    sizes = Curve("a", (500, 2000, 8000), (1, 2, 3))
    assert {"500", "2,000", "8,000"} <= set(
        texts_of(_drawn(Chart("L (number)", "jobs (number)", [sizes], xscale="log")))
    )
    measured = replace(sizes, x=(0.000716743, 0.0120253, 0.597847))
    shown = texts_of(_drawn(Chart("refused (share)", "jobs (number)", [measured], xscale="log")))
    assert {"0.001", "0.01", "0.1"} <= set(shown), "powers, as measured numbers are long"


def test_bars_have_numbers_and_axes_a_minus() -> None:
    made = _drawn(Bars("more reward (jobs)", ["one", "two"], [("", (1234.4, 0.25))]))
    assert [text for text in texts_of(made) if text in ("1,234", "0.25")] == ["1,234", "0.25"]
    low = _drawn(Chart("time (s)", "more queue (jobs)", [Curve("a", (0, 1), (-2, 2))]))
    assert "−2" in " ".join(texts_of(low))
    log = _drawn(Chart("time (s)", "chance (share)", [Curve("a", (0, 1), (1e-6, 1.0))], yscale="log"))
    assert {"10⁻⁶", "10⁻²", "10⁰"} <= set(texts_of(log)), "all numbers of an axis are written alike"


@pytest.mark.parametrize(("scale", "ends"), [("log", (2e-5, 30.0)), ("log", (0.5, 3e7)), ("linear", (0.0, 1.5e7))])
def test_numbers_on_an_axis_are_all_plain_or_all_powers(scale: str, ends: tuple[float, float]) -> None:
    made = _drawn(Chart("time (s)", "queue (jobs)", [Curve("a", (0, 1), ends)], yscale=scale))
    made.draw_without_rendering()
    (axes,) = made.axes
    shown = [label.get_text() for label in axes.get_yticklabels(which="both") if label.get_text()]
    assert sum("10" in text and text not in ("10", "0.10") for text in shown) >= 2
    assert not [text for text in shown if text != "0" and not re.search("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]", text)]


def test_short_logarithmic_axes_have_at_least_three_numbers() -> None:
    for scale, ends in (("log", (90.0, 1100.0)), ("log", (2.0, 9.0)), ("symlog", (0.0, 6.0))):
        made = _drawn(Chart("time (s)", "queue (jobs)", [Curve("a", (0, 1), ends)], yscale=scale))
        made.draw_without_rendering()
        (axes,) = made.axes
        low, high = axes.get_ylim()
        labels = (tick for tick in (*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()))
        shown = [tick.label1.get_text() for tick in labels if low <= tick.get_loc() <= high]
        assert len([text for text in shown if text]) >= 3, (scale, ends)


def test_bars_with_stars_and_intervals_have_numbers_beyond_these() -> None:
    stars = Bars("memory (GB)", ["one", "two"], [("computed", (6.25, 12.5))], stars=[(0, 9.0)])
    (axes,) = _drawn(stars).axes
    assert [(text.get_text(), text.xy[0]) for text in axes.texts] == [("6.25", 9.0), ("12.5", 12.5)]
    ends = replace(stars, stars=(), whiskers=[(6.0, 7.0), (12.0, 14.0)])
    made = _drawn(ends)
    assert [text.xy[0] for text in made.axes[0].texts] == [7.0, 14.0]
    assert "95 % interval" in texts_of(made)
    counted, shares = (
        _drawn(Bars("servers (number)", ["one", "two"], [("", (1.0, most))])).axes[0] for most in (2.0, 2.5)
    )
    assert all(tick == round(tick) for tick in counted.get_xticks()), "of what is counted there are no parts"
    assert any(tick != round(tick) for tick in shares.get_xticks())
    assert "computed" not in texts_of(_drawn(replace(stars, stars=()))), "the axis says what bars of one part are"


def test_a_long_name_in_a_legend_is_broken_before_it_is_cut() -> None:
    name = "16 small + 3 medium + 10 memory + 1 large"
    layers = [Curve(text, (0.0, 1.0), (0.5, 0.5), look="layer") for text in (name, "2 large", "x" * 80)]
    panels = [replace(Chart("time (s)", "servers (share)", layers), title=str(n)) for n in range(3)]
    panels[1] = replace(panels[1], curves=layers[:2])
    made = arranged(panels, "", columns=3)
    assert not faults(made)
    shown = texts_of(made)
    assert name.replace(" + 10", "\n+ 10") in shown
    assert not any("large" in text and "..." in text for text in shown)
    assert any(text.startswith("xxx") and "..." in text for text in shown), "what cannot be broken is cut"


def test_a_table_does_not_keep_charts_from_sharing_a_legend() -> None:
    chart = Chart("time (s)", "queue (jobs)", [LINE, replace(LINE, name="b" * 30)])
    made = arranged([Cells(["x"], ["one"], [["1"]]), chart, chart], "all", columns=3)
    assert len(made.legends) == 1
    assert not faults(made)


def test_thousands_on_axes_have_a_comma() -> None:
    """Four digits look like five; numbers of more than seven digits have their power of ten."""
    from bounds.views.pictures import plain_ticks

    shown = {}
    for top in (900.0, 3000.0, 5e8):
        made = arranged([Chart("time (slots)", "queue (jobs)", [Curve("", [0.0, top], [-top, top])])], "")
        plain_ticks(made.axes[0])
        made.canvas.draw()
        shown[top] = [label.get_text() for label in made.axes[0].get_yticklabels()]
    assert {"−500", "0", "500"} <= set(shown[900.0])
    assert {"−2,000", "0", "2,000"} <= set(shown[3000.0])
    assert {"−4×10⁸", "0", "4×10⁸"} <= set(shown[5e8])


def test_faults_are_found() -> None:
    """Each fault, made on purpose, is named."""

    def bad(change: str) -> list[str]:
        x = {"unit": "time", "one": "time (1)"}.get(change, "time (s)")
        panel = Chart(x, "queue (jobs)", [LINE, Curve("b", (0, 1), (1, 0))])
        made = _drawn(panel)
        (axes,) = made.axes
        first, second = axes.get_lines()
        if change == "legend":
            axes.legend(loc="center")
        elif change == "canvas":
            axes.text(1.0, 0.5, "far to the right " * 20).set_in_layout(False)
        elif change == "overlap":
            axes.text(0.5, 0.5, "one")
            axes.text(0.51, 0.5, "other")
        elif change == "range":
            axes.set_ylim(0.0, 0.4)
        elif change == "alike":
            second.update_from(first)
        return faults(made)

    assert not bad("nothing")
    expected = {
        "unit": "no unit",
        "one": "no unit",
        "legend": "covers data",
        "canvas": "outside the canvas",
        "overlap": "overlap",
        "range": "cut off",
        "alike": "looks like",
    }
    for change, words in expected.items():
        assert any(words in fault for fault in bad(change)), change


@pytest.mark.parametrize("text", ["1 - 1/e", "L^-1/2", "Q >= c", "rho (jobs)", "(2 sqrt(N))", "y_j", "86%"])
def test_mathematics_as_it_is_typed_is_found(text: str) -> None:
    made = _drawn(Chart("time (s)", "queue (jobs)", [replace(LINE, name=text)]))
    assert typed(made) == [text]
    printed = _drawn(Chart("time (s)", "ρ (jobs)", [replace(LINE, name="1 − 1/√L, 86 %, max-weight, 2⁻ᴶ, yⱼ")]))
    assert not typed(printed)


def test_notebooks_show_names_as_they_are(figures: list[Figure]) -> None:
    """The pictures of a notebook have the style of all pictures, whatever the settings of the notebook are."""
    from matplotlib import rc_context, rcParams

    from bounds.views.notebook import html
    from theory.files.clusters import parse_cluster
    from theory.files.instances import parse_instance
    from theory.greedy.optimal import solve
    from theory.region.facets import region_facets
    from theory.sharing.dominant import drf

    instance = parse_instance(hostile_instance(2), "hostile")
    with rc_context({"text.usetex": True, "text.parse_math": True, "lines.linewidth": 20.0}):
        before = dict(rcParams)
        users = {"server": [{"name": "s", "capacity": {"cpu": 2}}], "user": [{"name": "$5_a_$", "demand": {"cpu": 1}}]}
        for result in (drf(parse_cluster(users)), solve(instance), region_facets(instance)):
            assert "<img" in (html(result) or "")
        assert dict(rcParams) == before
    assert len(figures) == 3
    assert any("$5_a_$" in text for text in texts_of(figures[0]))
    assert all(line.get_linewidth() < 5 for line in figures[2].axes[0].get_lines())


SETTINGS = """
text.usetex: True
text.parse_math: True
font.family: No Such Font
axes.formatter.use_mathtext: True
savefig.bbox: tight
savefig.transparent: True
figure.dpi: 7
lines.linewidth: 20
axes.grid: True
axes.prop_cycle: cycler("color", ["red"])
no.such.setting: 1
"""


def test_no_file_of_a_user_changes_a_picture(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A matplotlibrc, in the folder or named by the environment, changes no letter of a picture, and says nothing."""
    plain, other = tmp_path / "plain", tmp_path / "other"
    for folder in (plain, other):
        folder.mkdir()
    (other / "matplotlibrc").write_text(SETTINGS)
    words = ["solve", str(hostile / TWO), "--plot", "p.png"]
    monkeypatch.chdir(plain)
    assert run(words) == 0
    assert capsys.readouterr().err == ""
    expected = (plain / "p.png").read_bytes()
    # the file is read once a process, as matplotlib is loaded
    command = [sys.executable, "-c", "from packproof import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    for folder, settings in ((other, {}), (tmp_path, {"MATPLOTLIBRC": str(other / "matplotlibrc")})):
        done = subprocess.run(
            command, cwd=folder, env=environment | settings, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert (folder / "p.png").read_bytes() == expected


def test_the_style_is_not_left_behind() -> None:
    from matplotlib import rcParams

    before = dict(rcParams)
    _drawn(Chart("time (s)", "queue (jobs)", [LINE]))
    assert dict(rcParams) == before
    assert rcParams["font.size"] != STYLE["font.size"]
