"""What an author's policy of a queue in continuous time may do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import SERVED, WAITING, TypedGuard, note_and_count
from fluid.simulation.measures import Measures
from fluid.simulation.queue.loop import Jobs
from fluid.simulation.state import OUTSIDE, QUEUE, PolicyError, Setting, State, queue_fields
from theory.compiled import step


@step
def check_queue(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check the jobs and the clocks after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.waiting)):
        if measures.inside[WAITING, j] < 0:
            raise PolicyError("refresh: has started a job of a type of which none waits")
        if state.waiting[j] != measures.inside[WAITING, j]:
            raise PolicyError("refresh: has left waiting other than the jobs that wait")
        if state.totals[j] != measures.inside[SERVED, j]:
            raise PolicyError("refresh: has left totals other than the jobs in service")
    for k in range(len(state.clocks)):
        if not 0.0 <= state.clocks[k] < np.inf:
            raise PolicyError("refresh: has left a clock without a rate of at least 0")


class QueueGuard(TypedGuard):
    """What is checked of an author's policy of a queue."""

    fields = QUEUE
    maker = "queue_fields"
    free_fields = ("moves", "done", "slots", "clocks")
    called = ("place", "depart", "refresh", "ring")
    checks: ClassVar[dict[str, Any]] = {"note": note_and_count, "observe": check_queue}
    tools = "start"

    @classmethod
    def empty(cls, setting: Setting, state: State) -> dict[str, NDArray[Any]]:
        """Return the common part of an empty system, with resources where the state holds them."""
        return queue_fields(setting, resources=bool(state.free.size or state.generators.size), room=1)

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Start a waiting job."""
        servers, types = state.counts.shape
        if source != OUTSIDE or not (0 <= job_type < types and 0 <= target < servers):
            raise PolicyError("expected a type, -1, and a server; the jobs of a queue stay where they start")
        if state.waiting[job_type] < 1:
            raise PolicyError(f"started a job of {self.kind(state, job_type)}, of which none waits")
        if not self.fits(state, target, job_type):
            raise PolicyError("expected a server with room for the job")
        state.waiting[job_type] -= 1
        self._put(state, target, job_type)

    def difference(self, name: str, words: str) -> str:
        """Return what is said of a field that differs from what the moves say."""
        if name == "waiting":
            return f"left waiting{words}: one less for each job that it starts"
        return super().difference(name, words)

    @classmethod
    def impossible(cls, state: State) -> str | None:
        """Return what is wrong with the clocks."""
        if not (np.isfinite(state.clocks) & (state.clocks >= 0)).all():
            return f"left clocks = {state.clocks.tolist()}, expected rates of at least 0"
        return super().impossible(state)

    def count(self, state: State, measures: Measures) -> None:
        """Count the jobs that wait, too."""
        super().count(state, measures)
        measures.inside[WAITING] = state.waiting

    def in_service(self, state: State, jobs: Jobs) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        places = jobs.ends.what[: jobs.ends.size[0]]
        return np.bincount(places, minlength=servers * types).reshape(servers, types)

    def expected(self, state: State, jobs: Jobs, measures: Measures) -> dict[str, Any]:
        """Return what waits, too: what has come and not begun."""
        waiting = measures.arrivals.sum(axis=0) - measures.starts.sum(axis=0)
        return {**super().expected(state, jobs, measures), "waiting": waiting}


GUARD = QueueGuard
