"""The shipped price table of cloud VM types, and instances made from it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from theory.errors import InputError
from theory.files.instances import parse_instance
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


@cache
def catalogue() -> dict[str, MachineType]:
    """Return the table by ``provider:name`` (AWS us-east-1 Linux on demand, GCP us-central1).

    Examples
    --------
    >>> catalogue()["aws:m5.large"].vcpu, catalogue()["aws:m5.large"].memory
    (2, Fraction(8, 1))
    """
    table = files("theory.files").joinpath("prices/vm_catalog.csv").read_text(encoding="utf-8")
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


def catalogue_instance(
    types: Sequence[str], server: dict[str, Fraction], workload: Fraction = Fraction(1), source: str = "--types"
) -> Instance:
    """Make an instance of VM types from the catalogue; the reward of a type is its price an hour.

    Parameters
    ----------
    types : sequence of str
        ``aws:NAME`` or ``gcp:NAME``; a whole family as ``aws:m5.*``.
    server : dict
        Capacity ``{"cpu": vCPUs, "memory": GiB}``.
    workload : Fraction
        Offered jobs of every type per server.
    source : str
        Names the input in errors.

    Raises
    ------
    InputError
        Unknown type, a type that does not fit the server, resources other than cpu and memory, duplicates.

    Examples
    --------
    >>> catalogue_instance(["aws:m5.large", "aws:r5.large"], {"cpu": Fraction(96), "memory": Fraction(768)}).names
    ('aws:m5.large', 'aws:r5.large')
    """
    chosen: list[str] = []
    for pattern in types:
        family = pattern.removesuffix(".*")
        found = [pattern] if pattern in catalogue() else []
        if family != pattern:
            found = [name for name, m in catalogue().items() if f"{m.provider}:{m.family}" == family]
        if not found:
            near = [name for name in catalogue() if name.startswith(pattern[:6])][:3]
            hint = f" such as {', '.join(near)}" if near else ""
            raise InputError(
                f"{source}: {pattern!r}: expected a type of the catalogue{hint} (provider:name or family.*)"
            )
        chosen += found
    unknown = set(server) - {"cpu", "memory"}
    if unknown or set(server) != {"cpu", "memory"}:
        raise InputError(f"--server: expected cpu=NUMBER,memory=NUMBER, got {', '.join(server) or 'nothing'}")
    document = {
        "server": {"capacity": {name: text(amount) for name, amount in server.items()}},
        "type": [
            {
                "name": name,
                "demand": {"cpu": catalogue()[name].vcpu, "memory": text(catalogue()[name].memory)},
                "reward": text(catalogue()[name].price),
                "workload": text(workload),
            }
            for name in chosen
        ],
    }
    return parse_instance(document, source)
