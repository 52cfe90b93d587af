"""What is believed of one deployment after it was observed: exactly, and by the paper's plug-in.

With k core deaths in core-time T, and m scale-outs in a time T_d during which the deployment stayed alive, the exact
law of mu has the density

    p(mu) ~ mu^(alpha_mu - 1 + k + kappa m) exp(-mu (beta_mu + T + delta T_d))
            (beta_lambda + mu^kappa T_d)^-(alpha_lambda + m),

and lambda given mu is Gamma(alpha_lambda + m, beta_lambda + mu^kappa T_d). In s = log mu the logarithm of this density
is concave, so the law is unimodal, and `fluid.admission.law.quadrature` has its nodes. The plug-in of the paper takes
Gamma(alpha_mu + k, beta_mu + T) for mu and replaces mu^kappa by its mean in the law of lambda.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import Count, Gamma, Priors, moment_of_power
from fluid.admission.law.quadrature import Density, find_nodes, new_grid
from theory.compiled import plain
from theory.errors import InputError
from theory.files.record import Expected, Given, Range, expect_ranges
from theory.numbers import many

_Hours = Annotated[float, Range(0), Expected("hours, at least 0")]


@dataclass(frozen=True)
class Observed:
    """What was observed of a deployment that is alive.

    Attributes
    ----------
    core_deaths : int
        k: cores that ended on their own.
    core_time : float
        T: sum over cores of the hours for which they were active.
    alive_time : float
        T_d: hours since the deployment arrived.
    scale_outs : int
        m: scale-outs asked for, granted or not.
    extra_cores, sizes : int
        Sum of (size - 1) over the sizes that were seen, and how many those are; the initial size counts as one of them
        where it follows 1 + Poisson(sigma).
    """

    core_deaths: Annotated[Count, Given(), "cores that ended on their own"] = 0
    core_time: Annotated[_Hours, Given(), "the sum over its cores of the hours for which they ran"] = 0.0
    alive_time: Annotated[_Hours, Given(), "hours since it arrived"] = 0.0
    scale_outs: Annotated[Count, Given(), "how often it asked for more cores, granted or not"] = 0
    extra_cores: Annotated[Count, Given(), "the sum of what each size that was seen is above 1"] = 0
    sizes: Annotated[
        Count,
        Given(),
        "how many sizes were seen: those of the scale-outs and, where it follows 1 + Poisson(sigma), the initial one",
    ] = 0

    def __post_init__(self) -> None:
        expect_ranges(self)
        if self.core_time < self.alive_time * (1 - 1e-12):
            raise InputError(
                "core_time",
                f"expected at least alive_time, {self.alive_time:g}, since a living deployment has a core, "
                f"got {self.core_time:g}",
            )
        if self.core_deaths and not self.core_time:
            raise InputError("core_deaths", f"expected 0 in no core_time, got {self.core_deaths}")
        if self.scale_outs and not self.alive_time:
            raise InputError("scale_outs", f"expected 0 in no alive_time, got {self.scale_outs}")
        if self.extra_cores and not self.sizes:
            raise InputError("extra_cores", f"expected 0 where no size was seen, got {self.extra_cores}")
        if self.sizes == self.scale_outs + 1 and self.core_deaths >= self.extra_cores + self.sizes:
            raise InputError(
                "core_deaths",
                f"expected fewer than the {many(self.extra_cores + self.sizes, 'core')} that there ever "
                f"were (a living deployment has one left), got {self.core_deaths}",
            )

    def death(self, elapsed: float, cores: int) -> Observed:
        """Return what is observed after `cores` cores were active for `elapsed` hours and one of them ended."""
        return self._after(elapsed, cores, core_deaths=1)

    def scale_out(self, elapsed: float, cores: int, size: int) -> Observed:
        """Return what is observed after `elapsed` hours with `cores` cores and a request for `size` more."""
        return self._after(elapsed, cores, scale_outs=1, extra_cores=size - 1, sizes=1)

    def quiet(self, elapsed: float, cores: int) -> Observed:
        """Return what is observed after `elapsed` hours with `cores` cores in which nothing happened."""
        return self._after(elapsed, cores)

    def _after(
        self,
        elapsed: float,
        cores: int,
        core_deaths: int = 0,
        scale_outs: int = 0,
        extra_cores: int = 0,
        sizes: int = 0,
    ) -> Observed:
        return Observed(
            self.core_deaths + core_deaths,
            self.core_time + cores * elapsed,
            self.alive_time + elapsed,
            self.scale_outs + scale_outs,
            self.extra_cores + extra_cores,
            self.sizes + sizes,
        )


@dataclass(frozen=True)
class Tenant:
    """A deployment as it is now.

    Attributes
    ----------
    cores : int
        Active ones.
    observed : Observed
        What was seen of it since it arrived; nothing if it is judged by its prior alone.
    priors : Priors or None
        What was believed before that; None for the priors of the cluster.
    """

    cores: int
    observed: Observed = field(default_factory=Observed)
    priors: Priors | None = None


@dataclass(frozen=True)
class Belief:
    """The exact law of (mu, lambda, sigma).

    Attributes
    ----------
    mu : float64[G]
        Nodes, equally spaced in log mu.
    weight : float64[G]
        Of the nodes, with sum 1.
    lam_shape : float
    lam_rate : float64[G]
        lambda given mu is Gamma(`lam_shape`, `lam_rate`).
    sigma : Gamma
    kappa, delta : float
    """

    mu: NDArray[np.float64]
    weight: NDArray[np.float64]
    lam_shape: float
    lam_rate: NDArray[np.float64]
    sigma: Gamma
    kappa: float
    delta: float

    @cached_property
    def mean_mu(self) -> float:
        """Mean of the rate at which a core ends."""
        return float(self.weight @ self.mu)

    @property
    def variance_mu(self) -> float:
        """Variance of the rate at which a core ends."""
        return float(self.weight @ (self.mu - self.mean_mu) ** 2)

    @property
    def mean_lambda(self) -> float:
        """Mean of the normalised rate of scale-outs."""
        return float(self.weight @ (self.lam_shape / self.lam_rate))


@dataclass(frozen=True)
class PlugIn:
    """The paper's belief: mu, lambda and sigma independent, each with a Gamma law.

    Attributes
    ----------
    mu, lam, sigma : Gamma
    kappa, delta : float
    """

    mu: Gamma
    lam: Gamma
    sigma: Gamma
    kappa: float
    delta: float

    @property
    def priors(self) -> Priors:
        """The same laws as priors, so that every moment of priors is one of this belief."""
        return Priors(self.mu, self.lam, self.sigma, self.kappa, self.delta)


DEPTH = 40.0
"""Nodes of beliefs are where the density of log mu is above exp(-40) of its largest value: all digits but a few."""

SPACING = 0.25
"""Nodes are at most a quarter of a standard deviation of log mu apart: enough to draw the density."""

_find_nodes = plain(find_nodes)


def exact_belief(priors: Priors, observed: Observed) -> Belief:
    """Return the exact law of the parameters after observations.

    Parameters
    ----------
    priors : Priors
    observed : Observed

    Notes
    -----
    O(nodes), some hundred; `fluid.admission.law.quadrature` has the rule and its error.
    """
    grid = new_grid(DEPTH, SPACING)
    of = density_after(priors, observed)
    count, _, _ = _find_nodes(of, log(max(of.power, 1e-3) / of.rate), grid)
    order = np.argsort(grid.places[:count])
    mu = np.exp(np.maximum(grid.places[order] * grid.finest, -690.0))  # powers of it stay within floats
    lam_rate = of.base + of.alive * mu**of.kappa
    sigma = priors.sigma.observed(observed.extra_cores, observed.sizes)
    return Belief(mu, grid.nodes[1, order], of.shape, lam_rate, sigma, priors.kappa, priors.delta)


def density_after(priors: Priors, observed: Observed) -> Density:
    """Return the density of log mu after observations, from which lambda is integrated out."""
    return Density(
        power=float(priors.mu.shape + observed.core_deaths + priors.kappa * observed.scale_outs),
        rate=float(priors.mu.rate + observed.core_time + priors.delta * observed.alive_time),
        shape=float(priors.lam.shape + observed.scale_outs),
        base=float(priors.lam.rate),
        alive=float(observed.alive_time),
        kappa=float(priors.kappa),
    )


def plug_in_belief(priors: Priors, observed: Observed) -> PlugIn:
    """Return the paper's belief: conjugate updates, with mu^kappa replaced by its mean in the law of lambda.

    Examples
    --------
    >>> priors = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
    >>> seen = Observed(core_time=5.0, alive_time=5.0)
    >>> round(plug_in_belief(priors, seen).mu.mean, 3), round(exact_belief(priors, seen).mean_mu, 3)
    (0.429, 0.313)
    """
    mu = priors.mu.observed(observed.core_deaths, observed.core_time)
    power = moment_of_power(mu, priors.kappa, 0.0) if observed.alive_time else 0.0
    if power == inf:
        raise InputError(
            "deployments", f"kappa: expected a finite mean of mu^{priors.kappa:g}; mu has shape {mu.shape:g}"
        )
    lam = priors.lam.observed(observed.scale_outs, observed.alive_time * power)
    sigma = priors.sigma.observed(observed.extra_cores, observed.sizes)
    return PlugIn(mu, lam, sigma, priors.kappa, priors.delta)
