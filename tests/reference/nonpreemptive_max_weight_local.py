"""Max-weight at local refresh times (M14) as Section 1.2 of the non-preemptive paper describes it."""

from __future__ import annotations

from typing import Any

from bounds.results.nonpreemptive.literal import Job, Server, Transcription


class MaxWeightLocal(Transcription):
    """A server renews its configuration when it is empty: at every arrival, or once when it becomes empty."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.once = self.options.get("renewal") == "on-emptying"
        if self.once:
            self.rest()

    def arrive(self, job: Job) -> None:
        """Take the first empty slot, else an empty server, which renews its configuration, else wait."""
        j = job[1]
        self.queues[j].append(job)
        slot = self.first_slot(j)
        if slot is not None:
            self.start(self.queues[j].popleft(), slot)
        elif self.once:
            self.begin_unused(j)
        else:
            for number, server in enumerate(self.servers):
                if not any(server.holds) and server.most[j]:
                    server.slots = list(server.best(self.waiting, self.oracle))
                    self.fill(number)
                    break

    def depart(self, j: int, number: int) -> None:
        """Renew the configuration of a server that is empty, and fill its slots."""
        del j
        server = self.servers[number]
        best = server.best(self.waiting, self.oracle)
        if self.may_renew(server, best):
            server.slots = list(best)
        self.fill(number)

    def may_renew(self, server: Server, best: tuple[int, ...]) -> bool:
        """Return whether a server renews its configuration to the best one."""
        del best
        return not any(server.holds)


class RenewsBesideJobs(MaxWeightLocal):
    """A break: a server renews as soon as the new configuration holds its jobs."""

    def may_renew(self, server: Server, best: tuple[int, ...]) -> bool:
        """Return whether the new configuration holds the jobs."""
        return all(a <= b for a, b in zip(server.holds, best, strict=True))
