"""What a claim's page shows beside its statement: pictures, and certificates to download."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import packproof
from bounds.views import picture_of_region, picture_of_scaling, picture_of_shares

EXAMPLES = Path(__file__).parents[2] / "examples"

PICTURES: dict[str, tuple[str, ...]] = {
    "autoscaling/prop-5.4": ("fluid_limit.png",),
    "autoscaling/theorem-6.1": ("phase_portrait.png",),
    "nonpreemptive/table-1": ("capacity_region.png",),
    "nonpreemptive/example-1-queues": ("unstable_queues.png",),
    "throughput/vii-a-1": ("unstable_queues.png",),
    "packproof/worst-by-size": ("worst_by_size.png",),
    "packproof/best-partitions": ("best_partitions.png",),
    "packproof/max-weight-rate": ("maxweight_flow.png",),
    "admission/policies-by-observations": ("tenant_admission.png",),
}
"""Pictures by claim: those of the examples, which stand in ``docs``."""


def _scaled(path: Path) -> None:
    picture_of_scaling(packproof.read_instance(EXAMPLES / "four_types.toml"), path, "Four VM types, worst mix")


def _region(path: Path) -> None:
    server = packproof.read_instance(EXAMPLES / "caught.toml")
    program, region = packproof.CapacityProgram(server), packproof.region_facets(server)
    picture_of_region(server, program.intensity(), region, path)


def _shares(path: Path) -> None:
    cluster = packproof.table_4()
    picture_of_shares([mechanism(cluster) for mechanism in packproof.MECHANISMS.values()], path)


DRAWN: dict[str, Callable[[Path], None]] = {
    "autoscaling/figure-2": _scaled,
    "packproof/worst-workload": _scaled,
    "nonpreemptive/example-1": _region,
    "ps-dsf/table-4-ps-dsf": _shares,
}
"""Pictures by claim that are drawn while the pages are built."""

Maker = Callable[[], dict[str, Any]]


def _recorded(name: str) -> Maker:
    path = Path(__file__).parents[2] / "tests" / "frozen" / "certificates" / f"{name}.json"
    return lambda: dict(json.loads(path.read_text(encoding="utf-8")))


def _tight(types: int) -> Maker:
    return lambda: packproof.assignment_certificate(packproof.solve(packproof.tight_family_additive(types)))


def _table_4() -> dict[str, Any]:
    cluster = packproof.table_4()
    return packproof.allocation_certificate(cluster, packproof.ps_dsf(cluster))


def _monotone() -> dict[str, Any]:
    types = packproof.explicit([[0, 1, 1], [0, 4, 0], [1, 2, 0]], rewards=[8, 3, 10], workload=["1/2", "1/2", 2])
    return packproof.assignment_certificate(packproof.solve(types))


def _pools() -> dict[str, Any]:
    two = packproof.pooled([(1, [3]), (1, [2])], [[2], [3]], rewards=[1, 1], workload=["1/2", "1/2"])
    return packproof.assignment_certificate(packproof.solve(two))


CERTIFICATES: dict[str, dict[str, Maker]] = {
    "autoscaling/figure-2-86-percent": {"four-types": _recorded("solve_four_types")},
    "autoscaling/def-3.8-three-types": {"three-types": _monotone},
    "packproof/worst-workload": {"four-types": _recorded("solve_four_types")},
    "packproof/tight": {f"tight-{types}-types": _tight(types) for types in (2, 3, 4, 5)},
    "packproof/pools": {"two-pools": _pools},
    "nonpreemptive/table-1": {"ec2": _recorded("region_ec2")},
    "nonpreemptive/example-1": {"jobs-of-4-and-1": _recorded("region_caught")},
    "throughput/example-uniform": {"uniform-sizes": _recorded("throughput_uniform")},
    "ps-dsf/figure-1": {f"figure-1-{name}": _recorded(f"share_{name}") for name in ("ps-dsf", "c-drfh", "tsf")},
    "ps-dsf/table-4-ps-dsf": {"table-4-ps-dsf": _table_4},
}
"""Certificates by claim and name of the file."""
