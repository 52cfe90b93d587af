"""The auto-scaling paper on its fluid limit: paths and their end, and how the limit moves from moment to moment.

Section 5.3 describes the motion by effective servers x^(i) over all greedy configurations, and by i*, the last place up
to which each of them has a tight type (26). Both are computed here from the state of a path by their definitions, and
local derivatives (29)-(30) as difference quotients between switches of the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import log
from typing import NamedTuple

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import dynamic_instance
from bounds.results.instances.families import limited_by_draining
from bounds.results.instances.papers import four_types
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.limits.reservation import Reservation, fluid_path, plan, state_of
from fluid.limits.reservation.segment import Segment, State
from theory.errors import InputError, expect_number
from theory.exact.knapsack import maximal
from theory.greedy.assignment import MaxRewards, global_greedy, greedy_configurations
from theory.greedy.servers import max_jobs
from theory.instance import Configuration, Instance

SEED = 514
EPS = 1e-3  # eps of Lemma 5.9, where no other is chosen
NEAR = 1e-7  # jobs and servers, per server, that differ by less are equal; paths are computed to 1e-10


def random_states(model: Reservation, generator: np.random.Generator, count: int) -> list[State]:
    """Draw systems: servers in up to three random maximal configurations, their slots partly full."""
    rows = maximal(model.instance.pools[0].space)
    states = []
    for _ in range(count):
        chosen = generator.permutation(len(rows))[:3]
        shares = generator.dirichlet(np.ones(len(chosen)))
        assignment = {tuple(rows[i].tolist()): float(x) for i, x in zip(chosen, shares, strict=True)}
        jobs, masses = state_of(model, assignment)
        states.append((jobs * generator.uniform(0, 1, len(jobs)), masses))
    return states


def full_in(model: Reservation, configuration: Sequence[int]) -> State:
    """Return the state in which all servers are full in one configuration."""
    return state_of(model, {tuple(configuration): 1.0})


def greedy_shares(model: Reservation) -> dict[Configuration, float]:
    """Return the fraction of servers of each configuration in the global greedy assignment."""
    return {stage.configurations[0]: float(stage.fraction) for stage in model.equilibrium.stages}


class End(NamedTuple):
    """Where a path is at the end of the horizon."""

    instance: Instance
    from_jobs: bool  # whether it began with jobs, not from the empty system
    jobs: np.ndarray
    masses: dict[Configuration, float]


@cache
def _ends(instances: int, states: int, horizon: float) -> list[End]:
    """Follow paths of random instances from the empty system and from random states."""
    generator, ends = np.random.default_rng(SEED), []
    for seed in range(instances):
        instance = dynamic_instance(seed)
        model = Reservation(instance)
        until = horizon / float(model.service.min())
        for start in [None, *random_states(model, generator, states)]:
            jobs, masses = fluid_path(model, until, start).state(until)
            ends.append(End(instance, start is not None, jobs, masses))
    return ends


def _away(model: Reservation, jobs: np.ndarray, masses: dict[Configuration, float]) -> float:
    """Return how far a state is from the global greedy assignment, in jobs and effective configurations."""
    # servers to spare may keep a configuration: only what lacks counts
    lacking = max((share - masses.get(k, 0.0) for k, share in greedy_shares(model).items()), default=0.0)
    served = np.array([float(y) for y in model.equilibrium.served])
    return max(lacking, float(np.abs(jobs - served).max()))


@claim(
    "theorem-6.1",
    "Computed fluid paths reach the greedy assignment",
    "From any initial state the fluid paths of dynamic reservation converge to the global greedy assignment: random "
    "instances with unequal service rates, from the empty system and from random states, to 1e-6 in jobs and "
    "effective configurations.",
    source="Theorem 6.1",
    printed="from any initial state the fluid paths converge to the global greedy assignment",
    evidence=Evidence.numeric,
    tiny={"instances": 1},
    full={"instances": 20, "states": 5},
    controls={"the limit of half the workload": {"limit_of": Fraction(1, 2)}},
)
def theorem_6_1(
    instances: int = 3, states: int = 1, horizon: float = 40.0, *, limit_of: Fraction = Fraction(1)
) -> Outcome:
    """Follow paths for `horizon` mean service times of the slowest type, to the limit of a part of the workload."""
    expect_number(instances, "instances", 1)
    worst = [0.0, 0.0]
    for end in _ends(instances, states, horizon):
        goal = end.instance.with_workload([limit_of * rho for rho in end.instance.workload])
        away = _away(Reservation(goal), end.jobs, end.masses)
        worst[end.from_jobs] = max(worst[end.from_jobs], away)
    computed = (
        f"{instances} instances, {instances * states} random states: {worst[0]:.1e} off from empty, {worst[1]:.1e}"
    )
    return Outcome(computed, bool(max(worst) < 1e-6))


def _of_lemma_5_9(seed: int, eps: float = EPS, load: Fraction = Fraction(1, 8)) -> tuple[Reservation, float, State]:
    """Return a system at a part of its workload, the time of the lemma, and a state that is full of jobs."""
    instance = dynamic_instance(seed)
    model = Reservation(instance.with_workload([load * rho for rho in instance.workload]))
    time = log(max_jobs(instance) / eps) / float(model.service.min())
    return model, time, full_in(model, maximal(instance.pools[0].space)[0].tolist())


@claim(
    "lemma-5.9",
    "Computed fluid paths soon fall to the workload",
    "y_j <= rho_j + eps for all types after the time max_j log(K / eps) / mu_j, eps = 1/1000: random instances at an "
    "eighth of their workload, from servers full of jobs and from random states.",
    source="Lemma 5.9",
    printed="y_j within rho_j + eps after a time that depends on K and eps (formula lost)",
    evidence=Evidence.numeric,
    tiny={"instances": 1},
    full={"instances": 40},
    controls={"a third of the time is allowed": {"allowed": 1 / 3}},
)
def lemma_5_9(
    instances: int = 2, eps: float = EPS, load: Fraction = Fraction(1, 8), *, allowed: float = 1.0
) -> Outcome:
    """Look at random instances at a part of their workload, after a part of the time of the lemma."""
    expect_number(instances, "instances", 1)
    if not 0 < eps < 1:
        raise InputError("eps", f"expected a number between 0 and 1, got {eps}")
    generator, within, paths = np.random.default_rng(SEED), 0, 0
    for seed in range(instances):
        model, time, full = _of_lemma_5_9(seed, eps, load)
        for start in [full, *random_states(model, generator, 1)]:
            jobs = fluid_path(model, allowed * time, start).jobs([allowed * time])[0]
            within += bool((jobs <= model.workload + eps).all())
            paths += 1
    return Outcome(f"{within} of {paths} paths, eps = {eps:g}", within == paths > 0)


@drawing("Jobs above the workload leave: a random instance at an eighth of its workload", "lemma-5.9")
def enters() -> Sequence[Panel]:
    """Draw the jobs above the workload along a path that begins with too many, and the time of the lemma."""
    model, time, full = _of_lemma_5_9(0)
    times = np.linspace(0.0, 1.15 * time, 100)
    jobs = fluid_path(model, 1.15 * time, full).jobs(times)
    most = np.clip(jobs - model.workload, 1e-9, None).max(axis=1)
    above = Curve("fluid path", times.tolist(), most.tolist(), look="plain")
    lines = [Line(f"ε = {EPS:g}", EPS), Line("time of the lemma", time, upright=True)]
    x, y = "time (units of the instance)", "greatest excess yⱼ − ρⱼ (jobs per server)"
    return [Chart(x, y, [above], lines, yscale="log", ylim=(1e-5, None))]


def _off_equation_40(
    model: Reservation, segment: Segment, time: float, time_step: float, departures: float
) -> Iterator[float]:
    """Yield by how much equation (40) is off at a time, for each followed configuration that a type drives."""
    (_, before), (jobs, _), (_, after) = (segment.state(time + d) for d in (-time_step, 0.0, time_step))
    velocity = model.workload * model.service - departures * model.service * jobs
    ahead: list[Configuration] = []
    for stage in segment.regime.followed:
        ahead.append(stage.configuration)
        if not stage.moves:  # it has servers to spare, and none after it is spoken of
            return
        if stage.driver >= 0:
            # the left side of (40) as a difference quotient
            moved = sum(k[stage.driver] * (after.get(k, 0.0) - before.get(k, 0.0)) for k in ahead) / (2 * time_step)
            yield abs(moved - velocity[stage.driver])


@claim(
    "prop-5.10",
    "On computed paths, configurations follow their driving type",
    "Along computed paths of random instances from the empty system, outside of mixed regimes: a followed "
    "configuration that a type drives moves with it, sum_l k_j x_l' = lambda_j - mu_j y_j (equation (40)), where "
    "neither it nor one before it has servers to spare.",
    source="Proposition 5.10",
    printed="equations (40)-(42), constants lost",
    evidence=Evidence.numeric,
    full={"instances": 25},
    controls={"departures are left out": {"departures": 0.0}},
)
def proposition_5_10(instances: int = 5, horizon: float = 8.0, *, departures: float = 1.0) -> Outcome:
    """Differentiate paths numerically between switches; `departures` is the part of them that counts."""
    expect_number(instances, "instances", 1)
    off, time_step = list[float](), 1e-5
    for seed in range(instances):
        model = Reservation(dynamic_instance(seed))
        for segment in fluid_path(model, horizon).segments:
            if segment.stop - segment.start < 0.01 or segment.regime.kind == "mixed":
                continue
            for time in np.linspace(segment.start + 2 * time_step, segment.stop - 2 * time_step, 5):
                off += _off_equation_40(model, segment, time, time_step, departures)
    worst = max(off, default=0.0)
    return Outcome(f"{len(off)} points, largest difference {worst:.1e}", bool(off and worst < 1e-4))


WORST_OF_FOUR = four_types().workload
"""The worst workload of the paper's four VM types."""


@claim(
    "section-7-path",
    "The four VM types' path reaches greedy reward",
    "For the four VM types at their worst workload the fluid path from the empty system stays within the workload, "
    "first fills the servers, then follows the greedy map to the greedy reward 1796/13.",
    source="Section 7",
    printed="converges to the greedy reward (values lost)",
    evidence=Evidence.numeric,
    tiny={"horizon": 20.0},
    controls={
        "the workload is doubled": {"path_of": 2},
        "the path begins with servers full of the first type": {"start": (80, 0, 0, 0)},
    },
)
def section_7_path(
    workload: tuple[Fraction, ...] = WORST_OF_FOUR,
    horizon: float = 40.0,
    *,
    path_of: int = 1,
    start: tuple[int, ...] | None = None,
) -> Outcome:
    """Follow the path of a multiple of the workload, from the empty system or from servers full of a configuration."""
    instance = four_types(tuple(path_of * rho for rho in workload))
    limit = float(global_greedy(four_types(workload)).reward)
    model = Reservation(instance)
    path = fluid_path(model, horizon, full_in(model, start) if start else None)
    if not path.switches:
        raise InputError("workload", "expected one that fills the servers by the horizon")
    reward = float(path.rewards([horizon])[0])
    near = path.time_within(0.01)
    first, *rest = [s.regime.kind for s in path.segments]
    over = float((path.jobs(np.linspace(0.0, horizon, 401)) - model.workload).max())
    computed = (
        f"full at {path.switches[0]:.4f}, within 1 % from {near:.3f}, reward {reward:.6f}; jobs at most {over:.1e} "
        f"above the workload"
    )
    good = first == "idle" and set(rest) == {"tracking"} and abs(reward - limit) < 1e-6 and over < NEAR
    return Outcome(computed, good and not path.draining_limits)


@drawing(
    "Fluid path of dynamic reservation, four VM types at their worst workload, from the empty system",
    "section-7-path",
    columns=2,
)
def path_of_four_types() -> Sequence[Panel]:
    named = four_types().with_names(("small", "medium", "memory", "large"))
    model, times = Reservation(named), np.linspace(0.0, 12.0, 241).tolist()
    path, time = fluid_path(model, 12.0), "time (mean service times)"
    by_type = zip(model.instance.names, path.jobs(times).T, strict=True)
    jobs = [Curve(name, times, y.tolist(), look="plain") for name, y in by_type]
    reward = Curve("fluid path", times, path.rewards(times).tolist(), look="plain")
    greedy = Line("greedy reward", float(model.equilibrium.reward))
    return [Chart(time, "jobs (per server)", jobs), Chart(time, "reward (per server)", [reward], [greedy])]


MOMENTS_SEED = 310
STEP = 1e-4  # half of the time over which a local derivative is taken


@dataclass(frozen=True)
class Moment:
    """A path at one time."""

    listed: list[Configuration]  # the C greedy configurations but the empty one, in their order
    x: np.ndarray  # float64[C]: effective servers of each
    slope: np.ndarray  # float64[C]: their local derivatives
    y: np.ndarray  # float64[J]: jobs
    arriving: np.ndarray  # float64[J]: lambda
    leaving: np.ndarray  # float64[J]: mu y
    empty: float  # servers that are empty and of no rank
    last: int  # place of the last configuration of the greedy assignment, C_rho - 1; C if servers are left

    @property
    def free(self) -> np.ndarray:
        """Return lambda - mu y of each type."""
        return np.asarray(self.arriving - self.leaving)

    def slots(self, i: int, values: np.ndarray) -> np.ndarray:
        """Return ``sum_{l <= i} k^(l) values_l`` by type, places from 0."""
        return np.asarray(np.array(self.listed[: i + 1], float).T @ values[: i + 1])

    def tight(self, i: int) -> list[int]:
        """T_i of (31): the types of configuration i that have no job beyond the slots of the first i."""
        gap = self.y - self.slots(i, self.x)
        return [j for j, slots in enumerate(self.listed[i]) if slots and abs(gap[j]) <= NEAR]

    @property
    def tight_up_to(self) -> int:
        """i* of (26), as a number of configurations."""
        return next((i for i in range(len(self.listed)) if not self.tight(i)), len(self.listed))

    @property
    def followed(self) -> int:
        """i* of Proposition 5.10: the number of configurations up to the first that follows no tight type in (40)."""
        for i in range(len(self.listed)):
            off = np.abs(self.slots(i, self.slope) - self.free)
            if not any(off[j] <= 1e-5 for j in self.tight(i)):
                return i
        return len(self.listed)


def _effective(model: Reservation, listed: list[Configuration], state: State) -> np.ndarray:
    wanted = {s.configuration: s.mass for s in plan(model, state[0], 0 * state[0])}
    return np.array([min(state[1].get(k, 0.0), wanted.get(k, 0.0)) for k in listed])


def _last_place(instance: Instance, model: Reservation, listed: list[Configuration]) -> int:
    greedy, rewards = model.equilibrium, MaxRewards(instance)
    left, used = frozenset(range(len(instance.types))), 0.0
    for j, length in zip(greedy.permutation, greedy.lengths, strict=True):
        used += float(length)
        if used >= 1 - NEAR:
            return listed.index(rewards(left).configurations[0])
        left -= {j}
    return len(listed)


def moments(instances: int, departures: float = 1.0) -> list[Moment]:
    """Return moments of paths of random instances and of two named ones; `departures` is the part that counts."""
    expect_number(instances, "instances", 1)
    return [replace(moment, leaving=departures * moment.leaving) for moment in _moments(instances)]


@cache
def _moments(instances: int) -> list[Moment]:
    """Return moments of paths from the empty system, and from servers full of random maximal configurations."""
    generator, collected = np.random.default_rng(MOMENTS_SEED), list[Moment]()
    tried = [dynamic_instance(seed) for seed in range(instances)]
    tried += [limited_by_draining()[name] for name in ("drains one type", "drains two types")]
    for instance in tried:
        model = Reservation(instance)
        rows = maximal(instance.pools[0].space)
        starts = [tuple(rows[i].tolist()) for i in generator.permutation(len(rows))[:3]]
        for start in [None, *(full_in(model, k) for k in starts)]:
            collected += _moments_of_path(instance, model, start)
    return collected


def _moments_of_path(instance: Instance, model: Reservation, start: State | None) -> Iterator[Moment]:
    """Yield moments in the inner four fifths of each regime of a path.

    Short and mixed regimes, whose rates are means, are left out.
    """
    listed = [k for k in greedy_configurations(instance) if any(k)]
    last = _last_place(instance, model, listed)
    for segment in fluid_path(model, 6.0, start).segments:
        if segment.stop - segment.start < 50 * STEP or segment.regime.kind == "mixed":
            continue
        margin = (segment.stop - segment.start) / 10  # at a switch a rate may be on its way to or from 0
        for time in np.linspace(segment.start + margin, segment.stop - margin, 6):
            around = [segment.state(float(time) + d) for d in (-STEP, 0.0, STEP)]
            before, x, after = (_effective(model, listed, state) for state in around)
            jobs, masses = around[1]
            slope, empty = (after - before) / (2 * STEP), masses.get((0,) * len(jobs), 0.0)
            arriving, leaving = model.workload * model.service, model.service * jobs
            yield Moment(listed, x, slope, jobs, arriving, leaving, empty, last)


@claim(
    "equations-24-28",
    "Equations (24)-(28) hold along computed fluid paths",
    "Along computed fluid paths: the first i greedy configurations have no more slots of any type than there are jobs "
    "(24); while empty servers are left, slots of each type grow as fast as jobs arrive and depart (25b); where none "
    "are left and i* < C^(g), no type of the next configuration is tight, as i* is defined by (26)-(27), and the "
    "servers of the first i* + 1 configurations together grow (28): the least rate over what they lack is positive "
    "(its constant is lost).",
    source="Equations (24)-(28)",
    printed="(24)-(28): what is tight, what moves while servers are empty, and how fast servers empty (formulas lost)",
    evidence=Evidence.numeric,
    tiny={"instances": 3},
    full={"instances": 40},
    controls={
        "departures are left out of (25)": {"departures": 0.0},
        "a tenth of a server is effective twice": {"extra": 0.1},
    },
)
def equations_24_28(instances: int = 6, *, departures: float = 1.0, extra: float = 0.0) -> Outcome:
    """Look at moments of paths; `extra` servers of each configuration count as effective besides."""
    beyond, free, least, counts = -1.0, 0.0, np.inf, {"idle": 0, "full": 0}
    for m in moments(instances, departures):
        places = len(m.listed)
        for i in range(places):
            beyond = max(beyond, float((m.slots(i, m.x + extra) - m.y).max()))
        if m.empty > 1e-6:
            counts["idle"] += 1
            free = max(free, float(np.abs(m.slots(places - 1, m.slope) - m.free).max()))
        elif m.tight_up_to < min(places, m.last):
            lacking = 1 - float(m.x[: m.tight_up_to + 1].sum())
            if lacking > 1e-3:
                counts["full"] += 1
                least = min(least, float(m.slope[: m.tight_up_to + 1].sum()) / lacking)
    computed = (
        f"slots beyond jobs at most {beyond:.1e}; {counts['idle']} moments with empty servers, (25b) off by "
        f"{free:.1e}; {counts['full']} without, least rate {least:.4f} of the servers that lack"
    )
    return Outcome(computed, bool(beyond < NEAR and free < 1e-3 and least > 0 and min(counts.values()) > 0))


@claim(
    "prop-5.10-p2",
    "Configuration i*+1 gains servers on computed paths",
    "(41): along computed fluid paths without empty servers, let i* + 1 be the first greedy configuration that "
    "follows no tight type in the sense of (40) (Definition 5.7 of i* is lost). Where it comes before the last "
    "configuration of the greedy assignment, it gains servers at all moments in the inner four fifths of each regime "
    "of the path; the least rate is said (the constant is lost; at a switch between regimes it may be 0).",
    source="Proposition 5.10, (P.2)",
    printed="the effective servers of configuration i* + 1 increase at a rate of at least a constant (formula lost)",
    evidence=Evidence.numeric,
    tiny={"instances": 3},
    full={"instances": 40},
    controls={
        "configuration i* + 2 is looked at": {"ahead": 2},
        "departures are left out of (40)": {"departures": 0.0},
    },
)
def proposition_5_10_p2(instances: int = 6, *, ahead: int = 1, departures: float = 1.0) -> Outcome:
    """Look at configuration i* + `ahead`."""
    rates = []
    for m in moments(instances, departures):
        place = m.followed + ahead - 1
        if m.empty <= 1e-6 and m.followed < m.last and place < len(m.listed):
            rates.append(float(m.slope[place]))
    least = min(rates, default=-1.0)
    return Outcome(f"{len(rates)} moments, least rate {least:.4f} servers a server and unit of time", least > 1e-3)


@claim(
    "prop-5.10-p3",
    "Computed paths satisfy (P.3) for the last configuration",
    "(42): along computed fluid paths without empty servers on which all configurations before the last one of the "
    "greedy assignment follow a tight type, the last one does too, as in (40), or it gains what the others leave of "
    "the servers that empty: the effective servers of all of them together grow at a positive rate over what they "
    "lack (constant lost).",
    source="Proposition 5.10, (P.3)",
    printed="for the last configuration: (40), or the servers that empty less what the first ones take (formula lost)",
    evidence=Evidence.numeric,
    tiny={"instances": 3},
    full={"instances": 40},
    controls={
        "one configuration fewer is counted": {"fewer": 1},
        "all paths count, whoever follows": {"followed_only": False},
    },
)
def proposition_5_10_p3(instances: int = 6, *, fewer: int = 0, followed_only: bool = True) -> Outcome:
    """Look at moments where all configurations before the last follow a type, or at all of them."""
    follows, rates = 0, []
    for m in moments(instances):
        if m.empty > 1e-6 or m.last >= len(m.listed) or (m.followed < m.last and followed_only):
            continue
        if m.followed > m.last:
            follows += 1
            continue
        end = m.last + 1 - fewer
        lacking = 1 - float(m.x[:end].sum())
        if lacking > 1e-4:
            rates.append(float(m.slope[:end].sum()) / lacking)
    least = min(rates, default=-1.0)
    computed = f"{follows} moments that follow a type, {len(rates)} others: least rate {least:.4f} of what they lack"
    return Outcome(computed, follows > 0 and len(rates) > 0 and least > 0)


def _rates_by_states(configurations: list[tuple[int, ...]], rates: np.ndarray, *, highest_first: bool) -> list[float]:
    """Return how fast draining servers of each configuration are emptied, by the chain of their contents.

    One server of each drains, full when its turn comes. A departure of type j takes a job of the first of them that has
    one, in the order of the configurations: the highest rank first, or the lowest.
    """
    order = range(len(configurations))[:: 1 if highest_first else -1]

    def after(state: tuple[tuple[int, ...], ...], j: int) -> tuple[tuple[tuple[int, ...], ...], int]:
        """Return the next state, and which server has been emptied, -1 for none."""
        giver = next((c for c in order if state[c][j]), None)
        if giver is None:
            return state, -1
        less = tuple(n - (i == j) for i, n in enumerate(state[giver]))
        following = less if any(less) else configurations[giver]
        return (*state[:giver], following, *state[giver + 1 :]), -1 if any(less) else giver

    states = [tuple(configurations)]
    for state in states:  # the list grows until every state that is reached has been looked at
        states += [s for s in {after(state, j)[0] for j in range(len(rates))} if s not in states]
    flows = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for j, rate in enumerate(rates):
            flows[i, states.index(after(state, j)[0])] += rate
    balance = flows.T - np.diag(flows.sum(axis=1))
    balance[0] = 1.0  # instead of one equation, which follows from the others: the law sums to 1
    law = np.linalg.solve(balance, np.eye(len(states))[0])
    emptied = [0.0] * len(configurations)
    for chance, state in zip(law, states, strict=True):
        for j, rate in enumerate(rates):
            server = after(state, j)[1]
            if server >= 0:
                emptied[server] += chance * rate
    return emptied


@claim(
    "drain-rates",
    "Fluid drain rates match exact chains, where tried",
    "Of the servers that drain, the one of highest rank gives a job for every departure: the rates at which the fluid "
    "path lets full servers of up to three configurations empty are those of the chain of their contents, state by "
    "state, on random configurations and departure rates (relative tolerance 1e-9), for up to 3,000 joint contents; "
    "beyond, the path takes means.",
    source="Algorithm 2",
    printed="at a departure a job of the type migrates from the reject-group server of highest rank that has one",
    evidence=Evidence.numeric,
    tiny={"systems": 15},
    full={"systems": 1000},
    controls={
        "the lowest rank is asked first": {"highest_first": False},
        "departures are half as many": {"departures": 0.5},
    },
)
def drain_rates(systems: int = 60, *, highest_first: bool = True, departures: float = 1.0) -> Outcome:
    """Compare with the chain, in which `departures` times as many jobs leave."""
    from fluid.limits.reservation.draining import emptying_rates, is_exact

    expect_number(systems, "systems", 1)
    generator, compared, off = np.random.default_rng(47), 0, 0.0
    for _ in range(systems):
        types, most = int(generator.integers(1, 4)), int(generator.integers(1, 4))
        drawn = {tuple(row) for row in generator.integers(0, 3, (most, types)).tolist() if any(row)}
        configurations = sorted(drawn, reverse=True)
        if not configurations or not is_exact(configurations):
            continue
        rates = generator.uniform(0.2, 2.0, types)
        expected = _rates_by_states(configurations, departures * rates, highest_first=highest_first)
        emptied = emptying_rates(configurations, rates, np.ones(types))
        off = max(off, *(abs(a - b) / max(b, 1e-3) for a, b in zip(emptied, expected, strict=True)))
        compared += 1
    return Outcome(f"{compared} systems, {off:.0e} off at most", compared > 0 and bool(off < 1e-9))
