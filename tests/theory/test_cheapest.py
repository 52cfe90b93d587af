"""The least cost of servers of several kinds, beside brute force over items and bins, and by its prices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from theory.errors import ArgumentError, InputError
from theory.exact.knapsack.configurations import feasible
from theory.greedy import Offer, cheapest, cheapest_servers
from theory.greedy.cheapest_whole import packed_exactly
from theory.instance import Instance, additive, pooled


def brute_force(
    kinds: Sequence[Sequence[int]],
    demands: Sequence[Sequence[int]],
    need: Sequence[int],
    offers: list[Offer],
    spare: int,
) -> Fraction | None:
    """Return the least cost, by numbers of servers of each kind and items placed one by one."""
    items = sorted((demands[j] for j, n in enumerate(need) for _ in range(n)), reverse=True)
    limits = [len(items) if one.most is None else min(one.most - spare, len(items)) for one in offers]
    mixes = []
    for mix in product(*(range(max(limit, 0) + 1) for limit in limits)):
        parts = [max(n + spare - one.have, 0) * one.price if n else 0 for n, one in zip(mix, offers, strict=True)]
        mixes.append((sum(parts, Fraction(0)), mix))

    def fits(mix: Sequence[int]) -> bool:
        @cache
        def place(i: int, free: tuple[tuple[int, ...], ...]) -> bool:
            if i == len(items):
                return True
            for b in {room: place for place, room in enumerate(free)}.values():
                room = tuple(a - d for a, d in zip(free[b], items[i], strict=True))
                if min(room) >= 0 and place(i + 1, tuple(sorted((*free[:b], room, *free[b + 1 :])))):
                    return True
            return False

        return place(0, tuple(sorted(tuple(kinds[p]) for p, n in enumerate(mix) for _ in range(n))))

    return next((cost for cost, mix in sorted(mixes) if fits(mix)), None)


def catalogue_of(seed: int) -> tuple[list[list[int]], list[list[int]], list[int], list[Offer], int]:
    """Return kinds of servers, demands, jobs of each type, offers and the reserve."""
    rng = random.Random(seed)
    count = rng.choice([2, 3])
    kinds = [[rng.randint(4, 12), rng.randint(4, 16)] for _ in range(count)]
    demands = [[rng.randint(1, 5), rng.randint(1, 6)] for _ in range(rng.choice([2, 3]))]
    kinds[0] = [max(k) for k in zip(kinds[0], *demands, strict=True)]
    need = [rng.randint(0, 3) for _ in demands]
    offers = []
    for capacity in kinds:
        price = Fraction(rng.randint(1, 4) + sum(capacity), rng.choice([1, 2, 7]))
        have = rng.choice([0, 0, 0, 1, 2])
        offers.append(Offer(price, rng.choice([None, None, have + 1, have + 3]), have))
    return kinds, demands, need, offers, rng.choice([0, 0, 1])


def checked(instance: Instance, offers: list[Offer], need: Sequence[int], seed: int) -> None:
    """Check a packing, and the prices of the fluid bound by every configuration."""
    spare = catalogue_of(seed)[4]
    found = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
    assert found.servers is not None
    assert found.fluid <= found.lower
    assert all(instance.pools[p].space.holds(k) for p, k, _ in found.columns)
    held = [sum(k[j] * n for _, k, n in found.columns) for j in range(len(need))]
    assert held == list(need)
    servers = [sum(n for q, _, n in found.columns if q == p) for p in range(len(offers))]
    assert servers == list(found.servers)


@pytest.mark.parametrize("seed", range(30))
def test_branching_alone_has_bounds_on_both_sides(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, demands, need, offers, spare = catalogue_of(seed)
    instance = pooled([(1, capacity) for capacity in kinds], demands)
    truth = brute_force(kinds, demands, need, offers, spare)
    monkeypatch.setattr(cheapest, "packed_exactly", lambda *_: None)
    if truth is not None:
        found = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
        assert found.upper is not None
        assert found.lower <= truth <= found.upper
        assert found.upper == truth  # which is found without trying all packings
        # without the integer search what is proved does not depend on a good cost that ends branching
        monkeypatch.setattr(cheapest, "cheapest_whole", lambda *_: None)
        monkeypatch.setattr(cheapest, "_rounded", lambda *_: None)
        proved = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
        assert proved.upper is None
        assert proved.fluid <= proved.lower <= truth
        assert proved.lower >= Fraction(9, 10) * truth


@pytest.mark.parametrize("seed", range(30))
def test_configurations_stand_by_their_reduced_cost(seed: int) -> None:
    """None is below zero at an optimal vertex, and those that it uses come first."""
    kinds, demands, need, offers, spare = catalogue_of(seed)
    program = cheapest._Program(pooled([(1, capacity) for capacity in kinds], demands), offers, need, spare)
    most = sum(need)
    vertex = program.on(cheapest._Node((0,) * len(offers), tuple(cheapest.working(one, spare, most) for one in offers)))
    if vertex is not None:
        slots, servers = vertex.dual[: len(need)], vertex.dual[len(need) :]
        costs = [
            servers[p] - sum((price * n for price, n in zip(slots, k, strict=True)), Fraction(0))
            for p, k in program.ranked(vertex)
        ]
        assert costs == sorted(costs)
        used = program.columns.amounts(vertex.primal)
        assert costs[: len(used)] == [0] * len(used)
        assert len(costs) == len(list(program.columns.items()))


@pytest.mark.parametrize("seed", range(30))
def test_small_catalogues_cost_what_brute_force_says(seed: int) -> None:
    kinds, demands, need, offers, spare = catalogue_of(seed)
    instance = pooled([(1, capacity) for capacity in kinds], demands)
    truth = brute_force(kinds, demands, need, offers, spare)
    if truth is None:
        try:
            found = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
        except InputError:
            return
        assert found.upper is None
        return
    found = cheapest_servers(instance, offers, [Fraction(n) for n in need], spare)
    assert found.upper is not None
    assert found.lower <= truth <= found.upper
    checked(instance, offers, need, seed)
    packed = packed_exactly(instance, offers, need, spare, None)
    if packed is not None:
        assert packed.cost == truth == found.lower == found.upper


def test_prices_prove_the_fluid_bound_and_longer_lists_have_both_bounds() -> None:
    instance = pooled([(1, [16, 64]), (1, [32, 64]), (1, [48, 384])], [[1, 4], [2, 3], [5, 31], [3, 30]])
    offers = [Offer(Fraction(3)), Offer(Fraction(5)), Offer(Fraction(13))]
    need = [31, 40, 13, 5]
    found = cheapest_servers(instance, offers, [Fraction(n) for n in need])
    assert sum(y * n for y, n in zip(found.slot_prices, need, strict=True)) == found.fluid
    for pool, offer in zip(instance.pools, offers, strict=True):
        worths = [sum(y * int(k) for y, k in zip(found.slot_prices, row, strict=True)) for row in feasible(pool.space)]
        assert max(worths) <= offer.price
    assert found.upper is not None
    assert found.fluid <= found.lower <= found.upper <= found.lower + 3
    # the cheapest unit of memory costs 13/384
    assert found.fluid > Fraction(13, 384) * sum(n * m for n, m in zip(need, [4, 3, 31, 30], strict=True))


def test_what_exists_costs_nothing_and_a_reserve_is_paid() -> None:
    one = additive([4], [[2]])
    jobs = [Fraction(10)]

    def cost(offer: Offer, spare: int = 0) -> Fraction | None:
        found = cheapest_servers(one, [offer], jobs, spare)
        assert found.lower == found.upper
        return found.upper

    assert cost(Offer(Fraction(3))) == 15
    assert cost(Offer(Fraction(3), have=2)) == 9
    assert cost(Offer(Fraction(3), have=2), spare=1) == 12
    assert cost(Offer(Fraction(3), most=6), spare=1) == 18
    with pytest.raises(InputError, match=r"carry at most 80 % of the jobs"):
        cost(Offer(Fraction(3), most=5), spare=1)
    with pytest.raises(ArgumentError, match="offers: expected 1, one a pool, got 2"):
        cheapest_servers(one, [Offer(Fraction(1))] * 2, jobs)
    with pytest.raises(ArgumentError, match="most of at least have"):
        cost(Offer(Fraction(1), most=1, have=2))
    with pytest.raises(ArgumentError, match="spare: expected a number of at least 0"):
        cost(Offer(Fraction(1)), spare=-1)
    nothing = cheapest_servers(one, [Offer(Fraction(3))], [Fraction(0)], 1)
    assert (nothing.lower, nothing.upper, nothing.servers) == (0, 0, (0,))


def test_prices_far_apart() -> None:
    """One kind costs next to nothing beside the other, and alone is bought then."""
    kinds = pooled([(1, [339_613, 993_958]), (1, [158_226, 414_052])], [[42, 4], [5, 35]])
    offers = [Offer(Fraction(1, 10**100)), Offer(Fraction(1))]
    for jobs in ([30, 20], [0, 20], [9, 0]):
        found = cheapest_servers(kinds, offers, [Fraction(n) for n in jobs])
        assert found.servers == (1, 0)
        assert found.lower == found.upper == offers[0].price
