"""What an author's policy of a slotted queue may do."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Guard, Rules
from fluid.simulation.slotted.state import COMMON, SIZE
from fluid.simulation.state import State


class SlottedGuard(Guard):
    """The functions of an author's policy of a slotted queue, each call checked."""

    clock = "slot"
    starts = "begin"

    def refresh(self, state: State, draws: Any) -> bool:
        """Let the policy look at the system in a slot."""
        self._event = "jobs that wait"
        return super().refresh(state, draws)

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(state.lines[job_type, SIZE] <= state.free[server])

    def kind(self, state: State, job_type: int) -> str:
        """Return what a size class is called in messages."""
        return f"class {job_type} (size {state.lines[job_type, SIZE]} of {state.capacity[0]})"

    def held(self, state: State) -> NDArray[Any]:
        """Return the jobs in service by server."""
        return cast(NDArray[Any], state.jobs)

    def contents(self, state: State) -> str:
        """Return what a message says of the servers where there is no time."""
        return f"free {state.free.tolist()}"

    def totals(self, state: State) -> NDArray[np.int64]:
        """Return the jobs in service of all classes together."""
        return np.asarray(state.jobs.sum(keepdims=True), np.int64)

    def moved(self, jobs: NDArray[np.int64], job_type: int, source: int, target: int) -> None:
        """Count a job that was started."""
        del job_type, source, target
        jobs[0] += 1

    def agrees(self, state: State, jobs: NDArray[np.int64]) -> bool:
        """Return True: the state has no totals of its own."""
        del state, jobs
        return True


def shapes(setting: Any, state: State) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the fields that are checked."""
    del state
    return {"free": (setting.servers,), "sizes": (len(setting.sizes),)}


RULES = Rules(COMMON, "shared", shapes, SlottedGuard)
