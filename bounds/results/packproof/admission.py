"""Results of packproof on cluster admission: what moments gain by the size of the cluster, and bounds for all policies.

Small clusters are of known kinds. Claims of the paper itself are in `bounds.results.admission`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.admission.moments import STAND_IN
from bounds.results.admission.orders import LOAD, STEADY_AND_GROWING
from bounds.results.decisions import Decisions
from bounds.results.reproduction import drawing, interval_curve
from bounds.views.panels import Chart, Curve, Panel
from fluid.admission.exact.chain import Space, best_threshold, small_space, solved
from fluid.admission.exact.hidden import hidden_optimum
from fluid.admission.exact.optimal import optimal_policy
from fluid.admission.law.cluster import AdmissionCluster, Kind
from fluid.admission.law.thresholds import POLICIES
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy, seed_of
from fluid.admission.simulation.world import SCALE_OUT, draw_world
from fluid.admission.study.frontier import frontiers_of
from fluid.admission.study.scaling import (
    Clumps,
    drawn_clumps,
    full_share,
    granted_changes,
    normal_utilisation,
    poisson_utilisation,
)
from fluid.admission.study.tuning import pathwise_bound
from fluid.statistics import mean_interval

UNTIL, WARMUP = 200.0, 40.0
SLA = 0.05
SEED = 20261128  # the ladders, and the numbers of worlds, were chosen by runs of other seeds


class Sized(NamedTuple):
    """A capacity, the worlds, and the ladders of the zeroth- and the second-moment policy around the SLA."""

    capacity: int
    worlds: int
    zeroth: tuple[float, ...]
    second: tuple[float, ...]


SIZES = {
    Level.quick: (Sized(90, 320, (32.0, 46.0), (0.12, 0.24)), Sized(720, 14, (640.0, 690.0), (0.2, 0.36))),
    Level.full: (
        Sized(90, 3000, (32.0, 46.0), (0.12, 0.24)),
        Sized(720, 200, (640.0, 690.0), (0.2, 0.36)),
        Sized(5760, 16, (5680.0, 5740.0), (0.25, 0.6)),
    ),
}


def _cluster(capacity: int) -> AdmissionCluster:
    return AdmissionCluster(capacity, LOAD * capacity, STEADY_AND_GROWING)


def _gains(size: Sized, second: str) -> tuple[float, float, NDArray[np.float64]]:
    """Return the utilisation of the zeroth-moment policy at the SLA, the bound, and pseudo-values of the gain.

    A ladder that does not enclose the SLA is a fault of the claim.
    """
    ladders = [(AdmissionPolicy("zeroth"), size.zeroth)]
    ladders.append((AdmissionPolicy(second), size.second if second == "second" else size.zeroth))
    cluster = _cluster(size.capacity)
    zeroth, other = frontiers_of(cluster, ladders, UNTIL, replications=size.worlds, seed=SEED, warmup=WARMUP)
    if not (zeroth.holds(SLA) and other.holds(SLA)):
        raise ArithmeticError(f"a ladder for {size.capacity} cores does not enclose the SLA")
    # no policy uses more in any of these worlds, so their mean bounds thresholds that are chosen in them, too
    bound = pathwise_bound(cluster, UNTIL, replications=size.worlds, seed=SEED, warmup=WARMUP)
    used = zeroth.pseudo_values(SLA)
    return float(zeroth.used_at(SLA)[0]), bound.utilisation.mean, other.pseudo_values(SLA) - used


@claim(
    "gain-by-capacity",
    "At equal SLA and equal load a core the second-moment policy gains less over the zeroth on a larger cluster: two "
    "kinds of deployments, SLA 5 %, 90 and 720 cores (in full 5,760 too, and from 90 cores on the gain falls at "
    "least like the inverse root of the capacity). At each capacity the gain is less than the bound for all policies "
    "leaves above the zeroth-moment policy, whose free cores are fewer than a blind policy needs by the compound "
    "Poisson law.",
    source="packproof, on Section 5.3 of the admission paper",
    printed="the gain is printed for one capacity (numbers lost); how it depends on the capacity is not said",
    evidence=Evidence.statistical,
    breaks=("one capacity", "one policy"),
)
def gain_by_capacity(level: Level, broken: str) -> Outcome:
    sizes = SIZES[level]
    sizes = (sizes[0], sizes[0]) if broken == "one capacity" else sizes
    clumps = drawn_clumps(_cluster(3_000), UNTIL, seed=SEED, warmup=WARMUP)
    rows = [_gains(size, "zeroth" if broken == "one policy" else "second") for size in sizes]
    means, errors = zip(*((g.mean(), g.std(ddof=1) / sqrt(len(g))) for _, _, g in rows), strict=True)
    decisions, good, shown = Decisions(len(sizes) - 1), True, []
    for n, (size, (used, bound, gains)) in enumerate(zip(sizes, rows, strict=True)):
        free = 1 - poisson_utilisation(clumps, size.capacity, SLA)
        good &= bool(means[n] < bound - used and 1 - used < free)
        shown.append(f"{size.capacity} cores: zeroth {used:.4f}, gain {means[n]:.4f}, a blind policy leaves {free:.3f}")
        if n:
            # at level full, what the law c^(-1/2) would leave of the first gain is to be more than the gain here
            law = 1.0 if level is Level.quick else sqrt(sizes[0].capacity / size.capacity)
            error = sqrt((law * errors[0]) ** 2 + errors[n] ** 2)
            fall = decisions.estimate(law * means[0] - means[n], error, _welch(law * rows[0][2], gains))
            good &= bool(fall.low > 0)
            shown.append(f"fall {fall.mean:.4f} [{fall.low:.4f}, {fall.high:.4f}]")
    return Outcome(f"{'; '.join(shown)}; {decisions}", good)


def _welch(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Degrees of freedom of the difference of two means, by Welch and Satterthwaite."""
    a, b = (values.var(ddof=1) / len(values) for values in (first, second))
    return float((a + b) ** 2 / max(1e-300, a * a / (len(first) - 1) + b * b / (len(second) - 1))) or 1.0


@claim(
    "blind-reserve",
    "A policy that admits each arrival with the same probability refuses at most the share of scale-outs that find no "
    "free cores by the compound Poisson law, where each sees the law of all other deployments beside its own: two "
    "kinds of deployments on 180 cores at a law of about 10 %, 300 worlds (3,000 in full), and 30 more for the law. If "
    "nothing is refused the share is that of the law, within the interval of their difference; on every path no more "
    "are refused. On 11,520 cores at an SLA of 5 % the free cores are within 5 % of z sqrt(b u / c), where b is the "
    "clump ratio and u the utilisation.",
    source="packproof, on Proposition 3.1 of the admission paper",
    printed="(nothing about how much of a cluster must stay free)",
    evidence=Evidence.statistical,
    breaks=("deployments of one core", "half the free cores"),
)
def blind_reserve(level: Level, broken: str) -> Outcome:
    capacity, share, half, quick = 180, 0.1, UNTIL / 2, level is Level.quick
    # one world decides how many deployments arrive, thirty others give the law, and again others are compared with it
    clumps = drawn_clumps(_cluster(30_000), UNTIL, seed=SEED - 1, warmup=half)
    used = poisson_utilisation(clumps, capacity, share)
    arrivals, laws = used * capacity / clumps.load, []
    for r in range(30):
        drawn = drawn_clumps(_cluster(2_000 if quick else 30_000), UNTIL, seed=SEED + 1 + r, warmup=half)
        seen = replace(drawn, living=drawn.living * 0 + 1) if broken.startswith("deployments") else drawn
        laws.append(full_share(seen, arrivals * drawn.load, capacity))
    more = (1 + used) / (2 * used) if broken.startswith("half") else 1.0
    cluster = replace(_cluster(capacity), arrival_rate=arrivals * more)
    beyond, over = 0, []
    for r in range(300 if quick else 3000):
        world = draw_world(cluster, UNTIL, seed_of(SEED, r))
        asks = (world.what == SCALE_OUT) & (world.time >= half)
        full = np.cumsum(granted_changes(world)[0]) > capacity
        over.append((float(full[asks].sum()), float(asks.sum())))
        run = run_policy(cluster, world, AdmissionPolicy("everybody"), UNTIL, warmup=half)
        beyond = max(beyond, int(run.refused.sum() - full[asks].sum()))
    refusable, asked = np.array(over).T
    ratio = refusable.sum() / asked.sum()
    shares, law = ratio + (refusable - ratio * asked) / asked.mean(), np.array(laws)  # by linearisation
    decisions = Decisions(1)
    error = sqrt(shares.var(ddof=1) / len(shares) + law.var(ddof=1) / len(law))
    apart = decisions.estimate(ratio - law.mean(), error, _welch(shares, law))
    normal = (1 - normal_utilisation(clumps.ratio, 64 * capacity, SLA)) / (
        1 - poisson_utilisation(clumps, 64 * capacity, SLA)
    )
    shown = f"law {law.mean():.4f} with {1 - used:.3f} of the cores free; if nothing is refused {ratio:.4f}, which is "
    shown += f"{apart.mean:.4f} [{apart.low:.4f}, {apart.high:.4f}] more; at most {beyond} more refused; "
    good = apart.holds(0.0) and beyond <= 0 and abs(normal - 1) < 0.05
    return Outcome(f"{shown}normal over Poisson {normal:.4f}; {decisions}", bool(good))


FILLING = AdmissionCluster(300, 0.075, STAND_IN)
"""The cluster of the claims on policies, with the stand-in priors."""


@claim(
    "pathwise-bound",
    "In no world does a policy use more than the cores that are active if no request is ever refused, cut off at the "
    "capacity: five policies in 6 worlds (40 in full) of 300 cores, a quarter of a year. The bound is the integral "
    "over the world's own events, by sums that share no code with the event loop, to 1e-9. What is used where every "
    "deployment may enter is another number: there a refused scale-out changes who stays.",
    source="packproof",
    printed="(no bound for all policies is printed)",
    evidence=Evidence.numeric,
    breaks=("everybody enters", "half of the capacity"),
)
def pathwise(level: Level, broken: str) -> Outcome:
    worlds, until = 6 if level is Level.quick else 40, 2190.0
    everybody = AdmissionPolicy("everybody")
    policies = [AdmissionPolicy("zeroth", x) for x in (150.0, 250.0)]
    policies += [AdmissionPolicy("first", 250.0), AdmissionPolicy("second", 0.3), everybody]
    bound = pathwise_bound(FILLING, until, replications=worlds, seed=SEED).by_run
    off, nearest = 0.0, np.inf
    for r in range(worlds):
        world = draw_world(FILLING, until, seed_of(SEED, r))
        cut = FILLING.capacity // 2 if broken.startswith("half") else FILLING.capacity
        cores = np.minimum(cut, np.cumsum(granted_changes(world)[0]))
        integral = float(cores @ np.diff(np.append(world.time, until))) / until / FILLING.capacity
        runs = [run_policy(FILLING, world, one, until).utilisation for one in policies]
        share = runs[-1] if broken.startswith("everybody") else float(bound[r])
        off, nearest = max(off, abs(share - integral)), min(nearest, integral - max(runs))
    shown = f"{worlds} worlds: off by at most {off:.1e}; the nearest policy is {nearest:.4f} below"
    return Outcome(shown, bool(off < 1e-9 and nearest >= -1e-12))


TINY = AdmissionCluster(3, 1.0, (Kind(1.0, 0.8, 0.9, 0.1, 1),))
"""At most 2 deployments of one kind on 3 cores: few enough states to list all policies that do not draw lots."""


def _hull(space: Space, sla: float) -> float:
    """Return the most that mixtures of two policies use, of all that accept or refuse for certain in each state.

    Mixtures of policies have the occupation measures of all policies, and one constraint needs no more than two.
    """
    free = np.argwhere(space.entered >= 0)
    points = []
    for bits in product((0.0, 1.0), repeat=len(free)):
        accept = np.zeros(space.entered.shape)
        accept[tuple(free.T)] = bits
        law = solved(space, accept).law
        points.append((float(law @ space.cores), float(law @ (space.refused - sla * space.asked))))
    cores, surplus = np.array(points).T
    best = float(cores[surplus <= 1e-12].max())
    for i, j in product(np.flatnonzero(surplus < 0), np.flatnonzero(surplus > 0)):
        part = surplus[j] / (surplus[j] - surplus[i])
        best = max(best, float(part * cores[i] + (1 - part) * cores[j]))
    return best / space.cluster.capacity


@claim(
    "small-optimum",
    "The best policy of a small cluster of known kinds lies between the policy that the linear program gives, solved "
    "by its own chain, and the dual bound for all policies: on 3 cores and at most 2 deployments, SLA of 0.3 and 0.6, "
    "both are within 1e-6 of the best mixture of two of all policies that accept or refuse for certain, listed.",
    source="packproof, on Section 2 of the admission paper",
    printed="the optimal policy is the solution of a very large constrained POMDP, which is infeasible to solve",
    evidence=Evidence.numeric,
    breaks=("the SLA is left out", "policies that draw no lots"),
)
def small_optimum(level: Level, broken: str) -> Outcome:
    space, off, shown = small_space(TINY, 2), 0.0, []
    for sla in (0.3, 0.6):
        optimum = optimal_policy(TINY, sla, 2)
        best = _hull(space, 1.0 if broken.startswith("the SLA") else sla)
        if broken.startswith("policies"):
            best = max(best_threshold(space, AdmissionPolicy(name), sla)[1].utilisation for name in POLICIES)
        off = max(off, abs(optimum.lower - best), abs(optimum.upper - best))
        shown.append(f"SLA {sla:g}: {optimum.lower:.6f} to {optimum.upper:.6f}, listed {best:.6f}")
    return Outcome(f"{'; '.join(shown)}; off by at most {off:.1e}", bool(off < 1e-6))


HIDDEN = AdmissionCluster(4, 1.0, (Kind(0.5, 0.5, 0.2, 1.0, 1), Kind(0.5, 0.5, 1.0, 0.2, 1)))
"""Two kinds that look alike: a scale-out multiplies the odds by 5."""


@claim(
    "hidden-bounds",
    "Where two kinds look alike, the best policy that must learn them lies between a policy with a finite memory and "
    "the bound of an oracle: 4 cores, at most 2 deployments, SLA 10 %, 5 and 7 beliefs. The bounds enclose each other "
    "for both grids; the upper one is below what a policy that sees kinds can do, and no threshold of the three "
    "policies passes it.",
    source="packproof, on Section 2 of the admission paper",
    printed="the optimal policy is the solution of a very large constrained POMDP, which is infeasible to solve",
    evidence=Evidence.numeric,
    breaks=("kinds are seen", "a tighter SLA"),
)
def hidden_bounds(level: Level, broken: str) -> Outcome:
    sla, grids = 0.1, [hidden_optimum(HIDDEN, 0.1, 2, points) for points in (5, 7)]
    lower, upper = max(one.lower for one in grids), min(one.upper for one in grids)
    seen = optimal_policy(HIDDEN, sla, 2)
    lower = seen.lower if broken.startswith("kinds") else lower
    upper = hidden_optimum(HIDDEN, sla / 5, 2, 7).upper if broken.startswith("a tighter") else upper
    rules = [best_threshold(grids[1].memories, AdmissionPolicy(name), sla)[1].utilisation for name in POLICIES]
    good = lower <= upper + 1e-12 and upper - lower < 0.01 * upper
    good &= upper < seen.lower and max(rules) <= upper + 1e-12
    shown = f"{lower:.6f} to {upper:.6f}; kinds seen {seen.lower:.6f}; best of three policies {max(rules):.6f}"
    return Outcome(shown, bool(good))


def _reserves(sla: float, clumps: Clumps, sizes: Sequence[int]) -> list[Curve]:
    """Free cores of a blind policy, as shares, by the compound Poisson and by the normal law."""
    poisson = [1 - poisson_utilisation(clumps, c, sla) for c in sizes]
    normal = [1 - normal_utilisation(clumps.ratio, c, sla) for c in sizes]
    return [
        Curve(f"blind, compound Poisson, SLA {sla:g}", sizes, poisson, look="plain"),
        Curve(f"blind, normal, SLA {sla:g}", sizes, normal, look="plain"),
    ]


@drawing("What moments can gain, by the size of the cluster", "gain-by-capacity", "blind-reserve", columns=2)
def gains() -> Sequence[Panel]:
    """Two known kinds with measured gains, and the stand-in priors at twice the load of examples/admission.toml."""
    small, large = SIZES[Level.quick]
    measured = (small, Sized(240, 40, (140.0, 170.0, 200.0), (0.08, 0.2, 0.4)), large)
    capacities = [size.capacity for size in measured]
    used, bound, values = zip(*(_gains(size, "second") for size in measured), strict=True)
    curves = [
        *_reserves(SLA, drawn_clumps(_cluster(3_000), UNTIL, seed=SEED, warmup=WARMUP), [60, 120, 240, 480, 960]),
        Curve(
            "bound for all policies less zeroth moment", capacities, [b - u for b, u in zip(bound, used, strict=True)]
        ),
        interval_curve("second less zeroth moment", capacities, [mean_interval(gain) for gain in values]),
    ]
    clumps = drawn_clumps(replace(FILLING, arrival_rate=20.0), 730.0, seed=SEED, warmup=365.0)
    sizes = [200, 500, 2000, 5000, 20_000, 50_000]
    right = [curve for sla in (1e-2, 1e-3) for curve in _reserves(sla, clumps, sizes)]
    axes = ("capacity (cores)", "cores left free or gained (share)")
    return [
        Chart(*axes, curves, title="two known kinds", xscale="log", yscale="log", ylim=(1e-3, 1.2)),
        Chart(*axes, right, title="stand-in priors", xscale="log", yscale="log", ylim=(0.05, 1.2)),
    ]
