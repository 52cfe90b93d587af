"""Claims of the auto-scaling paper on the Lyapunov function of its proof of convergence (Section 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.autoscaling.fluid import greedy_shares, random_states
from bounds.results.decisions import Decisions
from bounds.results.instances.drawn import dynamic_instance, full_of_the_first
from bounds.results.instances.families import DRAINING, limited_by_draining
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.limits.lyapunov_function import Lyapunov, is_unique_maximiser, lyapunov
from fluid.limits.reservation import Reservation, fluid_path, state_of
from fluid.limits.reservation.segment import State
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.errors import expect_number
from theory.exact.knapsack import maximal
from theory.instance import Instance

SEED = 645


@claim(
    "prop-6.2",
    "Only the greedy assignment maximises (45), on samples",
    "The linear program of the Lyapunov function (45) has the greedy assignment as its only maximiser, with weights "
    "that fall by 2K + 2 (the printed constants (46) are lost): an exact dual solution on random instances.",
    source="Proposition 6.2",
    printed="the unique maximiser is the global greedy assignment; constants (46) lost",
    evidence=Evidence.certified,
    full={"instances": 600},
    controls={
        "weights that fall by one in a hundred": {"ratio": Fraction(101, 100)},
        "the penalty is a hundredth of the first weight": {"penalty": Fraction(1, 100)},
    },
)
def proposition_6_2(instances: int = 60, *, ratio: Fraction | None = None, penalty: Fraction = Fraction(2)) -> Outcome:
    """Decide whether the maximiser is unique, for a ratio of weights and a penalty as a multiple of the first one."""
    expect_number(instances, "instances", 1)
    proved = 0
    for instance in map(dynamic_instance, range(instances)):
        v = lyapunov(instance, ratio)
        proved += is_unique_maximiser(instance, replace(v, penalty=penalty * max(v.weights, default=Fraction(1))))
    return Outcome(f"{proved} of {instances} instances", proved == instances)


def _starts(instance: Instance, model: Reservation, generator: np.random.Generator) -> list[State | None]:
    """Return initial states in which no type has more jobs than its workload: empty, one configuration, and mixed."""
    jobs, masses = random_states(model, generator, 1)[0]
    below = (np.minimum(jobs, model.workload), masses)
    return [None, _in_one(model, maximal(instance.pools[0].space)[0].tolist()), below]


def _in_one(model: Reservation, row: Sequence[int]) -> State:
    """Return the state in which all servers have one configuration, and no type more jobs than its workload."""
    return state_of(model, {tuple(row): 1.0}, np.minimum(model.workload, row).tolist())


def _greatest(model: Reservation, v: Lyapunov) -> float:
    """Return the greatest value of the Lyapunov function over all assignments: sum of Z_i x_i of the greedy one."""
    shares = greedy_shares(model)
    return sum(float(z) * shares.get(k, 0.0) for k, z in zip(v.configurations, v.weights, strict=True))


def _distance(model: Reservation, state: State, v: Lyapunov) -> float:
    """Return how far the effective configurations lie below the greedy assignment: 0 on the set (44) only."""
    wanted = {k: share for k, share in greedy_shares(model).items() if k in v.configurations}
    return max((share - state[1].get(k, 0.0) for k, share in wanted.items()), default=0.0)


Weights = Callable[[tuple[Fraction, ...]], tuple[Fraction, ...]]
"""What makes weights of the Lyapunov function's weights."""


def _as_they_are(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return weights


def _in_opposite_order(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return weights[::-1]


def _only_the_first(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return (weights[0], *(Fraction(0) for _ in weights[1:]))


def _along(model: Reservation, start: State | None, until: float) -> list[State]:
    """Return the states of a fluid path at 89 times, more of them near its start."""
    path = fluid_path(model, until, start)
    times = np.concatenate([np.linspace(0.0, until / 8, 60), np.linspace(until / 8, until, 30)[1:]])
    return [path.state(float(t)) for t in times]


@cache
def _paths(seed: int, instances: int, lifetimes: float) -> list[tuple[Reservation, Lyapunov, list[list[State]]]]:
    """Return random instances with fluid paths from three starts, over so many of their longest mean service times."""
    generator, systems = np.random.default_rng(seed), []
    for instance in map(dynamic_instance, range(instances)):
        model, v = Reservation(instance), lyapunov(instance)
        if v.weights:
            until = lifetimes / float(model.service.min())
            systems.append((model, v, [_along(model, one, until) for one in _starts(instance, model, generator)]))
    return systems


@claim(
    "prop-6.3",
    "The Lyapunov function rises along computed fluid paths",
    "Along fluid paths on which no type has more jobs than its workload, from three starts of random instances: the "
    "Lyapunov function never falls, rises strictly from each point that is not in the limit set to the next, and ends "
    "at its maximum over all assignments, sum of Z_i x_i of the greedy assignment. (Effective servers within 1e-6 of "
    "it count as the limit set; differences are in units of Z_1.)",
    source="Proposition 6.3",
    printed="the derivative of V is positive outside the limit set",
    evidence=Evidence.numeric,
    tiny={"instances": 1},
    full={"instances": 40},
    controls={
        "the weights are in the opposite order": {"weights": _in_opposite_order},
        "only the first weight is positive": {"weights": _only_the_first},
        "the path ends early": {"lifetimes": 1.0},
    },
)
def proposition_6_3(instances: int = 3, lifetimes: float = 40.0, *, weights: Weights = _as_they_are) -> Outcome:
    expect_number(instances, "instances", 1)
    falls, flat, points, paths, short = 0.0, 0, 0, 0, 0.0
    for model, right, walks in _paths(SEED, instances, lifetimes):
        v = replace(right, weights=weights(right.weights))
        top, most = float(max(right.weights)), _greatest(model, right)
        for states in walks:
            values = np.array([v.value(model, *state) for state in states]) / top
            away = np.array([_distance(model, state, right) for state in states[:-1]]) > 1e-6
            rises = np.diff(values)  # V from each point to the next, in units of Z_1
            falls = max(falls, float(-rises.min()))
            flat += int((away & (rises <= 0)).sum())
            short = max(short, abs(float(values[-1]) - most / top))
            points += len(values)
            paths += 1
    computed = (
        f"{points} points on {paths} paths: largest fall {falls:.1e}, {flat} points outside the limit set without a "
        f"rise, end {short:.1e} from the maximum"
    )
    return Outcome(computed, bool(falls < 1e-9 and not flat and short < 1e-6))


@drawing("The Lyapunov function rises along fluid paths to its greatest value", "prop-6.3")
def rising() -> Sequence[Panel]:
    instance = dynamic_instance(0)
    model, v = Reservation(instance), lyapunov(instance)
    until, top = 5.0 / float(model.service.min()), float(max(v.weights))
    starts: dict[str, State | None] = {"from empty": None}
    for row in maximal(instance.pools[0].space)[:3].tolist():
        starts[f"from all at ({', '.join(map(str, row))})"] = _in_one(model, row)
    times, curves = np.linspace(0.0, until, 100).tolist(), []
    for name, start in starts.items():
        path = fluid_path(model, until, start)
        values = [v.value(model, *path.state(t)) / top for t in times]
        curves.append(Curve(name, times, values, look="plain"))
    greatest = Line("greatest value, of greedy", _greatest(model, v) / top)
    return [Chart("time (units of the instance)", "V (multiples of Z₁)", curves, [greatest])]


def _scaled_state(state: Any, servers: int) -> State:
    """Return jobs and servers per server of a simulated state, configurations by their slots."""
    jobs = state.totals / servers
    masses: dict[tuple[int, ...], float] = {}
    for row, number in zip(state.configurations.tolist(), state.number.tolist(), strict=True):
        masses[tuple(row)] = masses.get(tuple(row), 0.0) + number / servers
    return jobs, masses


@claim(
    "lemma-6.4",
    "The Lyapunov function rises in four simulated systems",
    "Away from the limit set the Lyapunov function of simulated systems rises over short times: from servers full of "
    "a configuration that must go, 4,000 of them, it rises over a tenth of a mean service time in each of four "
    "systems, the mean over runs being positive. (The lemma's constants and (51) are lost; the length of time is "
    "ours.)",
    source="Lemma 6.4",
    printed=(
        "over every subinterval V rises at least by a constant times its length, with high probability (formula lost)"
    ),
    evidence=Evidence.statistical,
    tiny={"servers": 125},
    full={"runs": 40},
    controls={"no migration": {"migration": False}, "the system starts in the limit set": {"in_the_limit": True}},
)
def lemma_6_4(
    servers: int = 4000,
    runs: int = 12,
    until: float = 0.1,
    *,
    migration: bool = True,
    in_the_limit: bool = False,
) -> Outcome:
    """Compare V before and after a short time."""
    expect_number(servers, "servers", 1)
    expect_number(runs, "runs", 2)
    decisions, shown, good = Decisions(len(DRAINING)), [], True
    for name in DRAINING:
        rise = decisions.mean(_rises(limited_by_draining()[name], servers, runs, until, migration, in_the_limit))
        good &= rise.low > 0.001  # the constant of (51) is lost
        shown.append(f"{name} {rise.mean:+.4f} [{rise.low:+.4f}, {rise.high:+.4f}]")
    computed = f"rise of V over Z_1 in {until:g}: {'; '.join(shown)}; {runs} runs, {decisions}, seed {SEED}"
    return Outcome(computed, bool(good))


def _rises(
    instance: Instance, servers: int, runs: int, until: float, migration: bool, in_the_limit: bool
) -> list[float]:
    """Return by how much V rises over a short time, in units of Z_1, by run."""
    options = {"migration": migration}
    model, v = Reservation(instance), lyapunov(instance)
    top = float(max(v.weights))
    initial = _start(instance, servers, in_the_limit=in_the_limit)
    before = policy("dra").prepare(Setting(instance, servers, options, initial))
    start = v.value(model, *_scaled_state(before, servers)) / top
    scenario = LossScenario(instance, servers, until, 0.0, initial=initial, bins=1, options=options)
    ended = (run_once(policy("dra"), scenario, np.random.SeedSequence((SEED, run))).state for run in range(runs))
    return [v.value(model, *_scaled_state(state, servers)) / top - start for state in ended]


def _start(instance: Instance, servers: int, *, in_the_limit: bool) -> np.ndarray:
    """Return servers full of small jobs, or as many in each greedy configuration as the greedy assignment has."""
    if not in_the_limit:
        return full_of_the_first(instance, servers)
    rows = []
    for stage in Reservation(instance).equilibrium.stages:
        rows += [list(stage.configurations[0])] * round(servers * stage.fraction)
    rows = (rows + [[0] * len(instance.types)] * servers)[:servers]
    return np.array(rows, np.int32)
