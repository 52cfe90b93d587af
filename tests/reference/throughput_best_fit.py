"""BF-J, BF-S and BF-J/S of Section IV-A of the high-throughput paper, and FIFO-FF of Section VII-B."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.throughput_slots import Job, Server, Transcription


class BestFit(Transcription):
    """Steps that BF-J and BF-J/S share."""

    def tightest(self, job: Job) -> int | None:
        """Return the server with the least residual capacity that a job fits, the first of equals."""
        fitting = [(server.free, number) for number, server in enumerate(self.servers) if server.free >= job.size]
        return min(fitting)[1] if fitting else None

    def place(self, jobs: Sequence[Job]) -> None:
        """Start each of the jobs that fits a server on the tightest one."""
        for job in jobs:
            if (number := self.tightest(job)) is not None:
                self.start(job, number)


class BestFitForJobs(BestFit):
    """BF-J: every job in the queue takes the tightest server."""

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Place all jobs of the queue."""
        del left, fresh
        self.place(list(self.queue))


class BestFitForServers(BestFit):
    """BF-S: every server takes the largest job that fits, until no job fits."""

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Fill all servers."""
        del left, fresh
        for number in range(len(self.servers)):
            self.fill(number)


class BestFitForBoth(BestFit):
    """BF-J/S: 1. BF-S for servers that jobs have left; 2. BF-J for new jobs that still wait."""

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Take both steps."""
        for vacated in sorted(left):
            self.fill(vacated)
        self.place([job for job in fresh if job in self.queue])


class FirstInFirstOut(Transcription):
    """FIFO-FF: the first job in the queue takes the first server that it fits, or all wait."""

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Start jobs in the order of arrival."""
        del left, fresh
        for job in list(self.queue):
            fitting = [number for number, server in enumerate(self.servers) if server.free >= job.size]
            if fitting:
                self.start(job, fitting[0])
            elif not self.may_overtake:
                return

    may_overtake = False


class _FirstFit(BestFit):
    """Wrong: jobs take the first server that they fit."""

    def tightest(self, job: Job) -> int | None:
        fitting = [number for number, server in enumerate(self.servers) if server.free >= job.size]
        return fitting[0] if fitting else None


class _SmallestFirst(BestFit):
    """Wrong: servers fill up with the smallest job first."""

    def largest(self, server: Server, among: Sequence[Job]) -> Job | None:
        fitting = [job for job in among if job.size <= server.free]
        return min(fitting, key=lambda job: (job.size, job.order)) if fitting else None


class FirstFitForJobs(_FirstFit, BestFitForJobs):
    """Wrong BF-J: the first server."""


class SmallestFirstForServers(_SmallestFirst, BestFitForServers):
    """Wrong BF-S: the smallest job."""


class FirstFitForBoth(_FirstFit, BestFitForBoth):
    """Wrong BF-J/S: new jobs take the first server."""


class SmallestFirstForBoth(_SmallestFirst, BestFitForBoth):
    """Wrong BF-J/S: servers take the smallest job."""


class Overtaking(FirstInFirstOut):
    """Wrong FIFO-FF: jobs overtake one that fits no server."""

    may_overtake = True
