"""What happens to every deployment that arrives, drawn before any policy decides.

A world holds all deployments that arrive up to a time, with all that would happen to them if every scale-out were
granted: their scale-outs, the ends of all cores, their shutdowns. One generator draws deployment after deployment, so
each has its own part of the stream whatever is decided about it. A policy filters the world: cores of a deployment that
is not admitted, or of a scale-out that is not granted, never exist. Two policies therefore meet the same deployments,
a refused scale-out leaves all other draws in place, and the cores under any policy are among those of the world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster, Kind, Priors
from theory.compiled import kernel, plain
from theory.errors import TooLargeError

MOST_ARRIVALS = 10_000_000
"""Most deployments of a world on average: with what happens to them they take gigabytes."""

MOST_EVENTS = 500_000_000
"""Most events of a world on average, counted as if every deployment lived until its expected shutdown."""

ARRIVAL, SCALE_OUT, DEATH, SHUTDOWN = range(4)
"""Kinds of events."""


class World(NamedTuple):
    """D deployments, B batches of cores (the initial cores and the scale-outs), E events in order of time.

    Attributes
    ----------
    arrival, mu, scale_out_rate, shutdown_rate : float64[D]
    kind : int64[D]
        Number of the kind, -1 under priors.
    first : int64[D]
        The batch of the initial cores.
    mu_shape, mu_rate, lam_shape, lam_rate, sigma_shape, sigma_rate : float64[D]
        What is believed at arrival: the priors after the observations that came with the deployment.
    deployment, size : int64[B]
        Of each batch.
    time : float64[E]
    what : int8[E]
        ARRIVAL, SCALE_OUT, DEATH of a core, SHUTDOWN.
    batch : int32[E]
    """

    arrival: NDArray[np.float64]
    mu: NDArray[np.float64]
    scale_out_rate: NDArray[np.float64]
    shutdown_rate: NDArray[np.float64]
    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    mu_shape: NDArray[np.float64]
    mu_rate: NDArray[np.float64]
    lam_shape: NDArray[np.float64]
    lam_rate: NDArray[np.float64]
    sigma_shape: NDArray[np.float64]
    sigma_rate: NDArray[np.float64]
    deployment: NDArray[np.int64]
    size: NDArray[np.int64]
    time: NDArray[np.float64]
    what: NDArray[np.int8]
    batch: NDArray[np.int32]


class Drawn(NamedTuple):
    """Parameters of D deployments."""

    arrival: NDArray[np.float64]
    mu: NDArray[np.float64]
    rate: NDArray[np.float64]
    shutdown: NDArray[np.float64]
    sigma: NDArray[np.float64]
    size: NDArray[np.int64]  # initial cores
    batch: NDArray[np.int64]  # cores of each scale-out, 0 for 1 + Poisson(sigma)
    kind: NDArray[np.int64]  # number of the kind, or -1


def draw_parameters(cluster: AdmissionCluster, until: float, rng: np.random.Generator) -> Drawn:
    """Draw when deployments arrive, and their parameters."""
    expected = cluster.arrival_rate * until
    if expected > MOST_ARRIVALS:
        raise TooLargeError(
            cluster.source,
            "cluster.arrival_rate",
            f"{cluster.arrival_rate:g} an hour are {expected:.3g} deployments "
            f"within {until:g} hours, expected at most {MOST_ARRIVALS:,}: take fewer hours, or a part of the cluster",
        )
    count = int(rng.poisson(expected))
    return parameters_at(cluster, np.sort(rng.random(count)) * until, rng)


def parameters_at(cluster: AdmissionCluster, arrival: NDArray[np.float64], rng: np.random.Generator) -> Drawn:
    """Draw the parameters of deployments that arrive at given times, float64[D]."""
    count = len(arrival)
    if isinstance(cluster.deployments, Priors):
        priors = cluster.deployments
        mu = rng.gamma(priors.mu.shape, 1 / priors.mu.rate, count)
        mu = np.maximum(mu, 1e-290)
        rate = rng.gamma(priors.lam.shape, 1 / priors.lam.rate, count) * mu**priors.kappa
        sigma = rng.gamma(priors.sigma.shape, 1 / priors.sigma.rate, count)
        poisson = 1 + rng.poisson(sigma)
        initial = priors.initial
        size = poisson if initial.is_poisson else rng.choice(initial.sizes, count, p=initial.probabilities)
        none = np.zeros(count, np.int64)
        return Drawn(arrival, mu, rate, priors.delta * mu, sigma, size.astype(np.int64), none, none - 1)
    kinds: tuple[Kind, ...] = cluster.deployments
    kind = rng.choice(len(kinds), count, p=np.array([k.probability for k in kinds])).astype(np.int64)
    # a contiguous row each, as under priors, so that one compiled loop serves both
    floats = np.take(np.array([[k.mu, k.scale_out_rate, k.shutdown_rate] for k in kinds]).T, kind, axis=1)
    sizes = np.take(np.array([[k.size, k.batch] for k in kinds]).T, kind, axis=1)
    return Drawn(arrival, floats[0], floats[1], floats[2], np.zeros(count), sizes[0], sizes[1], kind)


def draw_world(
    cluster: AdmissionCluster,
    until: float,
    seed: np.random.SeedSequence | int,
    *,
    observations: int = 0,
    drawn: Drawn | None = None,
    python: bool = False,
) -> World:
    """Draw a world up to a time.

    Parameters
    ----------
    cluster : AdmissionCluster
    until : float
        Hours.
    seed : SeedSequence or int
        Three streams: parameters, events, and what is observed before arrival, so that worlds of equal seeds differ
        in observations alone.
    observations : int
        Draws from each process of a deployment that are seen before it arrives: one core lifetime, one number of
        scale-outs in a unit of normalised time, one size each. The first n of them do not depend on how many follow.
    drawn : Drawn, optional
        Parameters to use in place of fresh ones.
    python : bool
        Run as plain Python: the same world, slowly.

    Notes
    -----
    O(E log E) for E events.
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    sequence = np.random.SeedSequence(sequence.entropy, spawn_key=sequence.spawn_key)
    parameter_rng, event_rng, observation_rng = (np.random.default_rng(s) for s in sequence.spawn(3))
    parameters = draw_parameters(cluster, until, parameter_rng) if drawn is None else drawn
    _refuse_many_events(cluster, parameters, until)
    events: Callable[..., Any] = plain(_events) if python else _events
    count = len(parameters.arrival)
    drawn_events = events(
        event_rng,
        parameters.arrival,
        parameters.mu,
        parameters.rate,
        parameters.shutdown,
        parameters.sigma,
        parameters.size,
        parameters.batch,
        until,
    )
    time, what, batch, deployment, size, first = drawn_events
    order = _in_time(time)
    laws = _beliefs(cluster, parameters, observations, observation_rng, count)
    return World(
        parameters.arrival,
        parameters.mu,
        parameters.rate,
        parameters.shutdown,
        parameters.kind,
        first,
        laws[0],
        laws[1],
        laws[2],
        laws[3],
        laws[4],
        laws[5],
        deployment,
        size,
        time[order],
        what[order],
        batch[order],
    )


def _in_time(time: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the stable order of times; where no two are equal, as nearly always, the fastest sort gives the same."""
    order = np.argsort(time)
    sorted_times = time[order]
    return np.argsort(time, kind="stable") if (sorted_times[1:] == sorted_times[:-1]).any() else order


def _refuse_many_events(cluster: AdmissionCluster, drawn: Drawn, until: float) -> None:
    """Refuse deployments that would fill the memory; each lives until its shutdown at most."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        alive = np.minimum(until - drawn.arrival, 1 / drawn.shutdown)
        batch = np.where(drawn.batch > 0, drawn.batch, 1 + drawn.sigma)
        expected = float((2 * drawn.size + drawn.rate * alive * (1 + batch)).sum())
    if not expected <= MOST_EVENTS:
        raise TooLargeError(
            cluster.source,
            "deployments",
            f"about {expected:.3g} events within {until:g} hours, expected at most "
            f"{MOST_EVENTS:,}: take fewer hours, or laws with fewer scale-outs",
        )


def _beliefs(
    cluster: AdmissionCluster, given: Drawn, observations: int, rng: np.random.Generator, count: int
) -> NDArray[np.float64]:
    """What is believed at arrival, float64[6, D]; observations of normalised scale-outs keep mu and lambda apart."""
    if not isinstance(cluster.deployments, Priors):
        return np.ones((6, count))
    priors = cluster.deployments
    laws = np.array([[law.shape, law.rate] for law in (priors.mu, priors.lam, priors.sigma)]).reshape(6, 1)
    laws = np.repeat(laws, count, axis=1)
    if priors.initial.is_poisson:
        laws[4] += given.size - 1
        laws[5] += 1
    power = given.mu**priors.kappa
    normalised = np.divide(given.rate, power, out=np.zeros(count), where=power > 0)  # where floats hold mu^kappa
    for _ in range(observations):
        laws[0] += 1
        laws[1] += rng.standard_exponential(count) / given.mu
        laws[2] += rng.poisson(normalised)
        laws[3] += 1
        laws[4] += rng.poisson(given.sigma)
        laws[5] += 1
    return laws


@kernel
def _events(
    rng: Any,
    arrival: NDArray[np.float64],
    mu: NDArray[np.float64],
    rate: NDArray[np.float64],
    shutdown: NDArray[np.float64],
    sigma: NDArray[np.float64],
    size: NDArray[np.int64],
    fixed: NDArray[np.int64],
    until: float,
) -> Any:
    """Return time, what and batch of all events, deployment and size of all batches, and the first batch of each."""
    count = len(arrival)
    first = np.zeros(count, np.int64)
    time, what, batch = np.zeros(1024), np.zeros(1024, np.int8), np.zeros(1024, np.int32)
    deployment, sizes = np.zeros(256, np.int64), np.zeros(256, np.int64)
    events, batches = 0, 0
    for d in range(count):
        now = arrival[d]
        end = now + rng.standard_exponential() / shutdown[d] if shutdown[d] > 0 else np.inf
        stop = min(end, until)
        first[d] = batches
        covered = now  # until when a core of the deployment is active if everything is granted
        cores = size[d]
        kind = ARRIVAL
        while True:
            if batches == len(sizes):
                deployment, sizes = np.append(deployment, deployment), np.append(sizes, sizes)
            while events + cores + 2 > len(time):
                time, what, batch = np.append(time, time), np.append(what, what), np.append(batch, batch)
            deployment[batches], sizes[batches] = d, cores
            time[events], what[events], batch[events] = now, kind, batches
            events += 1
            ends = now
            # the least of n exponential lifetimes of rate mu is exponential of rate n mu
            for active in range(cores, 0, -1):
                ends += rng.standard_exponential() / (active * mu[d])
                if ends < stop:
                    time[events], what[events], batch[events] = ends, DEATH, batches
                    events += 1
            covered = max(covered, ends)
            batches += 1
            if rate[d] <= 0:
                break
            now += rng.standard_exponential() / rate[d]
            if now >= min(covered, stop):
                break
            cores = fixed[d] if fixed[d] > 0 else 1 + rng.poisson(sigma[d])
            kind = SCALE_OUT
        if end < min(covered, until):
            time[events], what[events], batch[events] = end, SHUTDOWN, first[d]
            events += 1
    return time[:events], what[:events], batch[:events], deployment[:batches], sizes[:batches], first


def most_alive(world: World) -> int:
    """Return the largest number of deployments that are alive at once if everything is granted."""
    count = len(world.arrival)
    if count == 0:
        return 0
    last = np.zeros(count)
    last[world.deployment[world.batch]] = world.time  # times increase, and of equal places the last one counts
    # a deployment whose last event is not its death lives on to the end
    ended = np.bincount(world.deployment[world.batch[world.what == DEATH]], minlength=count)
    cores = np.bincount(world.deployment, world.size, minlength=count).astype(np.int64)
    shut = np.zeros(count, bool)
    shut[world.deployment[world.batch[world.what == SHUTDOWN]]] = True
    gone = shut | (ended >= cores)
    times = np.concatenate([world.arrival, last[gone]])
    change = np.concatenate([np.ones(count, np.int64), -np.ones(int(gone.sum()), np.int64)])
    order = np.lexsort((-change, times))
    return int(np.cumsum(change[order]).max())
