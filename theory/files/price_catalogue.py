"""The shipped price table of cloud VM types, job types of a user beside them, and instances made from both."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from theory.errors import ArgumentError, InputError
from theory.files.document import read_document
from theory.files.instances import TypeTable, parse_instance
from theory.files.open_table import is_table, opened
from theory.files.record import Tables, read_file
from theory.files.table import Table
from theory.files.written import document_of
from theory.instance import Instance
from theory.numbers import rational, text


@dataclass(frozen=True)
class MachineType:
    """A VM type on sale.

    Attributes
    ----------
    provider, name, family : str
    vcpu : int
    memory : Fraction
        GiB.
    price : Fraction
        US dollars an hour, on demand.
    """

    provider: str
    name: str
    family: str
    vcpu: int
    memory: Fraction
    price: Fraction

    @property
    def line(self) -> str:
        """Return the family, and on GCP the shape in it: types of one line differ by size alone."""
        return self.name.rpartition("-")[0] if self.provider == "gcp" else self.family

    @property
    def size(self) -> str:
        """Return what tells a type from the others of its line: ``2xlarge``, or a number of vCPUs."""
        return self.name.removeprefix(self.line).lstrip("-.")


@cache
def catalogue() -> dict[str, MachineType]:
    """Return the table by ``provider:name`` (AWS us-east-1 Linux on demand, GCP us-central1).

    Examples
    --------
    >>> catalogue()["aws:m5.large"].vcpu, catalogue()["aws:m5.large"].memory
    (2, Fraction(8, 1))
    """
    table = files(__package__).joinpath("prices/vm_catalog.csv").read_text(encoding="utf-8")
    machines = (
        MachineType(
            row["provider"],
            row["name"],
            row["family"],
            int(row["vcpu"]),
            rational(row["mem_gib"]),
            rational(row["usd_per_hour"]),
        )
        for row in csv.DictReader(table.splitlines())
    )
    return {f"{machine.provider}:{machine.name}": machine for machine in machines}


def matching(pattern: str = "") -> list[str]:
    """Return the names of the types that a pattern names, in the order of the table.

    A pattern is a name, with ``*`` and ``?`` as in a shell, with or without the provider; or a part of a name.

    Examples
    --------
    >>> matching("aws:m5.*arge")[:2], matching("n2-standard-4"), matching("nothing")
    (['aws:m5.12xlarge', 'aws:m5.16xlarge'], ['gcp:n2-standard-4', 'gcp:n2-standard-48'], [])
    """
    wanted = pattern.strip().lower()
    if any(sign in wanted for sign in "*?"):
        patterns = (wanted,) if ":" in wanted else (f"*:{wanted}",)
        return [name for name in catalogue() if any(fnmatchcase(name, each) for each in patterns)]
    return [name for name in catalogue() if wanted in name]


def near(name: str, number: int = 3) -> list[str]:
    """Return the types whose names are nearest to one that the catalogue does not have; perhaps none.

    Examples
    --------
    >>> near("m5.large"), near("gcp:n2-standart-4", 1)
    (['aws:m5.large'], ['gcp:n2-standard-4'])
    """
    wanted = name.strip().lower().removesuffix(".*")
    machines = catalogue()
    # first the same name under a provider, then the same family, then whatever is spelt alike
    without_provider = [one for one in machines if one.partition(":")[2] == wanted]
    if without_provider:
        return without_provider[:number]
    family = wanted.rpartition(".")[0]
    beside = [one for one in machines if family and one.partition(".")[0] == family]
    return get_close_matches(wanted, beside, number, 0.3) or get_close_matches(wanted, machines, number, 0.6)


def missing_sizes(provider: str, line: str) -> list[str]:
    """Return the sizes that half of the sister lines or more have in the table, and this one lacks.

    Sisters of m5 on AWS are m5a, m5d, m5n, ...; those of n2-highcpu on GCP are n2-standard and n2-highmem. This is a
    hint, no proof: the table does not say which sizes a provider sells.

    Examples
    --------
    >>> missing_sizes("aws", "m5")
    ['xlarge']
    """
    generation = _generation(provider, line)
    every = [machine for machine in catalogue().values() if machine.provider == provider]
    sisters: dict[str, dict[str, int]] = {}
    for one in every:
        # sizes `metal` are the same hardware as the largest
        if _generation(provider, one.line) == generation and not one.size.startswith("metal"):
            sisters.setdefault(one.line, {})[one.size] = one.vcpu
    if line not in sisters:
        return []
    own = sisters.pop(line)
    # a size counts as missing where at least half of the sisters have it; listed by vCPUs
    vcpu = {size: number for sizes in sisters.values() for size, number in sizes.items() if size not in own}
    often = [size for size in vcpu if 2 * sum(size in sizes for sizes in sisters.values()) >= len(sisters)]
    return sorted(often, key=lambda size: (vcpu[size], size))


def _generation(provider: str, line: str) -> str:
    """Return what sister lines have in common: ``m5`` of m5dn, ``n2`` of n2-highmem."""
    if provider == "gcp":
        return line.partition("-")[0]
    generation = re.match(r"[a-z]+[0-9]+", line)
    return generation.group() if generation else line


def _found(pattern: str, source: str) -> list[str]:
    """Return the types of a name or a family; a miss names near ones, and what is missing of its line."""
    machines = catalogue()
    family = pattern.removesuffix(".*")
    matching = [pattern] if pattern in machines else []
    if family != pattern:
        matching = [name for name, m in machines.items() if f"{m.provider}:{m.family}" == family]
    if matching:
        return matching
    provider, _, name = pattern.partition(":")
    line, _, size = name.rpartition("." if provider == "aws" else "-")
    # such as m5.xlarge: a size that the line is likely to have on sale, although the table has no price of it
    lacks = " the price table lacks this size;" if line and size in missing_sizes(provider, line) else ""
    hint = near(pattern)
    raise InputError(
        source,
        "",
        f"{pattern[:60]!r}:{lacks} expected a type of the catalogue (provider:name or family.*)"
        + (f"; near names: {', '.join(hint)}" if hint else "; packproof catalogue lists all"),
    )


def catalogue_tables(types: Sequence[str], source: str = "--types") -> list[dict[str, Any]]:
    """Return types of the catalogue as tables of an instance file; the reward of a type is its price an hour.

    They have no workload.

    A type is ``aws:NAME`` or ``gcp:NAME``, a whole family ``aws:m5.*``; an unknown one is refused with near names.
    """
    machines = catalogue()
    return [
        {
            "name": name,
            "demand": {"cpu": machines[name].vcpu, "memory": text(machines[name].memory)},
            "reward": text(machines[name].price),
        }
        for pattern in types
        for name in _found(pattern, source)
    ]


def catalogue_instance(
    types: Sequence[str], server: dict[str, Fraction], workload: Fraction = Fraction(1), source: str = "--types"
) -> Instance:
    """Make an instance of VM types from the catalogue on one pool of servers.

    Parameters
    ----------
    types : sequence of str
        ``aws:NAME`` or ``gcp:NAME``; a whole family as ``aws:m5.*``.
    workload : Fraction
        Offered jobs of every type per server.
    source : str
        Names the input in errors.
    server : dict
        Capacity ``{"cpu": vCPUs, "memory": GiB}``.

    Raises
    ------
    InputError
        Unknown type, a type that does not fit the server, resources other than cpu and memory, duplicates.

    Examples
    --------
    >>> catalogue_instance(["aws:m5.large", "aws:r5.large"], {"cpu": Fraction(96), "memory": Fraction(768)}).names
    ('aws:m5.large', 'aws:r5.large')
    """
    tables = [{**table, "workload": text(workload)} for table in catalogue_tables(types, source)]
    if set(server) != {"cpu", "memory"}:
        raise ArgumentError("server", f"expected cpu=NUMBER,memory=NUMBER, got {', '.join(server) or 'nothing'}")
    capacity = {name: text(amount) for name, amount in server.items()}
    return parse_instance({"server": {"capacity": capacity}, "type": tables}, source)


# ---- types of a user -------------------------------------------------------------------------------------------------

FIXED = ("name", "reward", "price", "workload", "service_rate")
"""Columns of a table that are no resources; ``price`` is another word for ``reward``."""


@dataclass(frozen=True)
class OwnTypesFile:
    """Types of your own, as an instance file has them."""

    type: Annotated[tuple[TypeTable, ...], Tables("at least one table [[type]]")]
    server: Annotated[Any, "of an instance file; not read"] = None
    simulation: Annotated[Any, "of an instance file; not read"] = None


def read_own_types(path: str | Path) -> list[dict[str, Any]]:
    """Read types as tables of an instance file, in which workloads may be left out.

    A table such as a CSV (by the end of its name) has a header with ``name``, ``reward`` or ``price``, perhaps
    ``workload`` and ``service_rate``, and every other column is a resource, an empty cell for none. TOML and JSON have
    tables ``[[type]]`` as an instance file has them, whose other tables are not read.
    """
    place = Path(path)
    if is_table(place):
        with opened(place) as table:
            return _of_table(table)
    return [document_of(one) for one in read_file(OwnTypesFile, read_document(place), str(place)).type]


def _of_table(source: Table) -> list[dict[str, Any]]:
    names = source.header
    # the reward is also called price, but not both
    paid = [name for name in ("reward", "price") if name in names]
    resources = [name for name in names if name not in FIXED]
    if len(set(names)) < len(names) or "" in names or "name" not in names or len(paid) != 1 or not resources:
        expected = "expected a header with name, reward (or price), resources, and perhaps workload and service_rate"
        header_found = ", ".join(names)[:120] or "no columns"
        source.fail(source.first, "", f"{expected}, each once; found {header_found}")
    types = []
    for line, row in source.rows():
        cells = dict(zip(names, row, strict=True))
        _refuse_cells(source, line, cells, {"name", *paid})
        table: dict[str, Any] = {"name": cells["name"], "reward": cells[paid[0]]}
        table["demand"] = {name: cells[name] for name in resources if cells[name]}
        table |= {name: cells[name] for name in ("workload", "service_rate") if cells.get(name)}
        types.append(table)
    if not types:
        raise InputError(source.place, "", "expected at least one type below the header")
    return types


def _refuse_cells(source: Table, line: int, cells: dict[str, str], required: set[str]) -> None:
    """Refuse a field that is empty or no number, by line and column; their bounds are those of an instance."""
    for name, cell in cells.items():
        what = "the name of a type" if name == "name" else "a number"
        if not cell and name in required:
            source.fail(line, name, f"expected {what}, got an empty field")
        if not cell or name == "name":
            continue
        positive = name in ("reward", "price", "service_rate")
        expected = f"a number {'greater than' if positive else 'of at least'} 0"
        try:
            value = rational(cell)
        except ValueError as error:
            source.fail(line, name, f"expected {expected}, got {cell[:60]!r} ({error})")
        if value < 0 or (positive and value == 0):
            source.fail(line, name, f"expected {expected}, got {cell[:60]}")
