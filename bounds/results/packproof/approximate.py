"""Results of packproof on greedy with an oracle that finds at least alpha times the greatest reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import random_instance
from bounds.results.packproof.constant import random_explicit
from theory.errors import InputError, expect_number, listed
from theory.exact.knapsack import feasible, weight
from theory.greedy.optimal import solve
from theory.instance import Configuration, Instance, explicit
from theory.numbers import text

Oracle = Callable[[list[Configuration], list[Fraction]], Configuration]
"""Chooses one of the configurations that earn enough; their rewards are beside them."""


@dataclass(frozen=True)
class ApproximateRun:
    """What greedy with an approximate oracle earned, and the fractions of its stages."""

    reward: Fraction
    fractions: tuple[Fraction, ...]


def approximate_greedy(instance: Instance, alpha: Fraction, choose: Oracle) -> ApproximateRun:
    """Run greedy in one pool, where each stage takes a configuration of at least alpha times the greatest reward.

    Parameters
    ----------
    instance : Instance
        One pool; all its configurations are listed.
    alpha : Fraction
        In (0, 1].
    choose : callable
        Of the configurations of types left that earn enough, it returns the one that the stage takes.
    """
    every = [tuple(map(int, k)) for k in feasible(instance.pools[0].space)]
    unserved, servers, reward, fractions = list(instance.workload), Fraction(1), Fraction(0), []
    while servers and any(unserved):
        allowed = [k for k in every if all(unserved[j] or not slots for j, slots in enumerate(k))]
        rewards = [weight(k, instance.rewards) for k in allowed]
        best = max(rewards)
        if not best:
            break
        good = [(k, earned) for k, earned in zip(allowed, rewards, strict=True) if earned >= alpha * best]
        k = choose([k for k, _ in good], [earned for _, earned in good])
        lasts = min([servers, *(unserved[j] / slots for j, slots in enumerate(k) if slots)])
        unserved = [amount - lasts * slots for amount, slots in zip(unserved, k, strict=True)]
        servers -= lasts
        reward += lasts * weight(k, instance.rewards)
        fractions.append(lasts)
    return ApproximateRun(reward, tuple(fractions))


def least_reward(configurations: list[Configuration], rewards: list[Fraction]) -> Configuration:
    """Choose a configuration with the least reward that is enough."""
    return configurations[min(range(len(rewards)), key=rewards.__getitem__)]


def fewest_types(configurations: list[Configuration], rewards: list[Fraction]) -> Configuration:
    """Choose a configuration of the first type left alone, if one earns enough, of these one with the least reward."""

    def order(index: int) -> tuple[int, list[bool], Fraction]:
        used = [slots > 0 for slots in configurations[index]]
        return sum(used), [not one for one in used], rewards[index]

    return configurations[min(range(len(rewards)), key=order)]


def sharp_family(types: int, alpha: Fraction) -> Instance:
    """Return the instance of the theorem: J jobs of type j < J alone, or one of each and m of type J; alpha = c/m.

    Examples
    --------
    >>> run = approximate_greedy(sharp_family(3, Fraction(1, 2)), Fraction(1, 2), fewest_types)
    >>> str(run.reward / 3), str(1 - (1 - Fraction(1, 6)) ** 3)
    ('91/216', '91/216')
    """
    q, m = 1 - alpha / types, alpha.denominator
    rows = [[types if i == j else 0 for i in range(types)] for j in range(types - 1)]
    rewards = [alpha * q**j for j in range(types - 1)] + [types * q ** (types - 1) / m]
    return explicit([*rows, [1] * (types - 1) + [m]], rewards, [1] * (types - 1) + [m])


def keeps(instance: Instance, alpha: Fraction, run: ApproximateRun) -> bool:
    """Decide that a run keeps 1 - prod(1 - alpha x_i) >= 1 - (1 - alpha/I)^I of the optimum, or is optimal."""
    best, stages = solve(instance).optimal.reward, max(1, len(run.fractions))
    if sum(run.fractions) < 1:
        return run.reward == best
    bound = 1 - prod((1 - alpha * x for x in run.fractions), start=Fraction(1))
    return run.reward >= bound * best and bound >= 1 - (1 - alpha / stages) ** stages


@claim(
    "approximate-greedy",
    "Approximate greedy attains 1-(1-alpha/m)^m of the optimum",
    "Let each stage of greedy use a configuration with at least alpha times the greatest reward of the types left, 0 "
    "< alpha <= 1. Then greedy attains 1 - prod(1 - alpha x_i) of the optimum, x_i the fractions of its I stages, and "
    "1 - (1 - alpha/m)^m for every m >= I, over any number of pools and every down-closed set of configurations. For "
    "every J and rational alpha an instance and an oracle attain 1 - (1 - alpha/J)^J. Beside the theorems, both are "
    "decided exactly on random instances of one pool, with the least and with random configurations that are enough, "
    "and on the instances for J = 2..5.",
    source="packproof",
    printed="not in the paper: it assumes that the best configuration is found",
    evidence=Evidence.formal,
    tiny={"runs": 20, "most_types": 4},
    full={"runs": 2000},
    controls={
        "the oracle finds half of that": {"oracle_share": Fraction(1, 2)},
        "the last stage is exact": {"exact_last_stage": True},
    },
    theorems=(
        "Approximate.approximate_stage_bound",
        "Approximate.approximate_keeps_product",
        "Approximate.approximate_keeps",
        "Approximate.approximate_sharp",
    ),
)
def approximate(
    runs: int = 60,
    alphas: tuple[Fraction, ...] = (Fraction(1, 3), Fraction(3, 4), Fraction(1)),
    most_types: int = 5,
    seed: int = 41,
    *,
    oracle_share: Fraction = Fraction(1),
    exact_last_stage: bool = False,
) -> Outcome:
    """Run greedy with oracles that find little, and compare with the guarantee and with the sharp instances."""
    expect_number(most_types, "most_types", 2)
    if not alphas or not all(0 < alpha <= 1 for alpha in alphas):
        raise InputError("alphas", f"expected numbers above 0 and up to 1, got {listed(map(str, alphas))}")
    below = _runs_below_the_guarantee(runs, np.random.default_rng(seed), oracle_share)
    choose = _exact_at_the_end if exact_last_stage else fewest_types
    pairs = [(types, alpha) for types in range(2, most_types + 1) for alpha in alphas]
    ratios = []
    for types, alpha in pairs:
        instance = sharp_family(types, alpha)
        run = approximate_greedy(instance, alpha * oracle_share, choose)
        ratios.append(run.reward / solve(instance).optimal.reward)
    attained = sum(
        ratio == 1 - (1 - alpha / types) ** types for ratio, (types, alpha) in zip(ratios, pairs, strict=True)
    )
    computed = (
        f"{runs} random runs, {below} below the guarantee; sharp instances keep {', '.join(map(text, ratios))}: "
        f"{attained} of {len(pairs)} as said"
    )
    return Outcome(computed, not below and attained == len(pairs))


def _runs_below_the_guarantee(runs: int, generator: np.random.Generator, oracle_share: Fraction) -> int:
    """Return how many random runs keep less than is guaranteed, where the oracle finds that share of alpha."""

    def any_of(configurations: list[Configuration], rewards: list[Fraction]) -> Configuration:
        return configurations[int(generator.integers(len(configurations)))]

    below = 0
    for i in range(runs):
        instance = random_explicit(generator) if i % 2 else random_instance(generator)
        alpha = Fraction(int(generator.integers(1, 9)), 8)
        run = approximate_greedy(instance, alpha * oracle_share, any_of if i % 3 else least_reward)
        below += not keeps(instance, alpha, run)
    return below


def _exact_at_the_end(configurations: list[Configuration], rewards: list[Fraction]) -> Configuration:
    """Choose as `fewest_types` does, but the best configuration once only the last type is left."""
    if any(any(k[:-1]) for k in configurations):
        return fewest_types(configurations, rewards)
    return configurations[rewards.index(max(rewards))]
