"""Capacity regions: which workloads a cluster can carry, exactly.

`membership` answers for one workload or direction without enumerating anything; `facets` gives the whole region, with
`hull` growing it and `proof` showing that it is complete; `slices` cuts it by a plane; `subset` compares regions;
`oracles` are the rules for configurations of great weight, and `worst_case` their exact worst cases.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "facets": ("Facet", "Region", "region_facets"),
        "membership": ("CapacityProgram", "Intensity", "Support", "stable_servers", "traffic_intensity"),
        "slices": ("Slice", "region_slice"),
        "subset": ("Kept", "kept_fraction", "single_types"),
        "oracles": ("RULES", "lemma_6_1", "oracle"),
        "worst_case": ("worst_weights",),
    },
)
