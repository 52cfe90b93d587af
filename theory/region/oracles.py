"""Rules for configurations of great weight, each with the share of the greatest weight that it guarantees.

Every rule is a kernel with one signature, ``rule(weights, table, configuration)``: it reads weights ``int64[J]`` (queue
lengths, at least 0) and a table made once for the server, and writes the slots ``int64[J]``. `Oracle` holds a rule
with its table and its proven ratio r, so that a simulator can call either the oracle or, compiled, the rule. No rule
ever answers the empty configuration. Weights times jobs on a server must stay within int64.

Source: the non-preemptive scheduling paper, Definition 2 and Section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import best_by_levels, maximal, reduced
from theory.instance import Additive, Space
from theory.numbers import to_integers

Rule = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], None]

LARGEST_SIZE = 2**31
"""Bound on the integers that stand for relative sizes, so that a weight times a size stays within int64."""


@dataclass(frozen=True)
class Oracle:
    """A rule for one server, with the share of the greatest weight that it guarantees."""

    name: str
    ratio: Fraction  # r: its answer weighs at least r times as much as any configuration, whatever the weights (proven)
    table: NDArray[np.int64]  # [n, m]: what the rule reads
    rule: Rule  # the kernel

    def __call__(self, weights: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the configuration for the weights, both int64[J]."""
        whole_weights = np.asarray(weights, np.int64)
        configuration = np.zeros(whole_weights.size, np.int64)
        self.rule(whole_weights, self.table, configuration)
        return configuration


@kernel
def search(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> None:
    """Search the listed configurations, int64[n, J] in decreasing lexicographic order; the first of the best."""
    best, highest = 0, np.int64(-1)
    for row in range(table.shape[0]):
        value = np.int64(0)
        for j in range(weights.size):
            value += weights[j] * table[row, j]
        if value > highest:
            best, highest = row, value
    configuration[:] = table[best]


@kernel
def dynamic_program(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> None:
    """Solve the knapsack over all levels of the resources (table of `server_table`)."""
    width = weights.size
    levels = table.shape[1] - 2
    configuration[:] = 0
    fitting = 0
    for j in range(width):
        fitting += 1 if table[1 + j, levels] > 0 else 0
    demands = np.empty((fitting, levels), np.int64)
    worth = np.empty(fitting, np.int64)
    place = np.empty(fitting, np.int64)
    i = 0
    for j in range(width):
        if table[1 + j, levels] > 0:
            demands[i] = table[1 + j, :levels]
            worth[i] = weights[j]
            place[i] = j
            i += 1
    chosen = best_by_levels(table[0, :levels].copy(), demands, worth)
    for i in range(fitting):
        configuration[place[i]] = chosen[i]


@kernel
def single_type(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> None:
    """Fill the server with the one type that weighs most so; ties to the first (table of `server_table`)."""
    last = table.shape[1] - 2
    best, highest = -1, np.int64(-1)
    for j in range(weights.size):
        value = weights[j] * table[1 + j, last]
        if table[1 + j, last] > 0 and value > highest:
            best, highest = j, value
    configuration[:] = 0
    configuration[best] = table[1 + best, last]


@kernel
def relative_value(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> None:
    """Fill the server with the one type of the greatest weight for its size; ties to the first (`server_table`)."""
    configuration[:] = -1
    best = _most_valuable(weights, table, configuration)
    configuration[:] = 0
    configuration[best] = table[1 + best, table.shape[1] - 2]


@kernel
def refined(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> None:
    """Take types by weight for size, as many jobs of each as fit into what is left (`server_table`)."""
    levels = table.shape[1] - 2
    remaining = table[0, :levels].copy()
    configuration[:] = -1
    j = _most_valuable(weights, table, configuration)
    while j >= 0:
        most = table[1 + j, levels]
        for r in range(levels):
            if table[1 + j, r] > 0:
                most = min(most, remaining[r] // table[1 + j, r])
        configuration[j] = most
        for r in range(levels):
            remaining[r] -= most * table[1 + j, r]
        j = _most_valuable(weights, table, configuration)
    for j in range(weights.size):
        configuration[j] = max(configuration[j], 0)


@kernel
def _most_valuable(weights: NDArray[np.int64], table: NDArray[np.int64], configuration: NDArray[np.int64]) -> int:
    """Return the type of the greatest weight for size among those that fit and are marked -1; -1 if there is none."""
    size, most = table.shape[1] - 1, table.shape[1] - 2
    best = -1
    for j in range(weights.size):
        if table[1 + j, most] == 0 or configuration[j] >= 0:
            continue
        # w_j / size_j > w_best / size_best, without a division
        if best < 0 or weights[j] * table[1 + best, size] > weights[best] * table[1 + j, size]:
            best = j
    return best


def server_table(space: Additive) -> NDArray[np.int64]:
    """Return the table that the rules for additive servers read, int64[J + 1, R + 2].

    Row 0: the capacity of each resource that can bind, then two zeros. Row 1 + j: the demands of type j, the number of
    its jobs that fit alone (0 if it does not fit), and its size, a common multiple of the largest share of any resource
    that one job takes. TooLargeError if sizes have no common unit below `LARGEST_SIZE`.

    >>> server_table(Additive(("cpu", "gb"), (4, 6), ((2, 1), (1, 3)), (1, 1))).tolist()
    [[4, 6, 0, 0], [2, 1, 2, 1], [1, 3, 2, 1]]
    """
    small = reduced(space)
    table = np.zeros((len(space.demands) + 1, len(small.capacity) + 2), np.int64)
    table[0, :-2] = small.capacity
    sizes = relative_sizes(space)
    if max(sizes) >= LARGEST_SIZE:
        raise TooLargeError(
            f"the sizes of the types have no common unit below {LARGEST_SIZE:,} of a server: use coarser units"
        )
    for j, demand in zip(small.types, small.demands, strict=True):
        table[1 + j] = [*demand, space.most(j), sizes[j]]
    return table


def relative_sizes(space: Additive) -> list[int]:
    """Return for each type, in a common unit, the largest share of a resource that one job takes; 0 if none fits."""
    sizes = [
        max(Fraction(d, c) for d, c in zip(demand, space.capacity, strict=True) if d) if space.most(j) else Fraction(0)
        for j, demand in enumerate(space.demands)
    ]
    return to_integers(sizes)[0]


def lemma_6_1(space: Additive) -> Fraction:
    """Return the r of Lemma 6.1, ``N / (R (N + 1))``: every type that fits fits N times, R resources can bind.

    Examples
    --------
    >>> lemma_6_1(Additive(("cpu",), (10,), ((3,), (5,)), (1,)))
    Fraction(2, 3)
    """
    # with sizes s_j any k has w . k <= max(w_j / s_j) sum_j k_j s_j <= R max(w_j / s_j), and n_j s_j > n_j / (n_j + 1)
    small = reduced(space)
    least = min(space.most(j) for j in small.types)
    return Fraction(least, len(small.capacity) * (least + 1))


RULES: dict[str, Rule] = {
    "maximal": search,
    "dynamic-program": dynamic_program,
    "single-type": single_type,
    "relative-value": relative_value,
    "refined": refined,
}
"""The rules by name. The first two keep everything, the others what Lemma 6.1 says."""


def oracle(space: Space, name: str) -> Oracle:
    """Prepare a rule for a server.

    Parameters
    ----------
    space : Space
    name : str
        Of `RULES`: ``maximal`` searches the maximal configurations, ``dynamic-program`` all levels of the resources,
        ``single-type`` and ``relative-value`` use one type of jobs, ``refined`` fills what the latter leaves.

    Raises
    ------
    InputError
        Unknown name, or a rule that needs additive resources where configurations are listed.
    TooLargeError
        If too many configurations would have to be listed, or sizes have no common unit.

    Examples
    --------
    >>> from theory.instance import additive
    >>> space = additive([10], [[3], [5]]).pools[0].space
    >>> [(name, str(oracle(space, name).ratio), oracle(space, name)([3, 4]).tolist()) for name in RULES]
    [('maximal', '1', [3, 0]), ('dynamic-program', '1', [3, 0]), ('single-type', '2/3', [3, 0]),
     ('relative-value', '2/3', [3, 0]), ('refined', '2/3', [3, 0])]
    """
    if name not in RULES:
        raise InputError("oracle", f"expected one of {', '.join(RULES)}, got {name!r}")
    if name == "maximal":
        return Oracle(name, Fraction(1), maximal(space)[::-1].copy(), search)
    if not isinstance(space, Additive):
        raise InputError("oracle", f"{name} needs servers with a capacity, and these list their configurations")
    ratio = Fraction(1) if name == "dynamic-program" else lemma_6_1(space)
    return Oracle(name, ratio, server_table(space), RULES[name])
