"""The model of cluster admission: deployments that grow and shrink on their own, and the cluster they want to enter.

A deployment has parameters (mu, lambda, sigma), global constants kappa and delta, and an initial size. Each of its
cores lives for Exp(mu); scale-outs come at rate lambda mu^kappa, each asks for 1 + Poisson(sigma) cores and is granted
wholly or not at all; it ends when it has no core left, or at its maximum lifetime, which is Exp(delta mu). Parameters
are drawn from Gamma laws (`Priors`), or belong to one of finitely many kinds (`Kind`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import exp, inf, lgamma, log, log1p
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from theory.errors import ArgumentError, InputError
from theory.files.record import Range, expect_ranges
from theory.numbers import many

MOST_COUNT = 2**53
"""Counts and cores beyond it are not whole in floats."""

Positive = Annotated[float, Range(0, above=True)]
NotNegative = Annotated[float, Range(0)]
Count = Annotated[int, Range(0, MOST_COUNT)]
Cores = Annotated[int, Range(1, MOST_COUNT)]

MOST_KAPPA = 5.0
"""End of the range of kappa, of fits and of files, on both sides of 0: beyond it mu^kappa is astronomical."""


@dataclass(frozen=True)
class Gamma:
    """A Gamma law by shape and rate (not scale), so its mean is ``shape / rate``.

    Examples
    --------
    >>> law = Gamma(3.0, 2.0)
    >>> law.mean, law.square
    (1.5, 3.0)
    """

    shape: Annotated[Positive, "of a Gamma law"]
    rate: Annotated[Positive, "of a Gamma law, not its scale: the mean is shape / rate"]

    def __post_init__(self) -> None:
        expect_ranges(self)

    @property
    def mean(self) -> float:
        """The first moment."""
        return self.shape / self.rate

    @property
    def square(self) -> float:
        """The second moment."""
        return self.shape * (self.shape + 1) / self.rate**2

    def observed(self, count: float, exposure: float) -> Gamma:
        """Return the law after `count` events of a Poisson process of this rate in a time `exposure`."""
        return Gamma(self.shape + count, self.rate + exposure)


def moment_of_power(law: Gamma, a: float, s: float) -> float:
    """Return G(a, s) = E[mu^a exp(-s mu)], infinite where ``shape + a <= 0``.

    Examples
    --------
    >>> round(moment_of_power(Gamma(3.0, 2.0), 1.0, 0.0), 12), moment_of_power(Gamma(1.0, 1.0), 0.0, 1.0)
    (1.5, 0.5)
    """
    shape = law.shape + a
    if shape <= 0:
        return inf
    # beta^alpha (beta + s)^-(alpha + a) = beta^-a (1 + s / beta)^-(alpha + a), so small s loses no digit
    return exp(lgamma(shape) - lgamma(law.shape) - a * log(law.rate) - shape * log1p(s / law.rate))


@dataclass(frozen=True)
class InitialSize:
    """The law of the initial size of a deployment.

    Attributes
    ----------
    sizes : tuple of int
        Empty for 1 + Poisson(sigma) with the deployment's own sigma, which the paper leaves open.
    probabilities : tuple of float
        As long as `sizes`, with sum 1.
    """

    sizes: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.probabilities):
            raise InputError("deployments", "initial: expected as many probabilities as sizes")
        if any(size < 1 for size in self.sizes):
            raise InputError("deployments", "initial: expected sizes of at least 1 core")
        total = sum(self.probabilities)
        if self.sizes and (min(self.probabilities) < 0 or abs(total - 1) > 1e-9):
            raise InputError("deployments", f"initial: expected probabilities with sum 1, got {total:g}")

    @property
    def is_poisson(self) -> bool:
        """Whether the size is 1 + Poisson(sigma), and so one more observation of sigma."""
        return not self.sizes


@dataclass(frozen=True)
class Priors:
    """Deployments whose parameters are drawn from Gamma laws, independently.

    Attributes
    ----------
    mu, lam, sigma : Gamma
        Rate at which a core ends (per hour), normalised rate of scale-outs, mean of a scale-out's size minus 1.
    kappa : float
        Scale-outs come at rate ``lambda mu ** kappa``.
    delta : float
        The maximum lifetime is Exp(``delta mu``); 0 for none.
    initial : InitialSize
    """

    mu: Gamma
    lam: Gamma
    sigma: Gamma
    kappa: float
    delta: float
    initial: InitialSize = field(default_factory=InitialSize)

    def __post_init__(self) -> None:
        if not np.isfinite(self.kappa):
            raise InputError("deployments", f"kappa: expected a finite number, got {self.kappa!r}")
        if not (np.isfinite(self.delta) and self.delta >= 0):
            raise InputError("deployments", f"delta: expected a number of at least 0, got {self.delta!r}")


@dataclass(frozen=True)
class Kind:
    """Deployments whose parameters are all known.

    Attributes
    ----------
    probability : float
        That an arrival is of this kind.
    mu, scale_out_rate, shutdown_rate : float
        Rates per hour at which a core ends, scale-outs are asked for, and the deployment is shut down.
    size, batch : int
        Cores at arrival, and cores of each scale-out.
    """

    probability: Annotated[NotNegative, "that an arrival is of this kind"]
    mu: Annotated[Positive, "rate per hour at which a core ends"]
    scale_out_rate: Annotated[NotNegative, "rate per hour at which scale-outs are asked for"]
    shutdown_rate: Annotated[NotNegative, "rate per hour at which it is shut down"]
    size: Annotated[Cores, "cores at arrival"]
    batch: Annotated[Cores, "cores of each scale-out"] = 1

    def __post_init__(self) -> None:
        expect_ranges(self)


@dataclass(frozen=True)
class AdmissionCluster:
    """A cluster and the deployments that arrive at it.

    Attributes
    ----------
    capacity : int
        Cores.
    arrival_rate : float
        New deployments an hour, a Poisson process.
    deployments : Priors or tuple of Kind
    source : str
        The file that it was read from, for messages; empty for none.
    """

    capacity: int
    arrival_rate: float
    deployments: Priors | tuple[Kind, ...]
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InputError("cluster", f"capacity: expected at least 1 core, got {self.capacity!r}")
        if not (np.isfinite(self.arrival_rate) and self.arrival_rate > 0):
            raise InputError("cluster", f"arrival_rate: expected a number greater than 0, got {self.arrival_rate!r}")
        if isinstance(self.deployments, tuple):
            total = sum(kind.probability for kind in self.deployments)
            if abs(total - 1) > 1e-9:
                raise InputError("kind", f"probability: expected probabilities with sum 1, got {total:g}")
            sizes = [kind.size for kind in self.deployments]
        else:
            sizes = list(self.deployments.initial.sizes)
        if sizes and max(sizes) > self.capacity:
            raise InputError(
                "cluster",
                f"capacity: expected at least the largest initial size, {many(max(sizes), 'core')}, "
                f"got {self.capacity}",
            )

    @property
    def priors(self) -> Priors:
        """The priors, or an error that says what the work needs."""
        if isinstance(self.deployments, tuple):
            raise InputError(self.source, "deployments", "expected priors [deployments], found known kinds [[kind]]")
        return self.deployments

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds, or an error that says what the work needs."""
        if not isinstance(self.deployments, tuple):
            raise InputError(self.source, "kind", "expected known kinds [[kind]], found priors [deployments]")
        return self.deployments

    def refuse_size(self, cores: int, name: str = "size") -> None:
        """Refuse a number of cores that the cluster does not have."""
        if not 1 <= cores <= self.capacity:
            raise ArgumentError(name, f"expected from 1 to the capacity, {many(self.capacity, 'core')}, got {cores}")

    def resized(self, capacity: int | None = None, arrival_rate: float | None = None) -> AdmissionCluster:
        """Return the cluster with other cores, or another rate of arrivals, where one is given."""
        if capacity is not None and not 1 <= capacity <= MOST_CORES:
            raise ArgumentError("capacity", f"expected from 1 to {MOST_CORES:,} cores, got {capacity}")
        if arrival_rate is not None and not 0 < arrival_rate < inf:
            raise ArgumentError("arrival_rate", f"expected deployments an hour, greater than 0, got {arrival_rate!r}")
        return replace(
            self,
            capacity=self.capacity if capacity is None else capacity,
            arrival_rate=self.arrival_rate if arrival_rate is None else arrival_rate,
        )


MOST_HORIZONS = 1_000_000

MOST_CORES = 1_000_000_000
"""Beyond any cluster, and whole in floats."""

MOST_HOURS = 10_000_000
"""Most hours of a run: over a thousand years, of which every month is counted by itself."""


def refuse_span(until: float, warmup: float) -> None:
    """Refuse hours of a run that are none, too many, or all a warm-up."""
    if not 0 < until <= MOST_HOURS:
        raise ArgumentError("until", f"expected a time greater than 0 and at most {MOST_HOURS:,} hours, got {until!r}")
    if not 0 <= warmup < until:
        raise ArgumentError("warmup", f"expected a time of at least 0 and less than until, {until:g}, got {warmup!r}")


def horizons_of(times: list[float] | NDArray[np.float64], name: str = "horizons") -> NDArray[np.float64]:
    """Return times to look ahead, float64[H] in hours, increasing and positive.

    Raises
    ------
    ArgumentError
        No time, one that is not positive, or times out of order.
    """
    horizons = np.asarray(times, float)
    if not 0 < len(horizons) <= MOST_HORIZONS:
        raise ArgumentError(name, f"expected from 1 to {MOST_HORIZONS:,} times, got {len(horizons)}")
    bad = horizons[~(np.isfinite(horizons) & (horizons > 0))]
    if len(bad):
        raise ArgumentError(name, f"expected times greater than 0, got {bad[0]:g}")
    back = np.flatnonzero(np.diff(horizons) <= 0)
    if len(back):
        raise ArgumentError(
            name, f"expected times in increasing order, got {horizons[back[0] + 1]:g} after {horizons[back[0]]:g}"
        )
    return horizons


PRINTED_SPANS = (26280.0, 8760.0, 730.0, 168.0, 24.0)
"""The paper's look-ahead, in hours: three years, one year, one month, one week, one day."""


def printed_horizons(steps: int = 600) -> NDArray[np.float64]:
    """Return the union of the paper's five grids, each of `steps` equal steps (Section 5.2), float64[H].

    Examples
    --------
    >>> made = printed_horizons()
    >>> float(made[0]), float(made[-1]), len(made) <= 3000
    (0.04, 26280.0, True)
    """
    return np.unique(np.concatenate([span * np.arange(1, steps + 1) / steps for span in PRINTED_SPANS]))
