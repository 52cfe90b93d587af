"""The certificates of what a rule keeps on an instance: of servers, of the fewest bins, or of a fair share.

What a rule answered is the word of whoever ran it; what the answer is worth, and the optimum beside it, are proved.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

from bounds.adversary.assignment import Numbers
from bounds.adversary.division import Shape
from bounds.adversary.documents import case_document
from bounds.adversary.engine import Judged, in_order
from bounds.adversary.items import Items, numbered
from bounds.certificates.allocation import stages_document, tasks_document
from bounds.certificates.document import by_pool, by_type, columns_document, signed
from theory.errors import InputError
from theory.files.clusters import cluster_document
from theory.files.instances import instance_document
from theory.greedy.optimal import optimal_assignment
from theory.instance import additive
from theory.numbers import text, total
from theory.region.membership import CapacityProgram
from theory.sharing.maxmin import max_min_tasks
from theory.sharing.model import occupation
from theory.sharing.properties import bottleneck_resource


def attack_certificate(case: Numbers | Items | Shape, judged: Judged) -> dict[str, Any]:
    """Return the certificate of what a rule keeps on an instance.

    Parameters
    ----------
    case : Numbers, Items or Shape
        The instance of an attack (`bounds.adversary.engine.Found`).
    judged : Judged
        With the rule's answer as evidence; of sharing rules by the measure ``fair``.

    Raises
    ------
    InputError
        An instance on which there is nothing to keep: no optimum above 0, or no resource that is the bottleneck of all.

    Examples
    --------
    >>> from bounds import checker
    >>> from bounds.adversary.items import judge_items
    >>> items = Items(((2,), (2,), (3,), (3,)), (5,), (0, 1, 0, 1))
    >>> judged = judge_items(lambda sizes, capacity: [0, 0, 1, 2])(items)
    >>> checker.check(attack_certificate(items, judged))
    {'bins': 3, 'least': 2, 'most': 2, 'bound': '2', 'ratio': '2/3'}
    """
    if isinstance(case, Numbers):
        return _rule(case, judged.evidence or {})
    return _packing(case, judged.evidence) if isinstance(case, Items) else _fair_share(case, judged.evidence)


def _rule(case: Numbers, evidence: dict[str, Any]) -> dict[str, Any]:
    instance = case.instance()
    best = optimal_assignment(instance)
    if best.reward == 0:
        raise InputError("--certificate", "expected an instance whose optimum is above 0")
    # in the order in which the checker wants them
    columns = sorted(evidence["columns_of_rule"], key=lambda c: (c.pool, [-n for n in c.configuration]))
    return signed(
        "rule",
        instance_document(instance),
        {
            "rule": columns_document(instance, [column for column in columns if any(column.configuration)]),
            "columns": columns_document(instance, best.columns),
            "slot_prices": by_type(instance, best.slot_prices),
            "server_prices": by_pool(instance, [text(price) for price in best.server_prices]),
        },
        {
            "rule": text(evidence["reward"]),
            "optimal": text(best.reward),
            "ratio": text(evidence["reward"] / best.reward),
        },
    )


def _packing(items: Items, evidence: dict[str, Any]) -> dict[str, Any]:
    kinds = sorted({size for size in items.sizes if any(size)})
    if not kinds:
        raise InputError("--certificate", "expected an item that takes something of a bin")
    # the program over sets of items that fit a bin, with the number of items of each size as workload
    counts = [items.sizes.count(size) for size in kinds]
    program = CapacityProgram(additive(items.capacity, kinds, workload=counts))
    intensity = program.intensity()
    prices = [Fraction(price) / intensity.support for price in intensity.prices]
    document = case_document(items)
    del document["items"]["packing"]
    rule, packing = (numbered(one) for one in (evidence["bins"], evidence.get("packing", items.packing)))
    bins, most, least = max(rule) + 1, max(packing) + 1, ceil(intensity.value)
    return signed(
        "packing",
        document,
        {"rule": list(rule), "packing": list(packing), "prices": list(map(text, prices))},
        {
            "bins": bins,
            "least": least,
            "most": most,
            "bound": text(intensity.value),
            "ratio" if least == most else "ratio_at_most": text(Fraction(most, bins)),
        },
    )


def _fair_share(shape: Shape, evidence: dict[str, Any]) -> dict[str, Any]:
    # a server without any capacity holds nothing, and is no server to the checker
    stay = [i for i, row in enumerate(shape.capacity) if any(row)]
    eligible = tuple(in_order(row, stay) for row in shape.eligible)
    cluster = replace(shape, capacity=in_order(shape.capacity, stay), eligible=eligible).cluster()
    tasks = [in_order(row, stay) for row in evidence["tasks"]]
    r = bottleneck_resource(cluster)
    if r is None:
        raise InputError("--certificate", "expected a cluster with a resource that is the bottleneck of all users")
    fair, stages = max_min_tasks(occupation(cluster), [user.weight / user.demand[r] for user in cluster.users])
    has, due = (list(map(total, rows)) for rows in (tasks, fair))
    n = min((n for n in range(len(due)) if due[n]), key=lambda n: has[n] / due[n])
    return signed(
        "fair-share",
        cluster_document(cluster),
        {
            "allocation": tasks_document(cluster, tasks),
            "fair": tasks_document(cluster, fair),
            "stages": stages_document(cluster, stages),
        },
        {
            "resource": cluster.resources[r],
            "user": cluster.users[n].name,
            "tasks": text(has[n]),
            "fair": text(due[n]),
            "ratio": text(has[n] / due[n]),
        },
    )
