"""What `fluid.simulation.structures` returns, in plain Python on sets, dictionaries and lists.

`tests/fluid/test_structures.py` compares them. An open server is an entry of ``residuals``, by number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def least_from(members: set[int], member: int = 0) -> int:
    """`bitset.least_from`, and `bitset.least` from 0: the least member that is at least a number."""
    return min((m for m in members if m >= member), default=-1)


def greatest_upto(members: set[int], member: int) -> int:
    """`bitset.greatest_upto`: the greatest member that is at most a number."""
    return max((m for m in members if m <= member), default=-1)


def first_at_least(leaves: Sequence[int], start: int, value: int) -> int:
    """`searches.first_at_least`: the first leaf from one on whose value is large enough."""
    return next((leaf for leaf in range(start, len(leaves)) if leaves[leaf] >= value), -1)


def close_up(leaves: Sequence[int], nothing: int) -> list[int]:
    """`searches.close_up`: the leaves with a value, in their order, and then those without."""
    values = [value for value in leaves if value != nothing]
    return values + [nothing] * (len(leaves) - len(values))


def tightest(residuals: Mapping[int, int], size: int) -> int:
    """`searches.tightest`: of the servers that a size fits, the first with the least residual."""
    return min(((residual, server) for server, residual in residuals.items() if residual >= size), default=(0, -1))[1]


def most_room(residuals: Mapping[int, int]) -> int:
    """`searches.most_room`: the greatest residual."""
    return max(residuals.values(), default=0)


def pop(jobs: list[tuple[float, int]]) -> int:
    """`event_list.pop`, `slot_ends.pop`: remove the first of the earliest entries (time, number); return its number."""
    jobs.remove(first := min(jobs))
    return first[1]
