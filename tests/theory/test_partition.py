"""Laws, partitions, and both bounds of the maximum supportable workload, against closed forms and brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.certificates.throughput import throughput_certificate
from theory.exact.knapsack.configurations import feasible, maximal
from theory.instance import Additive
from theory.partition.bounding import bracket, brackets
from theory.partition.cuts import by_cuts, by_sets, equal_probability
from theory.partition.guarantees import adversarial_law, best_partitions, guarantee
from theory.partition.laws import Law, discrete, piecewise, uniform
from theory.partition.mixing import SizeCell, initial_cells, mixed, room
from theory.partition.rounded import lower_rounded, supportable, upper_rounded
from theory.partition.spread import Prices, greatest_worth, lemma_2, spread_prices
from theory.partition.universal import reduced_configurations, universal_partition, vqs_workload

F = Fraction


@st.composite
def laws(draw: st.DrawFn) -> Law:
    """Draw laws of pieces and atoms in twentieths."""
    ends = sorted(draw(st.lists(st.integers(0, 20), min_size=2, max_size=6, unique=True)))
    ends = ends[: len(ends) // 2 * 2]
    rows = [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    rows += [(a, a) for a in draw(st.lists(st.integers(1, 20), max_size=3, unique=True))]
    weights = draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    return piecewise([(F(a, 20), F(b, 20), F(w, sum(weights))) for (a, b), w in zip(rows, weights, strict=True)])


@given(laws(), st.lists(st.integers(1, 59), max_size=8, unique=True))
def test_probabilities_add_up_and_hats_keep_the_mean(law: Law, cuts: list[int]) -> None:
    partition = by_cuts(F(c, 60) for c in cuts)
    assert sum(partition.probabilities(law)) == 1
    points = [F(0), *sorted(F(c, 60) for c in cuts), F(1)]
    weights = law.hats(points)
    assert sum(weights) == 1
    assert min(weights) >= 0
    assert sum(w * x for w, x in zip(weights, points, strict=True)) == law.mean


@pytest.mark.slow
@given(laws())
def test_cells_cover_a_law(law: Law) -> None:
    for number in (1, 5, 17):
        cells = initial_cells(law, number)
        assert sum(cell.probability for cell in cells) == 1
        assert sum(cell.probability * cell.middle for cell in cells if cell.width) == sum(
            piece.probability * (piece.lower + piece.upper) / 2 for piece in law.pieces
        )


def test_equal_probability_cells_have_it() -> None:
    law = piecewise([("1/10", "1/5", "1/3"), ("1/2", "9/10", "2/3")])
    for number in (2, 3, 7):
        assert set(equal_probability(law, number).probabilities(law)) == {F(1, number)}
    with pytest.raises(ValueError, match="without atoms"):
        equal_probability(discrete({"1/2": 1}), 2)


def test_gaps_and_overlaps_are_named() -> None:
    with pytest.raises(ValueError, match=r"gap.*\(1/3, 1/2\]"):
        by_sets([[(0, "1/3")], [("1/2", 1)]])
    with pytest.raises(ValueError, match=r"overlap.*\(1/3, 1/2\]"):
        by_sets([[(0, "1/2")], [("1/3", 1)]])
    with pytest.raises(ValueError, match="within"):
        by_sets([[(0, "3/2")]])
    assert universal_partition(2).queue_of(F(1, 3)) == 3
    assert universal_partition(2).queue_of(F(2, 3)) == 1


@pytest.mark.parametrize("seed", range(12))
def test_supportable_is_the_configuration_program_of_all_configurations(seed: int) -> None:
    from scipy.optimize import linprog

    generator = random.Random(seed)
    sizes = generator.sample(range(3, 20), 4)
    weights = [generator.randint(1, 5) for _ in sizes]
    share = [F(w, sum(weights)) for w in weights]
    best = supportable([F(s, 20) for s in sizes], share)
    assert best is not None
    rows = maximal(Additive(("size",), (20,), tuple((s,) for s in sizes), (F(1),)))
    a = np.hstack([np.array([[float(p)] for p in share]), -rows.T.astype(float)])
    cost = np.zeros(len(rows) + 1)
    cost[0] = -1
    found = linprog(cost, a, np.zeros(4), np.array([[0, *np.ones(len(rows))]]), [1], method="highs")
    assert float(best.workload) == pytest.approx(-found.fun, rel=1e-9)
    slots = [sum(x * k[j] for k, x in best.columns) for j in range(4)]
    assert slots == [best.workload * p for p in share]
    assert sum(y * p for y, p in zip(best.prices, share, strict=True)) * best.workload == 1
    assert all(sum(y * n for y, n in zip(best.prices, map(int, k), strict=True)) <= 1 for k in rows)


@pytest.mark.slow
@given(laws())
def test_bounds_are_in_order_and_close_in(law: Law) -> None:
    found = list(brackets(law, F(1, 10)))
    for before, after in pairwise(found):
        assert before.lower <= after.lower
        assert after.upper <= before.upper
    best = found[-1]
    assert best.lower <= best.upper <= best.lower * F(11, 10)
    assert best.upper <= 1 / law.mean
    fine = by_cuts(F(i, 20) for i in range(1, 20))
    low, high = upper_rounded(law, fine), lower_rounded(law, fine)
    assert low <= best.upper
    assert high is None or best.lower <= high
    vqs = vqs_workload(law)
    assert 3 * vqs.workload >= 2 * (1 - vqs.lost) * best.lower


CLOSED_FORMS = [
    (uniform("1/10", "9/10"), F(2)),  # every size beside its complement
    (uniform("1/100", "19/100"), F(10)),
    (uniform("1/2", 1), F(1)),  # no two jobs fit
    (uniform("1/3", "1/2"), F(2)),  # any two, no three
    (uniform("2/5", "3/4"), F(7, 5)),  # [2/5, 1/2] beside [1/2, 3/5], the rest alone
    (discrete({"2/5": "1/2", "3/5": "1/2"}), F(2)),
    (piecewise([("1/4", "1/3", "1/2"), ("2/3", "3/4", "1/2")]), F(2)),
]


@pytest.mark.parametrize(("law", "maximum"), CLOSED_FORMS)
def test_closed_forms_lie_in_the_bracket(law: Law, maximum: Fraction) -> None:
    best = bracket(law, F(1, 50))
    assert best.lower <= maximum <= best.upper <= best.lower * F(51, 50)


def test_the_papers_uniform_laws_are_exact_from_one_cell() -> None:
    for law, maximum in CLOSED_FORMS[:2]:
        best = bracket(law, F(0))
        assert best.lower == best.upper == maximum
        assert len(best.below.cells) == 1


@pytest.mark.slow
@settings(max_examples=25)
@given(laws(), st.integers(2, 5))
def test_metamorphic_a_split_piece_is_the_same_law(law: Law, parts: int) -> None:
    rows = [(size, size, p) for size, p in law.atoms]
    for piece in law.pieces:
        step = (piece.upper - piece.lower) / parts
        rows += [
            (piece.lower + i * step, piece.lower + (i + 1) * step, piece.probability / parts) for i in range(parts)
        ]
    other = piecewise(rows)
    assert other.mean == law.mean
    a, b = bracket(law, F(1, 10)), bracket(other, F(1, 10))
    assert a.lower <= b.upper
    assert b.lower <= a.upper
    assert vqs_workload(law).workload == vqs_workload(other).workload


def polygon_coordinates(widths: list[float], turns: int, generator: np.random.Generator) -> np.ndarray:
    """Return one coordinate of the sides of a closed polygon, over random rotations, float64[turns, n]."""
    from scipy.spatial.transform import Rotation

    # a triangle of the longest side, a chain of the next, and a chain of the rest
    a, b = widths[0], sum(widths[1 : len(widths) // 2 + 1])
    c = sum(widths[len(widths) // 2 + 1 :])
    if not max(a, b, c) <= (a + b + c) / 2:
        pytest.skip("this split closes no triangle")
    x = (b * b - c * c + a * a) / (2 * a)
    corner = np.array([x, np.sqrt(max(0.0, b * b - x * x)), 0.0])
    directions = [np.array([-a, 0.0, 0.0]) / a]
    directions += [corner / b] * (len(widths) // 2)
    directions += [(np.array([a, 0.0, 0.0]) - corner) / c] * (len(widths) - len(widths) // 2 - 1)
    sides = np.array([w * d for w, d in zip(widths, directions, strict=True)])
    turned = Rotation.random(turns, rng=generator)
    return np.stack([turned.apply(side)[:, 2] for side in sides], axis=1) / 2


@pytest.mark.parametrize("widths", [[2.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 1.0, 2.0, 0.5]])
def test_turned_polygons_mix_uniform_sizes_to_a_constant(widths: list[float]) -> None:
    from scipy.stats import kstest

    sample = polygon_coordinates(widths, 20_000, np.random.default_rng(3))
    assert np.abs(sample.sum(axis=1)).max() < 1e-9
    for w, column in zip(widths, sample.T, strict=True):
        assert kstest(column, "uniform", args=(-w / 2, w)).pvalue > 1e-7  # false alarm 1e-7 each


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), min_size=1, max_size=5))
def test_room_lies_between_middles_and_tops(pairs: list[tuple[int, int]]) -> None:
    cells = [SizeCell(F(b, 20), F(w, 20), F(1, len(pairs))) for b, w in pairs]
    needed = room(cells, [1] * len(cells))
    assert sum(cell.middle for cell in cells) <= needed <= sum(cell.top for cell in cells)
    less = room(cells[1:], [1] * (len(cells) - 1))
    assert less <= needed


@pytest.mark.slow
@given(laws())
def test_mixed_columns_fit_and_serve(law: Law) -> None:
    found = mixed(initial_cells(law, 9))
    assert all(room(found.cells, k) <= 1 for k, _ in found.columns)
    assert sum(x for _, x in found.columns) <= 1
    for j, cell in enumerate(found.cells):
        assert sum(k[j] * x for k, x in found.columns) == found.workload * cell.probability


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 9)), min_size=2, max_size=5, unique_by=lambda row: row[0]))
def test_greatest_worth_is_that_of_brute_force(rows: list[tuple[int, int]]) -> None:
    points, values = zip(*sorted(rows), strict=True)
    grid = 12
    found = greatest_worth(grid, points, values, [True] * (len(points) - 1))
    sizes = list(range(points[0], points[-1] + 1))
    price = np.interp(sizes, points, values)
    space = Additive(("size",), (grid,), tuple((s,) for s in sizes), (F(1),))
    assert float(found) == pytest.approx(float((feasible(space) @ price).max()))


@pytest.mark.slow
@given(laws())
def test_prices_hold_for_random_configurations(law: Law) -> None:
    prices = spread_prices(law, 20, range(21))
    generator = random.Random(8)
    sizes = [float(x) for x, _ in law.atoms]
    for piece in law.pieces:
        sizes += [generator.uniform(float(piece.lower), float(piece.upper)) for _ in range(20)]
    for _ in range(200):
        left, worth = 1.0, 0.0
        for x in generator.sample(sizes, min(len(sizes), 12)):
            if x <= left:
                left, worth = left - x, worth + float(prices.at(np.array([x]))[0])
        assert worth <= 1 + 1e-9
    assert prices.bound(law) <= lemma_2(law).bound(law) * (1 + F(1, 1000))


def test_prices_that_are_not_may_exceed_one() -> None:
    wrong = Prices(10, (4, 7), (F(1, 2), F(1)))
    assert greatest_worth(10, wrong.points, [1, 2], [True]) == F(8, 3)  # 2/5 and 3/5
    assert greatest_worth(10, wrong.points, [1, 2], [False]) == 2


def test_reduced_configurations_of_the_paper() -> None:
    assert reduced_configurations(3)[:3] == [(1, 0, 0, 0, 0, 0), (0, 0, 2, 0, 0, 0), (0, 0, 0, 0, 4, 0)]
    for J in (2, 3, 5):
        best = vqs_workload(uniform(F(1, 2**J), 1))
        assert best.J == J
        assert best.lost == 0
        assert max(sum(y * n for y, n in zip(best.prices, k, strict=True)) for k in reduced_configurations(J)) == 1
    with pytest.raises(ValueError, match="at least 2"):
        universal_partition(1)


@pytest.mark.slow
@given(st.lists(st.integers(1, 99), max_size=10, unique=True))
def test_no_partition_keeps_more_than_two_thirds_of_its_own_law(cuts: list[int]) -> None:
    partition = by_cuts(F(c, 100) for c in cuts)
    law = adversarial_law(partition)
    assert bracket(law).lower == 2
    assert upper_rounded(law, partition) <= F(4, 3)


@pytest.mark.parametrize(
    ("cuts", "least", "ratio"),
    [([], "1/2", "1"), ([], "1/3", "1/2"), (["1/2"], "1/4", "2/3"), (["1/4", "1/2"], "1/8", "4/7")],
)
def test_guarantees(cuts: list[str], least: str, ratio: str) -> None:
    found = guarantee(cuts, least)
    assert found.ratio == F(ratio)
    law = found.worst_law
    assert law.cumulative(F(least)) == 0
    whole = supportable([x for x, _ in law.atoms], [p for _, p in law.atoms])
    assert whole is not None
    assert whole.workload == sum(found.jobs)
    assert upper_rounded(law, by_cuts(cuts)) == found.ratio * whole.workload


def test_servers_carry_in_proportion() -> None:
    law, partition = uniform("1/10", "9/10"), by_cuts(["1/10", "1/2"])
    assert (lower_rounded(law, partition), lower_rounded(law, partition, 3)) == (F(10, 3), F(10))
    assert upper_rounded(law, partition, 3) == 3 * upper_rounded(law, partition)


def test_refining_a_partition_never_lowers_its_guarantee() -> None:
    generator = random.Random(9)
    for _ in range(15):
        cuts = [F(c, 24) for c in generator.sample(range(5, 24), 3)]
        ratios = [guarantee(cuts[:n], "1/5").ratio for n in range(4)]
        assert ratios == sorted(ratios)


def test_best_partitions_are_best_of_all() -> None:
    every = {c: guarantee([F(c, 12)], "1/5").ratio for c in range(3, 12)}
    *_, best = best_partitions(1, "1/5", 12)
    assert best.ratio == max(every.values())


def test_sizes_of_very_different_scales() -> None:
    tiny = F(1, 10**9)
    best = bracket(discrete({tiny: "1/4", "1/3": "1/2", "3/5": "1/4"}), F(1, 1000))
    assert best.lower <= F(3) <= best.upper <= best.lower * F(1001, 1000)
    with pytest.raises(ValueError, match=r"2\^-30"):
        vqs_workload(discrete({tiny / 1000: "1/4", "1/3": "3/4"}))


@pytest.mark.soak
def test_many_random_laws_close_in() -> None:
    from bounds import checker

    pass
    from bounds.results.instances.drawn import random_law
    from theory.files.sizes import Sizes

    generator = random.Random(77)
    for _ in range(300):
        law = random_law(generator)
        best = bracket(law, F(1, 50))
        assert best.gap <= F(1, 50)
        checker.check(throughput_certificate(Sizes(law), best, vqs_workload(law)))
