"""The region of a subset of the configurations (Corollary 6.2), and the fraction of the region that it contains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from theory.errors import InputError
from theory.instance import Configuration, Explicit, Instance, maximal_generators
from theory.numbers import total
from theory.region.facets import Facet, Region, region_facets
from theory.region.membership import Support


@dataclass(frozen=True)
class Kept:
    """The largest fraction of a region that a smaller one holds, with its proof.

    Attributes
    ----------
    fraction : Fraction
        f: the smaller region holds f times the larger one, and no greater multiple of it.
    facet : Facet
        Of the smaller region; its offset is f times the greatest value of ``normal . x`` on the larger region: the
        direction in which nothing more fits.
    configurations : tuple of Configuration, length P
        Of each pool, a configuration that attains that greatest value; scaled by f it is on the boundary of both.
    inner : Region
        Facets of the smaller region.
    """

    fraction: Fraction
    facet: Facet
    configurations: tuple[Configuration, ...]
    inner: Region


def single_types(instance: Instance) -> Instance:
    """Return the instance with only the configurations of one type of jobs (the subset of Lemma 6.1).

    Examples
    --------
    >>> from theory.instance import additive
    >>> single_types(additive([12], [[5], [7]])).pools[0].space.generators
    ((2, 0), (0, 1))
    """
    width = len(instance.types)
    return replace(
        instance,
        pools=tuple(
            replace(
                pool,
                space=Explicit(
                    maximal_generators(
                        [tuple(pool.space.most(j) if i == j else 0 for i in range(width)) for j in range(width)]
                    )
                ),
            )
            for pool in instance.pools
        ),
    )


def kept_fraction(instance: Instance, subset: Instance) -> Kept:
    """Return the largest f with f times the region of an instance inside the region of a subset.

    Parameters
    ----------
    instance : Instance
    subset : Instance
        The same types and pools with fewer configurations; everything below a listed one is meant to belong.

    Raises
    ------
    InputError
        If types or pools differ.
    TooLargeError
        If the facets of the subset's region are too many.

    Notes
    -----
    f C is inside iff ``f max_C(normal . x) <= offset`` for every facet of the subset's region: one exact knapsack a
    facet over all configurations, while C itself is not enumerated. As f is also the least of (greatest weight in the
    subset) / (greatest weight) over all weights, it is the exact worst r of the rule that searches the subset.
    Source: non-preemptive scheduling paper, Corollary 6.2 and the remark after it.

    Examples
    --------
    >>> from theory.instance import additive
    >>> instance = additive([12], [[5], [7]])
    >>> kept = kept_fraction(instance, single_types(instance))
    >>> kept.fraction, kept.facet, kept.configurations
    (Fraction(2, 3), Facet(normal=(1, 2), offset=Fraction(2, 1)), ((1, 1),))
    """
    pairs = list(zip(instance.pools, subset.pools, strict=False))
    if (
        subset.names != instance.names
        or len(subset.pools) != len(instance.pools)
        or any(a.name != b.name or a.share != b.share for a, b in pairs)
    ):
        raise InputError("subset", "expected the same types and pools")
    inner, support = region_facets(subset), Support(instance)

    def fraction(facet: Facet) -> Fraction:
        return facet.offset / support.value(facet.normal)

    # f C lies in the smaller region if and only if f max_C normal . x <= offset for every one of its facets
    tightest = min(inner.outer, key=fraction)
    _, best = support(tightest.normal)
    f = fraction(tightest)
    assert (
        f
        * total(
            pool.share * a * slots
            for pool, k in zip(instance.pools, best, strict=True)
            for a, slots in zip(tightest.normal, k, strict=True)
        )
        == tightest.offset
    )
    return Kept(f, tightest, best, inner)
