"""What a claim's page shows beside its statement: pictures, and certificates to download."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import packproof
from bounds.claims import Claim
from bounds.results.autoscaling import scenarios
from bounds.results.instances.papers import tight_family, tight_family_additive
from bounds.results.reproduction import DRAWINGS
from bounds.views import picture_of_region, picture_of_scaling, picture_of_shares, save
from bounds.views.drawing import arranged
from bounds.views.panels import Chart, Curve, Panel
from examples import monotone_property, server_pools, worst_rewards
from examples import tight_family as tight_example
from generate import reproduced

EXAMPLES = Path(__file__).parents[2] / "examples"

OF_EXAMPLES: dict[str, str] = {
    "autoscaling/prop-5.4": "fluid_limit",
    "autoscaling/theorem-6.1": "phase_portrait",
    "nonpreemptive/supportable": "maxweight_flow",
    "packproof/worst-by-size": "worst_by_size",
    "packproof/one-resource-not-attained": "worst_by_size",
    "packproof/one-resource-family": "worst_by_size",
    "packproof/four-types-two-resources": "worst_by_size",
    "packproof/best-partitions": "best_partitions",
    "packproof/max-weight-rate": "maxweight_flow",
    "admission/policies-by-observations": "tenant_admission",
}
"""Examples whose picture, which stands in ``docs``, shows a claim that no reproduced result shows so, by claim."""


def _scaled(path: Path) -> None:
    picture_of_scaling(packproof.read_instance(EXAMPLES / "four_types.toml"), path, "Four VM types, worst mix")


def _region(path: Path) -> None:
    server = packproof.read_instance(EXAMPLES / "caught.toml")
    program, region = packproof.CapacityProgram(server), packproof.region_facets(server)
    picture_of_region(server, program.intensity(), region, path)


def _shares(path: Path) -> None:
    cluster = packproof.table_4()
    picture_of_shares([mechanism(cluster) for mechanism in packproof.MECHANISMS.values()], path)


def _of_example(example: Any, path: Path, height: float = 2.4, panel: Panel | None = None) -> None:
    """Draw the panel of an example, or another one under its title."""
    save(arranged([panel or example.panel()], example.TITLE, 1, height), path)


def _tight_families(path: Path) -> None:
    """Draw the family of the example, and that of the paper."""
    types = range(2, 7)
    additive, printed = (
        [packproof.solve(family(J)).ratio for J in types] for family in (tight_family_additive, tight_family)
    )
    chart: Chart = tight_example.panel(additive)
    points = Curve("family of Proposition 3.10", types, [float(ratio) for ratio in printed], look="marks")
    _of_example(tight_example, path, panel=replace(chart, curves=[*chart.curves, points]))


DRAWN: dict[str, Callable[[Path], None]] = {
    "packproof/worst-workload": _scaled,
    "nonpreemptive/example-1": _region,
    "ps-dsf/table-4-ps-dsf": _shares,
    "autoscaling/prop-3.10": _tight_families,
    "packproof/tight": _tight_families,
    "packproof/sequential-pools": partial(_of_example, server_pools, height=1.2),
    "autoscaling/def-3.8-three-types": partial(_of_example, monotone_property),
    "packproof/worst-rewards": partial(_of_example, worst_rewards),
}
"""Pictures by claim that functions of the views, or examples, draw; `bounds.results` has drawings beside the claims."""


def pictures(claim: Claim, page: str, docs: Path) -> list[tuple[str, str]]:
    """Draw what shows a claim and is not drawn yet, and return its pictures: name below `docs`, and caption.

    The pictures of reproduced results (`generate.reproduced`) come first; `page` names the files of the others.
    """
    found = [
        (reproduced.name_of(one), f"`packproof reproduce {one.id}` draws it anew, and writes its numbers as CSV.")
        for one in reproduced.shown(docs).get(claim.id, ())
    ]
    target = docs / f"_generated/pictures/{page.replace('/', '-')}.png"
    if claim.id in DRAWN or claim.id in DRAWINGS:
        target.parent.mkdir(parents=True, exist_ok=True)
        if claim.id in DRAWN:
            DRAWN[claim.id](target)
        else:
            save(DRAWINGS[claim.id].figure(), target)
        found.append((str(target.relative_to(docs)), ""))
    if claim.id in OF_EXAMPLES:
        name = OF_EXAMPLES[claim.id]
        found.append((f"{name}.png", f"From the example [{name}](/gallery/{name}.rst)."))
    return found


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


def _worst_collection(place: int) -> Maker:
    return lambda: scenarios.stored()[place]


CERTIFICATES: dict[str, dict[str, Maker]] = {
    "autoscaling/figure-2-86-percent": {"four-types": _recorded("solve_four_types")},
    "autoscaling/def-3.8-three-types": {"three-types": _monotone},
    "autoscaling/no-bad-scenario": {f"worst-collection-{i + 1}": _worst_collection(i) for i in range(3)},
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
