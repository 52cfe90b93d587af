"""What the event loops of all models share: the names they are bound over, how a part of a run ends, and settling.

``theory.jit.bound(loop, place=..., depart=..., refresh=..., ...)`` makes the loop of one policy: the functions below
stand for those of the policy and of the model, and are replaced wherever the loop, or a step it calls, names them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import RESTLESS
from fluid.simulation.state import MOVES, PATIENCE, Common, PolicyError
from theory.jit import step

GOING, FINISHED, NEEDS_JOBS, NEEDS_ROOM = 0, 1, 2, 3
"""How a part of a run ends: another may follow, the horizon is reached, the loop needs more jobs, or more memory."""

NO_SERVER = "place: expected a server with room for the job, or -1"
"""What the loops say of an impossible answer of ``place``."""


class Coming(NamedTuple):
    """The chunk of jobs that come next (`fluid.simulation.arrivals.JobList`).

    Attributes
    ----------
    times : float64[n] or int64[n]
    types : int32[n]
    durations : float64[n] or int64[n]
    at : int64[2]
        The next of them, and whether no chunk follows (1) or one may (0).
    """

    times: NDArray[Any]
    types: NDArray[np.int32]
    durations: NDArray[Any]
    at: NDArray[np.int64]


@step
def place(state: Common, job_type: int, draws: Any) -> int:
    """Stand for the policy's function: the server of an arriving job, -1 for none."""
    return -1


@step
def depart(state: Common, server: int, job_type: int, draws: Any) -> None:
    """Stand for the policy's function: a job has left a server."""


@step
def refresh(state: Common, draws: Any) -> bool:
    """Stand for the policy's function: look at the system after an event."""
    return False


@step
def ring(state: Common, clock: int, draws: Any) -> None:
    """Stand for the policy's function: one of its clocks rings."""


@step
def carry_out(state: Common, jobs: Any, measures: Measures) -> None:
    """Stand for the model's function: follow the moves that the policy has written, and clear them."""


@step
def most_calls(state: Common) -> int:
    """Stand for the model's function: how often ``refresh`` may ask for another call beyond `PATIENCE`."""
    return 0


@step
def observe(state: Common, jobs: Any, measures: Measures) -> None:
    """Look at the system after an event: nothing here, assertions in tests."""


@step
def settle(state: Common, jobs: Any, measures: Measures, draws: Any) -> None:
    """Let the policy refresh after an event for as long as it asks to, and carry out its moves."""
    calls, going = 0, True
    while True:
        if state.done[MOVES] > 0:
            carry_out(state, jobs, measures)  # in one place, as it is compiled at each
        if not going:
            break
        going = bool(refresh(state, draws))
        calls += 1 if going else 0
        if calls > PATIENCE and calls > PATIENCE + most_calls(state):
            raise PolicyError(RESTLESS)
