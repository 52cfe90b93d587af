"""Laws of sizes in slotted queues: whole units, rates, experiments over them; agreement with what is known."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import run
from fluid.experiment.grid import read_grid
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import summary, table
from fluid.files.tables import parse_slotted
from fluid.simulation.driver import run_once, simulate
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted import sizes as slotted_sizes
from fluid.simulation.slotted.document import sized_scenario
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import size_law
from theory.errors import InputError, TooLargeError
from theory.files.sizes import parse_sizes
from theory.partition.laws import discrete, piecewise, uniform

HALVES = '[sizes]\ndiscrete = { "2/5" = "1/2", "3/5" = "1/2" }\n'
SLOTTED = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "max-weight", "fifo-ff")


def written(folder: Path, text: str, name: str = "sizes.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


fractions = st.fractions(min_value=0, max_value=1, max_denominator=60)


@given(st.lists(st.tuples(fractions, fractions, st.integers(1, 9)), min_size=1, max_size=4))
def test_units_keep_the_law(rows: list[tuple[Fraction, Fraction, int]]) -> None:
    """Atoms keep size and probability, pieces their mean; nothing is larger than a server or empty."""
    cuts = sorted({end for low, high, _ in rows for end in (low, high)})
    ends = list(pairwise(cuts))
    weight = sum(w for _, _, w in rows)
    pieces = [(a, b, Fraction(w, weight)) for (a, b), (_, _, w) in zip(ends, rows, strict=False)]
    left = 1 - sum((p for *_, p in pieces), Fraction(0))
    law = piecewise([*pieces, *([(Fraction(1), Fraction(1), left)] if left else [])])
    made = size_law(law, Fraction(1, 100))
    assert made.sizes[0] > 0
    assert made.sizes[-1] <= made.capacity
    assert (np.diff(made.sizes) > 0).all()
    from_zero = sum((p for a, _, p in pieces if a == 0), Fraction(0))
    assert float(law.mean) - 1e-12 <= made.mean <= float(law.mean) + float(from_zero) / 200 + 1e-12
    for size, p in law.atoms:
        if not any(a <= size <= b for a, b, _ in pieces):
            place = np.searchsorted(made.sizes, int(size * made.capacity))
            assert made.sizes[place] == size * made.capacity
            assert made.probabilities[place] == pytest.approx(float(p))


def test_the_same_law_as_before() -> None:
    """A uniform law has the classes of `slotted.sizes.uniform`, so equal seeds are equal paths."""
    ours, theirs = size_law(uniform("1/10", "9/10")), slotted_sizes.uniform(Fraction(1, 10), Fraction(9, 10))
    assert (ours.sizes == theirs.sizes).all()
    assert (ours.capacity, len(ours.probabilities)) == (theirs.capacity, 0)


def test_what_is_too_fine() -> None:
    with pytest.raises(TooLargeError, match="common unit"):
        size_law(discrete({Fraction(1, 2**41): 1}))
    with pytest.raises(TooLargeError, match="coarser grid"):
        size_law(uniform(0, 1), Fraction(1, 2**23))
    assert size_law(discrete({Fraction(1, 2**40): 1})).capacity == 2**40


@pytest.mark.parametrize("name", SLOTTED)
def test_the_scene_of_a_claim(name: str) -> None:
    """A size file and the scenario that the claims build by hand give the same path."""
    sizes = parse_sizes({"sizes": {"discrete": {"2/5": "1/2", "3/5": "1/2"}}})
    given_ = parse_slotted({"rate": "0.014", "service_rate": "0.01"}, "sizes.toml")
    scenario = sized_scenario(sizes, given_, 1, 5000, 500)
    law = slotted_sizes.discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    by_hand = SlottedScenario(law, 1, 5000, 500, rate=0.014, service=0.01, group=(0, 1), names=("2/5", "3/5"))
    assert scenario.intensity == pytest.approx(0.7)
    assert scenario.names == by_hand.names
    runs = [run_once(policy(name), one, 1) for one in (scenario, by_hand)]
    for field in runs[0].measures._fields:
        assert (getattr(runs[0].measures, field) == getattr(runs[1].measures, field)).all()


@pytest.mark.parametrize("fixed", [False, True])
def test_one_job_a_server_against_formulas(fixed: bool) -> None:
    """Sizes above 1/2 make a server a single line: Bernoulli arrivals of rate p, geometric or fixed service.

    By Little's law and the discrete-time Pollaczek-Khinchine formula (Geo/G/1, late arrivals) the mean number that
    waits is p^2 E[S(S - 1)] / (2 (1 - p E[S])).
    """
    sizes = parse_sizes({"sizes": {"uniform": ["0.6", "0.9"]}})
    table_ = {"rate": "0.06", "service_rate": "0.1", "arrivals": "bernoulli"}
    if fixed:
        table_["service"] = "deterministic"
    given_ = parse_slotted(table_, "sizes.toml")
    scenario = sized_scenario(sizes, given_, 1, 200_000, 1000)
    second = 90.0 if fixed else 2 * 0.9 / 0.01
    expected = 0.06**2 * second / (2 * (1 - 0.6))
    found = simulate("fifo-ff", scenario, replications=12, seed=2).queue(1 - 1e-6)
    assert found.holds(expected), (found, expected)
    assert found.half_width < 0.25 * expected


@pytest.mark.parametrize(
    ("simulation", "expected"),
    [
        ("", "simulation.rate: missing, expected a rate"),
        ("rate = 1\nintensity = 1", "simulation.intensity: expected a rate or an intensity, got both"),
        ("rate = -1", "simulation.rate: expected jobs a slot, got -1"),
        ("rate = 1\nservice_rate = 0", "simulation.service_rate: expected a probability greater than 0"),
        ("rate = 1\nservice_rate = 1.5", "simulation.service_rate: expected a probability greater than 0 and at most"),
        ("rate = 1\ngrid = 1e-9", "simulation.grid: expected a step from 1e-6 to 1"),
        ('rate = 2\narrivals = "bernoulli"', "simulation.arrivals: bernoulli: expected at most 1 job a slot, got 2"),
        ('rate = 1\nservice = "exponential"', "simulation.service: expected one of geometric, deterministic"),
        ("rate = 1\nworkload = 2", "simulation.workload: unknown field, expected one of"),
        ("rate = 1\npartition = 1", "simulation.partition: expected a whole number from 2"),
    ],
)
def test_bad_tables(simulation: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, f"{HALVES}servers = 1\n[simulation]\n{simulation}\n")
    assert run(["simulate", path, "--policy", "vqs", "--until", "100"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert f"{path}: {expected}" in message


def test_what_suits_and_what_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, '[sizes]\nuniform = ["0.1", "0.9"]\nservers = 1\n[simulation]\nrate = 1\n')
    for name, expected in (
        ("dra", "a law of sizes suits slotted policies, and dra is not one"),
        ("max-weight", "sizes: expected a law of finitely many sizes for max-weight"),
    ):
        assert run(["simulate", path, "--policy", name, "--until", "100"]) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert path in message
        assert expected in message
    many = ", ".join(f'"{n}/100" = "1/100"' for n in range(1, 101))
    path = written(tmp_path, f"[sizes]\ndiscrete = {{ {many} }}\nservers = 1\n[simulation]\nrate = 1\n")
    assert run(["simulate", path, "--policy", "max-weight", "--until", "100"]) == 2
    assert "max-weight: expected at most 64 sizes, got 100" in capsys.readouterr().err
    instance = written(tmp_path, "[server]\ncapacity = { cpu = 1 }\n", "instance.toml")
    assert run(["simulate", instance, "--policy", "vqs", "--until", "100"]) == 2
    assert "--servers: missing" in capsys.readouterr().err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Servers from the file, jobs by size, a warning where the mean size alone says that nothing is stable."""
    path = written(tmp_path, f"{HALVES}servers = 3\n[simulation]\nintensity = 1.2\nservice_rate = 0.1\n")
    assert run(["simulate", path, "--policy", "bf-js", "--until", "2000", "--log", "5", "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["servers"] == 3
    assert answer["traffic_intensity"] == pytest.approx(1.2)
    assert set(answer["jobs"]) == {"2/5", "3/5"}
    assert {row["type"] for row in answer["log"]} <= {"2/5", "3/5"}
    assert answer["reward"]["mean"] is None
    assert "unstable under every policy: the traffic intensity is 1.2" in err
    path = written(tmp_path, '[sizes]\ncsv = "s.csv"\n[simulation]\nintensity = 0.5\n')
    (tmp_path / "s.csv").write_text("size\n0.25\n0.5\n0.25\n")
    assert run(["simulate", path, "--policy", "vqs-bf", "--servers", "2", "--until", "500"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"traffic intensity +0\.5\n", out)
    assert "the traffic intensity is that of the mean size, which is a lower bound" in out
    assert "unstable" not in err
    assert run(["throughput", path]) == 0  # the same file


GRID = """
instance = "sizes.toml"
until = 400
replications = 2
[vary]
policy = ["bf-js", "fifo-ff"]
intensity = [0.5, 0.9]
workload = [1, "1/2"]
"""


def test_experiments_over_a_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, f"{HALVES}servers = 2\n[simulation]\nservice_rate = 0.1\n")
    path = written(tmp_path, GRID, "grid.toml")
    grid = read_grid(path)
    assert len({cell.key for cell in grid.cells}) == 16
    assert {cell.document["servers"] for cell in grid.cells} == {2}
    with Store(tmp_path / "s.db") as store:
        run_experiment(grid, store, workers=1)
        groups, made = summary(grid, store), table(grid, store)
    assert all("queue.2/5" in group.numbers for group in groups)
    busy = {tuple(group.parameters.values()): group.numbers["utilisation.size"].mean for group in groups}
    assert busy["bf-js", "0.5", 1] == pytest.approx(2 * busy["bf-js", "0.5", "1/2"], rel=0.5)
    half = read_grid(written(tmp_path, GRID.replace("[0.5, 0.9]", "[0.25, 0.45]"), "half.toml"))
    keys = {cell.document["simulation"]["intensity"] for cell in half.cells}
    assert {Fraction(x) for x in keys} == {Fraction(1, 4), Fraction(1, 8), Fraction(9, 20), Fraction(9, 40)}
    assert "0.5" in made
    written(tmp_path, f"{HALVES}servers = 2\n[simulation]\nservice_rate = 0.2\n")
    assert not {cell.key for cell in read_grid(path).cells} & {cell.key for cell in grid.cells}
    for change, expected in (
        ('policy = ["dra"]', "expected a slotted policy for a law of sizes, got dra"),
        ('policy = ["max-weight"]\nservice = ["quick"]', "simulation.service: expected one of"),
    ):
        written(tmp_path, GRID.replace('policy = ["bf-js", "fifo-ff"]', change), "bad.toml")
        assert run(["experiment", str(tmp_path / "bad.toml"), "--store", str(tmp_path / "t.db")]) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert expected in message
        assert "bad.toml" in message


def test_grids_refuse_parts_of_slots(tmp_path: Path) -> None:
    written(tmp_path, f"{HALVES}servers = 1\n")
    path = written(tmp_path, GRID.replace("400", "400.5"), "grid.toml")
    with pytest.raises(InputError, match="until: expected a whole number of slots"):
        read_grid(path)


def test_a_law_of_one_atom_and_one_piece() -> None:
    law = size_law(piecewise([("1/4", "1/2", "1/2"), ("1/2", "1/2", "1/2")]), Fraction(1, 4))
    assert law.sizes.tolist() == [1, 2]
    assert law.probabilities.tolist() == [0.25, 0.75]
