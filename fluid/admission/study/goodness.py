"""Whether fitted priors are like the log they were fitted to: the log against logs that are simulated from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation import world as worlds
from fluid.admission.study.watched import TenantLog, watched

QUANTITIES = {
    "gap": "time between arrivals (hours)",
    "initial": "initial size (cores)",
    "scale_outs": "scale-outs (number)",
    "batch": "mean scale-out (cores)",
    "alive": "time alive (hours)",
    "core": "mean time of a core (hours)",
}
"""What is compared of each deployment, as far as it is seen before the end of the watch."""


class QuantityFit(NamedTuple):
    """One quantity of a log against simulated logs; `log` and `simulated` are sorted values."""

    name: str
    distance: float
    p_value: float
    log: NDArray[np.float64]
    simulated: NDArray[np.float64]


def quantities(log: TenantLog) -> dict[str, NDArray[np.float64]]:
    """Return the values of `QUANTITIES` in a log, sorted."""
    seen, grown = log.seen, log.seen.sizes > 0
    cores = log.initial + seen.sizes + seen.extra_cores
    values = {
        "gap": np.diff(np.sort(log.arrival)),
        "initial": log.initial,
        "scale_outs": seen.scale_outs,
        "batch": 1 + seen.extra_cores[grown] / seen.sizes[grown],
        "alive": seen.alive_time,
        "core": log.core_hours / cores,
    }
    return {name: np.sort(values[name].astype(float)) for name in QUANTITIES}


def goodness_of_fit(
    cluster: AdmissionCluster,
    log: TenantLog,
    *,
    replications: int = 199,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> list[QuantityFit]:
    """Compare a log with logs that are simulated from priors: the same number of deployments over the same watch.

    The distance is that of Cramer and von Mises between the values of one log and those of all logs together, and a
    p-value the share of logs, this one among them, that are at least as far. Were the priors not fitted to the log, the
    logs would be exchangeable and the p-values exact; as they are fitted, the log is nearer than a simulated one, so
    p-values are too large, and small ones can be trusted.

    Parameters
    ----------
    cluster : AdmissionCluster
        Its priors; everything is granted, whatever its capacity.
    log : TenantLog
    replications, seed : int
    progress : callable, optional
        Told which log is simulated.

    Notes
    -----
    O(replications x events log events).
    """
    logs = [quantities(log)]
    for i, sequence in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        if progress is not None:
            progress(f"simulated log {i + 1} of {replications}")
        logs.append(quantities(simulated_log(cluster, log, sequence)))
    return [_compared(name, [one[name] for one in logs]) for name in QUANTITIES]


def simulated_log(cluster: AdmissionCluster, log: TenantLog, sequence: np.random.SeedSequence) -> TenantLog:
    """Draw a log of as many deployments over the same watch, in which everything is granted."""
    rng = np.random.default_rng(sequence.spawn(1)[0])
    arrival = rng.random(len(log.arrival)) * log.watch  # of a Poisson process, given its number
    if log.from_first:
        arrival[0] = 0.0  # the watch began with it, and the others are uniform behind it
    arrival.sort()
    drawn = worlds.parameters_at(cluster, arrival, rng)
    world = worlds.draw_world(cluster, log.watch, sequence, drawn=drawn)
    seen = watched(world, log.watch, initial_counts=False)
    return TenantLog(arrival, drawn.size, seen, seen.core_time, log.watch, log.from_first)


def _compared(name: str, logs: Sequence[NDArray[np.float64]]) -> QuantityFit:
    every = np.sort(np.concatenate(logs))
    distances = np.array([_distance(one, every) for one in logs])
    far = float(np.mean(distances >= distances[0] * (1 - 1e-12)))
    return QuantityFit(name, float(distances[0]), far, logs[0], every)


def _distance(values: NDArray[np.float64], every: NDArray[np.float64]) -> float:
    """Return the statistic of Cramer and von Mises of sorted values; ties take the middle of their ranks."""
    n = len(values)
    if n == 0:
        return 0.0
    ranks = (np.searchsorted(every, values) + np.searchsorted(every, values, "right")) / (2 * len(every))
    return float(1 / (12 * n) + np.sum((ranks - (np.arange(n) + 0.5) / n) ** 2))
