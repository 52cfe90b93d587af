"""Capacity regions: facets against a float hull and closed forms, intensity from both sides, slices, metamorphic."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from bounds.testing import explicit_instances, instances, rationals
from theory.errors import InputError, TooLargeError
from theory.exact.columns import generation as columns
from theory.exact.columns.starts import divided
from theory.exact.knapsack.configurations import count_maximal, feasible, maximal
from theory.instance import Additive, Instance, additive, explicit, pooled
from theory.numbers import to_integers, total
from theory.region import facets as facets_module
from theory.region.facets import Region, is_outer_boundary, region_facets
from theory.region.membership import CapacityProgram, Support, stable_servers, traffic_intensity
from theory.region.slices import region_slice
from theory.region.subset import kept_fraction, single_types

PRIMES = (2, 3, 5, 7, 11)
some = instances(max_types=4, max_resources=3, max_pools=3, max_capacity=10) | explicit_instances(max_slots=4)


def inequalities(region: Region) -> set[tuple[tuple[int, ...], Fraction]]:
    return {(facet.normal, facet.offset) for facet in region.facets}


def points_of(instance: Instance, most: int = 3000) -> list[tuple[Fraction, ...]]:
    """Every sum of share times configuration, over all configurations of all pools, if they are few."""
    sums = {(Fraction(0),) * len(instance.types)}
    for pool in instance.pools:
        rows = [tuple(pool.share * int(n) for n in k) for k in feasible(pool.space)]
        assume(len(rows) * len(sums) <= most)
        sums = {tuple(a + b for a, b in zip(x, y, strict=True)) for x in sums for y in rows}
    return sorted(sums)


@pytest.mark.slow
@given(instances(max_types=3, max_resources=2, max_pools=2, max_capacity=7) | explicit_instances(max_types=3))
def test_facets_are_those_of_a_float_hull(instance: Instance) -> None:
    points = points_of(instance)
    found = inequalities(region_facets(instance))
    if len(instance.types) == 1:
        assert found == {((-1,), Fraction(0)), ((1,), max(points)[0])}
        return
    expected = set()
    for *normal, negative in ConvexHull(np.array(points, float)).equations.tolist():
        largest = max(map(abs, normal))
        whole, unit = to_integers([Fraction(a / largest).limit_denominator(500) for a in normal])
        offset = max(total(a * x for a, x in zip(whole, point, strict=True)) for point in points)
        assert abs(float(offset * unit) + negative / largest) < 1e-6
        expected.add((tuple(whole), offset))
    assert found == expected


def test_the_prime_sizes() -> None:
    region = region_facets(additive([40], [[p] for p in PRIMES]))
    rows = feasible(additive([40], [[p] for p in PRIMES]).pools[0].space)
    assert len(rows) == 1634
    assert len(region.facets) == 17
    for facet in region.facets:
        values = rows @ np.array(facet.normal)
        assert values.max() == facet.offset
        assert np.linalg.matrix_rank(rows[values == facet.offset] - rows[values == facet.offset][0]) == 4
    assert ((2, 3, 5, 7, 11), 40) in inequalities(region)


@pytest.mark.parametrize("types", [1, 2, 5, 6])
def test_boxes_and_simplices(types: int) -> None:
    unit = [[int(i == j) for i in range(types)] for j in range(types)]
    box = region_facets(additive([3] * types, unit))
    assert inequalities(box) == {(tuple(s * x for x in e), Fraction(3 * (s > 0))) for e in unit for s in (1, -1)}
    assert len(box.vertices) == 2**types - 1
    simplex = region_facets(additive([10], [[3]] * types))
    assert [(facet.normal, facet.offset) for facet in simplex.outer] == [((1,) * types, 3)]
    assert len(simplex.vertices) == types


@pytest.mark.slow
@settings(max_examples=30)
@given(some, st.data())
def test_intensity_is_the_worst_facet_and_headroom_the_nearest(instance: Instance, data: st.DataObject) -> None:
    region, program = region_facets(instance), CapacityProgram(instance)
    width = len(instance.types)
    workload = data.draw(st.lists(rationals(0, 4), min_size=width, max_size=width))
    answer = program.intensity(workload)
    assert answer.value == region.intensity(workload) == max(region.intensity(workload), Fraction(0))
    assert answer.holds == region.holds(workload)
    support = Support(instance)
    assert total(p * rho for p, rho in zip(answer.prices, workload, strict=True)) == answer.value * answer.support
    assert support.value(answer.prices) == answer.support
    if answer.boundary is not None:
        assert program.boundary(workload) == answer.boundary
        assert region.intensity(answer.boundary) == 1
    room = program.headroom(workload)
    assert (room is None) == (not answer.holds)
    if room is not None:
        for j, extra in enumerate(room):
            gaps = [(f.offset - f.value(workload)) / f.normal[j] for f in region.outer if f.normal[j]]
            assert extra == min(gaps)


@pytest.mark.slow
@settings(max_examples=30)
@given(some, st.data())
def test_generated_columns_give_the_intensity_of_listed_ones(instance: Instance, data: st.DataObject) -> None:
    width = len(instance.types)
    rho = data.draw(st.lists(rationals(0, 4), min_size=width, max_size=width))
    listed = CapacityProgram(instance).intensity(rho).value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ENUMERATE_BELOW", 0)
        assert CapacityProgram(instance).intensity(rho).value == listed
        assert CapacityProgram(instance.with_workload(rho)).intensity().value == listed


@pytest.mark.slow
@settings(max_examples=30)
@given(instances(max_types=4, max_resources=3, max_pools=3, max_capacity=10))
def test_divisible_jobs_need_no_more(instance: Instance) -> None:
    """All is carried, prices and loads meet (strong duality), and whole jobs load servers no less."""
    spaces = [pool.space for pool in instance.pools if isinstance(pool.space, Additive)]
    shares, rho = [float(pool.share) for pool in instance.pools], [float(load) for load in instance.workload]
    found = divided(spaces, shares, rho)
    assert found is not None
    parts, prices = found
    assert parts.sum(axis=0) == pytest.approx(rho)
    assert all(space.most(j) or not parts[p, j] for p, space in enumerate(spaces) for j in range(len(rho)))
    used = parts @ np.array(spaces[0].demands)
    room = np.array([space.capacity for space in spaces]) * np.array(shares)[:, None]
    load = (
        max(use / free for use, free in zip(used.ravel(), room.ravel(), strict=True) if use > 1e-12) if any(rho) else 0
    )
    assert prices @ rho == pytest.approx(load, abs=1e-9)
    assert load <= float(CapacityProgram(instance).intensity().value) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("pools", [2, 5])
def test_many_types_on_several_pools(pools: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns from divided jobs, from whole fillings, and none to start with give the same exact value."""
    generator = random.Random(pools)
    capacities = [
        (generator.randint(1, 3), [generator.randint(30, 60), generator.randint(90, 200)]) for _ in range(pools)
    ]
    demands = [[generator.randint(1, 30), generator.randint(1, 90)] for _ in range(40)]
    instance = pooled(capacities, demands, workload=[Fraction(generator.randint(1, 100), 100) for _ in demands])
    value = CapacityProgram(instance).intensity().value
    monkeypatch.setattr("theory.exact.columns.generation.divided", lambda *_: None)
    assert CapacityProgram(instance).intensity().value == value
    monkeypatch.setattr(columns.ConfigurationColumns, "serve", lambda *_: None)
    assert CapacityProgram(instance).intensity().value == value


@pytest.mark.slow
@settings(max_examples=30)
@given(some, st.data())
def test_intensity_is_a_gauge(instance: Instance, data: st.DataObject) -> None:
    width = len(instance.types)
    a, b = (data.draw(st.lists(rationals(0, 4), min_size=width, max_size=width)) for _ in range(2))
    factor = data.draw(rationals(0, 3))
    program = CapacityProgram(instance)
    z = program.intensity(a).value
    assert program.intensity([factor * x for x in a]).value == factor * z
    both = program.intensity([x + y for x, y in zip(a, b, strict=True)]).value
    assert max(z, program.intensity(b).value) <= both <= z + program.intensity(b).value


@pytest.mark.slow
@settings(max_examples=30)
@given(some, st.randoms(use_true_random=False))
def test_the_region_does_not_depend_on_how_it_is_said(instance: Instance, choose: object) -> None:
    region = region_facets(instance)
    order = list(range(len(instance.types)))
    choose.shuffle(order)  # type: ignore[attr-defined]
    permuted = region_facets(instance.reordered(order))
    assert {(tuple(n[j] for j in order), b) for n, b in inequalities(region)} == inequalities(permuted)
    names = ("", "'")
    halves = [replace(p, share=p.share / 2, name=p.name + name) for p in instance.pools for name in names]
    doubled = Instance(instance.types, tuple(halves))
    assert inequalities(region_facets(doubled)) == inequalities(region)
    assert region_facets(doubled).vertices == region.vertices
    assert traffic_intensity(doubled) == traffic_intensity(instance)


@pytest.mark.slow
@settings(max_examples=30)
@given(instances(max_types=3, max_capacity=9))
def test_a_type_split_in_two_equal_ones(instance: Instance) -> None:
    pool = instance.pools[0]
    twice = additive(pool.space.capacity, [*pool.space.demands, pool.space.demands[0]])  # type: ignore[union-attr]
    expected = {(facet.normal + facet.normal[:1], facet.offset) for facet in region_facets(instance).outer}
    assert {(facet.normal, facet.offset) for facet in region_facets(twice).outer} == expected


@pytest.mark.slow
@given(some)
def test_pricing_and_long_integers_give_the_same(instance: Instance) -> None:
    region = region_facets(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facets_module, "ENUMERATED", 0)
        assert region_facets(instance) == region
        patch.setattr(facets_module.hull, "LONGEST", 1.0)
        assert region_facets(instance) == region
        patch.undo()
        patch.setattr(facets_module.hull, "LONGEST", 30.0)
        assert region_facets(instance) == region


def test_numbers_beyond_int64() -> None:
    a, b = 10**15 + 37, 10**15 + 91
    region = region_facets(explicit([[a, 0, 5], [0, b, 7], [10**14, 10**14, 10**15]]))
    tops = [(a, 0, 5), (0, b, 7), (10**14, 10**14, 10**15)]
    for facet in region.outer:
        assert max(sum(x * y for x, y in zip(facet.normal, k, strict=True)) for k in tops) == facet.offset
    assert region.intensity(tops[0]) == region.intensity(tops[1]) == 1
    assert traffic_intensity(explicit(tops), tops[2]) == 1


@pytest.mark.slow
@given(some)
def test_maximal_configurations_are_counted(instance: Instance) -> None:
    for pool in instance.pools:
        assert count_maximal(pool.space) == len(maximal(pool.space))


def test_proof_refuses_what_is_not_closed() -> None:
    points = np.array([[2, 0, 2], [2, 2, 0], [2, 0, 0], [0, 2, 2], [0, 2, 0], [0, 0, 2], [2, 2, 2]])
    cube = [(0, 2, 1), (0, 6, 1), (1, 4, 3), (1, 6, 3), (3, 5, 0), (3, 6, 0)]
    planes = np.array([[1, 0, 0, 2]] * 2 + [[0, 1, 0, 2]] * 2 + [[0, 0, 1, 2]] * 2)
    simplices = np.sort(np.array(cube), axis=1)
    assert is_outer_boundary(points, simplices, planes)
    for left_out in range(6):
        kept = [s for s in range(6) if s != left_out]
        assert not is_outer_boundary(points, simplices[kept], planes[kept])
    assert not is_outer_boundary(points, simplices[:2], planes[:2])
    twice = np.concatenate([simplices, np.sort(np.array([(2, 0, 6), (2, 6, 1)]), axis=1)])
    assert not is_outer_boundary(points, twice, np.concatenate([planes, planes[:2]]))
    # a square covered twice, by both its triangulations: closed, but every direction is in two cones
    flat = np.array([[0, 0, 4], [0, 4, 0], [4, 0, 0], [2, 2, 0]])
    both = np.array([(0, 1, 2), (0, 1, 3), (0, 2, 3)])
    assert not is_outer_boundary(flat, both, np.array([[1, 1, 1, 4]] * 3))
    assert is_outer_boundary(flat, both[1:], np.array([[1, 1, 1, 4]] * 2))
    assert not is_outer_boundary(points, simplices, planes + np.array([0, 0, 0, 1]))


def test_a_question_leaves_no_trace_in_the_next() -> None:
    """A program answers about the intensity of a workload after it has been asked for headroom, and the other way."""
    program, half = CapacityProgram(additive([6], [[4], [1]])), [Fraction(1, 4), 2]
    before, room = program.intensity(half).value, program.headroom(half)
    assert program.intensity(half).value == before == Fraction(1, 2)
    assert program.headroom(half) == room == (Fraction(3, 4), Fraction(3))


def test_limits_and_bad_questions() -> None:
    with pytest.raises(TooLargeError, match="simplices"):
        region_facets(additive([40], [[p] for p in (*PRIMES, 13, 17)]), limit=64)
    program = CapacityProgram(additive([6], [[4], [1]]))
    for wrong in ([1], [1, -1]):
        with pytest.raises(InputError):
            program.intensity(wrong)
    with pytest.raises(InputError):
        program.boundary([0, 0])
    with pytest.raises(InputError):
        program.most_beside([9, 9], {0: 1})
    with pytest.raises(InputError):
        region_slice(additive([6], [[4], [1]]), 1, 1)
    with pytest.raises(InputError):
        region_slice(additive([6], [[4], [1], [2]], workload=[0, 0, 4]), 0, 1)


@pytest.mark.slow
def test_far_too_many_facets_are_refused_at_the_limit_with_what_was_spent() -> None:
    instance = additive([60], [[p] for p in range(3, 23)])
    for limit in (1000, 20_000):
        refusal = rf"20 types need more than {limit:,} simplices, with \d+ vertices so far: .*\(limit, or --facets N\)"
        with pytest.raises(TooLargeError, match=refusal):
            region_facets(instance, limit=limit)


MANY_TYPES = [
    # the first three were once estimated to need 10^6 simplices and more, the fourth 4 * 10^5
    (20_000, [25, 25], [[4, 8], [11, 18], [14, 13], [1, 22], [13, 13], [6, 25], [21, 17], [7, 22], [20, 11], [13, 11],
                        [4, 23], [18, 23], [23, 12], [8, 4], [7, 10], [10, 9], [20, 3], [6, 3], [21, 14]]),
    (20_000, [16], [[d] for d in (1, 4, 12, 11, 16, 8, 7, 10, 7, 1, 16, 14, 2, 2, 12, 15, 4)]),
    (20_000, [13, 13], [[11, 4], [10, 1], [10, 7], [3, 1], [13, 5], [5, 2], [12, 5], [2, 9], [9, 13], [13, 10],
                        [10, 11], [4, 3], [7, 13], [10, 5], [10, 7], [12, 2], [9, 7], [2, 13], [12, 13], [5, 2]]),
    (5_000, [27, 27], [[11, 14], [9, 6], [13, 11], [9, 13], [24, 24], [10, 17], [7, 24], [22, 24], [24, 10], [26, 8],
                       [25, 24], [21, 9], [10, 17], [6, 21], [13, 10], [21, 21], [26, 9], [27, 25], [27, 9], [9, 13],
                       [12, 12]]),
    (20_000, [100], [[d] for d in range(34, 84, 2)]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "capacity", "demands"), MANY_TYPES)
def test_many_types_with_few_facets_are_solved(limit: int, capacity: list[int], demands: list[list[int]]) -> None:
    """Regions of 17 to 25 types that need fewer simplices than the limit, which alone decides."""
    width = len(demands)
    region = region_facets(additive(capacity, demands), limit=limit)
    assert 1 <= len(region.simplices) <= limit
    for (configuration,) in region.configurations:
        assert all(
            sum(n * demand[r] for n, demand in zip(configuration, demands, strict=True)) <= most
            for r, most in enumerate(capacity)
        )
    for j, demand in enumerate(demands):
        alone = min(most // d for most, d in zip(capacity, demand, strict=True))
        assert region.intensity([Fraction(alone) * (i == j) for i in range(width)]) == 1
    with pytest.raises(TooLargeError, match="allow more"):
        region_facets(additive(capacity, demands), limit=max(1, len(region.simplices) // 4))


def test_no_workload() -> None:
    answer = CapacityProgram(additive([6], [[4], [1]], workload=[0, 0])).intensity()
    assert (answer.value, answer.columns, answer.prices, answer.boundary) == (0, (), (0, 0), None)
    assert answer.supportable
    assert [stable_servers(Fraction(n, 2), 3) for n in range(4)] == [1, 2, 4, 5]


@pytest.mark.slow
@settings(max_examples=25)
@given(some, st.data())
def test_a_slice_is_the_region_in_its_plane(instance: Instance, data: st.DataObject) -> None:
    assume(len(instance.types) > 1)
    first, second = data.draw(st.permutations(range(len(instance.types))))[:2]
    region = region_facets(instance)
    rho = [load if j not in (first, second) else Fraction(0) for j, load in enumerate(instance.workload)]
    assume(region.holds(rho))
    cut = region_slice(instance, first, second)
    for s, t in product([Fraction(n, 3) for n in range(0, 13, 2)], repeat=2):
        rho[first], rho[second] = s, t
        assert cut.holds(s, t) == region.holds(rho)
    for s, t in cut.vertices:
        rho[first], rho[second] = s, t
        assert region.holds(rho)
        assert cut.holds(s, t)


@pytest.mark.slow
@settings(max_examples=25)
@given(instances(max_types=3, max_pools=2, max_capacity=9))
def test_the_kept_fraction_is_the_largest(instance: Instance) -> None:
    subset = single_types(instance)
    kept = kept_fraction(instance, subset)
    whole = region_facets(instance)
    for vertex in whole.vertices:
        assert kept.inner.holds([kept.fraction * x for x in vertex])
    assert any(not kept.inner.holds([kept.fraction * Fraction(1001, 1000) * x for x in v]) for v in whole.vertices)
    assert kept_fraction(instance, instance).fraction == 1
    with pytest.raises(InputError):
        kept_fraction(instance, additive([5], [[1]] * (len(instance.types) + 1)))


@pytest.mark.slow
def test_many_types_and_many_configurations() -> None:
    sizes = list(range(51, 351, 5))
    instance = additive([1000], [[s] for s in sizes], workload=[Fraction(1, 10)] * len(sizes))
    answer = CapacityProgram(instance).intensity()
    assert answer.value >= Fraction(sum(sizes), 10_000)  # room alone
    used = total(x for *_, x in answer.columns)
    assert used <= answer.value
    large = pooled([(1, [1000, 1000]), (2, [700, 900])], [[123, 45], [56, 140], [99, 78], [61, 77]])
    program, region = CapacityProgram(large), region_facets(large)
    for direction in product(range(3), repeat=4):
        assert program.intensity(direction).value == region.intensity(direction)


@pytest.mark.soak
def test_against_ppl_on_random_servers() -> None:
    ppl = pytest.importorskip("ppl")
    from benchmarks.region import facets_by_ppl, random_servers

    del ppl
    for instance in random_servers(2000, 7):
        assert inequalities(region_facets(instance)) == facets_by_ppl(instance)
