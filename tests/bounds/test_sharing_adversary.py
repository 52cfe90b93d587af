"""What the claims on fair sharing are computed from: runs of Algorithm I, and the search for unfairness."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds.adversary.division import DivisionSpace, judge_division
from bounds.adversary.engine import attack
from bounds.adversary.rules import rule_named
from bounds.adversary.sharing import exact_cycle, exact_rounds, greatest_sum_of_parts, sum_of_parts
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import cycling_cluster, endless_cluster, price_family, unfair_family
from bounds.results.packproof.sharing import tangent_holds
from theory.sharing.maxmin import tsf
from theory.sharing.model import Cluster, cluster, occupation
from theory.sharing.per_server import ps_dsf_tdm
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


@pytest.mark.slow
def test_search_finds_unfairness_in_tsf_only():
    def least_share(mechanism: str) -> Fraction:
        judge = judge_division(rule_named(mechanism, "sharing"), "fair", mechanism)
        return Fraction(attack(judge, DivisionSpace(2, 2, 2), evaluations=60, shrink=False).judged.value)

    assert least_share("tsf") < 1
    assert least_share("ps-dsf") == 1
    assert tsf(unfair_family(98)).totals[0] * 100 == 1


def test_the_price_of_fairness_by_hand():
    """Two servers, two users tied to one each, two free ones: halves of a server each, so 1/2 + 1/2 + 1/4 + 1/4."""
    pair = price_family(2)
    assert list(ps_dsf_tdm(pair).totals) == [Fraction(1, 2)] * 4
    assert sum_of_parts(ps_dsf_tdm(pair)) == Fraction(3, 2)
    assert greatest_sum_of_parts(pair) == 2
    assert tangent_holds()


@pytest.mark.parametrize("seed", range(6))
def test_the_greatest_sum_of_parts_is_that_of_a_program(seed: int):
    instance = random_cluster(random.Random(seed), 4, 3, 2, weights=1)
    gamma = np.array(instance.monopoly, float)
    alone = gamma.sum(axis=1)
    # variables: the time of server i that user n has
    gain = gamma / alone[:, None]
    whole = np.tile(np.eye(3), 4)
    best = linprog(-gain.ravel(), A_ub=whole, b_ub=np.ones(3))
    assert -best.fun == pytest.approx(float(greatest_sum_of_parts(instance)))
    assert sum_of_parts(ps_dsf_tdm(instance)) >= Fraction(3, 4) * greatest_sum_of_parts(instance)


def test_no_other_division_has_a_greater_sum_over_the_parts_of_time_division():
    """The first-order condition of the proof: sum v_n / a_n is at most N for random divisions of time."""
    generator = np.random.default_rng(4)
    for seed in range(6):
        instance = random_cluster(random.Random(seed), 5, 3, 2, weights=1)
        fair = np.array([float(x) for x in ps_dsf_tdm(instance).totals])
        for _ in range(200):
            time = generator.dirichlet(np.full(5, 0.3), 3).T
            assert ((time * np.array(instance.monopoly, float)).sum(axis=1) / fair).sum() <= 5 + 1e-9
