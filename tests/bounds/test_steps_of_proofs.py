"""Single steps of proofs in words, on instances: what greedy loses, and the fair division of one server."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, log1p

import numpy as np
import pytest

from bounds.adversary.by_size import EVERY_ON_ONE
from bounds.results.instances.families import (
    one_resource_family,
    one_resource_inserted,
    one_resource_limit,
    one_resource_member,
)
from bounds.results.packproof import all_types
from bounds.results.packproof.all_types import chain_of, exceeds, hard_steps, steps_hold
from bounds.results.packproof.anchors import Anchor, Node, after, anchors_hold, cases, greatest, moved
from bounds.results.packproof.existence import divided
from bounds.results.packproof.five_types import BY_HAND, Cases, best_rewards, lost_by, two_types_hold
from bounds.results.packproof.general import numbers, share
from bounds.results.packproof.one_resource import most_lost
from bounds.results.packproof.potential import UNIT, Potential, log_below
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.numbers import total
from theory.sharing.model import cluster


def test_what_greedy_loses_is_bounded_by_averages() -> None:
    """U* - U^(g) <= U_J (sum_i u_i y_i / U_i - 1) where each stage exhausts one type, on one resource or several."""
    generator, bounded = np.random.default_rng(3), 0
    instances = [one_resource_family(types) for types in (2, 3, 4)]
    for _ in range(150):
        types, resources = int(generator.integers(2, 5)), int(generator.integers(1, 3))
        capacity, demands = [24] * resources, generator.integers(3, 13, (types, resources)).tolist()
        rewards = [Fraction(int(generator.integers(80, 120)) * sum(row), 100) for row in demands]
        workload = [Fraction(int(generator.integers(1, 8)), 4) for _ in range(types)]
        instances.append(additive(capacity, demands, rewards, workload))
    for instance in instances:
        solution = solve(instance)
        greedy, optimal = solution.greedy, solution.optimal
        if greedy.serves_all or len(greedy.stages) < len(instance.types):
            continue
        averages = total(
            instance.rewards[j] * optimal.served[j] / stage.reward
            for j, stage in zip(greedy.permutation, greedy.stages, strict=True)
        )
        bounded += 1
        assert optimal.reward - greedy.reward <= greedy.stages[-1].reward * (averages - 1)
    assert bounded > 10


@pytest.mark.parametrize(("n", "other"), [(2, 6), (6, 2), (3, 4), (9, 3), (5, 7), (2, 40)])
def test_what_two_small_types_lose_is_bounded(n: int, other: int) -> None:
    """The bound is reached at a corner of the grid of shares, or between its points, and never exceeded."""
    shares = [[Fraction(i, 60 * most) for i in range(1, 61)] for most in (n, other)]
    largest = max((1 - a) * (1 - b) * (a + b) for a, b in product(*shares))
    assert largest <= most_lost(n, other) < largest + Fraction(1, 1000)


@pytest.mark.slow
def test_the_potential_bounds_what_every_job_adds() -> None:
    """A coarse table: extreme steps against it with logarithms in floats; the rooms beyond its cells matter."""
    generator = np.random.default_rng(4)
    steps = list(hard_steps(3000, generator))
    table, careless = Potential(16, octaves=6), Potential(16, octaves=6, skipped=1)
    assert Fraction("0.6963") < 1 - table.lost() < 1 - careless.lost() + Fraction(1, 10**9)
    for room, size, part in steps:
        r, a = room // size, float(part)
        gain = log((1 - r * a) / (1 - (r - 1) * a)) + a / 0.6067
        assert gain + table.at(room - size) / UNIT <= table.at(room) / UNIT + 1e-12
    assert any(exceeds(careless, *step) for step in steps)


def relaxed_loss(ns: list[int], parts: list[float]) -> float:
    """Return prod(V_{i+1}/V_i) sum(a_i) for types of sizes just above 1/(n + 1), as the lemmas on contents have it."""
    room, reward, product_, total_ = 0.5, 1.0, 1.0, 0.0
    anchors = [(1, 0.0)]  # M, and V_{l+1}
    for n, part in zip(ns, parts, strict=True):
        size, a = 1 / (n + 1) + 1e-12, part / n
        if size > room:
            break
        anchors.append((int(1 / room), reward))
        r = int(room / size)
        ratio = max(a * m * (1 - before / reward) / max(1e-9, 1 - m * r * a) for m, before in anchors)
        reward, product_, total_, room = reward * (1 + ratio), product_ / (1 + ratio), total_ + a, room - size
    return product_ * total_


def test_no_chain_loses_more_than_the_search_decides() -> None:
    """Chains near the worst, by the lemmas in floats; the known ones come within 0.00003."""
    generator, worst = np.random.default_rng(12), 0.0
    for _ in range(4000):
        ns, room = [], 0.5
        while room > 1e-4 and len(ns) < 9:
            n = int(1 / room) + int(generator.integers(1, 6)) ** 2 // 3
            ns.append(max(n, 2))
            room -= 1 / (ns[-1] + 1)
        parts = np.where(generator.random(len(ns)) < 0.8, 1.0, generator.uniform(0.9, 1, len(ns)))
        worst = max(worst, relaxed_loss(ns, parts.tolist()))
    known = relaxed_loss([3, 7, 15, 31, 32, 1056], [1.0] * 6)
    assert worst <= float(1 - EVERY_ON_ONE)
    assert float(1 - EVERY_ON_ONE) - 3e-5 < known < float(1 - EVERY_ON_ONE)


def test_the_greatest_value_of_a_concave_function_is_bounded_closely() -> None:
    generator = np.random.default_rng(6)
    for _ in range(200):
        m, r, rho = int(generator.integers(1, 20)), int(generator.integers(1, 9)), float(generator.uniform(0, 0.99))
        high = float(generator.uniform(0.05, 0.9)) / (m * r)
        low = float(generator.uniform(0, 1)) * high
        places = np.linspace(low, high, 2001)
        values = 1.6 * places + np.log(1 - m * r * places) - np.log(1 - m * (r - 1 + rho) * places)
        whole = [int(x * UNIT) for x in (1.6, m * r, m * (r - 1 + rho), low, high)]
        bound = greatest(*whole)
        assert bound is not None
        assert -1e-9 < bound / UNIT - values.max() < 1e-5
    assert greatest(UNIT, 4 * UNIT, 0, UNIT // 4, UNIT // 2) is None


@pytest.mark.slow
def test_nodes_after_a_type_are_enough() -> None:
    """Any room, thin types before and size: the pair (n, r) is listed, and both nodes promise no more than is left."""
    generator, tried = np.random.default_rng(22), 0
    while tried < 3000:
        room, closed = sorted(int(UNIT * x) for x in generator.uniform(0.02, 0.5, 2))[::-1]
        node = Node(room, UNIT // 5, int(UNIT * generator.uniform(0, 0.3)), (Anchor(1, 0),))
        thin = 24 * UNIT // room + 1
        before = int(generator.integers(closed + 1, room + 1))
        n = int(generator.integers(max(2, UNIT // before), thin))
        size = UNIT // (n + 1) + 1 + int(generator.integers(0, UNIT // (n * (n + 1))))
        r = before // size
        if UNIT // size != n or not 1 <= r <= n // 2:
            continue
        tried += 1
        assert (n, r) in set(cases(node, thin, closed))
        slope = node.slope + int(UNIT * generator.uniform(0, 0.3))
        for later in after(node, slope, n, r):
            left = before - size
            assert left <= later.room + 2
            promised = later.budget - later.slope * (later.room - left) / UNIT
            assert promised <= node.budget - slope * (room - before) / UNIT + 64


def test_anchors_know_what_was_earned_before() -> None:
    """Anchors of a type with at least a share bound the part of the reward before them, in exact numbers."""
    generator = np.random.default_rng(19)
    for _ in range(300):
        copies, r = int(generator.integers(1, 9)), int(generator.integers(1, 5))
        anchor = Anchor(copies, int(generator.integers(0, UNIT)))
        low = int(generator.integers(1, UNIT // (copies * r)))
        share = Fraction(low + int(generator.integers(0, (UNIT // (copies * r) - low) // 2 + 1)), UNIT)
        before = Fraction(anchor.earlier, UNIT)
        least = 1 + copies * (1 - before) * share / (1 - copies * r * share)  # V_i/V_{i+1}, at least
        later = moved([anchor], r, low)
        assert later is not None
        assert before / least * UNIT <= later[0].earlier
        exact = moved([anchor], r, int(share * UNIT))
        assert exact is not None
        assert exact[0].earlier <= before / least * UNIT + 2
    assert moved([Anchor(4, 0)], 1, UNIT // 4) is None


def test_contents_that_repeat_types_earn_what_the_lemmas_say() -> None:
    member = one_resource_member(3, 2)
    space = member.pools[0].space
    sizes, values = [row[0] for row in space.demands], [int(u * 64) for u in member.rewards]
    assert anchors_hold(space.capacity[0], sizes, values)
    assert not anchors_hold(space.capacity[0], sizes, values, more=1)


def test_the_most_that_a_job_adds_is_bounded_closely() -> None:
    table = Potential(16, octaves=6)
    for r in range(1, 16):
        for n in range(2 * r, 9 * r + 2):
            places = np.linspace(0, 1 / n, 1001)
            values = np.log((1 - r * places) / (1 - (r - 1) * places)) + places / 0.6067
            assert values.max() - 1e-12 < table.gain(n, r) / UNIT < values.max() + 1e-6


def test_logarithms_are_rounded_down_by_little() -> None:
    for above, below in ((2, 1), (4097, 4096), (10**30 + 1, 10**30), (7, 2), (5, 5)):
        exact = log1p((above - below) / below) * UNIT
        assert -1e-15 * UNIT < exact - log_below(above, below) < 1e-15 * UNIT
    assert log_below(2, 1) < Fraction("0.693147180559945309417232121458") * UNIT < log_below(2, 1) + 2


def test_contents_of_a_server_satisfy_the_steps_of_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps_hold(19, [4, 5, 10], [1, 1, 2])
    generator = np.random.default_rng(8)
    drawn = [chain_of(generator, 8) for _ in range(40)]
    assert all(2 * sizes[-1] > capacity >= sum(sizes) for capacity, sizes, _ in drawn)
    assert len({len(sizes) for _, sizes, _ in drawn}) > 2
    monkeypatch.setattr(all_types, "best_rewards", lambda *content: [best - 1 for best in best_rewards(*content)])
    assert not steps_hold(19, [4, 5, 10], [1, 1, 2])


@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 2), (3, 1), (2, 1), (1, 3)])
def test_stages_of_the_known_instances(p: int, m: int) -> None:
    """Each stage holds one type alone, in the order of the list; all contents of the server are tried."""
    instance = one_resource_member(p, m)
    greedy = solve(instance).greedy
    t, earned = numbers(p, m)
    small, large = ([Fraction(t[i], earned[i]) for i in range(m)], [1 - Fraction(1, 2**k) for k in range(1, p + 1)])
    assert [stage.reward for stage in greedy.stages] == small[::-1] + large[::-1]
    assert [sum(map(bool, stage.configurations[0])) for stage in greedy.stages] == [1] * (p + m)
    assert greedy.permutation == tuple(range(p + m))


def test_limits_enclose_the_shares_of_large_members() -> None:
    for p in range(1, 8):
        low, high = one_resource_limit(p)
        assert low <= share(p, 8) <= high < share(p, 4) < share(p, 3)
        wide = [one_resource_limit(p, m) for m in range(1, 6)]
        assert all(0 < b - a < Fraction(3, 2 ** (p * 2**m)) for m, (a, b) in enumerate(wide, 1))
        assert all(a < low < high < b for a, b in wide)


def test_what_one_server_loses_is_attained_and_never_more_than_proved() -> None:
    """Sizes and rewards at random, against the three numbers of the proof; the families attain them."""
    lost = {3: Fraction(7, 24), 4: Fraction(101, 336), 5: Fraction(248, 819)}
    family = {5: one_resource_inserted(5), 4: one_resource_family(4), 3: one_resource_family(3)}
    generator = np.random.default_rng(11)
    for types, most in lost.items():
        space = family[types].pools[0].space
        sizes = [row[0] for row in space.demands]
        values = [int(u / min(family[types].rewards)) for u in family[types].rewards]
        assert lost_by(space.capacity[0], sizes, values) == most
        assert lost_by(space.capacity[0] + 1, sizes, values) < most
        for _ in range(60):
            sizes = generator.integers(1, 2 ** (types + 1), types).tolist()
            values = [int(generator.integers(1, 2 * size + 2)) for size in sizes]
            assert lost_by(sum(sizes) + int(generator.integers(0, 3)), sizes, values) <= most


def test_what_one_server_loses_by_hand() -> None:
    """Sizes 2 and 3 of 5: one of each earns 2, two small ones earn 2, one large one earns 1: 1/2 + 1 - 1 of 2."""
    assert lost_by(5, [2, 3], [1, 1]) == Fraction(1, 4)


@pytest.mark.slow
def test_cases_of_words_are_met_and_less_cannot_be_shown() -> None:
    search = Cases(4, Fraction(101, 336))
    assert search.decided()
    assert search.met == BY_HAND[4]
    assert not Cases(4, Fraction(59, 200)).decided()
    five = Cases(5, Fraction(248, 819))
    assert five.decided()
    assert five.met == BY_HAND[5]
    assert not Cases(4, Fraction(101, 336), smaller=2).decided()
    assert two_types_hold(4, Fraction(1, 3), Fraction(101, 224))
    assert not two_types_hold(4, Fraction(1, 3), Fraction(100, 224))


def test_a_server_is_divided_for_what_users_have_elsewhere() -> None:
    """Six tasks of one resource: user 1 has four elsewhere, so user 2 rises alone to four, then both to five."""
    pair = cluster([[6], [6]], [[1], [1]])
    assert divided(pair, [Fraction(4), Fraction(0)], 0) == [1, 5]
    assert divided(pair, [Fraction(9), Fraction(0)], 0) == [0, 6]


def test_a_user_goes_on_where_another_stops() -> None:
    """Users demand (1, 0), (1, 1) and (0, 1) of (2, 6): the first two stop at one task each, the third gets five."""
    three = cluster([[2, 6]], [[1, 0], [1, 1], [0, 1]], weights=[1, 1, 1])
    assert divided(three, [Fraction(0)] * 3, 0) == [1, 1, 5]
