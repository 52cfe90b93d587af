"""The shipped schemas describe the real output, and refuse what it is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from msgspec import UNSET

from bounds.answers import KINDS, names
from bounds.answers import schema as schema_of
from bounds.answers.record import Answer, encode
from bounds.answers.region import FacetRow, ServersNeeded
from bounds.answers.shared import Number
from bounds.answers.throughput import Maximum
from bounds.cli import run
from fluid.statistics import Interval

ROOT = Path(__file__).parents[2]
FOUR = str(ROOT / "examples" / "four_types.toml")
FINE = str(ROOT / "examples" / "fine_units.toml")


@cache
def schema(name: str) -> dict[str, Any]:
    document = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(document)
    return document


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_answers_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "c.json"
    simulated = ["simulate", FOUR, "--policy", "dra", "--servers", "20", "--until", "2", "--log", "9"]
    against = ["simulate", FOUR, "--against-fluid", "--policy", "dra", "--servers", "160", "--until", "0.2"]
    grid = tmp_path / "grid.toml"
    grid.write_text(
        f'instance = "{FOUR}"\nuntil = 1\nreplications = 2\nservers = 3\n[vary]\npolicy = ["first-fit", "static"]\n'
    )
    outputs = {
        "simulate": answer(simulated, capsys),
        "experiment": answer(["experiment", str(grid), "--store", str(tmp_path / "s.db"), "--workers", "1"], capsys),
        "solve": answer(["solve", FOUR, "--servers", "10", "--certificate", str(proof)], capsys),
        "solve_approximate": answer(["solve", FINE, "--oracle", "fptas", "--epsilon", "0.5"], capsys),
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
        validator = jsonschema.Draft202012Validator(schema(name))
        validator.validate(document)
        wrong = [*document, {}] if isinstance(document, list) else {**document, "extra": 1}
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(wrong)


@pytest.mark.parametrize("name", KINDS)
def test_schemas_are_valid_and_closed(name: str) -> None:
    """An answer has the keys of its schema and no others: its objects are closed, or mappings by name."""
    for part in schema(name).get("$defs", {}).values():
        assert part["additionalProperties"] is False
        assert set(part["required"]) <= set(part["properties"])


@pytest.mark.slow
def test_every_class_of_an_answer_is_part_of_a_schema() -> None:
    schemas = [schema_of(name) for name in KINDS]  # which loads the files of their classes

    def leaves(kind: type) -> set[str]:
        parts = [leaves(part) for part in kind.__subclasses__() if part.__module__.startswith("bounds.answers.")]
        return set().union(*parts) if parts else {kind.__name__}

    # a class from which another comes may be a part itself
    assert leaves(Answer) <= {part for one in schemas for part in one["$defs"]}


def test_the_command_prints_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "solve"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("solve")
    assert run(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == names()
    assert run(["schema", "solv"]) == 2
    assert "did you mean solve?" in capsys.readouterr().err


@dataclass(frozen=True)
class Record:
    """A record whose fields have the names of an answer."""

    lower: Fraction
    upper: Fraction
    exact: object = None


def test_answers_are_encoded_as_their_schemas_say() -> None:
    record = Record(Fraction(1, 3), Fraction(2))
    maximum = encode(Maximum, record)
    assert maximum.to_json() == {
        "lower": 1 / 3,
        "upper": 2.0,
        "exact": None,
        "lower_exact": "1/3",
        "upper_exact": "2",
    }
    assert list(maximum.to_json()) == list(schema("throughput")["$defs"]["Maximum"]["properties"])
    assert maximum.upper_exact == "2"
    with pytest.raises(AttributeError):
        _ = maximum.middle
    infinite = encode(Number, Interval(0.5, -inf, inf, 0.95, 1))
    assert infinite.to_json() == {"mean": 0.5, "ci95": (None, None)}
    row = encode(FacetRow, names=["a", "b"], normal=(3, np.int64(4)), offset=Fraction(7))
    assert row.to_json() == {"normal": {"a": "3", "b": "4"}, "offset": "7"}
    needed = encode(ServersNeeded, per_server=1, servers=np.int64(2), at_once=None)
    assert json.dumps(needed, default=Answer.to_json) == '{"per_server": "1", "servers": 2}'
    assert needed.at_once is UNSET


def test_answers_refuse_fields_that_are_missing_or_unknown() -> None:
    with pytest.raises(TypeError, match="FacetRow: no value of offset"):
        encode(FacetRow, normal={})
    with pytest.raises(TypeError, match="FacetRow: no field price"):
        encode(FacetRow, normal={}, offset=1, price=1)


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
