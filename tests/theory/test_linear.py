"""Exact linear programs: three exact routes agree, and every answer satisfies the whole optimality condition."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from math import inf, isqrt
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sympy import Matrix

from theory.exact.programs import rational
from theory.exact.programs.linear import UNSURE, Column, FloatColumns, InfeasibleError, LinearProgram, Vertex
from theory.exact.programs.rational import UnboundedError
from theory.exact.programs.solver import MOVES, FloatProgram

small = st.fractions(min_value=-3, max_value=6, max_denominator=3)


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    rows = []
    for _ in range(m):
        kind, bound = draw(st.integers(0, 3)), draw(st.fractions(min_value=0, max_value=9, max_denominator=3))
        rows.append([(None, bound), (bound, bound), (-bound - 1, bound), (-bound, None)][kind])
    program = LinearProgram(rows)
    entries = [{i: draw(small) for i in range(m) if draw(st.booleans())} for _ in range(n)]
    lower = [draw(st.sampled_from([0, 0, None, -1])) for _ in range(n)]
    upper = [draw(st.integers(1, 5)) for _ in range(n)]
    program.add_columns([draw(small) for _ in range(n)], entries, lower, upper)
    return program


@pytest.mark.slow
@settings(max_examples=25)
@given(programs())
def test_basis_and_simplex_agree(program: LinearProgram) -> None:
    try:
        vertex = program.solve()
    except (InfeasibleError, UnboundedError) as error:
        with pytest.raises(type(error)):
            program._by_simplex(None)
        return
    second = program._by_simplex(None)
    assert vertex.objective == second.objective
    for answer in (vertex, second):
        assert program._is_optimal(answer.primal, answer.dual, set(range(program.width)))
    wrong = Vertex(vertex.objective, tuple(x + 1 for x in vertex.primal), vertex.dual)
    assert not program._is_optimal(wrong.primal, wrong.dual, set(range(program.width))) or not any(wrong.dual)


@pytest.mark.parametrize("gain", [Fraction(1, 10**9) / 2, Fraction(1, 10**11)])
def test_gains_below_the_tolerance_of_the_solver_count(gain: Fraction) -> None:
    program = LinearProgram([(None, 1), (None, 1)])
    program.add_columns([1, 1], [{0: 1}, {1: 1}])
    assert program.solve_basis() is not None
    program.add_columns([1 + gain], [{0: 1}])
    best = program.solve_basis()
    assert best is not None
    assert best.objective == 2 + gain
    program.set_cost(2, 0)  # the costs are the true ones again
    assert program.solve_float()[0] == 2
    assert program.solve().objective == 2


@pytest.mark.slow
@settings(max_examples=25)
@given(programs(), st.fractions(min_value=Fraction(1, 10**12), max_value=1))
def test_multipliers_show_the_optimum_and_nothing_below(program: LinearProgram, less: Fraction) -> None:
    try:
        optimum = program._by_simplex(None).objective
    except InfeasibleError:
        return
    except UnboundedError:
        assert not program.at_most(10**6)
        return
    assert program.at_most(optimum)
    assert program.at_most(optimum + less)
    assert not program.at_most(optimum - less)


def test_multipliers_of_another_program_show_nothing_wrong() -> None:
    """With all multipliers 0, only bounds of columns remain."""
    program = LinearProgram([(None, 3)])
    program.add_columns([1, -1], [{0: 1}, {0: 1}], [0, 2], [5, None])
    program._multipliers = lambda *_: [Fraction(0)]  # type: ignore[method-assign]
    assert program.at_most(3)  # 5 - 2
    assert not program.at_most(2)
    program.set_bounds(0, 0, None)
    assert not program.at_most(10**6)
    program.set_bounds(0, 0, 5)
    program._multipliers = lambda *_: [Fraction(-1)]  # type: ignore[method-assign]
    assert not program.at_most(10**6)  # the row has no lower bound


def test_every_change_is_seen_by_the_next_solve() -> None:
    program = LinearProgram([(None, 3)])
    program.add_columns([1], [{0: 1}])
    assert [program.solve().objective for _ in range(2)] == [3, 3]
    program.set_row(0, None, 4)
    assert program.solve().objective == 4
    program.set_cost(0, 2)
    assert program.solve().objective == 8
    program.set_bounds(0, 0, 1)
    assert program.solve().objective == 2
    program.add_columns([1], [{0: 3}])
    assert program.solve().objective == 3
    program.keep_columns([0])
    assert program.solve().objective == 2
    program.keep_columns([])
    assert program.width == 0


@given(st.integers(1, 4), st.data())
def test_columns_that_stay_keep_their_numbers(m: int, data: st.DataObject) -> None:
    """The program that is left is that of its columns alone, by its exact answer and by its signs."""
    number = st.integers(1, 5)
    program, columns = LinearProgram([(None, data.draw(number)) for _ in range(m)]), []
    for _ in range(data.draw(st.integers(1, 8))):
        columns.append((data.draw(number), {i: data.draw(number) for i in range(m)}))
        program.add_columns([columns[-1][0]], [columns[-1][1]])
    places = data.draw(st.lists(st.sampled_from(range(len(columns))), min_size=1, unique=True).map(sorted))
    if data.draw(st.booleans()):
        program.solve()
    program.keep_columns(places)
    fresh = LinearProgram(program._rows)
    fresh.add_columns(*zip(*(columns[j] for j in places), strict=True))
    assert program.width == len(places)
    assert program.solve().objective == fresh.solve().objective
    dual = [data.draw(number) for _ in range(m)]
    assert program._signs(dual, 2) == fresh._signs(dual, 2)


def test_the_best_columns_stay_and_the_optimum_with_them() -> None:
    program = LinearProgram([(None, 6), (None, 6)])
    program.add_columns([1, 9, 2, 8, 3], [{0: 3, 1: 3}, {0: 3, 1: 1}, {0: 2, 1: 2}, {0: 1, 1: 3}, {0: 1, 1: 1}])
    best = program.solve()
    assert best.primal == (0, Fraction(3, 2), 0, Fraction(3, 2), 0)
    assert program.keep_best(3) == [1, 3, 4]  # reduced costs are less than 0 by 47/4, 13/2 and 5/4
    assert program.solve().objective == best.objective
    assert program.keep_best(1) == [0, 1], "basic columns stay"
    assert program.keep_best(7) == [0, 1]


def test_the_first_columns_stay_whatever_they_are_worth() -> None:
    program = LinearProgram([(None, 6)])
    program.add_columns([1, 2, 9, 8], [{0: 3}, {0: 2}, {0: 1}, {0: 2}])
    program.solve()
    assert program.keep_best(3, 2) == [0, 1, 2]


@pytest.mark.parametrize("moved", [True, False], ids=["bounds may move", "bounds stay"])
def test_a_method_that_is_stopped_goes_on_from_its_basis(moved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assignment of 8 to 8, as its least cost: many ties, and far more iterations than are allowed at once."""
    rows = 8
    program = assignment(costs := [-((3 * j * j + j) % 11) for j in range(rows * rows)])
    program.solver.move_bounds(moved)
    expected = linear_sum_assignment(-np.array(costs).reshape(rows, rows))
    restarts = recorded_restarts(program, monkeypatch)
    program.solver._highs.setOptionValue("simplex_iteration_limit", 5)
    assert program.solve().objective == sum(costs[rows * i + k] for i, k in zip(*expected, strict=True))
    assert restarts == [*range(1, len(restarts) + 1)]
    assert len(restarts) > 1
    assert program.solver._highs.getOptionValue(MOVES)[1] == moved
    assert program.solver._highs.getOptionValue("random_seed")[1] == 0


def test_a_feasible_basis_that_is_worth_enough_ends_a_method_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """An assignment of 8 to 8 without cost, among others that cost: at first nothing is assigned, for nothing too."""
    rows = 8
    costs = [-((j // rows - j % rows) % rows) for j in range(rows * rows)]
    restarts = {}
    for enough in (-0.5, inf):
        program = assignment(costs)
        program.solver.move_bounds(False)
        program.solver.stop_at(enough)
        restarts[enough] = recorded_restarts(program, monkeypatch)
        program.solver._highs.setOptionValue("simplex_iteration_limit", 1)
        vertex = program.solve_basis([Fraction(0)] * (2 * rows))
        assert vertex is not None
        assert vertex.primal == tuple(int(cost == 0) for cost in costs)
    assert len(restarts[-0.5]) < len(restarts[inf])


def test_a_method_that_never_ends_is_given_up_and_fractions_decide() -> None:
    program = assignment([-2, -3, -4, -6])
    program.solver._highs.setOptionValue("simplex_iteration_limit", 0)
    assert program.solve_basis() is None
    assert np.isnan(program.solve_float()[0])
    assert program.solve().objective == -7


def assignment(costs: list[int]) -> LinearProgram:
    """Return the program of an assignment by worth, row by row of a square table."""
    rows = isqrt(len(costs))
    program = LinearProgram([(1, 1)] * (2 * rows))
    program.solver.expect_columns()
    program.add_columns(costs, [{j // rows: 1, rows + j % rows: 1} for j in range(len(costs))])
    return program


def recorded_restarts(program: LinearProgram, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list to which the seed of every restart of the program will be added."""
    seeds: list[int] = []
    restart = program.solver._restart

    def recorded(seed: int) -> None:
        seeds.append(seed)
        restart(seed)

    monkeypatch.setattr(program.solver, "_restart", recorded)
    return seeds


def test_an_optimum_is_proved_by_multipliers_that_are_given() -> None:
    program = LinearProgram([(None, 3)])
    program.add_columns([1, 2], [{0: 1}, {0: 1}])
    found = program.solve_basis([Fraction(2)])
    assert found is not None
    assert (found.objective, found.dual) == (6, (2,))
    assert program.solve_basis([Fraction(3)]) is None, "a column in use is not worth its price"
    assert program.solve_basis([Fraction(1)]) is None, "a column is worth more"


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 6), st.data())
def test_elimination(n: int, data: st.DataObject) -> None:
    row = st.lists(small, min_size=n, max_size=n)
    matrix = data.draw(st.lists(row, min_size=n, max_size=n))
    right = data.draw(row)
    x = rational.solve_dense(matrix, right)
    if x is not None:
        assert [sum((a * b for a, b in zip(r, x, strict=True)), Fraction(0)) for r in matrix] == right
    assert (x is None) == (Matrix(matrix).det() == 0)


@given(st.data())
def test_signs_in_floats_are_right_or_unsure(data: st.DataObject) -> None:
    """Costs that balance the entries but for a little, at sizes far apart."""
    m = data.draw(st.integers(1, 4))
    whole, size = st.integers(-9, 9), st.sampled_from([1, 3, 10**8, 2**53 + 1, 10**60, 10**320])
    dual, scale = [data.draw(whole) * data.draw(size) for _ in range(m)], data.draw(size)
    columns, exact = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        entries = [(i, data.draw(whole) * data.draw(size)) for i in range(m) if data.draw(st.booleans())]
        worth = sum(value * dual[i] for i, value in entries)
        cost = worth // scale + data.draw(st.integers(-1, 1)) * (worth // 10 ** data.draw(st.integers(0, 30)) // scale)
        columns.append(Column(cost, tuple(entries), Fraction(1)))
        exact.append((cost * scale > worth) - (cost * scale < worth))
    signs = FloatColumns(columns).signs(dual, scale)
    assert all(sign in (UNSURE, right) for sign, right in zip(signs, exact, strict=True))


def float_columns(*columns: tuple[int, dict[int, int]]) -> FloatColumns:
    return FloatColumns([Column(cost, tuple(entries.items()), Fraction(1)) for cost, entries in columns])


def test_signs_of_whole_numbers_below_2_to_the_53_are_sure() -> None:
    columns = float_columns((3, {0: 1, 1: 1}), (1, {1: 1}), (2**51, {0: 2**51}))
    assert columns.signs([1, 1], 1) == [1, 0, 0]
    assert columns.signs([6, 1], 2) == [-1, 1, -1]
    assert columns.signs([7, 0], 7) == [1, 1, UNSURE]  # the terms sum to 14 x 2^51
    assert float_columns((3, {0: 1}), (3, {1: 4})).signs([10**400, 1], 1) == [UNSURE, -1]


def test_a_difference_that_floats_lose_makes_a_column_unsure() -> None:
    columns = float_columns((2**53 + 1, {0: 2**53}), (2**52 + 1, {0: 2**52}), (2**51 + 1, {0: 2**51}))
    assert columns.signs([1], 1) == [UNSURE, UNSURE, 1]


def test_infeasible_is_decided() -> None:
    program = LinearProgram([(2, None)])
    program.add_columns([1], [{0: 1}], upper=[1])
    with pytest.raises(InfeasibleError):
        program.solve()


def test_a_feasible_point_that_is_not_optimal_is_refused() -> None:
    program = LinearProgram([(None, 1)])
    program.add_columns([1, 2], [{0: 1}, {0: 1}])
    zero, one = Fraction(0), Fraction(1)
    assert program._is_optimal([zero, one], [2 * one], {1})
    assert not program._is_optimal([one, zero], [one], {0})  # the other column gains
    assert not program._is_optimal([zero, one], [3 * one], {1})  # its own column loses
    assert not program._is_optimal([zero, 2 * one], [2 * one], {1})  # the row is broken
    assert not program._is_optimal([zero, zero], [2 * one], set())  # a price on a row with slack


def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    enable, output = highspy.Highs.enableCallbacks, []

    def note(solver: Any) -> None:
        output.append(solver.getOptionValue("output_flag")[1])
        enable(solver)

    monkeypatch.setattr(highspy.Highs, "enableCallbacks", note)
    program = FloatProgram([(None, 3)])
    program.add_columns([1, 2], [(0, 2), (0, None)], [1, 1], [0, 0], [1, 4])
    assert program.run()
    ctypes.CDLL(None).fflush(None)  # what is printed from C may wait in a buffer
    assert output == [False]
    assert tuple(capfd.readouterr()) == ("", "")
