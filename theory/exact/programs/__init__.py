"""Linear programs made exact: floats propose a basis, rationals decide; `tests/reference` says what they return."""

from theory.exact.programs.linear import InfeasibleError, LinearProgram, Vertex
from theory.exact.programs.rational import solve_dense, solve_sparse
from theory.exact.programs.solver import Bound, Number, SilentHighs

__all__ = [
    "Bound",
    "InfeasibleError",
    "LinearProgram",
    "Number",
    "SilentHighs",
    "Vertex",
    "solve_dense",
    "solve_sparse",
]
