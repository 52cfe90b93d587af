"""The certificate whether an allocation of anybody's fits its cluster, and which properties it has."""

from __future__ import annotations

from typing import Any

from bounds.certificates.allocation import stages_document, tasks_document
from bounds.certificates.document import signed
from theory.files.clusters import cluster_document
from theory.numbers import text
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.judgement import Judgement
from theory.sharing.maxmin import max_min_tasks
from theory.sharing.model import occupation
from theory.sharing.properties import bottleneck_resource, efficiency


def fairness_certificate(judged: Judgement) -> dict[str, Any]:
    """Return the certificate of a judgement without tolerance.

    Notes
    -----
    Tasks that do not fit: their loads beyond capacity, as parts of it, the servers where they may not run, and the
    users with more than they want. Tasks that fit: the five properties. The checker computes the sharing incentive and
    envy itself. Pareto optimality has prices, or a better allocation; bottleneck fairness the fair allocation, with its
    stages. InputError for groups, of whose properties the checker knows none.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.sharing.judgement import given, judge_given
    >>> from theory.sharing.model import cluster
    >>> one = judge_given(given(cluster([[4]], [[1], [1]]), [[3], [1]]))
    >>> checker.check(fairness_certificate(one))["properties"]["envy_freeness"]
    False
    """
    allocation = judged.allocation
    cluster = allocation.cluster
    cluster.refuse_groups("a certificate of properties", "packproof check knows those of users alone")
    evidence: dict[str, Any] = {"allocation": tasks_document(cluster, allocation.tasks)}
    tasks = {user.name: text(x) for user, x in zip(cluster.users, allocation.totals, strict=True)}
    claims: dict[str, Any] = {"tasks": tasks, "feasible": judged.feasible}
    if judged.feasible:
        evidence |= _evidence(allocation)
        claims["properties"] = {name: one.holds for name, one in judged.properties.items()}
        r = bottleneck_resource(cluster)
        claims |= {} if r is None else {"bottleneck": cluster.resources[r]}
        return signed("fairness", cluster_document(cluster), evidence, claims)
    over: dict[str, dict[str, str]] = {}
    for one in judged.overloads:
        over.setdefault(one.server, {})[one.resource] = text(1 + one.part)
    wrong: dict[str, list[str]] = {}
    for tasks_there in judged.misplaced:
        wrong.setdefault(tasks_there.user, []).append(tasks_there.server)
    unwanted = [one.user for one in judged.unwanted]
    failings = {"over": over, "misplaced": wrong, "unwanted": unwanted}
    claims |= {name: value for name, value in failings.items() if value}
    return signed("fairness", cluster_document(cluster), evidence, claims)


def _evidence(allocation: Allocation) -> dict[str, Any]:
    """Return the proofs of Pareto optimality, or against it, and of the fair amounts of a bottleneck."""
    cluster = allocation.cluster
    evidence: dict[str, Any] = {}
    table = occupation(cluster)
    proof = efficiency(table, allocation.totals)
    if all(user.is_at_cap(x) for user, x in zip(cluster.users, allocation.totals, strict=True)):
        evidence["prices"] = {}  # everybody has what it wants
    elif isinstance(proof, Stage):
        (evidence["prices"],) = stages_document(cluster, [proof])
    else:
        evidence["better"] = tasks_document(cluster, proof)
    r = bottleneck_resource(cluster)
    if r is not None:
        fair, stages = max_min_tasks(table, [user.weight / user.demand[r] for user in cluster.users])
        evidence["fair"] = {
            "allocation": tasks_document(cluster, fair),
            "stages": stages_document(cluster, stages),
        }
    return evidence
