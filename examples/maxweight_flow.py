"""Two queues under max-weight: a flow that turns where configurations tie, and a length that falls as fast as is sure.

Two types on two resources, so that three configurations matter: (3, 0), (2, 3) and (0, 4). Algorithm 1 of the
non-preemptive scheduling paper follows the fluid path as its queues grow.

Run ``python -m examples.maxweight_flow [PICTURE.png]``.
"""

from __future__ import annotations

from fractions import Fraction

from packproof import MaxWeight, additive, decay_rate, least_time, queue_path
from packproof.limits import norm
from packproof.views import arguments, picture_of_flow

NAMES = ("core-heavy", "memory-heavy")
STARTS = ((2, 4), (4, Fraction(1, 2)), (3, 2), (Fraction(1, 2), 3))


def main(picture: str | None = None) -> float:
    """Print times to drain between their bounds, draw the flow where asked; return the largest sure rate."""
    instance = additive([12, 12], [[4, 1], [1, 3]], workload=["3/2", "5/2"]).with_names(NAMES)
    rate, model = decay_rate(instance), MaxWeight(instance)
    assert rate is not None
    print(f"largest sure rate {float(rate):.4f}, the root of {rate.square}, decided by the facet {rate.facet.normal}")
    for queues in (*STARTS, rate.facet.normal):
        drained = queue_path(model, [float(q) for q in queues], 1e3).drained
        least, longest = least_time(instance, queues), norm(instance, [float(q) for q in queues]) / float(rate)
        print(f"queues {', '.join(map(str, queues))}: any policy {float(least or 0):.3f} at least, ", end="")
        print(f"max-weight {drained:.3f}, at most {longest:.3f}")
    if picture is not None:
        picture_of_flow(instance, [[float(q) for q in queues] for queues in STARTS], picture)
    return float(rate)


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
