"""One decision about one arrival: the number that each policy compares with its threshold, as the simulator has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.belief import Observed, Tenant
from fluid.admission.law.cluster import AdmissionCluster, Priors
from fluid.admission.law.moments import refuse_infinite_mean, refuse_small_shape
from fluid.admission.law.thresholds import FIRST, SECOND
from fluid.admission.simulation.outlook import (
    Outlook,
    add_part,
    aligned_horizons,
    fill_by_priors,
    needed_with,
    new_outlook,
)
from theory.compiled import kernel

DEPTH = 40.0
"""Nodes of beliefs are where the density of log mu is above exp(-40) of its largest value: all digits but a few."""


def arriving(cluster: AdmissionCluster, cores: int, priors: Priors | None = None) -> Tenant:
    """Return a deployment that arrives; its size is an observation of sigma where it is 1 + Poisson(sigma).

    Examples
    --------
    >>> from fluid.admission.law.cluster import Gamma
    >>> cluster = AdmissionCluster(100, 1.0, Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2))
    >>> arriving(cluster, 4).observed.extra_cores
    3
    """
    seen = Observed(extra_cores=cores - 1, sizes=1) if cluster.priors.initial.is_poisson else Observed()
    return Tenant(cores, seen, priors)


@dataclass(frozen=True)
class Needed:
    """The numbers that the policies compare with their thresholds: each accepts if its threshold is above."""

    zeroth: float  # active cores after acceptance
    first: float  # largest expected number of active cores over the horizons
    # largest bound of Cantelli; 1, which no threshold accepts, where the expected cores reach the capacity or where the
    # variance is infinite
    second: float


def needed(
    cluster: AdmissionCluster,
    tenants: Sequence[Tenant],
    arrival: Tenant,
    horizons: NDArray[np.float64] | None = None,
    *,
    moments: str = "exact",
    marginal: float = 0.0,
    depth: float = DEPTH,
) -> Needed:
    """Return what each policy compares with its threshold, by the posterior of every deployment.

    Parameters
    ----------
    cluster : AdmissionCluster
        With priors.
    tenants : sequence of Tenant
        The deployments in the cluster.
    arrival : Tenant
        The one that asks to enter (`arriving`).
    horizons : float64[H], optional
        Hours ahead; those of the simulator unless given.
    moments : str
        exact: exact beliefs and moments of M (O + N); plug-in: the paper's beliefs, the same moments; paper: its
        beliefs and its composition of moments.
    marginal : float
        Times ahead at which the arrival's expected cores are below this do not count (Definition 6.1).
    depth : float
        Resolution of beliefs; the simulator's is `fluid.admission.simulation.outlook.DEPTH`.

    Notes
    -----
    O(H G) for each deployment, with G nodes of its belief. The simulator takes the same numbers from the same
    functions, but brings a deployment's part up to date only when its belief or size has moved by more than a
    tolerance; with a tolerance of 0 and the same depth both agree in all digits but the last ones.

    Examples
    --------
    >>> from fluid.admission.law.cluster import Gamma
    >>> cluster = AdmissionCluster(100, 1.0, Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2))
    >>> numbers = needed(cluster, [Tenant(3), Tenant(4)], Tenant(2), np.array([1.0, 2.0, 10.0]))
    >>> numbers.zeroth, round(numbers.first, 4)
    (9.0, 3.9939)
    """
    everyone = [*tenants, arrival]
    has_variance = True
    for tenant in everyone:
        own, seen = tenant.priors or cluster.priors, tenant.observed
        refuse_small_shape(own.mu.shape + seen.core_deaths, depth, cluster.source)
        # after a time without scale-outs, exact beliefs bound the rate whatever kappa is
        if moments != "exact" or seen.alive_time == 0:
            refuse_infinite_mean(own.mu.shape + seen.core_deaths + own.kappa, cluster.source)
            has_variance &= own.mu.shape + seen.core_deaths + 2 * own.kappa > 0
    times = aligned_horizons() if horizons is None else np.asarray(horizons, float)
    view = new_outlook(cluster, times, len(tenants), moments, depth=depth)
    _fill(view, np.array([_row(cluster.priors, tenant) for tenant in everyone]))
    first, second = (float(needed_with(view, len(tenants), policy, marginal)) for policy in (FIRST, SECOND))
    return Needed(float(sum(tenant.cores for tenant in everyone)), first, second if has_variance else 1.0)


def _row(priors: Priors, tenant: Tenant) -> tuple[float, ...]:
    """What `fill_by_priors` takes: size, laws after what was seen, time alive, and where the peak of log mu may be."""
    own, seen = tenant.priors or priors, tenant.observed
    mu = own.mu.observed(seen.core_deaths, seen.core_time)
    sigma = own.sigma.observed(seen.extra_cores, seen.sizes)
    lam_shape = own.lam.shape + seen.scale_outs
    return (
        tenant.cores, mu.shape, mu.rate, seen.scale_outs, lam_shape, own.lam.rate, sigma.shape, sigma.rate,
        seen.alive_time, log(own.mu.shape / own.mu.rate),
    )  # fmt: skip


@kernel
def _fill(view: Outlook, rows: NDArray[np.float64]) -> None:
    """Write the parts of deployments, float64[S + 1, 10], and add up all but the last, the arrival's."""
    for i in range(len(rows)):
        r = rows[i]
        fill_by_priors(view, i, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9])
        if i < len(rows) - 1:
            add_part(view, i, 1.0)
