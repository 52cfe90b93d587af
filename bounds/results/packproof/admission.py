"""Results of packproof on cluster admission: what moments gain by the size of the cluster, and bounds for all policies.

Small clusters are of known kinds. Claims of the paper itself are in `bounds.results.admission`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Outcome, claim
from bounds.results.admission.moments import STAND_IN
from bounds.results.admission.orders import LOAD, STEADY_AND_GROWING
from bounds.results.admission.scaling import (
    Clumps,
    drawn_clumps,
    full_share,
    granted_changes,
    normal_utilisation,
    poisson_utilisation,
)
from bounds.results.decisions import Decisions
from bounds.results.reproduction import drawing, interval_curve
from bounds.views.panels import Chart, Curve, Panel
from fluid.admission.exact.chain import Space, best_threshold, small_space, solved
from fluid.admission.exact.hidden import HiddenOptimum, hidden_optimum
from fluid.admission.exact.optimal import optimal_policy
from fluid.admission.law.cluster import AdmissionCluster, Kind
from fluid.admission.law.thresholds import POLICIES
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy, seed_of
from fluid.admission.simulation.world import SCALE_OUT, draw_world
from fluid.admission.study.frontier import frontiers_of
from fluid.admission.study.tuning import pathwise_bound
from fluid.statistics import mean_interval
from theory.errors import InputError, expect_number, listed

UNTIL, WARMUP = 200.0, 40.0
SLA = 0.05
SEED = 20261128  # the ladders, and the numbers of worlds, were chosen by runs of other seeds


class Ladders(NamedTuple):
    """Thresholds of the zeroth- and the second-moment policy around the SLA."""

    zeroth: tuple[float, ...]
    second: tuple[float, ...]


LADDERS = {
    90: Ladders((32.0, 46.0), (0.12, 0.24)),
    720: Ladders((640.0, 690.0), (0.2, 0.36)),
    5760: Ladders((5680.0, 5740.0), (0.25, 0.6)),
}
"""By capacity in cores."""


def _cluster(capacity: int) -> AdmissionCluster:
    return AdmissionCluster(capacity, LOAD * capacity, STEADY_AND_GROWING)


class Gains(NamedTuple):
    """The utilisation of the zeroth-moment policy at the SLA, the bound, and pseudo-values of what another gains."""

    used: float
    bound: float
    values: NDArray[np.float64]


@cache
def _gains(capacity: int, worlds: int, ladders: Ladders, compared: str = "second") -> Gains:
    """Measure what a policy gains over the zeroth-moment policy; its ladder is that of its moment.

    A ladder that does not enclose the SLA is a fault of the claim.
    """
    other_ladder = ladders.second if compared == "second" else ladders.zeroth
    policies = [(AdmissionPolicy("zeroth"), ladders.zeroth), (AdmissionPolicy(compared), other_ladder)]
    cluster = _cluster(capacity)
    zeroth, other = frontiers_of(cluster, policies, UNTIL, replications=worlds, seed=SEED, warmup=WARMUP)
    if not (zeroth.holds(SLA) and other.holds(SLA)):
        raise ArithmeticError(f"a ladder for {capacity} cores does not enclose the SLA")
    # no policy uses more in any of these worlds, so their mean bounds thresholds that are chosen in them, too
    bound = pathwise_bound(cluster, UNTIL, replications=worlds, seed=SEED, warmup=WARMUP)
    used = zeroth.pseudo_values(SLA)
    return Gains(float(zeroth.used_at(SLA)[0]), bound.utilisation.mean, other.pseudo_values(SLA) - used)


@cache
def _clumps_of_two_kinds() -> Clumps:
    return drawn_clumps(_cluster(3_000), UNTIL, seed=SEED, warmup=WARMUP)


@claim(
    "gain-by-capacity",
    "The second moment gains less at 720 cores",
    "At equal SLA and equal load a core the second-moment policy gains less over the zeroth on a larger cluster: two "
    "kinds of deployments, SLA 5 %, 90 and 720 cores (in full 5,760 too, and from 90 cores on the gain falls at least "
    "like the inverse root of the capacity). At each capacity the gain is less than the bound for all policies leaves "
    "above the zeroth-moment policy, whose free cores are fewer than a blind policy needs by the compound Poisson "
    "distribution.",
    source="packproof, on Section 5.3 of the admission paper",
    printed="the gain is printed for one capacity (numbers lost); how it depends on the capacity is not said",
    evidence=Evidence.statistical,
    tiny={"worlds": (240, 10)},
    full={"capacities": (90, 720, 5760), "worlds": (3000, 200, 16), "exponent": 0.5},
    controls={"one capacity": {"capacities": (90, 90), "worlds": (240, 240)}, "one policy": {"compared": "zeroth"}},
)
def gain_by_capacity(
    capacities: tuple[int, ...] = (90, 720),
    worlds: tuple[int, ...] = (320, 14),
    exponent: float = 0.0,
    *,
    compared: str = "second",
) -> Outcome:
    """Compare the gain at the first capacity with that at each other one, which is to be less.

    Less than the first gain times the inverse ratio of the capacities to the power of `exponent`.
    """
    if not set(capacities) <= LADDERS.keys() or not 1 < len(capacities) == len(worlds) or min(worlds) < 2:
        known = listed(map(str, LADDERS))
        raise InputError("capacities", f"expected two or more of {known}, each with two worlds at least")
    sizes = list(zip(capacities, worlds, strict=True))
    clumps = _clumps_of_two_kinds()
    rows = [_gains(capacity, number, LADDERS[capacity], compared) for capacity, number in sizes]
    means, errors = zip(*((row.values.mean(), _error(row.values)) for row in rows), strict=True)
    decisions, good, parts = Decisions(len(sizes) - 1), True, []
    for n, (capacity, row) in enumerate(zip(capacities, rows, strict=True)):
        free = 1 - poisson_utilisation(clumps, capacity, SLA)
        good &= bool(means[n] < row.bound - row.used and 1 - row.used < free)
        parts.append(f"{capacity} cores: zeroth {row.used:.4f}, gain {means[n]:.4f}, a blind policy leaves {free:.3f}")
        if n:
            # what the law c^(-exponent) would leave of the first gain is to be more than the gain here
            law = (capacities[0] / capacity) ** exponent
            error = sqrt((law * errors[0]) ** 2 + errors[n] ** 2)
            fall = decisions.estimate(law * means[0] - means[n], error, _welch(law * rows[0].values, row.values))
            good &= bool(fall.low > 0)
            parts.append(f"fall {fall.mean:.4f} [{fall.low:.4f}, {fall.high:.4f}]")
    return Outcome(f"{'; '.join(parts)}; {decisions}", good)


def _error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / sqrt(len(values)))


def _welch(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Degrees of freedom of the difference of two means, by Welch and Satterthwaite."""
    a, b = (values.var(ddof=1) / len(values) for values in (first, second))
    return float((a + b) ** 2 / max(1e-300, a * a / (len(first) - 1) + b * b / (len(second) - 1))) or 1.0


@claim(
    "blind-reserve",
    "Blind admission refuses at most the Poisson share",
    "A policy that admits each arrival with the same probability refuses at most the share of scale-outs that find no "
    "free cores by the compound Poisson distribution, where each sees the distribution of all other deployments "
    "beside its own: two kinds of deployments on 180 cores where the distribution gives about 10 %, 300 replications "
    "(3,000 in full), and 30 more for the distribution. If nothing is refused the share is that of the distribution, "
    "within the interval of their difference; on every path no more are refused. On 11,520 cores at an SLA of 5 % the "
    "free cores are within 5 % of z sqrt(b u / c), where b is the clump ratio and u the utilisation.",
    source="packproof, on Proposition 3.1 of the admission paper",
    printed="(nothing about how much of a cluster must stay free)",
    evidence=Evidence.statistical,
    tiny={"worlds": 75, "law_worlds": 20, "law_cores": 1_000},
    full={"worlds": 3_000, "law_cores": 30_000},
    controls={"deployments of one core": {"one_core": True}, "half the free cores": {"part_of_free": 0.5}},
)
def blind_reserve(
    capacity: int = 180,
    share: float = 0.1,
    worlds: int = 300,
    law_worlds: int = 30,
    law_cores: int = 2_000,
    *,
    one_core: bool = False,
    part_of_free: float = 1.0,
) -> Outcome:
    """Compare the share of refused scale-outs with the law, and the law with its normal approximation.

    Parameters
    ----------
    capacity : int
        Of the cluster in cores; that of the normal law is 64 times as large.
    share : float
        The share of scale-outs that find no free cores by the law of one world, which decides how many deployments
        arrive.
    worlds, law_worlds : int
        Worlds that are compared with the law, and others that give it.
    law_cores : int
        Cores of the cluster in which the deployments of each world of the law are drawn.
    one_core : bool
        Let the law see deployments of one core.
    part_of_free : float
        Part of the free cores by the law that is free in the worlds.
    """
    for name, number, least in (("capacity", capacity, 1), ("worlds", worlds, 2), ("law_worlds", law_worlds, 2)):
        expect_number(number, name, least)
    if not 0 < share < 1:
        raise InputError("share", f"expected a number between 0 and 1, got {share:g}")
    # one world decides how many deployments arrive, others give the law, and again others are compared with it
    clumps = _clumps(30_000, SEED - 1)
    used = poisson_utilisation(clumps, capacity, share)
    arrivals, shares_by_law = used * capacity / clumps.load, []
    for r in range(law_worlds):
        drawn = _clumps(law_cores, SEED + 1 + r)
        seen = replace(drawn, living=drawn.living * 0 + 1) if one_core else drawn
        shares_by_law.append(full_share(seen, arrivals * drawn.load, capacity))
    more = 1 + (1 - part_of_free) * (1 - used) / used
    refusable, asked, beyond = _refusals(replace(_cluster(capacity), arrival_rate=arrivals * more), worlds)
    ratio = refusable.sum() / asked.sum()
    shares, law = ratio + (refusable - ratio * asked) / asked.mean(), np.array(shares_by_law)  # by linearisation
    decisions = Decisions(1)
    error = sqrt(shares.var(ddof=1) / len(shares) + law.var(ddof=1) / len(law))
    apart = decisions.estimate(ratio - law.mean(), error, _welch(shares, law))
    normal = (1 - normal_utilisation(clumps.ratio, 64 * capacity, SLA)) / (
        1 - poisson_utilisation(clumps, 64 * capacity, SLA)
    )
    computed = f"law {law.mean():.4f} with {1 - used:.3f} of the cores free; if nothing is refused {ratio:.4f}, which "
    computed += f"is {apart.mean:.4f} [{apart.low:.4f}, {apart.high:.4f}] more; at most {beyond} more refused; "
    good = apart.holds(0.0) and beyond <= 0 and abs(normal - 1) < 0.05
    return Outcome(f"{computed}normal over Poisson {normal:.4f}; {decisions}", bool(good))


@cache
def _clumps(cores: int, seed: int) -> Clumps:
    """Draw deployments of two known kinds, seen from the middle of the horizon on."""
    return drawn_clumps(_cluster(cores), UNTIL, seed=seed, warmup=UNTIL / 2)


def _refusals(cluster: AdmissionCluster, worlds: int) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return by world the scale-outs that find no cores if nothing is refused, all of them, and the excess.

    The excess is the most that are refused beyond those on a path where everybody enters.
    """
    beyond, over = 0, []
    for r in range(worlds):
        world = draw_world(cluster, UNTIL, seed_of(SEED, r))
        asks = (world.what == SCALE_OUT) & (world.time >= UNTIL / 2)
        full = np.cumsum(granted_changes(world)[0]) > cluster.capacity
        over.append((float(full[asks].sum()), float(asks.sum())))
        run = run_policy(cluster, world, AdmissionPolicy("everybody"), UNTIL, warmup=UNTIL / 2)
        beyond = max(beyond, int(run.refused.sum() - full[asks].sum()))
    refusable, asked = np.array(over).T
    return refusable, asked, beyond


FILLING = AdmissionCluster(300, 0.075, STAND_IN)
"""The cluster of the claims on policies, with the stand-in priors."""


@claim(
    "pathwise-bound",
    "No tried policy uses more than unrefused cores",
    "In no replication does a policy use more than the cores that are active if no request is ever refused, cut off "
    "at the capacity: five policies in 6 replications (40 in full) of 300 cores, a quarter of a year. The bound is "
    "the integral over the replication's own events, by sums that share no code with the event loop, to 1e-9. What is "
    "used where every deployment may enter is another number: there a refused scale-out changes who stays.",
    source="packproof",
    printed="(no bound for all policies is printed)",
    evidence=Evidence.numeric,
    tiny={"worlds": 2},
    full={"worlds": 40},
    controls={
        "everybody enters": {"bound_of_everybody": True},
        "half of the capacity": {"part_of_capacity": Fraction(1, 2)},
    },
)
def pathwise(
    worlds: int = 6,
    capacity: int = 300,
    until: float = 2190.0,
    *,
    bound_of_everybody: bool = False,
    part_of_capacity: Fraction = Fraction(1),
) -> Outcome:
    """Compare the bound with the integral over the events of each world, and policies with the integral."""
    expect_number(worlds, "worlds", 1)
    if until <= 0:
        raise InputError("until", f"expected hours greater than 0, got {until:g}")
    cluster = replace(FILLING, capacity=capacity)
    policies = [AdmissionPolicy("zeroth", capacity / 2), AdmissionPolicy("zeroth", capacity * 5 / 6)]
    policies += [AdmissionPolicy("first", capacity * 5 / 6), AdmissionPolicy("second", 0.3)]
    policies.append(AdmissionPolicy("everybody"))
    bound = pathwise_bound(cluster, until, replications=worlds, seed=SEED).by_run
    off, nearest = 0.0, np.inf
    for r in range(worlds):
        world = draw_world(cluster, until, seed_of(SEED, r))
        cores = np.minimum(int(part_of_capacity * capacity), np.cumsum(granted_changes(world)[0]))
        integral = float(cores @ np.diff(np.append(world.time, until))) / until / capacity
        runs = [run_policy(cluster, world, one, until).utilisation for one in policies]
        share = runs[-1] if bound_of_everybody else float(bound[r])
        off, nearest = max(off, abs(share - integral)), min(nearest, integral - max(runs))
    computed = f"{worlds} worlds: off by at most {off:.1e}; the nearest policy is {nearest:.4f} below"
    return Outcome(computed, bool(off < 1e-9 and nearest >= -1e-12))


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


def _without_sla(space: Space, sla: float) -> float:
    """Return the most that policies use if the SLA does not bind."""
    del sla
    return _hull(space, 1.0)


def _best_threshold(space: Space, sla: float) -> float:
    """Return the most that thresholds of the three policies use, which draw no lots."""
    return max(best_threshold(space, AdmissionPolicy(name), sla)[1].utilisation for name in POLICIES)


@claim(
    "small-optimum",
    "The linear program finds a small cluster's optimum",
    "The best policy of a small cluster of known kinds lies between the policy that the linear program gives, solved "
    "by its own chain, and the dual bound for all policies: on 3 cores and at most 2 deployments, SLA of 0.3 and 0.6, "
    "both are within 1e-6 of the best mixture of two of all policies that accept or refuse for certain, listed.",
    source="packproof, on Section 2 of the admission paper",
    printed="the optimal policy is the solution of a very large constrained POMDP, which is infeasible to solve",
    evidence=Evidence.numeric,
    tiny={"slas": (0.3,)},
    controls={
        "the SLA is left out": {"listed_best": _without_sla},
        "policies that draw no lots": {"listed_best": _best_threshold},
    },
)
def small_optimum(
    slas: tuple[float, ...] = (0.3, 0.6), *, listed_best: Callable[[Space, float], float] = _hull
) -> Outcome:
    if not slas:
        raise InputError("slas", "expected at least one")
    space, off, parts = small_space(TINY, 2), 0.0, []
    for sla in slas:
        optimum = optimal_policy(TINY, sla, 2)
        best = listed_best(space, sla)
        off = max(off, abs(optimum.lower - best), abs(optimum.upper - best))
        parts.append(f"SLA {sla:g}: {optimum.lower:.6f} to {optimum.upper:.6f}, listed {best:.6f}")
    return Outcome(f"{'; '.join(parts)}; off by at most {off:.1e}", bool(off < 1e-6))


HIDDEN = AdmissionCluster(4, 1.0, (Kind(0.5, 0.5, 0.2, 1.0, 1), Kind(0.5, 0.5, 1.0, 0.2, 1)))
"""Two kinds that look alike: a scale-out multiplies the odds by 5."""


@claim(
    "hidden-bounds",
    "Bounds enclose the best policy that learns kinds",
    "Where two kinds look alike, the best policy that must learn them lies between a policy with a finite memory and "
    "the bound of an oracle: 4 cores, at most 2 deployments, SLA 10 %, 5 and 7 beliefs. The bounds enclose each other "
    "for both grids; the upper one is below what a policy that sees kinds can do, and no threshold of the three "
    "policies passes it.",
    source="packproof, on Section 2 of the admission paper",
    printed="the optimal policy is the solution of a very large constrained POMDP, which is infeasible to solve",
    evidence=Evidence.numeric,
    tiny={"points": (4, 5)},
    controls={"kinds are seen": {"lower_of_seen_kinds": True}, "a tighter SLA": {"part_of_sla": 0.2}},
)
def hidden_bounds(
    sla: float = 0.1, points: tuple[int, ...] = (5, 7), *, lower_of_seen_kinds: bool = False, part_of_sla: float = 1.0
) -> Outcome:
    """Enclose the best policy by grids of these numbers of beliefs; `part_of_sla` is that of the upper bound."""
    if not points:
        raise InputError("points", "expected at least one number of beliefs")
    grids = [_hidden_optimum(sla, number) for number in points]
    seen = optimal_policy(HIDDEN, sla, 2)
    lower = seen.lower if lower_of_seen_kinds else max(grid.lower for grid in grids)
    upper = min(_hidden_optimum(sla * part_of_sla, number).upper for number in points)
    rules = [best_threshold(grids[-1].memories, AdmissionPolicy(name), sla)[1].utilisation for name in POLICIES]
    good = lower <= upper + 1e-12 and upper - lower < 0.01 * upper
    good &= upper < seen.lower and max(rules) <= upper + 1e-12
    computed = f"{lower:.6f} to {upper:.6f}; kinds seen {seen.lower:.6f}; best of three policies {max(rules):.6f}"
    return Outcome(computed, bool(good))


@cache
def _hidden_optimum(sla: float, points: int) -> HiddenOptimum:
    return hidden_optimum(HIDDEN, sla, 2, points)


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
    ladders = {**LADDERS, 240: Ladders((140.0, 170.0, 200.0), (0.08, 0.2, 0.4))}
    measured = {90: 320, 240: 40, 720: 14}
    capacities = list(measured)
    used, bound, values = zip(*(_gains(c, worlds, ladders[c]) for c, worlds in measured.items()), strict=True)
    curves = [
        *_reserves(SLA, _clumps_of_two_kinds(), [60, 120, 240, 480, 960]),
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
