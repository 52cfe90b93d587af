"""The instance file: reading it into the model, and writing the model back in the user's units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from theory import numbers
from theory.errors import listed
from theory.files.document import Fields, read_document, refuse_doubles, warn_if_alike
from theory.files.places import write_json, write_text
from theory.files.record import Either, Expected, Placed, Range, Some, Tables, read_file
from theory.files.written import document_of
from theory.instance import Additive, Explicit, Instance, JobType, Pool, Space, maximal_generators

LARGEST = 2**62
"""Largest capacity in integer units."""


Positive = Annotated[Fraction, Range(0, above=True)]
"""The type of a field that is a number greater than 0."""

_Capacity = Annotated[
    Fraction,
    Range(0, above=True),
    Expected("a positive number (leave out a resource that the server does not have)"),
]


_Configuration = Annotated[
    tuple[Annotated[int, Range(0, LARGEST)], ...], Expected("a list of whole numbers, one for each type")
]


@dataclass(frozen=True)
class ServerTable(Placed):
    """The servers of a pool: ``[server]``, or one of several ``[[server]]``."""

    EITHER: ClassVar = Either(("capacity", "configurations"))

    name: Annotated[str | None, Expected("a name"), "of a pool; needed where there are several"] = None
    share: Annotated[
        Fraction, Range(0, above=True), Expected("a positive share"), "of a pool; shares are normalised"
    ] = Fraction(1)
    capacity: Annotated[
        Mapping[str, _Capacity] | None,
        Expected("a table of resources"),
        Some("at least one resource"),
        "units of each resource that a server has",
    ] = None
    configurations: Annotated[
        tuple[_Configuration, ...] | None,
        Expected("a list of configurations"),
        Some("a list of at least one configuration"),
        "in place of `capacity`: the maximal feasible configurations, columns in the order of the types, for sets that "
        "are not additive",
    ] = None


@dataclass(frozen=True)
class TypeTable(Placed):
    """A type of jobs."""

    name: Annotated[str, Expected("a name"), "of its own"]
    demand: Annotated[
        Mapping[str, Annotated[Fraction, Range(0)]] | None,
        Expected("a table of resources"),
        Some("at least one positive demand"),
        "units of each resource that a job takes; one that is left out is not demanded",
    ] = None
    reward: Annotated[
        Positive | None,
        "what a job in service earns in a unit of time. May be left out, in all types, where a trace says which jobs "
        "come",
    ] = None
    workload: Annotated[
        Fraction | None,
        Range(0),
        "mean number of jobs in service that each server would have to carry if nobody were refused; arrivals per "
        "server and unit of time are workload times service rate. May be left out where a log has it (`--trace`), and "
        "for `worst --vary workload`",
    ] = None
    service_rate: Annotated[
        Positive, "departures of a job and unit of time; measured beside a workload that is left out"
    ] = Fraction(1)


@dataclass(frozen=True)
class InstanceFile:
    """An instance: what `solve`, `worst`, `region`, `fluid` and `simulate` read."""

    SIGN: ClassVar = "type"

    server: Annotated[tuple[ServerTable, ...], Tables("a table [server] or tables [[server]]"), "the pools of servers"]
    type: Annotated[
        tuple[TypeTable, ...], Tables("at least one table [[type]]"), "types of jobs; their order breaks ties"
    ]
    simulation: Annotated[Mapping[str, Any] | None, "what `simulate` reads beside them"] = None


def read_instance(path: str | Path) -> Instance:
    """Read an instance from a TOML or JSON file.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    return parse_instance(read_document(path), str(path))


def without_workload(document: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the places of the types that leave out their workload; none where a document has no list of types."""
    kinds = document.get("type")
    if not isinstance(kinds, list) or not all(isinstance(kind, Mapping) for kind in kinds):
        return ()
    return tuple(j for j, kind in enumerate(kinds) if "workload" not in kind)


def parse_instance(document: Mapping[str, Any], source: str = "instance", *, workload_needed: bool = True) -> Instance:
    """Turn a document with ``server`` and ``type`` tables into an instance; `source` names it in errors.

    Where no workload is needed, one that is left out is 0. Capacities and demands are scaled, resource by resource, to
    the smallest common integer unit.

    Raises
    ------
    InputError
        Unknown or missing field, a number out of range, duplicate names, a type that fits no pool, no types.

    Examples
    --------
    >>> instance = parse_instance({
    ...     "server": {"capacity": {"cpu": "1.2"}},
    ...     "type": [{"name": "a", "demand": {"cpu": 0.5}, "reward": 1, "workload": "1/2"}]})
    >>> instance.pools[0].space.capacity, instance.pools[0].space.demands
    ((12,), ((5,),))
    """
    file = read_file(InstanceFile, document, source)
    refuse_doubles([job.name for job in file.type], [job.at for job in file.type])
    names = _names(file.server)
    resources = list(dict.fromkeys(resource for server in file.server for resource in server.capacity or ()))
    warn_if_alike(resources, source)
    types = tuple(_type(job, resources, workload_needed=workload_needed) for job in file.type)
    # shares are normalised: pool i has shares[i] / sum of shares of the servers
    shares = numbers.total(server.share for server in file.server)
    spaces = _spaces(file, resources, source)
    for j, job in enumerate(file.type):
        if not any(space.most(j) for space in spaces):
            fails = f"{job.name!r} fits no server, not even alone"
            job.at.fail("demand" if job.demand else "", f"expected a type that some server can hold, but {fails}")
    whole = zip(names, file.server, spaces, strict=True)
    return Instance(types, tuple(Pool(name, server.share / shares, space) for name, server, space in whole))


def _names(servers: Sequence[ServerTable]) -> list[str]:
    """Return the names of the pools, which several pools must have."""
    for server in servers:
        if server.name is None and len(servers) > 1:
            server.at.fail("name", "missing, expected a name")
    names = [server.name or f"pool{i}" for i, server in enumerate(servers, 1)]
    refuse_doubles(names, [server.at for server in servers])
    return names


def _type(job: TypeTable, resources: Sequence[str], *, workload_needed: bool) -> JobType:
    """Return a type of a file, whose demand is of resources that servers have."""
    if job.demand is None and resources:
        job.at.fail("demand", "missing, expected a table of resources")
    for resource in job.demand or ():
        if resource not in resources:
            expected = listed(resources) if resources else "none: the servers list configurations"
            job.at.fail(f"demand.{resource}", f"expected a resource of some server ({expected})")
    if job.reward is None:
        job.at.fail("reward", "missing, expected a number greater than 0")
    if job.workload is None and workload_needed:
        log = "or a log to measure it in (--trace LOG --servers L)"
        job.at.fail("workload", f"missing, expected a number of at least 0, {log}")
    return JobType(job.name, job.reward, job.workload or Fraction(0), job.service_rate)


def _spaces(file: InstanceFile, resources: Sequence[str], source: str) -> list[Space]:
    units, none = [], Fraction(0)
    demands = [job.demand or {} for job in file.type]
    for resource in resources:
        capacities = [own[resource] for server in file.server if resource in (own := server.capacity or {})]
        values = [demand.get(resource, none) for demand in demands] + capacities
        # the largest unit of which all capacities and demands are whole multiples
        _, unit = numbers.to_integers(values)
        if max(values) / unit > LARGEST:
            units_of = f"units of {numbers.text(unit)}, the largest unit that makes all demands whole"
            Fields({}, source).fail(f"capacity.{resource}", f"expected at most 2^62 {units_of}")
        units.append(unit)

    def in_units(amounts: Mapping[str, Fraction]) -> tuple[int, ...]:
        return tuple(int(amounts.get(name, none) / unit) for name, unit in zip(resources, units, strict=True))

    spaces: list[Space] = []
    for server in file.server:
        if server.capacity is not None:
            whole = in_units(server.capacity), tuple(map(in_units, demands))
            spaces.append(Additive(tuple(resources), *whole, tuple(units)))
        else:
            # listed configurations: the set is what lies below them, so that only the maximal ones count
            spaces.append(Explicit(maximal_generators(_configurations(server, len(file.type)))))
    return spaces


def _configurations(server: ServerTable, types: int) -> tuple[tuple[int, ...], ...]:
    rows = server.configurations or ()
    for i, row in enumerate(rows, 1):
        if len(row) != types:
            server.at.fail(f"configurations[{i}]", f"expected {types} whole numbers of at least 0, one for each type")
    return rows


def instance_document(instance: Instance) -> dict[str, Any]:
    """Return the JSON form of an instance: the fields of the file, numbers as exact text, in the user's units.

    Examples
    --------
    >>> from theory.instance import additive
    >>> instance_document(additive([12], [[5], [7]]))["server"]
    [{'name': 'pool1', 'share': '1', 'capacity': {'r1': '12'}}]
    """
    demands: list[dict[str, Fraction] | None] = [None for _ in instance.types]
    servers = []
    for pool in instance.pools:
        space = pool.space
        if isinstance(space, Explicit):
            servers.append(ServerTable(pool.name, pool.share, configurations=space.generators))
        else:
            servers.append(ServerTable(pool.name, pool.share, _amounts(space, space.capacity)))
            demands = [_amounts(space, row) for row in space.demands]
    types = (
        TypeTable(one.name, demand, one.reward, one.workload, one.service_rate)
        for one, demand in zip(instance.types, demands, strict=True)
    )
    return document_of(InstanceFile(tuple(servers), tuple(types)))


def _amounts(space: Additive, amounts: Sequence[int]) -> dict[str, Fraction]:
    """Return amounts in the user's units; a resource that is not there is left out, as the file wants it."""
    in_units = zip(space.resources, amounts, space.unit, strict=True)
    return {name: amount * unit for name, amount, unit in in_units if amount}


def write_instance(path: str | Path, instance: Instance) -> None:
    """Write an instance as JSON if the name ends in ``.json``, else as TOML; whole or not at all."""
    write_tables(path, instance_document(instance))


def write_tables(path: str | Path, document: dict[str, Any]) -> None:
    """Write the tables of a document as JSON if the name ends in ``.json``, else as TOML; whole or not at all."""
    if Path(path).suffix.lower() == ".json":
        write_json(path, document)
    else:
        write_text(path, tables_toml(document))


def tables_toml(document: dict[str, Any]) -> str:
    """Return a document of tables, and of arrays of tables, as TOML."""
    blocks = []
    for kind, tables in document.items():
        head = f"[{kind}]" if isinstance(tables, dict) else f"[[{kind}]]"
        for table in [tables] if isinstance(tables, dict) else tables:
            lines = [head, *(f"{_key(name)} = {_toml_value(value)}" for name, value in table.items())]
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml_value(name)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_toml_value(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
