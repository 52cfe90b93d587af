"""One run of any model: its loop, fed with jobs and with memory in parts, so that it can be watched and interrupted."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from fluid.simulation.loop import FINISHED, NEEDS_JOBS, NEEDS_ROOM, Engine
from fluid.simulation.measures import Measures, reached
from fluid.simulation.policy_interface import UNANSWERED, Policy
from fluid.simulation.prepared import answered, prepared
from fluid.simulation.results import Run
from fluid.simulation.runner import Function, Runner
from fluid.simulation.scenario import Scenario
from fluid.simulation.state import ASKS, PATIENCE, State
from theory.errors import InputError


def sequence(seed: np.random.SeedSequence | int) -> np.random.SeedSequence:
    """Return a fresh copy of a seed sequence, since spawning changes it."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(seed)


def run_once(
    policy: Policy,
    scenario: Scenario,
    seed: np.random.SeedSequence | int,
    *,
    python: bool = False,
    watch: Function | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> Run:
    """Simulate one run.

    Parameters
    ----------
    policy : Policy
        Of the scenario's model.
    scenario : Scenario
    seed : SeedSequence or int
        Three streams are spawned from it: of the jobs that come, of what the policy draws, and of the jobs that are
        there at time 0, so that none of them depends on the others.
    python : bool
        Run as plain Python: the same path, slowly.
    watch : callable, optional
        Called as ``watch(state, jobs, measures)`` after each event; the run is then plain Python.
    progress : callable, optional
        Called now and then with the time reached and the events so far.

    Returns
    -------
    Run
        After Ctrl-C, of the time that was reached past the warm-up.

    Raises
    ------
    InputError
        A policy of another model, or one that does what it must not.
    """
    if policy.model != scenario.model:
        raise InputError(f"--policy: {policy.name} is not a policy for {scenario.title}")
    arrival_rng, policy_rng, start_rng = (np.random.default_rng(s) for s in sequence(seed).spawn(3))
    setting = scenario.setting()
    state = prepared(policy, setting, python=python)
    measures = scenario.measures()
    engine = scenario.engine(policy, state, arrival_rng, start_rng)
    how: dict[str, Any] = {"watch": watch, "compiled": not (python or watch)}
    run = Runner(policy, engine.loop, engine.parts, types=scenario.names, setting=setting, **how)
    run.ready(state, engine.jobs, engine.coming, measures, arrival_rng, policy_rng)
    seconds, interpreted = 0.0, 0
    status = 0
    try:
        engine.open(run.functions, state, measures, policy_rng, run.watch)
        while status != FINISHED:
            most = engine.next_part()
            as_python, before = run.is_python, int(measures.events[0])
            begin = perf_counter()
            status = run(state, engine.jobs, engine.coming, measures, arrival_rng, policy_rng, most)
            if status == NEEDS_JOBS:
                engine.supply()
            elif status == NEEDS_ROOM:
                state = engine.enlarge(state)
            seconds += perf_counter() - begin
            interpreted += (int(measures.events[0]) - before) * as_python
            if state.done[ASKS]:
                state = _answered(run, engine, setting, state, measures, policy_rng)
            if progress is not None:
                progress(float(measures.now[0]), int(measures.events[0]))
    except KeyboardInterrupt:
        if measures.now[0] <= measures.edges[measures.first[0]]:
            raise
        return Run(scenario, reached(measures), state, seconds, interpreted, interrupted=True)
    return Run(scenario, measures, state, seconds, interpreted)


def _answered(run: Runner, engine: Engine, setting: Any, state: State, measures: Measures, draws: Any) -> State:
    """Extend a state until its policy asks no more, and let the policy go on at the same event."""
    for _ in range(PATIENCE):
        state = answered(run.policy, setting, state)
        engine.resume(run.functions, state, measures, draws)
        if not state.done[ASKS]:
            run.watch(state, engine.jobs, measures)
            return state
    raise run.refused("answer", state, UNANSWERED)
