"""Policies of your own: worst-fit, dynamic reservation that places some jobs at random, and one for slotted queues.

A policy is three plain functions over a state of arrays (`fluid/simulation/policy_interface.py` describes them). The
simulator, the exact chain, experiments and pictures then work as for the policies that come with packproof:

    packproof simulate examples/four_types.toml --policy examples/own_policies.py:WORST_FIT --servers 200 --until 20
    packproof simulate examples/uniform_sizes.toml --policy examples/own_policies.py:ROOMIEST --until 2000

Run ``python examples/own_policies.py [PICTURE.png]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from packproof import LossScenario, Policy, Setting, additive, policy, simulate, slotted_law, stationary_law, step
from packproof.simulation import (
    Common,
    ReservationState,
    SizeLaw,
    SlottedCommon,
    SlottedScenario,
    SlottedSetting,
    begin,
    common,
    fits,
    largest_that_fits,
    nothing_to_depart,
    nothing_to_refresh,
    place_nowhere,
    shared,
)
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


def prepare_slots(setting: SlottedSetting) -> SlottedCommon:
    """Make the state of a slotted policy that remembers nothing."""
    return SlottedCommon(**shared(setting))


def fill_the_roomiest(state: SlottedCommon, draws: Any) -> bool:  # noqa: ARG001 (the interface)
    """Start the largest waiting job that fits, on the server with the most room; True: once more in this slot."""
    server = state.free.argmax()
    job_class = largest_that_fits(state, server)
    if job_class < 0:
        return False
    begin(state, job_class, server)
    return True


ROOMIEST = Policy("roomiest", "slotted", prepare_slots, place_nowhere, nothing_to_depart, fill_the_roomiest)


def slotted_queues() -> dict[str, float]:
    """Print exact and simulated queues of a small slotted system under two policies, and return the exact ones."""
    sizes, ends = np.array([4, 7]), np.array([0.5, 0.5])  # the probability that a job ends in a slot
    comes = np.array([0.2, 0.15])  # the probability that one comes
    law = SizeLaw(sizes, 10, comes / comes.sum())
    scenario = SlottedScenario(law, 1, 10_000, 500, rate=comes.sum(), service=0.5, bernoulli=True)
    queues = {}
    for one in (ROOMIEST, policy("bf-s")):
        exact = slotted_law(one, sizes, 10, 1, comes, ends, most_waiting=20)
        queues[f"{one.name}, 1 server"] = float(exact.mean(exact.queue))
        waiting = simulate(one, scenario, replications=10, seed=3).queue(0.999)
        print(
            f"{one.name:10} on 1 server: {queues[f'{one.name}, 1 server']:.4f} jobs wait, simulated {waiting.mean:.4f}"
        )
        assert waiting.holds(queues[f"{one.name}, 1 server"])
    return queues


COMPARED = (WORST_FIT, policy("first-fit"), NOISY_DRA, DRA)


def main(path: str | None = None, compared: Sequence[Policy] = COMPARED) -> dict[str, float]:
    """Print exact and simulated rewards side by side, draw the larger system, and return its rewards."""
    small = additive([12], [[5], [7]], [3, 4], [1, 1])
    rewards = {}
    for one in compared:
        law = stationary_law(one, small, 2, {"reservation": 1})
        scenario = LossScenario(small, 2, 3000.0, 50.0, options={"reservation": 1})
        found = simulate(one, scenario, replications=10, seed=1).reward(0.999)
        print(
            f"{one.name:10} on 2 servers: {law.reward:.4f} exactly ({len(law.probability)} states), "
            f"simulated {found.mean:.4f} +- {found.half_width:.4f}"
        )
        rewards[f"{one.name}, 2 servers"] = law.reward
    results = [simulate(one, LossScenario(small, 300, 60.0, 10.0), replications=5, seed=2) for one in compared]
    for result in results:
        print(f"{result.policy.name:10} on 300 servers: {result.reward().mean:.4f}")
        rewards[result.policy.name] = result.reward().mean
    if path is not None:
        picture_of_simulation(results, path)
    return rewards | slotted_queues()


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
