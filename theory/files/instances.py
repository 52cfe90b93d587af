"""The instance file: reading it into the model, and writing the model back in the user's units."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory import numbers
from theory.errors import listed
from theory.files.document import Fields, read_document, refuse_doubles, warn_if_alike
from theory.files.places import write_json, write_text
from theory.instance import Additive, Explicit, Instance, JobType, Pool, Space, maximal_generators

LARGEST = 2**62
"""Largest capacity in integer units."""


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
    top = Fields(document, source)
    top.refuse_other_kinds("an instance", "server", "type")
    servers = top.tables("server", "a table [server] or tables [[server]]")
    kinds = top.tables("type", "at least one table [[type]]")
    if top.has("simulation"):
        top.take("simulation", "a table")
    top.finish()

    columns = len(kinds)
    raw = [_server(fields, i, columns, several=len(servers) > 1) for i, fields in enumerate(servers, 1)]
    refuse_doubles([name for name, *_ in raw], servers)
    resources = list(dict.fromkeys(resource for *_, capacity, _ in raw for resource in capacity))
    types, demands = [], []
    has_capacity = any(capacity for *_, capacity, _ in raw)
    for fields in kinds:
        job_type, demand = _type(fields, resources, needed=has_capacity, workload_needed=workload_needed)
        types.append(job_type)
        demands.append(demand)
    refuse_doubles([t.name for t in types], kinds)
    warn_if_alike(resources, source)

    # shares are normalised: pool i has shares[i] / sum of shares of the servers
    shares = numbers.total(share for _, share, _, _ in raw)
    spaces = _spaces([(capacity, generators) for *_, capacity, generators in raw], resources, demands, top)
    for j, fields in enumerate(kinds):
        if not any(space.most(j) for space in spaces):
            fails = f"{types[j].name!r} fits no server, not even alone"
            fields.fail("demand" if demands[j] else "", f"expected a type that some server can hold, but {fails}")
    pools = [Pool(name, share / shares, space) for (name, share, *_), space in zip(raw, spaces, strict=True)]
    return Instance(tuple(types), tuple(pools))


_Server = tuple[str, Fraction, dict[str, Fraction], list[tuple[int, ...]]]


def _server(fields: Fields, number: int, columns: int, *, several: bool) -> _Server:
    name = fields.text("name") if several or fields.has("name") else f"pool{number}"
    share = fields.optional_number("share", Fraction(1), "a positive share", strict=True)
    capacity: dict[str, Fraction] = {}
    generators: list[tuple[int, ...]] = []
    if fields.has("capacity") == fields.has("configurations"):
        fields.fail("capacity", "expected either capacity or configurations")
    if fields.has("capacity"):
        table = fields.table("capacity", "a table of resources")
        for resource in table.names():
            expected = "a positive number (leave out a resource that the server does not have)"
            capacity[resource] = table.number(resource, expected, strict=True)
        if not capacity:
            table.fail("", "expected at least one resource")
    else:
        rows = fields.take("configurations", "a list of configurations")
        if not isinstance(rows, list) or not rows:
            fields.fail("configurations", "expected a list of at least one configuration")
        for i, row in enumerate(rows, 1):
            entries = isinstance(row, list) and all(isinstance(k, int) and not isinstance(k, bool) for k in row)
            if not entries or len(row) != columns or min(row) < 0 or max(row) > LARGEST:
                expected = f"{columns} whole numbers of at least 0, one for each type"
                fields.fail(f"configurations[{i}]", f"expected {expected}")
            generators.append(tuple(row))
    fields.finish()
    return name, share, capacity, generators


def _type(
    fields: Fields, resources: list[str], *, needed: bool, workload_needed: bool
) -> tuple[JobType, dict[str, Fraction]]:
    name = fields.text("name")
    demand: dict[str, Fraction] = {}
    if needed or fields.has("demand"):
        table = fields.table("demand", "a table of resources")
        for resource in table.names():
            demand[resource] = table.number(resource, "a number of at least 0")
            if resource not in resources:
                expected = listed(resources) if resources else "none: the servers list configurations"
                table.fail(resource, f"expected a resource of some server ({expected})")
        if not any(demand.values()):
            table.fail("", "expected at least one positive demand")
    jobs = "a number of at least 0"
    if workload_needed and not fields.has("workload"):
        jobs += ", or a log to measure it in (--trace LOG --servers L)"
    job_type = JobType(
        name,
        fields.number("reward", "a number greater than 0", strict=True),
        fields.number("workload", jobs) if workload_needed else fields.optional_number("workload", Fraction(0), jobs),
        fields.optional_number("service_rate", Fraction(1), "a number greater than 0", strict=True),
    )
    fields.finish()
    return job_type, demand


def _spaces(
    servers: list[tuple[dict[str, Fraction], list[tuple[int, ...]]]],
    resources: list[str],
    demands: list[dict[str, Fraction]],
    top: Fields,
) -> list[Space]:
    units = []
    for resource in resources:
        values = [d.get(resource, Fraction(0)) for d in demands] + [c[resource] for c, _ in servers if resource in c]
        # the largest unit of which all capacities and demands are whole multiples
        _, unit = numbers.to_integers(values)
        if max(values) / unit > LARGEST:
            top.fail(
                f"capacity.{resource}",
                f"expected at most 2^62 units of {numbers.text(unit)}, the largest unit that makes all demands whole",
            )
        units.append(unit)
    in_units = tuple(
        tuple(int(d.get(resource, Fraction(0)) / unit) for resource, unit in zip(resources, units, strict=True))
        for d in demands
    )
    spaces: list[Space] = []
    for capacity, generators in servers:
        if generators:
            # listed configurations: the set is what lies below them, so that only the maximal ones count
            spaces.append(Explicit(maximal_generators(generators)))
        else:
            scaled = (
                int(capacity.get(resource, Fraction(0)) / unit) for resource, unit in zip(resources, units, strict=True)
            )
            spaces.append(Additive(tuple(resources), tuple(scaled), in_units, tuple(units)))
    return spaces


def instance_document(instance: Instance) -> dict[str, Any]:
    """Return the JSON form of an instance: the fields of the file, numbers as exact text, in the user's units.

    Examples
    --------
    >>> from theory.instance import additive
    >>> instance_document(additive([12], [[5], [7]]))["server"]
    [{'name': 'pool1', 'share': '1', 'capacity': {'r1': '12'}}]
    """
    servers: list[dict[str, Any]] = []
    demands: list[dict[str, str]] = [{} for _ in instance.types]
    for pool in instance.pools:
        server: dict[str, Any] = {"name": pool.name, "share": numbers.text(pool.share)}
        space = pool.space
        if isinstance(space, Explicit):
            server["configurations"] = [list(k) for k in space.generators]
        else:
            # a resource that a pool does not have is left out, as the file wants it
            in_units = zip(space.resources, space.capacity, space.unit, strict=True)
            server["capacity"] = {name: numbers.text(c * unit) for name, c, unit in in_units if c}
            for j, row in enumerate(space.demands):
                in_units = zip(space.resources, row, space.unit, strict=True)
                demands[j] = {name: numbers.text(d * unit) for name, d, unit in in_units if d}
        servers.append(server)
    types = []
    for job_type, demand in zip(instance.types, demands, strict=True):
        types.append(
            {
                "name": job_type.name,
                **({"demand": demand} if demand else {}),
                "reward": numbers.text(job_type.reward),
                "workload": numbers.text(job_type.workload),
                "service_rate": numbers.text(job_type.service_rate),
            }
        )
    return {"server": servers, "type": types}


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
