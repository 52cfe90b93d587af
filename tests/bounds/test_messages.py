"""Malformed files of each format: one line that names the file, the field and what is expected."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from pathlib import Path

import pytest

from bounds.cli import run
from fluid.admission.law.absorption import exact_moments
from fluid.admission.law.admission_files import parse_admission
from fluid.files.scenarios import servers_in
from tests.bounds.test_formats import GOOD
from tests.tools.messages import Change, changes_of, said_of, samples
from theory.errors import InputError

SAMPLES = samples()


def file_of(name: str) -> str:
    return "f.csv" if isinstance(SAMPLES[name].good, str) else "f.json"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_good_file_is_read(name: str) -> None:
    good = SAMPLES[name].good
    said = said_of(SAMPLES[name], Change("", "", good if isinstance(good, str) else json.dumps(good)), file_of(name))
    assert said.status == 0, said.lines


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_wrong_is_named(name: str) -> None:
    changes = list(changes_of(SAMPLES[name].good))
    for change in random.Random(name).sample(changes, min(8, len(changes))):
        said = said_of(SAMPLES[name], change, file_of(name))
        assert not said.is_wrong, (change.words, said.lines)
        assert said.status == 0 or said.lines[0].startswith(file_of(name)), (change.words, said.lines)


@pytest.mark.parametrize(
    ("name", "words", "line"),
    [
        ("events", f"period = {10**30}", f"f.json: period: expected at most until, 9, got {10**30}"),
        (
            "slotted table",
            f"simulation.rate = {10**30}",
            "f.json: simulation.rate: 1e+30 jobs come in a slot, expected",
        ),
        ("grid", f"vary.servers.0 = {10**30}", "f.json: servers: expected at most 100,000,000, got 1,000,000,000,000"),
        ("cluster_job_log", "2.submitted_time = [[]]", "f.json:3: submitted_time: expected a text, got [[]]"),
        ("pods.json", "items.3.spec = 1.5", "f.json:4: spec: expected an object, got '1.5'"),
        ("sacct_columns.txt", "NNodes = 'NULL'", "f.csv:4: NNodes: expected a number for nodes, got 'NULL'"),
        ("jobs.swf", "7 = 'x'", "f.csv:10: requested processors: expected a number, got 'x'"),
        ("items", f"items.capacity.cpu = {10**30}", "f.json: items.capacity.cpu: expected at most 2^62 units of 1, in"),
        ("slotted table", "sizes = -1", "f.json: sizes: expected a table, got -1"),
        (
            "admission",
            "deployments.kappa = -1",
            "f.json: deployments.kappa: expected kappa + shape of mu greater than 0",
        ),
        (
            "admission",
            "deployments.kappa = null",
            "f.json: deployments.kappa: expected a number above -5 and below 5, ",
        ),
    ],
)
def test_lines(name: str, words: str, line: str) -> None:
    (change,) = {change for change in changes_of(SAMPLES[name].good) if change.words == words}
    said = said_of(SAMPLES[name], change, file_of(name))
    assert said.status == 2
    assert said.lines[0].startswith(line), said.lines
    assert "NoneType" not in said.lines[0]


def test_more_servers_than_can_be_simulated_are_refused() -> None:
    sizes = {"sizes": {**GOOD["sizes"]["sizes"], "servers": 10**8}}
    assert servers_in(sizes, Path("f.json")) == 10**8
    sizes["sizes"]["servers"] += 1
    with pytest.raises(
        InputError, match=r"f\.json: sizes\.servers: expected at most 100,000,000 to simulate, got 100,0"
    ):
        servers_in(sizes, Path("f.json"))


@pytest.mark.parametrize("name", ["mu", "lambda", "sigma"])
def test_laws_that_are_too_narrow_for_floats_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = deepcopy(GOOD["admission"])
    document["deployments"][name] = {"shape": 10**30, "rate": 2}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert run(["admission", "moments", str(path), "--at", "1", "--size", "3"]) == 2
    assert capsys.readouterr().err == f"{path}: deployments: a Gamma law of shape 1e+30 is too narrow for floats\n"


def test_a_law_that_is_nearly_0_adds_no_cores() -> None:
    """Without scale-outs each of three cores is there after an hour with probability E[exp(-mu)] = 2/3."""
    document = deepcopy(GOOD["admission"])
    document["deployments"]["lambda"] = {"shape": 1, "rate": 10**30}
    moments = exact_moments(parse_admission(document).priors, 3, 1.0)
    assert moments.mean == pytest.approx(2, rel=1e-6)
