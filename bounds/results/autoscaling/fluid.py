"""Claims of the auto-scaling paper on its fluid limit: paths, their end, the Lyapunov function, rates."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import dynamic_instance, four_types
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.limits.reservation import Reservation, fluid_path, state_of
from fluid.limits.reservation.path import State
from theory.exact.configurations import maximal
from theory.greedy.servers import max_jobs
from theory.instance import Configuration

SEED = 514
EPS = 1e-3
"""eps of Lemma 5.9."""


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
    "Whatever the initial state, y_j <= rho_j + eps for all types after the time max_j log(K / eps) / mu_j.",
    source="Lemma 5.9",
    printed="y_j within rho_j + eps after a time that depends on K and eps (formula lost)",
    evidence=Evidence.numeric,
    breaks=("a third of the time is allowed",),
)
def lemma_5_9(level: Level, broken: str) -> Outcome:
    """Follow paths from random states to that time."""
    count = 2 if level is Level.quick else 40
    generator, within, paths = np.random.default_rng(SEED), 0, 0
    for seed in range(count):
        model, time, full = _of_lemma_5_9(seed)
        time *= 1 / 3 if broken else 1
        for start in [full, *random_states(model, generator, 1)]:
            jobs = fluid_path(model, time, start).jobs([time])[0]
            within += bool((jobs <= model.workload + EPS).all())
            paths += 1
    return Outcome(f"{within} of {paths} paths, eps = {EPS:g}", within == paths)


@drawing(
    "Jobs above the workload leave: a random instance at an eighth of its workload",
    "lemma-5.9",
)
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
    "Along computed paths every followed configuration has a type that moves with it: sum_l k_j x_l' = lambda_j - "
    "mu_j y_j (equation (40), with the types that drive the stages).",
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
                    moved = sum(k[stage.driver] * (after.get(k, 0.0) - before.get(k, 0.0)) for k in ahead) / (2 * step)
                    worst = max(worst, abs(moved - velocity[stage.driver]))
                    points += 1
    return Outcome(f"{points} points, largest difference {worst:.1e}", bool(worst < 1e-4))


@claim(
    "section-7-path",
    "For the four VM types at their worst workload the fluid path from the empty system keeps within the workload, "
    "first fills the servers, then follows the greedy map to the greedy reward 1796/13.",
    source="Section 7",
    printed="converges to the greedy reward (values lost)",
    evidence=Evidence.numeric,
    breaks=("the workload is doubled",),
)
def section_7_path(level: Level, broken: str) -> Outcome:
    """Follow the path."""
    instance = four_types()
    if broken:
        instance = instance.with_workload([2 * rho for rho in instance.workload])
    model = Reservation(instance)
    path = fluid_path(model, 40.0)
    reward = float(path.rewards([40.0])[0])
    near = path.time_within(0.01)
    kinds = [s.regime.kind for s in path.segments][:2]
    computed = f"full at {path.switches[0]:.4f}, within 1 % from {near:.3f}, reward {reward:.6f}"
    good = kinds == ["idle", "tracking"] and abs(reward - 1796 / 13) < 1e-6 and not path.draining_limits
    return Outcome(computed, good)


@drawing(
    "Fluid path of dynamic reservation, four VM types at their worst workload, from the empty system",
    "section-7-path",
    columns=2,
)
def path_of_four_types() -> Sequence[Panel]:
    """Draw jobs of each type, and the reward, along the fluid path from the empty system."""
    model, times = Reservation(four_types()), np.linspace(0.0, 12.0, 241).tolist()
    path, time = fluid_path(model, 12.0), "time (mean service times)"
    by_type = zip(model.instance.names, path.jobs(times).T, strict=True)
    jobs = [Curve(name, times, y.tolist(), look="plain") for name, y in by_type]
    reward = Curve("fluid path", times, path.rewards(times).tolist(), look="plain")
    greedy = Line("greedy reward", float(model.equilibrium.reward))
    return [Chart(time, "jobs (per server)", jobs), Chart(time, "reward (per server)", [reward], [greedy])]
