"""Whole servers of several pools: the least number of which largest remainders give each pool enough."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds.certificates.assignment import assignment_certificate
from bounds.checker import check
from theory.greedy.optimal import solve
from theory.greedy.pools import apportion, fewest_holding, most_apportioned
from theory.greedy.servers import greedy_placement, least_servers
from theory.instance import Instance, pooled


def pools_by_hand(servers: int, instance: Instance) -> list[int]:
    """Split servers one at a time: to the pool that its share leaves furthest behind after all are rounded down."""
    exact = [servers * pool.share for pool in instance.pools]
    have = [x.numerator // x.denominator for x in exact]
    while sum(have) < servers:
        behind = [x - n for x, n in zip(exact, have, strict=True)]
        have[behind.index(max(behind))] += 1
    return have


def carried_by_hand(instance: Instance, servers: int, jobs: Sequence[int]) -> bool:
    """Return whether the servers of all pools hold the jobs, by trying every configuration of one server at a time."""

    def rest_fits(waiting: tuple[int, ...], free: tuple[int, ...]) -> bool:
        if not any(waiting):
            return True
        pool = next((p for p, number in enumerate(free) if number), None)
        if pool is None:
            return False
        space = instance.pools[pool].space
        fewer = tuple(number - (p == pool) for p, number in enumerate(free))
        return any(
            rest_fits(tuple(a - b for a, b in zip(waiting, k, strict=True)), fewer)
            for k in product(*(range(n + 1) for n in waiting))
            if space.holds(k) and not any(space.holds(more) for more in _one_more(k, waiting))
        )

    return rest_fits(tuple(jobs), tuple(pools_by_hand(servers, instance)))


def _one_more(k: tuple[int, ...], most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return ((*k[:j], n + 1, *k[j + 1 :]) for j, n in enumerate(k) if n < most[j])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(3, 12), st.integers(1, 9)), min_size=2, max_size=4),
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), min_size=1, max_size=2),
)
@example([(9, 5), (8, 3), (3, 1)], [(2, 4), (3, 4)])
def test_least_servers_of_several_pools_are_those_that_are_tried(
    pools: list[tuple[int, int]], types: list[tuple[int, int]]
) -> None:
    """Fewer than the lower bound hold the jobs by no packing of the servers that largest remainders give the pools."""
    shares = [Fraction(weight, sum(weight for _, weight in pools)) for _, weight in pools]
    instance = pooled(
        [(share, [size]) for (size, _), share in zip(pools, shares, strict=True)], [[d] for d, _ in types]
    )
    jobs = [number for _, number in types]
    least = least_servers(instance, [Fraction(n) for n in jobs])
    assert least.priced <= least.lower
    assert not any(carried_by_hand(instance, n, jobs) for n in range(max(least.lower - 4, 0), least.lower))
    assert carried_by_hand(instance, least.upper, jobs)
    if any(jobs):
        solution = solve(instance.with_workload([Fraction(n) for n in jobs]))
        check(assignment_certificate(solution, (1, greedy_placement(solution.instance, 1), least)))


def test_the_split_bounds_are_those_of_all_numbers() -> None:
    """By one loop over all numbers of servers: what a pool has at most, and the first number that is enough."""
    draw = random.Random(3)
    for _ in range(60):
        weights = [draw.randint(1, 30) for _ in range(draw.randint(1, 5))]
        shares = [Fraction(w, sum(weights)) for w in weights]
        split = [apportion(n, shares) for n in range(150)]
        for n, row in enumerate(split):
            assert all(a <= b for a, b in zip(row, most_apportioned(n, shares), strict=True))
        needed = [draw.randint(0, 3) for _ in shares]
        first = next(n for n, row in enumerate(split) if all(a >= b for a, b in zip(row, needed, strict=True)))
        assert fewest_holding(needed, shares) == first


def test_one_more_server_may_take_one_from_a_pool() -> None:
    """The Alabama paradox: 10 servers at 6 : 6 : 2 have two of the third pool, 11 have one."""
    shares = [Fraction(3, 7), Fraction(3, 7), Fraction(1, 7)]
    assert [apportion(n, shares)[2] for n in (10, 11)] == [2, 1]
    assert fewest_holding([0, 0, 2], shares) == 10
    instance = pooled([(shares[0], [1]), (shares[1], [1]), (shares[2], [2])], [[1], [2]])
    least = least_servers(instance, [Fraction(8), Fraction(2)])
    assert (least.lower, least.upper) == (10, 10)


def test_the_last_server_goes_to_the_small_pool() -> None:
    """At 7 : 1 five servers are four big and one small; rounded down, a small one would take eight."""
    instance = pooled([(7, [2]), (1, [1])], [[2], [1]])
    least = least_servers(instance, [Fraction(4), Fraction(1)])
    assert (least.lower, least.upper, least.priced) == (5, 5, 5)


def test_shares_that_are_far_apart_leave_bounds() -> None:
    """A type that only the scarce one of three pools holds: more numbers would have to be tried than are."""
    instance = pooled([(10**6, [1]), (10**6, [1]), (1, [2])], [[2]])
    least = least_servers(instance, [Fraction(1)])
    assert least.lower <= least.upper
    assert apportion(least.upper, [pool.share for pool in instance.pools])[2] == 1


def test_numbers_that_no_price_refutes_are_tried() -> None:
    """At 3 : 2 : 1 the third pool may have a server of two for all that a price says; it has the first of four."""
    instance = pooled([(3, [1]), (2, [1]), (1, [2])], [[2]])
    least = least_servers(instance, [Fraction(1)])
    assert (least.priced, least.lower, least.upper) == (2, 4, 4)
