"""Files by their records: what is written is read back and has its schema, and what is no such file is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, get_args, get_origin

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.adversary.documents import PackedFile
from bounds.answers import FILES, schema
from fluid.admission.law.admission_files import InitialTable, ObservedFile, TenantTable
from theory.errors import InputError
from theory.files.document import read_document
from theory.files.forms import Form, Matching, RecordField, Some, Tables, fields_of
from theory.files.kinds import KINDS_OF_FILES, VALUES
from theory.files.record import read_file
from theory.files.schema import schema_of
from theory.files.written import document_of

Strategy = st.SearchStrategy[Any]


RECORDS: dict[str, type[Any]] = {name: record for name, file in FILES.items() if is_dataclass(record := file.record())}
SIGNED = {name: record for name, record in RECORDS.items() if getattr(record, "SIGN", "")}

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

NAMES = st.text("abcxyz-. ", min_size=1, max_size=6).filter(str.strip)


# ---- random records --------------------------------------------------------------------------------------------------


def observed(record: type[Any]) -> Strategy:
    """Observations that agree with each other."""
    count = st.integers(0, 9)
    return st.builds(
        lambda deaths, alive, more, outs, **rest: record(deaths, alive + more, alive, outs, deaths + 1, 99, **rest),
        count, st.integers(1, 9).map(float), st.integers(0, 9).map(float), count,
        **({"cores": st.integers(1, 9)} if record is TenantTable else {}),
    )  # fmt: skip


def initial(weights: list[int]) -> InitialTable:
    shares = (Fraction(weight, sum(weights)) for weight in weights)
    return InitialTable(tuple(range(1, len(weights) + 1)), tuple(shares))


OWN: Mapping[type[Any], Strategy] = {
    InitialTable: st.lists(st.integers(1, 9), min_size=1, max_size=3).map(initial),
    ObservedFile: observed(ObservedFile),
    TenantTable: observed(TenantTable),
}
"""Records whose fields belong together."""


def records(record: type[Any]) -> Strategy:
    """Draw records with values that their annotations allow."""
    if record in OWN:
        return OWN[record]
    chosen = {one.attribute: value_of(one) for one in fields_of(record)}
    if record.__name__ == "GridFile":  # what varies is not fixed
        chosen |= {"warmup": st.none(), "vary": st.just({"servers": (1, 2)}), "servers": st.none()}
    if record.__name__ == "EventsFile":  # at least as long as a period
        chosen |= {"until": st.integers(9, 20).map(Fraction)}
    either = getattr(record, "EITHER", None)
    if either is None:
        return st.builds(record, **chosen)
    others = {name: strategy for name, strategy in chosen.items() if name not in either.names}
    own = {one.name: values(one) for one in fields_of(record) if one.name in either.names}
    return st.sampled_from(either.names).flatmap(lambda name: st.builds(record, **others, **{name: own[name]}))


def value_of(field: RecordField) -> Strategy:
    return values(field) | st.none() if field.default is None else values(field)


def values(form: Form) -> Strategy:
    """Draw values of a form."""
    some = 1 if form.metadata(Some) or form.metadata(Tables) else 0
    if form.alternatives:
        return st.one_of([values(each) for each in form.alternatives])
    if form.container is Mapping:
        return st.dictionaries(values(form.keys), values(form.entries[0]), min_size=some, max_size=3).filter(
            lambda table: not some or any(table.values())
        )
    if form.container is tuple and form.is_row:
        return st.tuples(*(values(entry) for entry in form.entries))
    if form.container is tuple:
        return st.lists(values(form.entries[0]), min_size=some, max_size=3).map(tuple)
    return single(form)


def single(form: Form) -> Strategy:
    if is_dataclass(form.kind):
        return records(form.kind)  # type: ignore[arg-type]
    if form.reading:
        return st.just("1 + poisson")
    if get_origin(form.kind) is not None:
        return st.sampled_from(get_args(form.kind))
    if matching := form.metadata(Matching):
        return st.from_regex(matching.pattern, fullmatch=True)
    simple: dict[Any, Strategy] = {str: NAMES, bool: st.booleans(), Any: st.integers(1, 9)}
    return simple[form.kind] if form.kind in simple else numbers(form)


def numbers(form: Form) -> Strategy:
    bounds = form.bounds
    least = Fraction(bounds.least) if isfinite(bounds.least) else Fraction(-9)
    most = Fraction(min(bounds.most, least + 9))
    drawn = st.integers(int(least), int(most)) if form.kind is int else st.fractions(least, most, max_denominator=60)
    return drawn.filter(lambda number: number in bounds).map(form.kind)


# ---- the tests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [*RECORDS.values(), PackedFile])
def test_what_is_written_is_read_back_and_has_its_schema(record: type[Any]) -> None:
    form = jsonschema.Draft202012Validator(schema_of(record))

    @settings(max_examples=10)
    @given(records(record))
    def survives(drawn: Any) -> None:
        document = json.loads(json.dumps(document_of(drawn)))
        assert read_file(record, document, "f") == drawn
        assert not list(form.iter_errors(document))

    survives()


LAW, SEEN = {"shape": 1, "rate": 2}, dict.fromkeys([one.name for one in fields_of(ObservedFile)], 1)
GOOD: dict[str, dict[str, Any]] = {
    "admission": {
        "cluster": {"capacity": 9, "arrival_rate": "1/2"},
        "deployments": {"mu": LAW, "lambda": LAW, "sigma": LAW, "kappa": 1, "delta": 0, "initial": "1+poisson"},
    },
    "cluster": {"server": {"name": "A", "capacity": {"cpu": 4}}, "user": [{"name": "u", "demand": {"cpu": 1}}]},
    "deployments": {"deployment": [{"cores": 3, **SEEN, "extra_cores": 2}]},
    "events": {"until": 9, "period": "1/2", "event": [{"time": 1, "user": "u", "action": "leave"}]},
    "grid": {"instance": "i.toml", "until": 9, "seed": 1, "vary": {"servers": [1, 2]}},
    "instance": {
        "server": {"capacity": {"cpu": 4}},
        "type": [{"name": "a", "demand": {"cpu": 1}, "reward": "1/3", "workload": 1}],
    },
    "items": {"items": {"capacity": {"cpu": 4, "memory": 2}, "sizes": [[1, 2], [3, 0]]}},
    "observed": {**SEEN, "core_time": 2, "sizes": 3},
    "sizes": {"sizes": {"uniform": ["0.1", "0.9"], "servers": 5, "partition": [[0, "1/2"], [["1/2", 1]]]}},
    "start": {
        "assignment": [{"configuration": {"a": 1}, "fraction": 1}],
        "jobs": {"a": "1/2"},
        "arrivals": {"time": 5, "workload": {"a": 8}},
    },
}
"""A document of each kind that can be recognised."""


def reading(name: str, document: Mapping[str, Any]) -> str:
    """Return the line by which a document is refused; empty where it is read."""
    try:
        read_file(SIGNED[name], document, "f")
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_are_read_and_have_their_schemas(file: Path) -> None:
    document = read_document(file)
    (kind,) = (name for name, record in SIGNED.items() if signs_of(record) & document.keys())
    assert not reading(kind, document)
    assert not list(jsonschema.Draft202012Validator(schema(kind)).iter_errors(document))


def signs_of(record: type[Any]) -> set[str]:
    return {record.SIGN, *(record.EITHER.names if hasattr(record, "EITHER") else ())}


@pytest.mark.parametrize("name", SIGNED)
def test_what_is_wrong_with_a_field_is_named(name: str) -> None:
    document, form = GOOD[name], jsonschema.Draft202012Validator(schema(name))
    assert not reading(name, document)
    assert not list(form.iter_errors(document))
    for field in fields_of(SIGNED[name]):
        if field.kind is not Any:
            assert reading(name, {**document, field.name: True}).startswith(f"f: {field.name}: expected ")
            assert list(form.iter_errors({**document, field.name: True}))
        if field.default is MISSING:
            without = {one: value for one, value in document.items() if one != field.name}
            assert re.search(rf"{field.name}: missing|expected .*{field.name}", reading(name, without))
            near = reading(name, {**without, f"{field.name}x": document[field.name]})
            assert re.search(rf"{field.name}x|expected .*{field.name}", near)
            assert list(form.iter_errors(without))
    line = reading(name, {**document, "colour": 1})
    assert line.startswith("f: colour: unknown field, expected one of ")
    assert list(form.iter_errors({**document, "colour": 1}))


@pytest.mark.parametrize("name", SIGNED)
def test_a_file_of_another_kind_is_recognised(name: str) -> None:
    kind, commands = KINDS_OF_FILES[SIGNED[name].SIGN]
    for other in SIGNED.keys() - {name}:
        line = reading(other, GOOD[name])
        assert line.startswith(f"f: expected {KINDS_OF_FILES[SIGNED[other].SIGN][0]} (")
        assert f"found {kind} (" in line
        assert line.endswith(commands)


@pytest.mark.parametrize("name", SIGNED)
def test_the_sign_of_a_format_is_its_own(name: str) -> None:
    sign = SIGNED[name].SIGN
    assert sign in KINDS_OF_FILES
    with_it = [other for other, record in SIGNED.items() if any(is_sign(one, sign) for one in fields_of(record))]
    assert with_it == [name]


def is_sign(field: RecordField, sign: str) -> bool:
    return field.name == sign and (field.is_table or sign in VALUES)
