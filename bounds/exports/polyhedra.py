"""Facets (.ine) and vertices (.ext) of a region, with the header lines that lrs and cdd read.

The two files have different names because cdd writes its answer to ``facets.ine`` into ``facets.ext``.

What lrs and cdd prove: the vertices of the one file are those of the polyhedron that the other file's inequalities
describe, and the other way round, if ``lrs facets.ine`` prints the rows of ``vertices.ext`` and ``lrs vertices.ext``
prints the rows of ``facets.ine`` (for cdd: ``scdd_gmp``). So no facet is missing, wrong or idle, *given the vertices*.
What they do not prove: that the vertices are the extreme points of the configurations. The SMT-LIB export states that
no configuration is beyond a facet, and its arithmetic that the vertices are made of configurations that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bounds import checker
from bounds.exports.document import Certificate, Exported, Unsuited, boundary_of, legend, numbered
from theory.numbers import text


def lrs(certificate: Certificate) -> list[Exported]:
    """Write ``facets.ine`` and ``vertices.ext``, if the certificate claims facets.

    A facet ``normal . x <= offset`` is the row ``offset -normal``; a vertex is the row ``1 x``, the origin the last.
    """
    m = checker.model(certificate.instance)
    boundary = boundary_of(m, certificate)
    if boundary is None:
        raise Unsuited("it claims no facets")
    width = len(m.names)
    walls = [[Fraction(int(i == j)) for i in range(-1, width)] for j in range(width)]
    facets = walls + [
        [offset, *(-a for a in normal)] for normal, offset in zip(boundary.normals, boundary.offsets, strict=True)
    ]
    corners = [checker.slots_of(m, made) for made in boundary.vertices] + [[Fraction(0)] * width]
    vertices = [[Fraction(1), *corner] for corner in corners]
    names = numbered("x", m.names)
    return [
        _file("facets.ine", "H-representation", facets, names, "The facets of the capacity region.", "vertices.ext"),
        _file(
            "vertices.ext", "V-representation", vertices, names, "The vertices of the capacity region.", "facets.ine"
        ),
    ]


def _file(
    name: str, form: str, rows: Sequence[Sequence[Fraction]], names: list[str], states: str, other: str
) -> Exported:
    expected = f"the rows of {other}, in any order, inequalities up to a positive factor"
    lines = [name.replace(".", "_"), f"* {states}", f"* expected: {expected}", *legend("*", names), form, "begin"]
    lines += [f"{len(rows)} {len(rows[0])} rational", *(" ".join(map(text, row)) for row in rows), "end", ""]
    return Exported(name, states, expected, "\n".join(lines))
