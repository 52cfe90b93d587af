"""The auto-scaling paper on its fluid limit: paths and their end, and how the limit moves from moment to moment.

Section 5.3 describes the motion by effective servers x^(i) over all greedy configurations, and by i*, the last place up
to which each of them has a tight type (26). Both are computed here from the state of a path by their definitions, and
local derivatives (29)-(30) as difference quotients between switches of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import dynamic_instance, four_types, limited_by_draining
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.limits.reservation import Reservation, fluid_path, plan, state_of
from fluid.limits.reservation.segment import State
from theory.exact.knapsack import maximal
from theory.greedy.assignment import MaxRewards, greedy_configurations
from theory.greedy.servers import max_jobs
from theory.instance import Configuration, Instance

SEED = 514
EPS = 1e-3  # eps of Lemma 5.9
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


@claim(
    "theorem-6.1",
    "From any initial state the fluid paths of dynamic reservation converge to the global greedy assignment: random "
    "instances with unequal service rates, from the empty system and from random states, to 1e-6 in jobs and "
    "effective configurations.",
    source="Theorem 6.1",
    printed="from any initial state the fluid paths converge to the global greedy assignment",
    evidence=Evidence.numeric,
    breaks=("the limit of half the workload",),
)
def theorem_6_1(level: Level, broken: str) -> Outcome:
    """Follow paths for 40 mean service times of the slowest type."""
    instances, states = (3, 1) if level is Level.quick else (20, 5)
    generator, worst = np.random.default_rng(SEED), [0.0, 0.0]
    for seed in range(instances):
        instance = dynamic_instance(seed)
        model = Reservation(instance)
        goal = Reservation(instance.with_workload([rho / 2 for rho in instance.workload])) if broken else model
        until = 40.0 / float(model.service.min())
        for start in [None, *random_states(model, generator, states)]:
            jobs, masses = fluid_path(model, until, start).state(until)
            # servers to spare may keep a configuration: only what lacks counts
            away = max((share - masses.get(k, 0.0) for k, share in greedy_shares(goal).items()), default=0.0)
            away = max(away, float(np.abs(jobs - np.array([float(y) for y in goal.equilibrium.served])).max()))
            worst[start is not None] = max(worst[start is not None], away)
    computed = (
        f"{instances} instances, {instances * states} random states: {worst[0]:.1e} off from empty, {worst[1]:.1e}"
    )
    return Outcome(computed, bool(max(worst) < 1e-6))


def _of_lemma_5_9(seed: int) -> tuple[Reservation, float, State]:
    """Return a system at an eighth of its workload, the time of the lemma, and a state that is full of jobs."""
    instance = dynamic_instance(seed)
    model = Reservation(instance.with_workload([rho / 8 for rho in instance.workload]))
    time = log(max_jobs(instance) / EPS) / float(model.service.min())
    return model, time, full_in(model, maximal(instance.pools[0].space)[0].tolist())


@claim(
    "lemma-5.9",
    "y_j <= rho_j + eps for all types after the time max_j log(K / eps) / mu_j, eps = 1/1000: random instances at an "
    "eighth of their workload, from servers full of jobs and from random states.",
    source="Lemma 5.9",
    printed="y_j within rho_j + eps after a time that depends on K and eps (formula lost)",
    evidence=Evidence.numeric,
    breaks=("a third of the time is allowed",),
)
def lemma_5_9(level: Level, broken: str) -> Outcome:
    count = 2 if level is Level.quick else 40
    generator, within, paths = np.random.default_rng(SEED), 0, 0
    for seed in range(count):
        model, time, full = _of_lemma_5_9(seed)
        time *= 1 / 3 if broken else 1
        for start in [full, *random_states(model, generator, 1)]:
            jobs = fluid_path(model, time, start).jobs([time])[0]
            within += bool((jobs <= model.workload + EPS).all())
            paths += 1
    return Outcome(f"{within} of {paths} paths, eps = {EPS:g}", within == paths > 0)


@drawing("Jobs above the workload leave: a random instance at an eighth of its workload", "lemma-5.9")
def enters() -> Sequence[Panel]:
    """Draw the jobs above the workload along a path that begins with too many, and the time of the lemma."""
    model, time, full = _of_lemma_5_9(0)
    times = np.linspace(0.0, 1.15 * time, 100)
    jobs = fluid_path(model, 1.15 * time, full).jobs(times)
    most = np.clip(jobs - model.workload, 1e-9, None).max(axis=1)
    above = Curve("fluid path", times.tolist(), most.tolist(), look="plain")
    lines = [Line(f"eps = {EPS:g}", EPS), Line("time of the lemma", time, upright=True)]
    x, y = "time (units of the instance)", "greatest y_j - rho_j (jobs per server)"
    return [Chart(x, y, [above], lines, yscale="log", ylim=(1e-5, None))]


@claim(
    "prop-5.10",
    "Along computed paths of random instances from the empty system, outside of mixed regimes: a followed "
    "configuration that a type drives moves with it, sum_l k_j x_l' = lambda_j - mu_j y_j (equation (40)), where "
    "neither it nor one before it has servers to spare.",
    source="Proposition 5.10",
    printed="equations (40)-(42), constants lost",
    evidence=Evidence.numeric,
    breaks=("departures are left out",),
)
def proposition_5_10(level: Level, broken: str) -> Outcome:
    """Differentiate paths numerically between switches."""
    worst, points, step = 0.0, 0, 1e-5
    for seed in range(5 if level is Level.quick else 25):
        model = Reservation(dynamic_instance(seed))
        path = fluid_path(model, 8.0)
        for segment in path.segments:
            if segment.stop - segment.start < 0.01 or segment.regime.kind == "mixed":
                continue
            for time in np.linspace(segment.start + 2 * step, segment.stop - 2 * step, 5):
                (_, before), (jobs, _), (_, after) = (segment.state(time + d) for d in (-step, 0.0, step))
                velocity = model.workload * model.service - (0 if broken else 1) * model.service * jobs
                for i, stage in enumerate(segment.regime.followed):
                    if not all(f.moves for f in segment.regime.followed[: i + 1]) or stage.driver < 0:
                        continue
                    ahead = [f.configuration for f in segment.regime.followed[: i + 1]]
                    # the left side of (40) as a difference quotient
                    moved = sum(k[stage.driver] * (after.get(k, 0.0) - before.get(k, 0.0)) for k in ahead) / (2 * step)
                    worst = max(worst, abs(moved - velocity[stage.driver]))
                    points += 1
    return Outcome(f"{points} points, largest difference {worst:.1e}", bool(points and worst < 1e-4))


@claim(
    "section-7-path",
    "For the four VM types at their worst workload the fluid path from the empty system keeps within the workload, "
    "first fills the servers, then follows the greedy map to the greedy reward 1796/13.",
    source="Section 7",
    printed="converges to the greedy reward (values lost)",
    evidence=Evidence.numeric,
    breaks=("the workload is doubled", "the path begins with servers full of the first type"),
)
def section_7_path(level: Level, broken: str) -> Outcome:
    instance = four_types()
    if broken.startswith("the workload"):
        instance = instance.with_workload([2 * rho for rho in instance.workload])
    model = Reservation(instance)
    path = fluid_path(model, 40.0, full_in(model, (80, 0, 0, 0)) if broken.startswith("the path") else None)
    reward = float(path.rewards([40.0])[0])
    near = path.time_within(0.01)
    first, *rest = [s.regime.kind for s in path.segments]
    over = float((path.jobs(np.linspace(0.0, 40.0, 401)) - model.workload).max())
    computed = (
        f"full at {path.switches[0]:.4f}, within 1 % from {near:.3f}, reward {reward:.6f}; jobs at most {over:.1e} "
        f"above the workload"
    )
    good = first == "idle" and set(rest) == {"tracking"} and abs(reward - 1796 / 13) < 1e-6 and over < NEAR
    return Outcome(computed, good and not path.draining_limits)


@drawing(
    "Fluid path of dynamic reservation, four VM types at their worst workload, from the empty system",
    "section-7-path",
    columns=2,
)
def path_of_four_types() -> Sequence[Panel]:
    model, times = Reservation(four_types()), np.linspace(0.0, 12.0, 241).tolist()
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
    free: np.ndarray  # float64[J]: lambda - mu y
    empty: float  # servers that are empty and of no rank
    last: int  # place of the last configuration of the greedy assignment, C_rho - 1; C if servers are left

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


@cache
def moments(level: Level, factor: float = 1.0) -> list[Moment]:
    """Return moments of paths from the empty system, and from servers full of random maximal configurations.

    They lie in the inner four fifths of each regime of the path. Short and mixed regimes, whose rates are means, are
    left out.
    """
    generator, found = np.random.default_rng(MOMENTS_SEED), []
    instances = [dynamic_instance(seed) for seed in range(6 if level is Level.quick else 40)]
    instances += [limited_by_draining()[name] for name in ("drains one type", "drains two types")]
    for instance in instances:
        model = Reservation(instance)
        listed = [k for k in greedy_configurations(instance) if any(k)]
        last = _last_place(instance, model, listed)
        rows = maximal(instance.pools[0].space)
        chosen = generator.permutation(len(rows))[:3]
        for start in [None, *(state_of(model, {tuple(rows[i].tolist()): 1.0}) for i in chosen)]:
            for segment in fluid_path(model, 6.0, start).segments:
                if segment.stop - segment.start < 50 * STEP or segment.regime.kind == "mixed":
                    continue
                margin = (segment.stop - segment.start) / 10  # at a switch a rate may be on its way to or from 0
                for time in np.linspace(segment.start + margin, segment.stop - margin, 6):
                    around = [segment.state(float(time) + d) for d in (-STEP, 0.0, STEP)]
                    before, x, after = (_effective(model, listed, state) for state in around)
                    jobs = around[1][0]
                    free = model.workload * model.service - factor * model.service * jobs
                    empty = around[1][1].get((0,) * len(jobs), 0.0)
                    found.append(Moment(listed, x, (after - before) / (2 * STEP), jobs, free, empty, last))
    return found


@claim(
    "equations-24-28",
    "Along computed fluid paths: the first i greedy configurations have no more slots of any type than there are jobs "
    "(24); while empty servers are left, slots of each type grow as fast as jobs arrive and depart (25b); where none "
    "are left and i* < C^(g), no type of the next configuration is tight, as i* is defined by (26)-(27), and the "
    "servers of the first i* + 1 configurations together grow (28): the least rate over what they lack is positive "
    "(its constant is lost).",
    source="Equations (24)-(28)",
    printed="(24)-(28): what is tight, what moves while servers are empty, and how fast servers empty (formulas lost)",
    evidence=Evidence.numeric,
    breaks=("departures are left out of (25)", "a tenth of a server is effective twice"),
)
def equations_24_28(level: Level, broken: str) -> Outcome:
    beyond, free, least, counts = -1.0, 0.0, np.inf, {"idle": 0, "full": 0}
    for m in moments(level, 0.0 if broken.startswith("departures") else 1.0):
        places = len(m.listed)
        extra = 0.1 if broken.startswith("a tenth") else 0.0
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
    "(41): along computed fluid paths without empty servers, let i* + 1 be the first greedy configuration that "
    "follows no tight type in the sense of (40) (Definition 5.7 of i* is lost). Where it comes before the last "
    "configuration of the greedy assignment, it gains servers at all moments in the inner four fifths of each regime "
    "of the path; the least rate is said (the constant is lost; at a switch between regimes it may be 0).",
    source="Proposition 5.10, (P.2)",
    printed="the effective servers of configuration i* + 1 increase at a rate of at least a constant (formula lost)",
    evidence=Evidence.numeric,
    breaks=("configuration i* + 2 is looked at", "departures are left out of (40)"),
)
def proposition_5_10_p2(level: Level, broken: str) -> Outcome:
    rates = []
    for m in moments(level, 0.0 if broken.startswith("departures") else 1.0):
        place = m.followed + broken.startswith("configuration")
        if m.empty <= 1e-6 and m.followed < m.last and place < len(m.listed):
            rates.append(float(m.slope[place]))
    least = min(rates, default=-1.0)
    return Outcome(f"{len(rates)} moments, least rate {least:.4f} servers a server and unit of time", least > 1e-3)


@claim(
    "prop-5.10-p3",
    "(42): along computed fluid paths without empty servers on which all configurations before the last one of the "
    "greedy assignment follow a tight type, the last one does too, as in (40), or it gains what the others leave of "
    "the servers that empty: the effective servers of all of them together grow at a positive rate over what they "
    "lack (constant lost).",
    source="Proposition 5.10, (P.3)",
    printed="for the last configuration: (40), or the servers that empty less what the first ones take (formula lost)",
    evidence=Evidence.numeric,
    breaks=("one configuration fewer is counted", "all paths count, whoever follows"),
)
def proposition_5_10_p3(level: Level, broken: str) -> Outcome:
    follows, rates = 0, []
    for m in moments(level, 1.0):
        if m.empty > 1e-6 or m.last >= len(m.listed) or (m.followed < m.last and not broken.startswith("all")):
            continue
        if m.followed > m.last:
            follows += 1
            continue
        end = m.last + (0 if broken.startswith("one") else 1)
        lacking = 1 - float(m.x[:end].sum())
        if lacking > 1e-4:
            rates.append(float(m.slope[:end].sum()) / lacking)
    least = min(rates, default=-1.0)
    computed = f"{follows} moments that follow a type, {len(rates)} others: least rate {least:.4f} of what they lack"
    return Outcome(computed, follows > 0 and len(rates) > 0 and least > 0)


LOWEST = "the lowest rank is asked first"


def _rates_by_states(configurations: list[tuple[int, ...]], rates: np.ndarray, broken: str) -> list[float]:
    """Return how fast draining servers of each configuration are emptied, by the chain of their contents.

    One server of each drains, full when its turn comes. A departure of type j takes a job of the first of them that has
    one, in the order of the configurations: the highest rank first.
    """
    order = range(len(configurations))[:: -1 if broken == LOWEST else 1]

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
    "Of the servers that drain, the one of highest rank gives a job for every departure: the rates at which the fluid "
    "path lets full servers of up to three configurations empty are those of the chain of their contents, state by "
    "state, on random configurations and departure rates (relative tolerance 1e-9), for up to 3,000 joint contents; "
    "beyond, the path takes means.",
    source="Algorithm 2",
    printed="at a departure a job of the type migrates from the reject-group server of highest rank that has one",
    evidence=Evidence.numeric,
    breaks=(LOWEST, "departures are half as many"),
)
def drain_rates(level: Level, broken: str) -> Outcome:
    from fluid.limits.reservation.draining import emptying_rates, is_exact

    generator, compared, off = np.random.default_rng(47), 0, 0.0
    for _ in range(60 if level is Level.quick else 1000):
        types, most = int(generator.integers(1, 4)), int(generator.integers(1, 4))
        drawn = {tuple(row) for row in generator.integers(0, 3, (most, types)).tolist() if any(row)}
        configurations = sorted(drawn, reverse=True)
        if not configurations or not is_exact(configurations):
            continue
        rates = generator.uniform(0.2, 2.0, types)
        expected = _rates_by_states(configurations, rates / (2 if broken.startswith("departures") else 1), broken)
        emptied = emptying_rates(configurations, rates, np.ones(types))
        off = max(off, *(abs(a - b) / max(b, 1e-3) for a, b in zip(emptied, expected, strict=True)))
        compared += 1
    return Outcome(f"{compared} systems, {off:.0e} off at most", compared > 0 and bool(off < 1e-9))
