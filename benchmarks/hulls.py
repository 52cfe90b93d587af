"""Facets of capacity regions by packproof and by peers, all in one form, so that answers can be compared."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from tests.foreign.tools import LIBRARIES, program, rows_of
from theory.instance import Instance
from theory.numbers import text
from theory.region.facets import region_facets

try:
    import ppl
except ImportError:
    ppl = None

PRIMES = (2, 3, 5, 7, 11)

PATIENCE = 300
"""Seconds after which a program is given up."""

Inequalities = set[tuple[tuple[int, ...], Fraction]]


def ours(instance: Instance) -> Inequalities:
    """Return our facets, proved complete."""
    return {(facet.normal, facet.offset) for facet in region_facets(instance).facets}


def ppl_hull(points: np.ndarray) -> Any:
    """Return PPL's minimal constraints of a convex hull."""
    variables = [ppl.Variable(i) for i in range(points.shape[1])]
    generators = ppl.Generator_System()
    for point in points.tolist():
        generators.insert(ppl.point(sum((c * v for c, v in zip(point, variables, strict=True)), 0 * variables[0])))
    return ppl.C_Polyhedron(generators).minimized_constraints()


def inequalities(constraints: Any) -> Inequalities:
    """Read PPL's constraints as (normal, offset) with coprime normals."""
    found = set()
    for constraint in constraints:
        normal = [-int(c) for c in constraint.coefficients()]
        divisor = gcd(*normal)
        found.add((tuple(a // divisor for a in normal), Fraction(int(constraint.inhomogeneous_term()), divisor)))
    return found


def qhull(points: np.ndarray) -> int:
    """Return the number of distinct facets that qhull finds in floats."""
    hull = ConvexHull(points.astype(float))
    return len(np.unique(np.round(hull.equations, 9), axis=0))


def from_vertices(name: str, vertices: Sequence[Sequence[Fraction]]) -> tuple[Inequalities, float] | None:
    """Return the facets that a program finds from vertices, and its CPU seconds; None where it is not installed.

    Parameters
    ----------
    name : {"lrs", "scdd_gmp"}
    vertices : shape (V, J)

    Raises
    ------
    subprocess.TimeoutExpired
        After `PATIENCE`.
    """
    command = program(name)
    if command is None:
        return None
    rows = [" ".join(map(text, (Fraction(1), *vertex))) for vertex in vertices]
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "vertices.ext", Path(folder) / "vertices.ine"
        head = f"V-representation\nbegin\n{len(rows)} {len(vertices[0]) + 1} rational\n"
        given.write_text(head + "\n".join(rows) + "\nend\n")
        paths = os.pathsep.join([*LIBRARIES, os.environ.get("LD_LIBRARY_PATH", "")])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, given.name],
            cwd=folder,
            env=os.environ | {"LD_LIBRARY_PATH": paths},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = made.read_text() if made.exists() else done.stdout  # cdd writes a file, lrs prints
    found: Inequalities = set()
    for offset, *row in rows_of(answer):
        divisor = gcd(*map(int, row))
        found.add((tuple(-int(a) // divisor for a in row), Fraction(offset) / divisor))
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processor_time(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an action returns, and its CPU seconds."""
    begin = time.process_time()
    answer = action()
    return answer, time.process_time() - begin
