"""Four types on two resources: the quantities of the proof on instances, and its conditions at random points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from scipy.optimize import linprog

from bounds.adversary.by_size import LEAST_ON_TWO, on_record, proven_from_below
from bounds.results.packproof import two_resources
from bounds.results.packproof.two_resources import (
    CAP,
    CERTIFICATES,
    CONTENTS,
    Certificate,
    boxes,
    conditions,
    greatest_product,
    radius,
    undecided,
)
from theory.greedy.optimal import Solution, solve
from theory.instance import Additive, additive
from theory.numbers import total

LOST = 1 - LEAST_ON_TWO[4]


def runs() -> list[Solution]:
    """Return greedy runs of four stages on two resources, where the last stage leaves work."""
    generator = np.random.default_rng(8)
    instances = [on_record()[4, 2][1], on_record()[4, 1][1]]
    for _ in range(300):
        demands = generator.integers(1, 12, (4, 2)).tolist()
        rewards = [Fraction(int(generator.integers(80, 130)) * sum(row), 100) for row in demands]
        workload = [Fraction(int(generator.integers(1, 7)), 4) for _ in range(4)]
        instances.append(additive([24, 24], demands, rewards, workload))
    solutions = map(solve, instances)
    return [one for one in solutions if len(one.greedy.stages) == 4 and not one.greedy.serves_all]


@pytest.mark.slow
def test_what_is_lost_is_a_product_less_the_slack() -> None:
    """G_4 = q_4 - D with the slack of each stage at least 0; what later types earn early is at most the next slack."""
    good = runs()
    assert len(good) > 10
    for run in good:
        best = run.optimal.reward
        lengths = [stage.fraction for stage in run.greedy.stages]
        rewards = [stage.reward / best for stage in run.greedy.stages]
        order = run.greedy.permutation
        earned = [total(x * u for x, u in zip(lengths[:i], rewards[:i], strict=True)) for i in range(5)]
        slack = [u - (1 - f) for u, f in zip(rewards, earned, strict=False)]
        weights = [x * prod(1 - y for y in lengths[i + 1 :]) for i, x in enumerate(lengths)]
        assert min(slack) >= 0
        D = total(w * n for w, n in zip(weights, slack, strict=True))
        assert 1 - earned[4] == prod(1 - x for x in lengths) - D
        for i in range(1, 4):
            work = total(run.instance.rewards[j] * run.instance.workload[j] for j in order[:i]) / best
            assert 0 <= earned[i] - work <= slack[i]


def test_three_resources_are_too_small_for_each_content() -> None:
    """The instance on record that keeps 175/256 on three resources, by its own sizes."""
    instance = on_record()[4, 3][1]
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    order = solve(instance).greedy.permutation
    parts = [
        [instance.workload[j] * d / c for d, c in zip(space.demands[j], space.capacity, strict=True)] for j in order
    ]
    taken = [[total(n * v[r] for n, v in zip(q, parts, strict=True)) for r in range(3)] for q in CONTENTS]
    assert all(total(v[r] for v in parts) <= 1 for r in range(3))
    assert all(max(row) > 1 for row in taken)
    # the rewards at equality are 16, 12, 9 and 27, and a server earns 64, 48, 36
    for q in CONTENTS:
        first = next(i for i, n in enumerate(q) if n)
        assert sum(n * r for n, r in zip(q, (16, 12, 9, 27), strict=True)) > (64, 48, 36, 27)[first]


def overfilled(part: Sequence[Sequence[int]], cap: Fraction) -> bool:
    """Decide in floats whether one resource can be too small for each content, although it holds one of each type."""
    best = linprog(
        [0, 0, 0, 0, -1],
        A_ub=[[1, 1, 1, 1, 0], *([-n for n in q] + [1] for q in part)],
        b_ub=[1] + [-1] * len(part),
        bounds=[(0, None), (0, float(cap)), (0, float(cap)), (0, None), (-2, 1)],
    )
    return bool(-best.fun > 1e-9)


@pytest.mark.parametrize("cap", [CAP, Fraction(3, 10)])
def test_certificates_say_what_another_solver_finds(cap: Fraction) -> None:
    """Two contents that cannot be too large together have a certificate at the cap of the proof; never do others."""
    for chosen in product((0, 1), repeat=len(CONTENTS)):
        part = [q for q, taken in zip(CONTENTS, chosen, strict=True) if taken]
        proved = any(one.proves(cap) and set(one.multipliers) <= set(part) for one in CERTIFICATES)
        if 0 < len(part) < 4:
            assert not (proved and overfilled(part, cap))
            assert proved or overfilled(part, cap) or len(part) == 3


@pytest.mark.parametrize("one", CERTIFICATES)
def test_a_certificate_that_is_altered_proves_nothing(one: Certificate) -> None:
    assert one.proves(CAP)
    assert not replace(one, server=one.server - 1).proves(CAP)
    assert not replace(one, server=one.server + 1).proves(CAP)
    assert not replace(one, caps=(1, *one.caps[1:])).proves(CAP)
    for q in one.multipliers:
        assert not replace(one, multipliers={**one.multipliers, q: one.multipliers[q] + 3}).proves(CAP)
        assert not replace(one, multipliers={**one.multipliers, q: 0}).proves(CAP)
    for i in (1, 2):
        if one.caps[i]:
            fewer = tuple(c - (j == i) for j, c in enumerate(one.caps))
            assert not replace(one, caps=fewer).proves(CAP)


def test_two_resources_are_not_enough_and_three_are() -> None:
    assert not undecided(2)
    assert undecided(3)
    assert undecided(2, Fraction(3, 10))


@pytest.mark.parametrize("missing", range(len(CERTIFICATES)))
def test_each_certificate_is_needed(missing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    others = CERTIFICATES[:missing] + CERTIFICATES[missing + 1 :]
    monkeypatch.setattr(two_resources, "CERTIFICATES", others)
    assert undecided(2)


@pytest.mark.slow
def test_conditions_at_random_points() -> None:
    """Points of the region of the proof, drawn uniformly near its middle."""
    e = radius(LOST)
    needed = conditions(e)
    generator = np.random.default_rng(3)
    inside = 0
    for _ in range(4000):
        p = [Fraction(3, 4) + e * Fraction(int(n), 1000) for n in generator.integers(-1000, 1001, 3)]
        whole = prod(p) * (3 - total(p))
        if whole >= LOST:
            inside += 1
            point = tuple((x, x) for x in p)
            assert all(one.least(point) > one.slack * (whole - LOST) for one in needed)
    assert inside > 100


def test_a_larger_bound_is_not_shown() -> None:
    assert boxes(1 - Fraction(13, 19), 200)[1]
    assert boxes(LOST, 40)[1]  # too few boxes decide nothing
    assert proven_from_below(4, 2) == Fraction(106, 155) > Fraction(175, 256)
    assert proven_from_below(4, 3) == Fraction(175, 256)


def test_products_in_a_box_stay_below_their_bound() -> None:
    """The bound is attained at no corner, and exceeds the product at the corners by little in small boxes."""
    for width in (Fraction(1, 20), Fraction(1, 200)):
        for low in product((Fraction(7, 10), Fraction(31, 40)), repeat=3):
            box = tuple((x, x + width) for x in low)
            corners = [prod(p) * (3 - total(p)) for p in product(*box)]
            assert max(corners) <= greatest_product(box) < max(corners) + 2 * width**2


def test_a_cap_is_met_where_a_stage_is_shorter_than_it() -> None:
    """Without slack v_i <= x_i, so the condition of type i turns at x_i = 2/7."""
    for i in (2, 3):
        (cap,) = (one for one in conditions(radius(LOST)) if one.name.startswith(f"type {i} "))
        point = [(Fraction(3, 4),) * 2] * 3
        point[i - 1] = (1 - CAP,) * 2
        assert cap.least(tuple(point)) == 0
        point[i - 1] = (1 - CAP + Fraction(1, 100),) * 2
        assert cap.least(tuple(point)) > 0


def test_conditions_allow_for_all_slack() -> None:
    """Stages and slacks drawn at random: what a content earns beyond U_m is at least what its condition says."""
    e = radius(LOST)
    generator = np.random.default_rng(6)
    needed = dict(zip(CONTENTS, conditions(e), strict=False))
    for _ in range(300):
        p = [Fraction(3, 4) + e * Fraction(int(n), 1000) for n in generator.integers(-999, 1000, 3)]
        p.append(3 - total(p))
        if abs(p[3] - Fraction(3, 4)) >= e:
            continue
        weights = [(1 - p[i]) * prod(p[i + 1 :]) for i in range(4)]
        D = Fraction(int(generator.integers(0, 300)), 10**6)
        parts = generator.integers(0, 3, (2, 4)) + np.array([[1], [0]])
        slack = [D * int(n) / int(parts[0].sum()) / w for n, w in zip(parts[0], weights, strict=True)]
        less = [D * int(n) / max(1, int(parts[1].sum())) / w for n, w in zip(parts[1], weights, strict=True)]
        G, U = Fraction(1), []
        for i in range(4):
            U.append(G + slack[i])
            G -= (1 - p[i]) * U[i]
        R = [*(u - m for u, m in zip(U, less, strict=True)), Fraction(0)]
        point = tuple((x, x) for x in p[:3])
        for content, one in needed.items():
            first = next(i for i, n in enumerate(content) if n)
            beyond = total(n * (R[j] - R[j + 1]) for j, n in enumerate(content)) - U[first]
            assert beyond >= one.least(point) - one.slack * D


@pytest.mark.slow
def test_boxes_use_the_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, failing = boxes(LOST, 4000)
    assert not failing
    without = [replace(one, slack=Fraction(0)) for one in conditions(radius(LOST))]
    monkeypatch.setattr(two_resources, "conditions", lambda _: without)
    fewer, failing = boxes.__wrapped__(LOST, 4000)
    assert not failing
    assert fewer < seen


def test_a_condition_by_hand() -> None:
    """2 R_2 + R_3 - 3 R_4 - U_2 of (0, 2, 3, 0) at quarters, where h = 4, 16/3, 64/9 and g = 16/9, 64/27."""
    one = conditions(Fraction(0))[CONTENTS.index((0, 2, 3, 0))]
    assert one.factors == (0, 1, 1, -3)
    g, h = (Fraction(64, 27), Fraction(16, 9)), (Fraction(64, 9), Fraction(16, 3), Fraction(4))
    assert one.slack == 2 * (g[0] + h[0]) + (g[1] + h[1]) + 3 * h[2] + h[0]
