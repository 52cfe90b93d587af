"""Two policies of your own: worst-fit in a dozen lines, and dynamic reservation that places some jobs at random.

A policy is three plain functions over a state of arrays (`fluid/simulation/policy_interface.py` describes them). The
simulator, the exact chain, experiments and pictures then work as for the policies that come with packproof:

    packproof simulate examples/four_types.toml --policy examples/own_policies.py:WORST_FIT --servers 200 --until 20

Run ``python examples/own_policies.py [PICTURE.png]``.
"""

from __future__ import annotations

from typing import Any

from packproof import LossScenario, Policy, Setting, additive, policy, simulate, stationary_law, step
from packproof.simulation import Common, ReservationState, common, fits, nothing_to_depart, nothing_to_refresh
from packproof.views import arguments, picture_of_simulation


def prepare(setting: Setting) -> Common:
    """Worst-fit remembers nothing: the common part is all its state."""
    return Common(**common(setting))


def emptiest(state: Common, job_type: int, draws: Any) -> int:  # noqa: ARG001 (the interface)
    """Return the server with the most of the first resource left, the first of equals, -1 if none has room."""
    best = -1
    for server in range(len(state.counts)):
        roomier = best < 0 or state.free[server, 0] > state.free[best, 0]
        if roomier and fits(state, server, job_type):
            best = server
    return best


DRA = policy("dra")
place_by_reservation = DRA.place

WORST_FIT = Policy("worst-fit", "loss", prepare, emptiest, nothing_to_depart, nothing_to_refresh)


@step
def place_noisily(state: ReservationState, job_type: int, draws: Any) -> int:
    """Place by rank, but one time in five from the wrong end."""
    state.worst_first[0] = 1 if draws.random() < 0.2 else 0
    server = place_by_reservation(state, job_type, draws)
    state.worst_first[0] = 0
    return int(server)


NOISY_DRA = Policy(
    "noisy-dra",
    "loss",
    DRA.prepare,
    place_noisily,
    DRA.depart,
    DRA.refresh,
    moves_jobs=True,
    reserves=True,
    answer=DRA.answer,
)


def main(path: str | None = None) -> dict[str, float]:
    """Print exact and simulated rewards side by side, draw the larger system, and return its rewards."""
    small = additive([12], [[5], [7]], [3, 4], [1, 1])
    rewards = {}
    for one in (WORST_FIT, policy("first-fit"), NOISY_DRA, DRA):
        law = stationary_law(one, small, 2, {"reservation": 1})
        scenario = LossScenario(small, 2, 3000.0, 50.0, options={"reservation": 1})
        found = simulate(one, scenario, replications=10, seed=1).reward(0.999)
        print(
            f"{one.name:10} on 2 servers: {law.reward:.4f} exactly ({len(law.probability)} states), "
            f"simulated {found.mean:.4f} +- {found.half_width:.4f}"
        )
        rewards[f"{one.name}, 2 servers"] = law.reward
    results = [
        simulate(one, LossScenario(small, 300, 60.0, 10.0), replications=5, seed=2)
        for one in (WORST_FIT, policy("first-fit"), NOISY_DRA, DRA)
    ]
    for result in results:
        print(f"{result.policy.name:10} on 300 servers: {result.reward().mean:.4f}")
        rewards[result.policy.name] = result.reward().mean
    if path is not None:
        picture_of_simulation(results, path)
    return rewards


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
