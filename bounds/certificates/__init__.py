"""Certificates: evidence as data, plain JSON that `bounds.checker` verifies without any of the code here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from theory.files.clusters import cluster_document
from theory.files.instances import instance_document
from theory.files.sizes import Sizes, sizes_document
from theory.greedy.optimal import Solution
from theory.greedy.servers import LeastServers, Placement
from theory.instance import Configuration, Instance
from theory.numbers import text, total
from theory.partition.bounding import Bracket
from theory.partition.spread import without_spare_points
from theory.partition.universal import Guaranteed
from theory.region.facets import Region
from theory.region.membership import Intensity
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster

FORMAT = "packproof/1"


def signed(kind: str, instance: dict[str, Any], evidence: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
    """Put a certificate together and add its digest.

    Parameters
    ----------
    kind : str
        What the checker is to verify.
    instance, evidence, claims : dict
        JSON values; numbers are integers or exact text.

    Returns
    -------
    dict
        With ``digest``: SHA-256 of the rest as JSON with sorted keys, without blanks, in UTF-8.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "kind": kind,
        "instance": instance,
        "evidence": evidence,
        "claims": claims,
    }
    content = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "digest": hashlib.sha256(content.encode("utf-8")).hexdigest()}


def slots(instance: Instance, configuration: Configuration) -> dict[str, int]:
    """Return a configuration as {type: slots}, types without slots left out."""
    return {name: number for name, number in zip(instance.names, configuration, strict=True) if number}


def by_pool(instance: Instance, values: Sequence[Any]) -> dict[str, Any]:
    """Return a value for every pool as {pool: value}."""
    return {pool.name: value for pool, value in zip(instance.pools, values, strict=True)}


def assignment_certificate(
    solution: Solution, whole: tuple[int, Placement, LeastServers] | None = None
) -> dict[str, Any]:
    """Return the certificate of a solution: greedy run, optimal primal and dual, ratio and guarantees.

    Parameters
    ----------
    solution : Solution
    whole : (servers, Placement, LeastServers), optional
        What `theory.greedy.servers` computed for that many servers.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.greedy.optimal import solve
    >>> from theory.instance import additive
    >>> checker.check(assignment_certificate(solve(additive([12], [[5], [7]]))))["ratio"]
    '3/4'
    """
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    evidence: dict[str, Any] = {
        "permutation": [instance.names[j] for j in greedy.permutation],
        "stages": [
            {
                "configurations": by_pool(instance, [slots(instance, k) for k in stage.configurations]),
                "fraction": text(stage.fraction),
                "exhausts": None if stage.exhausts is None else instance.names[stage.exhausts],
            }
            for stage in greedy.stages
        ],
        "columns": [
            {
                "pool": instance.pools[column.pool].name,
                "configuration": slots(instance, column.configuration),
                "fraction": text(column.fraction),
            }
            for column in optimal.columns
        ],
        "slot_prices": dict(zip(instance.names, map(text, optimal.slot_prices), strict=True)),
        "server_prices": by_pool(instance, [text(price) for price in optimal.server_prices]),
    }
    claims: dict[str, Any] = {
        "greedy": text(greedy.reward),
        "optimal": text(optimal.reward),
        "ratio": text(solution.ratio),
        "guarantee": text(greedy.guarantee),
        "guarantee_stagewise": text(greedy.guarantee_stagewise),
    }
    if whole is not None:
        servers, placement, least = whole
        evidence["servers"] = {
            "pools": by_pool(instance, placement.servers),
            "stages": [
                {
                    "configurations": by_pool(instance, [slots(instance, k) for k in stage.configurations]),
                    "servers": by_pool(instance, stage.servers),
                }
                for stage in placement.stages
            ],
            "slot_prices": dict(zip(instance.names, map(text, least.slot_prices), strict=True)),
            "columns": [
                {"pool": instance.pools[p].name, "configuration": slots(instance, k), "servers": number}
                for p, k, number in least.columns
            ],
        }
        claims["servers"] = {
            "servers": servers,
            "greedy": text(placement.reward),
            "least": least.lower,
            "most": least.upper,
        }
    return signed("assignment", instance_document(instance), evidence, claims)


def allocation_certificate(cluster: Cluster, allocation: Allocation) -> dict[str, Any]:
    """Return the certificate that an allocation is what its mechanism defines.

    Parameters
    ----------
    cluster : Cluster
        As it was given (for DRF not the pooled one).
    allocation : Allocation
        Exact.

    Notes
    -----
    PS-DSF and DRF need no evidence but the allocation: the checker applies Theorems 1 and 2 to it. Max-min mechanisms
    carry the prices of each level (`Stage`), scaled to sum to one, levels ascending.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.sharing import cluster, tsf
    >>> pair = cluster([[3], [1]], [[1], [1]])
    >>> checker.check(allocation_certificate(pair, tsf(pair)))
    {'mechanism': 'tsf', 'tasks': {'u1': '2', 'u2': '2'}}
    """
    if not allocation.exact:
        raise ValueError("only an exact allocation has a certificate")
    servers, resources = allocation.cluster.servers, cluster.resources
    users = [user.name for user in cluster.users]
    evidence: dict[str, Any] = {
        "allocation": {
            user: {server.name: text(x) for server, x in zip(servers, row, strict=True) if x}
            for user, row in zip(users, allocation.tasks, strict=True)
        }
    }
    if allocation.stages:
        evidence["stages"] = []
        for stage in allocation.stages:
            unit = total(map(total, stage.prices))
            evidence["stages"].append(
                {
                    "prices": {
                        server.name: {r: text(y / unit) for r, y in zip(resources, row, strict=True) if y}
                        for server, row in zip(servers, stage.prices, strict=True)
                        if any(row)
                    },
                    "values": {user: text(q / unit) for user, q in zip(users, stage.value, strict=True) if q},
                }
            )
    claims = {
        "mechanism": allocation.mechanism,
        "tasks": dict(zip(users, map(text, allocation.totals), strict=True)),
    }
    return signed("allocation", cluster_document(cluster), evidence, claims)


def region_certificate(instance: Instance, intensity: Intensity, region: Region | None = None) -> dict[str, Any]:
    """Return the certificate of a workload's traffic intensity and, where given, of all facets of the region.

    Parameters
    ----------
    instance : Instance
    intensity : Intensity
        Of the instance's workload.
    region : Region, optional
        All facets; their evidence is a triangulation of the outer boundary (`theory.region.proof`).

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.instance import additive
    >>> from theory.region import CapacityProgram, region_facets
    >>> instance = additive([6], [[4], [1]], workload=["1/2", 4])
    >>> answer = region_certificate(instance, CapacityProgram(instance).intensity(), region_facets(instance))
    >>> claims = checker.check(answer)
    >>> claims["traffic_intensity"], claims["supportable"], claims["facets"][-1]
    ('1', False, {'normal': {'t1': '4', 't2': '1'}, 'offset': '6'})
    """
    evidence: dict[str, Any] = {
        "columns": [
            {"pool": instance.pools[p].name, "configuration": slots(instance, k), "fraction": text(amount)}
            for p, k, amount in intensity.columns
        ],
        "prices": dict(zip(instance.names, map(text, intensity.prices), strict=True)),
    }
    claims: dict[str, Any] = {
        "traffic_intensity": text(intensity.value),
        "supportable": intensity.supportable,
    }
    if region is not None:
        evidence["boundary"] = {
            "vertices": [by_pool(instance, [slots(instance, k) for k in ks]) for ks in region.configurations],
            "simplices": [list(simplex) for simplex in region.simplices],
        }
        claims["facets"] = facets_document(instance, region)
    return signed("region", instance_document(instance), evidence, claims)


def facets_document(instance: Instance, region: Region) -> list[dict[str, Any]]:
    """Return all facets as ``{"normal": {type: text}, "offset": text}``."""
    return [
        {"normal": dict(zip(instance.names, map(text, facet.normal), strict=True)), "offset": text(facet.offset)}
        for facet in region.facets
    ]


def throughput_certificate(sizes: Sizes, found: Bracket, vqs: Guaranteed) -> dict[str, Any]:
    """Return the certificate of a bracket of rho* and of the workload that VQS guarantees.

    Parameters
    ----------
    sizes : Sizes
    found : Bracket
        Of the law of `sizes`, per server.
    vqs : Guaranteed
        Of the same law, per server.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.partition import bracket, uniform, vqs_workload
    >>> law = uniform("1/100", "19/100")
    >>> claims = checker.check(throughput_certificate(Sizes(law, 5), bracket(law), vqs_workload(law)))
    >>> claims["lower"], claims["upper"]
    ('50', '50')
    """
    below, above = found.below, without_spare_points(found.law, found.above)
    order = sorted(range(len(below.cells)), key=lambda j: (below.cells[j].top, below.cells[j].base))
    columns = sorted((tuple(-k[j] for j in order), fraction) for k, fraction in below.columns)
    evidence = {
        "below": {
            "cells": [[text(below.cells[j].base), text(below.cells[j].width)] for j in order],
            "columns": [
                {"slots": {str(j): -number for j, number in enumerate(k) if number}, "fraction": text(fraction)}
                for k, fraction in columns
            ],
        },
        "above": {
            "grid": above.grid,
            "points": [[point, text(value)] for point, value in zip(above.points, above.values, strict=True)],
        },
        "vqs": {
            "columns": [
                {"slots": list(k), "fraction": text(fraction)} for k, fraction in sorted(vqs.columns, reverse=True)
            ],
            "prices": list(map(text, vqs.prices)),
        },
    }
    claims = {
        "lower": text(sizes.servers * found.lower),
        "upper": text(sizes.servers * found.upper),
        "vqs": text(sizes.servers * vqs.workload),
        "vqs_lost": text(vqs.lost),
        "J": vqs.J,
    }
    return signed("throughput", sizes_document(sizes), evidence, claims)
