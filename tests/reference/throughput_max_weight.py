"""MaxWeight of Section III-A of the high-throughput paper, equation (5), where a server chooses when it is empty."""

from __future__ import annotations

from functools import cached_property
from itertools import product

from tests.reference.throughput_slots import Job, Transcription


class MaxWeight(Transcription):
    """An empty server takes the configuration of greatest weight, and keeps it until it is empty.

    Of equal ones it takes the one with more jobs of the smallest size that differs.
    """

    @cached_property
    def configurations(self) -> list[tuple[int, ...]]:
        """The contents that fit a server."""
        most = [range(self.unit // size + 1) for size in self.sizes]
        return [k for k in product(*most) if sum(a * b for a, b in zip(k, self.sizes, strict=True)) <= self.unit]

    def chosen(self) -> tuple[int, ...]:
        """Return the configuration with the best <k, Q>."""
        waiting = [sum(job.kind == c for job in self.queue) for c in range(len(self.sizes))]
        return self.best(self.configurations, key=lambda k: (sum(a * b for a, b in zip(k, waiting, strict=True)), k))

    best = staticmethod(max)

    def schedule(self, left: set[int], fresh: list[Job]) -> None:
        """Let each server choose where it is empty, and start jobs for its free slots."""
        del left, fresh
        for number, server in enumerate(self.servers):
            if not server.jobs:
                if not self.queue:
                    continue
                server.configuration = self.chosen()
            assert server.configuration is not None
            for kind, slots in enumerate(server.configuration):
                for job in [job for job in self.queue if job.kind == kind]:
                    if sum(other.kind == kind for _, other in server.jobs) < slots:
                        self.start(job, number)


class LeastWeight(MaxWeight):
    """Wrong: a server takes a configuration of least weight."""

    best = staticmethod(min)
