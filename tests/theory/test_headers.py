"""Headers of tables: every spelling of a unit has its factor, and what is no unit of the quantity is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from theory.errors import InputError
from theory.files.headers import (
    QUANTITIES,
    RESOURCES,
    TYPE,
    Amounts,
    columns_by_meaning,
    factor_of,
    header_of,
    unused_columns,
)
from theory.files.planned_types import planned_types

SECONDS = {
    "ns nsec nanosecond nanoseconds": Fraction(1, 10**9),
    "us usec µs microsecond microseconds": Fraction(1, 10**6),
    "ms msec msecs millisecond milliseconds millis": Fraction(1, 1000),
    "s sec secs second seconds": 1,
    "min mins minute minutes": 60,
    "h hr hrs hour hours Hours": 3600,
    "d day days": 86400,
    "w wk week weeks": 604800,
}
GIB = {
    "b byte bytes": Fraction(1, 2**30),
    "k Ki KiB kB KB kilobytes kibibyte": Fraction(1, 2**20),
    "Mi MiB MB Mbyte MBytes megabyte megabytes mebibytes": Fraction(1, 2**10),
    "g Gi GiB GB GBytes gigabytes gibibyte": 1,
    "t Ti TiB TB terabytes": 2**10,
    "Pi PB": 2**20,
}
CPUS = {
    "core cores vCPU vCPUs cpus count #": 1,
    "m milli mCPU mcore mcores millicpu millicpus millicore millicores": Fraction(1, 1000),
    "u": Fraction(1, 10**6),
    "n nano nanocores": Fraction(1, 10**9),
}
UNITS = [
    (meaning, name, unit, Fraction(factor))
    for meaning, name, table in (("duration", "lifetime", SECONDS), ("memory", "RAM", GIB), ("cpu", "cpu", CPUS))
    for units, factor in table.items()
    for unit in units.split()
]


@pytest.mark.parametrize("form", ["{} ({})", "{} [{}]", "{}({})", "{}_{}", "{}-{}", "{} in {}", "{}, {}"])
def test_every_spelling_has_its_factor_in_every_form(form: str) -> None:
    for meaning, name, unit, factor in UNITS:
        is_noun = unit.lower() in ("core", "cores", "vcpu", "vcpus", "cpus", "count", "#")
        if is_noun and "(" not in form and "[" not in form:
            continue  # cpu_count is a name
        header = form.format(name, unit)
        names = {"duration": ("lifetime",), **RESOURCES}
        assert columns_by_meaning([header], names) == {meaning: header}, header
        assert factor_of(meaning, header) == factor, header


@pytest.mark.parametrize(
    ("meaning", "header", "words"),
    [
        ("duration", "lifetime (fortnights)", "ns, us, ms, s, min, h, d or w"),
        ("duration", "lifetime_fortnights", "ns, us, ms, s, min, h, d or w"),
        ("duration", "lifetime_m", "which may be minutes or months"),
        ("duration", "lifetime [months]", "got 'months'"),
        ("duration", "lifetime (GiB)", "a unit of time"),
        ("duration", "lifetime (approx.)", "got 'approx'"),
        ("duration", "lifetime ()", "got '()'"),
        ("duration", "lifetime_ms (h)", "got 'msh'"),
        ("start", "start (CET)", "got 'cet'"),
        ("memory", "memory (m)", "which may be MiB or a thousandth"),
        ("memory", "memory %", "a share of what is not said"),
        ("memory", "memory (total)", "MiB, GiB, TiB"),
        ("memory", "memory_hours", "a unit of memory"),
        ("cpu", "cpu (%)", "a share of what is not said"),
        ("cpu", "cpu_pct", "a share of what is not said"),
        ("cpu", "cpu (GHz)", "got 'ghz'"),
        ("gpu", "gpu (MiB)", "a unit of gpu"),
        ("count", "replicas (k)", "a unit of a number"),
    ],
)
def test_what_is_no_unit_of_the_quantity_is_refused_with_those_that_are(meaning: str, header: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        factor_of(meaning, header)
    assert str(caught.value).startswith(f"{header}: expected a unit of ")
    assert words in str(caught.value)


@pytest.mark.parametrize("header", ["created (UTC)", "start (ms since epoch)", "start_epoch_ms", "created [ISO 8601]"])
def test_how_points_in_time_are_counted_is_no_unknown_unit(header: str) -> None:
    assert factor_of("start", header) == (Fraction(1, 1000) if "ms" in header else 1)


def test_every_quantity_refuses_the_units_of_the_others() -> None:
    quantities = set(map(id, QUANTITIES.values()))
    tables = [quantity for quantity in QUANTITIES.values() if id(quantity) in quantities]
    for quantity in tables:
        for other in tables:
            for unit in other.units:
                if unit in quantity.units:
                    assert quantity.factor(unit) == quantity.units[unit]
                else:
                    with pytest.raises(ValueError, match=r"expected a unit of"):
                        quantity.factor(unit)


def test_a_utilisation_beside_cores_is_not_cores() -> None:
    for header in (["cores", "cpu"], ["cpu", "vCPU"], ["cpu_usage", "cpu (%)", "ncpus"], ["cpu (%)", "cpu"]):
        chosen = columns_by_meaning(header, RESOURCES)["cpu"]
        assert chosen in ("cores", "vCPU", "ncpus") or header == ["cpu (%)", "cpu"]
        assert chosen != "cpu (%)", "a unit that is known goes before one that is not"
        (note,) = unused_columns(header, [chosen])
        assert all(f'"{cell}"' in note for cell in header if cell != chosen)


def test_a_last_word_is_a_unit_only_behind_a_name_with_units() -> None:
    meanings = {"type": TYPE, **RESOURCES}
    assert columns_by_meaning(["type_m", "memory_foo", "cpu_model"], meanings) == {}
    assert header_of("VM Size").words == "vm_size"


@pytest.mark.parametrize(
    ("meaning", "header", "cells"),
    [
        ("cpu", "cpu", {"500m": Fraction(1, 2), "2": 2, "1.5": Fraction(3, 2), "": 0, "250000u": Fraction(1, 4)}),
        ("memory", "memory", {"128Mi": Fraction(1, 8), "4Gi": 4, "1 GB": 1, "0": 0, "1024 KiB": Fraction(1, 1024)}),
        ("memory", "memory", {"4": 4, "0.5": Fraction(1, 2)}),
        ("memory", "RAM (MiB)", {"512": Fraction(1, 2)}),
    ],
)
def test_units_in_cells(meaning: str, header: str, cells: dict[str, Fraction]) -> None:
    read = Amounts(meaning, header)
    assert {cell: read(cell) for cell in cells} == cells
    assert {cell: read(cell) for cell in cells} == cells, "again, from what was read before"


@pytest.mark.parametrize(
    ("meaning", "header", "cells", "words"),
    [
        ("memory", "memory", ("128Mi", "134217728"), "a unit in each cell or in none"),
        ("memory", "memory", ("134217728", "128Mi"), "a unit in each cell or in none"),
        ("memory", "memory (MiB)", ("128Mi",), "the header has a unit"),
        ("memory", "memory", ("128m",), "which may be MiB or a thousandth"),
        ("cpu", "cpu", ("37%",), "a share of what is not said"),
        ("cpu", "cpu", ("2 GHz",), "a unit of cpu"),
        ("cpu", "cpu", ("-2",), "a number of at least 0"),
        ("cpu", "cpu", ("many",), "expected a number"),
    ],
)
def test_cells_that_are_refused(meaning: str, header: str, cells: tuple[str, ...], words: str) -> None:
    read = Amounts(meaning, header)
    for cell in cells[:-1]:
        read(cell)
    with pytest.raises(ValueError, match=words):
        read(cells[-1])


TABLE = "VM Size,vCPU,RAM (GiB),price\nsmall,2,4,0.1\nlarge,8,32,0.4\n"
POOL = [{"capacity": {"cpu": "16", "memory": "64"}}]


@pytest.mark.parametrize(
    "text",
    [
        "VM Size,vCPU,RAM (Mi),price\nsmall,2,4096,0.1\nlarge,8,32768,0.4\n",
        "VM Size,cpu (m),RAM [MBytes],price\nsmall,2000,4096,0.1\nlarge,8000,32768,0.4\n",
        "VM Size,cpu,memory,price\nsmall,2000m,4Gi,0.1\nlarge,8,32Gi,0.4\n",
        "price,memory_bytes,cpu_m,sku\n0.1,4294967296,2000,small\n0.4,34359738368,8000,large\n",
    ],
)
def test_types_are_the_same_in_other_units_and_columns(text: str, tmp_path: Path) -> None:
    tables = []
    for name, content in (("a.csv", TABLE), ("b.csv", text)):
        (tmp_path / name).write_text(content)
        tables.append(planned_types(str(tmp_path / name), POOL).types)
    assert tables[0] == tables[1]


def test_types_with_a_unit_that_is_not_known_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    for header in ("RAM (total)", "RAM (%)", "RAM_m", "RAM [hours]"):
        path.write_text(TABLE.replace("RAM (GiB)", header))
        with pytest.raises(InputError) as caught:
            planned_types(str(path), POOL)
        assert str(caught.value).startswith(f"{path}:1: {header}: expected a unit of memory (bytes, Ki, Mi, Gi")


def test_columns_of_types_that_are_not_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    path.write_text("VM Size,vCPU,RAM (GB),family,count\nsmall,2,4,x,3\n")
    notes = planned_types(str(path), POOL).notes
    assert 'of the types, columns not used: "family", "count"' in notes
    assert "memory: gb counts as GiB" in notes
