"""The mathematics of the checker against definitions: enumeration, Leibniz's formula, sums over the law."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import gcd, lcm, prod
from typing import Any

from bounds import checker

F = Fraction


def additive(capacity: Sequence[int], demands: Sequence[Sequence[int]]) -> Any:
    """Return an additive pool."""
    return checker.Pool("p", F(1), tuple(capacity), tuple(map(tuple, demands)), ())


def feasible(pool: Any) -> list[tuple[int, ...]]:
    """Return all feasible configurations, by definition."""
    if pool.generators:
        most = [max(column) for column in zip(*pool.generators, strict=True)]
        boxes = product(*(range(n + 1) for n in most))
        return [k for k in boxes if any(all(a <= b for a, b in zip(k, top, strict=True)) for top in pool.generators)]
    most = [min(c // d for c, d in zip(pool.capacity, row, strict=True) if d) for row in pool.demands]
    needs = list(zip(*pool.demands, strict=True))
    return [
        k
        for k in product(*(range(n + 1) for n in most))
        if all(
            sum(s * d for s, d in zip(k, need, strict=True)) <= c for need, c in zip(needs, pool.capacity, strict=True)
        )
    ]


def pools(count: int) -> Iterator[Any]:
    """Yield small pools of both kinds."""
    draw = random.Random(count)
    for i in range(count):
        width, resources = draw.randint(1, 3), draw.randint(1, 3)
        if i % 3 == 2:
            tops = [tuple(draw.randint(0, 3) for _ in range(width)) for _ in range(draw.randint(1, 3))]
            yield checker.Pool("p", F(1), (), (), (*tops, (1,) * width))
            continue
        demands = [[draw.randint(0, 4) for _ in range(resources)] for _ in range(width)]
        for row in demands:
            row[draw.randrange(resources)] += 1
        yield additive([draw.randint(4, 9) for _ in range(resources)], demands)


def width_of(pool: Any) -> int:
    return len(pool.demands or pool.generators[0])


def limited(name: str, value: int, run: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function while a limit of the checker is another."""
    old = getattr(checker, name)
    setattr(checker, name, value)
    try:
        return run(*arguments)
    finally:
        setattr(checker, name, old)


def test_configurations_and_their_greatest_values() -> None:
    draw = random.Random(2)
    for pool in pools(60):
        width, rows = width_of(pool), feasible(pool)
        for k in product(range(4), repeat=width):
            assert pool.holds(k) is (k in rows)
        assert [pool.most(j) for j in range(width)] == [max(k[j] for k in rows) for j in range(width)]
        order = draw.sample(range(width), width)[: draw.randint(1, width)]
        weights = [draw.randint(0, 9) for _ in range(width)]
        allowed = [k for k in rows if all(j in order or not n for j, n in enumerate(k))]
        best = max(sum(w * n for w, n in zip(weights, k, strict=True)) for k in allowed)
        assert checker.greatest(pool, weights, order) == best
        assert checker.greatest(pool, [*weights], []) == 0
        for pivots in range(3):  # the prices of the bounds may be any
            assert limited("MAX_PIVOTS", pivots, checker.greatest, pool, weights, order) == best
        assert limited("MAX_TABLE", 0, checker.greatest, pool, weights, order) == best  # without memory
        prices = [F(w, draw.randint(1, 5)) for w in weights]
        top = max(sum((p * n for p, n in zip(prices, k, strict=True)), F(0)) for k in rows)
        assert checker.greatest_value(pool, prices) == top
        less = [w - 4 for w in weights]  # nobody has to take what is worth less than nothing
        top = max(sum(w * n for w, n in zip(less, k, strict=True)) for k in rows)
        assert checker.greatest(pool, less, range(width)) == top


def test_max_reward_breaks_ties_by_the_order_of_the_types() -> None:
    draw = random.Random(3)
    for pool in pools(60):
        width, rows = width_of(pool), feasible(pool)
        rewards = [F(draw.randint(1, 3), draw.randint(1, 2)) for _ in range(width)]
        order = draw.sample(range(width), width)
        model = checker.Model(list("abc"[:width]), rewards, rewards, [pool, pool])
        expected = []
        for i in range(width):
            allowed = [k for k in rows if all(j in order[i:] or not n for j, n in enumerate(k))]
            expected.append(max(allowed, key=lambda k: (sum(u * n for u, n in zip(rewards, k, strict=True)), k)))
            assert checker.max_reward(pool, rewards, sorted(order[i:])) == expected[-1]
            assert checker.max_rewards(model, order[i:]) == [expected[-1]] * 2
        assert checker.steps(model, order) == [[k] * 2 for k in expected]


def test_hard_knapsacks() -> None:
    """Weights that are nearly or just proportional to demands, where bounds cut least, against tables."""
    draw = random.Random(8)
    for i in range(60):
        resources = draw.randint(1, 2)
        capacity = [draw.randint(20, 60 // resources) for _ in range(resources)]
        rows = [[draw.randint(1, c // 2) for c in capacity] for _ in range(draw.randint(2, 6))]
        weights = [sum(row) + (draw.randint(0, 2) if i % 2 else 0) for row in rows]
        table: dict[tuple[int, ...], int] = {}
        for levels in product(*(range(c + 1) for c in capacity)):
            smaller = [tuple(c - d for c, d in zip(levels, row, strict=True)) for row in rows]
            worth = [table[rest] + w for rest, w in zip(smaller, weights, strict=True) if min(rest) >= 0]
            table[levels] = max(worth, default=0)
        pool = additive(capacity, rows)
        best = table[tuple(capacity)]
        assert checker.greatest(pool, weights, range(len(rows))) == best
        assert limited("MAX_PIVOTS", 1, checker.greatest, pool, weights, range(len(rows))) == best
        assert limited("MAX_TABLE", 2000, checker.greatest, pool, weights, range(len(rows))) == best


def states(pool: Any, weights: Sequence[int], memory: int = 10**6) -> int:
    """Return the number of states that a search visits: the least limit that lets it end."""
    search = lambda: limited("MAX_TABLE", memory, checker.greatest, pool, weights, range(len(weights)))  # noqa: E731
    for most in range(1000):
        try:
            limited("MAX_STATES", most, search)
        except checker.Unreadable as reason:
            said = (
                f"{most + 1} states of a search: beyond the {most} that this checker decides, which does not refute it"
            )
            assert str(reason) == said
        else:
            return most
    raise AssertionError("the search does not end")


def test_the_states_of_a_search_are_counted() -> None:
    assert states(additive([7], [[2]]), [4]) == 1  # three jobs, and no further type
    assert states(additive([2], [[2], [2]]), [5, 5]) == 1  # nothing is left
    assert states(additive([3], [[2], [3]]), [5, 7]) == 4
    explicit = checker.Pool("p", F(1), (), (), ((1, 2), (2, 1), (0, 3)))
    assert states(explicit, [1, 1]) == states(additive([7], [[2]]), [0]) == 0


def test_states_are_forgotten_when_they_take_too_much_memory() -> None:
    """One state less of memory, and a search decides again what it knew."""
    short = additive([23], [[4], [7], [6], [3]]), [29, 50, 44, 22], 300 + 2 * (40 + (5 + 6) // 8), 6, 16, 22
    rows = [[3, 7], [6, 7], [5, 5], [5, 5]]
    long = additive([27, 21], rows), [w << 64 for w in (73, 93, 71, 73)], 300 + 3 * (40 + (5 + 71) // 8), 3, 28, 32
    for pool, weights, state, most, before, after in (short, long):
        assert states(pool, weights, most * state) == before
        assert states(pool, weights, most * state - 1) == after


def test_bounds_hold_and_fall() -> None:
    """At any prices: what follows a type is worth no more than its bound, and a bound that falls does not rise."""
    draw = random.Random(9)
    for pool in pools(60):
        if pool.generators:
            continue
        width, rows = width_of(pool), feasible(pool)
        weights = [draw.randint(1, 9) for _ in range(width)]
        kinds, bounds = limited("MAX_PIVOTS", draw.randint(0, 4), checker.bounds_of, pool, weights, list(range(width)))
        assert sorted(kinds) == list(range(width))
        for i, j in enumerate(kinds):
            for price, above, below, falls in bounds[i]:
                assert min(price) >= 0
                for k in rows:
                    cost = sum(x * sum(n * pool.demands[t][r] for t, n in enumerate(k)) for r, x in enumerate(price))
                    if not any(n for t, n in enumerate(k) if t not in kinds[i + 1 :]):
                        assert below * sum(w * n for w, n in zip(weights, k, strict=True)) <= above * cost or not below
                cost = sum(x * d for x, d in zip(price, pool.demands[j], strict=True))
                assert falls is (weights[j] * below >= above * cost)


def test_prices_are_optimal_unless_they_are_stopped() -> None:
    rows, weights = [[1, 1], [2, 1], [1, 3]], [3, 4, 5]
    x, y = checker.prices_of([7, 5], rows, weights)
    ratio = max(F(w, a * x + b * y) for w, (a, b) in zip(weights, rows, strict=True))
    assert ratio * (7 * x + 5 * y) == 3 * 3 + 2 * 4  # three jobs of the first type and two of the second fill both
    assert limited("MAX_PIVOTS", 0, checker.prices_of, [7, 5], [[1, 1]], [3]) == [0, 0]


def test_the_bits_of_packed_configurations_are_limited() -> None:
    pool, rewards = additive([7, 9], [[1, 0], [0, 1]]), [F(2), F(3)]  # at most nine jobs of a type: four bits for each
    assert limited("MAX_BITS", 8, checker.max_reward, pool, rewards, [0, 1]) == (7, 9)
    assert limited("MAX_BITS", 4, checker.max_reward, pool, rewards, [1]) == (0, 9)
    try:
        limited("MAX_BITS", 7, checker.max_reward, pool, rewards, [0, 1])
    except checker.Unreadable as reason:
        assert str(reason).startswith("8 bits of a packed configuration: beyond the 7 ")
    else:
        raise AssertionError("eight bits are no more than seven")


def test_what_is_decided_is_decided_once() -> None:
    pool = additive([3, 4], [[1, 0], [0, 1]])
    model = checker.Model(["a", "b"], [F(1, 2), F(1)], [F(1), F(1)], [pool, pool])
    for each, most in (([F(3), F(1)], 3 * 3 + 4), ([3, 1], 3 * 3 + 4), ([1, 3], 3 + 3 * 4)):
        assert checker.worth(model, each) == 2 * most
    assert checker.max_rewards(model, [1, 0]) == [(3, 4)] * 2
    search = checker.greatest
    checker.greatest = lambda *_: 1 / 0  # type: ignore[assignment]
    try:
        assert checker.max_rewards(model, [0, 1]) == [(3, 4)] * 2
        assert checker.worth(model, [F(1), F(3)]) == 30
    finally:
        checker.greatest = search


def test_sums_and_multiples() -> None:
    assert checker.add_up([]) == 0
    assert checker.add_up([F(1, 2), F(1, 3), F(-1, 7)]) == F(1, 2) + F(1, 3) - F(1, 7)
    assert checker.total([F(1, 2), 0, 3], [4, 5, F(1, 9)]) == F(7, 3)
    assert (checker.common([]), checker.common([4, 6, 10])) == (1, 60)


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """Return the determinant by Leibniz's formula."""
    result = 0
    for order in permutations(range(len(rows))):
        swaps = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
        result += (-1) ** swaps * prod(rows[i][j] for i, j in enumerate(order))
    return result


def test_ranks_and_determinants() -> None:
    draw = random.Random(4)
    for size in (1, 2, 3, 4):
        for _ in range(20):
            rows = [[draw.choice([0, 0, 1, -1, 2, 3, -5]) for _ in range(size)] for _ in range(size)]
            rank, det = checker.rank(rows)
            assert det == determinant(rows)
            assert (rank == size) is (det != 0)
            part = draw.randint(1, size)
            factor = [[draw.randint(-2, 2) for _ in range(part)] for _ in range(size)]
            low = [[sum(a * rows[i][j] for i, a in enumerate(line)) for j in range(size)] for line in factor]
            minors = [
                determinant([[low[i][j] for j in columns] for i in lines])
                for lines in combinations(range(size), part + 1)
                for columns in combinations(range(size), part + 1)
            ]
            assert not any(minors)
            assert checker.rank(low)[0] <= part
            assert checker.rank([*rows, *rows])[0] == rank
    assert checker.rank([[0, 0], [0, 0]]) == (0, 0)
    assert checker.rank([[0, 1, 2], [0, 2, 4]])[0] == 1
    assert checker.rank([[0, 1, 2], [3, 2, 4]])[0] == 2
    assert checker.rank([[0, 1], [1, 0]]) == (2, -1)
    assert checker.rank([]) == (0, 1)  # the empty product
    huge = [[10**40 + i * j for j in range(3)] for i in (1, 2, 5)]
    huge[1][1] += 7
    assert checker.rank(huge)[1] == determinant(huge)


def test_a_direction_is_in_a_cone_whatever_the_order_of_its_corners() -> None:
    first = [[1, 0], [1, 1]]  # its middle is the direction (2, 1)
    for other, inside in (([[1, 1], [0, 1]], False), ([[3, 1], [1, 1]], True), ([[2, 1], [0, 1]], True)):
        for corners in (other, other[::-1]):
            try:
                checker.require_once([first, corners])
            except checker.Refused as reason:
                assert inside, reason
            else:
                assert not inside


def test_simplices_beyond_the_limit_are_not_looked_at() -> None:
    rows = [[0, 1], [0, 2], [1, 2]]
    for most in (3, 4):
        assert limited("MAX_SIMPLICES", most, checker.simplices_of, rows, 2, 3) == rows
    for most in (1, 2):
        try:
            limited("MAX_SIMPLICES", most, checker.simplices_of, rows, 2, 3)
        except checker.Unreadable as reason:
            assert str(reason).startswith("3 simplices: beyond the ")
        else:
            raise AssertionError(most)


def test_coprime_integers() -> None:
    assert checker.are_coprime([F(1), F(0)])
    assert checker.are_coprime([F(6), F(10), F(15)])
    for wrong in ([F(2), F(4)], [F(0), F(0)], [F(1, 2), F(1)], [F(3)]):
        assert not checker.are_coprime(wrong)


LAWS = (
    checker.SizeLaw([], [(F(1, 10), F(1, 2), F(2, 3)), (F(1, 2), F(3, 4), F(1, 3))]),
    checker.SizeLaw([(F(1, 7), F(1, 4)), (F(2, 5), F(1, 4)), (F(9, 10), F(1, 4))], [(F(1, 5), F(2, 5), F(1, 4))]),
    checker.SizeLaw([(F(1, 3), F(1))], []),
)


def law_of(number: int) -> Any:
    """Return a law of sizes, of the class that the checker has now."""
    return checker.SizeLaw(LAWS[number].atoms, LAWS[number].pieces)


def test_probabilities_of_sizes() -> None:
    grid = [F(n, 60) for n in range(-1, 62)] + [F(1, 7), F(2, 7)]
    for number in range(3):
        law = law_of(number)
        for x in grid:
            share = sum((p for size, p in law.atoms if size <= x), F(0))
            for low, high, p in law.pieces:
                share += p if x >= high else F(0) if x <= low else p * (x - low) / (high - low)
            assert law.up_to(x) == share
            for y in grid:
                inside = any(x < size < y for size, _ in law.atoms)
                inside = inside or any(max(x, low) < min(y, high) for low, high, _ in law.pieces)
                assert law.has_between(x, y) is inside


def test_expectations_of_piecewise_linear_prices() -> None:
    places = [F(0), F(1, 7), F(1, 4), F(2, 5), F(1, 2), F(9, 10), F(1)]
    values = [F(0), F(1, 9), F(1, 4), F(1, 2), F(1, 2), F(1), F(2)]

    def price(x: Fraction) -> Fraction:
        segments = zip(zip(places, values, strict=True), zip(places[1:], values[1:], strict=True), strict=False)
        ((a, low), (b, high)) = next((one, two) for one, two in segments if one[0] <= x <= two[0])
        return low + (high - low) * (x - a) / (b - a)

    for number in range(3):
        law = law_of(number)
        mean = sum((p * price(size) for size, p in law.atoms), F(0))
        for low, high, p in law.pieces:
            cuts = sorted({low, high, *(x for x in places if low < x < high)})
            for a, b in pairwise(cuts):  # a linear function has its mean in the middle
                mean += p * (b - a) / (high - low) * price((a + b) / 2)
        assert law.expectation(places, values) == mean
    assert law_of(2).expectation([F(1, 3)], [F(4, 5)]) == F(4, 5)
    for wrong in ([F(1, 4), F(3, 10)], [F(2, 5), F(1, 2)]):
        try:
            law_of(2).expectation(wrong, [F(0), F(1)])
        except checker.Refused as reason:
            assert str(reason) == "a size lies outside the prices"
        else:
            raise AssertionError("priced a size outside the prices")
    for wrong in ([F(1, 10), F(7, 10)], [F(1, 5), F(3, 4)]):
        try:
            law_of(0).expectation(wrong, [F(0), F(1)])
        except checker.Refused as reason:
            assert str(reason) == "a piece lies outside the prices"
        else:
            raise AssertionError("priced a piece outside the prices")


def test_reduced_configurations_are_the_maximal_ones() -> None:
    """One job of (1/2, 2/3] or none, and as many as fit of one other queue, at the largest sizes of the queues."""
    for J in range(2, 9):
        tops = [F(n, 3 * 2 ** (m + 1)) for m in range(J) for n in (6, 4)]
        found = set()
        for j, first in product(range(2 * J), (0, 1)):
            if first and (j == 1 or tops[j] > F(1, 3)):
                continue  # no job of this queue has room beside the first
            k = [0] * (2 * J)
            k[1] = first
            k[j] += int((1 - first * tops[1]) / tops[j])
            found.add(tuple(k))
        maximal = {
            k for k in found if not any(k != m and all(a <= b for a, b in zip(k, m, strict=True)) for m in found)
        }
        listed = checker.reduced_configurations(J)
        assert {tuple(k) for k in listed} == maximal
        assert len(listed) == len(maximal)
        assert all(type(n) is int for k in listed for n in k)


def test_servers_are_apportioned_by_largest_remainder() -> None:
    draw = random.Random(6)
    for _ in range(40):
        weights = [draw.randint(1, 9) for _ in range(draw.randint(1, 5))]
        shares = [F(w, sum(weights)) for w in weights]
        model = checker.Model([], [], [], [checker.Pool(str(p), s, (), (), ()) for p, s in enumerate(shares)])
        count = draw.randint(1, 40)
        sizes = checker.apportioned(model, count)
        assert sum(sizes) == count
        left = [count * s - int(count * s) for s in shares]
        up = [p for p, (n, s) in enumerate(zip(sizes, shares, strict=True)) if n == int(count * s) + 1]
        assert all(n - int(count * s) in (0, 1) for n, s in zip(sizes, shares, strict=True))
        first = sorted(range(len(shares)), key=lambda p: (-left[p], p))
        assert sorted(first[: len(up)]) == up


def test_units_of_resources() -> None:
    room = {"x": F(7, 2), "y": F(5), "z": F(3)}
    demands = [{"x": F(1, 2), "y": F(4)}, {"x": F(3, 4)}, {"y": F(6), "x": F(1)}]
    capacity, rows = checker._in_units(room, demands, ["w", "x", "y", "z"])
    assert capacity == (0, 14, 2, 3)
    assert rows == ((0, 2, 2, 0), (0, 3, 0, 0), (0, 4, 3, 0))
    assert checker._in_units({}, demands, ["x"]) == ((), ())
    draw = random.Random(7)
    for _ in range(30):
        column = [F(draw.randint(0, 6), draw.randint(1, 6)) for _ in range(3)]
        size = F(draw.randint(1, 40), draw.randint(1, 6))
        (units_,), rows = checker._in_units({"x": size}, [{"x": d} for d in column], ["x"])
        for k in product(range(5), repeat=3):
            fits = sum((n * d for n, d in zip(k, column, strict=True)), F(0)) <= size
            assert (sum(n * row[0] for n, row in zip(k, rows, strict=True)) <= units_) is fits
        whole = [int(d * lcm(*(e.denominator for e in column))) for d in column]
        assert gcd(*(row[0] for row in rows)) == (1 if any(whole) else 0)


def test_what_is_read_cannot_be_changed() -> None:
    pool, law = additive([1], [[1]]), law_of(2)
    objects = [
        (pool, "share"),
        (law, "atoms"),
        (checker.Model([], [], [], []), "names"),
        (checker.Stage([], [], F(0), []), "fraction"),
        (checker.Share([], [], [], [], [], [], []), "users"),
        (checker.Cluster({}, {}, {}, set()), "one"),
    ]
    for value, field in objects:
        try:
            setattr(value, field, 0)
        except FrozenInstanceError:
            continue
        raise AssertionError(type(value))


def test_lengths_that_do_not_match_are_a_fault() -> None:
    """No vector is cut in silence to the length of another."""
    two, one = additive([3, 3], [[1, 0], [0, 1]]), F(1)
    listed = checker.Pool("p", one, (), (), ((1, 1),))
    model = checker.Model(["a", "b"], [one, one], [one, one], [additive([1], [[1], [1]])])
    share = checker.Share(["u"], ["s"], [one], [[{"r": one}]], [[one]], [one], [None])
    stage = {"prices": {"s": {"r": "1"}}, "values": {"u": "1"}}
    long = {"r": one}
    faults: list[Callable[[], Any]] = [
        lambda: listed.holds((0,)),
        lambda: two.holds((0,)),
        lambda: additive([1, 2], [[1]]).most(0),
        lambda: checker.greatest(additive([3], [[1, 1]]), [1], [0]),
        lambda: checker.most_of([3], [9, 1]),
        lambda: checker.cleared([1, 2], [1], 0, 1),
        lambda: checker.total([1], [1, 2]),
        lambda: checker.left_over(model, [1, 1], [one, one], [0, 0], [0, 1]),
        lambda: checker.end_of([2, 2], [1], 0, 2),
        lambda: checker.placed([1], [(1,), (1,)], 0),
        lambda: checker.load_of([[{"r": one}]], [[one], [one]], 0),
        lambda: checker.heights(checker.Share(["u"], ["s"], [one], [], [[one]], [one], [None]), [one], "tsf"),
        lambda: checker.heights(
            checker.Share(["u"], ["s"], [one], [[long]], [[one, one]], [one], [None]), [one], "tsf"
        ),
        lambda: checker.heights(share, [one, one], "tsf"),
        lambda: checker.stage_values(share, [[long, long]], stage),
        lambda: checker.require_once([[[1, 0], [0]]]),
        lambda: checker.rank([[1, 2], [1]]),
        lambda: law_of(2).expectation([F(0), one], [F(0)]),
        lambda: checker.require_worth(3, [1, 2], [F(0)], [False]),
        lambda: checker.require_worth(3, [1, 2], [F(0), F(0)], []),
    ]
    for number, fault in enumerate(faults):
        try:
            fault()
        except ValueError:
            continue
        raise AssertionError(number)


def test_what_one_pool_ignores_is_said_in_full() -> None:
    """Borders where there are several servers, capacities that differ by user, users that may not run everywhere."""
    two = [{"name": "a"}, {"name": "b"}]
    anywhere, one, weak = {"name": "u"}, {"name": "v", "servers": ["a"]}, {"name": "w", "effective": {"a": {"cpu": 1}}}
    both, borders = {"name": "x", "servers": ["a", "b"]}, "borders of servers"
    cases = [
        ([anywhere, both], borders),
        ([anywhere, one], f"{borders}, placement"),
        ([weak, anywhere], f"{borders}, effective capacities"),
        ([weak, one], f"{borders}, effective capacities, placement"),
    ]
    for users, right in cases:
        instance = {"server": two, "user": users}
        checker.require_ignored(instance, right, pooled=True)
        checker.require_ignored(instance, None, pooled=True)
        wrong = [(text, True) for text in ("", borders, f"{borders}, placement", f"{right}, x") if text != right]
        for text, pooled in [*wrong, (right, False)]:
            try:
                checker.require_ignored(instance, text, pooled=pooled)
            except checker.Refused:
                continue
            raise AssertionError(users, text)
    try:
        checker.require_ignored({"server": two[:1], "user": [anywhere]}, borders, pooled=True)
    except checker.Refused:
        return
    raise AssertionError
