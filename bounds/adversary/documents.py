"""Attacked instances as files: what `solve`, `share` and `attack --from` read, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm
from typing import Annotated, Any, ClassVar

from bounds.adversary.assignment import Numbers
from bounds.adversary.division import Shape
from bounds.adversary.items import Items, contents, numbered
from bounds.adversary.lies import Misreport
from theory.errors import InputError
from theory.files.clusters import cluster_document, parse_cluster
from theory.files.instances import instance_document, parse_instance
from theory.files.record import Expected, Placed, Range, Some, read_file
from theory.files.written import document_of
from theory.instance import Additive, Instance
from theory.numbers import many, texts, to_integers
from theory.sharing.model import Cluster

_Whole = Annotated[int, Range(0)]
_Capacity = "a list of positive whole numbers, one a resource"


@dataclass(frozen=True)
class PackedTable(Placed):
    """Items in whole numbers, and where they lie."""

    capacity: Annotated[tuple[Annotated[int, Range(1)], ...], Expected(_Capacity), Some(_Capacity), "of a bin"]
    sizes: Annotated[
        tuple[Annotated[tuple[_Whole, ...], Expected("a list of whole numbers")], ...],
        Expected("a list of items"),
        Some("a list of at least one item"),
        "of each item",
    ]
    packing: Annotated[
        tuple[_Whole, ...] | None, Expected("the bin of each item"), "the bin of each item; one of its own unless given"
    ] = None


@dataclass(frozen=True)
class PackedFile:
    """Items that were packed by a rule: what `attack` writes, and begins with."""

    SIGN: ClassVar = "items"

    items: Annotated[PackedTable, Expected("a table [items]")]


def case_document(case: Any) -> dict[str, Any]:
    """Return an instance as a file: of types for `solve`, a cluster for `share`, or a list of items."""
    if isinstance(case, Numbers | Instance):
        return instance_document(case.instance() if isinstance(case, Numbers) else case)
    if isinstance(case, Misreport):
        return cluster_document(case.truth.cluster())
    if isinstance(case, Shape | Cluster):
        return cluster_document(case.cluster() if isinstance(case, Shape) else case)
    assert isinstance(case, Items)
    return document_of(PackedFile(PackedTable(case.capacity, case.sizes, case.packing)))


def numbers_of(instance: Instance, source: str = "instance") -> Numbers:
    """Return an instance of one additive pool in whole numbers, rewards scaled; others are refused."""
    spaces = [pool.space for pool in instance.pools]
    space = spaces[0]
    if len(spaces) > 1 or not isinstance(space, Additive):
        raise InputError(source, "server", "expected one kind of server with capacities")
    unit = lcm(*(rho.denominator for rho in instance.workload))
    rewards, _ = to_integers(instance.rewards)
    workload = tuple(int(rho * unit) for rho in instance.workload)
    return Numbers(space.capacity, space.demands, tuple(rewards), workload, unit)


def shape_of(given: Cluster, source: str = "cluster") -> Shape:
    """Return a cluster in whole numbers; a class of several equal servers becomes one server of their sum.

    Users with effective capacities, caps or groups are refused.
    """
    given.refuse_groups(f"{source}: an attack", "attacks know no groups")
    given.refuse_caps(f"{source}: an attack")
    if any(user.effective for user in given.users):
        raise InputError(source, "user", "expected users without effective capacities")
    rows = [*given.capacity, *(user.demand for user in given.users)]
    units = [to_integers(column)[0] for column in zip(*rows, strict=True)]
    in_units = list(zip(*units, strict=True))
    weight, _ = to_integers(given.weights)
    eligible = tuple(
        tuple(user.servers is None or server.name in user.servers for server in given.servers) for user in given.users
    )
    servers = len(given.servers)
    return Shape(tuple(in_units[:servers]), tuple(in_units[servers:]), tuple(weight), eligible)


def items_of(document: Mapping[str, Any], source: str = "items") -> Items:
    """Return the items of a document with a table ``items``: ``capacity``, ``sizes``, and perhaps ``packing``.

    All resources get one common number of units a bin. Without a packing every item lies in a bin of its own.

    >>> items_of({"items": {"capacity": [10], "sizes": [[4], [6], [5]]}}).bins
    3
    """
    table = read_file(PackedFile, document, source).items
    capacity, rows = table.capacity, table.sizes
    for i, row in enumerate(rows, 1):
        if len(row) != len(capacity):
            table.at.fail(f"sizes[{i}]", f"expected {len(capacity)} whole numbers of at least 0")
        if any(amount > limit for amount, limit in zip(row, capacity, strict=True)):
            table.at.fail(f"sizes[{i}]", f"expected an item that fits a bin of {texts(capacity)}, got {texts(row)}")
    packing = range(len(rows)) if table.packing is None else table.packing
    if len(packing) != len(rows):
        table.at.fail("packing", f"expected the bin of each of {many(len(rows), 'item')}")
    for place, amounts in contents(rows, packing).items():
        if any(amount > limit for amount, limit in zip(amounts, capacity, strict=True)):
            table.at.fail(
                "packing",
                f"expected bins that have room for their items, but the items of packing {place} take {texts(amounts)}"
                f" of {texts(capacity)}",
            )
    grid = lcm(*capacity)
    return Items(
        tuple(tuple(amount * (grid // limit) for amount, limit in zip(row, capacity, strict=True)) for row in rows),
        (grid,) * len(capacity),
        numbered(packing),
    )


def read_case(document: Mapping[str, Any], kind: str, source: str) -> Numbers | Shape | Items:
    """Return the instance of a file for a kind of rule: ``assignment``, ``items`` or ``sharing``."""
    if kind == "items":
        return items_of(document, source)
    if kind == "sharing":
        return shape_of(parse_cluster(document, source), source)
    return numbers_of(parse_instance(document, source), source)
