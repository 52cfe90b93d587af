"""Randomized sampling (G16) as Section 1.2 of the non-preemptive paper describes it; the rates are packproof's."""

from __future__ import annotations

from typing import Any

from bounds.results.nonpreemptive.literal import Job, Transcription


class RandomizedSampling(Transcription):
    """Each queue samples servers at a rate that grows with its length; a token holds room for some time."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.tokens: list[list[int]] = [[] for _ in self.queues]  # servers with a token of each type

    def clocks(self) -> list[float]:
        """Return the rates of sampling by type, then those at which tokens of each type expire."""
        sampling, expiry = self.options.get("sampling", 1.0), self.options.get("expiry", 1.0)
        rates = [sampling * mu * self.grown(n) for mu, n in zip(self.rates, self.waiting, strict=True)]
        return rates + [expiry * mu * len(tokens) for mu, tokens in zip(self.rates, self.tokens, strict=True)]

    def grown(self, queue: int) -> int:
        """Return how much more often a queue of this length samples than one that nearly is empty."""
        return 1 + queue

    def arrive(self, job: Job) -> None:
        """Use a token at random, else wait."""
        j = job[1]
        self.queues[j].append(job)
        if self.tokens[j]:
            self.start(self.queues[j].popleft(), self.take_token(j))

    def depart(self, j: int, number: int) -> None:
        """Do nothing: room is found by sampling."""

    def ring(self, k: int) -> None:
        """Sample a server for a type, or let a token expire."""
        types = len(self.queues)
        if k >= types:
            self.take_token(k - types)
            return
        number = int(self.draws.random() * len(self.servers))
        server = self.servers[number]
        held = [tokens.count(number) for tokens in self.tokens]
        reserved = [a + b + (j == k) for j, (a, b) in enumerate(zip(server.holds, held, strict=True))]
        if server.can_hold(reserved):
            if self.queues[k]:
                self.start(self.queues[k].popleft(), number)
            else:
                self.tokens[k].append(number)

    def take_token(self, j: int) -> int:
        """Remove a token of a type at random; return its server."""
        chosen = int(self.draws.random() * len(self.tokens[j]))
        number = self.tokens[j][chosen]
        self.tokens[j][chosen] = self.tokens[j][-1]
        self.tokens[j].pop()
        return number


class SteadySampling(RandomizedSampling):
    """A break: queues sample servers at a rate that does not grow with them."""

    def grown(self, queue: int) -> int:
        """Return the same for all lengths."""
        del queue
        return 1
