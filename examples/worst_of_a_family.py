"""A real family of VM types: its exactly worst workload, and the ratio along the scale of that workload.

Run ``python examples/worst_of_a_family.py OUT.png``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof import catalogue_instance, worst_workload
from packproof.views import arguments, picture_of_scaling

TYPES = ["aws:m5.*", "aws:r5.large"]
SERVER = {"cpu": Fraction(96), "memory": Fraction(768)}


def main(path: str = "worst_of_a_family.png") -> Fraction:
    """Draw the picture and return the worst ratio."""
    instance = catalogue_instance(TYPES, SERVER)
    worst = worst_workload(instance)
    print(f"{len(instance.types)} types, {worst.programs} exact linear programs")
    print(f"worst ratio over all workloads: {worst.ratio} = {float(worst.ratio):.6f}")
    for name, rho in zip(instance.names, worst.workload, strict=True):
        if rho:
            print(f"  {name}: {rho} jobs per server")
    picture_of_scaling(
        instance.with_workload(worst.workload), path, "AWS m5 and r5.large on 96 vCPU, 768 GiB, at the worst mix"
    )
    return worst.ratio


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
