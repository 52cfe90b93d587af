"""A region in polymake's text form: sections of rows, numbers exact, points and inequalities in homogeneous form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.numbers import text
from theory.region.facets import Region


def polymake_text(names: Sequence[str], region: Region) -> str:
    """Write vertices and facets as polymake reads them.

    A facet ``normal . x <= offset`` is the row ``offset -normal``, which means offset - normal . x >= 0; a vertex is
    the row ``1 x``. The origin is the last vertex.

    Examples
    --------
    >>> from theory.instance import additive
    >>> from theory.region import region_facets
    >>> print(polymake_text(["a", "b"], region_facets(additive([6], [[4], [1]]))))
    # coordinates: a b
    _application polytope
    _version 2.3
    _type RationalPolytope
    <BLANKLINE>
    FACETS
    0 1 0
    0 0 1
    1 -1 0
    6 -4 -1
    <BLANKLINE>
    AFFINE_HULL
    <BLANKLINE>
    VERTICES
    1 1 2
    1 1 0
    1 0 6
    1 0 0
    <BLANKLINE>
    """
    origin = (Fraction(0),) * len(names)
    facets: list[list[Fraction | int]] = [[facet.offset, *(-a for a in facet.normal)] for facet in region.facets]
    vertices: list[list[Fraction | int]] = [[1, *vertex] for vertex in (*region.vertices, origin)]
    lines = ["# coordinates: " + " ".join("_".join(name.split()) for name in names)]
    lines += ["_application polytope", "_version 2.3", "_type RationalPolytope", "", "FACETS", *map(_row, facets), ""]
    lines += ["AFFINE_HULL", "", "VERTICES", *map(_row, vertices), ""]
    return "\n".join(lines)


def _row(numbers: list[Fraction | int]) -> str:
    return " ".join(text(number) for number in numbers)
