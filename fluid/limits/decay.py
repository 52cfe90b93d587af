"""How fast max-weight empties its queues, exactly: the largest provable rate, and how fast they grow beyond the region.

Measure queues by ``|q| = sqrt(sum_j q_j^2 / mu_j)``, which is sqrt(2 V). Under max-weight
``-|q|' = (max k . q - rho . q) / |q|``, and the least of that over all q >= 0 is the distance, in the norm
``sqrt(sum mu_j x_j^2)``, from the workload to the outer facets of the region: a ball around the workload lies in the
region R, as far as it has more of every type, just if the support function says so. (R - R_+^J has further facets. If
one of them were the nearest, the point nearest on it, which has more of every type, would lie in R, so on an outer
facet of R: they are never nearer.) So `decay_rate` is the largest rate delta with ``|q|' <= -delta``; no queues take
longer than ``|q| / delta`` to drain, with equality along the normal of the nearest facet. Outside the region the fluid
runs away along the least velocity, whose rate is the distance to the region: `escape_velocity`, certified in rationals.

If servers only keep a fraction f of the greatest weight (Algorithm 1 with ``f = r beta``), what is left for sure is
``|q|' <= -(f - z) c``, with z the traffic intensity and c the rate of an idle system (`guaranteed_rate`).

A linear function ``h . q`` that falls at rate 1 at least along all max-weight paths bounds the time to drain too; the
best one for given queues is a linear program (`linear_bound`), where one exists. No policy at all drains faster than
`least_time`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np

from fluid.limits.max_weight import MaxWeight, Vector, minimum_norm
from theory.exact.programs import InfeasibleError, LinearProgram, solve_dense
from theory.instance import Instance
from theory.numbers import total
from theory.region.facets import Facet, Region, region_facets
from theory.region.membership import Support, traffic_intensity


@dataclass(frozen=True)
class Rate:
    """A rate of change of ``|q|``."""

    square: Fraction  # its square, exact
    facet: Facet  # the facet of the region that decides it

    def __float__(self) -> float:
        """Return the rate."""
        return sqrt(self.square)


def norm(instance: Instance, queues: Sequence[float] | Vector) -> float:
    """Return ``|q| = sqrt(sum_j q_j^2 / mu_j)``."""
    return sqrt(sum(float(q) ** 2 / float(t.service_rate) for q, t in zip(queues, instance.types, strict=True)))


def decay_rate(instance: Instance, region: Region | None = None) -> Rate | None:
    """Return the largest rate at which ``|q|`` is sure to fall under max-weight, exact.

    Parameters
    ----------
    instance : Instance
    region : Region, optional
        Its facets, if they are known.

    Returns
    -------
    Rate or None
        None if the workload is not strictly inside the region: then there is none.

    Examples
    --------
    >>> from theory.instance import additive
    >>> rate = decay_rate(additive([1], [[1], [1]], workload=["1/4", "1/4"]))
    >>> rate.square, rate.facet.normal                       # (1 - 1/2)^2 / 2
    (Fraction(1, 8), (1, 1))
    """
    region = region_facets(instance) if region is None else region
    if not all(facet.value(instance.workload) < facet.offset for facet in region.outer):
        return None
    rates = [
        Rate((facet.offset - facet.value(instance.workload)) ** 2 / _square(instance, facet.normal), facet)
        for facet in region.outer
    ]
    return min(rates, key=lambda rate: rate.square)


def _square(instance: Instance, queues: Sequence[Fraction | int]) -> Fraction:
    return total(Fraction(q) ** 2 / t.service_rate for q, t in zip(queues, instance.types, strict=True))


def guaranteed_rate(instance: Instance, fraction: Fraction, region: Region | None = None) -> float:
    """Return the rate at which ``|q|`` falls at least if a fraction of the greatest weight is served; negative: rises.

    Notes
    -----
    ``(f - z) c``: the workload is at most z times a point of the region, so ``q . rho <= z max k . q``, and what is
    served is at least ``f max k . q``; the greatest weight is at least c ``|q|``.

    Examples
    --------
    >>> from theory.instance import additive
    >>> guaranteed_rate(additive([2], [[1]], workload=[1]), Fraction(3, 4))
    0.5
    """
    idle = decay_rate(instance.with_workload([0] * len(instance.types)), region)
    assert idle is not None
    return float(fraction - traffic_intensity(instance)) * float(idle)


def escape_velocity(instance: Instance) -> tuple[Fraction, ...]:
    """Return the velocity with which queues run away under max-weight, exact; zero inside the region.

    ``mu_j (rho_j - x_j)`` for the point x of the region that is nearest to the workload in ``sqrt(sum mu_j x_j^2)``.

    Returns
    -------
    tuple of Fraction, shape (J,)
        Per server and unit of time; its ``|.|`` is the distance.

    Notes
    -----
    Wolfe's method in floats names the points around the nearest one; rationals find it and prove it: no point of the
    region lies further in its direction.

    Examples
    --------
    >>> from theory.instance import additive
    >>> escape_velocity(additive([1], [[1], [1]], workload=[1, "1/2"]))
    (Fraction(1, 4), Fraction(1, 4))
    """
    if traffic_intensity(instance) <= 1:
        return (Fraction(0),) * len(instance.types)
    model, scale = MaxWeight(instance), np.sqrt(MaxWeight(instance).service)
    exact: dict[bytes, tuple[Fraction, ...]] = {}

    def oracle(direction: Vector) -> Vector:
        best = [ks[np.argmax(ks @ (scale * direction))] for ks in model.configurations]
        point = np.sum([w * k for w, k in zip(model.shares, best, strict=True)], axis=0)
        vertex = np.asarray(model.arrivals / scale - scale * point)
        columns = zip(*(k.astype(int).tolist() for k in best), strict=True)
        shares = [pool.share for pool in instance.pools]
        exact[vertex.tobytes()] = tuple(total(w * n for w, n in zip(shares, c, strict=True)) for c in columns)
        return vertex

    _, corral, _ = minimum_norm(oracle, oracle(model.arrivals / scale))
    rates = [t.service_rate for t in instance.types]
    gaps = [[rho - x for rho, x in zip(instance.workload, exact[c.tobytes()], strict=True)] for c in corral]
    # The nearest point sum w_i p_i of the affine hull: (Gram matrix) w + lambda 1 = 0 and sum w_i = 1, in rationals.
    system: list[list[Fraction]] = [
        [total(mu * a * b for mu, a, b in zip(rates, one, two, strict=True)) for two in gaps] + [Fraction(1)]
        for one in gaps
    ]
    system.append([Fraction(1)] * len(gaps) + [Fraction(0)])
    weights = solve_dense(system, [0] * len(gaps) + [1])
    assert weights is not None, "the points around the nearest one are affinely independent"
    nearest = [total(w * gap[j] for w, gap in zip(weights[:-1], gaps, strict=True)) for j in range(len(rates))]
    away = [mu * p for mu, p in zip(rates, nearest, strict=True)]
    worth = total(a * (rho - p) for a, rho, p in zip(away, instance.workload, nearest, strict=True))
    # The nearest point of the region: the gap is a supporting direction (variational inequality), and >= 0.
    assert min(weights[:-1]) >= 0
    assert min(away) >= 0
    assert Support(instance).value(away) == worth, "no point of the region lies further"
    return tuple(away)


def least_time(instance: Instance, queues: Sequence[Fraction | int], region: Region | None = None) -> Fraction | None:
    """Return the least time in which any policy drains given queues; None if the workload is not strictly inside.

    Notes
    -----
    Work ``q_j / mu_j`` on a facet, at what the facet leaves for it: the greatest ``a . (q / mu) / (b - a . rho)``.

    Examples
    --------
    >>> from theory.instance import additive
    >>> least_time(additive([1], [[1], [1]], workload=["1/4", "1/4"]), [1, Fraction(1, 2)])
    Fraction(3, 1)
    """
    region = region_facets(instance) if region is None else region
    work = [Fraction(q) / t.service_rate for q, t in zip(queues, instance.types, strict=True)]
    rooms = [(facet.value(work), facet.offset - facet.value(instance.workload)) for facet in region.outer]
    return max(held / room for held, room in rooms) if all(room > 0 for _, room in rooms) else None


def linear_bound(instance: Instance, queues: Sequence[Fraction | int]) -> tuple[Fraction, tuple[Fraction, ...]] | None:
    """Return the least ``h . q`` over linear functions that fall at rate 1 or more along every max-weight path.

    Parameters
    ----------
    instance : Instance
        J types; the regions of all their 2^J - 1 subsets are computed.
    queues : sequence of rational, shape (J,)

    Returns
    -------
    (Fraction, tuple of Fraction) or None
        The time by which the queues are empty, and h >= 0. None if no linear function falls everywhere.

    Notes
    -----
    Where the types S wait, those served are in the hull of the vertices of the region of S that are heaviest for some
    positive queues of S, and empty queues stay so: ``sum_S h_j mu_j (x_j - rho_j) >= 1`` for all of them is enough.

    Examples
    --------
    >>> from theory.instance import additive
    >>> bound = linear_bound(additive([1], [[1], [1]], workload=["1/4", "1/4"]), [1, Fraction(1, 2)])
    >>> str(bound[0]), [str(h) for h in bound[1]]
    ('3', ['2', '2'])
    """
    width = len(instance.types)
    rows: list[dict[int, Fraction | int]] = []
    for size in range(1, width + 1):
        for types in combinations(range(width), size):
            part = region_facets(instance.reordered(types))
            for vertex in part.vertices:
                normals = [facet.normal for facet in part.outer if facet.value(vertex) == facet.offset]
                if all(any(normal[i] for normal in normals) for i in range(size)):
                    rows.append(
                        {
                            j: instance.types[j].service_rate * (x - instance.types[j].workload)
                            for j, x in zip(types, vertex, strict=True)
                        }
                    )
    program = LinearProgram([(1, None)] * len(rows))
    columns: list[dict[int, Fraction | int]] = [
        {i: row[j] for i, row in enumerate(rows) if j in row} for j in range(width)
    ]
    program.add_columns([-Fraction(q) for q in queues], columns)
    try:
        vertex_ = program.solve()
    except InfeasibleError:
        return None
    return -vertex_.objective, vertex_.primal
