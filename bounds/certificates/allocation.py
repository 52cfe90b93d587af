"""The certificate that an allocation is what its mechanism defines."""

from __future__ import annotations

from typing import Any

from bounds.certificates.document import signed
from theory.files.clusters import cluster_document
from theory.numbers import text, total
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster


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
    # prices are known up to a factor: this one makes them sum to one
    units = [total(map(total, stage.prices)) for stage in allocation.stages]
    if allocation.stages:
        evidence["stages"] = [
            {
                "prices": {
                    server.name: {r: text(y / unit) for r, y in zip(resources, row, strict=True) if y}
                    for server, row in zip(servers, stage.prices, strict=True)
                    if any(row)
                },
                "values": {user: text(q / unit) for user, q in zip(users, stage.value, strict=True) if q},
            }
            for stage, unit in zip(allocation.stages, units, strict=True)
        ]
    claims = {"mechanism": allocation.mechanism, "tasks": dict(zip(users, map(text, allocation.totals), strict=True))}
    return signed("allocation", cluster_document(cluster), evidence, claims)
