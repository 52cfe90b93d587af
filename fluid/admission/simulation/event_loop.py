"""The event loop of cluster admission: a policy filters a world (`fluid.admission.simulation.world`)."""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.simulation.outlook import (
    EXACT,
    PAPER,
    Outlook,
    add_part,
    fill_joint,
    fill_kinds,
    fill_paper,
    find_nodes,
    seen_ahead,
)
from fluid.admission.simulation.world import ARRIVAL, DEATH, SCALE_OUT, World
from theory.compiled import kernel, routine, step

ZEROTH, FIRST, SECOND, EVERYBODY = range(4)
"""Policies; EVERYBODY admits whoever comes and grants whatever is asked."""

NOBODY = 1 << 62


class Tenants(NamedTuple):
    """The deployments of a world as they are in the cluster.

    Attributes
    ----------
    status : int8[D]
        0 to come, 1 active, 2 gone or refused.
    cores, place : int64[D]
        Active cores, and the row in the outlook.
    granted : int8[B]
        Of each batch.
    deaths, scale_outs, extra, sizes : int64[D]
        What was observed since arrival.
    core_time, last : float64[D]
        Core hours up to the time `last`.
    seen_at, stale : float64[D]
        When the part was computed, and how far events have moved it since.
    spread : float64[5, D]
        Deviation and mean of mu, deviation and mean of the rate of scale-outs, place of the peak of log mu.
    active : int64[S]
        The active deployments; the first `counts[0]` count.
    where : int64[D]
        Position in `active`.
    free : int64[S]
        Free places; the first `counts[1]` count.
    counts : int64[2]
    needed : float64[D]
        The number that the policy compared with its threshold, at each arrival.
    """

    status: NDArray[np.int8]
    cores: NDArray[np.int64]
    place: NDArray[np.int64]
    granted: NDArray[np.int8]
    deaths: NDArray[np.int64]
    scale_outs: NDArray[np.int64]
    extra: NDArray[np.int64]
    sizes: NDArray[np.int64]
    core_time: NDArray[np.float64]
    last: NDArray[np.float64]
    seen_at: NDArray[np.float64]
    stale: NDArray[np.float64]
    spread: NDArray[np.float64]
    active: NDArray[np.int64]
    where: NDArray[np.int64]
    free: NDArray[np.int64]
    counts: NDArray[np.int64]
    needed: NDArray[np.float64]


class Tally(NamedTuple):
    """What is counted past the warm-up.

    Attributes
    ----------
    core_hours : float64[3]
        Integral of active cores, of min(capacity, active cores), and the active cores now.
    counts : int64[6]
        Events, arrivals, admitted, scale-outs asked for, refused, and most active cores.
    asked, refused : int64[M]
        Scale-outs by month of 730 hours.
    """

    core_hours: NDArray[np.float64]
    counts: NDArray[np.int64]
    asked: NDArray[np.int64]
    refused: NDArray[np.int64]


MONTH = 730.0


@routine
def look_at(view: Outlook, world: World, tenants: Tenants, d: int, row: int, now: float) -> None:
    """Compute the part of a deployment anew, into a row of the outlook."""
    size = float(tenants.cores[d])
    age = now - world.arrival[d]
    core_time = tenants.core_time[d] + size * (now - tenants.last[d])
    k, m = tenants.deaths[d], tenants.scale_outs[d]
    if view.modes[1]:
        weights = view.nodes[3]
        best = -1e300
        for i in range(len(view.kinds)):
            mu, rate, shut = view.kinds[i, 1], view.kinds[i, 2], view.kinds[i, 3]
            fits = i == world.kind[d] if view.modes[1] == 1 else seems(view, world, tenants, d, i)
            level = -1e300
            if fits:
                level = log(view.kinds[i, 0]) + k * log(mu) - mu * core_time - (rate + shut) * age
                level += m * log(rate) if m > 0 else 0.0
            weights[i] = level
            best = max(best, level)
        total = 0.0
        for i in range(len(view.kinds)):
            weights[i] = exp(weights[i] - best)
            total += weights[i]
        mean_mu = 0.0
        mean_rate = 0.0
        for i in range(len(view.kinds)):
            weights[i] /= total
            mean_mu += weights[i] * view.kinds[i, 1]
            mean_rate += weights[i] * (view.kinds[i, 2] + view.kinds[i, 3])
        spread_mu = 0.0
        spread_rate = 0.0
        for i in range(len(view.kinds)):
            spread_mu += weights[i] * (view.kinds[i, 1] - mean_mu) ** 2
            spread_rate += weights[i] * (view.kinds[i, 2] + view.kinds[i, 3] - mean_rate) ** 2
        fill_kinds(view, row, size, weights)
        note(tenants, d, now, spread_mu, mean_mu, spread_rate, mean_rate)
        return
    kappa, delta = view.constants[0], view.constants[1]
    shape, base = world.lam_shape[d] + m, world.lam_rate[d]
    sigma_shape, sigma_rate = world.sigma_shape[d] + tenants.extra[d], world.sigma_rate[d] + tenants.sizes[d]
    sigma = sigma_shape / sigma_rate
    square = sigma * (sigma_shape + 1.0) / sigma_rate
    s1, s2, s3 = 1.0 + sigma, square + 2.0 * sigma, 1.0 + 2.0 * sigma + square
    start = tenants.spread[4, d]
    if view.modes[0] == EXACT:
        power = world.mu_shape[d] + k + kappa * m
        rate = world.mu_rate[d] + core_time + delta * age
        count, peak = find_nodes(view, power, rate, shape, base, age, start)
    else:
        rate = world.mu_rate[d] + core_time
        count, peak = find_nodes(view, world.mu_shape[d] + k, rate, 0.0, 1.0, 0.0, start)
        mu_kappa = 0.0
        for j in range(count):
            mu_kappa += view.nodes[1, j] * view.nodes[2, j]
        base += age * mu_kappa  # the plug-in: mu^kappa by its mean
        age = 0.0
    tenants.spread[4, d] = peak
    mean_mu = 0.0
    square_mu = 0.0
    mean_rate = 0.0
    square_rate = 0.0
    for j in range(count):
        mu, weight, mu_kappa = view.nodes[0, j], view.nodes[1, j], view.nodes[2, j]
        grow = shape * mu_kappa / (base + age * mu_kappa)
        mean_mu += weight * mu
        square_mu += weight * mu * mu
        mean_rate += weight * grow
        square_rate += weight * grow * grow
    if view.modes[0] == PAPER:
        lam = shape / base
        fill_paper(view, row, count, size, lam, lam * (shape + 1.0) / base, s1, s2, s3)
    else:
        fill_joint(view, row, count, size, shape, base, age, s1, s2, s3)
    note(tenants, d, now, square_mu - mean_mu * mean_mu, mean_mu, square_rate - mean_rate * mean_rate, mean_rate)


@step
def seems(view: Outlook, world: World, tenants: Tenants, d: int, i: int) -> bool:
    """Whether a deployment without a label may be of a kind, by its initial size and the sizes of its scale-outs."""
    return bool(
        view.kinds[i, 0] > 0
        and view.kinds[i, 5] == world.size[world.first[d]]
        and (tenants.sizes[d] == 0 or view.kinds[i, 4] * tenants.sizes[d] == tenants.extra[d] + tenants.sizes[d])
        and (tenants.scale_outs[d] == 0 or view.kinds[i, 2] > 0)
    )


@step
def note(
    tenants: Tenants, d: int, now: float, spread_mu: float, mean_mu: float, spread_rate: float, mean_rate: float
) -> None:
    """Remember how fast a belief may move."""
    tenants.spread[0, d] = max(0.0, spread_mu) ** 0.5
    tenants.spread[1, d] = mean_mu
    tenants.spread[2, d] = max(0.0, spread_rate) ** 0.5
    tenants.spread[3, d] = mean_rate
    tenants.seen_at[d] = now
    tenants.stale[d] = 0.0


@step
def is_stale(view: Outlook, tenants: Tenants, d: int, now: float) -> bool:
    """Whether a part may be off by more than the tolerance."""
    tolerance = view.constants[2]
    elapsed = now - tenants.seen_at[d]
    x = (float(tenants.cores[d]) + view.constants[1]) * elapsed
    expected = tenants.spread[1, d] * x + tenants.spread[3, d] * elapsed
    if expected > 1.0 or tolerance <= 0.0:
        return True
    moved = 0.5 * (tenants.spread[0, d] * x + tenants.spread[2, d] * elapsed) * exp(expected)
    return bool(tenants.stale[d] + moved > tolerance)


@step
def settle(tenants: Tenants, d: int, now: float) -> None:
    """Count the core time of a deployment up to now."""
    tenants.core_time[d] += float(tenants.cores[d]) * (now - tenants.last[d])
    tenants.last[d] = now


@step
def leave(view: Outlook, tenants: Tenants, d: int, policy: int) -> None:
    """Take a deployment out of the cluster."""
    tenants.status[d] = 2
    tenants.cores[d] = 0
    at, last = tenants.where[d], tenants.counts[0] - 1
    moved = tenants.active[last]
    tenants.active[at] = moved
    tenants.where[moved] = at
    tenants.counts[0] = last
    if policy in (FIRST, SECOND):
        add_part(view, tenants.place[d], -1.0)
    tenants.free[tenants.counts[1]] = tenants.place[d]
    tenants.counts[1] += 1


@routine
def judge(
    view: Outlook, world: World, tenants: Tenants, d: int, policy: int, threshold: float, marginal: float, now: float
) -> bool:
    """Whether a moment policy accepts a deployment; brings the outlook up to date first."""
    for i in range(tenants.counts[0]):
        other = tenants.active[i]
        if is_stale(view, tenants, other, now):
            row = tenants.place[other]
            add_part(view, row, -1.0)
            look_at(view, world, tenants, other, row, now)
            add_part(view, row, 1.0)
            view.modes[2] += 1
    view.modes[3] += 1
    if view.modes[3] >= 1024:  # so that rounding does not pile up
        view.modes[3] = 0
        view.total_mean[:] = 0.0
        view.total_variance[:] = 0.0
        for i in range(tenants.counts[0]):
            add_part(view, tenants.place[tenants.active[i]], 1.0)
    row = len(view.mean) - 1
    look_at(view, world, tenants, d, row, now)
    capacity = view.constants[3]
    needed = 0.0
    for n in range(len(view.at) if len(view.at) else len(view.horizons)):
        mean, variance, own = seen_ahead(view, row, n)
        if own < marginal:
            continue
        value = mean
        if policy == SECOND:
            room = capacity - mean
            value = variance / (variance + room * room) if room > 0 else 2.0
        needed = max(needed, value)
    tenants.needed[d] = needed
    return bool(needed < threshold)


@step
def enter(view: Outlook, tenants: Tenants, d: int, policy: int) -> None:
    """Take a deployment into the cluster; its part stands in the last row of the outlook."""
    tenants.status[d] = 1
    tenants.counts[1] -= 1
    row = tenants.free[tenants.counts[1]]
    tenants.place[d] = row
    tenants.where[d] = tenants.counts[0]
    tenants.active[tenants.counts[0]] = d
    tenants.counts[0] += 1
    if policy in (FIRST, SECOND):
        last = len(view.mean) - 1
        for n in range(len(view.horizons)):
            view.mean[row, n] = view.mean[last, n]
            view.variance[row, n] = view.variance[last, n]
        add_part(view, row, 1.0)


@step
def end_core(view: Outlook, tenants: Tenants, d: int, policy: int, now: float) -> None:
    """Let a core of a deployment end, and the deployment with its last one."""
    settle(tenants, d, now)
    tenants.deaths[d] += 1
    tenants.stale[d] += 1.0 / tenants.cores[d]
    if tenants.spread[1, d] > 0:
        tenants.stale[d] += 0.5 * tenants.spread[0, d] / tenants.spread[1, d]
    tenants.cores[d] -= 1
    if tenants.cores[d] == 0:
        leave(view, tenants, d, policy)


@step
def scale_out(
    world: World, tenants: Tenants, tally: Tally, batch: int, cores: int, limit: int, now: float, counts: bool
) -> int:
    """Grant a scale-out wholly, or refuse it; return how many cores start."""
    d, size = world.deployment[batch], world.size[batch]
    settle(tenants, d, now)
    tenants.scale_outs[d] += 1
    tenants.extra[d] += size - 1
    tenants.sizes[d] += 1
    tenants.stale[d] = 1e9
    granted = cores + size <= limit
    if counts:
        month = int(now / MONTH)
        tally.counts[3] += 1
        tally.asked[month] += 1
        tally.counts[4] += not granted
        tally.refused[month] += not granted
    if not granted:
        return 0
    tenants.granted[batch] = 1
    tenants.cores[d] += size
    return int(size)


@step
def happens(tenants: Tenants, d: int, batch: int, what: int) -> bool:
    """Whether an event of the world happens in the cluster: to a deployment that is there, a core that was granted."""
    if what == ARRIVAL:
        return bool(tenants.status[d] == 0)
    return bool(tenants.status[d] == 1 and (what != DEATH or tenants.granted[batch] == 1))


@kernel
def run_events(
    world: World,
    tenants: Tenants,
    view: Outlook,
    tally: Tally,
    policy: int,
    threshold: float,
    marginal: float,
    capacity: int,
    most: int,
    warmup: float,
    until: float,
) -> None:
    """Run a policy through a world; `most` deployments at once, at most."""
    now = 0.0
    cores = 0
    area = 0.0
    capped = 0.0
    limit = NOBODY if policy == EVERYBODY else capacity
    for e in range(len(world.time)):
        time = world.time[e]
        if time >= until:
            break
        batch = world.batch[e]
        d = world.deployment[batch]
        what = world.what[e]
        if not happens(tenants, d, batch, what):
            continue
        if time > warmup:
            span = time - max(now, warmup)
            area += span * cores
            capped += span * min(cores, capacity)
        counts = time > warmup
        now = time
        tally.counts[0] += 1
        if what == DEATH:
            cores -= 1
            end_core(view, tenants, d, policy, now)
        elif what == SCALE_OUT:
            cores += scale_out(world, tenants, tally, batch, cores, limit, now, counts)
        elif what == ARRIVAL:
            size = world.size[batch]
            tenants.cores[d] = size
            tenants.last[d] = now
            accepted = cores + size <= limit and tenants.counts[0] < most
            if policy == ZEROTH:
                tenants.needed[d] = cores + size
                accepted = accepted and cores + size < threshold
            elif accepted and policy != EVERYBODY:
                accepted = judge(view, world, tenants, d, policy, threshold, marginal, now)
            tally.counts[1] += counts
            tally.counts[2] += counts and accepted
            if accepted:
                tenants.granted[batch] = 1
                cores += size
                enter(view, tenants, d, policy)
            else:
                tenants.status[d] = 2
                tenants.cores[d] = 0
        else:
            cores -= tenants.cores[d]
            leave(view, tenants, d, policy)
        tally.counts[5] = max(tally.counts[5], cores)
    span = until - max(now, warmup)
    tally.core_hours[0] = area + span * cores
    tally.core_hours[1] = capped + span * min(cores, capacity)
    tally.core_hours[2] = cores
