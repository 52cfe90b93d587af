"""Rules that assign servers to configurations, judged by the exact optimum of the configuration program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from bounds.adversary.answers import answer_of, is_short, most_of, shown
from bounds.adversary.engine import Judged, Space, in_order, on_grid, with_entry, without_entry
from theory.errors import InputError
from theory.greedy.optimal import Column, optimal_assignment
from theory.instance import Configuration, Instance, additive
from theory.numbers import text, texts, total

Assignment = Sequence[tuple[int, Configuration, Fraction]]  # parts: pool, configuration, share of all servers
MOST_PARTS = 100_000  # most parts of an assignment: one more is taken for an endless answer

AssignmentRule = Callable[[Instance], Assignment]
Choice = Callable[[Instance, Sequence[int]], Configuration]
"""From an instance and the types that are left to a configuration of these."""


def by_stages(choose: Choice) -> AssignmentRule:
    """Return the rule that lets a choice of configurations proceed as greedy does, on instances of one pool.

    All servers take the configuration chosen until a type in it is exhausted; then the choice is made again among the
    types that are left, until the servers are used up, no type is left, or the choice is empty.

    Examples
    --------
    >>> from theory.instance import additive
    >>> instance = additive([12], [[5], [7]], workload=[2, 0])
    >>> by_stages(lambda instance, left: (2, 0) if 0 in left else (0, 1))(instance)
    [(0, (2, 0), Fraction(1, 1))]
    """

    def rule(instance: Instance) -> list[tuple[int, Configuration, Fraction]]:
        remaining, servers, parts = list(instance.workload), Fraction(1), []
        while servers > 0 and any(remaining):
            types = [j for j, amount in enumerate(remaining) if amount]
            k = tuple(choose(instance, types))
            lengths = [remaining[j] / k[j] for j in types if k[j]]
            if not lengths:
                break
            # the stage ends when a type is exhausted, or all servers are used
            share = min(servers, *lengths)
            parts.append((0, k, share))
            servers -= share
            remaining = [max(Fraction(0), amount - share * slots) for amount, slots in zip(remaining, k, strict=True)]
        return parts

    rule.__name__ = getattr(choose, "__name__", "rule")  # what errors and tables call it
    return rule


def reward_of(instance: Instance, assignment: Assignment, name: str = "the rule") -> Fraction:
    """Return the reward of an assignment: slots that jobs can fill, at most the workload of each type."""
    return _reward(instance, columns_of(instance, assignment, name))


def columns_of(instance: Instance, assignment: Assignment, name: str = "the rule") -> tuple[Column, ...]:
    """Return the fractions of all servers by pool and configuration, once each and none of 0, in the rule's order.

    What is wrong with the assignment is refused in one line; pools are counted from 0, as in what the rule returned.
    """
    used = [Fraction(0)] * len(instance.pools)
    fractions: dict[tuple[int, Configuration], Fraction] = {}
    if not isinstance(assignment, Sequence):
        raise InputError(name, f"expected a list of (pool, configuration, share), got {shown(assignment)}")
    parts = most_of(assignment, MOST_PARTS)
    if len(parts) > MOST_PARTS:
        raise InputError(name, f"expected at most {MOST_PARTS:,} of (pool, configuration, share), got more")
    for part in parts:
        if not (isinstance(part, Sequence) and len(part) == 3):
            raise InputError(name, f"expected (pool, configuration, share), got {shown(part)}")
        p, given, share = part
        if type(share) not in (Fraction, int) or not is_short(share):
            raise InputError(name, f"expected an exact share (a Fraction) of few digits, got {shown(share)}")
        if p not in range(len(used)) or not _is_configuration(given, len(instance.types)):
            raise InputError(name, f"expected a pool and one whole number a type, got {shown((p, given))}")
        k = tuple(map(int, given))
        if share < 0 or min(k) < 0 or not instance.pools[p].space.holds(k):
            raise InputError(
                name,
                f"the configuration {texts(k)} on {text(share)} of all servers is not feasible in pool "
                f"{instance.pools[p].name}",
            )
        used[p] += share
        if share:
            fractions[int(p), k] = fractions.get((int(p), k), Fraction(0)) + share
    for pool, amount in zip(instance.pools, used, strict=True):
        if amount > pool.share:
            raise InputError(
                name, f"expected at most {text(pool.share)} of all servers in pool {pool.name}, got {text(amount)}"
            )
    return tuple(Column(p, k, share) for (p, k), share in fractions.items())


def served_by(instance: Instance, columns: Sequence[Column]) -> tuple[Fraction, ...]:
    """Return the jobs in service per server, shape (J,): slots that jobs can fill, at most the workload."""
    slots = (total(column.fraction * column.configuration[j] for column in columns) for j in range(len(instance.types)))
    return tuple(map(min, slots, instance.workload))


def _reward(instance: Instance, columns: Sequence[Column]) -> Fraction:
    return total(u * y for u, y in zip(instance.rewards, served_by(instance, columns), strict=True))


def _is_configuration(k: object, width: int) -> bool:
    return (
        isinstance(k, Sequence | np.ndarray)
        and len(k) == width
        and all(isinstance(n, int | np.integer) and is_short(int(n)) for n in k)
    )


@dataclass(frozen=True)
class Numbers:
    """An instance of one pool in whole numbers: rewards are positive, workloads in units of one over `unit`."""

    capacity: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]
    rewards: tuple[int, ...]
    workload: tuple[int, ...]
    unit: int

    def __str__(self) -> str:
        """Return the instance on one line, as messages show it."""
        workload = [Fraction(n, self.unit) for n in self.workload]
        types = [
            f"t{j} demands {texts(demand)} at reward {reward} with workload {text(rho)}"
            for j, (demand, reward, rho) in enumerate(zip(self.demands, self.rewards, workload, strict=True), 1)
        ]
        return f"a server has {texts(self.capacity)}; {'; '.join(types)}"

    def instance(self) -> Instance:
        """Return the instance."""
        return additive(self.capacity, self.demands, self.rewards, [Fraction(n, self.unit) for n in self.workload])


def by_shares(case: Numbers) -> tuple[int, ...]:
    """Return rewards that are proportional to the sum of the shares of a server that a job of each type takes.

    >>> by_shares(Numbers((4, 6), ((1, 0), (2, 3)), (9, 9), (1, 1), 1))
    (3, 12)
    """
    unit = lcm(*(c for c in case.capacity if c))
    shares = [sum(d * (unit // c) for d, c in zip(row, case.capacity, strict=True) if c) for row in case.demands]
    return tuple(shares)


GROWN = (1_000, 1_000_000)
"""Factors by which the reward of a type is raised, to see whether a rule begins to serve it."""


def forgotten_type(rule: AssignmentRule, instance: Instance, name: str = "the rule") -> str | None:
    """Return the first type of which a rule serves nothing, however large its reward is, though the optimum would.

    The rule is asked again with the reward times each of `GROWN`, and must answer the same. As that reward grows, the
    optimum grows without bound and the rule's reward stays: if the rule goes on so, its ratio tends to 0.

    >>> from theory.instance import additive
    >>> forgotten_type(lambda instance: [(0, (2, 0), Fraction(1))], additive([12], [[5], [7]]))
    't2'
    """
    try:
        answer = columns_of(instance, rule(instance), name)
        for j, served in enumerate(served_by(instance, answer)):
            # a type with workload fits some server, so the optimum at a large reward serves it
            if served == 0 and instance.workload[j]:
                grown = [with_entry(instance.rewards, j, factor * instance.rewards[j]) for factor in GROWN]
                again = [columns_of(other, rule(other), name) for other in map(instance.with_rewards, grown)]
                if all(columns == answer for columns in again):
                    return instance.names[j]
    except Exception:  # what it does on other instances is another question
        return None
    return None


def judge_assignment(rule: AssignmentRule, name: str = "the rule") -> Callable[[Numbers], Judged]:
    """Return the judge of a rule: its reward over the optimum, both exact."""
    return lambda numbers: kept_on(rule, numbers.instance(), name, str(numbers))


def kept_on(rule: AssignmentRule, instance: Instance, name: str = "the rule", about: str = "") -> Judged:
    """Return the reward of a rule on an instance over the optimum, both exact; 1 if the optimum is 0.

    The evidence holds both rewards, and the columns that the rule and the optimum give to the servers; `about` is said
    of the instance where the rule fails.
    """
    columns = columns_of(instance, answer_of(lambda: rule(instance), name, about), name)
    reward = _reward(instance, columns)
    optimal = optimal_assignment(instance)
    if optimal.reward == 0:
        return Judged(Fraction(1))
    evidence = {
        "reward": reward,
        "optimum": optimal.reward,
        "columns_of_rule": columns,
        "columns_of_optimum": optimal.columns,
    }
    return Judged(reward / optimal.reward, True, evidence)


class AssignmentSpace(Space[Numbers]):
    """Additive instances of one pool with a number of types and resources.

    Parameters
    ----------
    types, resources : int
    grid : int
        Capacity of each resource, and the largest reward that is drawn.
    proportional : bool
        Whether the reward of every type is the sum of the shares of a server that its job takes, up to a common factor:
        then sizes and workload are all that a rule can be bad at.
    """

    def __init__(self, types: int = 2, resources: int = 1, grid: int = 120, *, proportional: bool = False) -> None:
        self.types, self.resources, self.grid, self.proportional = types, resources, grid, proportional

    def corners(self) -> Iterator[Numbers]:
        """Yield sizes a little above 1/k for several k, and types that need one resource each, worth their share."""
        ks = range(1, 7)
        for first in ks:
            demands = []
            for j in range(self.types):
                above = self.grid // (first + j) + 1 if first + j > 1 else self.grid
                demands.append((min(above, self.grid),) * self.resources)
            rewards = tuple(max(d) for d in demands)
            yield self._of(demands, rewards, [self.grid] * self.types)
            yield self._of(demands, rewards[::-1], [self.grid] * self.types)
        if self.resources > 1:
            for large in (self.grid, self.grid // 2 + 1):
                demands = [
                    tuple(large if r == j % self.resources else 1 for r in range(self.resources))
                    for j in range(self.types)
                ]
                yield self._of(demands, [self.grid] * self.types, [self.grid] * self.types)

    def _of(self, demands: Sequence[tuple[int, ...]], rewards: Sequence[int], workload: Sequence[int]) -> Numbers:
        capacity = (self.grid,) * self.resources
        return self._priced(Numbers(capacity, tuple(demands), tuple(rewards), tuple(workload), self.grid))

    def _priced(self, case: Numbers) -> Numbers:
        return replace(case, rewards=by_shares(case)) if self.proportional else case

    def draw(self, rng: np.random.Generator) -> Numbers:
        """Draw sizes near fractions 1/k of a server, or of any size; rewards near the sizes; any workload."""
        demands = []
        for _ in range(self.types):
            row = [
                int(self.grid // rng.integers(1, 8) + rng.integers(0, 3))
                if rng.random() < 0.6
                else int(rng.integers(0, self.grid + 1))
                for _ in range(self.resources)
            ]
            row = [min(amount, self.grid) for amount in row]
            demands.append(tuple(row) if any(row) else (1,) * self.resources)
        rewards = [max(1, round(max(row) * float(np.exp(0.3 * rng.standard_normal())))) for row in demands]
        return self._of(demands, rewards, [int(rng.integers(0, 4 * self.grid)) for _ in range(self.types)])

    def move(self, case: Numbers, rng: np.random.Generator) -> Numbers:
        """Change a demand, a reward or a workload, by a little or by much; or exchange two types in the order."""
        return self._priced(self._moved(case, rng))

    def _moved(self, case: Numbers, rng: np.random.Generator) -> Numbers:
        j, what = int(rng.integers(self.types)), rng.random()
        step = int(rng.choice([-1, 1])) * int(rng.choice([1, 1, 2, 3, 8, max(1, self.grid // 8)]))
        if what < 0.4:
            r = int(rng.integers(self.resources))
            row = list(case.demands[j])
            most = case.capacity[r]
            row[r] = min(most, max(0, row[r] + step if rng.random() < 0.8 else int(rng.integers(most + 1))))
            if not any(row):
                return case
            return replace(case, demands=with_entry(case.demands, j, tuple(row)))
        if what < 0.65:
            value = max(1, case.rewards[j] + step if rng.random() < 0.7 else int(rng.integers(1, self.grid + 1)))
            return replace(case, rewards=with_entry(case.rewards, j, value))
        if what < 0.95:
            most = 8 * case.unit
            fits = case.unit * min(c // d for c, d in zip(case.capacity, case.demands[j], strict=True) if d)
            changed = [case.workload[j] + step, case.unit, fits, int(rng.integers(0, most + 1))]
            value = min(most, max(0, int(rng.choice(changed, p=[0.5, 0.15, 0.15, 0.2]))))
            return replace(case, workload=with_entry(case.workload, j, value))
        i = int(rng.integers(self.types))
        order = list(range(self.types))
        order[i], order[j] = order[j], order[i]
        return self._with_types(case, order)

    @staticmethod
    def _with_types(case: Numbers, types: Sequence[int]) -> Numbers:
        """Return the instance with some of its types, in an order."""
        demands, rewards, workload = (in_order(row, types) for row in (case.demands, case.rewards, case.workload))
        return replace(case, demands=demands, rewards=rewards, workload=workload)

    def shrinks(self, case: Numbers) -> Iterator[Numbers]:
        """Drop a type or a resource; take coarser units; round workloads; take 1 off."""
        # where rewards follow the demands, a change of rewards alone changes nothing
        return (simpler for each in self._smaller(case) if (simpler := self._priced(each)) != case)

    def _smaller(self, case: Numbers) -> Iterator[Numbers]:
        width, resources = len(case.rewards), len(case.capacity)
        for j in range(width) if width > 1 else ():
            yield self._with_types(case, without_entry(tuple(range(width)), j))
        for r in range(resources) if resources > 1 else ():
            demands = tuple(without_entry(row, r) for row in case.demands)
            if all(map(any, demands)):
                yield replace(case, capacity=without_entry(case.capacity, r), demands=demands)
        for unit in (u for u in (1, 2, 3, 4, 5, 6, 10, 12) if u < case.unit):
            yield replace(case, unit=unit, workload=tuple(round(n * unit / case.unit) for n in case.workload))
        for grid in (g for g in (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 60) if g < max(case.capacity)):
            for up in (False, True):
                demands = on_grid(case.demands, case.capacity, grid, up=up)
                if all(map(any, demands)):
                    yield replace(case, capacity=(grid,) * resources, demands=demands)
        top = max(case.rewards)
        for most in (m for m in (1, 2, 3, 4, 5, 8, 10, 12, 20, 30, 50) if m < top):
            yield replace(case, rewards=tuple(max(1, round(u * most / top)) for u in case.rewards))
        for j in range(width):
            yield from self._with_less(case, j)

    @staticmethod
    def _with_less(case: Numbers, j: int) -> Iterator[Numbers]:
        """Yield the instance with less workload, demands or reward of one type."""
        if case.workload[j] > 0:
            for value in (0, case.workload[j] // case.unit * case.unit, case.workload[j] - 1):
                if value < case.workload[j]:
                    yield replace(case, workload=with_entry(case.workload, j, value))
        for r in range(len(case.capacity)):
            if case.demands[j][r] > 0:
                row = with_entry(case.demands[j], r, case.demands[j][r] - 1)
                if any(row):
                    yield replace(case, demands=with_entry(case.demands, j, row))
        if case.rewards[j] > 1:
            yield replace(case, rewards=with_entry(case.rewards, j, case.rewards[j] - 1))
