"""What an author's policy of a loss system may do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import SERVED, WAITING, TypedGuard, note_and_count
from fluid.simulation.loss.jobs import Calendar
from fluid.simulation.measures import Measures
from fluid.simulation.state import OUTSIDE, Common, PolicyError, Setting, State, common
from theory.compiled import step


@step
def check_totals(state: State, jobs: Any, measures: Measures) -> None:
    """Check the jobs in service after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.totals)):
        if state.totals[j] != measures.inside[WAITING, j] + measures.inside[SERVED, j] or state.slots[j] < 0:
            raise PolicyError("refresh: has left totals other than the jobs in service, or slots below 0")


class LossGuard(TypedGuard):
    """What is checked of an author's policy of a loss system."""

    fields = Common._fields
    maker = "common"
    checks: ClassVar[dict[str, Any]] = {"note": note_and_count, "observe": check_totals}

    @classmethod
    def empty(cls, setting: Setting, state: State) -> dict[str, NDArray[Any]]:
        """Return the common part of an empty system, with resources where the state holds them."""
        return common(setting, resources=bool(state.free.size or state.generators.size), room=1)

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Move or stop a job."""
        if not self.policy.moves_jobs:
            raise PolicyError("expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")
        servers, types = state.counts.shape
        if not (0 <= job_type < types and 0 <= source < servers and OUTSIDE <= target < servers):
            raise PolicyError("expected a type, a server, and a server or -1; in a loss system no job waits to start")
        if state.counts[source, job_type] < 1 or (target >= 0 and not self.fits(state, target, job_type)):
            raise PolicyError("expected a server that holds a job of the type, and one with room for it")
        self._take(state, source, job_type)
        if target >= 0:
            self._put(state, target, job_type)

    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        if isinstance(jobs, Calendar):
            numbers = jobs.ends.what[: jobs.ends.size[0]]
            numbers = numbers[jobs.server[numbers] >= 0]
            places = jobs.server[numbers].astype(np.int64) * types + jobs.kind[numbers]
            return np.bincount(places, minlength=servers * types).reshape(servers, types)
        entries = np.zeros((servers, types), np.int64)
        for j in range(types):
            first = jobs.first[j]
            entries[:, j] = np.bincount(jobs.servers[first : first + jobs.length[j]], minlength=servers)
        return entries - jobs.stale if jobs.moves_jobs else entries


GUARD = LossGuard
