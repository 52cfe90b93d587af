"""Laws of job sizes, partitions of (0, 1], rounded virtual queues, and what workload can be supported at all."""

from theory.partition.bracket import Bracket, bracket, brackets
from theory.partition.cuts import Partition, by_cuts, by_sets, equal_probability
from theory.partition.finite import Supportable, lower_rounded, supportable, upper_rounded
from theory.partition.laws import Law, Piece, discrete, empirical, piecewise, uniform
from theory.partition.universal import (
    Guaranteed,
    least_J,
    reduced_configurations,
    universal_partition,
    vqs_workload,
)

__all__ = [
    "Bracket",
    "Guaranteed",
    "Law",
    "Partition",
    "Piece",
    "Supportable",
    "bracket",
    "brackets",
    "by_cuts",
    "by_sets",
    "discrete",
    "empirical",
    "equal_probability",
    "least_J",
    "lower_rounded",
    "piecewise",
    "reduced_configurations",
    "supportable",
    "uniform",
    "universal_partition",
    "upper_rounded",
    "vqs_workload",
]
