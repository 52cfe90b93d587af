"""The certificate of a worst workload: it attains the ratio, and no workload of these types goes below it."""

from __future__ import annotations

from typing import Any

from bounds.adversary.workload import Refutation
from bounds.certificates.document import columns_document, signed
from theory.files.instances import instance_document
from theory.greedy.optimal import Solution
from theory.instance import Instance
from theory.numbers import text


def worst_certificate(solution: Solution, refuted: Refutation) -> dict[str, Any]:
    """Return the certificate that no workload of the instance's types is worse for greedy than the instance's own.

    Parameters
    ----------
    solution : Solution
        Of the worst workload.
    refuted : Refutation
        For the ratio of the solution.

    Examples
    --------
    >>> from bounds import checker
    >>> from bounds.adversary.workload import refutation
    >>> from theory.greedy.optimal import solve
    >>> from theory.instance import additive
    >>> solution = solve(additive([12], [[5], [7]]))
    >>> checker.check(worst_certificate(solution, refutation(solution.instance, solution.ratio)))
    {'ratio': '3/4'}
    """
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    evidence = {
        "permutation": [instance.names[j] for j in greedy.permutation],
        "columns": columns_document(instance, optimal.columns),
        "orders": _orders(instance, refuted, ()),
    }
    return signed("worst", instance_document(instance), evidence, {"ratio": text(solution.ratio)})


def _orders(instance: Instance, refuted: Refutation, exhausted: tuple[int, ...]) -> dict[str, Any]:
    """Return a refutation as nested tables."""
    # the proof uses the prices of exhausted types alone (`bounds.adversary.workload.refutation`)
    node: dict[str, Any] = {"prices": {instance.names[j]: text(refuted.prices[j]) for j in exhausted}}
    if refuted.after is not None:
        node["after"] = {
            instance.names[j]: _orders(instance, below, (*exhausted, j)) for j, below in refuted.after.items()
        }
    return node
