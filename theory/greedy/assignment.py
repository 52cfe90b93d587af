"""The global greedy assignment: greedy reservation in the limit of many servers, exact, over one pool or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations

from theory.exact.knapsack import max_reward, weight
from theory.instance import Configuration, Instance, Space
from theory.numbers import to_integers, total

Oracle = Callable[[Space, Sequence[Fraction], frozenset[int]], Configuration]
"""Finds a configuration of a space of much reward, of the given types."""


class MaxRewards:
    """MaxReward of every pool, remembered by the set of types (it does not depend on the workload).

    Parameters
    ----------
    instance : Instance
        Its pools and rewards are used, its workload is not.
    oracle : callable, optional
        What finds the configuration of a space, rewards and types; MaxReward where left out.
    """

    def __init__(self, instance: Instance, oracle: Oracle = max_reward) -> None:
        self._oracle = oracle
        self._spaces = [pool.space for pool in instance.pools]
        self.shares = tuple(pool.share for pool in instance.pools)
        self.rewards = instance.rewards
        self._known: dict[frozenset[int], Step] = {}

    def __call__(self, types: frozenset[int]) -> Step:
        """Return the greedy step on a set of types."""
        step = self._known.get(types)
        if step is None:
            configurations = tuple(self._oracle(space, self.rewards, types) for space in self._spaces)
            slots = tuple(
                total(share * k[j] for share, k in zip(self.shares, configurations, strict=True) if k[j])
                for j in range(len(self.rewards))
            )
            step = self._known[types] = Step(configurations, slots, weight(slots, self.rewards))
        return step


@dataclass(frozen=True)
class Step:
    """What every pool does while the same types are left.

    Attributes
    ----------
    configurations : tuple of Configuration, length P
        MaxReward of each pool.
    slots : tuple of Fraction, shape (J,)
        Slots per server of an average server: sum over pools of share x configuration.
    reward : Fraction
        U_i: reward of an average server with all slots full.
    """

    configurations: tuple[Configuration, ...]
    slots: tuple[Fraction, ...]
    reward: Fraction

    @cached_property
    def whole(self) -> tuple[list[int], Fraction]:
        """The slots as the smallest whole numbers in their proportion, and the unit of these."""
        return to_integers(self.slots)


@dataclass(frozen=True)
class Stage:
    """A stage of the greedy assignment of positive length.

    Attributes
    ----------
    configurations : tuple of Configuration, length P
        What the servers of each pool that take part in the stage are assigned.
    fraction : Fraction
        x_i: fraction of each pool's servers; the fractions sum to 1, or less if the workload is served by fewer.
    exhausts : int or None
        The type whose workload ends with the stage, the first of them in file order; None if the servers end first.
    ended : tuple of int
        Every type whose workload ends with the stage, in file order.
    reward : Fraction
        U_i: reward per server, averaged over pools, with all slots full.
    """

    configurations: tuple[Configuration, ...]
    fraction: Fraction
    exhausts: int | None
    ended: tuple[int, ...]
    reward: Fraction


@dataclass(frozen=True)
class GreedyAssignment:
    """The global greedy assignment of an instance (Definition 3.2; several pools: all at once).

    Attributes
    ----------
    permutation : tuple of int, length J
        sigma of Proposition 3.1: the types in the order in which greedy exhausts them.
    lengths : tuple of Fraction, length J
        z of Proposition 3.1: how long each stage would last if servers never ended.
    stages : tuple of Stage
        The stages of positive length.
    reward : Fraction
        U^(g), reward per server.
    served : tuple of Fraction, shape (J,)
        Jobs in service per server.
    """

    permutation: tuple[int, ...]
    lengths: tuple[Fraction, ...]
    stages: tuple[Stage, ...]
    reward: Fraction
    served: tuple[Fraction, ...]

    @property
    def serves_all(self) -> bool:
        """Whether the whole workload is served; greedy is then optimal."""
        return sum(self.lengths) <= 1

    @property
    def guarantee(self) -> Fraction:
        """Proven share of the optimal reward: 1 - prod(1 - x_i), or 1 if the whole workload is served.

        At least 1 - (1 - 1/n)^n for n stages. Source: packproof, "1 - 1/e always".
        """
        if self.serves_all:
            return Fraction(1)
        missed = Fraction(1)
        for stage in self.stages:
            missed *= 1 - stage.fraction
        return 1 - missed

    @property
    def upper_bounds(self) -> tuple[Fraction, ...]:
        """Upper bounds F_{i-1} + U_i on the optimal reward, one a stage (F_i: reward of the first i stages)."""
        bounds, earned = [], Fraction(0)
        for stage in self.stages:
            bounds.append(earned + stage.reward)
            earned += stage.fraction * stage.reward
        return tuple(bounds)

    @property
    def guarantee_stagewise(self) -> Fraction:
        """Proven share of the optimal reward by the best stage: greedy / min_i (F_{i-1} + U_i); 1 if all is served."""
        return Fraction(1) if self.serves_all else self.reward / min(self.upper_bounds)


def global_greedy(instance: Instance, rewards: MaxRewards | None = None) -> GreedyAssignment:
    """Compute the global greedy assignment exactly.

    Parameters
    ----------
    instance : Instance
    rewards : MaxRewards, optional
        Of the same pools and rewards, to share its memory between workloads.

    Notes
    -----
    Construction (53)-(54) of the proof of Proposition 3.1, J calls of MaxReward a pool and O(J^2) operations on whole
    numbers: the workload that is left is held as multiples of one unit. Several pools ascend together: every stage
    uses each pool's MaxReward on the types left and lasts until the first of them is exhausted. Source: auto-scaling
    paper, Prop. 3.1, Def. 3.2, (8), (10); pools: packproof.

    Examples
    --------
    >>> from theory.instance import additive
    >>> greedy = global_greedy(additive([12], [[5], [7]]))
    >>> greedy.reward, [(stage.configurations, stage.fraction) for stage in greedy.stages]
    (Fraction(3, 2), [(((2, 0),), Fraction(1, 2)), (((0, 1),), Fraction(1, 2))])
    """
    step_of = MaxRewards(instance) if rewards is None else rewards
    left, unit = instance.whole_workload
    types = frozenset(range(len(left)))
    permutation: list[int] = []
    lengths: list[Fraction] = []
    stages: list[Stage] = []
    room, reward, served = Fraction(1), Fraction(0), instance.workload
    while types:
        step = step_of(types)
        slots, size = step.whole
        used = [j for j in sorted(types) if slots[j]]
        last = used[0]
        for j in used:
            last = j if left[j] * slots[last] < left[last] * slots[j] else last
        length = unit / size * Fraction(left[last], slots[last])
        lasts = length > room  # beyond the end of the servers
        fraction = room if lasts else length
        if fraction:
            ended = () if lasts else tuple(j for j in used if left[j] * slots[last] == left[last] * slots[j])
            stages.append(Stage(step.configurations, fraction, None if lasts else last, ended, step.reward))
            reward += fraction * step.reward
        if lasts and served is instance.workload:  # the servers end: what is left beyond them is not served
            beyond = (n * unit - fraction * k for n, k in zip(left, step.slots, strict=True))
            served = tuple(rho - rest for rho, rest in zip(instance.workload, beyond, strict=True))
        room -= fraction
        left = [n * slots[last] - left[last] * k for n, k in zip(left, slots, strict=True)]
        unit /= slots[last]
        permutation.append(last)
        lengths.append(length)
        types -= {last}
    return GreedyAssignment(tuple(permutation), tuple(lengths), tuple(stages), reward, served)


def sequential_greedy(instance: Instance, order: Sequence[int] | None = None) -> Fraction:
    """Return the reward of filling the pools one after another, each by greedy on what the earlier ones left.

    Parameters
    ----------
    instance : Instance
    order : sequence of int, shape (P,), optional
        Order of the pools; file order where left out.

    Notes
    -----
    The rule that `global_greedy` beats: it attains 1/2 of the optimum and no more. Source: packproof, "server pools".

    Examples
    --------
    >>> from theory.instance import pooled
    >>> two = pooled([(1, [3]), (1, [2])], [[2], [3]], workload=["1/2", "1/2"])
    >>> sequential_greedy(two), global_greedy(two).reward
    (Fraction(1, 2), Fraction(3, 4))
    """
    left = list(instance.workload)
    reward = Fraction(0)
    for p in range(len(instance.pools)) if order is None else order:
        pool = instance.pools[p]
        types = frozenset(j for j in range(len(left)) if left[j] and pool.space.most(j))
        room = pool.share
        while types and room:
            k = max_reward(pool.space, instance.rewards, types)
            used = [j for j in types if k[j]]
            length = min(room, *(left[j] / k[j] for j in used))
            reward += length * weight(k, instance.rewards)
            room -= length
            for j in used:
                left[j] -= length * k[j]
            types = frozenset(j for j in types if left[j])
    return reward


def greedy_configurations(instance: Instance, pool: int = 0) -> list[Configuration]:
    """List the greedy configurations of a pool: MaxReward of every set of types (Definition 3.3).

    Returns
    -------
    list of Configuration
        Decreasing in the order of Definition 2.2; the empty configuration last.

    Notes
    -----
    2^J calls of MaxReward.
    """
    space, u = instance.pools[pool].space, instance.rewards
    everything = range(len(u))
    sets = chain.from_iterable(combinations(everything, n) for n in range(len(u) + 1))
    configurations = {max_reward(space, u, types) for types in sets}
    return sorted(configurations, key=lambda k: (weight(k, u), k), reverse=True)


def is_permutation_of_proposition_3_1(
    instance: Instance, permutation: Sequence[int], rewards: MaxRewards | None = None
) -> bool:
    """Decide whether a permutation satisfies the two conditions of Proposition 3.1, from their statement alone.

    Parameters
    ----------
    instance : Instance
    permutation : sequence of int, length J
    rewards : MaxRewards, optional
        Of the same pools and rewards, to share its memory between permutations.

    Notes
    -----
    Condition 2 is taken with the clause that configuration i holds jobs of the later type; without it the
    proposition fails on some instances (see the claim on Prop. 3.1).

    Examples
    --------
    >>> from theory.instance import additive
    >>> two = additive([12], [[5], [7]])
    >>> [is_permutation_of_proposition_3_1(two, order) for order in ([0, 1], [1, 0])]
    [True, False]
    """
    return _satisfies_proposition_3_1(instance, permutation, rewards, clause=True)


def is_permutation_without_clause(
    instance: Instance, permutation: Sequence[int], rewards: MaxRewards | None = None
) -> bool:
    """Decide the conditions of Proposition 3.1 without the clause on configuration i in condition 2.

    The formula of that condition is lost in the text at hand, and the clause may stand in what is lost: this is
    not said to be the printed condition. It serves to show that the clause is needed.
    """
    return _satisfies_proposition_3_1(instance, permutation, rewards, clause=False)


def _satisfies_proposition_3_1(
    instance: Instance, permutation: Sequence[int], rewards: MaxRewards | None, *, clause: bool
) -> bool:
    if sorted(permutation) != list(range(len(instance.types))):
        return False
    step_of = MaxRewards(instance) if rewards is None else rewards
    left, _ = instance.whole_workload  # the workload less z_1 k_1 + ... + z_i k_i, in some positive unit
    for i, j in enumerate(permutation):
        slots, _ = step_of(frozenset(permutation[i:])).whole
        if not slots[j] or left[j] < 0:  # condition 1: (6) determines z_i, which is at least 0
            return False
        left = [n * slots[j] - left[j] * k for n, k in zip(left, slots, strict=True)]
        ties = (later for later in permutation[i + 1 :] if not left[later] and (slots[later] or not clause))
        if any(j > later for later in ties):  # condition 2: ties go to the lower index
            return False
    return True


def is_global_greedy(instance: Instance, stages: Sequence[tuple[Sequence[Configuration], Fraction]]) -> bool:
    """Decide whether stages (configurations by pool, fraction) are the global greedy assignment of Definition 3.2.

    Checks the definition, not the construction: every stage is MaxReward of the types that the earlier stages did not
    exhaust, fractions are positive and sum to 1 (or serve everything), nothing is overfilled, each stage ends because
    a type or the servers end.

    Examples
    --------
    >>> from theory.instance import additive
    >>> half = Fraction(1, 2)
    >>> is_global_greedy(additive([12], [[5], [7]]), [([(2, 0)], half), ([(0, 1)], half)])
    True
    """
    n = len(instance.types)
    step_of = MaxRewards(instance)
    slots_so_far = [Fraction(0)] * n
    left = frozenset(range(n))
    used = Fraction(0)
    for configurations, fraction in stages:
        if fraction <= 0 or used >= 1:
            return False
        while True:  # types that can get no further: exhausted now, in the order of their stages of length zero
            step = step_of(left)
            ended = next((j for j in sorted(left) if step.slots[j] and slots_so_far[j] == instance.workload[j]), None)
            if ended is None:
                break
            left -= {ended}
            if not left:
                return False
        if tuple(map(tuple, configurations)) != step.configurations:
            return False
        used += fraction
        for j in left:
            slots_so_far[j] += fraction * step.slots[j]
            if slots_so_far[j] > instance.workload[j]:
                return False
        finished = any(step.slots[j] and slots_so_far[j] == instance.workload[j] for j in left)
        if not finished and used != 1:
            return False
    served = all(a == b for a, b in zip(slots_so_far, instance.workload, strict=True))
    return used == 1 or (used < 1 and served)
