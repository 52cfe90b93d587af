"""Dynamic reservation with preemption, from Section 7.2 of the auto-scaling paper.

When a job of priority above 0 is refused, jobs of priority 0 are stopped from the smallest size on, until their total
size is g times that of the refused job or none is left. As jobs migrate, they leave the reject group first. The refused
job stays lost, and CRA runs once, after all stops. Other steps are those of Algorithms 1 and 2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.results.autoscaling.referee import Referee
from bounds.results.instances.families import sizes_of
from fluid.simulation.measures import PREEMPTION, REFUSAL
from fluid.simulation.state import Setting


class StoppingReferee(Referee):
    """A referee that also follows the jobs that are stopped."""

    def __init__(self, setting: Setting, reservation: int, priority: list[int]) -> None:
        super().__init__(setting, float(reservation))
        self.priority, self.job_sizes, self.stops = priority, sizes_of(self.instance), 0

    def __call__(self, state: Any, jobs: Any, measures: Any) -> None:
        """Check the event that has just happened."""
        rows = measures.log[self.row : int(measures.logged[0]), 1:4].astype(int).tolist()
        stops = [(job_type, server) for kind, job_type, server in rows if kind == PREEMPTION]
        refused = rows[-1][1] if rows[-1][0] == REFUSAL else -1
        if not stops:
            super().__call__(state, jobs, measures)
            assert refused < 0 or not self.priority[refused] or not self.victims(), "a refused job stopped none"
            return
        self.row = int(measures.logged[0])
        assert refused >= 0, "jobs are stopped, but none is refused"
        assert self.priority[refused] > 0, "a job of priority 0 stopped others"
        self.stop(stops, self.wanted(refused))
        self.classify(state)
        self.compare(state)

    def stop(self, stops: list[tuple[int, int]], wanted: Fraction) -> None:
        """Check and follow the stops, of a type and on a server each, one after the other."""
        stopped, rejects = Fraction(0), self.rejects()
        for job_type, server in stops:
            assert stopped < wanted, "stopped more than g times the size of the job"
            assert job_type == self.victims()[0], "another type is stopped first"
            holders = [s for s in rejects if self.jobs[s][job_type]]
            assert not holders or server in holders, "stopped outside the reject group"
            assert not holders or self.rank[server] == max(self.rank[s] for s in holders), "not the highest rank"
            self.jobs[server][job_type] -= 1
            stopped += self.job_sizes[job_type]
        assert stopped >= wanted or not self.victims(), "stopped too little"
        self.stops += len(stops)

    def wanted(self, refused: int) -> Fraction:
        """Return the total size of jobs to stop: g times that of the refused job."""
        return int(self.reservation) * self.job_sizes[refused]

    def place_in_order(self, job_type: int) -> Fraction:
        """Return what types are sorted by before jobs are stopped."""
        return self.job_sizes[job_type]

    def victims(self) -> list[int]:
        """Return the types of priority 0 in service, in the order in which they are stopped."""
        present = [j for j, p in enumerate(self.priority) if p == 0 and any(on[j] for on in self.jobs)]
        return sorted(present, key=lambda j: (self.place_in_order(j), j))


class LargestFirst(StoppingReferee):
    """Wrong: the largest jobs are stopped first."""

    def place_in_order(self, job_type: int) -> Fraction:
        """Return the size with the other sign."""
        return -self.job_sizes[job_type]


class SizeOfOneJob(StoppingReferee):
    """Wrong: jobs of the size of one job are stopped."""

    def wanted(self, refused: int) -> Fraction:
        """Return the size of the refused job."""
        return self.job_sizes[refused]
