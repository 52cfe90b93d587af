"""The policies of Definitions 4.1, 4.2, 4.4 and 6.1 of the cluster admission paper, deployments one by one.

They go through the worlds of `fluid.admission.simulation`, and share no code with its decisions. Beliefs are sums over
300 nodes of log mu: exact ones and the plug-in (1), with moments of M (O + N). Moments composed by Propositions 4.3 and
4.5 are not transcribed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import Priors
from fluid.admission.simulation.world import ARRIVAL, DEATH, SCALE_OUT, World

LOG_MU = np.linspace(-14.0, 4.5, 300)
"""Nodes of a belief; wide enough for priors whose mu has a shape of 3 or more and a rate near 1."""


@dataclass
class Deployment:
    """A deployment in the cluster, and what was seen of it since it came."""

    cores: int
    born: float
    last: float = 0.0  # until when its core time is counted
    core_time: float = 0.0
    deaths: int = 0
    scale_outs: int = 0
    sizes: list[int] = field(default_factory=list)  # of the deployment and its scale-outs

    def count(self, now: float) -> None:
        """Count its core time up to now."""
        self.core_time += self.cores * (now - self.last)
        self.last = now


@dataclass(frozen=True)
class Rule:
    """A policy: how many moments it looks at, and whether beliefs are the plug-in."""

    moments: int
    threshold: float
    plug_in: bool = False
    marginal: float = 0.0


def moments_ahead(
    one: Deployment, asked: int, now: float, priors: Priors, times: NDArray[np.float64], *, plug_in: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of M (O + N) at times ahead, float64[T] each, by (1) after scale-outs asked."""
    mu, age = np.exp(LOG_MU)[:, None], now - one.born
    core_time = one.core_time + one.cores * (now - one.last)
    shape, base = priors.lam.shape + asked, priors.lam.rate + 0 * mu
    level = (priors.mu.shape + one.deaths) * np.log(mu) - (priors.mu.rate + core_time) * mu
    if plug_in:  # mu is Gamma(alpha + k, beta + T), and mu^kappa counts by its mean in the law of lambda
        weight = np.exp(level - level.max())
        base = base + age * (weight * mu**priors.kappa).sum() / weight.sum()
    else:  # times the likelihood of the scale-outs and of no shutdown, lambda integrated out
        base = base + age * mu**priors.kappa
        level += priors.kappa * asked * np.log(mu) - priors.delta * age * mu - shape * np.log(base)
        weight = np.exp(level - level.max())
    weight = weight / weight.sum()
    lam, square = shape / base, shape * (shape + 1) / base**2
    a, b = priors.sigma.shape + sum(one.sizes) - len(one.sizes), priors.sigma.rate + len(one.sizes)
    sigma, sigma_square = a / b, a * (a + 1) / b**2
    # each core of a scale-out, at a uniform time within t, is left at t with probability q; two of them with q_2
    x = mu * times
    stays, q, q_2 = np.exp(-x), -np.expm1(-x) / x, -np.expm1(-2 * x) / (2 * x)
    expected = mu**priors.kappa * times  # scale-outs for lambda = 1
    old, new = one.cores * stays, lam * expected * (1 + sigma) * q
    total = old + new
    # O is binomial; N is a compound Poisson number given lambda and sigma, S = 1 + Poisson(sigma), E[S (S - 1)]
    pairs = lam * expected * (sigma_square + 2 * sigma) * q_2
    second = old * (1 - stays) + old**2 + 2 * old * new + new + pairs
    second = second + square * (expected * q) ** 2 * (1 + 2 * sigma + sigma_square)
    alive = weight * np.exp(-priors.delta * x)  # M = 1
    mean = (alive * total).sum(axis=0)
    return mean, (alive * second).sum(axis=0) - mean**2


class Transcription:
    """A run of a rule through a world: what judged each arrival, who entered, and what was asked for and refused.

    Parameters
    ----------
    world : World
        What happens to every deployment if everything is granted.
    capacity : int
    priors : Priors
        With sizes 1 + Poisson(sigma).
    rule : Rule
    times : float64[T]
        Hours ahead.
    """

    def __init__(
        self, world: World, capacity: int, priors: Priors, rule: Rule, times: NDArray[np.float64], until: float
    ) -> None:
        self.capacity, self.priors, self.rule, self.times = capacity, priors, rule, times
        self.present: dict[int, Deployment] = {}
        self.judged: dict[int, float] = {}  # by deployment
        self.admitted: set[int] = set()
        self.asked = self.refused = 0
        self.now = 0.0
        granted = set[int]()
        columns = (column.tolist() for column in (world.time, world.what, world.batch))
        for time, what, batch in zip(*columns, strict=True):
            if time >= until:
                break
            self.now = time
            number, size = int(world.deployment[batch]), int(world.size[batch])
            if what == ARRIVAL:
                fits = self.enters(number, size)
            elif number not in self.present or (what == DEATH and batch not in granted):
                continue
            else:
                fits = self.happens(number, what, size)
            if fits:
                granted.add(batch)

    @property
    def cores(self) -> int:
        """Active cores."""
        return sum(one.cores for one in self.present.values())

    def fits(self, size: int) -> bool:
        """Whether there are cores for a request."""
        return self.cores + size <= self.capacity

    def enters(self, number: int, size: int) -> bool:
        """Decide about an arrival."""
        arrival = Deployment(size, self.now, self.now, sizes=[size])
        if not self.fits(size):
            return False
        self.judged[number] = self.needed(arrival)
        if self.judged[number] >= self.rule.threshold:
            return False
        self.present[number] = arrival
        self.admitted.add(number)
        return True

    def after_acceptance(self, arrival: Deployment) -> list[Deployment]:
        """Return the deployments after acceptance."""
        return [*self.present.values(), arrival]

    def asked_of(self, one: Deployment) -> int:
        """Return the scale-outs that were seen of a deployment."""
        return one.scale_outs

    def ahead(self, one: Deployment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and variance of the size of a deployment ahead, float64[T] each."""
        plug_in = self.rule.plug_in
        return moments_ahead(one, self.asked_of(one), self.now, self.priors, self.times, plug_in=plug_in)

    def counts(self, own: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return at which times the condition counts, by the expected cores of the arrival: Definition 6.1."""
        return np.asarray(own >= self.rule.marginal)

    def failure(self, variance: NDArray[np.float64], free: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the bound (18)."""
        return np.asarray(variance / (variance + free**2))

    def needed(self, arrival: Deployment) -> float:
        """Return what is compared with the threshold: Definitions 4.1, 4.2, 4.4 with (18), and 6.1."""
        everybody = self.after_acceptance(arrival)
        if self.rule.moments == 0:
            return float(sum(one.cores for one in everybody))
        parts = [self.ahead(one) for one in everybody]
        mean, variance = (sum((part[k] for part in parts), 0 * self.times) for k in (0, 1))
        counted = self.counts(self.ahead(arrival)[0])
        if self.rule.moments == 1:
            return float(mean[counted].max(initial=0.0))
        bound = self.failure(variance, np.maximum(self.capacity - mean, 0.0))
        return float(bound[counted].max(initial=0.0))

    def happens(self, number: int, what: int, size: int) -> bool:
        """Let something happen to a deployment that is there; return whether it is a scale-out that is granted."""
        deployment = self.present[number]
        deployment.count(self.now)
        if what == SCALE_OUT:
            deployment.scale_outs += 1
            deployment.sizes.append(size)
            self.asked += 1
            if self.fits(size):
                deployment.cores += size
                return True
            self.refused += 1
        elif what == DEATH:
            deployment.deaths += 1
            deployment.cores -= 1
        if what not in (SCALE_OUT, DEATH) or not deployment.cores:  # shut down, or without a core
            del self.present[number]
        return False


class WithoutArrival(Transcription):
    """A break: the arrival does not count."""

    def after_acceptance(self, arrival: Deployment) -> list[Deployment]:
        """Return the deployments before acceptance."""
        del arrival
        return list(self.present.values())


class Chebyshev(Transcription):
    """A break: Chebyshev's bound in place of Cantelli's."""

    def failure(self, variance: NDArray[np.float64], free: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the two-sided bound."""
        return np.asarray(variance / free**2)


class ScaleOutsUnseen(Transcription):
    """A break: scale-outs are not observed."""

    def asked_of(self, one: Deployment) -> int:
        """Return none."""
        del one
        return 0


class MarginalTimesCount(Transcription):
    """A break: times at which the arrival is marginal count."""

    def counts(self, own: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return all times."""
        return np.ones(own.shape, bool)
