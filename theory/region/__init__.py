"""Capacity regions: which workloads a cluster can carry, exactly.

`membership` answers for one workload or direction without enumerating anything; `facets` gives the whole region, with
`hull` growing it and `proof` showing that it is complete; `slices` cuts it by a plane; `subset` compares regions.
"""

from theory.region.facets import Facet, Region, region_facets
from theory.region.membership import CapacityProgram, Intensity, stable_servers, traffic_intensity
from theory.region.slices import Slice, region_slice
from theory.region.subset import Kept, kept_fraction, single_types
from theory.region.support import Support

__all__ = [
    "CapacityProgram",
    "Facet",
    "Intensity",
    "Kept",
    "Region",
    "Slice",
    "Support",
    "kept_fraction",
    "region_facets",
    "region_slice",
    "single_types",
    "stable_servers",
    "traffic_intensity",
]
