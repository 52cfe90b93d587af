"""The search of ``attack`` beside random search and hypothesis' targeted search, on the same number of evaluations.

``python -m benchmarks.attack [SHARE]``: what each finds that rules keep (less is worse for the rule, so better for the
search), of several seeds the middle and the least, before shrinking; then CPU seconds of all seeds together. Random
search draws from the space of the engine; hypothesis draws from the kit's strategies of the same sizes. SHARE of the
evaluations is made, 1 unless given.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import seed as seeded

from bounds.adversary.assignment import AssignmentSpace, by_stages, judge_assignment, kept_on
from bounds.adversary.division import DivisionSpace, judge_division, measure_named, shared_on
from bounds.adversary.engine import Judge, Space, attack
from bounds.adversary.items import ItemSpace, estimate_items, judge_items
from bounds.testing import clusters, instances, item_lists
from examples.rules_to_attack import density_first, equal_parts, first_fit, first_fit_decreasing
from theory.sharing import tsf

SEEDS = range(3)


class _EnoughError(BaseException):
    """Ends hypothesis' search when its evaluations are used up; it catches every `Exception`."""


@dataclass(frozen=True)
class Contest:
    """A rule, and what the three searches need."""

    name: str
    judge: Judge[Any]
    space: Space[Any]
    strategy: Any
    on_example: Callable[[Any], Fraction]
    evaluations: int
    surrogate: Callable[[Any], Any] | None = None


def single_type(instance: Any, left: list[int]) -> tuple[int, ...]:
    """Fill a server with the type whose jobs alone are worth most."""
    space = instance.pools[0].space
    best = max(left, key=lambda j: instance.rewards[j] * space.most(j))
    return tuple(space.most(j) if j == best else 0 for j in range(len(instance.types)))


def of_items(name: str, rule: Any, bins: int, most: int, resources: int, evaluations: int) -> Contest:
    judge = judge_items(rule)
    drawn = item_lists(max_bins=bins, max_items=most, max_resources=resources, max_capacity=120)
    return Contest(
        name,
        judge,
        ItemSpace(bins, most, resources),
        drawn,
        lambda items: Fraction(judge(items).value),
        evaluations,
        estimate_items(rule),
    )


def of_assignment(name: str, rule: Any, types: int, resources: int, evaluations: int) -> Contest:
    drawn = instances(max_types=types, max_resources=resources, max_capacity=120)
    space = AssignmentSpace(types, resources)
    return Contest(
        name, judge_assignment(rule), space, drawn, lambda one: Fraction(kept_on(rule, one).value), evaluations
    )


def of_sharing(name: str, rule: Any, measure: str, evaluations: int) -> Contest:
    measured = measure_named(measure)
    return Contest(
        name,
        judge_division(rule, measure),
        DivisionSpace(2, 2, 2),
        clusters(max_users=2, max_servers=2, max_resources=2, largest=60),
        lambda one: Fraction(shared_on(rule, one, measured).value),
        evaluations,
    )


def contests() -> list[Contest]:
    """Return the rules."""
    return [
        of_items("First-Fit, 3 bins, 9 items", first_fit, 3, 9, 1, 2000),
        of_items("First-Fit Decreasing, 2 bins, 6 items", first_fit_decreasing, 2, 6, 1, 2000),
        of_items("FFDSum, 2 resources, 2 bins, 8 items", first_fit_decreasing, 2, 8, 2, 2000),
        of_assignment("density first, 2 types, 1 resource", density_first, 2, 1, 400),
        of_assignment("density first, 3 types, 2 resources", density_first, 3, 2, 400),
        of_assignment("best single type, 2 types, 2 resources", by_stages(single_type), 2, 2, 400),
        of_sharing("TSF, fair share", lambda given: tsf(given).tasks, "fair", 300),
        of_sharing("equal parts, utilisation", equal_parts, "utilisation", 300),
    ]


def by_engine(contest: Contest, evaluations: int, seed: int) -> Fraction:
    """Return what the search of ``attack`` finds."""
    found = attack(
        contest.judge,
        contest.space,
        seed=seed,
        evaluations=evaluations,
        surrogate=contest.surrogate,
        shrink=False,
    )
    return Fraction(found.judged.value)


def at_random(contest: Contest, evaluations: int, seed: int) -> Fraction:
    """Return the least value of independent draws."""
    rng = np.random.default_rng(seed)
    value = contest.surrogate or (lambda case: contest.judge(case).value)
    worst = min((contest.space.draw(rng) for _ in range(evaluations)), key=value)
    return Fraction(contest.judge(worst).value)


def by_hypothesis(contest: Contest, evaluations: int, seed: int) -> Fraction:
    """Return the least value that hypothesis comes across when it is told the value as its target."""
    values: list[Fraction] = []

    @seeded(seed)
    @settings(
        max_examples=evaluations,
        phases=[Phase.generate, Phase.target],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(contest.strategy)
    def search(example: Any) -> None:
        if len(values) == evaluations:
            raise _EnoughError
        values.append(contest.on_example(example))
        target(-float(values[-1]))

    with suppress(_EnoughError):  # hypothesis would go on climbing
        search()
    return min(values)


def main() -> None:
    """Print the table."""
    part = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    ways = {"engine": by_engine, "random": at_random, "hypothesis": by_hypothesis}
    print(f"{'rule':40} {'evaluations':>11}  " + "  ".join(f"{name:>22}" for name in ways), flush=True)
    for contest in contests():
        evaluations, cells = max(1, round(part * contest.evaluations)), []
        for search in ways.values():
            begin = time.process_time()
            found = [search(contest, evaluations, seed) for seed in SEEDS]
            spent = time.process_time() - begin
            cells.append(f"{float(median_low(found)):.4f} {float(min(found)):.4f} {spent:6.1f} s")
        print(f"{contest.name:40} {evaluations:>11}  " + "  ".join(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
