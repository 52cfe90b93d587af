"""What the event loops of all models share: the names they are bound over, how a part of a run ends, and settling.

``theory.compiled.bound(loop, place=..., depart=..., refresh=..., ...)`` makes the loop of one policy: the functions
below are placeholders for those of the policy and of the model, replaced wherever the loop or a step it calls names
them.

Every loop is a function ``loop(state, jobs, coming, measures, arrival_rng, policy_rng, most) -> ending``:

state
    Of the policy whose functions the loop is bound to.
jobs
    The loop's own lists of the jobs in the system.
coming
    The jobs that come next (`Coming`), or the rates at which they come.
measures
    What is measured (`fluid.simulation.measures.Measures`).
arrival_rng, policy_rng
    Generators of the arriving jobs, where they are not in `coming`, and of what the policy draws.
most
    Events to run at most; cutting a run into parts does not change its path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import Stream
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import RESTLESS
from fluid.simulation.state import MOST_REQUESTS, MOVES, Common, PolicyError, State, fits
from theory.compiled import step

Function = Callable[..., Any]

GOING, FINISHED, NEEDS_JOBS, NEEDS_ROOM = 0, 1, 2, 3
"""How a part of a run ends: another may follow, the horizon is reached, the loop needs more jobs, or more memory."""

NO_SERVER = "place: expected a server with room for the job, or -1"
"""What the loops say of an impossible answer of ``place``."""


class Coming(NamedTuple):
    """The chunk of jobs that come next (`fluid.simulation.arrivals.JobList`)."""

    times: NDArray[Any]  # float64[n] or int64[n]
    types: NDArray[np.int32]
    durations: NDArray[Any]  # float64[n] or int64[n]
    at: NDArray[np.int64]  # [2]: the next of them, and whether no chunk follows (1) or one may (0)


@step
def is_used_up(coming: Coming) -> bool:
    """Return whether the next job is in a chunk that has not been drawn yet."""
    return bool(coming.at[0] == len(coming.times) and coming.at[1] == 0)


@step
def next_arrival(coming: Coming) -> float:
    """Return when the next job comes, infinite if none does."""
    return float(coming.times[coming.at[0]]) if coming.at[0] < len(coming.times) else np.inf


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
    """Stand for the model's function: how often ``refresh`` may ask for another call beyond `MOST_REQUESTS`."""
    return 0


@step
def observe(state: Common, jobs: Any, measures: Measures) -> None:
    """Look at the system after an event: nothing here, assertions in tests."""


@step
def server_for(state: Common, job_type: int, draws: Any) -> int:
    """Ask the policy for the server of a job, and look whether the job fits there; -1 for none."""
    server = place(state, job_type, draws)
    if server >= 0 and (server >= len(state.counts) or not fits(state, server, job_type)):
        raise PolicyError(NO_SERVER)
    return server


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
        if calls > MOST_REQUESTS and calls > MOST_REQUESTS + most_calls(state):
            raise PolicyError(RESTLESS)


class Engine:
    """A model at work: its event loop and the loop's own lists of jobs."""

    loop: Function
    parts: Mapping[str, Function]  # the model's functions that the loop names
    stream: Stream  # the jobs that come
    jobs: Any  # what the loop is called with, as is `coming`
    coming: Any
    part: int = 1 << 18  # events between two looks at the clock on the wall; no part of what a seed means
    kind: type[np.float64] | type[np.int64] = np.float64  # of times

    def next_part(self) -> int:
        """Return how many events the next part may run, with memory for them."""
        return self.part

    def supply(self) -> None:
        """Take the next chunk of the stream, or the note that none follows."""
        chunk = next(self.stream, None)
        if chunk is None:
            empty = np.zeros(0, self.kind)
            self.coming = Coming(empty, np.zeros(0, np.int32), empty.copy(), np.array([0, 1]))
        else:
            self.coming = Coming(*chunk, np.zeros(2, np.int64))

    def enlarge(self, state: State) -> State:
        """Make more memory for jobs, where the loop needs it; return the state, which may hold some of it."""
        return state

    def open(
        self, functions: Mapping[str, Function], state: State, measures: Measures, draws: Any, watch: Function
    ) -> None:
        """Let jobs wait at time 0, and the policy start what it can."""
        del functions, state, measures, draws, watch

    def resume(self, functions: Mapping[str, Function], state: State, measures: Measures, draws: Any) -> None:
        """Let the policy go on after an answer (`fluid.simulation.policy_interface.Policy.answer`)."""
        del functions, state, measures, draws
