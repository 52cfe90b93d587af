"""The types of a plan: a table whose columns are guessed, TOML or JSON with ``[[type]]``, or names of the catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from theory.errors import ArgumentError, InputError, listed, meant
from theory.files.headers import RESOURCES, TYPE, Amounts, columns_by_meaning, header_of, unused_columns
from theory.files.open_table import is_table, opened
from theory.files.price_catalogue import catalogue_tables, matching, near, read_own_types
from theory.files.table import Table
from theory.numbers import rational, text

PRICE = ("price", "reward", "cost", "price_per_hour", "hourly_price", "price_hour", "usd_per_hour", "cost_per_hour")

COUNTED = ("pods", "tasks", "vms", "jobs")
"""Limits of a server on the number of its jobs: resources of which each type asks 1, unless types name them."""

MEANINGS = {"name": ("name", *TYPE), "reward": PRICE, **RESOURCES}


class Planned(NamedTuple):
    """Types and pools as tables of an instance file, notes, and the resources of types that no server names."""

    types: list[dict[str, Any]]
    pools: list[dict[str, Any]]
    notes: tuple[str, ...]
    uncounted: tuple[str, ...]


def planned_types(source: str, pools: Sequence[dict[str, Any]]) -> Planned:
    """Return the types of a plan with the resources that servers have.

    Parameters
    ----------
    source : str
        A file (a table such as a CSV, TOML, JSON), or names of the catalogue with commas between them, ``*`` and ``?``
        allowed.
    pools : sequence of dict
        Tables ``[[server]]``. Their resources may have other common names (``ram``) than those of the types.

    Raises
    ------
    InputError
        Neither a file nor names of the catalogue; a table without names; a resource of a server that no type has.
    """
    place = Path(source)
    if is_table(place):
        with opened(place) as table:
            tables, notes = _of_table(table)
    elif place.exists() or place.suffix.lower() in (".toml", ".json"):
        tables, notes = read_own_types(place), ()
    else:
        tables, notes = catalogue_tables(_names(source), "TYPES"), ()
    return with_pools(tables, pools, notes)


def with_pools(
    tables: Sequence[dict[str, Any]], pools: Sequence[dict[str, Any]], notes: tuple[str, ...] = ()
) -> Planned:
    """Return types, tables with a name, a demand and perhaps a reward, with the resources that servers have.

    A limit on the number of jobs of a server (`COUNTED`) is a resource of which each type asks 1.

    Raises
    ------
    InputError
        A resource of a server that no type has.
    """
    demanded = {name for table in tables for name in table.get("demand", {})}
    limits = [name for name in COUNTED if name not in demanded and any(name in pool["capacity"] for pool in pools)]
    if limits:
        tables = [{**table, "demand": {**table.get("demand", {}), **dict.fromkeys(limits, "1")}} for table in tables]
        demanded |= {*limits}
    servers = [{**pool, "capacity": _named_as(demanded, pool["capacity"])} for pool in pools]
    resources = {name for pool in servers for name in pool["capacity"]}
    uncounted = tuple(sorted(demanded - resources))
    kept = [
        {
            **{key: value for key, value in table.items() if key in ("name", "reward")},
            "demand": {name: amount for name, amount in table.get("demand", {}).items() if name in resources},
        }
        for table in tables
    ]
    if not all("reward" in table for table in kept):
        kept = [{**table, "reward": 1} for table in kept]
        notes = (*notes, "types have no price: each VM counts 1")
    if uncounted:
        notes = (*notes, f"resources that no server names are left out: {listed(uncounted)}")
    return Planned(kept, servers, notes, uncounted)


def _named_as(demanded: set[str], capacity: dict[str, str]) -> dict[str, str]:
    """Return the capacity of a server under the names that the types have for resources.

    Examples
    --------
    >>> _named_as({"cpu", "memory"}, {"vCPU": "96", "ram": "192"})
    {'cpu': '96', 'memory': '192'}
    >>> _named_as({"vcpus"}, {"cpu": "96"})
    {'vcpus': '96'}
    >>> _named_as({"cpu", "memory"}, {"cpu": "96", "memroy": "192"})
    Traceback (most recent call last):
    theory.errors.ArgumentError: server: memroy: no type has it (types have cpu, memory); did you mean memory?
    """
    renamed: dict[str, str] = {}
    for name, amount in capacity.items():
        words, unit, _ = header_of(name)
        common = next((common for common in RESOURCES.values() if words in common and not unit), ())
        alike = [one for one in demanded if one.lower() in common]
        meaning = name if name in demanded else alike[0] if len(alike) == 1 else ""
        if not meaning:
            types_have = f"no type has it (types have {listed(sorted(demanded)) or 'no resources'})"
            costs = "; did you mean price=?" if name.lower() in ("cost", "costs") else ""
            hint = "" if words in RESOURCES else costs or meant(name, demanded)
            raise ArgumentError("server", f"{name[:60]}: {types_have}{hint}")
        if meaning in renamed:
            raise ArgumentError("server", f"{name[:60]}: expected {meaning} once")
        renamed[meaning] = amount
    return renamed


def _names(patterns: str) -> list[str]:
    """Return the names of the catalogue that patterns with commas between them name."""
    names: list[str] = []
    for pattern in (one.strip() for one in patterns.split(",") if one.strip()):
        is_pattern = any(sign in pattern for sign in "*?")
        named = matching(pattern) if is_pattern else [one for one in matching(pattern) if one.endswith(pattern)]
        if not named:
            hint = near(pattern)
            raise InputError(
                "TYPES",
                f"{pattern[:60]!r}: expected a CSV, TOML or JSON file of types that is there, or a type of the "
                f"catalogue{'; near names: ' + ', '.join(hint) if hint else ''}",
            )
        names += [name for name in named if name not in names]
    if not names:
        raise InputError("TYPES", "expected a file of types, or types of the catalogue such as 'aws:m5.*'")
    return names


def _of_table(source: Table) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    header = list(source.header)
    chosen = columns_by_meaning(header, MEANINGS)
    resources = [name for name in RESOURCES if name in chosen]
    if "name" not in chosen or not resources:
        shown = ", ".join(header)[:120] or "no columns"
        expected = "expected a column of names, such as VM Size, and resources, such as vCPU"
        source.fail(source.first, "", f"{expected}; found {shown}")
    readers = _readers(source, {name: chosen[name] for name in resources})
    tables = []
    for line, row in source.rows():
        cells = {meaning: row[header.index(column)] for meaning, column in chosen.items()}
        if not cells["name"]:
            source.fail(line, chosen["name"], "expected the name of a type, got an empty field")
        table: dict[str, Any] = {"name": cells["name"], "demand": {}}
        for name, read in readers.items():
            amount = source.read(line, chosen[name], read, cells[name])
            if amount:
                table["demand"][name] = text(amount)
        if "reward" in chosen:
            table["reward"] = text(source.read(line, chosen["reward"], _price, cells["reward"]))
        tables.append(table)
    if not tables:
        raise InputError(source.place, "", "expected at least one type below the header")
    words = ", ".join(f"{name} = {json.dumps(column, ensure_ascii=False)}" for name, column in chosen.items())
    said = (f"of the types, {note}" for note in (*source.notes, *unused_columns(header, chosen.values())))
    units = (note for reader in readers.values() for note in reader.notes)
    return tables, (f"columns of the types guessed from the header: {words}", *said, *units)


def _readers(table: Table, columns: Mapping[str, str]) -> dict[str, Amounts]:
    """Return what reads the cells of each resource; a header with a unit that is not known is refused."""
    try:
        return {name: Amounts(name, column) for name, column in columns.items()}
    except InputError as error:
        raise error.within(f"{table.place}:{table.first}") from error


def _price(cell: str) -> Fraction:
    try:
        value = rational(cell.removeprefix("$"))
    except ValueError as error:
        raise ValueError(f"expected a number, got {cell[:60]!r} ({error})") from error
    if value <= 0:
        raise ValueError(f"expected a number greater than 0, got {cell[:60]}")
    return value


def named_as_in(
    tables: Sequence[dict[str, Any]], labels: Sequence[str]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return types under the names of a log, which may lack the provider, without those that the log does not name.

    Examples
    --------
    >>> named_as_in([{"name": "aws:m5.large"}, {"name": "aws:m5.xlarge"}], ["m5.large"])
    ([{'name': 'm5.large'}], ('types that the log does not name are left out: "aws:m5.xlarge"',))
    """
    if not labels:
        return list(tables), ()
    # a label that is no type is told with its row by those who have the rows (`fluid.traces.types.expect_types`)
    renamed = [
        {**table, "name": short} if table["name"] not in labels and short in labels else table
        for table in tables
        for short in [str(table["name"]).partition(":")[2]]
    ]
    unnamed = [table["name"] for table in renamed if table["name"] not in labels]
    kept = [table for table in renamed if table["name"] in labels]
    return kept, ((f"types that the log does not name are left out: {listed(unnamed)}",) if unnamed else ())
