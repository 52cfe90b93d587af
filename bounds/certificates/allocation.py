"""The certificate that an allocation is what its mechanism defines."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bounds.certificates.document import signed
from theory.files.clusters import cluster_document
from theory.numbers import text, total
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.levels import RULES
from theory.sharing.model import Cluster
from theory.sharing.pooled import ignored_as_one


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
    PS-DSF and DRF need no evidence but the allocation: the checker applies Theorems 1 and 2 to it, or goes through the
    stops of the users of groups. Max-min mechanisms
    carry the prices of each level (`Stage`), scaled to sum to one, levels ascending; users at their caps need
    none. An allocation of all servers as one claims as well what of the cluster it ignores (`theory.sharing.pooled`):
    it says nothing of single servers.

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
    evidence: dict[str, Any] = {"allocation": tasks_document(allocation.cluster, allocation.tasks)}
    if allocation.mechanism in RULES:
        evidence["stages"] = stages_document(allocation.cluster, allocation.stages)
    users = [user.name for user in cluster.users]
    claims: dict[str, Any] = {
        "mechanism": allocation.mechanism,
        "tasks": dict(zip(users, map(text, allocation.totals), strict=True)),
    }
    if allocation.cluster != cluster and (ignored := ignored_as_one(cluster)):
        claims["ignored"] = ", ".join(part.what for part in ignored)
    return signed("allocation", cluster_document(cluster), evidence, claims)


def tasks_document(cluster: Cluster, tasks: Sequence[Sequence[Fraction]]) -> dict[str, dict[str, str]]:
    """Return tasks, shape (N, K), as {user: {server: text}}, without those of 0."""
    return {
        user.name: {server.name: text(x) for server, x in zip(cluster.servers, row, strict=True) if x}
        for user, row in zip(cluster.users, tasks, strict=True)
    }


def stages_document(cluster: Cluster, stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Return the prices and values of each level, scaled so that the prices sum to one: they are known up to that."""
    units = [total(map(total, stage.prices)) for stage in stages]
    return [
        {
            "prices": {
                server.name: {r: text(y / unit) for r, y in zip(cluster.resources, row, strict=True) if y}
                for server, row in zip(cluster.servers, stage.prices, strict=True)
                if any(row)
            },
            "values": {user.name: text(q / unit) for user, q in zip(cluster.users, stage.value, strict=True) if q},
        }
        for stage, unit in zip(stages, units, strict=True)
    ]
