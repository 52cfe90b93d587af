"""Claims of the auto-scaling paper on its fluid limit: paths, their end, the Lyapunov function, rates."""

from __future__ import annotations

from math import log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import (
    dynamic_instance,
    four_types,
)
from fluid.limits.reservation import Reservation, fluid_path, state_of
from fluid.limits.reservation.path import State
from theory.exact.configurations import maximal
from theory.greedy.servers import max_jobs

SEED = 514
SLOPES = (-0.8, -0.35)
"""A distance that falls like L^-1/2, with g/L and the largest of many fluctuations on top."""

RESERVED = {"four VM types, 6 times": "4 * (log L)^2"}
"""g where (log L)^2 is no more than the jobs that a server holds."""


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
        wanted = {s.configurations[0]: float(s.fraction) for s in goal.equilibrium.stages}
        until = 40.0 / float(model.service.min())
        for start in [None, *random_states(model, generator, states)]:
            jobs, masses = fluid_path(model, until, start).state(until)
            # servers to spare may keep a configuration: only what lacks counts
            away = max((share - masses.get(k, 0.0) for k, share in wanted.items()), default=0.0)
            away = max(away, float(np.abs(jobs - np.array([float(y) for y in goal.equilibrium.served])).max()))
            worst[start is not None] = max(worst[start is not None], away)
    computed = (
        f"{instances} instances, {instances * states} random states: {worst[0]:.1e} off from empty, {worst[1]:.1e}"
    )
    return Outcome(computed, bool(max(worst) < 1e-6))


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
    generator, eps, kept, total = np.random.default_rng(SEED), 1e-3, 0, 0
    for seed in range(count):
        instance = dynamic_instance(seed)
        model = Reservation(instance.with_workload([rho / 8 for rho in instance.workload]))
        time = log(max_jobs(instance) / eps) / float(model.service.min()) * (1 / 3 if broken else 1)
        full = state_of(model, {tuple(maximal(instance.pools[0].space)[0].tolist()): 1.0})
        for start in [full, *random_states(model, generator, 1)]:
            jobs = fluid_path(model, time, start).jobs([time])[0]
            kept += bool((jobs <= model.workload + eps).all())
            total += 1
    return Outcome(f"{kept} of {total} paths, eps = {eps:g}", kept == total)


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
    del level
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
