"""The event loop of cluster admission: a policy filters a world (`fluid.admission.simulation.world`)."""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.thresholds import FIRST, SECOND, ZEROTH
from fluid.admission.simulation.outlook import (
    HIDDEN,
    LABELLED,
    REFRESHED,
    SINCE_SUMMED,
    Outlook,
    add_part,
    fill_by_priors,
    fill_kinds,
    needed_with,
)
from fluid.admission.simulation.world import ARRIVAL, DEATH, SCALE_OUT, World
from theory.compiled import kernel, routine, step

EVERYBODY = 3
"""Beside the policies: admits every deployment and grants every scale-out."""

UNLIMITED = 1 << 62
"""No limit of cores, or of deployments at once."""

ACTIVE, FREE = range(2)
"""Entries of `Tenants.counts`."""

THRESHOLD, LEAST, GAIN, AIM = range(4)
"""Entries of `Tally.control`."""

EVENTS, ARRIVALS, ADMITTED, ASKED, REFUSED, PEAK = range(6)
"""Entries of `Tally.counts`."""


class Tenants(NamedTuple):
    """The D deployments of a world, with B batches of cores, as they are in a cluster with S places."""

    status: NDArray[np.int8]  # [D]: 0 to come, 1 active, 2 gone or refused
    cores: NDArray[np.int64]  # [D]: active ones
    place: NDArray[np.int64]  # [D]: the row in the outlook
    granted: NDArray[np.int8]  # [B]
    # what was observed since arrival, [D] each
    deaths: NDArray[np.int64]
    scale_outs: NDArray[np.int64]
    extra: NDArray[np.int64]
    sizes: NDArray[np.int64]
    core_time: NDArray[np.float64]  # core hours up to the time `last`
    last: NDArray[np.float64]
    # of the part in the outlook, [D] each: when it was computed, how far core ends have moved it since, and
    # whether a scale-out was asked for since
    seen_at: NDArray[np.float64]
    moved: NDArray[np.float64]
    has_asked: NDArray[np.bool_]
    # [5, D]: deviation and mean of mu, deviation and mean of the rate of scale-outs, place of the peak of log mu
    spread: NDArray[np.float64]
    active: NDArray[np.int64]  # [S]: the active deployments; the first `counts[ACTIVE]` entries hold
    where: NDArray[np.int64]  # [D]: position in `active`
    free: NDArray[np.int64]  # [S]: free places; the first `counts[FREE]` entries hold
    counts: NDArray[np.int64]  # [2]
    needed: NDArray[np.float64]  # [D]: the number that the policy compared with its threshold, at each arrival


class Tally(NamedTuple):
    """What is counted past the warm-up."""

    core_hours: NDArray[np.float64]  # [2]: integral of active cores, and of min(capacity, active cores)
    counts: NDArray[np.int64]  # [6]
    # scale-outs by month of 730 hours
    asked: NDArray[np.int64]
    refused: NDArray[np.int64]
    control: NDArray[np.float64]  # [4]: threshold, its least value so far, gain in cores, share of refusals aimed at


MONTH = 730.0


@routine
def refresh_part(view: Outlook, world: World, tenants: Tenants, d: int, row: int, now: float) -> None:
    """Compute the part of a deployment anew, into a row of the outlook."""
    size = float(tenants.cores[d])
    age = now - world.arrival[d]
    core_time = tenants.core_time[d] + size * (now - tenants.last[d])
    if view.rule.belief in (LABELLED, HIDDEN):
        refresh_by_kinds(view, world, tenants, d, row, now, size, age, core_time)
    else:
        refresh_by_priors(view, world, tenants, d, row, now, size, age, core_time)


@step
def refresh_by_kinds(
    view: Outlook, world: World, tenants: Tenants, d: int, row: int, now: float, size: float, age: float,
    core_time: float,
) -> None:  # fmt: skip
    """Compute the part of a deployment of one of the known kinds, each weighed by its posterior probability."""
    k, m = tenants.deaths[d], tenants.scale_outs[d]
    weights = view.weights
    best = -1e300
    for i in range(len(view.rule.kinds)):
        mu, rate, shut = view.rule.kinds[i, 1], view.rule.kinds[i, 2], view.rule.kinds[i, 3]
        fits = i == world.kind[d] if view.rule.belief == LABELLED else may_be_of_kind(view, world, tenants, d, i)
        level = -1e300
        if fits:
            # log of the likelihood: p_i mu^k exp(-mu T) rate^m exp(-(rate + shut) age)
            level = log(view.rule.kinds[i, 0]) + k * log(mu) - mu * core_time - (rate + shut) * age
            level += m * log(rate) if m > 0 else 0.0
        weights[i] = level
        best = max(best, level)
    total = 0.0
    for i in range(len(view.rule.kinds)):
        weights[i] = exp(weights[i] - best)
        total += weights[i]
    mean_mu = 0.0
    mean_rate = 0.0
    for i in range(len(view.rule.kinds)):
        weights[i] /= total
        mean_mu += weights[i] * view.rule.kinds[i, 1]
        mean_rate += weights[i] * (view.rule.kinds[i, 2] + view.rule.kinds[i, 3])
    spread_mu = 0.0
    spread_rate = 0.0
    for i in range(len(view.rule.kinds)):
        spread_mu += weights[i] * (view.rule.kinds[i, 1] - mean_mu) ** 2
        spread_rate += weights[i] * (view.rule.kinds[i, 2] + view.rule.kinds[i, 3] - mean_rate) ** 2
    fill_kinds(view, row, size, weights)
    note_spread(tenants, d, now, spread_mu, mean_mu, spread_rate, mean_rate)


@step
def refresh_by_priors(
    view: Outlook, world: World, tenants: Tenants, d: int, row: int, now: float, size: float, age: float,
    core_time: float,
) -> None:  # fmt: skip
    """Compute the part of a deployment whose parameters have Gamma priors, by the nodes of its belief."""
    asked = tenants.scale_outs[d]
    spread_mu, mean_mu, spread_rate, mean_rate, peak = fill_by_priors(
        view, row, size, world.mu_shape[d] + tenants.deaths[d], world.mu_rate[d] + core_time, asked,
        world.lam_shape[d] + asked, world.lam_rate[d], world.sigma_shape[d] + tenants.extra[d],
        world.sigma_rate[d] + tenants.sizes[d], age, tenants.spread[4, d],
    )  # fmt: skip
    tenants.spread[4, d] = peak
    note_spread(tenants, d, now, spread_mu, mean_mu, spread_rate, mean_rate)


@step
def may_be_of_kind(view: Outlook, world: World, tenants: Tenants, d: int, i: int) -> bool:
    """Whether a deployment without a label may be of a kind, by its initial size and the sizes of its scale-outs."""
    return bool(
        view.rule.kinds[i, 0] > 0
        and view.rule.kinds[i, 5] == world.size[world.first[d]]
        and (tenants.sizes[d] == 0 or view.rule.kinds[i, 4] * tenants.sizes[d] == tenants.extra[d] + tenants.sizes[d])
        and (tenants.scale_outs[d] == 0 or view.rule.kinds[i, 2] > 0)
    )


@step
def note_spread(
    tenants: Tenants, d: int, now: float, spread_mu: float, mean_mu: float, spread_rate: float, mean_rate: float
) -> None:
    """Remember how fast a belief may move."""
    tenants.spread[0, d] = max(0.0, spread_mu) ** 0.5
    tenants.spread[1, d] = mean_mu
    tenants.spread[2, d] = max(0.0, spread_rate) ** 0.5
    tenants.spread[3, d] = mean_rate
    tenants.seen_at[d] = now
    tenants.moved[d] = 0.0
    tenants.has_asked[d] = False


@step
def is_stale(view: Outlook, tenants: Tenants, d: int, now: float) -> bool:
    """Whether a part may be off by more than the tolerance."""
    elapsed = now - tenants.seen_at[d]
    x = (float(tenants.cores[d]) + view.rule.delta) * elapsed
    expected = tenants.spread[1, d] * x + tenants.spread[3, d] * elapsed
    if expected > 1.0 or view.rule.tolerance <= 0.0 or tenants.has_asked[d]:
        return True
    # survival moves the belief by at most (sd(mu) x + sd(r) e) / 2 exp(E[mu] x + E[r] e) in total variation
    moved = 0.5 * (tenants.spread[0, d] * x + tenants.spread[2, d] * elapsed) * exp(expected)
    return bool(tenants.moved[d] + moved > view.rule.tolerance)


@step
def count_core_time(tenants: Tenants, d: int, now: float) -> None:
    """Count the core time of a deployment up to now."""
    tenants.core_time[d] += float(tenants.cores[d]) * (now - tenants.last[d])
    tenants.last[d] = now


@step
def remove_deployment(view: Outlook, tenants: Tenants, d: int, policy: int) -> None:
    """Take a deployment out of the cluster."""
    tenants.status[d] = 2
    tenants.cores[d] = 0
    # the last active deployment moves to the position that becomes free, so that the active ones stay together
    at, last = tenants.where[d], tenants.counts[ACTIVE] - 1
    other = tenants.active[last]
    tenants.active[at] = other
    tenants.where[other] = at
    tenants.counts[ACTIVE] = last
    if policy in (FIRST, SECOND):
        add_part(view, tenants.place[d], -1.0)
    tenants.free[tenants.counts[FREE]] = tenants.place[d]
    tenants.counts[FREE] += 1


@routine
def accepts(
    view: Outlook, world: World, tenants: Tenants, d: int, policy: int, threshold: float, marginal: float, now: float
) -> bool:
    """Whether a moment policy accepts a deployment; brings the outlook up to date first."""
    for i in range(tenants.counts[ACTIVE]):
        other = tenants.active[i]
        if is_stale(view, tenants, other, now):
            row = tenants.place[other]
            add_part(view, row, -1.0)
            refresh_part(view, world, tenants, other, row, now)
            add_part(view, row, 1.0)
            view.counts[REFRESHED] += 1
    view.counts[SINCE_SUMMED] += 1
    if view.counts[SINCE_SUMMED] >= 1024:  # so that rounding does not pile up
        view.counts[SINCE_SUMMED] = 0
        view.total_mean[:] = 0.0
        view.total_variance[:] = 0.0
        for i in range(tenants.counts[ACTIVE]):
            add_part(view, tenants.place[tenants.active[i]], 1.0)
    row = len(view.mean) - 1
    refresh_part(view, world, tenants, d, row, now)
    needed = needed_with(view, row, policy, marginal)
    tenants.needed[d] = needed
    return bool(needed < threshold)


@step
def add_deployment(view: Outlook, tenants: Tenants, d: int, policy: int) -> None:
    """Take a deployment into the cluster; its part is in the last row of the outlook."""
    tenants.status[d] = 1
    tenants.counts[FREE] -= 1
    row = tenants.free[tenants.counts[FREE]]
    tenants.place[d] = row
    tenants.where[d] = tenants.counts[ACTIVE]
    tenants.active[tenants.counts[ACTIVE]] = d
    tenants.counts[ACTIVE] += 1
    if policy in (FIRST, SECOND):
        last = len(view.mean) - 1
        for n in range(len(view.rule.horizons)):
            view.mean[row, n] = view.mean[last, n]
            view.variance[row, n] = view.variance[last, n]
        add_part(view, row, 1.0)


@step
def end_core(view: Outlook, tenants: Tenants, d: int, policy: int, now: float) -> None:
    """Let a core of a deployment end, and the deployment with its last one."""
    count_core_time(tenants, d, now)
    tenants.deaths[d] += 1
    # the size changes by 1 / cores, and the belief, multiplied by mu, by at most sd(mu) / (2 E[mu])
    tenants.moved[d] += 1.0 / tenants.cores[d]
    if tenants.spread[1, d] > 0:
        tenants.moved[d] += 0.5 * tenants.spread[0, d] / tenants.spread[1, d]
    tenants.cores[d] -= 1
    if tenants.cores[d] == 0:
        remove_deployment(view, tenants, d, policy)


@step
def scale_out(
    world: World, tenants: Tenants, tally: Tally, batch: int, cores: int, limit: int, now: float, counts: bool
) -> int:
    """Grant a scale-out wholly, or refuse it; return how many cores start."""
    d, size = world.deployment[batch], world.size[batch]
    count_core_time(tenants, d, now)
    tenants.scale_outs[d] += 1
    tenants.extra[d] += size - 1
    tenants.sizes[d] += 1
    tenants.has_asked[d] = True
    granted = cores + size <= limit
    if tally.control[GAIN] > 0:  # integral control: the threshold sums up what refusals differ from their share
        moved = tally.control[THRESHOLD] + tally.control[GAIN] * (tally.control[AIM] - (0.0 if granted else 1.0))
        tally.control[THRESHOLD] = min(float(limit + 1), moved)
        tally.control[LEAST] = min(tally.control[LEAST], moved)
    if counts:
        month = int(now / MONTH)
        tally.counts[ASKED] += 1
        tally.asked[month] += 1
        tally.counts[REFUSED] += not granted
        tally.refused[month] += not granted
    if not granted:
        return 0
    tenants.granted[batch] = 1
    tenants.cores[d] += size
    return int(size)


@step
def can_happen(tenants: Tenants, d: int, batch: int, what: int) -> bool:
    """Whether an event of the world happens in the cluster: to a deployment that is there, a core that was granted."""
    if what == ARRIVAL:
        return bool(tenants.status[d] == 0)
    return bool(tenants.status[d] == 1 and (what != DEATH or tenants.granted[batch] == 1))


@step
def decide_arrival(
    world: World, tenants: Tenants, view: Outlook, batch: int, policy: int, threshold: float, marginal: float,
    cores: int, limit: int, most: int, now: float,
) -> int:  # fmt: skip
    """Admit a deployment, or refuse it; return how many cores start."""
    d, size = world.deployment[batch], world.size[batch]
    tenants.cores[d] = size
    tenants.last[d] = now
    accepted = cores + size <= limit and tenants.counts[ACTIVE] < most
    if policy == ZEROTH:
        tenants.needed[d] = cores + size
        accepted = accepted and cores + size < threshold
    elif accepted and policy != EVERYBODY:
        accepted = accepts(view, world, tenants, d, policy, threshold, marginal, now)
    if not accepted:
        tenants.status[d] = 2
        tenants.cores[d] = 0
        return 0
    tenants.granted[batch] = 1
    add_deployment(view, tenants, d, policy)
    return int(size)


@kernel
def run_events(
    world: World,
    tenants: Tenants,
    view: Outlook,
    tally: Tally,
    policy: int,
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
    limit = UNLIMITED if policy == EVERYBODY else capacity
    for e in range(len(world.time)):
        time = world.time[e]
        if time >= until:
            break
        batch = world.batch[e]
        d = world.deployment[batch]
        what = world.what[e]
        if not can_happen(tenants, d, batch, what):
            continue
        if time > warmup:
            span = time - max(now, warmup)
            area += span * cores
            capped += span * min(cores, capacity)
        counts = time > warmup
        now = time
        tally.counts[EVENTS] += 1
        if what == DEATH:
            cores -= 1
            end_core(view, tenants, d, policy, now)
        elif what == SCALE_OUT:
            cores += scale_out(world, tenants, tally, batch, cores, limit, now, counts)
        elif what == ARRIVAL:
            started = decide_arrival(
                world, tenants, view, batch, policy, tally.control[THRESHOLD], marginal, cores, limit, most, now
            )
            cores += started
            tally.counts[ARRIVALS] += counts
            tally.counts[ADMITTED] += counts and started > 0
        else:
            cores -= tenants.cores[d]
            remove_deployment(view, tenants, d, policy)
        tally.counts[PEAK] = max(tally.counts[PEAK], cores)
    span = until - max(now, warmup)
    tally.core_hours[0] = area + span * cores
    tally.core_hours[1] = capped + span * min(cores, capacity)
