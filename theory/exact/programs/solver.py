"""A linear program in floats in HiGHS, which stays warm and starts again where the simplex method cycles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import highspy
import numpy as np
from numpy.typing import NDArray

Number = Fraction | int
Bound = Fraction | int | None
"""A bound of a row or a column; None means there is none."""

PRIMAL = 4
"""The primal simplex method by the number that HiGHS gives it."""

MOVES = "primal_simplex_bound_perturbation_multiplier"
"""Option of HiGHS: the factor of the amounts by which the primal method moves bounds."""

ITERATIONS_A_ROW = 10
"""Iterations a row, beyond a thousand, after which the primal method starts again from the basis that it has reached.

Programs of configurations take less; where thousands of them are worth the same, the method may cycle."""

RESTARTS = 50
"""How often it starts again at most; then there is no optimum in floats.

Of eleven published instances of 801 and 1,002 jobs, six needed it, once.
"""


class SilentHighs(highspy.Highs):  # type: ignore[misc]
    """A solver that prints nothing, not even the two lines that highspy 1.16 prints as one is made."""

    def enableCallbacks(self) -> None:  # noqa: N802 (a name of highspy's)
        """Turn the output off before the callbacks are on: the constructor calls this, and the latter print."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


class FloatProgram:
    """Maximise ``c x`` subject to bounds of rows and columns; after a change, `run` starts from the last basis.

    Examples
    --------
    >>> program = FloatProgram([(None, 3)])
    >>> program.add_columns([1, 2], [(0, 2), (0, None)], [1, 1], [0, 0], [1, 4])
    >>> program.run(), program.solution()[0]
    (True, 2.5)
    """

    def __init__(self, rows: Sequence[tuple[Bound, Bound]]) -> None:
        self._height = len(rows)
        self._solved = False  # since the last change
        self._moves_bounds = True
        self._enough = inf
        self._highs = highs = SilentHighs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("parallel", "off"),
            ("primal_feasibility_tolerance", 1e-9),
            ("dual_feasibility_tolerance", 1e-9),
        ):
            highs.setOptionValue(option, value)
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for lower, upper in rows:
            highs.addRow(*_floats(lower, upper), 0, np.empty(0, np.int32), np.empty(0))

    def add_columns(
        self,
        costs: Sequence[Number],
        bounds: Sequence[tuple[Bound, Bound]],
        lengths: Sequence[int],
        rows: Sequence[int],
        values: Sequence[Number],
    ) -> None:
        """Append columns: cost, bounds and number of entries of each, and row and value of every entry."""
        self._solved = False
        floats = [_floats(*pair) for pair in bounds]
        self._highs.addCols(
            len(costs),
            np.array(costs, np.float64),
            np.array([low for low, _ in floats]),
            np.array([high for _, high in floats]),
            len(rows),
            np.cumsum([0, *lengths[:-1]], dtype=np.int32),
            np.array(rows, np.int32),
            np.array(values, np.float64),
        )

    def drop_columns(self, places: NDArray[np.int32]) -> None:
        """Remove the columns at these places, which are in order."""
        self._solved = False
        self._highs.deleteCols(len(places), places)

    def set_bounds(self, column: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a column."""
        self._solved = False
        self._highs.changeColBounds(column, *_floats(lower, upper))

    def set_row(self, row: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a row."""
        self._solved = False
        self._highs.changeRowBounds(row, *_floats(lower, upper))

    def set_cost(self, column: int, cost: Number) -> None:
        """Change the cost of a column."""
        self._solved = False
        self._highs.changeColCost(column, float(cost))

    def set_costs(self, costs: NDArray[np.float64]) -> None:
        """Change the costs of all columns."""
        self._solved = False
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def expect_columns(self) -> None:
        """Use the primal simplex method from now on: when columns join, the last basis stays feasible for it."""
        self._highs.setOptionValue("simplex_strategy", PRIMAL)
        self._highs.setOptionValue("simplex_iteration_limit", 1000 + ITERATIONS_A_ROW * self._height)

    def move_bounds(self, allowed: bool) -> None:
        """Allow the primal method to move bounds by very little to break ties, as it does at first, or forbid it.

        Where amounts as little as that count, it would not find back to the bounds as they are.
        """
        self._moves_bounds = allowed
        self._highs.setOptionValue(MOVES, float(allowed))

    def stop_at(self, worth: float) -> None:
        """Take a feasible basis of at least this worth for optimal where the primal method cycles.

        For programs of which no solution is worth more: no multipliers are needed to see that the basis is optimal.
        Infinity, the default, asks for multipliers.
        """
        self._enough = worth

    def run(self) -> bool:
        """Solve unless that is done already, and return whether there is an optimum."""
        if not self._solved:
            self._highs.run()
            for seed in range(1, RESTARTS + 1):
                if self._highs.getModelStatus() != highspy.HighsModelStatus.kIterationLimit or self._has_enough():
                    break
                self._restart(seed)
            self._solved = True
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal or self._has_enough())

    def _has_enough(self) -> bool:
        state = self._highs.getInfo()
        return bool(state.num_primal_infeasibilities == 0 and state.objective_function_value >= self._enough)

    def _restart(self, seed: int) -> None:
        """Go on from the last basis without the rest of the solver's state, with exact bounds and other random ties."""
        basis = self._highs.getBasis()
        self._highs.clearSolver()
        self._highs.setBasis(basis)
        self._highs.setOptionValue("random_seed", seed)
        self._highs.setOptionValue(MOVES, 0.0)
        self._highs.run()
        self._highs.setOptionValue("random_seed", 0)
        self._highs.setOptionValue(MOVES, float(self._moves_bounds))

    def solution(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the objective, the values of the columns and the multipliers of the rows, as `run` left them."""
        solution = self._highs.getSolution()
        return self._highs.getObjectiveValue(), np.array(solution.col_value), np.array(solution.row_dual)

    def point(self) -> tuple[list[float], list[float]]:
        """Return the values of the columns and of the rows."""
        solution = self._highs.getSolution()
        return solution.col_value, solution.row_value

    def reduced_costs(self) -> NDArray[np.float64]:
        """Return the reduced costs of the columns."""
        return np.array(self._highs.getSolution().col_dual)

    def basis(self) -> tuple[list[int], list[int]] | None:
        """Return the basic columns and the rows that are not basic, in order; None where there is no basis."""
        if not self._highs.getNumNz():  # without entries HiGHS has no factorisation to read the basis from
            return [], []
        status, basic = self._highs.getBasicVariables()  # columns as they are, row i as -1 - i
        if status != highspy.HighsStatus.kOk:
            return None
        columns = sorted(j for j in basic.tolist() if j >= 0)
        return columns, sorted(set(range(self._height)).difference(-1 - j for j in basic.tolist()))


def _floats(lower: Bound, upper: Bound) -> tuple[float, float]:
    return (
        -highspy.kHighsInf if lower is None else float(lower),
        highspy.kHighsInf if upper is None else float(upper),
    )
