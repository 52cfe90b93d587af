"""Claims of the auto-scaling paper on the Lyapunov function of its proof of convergence (Section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.autoscaling.fluid import greedy_shares, random_states
from bounds.results.decisions import Decisions
from bounds.results.instances import DRAINING, dynamic_instance, full_of_the_first, limited_by_draining
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.limits.lyapunov_function import Lyapunov, is_unique_maximiser, lyapunov
from fluid.limits.reservation import Reservation, fluid_path, state_of
from fluid.limits.reservation.segment import State
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.exact.knapsack import maximal
from theory.instance import Instance

SEED = 645


@claim(
    "prop-6.2",
    "The linear program of the Lyapunov function (45) has the greedy assignment as its only maximiser, with weights "
    "that fall by 2K + 2 (the printed constants (46) are lost): an exact dual solution on random instances.",
    source="Proposition 6.2",
    printed="the unique maximiser is the global greedy assignment; constants (46) lost",
    evidence=Evidence.certified,
    breaks=("weights that fall by one in a hundred", "the penalty is a hundredth of the first weight"),
)
def proposition_6_2(level: Level, broken: str) -> Outcome:
    count, proved = (60 if level is Level.quick else 600), 0
    for instance in map(dynamic_instance, range(count)):
        v = lyapunov(instance, Fraction(101, 100) if broken.startswith("weights") else None)
        if broken.startswith("the penalty"):
            v = Lyapunov(v.configurations, v.weights, max(v.weights, default=Fraction(1)) / 100)
        proved += is_unique_maximiser(instance, v)
    return Outcome(f"{proved} of {count} instances", proved == count)


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


def _broken_weights(v: Lyapunov, broken: str) -> Lyapunov:
    if broken.startswith("the weights"):
        return Lyapunov(v.configurations, tuple(reversed(v.weights)), v.penalty)
    if broken.startswith("only the first"):
        return Lyapunov(v.configurations, (v.weights[0], *([Fraction(0)] * (len(v.weights) - 1))), v.penalty)
    return v


@claim(
    "prop-6.3",
    "Along fluid paths on which no type has more jobs than its workload, from three starts of random instances: the "
    "Lyapunov function never falls, rises strictly from each point that is not in the limit set to the next, and ends "
    "at its maximum over all assignments, sum of Z_i x_i of the greedy assignment. (Effective servers within 1e-6 of "
    "it count as the limit set; differences are in units of Z_1.)",
    source="Proposition 6.3",
    printed="the derivative of V is positive outside the limit set",
    evidence=Evidence.numeric,
    breaks=("the weights are in the opposite order", "only the first weight is positive", "the path ends early"),
)
def proposition_6_3(level: Level, broken: str) -> Outcome:
    count, generator = (3 if level is Level.quick else 40), np.random.default_rng(SEED)
    falls, flat, points, paths, short = 0.0, 0, 0, 0, 0.0
    for seed in range(count):
        instance = dynamic_instance(seed)
        model, right = Reservation(instance), lyapunov(instance)
        if not right.weights:
            continue
        v = _broken_weights(right, broken)
        top, until = float(max(right.weights)), 40.0 / float(model.service.min())
        if broken.startswith("the path"):
            until /= 40
        most = _greatest(model, right)
        for start in _starts(instance, model, generator):
            path = fluid_path(model, until, start)
            times = np.concatenate([np.linspace(0.0, until / 8, 60), np.linspace(until / 8, until, 30)[1:]])
            states = [path.state(float(t)) for t in times]
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
    return [Chart("time (units of the instance)", "V (multiples of Z_1)", curves, [greatest])]


def _scaled_state(state: Any, servers: int) -> State:
    """Return jobs and servers per server of a simulated state, configurations by their slots."""
    jobs = state.totals / servers
    masses: dict[tuple[int, ...], float] = {}
    for row, number in zip(state.configurations.tolist(), state.number.tolist(), strict=True):
        masses[tuple(row)] = masses.get(tuple(row), 0.0) + number / servers
    return jobs, masses


@claim(
    "lemma-6.4",
    "Away from the limit set the Lyapunov function of simulated systems rises over short times: from servers full of "
    "a configuration that must go, 4,000 of them, it rises over a tenth of a mean service time in each of four "
    "systems, the mean over runs being positive. (The lemma's constants and (51) are lost; the length of time is "
    "ours.)",
    source="Lemma 6.4",
    printed=(
        "over every subinterval V rises at least by a constant times its length, with high probability (formula lost)"
    ),
    evidence=Evidence.statistical,
    breaks=("no migration", "the system starts in the limit set"),
)
def lemma_6_4(level: Level, broken: str) -> Outcome:
    """Compare V before and after a short time."""
    servers, count, until = 4000, (12 if level is Level.quick else 40), 0.1
    decisions, shown, good = Decisions(len(DRAINING)), [], True
    options = {"migration": broken != "no migration"}
    for name in DRAINING:
        instance = limited_by_draining()[name]
        model, v = Reservation(instance), lyapunov(instance)
        top = float(max(v.weights))
        initial = _start(instance, servers, in_the_limit=broken.startswith("the system"))
        before = policy("dra").prepare(Setting(instance, servers, options, initial))
        start = v.value(model, *_scaled_state(before, servers)) / top
        rises = []
        for run in range(count):
            scenario = LossScenario(instance, servers, until, 0.0, initial=initial, bins=1, options=options)
            ended = run_once(policy("dra"), scenario, np.random.SeedSequence((SEED, run))).state
            rises.append(v.value(model, *_scaled_state(ended, servers)) / top - start)
        rise = decisions.mean(rises)
        good &= rise.low > 0.001  # the constant of (51) is lost
        shown.append(f"{name} {rise.mean:+.4f} [{rise.low:+.4f}, {rise.high:+.4f}]")
    computed = f"rise of V over Z_1 in {until:g}: {'; '.join(shown)}; {count} runs, {decisions}, seed {SEED}"
    return Outcome(computed, bool(good))


def _start(instance: Instance, servers: int, *, in_the_limit: bool) -> np.ndarray:
    """Return servers full of small jobs, or as many in each greedy configuration as the greedy assignment has."""
    if not in_the_limit:
        return full_of_the_first(instance, servers)
    rows = []
    for stage in Reservation(instance).equilibrium.stages:
        rows += [list(stage.configurations[0])] * round(servers * stage.fraction)
    rows = (rows + [[0] * len(instance.types)] * servers)[:servers]
    return np.array(rows, np.int32)
