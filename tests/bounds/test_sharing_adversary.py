"""What the claims on fair sharing are computed from: runs of Algorithm I, and the search for unfairness."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from bounds.adversary.division import DivisionSpace, judge_division
from bounds.adversary.engine import attack
from bounds.adversary.rules import rule_named
from bounds.adversary.sharing import (
    cycling_cluster,
    endless_cluster,
    exact_cycle,
    exact_rounds,
    unfair_family,
)
from theory.sharing.maxmin import tsf
from theory.sharing.model import Cluster, cluster, occupation
from theory.sharing.rounds import start


def path_cluster(servers: int) -> Cluster:
    """Return unit servers in a row: a user alone on the first, and one for each neighbouring pair.

    Rebalancing travels from neighbour to neighbour, so the number of rounds grows with the square of the length.
    """
    pairs = [[i in (n, n + 1) for i in range(servers)] for n in range(servers - 1)]
    users = [[i == 0 for i in range(servers)], *pairs]
    return cluster([[1]] * servers, [[1]] * servers, eligible=users)


def rounds_needed(instance: Cluster, *, limit: int = 100_000) -> int | None:
    """Return the rounds Algorithm I runs in floats until nothing moves by more than 1e-12; None beyond the limit."""
    state = start(occupation(instance), exact=False)
    for done in range(limit):
        if not state.round():
            return done
    return None


def test_runs_of_algorithm_1():
    assert exact_cycle(cycling_cluster(), 8) == (2, 2)
    assert exact_cycle(endless_cluster(), 30) is None
    assert len(exact_rounds(endless_cluster(), 30)) == 31
    lengths = [4, 8, 16]
    rounds = [rounds_needed(path_cluster(k)) for k in lengths]
    assert all(3 < b / a < 5 for a, b in pairwise(rounds))  # grows with the square


def test_search_finds_unfairness_in_tsf_only():
    def least_share(mechanism: str) -> Fraction:
        judge = judge_division(rule_named(mechanism, sharing=True), "fair", mechanism)
        return Fraction(attack(judge, DivisionSpace(2, 2, 2), evaluations=60, shrink=False).judged.value)

    assert least_share("tsf") < 1
    assert least_share("ps-dsf") == 1
    assert tsf(unfair_family(98)).totals[0] * 100 == 1
