"""The fluid limit of dynamic reservation beside simulations, where draining limits the path.

Two small types share servers with a large one that is worth more; all servers fill with small jobs first, and have to
be drained for the large ones, each as long as the longer of two Erlang times. Simulated paths approach the fluid one
like L^-1/2; the limit with the simplified drain rate stays off. Run ``python -m examples.fluid_limit [PICTURE.png]``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from packproof import Instance, additive, crosscheck
from packproof.limits import minimum_rates, reservation_limit
from packproof.simulation import Expression
from packproof.views import arguments, picture_of_crosscheck

SIZES = (500, 2000, 8000, 32000)


def simplified(instance: Instance, times: np.ndarray) -> np.ndarray:
    """Return the path with drain rates ``min_j mu_j y_j / k_j``."""
    return reservation_limit(instance, times, minimum_rates)


def main(picture: str | None = None, sizes: tuple[int, ...] = SIZES) -> tuple[float, float]:
    """Print the distances and return the fitted slopes: of the exact limit, and of the simplified one."""
    instance = additive([3, 3], [[1, 0], [0, 1], [3, 3]], rewards=[1, 1, 7], workload=[6, 6, "3/2"])
    names = ("small in cores", "small in memory", "large")
    instance = replace(
        instance, types=tuple(replace(one, name=name) for one, name in zip(instance.types, names, strict=True))
    )
    options = {"reservation": Expression("(log L)^2")}
    check = crosscheck(instance, sizes, 10.0, 4, options=options, bins=500)
    if picture is not None:
        picture_of_crosscheck(check, picture)
    rates = []
    for name, one in (("exact", check), ("simplified", check.beside(simplified))):
        far = ", ".join(f"{d:.4f}" for d in one.distances.mean(axis=1))
        print(f"{name:10s} limit: distance {far} at L = {', '.join(map(str, sizes))}; slope {one.rate.mean:.2f}")
        rates.append(one.rate.mean)
    return rates[0], rates[1]


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
