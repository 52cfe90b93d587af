"""Every example runs, and shows what it says."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import Phase, settings

from bounds.checker import check
from bounds.views.pictures import DRAWN
from examples import (
    admission_policies,
    best_partitions,
    capacity_region,
    fair_sharing,
    fluid_limit,
    maxweight_flow,
    monotone_property,
    own_policies,
    phase_portrait,
    server_pools,
    strangers_heuristic,
    tenant_admission,
    tenant_log,
    tenants_of_a_trace,
    tight_family,
    unstable_queues,
    whole_servers,
    worst_by_size,
    worst_of_a_family,
    worst_rewards,
)
from fluid.admission.study.estimation import lifetime_log_likelihood
from fluid.chains.loss import stationary_law
from fluid.experiment.grid import RUN, read_grid
from fluid.simulation.driver import simulate
from fluid.simulation.loss.model import LossScenario
from theory.instance import additive


def shows_the_same(picture: Path, name: str) -> bool:
    """Whether a fresh picture shows what the stored one of the documentation shows: texts and data."""
    from PIL import Image

    stored = Path(__file__).parents[2] / "docs" / f"{name}.png"
    with Image.open(picture) as fresh, Image.open(stored) as before:
        return bool(fresh.info[DRAWN] == before.info.get(DRAWN))


STORED = {path.stem for path in (Path(__file__).parents[2] / "docs").glob("*.png")}
COMPARED = {
    "admission_policies", "best_partitions", "capacity_region", "fluid_limit", "maxweight_flow", "own_policies",
    "phase_portrait", "tenant_admission", "unstable_queues", "worst_by_size", "worst_of_a_family",
}  # fmt: skip


def test_every_stored_picture_is_compared() -> None:
    assert STORED == COMPARED


@pytest.mark.parametrize("example", [tight_family, monotone_property, server_pools, worst_rewards])
def test_computed_is_theory(example: ModuleType, tmp_path: Path) -> None:
    computed, theory = example.main(str(tmp_path / "picture.png"))
    assert computed == theory
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_grid() -> None:
    grid = read_grid(Path(__file__).parents[2] / "examples" / "grid.toml", code=RUN)
    assert (len(grid.cells), grid.parameters) == (540, ("policy", "servers", "workload"))


def test_whole_servers(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    claims = whole_servers.main(str(path), str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert check(json.loads(path.read_text())) == claims
    servers = claims["servers"]
    assert servers["least"] <= servers["most"] <= servers["least"] + len(whole_servers.TYPES)


def test_admission_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script's small version: rows with intervals around their values, a table, and the store taken up again."""
    small, _ = admission_policies.instances()
    small = replace(small, policies=(*small.policies[:3], small.policies[12]), until=730.0, sla=0.025)
    given = {"runs": 8, "pilots": 3, "chosen": (small,)}
    rows = admission_policies.main(str(tmp_path / "s.db"), str(tmp_path / "t.csv"), **given)
    with (tmp_path / "t.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [row["policy"] for row in table] == [name for name, *_ in small.policies]
    for row in table:
        assert float(row["low"]) <= float(row["utilisation"]) <= float(row["high"])
        assert float(row["utilisation"]) <= float(row["bound"])
        assert row["reached"] == "True"
    assert abs(float(table[3]["above_second"])) < 0.005, "the paper's horizons and eleven give nearly the same"
    assert admission_policies.main(str(tmp_path / "s.db"), **given) == rows
    assert "above zeroth" in capsys.readouterr().out


def test_stored_table_of_admission_policies(tmp_path: Path) -> None:
    with (Path(__file__).parents[2] / "examples" / "admission_policies.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert tuple(table[0]) == admission_policies.COLUMNS
    known = {(one.name, name, str(n)) for one in admission_policies.instances() for name, _, n in one.policies}
    assert {(row["instance"], row["policy"], row["observations"]) for row in table} <= known
    admission_policies.draw(table, str(tmp_path / "picture.png"))
    assert shows_the_same(tmp_path / "picture.png", "admission_policies")
    assert all(float(row["low"]) <= float(row["utilisation"]) <= float(row["high"]) for row in table)


def test_tenants_of_a_trace(data: Path) -> None:
    mu, sigma = tenants_of_a_trace.main(data)
    seen = tenants_of_a_trace.watched_jobs(data / "google2011_part0_attempts.csv.gz")
    tasks = seen.extra_cores + 1
    assert int(tasks.sum()) <= 57_152, "no more than arrive inside the window"
    assert np.all(seen.core_deaths <= tasks)
    assert sigma.mean == pytest.approx(float(seen.extra_cores.mean()), rel=1e-2), "the mean is that of the sizes"
    for factor in (0.8, 1.25):
        assert lifetime_log_likelihood(mu, seen) > lifetime_log_likelihood(replace(mu, shape=mu.shape * factor), seen)
        assert lifetime_log_likelihood(mu, seen) > lifetime_log_likelihood(replace(mu, rate=mu.rate * factor), seen)


def test_fair_sharing_without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKPROOF_DATA", "nowhere")
    fairness = fair_sharing.main()
    assert set(fairness) >= {"ps-dsf", "tsf", "c-drfh"}


def test_worst_by_size(tmp_path: Path) -> None:
    picture = tmp_path / "table.png"
    assert worst_by_size.main(str(picture)) == Fraction(19, 27)
    assert shows_the_same(picture, "worst_by_size")


def test_worst_of_a_family(tmp_path: Path) -> None:
    picture = tmp_path / "ratio.png"
    assert Fraction(7, 10) < worst_of_a_family.main(str(picture)) < Fraction(8, 10)
    assert shows_the_same(picture, "worst_of_a_family")


def test_capacity_region(tmp_path: Path) -> None:
    picture = tmp_path / "region.png"
    assert capacity_region.main(str(picture)) == Fraction(5, 8)
    assert shows_the_same(picture, "capacity_region")


@pytest.mark.parametrize("phases", [(Phase.generate,), pytest.param(tuple(Phase), marks=pytest.mark.soak)], ids=len)
def test_strangers_heuristic(phases: tuple[Phase, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is bad before Hypothesis makes it small, which takes ten times as long, and after."""
    monkeypatch.setattr(strangers_heuristic, "settings", partial(settings, phases=phases))
    assert strangers_heuristic.main() < Fraction(1, 2)


def test_fluid_limit(tmp_path: Path) -> None:
    picture = tmp_path / "fluid.png"
    exact, simplified = fluid_limit.main(str(picture), (500, 1000, 2000))
    assert -0.9 < exact < -0.3 < simplified
    assert picture.stat().st_size > 10_000


def test_maxweight_flow(tmp_path: Path) -> None:
    picture = tmp_path / "flow.png"
    assert maxweight_flow.main(str(picture)) == pytest.approx(0.4**0.5)
    assert shows_the_same(picture, "maxweight_flow")


def test_phase_portrait(tmp_path: Path) -> None:
    picture = tmp_path / "phases.png"
    assert phase_portrait.main(str(picture)) < 1e-6
    assert shows_the_same(picture, "phase_portrait")


def test_own_policies(tmp_path: Path) -> None:
    """Without the noisy reservation, whose loop takes half a minute to compile (`make soak` draws it)."""
    picture = tmp_path / "own.png"
    compared = [one for one in own_policies.COMPARED if one is not own_policies.NOISY_DRA]
    rewards = own_policies.main(str(picture), compared)
    assert rewards["worst-fit"] < rewards["first-fit"] < rewards["dra"]
    assert rewards["worst-fit, 2 servers"] < rewards["first-fit, 2 servers"]
    # on one server, to fill the roomiest server with the largest jobs first is BF-S
    assert rewards["roomiest, 1 server"] == pytest.approx(rewards["bf-s, 1 server"], rel=1e-12)
    assert picture.stat().st_size > 10_000


def test_a_noisy_reservation_earns_less_than_the_reservation() -> None:
    """Exactly, on two servers; a short simulation, as Python, agrees with the law."""
    small = additive([12], [[5], [7]], [3, 4], [1, 1])
    policies = own_policies.NOISY_DRA, own_policies.DRA
    noisy, exact = (stationary_law(one, small, 2, {"reservation": 1}).reward for one in policies)
    assert noisy < exact
    scenario = LossScenario(small, 2, 9.0, 2.0, options={"reservation": 1})
    found = simulate(own_policies.NOISY_DRA, scenario, replications=40, seed=1)
    assert all(run.interpreted == run.events for run in found.runs)
    assert found.reward(1 - 1e-6).holds(noisy)


def test_unstable_queues(tmp_path: Path) -> None:
    picture = tmp_path / "queues.png"
    rates = unstable_queues.main(picture)
    assert rates["max-weight-local"].holds(1.56)
    assert rates["vqs"].low > 0
    assert max(rates[name].low for name in ("nonpreemptive", "bf-js", "vqs-bf")) < 0
    assert shows_the_same(picture, "unstable_queues")


def test_best_partitions(tmp_path: Path) -> None:
    picture = tmp_path / "guarantees.png"
    found = best_partitions.main(str(picture))
    assert found["1/4", 1] == found["1/6", 4] == found["1/8", 5] == Fraction(2, 3)
    assert found["1/6", 3] == Fraction(12, 19)
    assert found["1/8", 4] == Fraction(3, 5)
    assert shows_the_same(picture, "best_partitions")


def test_the_stored_log_of_tenants_is_what_its_script_writes(tmp_path: Path) -> None:
    assert tenant_log.main(str(tmp_path / "log.csv")) == 1477
    assert (tmp_path / "log.csv").read_bytes() == (Path(tenant_log.__file__).parent / "tenant_log.csv").read_bytes()


def test_tenant_admission(tmp_path: Path) -> None:
    pictures = [tmp_path / f"{name}.png" for name in ("utilisation", "law", "beliefs")]
    curves = tenant_admission.main(*map(str, pictures), runs=3)
    for results in curves.values():
        used = [one.utilisation.mean for one in results]
        assert used == sorted(used), "a higher threshold admits more"
    assert all(picture.stat().st_size > 10_000 for picture in pictures)


@pytest.mark.soak
def test_slow_pictures_of_the_documentation(tmp_path: Path) -> None:
    """The stored pictures of examples that other tests run at a smaller size."""
    for name, example in (
        ("fluid_limit", fluid_limit), ("own_policies", own_policies), ("tenant_admission", tenant_admission)
    ):  # fmt: skip
        example.main(str(tmp_path / f"{name}.png"))
        assert shows_the_same(tmp_path / f"{name}.png", name)
