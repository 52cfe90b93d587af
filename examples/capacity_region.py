"""What a server can carry, and what a cheap rule gives away: the EC2 types of the non-preemptive scheduling paper.

Facets of the region, the traffic intensity of the paper's rates, and the largest part of the region that a scheduler
keeps which fills a server with one type of jobs at a time (Corollary 6.2).

Run ``python examples/capacity_region.py [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from packproof import (
    Additive,
    CapacityProgram,
    kept_fraction,
    read_instance,
    region_facets,
    single_types,
    worst_weights,
)
from packproof.region import lemma_6_1
from packproof.views import arguments, picture_of_region, short


def main(picture: str | None = None) -> Fraction:
    """Print the region and what one type at a time keeps of it, draw it where asked; return that part."""
    instance = read_instance(Path(__file__).parent / "ec2.toml")
    region, intensity = region_facets(instance), CapacityProgram(instance).intensity()
    print(f"traffic intensity of the paper's rates: {short(intensity.value)}")
    for facet in region.outer:
        terms = (f"{a} {name}" for a, name in zip(facet.normal, instance.names, strict=True) if a)
        print(f"  {' + '.join(terms)} <= {facet.offset}")
    kept = kept_fraction(instance, single_types(instance))
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    print(f"one type at a time keeps {short(kept.fraction)} of it, at least; Lemma 6.1 says {short(lemma_6_1(space))}")
    print(f"filling what is left keeps {short(worst_weights(space, 'refined').ratio)} of the greatest weight")
    if picture is not None:
        picture_of_region(instance, intensity, region, picture)
    return kept.fraction


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
