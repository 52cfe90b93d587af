"""The shipped schemas describe the real output, and refuse what it is not."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.cli import run
from bounds.views.schemas import ANSWERS, written

FOUR = str(Path(__file__).parent.parent.parent / "examples" / "four_types.toml")


def schema(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(files("bounds").joinpath(f"schemas/{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    return document


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_answers_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "c.json"
    simulated = ["simulate", FOUR, "--policy", "dra", "--servers", "20", "--until", "2", "--log", "9"]
    against = ["simulate", FOUR, "--against-fluid", "--policy", "dra", "--servers", "160", "--until", "2"]
    grid = tmp_path / "grid.toml"
    grid.write_text(
        f'instance = "{FOUR}"\nuntil = 1\nreplications = 2\nservers = 3\n[vary]\npolicy = ["first-fit", "static"]\n'
    )
    outputs = {
        "simulate": answer(simulated, capsys),
        "experiment": answer(["experiment", str(grid), "--store", str(tmp_path / "s.db"), "--workers", "1"], capsys),
        "solve": answer(["solve", FOUR, "--servers", "10", "--certificate", str(proof)], capsys),
        "worst": answer(["worst", FOUR, "--vary", "workload"], capsys),
        "worst_by_size": answer(["worst", "--types", "3", "--resources", "2"], capsys),
        "verify": answer(["verify", "introduction"], capsys),
        "verify_list": answer(["verify", "--list"], capsys),
        "against_fluid": answer(against, capsys),
        "fluid": answer(["fluid", FOUR, "--until", "3", "--points", "5"], capsys),
        "certificate": json.loads(proof.read_text()),
        "instance": json.loads(proof.read_text())["instance"],
    }
    for name, document in outputs.items():
        jsonschema.validate(document, schema(name))
        wrong = [*document, {}] if isinstance(document, list) else {**document, "extra": 1}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema(name))


@pytest.mark.parametrize("name", ANSWERS)
def test_published_schemas_are_those_of_the_types(name: str) -> None:
    assert files("bounds").joinpath(f"schemas/{name}.json").read_text() == written(name), (
        "run python -m bounds.views.schemas"
    )


def test_every_schema_is_published_or_written_by_hand() -> None:
    here = {Path(entry.name).stem for entry in files("bounds").joinpath("schemas").iterdir()}
    assert here == {*ANSWERS, "certificate", "instance", "sizes"}


def test_instances_for_a_trace_are_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a trace says which jobs come, types need neither reward nor workload; the schema asks for neither."""
    document = {
        "server": {"capacity": {"cpu": 6}},
        "type": [{"name": "large", "demand": {"cpu": 4}}, {"name": "small", "demand": {"cpu": 1}}],
    }
    jsonschema.validate(document, schema("instance"))
    file = tmp_path / "i.json"
    file.write_text(json.dumps(document))
    trace = str(Path(FOUR).parent / "jobs.csv")
    simulate = ["simulate", str(file), "--policy", "nonpreemptive", "--servers", "2", "--until", "9", "--trace", trace]
    answer(simulate, capsys)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "type": [{"demand": {"cpu": 4}}]}, schema("instance"))
