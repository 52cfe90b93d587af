"""Where dynamic reservation goes from anywhere: paths of a two-type system in its region, and the function that rises.

From the empty system, from servers full in each maximal configuration, and from a mix of them the fluid paths end in
the greedy assignment, and V's distance to its greatest value falls once no type has more jobs than its workload.
Run ``python -m examples.phase_portrait [PICTURE.png]``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from packproof import Reservation, additive, fluid_path, maximal
from packproof.limits import state_of
from packproof.views import arguments, picture_of_phases

UNTIL = 12.0
NAMES = ("memory-heavy", "core-heavy")


def main(picture: str | None = None) -> float:
    """Print where the paths end, and return the largest distance to the greedy assignment."""
    instance = additive([12, 12], [[1, 4], [4, 2]], rewards=[2, 3], workload=["3/2", "5/2"]).with_names(NAMES)
    slower = replace(instance.types[1], service_rate=Fraction(3, 4))
    model = Reservation(replace(instance, types=(instance.types[0], slower)))
    full = [state_of(model, {tuple(k): 1.0}) for k in maximal(instance.pools[0].space).tolist()]
    sparse = state_of(model, {(3, 0): 0.5, (0, 3): 0.5}, [0.2, 1.2])
    starts = [state_of(model, {}), *full, sparse]
    goal = np.array([float(y) for y in model.equilibrium.served])
    far = 0.0
    for start in starts:
        end = fluid_path(model, 4 * UNTIL, start).jobs([4 * UNTIL])[0]
        far = max(far, float(np.abs(end - goal).max()))
        print(f"from jobs {start[0].round(3).tolist()}: at t = {4 * UNTIL:.0f} {end.round(6).tolist()}")
    print(f"greedy assignment: {goal.tolist()}, reward {float(model.equilibrium.reward):.4f}")
    if picture is not None:
        picture_of_phases(model, starts, UNTIL, picture)
    return far


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
