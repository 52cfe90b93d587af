"""The certificate of a solution: greedy run, optimal assignment and prices, guarantees, whole servers."""

from __future__ import annotations

from typing import Any

from bounds.certificates.document import by_pool, by_type, columns_document, servers_document, signed, slots
from theory.errors import expect
from theory.files.instances import instance_document
from theory.greedy.optimal import Solution
from theory.greedy.servers import LeastServers, Placement
from theory.numbers import text


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
    expect(solution, Solution, "solution", "a Solution (packproof.solve makes one)")
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    evidence: dict[str, Any] = {
        "permutation": [instance.names[j] for j in greedy.permutation],
        "stages": [
            {
                "configurations": by_pool(instance, [slots(instance, k) for k in stage.configurations]),
                "fraction": text(stage.fraction),
                "exhausts": [instance.names[j] for j in stage.ended],
            }
            for stage in greedy.stages
        ],
        "columns": columns_document(instance, optimal.columns),
        "slot_prices": by_type(instance, optimal.slot_prices),
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
        several = len(instance.pools) > 1
        evidence["servers"] = {
            # by these names the checker knows the rule: certificates of before round the shares of several pools down
            "split" if several else "pools": by_pool(instance, placement.servers),
            "stages": [
                {
                    "configurations": by_pool(instance, [slots(instance, k) for k in stage.configurations]),
                    "servers": by_pool(instance, stage.servers),
                }
                for stage in placement.stages
            ],
            "slot_prices": by_type(instance, least.slot_prices),
            "columns": servers_document(instance, least.columns),
        }
        claims["servers"] = {
            "servers": servers,
            "greedy": text(placement.reward),
            "least": least.priced,
            "most": least.upper,
            **({"split": "largest remainders"} if several else {}),
        }
    return signed("assignment", instance_document(instance), evidence, claims)
