"""How much of a cluster must stay free, by its size: what the gain of admission policies is measured against.

Deployments arrive as a Poisson process and do not know of each other, so the cores that are active if nothing is
refused have a compound Poisson law: a Poisson number of living deployments, each a *clump* of S cores. Their mean m and
variance v have the ratio v / m = E[S^2] / E[S], the *clump ratio* b, whatever the capacity. A *blind* policy, which
admits each arrival with the same probability, sees no more than that. With z sqrt(b c) free cores it refuses, as
c grows, at most a share 1 - Phi(z) of what would be asked for without refusals (`docs/explanation/admission-gain.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.simulate import seed_of
from fluid.admission.simulation.world import DEATH, SCALE_OUT, SHUTDOWN, World, draw_world
from theory.errors import InputError


@dataclass(frozen=True)
class Clumps:
    """Sizes of deployments in a world in which nothing is refused; independent, as deployments arrive independently.

    Attributes
    ----------
    living : int64[n]
        Cores of those that live at the end.
    asking : int64[m]
        Cores that a deployment has after a scale-out, by scale-out past the warm-up.
    load : float
        Cores that live at the end, for one arrival an hour.
    """

    living: NDArray[np.int64]
    asking: NDArray[np.int64]
    load: float

    @property
    def ratio(self) -> float:
        """The clump ratio b = E[S^2] / E[S], in cores."""
        return float((self.living.astype(float) ** 2).sum() / max(1, self.living.sum()))


def drawn_clumps(cluster: AdmissionCluster, until: float, *, seed: int = 0, warmup: float = 0.0) -> Clumps:
    """Draw the clumps of a cluster `until` hours after its first arrival, from one world; its capacity does not count.

    Notes
    -----
    O(E log E) for E events. The ratio is that of one draw, and rare giants decide it: with the priors of
    `examples/admission.toml` nine draws of some 3,300 living deployments have ratios from 66 to 123.

    Examples
    --------
    >>> from fluid.admission.law.cluster import Kind
    >>> cluster = AdmissionCluster(10, 50.0, (Kind(1.0, 1e-9, 0.0, 1.0, 4),))  # four cores, shut down after Exp(1)
    >>> clumps = drawn_clumps(cluster, 100.0)
    >>> clumps.ratio, bool(180 < clumps.load * 50 < 220)
    (4.0, True)
    """
    world = draw_world(cluster, until, seed_of(seed, 0))
    change, after = granted_changes(world)
    asks = (world.what == SCALE_OUT) & (world.time >= warmup)
    count = len(world.arrival)
    size = np.bincount(world.deployment[world.batch], change, count).astype(np.int64)
    return Clumps(size[size > 0], after[asks], float(size.sum()) / max(1, count) * until)


def granted_changes(world: World) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by how many cores each event changes the cluster if nothing is refused, int64[E], in order of time.

    Beside it stand the cores of the event's deployment after it, int64[E].
    """
    owner = world.deployment[world.batch]
    order = np.argsort(owner, kind="stable")  # by deployment, in order of time
    owner, what = owner[order], world.what[order]
    change = np.where(what == DEATH, -1, world.size[world.batch[order]])
    shut = what == SHUTDOWN  # the last event of its deployment, of which nothing remains
    change[shut] = 0
    total = np.cumsum(change)
    first = np.searchsorted(owner, owner)  # the first event of the same deployment, its arrival
    after = total - total[first] + change[first]
    change[shut], after[shut] = -after[shut], 0
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return change[places], after[places]


def normal_utilisation(ratio: float, capacity: float, sla: float) -> float:
    """Return the utilisation u of a blind policy by the normal approximation: 1 - u = z sqrt(b u / c).

    Parameters
    ----------
    ratio : float
        Clump ratio b = E[S^2] / E[S], in cores.
    capacity : float
        c, in cores.
    sla : float
        tau, less than 1/2; z is the normal quantile of 1 - tau.

    Notes
    -----
    Cores are taken as normal, and what a deployment that asks for more has itself as small beside the capacity: it is
    right where c is much greater than b. For c >> z^2 b it is 1 - z sqrt(b / c).

    Examples
    --------
    >>> round(1 - normal_utilisation(66.0, 1e6, 0.001), 4)
    0.0248
    """
    from scipy.special import ndtri

    if not 0 < sla < 0.5:
        raise InputError("sla", f"expected a share between 0 and 1/2, got {sla!r}")
    a = -float(ndtri(sla)) * sqrt(ratio / capacity)
    return (sqrt(a * a + 4) - a) ** 2 / 4  # sqrt(u) solves u + a sqrt(u) = 1


def full_share(clumps: Clumps, mean: float, capacity: int) -> float:
    """Return the share of scale-outs that find no free cores under a blind policy with a mean of `mean` cores.

    Notes
    -----
    A scale-out meets the compound Poisson law of all *other* deployments (Mecke's formula), beside its own clump; the
    law comes from its characteristic function by a fast Fourier transform, O(c log c). Refused cores are counted on, so
    the share is one of scale-outs if nothing were refused, and bounds the refused ones from above.
    """
    sizes = np.bincount(np.minimum(clumps.living, 2 * capacity))  # giants beyond twice the capacity are as bad
    length = 1 << (4 * capacity + 64).bit_length()
    rate = mean / float(clumps.living.mean())  # of a Poisson number of clumps
    transform = np.exp(rate * (np.fft.rfft(sizes / len(clumps.living), length) - 1))
    law = np.clip(np.fft.irfft(transform, length)[: capacity + 1], 0.0, 1.0)
    within = np.concatenate([[0.0], np.cumsum(law)])  # Pr[others < n], n = 0, ..., c + 1
    free = capacity + 1 - np.minimum(clumps.asking, capacity + 1)  # others must be below this
    return float(1 - np.minimum(1.0, within[free]).mean())


def poisson_utilisation(clumps: Clumps, capacity: int, sla: float) -> float:
    """Return the utilisation of a blind policy that meets an SLA by the compound Poisson law; 0 if none does."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if full_share(clumps, middle * capacity, capacity) <= sla else (low, middle)
    return low
