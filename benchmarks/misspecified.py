"""Thresholds in worlds that the priors do not describe: ``python -m benchmarks.misspecified [WORLDS]``.

The zeroth- and the second-moment policy are tuned in worlds of the priors (`admission tune`); the threshold that
refusals move begins at the capacity and knows no priors. All three then meet the same other worlds, in which lifetimes,
requests or arrivals follow other laws. Shares of refused scale-outs are pooled over the worlds; intervals are of 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster, Gamma, Priors
from fluid.admission.simulation import world
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy, seed_of
from fluid.admission.simulation.world import World
from fluid.admission.study.tuning import tune
from fluid.statistics import mean_interval, ratio_interval

PRIORS = Priors(Gamma(0.542, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), 1.145, 0.0537)
CLUSTER = AdmissionCluster(300, 0.15, PRIORS)
UNTIL, WARMUP = 20_000.0, 5_000.0  # hours of a run, and of those that do not count
SLA, GAIN, SEED = 0.02, 0.6, 5  # the gain is a five-hundredth of the capacity


def in_order(drawn: World, time: NDArray[np.float64], happens: NDArray[np.bool_]) -> World:
    """Return a world of other times, with the events that happen, up to the end."""
    chosen = np.flatnonzero(happens & (time < drawn.time[-1]))
    order = chosen[np.argsort(time[chosen], kind="stable")]
    return drawn._replace(time=time[order], what=drawn.what[order], batch=drawn.batch[order])


def with_lifetimes(drawn: World, stretched: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> World:
    """Return a world in which cores live `stretched(x)` means, where they lived x, an exponential variable."""
    start = np.zeros(len(drawn.size))
    begins = (drawn.what == world.ARRIVAL) | (drawn.what == world.SCALE_OUT)
    start[drawn.batch[begins]] = drawn.time[begins]
    since, mu = start[drawn.batch], drawn.mu[drawn.deployment[drawn.batch]]
    longer = since + stretched(mu * (drawn.time - since)) / mu
    return in_order(drawn, np.where(drawn.what == world.DEATH, longer, drawn.time), np.ones(len(drawn.time), bool))


def as_drawn(drawn: World) -> World:
    """Return the world itself: the priors are right."""
    return drawn


def with_pareto_lifetimes(drawn: World) -> World:
    """Core lifetimes follow the Pareto law with the same mean and infinite variance."""
    return with_lifetimes(drawn, lambda x: 0.5 * np.expm1(x / 1.5))


def with_phases(drawn: World) -> World:
    """Core lifetimes are of phase type: exponential, of a fourth of the mean or (one in five) of four times it."""
    factor = np.where(np.random.default_rng(len(drawn.time)).random(len(drawn.time)) < 0.8, 0.25, 4.0)
    return with_lifetimes(drawn, lambda x: factor * x)


def with_users_who_act_together(drawn: World) -> World:
    """All requests for more cores come at midnight; the cores that they bring live as long as before."""
    start = np.zeros(len(drawn.size))
    asks = drawn.what == world.SCALE_OUT
    start[drawn.batch[asks]] = drawn.time[asks]
    later = np.ceil(start / 24) * 24 - start  # 0 for initial cores
    moves = asks | (drawn.what == world.DEATH)
    return in_order(drawn, drawn.time + np.where(moves, later[drawn.batch], 0.0), np.ones(len(drawn.time), bool))


def with_a_rising_load(drawn: World) -> World:
    """Three in four deployments of the first half do not come."""
    rare = (drawn.arrival < drawn.time[-1] / 2) & (np.arange(len(drawn.arrival)) % 4 > 0)
    return in_order(drawn, drawn.time, ~rare[drawn.deployment[drawn.batch]])


CHANGES = (as_drawn, with_pareto_lifetimes, with_phases, with_users_who_act_together, with_a_rising_load)


def main() -> None:
    """Print a row for each change and policy."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    policies = [tune(CLUSTER, AdmissionPolicy(name), SLA, UNTIL, warmup=WARMUP, seed=SEED).policy
                for name in ("zeroth", "second")]  # fmt: skip
    policies.append(AdmissionPolicy("controlled", CLUSTER.capacity + 1.0, aim=SLA, gain=GAIN))
    print(f"at most {SLA:g} asked for; {worlds} worlds")
    for change in CHANGES:
        changed = [change(world.draw_world(CLUSTER, UNTIL, seed_of(SEED, 1000 + r))) for r in range(worlds)]
        for policy in policies:
            runs = [run_policy(CLUSTER, one, policy, UNTIL, warmup=WARMUP) for one in changed]
            refused, asked = (np.array([getattr(run, name).sum() for run in runs]) for name in ("refused", "asked"))
            share, used = ratio_interval(refused, asked), mean_interval([run.utilisation for run in runs])
            print(f"{change.__name__:28} {policy.name:10} {policy.threshold:9.5g}  "
                  f"refused {share.mean:.4f} [{share.low:.4f}, {share.high:.4f}]  "
                  f"used {used.mean:.4f} [{used.low:.4f}, {used.high:.4f}]", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
