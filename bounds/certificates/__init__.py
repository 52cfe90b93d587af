"""Certificates: evidence as data, plain JSON that `bounds.checker` verifies without any of the code here."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "assignment": ("assignment_certificate",),
        "allocation": ("allocation_certificate",),
        "attack": ("attack_certificate",),
        "cost": ("cost_certificate",),
        "fairness": ("fairness_certificate",),
        "region": ("facets_document", "region_certificate"),
        "throughput": ("throughput_certificate",),
        "worst": ("worst_certificate",),
    },
)
